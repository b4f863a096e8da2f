"""The values that a function returns, as results of its kernel and the tree that they make up.

Where returns have different arrays, or an array or None, what is returned is the number of one of them. A view is
described by numbers, and the caller constructs it from the array and these:

    return a[1:-1, k]         ->      first (1, k), shape (a.shape[0] - 2,), steps (1, 0)
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.slice_bounds import out_of_bounds, tested_position
from appyc.frontend.control.conditionals import chosen_array
from appyc.frontend.expressions.arithmetic import cast, const, integer, to_type
from appyc.frontend.expressions.ints_or_floats import is_int
from appyc.frontend.scope import Scope
from appyc.frontend.types import values as vals
from appyc.frontend.types.characters import is_character, is_text, recast, refused_text
from appyc.frontend.types.numbers import PY_INT
from appyc.frontend.types.value_parts import place_of, walk, with_parts
from appyc.ir import nodes as ir
from appyc.ir.affine import linear_form, written
from appyc.ir.results import Chosen, DictOf, ListOf, MadeOf, NoneOr, ResultTree, ViewOf
from appyc.ir.types import DType
from appyc.ir.visit import scalars_read, statements, substitute

NONE = -1
"""The number that stands for None among the arrays that a function's returns choose from."""


def options_of(scope: Scope, choice: vals.ReturnedChoice) -> list[ir.Symbol]:
    """The arrays that a returned value may be, indexed by their numbers.

    Loops are lowered repeatedly until their types reach a fixed point. An array of an earlier round is no
    option any more; a valid one stands at its index.
    """
    numbers = _numbers_of(scope, choice) - {NONE}
    options = scope.options[choice.leaf]
    return [option if k in numbers else options[min(numbers)] for k, option in enumerate(options)]


def may_choose_none(scope: Scope, choice: vals.ReturnedChoice) -> bool:
    """Whether None is one of the options of a returned value."""
    return NONE in _numbers_of(scope, choice)


def _numbers_of(scope: Scope, choice: vals.ReturnedChoice) -> set[int]:
    assert isinstance(choice.which.expr, ir.Var), "the function's returns have one number"
    slot = choice.which.expr.symbol
    return {
        int(stmt.value.value.real)
        for stmt in statements(scope.block)
        if isinstance(stmt, ir.Assign) and stmt.target == slot and isinstance(stmt.value, ir.Const)
    }


def without_elements(scope: Scope, loc: Loc) -> list[ir.Stmt]:
    """Empty allocations of the arrays that only some paths allocate and return, for the other paths."""
    if not scope.options:
        return []
    always = {stmt.array for stmt in scope.block if isinstance(stmt, ir.Alloc)}
    made = {stmt.array for stmt in statements(scope.block) if isinstance(stmt, ir.Alloc)}
    options = dict.fromkeys(symbol for symbols in scope.options.values() for symbol in symbols)
    late = [symbol for symbol in options if symbol in made - always]
    zero = const(0, DType.INT64, loc)
    return [ir.Alloc(symbol, (zero,) * symbol.array.ndim, zero=False, loc=loc) for symbol in late]


def with_chosen_arrays(caller: Scope, callee: Scope, value: vals.Value, loc: Loc) -> vals.Value:
    """The value of an inlined function in its caller; a choice among arrays becomes one array."""
    match value:
        case vals.ReturnedChoice():
            if may_choose_none(callee, value):
                raise UnsupportedError(
                    "a function that returns an array or None cannot be built into another one", loc,
                    "return an array without elements instead of None",
                )  # fmt: skip
            options = [vals.ArrayRef(symbol) for symbol in options_of(callee, value)]
            out: vals.Value = options[-1]
            for number, option in reversed(list(enumerate(options[:-1]))):
                is_it = ir.Compare("==", value.which.expr, const(number, DType.INT64, loc), loc=loc)
                out = chosen_array(caller, is_it, ((option, []), (out, [])), loc)
            return out
        case _:
            return with_parts(value, lambda part: with_chosen_arrays(caller, callee, part, loc))


# ---------------------------------------------------------------- results of the kernel


class ResultTrees:
    """The returned values as results of the kernel."""

    def __init__(self, scope: Scope, results: list[ir.Result], loc: Loc) -> None:
        self.scope, self.results, self.loc = scope, results, loc

    def tree(self, value: vals.Value) -> ResultTree:
        match value:
            case vals.Number() if is_character(value):
                code = vals.Number(recast(value.expr, DType.INT64), python=True)
                return MadeOf("character", (self._scalar(code),))
            case vals.ArrayRef(symbol=text) if is_text(value):
                return MadeOf("text", (self._whole(text),))
            case vals.ReturnedList(slots=slots) if not slots.of_tuples and slots.kinds[0].dtype.kind == "s":
                makes = "text" if is_text(slots) else "characters"
                return MadeOf(makes, (self._whole(slots.columns[0]), self._scalar(value.count)))
            case vals.ArrayRef() if vals.dtype_of(value).kind == "s":
                raise refused_text(self.loc)
            case vals.Number(is_int=None):
                return self._scalar(value)
            case vals.Number():
                which = self._scalar(vals.Number(cast(is_int(value, self.loc), DType.INT64), python=True))
                number = replace(value, is_int=None)
                return Chosen(which, (self._scalar(number), self._scalar(to_type(number, PY_INT))))
            case vals.ArrayRef():
                return self._array(value.symbol)
            case vals.ReturnedView():
                array = self._array(value.array.symbol)
                if not isinstance(array, int):
                    raise self._not_told(value.array.symbol)
                later = tuple(self._scalar(number) for number in value.later)
                return ViewOf(array, value.ndim, value.numbers, later)
            case vals.ReturnedChoice():
                which = self._scalar(value.which)
                options = tuple(self._whole(s) for s in options_of(self.scope, value))
                chosen = Chosen(which, options, may_choose_none(self.scope, value))
                is_of_texts = options_of(self.scope, value)[0].dtype is DType.TEXT
                return MadeOf("text", (chosen,)) if is_of_texts else chosen
            case vals.TupleValue(made_by=""):
                return tuple(self.tree(v) for v in value.items)
            case vals.TupleValue():
                return MadeOf(value.made_by, tuple(self.tree(v) for v in value.items))
            case vals.Opaque() | vals.Wide():
                return None  # a wide one is refused where it is returned
            case vals.ReturnedList(slots=slots) if not slots.of_tuples and slots.kinds[0].flagged:
                length, typed = (
                    self._scalar(value.count),
                    zip(slots.columns, (slots.kinds[0].python, True), strict=True),
                )
                parts = (ListOf((self._whole(part),), (python,), None, length) for part, python in typed)
                return MadeOf("ints and floats", tuple(parts))
            case vals.ReturnedList(slots=slots):
                columns = tuple(self._whole(column) for column in slots.columns)
                python = tuple(kind.python for kind in slots.kinds)
                python += (True,) * (len(columns) - len(python))  # of flags
                made_by = self._made_by(slots) if slots.of_tuples else None
                return ListOf(columns, python, made_by, self._scalar(value.count))
            case vals.MaybeNone(value=present, is_none=is_none):
                return NoneOr(self._scalar(is_none), self.tree(present))
            case vals.ReturnedContainer(makes, lists):
                return MadeOf(makes, tuple(self.tree(v) for v in lists.items))
            case vals.DictValue(keys, values):
                return DictOf(keys, tuple(self.tree(v) for v in values.items))
            case vals.ListSlots():
                raise AssertionError("a returned list has its length at that time")
            case vals.Tensor() | vals.Masked() | vals.ListRows() | vals.TupleRow() | vals.Records():
                raise AssertionError("a returned tensor has been put into memory")

    def _made_by(self, slots: vals.ListSlots) -> str:
        """What makes a list's tuples of the numbers of an item and its flags."""
        assert slots.of_tuples is not None
        has_characters = any(kind.dtype.kind == "s" for kind in slots.kinds)
        if not (slots.of_tuples.items or has_characters or vals.has_flags(slots)):
            return slots.of_tuples.made_by
        form = place_of(slots.of_tuples, len(slots.kinds))
        if any(part.names for part in walk(form) if isinstance(part, vals.TupleValue)):
            raise UnsupportedError(
                "a list of named tuples in tuples, or in which an item is a str or may be an int or a float, cannot "
                "be returned",
                self.loc, "return a list of tuples; put numbers of one type into it, 0.0 among floats",
            )  # fmt: skip
        numbers, flags = enumerate(slots.kinds), count(len(slots.kinds))

        def numbered(part: vals.Value) -> object:
            if isinstance(part, vals.TupleValue):
                return tuple(map(numbered, part.items))
            number, kind = next(numbers)
            is_character = kind.dtype.kind == "s"
            return [number, next(flags)] if kind.flagged else [number] if is_character else number

        return f"tuple:{numbered(form)}"

    def _scalar(self, number: vals.Number) -> int:
        self.results.append(ir.Result(number.expr, number.python, loc=number.expr.loc))
        return len(self.results) - 1

    def _array(self, symbol: ir.Symbol) -> int | Chosen:
        """The result of a returned array. Phi storage that may be a copy of the caller's array is returned as a
        choice at run time between itself and that array."""
        memory = self.scope.memory
        origins = memory.origins(symbol)
        if origins & memory.seen:
            raise self._not_told(symbol)
        if symbol not in memory.homes or not origins & set(memory.outside):
            return self._whole(symbol)
        which = self._scalar(vals.Number(ir.Var(memory.homes[symbol], loc=self.loc), python=True))
        return Chosen(which, tuple(self._whole(s) for s in (symbol, *memory.outside)))

    def _whole(self, symbol: ir.Symbol) -> int:
        # One array that is returned twice is one result.
        memory = self.scope.memory
        for number, result in enumerate(self.results):
            if result.value == symbol:
                return number
            if isinstance(result.value, ir.Symbol) and result.value.is_array:
                common = memory.origins(symbol) & memory.origins(result.value)
                if common and (memory.origins(symbol) | memory.origins(result.value)) & memory.shared:
                    raise self._not_told(symbol)
        self.results.append(ir.Result(symbol, loc=self.loc))
        return len(self.results) - 1

    def _not_told(self, symbol: ir.Symbol) -> UnsupportedError:
        return UnsupportedError(
            f"whether what is returned here is a view or another name's array shows only when '{symbol.name}' "
            "is bound to another array", self.loc,
            f"return a copy: {symbol.name}.copy()",
        )  # fmt: skip


# ---------------------------------------------------------------- views


def returned_view(scope: Scope, tensor: vals.Tensor, loc: Loc) -> vals.ReturnedView | None:
    """The view's offset, shape and strides; None where its elements have no constant strides (a reshaped array)."""
    element = tensor.element
    assert isinstance(element, ir.Load), "a view loads what it shows"
    if not all(_is_linear(index, frozenset(tensor.axes)) for index in element.index):
        return None
    element = _inside(scope, element, frozenset(tensor.axes), loc)
    origin: dict[ir.Symbol, ir.Expr] = dict.fromkeys(tensor.axes, integer(0, loc))
    first = [linear_form(substitute(index, origin)) for index in element.index]
    steps = [
        linear_form(substitute(index, {**origin, axis: integer(1, loc)})).plus(start, -1)
        for axis in tensor.axes
        for index, start in zip(element.index, first, strict=True)
    ]
    numbers: list[int | None] = []
    later: list[vals.Number] = []
    for form in (*first, *map(linear_form, tensor.extents), *steps):
        numbers.append(None if form.terms else form.constant)
        if form.terms:
            later.append(vals.Number(scope.temp("view", written(form, loc)), python=True))
    return vals.ReturnedView(vals.ArrayRef(element.array), tensor.ndim, tuple(numbers), tuple(later))


def _inside(scope: Scope, element: ir.Load, axes: frozenset[ir.Symbol], loc: Loc) -> ir.Load:
    """The element with its single indices normalised (negative ones too); one out of bounds raises IndexError."""
    if not element.checked:
        return element
    index = tuple(
        index
        if scalars_read(index) & axes
        else tested_position(
            scope,
            vals.Number(index, python=True),
            ir.Extent(element.array, k, loc=loc),
            loc,
            out_of_bounds(k),
        )
        for k, index in enumerate(element.index)
    )
    return replace(element, index=index)


def _is_linear(expr: ir.Expr, axes: frozenset[ir.Symbol]) -> bool:
    """Whether the index expression is linear in the axes."""
    if not scalars_read(expr) & axes:
        return True
    match expr:
        case ir.Var():
            return True
        case ir.Binary(op="+" | "-", lhs=lhs, rhs=rhs):
            return _is_linear(lhs, axes) and _is_linear(rhs, axes)
        case ir.Binary(op="*", lhs=lhs, rhs=rhs):
            one_side = not scalars_read(lhs) & axes or not scalars_read(rhs) & axes
            return one_side and _is_linear(lhs, axes) and _is_linear(rhs, axes)
        case _:
            return False
