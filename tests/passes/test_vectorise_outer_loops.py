"""Iterations become lanes under masks around loops that they leave at different times."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.nodes import Alloc, Const, Function, Load, LoopMode, While
from appyc.ir.printer import print_function
from appyc.ir.types import DType
from appyc.ir.verify import check
from appyc.ir.visit import loops_of, walk
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.vectorise.vectorise_outer_loops import LANES, vectorise_outer_loops
from tests.lowering import after, lowered
from tests.printed import run_printed


def analysed(fn, *args: object, options: Options | None = None) -> Function:
    context = PassContext(options or Options())
    return after(lowered(fn, *args), *pipeline.SIMPLIFY, *pipeline.ANALYSE, context=context)


def masked(fn, *args: object, functions: frozenset[str] = frozenset()) -> Function:
    """The function after the pass, which does what it did for these arguments."""
    before = analysed(fn, *args)
    out = vectorise_outer_loops(before, PassContext(vector_functions=functions))
    check(out, "vectorise_outer_loops")
    outcomes = []
    for program in (before, out):
        own = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        outcomes.append((run_printed(program, *own), own))
    np.testing.assert_equal(outcomes[1], outcomes[0])
    return out


def has_masks(fn: Function) -> bool:
    return any(isinstance(n, Alloc) and n.in_frame for n in walk(fn))


def steps(c, out, limit):
    for i in range(len(out)):
        z = 0.0
        k = 0
        while z < 4.0 and k < limit:
            z = z * z + c[i]
            k += 1
        out[i] = k


COUNTS = np.zeros(37, np.int64)
NUMBERS = np.linspace(-1, 2, 37)


def test_while_with_an_end_of_its_own(golden):
    out = masked(steps, NUMBERS, COUNTS, 30)
    strip = loops_of(out.body)[0]
    assert strip.mode is LoopMode.PARALLEL
    assert strip.step == LANES
    golden("ir/vectorise_outer_loops.txt", print_function(out))


@pytest.mark.parametrize("count", [0, 1, LANES - 1, LANES, LANES + 1, 3 * LANES])
def test_any_number_of_iterations(count):
    assert has_masks(masked(steps, np.linspace(-1, 2, count), np.zeros(count, np.int64), 20))


def total(x, limit):
    s = 0.0
    for i in range(len(x)):
        v = x[i]
        k = 0
        while v < 3.0 and k < limit:
            v = v * 1.5 + 0.1
            k += 1
        s += k
    return s


def test_sums_are_gathered_from_lanes():
    assert has_masks(masked(total, NUMBERS, 12))


def largest(x, limit):
    s = -9.0
    for i in range(len(x)):
        v = x[i]
        for _ in range(limit):
            if v > 3.0:
                break
            v = v * 1.5 + 0.1
        s = max(s, v)
    return s


def test_breaks_are_flags_and_extremes_are_gathered():
    assert has_masks(masked(largest, NUMBERS, 12))


def cubes(z, out, n):
    for i in range(len(z)):
        w = z[i]
        for _ in range(n):
            w = w - (w * w * w - 1) / (3 * w * w)
        out[i] = w


def test_complex_numbers_are_pairs():
    z = np.linspace(0.5, 2, 19) + 0.7j
    before = analysed(cubes, z, z.copy(), 4)
    out = vectorise_outer_loops(before, PassContext())
    check(out, "vectorise_outer_loops")
    assert has_masks(out)
    results = np.zeros((2, 19), complex)
    for program, result in zip((before, out), results, strict=True):
        run_printed(program, z, result, 4)
    np.testing.assert_allclose(results[1], results[0], rtol=1e-13)


# ---------------------------------------------------------------- refusals


def divisors(a, b, out):
    for i in range(len(out)):
        x = a[i]
        y = b[i]
        while y != 0:
            x, y = y, x % y
        out[i] = x


def halves(table, x, out):
    for i in range(len(x)):
        low = 0
        high = len(table)
        while low < high:
            middle = (low + high) // 2
            if table[middle] < x[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


def handed_on(c, out, limit):
    z = 0.0
    for i in range(len(out)):
        k = 0
        while z < 4.0 and k < limit:
            z = z * z + c[i]
            k += 1
        out[i] = k


def logarithms(z, out, n):
    for i in range(len(z)):
        w = z[i]
        k = 0
        while k < n and w.real < 9:
            w = np.log(w + 3) + w
            k += 1
        out[i] = w


def waves(x, out, n):
    for i in range(len(x)):
        w = x[i]
        k = 0
        while k < n and w < 9:
            w = np.sin(w) + w + 0.1
            k += 1
        out[i] = w


def bits_set(a, out):
    for i in range(len(a)):
        x = a[i]
        k = 0
        while x:
            x &= x - 1
            k += 1
        out[i] = k


ONES = np.ones(5, np.int64)
PLANE = np.ones(5, np.complex128)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (divisors, (ONES, ONES, ONES)),
        (halves, (NUMBERS, NUMBERS, COUNTS)),
        (handed_on, (NUMBERS, COUNTS, 5)),
        (logarithms, (PLANE, PLANE.copy(), 3)),
        (waves, (NUMBERS, NUMBERS.copy(), 3)),
        (bits_set, (ONES, ONES)),  # an instruction
        (bits_set, (ONES.astype(np.uint32), ONES)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_better_left_alone(fn, args):
    before = analysed(fn, *args)
    assert vectorise_outer_loops(before, PassContext()) == before


def test_functions_that_have_a_form_for_vectors():
    assert has_masks(masked(waves, NUMBERS, NUMBERS.copy(), 9, functions=frozenset({"sin"})))


def largest_behind(x, out, width):
    for i in range(width, len(x)):
        best = x[i]
        for j in range(i - width, i):
            if x[j] > best and x[j] < 1.9:
                best = x[j]
        out[i] = best


def steps_up_ahead(x, out, limit):
    for i in range(len(x)):
        count = 0
        for j in range(i + 1, len(x)):
            if x[j] > x[i] and count < limit:
                count += 1
        out[i] = count


@pytest.mark.parametrize("fn", [largest_behind, steps_up_ahead])
def test_loops_that_begin_at_an_iteration_count_alike(fn):
    out = masked(fn, NUMBERS, NUMBERS.copy(), 5)
    assert has_masks(out)
    assert not any(isinstance(n, While) for n in walk(out))
    (counted,) = (loop for loop in loops_of(out.body) if loop.mode is LoopMode.SEQUENTIAL)
    assert counted.lo == Const(0, DType.INT64, loc=counted.loc)
    reads = [n for n in walk(counted.body) if isinstance(n, Load) and n.array.name == "x"]
    assert len({str(n.index) for n in reads}) == len(reads)


def in_columns(x, out, width):
    for c in range(x.shape[1]):
        for i in range(width, len(x)):
            best = x[i, c]
            for j in range(i - width, i):
                if x[j, c] > best and x[j, c] < 1.9:
                    best = x[j, c]
            out[i, c] = best


def backwards(x, out, width):
    n = len(x)
    for i in range(width, n):
        best = 0.0
        for j in range(i - width, i):
            if x[n - 1 - j] > best and x[n - 1 - j] < 1.9:
                best = x[n - 1 - j]
        out[i] = best


def test_lanes_read_neither_columns_nor_backwards():
    x = NUMBERS[:36].reshape(18, 2)
    assert not has_masks(masked(in_columns, x, x.copy(), 3))
    assert not has_masks(masked(backwards, NUMBERS, NUMBERS.copy(), 3))


def test_explained():
    report = appyc.jit(cache=False)(steps).explain(NUMBERS, COUNTS, 5)
    assert any("iterations run in lanes" in r.text and r.kind == "note" for r in report.remarks)


def test_chunks_of_a_recurrence_stay_interleaved_chains():
    """Masked lanes would let the products of factors become subnormal, which takes ten times as long."""

    def decay(x, out):
        s = 0.0
        for i in range(x.shape[0]):
            s = 0.9 * s + x[i]
            out[i] = s

    program = analysed(decay, np.ones(4), np.ones(4), options=Options(target="cpu"))
    assert any(
        scan.fades for loop in loops_of(program.body) for inner in loops_of(loop.body) for scan in inner.scans
    )
    assert vectorise_outer_loops(program, PassContext()) is program
