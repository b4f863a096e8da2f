"""Register tiles: a loop in strips, of which each statement is written once for every row and column of a tile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from appyc.c_gen.c_module import FunctionContext
from appyc.ir.nodes import Symbol

Copies = tuple[tuple[FunctionContext, ...], ...]
"""The contexts of the copies of a tile, by row and column; each spells symbols as those of its copy."""


def emit_strips(
    ctx: FunctionContext, var: str, lo: str, hi: str, strips: Iterable[tuple[str, Callable[[], None]]]
) -> None:
    """The loops from `lo` to `hi` in strips of decreasing lengths, each with what writes it."""
    ctx.writer.line(f"int64_t {var} = {lo};")
    for step, emit in strips:
        with ctx.writer.block(f"for (; {var} + {step} <= {hi}; {var} += {step})"):
            emit()


def declare_copies(
    ctx: FunctionContext,
    rows: tuple[Symbol | None, tuple[str, ...]],
    columns: tuple[Symbol, int, str],
    initial: Mapping[Symbol, tuple[str, str]],
) -> Copies:
    """Declares the names of each copy. rows: their variable, and the name of each. columns: their variable, how many
    there are, and the distance of two. initial: the type and the first value of each scalar that a copy owns."""
    writer, fresh = ctx.writer, ctx.module.names.fresh
    symbol, count, distance = columns
    names = [fresh(f"{symbol.name}_{number}") for number in range(count)]
    for number, name in enumerate(names):
        offset = f"{number}" if distance == "1" else f"{number} * {distance}"
        writer.line(f"const int64_t {name} = {ctx.name(symbol)}{f' + {offset}' if number else ''};")
    variable, given = rows
    out: list[tuple[FunctionContext, ...]] = []
    for row in given or (None,):
        copies = []
        for name in names:
            renamed = {symbol: name}
            if row is not None and variable is not None:
                renamed[variable] = row
            for own, (kind, value) in initial.items():
                renamed[own] = fresh(own.name)
                writer.line(f"{kind} {renamed[own]} = {value};")
            copies.append(ctx.spelling(renamed))
        out.append(tuple(copies))
    return tuple(out)
