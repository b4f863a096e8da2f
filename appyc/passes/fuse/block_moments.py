"""Sums of deviations per block, and their combination into those of the whole range: for `fuse_variance`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from appyc.analysis.patterns.variance_pattern import Nest, SumOfProducts
from appyc.errors import Loc
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Assign,
    Binary,
    Cast,
    Expr,
    For,
    Intrinsic,
    Load,
    Node,
    Select,
    Stmt,
    Store,
    Symbol,
    Update,
    Var,
)
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import rewrite, substitute
from appyc.passes.node_builders import integer, shifted, zero

BLOCK = 4096
"""Elements of a block: few enough for the cache next to a core, and enough that the overhead of each block is
negligible."""


@dataclass(frozen=True, slots=True)
class _Axis:
    """A loop that is cut into blocks. strip: iterations of a block. blocks: how many there are."""

    loop: For
    strip: Expr
    blocks: Var

    def bounds(self, block: Symbol) -> tuple[Expr, Expr]:
        loc = self.loop.loc
        lo = Binary("*", Var(block, loc=loc), self.strip, loc=loc)
        return lo, Binary("min", Binary("+", lo, self.strip, loc=loc), self.loop.hi, loc=loc)


@dataclass(frozen=True, slots=True)
class Blocks:
    """A nest cut into blocks. before: the statements that compute the sizes of its axes. moments: an array that has,
    for each block, the centre and the rest (the sum of the deviations) of each value, and then each sum of products."""

    axes: tuple[_Axis, ...]
    before: tuple[Stmt, ...]
    sums: Sequence[SumOfProducts]
    values: tuple[Expr, ...]
    moments: Symbol
    names: NameSupply
    loc: Loc

    @classmethod
    def of(cls, nest: Nest, sums: Sequence[SumOfProducts], names: NameSupply) -> Blocks:
        loc = nest.loc
        one = integer(1, loc)
        before: list[Stmt] = []
        axes: list[_Axis] = []
        rest: Expr = integer(BLOCK, loc)
        for loop in reversed(nest.loops):
            strip: Expr = integer(BLOCK, loc)
            if axes:
                symbol = names.fresh("strip", DType.INT64)
                before.append(Assign(symbol, Binary("max", rest, one, loc=loc), loc=loc))
                strip = Var(symbol, loc=loc)
            up = Binary("+", loop.hi, shifted(strip, -1), loc=loc)
            count = Binary("max", Binary("//", up, strip, loc=loc), integer(0, loc), loc=loc)
            blocks = names.fresh("blocks", DType.INT64)
            before.append(Assign(blocks, count, loc=loc))
            axes.insert(0, _Axis(loop, strip, Var(blocks, loc=loc)))
            rest = Binary("//", rest, Binary("max", loop.hi, one, loc=loc), loc=loc)
        values = tuple(dict.fromkeys(part.value for one in sums for part in one.parts))
        moments = names.fresh("moments", ArrayType(sums[0].update.target.dtype, len(axes) + 1))
        return cls(tuple(axes), tuple(before), sums, values, moments, names, loc)

    @property
    def dtype(self) -> DType:
        return self.moments.dtype

    def shape(self) -> tuple[Expr, ...]:
        columns = 2 * len(self.values) + len(self.sums)
        return (*(axis.blocks for axis in self.axes), integer(columns, self.loc))

    def partial(self, first: Nest, second: Nest) -> For:
        """The first loop block by block, and with each block its moments."""
        blocks, loc = self._variables(), self.loc
        centres, rests = ([self._fresh(name) for _ in self.values] for name in ("centre", "rest"))
        spreads = [self._fresh("spread") for _ in self.sums]
        there = [_as_computed(value, first, second) for value in self.values]
        shared = {
            stmt: c for stmt in first.body for v, c in zip(there, centres, strict=True) if _adds(stmt, v, c)
        }
        body = [stmt for stmt in first.body if stmt not in shared]
        body += [Update(c, (), "+", v, loc=loc) for v, c in zip(there, centres, strict=True)]
        out: list[Stmt] = [Assign(s, zero(self.dtype, loc), loc=loc) for s in (*centres, *rests, *spreads)]
        out.append(self._nest(first, blocks, body))
        out += [
            replace(stmt, value=Var(c, loc=loc)) for stmt, c in shared.items() if isinstance(stmt, Update)
        ]
        count = self._count(blocks)
        out += [Assign(c, Binary("/", Var(c, loc=loc), count, loc=loc), loc=loc) for c in centres]
        apart = {
            v: Binary("-", v, Var(c, loc=loc), loc=loc) for v, c in zip(self.values, centres, strict=True)
        }
        updates = [Update(r, (), "+", apart[v], loc=loc) for v, r in zip(self.values, rests, strict=True)]
        for one, spread in zip(self.sums, spreads, strict=True):
            factors = [apart[part.value] for part in one.parts]
            updates.append(
                Update(spread, (), "+", Binary("*", factors[0], factors[1], loc=loc), loc=one.update.loc)
            )
        out.append(self._nest(second, blocks, updates))
        for column, symbol in enumerate((*centres, *rests, *spreads)):
            index = self._index(blocks, column)
            out.append(Store(self.moments, index, Var(symbol, loc=loc), checked=False, loc=loc))
        return self._over_blocks(blocks, out, first.loc)

    def together(self) -> For:
        """The loop over blocks that replaces the second loop: it combines the moments of the blocks."""
        blocks, loc = self._variables(), self.sums[0].update.loc
        out: list[Stmt] = []
        for number, one in enumerate(self.sums):
            columns = [self.values.index(part.value) for part in one.parts]
            centres = [self._moment(blocks, column) for column in columns]
            rests = [self._moment(blocks, len(self.values) + column) for column in columns]
            apart = [Binary("-", c, part.centre, loc=loc) for c, part in zip(centres, one.parts, strict=True)]
            moved = {expr: self._fresh("moved") for expr in apart}
            out += [Assign(symbol, expr, loc=loc) for expr, symbol in moved.items()]
            a, b = (Var(moved[expr], loc=loc) for expr in apart)
            spread = self._moment(blocks, 2 * len(self.values) + number)
            value = combined_spread(spread, (a, b), rests, centres, self._count(blocks))
            out.append(replace(one.update, value=value))
        return self._over_blocks(blocks, out, loc)

    # ------------------------------------------------------------ moments

    def _fresh(self, name: str) -> Symbol:
        return self.names.fresh(name, self.dtype)

    def _index(self, blocks: Sequence[Symbol], column: int) -> tuple[Expr, ...]:
        return (*(Var(block, loc=self.loc) for block in blocks), integer(column, self.loc))

    def _moment(self, blocks: Sequence[Symbol], column: int) -> Load:
        return Load(self.moments, self._index(blocks, column), checked=False, loc=self.loc)

    # ------------------------------------------------------------ loops

    def _variables(self) -> list[Symbol]:
        return [self.names.fresh("block", DType.INT64) for _ in self.axes]

    def _nest(self, nest: Nest, blocks: Sequence[Symbol], body: Sequence[Stmt]) -> For:
        """The nest's loops over one block, around other statements."""
        inner: tuple[Stmt, ...] = tuple(body)
        for loop, axis, block in reversed(list(zip(nest.loops, self.axes, blocks, strict=True))):
            lo, hi = axis.bounds(block)
            inner = (replace(loop, lo=lo, hi=hi, body=inner),)
        return _only(inner)

    def _over_blocks(self, blocks: Sequence[Symbol], body: list[Stmt], loc: Loc) -> For:
        inner: tuple[Stmt, ...] = tuple(body)
        for axis, block in reversed(list(zip(self.axes, blocks, strict=True))):
            inner = (For(block, integer(0, loc), axis.blocks, 1, inner, loc=loc),)
        return _only(inner)

    def _count(self, blocks: Sequence[Symbol]) -> Expr:
        """The number of elements in a block."""
        lengths: list[Expr] = []
        for axis, block in zip(self.axes, blocks, strict=True):
            lo, hi = axis.bounds(block)
            lengths.append(Binary("-", hi, lo, loc=self.loc))
        return Cast(reduce(lambda a, b: Binary("*", a, b, loc=self.loc), lengths), self.dtype, loc=self.loc)


def _as_computed(value: Expr, first: Nest, second: Nest) -> Expr:
    """A value of the second loop in terms of the first loop, with scalars for elements that the first loop stores."""
    here: dict[Symbol, Expr] = {
        b.var: Var(a.var, loc=value.loc) for a, b in zip(first.loops, second.loops, strict=True)
    }
    stored = {
        (n.array, n.index): n.value for n in first.body if isinstance(n, Store) and isinstance(n.value, Var)
    }

    def rule(node: Node) -> Node:
        return stored.get((node.array, node.index), node) if isinstance(node, Load) else node

    return rewrite(substitute(value, here), rule)


def _adds(stmt: Stmt, value: Expr, total: Symbol) -> bool:
    """Whether the statement adds up the same value as a block does, in a scalar of the same type."""
    if not isinstance(stmt, Update) or stmt.op != "+" or stmt.target.is_array or stmt.mask is not None:
        return False
    return stmt.value == value and stmt.target.dtype is total.dtype


def _only(body: tuple[Stmt, ...]) -> For:
    (loop,) = body
    assert isinstance(loop, For)
    return loop


def _sum(lhs: Expr, rhs: Expr) -> Expr:
    return Binary("+", lhs, rhs, loc=lhs.loc)


def combined_spread(
    spread: Expr, apart: tuple[Expr, Expr], rests: Sequence[Expr], centres: Sequence[Expr], count: Expr
) -> Expr:
    """The sum of products of deviations of a block's elements from other centres.

    spread: the same from the block's own `centres`. apart: how far these are from the others. rests: the sums of the
    deviations from the block's centres.
    """
    (a, b), loc = apart, spread.loc
    slopes = _sum(Binary("*", a, rests[1], loc=loc), Binary("*", b, rests[0], loc=loc))
    whole = Binary("*", count, Binary("*", a, b, loc=loc), loc=loc)
    none = zero(spread.dtype, loc)
    value = _sum(spread, Select(_are_numbers(a, b), slopes, none, loc=loc))
    return _sum(value, Select(_are_numbers(*centres), whole, none, loc=loc))


def _are_numbers(*values: Expr) -> Expr:
    """Whether all are neither infinite nor NaN."""
    tests: list[Expr] = [Intrinsic("isfinite", (v,), DType.BOOL, loc=v.loc) for v in dict.fromkeys(values)]
    return reduce(lambda a, b: Binary("&", a, b, loc=b.loc), tests)
