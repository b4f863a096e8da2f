"""Which loads an iteration makes in any case, and the scalars that hold them."""

from __future__ import annotations

from appyc.ir.names import NameSupply
from appyc.ir.nodes import Load, Stmt
from appyc.ir.visit import walk
from appyc.passes.gpu.loads_ahead import line_of, loads_in_advance, location_of, made_ahead, with_held
from tests.ir_makers import Program, add, compare, if_, load, mul, store

p = Program()
a, b, c = (p.array(name, 1) for name in "abc")
i, j = p.index("i"), p.index("j")


def at(array, index):
    return load(array, index, checked=False)


def put(array, value):
    return store(array, [i], value, checked=False)


BODY = (
    put(b, add(at(a, i), at(a, add(i, 1)))),
    if_(compare(">", at(a, i), 0.0), [put(b, at(c, i))]),
    put(b, at(b, j)),
)


def test_loads_that_are_made_in_any_case():
    assert [n.array for n in loads_in_advance(BODY)] == [a, a, a]
    assert [n.array for n in loads_in_advance(BODY, ahead=[b])] == [a, a, a, b]
    checked = load(a, i)
    assert list(loads_in_advance((put(b, checked),))) == []


def test_each_element_is_held_once():
    names = NameSupply()
    out: list[Stmt] = []
    held = made_ahead(loads_in_advance(BODY), names, out)
    assert len(held) == len(out) == 2
    new = with_held(BODY[0], held)
    assert not any(isinstance(n, Load) for n in walk(new))
    assert with_held(BODY[2], held) == BODY[2]


def test_elements_of_one_line():
    along = location_of(at(a, add(mul(8, j), add(i, 3))))
    assert line_of(along, i) == line_of(location_of(at(a, add(i, mul(j, 8)))), i)
    assert line_of(along, i) != line_of(location_of(at(a, add(i, j))), i)
