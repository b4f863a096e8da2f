"""Calls of a GPU version again: types, layouts and overlaps of CuPy's arrays are looked at once for each shape."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from appyc.compiler.captured_values import Captured, StaleVersion
from appyc.errors import Loc, TypeInferenceError
from appyc.ir.arguments import ArgType, ScalarArg, writeable
from appyc.ir.types import ArrayType
from appyc.runtime.overlap import byte_range
from appyc.runtime.signature import typeof

_NOWHERE = Loc("<argument>", 0)
_MOST_SHAPES = 256

Reach: TypeAlias = tuple[int, int, int]
"""An argument's number, and how far the memory of the array reaches before and behind its first element, in bytes."""

_NEW: tuple[Reach, ...] = ((-1, 0, 0),)


class QuickCalls:
    """A version's `quick`. types: of the arguments. written: numbers of those that are stored to. run: a call without
    arrays that overlap."""

    def __init__(
        self,
        captured: Captured,
        types: Sequence[ArgType],
        written: frozenset[int],
        run: Callable[[list[Any]], object],
    ) -> None:
        self._captured, self._types, self._written, self._run = captured, types, written, run
        self._seen: dict[tuple[object, ...], tuple[Reach, ...] | None] = {}
        """By classes and shapes; None where the version does not take them."""

    @staticmethod
    def takes(captured: Captured, types: Sequence[ArgType]) -> bool:
        """Whether a version needs nothing but arrays and numbers."""
        is_plain = all(isinstance(type_, ArrayType | ScalarArg) for type_ in types)
        return is_plain and not captured.outside.captures and not captured.objects

    def __call__(self, named: Mapping[str, object]) -> object:
        """Raises StaleVersion for arguments that it does not take."""
        cupy = sys.modules.get("cupy")
        if cupy is None or not self._captured.is_current(named):
            raise StaleVersion
        values: list[Any] = list(named.values())
        array, starts = cupy.ndarray, []
        key: list[object] = []
        for value in values:
            if type(value) is array:
                starts.append(value.data.ptr)
                key.append((value.dtype, value.shape, value.strides))
            else:
                starts.append(0)
                key.append(type(value))
                if type(value) is int and not -(2**63) <= value < 2**63:
                    raise StaleVersion
        found = self._seen.get(tuple(key), _NEW)
        if found is _NEW:
            found = self._look(values, starts, array)
            if len(self._seen) >= _MOST_SHAPES:
                self._seen.clear()
            self._seen[tuple(key)] = found
        if found is None:
            raise StaleVersion
        for number, before, behind in found:
            if number in self._written:
                lo, hi = starts[number] + before, starts[number] + behind
                for other, others_before, others_behind in found:
                    at = starts[other]
                    if at + others_before < hi and lo < at + others_behind and other != number:
                        raise StaleVersion
        return self._run(values)

    def _look(self, values: Sequence[Any], starts: Sequence[int], array: type) -> tuple[Reach, ...] | None:
        """How far each array reaches; None where a type is another."""
        if not any(type(value) is array for value in values):
            return None
        reaches = []
        for number, (value, type_) in enumerate(zip(values, self._types, strict=True)):
            try:
                same = writeable(typeof(value, "", _NOWHERE)) == type_
            except TypeInferenceError:
                same = False
            if not same or (isinstance(type_, ArrayType) and type(value) is not array):
                return None
            span = byte_range(value)
            if span is not None and span[0] < span[1]:
                reaches.append((number, span[0] - starts[number], span[1] - starts[number]))
        return tuple(reaches)
