"""Which loops of a nest are cut into blocks, and where."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from appyc.analysis.patterns.early_exits import leaves_early
from appyc.distributed.chunk_grids import Grid
from appyc.distributed.combining import arrays_reduced, moves
from appyc.distributed.scattering import accesses_by_array, arrays_scattered
from appyc.ir.array_accesses import AccessNode, array_of, is_access
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Assign, BoundsCheck, Break, For, If, Load, Stmt, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import arrays_written, loops_of, scalars_read, walk
from appyc.passes.node_builders import negated, truth, with_breaks


def _accesses(body: tuple[Stmt, ...], arrays: Collection[Symbol]) -> Iterator[AccessNode]:
    return (n for n in walk(body) if is_access(n) and array_of(n) in arrays)


def is_nest(loop: For, arrays: Mapping[Symbol, Grid]) -> bool:
    """Whether the iterations of a loop become blocks: the elements that they write move with its variable, or it
    is an innermost loop over elements."""
    if loop.step != 1:
        return False
    reduced = arrays_reduced(loop, arrays)
    others = arrays.keys() - reduced - arrays_scattered(loop, arrays, reduced).keys()
    writes = [n for n in _accesses(loop.body, others) if not isinstance(n, Load)]
    if len(loops_of(loop)) == 1 or not writes:
        return first_moving(loop, arrays) is not None
    return all(loop.var in scalars_read(n.index) for n in writes)


def until_break(loop: For, names: NameSupply) -> tuple[Symbol, Stmt]:
    """A loop whose blocks run in order, and a scalar that says whether one before has ended it.

        for i in range(n): if a[i] < 0: break

    becomes

        if not has_ended: for i in range(n): if a[i] < 0: has_ended = True; break
    """
    has_ended = names.fresh("has_ended", DType.BOOL)
    noted = (Assign(has_ended, truth(True, loop.loc), loc=loop.loc), Break(loc=loop.loc))
    is_on = negated(Var(has_ended, loc=loop.loc))
    return has_ended, If(is_on, (replace(loop, body=with_breaks(loop.body, noted)),), loc=loop.loc)


def first_moving(loop: For, arrays: Mapping[Symbol, Grid]) -> tuple[Symbol, int] | None:
    """The array, and its axis, along which the first access moves with a loop; a write if one does."""
    accesses = sorted(_accesses(loop.body, arrays), key=lambda n: isinstance(n, Load))
    moving = ((n, axis) for n in accesses for axis, e in enumerate(n.index) if moves(e, loop))
    return next(((array_of(n), axis) for n, axis in moving), None)


def blocked_loops(stmt: Stmt, arrays: Mapping[Symbol, Grid]) -> list[For]:
    """The loops of a nest of which iterations become blocks: one, or parallel ones that nest perfectly."""
    if not isinstance(stmt, For) or not is_nest(stmt, arrays):
        return []
    loops, inside = [stmt], stmt
    depth = _parallel_loops(stmt)
    while (inner := _only_loop(inside)) is not None:
        inside = inner
        depth = max(depth - 1, _parallel_loops(inside))
        if not depth or leaves_early(inside) or not is_nest(inside, arrays):
            break
        loops.append(inside)
    return loops if _parallel_loops(stmt) and are_apart(loops, arrays) else loops[:1]


def are_apart(loops: Sequence[For], arrays: Mapping[Symbol, Grid]) -> bool:
    """Whether different iterations surely touch different elements of what they write, so that blocks have no
    order: a loop that its pragma rightly calls parallel may still need values from before it."""
    accesses = accesses_by_array(loops[-1].body, arrays)
    indices = {array: {node.index for node in nodes} for array, nodes in accesses.items()}
    variables = {loop.var for loop in loops}
    return all(
        len(indices[array]) == 1
        and variables <= {e.symbol for e in next(iter(indices[array])) if isinstance(e, Var)}
        for array in arrays_written(loops[-1].body) & indices.keys()
    )


def _only_loop(loop: For) -> For | None:
    """The loop that another one consists of, tests of indices aside."""
    match [stmt for stmt in loop.body if not isinstance(stmt, BoundsCheck)]:
        case [For() as inner]:
            return inner
        case _:
            return None


def _parallel_loops(loop: For) -> int:
    """The number of nested loops, from this one inwards, that a pragma makes parallel; one for an axis of a
    tensor statement."""
    if loop.clauses is not None and loop.clauses.request == "parallel":
        return loop.clauses.collapse
    return int(loop.implied)
