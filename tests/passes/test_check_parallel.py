"""Which loops may run in parallel, what is said of those that may not, and what the others become."""

from __future__ import annotations

import pytest

from appyc.analysis.dependences.verdicts import Verdict
from appyc.analysis.sets.allowance import Allowance
from appyc.errors import DependenceError, PragmaError
from appyc.ir.nodes import Apart, For, Function, LoopMode, Reduction, Stmt
from appyc.ir.types import DType
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.pass_context import PassContext
from tests.counting import calls_of
from tests.ir_makers import (
    Program,
    add,
    alloc,
    assign,
    binary,
    both,
    break_,
    compare,
    expr,
    extent,
    for_,
    if_,
    load,
    mul,
    parallel,
    pragma,
    select,
    store,
    sub,
    update,
    while_,
)


class Case:
    """Arrays a, b (one axis), c, d (two), idx (indices); parameters n, m, k; indices i, j, l."""

    def __init__(self) -> None:
        p = self.p = Program()
        self.n, self.m, self.k = p.integer("n"), p.integer("m"), p.integer("k")
        self.a, self.b = p.array("a", 1), p.array("b", 1)
        self.c, self.d = p.array("c", 2), p.array("d", 2)
        self.idx = p.array("idx", 1, DType.INT64)
        self.i, self.j, self.l = p.index("i"), p.index("j"), p.index("l")
        self.s, self.t = p.local("s"), p.local("t")
        self.context = PassContext()

    def check(self, *body: Stmt, results=(), options: Options | None = None) -> dict[str, For]:
        """The loops after the pass, by the name of their variable."""
        self.context = PassContext(options or Options())
        fn = self.p.function(*body, results=results)
        for transform in (check_bounds, recognise_reductions, check_parallel):
            fn = transform(fn, self.context)
        return {loop.var.name: loop for loop in loops_of(fn.body)}

    def refuse(self, *body: Stmt, results=()) -> DependenceError:
        with pytest.raises(DependenceError) as caught:
            self.check(*body, results=results)
        return caught.value

    def verdicts(self, *body: Stmt, results=()) -> dict[str, Verdict]:
        self.check(*body, results=results)
        return {var.name: verdict.verdict for var, verdict in self.context.verdicts.items()}

    def over(self, *body: Stmt, hi=None, lo=0, step: int = 1, **clauses) -> For:
        return parallel(self.i, lo, self.n if hi is None else hi, body, step, **clauses)


# ---------------------------------------------------------------- allowed


def test_pointwise_loop_is_parallel():
    c = Case()
    loops = c.check(c.over(store(c.a, [c.i], mul(load(c.b, c.i), 2.0))))
    assert loops["i"].mode is LoopMode.PARALLEL
    assert c.context.verdicts[c.i].verdict is Verdict.INDEPENDENT


def test_private_and_last_and_reduction_are_recorded():
    c = Case()
    body = [assign(c.t, load(c.a, c.i)), assign(c.s, add(c.s, mul(c.t, c.t)))]
    loop = c.check(assign(c.s, 0.0), c.over(*body), results=[c.s, c.t])["i"]
    assert (loop.private, loop.last, loop.reductions) == ((c.t,), (c.t,), (Reduction("+", c.s),))


def test_loop_around_a_reduction_is_a_reduction_too():
    c = Case()
    inner = for_(c.j, 0, c.m, [assign(c.s, add(c.s, load(c.c, c.i, c.j)))])
    loops = c.check(assign(c.s, 0.0), c.over(inner), results=[c.s])
    assert loops["i"].reductions == loops["j"].reductions == (Reduction("+", c.s),)


def test_neighbours_read_from_another_array():
    c = Case()
    value = add(load(c.b, sub(c.i, 1)), load(c.b, add(c.i, 1)))
    assert c.check(c.over(store(c.a, [c.i], value), lo=1, hi=sub(c.n, 1)))["i"].mode is LoopMode.PARALLEL


def test_even_elements_written_odd_ones_read():
    c = Case()
    c.check(c.over(store(c.a, [mul(c.i, 2)], load(c.a, add(mul(c.i, 2), 1)))))
    c.check(c.over(store(c.a, [c.i], load(c.a, add(c.i, 1))), step=2))


def test_halves_of_an_array_do_not_meet():
    c = Case()
    half = assign(h := c.p.local("h", DType.INT64), binary("//", extent(c.a), 2))
    c.check(half, c.over(store(c.a, [c.i], load(c.a, add(c.i, h))), hi=h))


def test_negative_step_and_reversed_target():
    c = Case()
    c.check(c.over(store(c.a, [sub(sub(c.n, 1), c.i)], load(c.b, c.i)), lo=sub(c.n, 1), hi=-1, step=-1))


def test_triangle_writes_both_halves():
    c = Case()
    body = [store(c.c, [c.i, c.j], 1.0), store(c.c, [c.j, c.i], 1.0)]
    c.check(c.over(for_(c.j, c.i, c.n, body)))


def test_condition_keeps_iterations_apart():
    c = Case()
    c.check(c.over(if_(compare("==", c.i, 3), [store(c.a, [0], 1.0)])))
    guarded = if_(compare(">", c.i, c.k), [store(c.a, [c.i], load(c.a, c.k))])
    c.check(c.over(guarded))


def test_scalar_defined_from_the_loop_variable_is_seen_through():
    c = Case()
    j = c.p.local("next", DType.INT64)
    c.check(c.over(assign(j, add(c.i, 1)), store(c.a, [j], load(c.b, j))))


def test_one_iteration_has_no_one_to_meet():
    c = Case()
    c.check(c.over(store(c.a, [0], 1.0), lo=0, hi=1))


def test_empty_body_and_empty_range():
    c = Case()
    assert c.check(c.over())["i"].mode is LoopMode.PARALLEL
    c.check(c.over(store(c.a, [0], 1.0), lo=5, hi=2))


def test_indirect_read_of_another_array():
    c = Case()
    c.check(c.over(store(c.a, [c.i], load(c.b, load(c.idx, c.i)))))


def test_element_chosen_by_an_index_that_does_not_change_in_the_loop():
    c = Case()
    row = c.p.local("row", DType.INT64)
    inner = parallel(c.j, 0, c.m, [store(c.c, [row, c.j], load(c.c, row, c.j))])
    c.check(for_(c.i, 0, c.n, [assign(row, load(c.idx, c.i)), inner]))


def test_rows_through_one_index_in_the_same_iteration():
    c = Case()
    row = load(c.idx, c.i)
    inner = parallel(c.j, 0, c.m, [store(c.c, [row, c.j], add(load(c.c, row, c.j), 1.0))])
    c.check(for_(c.i, 0, c.n, [inner]))


def test_atomic_updates_do_not_conflict():
    c = Case()
    loop = c.check(c.over(update(c.a, [load(c.idx, c.i)], "+", 1.0, atomic=True)))["i"]
    assert loop.mode is LoopMode.PARALLEL


def test_array_allocated_in_the_loop_belongs_to_the_iteration():
    c = Case()
    tmp = c.p.local_array("tmp", 1)
    fill = for_(c.j, 0, c.m, [store(tmp, [c.j], load(c.c, c.i, c.j))])
    use = for_(c.l, 0, c.m, [store(c.d, [c.i, c.l], load(tmp, sub(sub(c.m, 1), c.l)))])
    assert c.check(c.over(alloc(tmp, c.m), fill, use))["i"].mode is LoopMode.PARALLEL


def test_linear_index_with_a_constant_row_length():
    c = Case()
    inner = for_(c.j, 0, 8, [store(c.a, [add(mul(c.i, 8), c.j)], 0.0)])
    c.check(c.over(inner))


def test_while_loop_inside():
    c = Case()
    x = c.p.local("x", DType.INT64)
    body = [
        assign(x, 0),
        while_(compare("<", x, c.k), [assign(x, add(x, 1)), store(c.c, [c.i, x], 1.0)]),
    ]
    loops = c.check(c.over(*body))
    assert loops["i"].private == (x,)


# ---------------------------------------------------------------- refused


def test_flow_dependence_shows_two_iterations_and_both_accesses():
    c = Case()
    read = load(c.a, c.i)
    write = store(c.a, [add(c.i, 1)], read)
    error = c.refuse(loop := c.over(write, hi=sub(c.n, 1)))
    assert "iteration i=0 writes a[1], iteration i=1 reads a[1] (1 iteration later)" in error.summary
    assert [note.loc for note in error.related] == [write.loc, read.loc]
    assert error.loc == loop.clauses.loc
    assert error.hints


def test_distance_is_counted_in_iterations():
    c = Case()
    error = c.refuse(c.over(store(c.a, [c.i], load(c.a, sub(c.i, 6))), lo=6, step=2))
    assert "(3 iterations later)" in error.summary
    assert c.context.verdicts[c.i].distance == 3


def test_negative_step_runs_backward():
    c = Case()
    body = store(c.a, [c.i], load(c.a, add(c.i, 1)))
    error = c.refuse(c.over(body, lo=sub(c.n, 2), hi=-1, step=-1))
    assert "iteration i=1 writes a[1], iteration i=0 reads a[1] (1 iteration later)" in error.summary


def test_anti_dependence():
    c = Case()
    error = c.refuse(c.over(store(c.a, [c.i], load(c.a, add(c.i, 1))), hi=sub(c.n, 1)))
    assert "iteration i=0 reads a[1], iteration i=1 writes a[1]" in error.summary


def test_output_dependence():
    c = Case()
    error = c.refuse(c.over(store(c.a, [binary("//", c.i, 2)], load(c.b, c.i))))
    assert "iteration i=0 writes a[0], iteration i=1 writes a[0]" in error.summary


def test_negative_index_wraps_around():
    c = Case()
    error = c.refuse(c.over(store(c.a, [c.i], load(c.a, sub(c.i, 1)))))
    assert "iteration i=0" in error.summary


def test_transposed_access_in_place():
    c = Case()
    inner = for_(c.j, 0, c.n, [store(c.c, [c.i, c.j], load(c.c, c.j, c.i))])
    assert "reads c[" in c.refuse(c.over(inner)).summary


def test_stencil_in_place():
    c = Case()
    value = add(load(c.c, sub(c.i, 1), c.j), load(c.c, c.i, add(c.j, 1)))
    inner = for_(c.j, 1, sub(c.n, 1), [store(c.c, [c.i, c.j], value)])
    assert c.refuse(c.over(inner, lo=1, hi=sub(c.n, 1)))


def test_scalar_carried_from_one_iteration_to_the_next():
    c = Case()
    error = c.refuse(assign(c.t, 0.0), c.over(store(c.a, [c.i], c.t), assign(c.t, load(c.b, c.i))))
    assert "'t' that an earlier one assigned" in error.summary
    assert len(error.related) == 2


def test_conditional_last_value():
    c = Case()
    body = if_(compare(">", load(c.a, c.i), 0.0), [assign(c.t, load(c.a, c.i))])
    assert "'t' in some iterations only" in c.refuse(assign(c.t, 0.0), c.over(body), results=[c.t]).summary


def test_early_exit():
    c = Case()
    body = [if_(compare(">", load(c.a, c.i), 0.0), [break_()]), store(c.b, [c.i], 1.0)]
    assert "may end early" in c.refuse(c.over(*body)).summary


def test_indirect_write_is_left_to_an_inspector():
    c = Case()
    c.check(c.over(store(c.a, [load(c.idx, c.i)], 1.0)))
    verdict = c.context.verdicts[c.i]
    assert verdict.verdict is Verdict.CONDITIONAL
    assert isinstance(verdict.guard, Apart)
    assert [p.array for p in verdict.guard.writes] == [c.idx]


def test_indirect_write_cannot_be_told_from_the_source():
    c = Case()
    error = c.refuse(c.over(store(c.a, [load(c.idx, load(c.idx, c.i))], 1.0)))
    assert "cannot be told from the source" in error.summary
    assert any("independent" in hint for hint in error.hints)
    assert c.context.verdicts[c.i].verdict is Verdict.UNKNOWN


def test_data_dependent_condition_cannot_be_told():
    c = Case()
    body = if_(compare(">", load(c.b, c.i), 0.0), [store(c.a, [c.i], load(c.a, add(c.i, 1)))])
    c.refuse(c.over(body, hi=sub(c.n, 1)))
    assert c.context.verdicts[c.i].verdict is Verdict.UNKNOWN


def test_linear_index_over_a_symbolic_row_length():
    c = Case()
    inner = for_(c.j, 0, c.m, [store(c.a, [add(mul(c.i, c.m), c.j)], 0.0)])
    c.check(c.over(inner))
    assert c.context.verdicts[c.i].verdict is Verdict.INDEPENDENT


def test_linear_index_over_two_lengths_cannot_be_told():
    c = Case()
    inner = for_(c.j, 0, c.m, [store(c.a, [add(mul(c.i, c.m), mul(c.j, c.k))], 0.0)])
    c.refuse(c.over(inner))
    assert c.context.verdicts[c.i].verdict is Verdict.UNKNOWN


def test_condition_on_the_parameters_is_named():
    c = Case()
    c.check(c.over(store(c.a, [c.i], load(c.a, add(c.i, c.k)))))
    verdict = c.context.verdicts[c.i]
    assert verdict.verdict is Verdict.CONDITIONAL
    assert verdict.guard is not None
    assert "independent if" in verdict.reason
    assert verdict.condition is not None
    assert "k == 0" in verdict.condition


def test_updates_of_one_element_are_for_threads_with_copies_and_not_for_lanes():
    c = Case()
    counted = update(c.a, [load(c.idx, c.i)], "+", 1.0)
    loop = c.check(c.over(counted))["i"]
    assert (loop.mode, loop.reductions) == (LoopMode.PARALLEL, (Reduction("+", c.a),))
    error = c.refuse(for_(c.i, 0, c.n, [counted], clauses=pragma("simd")))
    assert "combine into elements of 'a' (+)" in error.summary
    assert any("parallel for" in hint for hint in error.hints)


def test_an_array_that_is_combined_into_may_not_be_used_otherwise():
    c = Case()
    counted = update(c.a, [binary("%", c.i, 3)], "+", 1.0)
    apart = store(c.b, [c.i], load(c.a, 5))  # another element, which a copy would not have
    error = c.refuse(c.over(counted, apart))
    assert "combine into elements of 'a' (+)" in error.summary
    assert any("nothing else" in hint for hint in error.hints)


def test_atomic_update_and_plain_read_conflict():
    c = Case()
    body = [update(c.a, [0], "+", 1.0, atomic=True), store(c.b, [c.i], load(c.a, 0))]
    assert "updates a[0]" in c.refuse(c.over(*body)).summary


def test_array_allocated_in_the_loop_and_used_after_it():
    c = Case()
    tmp = c.p.local_array("tmp", 1)
    body = [alloc(tmp, 1), store(tmp, [0], load(c.b, c.i))]
    assert c.refuse(c.over(*body), store(c.a, [0], load(tmp, 0)))


# ---------------------------------------------------------------- clauses


def test_independent_skips_the_arrays_but_not_the_scalars():
    c = Case()
    c.check(c.over(store(c.a, [load(c.idx, c.i)], 1.0), independent=True))
    c.refuse(c.over(store(c.a, [c.i], c.t), assign(c.t, load(c.b, c.i)), independent=True))


def test_collapse_covers_the_next_loops():
    c = Case()
    inner = for_(c.j, 0, c.m, [store(c.c, [c.i, c.j], 0.0)])
    loops = c.check(c.over(inner, collapse=2))
    assert loops["i"].mode is loops["j"].mode is LoopMode.PARALLEL


def test_collapse_checks_the_inner_loops():
    c = Case()
    inner = for_(c.j, 1, c.m, [store(c.c, [c.i, c.j], load(c.c, c.i, sub(c.j, 1)))])
    assert "loop over 'j'" in c.refuse(c.over(inner, collapse=2)).summary


def test_collapse_needs_perfect_nesting():
    c = Case()
    inner = for_(c.j, 0, c.m, [store(c.c, [c.i, c.j], 0.0)])
    with pytest.raises(PragmaError, match="nothing between"):
        c.check(c.over(store(c.a, [c.i], 0.0), inner, collapse=2))


def test_reduction_clause_is_checked():
    c = Case()
    body = update(c.s, [], "+", load(c.a, c.i))
    c.check(assign(c.s, 0.0), c.over(body, reductions=[("+", c.s)]), results=[c.s])
    with pytest.raises(PragmaError, match="combines 's' with '\\+'"):
        c.check(assign(c.s, 0.0), c.over(body, reductions=[("*", c.s)]), results=[c.s])
    with pytest.raises(PragmaError, match="does not combine anything into 't'"):
        c.check(assign(c.s, 0.0), c.over(body, reductions=[("+", c.t)]), results=[c.s])


def test_reduction_clause_on_an_array_is_checked():
    c = Case()
    counted = update(c.a, [load(c.idx, c.i)], "+", 1.0)
    c.check(c.over(counted, reductions=[("+", c.a)]))
    c.check(c.over(update(c.a, [c.i], "+", 1.0), reductions=[("+", c.a)]))
    with pytest.raises(PragmaError, match="combines 'a' with '\\+'"):
        c.check(c.over(counted, reductions=[("*", c.a)]))
    with pytest.raises(PragmaError, match="combines 'a' with '\\+'"):
        c.check(c.over(update(c.a, [c.i], "+", 1.0), reductions=[("*", c.a)]))
    with pytest.raises(PragmaError, match="does not combine anything into 'a'"):
        c.check(c.over(store(c.b, [c.i], 0.0), reductions=[("+", c.a)]))


def test_an_oath_does_not_cover_what_a_clause_says_is_combined():
    c = Case()
    counted = update(c.a, [load(c.idx, c.i)], "+", 1.0)
    assert c.check(c.over(counted, independent=True))["i"].reductions == ()
    sworn = c.check(c.over(counted, independent=True, reductions=[("+", c.a)]))["i"]
    assert sworn.reductions == (Reduction("+", c.a),)


def test_private_clause_is_checked():
    c = Case()
    c.check(c.over(assign(c.t, load(c.a, c.i)), store(c.b, [c.i], c.t), private=[c.t]))
    c.refuse(c.over(store(c.b, [c.i], c.t), assign(c.t, load(c.a, c.i)), private=[c.t]))
    with pytest.raises(PragmaError, match="combine into it"):
        c.check(c.over(update(c.s, [], "+", 1.0), private=[c.s]), results=[c.s])
    c.check(c.over(store(c.b, [c.i], 1.0), private=[c.b]))  # iterations have their own elements
    c.refuse(c.over(store(c.b, [c.n], 1.0), private=[c.b]))


def test_sequential_request_stays_sequential():
    c = Case()
    loop = for_(c.i, 0, c.n, [store(c.a, [c.i], 0.0)], clauses=pragma("sequential"))
    assert c.check(loop)["i"].mode is LoopMode.SEQUENTIAL


def test_simd_request():
    c = Case()
    body = [store(c.a, [c.i], 0.0)]
    assert c.check(for_(c.i, 0, c.n, body, clauses=pragma("simd")))["i"].mode is LoopMode.SIMD


# ---------------------------------------------------------------- loops without a request


def gemm(c: Case) -> Stmt:
    product = mul(load(c.c, c.i, c.l), load(c.d, c.l, c.j))
    out = c.p.array("out", 2)
    k = for_(c.l, 0, c.k, [store(out, [c.i, c.j], add(load(out, c.i, c.j), product))])
    return for_(c.i, 0, c.n, [for_(c.j, 0, c.m, [store(out, [c.i, c.j], 0.0), k])])


def test_verdicts_of_a_nest():
    c = Case()
    assert c.verdicts(gemm(c)) == {
        "i": Verdict.INDEPENDENT,
        "j": Verdict.INDEPENDENT,
        "l": Verdict.REDUCTION,
    }
    assert c.context.verdicts[c.l].arrays[0][0] == "+"


def test_only_innermost_loops_become_lanes():
    c = Case()
    loops = c.check(for_(c.i, 0, c.n, [for_(c.j, 0, c.m, [store(c.c, [c.i, c.j], 0.0)])]))
    assert (loops["i"].mode, loops["j"].mode) == (LoopMode.SEQUENTIAL, LoopMode.SIMD)


def test_reduction_into_an_element_is_not_made_lanes():
    c = Case()
    assert c.check(gemm(c))["l"].mode is LoopMode.SEQUENTIAL


def test_carried_loop_without_a_request_is_no_error():
    c = Case()
    loops = c.check(for_(c.i, 1, c.n, [store(c.a, [c.i], load(c.a, sub(c.i, 1)))]))
    assert loops["i"].mode is LoopMode.SEQUENTIAL
    assert c.context.verdicts[c.i].verdict is Verdict.CARRIED


def test_loop_with_a_while_inside_is_not_made_lanes():
    c = Case()
    x = c.p.local("x", DType.INT64)
    body = [assign(x, 0), while_(compare("<", x, c.k), [assign(x, add(x, 1))]), store(c.a, [c.i], x)]
    assert c.check(for_(c.i, 0, c.n, body))["i"].mode is LoopMode.SEQUENTIAL


def test_without_auto_loops_without_a_request_are_left_alone():
    c = Case()
    loops = c.check(for_(c.i, 0, c.n, [store(c.a, [c.i], 0.0)]), options=Options(auto=False))
    assert loops["i"].mode is LoopMode.SEQUENTIAL
    assert not c.context.verdicts


# ---------------------------------------------------------------- work


def test_gemm_takes_a_few_milliseconds():
    c = Case()
    nest = gemm(c)
    c.check(nest)  # imports isl
    assert calls_of(lambda: c.check(nest)) < 20_000


def deep_nest(depth: int, statements: int) -> tuple[Function, Program]:
    """Every statement reads and writes one array through sums of all loop variables."""
    p = Program()
    n, a = p.integer("n"), p.array("a", 2)
    loops = [p.index(f"i{level}") for level in range(depth)]

    def index(shift: int):
        total = expr(loops[shift % depth])
        for level, var in enumerate(loops):
            total = add(total, mul(var, (level * shift) % 5 - 2))
        return add(binary("//", total, 2 + shift % 3), shift)

    body: list[Stmt] = [
        store(a, [index(s), index(s + 1)], load(a, index(s + 2), index(s + 3))) for s in range(statements)
    ]
    for level in reversed(range(depth)):
        lo = loops[level - 1] if level % 2 else expr(0)
        body = [for_(loops[level], lo, add(n, level), body)]
    return p.function(*body), p


def test_pathological_nest_is_given_up_in_time():
    fn, _ = deep_nest(8, 20)
    context = PassContext()
    assert calls_of(lambda: check_parallel(check_bounds(fn, context), context)) < 1_500_000
    assert not any(verdict.may_run_in_any_order for verdict in context.verdicts.values())


def test_conditions_in_one_expression():
    c = Case()
    cond = both(compare(">", c.i, 0), compare("<", c.i, c.n))
    c.check(c.over(store(c.a, [c.i], select(cond, load(c.b, c.i), 0.0))))


def test_returned_array_is_not_private():
    c = Case()
    tmp = c.p.local_array("tmp", 1)
    c.refuse(c.over(alloc(tmp, 1), store(tmp, [0], load(c.b, c.i))), results=[tmp])


def test_products_with_the_extent_of_a_local_array_differ_between_iterations():
    c = Case()
    tmp = c.p.local_array("tmp", 1)
    body = [alloc(tmp, add(c.i, 1)), store(c.a, [mul(extent(tmp), c.n)], 0.0)]
    c.check(c.over(*body))
    assert c.context.verdicts[c.i].condition == "0 > n or n > 0"


def test_maximum_the_wrong_way_round_is_explained():
    c = Case()
    body = assign(c.s, binary("max", load(c.a, c.i), c.s))
    error = c.refuse(assign(c.s, 0.0), c.over(body), results=[c.s])
    assert error.hints[0].startswith("write `s = max(s, ...)`")


@pytest.mark.parametrize(
    ("other", "hint"),
    [
        (lambda c, x: assign(c.s, 0.0), "by `+`: do nothing else with it in the loop"),
        (lambda c, x: assign(c.s, binary("minimum", c.s, x)), "by one operator, not by `+` and `minimum`"),
    ],
)
def test_what_is_said_of_a_sum_that_is_used_besides(other, hint):
    c = Case()
    x = load(c.a, c.i)
    body = [assign(c.s, add(c.s, x)), if_(compare(">", x, 0.5), [other(c, x)])]
    with pytest.raises(DependenceError) as found:
        c.check(assign(c.s, 0.0), parallel(c.i, 0, c.n, body), results=(c.s,))
    assert hint in found.value.hints[0]
    assert not any("s = s + ..." in text for text in found.value.hints)


def test_a_loop_that_is_asked_for_is_judged_when_other_questions_have_used_up_the_work():
    c = Case()
    before = sub(c.i, 1)
    one = if_(
        compare("<", c.m, 1), [store(c.a, [c.i], load(c.b, before))], [store(c.b, [c.i], load(c.a, before))]
    )
    context = PassContext(allowance=Allowance(left=0, questions=0))
    (loop,) = loops_of(check_parallel(c.p.function(c.over(one, lo=1)), context).body)
    assert loop.mode is LoopMode.PARALLEL
