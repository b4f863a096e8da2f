"""Loop-invariant array elements, for scalar replacement: the same element in every iteration of a loop.

    for k in range(n):
        c[i, j] += a[i, k] * b[k, j]     # c[i, j]: touched in every iteration, by nothing else
        d[k] = d[0]                      # d[0]: not alone, d[k] is the same element once

Such an element can be held in a scalar while the loop runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from appyc.analysis.accesses.accesses import Access
from appyc.analysis.dependences.dependences import Dependences
from appyc.ir import nodes as ir
from appyc.ir.array_accesses import AccessNode, array_of, is_access, numbered, passed_arrays
from appyc.ir.invariance import arrays_made, changed_in, evaluated_always, is_invariant
from appyc.ir.raising import may_leave
from appyc.ir.visit import arrays_written


@dataclass(frozen=True, slots=True)
class FixedElement:
    """`array[index]` in a loop. at: the first node that touches it in every iteration, or else the first node.

    ops: the operators of the updates of it; "read" and "write" stand for loads and stores.
    nest: the loop, and those inside it that have to run for the element to be touched; empty where
    it depends on a condition too.
    others: the nodes in the loop that access the array by another index.
    """

    at: AccessNode
    ops: frozenset[str]
    nest: tuple[ir.For, ...]
    others: tuple[AccessNode, ...]

    @property
    def array(self) -> ir.Symbol:
        return array_of(self.at)

    @property
    def index(self) -> tuple[ir.Expr, ...]:
        return self.at.index

    @property
    def op(self) -> str | None:
        """The one operator by which the loop combines into the element, where it does nothing else."""
        return next(iter(self.ops)) if len(self.ops) == 1 and not self.ops & {"read", "write"} else None

    def is_touched_by(self, node: ir.Node) -> bool:
        return is_access(node) and (array_of(node), node.index) == (self.array, self.index)


def fixed_elements(loop: ir.For) -> list[FixedElement]:
    """The elements that iterations touch and some write: first those that every iteration touches.

    By the text alone: whether `others` may be the same element is for `stands_apart` to say.
    """
    changing, written = changed_in(loop), arrays_written(loop.body)
    own, given = arrays_made(loop.body), passed_arrays(loop.body)
    touches = [node for node in numbered(loop.body) if is_access(node)]
    found: list[FixedElement] = []
    sure = _surely_touched(loop.body, (loop,), changing, written)
    for node, nest in (*sure, *((node, ()) for node in touches)):
        if array_of(node) not in written - own - given or not is_invariant(node.index, changing, written):
            continue
        if any(element.is_touched_by(node) for element in found):
            continue
        same = [t for t in touches if array_of(t) == array_of(node)]
        mine = [t for t in same if t.index == node.index]
        ops = frozenset(map(_op, mine))
        is_special = any(t.mask is not None or (isinstance(t, ir.Update) and t.atomic) for t in mine)
        if ops != {"read"} and not is_special:
            others = tuple(t for t in same if t.index != node.index)
            found.append(FixedElement(node, ops, nest, others))
    return found


def stands_apart(loop: ir.For, element: FixedElement, dependences: Dependences) -> bool:
    """Whether no other access in the loop touches the element: it has no alias there."""
    access = accesses_by_node(loop, dependences)
    mine = access[id(element.at)]
    return not any(dependences.may_ever_meet(loop, mine, access[id(other)]) for other in element.others)


def exists_before(loop: ir.For, element: FixedElement, dependences: Dependences) -> bool:
    """Whether the element is in bounds wherever the loop is reached, even if the loop has no iterations."""
    return dependences.exists_before(loop, accesses_by_node(loop, dependences)[id(element.at)])


def _op(node: AccessNode) -> str:
    if isinstance(node, ir.Update):
        return node.op
    return "read" if isinstance(node, ir.Load) else "write"


def accesses_by_node(loop: ir.For, dependences: Dependences) -> dict[int, Access]:
    """The access of each node in the loop's body that touches an array, by the node's identity."""
    accesses = dependences.found.within(loop)
    return {id(node): access for node, access in zip(numbered(loop.body), accesses, strict=True)}


def _surely_touched(
    body: tuple[ir.Stmt, ...], nest: tuple[ir.For, ...], changing: set[ir.Symbol], written: set[ir.Symbol]
) -> Iterator[tuple[AccessNode, tuple[ir.For, ...]]]:
    """The accesses that statements perform whenever they run, each with the loops around it, provided that the
    loops of the nest have iterations. Of a conditional, those that both of its branches perform."""
    for stmt in body:
        yield from ((node, nest) for node in evaluated_always(stmt) if is_access(node))
        if isinstance(stmt, ir.For) and is_invariant(stmt.bounds, changing, written):
            yield from _surely_touched(stmt.body, (*nest, stmt), changing, written)
        if isinstance(stmt, ir.If):
            otherwise = {_element(node) for node, _ in _surely_touched(stmt.orelse, nest, changing, written)}
            then = _surely_touched(stmt.then, nest, changing, written)
            yield from (touch for touch in then if _element(touch[0]) in otherwise)
        if may_leave(stmt):
            return


def _element(node: AccessNode) -> tuple[ir.Symbol, tuple[ir.Expr, ...], bool]:
    """What an access touches, and whether it tests the index: where not, a condition around may be the proof."""
    return array_of(node), node.index, node.checked
