"""Innermost loops in lanes that the C compiler makes: which may be, and which of them have several accumulators or an
early exit."""

from __future__ import annotations

from appyc.ir import nodes as ir
from appyc.ir.affine import difference, excess, linear_form
from appyc.ir.array_accesses import array_of, is_access
from appyc.ir.blocks import constant_range
from appyc.ir.invariance import is_invariant
from appyc.ir.raising import can_fault
from appyc.ir.single_iterations import flattened
from appyc.ir.types import DType, Layout
from appyc.ir.visit import scalars_read, scalars_written, walk

SHORT_BYTES = 128
"""Two vectors: what lanes combine into is set up and reduced once a loop, which takes as long as so many bytes of
elements one by one."""

MOST_IN_ORDER = 64
"""Iterations above which lanes pay for elements of any size."""

MOST_IN_ROW = 8
"""Elements of a row that vectors are permuted for."""

FEWEST = 4
"""The fewest iterations of a loop with lanes, if their number is constant."""

_EXTREMES = ("min", "max", "minimum", "maximum")


def why_not_simd(loop: ir.For) -> str | None:
    """The reason why a loop whose iterations are independent does not become lanes."""
    if loop.mode is ir.LoopMode.SEQUENTIAL:
        return "its iterations depend on each other"
    values = constant_range(loop)
    if values is not None and len(values) < FEWEST:
        return "it has fewer iterations than lanes"
    if loop.in_step:
        return "its lanes keep step, which the C compiler finds out for itself"
    if can_fault(loop.body):
        return "an iteration may raise"
    if any(r.symbol.is_array for r in loop.reductions):
        return "lanes may combine into one element of an array"
    if any(r.symbol.dtype.is_complex for r in loop.reductions):
        return "it reduces complex numbers"
    owned = {*loop.private, *loop.last, *(r.symbol for r in loop.reductions)}
    if not scalars_written(loop.body) <= owned:
        return "it assigns a scalar that is not each iteration's own"
    for node in walk(loop.body):
        match node:
            case ir.For() | ir.While():
                return "it holds another loop"
            case ir.Break() | ir.Alloc():
                return "its body leaves the loop or allocates"
            case ir.Update() if node.atomic:
                return "it updates atomically"
    return None


def accumulates_extremes(loop: ir.For) -> bool:
    """Whether a SIMD loop consists of minimum and maximum reductions of floats alone."""
    totals = {r.symbol for r in loop.reductions}
    if (
        not totals
        or loop.step != 1
        or loop.last
        or loop.safelen is not None
        or why_not_simd(loop) is not None
    ):
        return False
    if not all(r.symbol.dtype.is_float and r.op in _EXTREMES for r in loop.reductions):
        return False
    updates = [stmt for stmt in loop.body if isinstance(stmt, ir.Update)]
    if {u.target for u in updates} != totals or len(updates) != len(totals):
        return False
    others = [stmt for stmt in loop.body if not isinstance(stmt, ir.Update)]
    values = [stmt.value for stmt in loop.body if isinstance(stmt, ir.Update | ir.Assign)]
    return all(isinstance(stmt, ir.Assign) for stmt in others) and not any(
        totals & scalars_read(v) for v in values
    )


def decides_early(loop: ir.For) -> bool:
    """Whether a SIMD loop consists of `any`, `all` and minima of a matching index alone, which may be decided early."""
    if not loop.reductions or loop.step != 1 or loop.last or why_not_simd(loop) is not None:
        return False
    updates: list[ir.Update] = []
    for stmt in loop.body:
        match stmt:
            case ir.Update(target=target, op="and" | "or") if not target.is_array and stmt.mask is None:
                updates.append(stmt)
            case ir.Update(
                target=target, op="min", value=ir.Select(then=ir.Var(symbol=symbol), orelse=none)
            ) if (
                symbol == loop.var
                and not target.is_array
                and none.dtype is DType.INT64
                and is_invariant(none, {loop.var, *scalars_written(loop.body)})
            ):
                updates.append(stmt)
            case ir.Assign():
                pass
            case _:
                return False
    totals = {update.target for update in updates}
    if totals != {r.symbol for r in loop.reductions} or len(totals) < len(updates):
        return False
    return not any(totals & scalars_read(_value(stmt)) for stmt in loop.body)


def in_order_below(loop: ir.For) -> int:
    """The trip count below which a reduction in lanes takes longer than one without; 0 where the C compiler knows the
    trip count, or where nothing is reduced."""
    if not loop.reductions or excess(loop.hi, loop.lo) is not None:
        return 0
    narrowest = min((n.dtype.itemsize for n in walk(loop.body) if isinstance(n, ir.Load)), default=8)
    return min(SHORT_BYTES // narrowest, MOST_IN_ORDER)


def packed_rows(loop: ir.For) -> tuple[tuple[ir.Symbol, int], ...]:
    """The arrays of which an iteration has all elements of a row, if rows are this long: `p[i, 0]`, `p[i, 1]`,
    `p[i, 2]`. Vectors are loaded and permuted then, where each element is gathered if the stride is not known."""
    columns: dict[ir.Symbol, set[object]] = {}
    for node in walk(loop.body):
        if is_access(node) and len(node.index) > 1 and array_of(node).array.layout is Layout.C:
            last = node.index[-1]
            is_row = loop.var in scalars_read(node.index[-2])
            column = last.value if is_row and isinstance(last, ir.Const) else None
            columns.setdefault(array_of(node), set()).add(column)
    lengths = {array: len(found) for array, found in columns.items() if found == set(range(len(found)))}
    return tuple((array, length) for array, length in lengths.items() if 1 < length <= MOST_IN_ROW)


def is_flat_at_one(loop: ir.For) -> bool:
    """Whether iterations of a loop may be lanes where the loops inside it run over an axis of length 1: a reduction of
    rows of one element is a copy then. Lengths of arrays alone decide that, for all iterations at once."""
    inner = [stmt for stmt in loop.body if isinstance(stmt, ir.For)]
    if not inner or loop.step != 1 or loop.safelen is not None or any(n.scans for n in (loop, *inner)):
        return False
    changing = {loop.var, *scalars_written(loop.body)}
    return all(_is_short_at_one(n, changing) for n in inner) and why_not_simd(flattened(loop)) is None


def _is_short_at_one(loop: ir.For, changing: set[ir.Symbol]) -> bool:
    if loop.step != 1 or loop.product is not None or not is_invariant(loop.lo, changing):
        return False
    trips = difference(loop.hi, loop.lo)
    match tuple(trips.terms.items()):
        case ((ir.Binary(op="max", lhs=trips_or_none, rhs=ir.Const(value=0)), 1),) if not trips.constant:
            trips = linear_form(trips_or_none)  # of a slice
    match tuple(trips.terms.items()):
        case ((ir.Extent(), 1),):
            return trips.constant in (0, -1) and is_invariant(loop.hi, changing)
        case _:
            return False


def _value(stmt: ir.Stmt) -> ir.Expr:
    assert isinstance(stmt, ir.Assign | ir.Update)
    return stmt.value
