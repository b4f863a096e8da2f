"""Reductions of small nests are split over programs of a GPU: as printed IR, in the interpreter, as cubins."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Function
from appyc.ir.printer import print_function
from appyc.options import Options
from appyc.passes.gpu import split_reductions as module
from appyc.passes.gpu.split_reductions import split_reductions
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program
from tests.lowering import lowered
from tests.printed import run_printed
from tests.triton_gen.source_runner import compare, program_of


def split(fn, *args: object) -> tuple[Function, PassContext]:
    context = PassContext(Options(target="gpu"))
    before = pipeline.FOR_GPU[: pipeline.FOR_GPU.index(split_reductions) + 1]
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE, *before)
    return pipeline.run(lowered(fn, *args), passes, context, verify=True), context


def column_sums(a, x, y):
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j] * x[i]
        y[j] = y[j] + 2.0 * s


def sums_in_place(a, x, y):
    """The loop that is summed over is the outer one."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[j] += a[i, j] * x[i]


def later_sums(a, x, y):
    for j in range(1, a.shape[1]):
        s = 0.5
        for i in range(1, a.shape[0]):
            s += a[i, j]
        y[j] = s


def row_sums(a):
    """Lanes are elements of one sum."""
    return a.T.copy().sum(axis=1)


def several_at_once(a):
    return a.sum(axis=0), a.max(axis=0)


def of_integers(a):
    b = (a * 8.0).astype(np.int64)
    return b.min(axis=0), np.any(b > 5, axis=0)


def of_complex(a):
    return (a + 1j * a).sum(axis=0)


def of_planes(a):
    return a.reshape(a.shape[0], 1, a.shape[1]).sum(axis=0)


def sums_of_sums(a, x, y):
    """Stores between the sums, scalars that a later one needs, and loops of other lengths."""
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        mean = s / a.shape[0]
        x[j] = mean
        t = 0.0
        most = -np.inf
        for i in range(2, a.shape[0]):
            t += (a[i, j] - mean) ** 2
            most = max(most, a[i, j] * mean)
        y[j] = t + most + s


def variance(a):
    return a.var(axis=0)


def channels(a, x, y):
    """Sums over three axes around another one, and what they have to be divided by."""
    b = a.reshape(a.shape[0], 1, a.shape[1], 1)
    for c in range(b.shape[2]):
        s = 0.0
        most = -np.inf
        for n in range(b.shape[0]):
            for h in range(b.shape[1]):
                for w in range(b.shape[3]):
                    s += b[n, h, c, w]
                    most = max(most, b[n, h, c, w])
        y[c] = s + most


def of_two_axes(a):
    b = a.reshape(1, a.shape[0], a.shape[1])
    return b.sum(axis=(0, 1)), b.var(axis=(0, 1)), b.max(axis=(0, 2))


def of_some(a, x, y):
    """Loops with scalars of their own."""
    for c in range(a.shape[1]):
        s = 0.0
        for n in range(a.shape[0]):
            for h in range(x.shape[0]):
                t = a[n, c] * x[h]
                if t > -0.5:
                    s += t
        y[c] = s


def of_triangles(a, x, y):
    """The second axis begins where the first one is."""
    for c in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            for j in range(i, a.shape[0]):
                s += a[j, c] * x[i]
        y[c] = s


CASES = [
    (channels, lambda a: (a, np.ones(a.shape[1]), np.ones(a.shape[1]))),
    (of_two_axes, lambda a: (a,)),
    (of_some, lambda a: (a, np.cos(a[0]), np.ones(a.shape[1]))),
    (of_triangles, lambda a: (a, np.cos(a[:, 0]), np.ones(a.shape[1]))),
    (column_sums, lambda a: (a, np.cos(a[:, 0]), np.ones(a.shape[1]))),
    (sums_in_place, lambda a: (a, np.cos(a[:, 0]), np.ones(a.shape[1]))),
    (later_sums, lambda a: (a, np.ones(a.shape[1]), np.ones(a.shape[1]))),
    (row_sums, lambda a: (a,)),
    (several_at_once, lambda a: (a,)),
    (of_integers, lambda a: (a,)),
    (of_complex, lambda a: (a,)),
    (of_planes, lambda a: (a,)),
    (sums_of_sums, lambda a: (a, np.ones(a.shape[1]), np.ones(a.shape[1]))),
    (variance, lambda a: (a,)),
]


def plane(*shape: int) -> np.ndarray:
    return np.cos(np.arange(float(np.prod(shape)))).reshape(shape)


@pytest.mark.sampled
@pytest.mark.parametrize(("fn", "make"), CASES, ids=[case[0].__name__ for case in CASES])
@pytest.mark.parametrize("shape", [(5, 3), (16, 1), (17, 4), (50, 3), (64, 130)])
def test_sums_of_all_lengths(fn, make, shape, monkeypatch):
    monkeypatch.setattr(module, "LANES", 512)
    monkeypatch.setattr(module, "LEAST", 2)
    monkeypatch.setattr(module, "STRIP_THREADS", 1)
    monkeypatch.setattr(module, "FEWEST", 3)
    args = make(plane(*shape))
    program, _ = split(fn, *args)
    assert "_parts" in print_function(program)
    compare(fn, *args, exact=False, build=False)
    ours, theirs = ([a.copy() for a in args] for _ in range(2))
    found, expected = run_printed(program, *ours), fn(*theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    flat = found if isinstance(expected, tuple) else (found,)
    for a, b in zip(flat, expected if isinstance(expected, tuple) else (expected,), strict=True):
        if b is not None:
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_kernels_compile():
    a = plane(300, 5)
    program = compare(column_sums, a, np.cos(a[:, 0]), np.ones(5), exact=False)
    assert len(program.kernels) == 3


def test_remark_says_so():
    _, context = split(column_sums, plane(4, 5), plane(4), plane(5))
    assert any("split over programs of the GPU" in r.text for r in context.remarks)


def triangle(a, y):
    """How many elements a sum has, the iteration decides."""
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(j):
            s += a[i, j]
        y[j] = s


def sum_and_scan(a, y):
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        for i in range(1, a.shape[0]):
            s += a[i, j] * s
        y[j] = s


def sum_that_stores(a, y):
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
            a[i, j] = 0.0
        y[j] = s


def no_sum(a, y):
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s = s * 0.5 + a[i, j]
        y[j] = s


@pytest.mark.parametrize("fn", [triangle, sum_and_scan, sum_that_stores, no_sum], ids=lambda fn: fn.__name__)
def test_other_nests_stay(fn, monkeypatch):
    monkeypatch.setattr(module, "LEAST", 1)
    args = plane(5, 5), np.zeros(5)
    assert "_parts" not in print_function(split(fn, *args)[0])
    compare(fn, *args, exact=False, build=False)


def test_rows_in_lanes_stay():
    """A program has the row at once already."""

    def softmax(x, y):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        y[:] = e / e.sum(axis=1, keepdims=True)

    assert "_parts" not in print_function(split(softmax, plane(4, 5), plane(4, 5))[0])


def test_empty_function():
    fn = Program().function()
    assert split_reductions(fn, PassContext(Options(target="gpu"))) is fn


def test_text(golden):
    args = plane(4, 5), plane(4), plane(5)
    golden("ir/split_reductions.txt", print_function(split(column_sums, *args)[0]))
    assert "rt.launch" in program_of(column_sums, *args).text
