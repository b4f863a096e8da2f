"""A program of a GPU computes several neighbouring rows, so that rows which it has loaded serve all of them.

    for i in range(1, n - 1):                       for i in range(1, n - 1, 4):
        for j in range(1, n - 1):                       for j in range(1, n - 1):
            b[i, j] = a[i - 1, j] + a[i + 1, j]             if i + 3 < n - 1:
                                              ->                a_1 = a[i - 1, j]
                                                                ...
                                                                a_4 = a[i + 2, j]
                                                                b[i, j] = a_1 + a_3
                                                                a_5 = a[i + 3, j]
                                                                ...
                                                                b[i + 3, j] = a_4 + a_6
                                                            else:
                                                                for i_2 in range(i, min(i + 4, n - 1)):
                                                                    b[i_2, j] = a[i_2 - 1, j] + a[i_2 + 1, j]

The loops around the lanes are tiled, with those sizes that load the least for an element. Loads that are next to each
other along the lanes count once, since a warp has all of them in a few lines of the cache. What the next row needs is
loaded before a row is computed, so that a thread holds what a few rows need.

Where rows are too short for the lanes of a program, the nest stays as it is: there the lanes are several rows. So
it does where there are too few rows for all multiprocessors.

Where conditions only decide the value of a scalar, the bodies choose between values.

Requires: all passes that change loops have run. Does not handle: bodies other than assignments and stores; reductions;
bounds that read arrays; nests with a `block` clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import TypeAlias

from appyc.ir import visit
from appyc.ir.array_accesses import array_of, is_access
from appyc.ir.block_values import values_behind
from appyc.ir.blocks import nested
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Assign, Expr, For, Function, If, Load, Stmt, Store, Symbol, Update, Var
from appyc.ir.schedule import LoopSchedule
from appyc.passes import node_builders as build
from appyc.passes.gpu.lane_expressions import mentions
from appyc.passes.gpu.loads_ahead import (
    Location,
    line_of,
    loads_in_advance,
    location_of,
    made_ahead,
    with_held,
)
from appyc.passes.gpu.map_gpu import FEWEST_LANES, GridMapping, elements_each, map_gpu, map_nests
from appyc.passes.loop_ops.unroll import again
from appyc.passes.pass_context import PassContext

SIZES = (1, 2, 4, 8)
MOST_COPIES = 64
AHEAD = 1
"""Iterations of the outermost loop of a tile that load before those in front of them store."""
MOST_REGISTERS = 192
"""The most registers of a thread, of 255, that hold what a tile loads."""
MOST_NODES = 24_000
"""The most nodes of all iterations of a tile, in which scalars hold what it loads."""
MOST_CHOICE = 300
"""The most nodes of a value that conditions choose: values that are read several times are written out each time."""
FEWEST_ELEMENTS = FEWEST_LANES // 2
"""The fewest elements of a row: shorter rows leave most lanes idle."""
ENOUGH = 192 * FEWEST_LANES
"""The fewest elements of a nest for each row of a tile: most multiprocessors have a program or two."""
GAIN = 0.9
"""The most that a tile may move for an element, in parts of what is moved without."""

Steps: TypeAlias = Sequence[Sequence[tuple[Stmt, ...]]]
"""The bodies of a tile, by iterations of its outermost loop."""


def tile_rows(fn: Function, ctx: PassContext) -> Function:
    """The function with the rows of such nests in tiles."""
    names = NameSupply.after(fn)
    decided: dict[Symbol, LoopSchedule] = {}

    def rule(s: For) -> tuple[Stmt, ...]:
        if s.product is not None or fn.schedule[s.var].row_lanes is not None:
            return (s,)
        mapping = map_gpu(s)
        tiled = _tiled(mapping, names)
        if tiled is None:
            return (s,)
        nest, copies = tiled
        decided[s.var] = replace(fn.schedule[s.var], rows_each=copies)
        ctx.remark(s.loc, f"each program of the GPU computes {copies} neighbouring rows")
        counts = {loop.var: build.iterations_of(loop) for loop in mapping.chain}
        pays: Expr | None = build.at_least(build.product_of_all(list(counts.values())), ENOUGH * copies)
        if mapping.rows is not None and mapping.lane is not None:
            pays = build.both(build.at_least(counts[mapping.lane], FEWEST_ELEMENTS), pays)
        assert pays is not None
        return (If(pays, (nest,), (build.copy_of(s, names),), loc=s.loc),)

    body = map_nests(fn.body, rule)
    return replace(fn, body=body, schedule=fn.schedule.updated(decided)) if decided else fn


def _tiled(mapping: GridMapping, names: NameSupply) -> tuple[For, int] | None:
    """The nest in tiles of those sizes that move the least, and how many rows these have; None where single rows move
    little more."""
    lane = mapping.lane
    if lane is None or not all(map(_may_be_tiled, mapping.chain)):
        return None
    body = _with_choices(mapping.body)
    gone = visit.scalars_written(mapping.body) - visit.scalars_written(body)
    chain = [replace(loop, private=tuple(s for s in loop.private if s not in gone)) for loop in mapping.chain]
    mapping = replace(mapping, chain=(*chain[:-1], replace(chain[-1], body=body)))
    rows = [loop for loop in mapping.chain if loop.var != lane]
    if not all(
        isinstance(s, Assign | Store) or (isinstance(s, Update) and not s.atomic) for s in mapping.body
    ):
        return None
    held: dict[Location, Symbol] = {location_of(n): lane for n in _loads_of_rows(mapping.body)}
    nodes = sum(1 for stmt in mapping.body for _ in visit.walk(with_held(stmt, held)))
    best, least = None, GAIN * _moved([mapping.body], lane)
    for chosen in product(SIZES, repeat=len(rows)):
        if not 1 < prod(chosen) <= min(MOST_COPIES, MOST_NODES // nodes):
            continue
        sizes = {loop.var: size for loop, size in zip(rows, chosen, strict=True)}
        steps = _steps(_copies(mapping, sizes, names), chosen)
        moved = _moved([body for step in steps for body in step], lane)
        if moved < least and elements_each(prod(chosen)) * _registers(steps, lane) <= MOST_REGISTERS:
            best, least = (sizes, steps), moved
    return None if best is None else (_nest(mapping, *best, names), sum(map(len, best[1])))


def _steps(copies: Sequence[tuple[Stmt, ...]], sizes: Sequence[int]) -> Steps:
    """The copies by iterations of the outermost loop that is tiled."""
    size = len(copies) // next(size for size in sizes if size > 1)
    return [copies[at : at + size] for at in range(0, len(copies), size)]


def _with_choices(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The statements with a choice of values for each condition that decides the value of one scalar alone."""
    known, out = set[Symbol](), list[Stmt]()
    for at, stmt in enumerate(body):
        if isinstance(stmt, If):
            results = visit.scalars_written(stmt) & visit.scalars_read((*body[:at], *body[at + 1 :]))
            for target in results if len(results) == 1 else ():
                before: dict[Symbol, Expr] = {s: Var(s, loc=stmt.loc) for s in known}
                unsure = visit.scalars_written(stmt) - known
                values = values_behind((stmt,), before, MOST_CHOICE, unsure) or {}
                stmt = Assign(target, values[target], loc=stmt.loc) if target in values else stmt
        out.append(stmt)
        known |= visit.scalars_written(stmt)
    return tuple(out)


def _may_be_tiled(loop: For) -> bool:
    is_asked = loop.clauses is not None and bool(loop.clauses.block)
    reads = visit.contains(loop.bounds, Load)
    return loop.step > 0 and not (loop.reductions or loop.last or is_asked or reads)


def _copies(mapping: GridMapping, sizes: Mapping[Symbol, int], names: NameSupply) -> list[tuple[Stmt, ...]]:
    """The body for each iteration of a tile, with scalars of its own."""
    rows = [loop for loop in mapping.chain if loop.var in sizes]
    out = []
    for at in product(*(range(0, sizes[loop.var] * loop.step, loop.step) for loop in rows)):
        moved = {
            loop.var: build.shifted(Var(loop.var, loc=loop.loc), by)
            for loop, by in zip(rows, at, strict=True)
        }
        body = again(mapping.body, moved, names)
        own = {s: names.fresh(s.name, s.type) for s in visit.scalars_written(body)}
        out.append(tuple(map(_as_store, visit.rename(body, own))))
    return out


def _as_store(stmt: Stmt) -> Stmt:
    """An update of an element as a store, whose load may be moved."""
    if not isinstance(stmt, Update) or not stmt.target.is_array or stmt.target.dtype.is_complex:
        return stmt
    return Store(stmt.target, stmt.index, build.result_of(stmt), stmt.checked, stmt.mask, loc=stmt.loc)


def _moved(copies: Sequence[tuple[Stmt, ...]], lane: Symbol) -> float:
    """Bytes that a tile moves for an element."""
    loads = {location_of(load) for body in copies for load in _loads_of_rows(body) if mentions(load, {lane})}
    lines = {line_of(location, lane) for location in loads}
    body = copies[0]
    written = visit.arrays_written(body)
    others = [
        n
        for n in visit.walk(body)
        if is_access(n) and array_of(n) in written and not (isinstance(n, Load) and location_of(n) in loads)
    ]
    return sum(array.dtype.itemsize for array, _ in lines) / len(copies) + sum(
        array_of(n).dtype.itemsize * (2 if isinstance(n, Update) else 1) for n in others
    )


def _loads_by_step(steps: Steps, lane: Symbol) -> list[list[Load]]:
    """What each step of a tile is the first to need. Loads from the same lines of the cache are made together."""
    out: list[list[Load]] = [[] for _ in steps]
    first: dict[Location, int] = {}
    for at, step in enumerate(steps):
        for load in (load for body in step for load in _loads_of_rows(body)):
            out[first.setdefault(line_of(location_of(load), lane), at)].append(load)
    return out


def _registers(steps: Steps, lane: Symbol) -> int:
    """The most registers that hold what a tile has loaded."""
    loads = _loads_by_step(steps, lane)
    first = {location_of(n): at for at, here in enumerate(loads) for n in here if mentions(n, {lane})}
    last = {
        location_of(load): at
        for at, step in enumerate(steps)
        for body in step
        for load in _loads_of_rows(body)
    }
    return max(
        sum(
            max(location[0].dtype.itemsize // 4, 1)
            for location, begin in first.items()
            if begin - AHEAD <= at <= last[location]
        )
        for at in range(len(steps))
    )


def _loads_of_rows(body: tuple[Stmt, ...]) -> Iterator[Load]:
    """The loads of an iteration that a tile makes first. Other iterations store no element that this one loads."""
    stores = {s.array: at for at, s in enumerate(body) if isinstance(s, Store)}
    once = {
        array
        for array, last in stores.items()
        if sum(array in visit.arrays_written(s) for s in body) == 1
        and not any(array in visit.arrays_read(s) for s in body[last + 1 :])
    }
    return loads_in_advance(body, once)


def _nest(mapping: GridMapping, sizes: Mapping[Symbol, int], steps: Steps, names: NameSupply) -> For:
    loc = mapping.chain[-1].loc
    tile: list[Stmt] = []
    assert mapping.lane is not None
    held: dict[Location, Symbol] = {}
    loads = _loads_by_step(steps, mapping.lane)
    for at, step in enumerate(steps):
        ahead = loads[at + AHEAD if at else 0 : at + AHEAD + 1]
        held |= made_ahead((load for loads_of_step in ahead for load in loads_of_step), names, tile)
        tile += [with_held(stmt, held) for body in step for stmt in body]
    whole: Expr | None = None
    fresh = {var: names.fresh(var.name, var.type) for var, size in sizes.items() if size > 1}
    rest = again(mapping.body, {var: Var(own, loc=loc) for var, own in fresh.items()}, names)
    for loop in reversed(mapping.chain):
        if loop.var in fresh:
            here, by = Var(loop.var, loc=loop.loc), sizes[loop.var] * loop.step
            whole = build.both(whole, build.less(build.shifted(here, by - loop.step), loop.hi))
            end = build.smaller(build.shifted(here, by), loop.hi)
            rest = (For(fresh[loop.var], here, end, loop.step, rest, loc=loop.loc),)
    assert whole is not None
    own = tuple(dict.fromkeys(s for stmt in tile for s in visit.scalar_writes(stmt)))
    chain = [
        replace(loop, step=loop.step * sizes.get(loop.var, 1), private=(*loop.private, *own))
        for loop in mapping.chain
    ]
    return nested(chain, (If(whole, tuple(tile), rest, loc=loc),))
