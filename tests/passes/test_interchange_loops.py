"""The loops of a nest change places where that is legal and pays, and do what they did."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import Function, Stmt
from appyc.ir.printer import print_expr
from appyc.ir.types import ArrayType, DType, Layout
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.locality.interchange_loops import interchange_loops
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.pass_context import PassContext
from tests.ir_makers import (
    Program,
    add,
    assign,
    binary,
    break_,
    compare,
    expr,
    for_,
    if_,
    load,
    mul,
    parallel,
    pragma,
    store,
    sub,
)
from tests.printed import run_printed

SIZES = (0, 1, 2, 3, 7)

p = Program()
n, k = p.integer("n"), p.integer("k")
a, b, c = (p.array(name, 2) for name in "abc")
x = p.array("x", 1)
f = p._parameter(p._names.fresh("f", ArrayType(DType.FLOAT64, 2, Layout.F)))
i, j, l = p.index("i"), p.index("j"), p.index("l")
s, t = p.local("s"), p.local("t")


def at(array, *index):
    return load(array, *index, checked=False)


def put(array, index, value) -> Stmt:
    return store(array, index, value, checked=False)


def add_to(array, index, value) -> Stmt:
    return put(array, index, add(at(array, *index), value))


def outcome(fn: Function, size: int, shift: int):
    rng = np.random.default_rng(size)
    arrays = [rng.integers(1, 9, (size, size)).astype(float) for _ in range(3)]
    arrays += [rng.integers(1, 9, size).astype(float), np.asfortranarray(rng.integers(1, 9, (size, size)))]
    arrays[-1] = arrays[-1].astype(float, order="F")
    result = run_printed(fn, size, shift, *arrays)
    return result, [array.tolist() for array in arrays]


def changed(*body: Stmt, results=(), **options: object) -> tuple[Function, PassContext]:
    """The function after the pass, which does what it did for any size, and what the pass said."""
    ctx = PassContext(Options(**options))  # type: ignore[arg-type]
    before = recognise_reductions(p.function(*body, results=results), PassContext())
    after = interchange_loops(before, ctx)
    assert verify(after) == []
    for size in SIZES:
        for shift in (0, 1, 3):
            assert outcome(before, size, shift) == outcome(after, size, shift), (size, shift)
    return after, ctx


def order(fn: Function) -> str:
    return "".join(loop.var.name for loop in loops_of(fn))


def ranges(fn: Function) -> list[str]:
    return [f"{print_expr(loop.lo)}, {print_expr(loop.hi)}, {loop.step}" for loop in loops_of(fn)]


def nest(variables, body: list[Stmt], first=0, end=n) -> Stmt:
    for var in reversed(variables):
        body = [for_(var, first, end, body)]
    return body[0]


# ---------------------------------------------------------------- what changes


def test_the_loop_that_walks_along_the_rows_goes_inside():
    fn, ctx = changed(nest([j, i], [put(b, [i, j], mul(at(a, i, j), 2.0))]))
    assert order(fn) == "ij"
    assert ctx.changes == {i: "after interchange", j: "after interchange"}
    (remark,) = ctx.remarks
    assert remark.kind == "note"
    assert "their order is 'i', 'j', since memory is then read as it lies" in remark.text


def test_columns_of_an_array_in_fortran_order_lie_side_by_side():
    fn, _ = changed(nest([i, j], [put(f, [i, j], mul(at(f, i, j), 2.0))]))
    assert order(fn) == "ji"


def test_stores_are_contiguous_rather_than_loads():
    fn, _ = changed(nest([i, j], [put(b, [j, i], at(a, i, j))]))
    assert order(fn) == "ji"


def test_a_chain_along_the_rows_goes_inside_a_free_loop():
    fn, ctx = changed(nest([i, j], [put(a, [i, j], add(at(a, sub(i, 1), j), at(b, i, j)))], first=1))
    assert order(fn) == "ji"
    assert "a loop that threads may share is outermost" in ctx.remarks[0].text


@pytest.mark.parametrize("written", ["ikj", "jik", "jki", "kij", "kji", "ijk"])
def test_a_matrix_product_gets_one_order_however_it_is_written(written: str):
    loops = [{"i": i, "j": j, "k": l}[name] for name in written]
    fn, ctx = changed(nest(loops, [add_to(c, [i, j], mul(at(a, i, l), at(b, l, j)))]))
    assert order(fn) == "ijl"
    assert bool(ctx.remarks) == (written != "ijk")


def test_a_triangle_gets_new_bounds():
    fn, _ = changed(for_(i, 0, n, [for_(j, 0, i, [put(b, [j, i], at(a, j, i))])]))
    assert order(fn) == "ji"
    assert ranges(fn) == ["0, n - 1, 1", "j + 1, n, 1"]


def test_a_triangle_counted_down_gets_new_bounds():
    body = [for_(i, sub(n, 1), sub(j, 1), [put(b, [i, j], at(a, i, j))], step=-1)]
    fn, _ = changed(for_(j, 0, n, body))
    assert ranges(fn) == ["n - 1, (-1), -1", "0, i + 1, 1"]


def test_a_diagonal_band_gets_new_bounds():
    lo, hi = binary("max", 0, sub(i, k)), binary("min", n, add(add(i, k), 1))
    fn, _ = changed(for_(i, 0, n, [for_(j, lo, hi, [put(b, [j, i], at(a, j, i))])]))
    assert order(fn) == "ji"
    assert ranges(fn)[1] == "max(j - k, 0), min((j + k) + 1, n), 1"


def test_every_second_iteration_of_every_third_stays_so():
    inner = for_(i, 0, n, [put(b, [i, j], at(a, i, j))], step=3)
    fn, _ = changed(for_(j, 1, n, [inner], step=2))
    assert ranges(fn) == ["0, n, 3", "1, n, 2"]


def test_loops_below_a_loop_with_other_statements_change_places():
    rows = nest([j, l], [add_to(c, [l, j], mul(at(a, l, i), 2.0))])
    fn, _ = changed(for_(i, 0, n, [put(x, [i], 0.0), rows]))
    assert order(fn) == "ilj"


def test_own_scalars_go_along():
    body = [assign(t, at(a, i, j)), put(b, [i, j], mul(expr(t), expr(t)))]
    fn, _ = changed(nest([j, i], body))
    assert order(fn) == "ij"


def test_a_sum_in_a_scalar_goes_along():
    fn, _ = changed(assign(s, 0.0), nest([j, i], [assign(s, add(s, at(a, i, j)))]), results=[expr(s)])
    assert order(fn) == "ij"


def test_conditions_inside_go_along():
    fn, _ = changed(nest([j, i], [if_(compare(">", at(a, i, j), 4.0), [put(b, [i, j], 1.0)])]))
    assert order(fn) == "ij"


# ---------------------------------------------------------------- what stays


def stays(*body: Stmt, **options: object) -> str:
    """The order stays; returns what was said."""
    before = order(p.function(*body))
    fn, ctx = changed(*body, **options)
    assert order(fn) == before
    assert not ctx.changes
    return " ".join(remark.text for remark in ctx.remarks)


def test_a_dependence_keeps_loops_in_their_order_and_is_named():
    above = at(a, sub(i, 1), add(j, 1))
    said = stays(for_(j, 0, sub(n, 1), [for_(i, 1, n, [put(a, [i, j], above)])]))
    assert "though 'i', 'j' would be better: what line" in said
    assert "reads in 'a' comes before what line" in said


def test_rows_that_are_walked_along_stay():
    assert stays(nest([i, j], [put(b, [i, j], at(a, i, j))])) == ""


def test_a_transposition_is_as_good_either_way():
    assert stays(nest([i, j], [put(b, [i, j], at(a, j, i))])) == ""


def test_lanes_of_a_loop_around_a_chain_stay():
    assert stays(nest([j, i], [put(a, [i, j], add(at(a, sub(i, 1), j), 1.0))], first=1)) == ""


def test_a_loop_with_a_pragma_stays_and_so_do_those_around_it():
    body: list[Stmt] = [put(b, [i, j], at(a, i, j))]
    assert stays(parallel(j, 0, n, [for_(i, 0, n, body)])) == ""
    assert stays(for_(j, 0, n, [parallel(i, 0, n, body)])) == ""
    assert stays(for_(j, 0, n, [for_(i, 0, n, body)], clauses=pragma("sequential"))) == ""
    assert stays(parallel(j, 0, n, [for_(i, 0, n, body)], collapse=2)) == ""


def test_loops_inside_one_with_a_pragma_change_places():
    rows = nest([j, i], [put(b, [i, j], at(a, i, j))])
    fn, _ = changed(parallel(l, 0, 1, [rows]))
    assert order(fn) == "lij"


def test_a_scalar_that_is_read_after_the_loops_keeps_them():
    fn, _ = changed(
        assign(t, 0.0),
        nest([j, i], [assign(t, at(a, i, j)), put(b, [i, j], expr(t))]),
        results=[expr(t)],
    )
    assert order(fn) == "ji"


def test_a_sum_keeps_its_order_where_the_last_bit_counts():
    total = [assign(s, 0.0), nest([j, i], [assign(s, add(s, at(a, i, j)))])]
    fn, _ = changed(*total, results=[expr(s)], exact=True)
    assert order(fn) == "ji"
    element = nest([j, i], [add_to(x, [binary("//", add(i, j), 2)], mul(at(a, i, j), at(b, i, j)))])
    assert "would be better" in stays(element, exact=True)
    assert order(changed(element)[0]) == "ij"


def test_what_may_raise_keeps_its_order():
    stays(nest([j, i], [store(b, [i, j], at(a, i, j))]))
    stays(nest([j, i], [put(b, [i, j], binary("/", at(a, i, j), at(a, i, j), trap=True))]))


def test_a_loop_that_may_be_left_keeps_its_order():
    stays(nest([j, i], [if_(compare(">", at(a, i, j), 4.0), [break_()]), put(b, [i, j], 1.0)]))


def test_bounds_read_from_memory_keep_the_order():
    q = Program()
    m, place, grid = q.integer("m"), q.array("place", 1, DType.INT64), q.array("grid", 2)
    u, v = q.index("u"), q.index("v")
    inner = for_(v, 0, load(place, u, checked=False), [store(grid, [v, u], 1.0, checked=False)])
    fn = q.function(for_(u, 0, m, [inner]))
    assert interchange_loops(fn, PassContext()) is fn


def test_bounds_that_cannot_be_turned_round_are_named():
    inner = for_(j, 0, binary("max", i, sub(n, i)), [put(b, [j, i], at(a, j, i))])
    assert "the bounds cannot be turned round" in stays(for_(i, 0, n, [inner]))
    steps = for_(j, i, n, [put(b, [j, i], at(a, j, i))], step=2)
    assert "the bounds cannot be turned round" in stays(for_(i, 0, n, [steps]))


def test_bounds_of_a_parameter_that_is_assigned_later_are_left():
    """Its name would mean another number where the new bound stands."""
    end = p.local("end", DType.INT64)
    inner = for_(j, 0, i, [put(b, [j, i], at(a, j, i))])
    said = stays(assign(end, n), assign(n, 0), for_(i, 0, end, [inner]))
    assert "the bounds cannot be turned round" in said


def test_nothing_happens_without_automatic_analysis():
    stays(nest([j, i], [put(b, [i, j], at(a, i, j))]), auto=False)


def test_a_gpu_has_lanes_that_c_has_not():
    """Lanes of integers are to be had around a loop there, and not in C."""
    q = Program()
    m, sums, grid = q.integer("m"), q.array("sums", 1, DType.INT64), q.array("grid", 2, DType.INT64)
    u, v = q.index("u"), q.index("v")
    total = add(load(sums, v, checked=False), load(grid, u, v, checked=False))
    fn = q.function(for_(u, 0, m, [for_(v, 0, m, [store(sums, [v], total, checked=False)])]))
    fn = recognise_reductions(fn, PassContext())
    assert order(interchange_loops(fn, PassContext(Options(target="interpret")))) == "vu"
    assert order(interchange_loops(fn, PassContext(Options(target="cpu")))) == "uv"
