"""Chooses which loops of a nest become the grid, and which one becomes lanes.

Accesses of the threads of a warp are coalesced, so the loop whose iterations access adjacent elements
becomes lanes. For

    for i (parallel):
        for j (parallel):
            for k:
                C[i, j] += A[i, k] * B[k, j]

that is `j` (stride 1 in C and B, stride 0 in A): the axes of the grid are i and blocks of j, and k
runs sequentially in every lane. For `s += A[i, j]` in rows i, the lanes are iterations of j inside the
program of the row.

Lanes that are a part of one row are few where rows are short. And in `B[j, i] = A[i, j]` either the load or the store
jumps from lane to lane. So another loop of the grid gives the lanes a second axis, where there is one: a program
computes a tile of rows by lanes. A launch gives it more than one row where a row fills fewer lanes than a program has,
or where accesses are adjacent along different loops. There is no tile where control flow depends on the row alone: a
program of one row has branches there, and a tile would have masks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from appyc.ir.affine import coefficient
from appyc.ir.array_accesses import array_of, repeated_accesses
from appyc.ir.blocks import blocks_of, replace_outermost
from appyc.ir.nodes import Alloc, Expr, For, If, Load, LoopMode, Node, Stmt, Symbol, Update, While
from appyc.ir.types import Layout
from appyc.ir.visit import contains, loops_of, walk
from appyc.passes.gpu.lane_expressions import mentions
from appyc.passes.vectorise.divergence import divergence

ANOTHER_LOOP = "parallelise another loop of the nest, or run the function on the CPU"

STRIP_LANES = 256
"""Lanes where a program runs whole loops in strips."""
SCAN_LANES = 1024
"""The lanes of a strip where strips hand scalars on, so that each waits for the one before."""
FEWEST_LANES = 128
"""Lanes of a row where its length does not matter: one for each thread of four warps."""
MAX_LANES = 4096
"""More make a thread hold more values than it has registers for."""


@dataclass(frozen=True, slots=True)
class GridMapping:
    """chain: loops that become grid axes, outermost first. lane: the one of them that is cut
    into blocks of lanes; None where lanes run loops inside the program instead. rows: the one that is cut into the rows
    of tiles. is_crossed: whether half of the accesses are adjacent along `rows`, and not along the lanes of a row."""

    chain: tuple[For, ...]
    lane: Symbol | None
    rows: Symbol | None = None
    is_crossed: bool = False

    @property
    def body(self) -> tuple[Stmt, ...]:
        return self.chain[-1].body


def map_gpu(nest: For, row_lanes: int | None = None) -> GridMapping:
    """The mapping of a nest whose outermost loop is parallel. row_lanes: as in `LoopSchedule`."""
    chain = perfect_chain(nest, row_lanes)
    if row_lanes is not None:
        return _with_rows(nest, chain, None)
    best = max(chain, key=lambda loop: (stride_score(nest, loop.var), chain.index(loop)))
    inner = [loop for loop in loops_of(chain[-1].body) if may_be_lanes(loop)]
    score = stride_score(nest, best.var)
    if any(
        stride_score(nest, loop.var) + (score < 0) > score for loop in inner
    ):  # if none is coalesced, use both
        return _with_rows(nest, chain, None)
    return _with_rows(nest, chain, best.var)


def _with_rows(nest: For, chain: tuple[For, ...], lane: Symbol | None) -> GridMapping:
    """The mapping with the loop for the rows of tiles, if there is one: that along which most accesses are adjacent,
    else the innermost one."""
    accesses = list(repeated_accesses(nest))

    def adjacent(var: Symbol, beside: Symbol | None = None) -> int:
        return sum(
            times
            for access, times in accesses
            if _stride(array_of(access), access.index, var) == 1
            and (beside is None or _stride(array_of(access), access.index, beside) == -1)
        )

    others = [loop for loop in chain if loop.var != lane]
    if others:
        rows = max(others, key=lambda loop: (adjacent(loop.var), chain.index(loop))).var
        if not _branches_by_row(chain[-1].body, rows, lane):
            crossed = 2 * adjacent(rows, lane) >= sum(times for _, times in accesses)
            return GridMapping(chain, lane, rows, crossed)
    return GridMapping(chain, lane)


def _branches_by_row(body: tuple[Stmt, ...], rows: Symbol, lane: Symbol | None) -> bool:
    """Whether control flow depends on the row, and not on the lane."""
    by_row = divergence(body, {rows})
    by_lane = set() if lane is None else divergence(body, {lane})
    tests: list[Expr] = []
    for node in walk(body):
        match node:
            case For():
                tests += node.bounds
            case If() | While():
                tests.append(node.cond)
    return any(mentions(test, by_row) and not mentions(test, by_lane) for test in tests)


def choose_lane_loops(body: tuple[Stmt, ...]) -> frozenset[Symbol]:
    """The loops, named by their variables, that become lanes in the code of one program."""
    chosen: set[Symbol] = set()
    for stmt in body:
        if isinstance(stmt, For) and may_be_lanes(stmt):
            inner = [stride_score(stmt, x.var) for x in loops_of(stmt.body) if may_be_lanes(x)]
            if not inner or stride_score(stmt, stmt.var) >= max(inner):
                chosen.add(stmt.var)
                continue
        for block in blocks_of(stmt):
            chosen |= choose_lane_loops(block)
    return frozenset(chosen)


def lanes_of_strips(body: tuple[Stmt, ...], strips: frozenset[Symbol]) -> int:
    """The number of lanes of the strips into which the loops of the variables `strips` are cut."""
    return SCAN_LANES if any(loop.scans for loop in loops_of(body) if loop.var in strips) else STRIP_LANES


def map_nests(body: tuple[Stmt, ...], rule: Callable[[For], Sequence[Stmt]]) -> tuple[Stmt, ...]:
    """The statements with other ones for each loop that runs in parallel, and is in no other such loop."""

    def nests(stmt: Stmt) -> Sequence[Stmt] | None:
        return rule(stmt) if isinstance(stmt, For) and stmt.mode is not LoopMode.SEQUENTIAL else None

    return replace_outermost(body, nests)


def may_be_lanes(loop: For, row_lanes: int | None = None) -> bool:
    """Whether lanes may run a loop inside a program: its iterations are free, or are linked by scans."""
    is_free = loop.mode is not LoopMode.SEQUENTIAL or bool(loop.scans)
    return is_free and why_not_parallel(loop, row_lanes) is None


def why_not_parallel(loop: For, row_lanes: int | None = None) -> str | None:
    """The reason why a loop whose iterations may run in any order cannot run in parallel on a GPU; None where
    it can."""
    for node in walk(loop.body):
        if isinstance(node, Update) and node.atomic and not has_atomic(node):
            return f"a GPU has no atomic '{node.op}' on {node.target.dtype}"
        if isinstance(node, Alloc) and row_lanes is None:
            return f"every iteration has an array '{node.array.name}' of its own"
    return None


def has_atomic(update: Update) -> bool:
    """Whether a GPU can do an update of an element in one step that nothing comes between."""
    dtype = update.target.dtype
    if update.op == "+":
        return dtype.kind in "iufc" and dtype.part.bits >= 32
    if update.op in ("min", "max", "minimum", "maximum", "&", "|", "^"):
        return dtype.is_integer and dtype.bits >= 32
    return False


def stride_score(nest: Node, var: Symbol) -> int:
    """Accesses that advance by one element with `var`, less those that jump, weighted by how
    often they run."""
    return sum(
        times * _stride(array_of(access), access.index, var) * (2 if isinstance(access, Update) else 1)
        for access, times in repeated_accesses(nest)
    )


def _stride(array: Symbol, index: tuple[Expr, ...], var: Symbol) -> int:
    """1: the next element; 0: the same one, or no telling; -1: far away."""
    if not index:
        return 0
    order = index if array.array.layout is Layout.F else index[::-1]
    fast = coefficient(order[0], var)
    if any(coefficient(i, var) != 0 for i in order[1:]):
        return -1
    return 0 if fast is None or fast == 0 else 1 if abs(fast) == 1 else -1


def perfect_chain(nest: For, row_lanes: int | None = None) -> tuple[For, ...]:
    """The nest's loops from the outside in, as long as each holds the next one alone and its
    bounds do not depend on those around it."""
    chain = [nest]
    while len(chain[-1].body) == 1:
        inner = chain[-1].body[0]
        if not isinstance(inner, For) or not may_be_lanes(inner, row_lanes) or inner.last or chain[-1].last:
            break
        if inner.scans:
            break
        around = {loop.var for loop in chain}
        if any(mentions(bound, around) or contains(bound, Load) for bound in inner.bounds):
            break
        if inner.reductions and {r.symbol for r in inner.reductions} - {r.symbol for r in nest.reductions}:
            break  # its sum belongs to one iteration of the loop around it
        chain.append(inner)
    return tuple(chain)


def elements_each(rows: int) -> int:
    """How many elements of each row a thread has at most in a program of several rows: larger tiles take its
    registers."""
    return 2 if rows <= 32 else 1


def requested(chain: tuple[For, ...], lanes: int) -> tuple[int, int]:
    """Lanes and warps: what the user asked for on one of the loops, else the defaults."""
    asked = [loop.clauses for loop in chain if loop.clauses is not None]
    for clauses in asked:
        if clauses.block:
            lanes = 1 << max(0, math.prod(clauses.block) - 1).bit_length()
    lanes = min(lanes, MAX_LANES)
    warps = max(1, min(4, lanes // 32))
    return lanes, next((c.num_warps for c in asked if c.num_warps is not None), warps)
