"""Assignments to a part of complex arrays: `z.real[1:] = x`, `z.imag = 0`, `z.real *= 2`.

Whole complex elements are stored, each with its other part unchanged.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays.tensors import element_type, elementwise
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import cast
from appyc.frontend.library.number_conversions import imaginary_part, real_part
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.values import ArrayRef, Number, Tensor, Value
from appyc.ir.nodes import Intrinsic


@dataclass(frozen=True, slots=True)
class ComplexPart:
    """The real or imaginary part of elements, as a target. elements: their subscript. name: "real" or "imag"."""

    elements: ast.Subscript
    name: str


def written_part(target: ast.expr) -> ComplexPart | None:
    """The part that `z.real`, `z.imag` or `z.real[i]` denotes as a target; None for other targets."""
    match target:
        case ast.Attribute(value=owner, attr="real" | "imag" as name):
            index: ast.expr = ast.copy_location(ast.Constant(...), target)
        case ast.Subscript(value=ast.Attribute(value=owner, attr="real" | "imag" as name), slice=index):
            pass
        case _:
            return None
    return ComplexPart(ast.copy_location(ast.Subscript(owner, index, ast.Load()), target), name)


def with_part(scope: Scope, part: ComplexPart, value: Value, loc: Loc) -> Value:
    """The complex elements to store for an assignment to a part. Raises if the elements have no such part."""
    owner = expressions.lower_expression(scope, part.elements.value)
    if not isinstance(owner, ArrayRef | Tensor):
        raise UnsupportedError(f"the part of {describe(owner)} cannot be assigned", loc,
                               hints=("return the value, and assign it outside",))  # fmt: skip
    kind = element_type(owner)
    if not kind.is_complex:
        if part.name == "real":
            return value
        raise TypeInferenceError(f"{describe(owner)} has no imaginary part to assign to", loc,
                                 hints=("use a complex array",))  # fmt: skip
    if element_type(value).is_complex:
        raise TypeInferenceError("a complex number cannot be a part of one", loc, hints=("store x.real",))

    def make(numbers: list[Number]) -> Number:
        new, old = numbers
        parts = (new, imaginary_part(old, loc)) if part.name == "real" else (real_part(old, loc), new)
        exprs = tuple(cast(p.expr, kind.part) for p in parts)
        return Number(Intrinsic("complex", exprs, kind, loc=loc), python=False)

    return elementwise(scope, [value, expressions.lower_expression(scope, part.elements)], make, loc)
