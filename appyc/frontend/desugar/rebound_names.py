"""A new name for what the name of a container is bound to next: an array, mostly.

    xs = []                          xs = []
    for x in a:                      for x in a:
        xs.append(2 * x)     ->          xs.append(2 * x)
    xs = np.array(xs)                xs_2 = np.array(xs)
    return xs.mean()                 return xs_2.mean()

So does a new list that a parameter's name is bound to (`xs = sorted(xs)`), which is the function's own.

The rules about containers go by names, each of which is bound to containers alone. The new name holds from the
assignment to the end of its block.

Requires: nothing that runs behind that block reads the name before it is bound again.

Does not handle: names that nested functions have, assignments inside `with` and `try`, and `if` and loops whose
value is read behind them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from appyc.frontend.desugar.building import FreshNames
from appyc.frontend.desugar.rewriting import rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.liveness import names_behind
from appyc.frontend.syntax.tree import copied_list, is_list, is_new_list, may_be_container, names_in, walk


def with_names_for_rebound(source: Source) -> Source:
    """The function, in which what a container's name is bound to next has a name of its own."""
    if not any(True for _ in _rebound(source.ast)):
        return source
    return rewritten(source, _Renaming)


class _Renaming(ast.NodeTransformer):
    """Renames in the function as a whole; its statements stay where they are."""

    def __init__(self, function: ast.FunctionDef) -> None:
        unused = FreshNames(function)
        for block, position, target in list(_rebound(function)):
            old, new = target.id, unused(target.id)
            behind = walk(*block[position + 1 :])
            named = [target, *(n for n in behind if isinstance(n, ast.Name) and n.id == old)]
            for node in named:
                node.id = new
            if old in names_behind(function.body)[block[position]]:  # the old name would be read there
                for node in named:
                    node.id = old

    def visit(self, node: ast.AST) -> ast.AST:
        return node


def _rebound(function: ast.FunctionDef) -> Iterator[tuple[list[ast.stmt], int, ast.Name]]:
    """The assignments, but the first, to names that are bound to containers and to something else, and of new lists to
    parameters: the block, the position in it, and the target."""
    found = [(block, position, t, kind) for block, position, t, value in _assignments(function.body)
             if (kind := _kind(value)) is not None]  # fmt: skip
    inner = [n for n in walk(function)[1:] if isinstance(n, ast.FunctionDef | ast.Lambda)]
    refused, given = names_in(*inner), parameter_names(function)
    refused |= {name for n in walk(function) if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names}
    for block, position, target, value in _assignments(function.body):
        if target.id in given - refused and is_new_list(value):
            yield block, position, target
    refused |= given
    kinds: dict[str, set[str]] = {}
    for *_, target, kind in found:
        kinds.setdefault(target.id, set()).add(kind)
    seen = set(refused)
    for block, position, target, _ in found:
        if target.id in seen and target.id not in refused and len(kinds[target.id]) > 1:
            yield block, position, target
        seen.add(target.id)


def _assignments(body: list[ast.stmt]) -> Iterator[tuple[list[ast.stmt], int, ast.Name, ast.expr]]:
    for position, stmt in enumerate(body):
        match stmt:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = zip(targets, values, strict=False)
                yield from ((body, position, t, value) for t, value in pairs if isinstance(t, ast.Name))
            case ast.Assign(targets=[ast.Name() as target], value=value):
                yield body, position, target, value
            case ast.If() | ast.For() | ast.While():
                yield from _assignments(stmt.body)
                yield from _assignments(stmt.orelse)


def _kind(value: ast.expr) -> str | None:
    """The kind of container that an expression makes, "" for none; None where that is not known."""
    if isinstance(value, ast.Name) or copied_list(value) is not None:
        return None
    if may_be_container(value):
        return ast.unparse(value.func) if isinstance(value, ast.Call) else type(value).__name__
    return "list" if is_list(value) or is_new_list(value) or isinstance(value, ast.ListComp) else ""
