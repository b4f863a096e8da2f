"""The statement dependence graph of a loop's body, for loop distribution and vectorisation.

    for i in range(1, n):              0 -> 1  (1 reads a[i] that 0 wrote in this iteration)
        a[i] = c[i] * 2.0              0 -> 1  (and, carried, a[i - 1] from the iteration before)
        b[i] = a[i - 1] + a[i]         nothing leads back: one loop each, or lanes in step

The statements are those right in the body; an `if` with all that is in it is one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from appyc.analysis.accesses.accesses import Access
from appyc.analysis.dependences.dependences import Conflict
from appyc.analysis.dependences.legality import Legality
from appyc.ir.array_accesses import is_numbered
from appyc.ir.nodes import Assign, Call, For, Load, Stmt, Symbol
from appyc.ir.visit import arrays_written, scalars_read, scalars_written, walk


@dataclass(frozen=True, slots=True)
class Carried:
    """A loop-carried dependence, with the numbers of its statements.

    forward: the source precedes the sink in the text; vector lanes in lockstep preserve that order.
    """

    source: int
    sink: int
    forward: bool
    conflict: Conflict


@dataclass(frozen=True, slots=True)
class StatementGraph:
    """The dependence graph of the body of an innermost loop.

    copied: statements that set a scalar to a value which is the same wherever in the iteration
    it is computed; they are no nodes, and are duplicated into each loop that needs them. ordered:
    loop-independent dependences, as pairs of statements; two that share a scalar have a pair
    each way. carried: loop-carried dependences. serial: statements that read or write
    a loop-carried scalar.
    """

    body: tuple[Stmt, ...]
    nodes: tuple[int, ...]
    copied: tuple[int, ...]
    ordered: frozenset[tuple[int, int]]
    carried: tuple[Carried, ...]
    serial: frozenset[int]

    def successors(self, node: int) -> set[int]:
        out = {sink for source, sink in self.ordered if source == node}
        return out | {edge.sink for edge in self.carried if edge.source == node}

    def components(self) -> list[tuple[int, ...]]:
        """The strongly connected components of the graph; each in textual order."""
        reach = {node: self._reachable(node) for node in self.nodes}
        out: list[tuple[int, ...]] = []
        for node in self.nodes:
            if not any(node in group for group in out):
                out.append(
                    tuple(m for m in self.nodes if m == node or (m in reach[node] and node in reach[m]))
                )
        return out

    def _reachable(self, start: int) -> set[int]:
        seen: set[int] = set()
        todo = [start]
        while todo:
            for following in self.successors(todo.pop()):
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
        return seen


def statement_graph(legality: Legality, loop: For) -> StatementGraph | None:
    """The dependence graph of an innermost loop; None where isl reached its bound."""
    accesses = legality.dependences.found.within(loop)
    owner = _owners(loop.body, len(accesses))
    position = {id(access): number for number, access in enumerate(accesses)}
    carried: list[Carried] = []
    for conflict in legality.dependences.conflicts(loop):
        if conflict.instances is None:
            return None
        source, sink = position[id(conflict.source)], position[id(conflict.sink)]
        carried.append(Carried(owner[source], owner[sink], source < sink, conflict))
    copied = _copied(loop.body, set(legality.scalars[loop.var].private))
    nodes = tuple(number for number in range(len(loop.body)) if number not in copied)
    ordered = _meetings(legality, accesses, owner)
    ties, serial = _ties(legality, loop, nodes, copied)
    return StatementGraph(loop.body, nodes, tuple(copied), frozenset(ordered | ties), tuple(carried), serial)


def _owners(body: tuple[Stmt, ...], count: int) -> list[int]:
    """The number of the statement that contains each access of the body."""
    out = [number for number, stmt in enumerate(body) for node in walk(stmt) if is_numbered(node)]
    assert len(out) == count, "accesses are numbered as `rewrite` visits them"
    return out


def _copied(body: tuple[Stmt, ...], private: set[Symbol]) -> list[int]:
    """The statements that may be duplicated: each sets a private scalar, once, from values the body does not change."""
    arrays, moving = arrays_written(body), scalars_written(body)
    out: list[int] = []
    for number, stmt in enumerate(body):
        if not (isinstance(stmt, Assign) and stmt.target in private) or isinstance(stmt.value, Call):
            continue
        others = (*body[:number], *body[number + 1 :])
        loads = {n.array for n in walk(stmt.value) if isinstance(n, Load)}
        if stmt.target in scalars_written(others) or loads & arrays or scalars_read(stmt.value) & moving:
            continue
        out.append(number)
        moving = moving - {stmt.target}  # as good as its value
    return out


def _meetings(legality: Legality, accesses: list[Access], owner: list[int]) -> set[tuple[int, int]]:
    out: set[tuple[int, int]] = set()
    for at, first in enumerate(accesses):
        for later in range(at + 1, len(accesses)):
            second, pair = accesses[later], (owner[at], owner[later])
            if pair[0] == pair[1] or pair in out or first.array != second.array:
                continue
            if (first.writes or second.writes) and legality.dependences.may_meet(first, second):
                out.add(pair)
    return out


def _ties(
    legality: Legality, loop: For, nodes: tuple[int, ...], copied: list[int]
) -> tuple[set[tuple[int, int]], frozenset[int]]:
    """Pairs of statements that share a scalar, and the statements that use a loop-carried scalar."""
    free = {stmt.target for number in copied if isinstance(stmt := loop.body[number], Assign)}
    slow = {scalar.symbol for scalar in legality.scalars[loop.var].carried}
    ties: set[tuple[int, int]] = set()
    serial: set[int] = set()
    for symbol in scalars_written(loop.body) - free:
        using = [n for n in nodes if symbol in scalars_read(loop.body[n]) | scalars_written(loop.body[n])]
        ties |= {(one, two) for one in using for two in using if one != two}
        if symbol in slow:
            serial |= set(using)
    return ties, frozenset(serial)
