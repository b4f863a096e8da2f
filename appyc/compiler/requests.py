"""Requests for versions of a function: the types of a call's arguments, and the target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from appyc.errors import Loc, TypeInferenceError
from appyc.frontend.access import python_function
from appyc.frontend.library.generator_state import kind_of_all
from appyc.ir.arguments import ArgType, NoneArg, TupleArg, TupleKind, leaves, writeable
from appyc.ir.types import ArrayType
from appyc.runtime.signature import BYTES, TEXT, arrays_type, list_type, typeof


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """The request for a version: argument types by parameter name, and the target.

    objects: arguments that are neither numbers nor arrays (their type is NoneArg): of an instance, the fields that the
    function reads are fetched at each call; a string is built into the code."""

    types: Mapping[str, ArgType]
    objects: Mapping[str, object]
    target: str

    @property
    def key(self) -> tuple[object, ...]:
        # None has the type of an object, and code may ask which of the two it is.
        objects = tuple((n, v if isinstance(v, str) else type(v)) for n, v in self.objects.items())
        return (self.target, tuple(self.types.values()), objects)

    @property
    def typeless(self) -> frozenset[str]:
        """The names of objects that the types do not tell, of which the code takes fields only."""
        return frozenset(name for name, value in self.objects.items() if type(value) is not str)

    @property
    def has_lists(self) -> bool:
        """Whether arguments are lists, bytes or texts, whose items a call copies."""
        return any(isinstance(type_, ArrayType) and type_.is_list for type_ in leaves(self.types.values()))

    def copied_items(self, named: Mapping[str, object]) -> int:
        """The number of items in the lists, bytes and texts among a call's arguments; rows are taken to be like the
        first of them."""
        sizes = 0
        for name in self.types.keys() - self.objects.keys():
            value = named[name]
            if isinstance(value, list | str | bytes):
                first = next(iter(value), None)
                size = first.size if isinstance(first, np.ndarray) else 1
                sizes += len(value) * (len(first) if isinstance(first, list | tuple) else size)
        return sizes

    @property
    def kin(self) -> tuple[object, ...]:
        """The key without what need not be one of few: lengths of tuples, strings, and the classes of objects."""
        return (self.target, tuple(map(_without_length, self.types.values())), tuple(self.objects))


def _without_length(type_: ArgType) -> object:
    if isinstance(type_, TupleArg) and type_.kind is TupleKind.TUPLE:
        return frozenset(map(_without_length, type_.items))
    return NoneArg() if isinstance(type_, NoneArg) else type_


_NOWHERE = Loc("<argument>", 0)

_COMMON = frozenset({np.ndarray, int, float, bool, complex})
"""The classes of nearly all arguments that are no objects."""


def request(
    named: Mapping[str, object],
    locate: Callable[[str], Loc],
    target: str,
    takes_any: Callable[[], bool],
    texts: Callable[[], frozenset[str]],
) -> Request:
    """The types of a call's arguments. Raises TypeInferenceError for what has none.

    locate: gives a parameter's location in the source, for the message. takes_any: whether what has no
    type is taken as an object; where the function does more with it than pass it on, it runs in Python. texts: the
    parameters of whose texts the characters are looked at.
    """
    types: dict[str, ArgType] = {}
    objects: dict[str, object] = {}
    for name, value in named.items():
        if type(value) is bytes or (type(value) is str and name in texts()):
            types[name] = BYTES if type(value) is bytes else TEXT
        elif type(value) not in _COMMON and (
            isinstance(value, str)
            or _is_plain_object(value)
            or (type(value) is dict and all(isinstance(key, str) for key in value))
            or kind_of_all(value) is not None
        ):
            objects[name] = value
            types[name] = NoneArg(value if type(value) is str else None)
        elif type(value) is list and (listed := list_type(value) or arrays_type(value)) is not None:
            types[name] = listed
        else:
            try:
                types[name] = writeable(typeof(value, name, _NOWHERE))
            except TypeInferenceError:
                if not takes_any():
                    typeof(value, name, locate(name))  # again, with the location, which is costly to find
                objects[name] = value
                types[name] = NoneArg()
    return Request(types, objects, target)


def _is_plain_object(value: object) -> bool:
    """An instance of a class of the user's own, or such a class (the first argument of a class method)."""
    if python_function(value) is not None:
        return True  # it is inlined where it is called
    if isinstance(value, type):
        return value.__module__.partition(".")[0] not in ("builtins", "numpy")
    known = isinstance(value, np.ndarray | np.generic | int | float | complex | tuple) or value is None
    if known or any(hasattr(value, a) for a in ("__cuda_array_interface__", "__dlpack__", "__array__")):
        return False
    # An object whose __dict__ is asked for is slower ever after: the interpreter then makes a dict for it.
    has_fields = type(value).__dictoffset__ != 0 or hasattr(type(value), "__slots__")
    return type(value).__module__ != "builtins" and has_fields
