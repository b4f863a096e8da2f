"""Unroll-and-jam around dot products: which loops are blocked, so that several sums share each loaded vector.

Before, each sum a SIMD reduction of its own, with two loads for every product:

    for (int64_t i = 0; i < n; i += 1) {
        for (int64_t j = 0; j < i + 1; j += 1) {
            acc = 0.0;
            #pragma omp simd reduction(+ : acc)
            for (int64_t k = 0; k < m; k += 1) acc = (acc + (A[i * m + k] * A[j * m + k]));
            C[i * n + j] = acc;
        }
    }

After, the sums of a block of i by a block of j together (here 2 by 2), half the loads:

    for (; k + width <= m; k += width) {
        const vector A_i0 = A[i_0 * m + k ...], A_j0 = A[j_0 * m + k ...];
        sum_0 += A_i0 * A_j0;
        const vector A_j1 = A[j_1 * m + k ...];
        sum_1 += A_i0 * A_j1;
        const vector A_i1 = A[i_1 * m + k ...];
        sum_2 += A_i1 * A_j0;
        sum_3 += A_i1 * A_j1;
    }
    acc_0 += vector_sum_float64(sum_0); ...
    for (; k < m; k += 1) { acc_0 += (A[i_0 * m + k] * A[j_0 * m + k]); ... }
    C[i_0 * n + j_0] = acc_0; ...

Before, the loop is bound by its loads: a core loads two vectors in a cycle and multiplies two, and
every product takes two loads. A block of 4 by 4 takes one load for two products.

The jammed loops must be independent. The loops inside that may be run in lanes must be sums
of arithmetic on one type of float, over loads that are stride one, in ascending or descending order, or the same in
all lanes;
any other statement is done for each iteration by itself. A sum is added up in the same order for any
number of threads: first in lanes, then the halves of a vector, then the remainder.
Does not handle: bounds of a sum that depend on the columns (where they depend on the rows,
columns alone are jammed), other operators than +, conversions inside a sum, strided arrays,
blocks for the caches.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.invariance import is_invariant
from appyc.ir.nodes import Assign, For, If, Load, LoopMode, Stmt, Store, Symbol, Update
from appyc.ir.raising import can_fault
from appyc.ir.schedule import Dots
from appyc.ir.visit import loops_of, scalars_read, scalars_written, walk
from appyc.passes.vectorise.lane_plan import LaneCheck, is_block_of, is_independent, plan_lanes
from appyc.passes.vectorise.simd_forms import why_not_simd

MAX_SUMS = 4
"""Sums in one iteration of the jammed loops at most: a block of more does not fit the registers."""

MAX_STATEMENTS = 16
"""Statements in an iteration, of which a file holds as many as 40 copies."""


BLOCK = 4
"""Rows and columns of a block: 16 sums and the vectors that they multiply fit 32 registers."""


MAX_LOADS = 2
"""The most loads of a sum for which it has several accumulators: so many vectors are loaded in a cycle, and about four
additions begin before the first one ends."""


def plan_dots(loop: For) -> Dots | None:
    """The plan for jamming a loop of sums (and the loop directly inside it); None where it is not jammed."""
    if len(loop.body) == 1 and isinstance(loop.body[0], For):
        columns = loop.body[0]
        plan = _plan(columns)
        if plan is not None:
            if not _can_be_jammed(loop, columns, plan):
                return None
            sums = _most_sums(columns)
            wide = BLOCK if sums <= 2 else BLOCK // 2
            block = BLOCK if sums == 1 else BLOCK // 2
            return replace(plan, rows=loop.var, block=block, counts=(wide, wide // 2))
    return None if _streams(loop) > 1 else _plan(loop)


def _streams(loop: For) -> int:
    """The arrays of which each iteration reads a row of its own. Four rows of each of two arrays are more than a core
    fetches ahead: the product of two matrices with a vector is a quarter slower."""
    dots = (inner for inner in loops_of(loop.body) if is_dot(inner))
    loads = ((dot, n) for dot in dots for n in walk(dot.body) if isinstance(n, Load))
    return len({n.array for dot, n in loads if {loop.var, dot.var} <= scalars_read(n.index)})


def _most_sums(columns: For) -> int:
    """The most sums in one iteration of a loop of sums."""
    return max(len(loop.reductions) for loop in loops_of(columns.body) if is_dot(loop))


def is_dot(loop: For) -> bool:
    """True for a sum, or several, that can be written for vectors of the loop's iterations."""
    if why_not_simd(loop) is not None or not loop.reductions or loop.last or loop.step != 1:
        return False
    if loop.safelen is not None:
        return False
    sums = {r.symbol for r in loop.reductions}
    dtype = loop.reductions[0].symbol.dtype
    written = scalars_written(loop.body)
    if not dtype.is_float or any(s.dtype is not dtype for s in written):
        return False
    if any(r.op != "+" for r in loop.reductions):
        return False
    check = LaneCheck(loop.var, written, dtype, steps=(1, -1))
    return all(_is_scalar_write(stmt, sums) and check.statement(stmt) for stmt in loop.body)


def waits_for_its_sums(loop: For) -> bool:
    """True for one or two sums of so little that an addition takes longer than what is added: several accumulators for
    each pay."""
    loads = sum(isinstance(n, Load) for n in walk(loop.body))
    return is_dot(loop) and len(loop.reductions) <= 2 and loads <= MAX_LOADS * len(loop.reductions)


def _is_scalar_write(stmt: Stmt, sums: set[Symbol]) -> bool:
    match stmt:
        case Assign():
            return stmt.target not in sums
        case Update():
            return not stmt.target.is_array and (stmt.op in ("+", "-") or stmt.target not in sums)
        case _:
            return False


def _plan(columns: For) -> Dots | None:
    inner = loops_of(columns.body)
    dots = [loop for loop in inner if is_dot(loop)]
    written = scalars_written(columns.body)
    if not dots or not is_independent(columns) or can_fault(columns.body):
        return None
    if not written <= set(columns.private) or not all(_can_be_copied(s) for s in columns.body):
        return None
    if sum(isinstance(n, Stmt) for n in walk(columns.body)) > MAX_STATEMENTS:
        return None
    varying = {columns.var, *written}
    if not all(is_invariant(loop.bounds, varying) for loop in inner):
        return None
    if any(_plan(loop) is not None for loop in inner if loop not in dots):
        return None  # the rows nearest to a sum share its loads in less memory
    sums = _most_sums(columns)
    if sums > MAX_SUMS or not _is_shared(dots, varying) or plan_lanes(columns) is not None:
        return None
    scalars = tuple(s for s in columns.private if s in written)
    return Dots(columns.var, tuple(loop.var for loop in dots), scalars, BLOCK if sums <= 2 else BLOCK // 2)


def _can_be_copied(stmt: Stmt) -> bool:
    """True for a statement that can be done for all copies before the next one is."""
    match stmt:
        case Assign() | Store():
            return True
        case Update():
            return not stmt.atomic
        case If():
            return all(not isinstance(s, For) and _can_be_copied(s) for s in (*stmt.then, *stmt.orelse))
        case For():
            return is_dot(stmt) or (
                stmt.mode is LoopMode.SEQUENTIAL and all(_can_be_copied(s) for s in stmt.body)
            )
        case _:
            return False


def _can_be_jammed(rows: For, columns: For, plan: Dots) -> bool:
    """True where a block of rows runs the loops inside the same number of times, and shares loads."""
    inner = loops_of(columns.body)
    written = set(plan.scalars)
    return (
        is_independent(rows)
        and not is_block_of(columns, rows.var)
        and is_invariant(columns.bounds, written)
        and all(is_invariant(loop.bounds, {rows.var}) for loop in inner)
        and _is_shared([loop for loop in inner if loop.var in plan.dots], {rows.var, *written})
    )


def _is_shared(dots: list[For], varying: set[Symbol]) -> bool:
    """True where some vector is the same in all iterations that differ in `varying`."""
    named = ((loop, scalars_read(n.index)) for loop in dots for n in walk(loop.body) if isinstance(n, Load))
    return any(loop.var in symbols and not symbols & varying for loop, symbols in named)
