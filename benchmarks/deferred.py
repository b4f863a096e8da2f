"""Programs of many small kernels, called one after another under `appyc.deferred()`: fused, and each alone.

    python -m benchmarks.deferred [--json FILE] [--repeats 5] [names ...]

Each program calls kernels through functions that return new arrays, as those of a library do, and mixes them with
NumPy operations. `unfused` is the same recording with one statement a program: what is fused, and what is never stored
because of it, is the only difference. Results of both must agree with those of plain NumPy arrays. The arrays that a
program starts from are there before the time is taken: copies of them would be the same on both sides.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
from rich.console import Console
from rich.table import Table

import appyc
import appyc.numpy
from appyc.lazy.running import STATE, flush
from appyc.options import recorded_bounds
from benchmarks.machine import QUIET_SECONDS

Program = Callable[..., float]

_RANDOM = numpy.random.default_rng(11)
N = 2_000_000
LINE = _RANDOM.random(N) + 0.5
OTHER = _RANDOM.random(N) + 0.5
NOISE = _RANDOM.standard_normal(N)
GRID = _RANDOM.random((1400, 1400))
FEATURES = _RANDOM.standard_normal((6, N // 2))
LABELS = (_RANDOM.random(N // 2) > 0.5).astype(float)
CHAIN = numpy.arange(N) * 1.0 + 0.01 * NOISE
POPULATIONS = tuple(LINE * w for w in (0.4, 0.15, 0.15, 0.15, 0.15))


# ---------------------------------------------------------------- kernels, such as a library would have


@appyc.jit
def scale(a, s, out):
    for i in range(a.shape[0]):
        out[i] = a[i] * s


@appyc.jit
def shift(a, s, out):
    for i in range(a.shape[0]):
        out[i] = a[i] + s


@appyc.jit
def add(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] + b[i]


@appyc.jit
def subtract(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] - b[i]


@appyc.jit
def multiply(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] * b[i]


@appyc.jit
def divide(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] / b[i]


@appyc.jit
def axpy(s, a, b, out):
    for i in range(a.shape[0]):
        out[i] = s * a[i] + b[i]


@appyc.jit
def root(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i] ** 0.5


@appyc.jit
def inner(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@appyc.jit
def total(a):
    out = 0.0
    for i in range(a.shape[0]):
        out += a[i]
    return out


class Library:
    """The kernels as functions that return new arrays, of whichever NumPy."""

    def __init__(self, np: Any) -> None:
        self.np = np

    def __call__(self, kernel: Any, *args: Any, shape: Any = None) -> Any:
        """What a kernel makes of its arguments, shaped as the last array among them."""
        arrays = [a for a in args if getattr(a, "shape", ())]
        out = self.np.zeros(arrays[-1].shape if shape is None else shape)
        kernel(*args, out)
        return out


# ---------------------------------------------------------------- programs


@appyc.jit
def bonds(x, out):
    for i in range(out.shape[0]):
        out[i] = x[i + 1] - x[i]


@appyc.jit
def spring(stiffness, rest, length, force):
    for i in range(length.shape[0]):
        force[i] = stiffness * (length[i] - rest)


@appyc.jit
def pulls(force, out):
    for i in range(1, out.shape[0] - 1):
        out[i] = force[i] - force[i - 1]


def molecular_dynamics(np: Any, x: Any, v: Any) -> float:
    """Velocity Verlet for a chain of atoms with fixed ends: bonds, forces, two half kicks, drift, both energies."""
    call = Library(np)

    def forces(x: Any) -> Any:
        return call(pulls, call(spring, 2.0, 1.0, call(bonds, x, shape=N - 1)), shape=N)

    energy: Any = 0.0
    for _ in range(4):
        half = call(axpy, 0.005, forces(x), v)
        x = call(axpy, 0.01, half, x)
        v = call(axpy, 0.005, forces(x), half)
        stretched = call(shift, call(bonds, x, shape=N - 1), -1.0)
        energy = 0.5 * inner(v, v) + inner(stretched, stretched)
    return float(energy)


@appyc.jit
def laplacian(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = 4.0 * a[i, j] - a[i - 1, j] - a[i + 1, j] - a[i, j - 1] - a[i, j + 1]


@appyc.jit
def inner_2d(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * b[i, j]
    return total


def conjugate_gradients(np: Any, r: Any) -> float:
    """Four iterations for the five-point Laplacian."""
    call = Library(np)
    r[0], r[-1], r[:, 0], r[:, -1] = 0.0, 0.0, 0.0, 0.0
    x, p = np.zeros(r.shape), r * 1.0
    rr = inner_2d(r, r)
    for _ in range(4):
        q = call(laplacian, p)
        step = rr / inner_2d(p, q)
        x = x + step * p
        r = r - step * q
        new = inner_2d(r, r)
        p = r + (new / rr) * p
        rr = new
    return float(rr) + float(inner_2d(x, x))


@appyc.jit
def slope_x(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = 0.5 * (a[i, j + 1] - a[i, j - 1])


@appyc.jit
def slope_y(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = 0.5 * (a[i + 1, j] - a[i - 1, j])


@appyc.jit
def advection(u, v, dx, dy, out):
    for i in range(1, dx.shape[0] - 1):
        for j in range(1, dx.shape[1] - 1):
            out[i, j] = u * dx[i, j] + v * dy[i, j]


@appyc.jit
def update(dt, lap, adv, a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = a[i, j] - dt * (0.5 * lap[i, j] + adv[i, j])


def explicit_pde(np: Any, a: Any) -> float:
    """Advection and diffusion: a step in five kernels."""
    call = Library(np)
    for _ in range(4):
        flow = call(advection, 0.7, 0.3, call(slope_x, a), call(slope_y, a))
        a = call(update, 0.05, call(laplacian, a), flow, a)
    return float(a.sum())


def naive_bayes(np: Any, *features: Any) -> float:
    """Log-likelihoods of two classes with independent normal features, and how often the first is likelier."""
    call = Library(np)

    def score(mean: float, deviation: float) -> Any:
        out = np.zeros(FEATURES.shape[1])
        for feature in features:
            z = call(scale, call(shift, feature, -mean), 1.0 / deviation)
            out = call(axpy, -0.5, call(multiply, z, z), out)
        return out - len(features) * math.log(deviation)

    one, two = score(-0.3, 1.1), score(0.4, 0.8)
    wins, best = (one > two).sum(), one.max()
    del one, two
    return float(wins) + float(best)


@appyc.jit
def sigmoid(a, out):
    for i in range(a.shape[0]):
        out[i] = 1.0 / (1.0 + numpy.exp(-a[i]))


def logistic_regression(np: Any, labels: Any, *features: Any) -> float:
    """Gradient descent with a kernel for each feature's part of the margin and of the gradient."""
    call = Library(np)

    def gradient(weights: list[float]) -> list[Any]:
        margin = np.zeros(labels.shape)
        for weight, feature in zip(weights, features, strict=True):
            margin = call(axpy, weight, feature, margin)
        error = call(subtract, call(sigmoid, margin), labels)
        return [inner(error, feature) for feature in features]

    weights = [0.1 * k for k in range(len(features))]
    for _ in range(3):
        found = gradient(weights)
        weights = [w - 0.5 / len(LABELS) * float(g) for w, g in zip(weights, found, strict=True)]
    return sum(weights)


def adam(np: Any, gradient: Any, first: Any, second: Any, weights: Any) -> float:
    """A step of the optimiser: moments, their corrections, and the step, a kernel each."""
    call = Library(np)
    first = call(axpy, 0.1, gradient, call(scale, first, 0.9))
    second = call(axpy, 0.001, call(multiply, gradient, gradient), call(scale, second, 0.999))
    corrected = call(scale, first, 1.0 / (1.0 - 0.9**3))
    spread = call(shift, call(root, call(scale, second, 1.0 / (1.0 - 0.999**3))), 1e-8)
    weights = call(axpy, -0.01, call(divide, corrected, spread), weights)
    norm = total(weights)
    del corrected, spread
    return float(norm) + float(first[5]) + float(second[5])


def tone_mapping(np: Any, light: Any) -> float:
    """Exposure, a filmic curve, contrast and a clip, a kernel for each operation."""
    call = Library(np)

    def filmic(light: Any) -> Any:
        above = call(multiply, light, call(shift, call(scale, light, 2.51), 0.03))
        below = call(multiply, light, call(shift, call(scale, light, 2.43), 0.59))
        return call(divide, above, call(shift, below, 0.14))

    curve = filmic(call(scale, light, 1.7))
    return float(np.clip(1.2 * (curve - 0.5) + 0.5, 0.0, 1.0).mean())


def moments(np: Any, x: Any) -> float:
    """Mean, variance, skewness and kurtosis."""
    call = Library(np)

    def sums(x: Any) -> list[Any]:
        centred = call(shift, x, -float(total(x)) / N)
        squared = call(multiply, centred, centred)
        return [
            total(a) / N
            for a in (squared, call(multiply, squared, centred), call(multiply, squared, squared))
        ]

    second, third, fourth = sums(x)
    return float(third / second**1.5) + float(fourth / second**2)


def batch_norm(np: Any, x: Any) -> float:
    """Normalisation, scale, offset and a rectifier, with the batch's own statistics."""
    call = Library(np)

    def variance(centred: Any) -> float:
        return float(total(call(multiply, centred, centred))) / N

    mean = float(total(x)) / N
    deviation = (variance(call(shift, x, -mean)) + 1e-5) ** 0.5
    normal = call(scale, call(shift, x, -mean), 1.0 / deviation)
    return float(np.maximum(call(shift, call(scale, normal, 1.3), -0.2), 0.0).sum())


def lattice_boltzmann(np: Any, *populations: Any) -> float:
    """The collision of five populations: density, two velocities, equilibria, relaxation."""
    call = Library(np)

    def collided(f: tuple[Any, ...]) -> list[Any]:
        density = f[0]
        for other in f[1:]:
            density = call(add, density, other)
        ux = call(divide, call(subtract, f[1], f[3]), density)
        uy = call(divide, call(subtract, f[2], f[4]), density)
        out = []
        for mine, (w, cx, cy) in zip(
            f, ((1 / 3, 0, 0), (1 / 6, 1, 0), (1 / 6, 0, 1), (1 / 6, -1, 0), (1 / 6, 0, -1)), strict=True
        ):
            along = call(axpy, 3.0 * cy, uy, call(scale, ux, 3.0 * cx))
            rest = call(axpy, w, call(multiply, density, along), call(scale, density, w))
            out.append(call(axpy, 0.6, rest, call(scale, mine, 0.4)))
        return out

    return float(sum(total(f) * (k + 1.0) for k, f in enumerate(collided(populations))))


def option_greeks(np: Any, price: Any, years: Any) -> float:
    """Black and Scholes in kernels of one operation each, with recorded operations between them."""
    call = Library(np)

    def greeks() -> list[Any]:
        spread = call(scale, call(root, years), 0.3)
        d1 = call(divide, np.log(price) + 0.095 * years, spread)
        density = 0.3989422804014327 * np.exp(call(scale, call(multiply, d1, d1), -0.5))
        vega, gamma = price * density * call(root, years), density / (price * spread)
        return [vega.sum(), gamma.max(), call(subtract, d1, spread).min()]

    return float(sum(greeks()))


@appyc.jit
def leap(old, lap, now, out):
    for i in range(1, now.shape[0] - 1):
        for j in range(1, now.shape[1] - 1):
            out[i, j] = 2.0 * now[i, j] - old[i, j] - 0.1 * lap[i, j]


def wave_equation(np: Any, old: Any, now: Any) -> float:
    """Leapfrog with damping and a source: Laplacian, step, damping, source, energy."""
    call = Library(np)
    energy: Any = 0.0
    for k in range(4):
        damped = call(leap, old, call(laplacian, now), now) - 0.01 * (now - old)
        damped += 0.001 * math.cos(k)
        old, now = now, damped
        energy = inner_2d(now - old, now - old)
    return float(energy) + float(now.max())


PROGRAMS: dict[Program, tuple[numpy.ndarray, ...]] = {
    molecular_dynamics: (CHAIN, 0.1 * LINE),
    conjugate_gradients: (GRID,),
    explicit_pde: (GRID,),
    naive_bayes: (*FEATURES,),
    logistic_regression: (LABELS, *FEATURES),
    adam: (NOISE, 0.1 * NOISE, LINE, OTHER),
    tone_mapping: (LINE,),
    moments: (NOISE,),
    batch_norm: (NOISE,),
    lattice_boltzmann: POPULATIONS,
    option_greeks: (LINE, OTHER),
    wave_equation: (GRID, GRID),
}
"""Each program, and the arrays that it starts from."""


def timed(program: Program, np: Any) -> tuple[float, float]:
    """What the program gives, and how many seconds it took from arrays of its own."""
    given = [np.array(a) for a in PROGRAMS[program]]
    flush()
    start = time.perf_counter()
    found = program(np, *given)
    flush()
    return found, time.perf_counter() - start


def run(program: Program, *, fused: bool) -> tuple[float, float]:
    """The same, on recorded arrays."""
    flush()
    if not fused:
        STATE.recording.bound(1, 1 << 62)
    try:
        with appyc.deferred():
            return timed(program, appyc.numpy)
    finally:
        flush()
        STATE.recording.bound(*recorded_bounds())


def measure(program: Program, repeats: int) -> dict[str, float]:
    """Best times in seconds, taken in turn after two runs each that compile what needs it."""
    ways: dict[str, Callable[[], tuple[float, float]]] = {
        "eager": lambda: timed(program, numpy),
        "unfused": lambda: run(program, fused=False),
        "fused": lambda: run(program, fused=True),
    }
    wanted, _ = ways["eager"]()
    best = dict.fromkeys(ways, math.inf)
    for name, way in ways.items():
        for _ in range(2):
            if not math.isclose(way()[0], wanted, rel_tol=1e-6):
                raise AssertionError(f"{program.__name__}: {name} gives {way()[0]}, not {wanted}")
    for _ in range(repeats):
        for name, way in ways.items():
            time.sleep(QUIET_SECONDS)
            way()  # threads are awake, and caches hold what they hold in a program that does nothing else
            best[name] = min(best[name], way()[1])
    return best


def main() -> None:
    programs = {program.__name__: program for program in PROGRAMS}
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *programs], default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    STATE.worth = 0
    os.environ["APPYC_COMPILE_WAIT"] = "inf"
    table = Table("program", "eager ms", "unfused ms", "fused ms", "fused over unfused")
    rows = {}
    for name in options.names or programs:
        rows[name] = best = measure(programs[name], options.repeats)
        table.add_row(name, *(f"{1e3 * best[w]:.2f}" for w in ("eager", "unfused", "fused")),
                      f"{best['unfused'] / best['fused']:.2f}")  # fmt: skip
    mean = math.exp(sum(math.log(b["unfused"] / b["fused"]) for b in rows.values()) / len(rows))
    Console().print(table, f"geometric mean: {mean:.2f} over unfused")
    if options.json:
        found = {"seconds": rows, "geometric_mean": mean}
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
