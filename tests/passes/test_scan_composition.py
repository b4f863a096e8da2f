"""Composition of chunks of a scan: totals, what each chunk starts from, and when that is sound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Assign, Expr, For, Function, LoopMode, Stmt, Var
from appyc.ir.printer import print_expr, print_function
from appyc.ir.schedule import Scan
from appyc.ir.types import DType
from appyc.passes.parallelise.scan_composition import LARGEST_START, Totals, rounds_in_products
from tests.ir_makers import Program, add, assign, compare, expr, for_, if_, load, mul, store, update
from tests.printed import run_printed

p = Program()
n, factor = p.integer("n"), p.real("factor")
a, b, c = (p.array(name, 1) for name in "abc")
i, chunk, first = p.index("i"), p.index("chunk"), p.index("first")
s, t = p.local("s"), p.local("t")
k = p.local("k", DType.INT64)


def at(array, index=i) -> Expr:
    return load(array, index, checked=False)


def put(array, value) -> Stmt:
    return store(array, [i], value, checked=False)


def scan(*body: Stmt, scans: tuple[Scan, ...]) -> For:
    return replace(for_(i, 0, n, list(body)), scans=scans)


SUM = scan(update(s, [], "+", at(a)), put(c, s), scans=(Scan("+", s),))
LARGEST = scan(update(s, [], "max", at(a)), put(c, s), scans=(Scan("max", s),))
LINEAR = scan(assign(s, add(mul(at(a), s), at(b))), put(c, s), scans=(Scan("linear", s),))
DECAY = scan(assign(s, add(mul(factor, s), at(b))), put(c, s), scans=(Scan("linear", s),))
CHOSEN = scan(if_(compare(">", at(a), 0.2), [update(k, [], "+", 1)]), put(c, k), scans=(Scan("+", k),))
BOTH = scan(*SUM.body, update(t, [], "*", at(b)), put(b, t), scans=(Scan("+", s), Scan("*", t)))

START = (assign(s, 0.5), assign(t, 2.0), assign(k, 3))
SIZE = 4


def totals_of(loop: For, guarded: bool = True) -> Totals:
    everything = p.function(*START, for_(i, 0, 1, []), for_(chunk, 0, 1, []), for_(first, 0, 1, []))
    return Totals(loop, NameSupply.after(everything), guarded)


def in_order(loop: For) -> Function:
    return p.function(*START, loop, results=[s, t, k])


def in_chunks(loop: For) -> Function:
    """Chunks of 4 iterations, in two passes; also returns whether that was sound."""
    totals = totals_of(loop)
    chunks = Var(n, loc=loop.loc)  # more than there are: those behind the end are empty
    here = expr(chunk)
    lo = mul(chunk, SIZE)
    bounds = {"lo": lo, "hi": expr_min(add(lo, SIZE), n)}
    one = for_(chunk, 0, n, [*totals.first(), replace(totals.loop(), **bounds), *totals.stores(here)])
    two = for_(chunk, 0, n, [*totals.seeds(here), replace(loop, **bounds)])
    arrays = [Alloc(array, (chunks,), loc=loop.loc) for array in totals.arrays()]
    link = totals.combine(first, chunks)
    sound = totals.is_sound()
    known: list[Stmt] = [] if sound is None else [Assign(p_sound, sound, loc=loop.loc)]
    body = [*START, assign(p_sound, True), *arrays, *totals.before(), one, *link, *known, two]
    return p.function(*body, results=[s, t, k, p_sound])


p_sound = p.local("sound", DType.BOOL)


def expr_min(lhs: Expr, rhs: object) -> Expr:
    return replace(add(lhs, rhs), op="min")


def arguments(size: int) -> list[object]:
    rng = np.random.default_rng(size)
    return [size, 0.75, *(rng.integers(-4, 5, size) / 4.0 for _ in range(2)), np.zeros(size)]


@pytest.mark.parametrize("size", [0, 1, 4, 5, 17])
@pytest.mark.parametrize(
    "loop", [SUM, LARGEST, LINEAR, DECAY, CHOSEN, BOTH], ids=lambda loop: str(len(loop.body))
)
def test_chunks_do_what_the_loop_does(loop: For, size: int) -> None:
    ours, others = arguments(size), arguments(size)
    *found, sound = run_printed(in_chunks(loop), *ours)
    expected = run_printed(in_order(loop), *others)
    assert sound
    if size:  # without a chunk the scalars keep what they have
        np.testing.assert_allclose(found[:2], expected[:2], rtol=1e-12)
    for one, other in zip(ours[2:], others[2:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_text(golden: Callable[[str, str], None]) -> None:
    golden("ir/scan_composition.txt", "\n".join(print_function(in_chunks(loop)) for loop in (SUM, LINEAR)))


def test_factors_that_may_grow_are_not_sound() -> None:
    args = arguments(8)
    args[2][3] = -1.5
    assert not run_printed(in_chunks(LINEAR), *args)[-1]
    args = arguments(8)
    args[2][:] = 1.0
    assert run_printed(in_chunks(LINEAR), *args)[-1]
    args[3][0] = LARGEST_START[DType.FLOAT64] * 2
    assert not run_printed(in_chunks(LINEAR), *args)[-1]


def test_a_fixed_factor_is_asked_for_before_the_loop() -> None:
    assert [print_expr(test) for test in totals_of(DECAY).conditions()] == ["np.abs(factor) <= 1.0"]
    assert totals_of(DECAY).reductions == ()
    assert [r.op for r in totals_of(LINEAR).reductions] == ["maximum"]
    assert totals_of(LINEAR).conditions() == []


def test_sums_and_integers_are_always_sound() -> None:
    assert totals_of(SUM).is_sound() is None
    assert totals_of(LINEAR, guarded=False).is_sound() is None
    assert rounds_in_products(Scan("linear", s))
    assert not rounds_in_products(Scan("linear", k))
    assert not rounds_in_products(Scan("*", s))


def test_the_first_pass_of_a_sum_is_lanes_and_that_of_a_recurrence_is_not() -> None:
    assert totals_of(SUM).loop().mode is LoopMode.SIMD
    assert totals_of(LINEAR).loop().mode is LoopMode.SEQUENTIAL
    assert [one.op for one in totals_of(LINEAR).loop().scans] == ["*", "linear"]
    assert len(totals_of(SUM).loop().body) == 1
