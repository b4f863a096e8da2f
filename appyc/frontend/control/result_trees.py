"""The values that a function returns, as results of its kernel and the tree that they make up."""

from __future__ import annotations

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.control import returned_choices
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import (
    ArrayRef,
    DictValue,
    ListValue,
    Masked,
    MaybeNone,
    Number,
    Opaque,
    ReturnedChoice,
    ReturnedContainer,
    ReturnedList,
    ReturnedView,
    Tensor,
    TupleValue,
    Value,
    Wide,
)
from appyc.ir.nodes import Result, Symbol, Var
from appyc.ir.results import Chosen, DictOf, ListOf, MadeOf, NoneOr, ResultTree, ViewOf


class ResultTrees:
    """The returned values as results of the kernel."""

    def __init__(self, scope: Scope, results: list[Result], loc: Loc) -> None:
        self.scope, self.results, self.loc = scope, results, loc

    def tree(self, value: Value) -> ResultTree:
        match value:
            case Number():
                return self._scalar(value)
            case ArrayRef():
                return self._array(value.symbol)
            case ReturnedView():
                array = self._array(value.array.symbol)
                if not isinstance(array, int):
                    raise self._not_told(value.array.symbol)
                later = tuple(self._scalar(number) for number in value.later)
                return ViewOf(array, value.ndim, value.numbers, later)
            case ReturnedChoice():
                which = self._scalar(value.which)
                options = tuple(self._whole(s) for s in returned_choices.options_of(self.scope, value))
                return Chosen(which, options, returned_choices.may_choose_none(self.scope, value))
            case TupleValue():
                return tuple(self.tree(v) for v in value.items)
            case Opaque() | Wide():
                return None  # a wide one is refused where it is returned
            case ReturnedList(slots=slots):
                return ListOf(
                    tuple(self._whole(column) for column in slots.columns),
                    tuple(kind.python for kind in slots.kinds), slots.of_tuples, self._scalar(value.count),
                )  # fmt: skip
            case MaybeNone(value=present, is_none=is_none):
                return NoneOr(self._scalar(is_none), self.tree(present))
            case ReturnedContainer(makes, lists):
                return MadeOf(makes, tuple(self.tree(v) for v in lists.items))
            case DictValue(keys, values):
                return DictOf(keys, tuple(self.tree(v) for v in values.items))
            case ListValue():
                raise AssertionError("a returned list has its length at that time")
            case Tensor() | Masked():
                raise AssertionError("a returned tensor has been put into memory")

    def _scalar(self, number: Number) -> int:
        self.results.append(Result(number.expr, number.python, loc=number.expr.loc))
        return len(self.results) - 1

    def _array(self, symbol: Symbol) -> int | Chosen:
        """The result of a returned array. Phi storage that may be a copy of the caller's array is returned as a
        choice at run time between itself and that array."""
        memory = self.scope.memory
        origins = memory.origins(symbol)
        if origins & memory.seen:
            raise self._not_told(symbol)
        if symbol not in memory.homes or not origins & set(memory.outside):
            return self._whole(symbol)
        which = self._scalar(Number(Var(memory.homes[symbol], loc=self.loc), python=True))
        return Chosen(which, tuple(self._whole(s) for s in (symbol, *memory.outside)))

    def _whole(self, symbol: Symbol) -> int:
        # One array that is returned twice is one result.
        memory = self.scope.memory
        for number, result in enumerate(self.results):
            if result.value == symbol:
                return number
            if isinstance(result.value, Symbol) and result.value.is_array:
                common = memory.origins(symbol) & memory.origins(result.value)
                if common and (memory.origins(symbol) | memory.origins(result.value)) & memory.shared:
                    raise self._not_told(symbol)
        self.results.append(Result(symbol, loc=self.loc))
        return len(self.results) - 1

    def _not_told(self, symbol: Symbol) -> UnsupportedError:
        return UnsupportedError(
            f"whether what is returned here is a view or another name's array shows only when '{symbol.name}' "
            "is bound to another array", self.loc,
            hints=(f"return a copy: {symbol.name}.copy()",),
        )  # fmt: skip
