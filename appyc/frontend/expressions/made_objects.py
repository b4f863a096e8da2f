"""Objects that do not escape the function that makes them: their fields are variables.

    s = Stats()              ->      s_n = 0; s_mean = 0.0
    for x in row:                    for x in row:
        s.push(x)                        s_n += 1; s_mean += (x - s_mean) / s_n
    return s.mean                    return s_mean

The constructor is inlined, and so are methods. A field has one type, the joined type of all that is stored in it.

Requires: a plain class, or a dataclass, whose constructor assigns all fields in statements of its own body.

Does not handle: objects that are returned, compared, items of lists, or bound to a name that has another object on
another path; fields that are arrays of the program's; `super`, `+=` and its like, and properties that are assigned.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
from types import FunctionType
from typing import Any

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.access import python_function
from appyc.frontend.desugar.building import read
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.inlining import bind, inline
from appyc.frontend.expressions.tables import bind_shared
from appyc.frontend.facts import Recursive
from appyc.frontend.library.host_calls import LIBRARIES
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import walk
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.made_values import MadeObject, ObjectMethod, made_object
from appyc.frontend.types.numbers import promote
from appyc.frontend.types.values import Number, Opaque, Value
from appyc.ir.names import unused
from appyc.ir.nodes import Assign, Var

_HINTS = ("keep its fields in variables or arrays",)
_PLAIN = ("__new__", "__setattr__", "__getattribute__", "__delattr__")
_REFUSED = ("__getattr__", "__del__", "__bool__", "__len__")


def is_plain_class(obj: object) -> bool:
    """Whether instances of a class are nothing but their fields and the functions of the class."""
    if type(obj) is not type or obj.__module__ in ("builtins", "numpy"):
        return False
    is_frozen = dataclasses.is_dataclass(obj) and _parameters(obj).frozen
    plain = (name for name in _PLAIN if not (is_frozen and name in ("__setattr__", "__delattr__")))
    return (
        isinstance(inspect.getattr_static(obj, "__init__"), FunctionType)
        and all(inspect.getattr_static(obj, name) is inspect.getattr_static(object, name) for name in plain)
        and not any(hasattr(obj, name) for name in _REFUSED)
    )


def _parameters(kind: Any) -> Any:
    return kind.__dataclass_params__


def make_object(scope: Scope, node: ast.Call, kind: Opaque, loc: Loc) -> Value:
    """The value of a constructor: `Stats(0.0)`."""
    assert isinstance(kind.obj, type)
    known = scope.callees.known
    site = (loc, len(scope.callees.objects))
    scope.callees.objects.append(site)
    if dataclasses.is_dataclass(kind.obj) and kind.obj.__init__.__code__.co_filename == "<string>":
        made = _of_dataclass(scope, node, kind, site, loc)
    else:
        init = scope.names.attribute(kind, "__init__", loc)
        assert isinstance(init, Opaque)
        assert isinstance(init.obj, FunctionType)
        declared = _declared(known.source_of(init.obj, scope.source).ast)
        made = Opaque(MadeObject(kind, site, declared))
        inline(scope, node, init.obj, init.root, made, loc)
    assert isinstance(made.obj, MadeObject)
    if made.obj.declared - made.obj.fields.keys() or not all(
        _has_room(kind.obj, n) for n in made.obj.declared
    ):
        raise UnsupportedError(f"the constructor of {kind.obj.__name__} cannot be compiled", loc, *_HINTS)
    made.obj.is_whole = True
    return made


def _has_room(kind: type, name: str) -> bool:
    """Whether objects of a class may have a field of this name; those of one with `__slots__` have no others."""
    return kind.__dictoffset__ != 0 or inspect.ismemberdescriptor(inspect.getattr_static(kind, name, None))


def _of_dataclass(scope: Scope, node: ast.Call, kind: Opaque, site: object, loc: Loc) -> Opaque:
    """An instance of a dataclass whose constructor is the one that `dataclass` writes."""
    assert isinstance(kind.obj, type)
    signature = inspect.signature(kind.obj)
    arguments = bind(scope, node, kind.obj.__name__, signature, None, loc)
    if hasattr(kind.obj, "__post_init__") or len(signature.parameters) < len(dataclasses.fields(kind.obj)):
        raise UnsupportedError(f"the constructor of {kind.obj.__name__} cannot be compiled", loc, *_HINTS)
    made = MadeObject(kind, (site, "dataclass"), frozenset(signature.parameters))
    for name, parameter in signature.parameters.items():
        value = arguments.get(name) or scope.names.constant(parameter.default, None, loc)
        assign_made(scope, made, name, value, loc)
    made.is_fixed = _parameters(kind.obj).frozen
    return Opaque(made)


def _declared(init: ast.FunctionDef) -> frozenset[str]:
    """The fields that statements of a constructor's own body assign."""
    own = init.args.args[0].arg if init.args.args else ""
    if any(isinstance(node, ast.Return) for node in walk(init)):
        return frozenset({""})
    targets = [
        part
        for stmt in init.body
        for target in (stmt.targets if isinstance(stmt, ast.Assign) else [getattr(stmt, "target", None)])
        for part in (target.elts if isinstance(target, ast.Tuple) else [target])
    ]
    return frozenset(
        t.attr
        for t in targets
        if isinstance(t, ast.Attribute) and isinstance(t.value, ast.Name) and t.value.id == own
    )


def attribute_of(scope: Scope, owner: Opaque, made: MadeObject, name: str, loc: Loc) -> Value:
    """`owner.name`: a field, a method, or a constant of the class."""
    if (field := made.fields.get(name)) is not None:
        if not isinstance(field, Number):
            return field
        return dataclasses.replace(
            field, expr=scope.temp(name, field.expr)
        )  # the next statement may assign it
    if (computed := property_of(scope, owner, made.kind, name, loc)) is not None:
        return computed
    found = scope.names.attribute(made.kind, name, loc) if hasattr(made.kind.obj, name) else None
    if isinstance(found, Opaque) and isinstance(found.obj, FunctionType):
        static = inspect.getattr_static(made.kind.obj, name)
        return Opaque(ObjectMethod(owner, found)) if isinstance(static, FunctionType) else found
    if isinstance(found, Number) and name not in made.declared:
        return found
    raise UnsupportedError(
        f"the attribute {name!r} of this object cannot be read in compiled code", loc, *_HINTS
    )


def calls_method(obj: object) -> bool:
    """Whether an object is one of the program's, whose class says in Python what a call of it does."""
    kind = obj.kind.obj if isinstance(obj, MadeObject) else type(obj)
    is_own = isinstance(kind, type) and kind.__module__.partition(".")[0] not in LIBRARIES
    return (
        is_own
        and python_function(obj) is None
        and isinstance(inspect.getattr_static(kind, "__call__", None), FunctionType)
    )


def property_of(scope: Scope, owner: Opaque, kind: Opaque, name: str, loc: Loc) -> Value | None:
    """The value of a property of an object, whose getter is inlined. None for another attribute."""
    function = scope.names.getter(kind, name, loc)
    if function is None:
        return None
    return call_method(scope, ast.Call(read(name), [], []), ObjectMethod(owner, function), loc)


def call_method(scope: Scope, node: ast.Call, method: ObjectMethod, loc: Loc) -> Value:
    """The value of a method's call."""
    assert isinstance(method.function.obj, FunctionType)
    return inline(scope, node, method.function.obj, method.function.root, method.owner, loc)


_METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip


def operation(scope: Scope, symbol: str, a: Value, b: Value, loc: Loc) -> Value | None:
    """`a + b` where one is such an object, by a method of its class; None where no method tells."""
    word = _METHODS[symbol]
    if (made := made_object(a)) is not None:
        other = made_object(b)
        is_theirs = other is not None and other.kind != made.kind  # a subclass would be asked first
        return None if is_theirs else _called_by_operator(scope, f"__{word}__", a, [b], loc)
    if isinstance(a, Number) and a.python and not a.mixed:
        return _called_by_operator(scope, f"__r{word}__", b, [a], loc)
    return None


def negative(scope: Scope, value: Value, loc: Loc) -> Value | None:
    """`-value` of such an object; None for what is none, or has no such method."""
    return _called_by_operator(scope, "__neg__", value, [], loc)


def _called_by_operator(scope: Scope, name: str, owner: Value, given: list[Value], loc: Loc) -> Value | None:
    """The value of `owner.name(*given)`; None where the owner is no such object, or has no such method."""
    made = made_object(owner)
    if made is None or not isinstance(inspect.getattr_static(made.kind.obj, name, None), FunctionType):
        return None
    assert isinstance(owner, Opaque)
    method = attribute_of(scope, owner, made, name, loc)
    assert isinstance(method, Opaque)
    assert isinstance(method.obj, ObjectMethod)
    arguments: list[ast.expr] = []
    for value in given:
        operand = unused("operand", scope.locals)
        scope.locals |= {operand}
        scope.bind(operand, value, loc)
        arguments.append(read(operand))
    return call_method(scope, ast.Call(read(name), arguments, []), method.obj, loc)


def assign_made(scope: Scope, made: MadeObject, name: str, value: Value, loc: Loc) -> None:
    """`owner.name = value` for a number."""
    if not isinstance(value, Number) or made.is_fixed or name not in made.declared:
        raise UnsupportedError(
            f"the attribute {name!r} of this object cannot be assigned {describe(value)} in compiled code", loc,
            *_HINTS,
        )  # fmt: skip
    key = (made.site, name)
    known = scope.callees.known.fields
    before = known.get(key)
    known[key] = joined = promote(before or value.type, value.type)
    if before not in (None, joined):
        raise Recursive  # what has been read of it so far is of another kind
    field = made.fields.get(name)
    if field is None:
        field = Number(Var(scope.supply.fresh(name, joined.dtype), loc=loc), joined.python)
    if not (isinstance(field, Number) and isinstance(field.expr, Var)):
        raise UnsupportedError(f"the attribute {name!r} of this object holds a list", loc, *_HINTS)
    made.fields[name] = dataclasses.replace(
        field, mixed=field.mixed or value.mixed or value.python != joined.python
    )
    scope.emit(Assign(field.expr.symbol, arithmetic.cast(value.expr, joined.dtype), loc=loc))


def assign_list(scope: Scope, made: MadeObject, name: str, value: ast.expr, loc: Loc) -> None:
    """`owner.name = [0] * n`, of a new list that keeps its length."""
    is_first = name not in made.fields or (not made.is_whole and made.lists.get(name) == loc)  # lowered again
    if not is_first or name not in made.declared:
        raise UnsupportedError(f"the attribute {name!r} gets another list", loc, *_HINTS)
    made.lists[name] = loc
    own = f"{name}.of"
    bind_shared(scope, own, value, loc)
    made.fields[name] = scope.read(own, loc)
