"""What a look at an index array would tell of a loop: conditions for an inspector.

    for i in range(n):
        a[idx[i]] = b[i]        independent where idx[0:n] holds no value twice

Every access to `a` in the loop goes through the same element of `idx`, so two iterations meet
in `a` only where `idx` has one value at both. (Saltz and others, "Run-time parallelization
and scheduling of loops", 1991.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from appyc.ir.nodes import (
    Assign,
    Binary,
    Cast,
    Const,
    Distinct,
    Expr,
    Extent,
    For,
    Load,
    Node,
    Store,
    Symbol,
    Update,
    Var,
)
from appyc.ir.types import DType
from appyc.ir.visit import arrays_written, rewrite, scalars_written, walk


def inspections(loop: For) -> dict[Symbol, Distinct]:
    """Arrays written in the loop, with a condition that keeps its iterations apart in them.

    Only the index array's values at the loop's own iterations matter. None is offered where
    the loop steps other than by 1, where its bounds are read from arrays, or where the index
    array is written in the loop.
    """
    if loop.step != 1 or any(isinstance(n, Load) for bound in (loop.lo, loop.hi) for n in walk(bound)):
        return {}
    written = arrays_written(loop.body)
    known = _definitions(loop)
    out: dict[Symbol, Distinct] = {}
    for array in written:
        places = [tuple(_resolved(i, known) for i in index) for index in _indices(loop, array)]
        for axis in range(array.array.ndim):
            common = {place[axis] for place in places}
            found = _through(common.pop(), loop, written) if len(common) == 1 else None
            if found is not None:
                index, lo, hi = found
                out[array] = Distinct(index, lo, hi, Extent(array, axis, loc=loop.loc), loc=loop.loc)
                break
    return out


def _definitions(loop: For) -> dict[Symbol, Expr]:
    """Scalars that the body's own statements assign, once and first: `j = idx[i]`."""
    times = Counter(n.target for n in walk(loop.body) if isinstance(n, Assign | Update))
    seen: set[Symbol] = set()
    out: dict[Symbol, Expr] = {}
    for stmt in loop.body:
        if isinstance(stmt, Assign) and times[stmt.target] == 1 and stmt.target not in seen:
            out[stmt.target] = stmt.value
        seen |= {n.symbol for n in walk(stmt) if isinstance(n, Var)}
    return out


def _resolved(expr: Expr, known: dict[Symbol, Expr]) -> Expr:
    def rule(node: Node) -> Node:
        return known.get(node.symbol, node) if isinstance(node, Var) else node

    return rewrite(expr, rule)


def _indices(loop: For, array: Symbol) -> Iterator[tuple[Expr, ...]]:
    for node in walk(loop.body):
        if isinstance(node, Load | Store) and node.array == array:
            yield node.index
        elif isinstance(node, Update) and node.target == array:
            yield node.index


def _through(place: Expr, loop: For, written: set[Symbol]) -> tuple[Symbol, Expr, Expr] | None:
    """For a place that is `idx[i + c]`: idx, and the range of it that the loop reads."""
    while isinstance(place, Cast) and place.dtype is DType.INT64:
        place = place.arg
    if isinstance(place, Binary) and place.op == "min" and isinstance(place.rhs, Const):
        place = place.lhs  # an unsigned index, kept from turning negative
    if not isinstance(place, Load) or place.array in written or place.array.array.ndim != 1:
        return None
    if not place.dtype.is_integer or place.mask is not None:
        return None
    offset = _offset(place.index[0], loop.var)
    if offset is None or scalars_written(loop.body) & {n.symbol for n in walk(loop.hi) if isinstance(n, Var)}:
        return None
    lo, hi = (_shifted(bound, offset) for bound in (loop.lo, loop.hi))
    return place.array, lo, hi


def _offset(index: Expr, var: Symbol) -> int | None:
    match index:
        case Var(symbol=symbol) if symbol == var:
            return 0
        case Binary(op="+", lhs=Var(symbol=symbol), rhs=Const(value=int() as c)) if symbol == var:
            return c
        case Binary(op="-", lhs=Var(symbol=symbol), rhs=Const(value=int() as c)) if symbol == var:
            return -c
        case _:
            return None


def _shifted(bound: Expr, offset: int) -> Expr:
    if offset == 0:
        return bound
    return Binary("+", bound, Const(offset, DType.INT64, loc=bound.loc), loc=bound.loc)
