"""Texts that a function has written out: names of those that grow, and whether an empty one is a character's."""

from __future__ import annotations

import ast
from collections.abc import Set

from appyc.frontend.expressions.callee_facts import Callees
from appyc.frontend.facts import Facts, Recursive
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import bindings_of, walk


def note_texts(source: Source, facts: Facts, callees: Callees, *, is_inlined: bool) -> None:
    """Notes the names of texts that grow, and whether there may be empty texts among characters. Raises Recursive where
    a function that is inlined is the first to have one."""
    facts.grown |= source.remember("texts that grow", lambda: _texts_that_grow(source.ast))
    is_found = source.remember("empty texts", lambda: _has_empty_text(source.ast, facts.grown))
    if is_found and not source.trusted and not callees.known.has_empty:
        callees.known.has_empty = True
        if is_inlined:
            raise Recursive


def _texts_that_grow(function: ast.FunctionDef) -> frozenset[str]:
    """The names that are bound to texts that are written out, and to which something is added."""
    added = {
        n.target.id for n in walk(function) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }
    for node in walk(function):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.Name(id=left), op=ast.Add())
            ):
                added |= {name} & {left}
    return frozenset(
        target.id
        for node in walk(function)
        for target, value in bindings_of(node)
        if isinstance(target, ast.Name) and target.id in added
        if isinstance(value, ast.Constant) and isinstance(value.value, str)
    )


def _has_empty_text(function: ast.FunctionDef, grown: Set[str]) -> bool:
    """Whether an empty text may be found where characters are."""
    others: set[ast.AST] = set()
    for node in walk(function):
        match node:
            case ast.Attribute(value=value):  # `"".join`
                others.add(value)
            case ast.Compare(left=left, comparators=comparators):
                others |= {left, *comparators}
        others |= {v for t, v in bindings_of(node) if isinstance(t, ast.Name) and t.id in grown}
    empty = (n for n in walk(function) if isinstance(n, ast.Constant) and n.value == "")
    return any(node not in others for node in empty)
