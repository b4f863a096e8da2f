"""Marks stores of live-out results that no loop of the function reads: they may bypass the caches.

    for i in range(0, n):   # lanes             for i in range(0, n):   # lanes, nontemporal r
        r[i] = a * x[i] + y[i]          ->          r[i] = a * x[i] + y[i]

An ordinary store first reads the cache line (write-allocate), and keeps it in the cache. For a result larger
than the caches, the read is a third of the memory traffic, and caching has no benefit: the line is evicted
before it is read. The size is known at the call (`c_gen/lanes/nontemporal_stores.py`).

An array is marked if its only access is one store, in an innermost SIMD loop whose iterations store
consecutive elements. A temporary that a later loop reads is not marked: a part of it is still in the
cache.

Requires: loops have their modes. Runs after all passes that make or cut loops.

Does not handle: stores under a condition; two stores to one array (the ends of a range that was cut);
strided arrays; loops over less than a block, such as those over a tile. On a GPU nothing is marked, as its stores
of whole lines do not read them first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from appyc.analysis.algebra.strides import Strides
from appyc.ir.machine_model import LEAST_LANES
from appyc.ir.nodes import For, Function, Load, LoopMode, Store, Symbol, Update, While
from appyc.ir.schedule import LoopSchedule
from appyc.ir.types import Layout
from appyc.ir.visit import contains, loops_of, scalars_read, scalars_written, walk
from appyc.passes.node_builders import most_trips
from appyc.passes.pass_context import PassContext


def nontemporal_results(fn: Function, ctx: PassContext) -> Function:
    """The function with its schedule saying so of its innermost loops."""
    if ctx.options.on_gpu:
        return fn
    unread = _written_once(fn)
    if not unread:
        return fn
    marked: dict[Symbol, LoopSchedule] = {}
    for loop in loops_of(fn.body):
        streams = _streams(loop, unread)
        if streams:
            marked[loop.var] = replace(fn.schedule[loop.var], nontemporal=streams)
            names = ", ".join(f"'{array.name}'" for array in streams)
            ctx.remark(
                loop.loc,
                f"{names} {'goes' if len(streams) == 1 else 'go'} past the caches where the loop touches more than "
                "they hold: it is not read here",
            )
    return replace(fn, schedule=fn.schedule.updated(marked)) if marked else fn


def _written_once(fn: Function) -> frozenset[Symbol]:
    """Arrays with one store, and no other access."""
    stores = Counter(n.array for n in walk(fn) if isinstance(n, Store))
    used = {n.array for n in walk(fn) if isinstance(n, Load)}
    used |= {n.target for n in walk(fn) if isinstance(n, Update)}
    return frozenset(array for array, count in stores.items() if count == 1 and array not in used)


def _streams(loop: For, unread: frozenset[Symbol]) -> tuple[Symbol, ...]:
    if loop.mode is LoopMode.SEQUENTIAL or loop.step != 1 or loop.safelen is not None or loop.in_step:
        return ()
    if loop.last or contains(loop.body, For | While):
        return ()
    trips = most_trips(loop)
    if trips is not None and trips <= LEAST_LANES:
        return ()  # a block would have to start with the loop
    strides = Strides.of(loop)
    return tuple(
        stmt.array
        for stmt in loop.body
        if isinstance(stmt, Store) and stmt.array in unread and _is_next(stmt, loop, strides)
    )


def _is_next(store: Store, loop: For, strides: Strides) -> bool:
    """Whether consecutive iterations store adjacent elements, with stride 1."""
    if store.mask is not None or store.checked or not store.index:
        return False
    if store.array.array.layout is Layout.STRIDED or scalars_read(store.index) & scalars_written(loop.body):
        return False
    unit = 0 if store.array.array.layout is Layout.F else len(store.index) - 1
    steps = [strides.coefficient(index, loop.var) for index in store.index]
    return all(step == (axis == unit) for axis, step in enumerate(steps))
