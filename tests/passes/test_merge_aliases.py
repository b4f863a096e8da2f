"""Parameters that are views of one array become that array."""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.aliasing import SharedArray
from appyc.ir.nodes import Clauses, Extent, For, Load, Store, Update
from appyc.ir.verify import verify
from appyc.ir.visit import arrays_read, arrays_written, loops_of, walk
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.merge_aliases import merge_aliases, why_not_shared
from tests.ir_makers import Program, add, expr, extent, for_, here, load, mul, store, update

p = Program()
n = p.integer("n")
a, b, c = (p.array(name, 1) for name in "abc")
i = p.index("i")


def numbers(*arrays):
    return tuple(fn_of().params.index(x) for x in arrays)


def fn_of(*body):
    return p.function(*body)


def copied(checked):
    value = load(b, i, checked=checked)
    return fn_of(for_(i, 0, extent(a, 0), [store(a, [i], mul(value, 2.0), checked=checked)]))


def test_the_same_array_is_one_symbol_and_stays_checked():
    out = merge_aliases(copied(True), PassContext(), (SharedArray(numbers(a, b)),))
    assert verify(out) == []
    assert (arrays_read(out.body), arrays_written(out.body)) == ({a}, {a})
    assert out.params == fn_of().params
    assert all(node.checked for node in walk(out.body) if isinstance(node, Load | Store))


def test_the_array_that_is_written_stands_for_the_others():
    body = for_(i, 0, extent(a, 0), [store(b, [i], load(a, i))])
    out = merge_aliases(fn_of(body), PassContext(), (SharedArray(numbers(a, b)),))
    assert arrays_written(out.body) == {b}
    assert {node.array for node in walk(out.body) if isinstance(node, Extent)} == {b}


def test_views_get_a_base_and_keep_their_extents():
    sharing = (SharedArray(numbers(a, b), ((1,), (0,))),)
    assert why_not_shared(copied(False), sharing) is None
    out = merge_aliases(copied(False), PassContext(), sharing)
    assert verify(out) == []
    base = out.params[-1]
    assert (base.name, base.array) == ("a_base", a.array)
    (write,) = (node for node in walk(out.body) if isinstance(node, Store))
    (read,) = (node for node in walk(out.body) if isinstance(node, Load))
    assert (write.array, write.index) == (base, (add(i, 1),))
    assert (read.array, read.index) == (base, (expr(i),))
    assert {node.array for node in walk(out.body) if isinstance(node, Extent)} == {a}


def test_an_open_distance_is_a_parameter():
    out = merge_aliases(copied(False), PassContext(), (SharedArray(numbers(a, b), ((0,), (None,))),))
    assert verify(out) == []
    assert [q.name for q in out.params[-2:]] == ["a_base", "b_from_0"]
    (read,) = (node for node in walk(out.body) if isinstance(node, Load))
    assert read.index == (add(i, out.params[-1]),)


def test_updates_move_too():
    change = replace(update(a, [i], "+", load(b, i, checked=False)), checked=False)
    body = for_(i, 0, extent(a, 0), [change])
    out = merge_aliases(fn_of(body), PassContext(), (SharedArray(numbers(a, b), ((2,), (0,))),))
    (change,) = (node for node in walk(out.body) if isinstance(node, Update))
    assert (change.target, change.index) == (out.params[-1], (add(i, 2),))


def test_an_index_with_a_check_of_its_own_is_refused():
    sharing = (SharedArray(numbers(a, b), ((1,), (0,))),)
    assert why_not_shared(copied(True), sharing) == "an index of 'a' is known only when it is used"
    assert why_not_shared(copied(True), (SharedArray(numbers(a, b)),)) is None
    assert why_not_shared(copied(True), (SharedArray(numbers(b, c)),)) is None


def test_nobody_is_held_to_a_pragma():
    loop = copied(False).body[0]
    assert isinstance(loop, For)
    asked = fn_of(replace(loop, clauses=Clauses("parallel", independent=True, loc=here())))
    out = merge_aliases(asked, PassContext(), (SharedArray(numbers(a, b)),))
    assert [inner.clauses for inner in loops_of(out.body)] == [None]


def test_an_empty_body():
    out = merge_aliases(fn_of(), PassContext(), (SharedArray(numbers(a, b), ((0,), (1,))),))
    assert out.body == ()
    assert verify(out) == []
