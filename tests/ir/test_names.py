"""Fresh symbols and their spellings."""

from __future__ import annotations

from appyc.ir.names import NameSupply, spellings
from appyc.ir.types import ArrayType, DType, ScalarType
from tests.ir_makers import Program, assign


def test_symbols_of_one_name_differ():
    names = NameSupply()
    first, second = names.fresh("x", DType.INT64), names.fresh("x", DType.INT64)
    assert first != second
    assert first.type == ScalarType(DType.INT64)
    assert names.fresh("a", ArrayType(DType.BOOL, 2)).is_array


def test_supply_goes_on_after_a_function():
    p = Program()
    x = p.real("x")
    fn = p.function(assign(p.local("y"), x))
    assert NameSupply.after(fn).fresh("z", DType.BOOL).uid == 2
    assert NameSupply.after(Program().function()).fresh("z", DType.BOOL).uid == 0
    supply = NameSupply.after(fn)
    assert [supply.fresh("z", DType.BOOL).uid for _ in range(3)] == [2, 3, 4]


def test_spellings_are_distinct_and_avoid_what_is_taken():
    names = NameSupply()
    symbols = [names.fresh(n, DType.INT64) for n in ("x", "x", "x_2", "for")]
    assert list(spellings(symbols, ["for"]).values()) == ["x", "x_2", "x_2_2", "for_2"]


def test_spellings_depend_on_order_alone():
    a, b = NameSupply(), NameSupply(100)
    first = [a.fresh("x", DType.INT64), a.fresh("x", DType.INT64)]
    second = [b.fresh("x", DType.INT64), b.fresh("x", DType.INT64)]
    assert list(spellings(first).values()) == list(spellings([*second, second[0]]).values())
