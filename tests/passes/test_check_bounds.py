"""Which index checks leave the loop, and what the function is guarded with instead."""

from __future__ import annotations

from appyc.ir.nodes import BoundsCheck, Function, Load, Stmt, Store, Update
from appyc.ir.printer import print_expr
from appyc.ir.types import DType
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.pass_context import PassContext
from tests.ir_makers import (
    Program,
    add,
    alloc,
    assign,
    binary,
    both,
    bounds_check,
    cast,
    compare,
    continue_,
    extent,
    for_,
    if_,
    load,
    mul,
    select,
    store,
    sub,
    update,
    while_,
)

SMALL = "(n >= (-1099511627776)) and (n <= 1099511627776)"


class Case:
    def __init__(self) -> None:
        p = self.p = Program()
        self.n, self.m = p.integer("n"), p.integer("m")
        self.a, self.c = p.array("a", 1), p.array("c", 2)
        self.idx = p.array("idx", 1, DType.INT64)
        self.i, self.j = p.index("i"), p.index("j")

    def run(self, *body: Stmt, results=(), options: Options | None = None) -> Function:
        fn = self.p.function(*body, results=results)
        return check_bounds(fn, PassContext(options or Options()))

    def check(self, *body: Stmt, results=()) -> tuple[list[str], list[str]]:
        """The arrays of accesses that stay checked, and the guards."""
        fn = self.run(*body, results=results)
        return checked(fn), [print_expr(guard.holds) for guard in fn.guards]

    def over(self, *body: Stmt, lo=0, hi=None, step: int = 1) -> Stmt:
        return for_(self.i, lo, self.n if hi is None else hi, body, step)


def checked(fn: Function) -> list[str]:
    return [
        (node.target if isinstance(node, Update) else node.array).name
        for node in walk(fn)
        if isinstance(node, Load | Store | Update)
        and node.checked
        and not (isinstance(node, Update) and not node.target.is_array)
    ]


def test_range_over_the_extent_needs_nothing():
    c = Case()
    assert c.check(c.over(store(c.a, [c.i], 0.0), hi=extent(c.a))) == ([], [])


def test_scalar_from_the_extent_needs_nothing():
    c = Case()
    size, last = c.p.local("size", DType.INT64), c.p.local("last", DType.INT64)
    body = c.over(store(c.a, [c.i], load(c.a, add(c.i, 1))), hi=last)
    assert c.check(assign(size, extent(c.a)), assign(last, sub(size, 1)), body) == ([], [])


def test_range_over_a_parameter_is_guarded():
    c = Case()
    assert c.check(c.over(store(c.a, [c.i], 0.0))) == ([], ["a.shape[0] >= n"])


def test_guards_of_one_array_are_merged():
    c = Case()
    body = [store(c.a, [c.i], load(c.a, c.i)), store(c.a, [sub(c.i, 1)], load(c.a, c.i))]
    assert c.check(c.over(*body, lo=1)) == ([], ["a.shape[0] >= n", SMALL])


def test_two_axes():
    c = Case()
    inner = for_(c.j, 0, c.m, [store(c.c, [c.i, c.j], 0.0)])
    left, guards = c.check(c.over(inner))
    assert left == []
    assert set(guards[0].replace("(", "").replace(")", "").split(" and ")) == {
        "c.shape[0] >= n",
        "c.shape[1] >= m",
    }


def test_triangle():
    c = Case()
    inner = for_(c.j, 0, add(c.i, 1), [store(c.c, [c.i, c.j], load(c.c, c.j, c.i))])
    left, guards = c.check(c.over(inner))
    assert left == []
    assert len(guards) == 2
    assert "c.shape[0] >= n" in guards[0]
    assert "c.shape[1] >= n" in guards[0]


def test_stencil_with_offsets():
    c = Case()
    body = store(c.a, [c.i], add(load(c.a, sub(c.i, 1)), load(c.a, add(c.i, 1))))
    assert c.check(c.over(body, lo=1, hi=sub(c.n, 1))) == ([], ["a.shape[0] >= n", SMALL])


def test_negative_step():
    c = Case()
    assert c.check(c.over(store(c.a, [c.i], 0.0), lo=sub(extent(c.a), 1), hi=-1, step=-1)) == ([], [])


def test_large_step():
    c = Case()
    body = c.over(store(c.a, [add(c.i, 1)], 0.0), hi=mul(binary("//", extent(c.a), 2), 2), step=2)
    assert c.check(body) == ([], [])


def test_negative_index_by_design_stays_checked():
    c = Case()
    assert c.check(c.over(store(c.a, [sub(c.i, 1)], 0.0))) == (["a"], [])


def test_always_out_of_range_stays_checked():
    c = Case()
    assert c.check(c.over(store(c.a, [add(c.i, extent(c.a))], 0.0))) == (["a"], [])


def test_condition_keeps_the_index_in_range():
    c = Case()
    cond = both(compare(">", c.i, 0), compare("<", c.i, extent(c.a)))
    body = if_(cond, [store(c.a, [c.i], load(c.a, sub(c.i, 1)))])
    assert c.check(c.over(body))[0] == []
    chosen = select(compare(">", c.i, 0), load(c.a, sub(c.i, 1)), 0.0)
    assert c.check(c.over(store(c.a, [c.i], chosen), hi=extent(c.a))) == ([], [])


def test_continue_keeps_the_rest_in_range():
    c = Case()
    skip = if_(compare("<", c.i, 1), [continue_()])
    body = [skip, store(c.a, [sub(c.i, 1)], 0.0)]
    assert c.check(c.over(*body, hi=extent(c.a))) == ([], [])


def test_index_read_from_an_array_stays_checked():
    c = Case()
    body = c.over(store(c.a, [load(c.idx, c.i)], 0.0), hi=extent(c.idx))
    assert c.check(body) == (["a"], [])


def test_index_read_from_an_array_and_tested():
    c = Case()
    index = load(c.idx, c.i)
    cond = both(compare(">=", index, 0), compare("<", index, extent(c.a)))
    assert c.check(c.over(if_(cond, [store(c.a, [index], 0.0)]), hi=extent(c.idx))) == ([], [])


def test_tested_sum_that_may_overflow_proves_nothing():
    c = Case()
    index = load(c.idx, c.i)
    cond = both(compare(">=", index, 0), compare("<", add(index, 1), extent(c.a)))
    assert c.check(c.over(if_(cond, [store(c.a, [index], 0.0)]), hi=extent(c.idx))) == (["a"], [])


def test_sum_of_a_clamped_index_cannot_overflow():
    c = Case()
    last = sub(extent(c.a), 2)
    clamped = binary("min", binary("max", load(c.idx, c.i), 0), last)
    left, guards = c.check(c.over(store(c.a, [add(clamped, 1)], 0.0), hi=extent(c.idx)))
    assert (left, guards) == ([], ["a.shape[0] > 0"])
    half = binary("max", load(c.idx, c.i), 0)
    assert c.check(c.over(store(c.a, [add(half, 1)], 0.0), hi=extent(c.idx)))[0] == ["a"]


def test_narrow_index_cannot_overflow_in_64_bits():
    c = Case()
    narrow = c.p.array("narrow", 1, DType.INT32)
    index = cast(load(narrow, c.i), DType.INT64)
    cond = both(compare(">=", index, 0), compare("<", add(index, 1), extent(c.a)))
    assert c.check(c.over(if_(cond, [store(c.a, [index], 0.0)]), hi=extent(narrow))) == ([], [])


def test_index_array_that_is_written_proves_nothing():
    c = Case()
    index = load(c.idx, c.i)
    cond = both(compare(">=", index, 0), compare("<", index, extent(c.a)))
    body = [store(c.idx, [c.i], add(c.i, 5)), store(c.a, [index], 0.0)]
    assert c.check(c.over(if_(cond, body), hi=extent(c.idx))) == (["a"], [])


def test_remainder_needs_enough_elements():
    c = Case()
    body = c.over(update(c.a, [binary("%", load(c.idx, c.i), 10)], "+", 1.0), hi=extent(c.idx))
    left, guards = c.check(body)
    assert left == []
    assert guards == ["a.shape[0] >= 10"]


def test_value_computed_in_the_function_is_no_guard():
    c = Case()
    size = c.p.local("size", DType.INT64)
    assert c.check(assign(size, load(c.idx, 0)), c.over(store(c.a, [c.i], 0.0), hi=size))[0] == ["a"]


def test_element_with_a_constant_index():
    c = Case()
    assert c.check(store(c.a, [0], 1.0)) == ([], ["a.shape[0] > 0"])
    assert c.check(results=[load(c.a, 2)]) == ([], ["a.shape[0] >= 3"])


def test_parameter_that_is_assigned_is_guarded_by_its_first_value():
    c = Case()
    left, guards = c.check(assign(c.n, sub(c.n, 1)), c.over(store(c.a, [c.i], 0.0)))
    assert left == []
    assert guards == ["(a.shape[0] + 1) >= n", SMALL]


def test_product_of_parameters_is_a_bound_like_any_other():
    c = Case()
    left, guards = c.check(c.over(store(c.a, [c.i], 0.0), hi=mul(c.n, c.m)))
    assert left == []
    assert guards[0] == "a.shape[0] >= (n * m)"


def test_linear_index_over_a_symbolic_row_is_guarded_by_its_ends():
    c = Case()
    inner = for_(c.j, 0, c.m, [store(c.a, [add(mul(c.i, c.m), c.j)], 0.0)])
    left, guards = c.check(c.over(inner))
    assert left == []
    assert guards == [
        "(m >= 0) and (a.shape[0] > ((m * (n + (-1))) + (m + (-1))))",
        "(m >= (-268435456)) and (m <= 268435456)",
        "(n >= (-268435456)) and (n <= 268435456)",
    ]


def test_linear_index_that_begins_below_zero_stays_checked():
    c = Case()
    row = mul(sub(c.i, 1), c.m)
    inner = for_(c.j, 0, c.m, [store(c.a, [add(row, c.j)], 0.0)])
    assert c.check(c.over(inner)) == (["a"], [])
    assert c.check(c.over(inner, lo=1))[0] == []


def test_product_with_a_value_of_unknown_size_stays_checked():
    c = Case()
    inner = for_(c.j, 0, c.m, [store(c.a, [add(mul(load(c.idx, c.i), c.m), c.j)], 0.0)])
    assert c.check(c.over(inner))[0] == ["a"]


def test_product_that_grows_with_its_factor_stays_checked():
    c = Case()
    place = mul(mul(c.i, 1000), c.m)
    assert c.check(c.over(store(c.a, [place], 0.0))) == (["a"], [])


def test_local_array():
    c = Case()
    tmp = c.p.local_array("tmp", 1)
    assert c.check(alloc(tmp, c.n), c.over(store(tmp, [c.i], 0.0))) == ([], [])


def test_while_loop_stays_checked_unless_its_condition_bounds_the_index():
    c = Case()
    x = c.p.local("x", DType.INT64)
    step = assign(x, add(x, 1))
    loop = while_(compare("<", x, extent(c.a)), [store(c.a, [x], 0.0), step])
    assert c.check(assign(x, 0), loop) == ([], [])
    endless = while_(compare("!=", x, extent(c.a)), [store(c.a, [x], 0.0), step])
    assert c.check(assign(x, 2), endless)[0] == ["a"]
    cond = both(compare(">=", x, 0), compare("<", x, extent(c.a)))
    assert c.check(assign(x, 0), while_(cond, [store(c.a, [x], 0.0), step])) == ([], [])


def test_narrow_parameter():
    c = Case()
    narrow = c.p.integer("narrow", DType.INT32)
    left, guards = c.check(c.over(store(c.a, [c.i], 0.0), hi=cast(narrow, DType.INT64)))
    assert left == []
    assert len(guards) == 1


def test_narrow_sum_may_wrap():
    c = Case()
    narrow = c.p.integer("narrow", DType.INT32)
    total = cast(binary("+", narrow, 1), DType.INT64)
    left, guards = c.check(c.over(store(c.a, [c.i], 0.0), hi=total))
    assert left == []
    assert len(guards) == 1
    assert "narrow + " in guards[0]


def test_empty_loop_and_empty_body():
    c = Case()
    assert c.check(c.over(store(c.a, [7], 0.0), lo=3, hi=2)) == ([], [])
    assert c.check(c.over()) == ([], [])


def test_without_boundscheck_nothing_is_checked_or_guarded():
    c = Case()
    fn = c.run(c.over(store(c.a, [load(c.idx, c.i)], 0.0)), options=Options(boundscheck=False))
    assert checked(fn) == []
    assert fn.guards == ()


def test_each_access_gets_its_own_answer():
    c = Case()
    body = [store(c.a, [c.i], load(c.a, load(c.idx, c.i))), store(c.idx, [sub(c.i, 1)], 0)]
    fn = c.run(c.over(*body, hi=extent(c.a)))
    flags = [
        (node.array.name, type(node).__name__, node.checked)
        for node in walk(fn.body)
        if isinstance(node, Load | Store)
    ]
    assert flags == [
        ("a", "Store", False),
        ("a", "Load", True),
        ("idx", "Load", False),
        ("idx", "Store", True),
    ]
    assert [print_expr(guard.holds) for guard in fn.guards] == ["idx.shape[0] >= a.shape[0]"]


def test_each_of_many_arrays_gets_its_guard():
    c = Case()
    arrays = [c.p.array(f"a{k}", 1) for k in range(100)]
    left, guards = c.check(c.over(*(store(array, [c.i], 0.0) for array in arrays)))
    assert left == []
    assert guards == [f"a{k}.shape[0] >= n" for k in range(100)]


def left(fn: Function) -> list[str]:
    """The bounds checks that the function still makes."""
    return [f"{print_expr(n.index)} of {n.name}" for n in walk(fn) if isinstance(n, BoundsCheck)]


def test_an_index_of_a_view_is_guarded_as_an_access_is():
    c = Case()
    fn = c.run(c.over(bounds_check(c.i, c.c), store(c.a, [c.i], 0.0)))
    assert left(fn) == []
    assert [print_expr(guard.holds) for guard in fn.guards] == ["a.shape[0] >= n", "c.shape[0] >= n"]


def test_an_index_of_a_view_may_count_from_the_end():
    c = Case()
    row_before = bounds_check(sub(c.i, 1), c.c)
    fn = c.run(c.over(row_before, hi=extent(c.c)))
    assert (left(fn), fn.guards) == ([], ())
    fn = c.run(bounds_check(c.n, c.c, 1))
    assert left(fn) == []
    inside = "((c.shape[1] + n) >= 0) and (c.shape[1] > n)"
    assert [print_expr(guard.holds) for guard in fn.guards] == [inside, SMALL]


def test_an_index_of_a_view_that_is_read_is_tested_in_place():
    c = Case()
    fn = c.run(c.over(bounds_check(load(c.idx, c.i), c.c), hi=extent(c.idx)))
    assert left(fn) == ["idx[i] of c"]
    assert checked(fn) == []
    assert left(c.run(c.over(bounds_check(7, c.c)), options=Options(boundscheck=False))) == []
