"""Hoists loop-invariant loads out of sequential loops.

    while size < 4.0 and k < limit:         if size < 4.0 and k < limit:
        z = z * z + c[i, j]                     c_ahead = c[i, j]
                                    ->      while size < 4.0 and k < limit:
                                                z = z * z + c_ahead

A C compiler does this itself for scalar code, but not for lanes: there only the active lanes execute a read, under a
mask that varies.

Handles reads in the loop's condition, and in the top-level statements of its body, which the first iteration always
executes.
Does not handle: reads under conditions, whose index may be out of range where the condition does not hold; arrays that
`written` names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.invariance import changed_in, evaluated_always
from appyc.ir.names import NameSupply
from appyc.ir.visit import rewrite, scalars_read
from appyc.passes.node_builders import has_iterations


def hoist_loads(body: tuple[ir.Stmt, ...], written: set[ir.Symbol], names: NameSupply) -> tuple[ir.Stmt, ...]:
    """The statements, with such reads of arrays that are not in `written` before the loops in them."""
    out: list[ir.Stmt] = []
    for stmt in body:
        inner = map_blocks(stmt, lambda block: hoist_loads(block, written, names))
        out += _ahead(inner, written, names) if isinstance(inner, ir.For | ir.While) else [inner]
    return tuple(out)


def _ahead(loop: ir.For | ir.While, written: set[ir.Symbol], names: NameSupply) -> list[ir.Stmt]:
    changing = changed_in(loop)

    def fixed(nodes: Iterable[ir.Node]) -> list[ir.Load]:
        """The loop-invariant reads that evaluation of these nodes always executes."""
        parts = (part for node in nodes for part in evaluated_always(node))
        reads = [n for n in parts if isinstance(n, ir.Load) and n.mask is None and n.array not in written]
        return [r for r in reads if r.index and not scalars_read(r.index) & changing]

    asked = fixed((loop.cond,) if isinstance(loop, ir.While) else ())
    inside = fixed(loop.body)
    known = {
        load: names.fresh(f"{load.array.name}_ahead", load.dtype) for load in dict.fromkeys(asked + inside)
    }
    if not known:
        return [loop]

    def rule(node: ir.Node) -> ir.Node:
        return ir.Var(known[node], loc=node.loc) if isinstance(node, ir.Load) and node in known else node

    ahead = replace(loop, body=tuple(rewrite(stmt, rule) for stmt in loop.body))
    if isinstance(ahead, ir.While):
        ahead = replace(ahead, cond=rewrite(ahead.cond, rule))
    runs = ahead.cond if isinstance(ahead, ir.While) else has_iterations(ahead)
    out: list[ir.Stmt] = [ir.Assign(known[load], load, loc=load.loc) for load in dict.fromkeys(asked)]
    later = [ir.Assign(s, load, loc=load.loc) for load, s in known.items() if load not in asked]
    if later:
        out.append(ir.If(runs, tuple(later), loc=loop.loc))
    return [*out, ahead]
