"""Value numbering of reductions: a loop that computes what an earlier one has computed becomes a copy.

    total = 0                                   total = 0
    for i in range(n):                          for i in range(n):
        total = total + mask[i]                     total = total + mask[i]
    x = np.empty(total)                         x = np.empty(total)
    ...                                 ->      ...
    total_2 = 0                                 total_2 = total
    for j in range(n):
        total_2 = total_2 + mask[j]
    y = np.empty(total_2)                       y = np.empty(total_2)

Selections by one mask count its elements each, and `(x - x.mean()) / x.std()` sums x twice. With one count, the loops
that select run over the same ranges into arrays of the same length, so that `fuse_loops` joins them.

Requires: written arrays share no memory with others. Runs before `common_subexpressions` and `copy_propagation`, which
unify what depends on the copies.

Does not handle: reductions in different blocks; loops that may raise, store, or compute several scalars; loops with
pragmas.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.invariance import changed_in
from appyc.ir.raising import may_raise
from appyc.ir.visit import arrays_written, contains, loops_of, rename, scalars_read, scalars_written, walk
from appyc.passes.pass_context import PassContext


def merge_reductions(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function without reductions that an earlier statement of their block has computed."""
    body = _merged(fn.body)
    return fn if body == fn.body else replace(fn, body=body)


@dataclass(frozen=True)
class _Reduction:
    """A scalar's start, and the loop that reduces into it."""

    start: ir.Assign
    loop: ir.For

    @property
    def total(self) -> ir.Symbol:
        return self.start.target

    def equals(self, other: _Reduction) -> bool:
        if self.start.value != other.start.value or self.total.dtype is not other.total.dtype:
            return False
        pairs = zip(loops_of(other.loop), loops_of(self.loop), strict=False)
        names = {theirs.var: ours.var for theirs, ours in pairs} | {other.total: self.total}
        return self.loop == rename(other.loop, names)

    @cached_property
    def depends_on(self) -> set[ir.Symbol]:
        """The total, and what it is computed from."""
        arrays = {n.array for n in walk(self.loop) if isinstance(n, ir.Load | ir.Extent)}
        return scalars_read((self.start, self.loop)) | {self.total} | arrays


def _merged(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    known: list[_Reduction] = []
    out: list[ir.Stmt] = []
    for stmt in body:
        found = _reduction(out[-1], stmt) if out else None
        same = next((one for one in known if found is not None and one.equals(found)), None)
        if same is not None and found is not None:
            out[-1] = stmt = ir.Assign(found.total, ir.Var(same.total, loc=stmt.loc), loc=stmt.loc)
        else:
            out.append(map_blocks(stmt, _merged))
        changed = changed_in(stmt) | arrays_written(stmt) if known else set()
        known = [one for one in known if not one.depends_on & changed]
        if found is not None and same is None:
            known.append(found)
    return tuple(out)


def _reduction(start: ir.Stmt, loop: ir.Stmt) -> _Reduction | None:
    """The reduction that two adjacent statements make, if they do nothing else."""
    if not isinstance(start, ir.Assign) or not isinstance(loop, ir.For):
        return None
    found = _Reduction(start, loop)
    if (
        contains(loop.body, ir.Alloc | ir.Draw | ir.Call | ir.While)
        or arrays_written(loop)
        or may_raise(loop)
    ):
        return None
    loops = loops_of(loop)
    if any(inner.clauses is not None for inner in loops):
        return None
    return found if scalars_written(loop) - {inner.var for inner in loops} == {start.target} else None
