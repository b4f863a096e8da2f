"""Arguments of callees: numbers, views of arrays, the columns of lists, and what a callee is specialised to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MethodType
from typing import Any, TypeAlias

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor, materialise, refuse_lists
from appyc.frontend.control.returned_values import returned_view
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.expressions.local_functions import LocalFunction
from appyc.frontend.scope import Scope
from appyc.frontend.types.characters import is_text
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.made_values import MadeGenerator, MadeObject, ObjectMethod
from appyc.frontend.types.numbers import NumberType, column_types
from appyc.frontend.types.value_parts import parts_of, with_parts
from appyc.frontend.types.values import (
    ArrayRef,
    DictValue,
    ListRows,
    ListSlots,
    MaybeNone,
    Number,
    Opaque,
    Tensor,
    TupleValue,
    Value,
)
from appyc.ir import nodes as ir
from appyc.ir.types import ArrayType, DType, Layout

Kind: TypeAlias = Any
"""The type of an argument, or the identity of an object; of a tuple, dict or optional number such a value of kinds."""


@dataclass(frozen=True, slots=True)
class ListKind:
    """The type of a list: those of its items' numbers, of_tuples as in ListSlots, whether it has room of its own for
    more, and whether the callee changes its length."""

    kinds: tuple[NumberType, ...]
    of_tuples: TupleValue | None
    may_grow: bool
    resized: bool


@dataclass
class FlatArguments:
    """The flattened arguments of a call, one per IR parameter. leaves: the values that they are made from. resized: the
    lists whose lengths the callee changes, and the array for these. functions: the nested functions among them."""

    scope: Scope
    name: str
    loc: Loc
    args: list[ir.Expr | ir.View] = field(default_factory=list)
    leaves: list[Value] = field(default_factory=list)
    resized: list[tuple[ListSlots, ir.Symbol]] = field(default_factory=list)
    functions: list[Value] = field(default_factory=list)

    def kind(self, value: Value, resized: bool = False) -> Kind:
        """The specialisation key of an argument: its type or constant. Its numbers and arrays are added to `args`."""
        if is_text(value) and not isinstance(value, ArrayRef):
            value = materialise(self.scope, as_tensor(self.scope, value, self.loc), "argument", self.loc)
        match value:
            case Number():
                self._add(value.expr, value)
                return value.type
            case ArrayRef() | Tensor() if value.ndim:
                view, type_ = self._view(value)
                self._add(view, value)
                return type_
            case ListSlots() as slots:
                return self._list(slots, resized)
            case Opaque(obj=LocalFunction() as fn) if len(fn.home.calls) > 1:
                raise UnsupportedError("a function that a recursive one defines cannot be an argument", self.loc,
                                       "define it outside")  # fmt: skip
            case Opaque(obj=LocalFunction()):
                self.functions.append(value)
                return kind_around(value, self.loc)
            case Opaque(obj=MadeGenerator() | MadeObject() | ObjectMethod()):
                raise _not_passed("a generator that a loop makes", self.loc)
            case Opaque():
                return identity(value)
            case TupleValue() | DictValue() | MaybeNone() | ListRows():
                return with_parts(value, self.kind)
            case _:
                raise _not_passed(describe(value), self.loc)

    def _list(self, slots: ListSlots, resized: bool) -> ListKind:
        scope, loc = self.scope, self.loc
        if any(isinstance(arg, ir.View) and arg.array in slots.columns for arg in self.args):
            raise _not_passed("a list as two arguments", loc)
        may_grow = slots.room is not slots.count
        if resized and not may_grow:
            raise UnsupportedError(f"{self.name} is recursive, and changes the length of a list without a name", loc,
                                   "give the list a name first")  # fmt: skip
        for column in slots.columns:
            self._add(ir.View(column, resized=resized, loc=loc), slots)
        size: ir.Expr | ir.View = ir.Var(slots.count, loc=loc)
        if resized:
            sizes = scope.supply.fresh("sizes", ArrayType(DType.INT64, 1))
            self.resized.append((slots, sizes))
            size = in_frame(sizes, 2, loc)
        self._add(size, slots)
        return ListKind(slots.kinds, slots.of_tuples, may_grow, resized)

    def _add(self, arg: ir.Expr | ir.View, value: Value) -> None:
        self.args.append(arg)
        self.leaves.append(value)

    def _view(self, value: ArrayRef | Tensor) -> tuple[ir.View, ArrayType]:
        scope, loc = self.scope, self.loc
        if isinstance(value, ArrayRef) and not value.index:
            kind = value.symbol.array
            return ir.View(value.symbol, loc=loc), kind if kind.is_list else replace(kind, readonly=False)
        tensor = as_tensor(scope, value, loc)
        refuse_lists([tensor], loc)
        if not tensor.view:
            copy = materialise(scope, tensor, "argument", loc).symbol
            return ir.View(copy, loc=loc), copy.array
        if tensor.unsettled or (shown := returned_view(scope, tensor, loc)) is None:
            raise UnsupportedError(f"this view of an array cannot be passed to {self.name}, which is recursive", loc,
                                   "make it a copy: x.copy()")  # fmt: skip
        later = iter(shown.later)
        numbers = [next(later).expr if n is None else integer(n, loc) for n in shown.numbers]
        array, rank = shown.array.symbol, shown.array.symbol.array.ndim
        first, shape, steps = numbers[:rank], numbers[rank : rank + shown.ndim], numbers[rank + shown.ndim :]
        # A vector of adjacent elements of a C-contiguous array is C-contiguous.
        along = [integer(int(k == rank - 1), loc) for k in range(rank)]
        in_order = array.array.layout is Layout.C and shown.ndim == 1 and steps == along
        layout = Layout.C if in_order else Layout.STRIDED
        view = ir.View(array, tuple(first), tuple(shape), tuple(steps), loc=loc)
        return view, ArrayType(array.dtype, shown.ndim, layout)


def in_frame(array: ir.Symbol, length: int, loc: Loc) -> ir.View:
    """An array of the function's frame as an argument."""
    return ir.View(array, (integer(0, loc),), (integer(length, loc),), (integer(1, loc),), loc=loc)


def _not_passed(what: str, loc: Loc) -> UnsupportedError:
    return UnsupportedError(f"{what} cannot be passed to a recursive function", loc, "use arrays and numbers")


def identity(value: Value) -> Kind:
    """The identity of a captured value or a Python object, as a hashable key."""
    match value:
        case Opaque(obj=MethodType() as method):
            return ("method", id(method.__self__), id(method.__func__))
        case Opaque(obj=obj):
            return ("object", obj if isinstance(obj, str | int | type(None)) else id(obj))
        case _:
            return with_parts(value, identity)


def captured_values(values: list[Value], loc: Loc) -> list[Value]:
    """Captured values, and those that the nested functions among them capture."""
    functions: list[LocalFunction] = []
    for value in values:  # which grows
        if isinstance(value, Opaque) and isinstance(fn := value.obj, LocalFunction) and fn not in functions:
            functions.append(fn)
            values += fn.around(loc).values()
    return values


def kind_around(value: Value, loc: Loc) -> Kind:
    """The type of a captured value, as a key that is the same in every round of lowering."""
    match value:
        case Number():
            return value.type
        case ArrayRef():
            return (value.symbol.type, value.ndim)
        case Tensor():
            return (value.element.dtype, value.ndim)
        case Opaque(obj=LocalFunction() as fn):
            return ("local", fn.key)
        case Opaque(obj=MadeGenerator() | MadeObject() | ObjectMethod()):
            raise _not_passed("a generator that a loop makes", loc)
        case Opaque():
            return identity(value)
        case TupleValue() | DictValue() | MaybeNone() | ListRows():
            return with_parts(value, lambda part: kind_around(part, loc))
        case _:
            raise _not_passed(describe(value), loc)


def received(scope: Scope, name: str, value: Value, kind: Kind, params: list[ir.Symbol], loc: Loc) -> Value:
    """An argument's value inside the callee, made of new parameters, which are added to `params`."""
    match kind:
        case NumberType(dtype=dtype):
            params.append(scope.supply.fresh(name, dtype))
            return Number(ir.Var(params[-1], loc=loc), kind.python, kind.either)
        case ArrayType():
            params.append(scope.supply.fresh(name, kind))
            return ArrayRef(params[-1])
        case ListKind(kinds=of_items, of_tuples=of_tuples):
            columns = tuple(scope.supply.fresh(name, ArrayType(dtype, 1)) for dtype in column_types(of_items))
            count = scope.supply.fresh(f"{name}_n", DType.INT64)
            room = scope.supply.fresh(f"{name}_room", DType.INT64) if kind.may_grow else count
            sizes = scope.supply.fresh(f"{name}_sizes", ArrayType(DType.INT64, 1)) if kind.resized else count
            params += [*columns, sizes]
            return ListSlots(columns, of_items, of_tuples, count, room)
        case TupleValue() | DictValue() | MaybeNone() | ListRows():
            kinds = enumerate(parts_of(kind))

            def part(inner: Value) -> Value:
                number, own = next(kinds)
                return received(scope, f"{name}_{number}", inner, own, params, loc)

            return with_parts(value, part)
        case _:
            return value
