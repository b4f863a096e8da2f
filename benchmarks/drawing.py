"""Programs that draw random numbers, for `benchmarks/fallbacks.py`: with a Generator, with np.random, with random."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np


def pi(rng, n):
    inside = 0
    for _ in range(n):
        x = rng.random()
        y = rng.random()
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / n


def pi_legacy(n):
    inside = 0
    for _ in range(n):
        x = np.random.random()
        y = np.random.random()
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / n


def pi_of_python(n):
    inside = 0
    for _ in range(n):
        x = random.random()
        y = random.random()
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / n


def option(rng, paths, steps, start, strike, rate, volatility, years):
    dt = years / steps
    drift = (rate - 0.5 * volatility * volatility) * dt
    spread = volatility * math.sqrt(dt)
    payoff = 0.0
    for _ in range(paths):
        log = math.log(start)
        for _ in range(steps):
            log += drift + spread * rng.normal(0.0, 1.0)
        payoff += max(math.exp(log) - strike, 0.0)
    return math.exp(-rate * years) * payoff / paths


def option_legacy(paths, steps, start, strike, rate, volatility, years):
    dt = years / steps
    drift = (rate - 0.5 * volatility * volatility) * dt
    spread = volatility * math.sqrt(dt)
    payoff = 0.0
    for _ in range(paths):
        log = math.log(start)
        for _ in range(steps):
            log += drift + spread * np.random.standard_normal()
        payoff += max(math.exp(log) - strike, 0.0)
    return math.exp(-rate * years) * payoff / paths


def metropolis(rng, n, width):
    x = 0.0
    accepted = 0
    total = 0.0
    for _ in range(n):
        y = x + width * rng.uniform(-1.0, 1.0)
        if rng.random() < math.exp(0.5 * (x * x - y * y)):
            x = y
            accepted += 1
        total += x * x
    return accepted, total / n


def metropolis_of_python(n):
    x = 0.0
    chain = []
    for _ in range(n):
        y = x + random.gauss(0.0, 1.0)
        if random.random() < min(1.0, math.exp((x * x - y * y) / 2)):
            x = y
        chain.append(x)
    return chain


def walk_of_choices(n):
    x = 0
    y = 0
    for _ in range(n):
        dx, dy = random.choice([(0, 1), (1, 0), (0, -1), (-1, 0)])
        x += dx
        y += dy
    return x, y


def ising(spins, sweeps, beta):
    n = spins.shape[0]
    for _ in range(sweeps * n * n):
        i = np.random.randint(0, n)
        j = np.random.randint(0, n)
        around = spins[(i + 1) % n, j] + spins[i - 1, j] + spins[i, (j + 1) % n] + spins[i, j - 1]
        cost = 2 * spins[i, j] * around
        if cost <= 0 or np.random.random() < math.exp(-beta * cost):
            spins[i, j] = -spins[i, j]
    return spins.sum()


def walk(n):
    x = 0
    y = 0
    farthest = 0
    for _ in range(n):
        way = random.randint(0, 3)
        if way == 0:
            x += 1
        elif way == 1:
            x -= 1
        elif way == 2:
            y += 1
        else:
            y -= 1
        farthest = max(farthest, x * x + y * y)
    return farthest


def walk_of_generator(rng, out):
    x = 0.0
    for i in range(out.shape[0]):
        x += 1.0 if rng.random() < 0.5 else -1.0
        out[i] = x
    return x


def _rng() -> np.random.Generator:
    return np.random.default_rng(1)


def _spins() -> np.ndarray:
    return np.where(np.random.default_rng(2).random((50, 50)) < 0.5, 1, -1)


_PRICED = (100.0, 105.0, 0.03, 0.2, 1.0)

DRAWING: tuple[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]], ...] = (
    (pi, lambda: (_rng(), 100_000)),
    (pi_legacy, lambda: (100_000,)),
    (pi_of_python, lambda: (100_000,)),
    (option, lambda: (_rng(), 2_000, 50, *_PRICED)),
    (option_legacy, lambda: (2_000, 50, *_PRICED)),
    (metropolis, lambda: (_rng(), 100_000, 1.5)),
    (metropolis_of_python, lambda: (100_000,)),
    (walk_of_choices, lambda: (100_000,)),
    (ising, lambda: (_spins(), 20, 0.44)),
    (walk, lambda: (100_000,)),
    (walk_of_generator, lambda: (_rng(), np.zeros(100_000))),
)
"""Functions, and what makes their arguments."""
