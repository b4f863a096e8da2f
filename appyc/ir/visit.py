"""Walking and rewriting IR.

`walk` yields a tree's nodes, parents first. `rewrite` rebuilds it from the leaves up; a
rule returns a node (itself where nothing changes) or a tuple of statements that replace
it, the empty tuple to delete it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass, replace
from functools import cache
from types import UnionType
from typing import Any, TypeAlias, TypeVar, cast, get_args, get_type_hints

from appyc.ir import _trees
from appyc.ir import nodes as ir
from appyc.ir.schedule import Operand, Product, Scan, Schedule

N = TypeVar("N", bound=ir.Node)
T = TypeVar("T", bound="ir.Node | tuple[ir.Node, ...]")
Rule: TypeAlias = Callable[[ir.Node], "ir.Node | tuple[ir.Node, ...]"]

Fields: TypeAlias = Callable[..., tuple[str, ...]]
"""Which fields of a kind of node to look into."""


def _field_names(kind: type[Any]) -> tuple[str, ...]:
    """All but `loc`, which is the one field that a node's pattern does not match by position."""
    names: tuple[str, ...] = kind.__match_args__
    return names


@cache
def _parts(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a kind of node that hold nodes, by their types; most nodes have few or none."""
    return tuple(name for name, kinds in _fields(kind) if any(map(_is_node, kinds)))


def _blocks(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold statements, directly or below other nodes."""
    nodes = ((name, {k for k in kinds if _is_node(k)}) for name, kinds in _fields(kind))
    return tuple(name for name, kinds in nodes if not kinds <= _WITHOUT_STATEMENTS)


def _reads(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a kind of node that hold nodes other than clauses."""
    return tuple(
        name for name, kinds in _fields(kind) if any(_is_node(k) and k is not ir.Clauses for k in kinds)
    )


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a kind of node that hold symbols, alone or in reductions, scans and schedules."""
    return tuple(
        name for name, kinds in _fields(kind) if {ir.Symbol, ir.Reduction, Scan, Schedule}.intersection(kinds)
    )


def _fields(kind: type[Any]) -> list[tuple[str, tuple[object, ...]]]:
    """The fields of a kind of node, and the types that each may hold."""
    hints = get_type_hints(kind)
    return [(name, tuple(_kinds(hints[name]))) for name in _field_names(kind)]


def _kinds(hint: object) -> Iterator[object]:
    """The types that an annotation is made of: `tuple[Expr, ...] | None` has all of `Expr`."""
    arguments = get_args(hint)
    if not arguments:
        yield hint
    for argument in arguments:
        yield from _kinds(argument)


def _is_node(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, ir.Node)


_WITHOUT_STATEMENTS = frozenset[object]((*get_args(ir.Expr), ir.Clauses, Product, Operand))


def children(node: ir.Node) -> list[ir.Node]:
    """The nodes directly below, in order."""
    out: list[ir.Node] = []
    kind: Any = type(node)
    for name in _parts(kind):
        value = getattr(node, name)
        out.extend(value if isinstance(value, tuple) else (value,) if isinstance(value, ir.Node) else ())
    return out


class _Table(dict[Any, "tuple[str, ...] | None"]):
    """The fields to look into by the class of a node, None for other classes (`_trees.c`)."""

    def __init__(self, fields: Fields) -> None:
        super().__init__()
        self._fields = fields

    def __missing__(self, kind: type[object]) -> tuple[str, ...] | None:
        self[kind] = self._fields(kind) if issubclass(kind, ir.Node) else None
        return self[kind]


_PARTS, _BLOCKS, _READS = _Table(_parts), _Table(_blocks), _Table(_reads)


def walk(node: ir.Node | Iterable[ir.Node]) -> Iterator[ir.Node]:
    """The node (or each of them) and everything below, parents before children, in program order."""
    return _trees.walk(node, _PARTS)


def statements(node: ir.Node | Iterable[ir.Node]) -> Iterator[ir.Node]:
    """The nodes of a tree in the order of `walk`, without expressions, which hold no statements and are most
    of the nodes."""
    return _trees.walk(node, _BLOCKS)


def contains(node: ir.Node | Iterable[ir.Node], kinds: type[ir.Node] | UnionType) -> bool:
    """Whether a node of one of these kinds is in a tree, or in one of several: `contains(body, Load | Draw)`."""
    return any(isinstance(n, kinds) for n in _trees.walk(node, _fields_to(get_args(kinds) or (kinds,))))


@cache
def _fields_to(kinds: tuple[type[ir.Node], ...]) -> _Table:
    """The fields in which nodes of these kinds can be found: expressions are skipped for kinds of
    statements."""
    return _BLOCKS if {*kinds} <= {*get_args(ir.Stmt)} else _PARTS


def rewrite(node: N, rule: Rule) -> N:
    """The tree with `rule` applied to every node, children before parents."""
    out = _trees.rewrite(node, rule, _PARTS, _with)
    assert not isinstance(out, tuple), "a rule cannot replace the root by several nodes"
    return out


def rewrite_all(nodes: tuple[N, ...], rule: Rule) -> tuple[N, ...]:
    """`rewrite` for each of a tuple of nodes, splicing what the rule returns for them."""
    return _trees.rewrite(nodes, rule, _PARTS, _with)


def _with(node: ir.Node, changes: Mapping[str, object]) -> ir.Node:
    """`dataclasses.replace`, which looks through the fields of the class each time, in a third of the time."""
    kind: Any = type(node)
    values = [changes[name] if name in changes else getattr(node, name) for name in kind.__match_args__]
    out: ir.Node = kind(*values, loc=node.loc)
    return out


def map_operands(node: N, rule: Callable[[ir.Expr], ir.Expr]) -> N:
    """The node with `rule` applied to the expressions directly below it, and to those that say what a view is."""
    changes: dict[str, object] = {}
    kind: Any = type(node)
    for name in _parts(kind):
        old = getattr(node, name)
        if isinstance(old, ir.Expr):
            new: object = rule(old)
        elif isinstance(old, tuple) and old:
            items = tuple(
                rule(item) if isinstance(item, ir.Expr)
                else map_operands(item, rule) if isinstance(item, ir.View)
                else item
                for item in old
            )  # fmt: skip
            new = items if any(a is not b for a, b in zip(items, old, strict=True)) else old
        else:
            continue
        if new is not old:
            changes[name] = new
    return cast(N, _with(node, changes)) if changes else node


def substitute(node: T, values: dict[ir.Symbol, ir.Expr]) -> T:
    """The tree, or several, with every read of a scalar in `values` replaced by its expression."""
    return _rewritten(node, lambda n: values.get(n.symbol, n) if isinstance(n, ir.Var) else n)


def _rewritten(node: T, rule: Rule) -> T:
    return cast(T, rewrite_all(node, rule) if isinstance(node, tuple) else rewrite(node, rule))


def rename(node: T, new: dict[ir.Symbol, ir.Symbol]) -> T:
    """The tree, or several, with symbols replaced wherever they stand: read, written, bound or declared."""

    def sym(value: object) -> object:
        if isinstance(value, ir.Symbol):
            return new.get(value, value)
        if isinstance(value, ir.Reduction | Scan):
            return replace(value, symbol=new.get(value.symbol, value.symbol))
        if isinstance(value, Schedule):
            return _renamed(value, new) if value.loops else value
        if isinstance(value, tuple):
            items = tuple(sym(v) for v in value)
            return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
        return value

    def rule(n: ir.Node) -> ir.Node:
        kind: Any = type(n)
        changes = {name: out for name in _names(kind) if (out := sym(old := getattr(n, name))) is not old}
        return _with(n, changes) if changes else n

    return _rewritten(node, rule)


def _renamed(value: Any, new: dict[ir.Symbol, ir.Symbol]) -> Any:
    """A value in a schedule with symbols replaced."""
    match value:
        case ir.Symbol():
            return new.get(value, value)
        case ir.Node():
            return rename(value, new)
        case tuple():
            return tuple(_renamed(item, new) for item in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{n: _renamed(getattr(value, n), new) for n in _field_names(type(value))})
        case _:
            return value


def symbols_of(node: ir.Node | Iterable[ir.Node]) -> list[ir.Symbol]:
    """Every symbol that occurs, once each, in program order (parameters first)."""
    return list(dict.fromkeys(symbol for n in walk(node) for symbol in own_symbols(n)))


def own_symbols(node: ir.Node) -> Iterator[ir.Symbol]:
    """The symbols that a node names itself, the nodes below aside."""
    kind: Any = type(node)
    for name in _names(kind):
        value = getattr(node, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, ir.Symbol):
                yield item
            elif isinstance(item, ir.Reduction | Scan):
                yield item.symbol


def scalars_read(node: ir.Node | Iterable[ir.Node]) -> set[ir.Symbol]:
    """Scalars whose value is read; an `Update` reads its target. Clauses are not reads."""
    return set(scalar_reads(node))


def scalar_reads(node: ir.Node | Iterable[ir.Node]) -> Iterator[ir.Symbol]:
    """The scalars that are read, once for each read."""
    for n in _trees.walk(node, _READS):
        if isinstance(n, ir.Var):
            yield n.symbol
        elif isinstance(n, ir.Update) and not n.index and not n.target.is_array:
            yield n.target


def scalars_written(node: ir.Node | Iterable[ir.Node]) -> set[ir.Symbol]:
    """Scalars that are assigned or updated; loop variables are not among them."""
    return set(scalar_writes(node))


def scalar_writes(node: ir.Node | Iterable[ir.Node]) -> Iterator[ir.Symbol]:
    """The scalars that are assigned or updated, once for each such statement."""
    for n in statements(node):
        if isinstance(n, ir.Assign) or (isinstance(n, ir.Update) and not n.target.is_array):
            yield n.target


def arrays_read(node: ir.Node | Iterable[ir.Node]) -> set[ir.Symbol]:
    """Arrays an element of which is read, by an `Update` or a resizing `Alloc` too; a `Call` reads all it is given."""
    out: set[ir.Symbol] = set()
    for n in walk(node):
        if isinstance(n, ir.Load) or (isinstance(n, ir.Alloc) and n.kept is not None):
            out.add(n.array)
        elif isinstance(n, ir.Call):
            out |= {view.array for view in n.views}
        elif isinstance(n, ir.Update) and n.target.is_array:
            out.add(n.target)
    return out


def arrays_written(node: ir.Node | Iterable[ir.Node]) -> set[ir.Symbol]:
    """Arrays an element of which is stored or updated, or is a generator that is drawn from; a `Call` may store into
    those that it says."""
    out: set[ir.Symbol] = set()
    for n in statements(node):
        if isinstance(n, ir.Store | ir.ForAll) or (isinstance(n, ir.Alloc) and n.kept is not None):
            out.add(n.array)
        elif isinstance(n, ir.Assign) and isinstance(n.value, ir.Draw):
            out.add(n.value.generators)
        elif isinstance(n, ir.Assign) and isinstance(n.value, ir.Call):
            out |= {view.array for view in n.value.views if view.written}
        elif isinstance(n, ir.Update) and n.target.is_array:
            out.add(n.target)
    return out


def loops_of(node: ir.Node | Iterable[ir.Node]) -> list[ir.For]:
    """Every `for` loop, outer ones first."""
    return [n for n in statements(node) if isinstance(n, ir.For)]


def map_loops(fn: ir.Function, rule: Callable[[ir.For], ir.Stmt | tuple[ir.Stmt, ...]]) -> ir.Function:
    """The function with `rule` applied to every `for` loop, inner ones first."""
    out = _trees.rewrite(fn, lambda n: rule(n) if isinstance(n, ir.For) else n, _BLOCKS, _with)
    assert isinstance(out, ir.Function)
    return out


def with_loops(fn: ir.Function, new: Mapping[ir.Symbol, ir.Stmt | tuple[ir.Stmt, ...]]) -> ir.Function:
    """The function with other statements for some loops, which their variables name."""
    return map_loops(fn, lambda loop: new.get(loop.var, loop)) if new else fn


def with_body(fn: ir.Function, body: tuple[ir.Stmt, ...]) -> ir.Function:
    """The function with another body; itself where that is the same."""
    return fn if body == fn.body else replace(fn, body=body)
