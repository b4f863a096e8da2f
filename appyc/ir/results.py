"""The structure of a function's return value over the values that its kernel returns.

A tree of numbers of results. The runtime builds the value without knowing the IR.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np

from appyc.ir.types import structured_dtype


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of several results, by the number that the result `which` holds. or_none: -1 stands for None."""

    which: int
    options: tuple[int, ...]
    or_none: bool = False

    def build(self, values: Sequence[Any]) -> object:
        number = int(values[self.which])
        return None if self.or_none and number < 0 else values[self.options[number]]

    def leaves(self) -> Iterator[int]:
        yield self.which
        yield from self.options


@dataclass(frozen=True, slots=True)
class ViewOf:
    """A view of the array that the result `array` is.

    numbers: where its first element is along each of the array's axes, its own shape, and for each of
    its axes how far a step goes along each of the array's. Those that are None are, in order, the
    results `known_later`.
    """

    array: int
    ndim: int
    numbers: tuple[int | None, ...]
    known_later: tuple[int, ...]

    def build(self, values: Sequence[Any]) -> object:
        base = values[self.array]
        later = iter(self.known_later)
        numbers = [int(values[next(later)]) if n is None else n for n in self.numbers]
        first, shape = numbers[: base.ndim], numbers[base.ndim : base.ndim + self.ndim]
        steps = numbers[base.ndim + self.ndim :]
        strides = [
            sum(n * s for n, s in zip(steps[k * base.ndim :], base.strides, strict=False))
            for k in range(self.ndim)
        ]
        corner = base[tuple(slice(n, n + 1) for n in first)]
        library: Any = sys.modules[type(base).__module__.partition(".")[0]]  # NumPy or CuPy
        return library.lib.stride_tricks.as_strided(corner, tuple(shape), tuple(strides))

    def leaves(self) -> Iterator[int]:
        yield self.array
        yield from self.known_later


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of numbers, or of tuples of them, whose numbers are the first `count` elements of arrays. python: which
    of these are numbers of Python's own. of_tuples: the path of a named tuple's class, "" for other tuples, None for
    numbers; of tuples in tuples, and of ints among floats, as in `rows_of`."""

    columns: tuple[int, ...]
    python: tuple[bool, ...]
    of_tuples: str | None
    count: int

    def build(self, values: Sequence[Any]) -> object:
        count = values[self.count]
        if self.of_tuples is None:
            part = values[self.columns[0]][:count]
            return part.tolist() if self.python[0] else list(part)
        parts = [values[n][:count] for n in self.columns]
        columns = [part.tolist() if own else list(part) for part, own in zip(parts, self.python, strict=True)]
        return list(rows_of(self.of_tuples, *columns))

    def leaves(self) -> Iterator[int]:
        yield from self.columns
        yield self.count


def _text(codes: Any, count: int | None = None) -> str | None:
    """The text of the first of these code points, which may be surrogates; None for none."""
    return (
        None
        if codes is None
        else np.asarray(codes[:count], "<i4").tobytes().decode("utf-32-le", "surrogatepass")
    )


def _character(code: int) -> str:
    return chr(code) if code >= 0 else ""


def _characters(codes: Any, count: int) -> list[str]:
    """The texts of one character of the first of these code points, or of none for -1."""
    found = codes[:count]
    return list(map(_character, found.tolist())) if (found < 0).any() else list(_text(found) or "")


CONTAINERS: dict[str, Callable[..., object]] = {
    "dict": lambda keys, values: dict(zip(keys, values, strict=True)),
    "Counter": lambda keys, values: Counter(dict(zip(keys, values, strict=True))),
    "defaultdict(int)": lambda keys, values: defaultdict(int, zip(keys, values, strict=True)),
    "defaultdict(float)": lambda keys, values: defaultdict(float, zip(keys, values, strict=True)),
    "defaultdict(list)": lambda keys, values: defaultdict(list, zip(keys, values, strict=True)),
    "list": lambda *items: list(items),
    "set": set,
    "deque": deque,
    "bytes": bytes,
    "list of lists": lambda matrix: (
        matrix if isinstance(matrix, list) else matrix.tolist()
    ),  # one is an argument
    "ints and floats": lambda numbers, are_ints: [
        int(number) if is_int else number for number, is_int in zip(numbers, are_ints, strict=True)
    ],
    "bytearray": bytearray,
    "character": _character,
    "characters": _characters,
    "text": _text,
    "lists": lambda items, starts, counts: [
        items[start : start + count] for start, count in zip(starts, counts, strict=True)
    ],
    "arrays": lambda items, starts, shapes: [
        items[start : start + prod(shape)].reshape(shape).copy() if start >= 0 else None
        for start, shape in zip(starts, shapes, strict=True)
    ],
}
"""The functions that make each kind of container from the lists of its items."""


def path_of(kind: type) -> str:
    """The module and qualified name by which a class can be found again; empty for a local class."""
    path = f"{kind.__module__}:{kind.__qualname__}"
    return path if class_at(path) is kind else ""


def fields_of(kind: type) -> tuple[tuple[str, ...], str]:
    """The names of the items of a named tuple's class, and its path; empty for another class."""
    names = getattr(kind, "_fields", ())
    return names, path_of(kind) if names else ""


def class_at(path: str) -> Any:
    """The class of this path; None where there is none."""
    module, names = _address(path)
    return functools.reduce(lambda found, name: getattr(found, name, None), names, sys.modules.get(module))


@functools.cache
def _address(path: str) -> tuple[str, Sequence[str]]:
    module, _, name = path.partition(":")
    return module, name.split(".")


def maker_of(name: str) -> Callable[..., object]:
    """The constructor of the container of this name, of the named tuple whose class has this path, or of structured
    arrays whose dtype has this text."""
    if name in CONTAINERS:
        return CONTAINERS[name]
    if (dtype := dtype_at(name)) is not None:
        return functools.partial(_records, dtype)
    make = class_at(name)._make
    return lambda *items: make(items)


def rows_of(of_tuples: str, *columns: Sequence[object]) -> Iterable[object]:
    """The tuples of a list. of_tuples: as in `ListOf`; of tuples in tuples, ints among floats, and characters, the
    positions of numbers, of numbers and flags, and of code points (`tuple:(0, ([1, 3], [2]))`)."""
    if of_tuples.startswith("tuple:"):
        return _rows(ast.literal_eval(of_tuples.removeprefix("tuple:")), columns)
    rows = zip(*columns, strict=True)
    return starmap(maker_of(of_tuples), rows) if of_tuples else rows


def _rows(form: object, columns: Sequence[Sequence[object]]) -> Iterable[object]:
    match form:
        case tuple():
            return zip(*(_rows(part, columns) for part in form), strict=True)
        case [int(numbers), int(are_ints)]:
            return cast("list[object]", CONTAINERS["ints and floats"](columns[numbers], columns[are_ints]))
        case [int(codes)]:
            return map(_character, cast("Sequence[int]", columns[codes]))
        case _:
            assert isinstance(form, int)
            return columns[form]


def dtype_at(name: str) -> np.dtype[Any] | None:
    """The dtype of a maker of structured arrays."""
    module, _, text = name.partition(":")
    return structured_dtype(text) if module == "dtype" else None


def _records(dtype: np.dtype[Any], part: tuple[int, int, int], *fields: Any) -> object:
    """A new structured array with the elements of the fields that are at the positions of a slice: the first, how many,
    and the distance between them."""
    first, count, step = part
    end = first + count * step
    out = np.empty(count, dtype)
    for name, field in zip(dtype.names or (), fields, strict=True):
        found = field[first : end if end >= 0 else None : step]
        out[name] = found if isinstance(found, np.ndarray) else found.get()  # of CuPy
    return out


@dataclass(frozen=True, slots=True)
class MadeOf:
    """A container, by its name in `CONTAINERS`, that is made of lists; or a named tuple, by the path of its class."""

    makes: str
    lists: tuple[ResultTree, ...]

    def build(self, values: Sequence[Any]) -> object:
        return maker_of(self.makes)(*[values[t] if type(t) is int else nested(t, values) for t in self.lists])

    def leaves(self) -> Iterator[int]:
        return leaves(self.lists)


@dataclass(frozen=True, slots=True)
class NoneOr:
    """A number or a tuple of numbers, or None where the result `is_none` holds."""

    is_none: int
    value: ResultTree

    def build(self, values: Sequence[Any]) -> object:
        return None if values[self.is_none] else nested(self.value, values)

    def leaves(self) -> Iterator[int]:
        yield from leaves(self.value)
        yield self.is_none


@dataclass(frozen=True, slots=True)
class DictOf:
    """A dict with these keys."""

    keys: tuple[str | int, ...]
    items: tuple[ResultTree, ...]

    def build(self, values: Sequence[Any]) -> object:
        return {key: nested(item, values) for key, item in zip(self.keys, self.items, strict=True)}

    def leaves(self) -> Iterator[int]:
        for item in self.items:
            yield from leaves(item)


ResultTree: TypeAlias = (
    int | tuple["ResultTree", ...] | Chosen | ViewOf | ListOf | MadeOf | NoneOr | DictOf | None
)
"""The shape of what is returned: nothing, the n-th result, a tuple or dict of such, or made of several results."""


def nested(tree: ResultTree, values: Sequence[Any]) -> object:
    """The values in the shape that the function returns."""
    match tree:
        case int():
            return values[tree]
        case None:
            return None
        case tuple():
            return tuple(nested(t, values) for t in tree)
        case _:
            return tree.build(values)


def leaves(tree: ResultTree) -> Iterator[int]:
    """The numbers of the results that a tree names."""
    match tree:
        case int():
            yield tree
        case None:
            return
        case tuple():
            for item in tree:
                yield from leaves(item)
        case _:
            yield from tree.leaves()
