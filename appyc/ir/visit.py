"""Walking and rewriting IR.

`walk` yields a tree's nodes, parents first. `rewrite` rebuilds it from the leaves up; a
rule returns a node (itself where nothing changes) or a tuple of statements to put in its
place, the empty tuple to delete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast, get_args, get_type_hints

from appyc.ir.nodes import (
    Assign,
    Clauses,
    Expr,
    Extent,
    For,
    ForAll,
    Function,
    Load,
    Node,
    Reduction,
    Scan,
    Stmt,
    Store,
    Symbol,
    Update,
    Var,
)

N = TypeVar("N", bound=Node)
Rule: TypeAlias = Callable[[Node], "Node | tuple[Node, ...]"]


def _field_names(kind: type[Any]) -> tuple[str, ...]:
    """All but `loc`, which is the one field that a node's pattern does not match by position."""
    names: tuple[str, ...] = kind.__match_args__
    return names


@cache
def _parts(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a kind of node that hold nodes, by their types; most nodes have few or none."""
    hints = get_type_hints(kind)
    return tuple(name for name in _field_names(kind) if any(_is_node(h) for h in _kinds(hints[name])))


def _kinds(hint: object) -> Iterator[object]:
    """The types that an annotation is made of: `tuple[Expr, ...] | None` has all of `Expr`."""
    arguments = get_args(hint)
    if not arguments:
        yield hint
    for argument in arguments:
        yield from _kinds(argument)


def _is_node(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Node)


def children(node: Node) -> list[Node]:
    """The nodes directly below, in order."""
    out: list[Node] = []
    kind: Any = type(node)
    for name in _parts(kind):
        value = getattr(node, name)
        if isinstance(value, tuple):
            out.extend(value)
        elif isinstance(value, Node):
            out.append(value)
    return out


def walk(node: Node | Iterable[Node]) -> Iterator[Node]:
    """The node (or each of them) and everything below, parents before children, in program order."""
    stack = [node] if isinstance(node, Node) else list(node)[::-1]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(children(top)[::-1])


def rewrite(node: N, rule: Rule) -> N:
    """The tree with `rule` applied to every node, children before parents."""
    out = _rewrite(node, rule)
    assert not isinstance(out, tuple), "a rule cannot put several nodes in the root's place"
    return cast(N, out)


def rewrite_all(nodes: tuple[N, ...], rule: Rule) -> tuple[N, ...]:
    """`rewrite` for each of a tuple of nodes, splicing what the rule returns for them."""
    out: list[Node] = []
    for node in nodes:
        new = _rewrite(node, rule)
        out.extend(new if isinstance(new, tuple) else (new,))
    return cast("tuple[N, ...]", tuple(out))


def _rewrite(node: Node, rule: Rule) -> Node | tuple[Node, ...]:
    changes: dict[str, object] = {}
    kind: Any = type(node)
    for name in _parts(kind):
        old = getattr(node, name)
        if isinstance(old, Node):
            new = _rewrite(old, rule)
            assert not isinstance(new, tuple), f"cannot put several nodes into {type(node).__name__}.{name}"
            if new is not old:
                changes[name] = new
        elif isinstance(old, tuple) and old:
            items = rewrite_all(old, rule)
            if len(items) != len(old) or any(a is not b for a, b in zip(items, old, strict=True)):
                changes[name] = items
    return rule(replace(node, **changes) if changes else node)  # type: ignore[arg-type]


def substitute(node: N, values: dict[Symbol, Expr]) -> N:
    """The tree with every read of a scalar in `values` replaced by its expression."""

    def rule(n: Node) -> Node:
        return values.get(n.symbol, n) if isinstance(n, Var) else n

    return rewrite(node, rule)


def rename(node: N, new: dict[Symbol, Symbol]) -> N:
    """The tree with symbols replaced wherever they stand: read, written, bound or declared."""

    def sym(value: object) -> object:
        if isinstance(value, Symbol):
            return new.get(value, value)
        if isinstance(value, Reduction | Scan):
            return replace(value, symbol=new.get(value.symbol, value.symbol))
        if isinstance(value, tuple):
            items = tuple(sym(v) for v in value)
            return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
        return value

    def rule(n: Node) -> Node:
        changes = {
            name: out for name in _field_names(type(n)) if (out := sym(old := getattr(n, name))) is not old
        }
        return replace(n, **changes) if changes else n  # type: ignore[arg-type]

    return rewrite(node, rule)


def symbols_of(node: Node | Iterable[Node]) -> list[Symbol]:
    """Every symbol that occurs, once each, in program order (parameters first)."""
    seen: dict[Symbol, None] = {}

    def add(value: object) -> None:
        if isinstance(value, Symbol):
            seen.setdefault(value)
        elif isinstance(value, Reduction | Scan):
            seen.setdefault(value.symbol)
        elif isinstance(value, tuple):
            for item in value:
                add(item)

    for n in walk(node):
        for name in _field_names(type(n)):
            add(getattr(n, name))
    return list(seen)


def scalars_read(node: Node | Iterable[Node]) -> set[Symbol]:
    """Scalars whose value is read; an `Update` reads its target. Clauses are not reads."""
    out: set[Symbol] = set()
    for n in _without_clauses(node):
        if isinstance(n, Var):
            out.add(n.symbol)
        elif isinstance(n, Update) and not n.index and not n.target.is_array:
            out.add(n.target)
    return out


def scalars_written(node: Node | Iterable[Node]) -> set[Symbol]:
    """Scalars that are assigned or updated; loop variables are not among them."""
    out: set[Symbol] = set()
    for n in walk(node):
        if isinstance(n, Assign):
            out.add(n.target)
        elif isinstance(n, Update) and not n.target.is_array:
            out.add(n.target)
    return out


def arrays_read(node: Node | Iterable[Node]) -> set[Symbol]:
    """Arrays an element of which is read; an `Update` reads its target."""
    out: set[Symbol] = set()
    for n in walk(node):
        if isinstance(n, Load):
            out.add(n.array)
        elif isinstance(n, Update) and n.target.is_array:
            out.add(n.target)
    return out


def arrays_written(node: Node | Iterable[Node]) -> set[Symbol]:
    """Arrays an element of which is stored or updated."""
    out: set[Symbol] = set()
    for n in walk(node):
        if isinstance(n, Store | ForAll):
            out.add(n.array)
        elif isinstance(n, Update) and n.target.is_array:
            out.add(n.target)
    return out


def extents_read(node: Node | Iterable[Node]) -> set[tuple[Symbol, int]]:
    return {(n.array, n.axis) for n in walk(node) if isinstance(n, Extent)}


def loops_of(node: Node | Iterable[Node]) -> list[For]:
    """Every `for` loop, outer ones first."""
    return [n for n in walk(node) if isinstance(n, For)]


def map_loops(fn: Function, rule: Callable[[For], Stmt | tuple[Stmt, ...]]) -> Function:
    """The function with `rule` applied to every `for` loop, inner ones first."""
    return rewrite(fn, lambda n: rule(n) if isinstance(n, For) else n)


def _without_clauses(node: Node | Iterable[Node]) -> Iterator[Node]:
    stack = [node] if isinstance(node, Node) else list(node)[::-1]
    while stack:
        top = stack.pop()
        yield top
        stack.extend([c for c in children(top) if not isinstance(c, Clauses)][::-1])
