"""Which names a stretch of Python still needs: backward liveness over the AST.

Used to turn statements into a function of their own: its parameters are the names live
before them, its results those that it assigns and that are live after them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from appyc.frontend.syntax.tree import assigned_names, names_bound_by, parameters_of, walk


@dataclass(frozen=True, slots=True)
class _Exits:
    """Names live where a jump leads."""

    at_break: frozenset[str] = frozenset()
    at_continue: frozenset[str] = frozenset()


def live_before(
    body: Iterable[ast.stmt], after: frozenset[str], at_jump: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Names that may be read, from the start of `body` on, before they are assigned.

    at_jump: names live where a break or continue of `body` itself leads.
    """
    return _block(list(body), after, _Exits(at_jump, at_jump))


def names_read(*nodes: ast.AST) -> frozenset[str]:
    """Names that are read there, but those that comprehensions, lambdas and functions there bind for themselves."""
    return _read(walk(*nodes), nodes)


def _read(found: list[ast.AST], nodes: tuple[ast.AST, ...]) -> frozenset[str]:
    """The names read in `nodes`. found: all AST nodes in these."""
    out = frozenset(n.id for n in found if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    if not any(isinstance(n, ast.comprehension | ast.arguments) for n in found):
        return out
    out = frozenset()
    todo = list(nodes)
    for node in todo:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                out |= {name}
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                first, *others = node.generators
                values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
                own = names_assigned(g.target for g in node.generators)
                todo.append(first.iter)  # is evaluated outside
                out |= names_read(first.target, *first.ifs, *others, *values) - own
            case ast.Lambda(args=args):
                todo += (*args.defaults, *filter(None, args.kw_defaults))
                out |= names_read(node.body) - {a.arg for a in parameters_of(node)}
            case ast.FunctionDef(args=args):
                todo += (*args.defaults, *filter(None, args.kw_defaults), *node.decorator_list)
                out |= names_read(*node.body) - (assigned_names(node) - _names_of_others(node))
            case _:
                todo += ast.iter_child_nodes(node)
    return out


def names_behind(body: list[ast.stmt]) -> dict[ast.stmt, frozenset[str]]:
    """The names that are live behind each statement: read by what follows, by next iterations of the loops
    around it, or by functions that are defined here."""
    out: dict[ast.stmt, frozenset[str]] = {}
    captured = names_captured(body)
    todo: list[tuple[list[ast.stmt], frozenset[str], _Exits]] = [(body, frozenset(), _Exits())]
    while todo:
        block, behind, exits = todo.pop()
        for stmt in reversed(block):
            out[stmt] = behind | captured
            match stmt:
                case ast.For() | ast.While():
                    at_top = behind | _statement(stmt, behind, exits)
                    todo += [(stmt.body, at_top, _Exits(behind, at_top)), (stmt.orelse, behind, exits)]
                case _:
                    todo += [
                        (inner, behind, exits)
                        for name in ("body", "orelse")
                        if (inner := getattr(stmt, name, []))
                    ]
            behind = _statement(stmt, behind, exits)
    return out


def names_assigned(body: Iterable[ast.AST]) -> frozenset[str]:
    """Names that some statement in `body` binds: by assignment, `def`, `class` or import."""
    return frozenset(name for n in walk(*body) for name in names_bound_by(n))


def names_captured(body: Iterable[ast.stmt]) -> frozenset[str]:
    """Names that nested functions, lambdas and generators may read or assign, at any time after their making."""
    return frozenset().union(*captures(body).values())


def captures(body: Iterable[ast.stmt]) -> dict[ast.AST, frozenset[str]]:
    """The nested functions, lambdas and generators, each with such names."""
    return {n: names_read(n) | _names_of_others(n) for n in walk(*body) if isinstance(n, _LATE)}


def _names_of_others(node: ast.AST) -> frozenset[str]:
    """Names that a nested function assigns for functions around it."""
    return frozenset().union(*(n.names for n in walk(node) if isinstance(n, ast.Nonlocal | ast.Global)))


_LATE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp, ast.ClassDef)


def surely_assigned(body: Iterable[ast.stmt]) -> frozenset[str]:
    """Names that are bound on every way to the end of `body`."""
    out: frozenset[str] = frozenset()
    for stmt in body:
        out |= _surely_named(stmt)
        match stmt:
            case ast.Assign(targets=targets):
                out |= names_assigned(targets)
            case ast.AnnAssign(target=target, value=ast.expr()) | ast.AugAssign(target=target):
                out |= names_assigned([target])
            case ast.If(body=then, orelse=orelse):
                out |= surely_assigned(then) & surely_assigned(orelse)
            case ast.With(body=inner):
                out |= surely_assigned(inner)
            case ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                out |= frozenset(names_bound_by(stmt))
    return out


def _surely_named(stmt: ast.AST) -> frozenset[str]:
    """Names that `:=` binds whenever a statement or an expression is evaluated."""
    found: set[str] = set()
    stack: list[ast.AST] = [stmt]
    while stack:
        node = stack.pop()
        match node:
            case ast.If(test=first) | ast.IfExp(test=first) | ast.While(test=first) | ast.For(iter=first):
                stack.append(first)
            case ast.BoolOp(values=values):
                stack.append(values[0])
            case ast.Compare(left=left, comparators=comparators):
                stack += (left, comparators[0])
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                pass
            case ast.stmt() if hasattr(node, "body"):
                pass
            case _:
                if isinstance(node, ast.NamedExpr):
                    found.add(node.target.id)
                stack += ast.iter_child_nodes(node)
    return frozenset(found)


def _needed(node: ast.AST, after: frozenset[str] = frozenset()) -> frozenset[str]:
    """Names that are live before a node is evaluated. after: those behind it, of which `:=` binds some there."""
    parts = walk(node)
    read = _read(parts, (node,))
    if ast.NamedExpr not in map(type, parts):
        return read | after
    bound = _surely_named(node)
    order: dict[str, list[tuple[int, int, bool]]] = {name: [] for name in bound}
    for part in parts:
        if isinstance(part, ast.NamedExpr) and part.target.id in bound:
            order[part.target.id].append((*_end(part), True))
        elif isinstance(part, ast.Name) and part.id in bound and isinstance(part.ctx, ast.Load):
            order[part.id].append((*_end(part), False))
    return (read | after) - {name for name, found in order.items() if min(found)[-1]}


def _end(node: ast.expr) -> tuple[int, int]:
    """The line and column where an expression ends, which orders expressions by evaluation."""
    return getattr(node, "end_lineno", None) or 0, getattr(node, "end_col_offset", None) or 0


def _block(body: list[ast.stmt], after: frozenset[str], exits: _Exits) -> frozenset[str]:
    for stmt in reversed(body):
        after = _statement(stmt, after, exits)
    return after


def _statement(stmt: ast.stmt, after: frozenset[str], exits: _Exits) -> frozenset[str]:
    match stmt:
        case ast.Assign(targets=targets):
            return _needed(stmt, after - names_assigned(targets))
        case ast.AnnAssign(target=target, value=value):
            return after if value is None else (after - names_assigned([target])) | names_read(target, value)
        case ast.AugAssign(target=target):
            return after | names_assigned([target]) | names_read(stmt)
        case ast.If(test=test, body=then, orelse=orelse):
            return _needed(test, _block(then, after, exits) | _block(orelse, after, exits))
        case ast.For(target=target, iter=runs_over, body=body, orelse=orelse):
            past = _block(orelse, after, exits) | after
            head = _loop(body, past, names_assigned([target]), after)
            return names_read(runs_over) | past | head
        case ast.While(test=test, body=body, orelse=orelse):
            past = _block(orelse, after, exits) | after | _needed(test)
            return past | _loop(body, past, frozenset(), after)
        case ast.Return(value=value):
            return _needed(value) if value is not None else frozenset()
        case ast.Break():
            return exits.at_break
        case ast.Continue():
            return exits.at_continue
        case _:
            return _needed(stmt, after)


def _loop(
    body: list[ast.stmt], past: frozenset[str], bound: frozenset[str], after: frozenset[str]
) -> frozenset[str]:
    """Names live at the top of an iteration, before the target is bound.

    Once around is enough: what the body makes of a name live behind it (it reads it, binds it or
    leaves it as it is) does not depend on other names, so that a second time around adds none.
    """
    return _block(body, past, _Exits(after, past)) - bound
