"""Unroll-and-jam: several iterations of an outer loop are interleaved in the loops inside it.

    for i in range(n):                        for i in range(0, n - 1, 2):
        for j in range(m):           ->           for j in range(m):
            f(i, j)                                   f(i, j)
                                                      f(i + 1, j)
                                              for i in range(n // 2 * 2, n):
                                                  for j in range(m):
                                                      f(i, j)

Legal where no dependence leads to a later iteration of the outer loop and an earlier one of those inside.

Does not handle: statements between the loops; bounds of inner loops that depend on the outer one.
"""

from __future__ import annotations

from appyc.analysis.dependences.bands import Direction
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Refusal
from appyc.errors import Note
from appyc.ir.blocks import nested
from appyc.ir.names import NameSupply
from appyc.ir.nodes import For, Stmt, Var
from appyc.ir.visit import scalars_read
from appyc.passes.loop_ops.nests import why_not_reorder
from appyc.passes.loop_ops.unroll import again, split_rest, why_not_unroll
from appyc.passes.node_builders import copy_of, shifted


def why_not_unroll_and_jam(loops: tuple[For, ...], legality: Legality, *, exact: bool) -> Refusal | None:
    """loops: the one to unroll, and the loops of the perfect nest inside it. exact: sums of floats keep their order."""
    outer, *inner = loops
    reason = why_not_unroll(outer)
    if reason is not None:
        return Refusal(reason)
    for loop in inner:
        if outer.var in scalars_read(loop.bounds):
            note = Note(loop.loc, "its bounds depend on the outer loop")
            return Refusal(f"the loop over '{loop.var.name}' has other iterations each time", (note,))
    return why_not_reorder(loops, legality, _crosses, exact=exact)


def _crosses(direction: Direction) -> bool:
    """Whether the sink is in a later iteration of the outer loop, and an earlier one of the inner loops."""
    outer, *inner = direction.signs
    return outer > 0 and next((sign for sign in inner if sign), 0) < 0


def unroll_and_jam(loops: tuple[For, ...], factor: int, names: NameSupply) -> tuple[For, For]:
    """The nest with `factor` iterations of its outer loop interleaved, and the nest over the rest."""
    outer, *inner = loops
    main, rest = split_rest(outer, factor)
    here = Var(outer.var, loc=outer.loc)
    body: tuple[Stmt, ...] = loops[-1].body
    for at in range(1, factor):
        body += again(loops[-1].body, {outer.var: shifted(here, at * outer.step)}, names)
    return nested((main, *inner), body), copy_of(rest, names)
