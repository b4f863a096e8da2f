"""Values of expressions at compile time, while a function is lowered, and bindings of names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from appyc.errors import Loc
from appyc.frontend.access import AccessPath
from appyc.frontend.types.numbers import Either, NumberType
from appyc.ir.nodes import Const, Expr, Extent, Symbol, Var
from appyc.ir.types import Container, DType
from appyc.ir.visit import substitute


def _with_value(t: NumberType, value: bool | int | float | complex | None) -> NumberType:
    """The type of a Python int of this value."""
    if t.python and isinstance(value, int) and not isinstance(value, bool):
        return NumberType(t.dtype, True, Either(frozenset(), (value, value)))
    return t


@dataclass(frozen=True, slots=True)
class Number:
    """A scalar. python: Python's own number, weak in promotion. mixed: on some paths. either: as in NumberType.
    is_int: where it holds, the float64 stands for an int of Python's; None if the type tells."""

    expr: Expr
    python: bool
    either: Either | None = None
    mixed: bool = field(default=False, compare=False)
    is_int: Expr | None = None

    @property
    def type(self) -> NumberType:
        return NumberType(self.expr.dtype, self.python, self.either)

    @property
    def known_type(self) -> NumberType:
        """Its type, with the value of an integer that stands in the program."""
        return _with_value(self.type, self.constant)

    @property
    def constant(self) -> bool | int | float | complex | None:
        return self.expr.value if isinstance(self.expr, Const) and self.expr.dtype.kind != "s" else None

    def kept_in(self, symbol: Symbol, is_int: Symbol | None) -> Slot:
        """The variable that has been assigned it, and whether it is an int."""
        literal = self.constant if self.python else None
        return Slot(symbol, self.python, literal=literal, either=self.either, mixed=self.mixed, is_int=is_int)


@dataclass(frozen=True, slots=True)
class Wide:
    """A Python int of which the last 64 bits are known, as a uint64: it may have more."""

    bits: Expr


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """An array with its leading axes indexed: `A` has no index, `A[i]` of a matrix has one.

    shape: the lengths of all axes, where they are known otherwise than by asking the array. tested: whether the index
    is known to be within bounds.
    """

    symbol: Symbol
    index: tuple[Expr, ...] = ()
    shape: tuple[Expr, ...] | None = field(default=None, compare=False)
    tested: bool = field(default=False, compare=False)

    @property
    def ndim(self) -> int:
        return self.symbol.array.ndim - len(self.index)

    @property
    def python(self) -> bool:
        """Whether its elements are Python's own numbers: it is a list to the program."""
        return self.symbol.array.is_list

    def extents(self, loc: Loc) -> tuple[Expr, ...]:
        """The lengths of the axes that are not indexed."""
        first = len(self.index)
        if self.shape is not None:
            return self.shape[first:]
        return tuple(Extent(self.symbol, k, loc=loc) for k in range(first, self.symbol.array.ndim))


@dataclass(frozen=True, slots=True)
class Tensor:
    """An array that is described, not stored: `element` is its element at the index `axes`, each of which
    runs from 0 to its extent.

    view: `element` is a load, and an assignment to the tensor stores into that array. unsettled: only
    strides would tell whether it is a view of that array or a copy, so no program may depend on which.
    python: the elements are Python's own numbers, those of a list or not yet in any array.
    """

    axes: tuple[Symbol, ...]
    extents: tuple[Expr, ...]
    element: Expr
    view: bool = False
    unsettled: bool = False
    python: bool = False

    @property
    def ndim(self) -> int:
        return len(self.axes)

    def at(self, positions: Mapping[int, Expr]) -> Tensor:
        """The part at these positions along some axes, by the number of each."""
        stay = [k for k in range(self.ndim) if k not in positions]
        element = substitute(self.element, {self.axes[k]: position for k, position in positions.items()})
        axes, extents = tuple(self.axes[k] for k in stay), tuple(self.extents[k] for k in stay)
        return replace(self, axes=axes, extents=extents, element=element)

    def copied(self) -> Tensor:
        """The tensor as a new array of the same elements, which is no view."""
        return replace(self, view=False, unsettled=False)


@dataclass(frozen=True, slots=True)
class Masked:
    """The elements of a tensor where a mask holds, in C order.

    The mask is over `rank` axes of the tensor in a row, from `first` on, and the chosen elements
    are along one axis in their stead.
    """

    tensor: Tensor
    first: int
    rank: int
    holds: Expr

    @property
    def ndim(self) -> int:
        return self.tensor.ndim - self.rank + 1

    @property
    def chosen(self) -> tuple[Symbol, ...]:
        """The axes that the mask is over."""
        return self.tensor.axes[self.first : self.first + self.rank]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """An array with the items of a tuple of numbers, or of tuples of such. python: they are Python's own.
    index: which of the array's items are meant."""

    array: Symbol
    python: bool
    index: tuple[Expr, ...] = ()


Table: TypeAlias = TableColumn | tuple["Table", ...]
"""The numbers of a tuple, or of each column of a tuple of tuples, in arrays."""


@dataclass(frozen=True, slots=True)
class TupleValue:
    """table: the items once more, where they are numbers that a program picks by position. names: of the items,
    where it is a named tuple. made_by: the path of its class, or what else makes it for the caller (`ir.results`)."""

    items: tuple[Value, ...]
    table: Table | None = field(default=None, compare=False)
    names: tuple[str, ...] = ()
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A Python object known at compile time: a function, a module, a dtype, a string, None.

    root: where an object that is no constant was found (a parameter, a global), so that
    its attributes can be read anew at every call; None for what may be read once.
    """

    obj: object
    root: AccessPath | None = None


@dataclass(frozen=True, slots=True)
class ReturnedView:
    """A view of an array as a function returns it: see `ir.results.ViewOf`. later: the numbers that
    the run shows, in order."""

    array: ArrayRef
    ndim: int
    numbers: tuple[int | None, ...]
    later: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class ReturnedChoice:
    """One of several arrays as a function returns it. leaf: which item of the returned value; which: the
    number of the array among those that the function's returns have there."""

    leaf: tuple[int, ...]
    which: Number
    ndim: int


@dataclass(frozen=True, slots=True)
class ListSlots:
    """A variable that holds a list of numbers, or of tuples of numbers (like `of_tuples`, which has items only where
    some of these are tuples): arrays with the items' numbers, and behind these one of flags for each that may be an
    int or a float; the numbers' types, how many items there are, and for how many there is room. maybe: as in Slot."""

    columns: tuple[Symbol, ...]
    kinds: tuple[NumberType, ...]
    of_tuples: TupleValue | None
    count: Symbol
    room: Symbol
    maybe: bool = False


@dataclass(frozen=True, slots=True)
class ListRows:
    """A list of lists of numbers or tuples (`of_tuples`), or of arrays (`of_arrays`), that is only read: all items, an
    array for each number; of arrays elements and lengths of axes; and where each row begins and the last ends."""

    columns: TupleValue
    starts: ArrayRef
    of_tuples: bool
    of_arrays: bool = False


@dataclass(frozen=True, slots=True)
class TupleRow:
    """A list of tuples: for each number of a tuple a tensor along a row of a `ListRows`, or a result's new array."""

    columns: TupleValue


@dataclass(frozen=True, slots=True)
class ReturnedList:
    """A list as a function returns it. count: how many items it has then."""

    slots: ListSlots
    count: Number


@dataclass(frozen=True, slots=True)
class ReturnedContainer:
    """A container of another class as a function returns it. makes: its name in `appyc.ir.results.CONTAINERS`. lists:
    its items, or its keys and its values."""

    makes: str
    lists: TupleValue = TupleValue(())


@dataclass(frozen=True, slots=True)
class Records:
    """A structured array, some of its records, or one. fields: their whole arrays, by name. rows: the array of the
    records' first bytes, and which of its elements are meant."""

    fields: TupleValue
    rows: ArrayRef | Tensor
    dtype: np.dtype[Any]


Key: TypeAlias = str | int


@dataclass(frozen=True, slots=True)
class DictValue:
    """A dict whose keys stand in the program: its values by position."""

    keys: tuple[Key, ...]
    values: TupleValue


@dataclass(frozen=True, slots=True)
class MaybeNone:
    """A number or a tuple of numbers, or None where `is_none` holds; as a result, a list, too."""

    value: Number | TupleValue | ReturnedList
    is_none: Number


Whole: TypeAlias = ArrayRef | Tensor | ListRows | TupleRow | Records | Opaque
"""What a name is bound to as it is."""

Returned: TypeAlias = ReturnedView | ReturnedChoice | ReturnedList | ReturnedContainer
Value: TypeAlias = Whole | Returned | ListSlots | DictValue | MaybeNone | Number | Wide | Masked | TupleValue


@dataclass(frozen=True, slots=True)
class Slot:
    """A scalar variable's current home.

    maybe: some path here has not assigned it. optional: some path has bound it to None; a flag beside the
    name tells. literal: the number that it was just assigned, where that stands in the program. either: as in
    NumberType. wide: the symbol has the last 64 bits of a Python int that may have more. mixed, is_int: as in Number.
    """

    symbol: Symbol
    python: bool
    maybe: bool = False
    literal: bool | int | float | complex | None = None
    optional: bool = False
    either: Either | None = None
    wide: bool = False
    mixed: bool = False
    is_int: Symbol | None = None

    def number(self, loc: Loc) -> Number:
        """Its value."""
        is_int = None if self.is_int is None else Var(self.is_int, loc=loc)
        return Number(Var(self.symbol, loc=loc), self.python, self.either, self.mixed, is_int)

    @property
    def type(self) -> NumberType:
        return NumberType(self.symbol.dtype, self.python, self.either)

    @property
    def known_type(self) -> NumberType:
        """The type together with the known value, as that of a Number."""
        return _with_value(self.type, self.literal)


@dataclass(frozen=True, slots=True)
class TupleSlots:
    """A variable that holds a tuple: a binding for each item. table, names, made_by: as in TupleValue. optional: as in
    Slot. keys: of a dict, whose values the items are."""

    items: tuple[Binding, ...]
    table: Table | None = None
    names: tuple[str, ...] = ()
    made_by: str = ""
    optional: bool = False
    keys: tuple[Key, ...] | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A name whose meaning depends on the path taken; it may not be read.

    unsupported: Python may do with it what compiled code cannot. array: the type and the number of axes of
    the array that one path binds it to, where the others leave it unbound. loop: the location of a loop whose
    iterations would agree, were the first of them not among them. branches: the locations of the `if`s whose
    paths join here, innermost first.
    """

    reason: str
    unsupported: bool = False
    array: tuple[DType, int] | None = None
    loop: Loc | None = None
    branches: tuple[Loc, ...] = field(default=(), compare=False)


Binding: TypeAlias = Whole | ListSlots | Slot | TupleSlots | Conflict | Number


def dtype_of(value: ArrayRef | Tensor | Masked) -> DType:
    tensor = value.tensor if isinstance(value, Masked) else value
    return tensor.symbol.dtype if isinstance(tensor, ArrayRef) else tensor.element.dtype


def or_none(binding: Slot | TupleSlots) -> Slot | TupleSlots:
    """The binding of a name that is bound to None on another path."""
    if isinstance(binding, Slot):
        return replace(binding, optional=True, literal=None)
    items = (
        replace(or_none(item), optional=False) if isinstance(item, Slot | TupleSlots) else item
        for item in binding.items
    )
    return replace(binding, items=tuple(items), table=None, optional=True)


def is_none(value: object) -> bool:
    """Whether a value is None in the program, or was left out."""
    return value is None or (isinstance(value, Opaque) and value.obj is None)


def is_listed(value: Value | Binding) -> TypeGuard[ArrayRef | Tensor]:
    """Whether the items of a list are described by the value."""
    return isinstance(value, ArrayRef | Tensor) and value.python and value.ndim > 0


def has_flags(value: Value) -> bool:
    """Whether items of a list may be ints or floats."""
    return isinstance(value, ListSlots) and any(kind.flagged for kind in value.kinds)


def is_list_itself(value: Value | Binding | None) -> TypeGuard[ArrayRef]:
    """Whether the value is a list of numbers of the caller's, and not a row of one, bytes or a text."""
    if not isinstance(value, ArrayRef) or value.index or value.ndim != 1:
        return False
    return value.symbol.array.container is Container.LIST


def slots_of(binding: Binding) -> tuple[Slot, ...]:
    """The variables of a number, or of a tuple of numbers."""
    items = binding.items if isinstance(binding, TupleSlots) else (binding,)
    return tuple(item for item in items if isinstance(item, Slot))
