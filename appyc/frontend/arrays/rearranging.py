"""Arrays arranged anew: diagonals, moved, dropped and stretched axes, borders, tiles, grids."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from appyc.errors import LengthError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import array_creation
from appyc.frontend.arrays.reshaping import normalised
from appyc.frontend.arrays.tensors import (
    as_tensor,
    as_value,
    divisor,
    equals,
    fail_unless,
    permuted,
    pinned,
    with_axis,
)
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.expressions.arithmetic import cast, const, integer
from appyc.frontend.expressions.stores import assign
from appyc.frontend.library.axis_arguments import Arguments, Maker, integer_argument, integers
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.values import Number, Opaque, Tensor, TupleValue, Value
from appyc.ir.nodes import Binary, Compare, Const, Expr, Logical, Node, Select, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import rewrite, substitute

# ---------------------------------------------------------------- diagonals


def diagonal_of(scope: Scope, tensor: Tensor, offset: int, axes: tuple[int, int], loc: Loc) -> Tensor:
    """The elements (i, i + offset) of two axes, along a last one."""
    if tensor.ndim < 2:
        raise TypeInferenceError("diag requires an array of at least two dimensions", loc)
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


def diag(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.diag: the diagonal of a matrix, or the matrix with a diagonal."""
    tensor = as_tensor(scope, given["v"], loc)
    offset = integer_argument(given, "k", 0, loc)
    if tensor.ndim == 2:
        return diagonal_of(scope, tensor, offset, (0, 1), loc)
    if tensor.ndim != 1:
        raise TypeInferenceError("Input must be 1- or 2-d.", loc)
    n = tensor.extents[0]
    if offset:
        n = pinned(scope, "n", Binary("+", n, integer(abs(offset), loc), loc=loc))
    i, j = (scope.supply.fresh("i", DType.INT64) for _ in range(2))
    row, column = Var(i, loc=loc), Var(j, loc=loc)
    shifted = Binary("+", row, integer(offset, loc), loc=loc) if offset else row
    on: Expr = Compare("==", column, shifted, loc=loc)
    at: Expr = row if offset >= 0 else column
    element = substitute(tensor.element, {tensor.axes[0]: at})
    zero = cast(const(0, DType.INT64, loc), element.dtype)
    return Tensor((i, j), (n, n), Select(on, element, zero, loc=loc))


def fill_diagonal(scope: Scope, given: Arguments, loc: Loc) -> Value:
    tensor = as_tensor(scope, given["a"], loc)
    if tensor.ndim != 2 or not isinstance(given["val"], Number):
        raise UnsupportedError("np.fill_diagonal is compiled for a matrix and a number", loc)
    assign(scope, diagonal_of(scope, tensor, 0, (0, 1), loc), given["val"], loc)
    return Opaque(None)


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
    indices: dict[Symbol, Expr] = {tensor.axes[k]: integer(0, loc) for k in dropped}
    stay = [k for k in range(tensor.ndim) if k not in dropped]
    return as_value(
        replace(
            tensor,
            axes=tuple(tensor.axes[k] for k in stay),
            extents=tuple(tensor.extents[k] for k in stay),
            element=substitute(tensor.element, indices),
        )
    )


def at_least(scope: Scope, value: Value, rank: int, loc: Loc) -> Tensor:
    """np.atleast_1d, 2d and 3d: where the new axes go is NumPy's."""
    tensor = as_tensor(scope, value, loc)
    if rank == 3 and tensor.ndim in (1, 2):
        tensor = with_axis(scope, tensor, tensor.ndim, loc)
    while tensor.ndim < rank:
        tensor = with_axis(scope, tensor, 0, loc)
    return tensor


def atleast(rank: int) -> Maker:
    return lambda scope, given, loc: at_least(scope, given["a"], rank, loc)


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


# ---------------------------------------------------------------- larger and smaller arrays


def tile(scope: Scope, given: Arguments, loc: Loc) -> Value:
    tensor = as_tensor(scope, given["A"], loc)
    reps = array_creation.shape_from(scope, given["reps"], loc)
    while tensor.ndim < len(reps):
        tensor = with_axis(scope, tensor, 0, loc)
    times = [integer(1, loc)] * (tensor.ndim - len(reps)) + list(reps)
    indices: dict[Symbol, Expr] = {}
    extents: list[Expr] = []
    for axis, extent, many in zip(tensor.axes, tensor.extents, times, strict=True):
        if many == integer(1, loc):
            extents.append(extent)
            continue
        extents.append(pinned(scope, "n", Binary("*", extent, many, loc=loc)))
        indices[axis] = Binary("%", Var(axis, loc=loc), divisor(extent, loc), loc=loc)
    return Tensor(tensor.axes, tuple(extents), substitute(tensor.element, indices))


def pad(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.pad with a constant, or with what stands at the edge."""
    tensor = as_tensor(scope, given["array"], loc)
    mode = given.get("mode", Opaque("constant"))
    kind = mode.obj if isinstance(mode, Opaque) else None
    if kind not in ("constant", "edge") or (kind == "edge" and "constant_values" in given):
        raise UnsupportedError("np.pad is compiled with mode='constant' and mode='edge'", loc)
    widths = _widths(scope, given["pad_width"], tensor.ndim, loc)
    inside: Expr | None = None
    indices: dict[Symbol, Expr] = {}
    extents: list[Expr] = []
    zero = integer(0, loc)
    for axis, extent, (before, after) in zip(tensor.axes, tensor.extents, widths, strict=True):
        extents.append(pinned(scope, "n", Binary("+", Binary("+", extent, before, loc=loc), after, loc=loc)))
        index: Expr = Binary("-", Var(axis, loc=loc), before, loc=loc)
        if kind == "edge":
            message = "can't extend an empty axis using modes other than 'constant' or 'empty'"
            fail_unless(scope, Compare(">", extent, zero, loc=loc), None, message, loc)
            last = Binary("-", extent, integer(1, loc), loc=loc)
            index = Binary("min", Binary("max", index, zero, loc=loc), last, loc=loc)
        else:
            low, high = Compare(">=", index, zero, loc=loc), Compare("<", index, extent, loc=loc)
            both = Logical("and", low, high, loc=loc)
            inside = both if inside is None else Logical("and", inside, both, loc=loc)
        indices[axis] = index
    element = substitute(tensor.element, indices)
    if inside is not None:
        value = expressions.number(given.get("constant_values", arithmetic.python_number(0, loc)), loc)
        element = Select(inside, element, pinned(scope, "border", cast(value.expr, element.dtype)), loc=loc)
    return Tensor(tensor.axes, tuple(extents), element)


def _widths(scope: Scope, value: Value, rank: int, loc: Loc) -> list[tuple[Expr, Expr]]:
    """How much is added before and behind each axis, which must not be negative."""

    def width(item: Value) -> Expr:
        out = pinned(scope, "width", expressions.as_index(expressions.number(item, loc, "pad_width"), loc))
        if not isinstance(out, Const):
            fine = Compare(">=", out, integer(0, loc), loc=loc)
            fail_unless(scope, fine, None, "index can't contain negative values", loc)
        elif int(out.value.real) < 0:
            raise TypeInferenceError("index can't contain negative values", loc)
        return out

    if isinstance(value, Number):
        one = width(value)
        return [(one, one)] * rank
    items = value.items if isinstance(value, TupleValue) else ()
    if len(items) == 2 and all(isinstance(item, Number) for item in items):
        return [(width(items[0]), width(items[1]))] * rank
    pairs = [item.items for item in items if isinstance(item, TupleValue) and len(item.items) == 2]
    if len(pairs) != rank or len(items) != rank:
        raise UnsupportedError(f"pad_width is {describe(value)}, where a number or pairs are needed", loc)
    return [(width(a), width(b)) for a, b in pairs]


def split(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.split: a number of equal parts, or at constant indices; views."""
    tensor = as_tensor(scope, given["ary"], loc)
    axis = normalised(integer_argument(given, "axis", 0, loc), tensor.ndim, loc)
    extent = tensor.extents[axis]
    indices = integers(given["indices_or_sections"], loc, "the number of parts")
    if indices is None:
        raise TypeInferenceError("np.split takes a number of parts, or where they begin", loc)
    bounds: list[Expr]
    if isinstance(given["indices_or_sections"], Number):
        (count,) = indices
        if count < 1:
            raise TypeInferenceError("number sections must be larger than 0.", loc)
        rest = Binary("%", extent, integer(count, loc), loc=loc)
        fail_unless(
            scope, equals(rest, 0, loc), None, "array split does not result in an equal division", loc
        )
        size = pinned(scope, "size", Binary("//", extent, integer(count, loc), loc=loc))
        bounds = [Binary("*", size, integer(k, loc), loc=loc) for k in range(count)] + [extent]
    else:
        if any(n < 0 for n in indices):
            raise UnsupportedError("np.split at indices counted from the end is not compiled", loc)
        inner = [pinned(scope, "at", Binary("min", integer(n, loc), extent, loc=loc)) for n in indices]
        bounds = [integer(0, loc), *inner, extent]
    parts = []
    for lo, hi in pairwise(bounds):
        length = Binary("max", Binary("-", hi, lo, loc=loc), integer(0, loc), loc=loc)
        new = scope.supply.fresh("i", DType.INT64)
        here = Binary("+", lo, Var(new, loc=loc), loc=loc)
        axes = tuple(new if k == axis else a for k, a in enumerate(tensor.axes))
        extents = tuple(pinned(scope, "n", length) if k == axis else n for k, n in enumerate(tensor.extents))
        element = substitute(tensor.element, {tensor.axes[axis]: here})
        parts.append(replace(tensor, axes=axes, extents=extents, element=element))
    return TupleValue(tuple(parts))


def rows(scope: Scope, value: Value, count: int, loc: Loc) -> TupleValue:
    """The items of an array along its first axis, of which there have to be so many."""
    tensor = as_tensor(scope, value, loc)
    extent = tensor.extents[0]
    if extent != integer(count, loc):
        message = f"the array cannot be unpacked into {count} values: it has another length"
        fail_unless(scope, equals(extent, count, loc), None, message, loc)
    out = []
    for number in range(count):
        element = substitute(tensor.element, {tensor.axes[0]: integer(number, loc)})
        element = element if tensor.view else rewrite(element, _decided)
        out.append(
            as_value(replace(tensor, axes=tensor.axes[1:], extents=tensor.extents[1:], element=element))
        )
    return TupleValue(tuple(out))


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
