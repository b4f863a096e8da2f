"""Unroll-and-jam of an outer loop: the rows of a block run the inner loop together.

Rows whose inner loops have different bounds share the part that is common:

    for i: for j in range(i + 1): ...

    for (; i + 4 <= n; i += 4) {
        ... rows i to i + 3, j from 0 to i + 1 ...
        ... each row alone, j from i + 1 to its own end ...
    }
    ... the remainder, one row at a time ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.text.c_expressions import expression
from appyc.ir.nodes import For
from appyc.ir.visit import scalars_read

EmitInner: TypeAlias = Callable[[tuple[str, ...], str, str, bool], None]
"""Writes the inner loop for the rows of these names, between two bounds; the last says: it is short."""

EmitRow: TypeAlias = Callable[[str], None]
"""Writes what else is in the row of this name."""


@dataclass(frozen=True, slots=True)
class RowBlocks:
    """rows: the loop whose iterations are jammed. inner: the loop inside that they run together, which
    `emit` writes. before, after: write what else is in a row; no row needs another one's."""

    rows: For
    inner: For
    emit: EmitInner
    before: EmitRow | None = None
    after: EmitRow | None = None


def emit_row_blocks(
    ctx: FunctionContext,
    blocks: RowBlocks,
    lo: str,
    hi: str,
    counts: tuple[int, int],
    chunk: str | None = None,
) -> None:
    """The rows from `lo` to `hi`. counts: rows in a block with 32 vector registers, and with fewer.

    chunk: tiles the inner loop: all rows do so many of its iterations before any does the next ones. Its bounds are
    then the same in all rows. The other statements of all rows run before the first tile and after the last one.
    """
    if chunk is None:
        inner = blocks.inner
        _emit_rows(ctx, blocks, lo, hi, counts, (expression(ctx, inner.lo), expression(ctx, inner.hi)))
        return
    fresh, writer = ctx.module.names.fresh, ctx.writer
    many, end, first, last = (fresh(name) for name in ("many", "end", "first", "last"))
    smaller = ctx.module.helpers.plain("smaller")
    writer.line(f"const int64_t {many} = {chunk};")
    writer.line(f"const int64_t {end} = {expression(ctx, blocks.inner.hi)};")
    start = expression(ctx, blocks.inner.lo)
    _emit_each(ctx, blocks, blocks.before, lo, hi)
    with writer.block(f"for (int64_t {first} = {start}; {first} < {end}; {first} += {many})"):
        writer.line(f"const int64_t {last} = {smaller}({first} + {many}, {end});")
        _emit_rows(ctx, replace(blocks, before=None, after=None), lo, hi, counts, (first, last))
    _emit_each(ctx, blocks, blocks.after, lo, hi)


def _emit_rows(
    ctx: FunctionContext,
    blocks: RowBlocks,
    lo: str,
    hi: str,
    counts: tuple[int, int],
    bounds: tuple[str, str],
) -> None:
    """bounds: of the inner loop, where they are the same in all rows."""
    writer, row = ctx.writer, ctx.name(blocks.rows.var)
    writer.line(f"int64_t {row} = {lo};")
    if counts[0] == counts[1]:
        _emit_block(ctx, blocks, counts[0], hi, bounds)
    else:
        writer.line("#if defined(__AVX512F__) || defined(__aarch64__)")
        _emit_block(ctx, blocks, counts[0], hi, bounds)
        writer.line("#else")
        _emit_block(ctx, blocks, counts[1], hi, bounds)
        writer.line("#endif")
    with writer.block(f"for (; {row} < {hi}; {row} += 1)"):
        _emit_others(blocks.before, (row,))
        blocks.emit((row,), *bounds, False)
        _emit_others(blocks.after, (row,))


def _emit_others(emit: EmitRow | None, rows: tuple[str, ...]) -> None:
    if emit is not None:
        for row in rows:
            emit(row)


def _emit_each(ctx: FunctionContext, blocks: RowBlocks, emit: EmitRow | None, lo: str, hi: str) -> None:
    """Emits the other statements of the rows of a block, row by row."""
    if emit is not None:
        row = ctx.module.names.fresh(blocks.rows.var.name)
        with ctx.writer.block(f"for (int64_t {row} = {lo}; {row} < {hi}; {row} += 1)"):
            emit(row)


def _emit_block(
    ctx: FunctionContext, blocks: RowBlocks, count: int, hi: str, bounds: tuple[str, str]
) -> None:
    """The loop over whole blocks of `count` rows."""
    writer, rows, inner = ctx.writer, blocks.rows, blocks.inner
    row = ctx.name(rows.var)
    with writer.block(f"for (; {row} + {count} <= {hi}; {row} += {count})"):
        names = tuple(ctx.module.names.fresh(f"{rows.var.name}_{r}") for r in range(count))
        for number, name in enumerate(names):
            writer.line(f"const int64_t {name} = {row} + {number};")
        _emit_others(blocks.before, names)
        if rows.var in scalars_read(inner.bounds):
            _emit_slanted(ctx, rows, inner, names, blocks.emit)
        else:
            blocks.emit(names, *bounds, False)
        _emit_others(blocks.after, names)


def _emit_slanted(
    ctx: FunctionContext, rows: For, inner: For, names: tuple[str, ...], emit: EmitInner
) -> None:
    """A block whose rows' inner loops have different bounds: their common part, then the remainder of each row."""
    writer, module = ctx.writer, ctx.module
    smaller = module.helpers.plain("smaller")
    bounds = [_bounds(ctx, rows, inner, name) for name in names]
    first, last = declare_common_part(ctx, bounds)
    emit(names, first, last, False)
    one = module.names.fresh(f"{rows.var.name}_one")
    with writer.block(f"for (int64_t {one} = {names[0]}; {one} <= {names[-1]}; {one} += 1)"):
        low, high = _bounds(ctx, rows, inner, one)
        if differ(low for low, _ in bounds):
            emit((one,), low, f"{smaller}({first}, {high})", True)
        if differ(high for _, high in bounds):
            emit((one,), last, high, True)


def differ(texts: Iterable[str]) -> bool:
    """Whether these are not all the same."""
    return len(set(texts)) > 1


def declare_common_part(ctx: FunctionContext, bounds: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Declares the bounds of the iterations that loops with these bounds have in common; returns their names."""
    fresh, helpers = ctx.module.names.fresh, ctx.module.helpers
    larger, smaller = helpers.plain("larger"), helpers.plain("smaller")
    first, last = fresh("first"), fresh("last")
    lows, highs = zip(*bounds, strict=True)
    ctx.writer.line(f"const int64_t {first} = {nested(larger, lows)};")
    ctx.writer.line(f"const int64_t {last} = {larger}({first}, {nested(smaller, highs)});")
    return first, last


def nested(function: str, terms: Iterable[str]) -> str:
    """The call of a function of two numbers for all of these terms."""
    return reduce(lambda so_far, term: f"{function}({so_far}, {term})", dict.fromkeys(terms))


def _bounds(ctx: FunctionContext, rows: For, inner: For, name: str) -> tuple[str, str]:
    """The inner loop's bounds in the row of that name."""
    inside = ctx.spelling({rows.var: name})
    return expression(inside, inner.lo), expression(inside, inner.hi)
