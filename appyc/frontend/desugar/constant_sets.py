"""Names of short sets of constants that are only looked into, as the sets.

    pairs = {(0, 3), (1, 2)}
    for i in range(n):                        ->      for i in range(n):
        if (a[i], b[i]) in pairs:                         if (a[i], b[i]) in {(0, 3), (1, 2)}:

Comparisons with each constant need no hash table, and run in lanes.

Requires: a name that the function's body itself binds, once, before the name is read. Does not handle: sets of
more than MOST constants, and those that nested functions read, which are hash tables (`hash_tables.py`).
"""

from __future__ import annotations

import ast
from collections import Counter

from appyc.frontend.desugar.rewriting import Inlined, ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.tree import names_in, walk

MOST = 16


def without_constant_sets(source: Source, value_of: ValueOf) -> Source:
    """The function, in which no name is bound to a short set of constants that is only looked into."""
    sets = _constant_sets(source.ast)
    return rewritten(source, lambda copied: Inlined(copied, value_of, sets), lambda _: sets)


def _constant_sets(function: ast.FunctionDef) -> dict[str, ast.Set]:
    """The sets of constants, by the names that stand for them alone."""
    found = {
        stmt.targets[0].id: stmt.value
        for stmt in function.body
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Set)
        if isinstance(stmt.targets[0], ast.Name) and len(stmt.targets) == 1
        if len(stmt.value.elts) <= MOST and all(map(_is_constant, stmt.value.elts))
    }
    if not found:
        return found
    nodes = walk(function)
    uses = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    inner = names_in(*(node for node in nodes[1:] if isinstance(node, ast.FunctionDef | ast.Lambda)))
    refused = inner | parameter_names(function) | _read_early(function, found)
    for node in nodes:
        match node:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
                uses[name] -= 1
            case ast.Global(names=names):
                refused |= {*names}
    return {name: value for name, value in found.items() if name not in refused and uses[name] == 1}


def _read_early(function: ast.FunctionDef, sets: dict[str, ast.Set]) -> set[str]:
    """The names that occur before they are bound to the sets."""
    before: set[str] = set()
    early: set[str] = set()
    for stmt in function.body:
        if isinstance(stmt, ast.Assign) and stmt.value in sets.values():
            early |= before & names_in(*stmt.targets)
        before |= names_in(stmt)
    return early


def _is_constant(item: ast.expr) -> bool:
    """Whether this is a number or a text that is written out, or a tuple of such."""
    match item:
        case ast.Constant(value=int() | float() | str()):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
            return True
        case ast.Tuple(elts=elts):
            return all(map(_is_constant, elts))
        case _:
            return False
