"""Accesses, their iterations, and the values of expressions."""

from __future__ import annotations

import subprocess
import sys

import pytest

from appyc.analysis.accesses.access_relations import accesses_of
from appyc.analysis.accesses.accesses import FunctionAccesses
from appyc.analysis.accesses.held_lengths import lengths_held
from appyc.analysis.dependences.dependences import Dependences
from appyc.analysis.sets.conditions import cases_of, condition_of, text_of
from appyc.analysis.sets.presburger import Presburger
from appyc.errors import GENERATED
from appyc.ir.nodes import Expr, Load, Stmt, Store, Update
from appyc.ir.printer import print_expr
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, rewrite
from tests.ir_makers import (
    Program,
    add,
    alloc,
    assign,
    binary,
    cast,
    compare,
    continue_,
    for_,
    if_,
    load,
    mul,
    neg,
    select,
    store,
    sub,
    update,
    while_,
)


class Case:
    def __init__(self) -> None:
        p = self.p = Program()
        self.n, self.k = p.integer("n"), p.integer("k")
        self.a, self.b = p.array("a", 1), p.array("b", 1)
        self.i, self.j = p.index("i"), p.index("j")

    def accesses(self, *body: Stmt, results=()) -> FunctionAccesses:
        return accesses_of(self.p.function(*body, results=results), Presburger())

    def value_at(self, index: Expr, i: int, n: int, k: int) -> int | None:
        """What an index in a loop over i is found to be for these values; None if it may be anything."""
        found = self.accesses(for_(self.i, 0, self.n, [store(self.a, [index], 0.0)]))
        sets, value = found.sets, found.accesses[-1].index[0]
        points = sets.parameter("value").eq_set(value)
        for symbol, number in ((self.i, i), (self.n, n), (self.k, k)):
            points = points.intersect(sets.parameter(str(symbol)).eq_set(sets.constant(number)))
        low, high = sets.value_range(points, "value")
        return low if low == high else None


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda c: add(c.i, 1), lambda i, n, k: i + 1),
        (lambda c: sub(mul(c.i, 2), c.n), lambda i, n, k: 2 * i - n),
        (lambda c: mul(3, neg(c.i)), lambda i, n, k: -3 * i),
        (lambda c: binary("//", c.i, 2), lambda i, n, k: i // 2),
        (lambda c: binary("%", neg(c.i), 3), lambda i, n, k: -i % 3),
        (lambda c: binary("<<", c.i, 3), lambda i, n, k: i << 3),
        (lambda c: binary(">>", neg(c.i), 1), lambda i, n, k: -i >> 1),
        (lambda c: binary("&", neg(c.i), 7), lambda i, n, k: -i & 7),
        (lambda c: binary("min", c.i, c.k), lambda i, n, k: min(i, k)),
        (lambda c: binary("max", c.i, 2), lambda i, n, k: max(i, 2)),
        (lambda c: select(compare("<", c.i, c.k), c.i, c.n), lambda i, n, k: i if i < k else n),
    ],
)
def test_affine_expressions_are_exact(make, expected):
    c = Case()
    for i, n, k in ((0, 1, 0), (1, 9, 3), (3, 4, 3), (7, 11, -2)):
        assert c.value_at(make(c), i, n, k) == expected(i, n, k)


@pytest.mark.parametrize(
    "make",
    [
        lambda c: binary("//", c.i, c.n),
        lambda c: cast(cast(c.i, DType.INT32), DType.INT64),
        lambda c: cast(load(c.a, 0), DType.INT64),
    ],
)
def test_other_expressions_get_a_name(make):
    c = Case()
    found = c.accesses(for_(c.i, 0, c.n, [store(c.a, [make(c)], 0.0)]))
    names = found.sets.names(found.accesses[-1].index[0])
    assert [found.affine.names[name].text for name in names] == ["?"]


def test_a_product_is_named_by_its_factors():
    c = Case()
    found = c.accesses(for_(c.i, 0, c.n, [store(c.a, [mul(c.n, add(c.i, 1))], load(c.b, mul(c.i, c.n)))]))
    names = [found.sets.names(access.index[0]) for access in found.accesses]
    assert [[found.affine.names[name].text for name in some] for some in names] == [["i*n"], ["n", "i*n"]]


def test_equal_expressions_share_their_name():
    c = Case()
    product = mul(c.i, c.n)
    found = c.accesses(for_(c.i, 0, c.n, [store(c.a, [product], load(c.b, mul(c.i, c.n)))]))
    assert found.accesses[0].index[0].plain_is_equal(found.accesses[1].index[0])


def test_a_value_that_changed_in_between_does_not():
    c = Case()
    x = c.p.local("x", DType.INT64)
    body = [
        assign(x, c.k),
        store(c.a, [mul(x, c.n)], 0.0),
        assign(x, add(x, 1)),
        store(c.a, [mul(x, c.n)], 0.0),
    ]
    found = c.accesses(*body)
    assert not found.accesses[0].index[0].plain_is_equal(found.accesses[1].index[0])


def test_value_after_a_condition_has_two_cases():
    c = Case()
    x = c.p.local("x", DType.INT64)
    body = [assign(x, 0), if_(compare(">", c.i, 2), [assign(x, c.i)]), store(c.a, [x], 0.0)]
    found = c.accesses(for_(c.i, 0, c.n, body))
    assert found.accesses[-1].index[0].n_piece() == 2


def test_accesses_come_in_the_order_of_rewrite():
    c = Case()
    inner = for_(c.j, load(c.a, 0), load(c.a, 1), [update(c.b, [c.j], "+", load(c.a, load(c.b, c.i)))])
    body = if_(compare("<", load(c.a, 2), load(c.a, 3)), [store(c.a, [load(c.b, 4)], load(c.b, 5))], [inner])
    fn = c.p.function(for_(c.i, 0, c.n, [body]), results=[load(c.a, 6)])
    seen: list[tuple[str, object]] = []

    def rule(node):
        if isinstance(node, Load | Store | Update):
            seen.append(((node.target if isinstance(node, Update) else node.array).name, node.loc))
        return node

    rewrite(fn, rule)
    assert [(a.array.name, a.loc) for a in accesses_of(fn, Presburger()).accesses] == seen


def test_untold_condition_marks_the_accesses_below_it():
    c = Case()
    cond = compare(">", load(c.a, c.i), 0.0)
    body = [if_(cond, [store(c.b, [c.i], 0.0)]), store(c.b, [c.i], 1.0)]
    found = c.accesses(for_(c.i, 0, c.n, body))
    assert [access.approximate for access in found.accesses] == [False, True, False]


def test_what_follows_a_branch_that_may_continue_is_not_sure_to_be_reached():
    c = Case()
    inner = if_(compare("<", load(c.a, c.i), 0.0), [continue_()])
    nested = if_(compare("<", c.i, c.k), [inner])
    stored = store(c.b, [c.i], 1.0)
    for body in (
        [nested, stored],
        [if_(compare("<", c.k, 9), [nested]), stored],
        [nested, if_(compare(">", c.k, 0), [stored])],
    ):
        found = c.accesses(for_(c.i, 0, c.n, body))
        assert [access.approximate for access in found.accesses] == [False, True]


def test_step_restricts_the_iterations():
    c = Case()
    found = c.accesses(for_(c.i, 1, 8, [store(c.a, [c.i], 0.0)], step=3))
    domain = found.accesses[0].domain
    value = found.accesses[0].index[0]
    hit = [v for v in range(-2, 10) if not domain.intersect(value.eq_set(found.sets.constant(v))).is_empty()]
    assert hit == [1, 4, 7]


def test_distance_and_witness_of_a_conflict():
    c = Case()
    fn = c.p.function(for_(c.i, 0, c.n, [store(c.a, [add(c.i, 2)], load(c.a, c.i))]))
    dependences = Dependences(accesses_of(fn, Presburger()))
    (loop,) = loops_of(fn.body)
    (conflict,) = dependences.conflicts(loop)
    assert (conflict.kind, conflict.exact) == ("flow", True)
    assert dependences.distances(conflict) == (2, 2)
    witness = dependences.witness(conflict)
    assert (witness.first, witness.second, witness.element) == (0, 2, (2,))


def test_sets_become_conditions():
    c = Case()
    found = c.accesses(for_(c.i, 0, c.n, [store(c.a, [c.k], 0.0)]))
    n, k = found.sets.parameter(str(c.n)), found.sets.parameter(str(c.k))
    points = n.ge_set(found.sets.scale(k, 2)).intersect(
        found.sets.modulo(n, 4).eq_set(found.sets.constant(0))
    )
    cases = cases_of(points, found.affine, GENERATED)
    assert cases is not None
    text = print_expr(condition_of(cases, GENERATED))
    scope = {"n": 8, "k": 4}
    assert eval(text, scope) is True
    assert eval(text, {"n": 7, "k": 3}) is False
    assert eval(text, {"n": 8, "k": 5}) is False
    assert "n" in text_of(cases)


def test_sets_over_values_of_the_middle_have_no_condition():
    c = Case()
    found = c.accesses(for_(c.i, 0, c.n, [store(c.a, [mul(c.i, c.n)], 0.0)]))
    index = found.accesses[0].index[0]
    assert cases_of(index.ge_set(found.sets.constant(0)), found.affine, GENERATED) is None


def test_importing_the_passes_does_not_import_isl():
    code = "import sys; from appyc.passes.checks import check_bounds, check_parallel; print('islpy' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_scalars_that_are_set_before_they_are_read_have_no_names():
    """Not for what another iteration may have left in them, however many loops there are around."""
    p = Program()
    a, n, k, i, j = p.array("a", 1), p.integer("n"), p.local("k", DType.INT64), p.index("i"), p.index("j")
    inner = for_(j, 0, n, [assign(k, add(i, j)), store(a, [k], 1.0)])
    found = accesses_of(p.function(for_(i, 0, n, [inner])), Presburger())
    assert not any("@" in name for name in found.affine.names)


def test_lengths_where_paths_meet():
    c = Case()
    t = c.p.array("t", 1)
    three, five = alloc(t, 3), alloc(t, 5)
    use = store(t, [0], 1.0)

    def known(*body):
        found = c.accesses(*body)
        sets = found.sets
        lengths = [access.extents[0] for access in found.accesses if access.array == t]
        return [sets.constant_of(length) for length in lengths]

    cond = compare("<", load(c.a, 0), 0.0)
    assert known(three, use) == [3]
    assert known(three, if_(cond, [use, five, use]), use) == [3, 5, None]
    assert known(if_(cond, [three], [five]), use) == [None]
    assert known(three, for_(c.i, 0, c.n, [use, five]), use) == [None, None]
    assert known(five, for_(c.i, 0, c.n, [three, use]), use) == [3, None]
    assert known(three, while_(cond, [use, five]), use) == [None, None]
    assert known(three, for_(c.i, 0, c.n, [use]), use) == [3, 3]


def test_lengths_that_scalars_hold():
    c = Case()
    t, m, k = c.p.array("t", 1), c.p.integer("m"), c.p.integer("q")
    cond = compare("<", load(c.a, 0), 0.0)
    made = alloc(t, m)

    def held(*body):
        return lengths_held(c.p.function(*body))

    new = assign(m, 3)
    assert held(made) == {(t, 0): m}
    assert held(made, if_(cond, [new, assign(k, 4), made])) == {(t, 0): m}
    assert held(made, while_(cond, [new, made])) == {(t, 0): m}
    assert held(made, new) == {}
    assert held(made, new, alloc(c.b, m)) == {(c.b, 0): m}
    assert held(new, assign(k, cast(load(t, 0), DType.INT64)), made) == {}
    assert held(made, alloc(t, k)) == {}
    assert held(made, update(m, [], "+", 1)) == {}
    assert held(made, for_(m, 0, 9, [made])) == {}


def test_lengths_that_are_set_once():
    p = Program()
    t, m, n = p.array("t", 1), p.local("m", DType.INT64), p.integer("n")
    cond = compare("<", n, 3)
    once, made = assign(m, n), alloc(t, m)
    assert lengths_held(p.function(once, if_(cond, [made]), made)) == {(t, 0): m}
    assert lengths_held(p.function(once, if_(cond, [made]), once)) == {}
    assert lengths_held(p.function(while_(cond, [once, if_(cond, [made])]))) == {}


def test_an_array_that_is_not_allocated_in_each_iteration_is_not_its_own():
    c = Case()
    t = c.p.local_array("t", 1)
    made, cond = alloc(t, 3), compare("==", binary("%", c.i, 7), 0)
    uses = [update(t, [0], "+", 1.0, atomic=False), store(c.b, [c.i], load(t, 0))]

    def carried(*body):
        found = c.accesses(*body)
        (loop,) = loops_of(c.p.function(*body).body)
        return [conflict for conflict in Dependences(found).conflicts(loop) if conflict.source.array == t]

    assert not carried(for_(c.i, 0, c.n, [made, *uses]))
    assert carried(made, for_(c.i, 0, c.n, [if_(cond, [made]), *uses]))
