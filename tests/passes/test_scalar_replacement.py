"""Elements that stay the same while a loop runs are held in scalars, and only where that changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import For, Function, If, Load, Stmt, Store, Update
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, walk
from appyc.options import Options
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.pass_context import PassContext
from appyc.passes.storage.scalar_replacement import scalar_replacement
from tests.ir_makers import (
    Program,
    break_,
    compare,
    for_,
    if_,
    load,
    mul,
    pragma,
    store,
    sub,
    update,
)
from tests.printed import run_printed

p = Program()
n, m, k = p.integer("n"), p.integer("m"), p.integer("k")
a, b, t = p.array("a", 1), p.array("b", 1), p.array("t", 1)
c, d = p.array("c", 2), p.array("d", 2)
idx = p.array("idx", 1, DType.INT64)
i, j, l = p.index("i"), p.index("j"), p.index("l")
POSITIVE = compare(">", load(b, i), 0.0)


def promoted(*body: Stmt, **options: object) -> tuple[Function, Function]:
    """The program with its accesses known to be in range, before the pass and after it."""
    context = PassContext(Options(**options))  # type: ignore[arg-type]
    before = check_bounds(p.function(*body), context)
    after = scalar_replacement(before, context)
    assert verify(after) == []
    return before, after


def touches_arrays(loop: For, array: object) -> bool:
    return any(
        (isinstance(x, Load | Store) and x.array == array) or (isinstance(x, Update) and x.target == array)
        for x in walk(loop.body)
    )


def arguments(size: int) -> list[object]:
    """n, m, k, then the arrays in order."""
    rng = np.random.default_rng(size)
    vectors = [rng.uniform(-1, 1, max(size, 1)) for _ in range(3)]
    squares = [rng.uniform(-1, 1, (size, size)) for _ in range(2)]
    return [size, size, 1, *vectors, *squares, rng.permutation(max(size, 1))]


@pytest.mark.parametrize("size", [0, 1, 2, 7])
@pytest.mark.parametrize(
    "body",
    [
        [for_(i, 0, n, [update(t, [0], "+", load(a, i))])],
        [for_(i, 0, n, [store(t, [0], load(a, i)), store(b, [i], load(t, 0))])],
        [for_(i, 0, n, [for_(j, 0, n, [update(t, [0], "+", load(c, i, j))])])],
        [for_(i, 0, n, [for_(j, 0, n, [for_(l, 0, n, [update(c, [i, j], "+", mul(load(d, i, l), load(d, l, j)))])])])],
        [for_(i, sub(n, 1), -1, [update(t, [0], "max", load(a, i))], step=-1)],
        [for_(i, 0, n, [update(a, [0], "+", load(b, i)), update(a, [sub(n, 1)], "*", load(b, i))])],
        [for_(i, 0, n, [if_(POSITIVE, [update(t, [0], "+", load(a, i))])])],
        [for_(i, 0, n, [if_(POSITIVE, [update(t, [0], "+", load(a, i))], [update(t, [0], "+", 1.0)])])],
    ],
    ids=["sum", "private", "square", "product", "downwards", "perhaps one element", "condition", "either"],
)  # fmt: skip
def test_printed_programs_do_the_same(body: list[Stmt], size: int) -> None:
    before, after = promoted(*body)
    expected, found = arguments(size), arguments(size)
    run_printed(before, *expected)
    run_printed(after, *found)
    for one, two in zip(expected[3:], found[3:], strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_sum_into_one_element_becomes_a_reduction() -> None:
    _, after = promoted(for_(i, 0, n, [update(t, [0], "+", load(a, i))]))
    (loop,) = loops_of(check_parallel(after, PassContext()).body)
    assert not touches_arrays(loop, t)
    assert [r.op for r in loop.reductions] == ["+"]


def test_a_cell_that_every_iteration_sets_becomes_its_own() -> None:
    _, after = promoted(for_(i, 0, n, [store(t, [0], load(a, i)), store(b, [i], load(t, 0))]))
    (loop,) = loops_of(check_parallel(after, PassContext()).body)
    assert loop.private == loop.last
    assert [s.name for s in loop.private] == ["t_element"]


def test_the_outermost_loop_holds_the_element() -> None:
    _, after = promoted(for_(i, 0, n, [for_(j, 0, m, [update(t, [0], "+", load(c, i, j))])]))
    outer, inner = loops_of(after.body)
    assert not touches_arrays(outer, t)
    assert isinstance(inner.body[0], Update)


@pytest.mark.parametrize("exact", [False, True])
def test_a_loop_around_that_combines_as_well_stays_a_reduction(exact: bool) -> None:
    nest = for_(i, 0, n, [for_(j, 0, n, [update(t, [load(idx, i)], "+", load(c, i, j))])])
    before, after = promoted(nest, exact=exact)
    inner = loops_of(after.body)[1]
    assert not touches_arrays(inner, t)
    combined = any(isinstance(x, Update) and x.target == t for x in walk(after.body))
    assert combined is not exact  # it rounds in another way
    args, plain = arguments(7), arguments(7)
    run_printed(after, *args)
    run_printed(before, *plain)
    np.testing.assert_allclose(args[5], plain[5])


@pytest.mark.parametrize(
    "body",
    [
        [for_(i, 0, n, [update(a, [0], "+", load(a, i))])],
        [for_(i, 0, n, [update(t, [0], "+", 1.0), store(t, [i], 0.0)])],
        [for_(i, 0, n, [if_(compare(">", load(a, i), 0.0), [update(t, [load(idx, 0)], "+", 1.0)])])],
        [for_(i, 0, n, [update(t, [0], "+", 1.0, atomic=True)])],
        [for_(i, 0, n, [store(b, [i], load(t, 0)), store(t, [0], load(a, i))])],
        [for_(i, 0, n, [if_(compare(">", load(a, i), 0.0), [break_()]), update(t, [0], "+", 1.0)])],
        [for_(i, 0, n, [update(t, [0], "+", 1.0), update(t, [0], "*", 2.0)])],
        [for_(i, 0, n, [store(b, [i], 1.0), update(t, [load(idx, 0)], "+", load(a, load(idx, i)))])],
        [for_(i, 0, n, [update(t, [load(idx, 0)], "+", 1.0), store(idx, [i], 0)])],
        [for_(i, 0, n, [])],
    ],
    ids=[
        "reads all of it", "written elsewhere", "may not exist", "atomic", "value of before",
        "may end early", "two operators", "may raise", "index changes", "empty",
    ],
)  # fmt: skip
def test_what_is_left_as_it_is(body: list[Stmt]) -> None:
    before, after = promoted(*body)
    assert after == before


def test_an_index_that_is_read_once_may_raise_where_nothing_else_is_written() -> None:
    _, after = promoted(for_(i, 0, n, [update(t, [load(idx, 0)], "+", load(a, i))]))
    assert isinstance(after.body[0], If)
    args = arguments(3)
    args[8][0] = 17
    with pytest.raises(IndexError):
        run_printed(after, *args)


@pytest.mark.parametrize("otherwise", [[], [update(t, [0], "+", 1.0)]], ids=["one branch", "both branches"])
def test_a_sum_under_a_condition_becomes_a_reduction(otherwise: list[Stmt]) -> None:
    _, after = promoted(for_(i, 0, n, [if_(POSITIVE, [update(t, [0], "+", load(a, i))], otherwise)]))
    (loop,) = loops_of(check_parallel(after, PassContext()).body)
    assert not touches_arrays(loop, t)
    assert [r.op for r in loop.reductions] == ["+"]


def test_a_loop_around_that_stores_under_a_condition_stays_parallel() -> None:
    nest = for_(i, 0, n, [for_(j, 0, n, [if_(compare("==", i, 0), [update(t, [0], "+", load(c, i, j))])])])
    before, after = promoted(nest)
    assert after == before  # the store after the inner loop would be one of every iteration of the outer loop


def test_what_stands_apart_by_the_range_does_not_matter() -> None:
    body = for_(i, 1, n, [update(a, [0], "+", load(b, i)), store(a, [i], mul(load(b, i), 2.0))])
    _, after = promoted(body)
    (loop,) = loops_of(check_parallel(after, PassContext()).body)
    assert [r.op for r in loop.reductions] == ["+"]


def test_loops_inside_a_collapse_stay_perfect() -> None:
    inner = for_(j, 0, n, [update(t, [i], "+", load(c, i, j))])
    before, after = promoted(for_(i, 0, n, [inner], clauses=pragma("parallel", collapse=2)))
    assert after == before
