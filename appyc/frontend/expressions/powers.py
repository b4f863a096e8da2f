"""Integer powers: the run-time test for negative integer exponents, which NumPy refuses."""

from __future__ import annotations

from appyc.errors import Loc
from appyc.frontend.arrays.tensors import element_type, elementwise
from appyc.frontend.expressions import arithmetic
from appyc.frontend.library.array_reductions import Along, reduce_array
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import Number, Value
from appyc.ir.nodes import Fail, If

_MESSAGE = "Integers to negative integer powers are not allowed."


def refuse_negative_powers(scope: Scope, base: Value, exponent: Value, loc: Loc) -> None:
    """Emits the test of integer exponents that are not constant; a single negative exponent raises ValueError."""
    if not (element_type(base).is_integer and element_type(exponent).kind == "i"):
        return
    if isinstance(exponent, Number) and exponent.constant is not None:
        return
    zero = arithmetic.python_number(0, loc)
    negative = elementwise(scope, [exponent], lambda n: arithmetic.compare("<", n[0], zero, loc), loc)
    if not isinstance(negative, Number):
        negative = reduce_array(scope, "any", negative, Along(), None, loc)
    assert isinstance(negative, Number), "a reduction over all axes"
    scope.emit(If(negative.expr, (Fail("ValueError", _MESSAGE, loc=loc),), loc=loc))
