"""NumPy's functions and methods that arrange, compare and multiply arrays, by name."""

from __future__ import annotations

import numpy as np

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays import rearranging
from appyc.frontend.arrays.tensors import as_tensor, element_type, elementwise, is_array
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import binary, python_number
from appyc.frontend.expressions.selections import extremum, nearest, select
from appyc.frontend.library import array_makers, linear_algebra, scalar_functions
from appyc.frontend.library.array_reductions import reduce_array
from appyc.frontend.library.axis_arguments import Arguments, Entry
from appyc.frontend.library.number_conversions import Maker
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import Masked, Number, Opaque, TupleValue, Value, is_listed
from appyc.frontend.types.weak_ints import require_fit
from appyc.frontend.types.wide_ints import wide_operation
from appyc.ir.types import DType


def _python_sum(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """Python's sum: of a tuple, or of a vector whose elements NumPy adds up in their own type."""
    items = given["iterable"]
    start = given.get("start", python_number(0, loc))
    if isinstance(items, TupleValue):
        total: Value = start
        for item in items.items:
            if (wide := wide_operation("+", total, item, loc)) is not None:
                total = wide
            elif isinstance(total, Number) and isinstance(item, Number):
                total = binary("+", total, item, loc)
            else:
                total = elementwise(scope, [total, item], lambda n: binary("+", n[0], n[1], loc), loc)
        return total
    if not is_array(items) or as_tensor(scope, items, loc).ndim != 1:
        raise UnsupportedError("sum is compiled for vectors and tuples", loc, hints=("use np.sum",))
    kind = element_type(items)
    if kind is not DType.BOOL and (kind.bits < 32 or kind in (DType.INT32, DType.UINT32)):
        raise UnsupportedError(f"sum of {kind} wraps where np.sum does not", loc, hints=("use np.sum",))
    total = reduce_array(scope, "sum", items, loc)
    described = items.tensor if isinstance(items, Masked) else items
    if is_listed(described):
        total = Number(expressions.number(total, loc).expr, python=True)
        return binary("+", expressions.number(start, loc, "start"), total, loc)
    return elementwise(scope, [start, total], lambda n: binary("+", n[0], n[1], loc), loc)


def _clip(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.clip, of which a bound may be None."""
    a = given["a"] if isinstance(given["a"], Number | Masked) else as_tensor(scope, given["a"], loc)
    bounds = [(op, given[name]) for op, name in (("maximum", "a_min"), ("minimum", "a_max"))
              if not isinstance(given.get(name, Opaque(None)), Opaque)]  # fmt: skip

    for op, bound in bounds:  # a bound that cuts nothing off need not fit
        if isinstance(bound, Number):
            require_fit(scope, bound, element_type(a), loc, "<=" if op == "maximum" else ">=")

    def make(numbers: list[Number]) -> Number:
        out = numbers[0]
        for (op, _), bound in zip(bounds, numbers[1:], strict=True):
            out = extremum(op, out, nearest(bound, out.type.dtype, loc), loc)
        return out

    return elementwise(scope, [a, *(value for _, value in bounds)], make, loc)


def _select(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.select: of the choices whose condition holds for an element, the first."""
    conditions, choices = given["condlist"], given["choicelist"]
    if not isinstance(conditions, TupleValue) or not isinstance(choices, TupleValue):
        raise UnsupportedError("np.select takes its conditions and choices as tuples or lists here", loc)
    count = len(conditions.items)
    values = [*conditions.items, *choices.items, given.get("default", python_number(0, loc))]
    if count == 0 or len(choices.items) != count or not any(is_array(value) for value in values):
        raise UnsupportedError("np.select takes as many choices as conditions, about arrays", loc)
    if any(isinstance(c, TupleValue | Opaque) or element_type(c) is not DType.BOOL for c in conditions.items):
        raise UnsupportedError("np.select takes masks as conditions", loc)

    def make(numbers: list[Number]) -> Number:
        out = numbers[-1]
        for holds, choice in zip(reversed(numbers[:count]), reversed(numbers[count:-1]), strict=True):
            out = select(holds.expr, choice, out, loc)
        return out

    return elementwise(scope, values, make, loc)


def _elementwise(make: Maker, *names: str) -> Entry:
    """A function of numbers as a method, or with its arguments by name."""

    def method(scope: Scope, given: Arguments, loc: Loc) -> Value:
        values = [given[name] for name in names if name in given]
        return elementwise(scope, values, lambda numbers: make(numbers, loc), loc)

    return names, method


METHODS: dict[str, Entry] = {
    "diagonal": (("a", "offset", "axis1", "axis2"), rearranging.diagonal),
    "squeeze": (("a", "axis"), rearranging.squeeze),
    "clip": (("a", "a_min", "a_max"), _clip),
    "conj": _elementwise(scalar_functions.FUNCTIONS[np.conjugate][1], "a"),
    "conjugate": _elementwise(scalar_functions.FUNCTIONS[np.conjugate][1], "a"),
}

FUNCTIONS: dict[object, Entry] = {
    np.einsum: (("subscripts", "*operands"), linear_algebra.einsum),
    np.tensordot: (("a", "b", "axes"), linear_algebra.tensordot),
    np.diagonal: METHODS["diagonal"],
    np.moveaxis: (("a", "source", "destination"), rearranging.moveaxis),
    np.squeeze: METHODS["squeeze"], np.clip: METHODS["clip"],
    np.atleast_1d: (("a",), rearranging.atleast(1)), np.atleast_2d: (("a",), rearranging.atleast(2)),
    np.atleast_3d: (("a",), rearranging.atleast(3)),
    np.broadcast_to: (("a", "shape"), rearranging.broadcast_to),
    np.copyto: (("dst", "src"), array_makers.copyto),
    np.select: (("condlist", "choicelist", "default"), _select),
    sum: (("iterable", "start"), _python_sum),
    np.array: (("object", "dtype"), array_makers.array),
    np.asarray: (("object", "dtype"), array_makers.asarray),
    np.ascontiguousarray: (("object", "dtype"), array_makers.asarray),
}  # fmt: skip
