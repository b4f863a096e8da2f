"""Inlining of Python functions at their calls; recursive ones are called.

So are the library's loops over lists in a function that has more than MAX_LIST_LOOPS of them: dicts and heaps in many
statements. Such a function is compiled in reasonable time, and no loop that makes a list longer runs in parallel.
So are texts that a library has in C (`library/table.py`), and, where code for a CPU may call, large functions with
several calls, of which the inlined bodies would be too much (`Inlining`).
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import FunctionType
from typing import Any, TypeGuard

from appyc.errors import CompileError, Loc, Note, TypeInferenceError, UnsupportedError
from appyc.frontend.access import AccessPath
from appyc.frontend.desugar.exchanged_arguments import rest_of
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.local_functions import LocalFunction
from appyc.frontend.expressions.recursion import lower_recursive
from appyc.frontend.facts import Recursive
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.resolve import Called, Names, is_library
from appyc.frontend.scope import Scope
from appyc.frontend.source import LibraryText, Source, library_text
from appyc.frontend.types.values import Number, Opaque, TupleValue, Value, is_listed
from appyc.ir.nodes import Const
from appyc.ir.results import path_of
from appyc.ir.visit import substitute
from appyc.library.table import FEW, LIBRARY, LIST_LOOPS

MAX_CALL_DEPTH = 40
"""The maximal depth of inlined calls."""

MAX_LIST_LOOPS = 12
"""The most of the library's loops over lists that are inlined in a function."""


def inline(
    scope: Scope, node: ast.Call, fn: FunctionType, path: AccessPath | None, bound: Opaque | None, loc: Loc
) -> Value:
    """Inlines a Python function at a call; gives the call's value."""
    rest = _rest(scope, fn, node)
    if rest is None:
        _note_recursion(scope, fn.__code__, fn.__name__, loc)
    signature = inspect.signature(fn, follow_wrapped=False)
    arguments = bind(scope, node, fn.__name__, signature, bound, loc)
    for name, parameter in signature.parameters.items():
        if name not in arguments:
            arguments[name] = scope.names.constant(parameter.default, None, loc)
    if path is not None:
        _depend_on(scope, fn, path)
    names = Names(fn, scope.names.environment, path or AccessPath((("callee", fn.__qualname__),)))
    with nullcontext() if isinstance(scope.source, LibraryText) else _called(fn.__name__, loc):
        source = rest or scope.callees.known.source_of(fn, scope.source)
        return _value(scope, Called(fn.__name__, fn.__code__, source, names), arguments, loc)


def _depend_on(scope: Scope, fn: FunctionType, path: AccessPath) -> None:
    """Makes the code one for the function as it is now: a notebook that loads a module again changes it in place."""
    if is_library(fn, path):
        return
    depend, of_keywords = scope.names.environment.depend, path.step("attr", "__kwdefaults__")
    depend(path.step("attr", "__code__"), fn.__code__)
    if fn.__defaults__:
        depend(path.step("attr", "__defaults__"), fn.__defaults__)
    for name, value in (fn.__kwdefaults__ or {}).items():
        depend(of_keywords.step("key", name), value)


def inline_registered(scope: Scope, node: ast.Call, fn: FunctionType, loc: Loc) -> Value:
    """Inlines the function that a user has registered for the one that is called."""
    path = AccessPath((("module", fn.__module__), ("attr", fn.__name__)))
    scope.names.environment.depend(path, fn)
    return inline(scope, node, fn, path, None, loc)


def inlined(
    scope: Scope, fn: Callable[..., Any], arguments: dict[str, Value], loc: Loc, *, trusted: bool = True
) -> Value:
    """Inlines a function of appyc's own, given values for all its parameters."""
    assert isinstance(fn, FunctionType)
    names = Names(fn, scope.names.environment, AccessPath((("own", fn.__qualname__),)))
    called = Called(fn.__name__, fn.__code__, library_text(fn, loc, trusted=trusted), names)
    return _value(scope, called, arguments, loc)


def called_with(
    scope: Scope,
    fn: Callable[..., Any] | LocalFunction,
    values: Sequence[Value],
    loc: Loc,
    *,
    trusted: bool = True,
) -> Value:
    """The value of a function of library text for these arguments."""
    if not isinstance(fn, LocalFunction):
        given = dict(zip(inspect.signature(fn).parameters, values, strict=True))
        return inlined(scope, fn, given, loc, trusted=trusted)
    arguments = fn.defaults | dict(zip(fn.signature.parameters, values, strict=False))
    return _value(scope, fn.called(loc), arguments, loc)


def is_named_tuple(kind: object) -> TypeGuard[type]:
    """Whether a value is a class made by `namedtuple` or `NamedTuple`."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_field_defaults")


def named_tuple(scope: Scope, node: ast.Call, kind: type, loc: Loc) -> Value:
    """The value of a named tuple's constructor: `Point(x, y)`."""
    signature = inspect.signature(kind)
    arguments = bind(scope, node, kind.__name__, signature, None, loc)
    items = [
        arguments[name] if name in arguments else scope.names.constant(parameter.default, None, loc)
        for name, parameter in signature.parameters.items()
    ]
    return TupleValue(tuple(items), names=tuple(signature.parameters), made_by=path_of(kind))


def with_replaced(scope: Scope, owner: TupleValue, method: str, node: ast.Call) -> TupleValue | None:
    """The value of `point._replace(x=1.0)`; None for another call."""
    if method != "_replace" or node.args or not {k.arg for k in node.keywords} <= {*owner.names}:
        return None
    values = expressions.lower_operands(scope, [k.value for k in node.keywords])
    new = {k.arg: value for k, value in zip(node.keywords, values, strict=True)}
    items = (new.get(name, item) for name, item in zip(owner.names, owner.items, strict=True))
    return replace(owner, items=tuple(items), table=None)


def inline_local(scope: Scope, node: ast.Call, fn: LocalFunction, loc: Loc) -> Value:
    """Inlines a nested function at a call."""
    _note_recursion(scope, fn.key, fn.tree.name, loc)
    arguments = fn.defaults | bind(scope, node, fn.tree.name, fn.signature, None, loc)
    with _called(fn.tree.name, loc):
        return _value(scope, fn.called(loc), arguments, loc)


def _value(scope: Scope, called: Called, arguments: dict[str, Value], loc: Loc) -> Value:
    """The value of a call: inlined, or of a callee."""
    callees, key = scope.callees, called.key
    if key in LIST_LOOPS and key not in callees.known.called and not callees.known.inlines_all:
        callees.inlined += 1
        if callees.inlined > MAX_LIST_LOOPS:
            callees.known.called |= LIST_LOOPS
            raise Recursive
    is_described = key in LIST_LOOPS and any(
        map(is_listed, arguments.values())
    )  # parts of lists, in no arrays
    if (key in callees.known.called and not is_described) or (
        key in LIBRARY and _is_for_library(scope, arguments)
    ):
        return lower_recursive(scope, called, arguments, loc)
    is_asked = scope.requests is not None  # a pragma's requests are about the inlined statements
    if isinstance(called.source, LibraryText) or is_asked or not callees.known.may_call:
        return scope.lowering.inline(scope, called, arguments, loc)
    return _within_bounds(scope, called, arguments, loc)


def _within_bounds(scope: Scope, called: Called, arguments: dict[str, Value], loc: Loc) -> Value:
    """The value of a call of the program's own function: inlined, unless bodies of it are too much already."""
    inlining, key = scope.callees.known.inlining, called.key
    if key in inlining.outlined:
        try:
            return lower_recursive(scope, called, arguments, loc)
        except CompileError:  # a callee takes and returns less than what is inlined
            inlining.outlined.discard(key)
            inlining.refused.add(key)
            raise Recursive from None
    before = scope.supply.number
    value = scope.lowering.inline(scope, called, arguments, loc)
    if inlining.is_too_much(key, loc, scope.supply.number - before):
        inlining.outlined.add(key)
        raise Recursive
    return value


def _is_for_library(scope: Scope, arguments: Mapping[str, Value]) -> bool:
    """Whether a library in C is called for these elements, the last argument: on a CPU, but for a few known ones."""
    count = [*arguments.values()][-1]
    assert isinstance(count, Number)
    usual = substitute(count.expr, scope.memory.usual)
    is_few = isinstance(usual, Const) and usual.value.real <= FEW
    return scope.callees.known.may_call and not is_few


def _rest(scope: Scope, fn: FunctionType, node: ast.Call) -> Source | None:
    """What a function does in a call of itself, if it does not call itself there once more."""
    if fn.__code__ != scope.calls[-1] or fn.__code__ in scope.callees.known.called:
        return None
    source = scope.callees.known.source_of(fn, scope.source)
    tree = rest_of(source.ast, node)
    return None if tree is None else source.part(tree, read_pragmas(source))


def _note_recursion(scope: Scope, key: object, name: str, loc: Loc) -> None:
    """Raises Recursive for a function that is newly found to call itself."""
    if key in scope.callees.known.called:
        return
    if key in scope.calls:
        scope.callees.known.called.add(key)
        raise Recursive
    if len(scope.calls) > MAX_CALL_DEPTH:
        raise UnsupportedError(f"the calls of {name} go too deep to be compiled", loc, "write it as a loop")


@contextmanager
def _called(name: str, loc: Loc) -> Iterator[None]:
    """A context that adds a note about the call to errors inside the callee."""
    try:
        yield
    except CompileError as error:
        error.related = (*error.related, Note(loc, f"in the call of {name}"))
        raise


def bind(
    scope: Scope,
    node: ast.Call,
    name: str,
    signature: inspect.Signature,
    bound: Opaque | None,
    loc: Loc,
    lower: Callable[[Scope, ast.expr], Value] = expressions.lower_or_none,
) -> dict[str, Value]:
    """The argument values of a call by parameter, bound as Python binds them. lower: gives the value of one."""
    if any(k.arg is None for k in node.keywords):
        raise UnsupportedError("a **argument cannot be compiled", loc, "write the arguments out")
    for p in signature.parameters.values():
        if p.kind is p.VAR_KEYWORD:
            raise UnsupportedError(f"{name} takes **kwargs, which cannot be compiled", loc,
                                   "name the parameters")  # fmt: skip
    nodes = [*node.args, *(k.value for k in node.keywords)]
    operands = expressions.lower_operands(scope, nodes, lower)
    values = [expressions.pack_masked(scope, value, loc) for value in operands]
    positional = values[: len(node.args)]
    if bound is not None:
        positional = [bound, *positional]
    named = {str(k.arg): v for k, v in zip(node.keywords, values[len(node.args) :], strict=True)}
    try:
        arguments = signature.bind(*positional, **named)
    except TypeError as error:
        raise TypeInferenceError(f"{name}{signature}: {error}", loc) from None
    rest = {p.name: () for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL}
    return {
        name: TupleValue(value) if name in rest else value
        for name, value in (rest | dict(arguments.arguments)).items()
    }
