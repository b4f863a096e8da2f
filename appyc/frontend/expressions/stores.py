"""Stores to an array's elements, to all or under a mask: `a[...] = x`, `a[mask] = x`.

Where a part of complex elements is assigned (`z.real[1:] = x`, `z.imag = 0`, `z.real *= 2`), whole elements are stored,
each with its other part unchanged.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from appyc.errors import LengthError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays.masks import counted, gathered, repeatable, under_one_mask
from appyc.frontend.arrays.tensors import (
    as_tensor,
    as_value,
    element_type,
    elementwise,
    equals,
    fail_unless,
    is_array,
    is_one,
    materialise,
    negation,
    usually_one,
)
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import cast, integer
from appyc.frontend.facts import Recursive
from appyc.frontend.library.number_conversions import imaginary_part, real_part
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import NumberType, is_put_into
from appyc.frontend.types.values import ArrayRef, Masked, Number, Tensor, TupleValue, Value
from appyc.frontend.types.weak_ints import require_all_fit
from appyc.ir import nodes as ir
from appyc.ir.types import Container, DType
from appyc.ir.visit import arrays_read, rename, substitute

_OTHER_LENGTH = (
    "could not broadcast input array: an axis of it has length {value}, and of the target {extent}"
)


def assign(
    scope: Scope,
    target: Value,
    value: Value,
    loc: Loc,
    *,
    op: str | None = None,
    where: ir.Expr | None = None,
) -> None:
    """`target[...] = value`: the value is broadcast to the target's shape, and converted to its type.

    op: each element becomes `element op value`, in order. where: a mask over the axes of the value, which is then
    a tensor; only elements under the mask are assigned.

    Raises TypeInferenceError or LengthError where the target is no view, is read-only, or cannot hold the type.
    """
    require_all_fit(scope, value, element_type(target), loc)
    if isinstance(target, Masked):
        if where is not None:
            raise UnsupportedError("a function with a mask cannot store what another mask chooses", loc)
        _assign_chosen(scope, target, value, loc, op)
        return
    target = as_tensor(scope, target, loc)
    if isinstance(value, TupleValue):
        numbers = [item for item in value.items if isinstance(item, Number)]
        if target.ndim == 1 and len(value.items) == len(numbers) > 1 and op is None and where is None:
            _store_numbers(scope, target, numbers, loc)
            return
        _refuse_own_rows(scope, target, value, loc)
    source = as_tensor(scope, value, loc, "the assigned value")
    source = without_leading_ones(scope, source, target.ndim, loc)
    at = index_in(scope, source, target, loc)
    where = substitute(where, at) if where is not None else None
    _store(scope, target, substitute(source.element, at), loc, where=where, op=op)


def _store_numbers(scope: Scope, target: Tensor, numbers: Sequence[Number], loc: Loc) -> None:
    """`a[i] = x, y`: all numbers are read before the first one is stored, and each is converted on its own."""
    items = [scope.temp("item", n.expr) for n in numbers]
    count, extent = integer(len(items), loc), target.extents[0]
    if extent != count:
        fail_unless(scope, equals(extent, len(items), loc), None, _OTHER_LENGTH, loc, lengths=(count, extent))
    refuse_read_only(stored_element(target, loc).array, loc)
    for k, item in enumerate(items):
        at = stored_element(target.at({0: integer(k, loc)}), loc)
        scope.memory.store(at.array, loc)
        stored = converted(item, at.array, loc)
        scope.emit(ir.Store(at.array, at.index, stored, checked=at.checked, loc=loc))


def _refuse_own_rows(scope: Scope, target: Tensor, value: TupleValue, loc: Loc) -> None:
    """`a[:2] = a[1], a[0]`: NumPy reads each row when those before it are stored."""
    rows = [as_tensor(scope, item, loc) for item in value.items if is_array(item)]
    if any(row.view and arrays_read(row.element) & arrays_read(target.element) for row in rows):
        raise UnsupportedError(
            "rows of an array are stored in it one by one here, and a later one may have changed by then", loc,
            "copy them first, as in a[:2] = a[1].copy(), a[0].copy()",
        )  # fmt: skip


def index_in(scope: Scope, source: Tensor, target: Tensor, loc: Loc) -> dict[ir.Symbol, ir.Expr]:
    """The source's axes as index expressions over the axes of the `target` that it is broadcast to."""
    offset = target.ndim - source.ndim
    for k, axis in enumerate(source.axes):
        scope.same_axis(axis, target.axes[offset + k])
    return {
        axis: _stretched_index(scope, extent, target.extents[offset + k], target.axes[offset + k], loc)
        for k, (axis, extent) in enumerate(zip(source.axes, source.extents, strict=True))
    }


def _assign_chosen(scope: Scope, target: Masked, value: Value, loc: Loc, op: str | None) -> None:
    """`target[mask] = value`. A value with one element per selected index is consumed in the order of selection."""
    if (same := under_one_mask([target, value])) is not None:
        _, (_, whole) = same
        _store(scope, target.tensor, as_tensor(scope, whole, loc).element, loc, where=target.holds, op=op)
        return
    source = as_tensor(scope, value, loc, "the assigned value")
    source = without_leading_ones(scope, source, target.ndim, loc)
    offset = target.ndim - source.ndim
    along = target.first - offset
    in_turn = along >= 0 and not is_one(source.extents[along])
    if in_turn and target.tensor.ndim > target.rank:
        assign(scope, gathered(scope, target, loc), as_value(source), loc, op=op)
        return
    if in_turn:
        _store_in_turn(scope, target, source, loc, op)
        return
    tensor = target.tensor
    at: dict[ir.Symbol, ir.Expr] = {}
    for k, (axis, extent) in enumerate(zip(source.axes, source.extents, strict=True)):
        own = offset + k if offset + k < target.first else offset + k + target.rank - 1
        at[axis] = _stretched_index(scope, extent, tensor.extents[own], tensor.axes[own], loc)
        scope.same_axis(axis, tensor.axes[own])
        if k == along:
            at[axis] = integer(0, loc)
    _store(scope, tensor, substitute(source.element, at), loc, where=target.holds, op=op)


def _store_in_turn(scope: Scope, target: Masked, source: Tensor, loc: Loc, op: str | None) -> None:
    """Stores a vector's elements in order at the indices where the mask is true; their numbers must agree.

    A vector of length 1 is broadcast.
    """
    target = repeatable(scope, target, loc)
    count, length = counted(scope, target, loc), source.extents[0]
    alone = equals(length, 1, loc)
    fits = ir.Compare("==", length, count, loc=loc)
    message = "NumPy boolean array indexing assignment: as many values are needed as the mask is true"
    wrong = ir.If(negation(alone), (ir.Fail("ValueError", message, loc=loc),), loc=loc)
    scope.emit(ir.If(negation(fits), (wrong,), loc=loc))
    if source.view:  # it may alias the target, and is read in another order
        source = as_tensor(scope, materialise(scope, source, "values", loc), loc)
    position = scope.supply.fresh("position", DType.INT64)
    at = ir.Select(alone, integer(0, loc), ir.Var(position, loc=loc), loc=loc)
    element = substitute(source.element, {source.axes[0]: at})
    _store(scope, target.tensor, element, loc, where=target.holds, position=position, op=op)


def _store(
    scope: Scope,
    target: Tensor,
    element: ir.Expr,
    loc: Loc,
    *,
    where: ir.Expr | None = None,
    position: ir.Symbol | None = None,
    op: str | None = None,
) -> None:
    """Emits the store of `element`, an expression over the axes of `target`, to each element of `target`."""
    element_stored = stored_element(target, loc)
    array = element_stored.array
    refuse_read_only(array, loc)
    stored = converted(element, array, loc)
    scope.memory.store(array, loc)
    stmt = ir.ForAll(
        target.axes, target.extents, array, element_stored.index, stored, where, position, op,
        checked=element_stored.checked, loc=loc,
    )  # fmt: skip
    own = {axis: scope.supply.fresh(axis.name, axis.type) for axis in target.axes}
    for axis, new in own.items():
        scope.same_axis(axis, new)
    scope.emit(rename(stmt, own))  # a tensor may be used several times


def stored_element(target: Tensor, loc: Loc) -> ir.Load:
    """The element that a store into a tensor writes. Raises for a new array, and for what may be a copy."""
    if not isinstance(target.element, ir.Load):
        raise TypeInferenceError("this is a new array, and assigning to it would change nothing", loc,
                                 "give it a name first")  # fmt: skip
    if target.unsettled:
        array = target.element.array
        raise UnsupportedError(
            f"whether this is a view of '{array.name}' in another shape only its strides would tell", loc,
            f"assign to '{array.name}' itself",
        )  # fmt: skip
    return target.element


def refuse_read_only(array: ir.Symbol, loc: Loc) -> None:
    if array.array.container is Container.ARRAYS:
        raise UnsupportedError("this assigns to an array of a list that is an argument, which is picked at run time",
                               loc, "put the arrays into one")  # fmt: skip
    if array.array.readonly:
        raise LengthError(f"'{array.name}' is read-only, and this assigns to it", loc,
                          "pass an array that may be written, such as a copy of it")  # fmt: skip


def refuse_other_type(scope: Scope, array: ir.Symbol, value: Number, loc: Loc) -> None:
    """Raises UnsupportedError for a number of another type than the items of a list, which it would keep. Raises
    Recursive for the first one of NumPy's that a list gets which nested functions use."""
    made_at, is_other = scope.callees.lists.get(array), value.type.dtype is not array.dtype
    is_list = array.array.is_list
    if made_at is not None and is_list and not (is_other or value.python):
        scope.callees.known.numpy_lists.add(made_at)
        raise Recursive
    if (made_at is not None and is_other) or (is_list and value.type != NumberType(array.dtype, python=True)):
        raise UnsupportedError(
            f"the list '{array.name}' would get {describe(value)} among numbers of another type", loc,
            "give all of its items one type",
        )  # fmt: skip


def converted(value: ir.Expr, array: ir.Symbol, loc: Loc) -> ir.Expr:
    """The value in the array's element type, as NumPy's assignment converts it."""
    if value.dtype.is_complex and not array.dtype.is_complex and array.dtype is not DType.BOOL:
        raise TypeInferenceError(
            f"a complex number cannot be stored in an array of {array.dtype}", loc,
            "store z.real, or use a complex array",
        )  # fmt: skip
    return cast(value, array.dtype)


def _stretched_index(scope: Scope, extent: ir.Expr, wanted: ir.Expr, axis: ir.Symbol, loc: Loc) -> ir.Expr:
    """The index along an axis of the assigned value for the target's index on `axis`, with broadcasting."""
    here = ir.Var(axis, loc=loc)
    if extent == wanted:
        return here
    if is_one(extent):
        return integer(0, loc)
    same = ir.Compare("==", extent, wanted, loc=loc)
    alone = usually_one(extent) if usually_one(wanted) is None and not is_one(wanted) else None
    if alone is not None:
        fail_unless(scope, alone, same, _OTHER_LENGTH, loc, lengths=(extent, wanted))
        return ir.Select(alone, integer(0, loc), here, loc=loc)
    fits = ir.Likely(same, loc=loc)
    fail_unless(scope, fits, equals(extent, 1, loc), _OTHER_LENGTH, loc, lengths=(extent, wanted))
    return ir.Select(fits, here, integer(0, loc), loc=loc)


def without_leading_ones(scope: Scope, tensor: Tensor, ndim: int, loc: Loc) -> Tensor:
    """The value without leading axes of length 1, which NumPy drops where the target has fewer axes."""
    while tensor.ndim > ndim:
        extent = tensor.extents[0]
        if isinstance(extent, ir.Const) and not is_one(extent):
            raise LengthError(
                f"{describe(tensor)} cannot be assigned to {ndim} dimension{'s' if ndim != 1 else ''}", loc,
                "only axes of length 1 can be left out",
            )  # fmt: skip
        if not is_one(extent):
            message = "could not broadcast input array: it has more axes than the target"
            fail_unless(scope, equals(extent, 1, loc), None, message, loc)
        tensor = tensor.at({0: integer(0, loc)}).copied()
    return tensor


def stored(scope: Scope, target: Value, value: Value, loc: Loc, *, where: ir.Expr | None = None) -> Value:
    """Stores a function's result in its `out` argument, and gives that array.

    where: as in `assign`.

    Raises UnsupportedError where the array cannot take the result's type.
    """
    if not is_array(target):
        raise UnsupportedError(f"the result cannot be put into {describe(target)}", loc)
    own, given = (as_tensor(scope, v, loc).element.dtype for v in (target, value))
    if not is_put_into(given, own):
        raise UnsupportedError("the array for the result has a type that does not take it", loc)
    assign(scope, target, value, loc, where=where)
    return target


# ---------------------------------------------------------------- parts of complex arrays


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
                               "return the value, and assign it outside")  # fmt: skip
    kind = element_type(owner)
    if not kind.is_complex:
        if part.name == "real":
            return value
        raise TypeInferenceError(f"{describe(owner)} has no imaginary part to assign to", loc,
                                 "use a complex array")  # fmt: skip
    if element_type(value).is_complex:
        raise TypeInferenceError("a complex number cannot be a part of one", loc, "store x.real")

    def make(numbers: list[Number]) -> Number:
        new, old = numbers
        parts = (new, imaginary_part(old, loc)) if part.name == "real" else (real_part(old, loc), new)
        exprs = tuple(cast(p.expr, kind.part) for p in parts)
        return Number(ir.Intrinsic("complex", exprs, kind, loc=loc), python=False)

    return elementwise(scope, [value, expressions.lower_expression(scope, part.elements)], make, loc)
