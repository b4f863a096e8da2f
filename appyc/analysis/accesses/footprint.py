"""The memory footprint of a loop nest: the bytes that it touches, each element counted once.

for i in range(n):
    for j in range(m):                      once: m * 8         (c)
        b[i, j] = a[i, j] + c[j]            each: m * 8 + m * 16 (a, and b, which is written)

for b in range(blocks):                     each: 32 * m * 8    (x: the rows that are new to a block)
    for i in range(32 * b - 1, 32 * b + 33):
        for j in range(m):
            s += x[i, j]

for k in range(m):                          once: the less of n * 8 and m * 64 (a line for each access)
    s += x[at[k]]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import cast

from appyc.analysis.algebra.amounts import NONE, as_amount, number, product, total
from appyc.analysis.algebra.strides import Strides
from appyc.errors import GENERATED
from appyc.ir.affine import operands
from appyc.ir.array_accesses import AccessNode, array_of
from appyc.ir.names import ordered
from appyc.ir.nodes import Alloc, Binary, Expr, Extent, For, Load, Symbol
from appyc.ir.types import Layout
from appyc.ir.visit import statements

LINE = 64
"""Bytes of a cache line."""


def footprint(
    loop: For, touched: Sequence[AccessNode], trips: Mapping[Symbol, Expr], strides: Strides
) -> tuple[Expr, Expr]:
    """The footprint of a loop: bytes that are touched once for the whole loop, and those that each iteration adds.

    trips: the trip counts of the loops in the nest, where they are known before it. A written element
    counts twice: it is loaded from memory and stored back.
    """
    nodes = list(statements(loop))
    own = {n.array for n in nodes if isinstance(n, Alloc)}
    loops = {n.var: n for n in nodes if isinstance(n, For)}
    by_array: dict[Symbol, list[AccessNode]] = {}
    for access in touched:
        if (array := array_of(access)) not in own:
            by_array.setdefault(array, []).append(access)
    once: Expr = NONE
    each: Expr = NONE
    for array, accesses in by_array.items():
        size, grows = _size(loop, loops, array, accesses, trips, strides)
        if grows:
            each = total(each, size)
        else:
            once = total(once, size)
    return once, each


def _size(
    loop: For,
    loops: dict[Symbol, For],
    array: Symbol,
    accesses: Sequence[AccessNode],
    trips: Mapping[Symbol, Expr],
    strides: Strides,
) -> tuple[Expr, bool]:
    """The footprint of one array in bytes; True where each iteration of the outer loop adds that much.

    loops: it and those inside it, by their variables.
    """
    named = {
        s
        for t in accesses
        for expression in t.index
        for s in strides.depends_on(expression, frozenset(loops))
    }
    times = 1 if all(isinstance(t, Load) for t in accesses) else 2
    size: Expr = number(array.dtype.itemsize * times)
    counted: set[Symbol] = set()
    row = array.array.ndim - 1 if array.array.layout is not Layout.F else 0
    along_rows = anywhere = False
    for axis in range(array.array.ndim):
        expressions = [t.index[axis] for t in accesses]
        moved_by = {
            s for expression in expressions for s in strides.depends_on(expression, frozenset(loops))
        } - counted
        if not moved_by:
            continue
        along_rows |= axis == row
        only = next(iter(moved_by)) if len(moved_by) == 1 else None
        if only in loops and all(strides.coefficient(p, only) is not None for p in expressions):
            counted.add(only)
            stride = min(strides.stride(expression, loops[only]) or 1 for expression in expressions)
            size = product(number(min(stride, LINE // array.dtype.itemsize)), size)
            if only == loop.var:
                continue
            around = _blocks(loops[only], loops, strides)
            if around is not None and around[0] not in named:
                counted.add(around[0])
                size = product(number(around[1]), size)
                only = around[0]
            if only != loop.var:
                known = trips.get(only)
                size = product(known if known is not None else _extent(array, axis), size)
        else:
            size = product(_extent(array, axis), size)
            anywhere = True
    if counted and not along_rows:
        size = product(number(LINE // array.dtype.itemsize), size)  # of each line, one element
    if anywhere and loop.var not in counted and named <= trips.keys() and _is_box(named, loops, strides):
        lines = LINE * len(accesses) * times
        most = reduce(product, (trips[v] for v in ordered(named)), cast(Expr, number(lines)))
        size = Binary("min", size, most, loc=GENERATED)
    return size, loop.var in counted


def _is_box(named: set[Symbol], loops: Mapping[Symbol, For], strides: Strides) -> bool:
    """Whether the bounds of these loops depend on no other loop."""
    bounds = (bound for v in named & loops.keys() for bound in loops[v].bounds)
    return not any(strides.depends_on(bound, frozenset(loops)) for bound in bounds)


def _blocks(inner: For, loops: Mapping[Symbol, For], strides: Strides) -> tuple[Symbol, int] | None:
    """The enclosing loop on which a loop's bounds depend, and their stride: the number of new iterations each time."""
    outer = {s for bound in inner.bounds for s in strides.depends_on(bound, frozenset(loops))}
    if len(outer) != 1:
        return None
    (var,) = outer
    if var not in loops:
        return None
    steps = [
        strides.coefficient(part, var) for bound in inner.bounds for part in operands(bound, "min", "max")
    ]
    moved = max((abs(step * loops[var].step) for step in steps if step is not None), default=0)
    return None if None in steps or not moved else (var, moved)


def _extent(array: Symbol, axis: int) -> Expr:
    return as_amount(Extent(array, axis, loc=GENERATED))
