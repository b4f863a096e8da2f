"""Access paths: how a call finds the values that compiled code captures from outside the function.

Separate from name resolution, so that a call of compiled code imports nothing of the compiler.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import CellType, FunctionType, MethodType
from typing import TypeVar

from appyc.frontend import field_cells
from appyc.frontend.library.generator_state import part_of

T = TypeVar("T")

IN_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")
"""Attributes of a function that compiled code is made of."""


@dataclass(frozen=True, slots=True)
class AccessPath:
    """The path from a function to a captured value, as (kind, name) steps that a call follows.

    Kinds: "param" an argument; "global" and "closure" a variable of the function reached so far;
    "attr" an attribute; "method" one that is bound to the object reached; "item" an item of a tuple; "items" those of a
    list or set in a tuple; "key" the item of a dict at a text key; "module" an imported module; as the last step,
    one of `generators.STEPS`, with the kind of generator, or CELL, with the kind of cell.
    """

    steps: tuple[tuple[str, str], ...] = ()

    def step(self, kind: str, name: str) -> AccessPath:
        return AccessPath((*self.steps, (kind, name)))

    def of_owner(self) -> AccessPath:
        """The path to the object that a method is bound to, of the method's."""
        *owner, (kind, _) = self.steps
        return AccessPath(tuple(owner)) if kind == "method" else self.step("attr", "__self__")

    def __str__(self) -> str:
        return ".".join(name for _, name in self.steps)


def closure_cells(fn: FunctionType) -> dict[str, CellType]:
    """The cells of a function's free variables."""
    return dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))


def closure_of(fn: FunctionType) -> Mapping[str, object]:
    """The values of a function's free variables whose cells are set."""
    out: dict[str, object] = {}
    for name, cell in closure_cells(fn).items():
        try:
            out[name] = cell.cell_contents
        except ValueError:
            continue  # not assigned yet: a later name lookup says so
    return out


def fetch(fn: FunctionType, path: AccessPath, args: Mapping[str, object]) -> object:
    """The current value at an access path, in NumPy's form. Raises LookupError or AttributeError if it is gone."""
    return plain_form(find(fn, path, args))


def plain_form(value: object) -> object:
    """NumPy's form of a value of `appyc.numpy`: the computed array, or NumPy's function; other values unchanged."""
    if hasattr(type(value), "__appyc_plain__"):
        found: object = value.__appyc_plain__  # type: ignore[attr-defined]
        return found
    return value


def find(fn: FunctionType, path: AccessPath, args: Mapping[str, object]) -> object:
    """The current object at an access path, not converted to NumPy's form. Raises as `fetch` does."""
    value: object = fn
    for kind, name in path.steps:
        match kind:
            case "param":
                value = args[name]
            case "global":
                names = _function(value).__globals__
                value = names[name] if name in names else getattr(builtins, name)
            case "closure":
                value = closure_of(_function(value))[name]
            case "attr":
                value = getattr(_function(value) if name in IN_FUNCTIONS else value, name)
            case "method":
                value = _method(value, name)
            case "item":
                value = _still(value, tuple)[int(name)]
            case "key":
                value = _still(value, dict)[name]
            case field_cells.CELL:
                value = field_cells.cell_of(value, name)
            case "items":
                value = items_of([*value] if isinstance(value, set | frozenset) else _still(value, list))
            case "module":
                value = import_module(name)
            case _:
                value = part_of(value, kind, name)
    return value


def items_of(value: Sequence[object]) -> tuple[object, ...]:
    """The items of a list as a tuple, those of lists among them too."""
    return tuple(items_of(item) if type(item) is list or type(item) is tuple else item for item in value)


def _still(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise LookupError(f"{value!r} is no {kind.__name__} any more")
    return value


def _method(owner: object, name: str) -> object:
    found: object = getattr(owner, name)
    if getattr(found, "__self__", owner) is not owner:
        raise LookupError(f"{name!r} is a method of another object now")
    return found


def _function(value: object) -> FunctionType:
    found = python_function(value)
    if found is None:
        raise LookupError(f"{value!r} is not a Python function any more")
    return found


def python_function(value: object) -> FunctionType | None:
    """The Python function behind a function, a method, or another compiler's wrapper of one."""
    if isinstance(value, FunctionType):
        return value
    if isinstance(value, MethodType):
        return python_function(value.__func__)
    inner = getattr(value, "py_func", None)
    return inner if isinstance(inner, FunctionType) else None
