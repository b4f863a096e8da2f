"""Products of arrays: `@`, np.dot and its kin, as sums over an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from appyc.errors import LengthError, Loc, TypeInferenceError
from appyc.frontend.arrays.tensors import (
    apart_from,
    as_tensor,
    as_value,
    broadcast,
    fail_unless,
    kept,
)
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import cast, const
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.values import Number, Tensor, Value
from appyc.ir.nodes import Compare, Const, Expr, Reduce, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import substitute


def matmul(scope: Scope, given: Mapping[str, Value], loc: Loc) -> Value:
    """`a @ b`: stacks of matrices over leading axes, vectors as a row or a column.

    Raises TypeInferenceError for operands without axes; emits the test of the inner lengths.
    """
    left, right = (
        _in_memory(scope, as_tensor(scope, given[name], loc, "an operand of @"), loc) for name in "ab"
    )
    right = apart_from(scope, left, right)
    for side in (left, right):
        if not side.ndim:
            raise TypeInferenceError(f"@ takes arrays, not {describe(as_value(side))}", loc,
                                     hints=("multiply by numbers with *",))  # fmt: skip
    inner = right.ndim - 2 if right.ndim > 1 else 0
    rows = left.axes[-2:-1] if left.ndim > 1 else ()
    columns = right.axes[-1:] if right.ndim > 1 else ()
    stacks = [
        Tensor(left.axes[:-2], left.extents[:-2], left.element),
        Tensor(right.axes[:-2], right.extents[:-2], right.element),
    ]
    shape = broadcast(scope, stacks, loc)
    k = scope.supply.fresh("k", DType.INT64)
    same_length(scope, left.extents[-1], right.extents[inner], loc)
    scope.same_axis(left.axes[-1], k)
    scope.same_axis(right.axes[inner], k)
    x = substitute(shape.elements[0], {left.axes[-1]: Var(k, loc=loc)})
    y = substitute(shape.elements[1], {right.axes[inner]: Var(k, loc=loc)})
    axes = (*shape.axes, *rows, *columns)
    extents = (
        *shape.extents,
        *(left.extents[-2:-1] if rows else ()),
        *(right.extents[-1:] if columns else ()),
    )
    total = sum_of_products(x, y, (k,), (left.extents[-1],), loc)
    return settled(scope, Tensor(axes, extents, total), "product", loc)


def outer(scope: Scope, op: str, a: Value, b: Value, loc: Loc) -> Value:
    """`a op b` for all pairs of elements."""
    left = as_tensor(scope, a, loc)
    right = apart_from(scope, left, as_tensor(scope, b, loc))
    element = arithmetic.binary(op, Number(left.element, False), Number(right.element, False), loc).expr
    return Tensor((*left.axes, *right.axes), (*left.extents, *right.extents), element)


def sum_of_products(x: Expr, y: Expr, axes: Sequence[Symbol], extents: Sequence[Expr], loc: Loc) -> Reduce:
    product = arithmetic.binary("*", Number(x, python=False), Number(y, python=False), loc).expr
    return sum_of(product, axes, extents, loc)


def sum_of(product: Expr, axes: Sequence[Symbol], extents: Sequence[Expr], loc: Loc) -> Reduce:
    """The sum of products, in their own type; of bools whether any is true."""
    op = "or" if product.dtype is DType.BOOL else "+"
    start = const(False, DType.BOOL, loc) if op == "or" else cast(const(0, DType.INT64, loc), product.dtype)
    return Reduce(op, tuple(axes), tuple(extents), product, start, loc=loc)


def same_length(scope: Scope, a: Expr, b: Expr, loc: Loc) -> None:
    """The test that two axes which are summed over together have one length."""
    if a == b:
        return
    if isinstance(a, Const) and isinstance(b, Const):
        raise LengthError(f"axes of lengths {a.value} and {b.value} cannot be multiplied", loc)
    message = "matmul: the axes that are summed over have lengths {value} and {extent}"
    fail_unless(scope, Compare("==", a, b, loc=loc), None, message, loc, lengths=(a, b))


def settled(scope: Scope, tensor: Tensor, name: str, loc: Loc) -> Value:
    """A sum over axes, computed here and now: as an operand it would be computed again and again."""
    if not tensor.axes:
        return Number(scope.temp(name, tensor.element), python=False)
    return kept(scope, tensor, name, loc)


def _in_memory(scope: Scope, tensor: Tensor, loc: Loc) -> Tensor:
    """An operand each of whose elements is used many times."""
    return as_tensor(scope, kept(scope, tensor, "factor", loc), loc)
