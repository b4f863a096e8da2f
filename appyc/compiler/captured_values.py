"""Values that compiled code takes from outside its arguments: fields of objects, variables, generators of random
numbers. Each call looks them up by their access paths.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import NoReturn, cast

import numpy as np

from appyc.compiler.analyse import CompiledFor
from appyc.errors import Loc, TypeInferenceError
from appyc.frontend.access import AccessPath, closure_of, fetch, find
from appyc.frontend.field_cells import CELL, Cell, put_back
from appyc.frontend.library.generator_state import STEPS, Array, held
from appyc.runtime.dispatch import Entry
from appyc.runtime.frame import Kernel, raise_fault
from appyc.runtime.signature import typeof_captured

_NOWHERE = Loc("<closure>", 0)


class StaleVersion(Exception):  # noqa: N818  (a signal to the caller, who then looks for another version)
    """The call has other types than the version, or what is built into it has changed. Nothing was written."""


@dataclass(frozen=True, slots=True)
class Captured:
    """The captures of one version, fetched at each call. objects: parameters of which the code takes fields
    only."""

    fn: FunctionType
    outside: CompiledFor
    objects: Collection[str]

    def still_holds(self, named: Mapping[str, object]) -> bool:
        """Whether what was built into the code is what it was, and captures have their types."""
        try:
            if not self.is_current(named):
                return False
            for path, type_ in zip(self.outside.captures, self.outside.capture_types, strict=True):
                if typeof_captured(fetch(self.fn, path, named), str(path), _NOWHERE) != type_:
                    return False
        except (LookupError, AttributeError, TypeInferenceError):
            return False
        return True

    def is_current(self, named: Mapping[str, object]) -> bool:
        return all(_same(find(self.fn, path, named), value) for path, value in self.outside.watched)

    def values(self, named: Mapping[str, object]) -> tuple[object, ...]:
        """A call's arguments by position, captures at the end; None for an object."""
        captured = [fetch(self.fn, path, named) for path in self.outside.captures]
        return (*self._given(named), *captured)

    def _given(self, named: Mapping[str, object]) -> Iterator[object]:
        return (None if name in self.objects else value for name, value in named.items())

    def drawing(
        self, values: tuple[object, ...], named: Mapping[str, object]
    ) -> AbstractContextManager[object]:
        """Holds the generators that a call draws from, and puts back the fields that it assigns. Raises LeftToPython
        where two of them are one."""
        paths = self.outside.captures
        parts = zip(paths, values[len(values) - len(paths) :], strict=True)
        drawn: list[tuple[object, str, Array]] = []
        cells: list[tuple[object, str, Cell]] = []
        read: list[tuple[object, str]] = []
        for path, part in parts:
            *owner, (_, name), (kind, _) = (("", ""), *path.steps)
            if kind in STEPS:
                drawn.append((self._found(path.steps[:-1], named), kind, cast("Array", part)))
            elif kind == CELL:
                cells.append((self._found(owner[1:], named), name, cast("Cell", part)))
            elif kind == "attr":
                read.append((self._found(path.steps[:-1], named), path.steps[-1][1]))
        return held(drawn) if not cells else _both(put_back(cells, read), held(drawn))

    def _found(self, steps: Iterable[tuple[str, str]], named: Mapping[str, object]) -> object:
        return find(self.fn, AccessPath(tuple(steps)), named)

    @property
    def draws(self) -> bool:
        """Whether calls hold generators, or assign fields."""
        return any(path.steps[-1][0] in (*STEPS, CELL) for path in self.outside.captures)

    def quick(self, entry: Entry) -> Callable[[Mapping[str, object]], object]:
        """Calls through a dispatcher, which compares types. They raise StaleVersion for what it does not take."""
        draws, captures, fn = self.draws, self.outside.captures, self.fn

        def call(named: Mapping[str, object]) -> object:
            try:
                if not self.is_current(named):
                    raise StaleVersion
                values = (*self._given(named), *[find(fn, path, named) for path in captures])
            except (LookupError, AttributeError):
                raise StaleVersion from None
            if not draws:
                return entry(*values)
            with self.drawing(values, named):
                return entry(*values)

        return call


@contextmanager
def _both(one: AbstractContextManager[object], other: AbstractContextManager[object]) -> Iterator[None]:
    with one, other:
        yield


def dispatcher_of(kernel: Kernel) -> Entry:
    """A dispatcher that takes captured values behind the arguments."""
    entry = Entry(_stale, raise_fault)
    entry.add(kernel)
    return entry


def _stale(*_: object) -> NoReturn:
    raise StaleVersion


def _same(now: object, before: object) -> bool:
    if now is before:
        return True
    if isinstance(now, MethodType) and isinstance(before, MethodType):
        return now.__func__ is before.__func__  # each look-up makes a new method object
    if isinstance(now, FunctionType) and isinstance(before, FunctionType):
        return _is_same_code(now, before)  # so does each pass of a nested `def`
    if isinstance(now, tuple) and isinstance(before, tuple):
        return len(now) == len(before) and all(map(_same, now, before))
    if isinstance(now, bool | int | float | complex | str):
        return type(now) is type(before) and repr(now) == repr(before)
    return False


def _is_same_code(now: FunctionType, before: FunctionType) -> bool:
    """Whether two functions do the same, given that the numbers and arrays in their closures are compared, or fetched,
    by paths of their own."""
    if now.__code__ is not before.__code__:
        return False
    parts = [
        (dict(enumerate(f.__defaults__ or ())), f.__kwdefaults__ or {}, closure_of(f)) for f in (now, before)
    ]
    with_own_paths = ((), (), (np.ndarray, int, float, complex))
    return all(
        new.keys() == old.keys()
        and all(new[name] is old[name] or isinstance(old[name], kinds) for name in old)
        for new, old, kinds in zip(*parts, with_own_paths, strict=True)
    )
