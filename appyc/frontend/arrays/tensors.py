"""Arrays in expressions: their elements, and when they are stored.

An expression of arrays is a `Tensor`: axes, extents, and the element at an index as an
expression of scalars. `a[1:] + b` over vectors is

    axes (i), extents (a.shape[0] - 1), element a[i + 1] + b[i]

so that an operator on arrays is the operator on their elements, and nothing is computed
before it is stored: by an assignment to elements, or to a name (`materialise`).

Shapes are values of the call. Where two extents are not seen to be equal, the statement tests
them: the test is a `Likely`, and the usual version of the function is guarded with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from appyc.errors import LengthError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays.masks import packed, under_one_mask
from appyc.frontend.expressions.arithmetic import cast, element_of, integer
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import promoted_dtype
from appyc.frontend.types.value_parts import with_parts
from appyc.frontend.types.values import (
    ArrayRef,
    ListSlots,
    Masked,
    Number,
    Tensor,
    TupleValue,
    Value,
    Wide,
    dtype_of,
    has_flags,
    is_listed,
)
from appyc.ir import nodes as ir
from appyc.ir.types import Container, DType
from appyc.ir.visit import rename, substitute

Maker = Callable[[list[Number]], Number]


def is_array(value: Value) -> bool:
    """Whether the value has axes: a 0-dimensional array counts as a number."""
    return isinstance(value, ArrayRef | Tensor | Masked) and value.ndim > 0


def as_tensor(scope: Scope, value: Value, loc: Loc, what: str = "this") -> Tensor:
    """The value as a tensor; a number has no axes. Raises TypeInferenceError for what is neither."""
    match value:
        case Tensor():
            return value
        case ArrayRef():
            extents = value.extents(loc)
            axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in extents)
            index = (*value.index, *(ir.Var(axis, loc=loc) for axis in axes))
            item = element_of(value.symbol, index, loc, checked=bool(value.index))
            is_text = isinstance(item.expr, ir.Cast) and value.symbol.dtype is DType.TEXT
            element = item.expr.arg if is_text else item.expr  # type: ignore[union-attr]
            return Tensor(axes, extents, element, view=not item.python, python=item.python)
        case Number(is_int=None):
            return Tensor((), (), value.expr)
        case Number():
            raise UnsupportedError("whether this is an int or a float shows only when the program runs", loc,
                                   "convert it, with int(...) or float(...)")  # fmt: skip
        case Masked():
            return as_tensor(scope, packed(scope, value, loc), loc)
        case ListSlots():
            return _of_list(scope, value, loc)
        case TupleValue() if value.items:
            return as_tensor(scope, scope.lowering.array_of(scope, value, None, loc), loc)
        case _:
            raise TypeInferenceError(f"{what} is {describe(value)}, where an array is needed", loc)


def is_always_empty(scope: Scope, value: ListSlots) -> bool:
    """Whether a list never gets an item, so that its items have no type."""
    known = scope.facts.empty_lists & scope.lists.keys()
    return any(scope.lists[name].columns == value.columns for name in known)


def without_flags(slots: ListSlots) -> ListSlots:
    """The list, whose ints among floats are taken for floats."""
    kinds = tuple(replace(kind, flagged=False) for kind in slots.kinds)
    return replace(slots, columns=slots.columns[: len(kinds)], kinds=kinds)


def _of_list(scope: Scope, slots: ListSlots, loc: Loc) -> Tensor:
    """The tensor that NumPy makes of a list: items along its first axis, those of tuples along its second."""
    if has_flags(slots):
        raise UnsupportedError("whether NumPy makes ints or floats of this list shows only when the program runs", loc,
                               "put numbers of one type into it, 0.0 among floats")  # fmt: skip
    axis, count = scope.supply.fresh("i", DType.INT64), scope.temp("count", ir.Var(slots.count, loc=loc))
    loads = [ir.Load(column, (ir.Var(axis, loc=loc),), checked=False, loc=loc) for column in slots.columns]
    if is_always_empty(scope, slots):
        return Tensor((axis,), (count,), cast(loads[0], DType.FLOAT64), python=True)
    if not slots.of_tuples:
        return Tensor((axis,), (count,), loads[0], python=slots.kinds[0].python)
    if slots.of_tuples.items:
        raise UnsupportedError(
            "an array of tuples in tuples is not compiled", loc, "put the numbers into one tuple"
        )
    kind = promoted_dtype(kind.dtype for kind in slots.kinds)
    across = scope.supply.fresh("k", DType.INT64)
    element = cast(loads[-1], kind)
    for k, load in reversed(list(enumerate(loads[:-1]))):
        is_it = ir.Compare("==", ir.Var(across, loc=loc), integer(k, loc), loc=loc)
        element = ir.Select(is_it, cast(load, kind), element, loc=loc)
    return Tensor((axis, across), (count, integer(len(loads), loc)), element)


def element_type(value: Value) -> DType:
    """The type of an array's elements, or of a number."""
    assert isinstance(value, ArrayRef | Tensor | Masked | Number), f"{describe(value)} has no elements"
    return value.type.dtype if isinstance(value, Number) else dtype_of(value)


def as_value(tensor: Tensor) -> Value:
    """The tensor, or the number that it is where it has no axes."""
    element = tensor.element
    if not tensor.axes and element.dtype is DType.TEXT:
        element = cast(element, DType.CHARACTER)
    return tensor if tensor.axes else Number(element, tensor.python)


def pinned(scope: Scope, name: str, expr: ir.Expr) -> ir.Expr:
    """The value as it is now, whatever happens to the variables that it is made of."""
    stays = isinstance(expr, ir.Const | ir.Extent) or (
        isinstance(expr, ir.Var) and expr.symbol in scope.fixed
    )
    return expr if stays else scope.temp(name, expr)


# ---------------------------------------------------------------- shapes


@dataclass(frozen=True, slots=True)
class Aligned:
    """Tensors over one set of axes: the elements of each at an index of it."""

    axes: tuple[ir.Symbol, ...]
    extents: tuple[ir.Expr, ...]
    elements: tuple[ir.Expr, ...]


def broadcast(scope: Scope, tensors: Sequence[Tensor], loc: Loc, error: str = "ValueError") -> Aligned:
    """The tensors stretched over their common shape, as NumPy stretches axes of length 1.

    Emits the test that raises `error` where the lengths do not fit.
    """
    rank = max((t.ndim for t in tensors), default=0)
    axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in range(rank))
    replaced: list[dict[ir.Symbol, ir.Expr]] = [{} for _ in tensors]
    extents = []
    for k in range(rank):
        having = [n for n, t in enumerate(tensors) if t.ndim >= rank - k]
        old = [tensors[n].axes[k - rank] for n in having]
        extent, indices = _common(scope, [tensors[n].extents[k - rank] for n in having], axes[k], loc, error)
        extents.append(extent)
        for n, axis, index in zip(having, old, indices, strict=True):
            replaced[n][axis] = index
            scope.same_axis(axis, axes[k])
    elements = tuple(substitute(t.element, p) for t, p in zip(tensors, replaced, strict=True))
    return Aligned(axes, tuple(extents), elements)


def _common(
    scope: Scope, lengths: Sequence[ir.Expr], axis: ir.Symbol, loc: Loc, error: str
) -> tuple[ir.Expr, list[ir.Expr]]:
    """The common length of an axis, and the index along it in each of the tensors that have it."""
    longest = min(lengths, key=lambda e: 2 if is_one(e) else usually_one(e) is not None)
    whole = longest
    same: dict[ir.Expr, ir.Likely] = {}
    for extent in lengths:
        if extent == longest or is_one(extent) or extent in same:
            continue
        if isinstance(extent, ir.Const) and isinstance(longest, ir.Const):
            raise LengthError(f"arrays of lengths {longest.value} and {extent.value} cannot be combined", loc,
                              "axes must have one length, or one of them length 1")  # fmt: skip
        alone = usually_one(extent) if usually_one(longest) is None else None
        same[extent] = alone or ir.Likely(ir.Compare("==", extent, longest, loc=loc), loc=loc)
        fits: ir.Expr = ir.Logical("or", equals(whole, 1, loc), equals(extent, 1, loc), loc=loc)
        if whole != longest or alone is not None:
            fits = ir.Logical("or", ir.Compare("==", extent, whole, loc=loc), fits, loc=loc)
        fail_unless(scope, same[extent], fits, _MISMATCH, loc, error, (whole, extent))
        longer = ir.Select(equals(whole, 1, loc), extent, whole, loc=loc)
        whole = scope.temp("n", ir.Select(same[extent], whole, longer, loc=loc))
        scope.memory.usual[whole.symbol] = substitute(longest, scope.memory.usual)
    here = ir.Var(axis, loc=loc)
    tests = list(same.values())
    indices: list[ir.Expr] = []
    for extent in lengths:
        if same.get(extent) is not None and same[extent] == usually_one(extent):
            indices.append(ir.Select(same[extent], integer(0, loc), here, loc=loc))
            continue
        index: ir.Expr = integer(0, loc) if is_one(extent) and not is_one(longest) else here
        indices.append(index if is_one(extent) else stretched(index, extent, tests, loc))
    return whole, indices


def stretched(here: ir.Expr, extent: ir.Expr, tests: Sequence[ir.Expr], loc: Loc) -> ir.Expr:
    """The index `here` along an axis of that length, or 0 where a test fails and the length is 1.

    `here` occurs in it once: it may be such an expression itself, and so on for every operator around.
    """
    if not tests:
        return here
    same = reduce(lambda a, b: ir.Logical("and", a, b, loc=loc), tests)
    moves = ir.Logical("or", same, ir.Compare("!=", extent, integer(1, loc), loc=loc), loc=loc)
    return ir.Select(moves, here, integer(0, loc), loc=loc)


_MISMATCH = "operands could not be broadcast together: an axis has length {value} in one, {extent} in another"


def fail_unless(
    scope: Scope,
    usual: ir.Expr,
    otherwise: ir.Expr | None,
    message: str,
    loc: Loc,
    error: str = "ValueError",
    lengths: tuple[ir.Expr, ...] = (),
) -> None:
    """Emits the test that raises `error` where neither condition holds, or the one that there is; the first holds in
    nearly every call. lengths: the message's value and extent."""
    fail: ir.Stmt = ir.Fail(error, message, lengths, loc=loc)
    if otherwise is not None:
        fail = ir.If(negation(otherwise), (fail,), loc=loc)
    likely = usual if isinstance(usual, ir.Likely) else ir.Likely(usual, loc=loc)
    scope.emit(ir.If(negation(likely), (fail,), loc=loc))


def is_one(extent: ir.Expr) -> bool:
    return isinstance(extent, ir.Const) and extent.value == 1


def mostly_one(length: ir.Expr, loc: Loc) -> ir.Expr:
    """A length that is 1 in nearly every call, as that of `a[:, k : k + 1]`: the usual version has a 1 for it."""
    if isinstance(length, ir.Const):
        return length
    return ir.Select(ir.Likely(equals(length, 1, loc), loc=loc), integer(1, loc), length, loc=loc)


def usually_one(extent: ir.Expr) -> ir.Likely | None:
    """The test that such a length is 1; None for any other length."""
    match extent:
        case ir.Select(cond=ir.Likely() as test, then=ir.Const(value=1)):
            return test
        case _:
            return None


def equals(expr: ir.Expr, value: int, loc: Loc) -> ir.Expr:
    return ir.Compare("==", expr, integer(value, loc), loc=loc)


def negation(cond: ir.Expr) -> ir.Expr:
    return ir.Unary("~", cond, loc=cond.loc)


# ---------------------------------------------------------------- operations and memory


def elementwise(
    scope: Scope, values: Sequence[Value], make: Maker, loc: Loc, what: str = "an operand"
) -> Value:
    """`make` of the elements, element by element. Python's own numbers stay weak in promotion."""
    if (chosen := under_one_mask(values)) is not None:
        mask, whole = chosen
        result = elementwise(scope, whole, make, loc, what)
        assert isinstance(result, Tensor), "a mask has axes"
        axes = dict(zip(mask.tensor.axes, result.axes, strict=True))
        return replace(mask, tensor=result, holds=rename(mask.holds, axes))
    tensors = [as_tensor(scope, value, loc, what) for value in values]
    shape = broadcast(scope, tensors, loc)
    return as_value(Tensor(shape.axes, shape.extents, make(numbers_of_elements(shape.elements, values)).expr))


def numbers_of_elements(elements: Sequence[ir.Expr], values: Sequence[Value]) -> list[Number]:
    """The elements of values as numbers, of which those of Python's own stay such."""
    pairs = zip(elements, values, strict=True)
    return [replace(v, expr=e) if isinstance(v, Number) else Number(e, python=False) for e, v in pairs]


def materialise(
    scope: Scope, tensor: Tensor, name: str, loc: Loc, container: Container = Container.ARRAY
) -> ArrayRef:
    """A new C-contiguous array with the tensor's elements."""
    container = Container.TEXT if tensor.element.dtype is DType.TEXT else container
    array = scope.new_array(name, tensor.element.dtype, tensor.extents, loc, container)
    axes, element = renamed(scope, tensor)
    index = tuple(ir.Var(axis, loc=loc) for axis in axes)
    scope.emit(ir.ForAll(axes, tensor.extents, array, index, element, checked=False, loc=loc))
    return ArrayRef(array, shape=tensor.extents)


def renamed(scope: Scope, tensor: Tensor) -> tuple[tuple[ir.Symbol, ...], ir.Expr]:
    """Axes of its own for one statement: a tensor may be used several times."""
    axes = tuple(scope.supply.fresh(axis.name, axis.type) for axis in tensor.axes)
    own = dict(zip(tensor.axes, axes, strict=True))
    for old, new in own.items():
        scope.same_axis(old, new)
    return axes, rename(tensor.element, own)


def refuse_lists(values: Sequence[Value], loc: Loc) -> None:
    """Raises UnsupportedError for a list among the operands of what arrays and lists do differently."""
    if any(map(is_listed, values)):
        raise UnsupportedError("this operation on a list is not compiled", loc,
                               "a list is indexed, run over, measured; np.array(x) is an array")  # fmt: skip


def kept(scope: Scope, tensor: Tensor, name: str, loc: Loc) -> Value:
    """The value as it is now: a view stays one, anything else is computed."""
    if tensor.view or not tensor.axes:
        return as_value(tensor)
    copy = materialise(scope, tensor, name, loc, Container.LIST if is_listed(tensor) else Container.ARRAY)
    if tensor.unsettled:
        assert isinstance(tensor.element, ir.Load), "nothing but a view can be one in another shape"
        scope.keep_equal(tensor.element.array, copy.symbol, name, loc)
    return copy


def held(scope: Scope, value: Value, name: str, loc: Loc) -> Value:
    """The value as it is now, for a name that may be read when arrays have changed."""
    match value:
        case Tensor():
            return kept(scope, value, name, loc)
        case TupleValue():
            items = tuple(held(scope, v, f"{name}_{k}", loc) for k, v in enumerate(value.items))
            return replace(value, items=items, table=None)
        case _:
            return with_parts(value, lambda part: held(scope, part, name, loc))


def settled(scope: Scope, value: Value) -> Value:
    """The value, with numbers too as they are now: what `a, b = b, a` reads before it writes any."""
    match value:
        case Number(expr=ir.Const()):
            return value
        case Number():
            flag = None if value.is_int is None else scope.temp("is_int", value.is_int)
            return replace(value, expr=scope.temp("value", value.expr), is_int=flag)
        case Wide():
            return Wide(scope.temp("value", value.bits))
        case Tensor():
            return kept(scope, value, "value", value.element.loc)
        case _:
            return with_parts(value, lambda part: settled(scope, part))


def permuted(tensor: Tensor, order: Sequence[int]) -> Tensor:
    """The tensor with its axes in another order."""
    return replace(
        tensor, axes=tuple(tensor.axes[k] for k in order), extents=tuple(tensor.extents[k] for k in order)
    )


def with_axis(scope: Scope, tensor: Tensor, at: int, loc: Loc) -> Tensor:
    """The tensor with one more axis, of length 1."""
    axes, extents = list(tensor.axes), list(tensor.extents)
    axes.insert(at, scope.supply.fresh("i", DType.INT64))
    extents.insert(at, integer(1, loc))
    return replace(tensor, axes=tuple(axes), extents=tuple(extents))


def divisor(length: ir.Expr, loc: Loc) -> ir.Expr:
    """A length as a divisor of indices: at least 1, since an axis of length 0 has no index."""
    if isinstance(length, ir.Const):
        return integer(max(int(length.value.real), 1), loc)
    return ir.Binary("max", length, integer(1, loc), loc=loc)


def product(extents: Sequence[ir.Expr], loc: Loc) -> ir.Expr:
    """The number of elements of an array with these extents."""
    one = integer(1, loc)
    out: ir.Expr = one
    for extent in extents:
        if extent != one:
            out = extent if out == one else ir.Binary("*", out, extent, loc=loc)
    return out
