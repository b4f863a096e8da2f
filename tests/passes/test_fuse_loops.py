"""Loops that share a temporary are joined where they may be, and the temporary is contracted."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

import appyc
from appyc.analysis.algebra.amounts import NONE
from appyc.analysis.sets.evaluate import evaluate
from appyc.ir.nodes import Alloc, For, Function, Load, Store, Update
from appyc.ir.printer import print_expr, print_function
from appyc.ir.visit import rewrite, walk
from appyc.options import Options
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.checks.guard_assumptions import guard_assumptions
from appyc.passes.fuse.fuse_loops import MAX_TOGETHER, fuse_loops
from appyc.passes.pass_context import FusionGroup, PassContext
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.simplify.dead_code_elimination import dead_code_elimination
from appyc.passes.simplify.expand_tensors import expand_tensors
from appyc.passes.storage.contract_arrays import contract_arrays
from appyc.passes.storage.store_to_load_forwarding import store_to_load_forwarding
from tests.ir_makers import Program, for_, load, store, update
from tests.lowering import after, lowered
from tests.printed import run_printed

BEFORE = (
    expand_tensors, copy_propagation, dead_code_elimination,
    guard_assumptions, copy_propagation, dead_code_elimination, check_bounds,
)  # fmt: skip

A, B = np.linspace(-1.0, 1.0, 12).reshape(3, 4), np.linspace(0.5, 2.0, 4)


def fused(fn, *args: object, context: PassContext | None = None) -> Function:
    context = context or PassContext()
    return after(lowered(fn, *args), *BEFORE, fuse_loops, contract_arrays, context=context)


def outer_loops(fn: Function) -> int:
    return sum(isinstance(stmt, For) for stmt in fn.body)


def arrays_made(fn: Function) -> int:
    return sum(isinstance(n, Alloc) for n in walk(fn))


def chain(a, b):
    t = a * b
    u = t + a
    return np.exp(u) - t


def diamond(a):
    t = a * 2.0
    u, v = t + 1.0, t - 1.0
    return u * v


def into_a_sum(a, b):
    t = a * b
    return t.sum()


def softmax(x, y):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    y[:] = e / e.sum(axis=1, keepdims=True)


def product_and_epilogue(a, b, c):
    c[:] = 2.0 * (a @ b) + c


def stencil_into_another_array(a, b):
    b[1:-1] = (a[:-2] + a[2:]) / 2.0


def column_means(a):
    return a - a.mean(axis=0)


def stencil_of_a_temporary(a):
    t = a * 2.0
    return t[:-1] + t[1:]


def stencil_in_place(a):
    a[1:-1] = (a[:-2] + a[2:]) / 2.0


def temporary_is_returned(a):
    t = a * 2.0
    return t, t + 1.0


def sum_and_squares(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    q = 0.0
    for i in range(a.shape[0]):
        q += a[i] * a[i]
    return s, q


def through_a_parameter(a, b, c):
    b[:] = a * 2.0
    c[:] = b + a


def three_statistics(a):
    return a.min(), a.max(), a.mean()


def two_products(a, b, x):
    return a @ x + b @ x


def value_left_behind(a, b):
    t = 0.0
    for i in range(a.shape[0]):
        t = a[i]
        b[i] = t
    for j in range(a.shape[0]):
        a[j] = b[j] + t


def only_a_vector_in_common(a, b, x, y, z):
    for i in range(x.shape[0]):
        y[i] = a[i, 0] * x[i] + a[i, 1] + a[i, 2] + a[i, 3]
    for i in range(x.shape[0]):
        z[i] = b[i, 0] * x[i] + b[i, 1] + b[i, 2] + b[i, 3]


def nests_of_other_shapes(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] * 2.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1] - 1):
            a[i, j] = a[i, j] + 1.0


def equal_pragmas(a, b, c):
    # pragma parallel for
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0
    # pragma parallel for
    for i in range(a.shape[0]):
        c[i] = b[i] + 1.0


def pragma_and_tensor_statement(a, b, c):
    # pragma parallel for
    for i in range(b.shape[0]):
        b[i] = a[i] * 2.0
    c[:] = b + 1.0


def told_to_run_in_order(a, b, c):
    # pragma sequential for
    for i in range(b.shape[0]):
        b[i] = a[i] * 2.0
    c[:] = b + 1.0


def schedules_that_differ(a, b, c):
    # pragma parallel for schedule(dynamic)
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0
    # pragma parallel for
    for i in range(a.shape[0]):
        c[i] = b[i] + 1.0


# function, arguments, loops right in the function, arrays that stay in memory
CASES = [
    (chain, (B, B + 1.0), 1, 1),
    (diamond, (B,), 1, 1),
    (into_a_sum, (B, B), 1, 0),
    (softmax, (A, A.copy()), 1, 1),
    (product_and_epilogue, (A, A.T.copy(), np.eye(3)), 1, 0),
    (stencil_into_another_array, (B, B.copy()), 1, 0),
    (column_means, (A,), 2, 2),
    (stencil_of_a_temporary, (B,), 2, 2),
    (stencil_in_place, (B,), 2, 1),
    (temporary_is_returned, (B,), 1, 2),
    (sum_and_squares, (B,), 1, 0),
    (through_a_parameter, (B, B + 1.0, B + 2.0), 1, 0),
    (three_statistics, (B,), 1, 0),
    (two_products, (A, A + 1.0, B), 1, 1),
    (value_left_behind, (B, B + 1.0), 2, 0),
    (only_a_vector_in_common, (A, A + 1.0, B[:3], B[:3] + 1.0, B[:3] + 2.0), 2, 0),
    (nests_of_other_shapes, (A, A + 1.0), 2, 0),
    (equal_pragmas, (B, B + 1.0, B + 2.0), 1, 0),
    (pragma_and_tensor_statement, (B, B + 1.0, B + 2.0), 1, 0),
    (told_to_run_in_order, (B, B + 1.0, B + 2.0), 2, 0),
    (schedules_that_differ, (B, B + 1.0, B + 2.0), 2, 0),
]
NAMES = [case[0].__name__ for case in CASES]


@pytest.mark.parametrize(("fn", "args", "loops", "arrays"), CASES, ids=NAMES)
def test_loops_and_arrays_that_are_left(fn, args, loops, arrays):
    out = fused(fn, *args)
    assert (outer_loops(out), arrays_made(out)) == (loops, arrays), print_function(out)


@pytest.mark.parametrize(("fn", "args"), [case[:2] for case in CASES], ids=NAMES)
def test_result_is_numpys(fn, args):
    own, expected_args = copy.deepcopy(args), copy.deepcopy(args)
    found, expected = run_printed(fused(fn, *args), *own), fn(*expected_args)
    for one, two in zip((expected, *expected_args), (found, *own), strict=True):
        if one is not None:
            np.testing.assert_allclose(two, one)


@pytest.mark.parametrize(
    ("fn", "args", "reason"),
    [
        (stencil_of_a_temporary, (B,), "different ranges"),
        (stencil_in_place, (B,), "other iterations"),
        (column_means, (A,), "different ranges"),
        (value_left_behind, (B, B + 1.0), "value of 't'"),
        (only_a_vector_in_common, (A, A + 1.0, B[:3], B[:3] + 1.0, B[:3] + 2.0), "hardly save traffic"),
        (nests_of_other_shapes, (A, A + 1.0), "loops inside them"),
        (told_to_run_in_order, (B, B + 1.0, B + 2.0), "different pragmas"),
        (schedules_that_differ, (B, B + 1.0, B + 2.0), "different pragmas"),
    ],
)
def test_refusal_says_why(fn, args, reason):
    context = PassContext()
    fused(fn, *args, context=context)
    assert any(reason in r.text for r in context.remarks if r.kind == "missed"), context.remarks


def test_text_of_a_softmax(golden):
    golden("tensors/softmax_fused.txt", print_function(fused(softmax, A, A.copy())))


def test_contraction_is_reported():
    context = PassContext()
    fused(chain, B, B, context=context)
    assert any("'t' is never stored" in r.text for r in context.remarks)


def test_zeros_that_are_only_sometimes_written_start_as_zero():
    def sometimes(a, out):
        t = np.zeros(a.shape[0])
        for i in range(a.shape[0]):
            if a[i] > 0.0:
                t[i] = a[i]
            out[i] = t[i] + 1.0

    out, expected = np.empty(4), np.empty(4)
    x = np.array([1.0, -1.0, 2.0, -2.0])
    program = fused(sometimes, x, out)
    assert arrays_made(program) == 0
    run_printed(program, x, out)
    sometimes(x, expected)
    np.testing.assert_array_equal(out, expected)


def test_sums_that_keep_their_order_stay_in_loops_of_their_own():
    context = PassContext(Options(exact=True))
    assert outer_loops(fused(sum_and_squares, B, context=context)) == 2
    assert any("exact=True" in r.text for r in context.remarks)


def test_loops_without_pragmas_are_left_alone_where_nothing_is_to_be_analysed():
    context = PassContext(Options(auto=False))
    assert outer_loops(fused(sum_and_squares, B, context=context)) == 2


def test_element_that_is_stored_again_is_stored_once():
    def often(a, b):
        for i in range(a.shape[0]):
            a[i] = a[i] + b[i]
        for i in range(a.shape[0]):
            a[i] = a[i] * 2.0
        for i in range(a.shape[0]):
            a[i] = a[i] - b[i]

    context = PassContext()
    program = store_to_load_forwarding(fused(often, B, B + 1.0, context=context), context)
    assert [n.array.name for n in walk(program) if isinstance(n, Store)] == ["a"]
    assert [n.array.name for n in walk(program) if isinstance(n, Load)] == ["a", "b", "b"]
    found, expected = B.copy(), B.copy()
    run_printed(program, found, B + 1.0)
    often(expected, B + 1.0)
    np.testing.assert_array_equal(found, expected)


def test_store_stays_where_the_element_is_read_by_another_name_before_the_next():
    p, context = Program(), PassContext()
    n, a, b, i = p.integer("n"), p.array("a", 1), p.array("b", 1), p.index("i")
    k = p.integer("k")
    body = [
        store(a, [i], 1.5, checked=False),
        store(b, [i], load(a, k, checked=False), checked=False),
        store(a, [i], 2.5, checked=False),
    ]
    fn = p.function(for_(i, 0, n, body))
    context.fusions[i] = FusionGroup(i, (), (), NONE)
    assert store_to_load_forwarding(fn, context) is fn


def test_too_many_arrays_for_one_loop():
    def loops(count: int) -> tuple[Function, PassContext]:
        p, context = Program(), PassContext()
        n, shared = p.integer("n"), p.array("x", 1)
        arrays = [p.array(f"a{k}", 1) for k in range(2 * count)]
        body = []
        for half in (arrays[:count], arrays[count:]):
            i = p.index("i")
            stores = [store(a, [i], load(shared, i, checked=False), checked=False) for a in half]
            body.append(for_(i, 0, n, stores))
        return fuse_loops(p.function(*body), context), context

    assert outer_loops(loops(1)[0]) == 1
    out, context = loops(8)
    assert outer_loops(out) == 2
    assert any("arrays" in r.text for r in context.remarks)


def test_group_knows_its_loops_and_what_they_moved():
    context = PassContext()
    fused(through_a_parameter, B, B + 1.0, B + 2.0, context=context)
    (group,) = context.fusions.values()
    a, b, c = (p for p in lowered(through_a_parameter, B, B + 1.0, B + 2.0).params)
    first = through_a_parameter.__code__.co_firstlineno
    assert {loc.line - first for loc in group.locs} == {1, 2}
    arrays = {s: np.zeros(100) for s in (a, b, c)}
    # a, new; new, b twice; b, a, new; new, c twice: a written array comes from memory and goes back
    assert evaluate(group.before, arrays) == 800 * (3 + 3 + 4 + 3)


def test_stored_element_is_not_read_again():
    program = after(fused(through_a_parameter, B, B + 1.0, B + 2.0, context=(context := PassContext())),
                    store_to_load_forwarding, context=context)  # fmt: skip
    assert [n.array.name for n in walk(program) if isinstance(n, Load)] == ["a", "a"]


def test_element_that_a_later_statement_writes_is_read_again():
    p, context = Program(), PassContext()
    n, a, b, i = p.integer("n"), p.array("a", 1), p.array("b", 1), p.index("i")
    k = p.integer("k")
    body = [
        store(a, [i], 1.5, checked=False),
        store(a, [k], 2.5, checked=False),
        store(b, [i], load(a, i, checked=False), checked=False),
    ]
    fn = p.function(for_(i, 0, n, body))
    context.fusions[i] = FusionGroup(i, (), (), NONE)
    assert store_to_load_forwarding(fn, context) is fn


def test_empty_function():
    fn = Program().function()
    assert contract_arrays(fuse_loops(fn, PassContext()), PassContext()) is fn


def test_loops_that_only_share_memory_are_joined_up_to_a_number():
    p, context = Program(), PassContext()
    n, x = p.integer("n"), p.array("x", 1)
    body = []
    for _ in range(MAX_TOGETHER + 1):
        i = p.index("i")
        body.append(for_(i, 0, n, [update(x, [i], "+", 1.0)]))
    fn = rewrite(p.function(*body), lambda n: replace(n, checked=False) if isinstance(n, Update) else n)
    out = fuse_loops(fn, context)
    assert [len(group.locs) for group in context.fusions.values()] == [MAX_TOGETHER]
    assert outer_loops(out) == 2


def test_loops_in_one_that_runs_in_order_do_not_become_a_nest_with_it():
    """They were joined, the nest turned round, and memory walked by columns."""

    def scratch_row(x, y, row):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                row[j] = x[i, j] * 2.0
            for j in range(x.shape[1]):
                y[i, j] = row[j] + 1.0

    context = PassContext()
    out = fused(scratch_row, A, A.copy(), B.copy(), context=context)
    assert not context.fusions
    assert sum(isinstance(n, For) for n in walk(out)) == 3


def test_no_loop_passes_a_jump_between_them():
    def until_small(x, n):
        for _ in range(n):
            largest = 0.0
            for i in range(x.shape[0]):
                largest = max(largest, abs(x[i]))
            if largest < 0.1:
                break
            for i in range(x.shape[0]):
                x[i] = x[i] * 0.5

    (outer,) = (s for s in fused(until_small, np.ones(4), 3).body if isinstance(s, For))
    assert sum(isinstance(s, For) for s in outer.body) == 2


@pytest.mark.parametrize(("target", "joined"), [("cpu", False), ("interpret", True)])
def test_functions_keep_their_lanes(target, joined):
    """A loop inside would end them: on a processor, `exp` alone takes longer than its result's way to memory."""

    def chances(x, w):
        total = x @ w
        return 1.0 / (1.0 + np.exp(-total))

    context = PassContext(Options(target=target))
    fused(chances, np.ones((6, 3)), np.ones(3), context=context)
    assert any("computed in lanes" in r.text for r in context.remarks) is not joined


def test_a_product_is_not_taken_apart_for_what_follows_it():
    def layers(x, v, w):
        hidden = np.maximum(x @ v, 0.0)
        return hidden @ w

    fn = appyc.jit(layers, strict=True, blas=False)
    a = np.ones((6, 5)), np.ones((5, 7)), np.ones((7, 3))
    np.testing.assert_array_equal(fn(*a), layers(*a))
    assert "each iteration would access all of" in str(fn.explain())


# ---------------------------------------------------------------- nests that are turned round


def updated_and_multiplied(a, u, v, x, y):
    a += np.outer(u, v)
    x += y @ a


def filled_and_multiplied(a, u, v, x, y):
    t = a - np.outer(u, v)
    x += y @ t


@pytest.mark.parametrize("fn", [updated_and_multiplied, filled_and_multiplied])
def test_a_nest_is_turned_round_for_one_that_comes_to_its_rows_inside_its_columns(fn):
    context = PassContext(Options(target="cpu"))
    out = fused(fn, *matrix_and_vectors(3, 4), context=context)
    assert outer_loops(out) == 1
    assert arrays_made(out) == 0
    (loop,) = [stmt for stmt in out.body if isinstance(stmt, For)]
    assert len(context.fusions[loop.var].parts) >= 2
    for shape in ((0, 3), (3, 0), (1, 1), (2, 1), (5, 7)):
        ours, theirs = (matrix_and_vectors(*shape) for _ in range(2))
        run_printed(out, *ours)
        fn(*theirs)
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def matrix_and_vectors(n, m):
    rng = np.random.default_rng(n + m)
    return rng.random((n, m)), rng.random(n), rng.random(m), rng.random(m), rng.random(n)


def rows_wait(a, u, v, x, y):
    """A row of the first needs the one before it."""
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += a[i - 1, j] * u[i]
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(1, a.shape[0]):
            s += a[i, j] * y[i]
        x[j] = s


def columns_move(a, u, v, x, y):
    """A column of the second reads one that the first has not come to."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1] - 1):
            a[i, j + 1] += u[i] * v[j]
    for j in range(a.shape[1] - 1):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j] * y[i] + a[i, j + 1]
        x[j] = s


def rows_of_a_triangle(a, u, v, x, y):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] += u[i] * v[j]
    for j in range(a.shape[0]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j] * y[i]
        x[j] = s


def rows_of_both(a, u, v, x, y):
    a += np.outer(u, v)
    y += a @ x


@pytest.mark.parametrize("fn", [rows_wait, columns_move, rows_of_a_triangle])
def test_nests_that_cannot_be_turned_stay_apart(fn):
    out = fused(fn, *matrix_and_vectors(3, 3), context=PassContext(Options(target="cpu")))
    assert outer_loops(out) == 2


def test_nests_with_the_same_rows_or_on_a_gpu_are_not_turned():
    out = fused(rows_of_both, *matrix_and_vectors(3, 3), context=PassContext(Options(target="cpu")))
    assert {print_expr(stmt.hi) for stmt in out.body if isinstance(stmt, For)} == {"a.shape[0]"}
    out = fused(updated_and_multiplied, *matrix_and_vectors(3, 4), context=PassContext(Options(target="gpu")))
    assert outer_loops(out) == 2
