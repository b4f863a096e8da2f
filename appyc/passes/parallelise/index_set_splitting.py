"""Index-set splitting: cuts a range at the one iteration that conflicts with the others, or at its middle."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.accesses.accesses import own_statements
from appyc.analysis.dependences.dependences import Conflict
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Verdict, named
from appyc.analysis.sets.conditions import expression_of
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Assign, Binary, Break, Const, Expr, For, Function, Stmt, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, map_loops, rename, symbols_of, walk
from appyc.passes.node_builders import shifted
from appyc.passes.parallelise.plain_loops import has_fixed_bounds
from appyc.passes.pass_context import PassContext

MAX_NODES = 200
"""A larger body is not written three times."""

MAX_CONFLICTS = 24


def index_set_splitting(fn: Function, ctx: PassContext) -> Function:
    """A loop whose only conflicts are with one iteration, or between its halves, is cut there.

    Before:                                   After:
        for i in range(n):                        cut = min(max(k, 0), n)
            a[i, j] += a[i, k] * a[k, j]          end = min(max(k + 1, cut), n)
                                                  for i in range(0, cut): ...        # free
                                                  for i_2 in range(cut, end): ...    # iteration k
                                                  for i_3 in range(end, n): ...      # free

        for i in range(n):                        cut = min(max((n + 1) // 2, 0), n)
            a[i] = a[n - 1 - i]                   for i in range(0, cut): ...        # free
                                                  for i_2 in range(cut, n): ...      # free

    A conflict relates an earlier iteration to a later one. The least later iteration and the greatest
    earlier one of all conflicts are functions of the parameters and of the enclosing loops. The ranges
    before the first and after the second have no conflicts. The loop is split only if at most one
    iteration lies between the two ranges.

    Runs before `check_parallel`, which finds that the parts may run in any order. A pragma on the loop is kept.

    Does not handle: steps other than 1; loop-carried scalars; conflicts with several iterations.
    """
    for height in range(max(_heights(fn.body).values(), default=-1) + 1):
        heights = _heights(fn.body)
        candidates = [
            loop for loop in loops_of(fn.body) if heights[loop.var] == height and _is_candidate(loop, ctx)
        ]
        if candidates:
            fn = _split(fn, candidates, ctx.legality(fn), ctx)
    return fn


def _heights(body: tuple[Stmt, ...]) -> dict[Symbol, int]:
    """How many loops are nested inside each; 0 for an innermost one."""
    out: dict[Symbol, int] = {}
    for loop in reversed(loops_of(body)):  # inner ones first
        out[loop.var] = max((1 + out[inner.var] for inner in loops_of(loop.body)), default=0)
    return out


def _split(fn: Function, candidates: list[For], legality: Legality, ctx: PassContext) -> Function:
    """The function with those candidates split for which splitting makes the parts parallel."""
    names = NameSupply.after(fn)
    parts: dict[Symbol, tuple[Stmt, ...]] = {}
    for loop in candidates:
        cuts = _cuts(legality, loop)
        if cuts is not None:
            parts[loop.var] = _parts(fn, loop, cuts, names)
            for part in parts[loop.var]:
                if isinstance(part, For):
                    ctx.freed(part.var, "splitting the index set where iterations conflict")
            ctx.remark(loop.loc, f"{named(loop)}: its range is cut where iterations conflict")
    return map_loops(fn, lambda loop: parts.get(loop.var, loop)) if parts else fn


def _is_candidate(loop: For, ctx: PassContext) -> bool:
    clauses = loop.clauses
    if clauses is None:
        # Around a loop that was asked to run in parallel nothing else does.
        asked = any(_is_asked(inner) for inner in loops_of(loop.body))
        wanted = ctx.options.auto and not asked and not _is_short(loop)
    else:
        wanted = _is_asked(loop) and not clauses.independent and clauses.collapse == 1
    if not wanted or loop.step != 1 or not has_fixed_bounds(loop):
        return False
    if any(isinstance(stmt, Break) for stmt in own_statements(loop.body)):
        return False
    return sum(1 for _ in walk(loop.body)) <= MAX_NODES


def _is_short(loop: For) -> bool:
    """Whether each part would be one iteration, as of a time loop over two or three steps."""
    match loop.lo, loop.hi:
        case Const(value=int(lo)), Const(value=int(hi)):
            return hi - lo <= 3
        case _:
            return False


def _is_asked(loop: For) -> bool:
    return loop.clauses is not None and loop.clauses.request in ("parallel", "simd")


@dataclass(frozen=True, slots=True)
class _Cuts:
    """first: where the second part begins. second: where the third does, if there is one."""

    first: Expr
    second: Expr | None


def _cuts(legality: Legality, loop: For) -> _Cuts | None:
    if legality.scalars[loop.var].carried:
        return None
    if legality.judge(loop).verdict is not Verdict.CARRIED:
        return None
    conflicts: list[Conflict] = []
    for conflict in legality.dependences.conflicts(loop):
        conflicts.append(conflict)
        if conflict.instances is None or conflict.kind == "reduction" or len(conflicts) > MAX_CONFLICTS:
            return None
        if len(conflicts) == 1 and legality.dependences.turning_points(loop, conflicts) is None:
            return None  # others can only move the points further apart
    points = legality.dependences.turning_points(loop, conflicts)
    if points is None:
        return None
    later, earlier = points
    affine = legality.dependences.found.affine
    first = expression_of(later, affine, loop.loc)
    second = expression_of(earlier, affine, loop.loc)
    if first is None or second is None:
        return None
    apart = affine.in_context(earlier.ge_set(later)).is_empty()
    return _Cuts(first, None if apart else shifted(second, 1))


def _parts(fn: Function, loop: For, cuts: _Cuts, names: NameSupply) -> tuple[Stmt, ...]:
    """The declarations of the cuts, and the loop once for each part."""
    places = [(name, cut) for name, cut in (("cut", cuts.first), ("end", cuts.second)) if cut is not None]
    before, parts = cut_apart(fn, loop, places, names)
    return (*before, *parts)


def cut_apart(
    fn: Function, loop: For, places: list[tuple[str, Expr]], names: NameSupply
) -> tuple[list[Assign], list[For]]:
    """The loop, of step 1, once for each part of its range: cut before each of these iterations,
    which come in order. The cuts are declared by name; the first part keeps the loop's variable and arrays."""
    before: list[Assign] = []
    ends: list[Expr] = []
    for name, place in places:
        symbol = names.fresh(name, DType.INT64)
        lo = ends[-1] if ends else loop.lo
        before.append(Assign(symbol, _between(lo, place, loop.hi), loc=loop.loc))
        ends.append(Var(symbol, loc=loop.loc))
    starts = [loop.lo, *ends]
    parts = [replace(loop, lo=lo, hi=hi) for lo, hi in zip(starts, [*ends, loop.hi], strict=True)]
    own = _own_arrays(fn, loop)
    return before, [parts[0], *(_renamed(part, own, names) for part in parts[1:])]


def _between(lo: Expr, value: Expr, hi: Expr) -> Expr:
    above = Binary("max", value, lo, loc=value.loc)
    return Binary("max", Binary("min", above, hi, loc=value.loc), lo, loc=value.loc)


def _own_arrays(fn: Function, loop: For) -> list[Symbol]:
    """The arrays that are allocated in the loop and used nowhere else."""
    made = {n.array: None for n in walk(loop.body) if isinstance(n, Alloc)}
    used = set(symbols_of(map_loops(fn, lambda n: () if n.var == loop.var else n))) if made else set()
    return [array for array in made if array not in used]


def _renamed(loop: For, arrays: list[Symbol], names: NameSupply) -> For:
    """A copy whose loops have variables of their own, and the iterations arrays of their own."""
    bound = [inner.var for inner in (loop, *loops_of(loop.body))]
    return rename(loop, {symbol: names.fresh(symbol.name, symbol.type) for symbol in (*bound, *arrays)})
