"""Fission (distribution): the statements of a loop run in several loops over the same range.

    for i in range(n):                        for i in range(n):
        a[i] = x[i]                  ->           a[i] = x[i]
        b[i] = b[i - 1] + a[i]                for i_2 in range(n):
                                                  b[i_2] = b[i_2 - 1] + a[i_2]

Legal where no dependence leads from a statement of a later loop to one of an earlier loop.

Does not handle: loops with loops inside, or that end early; expansion of scalars that connect statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from appyc.analysis.dependences.statement_graph import StatementGraph
from appyc.ir.names import NameSupply
from appyc.ir.nodes import For
from appyc.passes.node_builders import copy_of

Groups = Sequence[tuple[int, ...]]
"""The numbers of the statements of each loop, in order. A statement that the graph calls `copied` may be in several."""


def why_not_fission(graph: StatementGraph, groups: Groups) -> str | None:
    group_of = {number: at for at, group in enumerate(groups) for number in group if number in graph.nodes}
    for source in graph.nodes:
        for sink in graph.successors(source):
            if group_of[source] > group_of[sink]:
                lines = graph.body[source].loc.line, graph.body[sink].loc.line
                return f"line {lines[1]} needs what line {lines[0]} does"
            in_text = [number for number in groups[group_of[source]] if number in (source, sink)]
            if (
                group_of[source] == group_of[sink]
                and in_text != sorted(in_text)
                and (source, sink) in graph.ordered
            ):
                return "statements of one loop are exchanged"
    return None


def fission(loop: For, groups: Groups, names: NameSupply) -> tuple[For, ...]:
    """One loop for each group of statements; the first keeps the variable."""
    parts = [replace(loop, body=tuple(loop.body[number] for number in group)) for group in groups]
    return (parts[0], *(copy_of(part, names) for part in parts[1:]))
