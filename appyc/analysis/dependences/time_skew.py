"""Uniform dependences between the nests in a time loop, and the skewing that makes their distances nonnegative.

    for t in range(steps):                          # factor 2, shifts 0 and 1
        for i in range(1, n - 1):
            b[i] = a[i - 1] + a[i] + a[i + 1]
        for i in range(1, n - 1):
            a[i] = b[i]

Along one axis of the arrays, an iteration of a nest has a coordinate x, and each of its accesses an index `x + c`.
Accesses to one element, by nests p and q, have the distance `c_p - c_q` in x, whatever their time steps. The
skewed coordinate `x + factor * t + shift` must not decrease along any dependence: these are difference constraints
on the shifts, which the Bellman-Ford algorithm solves or refutes (Cormen et al., Introduction to Algorithms, 22.4).
Then tiles that are rectangles of (t, skewed coordinates) may run in lexicographic order (Wonnacott, Achieving scalable
locality with time skewing, 2002).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from appyc.analysis.accesses.scalar_flow import scalars_of
from appyc.ir.affine import apart
from appyc.ir.array_accesses import accesses_in
from appyc.ir.blocks import perfect_nest
from appyc.ir.invariance import changed_in
from appyc.ir.nodes import Assign, Expr, For, Function, If, Stmt, Store, Symbol, Update, Var
from appyc.ir.raising import may_raise
from appyc.ir.visit import arrays_read, arrays_written, loops_of, scalars_read, scalars_written, statements

MAX_FACTOR = 4
"""The largest skewing factor: the tiles of larger ones have little reuse."""


@dataclass(frozen=True, slots=True)
class Line:
    """The accesses of a nest along one axis. loop: the one whose variable is the coordinate; None where all
    iterations have the coordinate `at`. offsets: the accesses to arrays that the time loop writes: array,
    offset from the coordinate, and whether it is a write."""

    loop: For | None
    at: Expr
    is_outermost: bool
    offsets: tuple[tuple[Symbol, int, bool], ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of the arrays along which the nests can be tiled together with time. factor: of the time step.
    lines, shifts: of each nest. depth: of the coordinates' loops in the nests."""

    factor: int
    lines: tuple[Line, ...]
    shifts: tuple[int, ...]
    depth: int


def time_axes(fn: Function, time: For) -> list[Axis]:
    """The axes along which a time loop of the function can be tiled, that of the outermost loops first; none where it
    cannot, or where no step reads a neighbour that the step before wrote."""
    nests = [stmt for stmt in time.body if not isinstance(stmt, Assign)]
    if time.step != 1 or time.clauses is not None or not nests or not _are_nests(nests):
        return []
    if not _are_scalars_private(time, nests) or not _are_invariant(time, nests):
        return []
    axes = _axes(nests, frozenset(scalars_read(time)) - changed_in(time), time.var)
    if not any(axis.factor for axis in axes):
        return []
    scalars = scalars_of(fn)[time.var]
    return [] if scalars.carried or scalars.last or scalars.reductions else axes


def _are_nests(nests: Sequence[Stmt]) -> TypeGuard[list[For]]:
    """Whether the statements are loops, of nothing but assignments and conditions that cannot raise."""
    for stmt in statements(nests):
        match stmt:
            case For(clauses=asked):
                if asked is not None and (asked.schedule or asked.condition or asked.collapse > 1):
                    return False
                if stmt.product is not None:
                    return False
            case Assign() | Store() | Update() | If():
                pass
            case _:
                return False
    return all(isinstance(stmt, For) for stmt in nests) and not may_raise(nests)


def _are_invariant(time: For, nests: Sequence[Stmt]) -> bool:
    """Whether the bounds of the nests are the same in every step, and its scalars read no array that steps change."""
    bounds = [bound for loop in loops_of(nests) for bound in loop.bounds]
    values = [stmt.value for stmt in time.body if isinstance(stmt, Assign)]
    if scalars_read(bounds) & (scalars_written(time.body) | {time.var}) or may_raise(values):
        return False
    return not arrays_read(bounds) and not arrays_read(values) & arrays_written(time.body)


def _are_scalars_private(time: For, nests: Sequence[Stmt]) -> bool:
    """Whether no scalar links two nests, or a nest to the assignments beside it."""
    for nest in nests:
        mine = scalars_written(nest)
        if any(
            other is not nest and mine & (scalars_read(other) | scalars_written(other)) for other in time.body
        ):
            return False
    return True


def _axes(nests: Sequence[For], fixed: frozenset[Symbol], step: Symbol) -> list[Axis]:
    """fixed: scalars that the time loop does not change. None where each step has elements of its own, which no tile
    would use again."""
    written = arrays_written(nests)
    accesses = [[a for a in accesses_in(nest) if a[0] in written] for nest in nests]
    ranks = {len(index) for found in accesses for _, index, _ in found}
    if len(ranks) != 1 or any(step in scalars_read(index) for found in accesses for _, index, _ in found):
        return []
    axes: list[Axis] = []
    for axis in range(ranks.pop()):
        lines = [_line(nest, found, axis, fixed) for nest, found in zip(nests, accesses, strict=True)]
        known = tuple(line for line in lines if line is not None)
        if len(known) == len(lines) and any(line.loop is not None for line in known):
            axes += _skewed(known, nests)
    return sorted(axes, key=lambda axis: axis.depth)


def _line(
    nest: For, accesses: list[tuple[Symbol, tuple[Expr, ...], bool]], axis: int, fixed: frozenset[Symbol]
) -> Line | None:
    """None where the indices are not all one coordinate plus a constant, or there are none."""
    if not accesses:
        return None
    parts = [apart(index[axis]) for _, index, _ in accesses]
    base = parts[0][0]
    if any(other != base for other, _ in parts):
        return None
    loops = perfect_nest(nest)
    loop = next((n for n in loops if isinstance(base, Var) and n.var == base.symbol), None)
    origin, at = 0, base
    if loop is None:
        if base is not None and (arrays_read(base) or scalars_read(base) - fixed):
            return None
        first = next((number for number, (_, _, writes) in enumerate(accesses) if writes), 0)
        origin, at = parts[first][1], accesses[first][1][axis]
    elif loop.step != 1 or scalars_read(loop.bounds) - fixed:
        return None
    offsets = tuple((array, c - origin, w) for (array, _, w), (_, c) in zip(accesses, parts, strict=True))
    assert at is not None
    return Line(loop, at, loop is nest, offsets)


def _skewed(lines: tuple[Line, ...], nests: Sequence[For]) -> Iterator[Axis]:
    """The axis with its least factor; nothing where there is none."""
    depth = max(
        perfect_nest(nest).index(line.loop) for line, nest in zip(lines, nests, strict=True) if line.loop
    )
    for factor in range(MAX_FACTOR + 1):
        shifts = _shifts(lines, factor)
        if shifts is not None:
            yield Axis(factor, lines, shifts, depth)
            return


def _shifts(lines: tuple[Line, ...], factor: int) -> tuple[int, ...] | None:
    """The least shifts under which no dependence has a negative distance; None where there are none."""
    least: dict[tuple[int, int], int] = {}
    for source, one in enumerate(lines):
        for sink, two in enumerate(lines):
            for distance in _distances(one, two):
                if source == sink and (one.loop is None or (distance and not one.is_outermost)):
                    if distance and one.loop is not None:
                        return None  # within a time step, the sign of the distance is not that of the axis
                    continue
                same_step = source < sink
                needed = -distance if same_step else -distance - factor
                least[source, sink] = max(least.get((source, sink), needed), needed)
    shifts = [0] * len(lines)
    for _ in range(len(lines) + 1):
        changed = False
        for (source, sink), gap in least.items():
            if shifts[source] + gap > shifts[sink]:
                shifts[sink] = shifts[source] + gap
                changed = True
        if not changed:
            return tuple(shifts)
    return None


def _distances(source: Line, sink: Line) -> Iterator[int]:
    """The distances in the coordinate from an access of one nest to an access of another to one element."""
    for array, mine, writes in source.offsets:
        for other, theirs, also in sink.offsets:
            if array == other and (writes or also):
                yield mine - theirs
