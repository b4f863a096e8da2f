"""Dataflow graph of a function, as `fn.graph()` shows it: operations, and the values between them.

An operation is a loop nest of the program before fusion. Statements between loops only forward
scalars. An array has one node for each operation that writes it, and a read is an edge from the last
of these nodes: the graph is acyclic.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import prod

from appyc.compiler.analyse import Analysed
from appyc.errors import Loc
from appyc.ir.names import ordered
from appyc.ir.nodes import Alloc, Assign, Expr, For, If, Load, Node, Stmt, Store, Symbol, Update, Var, While
from appyc.ir.printer import print_expr
from appyc.ir.types import ScalarType
from appyc.ir.visit import arrays_read, arrays_written, loops_of, rewrite, scalars_read, scalars_written, walk
from appyc.report.fusion import FusionRecord, fusion_records, known_sizes
from appyc.report.words import Words

LONGEST = 90
"""Maximum characters of an expression in a box."""

LONGEST_SLICE = 24
"""Maximum characters of a slice in it; for a longer one the array's name is shown."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A loop nest of the program.

    number: of its node; operations and values share one numbering. group: of the operations fused into one loop, or
    None. is_copied: it is rematerialised at each read, and has no loop of its own. location: shown for file and line.
    """

    number: int
    label: str
    file: str
    line: int
    group: int | None
    is_copied: bool = False
    location: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """An array, or a scalar that a loop computes (size None: it is in a register).

    size: bytes, -1 if unknown. is_stored: it is in memory. group: the one that both makes and uses it, or
    None. is_given: an argument. is_result: live-out.
    """

    number: int
    name: str
    size: int | None
    is_stored: bool
    group: int | None
    is_given: bool = False
    is_result: bool = False


@dataclass(frozen=True, slots=True)
class Dataflow:
    """The graph. groups: the record of each group, by its number. edges: pairs of node numbers."""

    operations: tuple[Operation, ...]
    values: tuple[Value, ...]
    edges: tuple[tuple[int, int], ...]
    groups: tuple[FusionRecord, ...]


def dataflow(analysed: Analysed, arguments: Mapping[str, object]) -> Dataflow:
    """The dataflow graph of a function. The arguments determine the sizes of its arrays."""
    known = known_sizes(analysed, arguments)
    builder = _Builder(analysed, known)
    builder.block(analysed.plain.body)
    return builder.finished(fusion_records(analysed, known, Words.of(analysed)))


@dataclass(slots=True)
class _Builder:
    """Builds the graph in one walk over the statements.

    at: the node that holds a symbol's current value. symbols: by the number of their value. handed: the nodes that a
    symbol assigned between loops is computed from.
    """

    analysed: Analysed
    known: Mapping[Symbol, object]
    operations: list[Operation] = field(default_factory=list)
    values: dict[int, Value] = field(default_factory=dict)
    symbols: dict[int, Symbol] = field(default_factory=dict)
    edges: dict[tuple[int, int], None] = field(default_factory=dict)
    at: dict[Symbol, int] = field(default_factory=dict)
    handed: dict[Symbol, frozenset[int]] = field(default_factory=dict)
    count: int = 0

    def block(self, body: Iterable[Stmt]) -> None:
        for stmt in body:
            match stmt:
                case For() if self._is_operation(stmt):
                    self._operation(stmt)
                case For() | While():
                    self.block(stmt.body)
                case If():
                    self.block((*stmt.then, *stmt.orelse))
                case Alloc():
                    self.at.pop(stmt.array, None)
                case Assign():
                    self.handed[stmt.target] = self._sources(stmt)
                case Store() | Update():
                    self._single(stmt)

    def _is_operation(self, loop: For) -> bool:
        """Whether the loop is a fused one, or no loop inside it was fused."""
        joined = {part for group in self.analysed.context.fusions.values() for part in group.parts}
        inner = {n.var for n in loops_of(loop.body)}
        return loop.var in joined or not inner & joined

    def _operation(self, loop: For) -> None:
        context = self.analysed.context
        group = next((var for var, g in context.fusions.items() if loop.var in g.parts), None)
        written = arrays_written(loop)
        copied = bool(written) and written <= context.recomputed.keys()
        number = self._next()
        fused = None if group is None else group.uid
        self.operations.append(Operation(number, _label(loop), loop.loc.file, loop.loc.line, fused, copied))
        self._read(loop, number)
        for symbol in ordered(written | self._totals(loop)):
            self._written(symbol, number)

    def _single(self, stmt: Store | Update) -> None:
        """A store between loops: its sources become edges to the array's node, or sources of the symbol."""
        target = stmt.array if isinstance(stmt, Store) else stmt.target
        held = self._sources(stmt.value)
        if target.is_array and self.analysed.context.contracted.get(target) is None and target in self.at:
            self.edges.update(
                {(number, self.at[target]): None for number in held if number != self.at[target]}
            )
        else:
            self.handed[target] = held

    def _totals(self, loop: For) -> set[Symbol]:
        """Scalars that the loop writes and other statements read."""
        inside = {id(n) for n in walk(loop)}
        later = {n.symbol for n in walk(self.analysed.plain) if isinstance(n, Var) and id(n) not in inside}
        return {s for s in scalars_written(loop) if s in later}

    def _sources(self, node: Node) -> frozenset[int]:
        return frozenset().union(*map(self._held, arrays_read(node) | scalars_read(node)))

    def _held(self, symbol: Symbol) -> frozenset[int]:
        if symbol in self.handed:
            return self.handed[symbol]
        if symbol not in self.at and symbol.is_array:
            self.at[symbol] = self._value(symbol, is_given=symbol in self.analysed.plain.params)
        return frozenset((self.at[symbol],)) if symbol in self.at else frozenset()

    def _read(self, loop: For, number: int) -> None:
        for symbol in ordered(arrays_read(loop) | scalars_read(loop)):
            if symbol in scalars_written(loop) and symbol not in self.handed:
                continue
            self.edges.update({(source, number): None for source in sorted(self._held(symbol))})

    def _written(self, symbol: Symbol, number: int) -> None:
        value = self._value(symbol, is_given=False)
        self.at[symbol] = value
        self.handed.pop(symbol, None)
        self.edges[number, value] = None

    def _value(self, symbol: Symbol, *, is_given: bool) -> int:
        number = self._next()
        context = self.analysed.context
        stored = symbol.is_array and symbol not in context.contracted and symbol not in context.recomputed
        size = self._size(symbol) if symbol.is_array else None
        self.symbols[number] = symbol
        self.values[number] = Value(number, symbol.name, size, stored, None, is_given)
        return number

    def _size(self, array: Symbol) -> int:
        shape = getattr(self.known.get(array), "shape", None)
        return -1 if shape is None else prod(shape, start=array.dtype.itemsize)

    def _next(self) -> int:
        self.count += 1
        return self.count

    def finished(self, records: tuple[FusionRecord, ...]) -> Dataflow:
        plain = self.analysed.plain
        results = {r.value for r in plain.results if isinstance(r.value, Symbol)}
        results |= {p for p in plain.params if p.is_array} & arrays_written(plain)
        last = {self.at[symbol] for symbol in results if symbol in self.at}
        for r in plain.results:
            if not isinstance(r.value, Symbol):
                last |= self._sources(r.value)
        group_of = {op.number: op.group for op in self.operations}
        values = []
        for value in self.values.values():
            makers = {group_of[a] for a, b in self.edges if b == value.number and a in group_of}
            users = {group_of[b] for a, b in self.edges if a == value.number and b in group_of}
            inside = len(makers) == 1 and bool(makers & users)
            group = next(iter(makers)) if inside else None
            values.append(replace(value, group=group, is_result=value.number in last))
        numbers = {
            uid: n for n, uid in enumerate(dict.fromkeys(op.group for op in self.operations if op.group))
        }
        return Dataflow(
            tuple(replace(op, group=numbers.get(op.group or -1)) for op in self.operations),
            tuple(replace(v, group=numbers.get(v.group or -1)) for v in values),
            tuple(self.edges),
            _in_order(self.analysed, numbers, records),
        )


def _in_order(
    analysed: Analysed, numbers: Mapping[int, int], records: tuple[FusionRecord, ...]
) -> tuple[FusionRecord, ...]:
    """The record of each group, by its number."""
    by_lines = {record.lines: record for record in records}
    groups = {var.uid: group for var, group in analysed.context.fusions.items()}
    out = []
    for uid in numbers:
        lines = tuple(loc.line for loc in groups[uid].locs)
        out.append(by_lines.get(lines) or FusionRecord(lines, (), None, None))
    return tuple(out)


def _label(loop: For) -> str:
    """The text of a nest's first innermost statement: `e = np.exp(x - total)`, `t = u[1:] - u[:-1]`."""
    for node in walk(loop):
        match node:
            case Store():
                return _shortened(f"{_target(node.array, node.loc)} = {_text(node.value)}")
            case Update(op="+" | "*" | "&" | "|" | "^" as op):
                return _shortened(f"{_target(node.target, node.loc)} {op}= {_text(node.value)}")
            case Update():
                return _shortened(f"{_target(node.target, node.loc)} = {node.op}({_text(node.value)})")
    names = ", ".join(sorted(s.name for s in scalars_written(loop)))
    return _shortened(names or f"for {loop.var.name}")


def _text(value: Expr) -> str:
    """An expression with array accesses as in the source, without redundant parentheses."""

    def rule(node: Node) -> Node:
        if isinstance(node, Load):
            name = _as_written(node.loc, (ast.Expr,)) or node.array.name
            return Var(Symbol(name, node.array.uid, ScalarType(node.array.dtype)), loc=node.loc)
        return node

    return ast.unparse(ast.parse(print_expr(rewrite(value, rule)), mode="eval"))


def _target(symbol: Symbol, loc: Loc) -> str:
    """The target of a store: as in the source if that names the symbol, else the symbol (a temporary, say)."""
    written = _as_written(loc, (ast.Assign, ast.AugAssign))
    return written if written is not None and written.startswith(f"{symbol.name}[") else symbol.name


def _as_written(loc: Loc, kinds: tuple[type[ast.stmt], ...]) -> str | None:
    """The element or slice at a source location, `u[1:-1]`, or the target of the assignment there."""
    line = loc.source_line()
    if line is None or not loc.end_col:
        return None
    try:
        tree = ast.parse(line[loc.col : loc.end_col].strip())
    except SyntaxError:
        return None
    match tree.body:
        case [
            ast.Expr(ast.Subscript() as found)
            | ast.Assign([ast.Subscript() as found])
            | ast.AugAssign(ast.Subscript() as found) as stmt
        ] if isinstance(stmt, kinds):
            text = ast.unparse(found)
            return text if len(text) <= LONGEST_SLICE else None
        case _:
            return None


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
