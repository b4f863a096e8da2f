"""C text for the outer-loop vectorisation that `lane_plan` chose: register blocks of rows by strips of lanes.

Each statement of the body is written once for every copy, a row of the block with a vector
of the strip. The copies of a statement are adjacent, so that the C compiler loads a vector
once for all rows. Rows whose lanes' loops have different bounds share the part that is common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.lanes import row_blocks
from appyc.c_gen.lanes.register_tiles import Copies, declare_copies, emit_strips
from appyc.c_gen.lanes.simd import loop_head
from appyc.c_gen.text.c_expressions import element_at, expression
from appyc.c_gen.text.vector_text import Vectors
from appyc.errors import InternalError
from appyc.ir.nodes import Assign, For, If, Stmt, Store, Update
from appyc.ir.schedule import OuterLanes
from appyc.ir.visit import loops_of

CACHED_BYTES = 1 << 19
"""Bytes of a tile that all rows use again: it stays in the cache next to a core, beside the other data
of the loop."""

LEAST_STRIPS = 3
"""Strips in a tile at least: what a block of rows loads for itself is loaded again for each tile."""


@dataclass(frozen=True, slots=True)
class _Tile:
    """A block being written. rows: for each row its copies, a context each, which spells symbols as this copy's."""

    plan: OuterLanes
    vectors: Vectors
    rows: Copies

    @property
    def copies(self) -> tuple[FunctionContext, ...]:
        return tuple(copy for row in self.rows for copy in row)


def emit_lanes(ctx: FunctionContext, rows: For, plan: OuterLanes, lo: str, hi: str, body: Body) -> None:
    """Writes the loop from `lo` to `hi`, with the lanes' loop inside if it is jammed. body: writes other statements."""
    if plan.rows is None:
        # The remainder is done in few strips, since each strip reads all data of the inner loops again.
        _emit_strips(ctx, plan, rows, (), lo, hi, plan.groups)
        return
    (at,) = (at for at, stmt in enumerate(rows.body) if isinstance(stmt, For) and stmt.var == plan.lanes)
    inner = rows.body[at]
    assert isinstance(inner, For)

    def strips(rows: tuple[str, ...], first: str, last: str, short: bool) -> None:
        _emit_strips(ctx, plan, inner, rows, first, last, () if short else plan.groups)

    def others(statements: tuple[Stmt, ...]) -> row_blocks.EmitRow | None:
        if not statements:
            return None
        return lambda row: body(ctx.spelling({rows.var: row}), statements)

    blocks = row_blocks.RowBlocks(rows, inner, strips, others(rows.body[:at]), others(rows.body[at + 1 :]))
    row_blocks.emit_row_blocks(
        ctx, blocks, lo, hi, plan.counts, _chunk(ctx, plan, inner) if plan.shared else None
    )


def _chunk(ctx: FunctionContext, plan: OuterLanes, lanes: For) -> str:
    """The tile of the lanes' loop: iterations that all rows do before the next ones, so that what the rows share stays
    in a cache."""
    (loop,) = loops_of(lanes.body)
    trips = f"({expression(ctx, loop.hi)} - {expression(ctx, loop.lo)})"
    vector = ctx.module.helpers.typed("vector", plan.dtype)
    strip = f"({plan.groups[0]} * (int64_t)sizeof({vector}) / {plan.dtype.itemsize})"
    larger = ctx.module.helpers.plain("larger")
    fit = f"{CACHED_BYTES} / {larger}({trips} * {plan.shared * plan.dtype.itemsize}, 1) / {strip}"
    return f"{larger}({fit}, {LEAST_STRIPS}) * {strip}"


def _emit_strips(
    ctx: FunctionContext,
    plan: OuterLanes,
    loop: For,
    rows: tuple[str, ...],
    lo: str,
    hi: str,
    counts: tuple[int, ...],
) -> None:
    """The lanes' loop for some rows: strips of as many vectors as `counts` says, then vectors of which all or a part
    is used."""
    writer, var = ctx.writer, ctx.name(plan.lanes)
    vector = ctx.module.helpers.typed("vector", plan.dtype)
    with writer.block():
        writer.line(f"enum {{ width = sizeof({vector}) / {plan.dtype.itemsize} }};")
        strips = ((f"{count} * width", partial(_emit_tile, ctx, plan, loop, rows, count)) for count in counts)
        emit_strips(ctx, var, lo, hi, strips)
        with writer.block(f"for (; {var} < {hi}; {var} += width)"):
            part = ctx.module.names.fresh("part")
            writer.line(f"const int64_t {part} = {ctx.module.helpers.plain('smaller')}({hi} - {var}, width);")
            _emit_tile(ctx, plan, loop, rows, 1, part)


def _emit_tile(
    ctx: FunctionContext, plan: OuterLanes, loop: For, rows: tuple[str, ...], count: int, part: str = ""
) -> None:
    """One block of rows by one strip of `count` vectors: declares every copy's names, then the body. part: how much
    is used of each vector, if not all is."""
    vector = ctx.module.helpers.typed("vector", plan.dtype)
    # -0.0 in all lanes of a sum: one of nothing but that keeps its sign.
    initial = dict.fromkeys(plan.scalars, (vector, "{0}")) | dict.fromkeys(
        plan.totals, (vector, f"-({vector}){{0}}")
    )
    copies = declare_copies(ctx, (plan.rows, rows), (plan.lanes, count, "width"), initial)
    tile = _Tile(plan, Vectors(plan.lanes, frozenset(plan.scalars), vector, part), copies)
    _emit_body(tile, loop.body)
    _emit_totals(ctx, plan, tile)


def _emit_totals(ctx: FunctionContext, plan: OuterLanes, tile: _Tile) -> None:
    """Adds the partial sums of a strip's copies to the totals."""
    part = tile.vectors.part
    for symbol in plan.totals:
        add_up = ctx.module.helpers.typed("vector_part_sum" if part else "vector_sum", plan.dtype)
        for copy in tile.copies:
            terms = ", ".join(filter(None, (copy.name(symbol), part)))
            ctx.writer.line(f"{ctx.name(symbol)} += {add_up}({terms});")


def _emit_body(tile: _Tile, body: tuple[Stmt, ...]) -> None:
    for stmt in body:
        _emit_statement(tile, stmt)


def _emit_statement(tile: _Tile, stmt: Stmt) -> None:
    any_copy = tile.copies[0]
    writer = any_copy.writer
    match stmt:
        case Assign() | Update():
            for copy in tile.copies:
                tile.vectors.write(copy, stmt)
        case Store():
            _emit_store(tile, stmt)
        case For():
            _emit_loop(tile, stmt)
        case If():
            with writer.block(f"if ({expression(any_copy, stmt.cond)})"):
                _emit_body(tile, stmt.then)
            with writer.block("else"):
                _emit_body(tile, stmt.orelse)
        case _:
            raise InternalError("c_gen", f"{type(stmt).__name__} in lanes")


def _emit_loop(tile: _Tile, loop: For) -> None:
    """A loop inside the lanes. Rows in which its bounds differ share the part that is common.

    Each row does its iterations in order: those before the common part, the common, those after.
    """
    any_copy = tile.copies[0]
    bounds = [(expression(row[0], loop.lo), expression(row[0], loop.hi)) for row in tile.rows]
    lows, highs = zip(*bounds, strict=True)
    if not row_blocks.differ(lows) and not row_blocks.differ(highs):
        _emit_iterations(tile, loop, *bounds[0])
        return
    helpers = any_copy.module.helpers
    with any_copy.writer.block():
        first, last = row_blocks.declare_common_part(any_copy, bounds)
        if row_blocks.differ(lows):
            _emit_uneven(tile, loop, bounds, row_blocks.nested(helpers.plain("smaller"), lows), first)
        _emit_iterations(tile, loop, first, last)
        if row_blocks.differ(highs):
            _emit_uneven(tile, loop, bounds, last, row_blocks.nested(helpers.plain("larger"), highs))


def _emit_uneven(tile: _Tile, loop: For, bounds: Sequence[tuple[str, str]], lo: str, hi: str) -> None:
    """Iterations that not all rows have."""
    any_copy, var = tile.copies[0], tile.copies[0].name(loop.var)
    with any_copy.writer.block(loop_head(any_copy, loop, lo, hi)):
        for row, (low, high) in zip(tile.rows, bounds, strict=True):
            with any_copy.writer.block(f"if ({low} <= {var} && {var} < {high})"):
                _emit_body(replace(tile, rows=(row,)), loop.body)


def _emit_iterations(tile: _Tile, loop: For, lo: str, hi: str) -> None:
    first = tile.copies[0]
    with first.writer.block(loop_head(first, loop, lo, hi)):
        _emit_body(tile, loop.body)


def _emit_store(tile: _Tile, stmt: Store) -> None:
    vectors, writer = tile.vectors, tile.copies[0].writer
    if (stmt.array, stmt.index) not in tile.plan.scattered:
        for copy in tile.copies:
            vectors.store(copy, stmt.array, stmt.index, vectors.spread(copy, stmt.value))
        return
    with writer.block():
        stores = []
        for copy in tile.copies:
            value = copy.module.names.fresh("value")
            writer.line(f"const {vectors.kind} {value} = {vectors.spread(copy, stmt.value)};")
            lane = copy.spelling({vectors.var: f"({copy.name(vectors.var)} + piece)"})
            stores.append(f"{element_at(lane, stmt.array, stmt.index)} = {value}[piece];")
        writer.line("#pragma GCC unroll 1")
        with writer.block(f"for (int64_t piece = 0; piece < {vectors.part or 'width'}; piece += 1)"):
            for store in stores:
                writer.line(store)
