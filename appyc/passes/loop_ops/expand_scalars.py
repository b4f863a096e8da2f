"""Fission with scalar expansion: a loop is cut between two statements, and arrays hold the scalars that connect them.

    for i in range(n):                        kept = empty(n)
        s = f(i)                              for i in range(n):
        a[i] = g(s)                  ->           kept[i] = f(i)
                                              for i_2 in range(n):
                                                  a[i_2] = g(kept[i_2])

Legal where the iterations may run in any order.

Does not handle: arrays that an iteration makes; loops that end early.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.accesses.scalar_flow import exposed
from appyc.ir.names import NameSupply, ordered
from appyc.ir.nodes import Alloc, Assign, Expr, For, Load, Store, Symbol, Var
from appyc.ir.types import ArrayType
from appyc.ir.visit import scalars_written, substitute
from appyc.passes.node_builders import copy_of, iterations_of, trip_count


def expand_scalars(loop: For, at: int, names: NameSupply) -> tuple[tuple[Alloc, ...], For, For]:
    """The arrays, the loop up to a statement, and the loop from there on."""
    first, rest, loc = loop.body[:at], loop.body[at:], loop.loc
    connecting = ordered(scalars_written(first) & exposed(rest).keys())
    index = trip_count(loop.lo, Var(loop.var, loc=loc), loop.step)
    arrays = {s: names.fresh(f"{s.name}_kept", ArrayType(s.dtype, 1)) for s in connecting}
    loads: dict[Symbol, Expr] = {s: Load(a, (index,), checked=False, loc=loc) for s, a in arrays.items()}
    changed = scalars_written(rest)
    before = tuple(Assign(s, loads[s], loc=loc) for s in connecting if s in changed)
    fixed = {s: load for s, load in loads.items() if s not in changed}
    stores = (Store(a, (index,), Var(s, loc=loc), checked=False, loc=loc) for s, a in arrays.items())
    allocs = tuple(Alloc(a, (iterations_of(loop),), zero=False, loc=loc) for a in arrays.values())
    second = replace(loop, body=(*before, *substitute(rest, fixed)))
    return allocs, replace(loop, body=(*first, *stores)), copy_of(second, names)
