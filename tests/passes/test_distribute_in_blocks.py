"""Loops that call functions beside what has no lanes: distributed where nothing forbids it, right in any case."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.printer import print_function
from appyc.passes.vectorise.distribute_in_blocks import BLOCK, distribute_in_blocks
from tests.e2e.harness import run_everywhere
from tests.fuzz.generator import Program as Generated
from tests.lowering import after, lowered

BEFORE = (
    *pipeline.SIMPLIFY,
    *pipeline.ANALYSE,
    *pipeline.FOR_C[: pipeline.FOR_C.index(distribute_in_blocks)],
)
RNG = np.random.default_rng(3)
X, W = RNG.random((150, 7)) - 0.5, RNG.random(7)


def predicted(x, w, y):
    for i in range(x.shape[0]):
        z = 0.0
        for k in range(x.shape[1]):
            z += x[i, k] * w[k]
        y[i] = 1.0 / (1.0 + math.exp(-z))


def two_sums(x, w, y):
    for i in range(x.shape[0]):
        a, b = 0.0, 1.0
        for k in range(x.shape[1]):
            a += x[i, k] * w[k]
            b += abs(x[i, k])
        c = math.exp(a)
        y[i] = c * b if a > 0.0 else math.log(b) + c


def distances(x, w, y):
    out = np.zeros((x.shape[0], x.shape[0]))
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            d = 0.0
            for k in range(x.shape[1]):
                d += (x[i, k] - x[j, k]) ** 2
            out[i, j] = math.exp(-d) * w[0]
    return out


def in_place(x, w, y):
    for i in range(x.shape[0]):
        s = 0.0
        for k in range(x.shape[1]):
            s += x[i, k]
        x[i, 0] = math.exp(s) + x[i, 1]
        y[i] = x[i, 0]


def total(x, w, y):
    t = 0.0
    for i in range(x.shape[0]):
        z = 0.0
        for k in range(x.shape[1]):
            z += x[i, k] * w[k]
        t += math.exp(z)
    y[0] = t


def generated(x, w, y):
    seed, t = 42, 0.0
    for i in range(x.shape[0]):
        seed = (1103515245 * seed + 12345) % 2147483648
        u = seed / 2147483648
        t += math.exp(-u * u) * math.sin(u) + x[i, 0]
    y[0] = t + seed


def variances(x, w, y):
    s, t = 1.0, 0.0
    for i in range(1, x.shape[0]):
        s = 0.1 + 0.2 * x[i - 1, 0] ** 2 + 0.3 * s
        t += math.log(s) + x[i, 0] ** 2 / s
        y[i] = s
    y[0] = t


def products(x, w, y):
    s = 1.0
    for i in range(x.shape[0]):
        s *= math.exp(0.01 * x[i, 0])
        y[i] = s


def called_thrice(x, w, y):
    """Lanes, what runs in order, lanes again."""
    a, b = 0.5, 0.25
    for i in range(x.shape[0]):
        a = math.sin(x[i, 1]) + a * 0.5
        if a > 0.5:
            b = a - b
        y[i] = math.cos(b) + math.tanh(a)


def in_pairs(x, w, y):
    """Two results an iteration, by Box and Muller."""
    seed = 7
    for i in range(0, x.shape[0] - 1, 2):
        seed = (1103515245 * seed + 12345) % 2147483648
        r = math.sqrt(-2 * math.log((seed + 1) / 2147483649))
        seed = (1103515245 * seed + 12345) % 2147483648
        y[i] = r * math.cos(seed / 341782637.0)
        y[i + 1] = r * math.sin(seed / 341782637.0)


def from_before(x, w, y):
    """What is read before it is assigned is of the iteration before."""
    p = 0.5
    for i in range(x.shape[0]):
        q = math.exp(p)
        p = x[i, 0] * 0.5 + (p if x[i, 1] > 0.5 else 0.0)
        y[i] = q + math.log(1.5 + p * p)


def sums_inside(x, w, y):
    """A loop that threads may share, in one that runs in order."""
    s = 1.0
    for i in range(x.shape[0]):
        for k in range(w.shape[0]):
            s -= w[k]
        s = s * math.cos(x[i, 0])
    y[0] = s


def stored_by_neighbours(x, w, y):
    """Lanes in step: the second statement reads what the first one has stored one iteration before."""
    z = np.zeros(y.shape[0])
    for i in range(1, x.shape[0] - 1):
        t = x[i, 0] * x[i, 1] + 1.0
        y[i] = y[i + 1] * 0.5 + t
        z[i] = y[i - 1] - t * t
    return z


def drawn_rows(x, w, y):
    state = np.array([7])
    for i in range(x.shape[0]):
        state[0] = (state[0] * 69069 + 1) & 0xFFFFFFFF
        z = state[0] / 4294967296
        y[i] = math.exp(z) + state[0] % 3


SPLIT = (
    predicted, two_sums, distances, in_place, total, generated, variances, products, called_thrice, from_before,
    in_pairs, sums_inside, stored_by_neighbours,
)  # fmt: skip


def carried(x, w, y):
    for i in range(1, x.shape[0]):
        y[i] = math.exp(-y[i - 1]) + x[i, 0]


def under_a_condition(x, w, y):
    s = 0.0
    for i in range(x.shape[0]):
        s = s * 0.5 + x[i, 0]
        if s > 0.1:
            s = math.exp(-s)
        y[i] = s


def ends_early(x, w, y):
    s = 1.0
    for i in range(x.shape[0]):
        s = s * 0.5 + x[i, 0]
        if s < -9.0:
            break
        y[i] = math.exp(s)


def updated_through_an_index(x, w, y):
    s = 1
    for i in range(x.shape[0]):
        s = (s * 5 + i) % 64
        y[s % y.shape[0]] += math.exp(s / 64)


def read_behind(x, w, y):
    z = 0.0
    for i in range(x.shape[0]):
        z = 0.0
        for k in range(x.shape[1]):
            z += x[i, k] * w[k]
        y[i] = math.exp(z)
    y[0] = z


def no_function(x, w, y):
    for i in range(x.shape[0]):
        z = 0.0
        for k in range(x.shape[1]):
            z += x[i, k] * w[k]
        y[i] = math.sqrt(abs(z))


def may_raise(x, w, y):
    for i in range(x.shape[0]):
        z = 0.0
        for k in range(x.shape[1]):
            z += x[i, k] * w[k]
        y[i] = math.exp(z) / float(x[i, 0] - w[0])


def iterated(x, w, y):
    for i in range(x.shape[0]):
        z = x[i, 0]
        for _ in range(9):
            z = z * 0.5 + 0.1
        y[i] = math.exp(z)


def skipped(x, w, y):
    for i in range(x.shape[0]):
        if x[i, 0] > 0.5:
            if x[i, 1] > 0.5:
                continue
            y[i] = 3.0
        else:
            if x[i, 2] > 0.5:
                continue
            y[i] = 4.0
        z = 0.0
        for k in range(x.shape[1]):
            z += x[i, k] * w[k]
        y[i] += math.exp(z)


def read_before_it_is_stored(x, w, y):
    """Lanes in step that wait for nothing."""
    z = np.zeros(y.shape[0])
    for i in range(x.shape[0] - 1):
        z[i] = y[i + 1] * 0.5
        y[i] = x[i, 0]
    return z


LEFT = (
    read_behind, no_function, may_raise, iterated, skipped, carried, under_a_condition, ends_early,
    updated_through_an_index, read_before_it_is_stored,
)  # fmt: skip


def ready(fn):
    return after(lowered(fn, X, W, np.zeros(150)), *BEFORE)


@pytest.mark.parametrize("fn", SPLIT, ids=lambda fn: fn.__name__)
def test_split(fn):
    assert "_kept" in print_function(after(ready(fn), distribute_in_blocks))


@pytest.mark.parametrize("fn", LEFT, ids=lambda fn: fn.__name__)
def test_left(fn):
    fn = ready(fn)
    assert after(fn, distribute_in_blocks) is fn


@pytest.mark.sampled
@pytest.mark.parametrize("rows", [0, 1, BLOCK - 1, BLOCK + 1, 150])
@pytest.mark.parametrize("fn", [*SPLIT, *LEFT, drawn_rows], ids=lambda fn: fn.__name__)
def test_results(fn, rows):
    run_everywhere(fn, X[:rows].copy(), W, np.zeros(max(rows, 1)))


def best_of_columns(a, k, y, z):
    """Two scalars of a column are kept; the index behind it is tested, and names another row for each column."""
    for i in range(a.shape[1]):
        best, at = 0.0, 0
        for r in range(a.shape[0]):
            v = a[r, i] * a[r, 0]
            if v > best:
                best = v + a[0, 0]
                at = r
        y[i] = best * a[k[at], i]
        z[i] = at


def gathered_behind_sums(a, k, y, z):
    total = 0.0
    for i in range(a.shape[1]):
        s = 0.0
        for r in range(a.shape[0]):
            s += a[r, i] * a[r, 1]
        y[i] = s
        total += s * z[k[i % 7]]
    return total


@pytest.mark.parametrize("fn", [best_of_columns, gathered_behind_sums], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("columns", [2, 15, 16, BLOCK + 1, 150])
@pytest.mark.parametrize("out_of_range", [False, True])
def test_loops_down_columns(fn, columns, out_of_range):
    a, k = RNG.random((7, columns)), RNG.integers(-columns if columns < 7 else -7, min(columns, 7), 7)
    if out_of_range:
        k[3] = 900
    args = a, k, np.zeros(columns), np.ones(columns)
    run_everywhere(fn, *args, joined=fn is gathered_behind_sums)
    ready = after(lowered(fn, *args), *BEFORE)
    assert "_kept" in print_function(after(ready, distribute_in_blocks))


def random_program(rng):
    """A loop whose statements depend on each other, and on earlier iterations, through scalars and arrays."""
    scalars = "abcd"

    def value(depth=2):
        if not depth or rng.random() < 0.25:
            return rng.choice([*scalars, "x[i]", "x[i + 1]", "x[i + 2]", "y[i]", "i * 0.01", "0.375"])
        if rng.random() < 0.45:
            return f"np.{rng.choice(['sin', 'cos', 'tanh', 'arctan'])}({value(depth - 1)})"
        return f"({value(depth - 1)} {rng.choice('+-*')} {value(depth - 1)})"

    def statement():
        return rng.choice(
            [
                f"{rng.choice(scalars)} = {value()}",
                f"{rng.choice(scalars)} = np.sin({rng.choice(scalars)} * 0.5 + {value(1)})",
                f"t += {value()}",
                f"{rng.choice(['y[i]', 'y[i + 1]', 'w[i]'])} = {value()}",
                f"if {value(0)} > 0.25: {rng.choice(scalars)} = {value(1)}",
                f"k = (k * 5 + 3) % 64; w[k % w.shape[0]] += {value(1)}",
            ]
        )

    lines = "".join(f"        {statement()}\n" for _ in range(rng.randint(2, 6)))
    head = "def program(x, y, w):\n    a, b, c, d, t, k = 0.5, 0.25, 0.125, 1.0, 0.0, 1\n"
    return f"{head}    for i in range(x.shape[0] - 2):\n{lines}    return a, b, c, d, t, k\n"


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(100))
def test_random_bodies(seed, monkeypatch):
    monkeypatch.setattr("appyc.passes.vectorise.distribute_in_blocks.BLOCK", 3 + seed % 3)
    monkeypatch.setattr("appyc.passes.vectorise.distribute_in_blocks.FEW", 0)
    data = np.random.default_rng(seed)
    args = data.random(41) - 0.5, data.random(41) - 0.5, np.zeros(41)
    program = Generated(random_program(random.Random(seed)), args)
    run_everywhere(program.function(), *program.args, targets=("cpu",), joined=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_under_a_pragma_on_threads(dtype):
    def rows(x, w, y):
        # pragma parallel for
        for i in range(x.shape[0]):
            z = x[i, 0] * 0
            for k in range(x.shape[1]):
                z += x[i, k] * w[k]
            y[i] = np.exp(z) + np.log(x[i, 1] + 2)

    x = RNG.random((3000, 40)).astype(dtype)
    run_everywhere(rows, x, x[0].copy(), np.zeros(3000, dtype), targets=("cpu", "threads"))
    assert "_kept" in appyc.jit(rows).source("c", x, x[0].copy(), np.zeros(3000, dtype))


def test_golden(golden):
    golden("loops/distribute_in_blocks.txt", print_function(after(ready(predicted), distribute_in_blocks)))
