"""Name resolution for non-local names: closures, globals, builtins, and their attributes.

A number, a tuple of numbers, a function or a type is a compile-time constant. It is recorded as a
dependency, and a version compiled for another value is not used. An array is captured: it becomes
a hidden parameter, which is fetched at every call. Arrays and numbers in attributes of an argument
are captured, too.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import FunctionType, MethodType, ModuleType

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnknownAttributeError, UnknownNameError, UnsupportedError
from appyc.frontend import field_cells
from appyc.frontend.access import AccessPath, closure_of, items_of, plain_form
from appyc.frontend.expressions.arithmetic import const
from appyc.frontend.expressions.callee_facts import Callees
from appyc.frontend.library.generator_state import PYTHON, STEPS, kind_of
from appyc.frontend.source import Source
from appyc.frontend.types.numbers import NumberType, dtype_named
from appyc.frontend.types.values import ArrayRef, Number, Opaque, TupleValue, Value
from appyc.frontend.types.wide_ints import literal
from appyc.ir.arguments import ArgType, ScalarArg
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Symbol, Var
from appyc.ir.results import fields_of
from appyc.ir.types import ArrayType


@dataclass(frozen=True, slots=True)
class Capture:
    """A hidden parameter and where its value is found at a call."""

    symbol: Symbol
    path: AccessPath
    python: bool = False


@dataclass(frozen=True, slots=True)
class Dependency:
    """A value that is a constant in the compiled code, and its access path. watched: whether calls compare it; that it
    is the same is asked in any case where code is found on disk."""

    path: AccessPath
    value: object
    watched: bool = True


class Environment:
    """The captures and dependencies of one compilation: its values from outside the function. texts_from: the
    number of loops around a call from which on it is compiled, of what a library may have faster."""

    def __init__(
        self,
        supply: NameSupply,
        typeof: Callable[[object, str, Loc], ArgType],
        fn: FunctionType,
        callees: Callees,
        *,
        texts_from: float,
    ) -> None:
        self.supply = supply
        self.typeof = typeof
        self.globals = fn.__globals__
        self.callees = callees
        self.texts_from = texts_from
        self.captures: dict[AccessPath, Capture] = {}
        self.dependencies: dict[AccessPath, Dependency] = {}

    def capture(self, path: AccessPath, value: object, loc: Loc) -> Value:
        """The hidden parameter for the value found at `path`."""
        found = self.captures.get(path)
        if found is None:
            arg = self.typeof(value, str(path), loc)
            if not isinstance(arg, ArrayType | ScalarArg):
                raise UnsupportedError("a structured array from outside is not compiled", loc, "pass it")
            python = isinstance(arg, ScalarArg) and arg.python
            type_ = arg if isinstance(arg, ArrayType) else arg.dtype
            named = path.steps[-2] if path.steps[-1][0] in (*STEPS, field_cells.CELL) else path.steps[-1]
            symbol = self.supply.fresh(named[1], type_)
            found = self.captures[path] = Capture(symbol, path, python)
        if found.symbol.is_array:
            return ArrayRef(found.symbol)
        return Number(Var(found.symbol, loc=loc), found.python)

    def depend(self, path: AccessPath, value: object, watched: bool = True) -> None:
        self.dependencies.setdefault(path, Dependency(path, value, watched))


def is_of_library(fn: FunctionType, name: str) -> bool:
    """Whether a non-local name of a function is bound to a module whose functions keep no list that they are given."""
    value = closure_of(fn).get(name, fn.__globals__.get(name))
    return isinstance(value, ModuleType) and value.__name__.partition(".")[0] in _LIBRARIES


class Names:
    """Looks up one function's non-local names. `path` is the access path of that function itself."""

    def __init__(self, fn: FunctionType, environment: Environment, path: AccessPath) -> None:
        self.fn = fn
        self.environment = environment
        self.path = path
        self._closure = closure_of(fn)
        self._own = frozenset((*fn.__code__.co_varnames, *fn.__code__.co_cellvars))

    def draws_list(self, func: ast.expr) -> bool:
        """Whether it is a method of a generator of Python's that makes a list: `random.sample`, or a name of that."""
        value = self.plain(func)
        return (
            isinstance(value, MethodType)
            and kind_of(value.__self__) == PYTHON
            and value.__name__ in LIST_DRAWS
        )

    def plain(self, node: ast.expr) -> object:
        """The value of a name that is not local, or of a module's attribute, without a dependency; None for others."""
        match node:
            case ast.Name(id=name) if name not in self._own:
                outer = self._closure.get(name, self.fn.__globals__.get(name))
                return getattr(builtins, name, None) if outer is None else outer
            case ast.Attribute(value=ast.Name() as name, attr=attr):
                owner = self.plain(name)
                return vars(owner).get(attr) if isinstance(owner, ModuleType) else None
            case _:
                return None

    def lookup(self, name: str, loc: Loc) -> Value:
        """The value of a name that the function does not assign: from its closure, globals, or builtins."""
        if name in self._closure:
            path = self._step("closure", name)
            return self.constant(self._closure[name], path, loc)
        if name in self.fn.__globals__:
            path = self._step("global", name)
            return self.constant(self.fn.__globals__[name], path, loc)
        if hasattr(builtins, name):
            value = getattr(builtins, name)
            self.environment.depend(self._step("global", name), value, watched=False)
            return self._frozen(value, None, loc)
        known = [*self.fn.__code__.co_varnames, *self._closure, *self.fn.__globals__, *dir(builtins)]
        raise UnknownNameError(f"name {name!r} is not defined", loc, label=_did_you_mean(name, known))

    def is_of_library(self, name: str) -> bool:
        """Whether a non-local name is bound to a module whose functions keep nothing of a list that they are given."""
        return is_of_library(self.fn, name)

    def find(self, name: str) -> ArrayRef | None:
        """The captured array that a non-local name is bound to, if the function has used it already."""
        for kind in ("closure", "global"):
            found = self.environment.captures.get(self._step(kind, name))
            if found is not None and found.symbol.is_array:
                return ArrayRef(found.symbol)
        return None

    def _step(self, kind: str, name: str) -> AccessPath:
        """The access path of a non-local name; it starts at the compiled function for its own globals."""
        near = kind == "global" and self.fn.__globals__ is self.environment.globals
        return (AccessPath() if near else self.path).step(kind, name)

    def attribute(self, owner: Opaque, name: str, loc: Loc) -> Value:
        """`owner.name` for a module, a class or an object."""
        try:
            value = getattr(owner.obj, name)
        except AttributeError as error:
            label = _did_you_mean(name, [n for n in dir(owner.obj) if not n.startswith("_")])
            raise UnknownAttributeError(str(error), loc, label=label) from None
        is_own = isinstance(value, MethodType) and value.__self__ is owner.obj
        kind = "method" if is_own or kind_of(owner.obj) is not None else "attr"
        path = owner.root.step(kind, name) if owner.root is not None else None
        if (
            path is not None
            and not isinstance(owner.obj, ModuleType | type | np.iinfo | np.finfo)
            and _is_computed(owner.obj, name)
        ):
            raise UnsupportedError(
                f"{name!r} is computed each time it is read", loc, "read it into a variable before the loop"
            )
        if isinstance(owner.obj, np.iinfo | np.finfo):
            return self.constant(value, None, loc)  # what a type can hold does not change
        is_field = path is not None and not isinstance(owner.obj, ModuleType | type | FunctionType)
        value = plain_form(value) if is_field else value
        if is_field and isinstance(value, np.ndarray | np.generic | int | float | complex):
            # An object's fields may change between calls; its class's methods are code.
            assert path is not None
            return self.environment.capture(path, value, loc)
        if isinstance(owner.obj, ModuleType) and owner.obj.__name__.partition(".")[0] in LIBRARIES:
            path = None  # np.pi is not expected to change
        return self._inner(value, path, loc) if is_field else self.constant(value, path, loc)

    def _inner(self, value: object, path: AccessPath | None, loc: Loc) -> Value:
        """The value of what an object or dict holds: of another object its class, so that any one of that does."""
        if path is not None and is_function_of_library(value, path):
            self.environment.depend(path, value)
        is_table = type(value) is dict and path is not None and path.steps[0][0] == "param"
        if path is None or not (is_table or is_instance(value)):
            return self.constant(value, path, loc)
        self.environment.depend(path.step("attr", "__class__"), type(value))
        return Opaque(value, path)

    def getter(self, kind: Opaque, name: str, loc: Loc) -> Opaque | None:
        """The function that computes a property of a class's objects; None for another attribute."""
        found = inspect.getattr_static(kind.obj, name, None)
        if not isinstance(found, property) or not isinstance(found.fget, FunctionType):
            return None
        path = kind.root.step("attr", name).step("attr", "fget") if kind.root is not None else None
        function = self.constant(found.fget, path, loc)
        return function if isinstance(function, Opaque) else None

    def assignable_field(self, owner: Opaque, name: str, loc: Loc) -> AccessPath:
        """The path to an object's field that may be assigned. Raises UnsupportedError for others."""
        obj = owner.obj
        is_plain = not isinstance(obj, ModuleType | type | FunctionType) and kind_of(obj) is None
        if (
            owner.root is None
            or not is_plain
            or type(obj).__setattr__ is not object.__setattr__
            or not hasattr(obj, name)
            or _is_computed(obj, name)
        ):
            raise UnsupportedError(f"the attribute {name!r} cannot be assigned in compiled code", loc,
                                   "return the value, and assign it outside")  # fmt: skip
        return owner.root.step("attr", name)

    def type_of_field(self, owner: Opaque, name: str, loc: Loc) -> NumberType:
        """The type of a field's value before the call."""
        value = getattr(owner.obj, name)
        found = (
            self._frozen(value, None, loc)
            if isinstance(value, np.generic | bool | int | float | complex)
            else None
        )
        if not isinstance(found, Number):
            raise UnsupportedError(f"the attribute {name!r} holds a {type(value).__name__} before the call, "
                                   "and cannot be assigned in compiled code", loc,
                                   "let it hold a number then, or return the value, and assign it outside")  # fmt: skip
        return NumberType(found.type.dtype, found.python)

    def cell(self, owner: Opaque, name: str, loc: Loc) -> Symbol | None:
        """The hidden parameter that holds a field which the function assigns; None for another."""
        path = owner.root.step("attr", name) if owner.root is not None else None
        known = self.environment.callees.known.fields.get(path) if path is not None else None
        if path is None or known is None:
            return None
        value = getattr(owner.obj, name)
        kind = field_cells.cell_kind(value, known.dtype.value, python=known.python)
        found = self.environment.capture(
            path.step(field_cells.CELL, kind), field_cells.cell_of(value, kind), loc
        )
        assert isinstance(found, ArrayRef)
        return found.symbol

    def item(self, owner: Opaque, key: object, loc: Loc) -> Value:
        """`owner[key]` of a dict: captured for a dict in an argument, a compile-time constant for any other dict."""
        table = owner.obj
        assert isinstance(table, dict)
        if owner.root is None or not isinstance(key, str):
            raise UnsupportedError("a dict from outside can be indexed by text that is written out", loc,
                                   "read its items into variables before the loop")  # fmt: skip
        if key not in table:
            label = _did_you_mean(key, [k for k in table if isinstance(k, str)])
            raise UnsupportedError(f"this dict has no key {key!r}", loc, label=label)
        path, value = owner.root.step("key", key), table[key]
        is_given = path.steps[0][0] == "param"
        if is_given and isinstance(value, np.ndarray | np.generic | bool | int | float | complex):
            return self.environment.capture(path, value, loc)
        return self._inner(value, path, loc)

    def constant(self, value: object, path: AccessPath | None, loc: Loc) -> Value:
        """The value of a Python object found outside: a captured array, or a constant with its dependency."""
        plain = plain_form(value)
        if isinstance(plain, np.ndarray):
            if path is None:
                raise UnsupportedError("this array cannot be found again at the next call", loc)
            return self.environment.capture(path, plain, loc)
        if type(plain) is list and path is not None:
            return self._list(plain, path, loc)
        out = self._frozen(plain, path, loc)
        if path is not None and not is_library(value, path):
            self.environment.depend(path, value)
        elif path is not None and is_name_of_library(value, path):
            self.environment.depend(path, value, not isinstance(value, ModuleType))
        return out

    def _list(self, value: list[object], path: AccessPath, loc: Loc) -> Value:
        """A list found outside: one of numbers is captured, as one that is an argument; others are constants."""
        with suppress(TypeInferenceError):
            if isinstance(self.environment.typeof(value, str(path), loc), ArrayType):
                return self.environment.capture(path, value, loc)
        items = items_of(value)
        out = self._frozen(items, None, loc)
        if len(items) > MOST_ITEMS:
            raise UnsupportedError(f"{path} is a long list of other things than numbers of one type", loc,
                                   "put its numbers into arrays")  # fmt: skip
        self.environment.depend(path.step("items", ""), items)
        return out

    def _frozen(self, value: object, path: AccessPath | None, loc: Loc) -> Value:
        if isinstance(value, np.generic):
            dtype = dtype_named(value.dtype.name)
            if dtype is None:
                raise UnsupportedError(f"{path} is a NumPy {value.dtype}, which is not supported", loc)
            return Number(const(value.item(), dtype, loc), python=False)
        if isinstance(value, bool | int | float | complex):
            return literal(value, loc)
        if isinstance(value, tuple):
            items = (
                self._frozen(item, path.step("item", str(k)) if path else None, loc)
                for k, item in enumerate(value)
            )
            return TupleValue(tuple(items), None, *fields_of(type(value)))
        return Opaque(value, path)


@dataclass(frozen=True, slots=True)
class Called:
    """A function at a call. key: its identity. around: its captured values, by name."""

    name: str
    key: object
    source: Source
    names: Names
    around: Mapping[str, Value] = field(default_factory=dict)


LIST_DRAWS = ("sample", "choices")
"""Methods of a `random.Random` that make lists."""

MOST_ITEMS = 64
"""A list of a global name is a tuple in compiled code, of so many items at most."""

_LIBRARIES = ("numpy", "scipy", "cupy", "random")
LIBRARIES = ("numpy", "math", "cmath", "operator", "builtins", "heapq", "bisect", "appyc")
"""Modules whose members are taken to be constant, and whose import has no side effects."""


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, known, 1, 0.7)
    return f"did you mean {close[0]!r}?" if close else ""


def _is_computed(obj: object, name: str) -> bool:
    """Whether reading the attribute runs user code: a property, or `__getattr__`."""
    kind = type(obj)
    in_class = inspect.getattr_static(kind, name, None)
    if in_class is None and not (hasattr(kind, "__getattr__") or isinstance(obj, type | ModuleType)):
        return not hasattr(
            obj, name
        )  # a field: a search would ask for `__dict__`, which makes the object slower
    found = inspect.getattr_static(obj, name, property())
    return isinstance(found, property | functools.cached_property)


def is_instance(value: object) -> bool:
    """Whether a value is an object of a class of the program's, of which the fields are looked at."""
    module = type(value).__module__.partition(".")[0]
    is_plain = not isinstance(
        value, np.ndarray | np.generic | int | float | complex | str | tuple | list | dict
    )
    return is_plain and module not in (*LIBRARIES, "types") and not callable(value) and kind_of(value) is None


def is_name_of_library(value: object, path: AccessPath) -> bool:
    """Whether a name of the program stands for a library, or a member of one: `from numpy import sin`."""
    is_name = path.steps[0][0] not in ("own", "callee") and path.steps[-1][0] in ("global", "closure", "attr")
    return is_name and not _is_of_generator(value)


def is_function_of_library(value: object, path: AccessPath) -> bool:
    """Whether a value is a library's function, or a built-in one: what is compiled in where an object holds it."""
    return callable(value) and not _is_of_generator(value) and is_library(value, path)


def _is_of_generator(value: object) -> bool:
    return kind_of(value) is not None or kind_of(getattr(value, "__self__", None)) is not None


def is_library(value: object, path: AccessPath) -> bool:
    """Whether a value is taken to be constant: a module, a library's member, or a global of appyc's own code."""
    if isinstance(value, ModuleType) or path.steps[0][0] == "own":
        return True
    if _is_of_generator(value):
        return True  # its kind is tested where its state is fetched
    module = getattr(value, "__module__", None)
    if isinstance(module, str) and module.partition(".")[0] in LIBRARIES:
        return True
    return isinstance(value, np.ufunc) or getattr(value, "__self__", None) is sys.modules.get("math")
