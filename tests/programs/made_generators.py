"""Generators that each iteration makes for itself: counter-based, or seeded by its number."""

import numpy as np

import appyc
from tests.programs.registry import Programs

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(np.zeros((70, 9)), 12345)
def counted(out, key):
    for i in appyc.prange(out.shape[0]):
        rng = np.random.Generator(np.random.Philox(key=key, counter=i))
        for j in range(out.shape[1]):
            out[i, j] = rng.random()


@PROGRAMS.on(np.zeros((70, 6)), 7, targets=("cpu",))
def keyed(out, key):
    for i in appyc.prange(out.shape[0]):
        rng = np.random.Generator(np.random.Philox(key=[key, i - 3], counter=(2**63 - 1, 0, i, 5)))
        for j in range(out.shape[1]):
            out[i, j] = rng.uniform(-1.0, 3.0)


@PROGRAMS.on(np.zeros(70, np.int64), 6, targets=("threads", "interpret"))
def thrown(out, sides):
    for i in appyc.prange(out.shape[0]):
        rng = np.random.Generator(np.random.Philox(key=[1, i]))
        s = 0
        for _ in range(9):
            s = s * 3 + rng.integers(sides)
        out[i] = s


@PROGRAMS.on(np.zeros((40, 6), np.int64), targets=("cpu",))
def ranges(out):
    for i in appyc.prange(out.shape[0]):
        rng = np.random.Generator(np.random.Philox(3).jumped(i))
        out[i, 0] = rng.integers(0, 2**40)
        out[i, 1] = rng.integers(-4, 4, endpoint=True)
        out[i, 2] = rng.integers(0, 2**32)
        out[i, 3] = rng.integers(-(2**62), 2**62)
        out[i, 4] = rng.integers(5, 6)
        out[i, 5] = rng.choice(9)


@PROGRAMS.on(np.zeros((40, 5)), 9, targets=("threads", "interpret"))
def seeded(out, seed):
    for i in appyc.prange(out.shape[0]):
        rng, other = np.random.default_rng(i), np.random.Generator(np.random.PCG64([seed << 30, i]))
        for j in range(out.shape[1]):
            out[i, j] = rng.random() - other.random()


@PROGRAMS.on(np.zeros((40, 5)), 2**40 + 3, targets=("cpu",))
def wide_seeds(out, seed):
    for i in appyc.prange(out.shape[0]):
        rng = np.random.default_rng((seed, i))
        for j in range(out.shape[1]):
            out[i, j] = rng.random()


@PROGRAMS.on(np.zeros((9, 4000)), targets=("cpu",))
@PROGRAMS.on(np.zeros((9, 40)), targets=("interpret",))
def normals(out):
    for i in appyc.prange(out.shape[0]):
        rng = np.random.Generator(np.random.Philox(key=i))
        for j in range(out.shape[1]):
            out[i, j] = rng.normal(1.0, 2.0)


@PROGRAMS.on(np.zeros((9, 4000)), targets=("cpu",))
def exponentials(out):
    for i in appyc.prange(out.shape[0]):
        rng = np.random.default_rng(i)
        draw = rng.standard_exponential
        for j in range(out.shape[1]):
            out[i, j] = draw() * 2.0 + rng.standard_normal()


def _path(rng, steps):
    x = 0.0
    while steps > 0 and rng.random() < 0.9:
        x += rng.normal() if rng.random() < 0.5 else -rng.exponential(0.5)
        steps -= 1
    return x


@PROGRAMS.on(np.zeros(300), targets=("cpu",))
def walks(out):
    for i in appyc.prange(out.shape[0]):
        out[i] = _path(np.random.Generator(np.random.Philox(counter=[0, 0, 0, i], key=2)), 40)


@PROGRAMS.on(200, 30, targets=("cpu", "threads"))
def pi(n, m):
    inside = 0
    for i in appyc.prange(n):
        rng = np.random.Generator(np.random.Philox(key=1, counter=i))
        for _ in range(m):
            x, y = rng.random(), rng.random()
            if x * x + y * y < 1.0:
                inside += 1
    return inside


@PROGRAMS.on(np.zeros((20, 5)), targets=("cpu",))
def several(out):
    for i in appyc.prange(out.shape[0]):
        rng = np.random.default_rng([1, i])
        out[i] = rng.random(5) + rng.permutation(5) - rng.normal(size=5)


@PROGRAMS.on(np.zeros(50), targets=("cpu",))
def two_of_one_state(out):
    for i in range(out.shape[0]):
        bits = np.random.Philox(key=i)
        one, other = np.random.Generator(bits), np.random.default_rng(bits)
        out[i] = one.random() - other.random() * one.integers(9) + other.integers(9)


@PROGRAMS.on(np.zeros(50, np.float32), targets=("cpu",))
def short(out):
    for i in appyc.prange(out.shape[0]):
        rng = np.random.Generator(np.random.Philox(key=np.uint64(i)))
        out[i] = rng.random(dtype=np.float32) - rng.random(dtype=np.float32)
