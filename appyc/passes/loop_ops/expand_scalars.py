"""Scalar expansion: arrays hold the scalars that connect groups of statements, which then run in loops of their own.

    for i in range(n):                        for i in range(n):
        s = f(i)                                  s = f(i)
        a[i] = g(s)                  ->           kept[i] = s
                                              for i_2 in range(n):
                                                  s = kept[i_2]
                                                  a[i_2] = g(s)

Legal where the groups may run in loops of their own (`fission`), these scalars apart.

Does not handle: arrays that an iteration makes; loops that end early.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from appyc.analysis.accesses.scalar_flow import exposed
from appyc.ir.names import NameSupply, ordered
from appyc.ir.nodes import Assign, Expr, Load, Stmt, Store, Symbol, Var
from appyc.ir.types import ArrayType
from appyc.ir.visit import scalars_written, substitute


def expand_scalars(
    groups: Sequence[tuple[Stmt, ...]],
    index: tuple[Expr, ...],
    names: NameSupply,
    *,
    apart: Set[Symbol] = frozenset(),
    as_elements: bool = False,
) -> tuple[list[tuple[Stmt, ...]], dict[Symbol, Symbol]]:
    """The groups with loads and stores of what connects them, and the arrays. index: an iteration's own element.
    apart: scalars that stay as they are. as_elements: scalars that a group only reads are read in the arrays."""
    loc = index[0].loc
    kept: dict[Symbol, Symbol] = {}
    out: list[tuple[Stmt, ...]] = []
    needed = [exposed(body).keys() - apart for body in groups]
    for number, body in enumerate(groups):
        loads: dict[Symbol, Expr] = {
            s: Load(kept[s], index, checked=False, loc=loc) for s in ordered(needed[number] & kept.keys())
        }
        later = frozenset[Symbol]().union(*needed[number + 1 :])
        new = ordered(scalars_written(body) & later)
        kept |= {
            s: names.fresh(f"{s.name}_kept", ArrayType(s.dtype, len(index))) for s in new if s not in kept
        }
        fixed = loads.keys() - scalars_written(body) if as_elements else frozenset[Symbol]()
        before = (Assign(s, load, loc=loc) for s, load in loads.items() if s not in fixed)
        stores = (Store(kept[s], index, Var(s, loc=loc), checked=False, loc=loc) for s in new)
        out.append((*before, *substitute(body, {s: loads[s] for s in fixed}), *stores))
    return out, kept
