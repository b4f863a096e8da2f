"""Views of arrays: diagonals, moved, dropped and stretched axes, rows."""

from __future__ import annotations

from dataclasses import replace

from appyc.errors import LengthError, Loc, UnsupportedError
from appyc.frontend.arrays import array_creation
from appyc.frontend.arrays.reshaping import normalised
from appyc.frontend.arrays.tensors import (
    as_tensor,
    as_value,
    equals,
    fail_unless,
    permuted,
    pinned,
    with_axis,
)
from appyc.frontend.expressions.arithmetic import const, integer
from appyc.frontend.library.axis_arguments import Arguments, Maker, integer_argument, integers
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import Tensor, TupleValue, Value
from appyc.ir.nodes import Binary, Compare, Const, Expr, Logical, Node, Select, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import rewrite, substitute

# ---------------------------------------------------------------- diagonals


def diagonal_of(scope: Scope, tensor: Tensor, offset: int, axes: tuple[int, int], loc: Loc) -> Tensor:
    """The elements (i, i + offset) of two axes, along a last one."""
    if tensor.ndim < 2:
        raise LengthError("diag requires an array of at least two dimensions", loc)
    first, second = (normalised(axis, tensor.ndim, loc) for axis in axes)
    if first == second:
        raise LengthError("axis1 and axis2 cannot be the same", loc)
    down, right = max(-offset, 0), max(offset, 0)
    lengths = [
        Binary("-", tensor.extents[k], integer(skipped, loc), loc=loc) if skipped else tensor.extents[k]
        for k, skipped in ((first, down), (second, right))
    ]
    count: Expr = lengths[0]
    if lengths[0] != lengths[1]:
        count = Binary("min", lengths[0], lengths[1], loc=loc)
    count = pinned(scope, "n", Binary("max", count, integer(0, loc), loc=loc))
    axis = scope.supply.fresh("i", DType.INT64)
    indices: dict[Symbol, Expr] = {
        tensor.axes[k]: Binary("+", Var(axis, loc=loc), integer(skipped, loc), loc=loc)
        if skipped
        else Var(axis, loc=loc)
        for k, skipped in ((first, down), (second, right))
    }
    rest = [k for k in range(tensor.ndim) if k not in (first, second)]
    return replace(
        tensor,
        axes=(*(tensor.axes[k] for k in rest), axis),
        extents=(*(tensor.extents[k] for k in rest), count),
        element=substitute(tensor.element, indices),
    )


def diagonal(scope: Scope, given: Arguments, loc: Loc) -> Value:
    axes = integer_argument(given, "axis1", 0, loc), integer_argument(given, "axis2", 1, loc)
    tensor = as_tensor(scope, given["a"], loc)
    return diagonal_of(scope, tensor, integer_argument(given, "offset", 0, loc), axes, loc)


# ---------------------------------------------------------------- axes


def moveaxis(scope: Scope, given: Arguments, loc: Loc) -> Value:
    tensor = as_tensor(scope, given["a"], loc)
    sources, targets = (
        [normalised(n, tensor.ndim, loc) for n in integers(given[name], loc, name) or ()]
        for name in ("source", "destination")
    )
    if len(sources) != len(targets) or len(set(sources)) != len(sources) or len(set(targets)) != len(targets):
        raise LengthError("source and destination must name as many axes, each once", loc)
    order = [k for k in range(tensor.ndim) if k not in sources]
    for target, source in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source)
    return permuted(tensor, order)


def squeeze(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """Without axes of length 1: those that are named, or all where the lengths are known."""
    tensor = as_tensor(scope, given["a"], loc)
    axes = integers(given.get("axis"), loc, "axis")
    if axes is None:
        raise UnsupportedError("np.squeeze without an axis: which axes go only the run shows", loc,
                               hints=("name the axis: np.squeeze(a, axis=0)",))  # fmt: skip
    dropped = {normalised(n, tensor.ndim, loc) for n in axes}
    message = "cannot select an axis to squeeze out which has size not equal to one"
    for k in sorted(dropped):
        if not (isinstance(tensor.extents[k], Const) and tensor.extents[k] == integer(1, loc)):
            fail_unless(scope, equals(tensor.extents[k], 1, loc), None, message, loc)
    return as_value(tensor.at({k: integer(0, loc) for k in dropped}))


def atleast(rank: int) -> Maker:
    """np.atleast_1d, 2d and 3d: where the new axes go is NumPy's."""

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        tensor = as_tensor(scope, given["a"], loc)
        if rank == 3 and tensor.ndim in (1, 2):
            tensor = with_axis(scope, tensor, tensor.ndim, loc)
        while tensor.ndim < rank:
            tensor = with_axis(scope, tensor, 0, loc)
        return tensor

    return make


def broadcast_to(scope: Scope, given: Arguments, loc: Loc) -> Value:
    tensor = as_tensor(scope, given["a"], loc)
    shape = array_creation.shape_from(scope, given["shape"], loc)
    if tensor.ndim > len(shape):
        raise LengthError("input operand has more dimensions than allowed by the axis remapping", loc)
    axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in shape)
    offset = len(shape) - tensor.ndim
    indices: dict[Symbol, Expr] = {}
    for k, (old, extent) in enumerate(zip(tensor.axes, tensor.extents, strict=True)):
        here: Expr = Var(axes[offset + k], loc=loc)
        wanted = shape[offset + k]
        if extent != wanted:
            one = equals(extent, 1, loc)
            message = "operands could not be broadcast together with the remapped shape"
            fits = Logical("or", Compare("==", extent, wanted, loc=loc), one, loc=loc)
            fail_unless(scope, fits, None, message, loc)
            here = Select(one, integer(0, loc), here, loc=loc)
        indices[old] = here
    return as_value(Tensor(axes, tuple(shape), substitute(tensor.element, indices)))


def rows(scope: Scope, value: Value, count: int, loc: Loc) -> TupleValue:
    """The items of an array along its first axis, of which there have to be so many."""
    tensor = as_tensor(scope, value, loc)
    extent = tensor.extents[0]
    if extent != integer(count, loc):
        message = f"the array cannot be unpacked into {count} values: it has another length"
        fail_unless(scope, equals(extent, count, loc), None, message, loc)
    items = (tensor.at({0: integer(number, loc)}) for number in range(count))
    decided = (t if t.view else replace(t, element=rewrite(t.element, _decided)) for t in items)
    return TupleValue(tuple(map(as_value, decided)))


def _decided(node: Node) -> Node:
    """A choice by constant indices."""
    match node:
        case Compare(op="<", lhs=Const(value=int(a)), rhs=Const(value=int(b))):
            return const(a < b, DType.BOOL, node.loc)
        case Binary(op="+", lhs=Const(value=int(a)), rhs=Const(value=int(b))) if node.dtype is DType.INT64:
            return integer(a + b, node.loc)
        case Select(cond=Const(value=value), then=then, orelse=orelse):
            return then if value else orelse
        case _:
            return node
