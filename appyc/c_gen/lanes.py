"""Writes the loops that `lane_plan` chose: blocks of rows by strips of lanes.

Each statement of the body is written once for every copy, a row of the block with a vector
of the strip. Copies of a statement stand side by side, so that the C compiler loads a vector
once for all rows. Rows whose lanes' loops have different bounds share the part that is common.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.c_gen.context import FunctionContext
from appyc.c_gen.expressions import element, expression
from appyc.c_gen.lane_plan import GROUPS, LONE_GROUPS, ROWS, WIDE_ROWS, LanePlan, is_unit_stride
from appyc.c_gen.scalars import c_type
from appyc.errors import InternalError
from appyc.ir.nodes import Assign, Binary, Expr, For, If, Load, Stmt, Store, Symbol, Unary, Update, Var
from appyc.ir.visit import walk


@dataclass(frozen=True, slots=True)
class _Tile:
    """A block being written. copies: one context for each, which spells symbols as this copy's.

    vector: the C type of a value in all lanes; a plain scalar where the strip is one lane.
    """

    plan: LanePlan
    copies: tuple[FunctionContext, ...]
    vector: str
    lanes: str

    def is_uniform(self, expr: Expr) -> bool:
        varying = {self.plan.lanes.var, *self.plan.scalars}
        return not any(isinstance(n, Var) and n.symbol in varying for n in walk(expr))


def emit_lanes(ctx: FunctionContext, plan: LanePlan, lo: str, hi: str) -> None:
    """Writes the planned loops; `lo` and `hi` bound the outer one of them."""
    if plan.rows is None:
        _emit_strips(ctx, plan, (), lo, hi, (LONE_GROUPS, 1))
        return
    writer, row = ctx.writer, ctx.name(plan.rows.var)
    writer.line(f"int64_t {row} = {lo};")
    writer.line("#if defined(__AVX512F__) || defined(__aarch64__)")
    _emit_block(ctx, plan, plan.rows, WIDE_ROWS, hi)
    writer.line("#else")
    _emit_block(ctx, plan, plan.rows, ROWS, hi)
    writer.line("#endif")
    with writer.block(f"for (; {row} < {hi}; {row} += 1)"):
        _emit_strips(ctx, plan, (row,), expression(ctx, plan.lanes.lo), expression(ctx, plan.lanes.hi))


def _emit_block(ctx: FunctionContext, plan: LanePlan, rows: For, count: int, hi: str) -> None:
    """The loop over blocks of `count` rows, as long as whole blocks are left."""
    writer, lanes, row = ctx.writer, plan.lanes, ctx.name(rows.var)
    with writer.block(f"for (; {row} + {count} <= {hi}; {row} += {count})"):
        names = tuple(ctx.module.names.fresh(f"{rows.var.name}_{r}") for r in range(count))
        for number, name in enumerate(names):
            writer.line(f"const int64_t {name} = {row} + {number};")
        if any(isinstance(n, Var) and n.symbol == rows.var for n in walk((lanes.lo, lanes.hi))):
            _emit_slanted(ctx, plan, names)
        else:
            _emit_strips(ctx, plan, names, expression(ctx, lanes.lo), expression(ctx, lanes.hi))


def _emit_slanted(ctx: FunctionContext, plan: LanePlan, names: tuple[str, ...]) -> None:
    """A block whose rows begin or end in different places: their common part, then what is left of each."""
    writer, module = ctx.writer, ctx.module
    rows, lanes = plan.rows, plan.lanes
    assert rows is not None
    larger, smaller = module.helpers.plain("larger"), module.helpers.plain("smaller")
    bounds = []
    for name in names:
        inside = replace(ctx, renamed={**ctx.renamed, rows.var: name})
        bounds.append((expression(inside, lanes.lo), expression(inside, lanes.hi)))
    first, last = module.names.fresh("first"), module.names.fresh("last")
    low, high = bounds[0]
    for next_low, next_high in bounds[1:]:
        low, high = f"{larger}({low}, {next_low})", f"{smaller}({high}, {next_high})"
    writer.line(f"const int64_t {first} = {low};")
    writer.line(f"const int64_t {last} = {larger}({first}, {high});")
    _emit_strips(ctx, plan, names, first, last)
    one = module.names.fresh(f"{rows.var.name}_one")
    with writer.block(f"for (int64_t {one} = {names[0]}; {one} <= {names[-1]}; {one} += 1)"):
        inside = replace(ctx, renamed={**ctx.renamed, rows.var: one})
        low, high = expression(inside, lanes.lo), expression(inside, lanes.hi)
        _emit_strips(ctx, plan, (one,), low, f"{smaller}({first}, {high})", (1,))
        _emit_strips(ctx, plan, (one,), last, high, (1,))


def _emit_strips(
    ctx: FunctionContext,
    plan: LanePlan,
    rows: tuple[str, ...],
    lo: str,
    hi: str,
    widths: tuple[int, ...] = (GROUPS, 1),
) -> None:
    """The lanes' loop for some rows: strips of as many vectors as `widths` says, then single iterations."""
    writer, helpers = ctx.writer, ctx.module.helpers
    vector = helpers.vector(plan.dtype)
    with writer.block():
        var, width = ctx.name(plan.lanes.var), "width"
        writer.line(f"const int64_t width = sizeof({vector}) / {plan.dtype.itemsize};")
        writer.line(f"int64_t {var} = {lo};")
        tiles = [*((groups, width, vector) for groups in widths), (1, "1", c_type(plan.dtype))]
        for groups, lanes, kind in tiles:
            step = f"{groups} * {lanes}" if groups > 1 else lanes
            with writer.block(f"for (; {var} + {step} <= {hi}; {var} += {step})"):
                _emit_tile(ctx, plan, rows, groups, lanes, kind)


def _emit_tile(
    ctx: FunctionContext, plan: LanePlan, rows: tuple[str, ...], groups: int, lanes: str, vector: str
) -> None:
    """One block of rows by one strip: declares every copy's names, then the body."""
    writer, fresh = ctx.writer, ctx.module.names.fresh
    var = ctx.name(plan.lanes.var)
    columns = [fresh(f"{plan.lanes.var.name}_{group}") for group in range(groups)]
    for group, column in enumerate(columns):
        offset = f" + {group} * {lanes}" if group else ""
        writer.line(f"const int64_t {column} = {var}{offset};")
    copies: list[FunctionContext] = []
    for row in rows or (None,):
        for column in columns:
            renamed = {**ctx.renamed, plan.lanes.var: column}
            if row is not None and plan.rows is not None:
                renamed[plan.rows.var] = row
            for symbol in plan.scalars:
                renamed[symbol] = fresh(symbol.name)
                writer.line(f"{vector} {renamed[symbol]} = {{0}};")
            copies.append(replace(ctx, renamed=renamed))
    _emit_body(_Tile(plan, tuple(copies), vector, lanes), plan.lanes.body)


def _emit_body(tile: _Tile, body: tuple[Stmt, ...]) -> None:
    for stmt in body:
        _emit_statement(tile, stmt)


def _emit_statement(tile: _Tile, stmt: Stmt) -> None:
    any_copy = tile.copies[0]
    writer = any_copy.writer
    match stmt:
        case Assign():
            for copy in tile.copies:
                writer.line(f"{copy.name(stmt.target)} = {_spread(tile, copy, stmt.value)};")
        case Update() if not stmt.target.is_array:
            for copy in tile.copies:
                writer.line(f"{copy.name(stmt.target)} {stmt.op}= {_text(tile, copy, stmt.value)};")
        case Update():
            for copy in tile.copies:
                target = _vector_at(tile, copy, stmt.target, stmt.index)
                writer.line(f"{target} {stmt.op}= {_text(tile, copy, stmt.value)};")
        case Store():
            for copy in tile.copies:
                _emit_store(tile, copy, stmt)
        case For():
            var = any_copy.name(stmt.var)
            lo, hi = expression(any_copy, stmt.lo), expression(any_copy, stmt.hi)
            relation = "<" if stmt.step > 0 else ">"
            with writer.block(f"for (int64_t {var} = {lo}; {var} {relation} {hi}; {var} += {stmt.step})"):
                _emit_body(tile, stmt.body)
        case If():
            with writer.block(f"if ({expression(any_copy, stmt.cond)})"):
                _emit_body(tile, stmt.then)
            with writer.block("else"):
                _emit_body(tile, stmt.orelse)
        case _:
            raise InternalError("c_gen", f"{type(stmt).__name__} in lanes")


def _emit_store(tile: _Tile, copy: FunctionContext, stmt: Store) -> None:
    var = tile.plan.lanes.var
    value = _spread(tile, copy, stmt.value)
    if tile.lanes == "1" or is_unit_stride(stmt.array, stmt.index, var, tile.is_uniform):
        copy.writer.line(f"{_vector_at(tile, copy, stmt.array, stmt.index)} = {value};")
        return
    with copy.writer.block():
        copy.writer.line(f"const {tile.vector} value = {value};")
        lane = replace(copy, renamed={**copy.renamed, var: f"({copy.name(var)} + piece)"})
        target = element(lane, stmt.array, [expression(lane, i) for i in stmt.index])
        copy.writer.line(
            f"for (int64_t piece = 0; piece < {tile.lanes}; piece += 1) {target} = value[piece];"
        )


def _vector_at(tile: _Tile, copy: FunctionContext, array: Symbol, index: tuple[Expr, ...]) -> str:
    """As many elements as there are lanes, from the one that `index` names in the first lane."""
    first = element(copy, array, [expression(copy, i) for i in index])
    const = "const " if array.array.readonly else ""
    return first if tile.lanes == "1" else f"(*({const}{tile.vector} *)&{first})"


def _spread(tile: _Tile, copy: FunctionContext, expr: Expr) -> str:
    """A value in all lanes. Subtracting zero changes no number, -0.0 included."""
    text = _text(tile, copy, expr)
    if tile.lanes == "1" or not tile.is_uniform(expr):
        return text
    return f"({text} - ({tile.vector}){{0}})"


def _text(tile: _Tile, copy: FunctionContext, expr: Expr) -> str:
    """The value as a vector, or as a scalar where it is the same in all lanes."""
    if tile.is_uniform(expr):
        return expression(copy, expr)
    match expr:
        case Var():
            return copy.name(expr.symbol)
        case Load():
            return _vector_at(tile, copy, expr.array, expr.index)
        case Unary():
            return f"({expr.op}{_text(tile, copy, expr.arg)})"
        case Binary():
            return f"({_text(tile, copy, expr.lhs)} {expr.op} {_text(tile, copy, expr.rhs)})"
        case _:
            raise InternalError("c_gen", f"{type(expr).__name__} in lanes")
