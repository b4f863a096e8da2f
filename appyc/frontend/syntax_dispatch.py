"""Dispatch of expressions: which module lowers which kind of syntax."""

from __future__ import annotations

import ast

from appyc.errors import Loc, Note, UnsupportedError
from appyc.frontend.arrays import tensors
from appyc.frontend.control import conditionals
from appyc.frontend.expressions import (
    attributes,
    comparisons,
    local_functions,
    operator_syntax,
    strings,
    subscripts,
)
from appyc.frontend.expressions.calls import lower_call
from appyc.frontend.expressions.expressions import (
    lower_expression,
    lower_operands,
    lower_or_none,
    pack_masked,
    unstarred,
)
from appyc.frontend.expressions.list_parameters import list_calls
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.containers import other_list_use
from appyc.frontend.syntax.fixed_containers import displayed
from appyc.frontend.types.values import DictValue, Key, Opaque, TupleValue, Value
from appyc.frontend.types.wide_ints import literal

UNSUPPORTED: dict[type[ast.AST], tuple[str, str]] = {
    ast.ListComp: ("a list comprehension", "write a loop that fills an array"),
    ast.SetComp: ("a set comprehension", "write a loop"),
    ast.DictComp: ("a dict comprehension", "write a loop"),
    ast.GeneratorExp: ("a generator expression", "write a loop"),
    ast.List: ("a list", "use a tuple or an array"),
    ast.Set: ("a set", "use an array"),
    ast.JoinedStr: ("an f-string", "build text outside the compiled function"),
    ast.Await: ("await", "compiled functions are synchronous"),
    ast.Yield: ("yield", "compiled functions are no generators; fill an array"),
    ast.YieldFrom: ("yield from", "compiled functions are no generators; fill an array"),
    ast.Starred: ("a starred expression", "write the items out"),
}
"""Expressions that cannot be compiled: their names in errors, and the alternatives to suggest."""
_USES = (
    "use an array there, or a loop over the items",
    "docs/language.md, under Calls, has the uses of lists",
)


def lower(scope: Scope, node: ast.expr) -> Value:
    """The value of an expression; a `Masked` for a selection by a mask."""
    loc = scope.loc(node)
    match node:
        case ast.Constant(value=value):
            if isinstance(value, bool | int | float | complex):
                return literal(value, loc)
            return Opaque(value)
        case ast.Name(id=name):
            return scope.read(name, loc) if name in scope.locals else scope.names.lookup(name, loc)
        case ast.BinOp(left=left, op=op, right=right):
            return operator_syntax.lower_binary(scope, left, op, right, loc)
        case ast.UnaryOp(op=op, operand=operand):
            return operator_syntax.lower_unary(scope, op, operand, loc)
        case ast.BoolOp(op=op, values=values):
            return conditionals.lower_bool_op(scope, isinstance(op, ast.And), values, loc)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return comparisons.lower_comparison(scope, left, ops, comparators, loc)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return conditionals.lower_conditional(scope, test, body, orelse, loc)
        case ast.Subscript(value=value, slice=index):
            return subscripts.lower_subscript(scope, value, index, loc)
        case ast.Attribute(value=value, attr=attr):
            return attributes.attribute(scope, lower_expression(scope, value), attr, loc)
        case ast.Tuple(elts=elts):
            elts = unstarred(scope, elts)
            items = zip(lower_operands(scope, elts, lower_or_none), elts, strict=True)
            return TupleValue(tuple(pack_masked(scope, value, scope.loc(e)) for value, e in items))
        case ast.Dict(keys=keys, values=values):
            return _dict(scope, keys, values, loc)
        case ast.Call(func=ast.Name(id="dict")) if "dict" not in scope.locals and (found := displayed(node)):
            return _dict(scope, found.keys, found.values, loc)
        case ast.Call():
            return lower_call(scope, node)
        case ast.JoinedStr() if (text := strings.formatted(scope, node)) is not None:
            return text
        case ast.Lambda():
            return local_functions.defined(scope, node)
        case ast.NamedExpr(target=target, value=value):
            scope.bind(target.id, tensors.held(scope, lower_expression(scope, value), target.id, loc), loc)
            return scope.read(target.id, loc)
        case _:
            what, instead = UNSUPPORTED.get(type(node), (f"a {type(node).__name__}", "rewrite it"))
            is_list = isinstance(node, ast.List | ast.ListComp)
            calls = list_calls(scope.source, scope.names, scope.facts)
            if is_list and (other := other_list_use(scope.source.ast, node, calls)) is not None:
                name, use = other
                used = Note(scope.loc(use), f"this use of {name!r} keeps it in Python")
                raise UnsupportedError(f"the list {name!r} cannot be compiled", loc, *_USES, related=(used,))
            raise UnsupportedError(f"{what} cannot be compiled", loc, instead)


def _dict(scope: Scope, keys: list[ast.expr | None], nodes: list[ast.expr], loc: Loc) -> Value:
    """`{"a": x, **other}`: a dict display with constant keys and other such dicts."""
    values = [pack_masked(scope, value, loc) for value in lower_operands(scope, nodes, lower_or_none)]
    items: dict[Key, Value] = {}
    for key, value in zip(keys, values, strict=True):
        match key, value:
            case ast.Constant(value=str() | int() as name), _:
                items[name] = value
            case None, DictValue():
                items |= zip(value.keys, value.values.items, strict=True)
            case _:
                raise UnsupportedError(
                    "a dict cannot be compiled unless its keys are texts or integers written out", loc,
                    "use arrays, or names",
                )  # fmt: skip
    return DictValue(tuple(items), TupleValue(tuple(items.values())))
