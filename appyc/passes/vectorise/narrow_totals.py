"""Which reductions of a loop in lanes are computed in fewer than 64 bits, for how many iterations in a row."""

from __future__ import annotations

from functools import reduce

from appyc.analysis.algebra.values_before import ValuesBefore
from appyc.ir import nodes as ir
from appyc.ir.integers import Range, hull, is_within, limits, range_of
from appyc.ir.names import NameSupply
from appyc.ir.schedule import NarrowTotals
from appyc.ir.types import DType
from appyc.ir.visit import scalar_reads, statements, walk

BLOCK = 4096
"""The most iterations of a block: what lanes are combined into is set up once for each."""

LEAST = 256
"""Fewer iterations of a block do not pay."""

_EXTREMES = ("min", "max", "minimum", "maximum")
NARROW = (DType.UINT8, DType.INT8, DType.UINT16, DType.INT16, DType.INT32)
"""Types of lanes, in the order in which they are tried."""


def narrow_totals(loop: ir.For, values: ValuesBefore, supply: NameSupply) -> NarrowTotals | None:
    """The reductions of an innermost loop that fit in 32 bits or fewer for a block of its iterations."""
    if loop.step != 1 or loop.safelen is not None or not any(map(_is_narrow_load, walk(loop.body))):
        return None
    parts: list[tuple[ir.Symbol, ir.Symbol]] = []
    block = BLOCK
    for reduction in loop.reductions:
        total, found = reduction.symbol, _updates(loop, reduction, values)
        if not found:
            continue
        if reduction.op == "+":
            most = sum(max(abs(low), abs(high)) for low, high in found)
            iterations = limits(DType.INT32)[1] // max(most, 1)
            if iterations < LEAST:
                continue
            block, dtype = min(block, iterations), DType.INT32
        elif any(isinstance(stmt, ir.Update) and stmt.target == total for stmt in loop.body):
            whole = reduce(hull, found)
            fitting = [dtype for dtype in NARROW if is_within(whole, limits(dtype))]
            if not fitting:
                continue
            dtype = fitting[0]
        else:
            continue  # of a block in which no condition holds there is no least or greatest element
        parts.append((total, supply.fresh(total.name, dtype)))
    return NarrowTotals(tuple(parts), block) if parts else None


def _is_narrow_load(node: ir.Node) -> bool:
    return isinstance(node, ir.Load) and node.dtype.itemsize < DType.INT64.itemsize


def _updates(loop: ir.For, reduction: ir.Reduction, values: ValuesBefore) -> list[Range]:
    """The ranges of what a loop combines into an int64; none where something else is done with it."""
    total = reduction.symbol
    if total.is_array or total.dtype is not DType.INT64 or reduction.op not in ("+", *_EXTREMES):
        return []
    found: list[Range] = []
    own = 0
    for stmt in statements(loop.body):
        match stmt:
            case ir.Update(target=target, op=op, trap=False) if target == total:
                if op != reduction.op or id(stmt) not in values.before:
                    return []
                own += 1
                found.append(range_of(stmt.value, values.before[id(stmt)]))
            case ir.For() | ir.While():
                return []
    return found if sum(symbol == total for symbol in scalar_reads(loop.body)) == own else []
