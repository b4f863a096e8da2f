"""Generators of random numbers as compiled code takes them: by the address of their state.

Apart from the front end, so that a call of compiled code needs nothing of the compiler. Fields of
an object's memory without a documented offset are found once, by their known contents; where one is not found, Python
draws.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from appyc.errors import LeftToPython

GENERATOR, GAUSS_FLAG, GAUSS = "generator", "gauss flag", "gauss"
"""Steps of a path from a generator to the address of its state, and to the normal number that it has in store."""

STEPS = frozenset({GENERATOR, GAUSS_FLAG, GAUSS})

NUMPY, LEGACY, PYTHON = "numpy", "legacy", "python"
"""np.random.Generator, np.random.RandomState, random.Random."""

_KINDS = {
    ("numpy.random._generator", "Generator"): NUMPY,
    ("numpy.random.mtrand", "RandomState"): LEGACY,
    ("random", "Random"): PYTHON,
}

Array: TypeAlias = np.ndarray[Any, Any]


def kind_of(value: object) -> str | None:
    """Which kind of generator an object is; None for all other objects."""
    return _KINDS.get((type(value).__module__, type(value).__qualname__))


def kind_of_all(value: object) -> str | None:
    """The kind of a generator, or of all generators in a list or tuple."""
    if type(value) in (list, tuple):
        kinds = {_KINDS.get((kind.__module__, kind.__qualname__)) for kind in set(map(type, value))}  # type: ignore[call-overload]
        return kinds.pop() if len(kinds) == 1 else None
    return kind_of(value)


def part_of(value: object, step: str, kind: str) -> Array:
    """The array that compiled code gets for a generator, or for each in a list. Raises LookupError for
    another kind."""
    if kind_of_all(value) != kind:
        raise LookupError(f"this is no generator of the kind {kind!r}")
    if step == GENERATOR:
        each = value if isinstance(value, list | tuple) else (value,)
        return np.array([_address(item, kind) for item in each], np.uint64)
    return _gauss_of(value, step, kind)


def has_part(step: str, kind: str) -> bool:
    """Whether that part of such generators is where compiled code can get at it."""
    if kind == PYTHON:
        return _python_state_offset() is not None
    return step == GENERATOR or _legacy_gauss_offset() is not None


def _address(value: Any, kind: str) -> int:
    if kind == PYTHON:
        offset = _python_state_offset()
        assert offset is not None
        return id(value) + offset
    found: int = _POINTER(_bits_of(value).capsule, b"BitGenerator")
    return found


_POINTER = ctypes.pythonapi.PyCapsule_GetPointer
_POINTER.argtypes = [ctypes.py_object, ctypes.c_char_p]
_POINTER.restype = ctypes.c_void_p


def _memory(value: object, offset: int, kind: Any) -> Array:
    """A number in an object's memory, as an array."""
    memory = (kind * 1).from_address(id(value) + offset)
    memory.owner = value
    return np.ctypeslib.as_array(memory)


def _gauss_of(value: Any, step: str, kind: str) -> Array:
    if kind == PYTHON:
        kept = value.gauss_next
        return np.array([kept is not None, kept or 0.0], np.float64)
    offset = _legacy_gauss_offset()
    assert offset is not None
    if step == GAUSS_FLAG:
        return _memory(value, offset, ctypes.c_int32)
    return _memory(value, offset + 8, ctypes.c_double)


@cache
def _python_state_offset() -> int | None:
    """The offset in a random.Random of its position and 624 state words; None where they are not found."""
    import random  # noqa: PLC0415  (few programs draw with it)

    probe, offset = random.Random(4357), object.__basicsize__
    for _ in range(3):
        *words, position = probe.getstate()[1]
        if random.Random.__basicsize__ < offset + 4 * 625:
            return None
        found = np.ctypeslib.as_array((ctypes.c_uint32 * 625).from_address(id(probe) + offset))
        if found.tolist() != [position, *words]:
            return None
        probe.getrandbits(32)
    return offset


@cache
def _legacy_gauss_offset() -> int | None:
    """The offset in a RandomState of its flag for a stored normal number, 8 bytes before that; None where not
    found."""
    probe, offset = np.random.RandomState(4357), None
    memory = np.ctypeslib.as_array(
        (ctypes.c_uint64 * (type(probe).__basicsize__ // 8)).from_address(id(probe))
    )
    for has_gauss, gauss in ((1, 1.2345e-67), (0, 0.0), (1, -7.6543e-89)):
        state: Any = probe.get_state(legacy=False)
        probe.set_state({**state, "has_gauss": has_gauss, "gauss": gauss})
        wanted = [has_gauss, np.float64(gauss).view(np.uint64)]
        if offset is None:
            pairs = [[memory[k] & 0xFFFFFFFF, memory[k + 1]] for k in range(len(memory) - 1)]
            if pairs.count(wanted) != 1:
                return None
            offset = 8 * pairs.index(wanted)
        elif [memory[offset // 8] & 0xFFFFFFFF, memory[offset // 8 + 1]] != wanted:
            return None
    return offset


def held(drawn: Sequence[tuple[object, str, Array]]) -> AbstractContextManager[object]:
    """Holds the locks of the generators while compiled code draws from them.

    drawn: of each part that the code takes, the generators, the step to it, and the part. Raises LeftToPython where two
    of the generators are one.
    """
    sources = [
        _bits_of(source)
        for value, step, _ in drawn
        if step == GENERATOR
        for source in (value if isinstance(value, list | tuple) else (value,))
    ]
    apart = {id(source): source for source in sources}
    if len(apart) < len(sources):
        raise LeftToPython
    locks = [source.lock for _, source in sorted(apart.items()) if hasattr(source, "lock")]
    return locks[0] if len(drawn) == len(locks) == 1 else _all_held(locks, drawn)


@contextmanager
def _all_held(locks: Sequence[Any], drawn: Sequence[tuple[object, str, Array]]) -> Iterator[None]:
    with ExitStack() as stack:
        for lock in locks:
            stack.enter_context(lock)
        yield
    for value, step, part in drawn:
        if step == GAUSS and kind_of(value) == PYTHON:
            value.gauss_next = part[1].item() if part[0] else None  # type: ignore[attr-defined]


def _bits_of(value: Any) -> Any:
    """The object with a generator's bit state: the generator itself if it is Python's."""
    kind = kind_of(value)
    return value if kind == PYTHON else value.bit_generator if kind == NUMPY else value._bit_generator
