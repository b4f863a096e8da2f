"""Conditions that are known are folded; what may raise is evaluated all the same."""

from __future__ import annotations

import pytest

from appyc.errors import GENERATED
from appyc.ir.nodes import Binary, Compare, Const, Expr, If, Load, Logical, Select, Symbol, Unary, Var
from appyc.ir.types import ArrayType, DType
from appyc.passes.simplify.constant_conditions import folded

YES, NO = (Const(value, DType.BOOL, loc=GENERATED) for value in (True, False))
ONE, TWO = (Const(value, DType.INT64, loc=GENERATED) for value in (1, 2))
FLAG = Var(Symbol("flag", 0, DType.BOOL), loc=GENERATED)
FLAGS = Symbol("flags", 1, ArrayType(DType.BOOL, 1))
RAISES = Load(FLAGS, (ONE,), checked=True, loc=GENERATED)
SURE = Load(FLAGS, (ONE,), checked=False, loc=GENERATED)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Unary("~", YES, loc=GENERATED), NO),
        (Compare("<", ONE, TWO, loc=GENERATED), YES),
        (Compare(">=", ONE, TWO, loc=GENERATED), NO),
        (Select(NO, ONE, TWO, loc=GENERATED), TWO),
        (Select(FLAG, ONE, ONE, loc=GENERATED), ONE),
        (Logical("and", YES, RAISES, loc=GENERATED), RAISES),
        (Logical("and", NO, RAISES, loc=GENERATED), NO),
        (Logical("or", SURE, NO, loc=GENERATED), SURE),
        (Logical("or", SURE, YES, loc=GENERATED), YES),
        (Binary("&", NO, FLAG, loc=GENERATED), NO),
        (Binary("|", FLAG, NO, loc=GENERATED), FLAG),
    ],
)
def test_what_follows_is_known(given: Expr, expected: Expr) -> None:
    assert folded(given) == expected


@pytest.mark.parametrize(
    "given",
    [
        Select(RAISES, ONE, ONE, loc=GENERATED),
        Logical("or", RAISES, YES, loc=GENERATED),
        Binary("&", NO, RAISES, loc=GENERATED),
        Binary("&", ONE, TWO, loc=GENERATED),
        Logical("and", FLAG, SURE, loc=GENERATED),
    ],
)
def test_what_may_raise_or_is_not_known_stays(given: Expr) -> None:
    assert folded(given) is given


def test_a_known_branch_takes_the_place_of_its_condition() -> None:
    assert folded(If(NO, (), (), loc=GENERATED)) == ()
