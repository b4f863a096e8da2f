"""Binding of a call's arguments to the parameters of a function, a tenth of the cost of `inspect.Signature.bind`."""

from __future__ import annotations

import ast
import functools
import inspect
import numbers
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from types import FunctionType
from typing import Any, cast

import numpy as np

from appyc.errors import UnsupportedError
from appyc.frontend.access import python_function
from appyc.frontend.source import Source, read_source
from appyc.runtime.dispatch import LONGEST_LIST
from appyc.runtime.signature import arrays_type, list_type

FEW_TUPLES = 8
"""A list of so many tuples is a tuple, loops over which are unrolled."""

MOST_NESTED = 512
"""So many items of a list and of the lists in it, at most, are variables of compiled code."""

_ANY_NUMBER = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


class Parameters:
    """The parameters of a function. text: reads its source; raises UnsupportedError where there is none."""

    def __init__(self, fn: FunctionType, text: Callable[[], Source]) -> None:
        self.signature = inspect.signature(fn, follow_wrapped=False)
        self._fn = fn
        self._text = text
        found = self.signature.parameters
        kinds = [p.kind for p in found.values()]
        self._defaults = {name: p.default for name, p in found.items() if p.default is not p.empty}
        last = [*found][len(found) - len(self._defaults) :]
        self.are_named = last == [*self._defaults] and not _ANY_NUMBER.intersection(kinds)
        """The dispatcher takes them: each is one value, and the last ones have the defaults."""
        self.names = tuple(
            None if p.kind is inspect.Parameter.POSITIONAL_ONLY else n
            for n, p in found.items()
            if self.are_named
        )
        self.defaults = tuple(self._defaults.values()) if self.are_named else ()
        self.keyword_only = kinds.count(inspect.Parameter.KEYWORD_ONLY) if self.are_named else 0
        self.picks_arrays = False
        """Whether arrays of lists and tuples are picked at run time, so that these are lists to compiled code."""
        self._keywords = {name for name in self.names if name is not None}

    def bind(self, args: tuple[object, ...], keywords: Mapping[str, object]) -> dict[str, object]:
        """The arguments by parameter name, defaults included. Raises TypeError as a call of the function does."""
        parameters = self.signature.parameters
        if self.are_named and len(args) <= len(parameters) - self.keyword_only:
            given = dict(zip(parameters, args, strict=False))
            if not keywords and len(given) == len(parameters):
                return given
            found = {**self._defaults, **keywords, **given}
            if len(found) == len(parameters) and keywords.keys() <= self._keywords - given.keys():
                return {name: found[name] for name in parameters}
        try:
            bound = self.signature.bind(*args, **keywords)
        except TypeError:
            self._fn(*args, **keywords)  # raises Python's own
            raise
        bound.apply_defaults()
        return dict(bound.arguments)

    def with_tuples(self, named: dict[str, object]) -> dict[str, object]:
        """The arguments as compiled code takes them: short lists of read-only parameters become tuples, unless they are
        lists of numbers that the function does no more with than with any list."""
        lists = {n: v for n, v in named.items() if type(v) is list and len(v) <= LONGEST_LIST}
        if self.picks_arrays:
            tuples = {n: list(v) for n, v in named.items() if type(v) is tuple and arrays_type(v) is not None}
            named = {**named, **tuples}
        if not lists:
            return named
        read = self._read_only
        taken = {
            n: _as_tuple(v, deep=read[n])
            for n, v in lists.items()
            if n in read and not self._stays(n, v) and _are_few(v, deep=read[n])
        }
        return {**named, **taken}

    def _stays(self, name: str, items: list[object]) -> bool:
        """Whether a short list is no tuple: one of numbers of one type, of more than a few tuples of such, or of
        numbers of several types that are picked at run time."""
        types = {type(item) for item in items}
        if types == {np.ndarray}:
            return self.picks_arrays and arrays_type(items) is not None
        if types == {tuple} and len(items) <= FEW_TUPLES:
            return False
        if len(types) == 1:
            return name not in self._picked_and_unpacked[1] and list_type(items) is not None
        return name in self._picked_and_unpacked[0] and all(issubclass(t, numbers.Number) for t in types)

    @functools.cached_property
    def _read_only(self) -> dict[str, bool]:
        """Parameters whose lists are only read; True where nested lists are, too."""
        from appyc.frontend.resolve import is_of_library  # noqa: PLC0415
        from appyc.frontend.syntax.containers import read_parameters  # noqa: PLC0415  (few calls have lists)

        try:
            function = self._text().ast
        except UnsupportedError:
            return {}  # it runs in Python
        return read_parameters(function, functools.partial(is_of_library, self._fn))

    @functools.cached_property
    def texts(self) -> frozenset[str]:
        """Parameters of whose texts the characters are looked at."""
        from appyc.frontend.syntax.text_parameters import texts_run_over  # noqa: PLC0415  (few calls have texts)

        def callee(name: str) -> ast.FunctionDef | None:
            function = python_function(self._fn.__globals__.get(name))
            try:
                return read_source(function).ast if function is not None else None
            except UnsupportedError:
                return None  # its text cannot be read: nothing is known of what it does with a text

        try:
            return texts_run_over(self._text().ast, callee)
        except UnsupportedError:
            return frozenset()

    @functools.cached_property
    def _picked_and_unpacked(self) -> tuple[frozenset[str], frozenset[str]]:
        """Names that are indexed at run time; and those that are unpacked, or given to a library, which may take a list
        for a shape."""
        from appyc.frontend.syntax.containers import unpacked_names  # noqa: PLC0415  (as above)
        from appyc.frontend.syntax.tree import names_indexed  # noqa: PLC0415

        function = self._text().ast
        return frozenset(names_indexed(function)), unpacked_names(function)


def _are_few(items: list[object], *, deep: bool) -> bool:
    """Whether a list, with the lists in it if deep, has no more items than compiled code may have variables for."""
    count, todo = 0, [items]
    while todo and count <= MOST_NESTED:
        here = todo.pop()
        count += len(here)
        todo += [item for item in here if deep and type(item) is list]
    return count <= MOST_NESTED


def _as_tuple(items: Sequence[object], *, deep: bool) -> tuple[object, ...]:
    """The items of a list as a tuple. deep: nested lists become tuples too."""
    return tuple(_as_tuple(item, deep=True) if deep and type(item) is list else item for item in items)


def call_by_name(
    fn: FunctionType, named: Mapping[str, object], called: Callable[..., object] | None = None
) -> object:
    """Calls a function with arguments by parameter name, whatever the kinds of its parameters. called: another
    function of the same parameters, which is called instead."""
    code, rest = fn.__code__, dict(named)
    positional = [rest.pop(name) for name in code.co_varnames[: code.co_argcount]]
    behind = iter(code.co_varnames[code.co_argcount + code.co_kwonlyargcount :])
    if code.co_flags & inspect.CO_VARARGS:
        positional += cast("tuple[object, ...]", rest.pop(next(behind)))
    if code.co_flags & inspect.CO_VARKEYWORDS:
        rest |= cast("dict[str, object]", rest.pop(next(behind)))
    return (called or fn)(*positional, **rest)


def recorded_in(values: Collection[object]) -> Any:
    """A recorded array among arguments or their nested tuples and lists; None if there is none."""
    for _ in range(_DEEPEST):
        kinds = set(map(type, values))  # at once, for long lists
        if any(hasattr(kind, "__appyc_call__") for kind in kinds):
            return next(value for value in values if hasattr(type(value), "__appyc_call__"))
        if kinds.isdisjoint(_NESTED):
            return None
        nested = [cast("Collection[object]", value) for value in values if type(value) in _NESTED]
        values = [*chain.from_iterable(nested)]
    return None


_NESTED = (tuple, list)
_DEEPEST = 8
"""The most tuples and lists inside each other that are looked into."""
