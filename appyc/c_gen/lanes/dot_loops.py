"""C text for the dot products that `dot_plan` chose: register blocks of rows by columns, with a sum for each pair.

Each statement is written once for every copy, a row of the block with a column of it. In a
sum, the copies' vector operations are adjacent, so that the C compiler loads each vector once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.lanes.register_tiles import declare_copies, emit_strips
from appyc.c_gen.lanes.row_blocks import RowBlocks, emit_row_blocks
from appyc.c_gen.lanes.simd import KEEP_IN_ORDER, declare_scalars, loop_head, simd_private
from appyc.c_gen.text.c_expressions import expression
from appyc.c_gen.text.c_types import c_type, constant
from appyc.c_gen.text.vector_text import Vectors
from appyc.errors import InternalError
from appyc.ir.array_accesses import step_along_rows
from appyc.ir.nodes import Assign, For, Function, Load, Stmt, Symbol, Update, While
from appyc.ir.schedule import Dots
from appyc.ir.visit import arrays_written, loops_of, walk

VECTORS = 2
"""Vectors of a row by which the sum's loop is unrolled: together they are whole cache lines."""


@dataclass(frozen=True, slots=True)
class _Tile:
    """A block being written. copies: one context for each, which spells symbols as this copy's."""

    plan: Dots
    copies: tuple[FunctionContext, ...]
    body: Body


SHORT_VECTORS = "#define short_vectors"
"""A line before the helpers: vectors are no longer than what the C compiler stores (32 bytes, with AVX-512 too)."""


def reads_back(fn: Function) -> bool:
    """Whether a sum reads elements that a loop around it stores: a load that is longer than the stores waits until
    these have reached the cache."""
    for around in (n for n in walk(fn) if isinstance(n, For | While)):
        stored = arrays_written(around.body)
        sums = (loop for loop in loops_of(around.body) if loop.reductions)
        if any(isinstance(n, Load) and n.array in stored for n in walk(sums)):
            return True
    return False


def emit_dots(ctx: FunctionContext, rows: For, plan: Dots, lo: str, hi: str, body: Body) -> None:
    """Writes the loop from `lo` to `hi`, and the columns' loop inside it if it is one of rows."""
    inner = rows if plan.rows is None else rows.body[0]
    assert isinstance(inner, For)

    def columns(rows: tuple[str, ...], first: str, last: str, short: bool) -> None:
        _emit_columns(ctx, plan, inner, rows, first, last, (1,) if short else (plan.block, 1), body)

    if plan.rows is None:
        columns((), lo, hi, False)
        return
    emit_row_blocks(ctx, RowBlocks(rows, inner, columns), lo, hi, plan.counts)


def _emit_columns(
    ctx: FunctionContext,
    plan: Dots,
    loop: For,
    rows: tuple[str, ...],
    lo: str,
    hi: str,
    counts: tuple[int, ...],
    body: Body,
) -> None:
    """The columns' loop for some rows: in blocks of the sizes in `counts`, in order."""
    initial = {s: (c_type(s.dtype), constant(0, s.dtype)) for s in plan.scalars}

    def block(count: int) -> None:
        copies = declare_copies(ctx, (plan.rows, rows), (plan.columns, count, "1"), initial)
        _emit_block(_Tile(plan, sum(copies, ()), body), loop.body)

    with ctx.writer.block():
        strips = ((str(count), partial(block, count)) for count in counts)
        emit_strips(ctx, ctx.name(plan.columns), lo, hi, strips)


def _emit_block(tile: _Tile, statements: tuple[Stmt, ...]) -> None:
    first = tile.copies[0]
    for stmt in statements:
        if not isinstance(stmt, For):
            for copy in tile.copies:
                tile.body(copy, (stmt,))
            continue
        first.writer.line(f"/* {first.location(stmt.loc)}: {stmt.mode.value} */")
        if stmt.var in tile.plan.dots:
            with first.writer.block():
                ends = expression(first, stmt.lo), expression(first, stmt.hi)
                counts = (VECTORS, 1) if len(tile.copies) > 1 else (1,)  # a sum alone waits for itself
                _emit_dot(tile.copies, stmt, ends, tile.body, counts)
            continue
        lo, hi = expression(first, stmt.lo), expression(first, stmt.hi)
        with first.writer.block(loop_head(first, stmt, lo, hi)):
            _emit_block(tile, stmt.body)


def emit_dot(ctx: FunctionContext, loop: For, chains: int, lo: str, hi: str, body: Body) -> None:
    """Writes a sum alone, from `lo` to `hi`, with as many accumulators as `chains`."""

    def alone(inside: FunctionContext, statements: tuple[Stmt, ...]) -> None:
        declare_scalars(inside, simd_private(loop))
        body(inside, statements)

    _emit_dot((ctx,), loop, (lo, hi), alone, (chains, 1), chains)


def _emit_dot(
    copies: Sequence[FunctionContext],
    loop: For,
    ends: tuple[str, str],
    body: Body,
    counts: tuple[int, ...],
    chains: int = 1,
) -> None:
    """A sum for all copies: vectors, each vector's elements, and a part of a vector. Less than a vector is added up in
    order. counts: the vectors by which loops are unrolled, in order. chains: among how many accumulators they take
    turns."""
    first, (lo, hi) = copies[0], ends
    writer, module = first.writer, first.module
    dtype = loop.reductions[0].symbol.dtype
    kind = module.helpers.typed("vector", dtype)
    sums = [r.symbol for r in loop.reductions]
    var = first.name(loop.var)

    def accumulators() -> list[FunctionContext]:
        insides = [_with_vectors(copy, sums) for copy in copies]
        for inside in insides:
            for symbol in sums:
                writer.line(f"{kind} {inside.name(symbol)} = -({kind}){{0}};")  # -0.0 changes no number
        return insides

    def added(insides: list[FunctionContext], at: str, part: str = "") -> None:
        with writer.block():
            here = [_with_vectors(inside.spelling({loop.var: at}), loop.private, kind) for inside in insides]
            vectors = Vectors(loop.var, frozenset([*sums, *loop.private]), kind, part)
            for stmt in loop.body:
                _emit_vectors(vectors, here, stmt)

    writer.line(f"enum {{ width = sizeof({kind}) / {dtype.itemsize} }};")
    writer.line(f"int64_t {var} = {lo};")
    with writer.block(f"if ({var} + width <= {hi})"):
        totals = accumulators()
        for count in counts:
            step = f"{count} * width" if count > 1 else "width"
            with writer.block(f"if ({var} + {step} <= {hi})") if count > 1 < chains else nullcontext():
                others = [accumulators() for _ in range(1, chains)] if count > 1 else []
                with writer.block(f"for (; {var} + {step} <= {hi}; {var} += {step})"):
                    for number in range(count):
                        at = f"({var} + {number} * width)" if number else var
                        added([totals, *others][number % (len(others) + 1)], at)
                for total, *parts in zip(totals, *others, strict=True):
                    for symbol in sums if parts else ():
                        terms = " + ".join(inside.name(symbol) for inside in (total, *parts))
                        writer.line(f"{total.name(symbol)} = {terms};")
        if _is_ascending(loop):
            with writer.block(f"if ({var} < {hi})"):
                part, rest = module.names.fresh("part"), accumulators()
                writer.line(f"const int64_t {part} = {hi} - {var};")
                added(rest, var, part)
                only = module.helpers.typed("vector_only", dtype)
                for total, inside in zip(totals, rest, strict=True):
                    for symbol in sums:
                        writer.line(f"{total.name(symbol)} += {only}({inside.name(symbol)}, {part});")
                writer.line(f"{var} = {hi};")
        add_up = module.helpers.typed("vector_sum", dtype)
        for copy, total in zip(copies, totals, strict=True):
            for symbol in sums:
                writer.line(f"{copy.name(symbol)} += {add_up}({total.name(symbol)});")
    with writer.block(f"for (; {var} < {hi}; {var} += 1)"):
        writer.line(KEEP_IN_ORDER)
        for copy in copies:
            body(copy, loop.body)


def _is_ascending(loop: For) -> bool:
    """Whether lanes have all elements in the order of memory, so that a part of a vector can be loaded."""
    loads = [n for n in walk(loop.body) if isinstance(n, Load)]
    return all(step_along_rows(n.array, n.index, loop.var) != -1 for n in loads)


def _with_vectors(
    copy: FunctionContext, symbols: list[Symbol] | tuple[Symbol, ...], kind: str = ""
) -> FunctionContext:
    """The copy with vectors instead of scalars, declared here where their type `kind` is given."""
    names = {symbol: copy.module.names.fresh(f"{symbol.name}_lanes") for symbol in symbols}
    if kind:
        for name in names.values():
            copy.writer.line(f"{kind} {name};")
    return copy.spelling(names)


def _emit_vectors(vectors: Vectors, copies: list[FunctionContext], stmt: Stmt) -> None:
    for copy in copies:
        if not isinstance(stmt, Assign | Update):
            raise InternalError("c_gen", f"{type(stmt).__name__} in a sum")
        if not vectors.part:
            vectors.load_once(copy, stmt.value)
        vectors.write(copy, stmt)
