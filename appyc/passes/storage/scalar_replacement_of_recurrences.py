"""Scalar replacement of recurrences: an element that one iteration stores and the next reads, in scans and lanes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from appyc.analysis.accesses.elements import accesses_by_node
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Verdict
from appyc.analysis.patterns.scans import backward_slice
from appyc.ir.affine import are_equal
from appyc.ir.array_accesses import array_of, is_access, numbered
from appyc.ir.invariance import evaluated_always
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Assign, For, Function, If, Load, Node, Stmt, Store, Symbol, Update, Var
from appyc.ir.visit import (
    contains,
    loops_of,
    rewrite,
    scalars_read,
    scalars_written,
    substitute,
    walk,
    with_loops,
)
from appyc.passes.node_builders import if_it_runs, result_of, shifted
from appyc.passes.parallelise.plain_loops import (
    has_fixed_bounds,
    is_plain,
    is_unordered,
    walks_as_memory_lies,
)
from appyc.passes.parallelise.recognise_reductions import as_updates
from appyc.passes.pass_context import PassContext


def scalar_replacement_of_recurrences(fn: Function, ctx: PassContext) -> Function:
    """An element that the previous iteration wrote is kept in a loop-carried scalar, in scans and inside of lanes.

    Before:                                   After:
                                              if 1 < n:
        for i in range(1, n):                     before = s[0]
            s[i] = s[i - 1] + x[i]                for i in range(1, n):
                                                      before += x[i]
                                                      s[i] = before

    Every iteration must store the element, and read the one that the previous iteration stored.
    Results stay bitwise identical. `check_parallel` can now recognise that the steps may be composed as a
    scan. Inside of a free loop that walks all arrays as they lie in memory, the scalar is a vector, and its iterations
    do not wait for what they have stored. (On a GPU, `batch_loads` does that.) Other loops that do not become scans are
    not changed, so that remarks about them use the names of the program.

    Runs after `check_bounds`, since the read before the loop must not raise, and after
    `distribute_loops`, which leaves a recurrence in a loop of its own. A loop inside another free loop is not
    changed, nor one in a skewed nest.

    Does not handle: dependence distances of two iterations or more; reads under a condition, or
    after the store; values that reach the store through other scalars.
    """
    skewed = {inner.var for loop in loops_of(fn) if fn.schedule[loop.var].skew for inner in loops_of(loop)}
    candidates = [loop for loop in loops_of(fn.body) if loop.var not in skewed and _is_candidate(loop, ctx)]
    if not candidates:
        return fn
    legality, names = ctx.legality(fn), NameSupply.after(fn)
    changed: dict[Symbol, If] = {}
    in_lanes: set[Symbol] = set()
    for loop in candidates:
        if legality.judge(loop).verdict is not Verdict.CARRIED:
            continue
        around = [outer for outer in loops_of(fn.body) if any(n is loop for n in walk(outer.body))]
        free = [outer for outer in around if is_unordered(outer, legality)]
        has_lanes = not ctx.options.on_gpu and any(map(walks_as_memory_lies, free))
        if (not free or has_lanes) and (new := _carried(loop, legality, names)):
            changed[loop.var] = new
            in_lanes |= {loop.var} if free else set()
    if not changed:
        return fn
    after = ctx.legality(with_loops(fn, changed))
    kept = {var: new for var, new in changed.items() if var in in_lanes or _is_scan(new, after)}
    for var, new in kept.items():
        text = f"loop over '{var.name}': an element is carried from one iteration to the next in a scalar"
        ctx.remark(new.loc, text)
    return with_loops(fn, kept)


def _is_scan(new: If, legality: Legality) -> bool:
    loop = new.then[-1]
    assert isinstance(loop, For)
    return legality.judge(loop).verdict is Verdict.SCAN


def _is_candidate(loop: For, ctx: PassContext) -> bool:
    clauses = loop.clauses
    if clauses is None and not ctx.options.auto:
        return False
    if clauses is not None and (clauses.request != "parallel" or clauses.collapse > 1 or clauses.independent):
        return False
    return is_plain(loop) and has_fixed_bounds(loop)


def _carried(loop: For, legality: Legality, names: NameSupply) -> If | None:
    """The loop with elements replaced by loop-carried scalars, and their start values; None without any."""
    starts: list[Stmt] = []
    elements: dict[int, Symbol] = {}
    scalars: dict[int, Symbol] = {}
    for at, reads in _recurrences(loop, legality):
        first = reads[0]
        before = names.fresh(f"{first.array.name}_before", first.dtype)
        starts.append(Assign(before, substitute(first, {loop.var: loop.lo}), loc=first.loc))
        elements[at] = before
        scalars |= {id(read): before for read in reads}
    if not starts:
        return None

    def rule(node: Node) -> Node:
        return Var(scalars[id(node)], loc=node.loc) if id(node) in scalars else node

    body: list[Stmt] = []
    for number, stmt in enumerate(loop.body):
        new = rewrite(stmt, rule)
        body += _stored(new, elements[number]) if number in elements else [new]
    return if_it_runs(loop, (*starts, replace(loop, body=tuple(body))))


def _stored(stmt: Stmt, before: Symbol) -> list[Stmt]:
    """The store replaced by an assignment of the new value to the scalar and a store of the scalar."""
    assert isinstance(stmt, Store | Update)
    value = stmt.value if isinstance(stmt, Store) else result_of(replace(stmt, checked=False))
    new = as_updates(Assign(before, value, loc=stmt.loc))
    return [*new, Store(array_of(stmt), stmt.index, Var(before, loc=stmt.loc), checked=False, loc=stmt.loc)]


def _recurrences(loop: For, legality: Legality) -> Iterator[tuple[int, tuple[Load, ...]]]:
    """The stores of the body, by their number, whose element the next iteration reads to compute its own such store,
    with these reads."""
    nodes = numbered(loop.body)
    known = accesses_by_node(loop, legality.dependences)
    moving = scalars_written(loop.body)
    for number, stmt in enumerate(loop.body):
        if not is_access(stmt) or stmt.mask is not None or (isinstance(stmt, Update) and stmt.atomic):
            continue
        array = array_of(stmt)
        loads = [n for n in nodes if isinstance(n, Load) and n.array == array]
        if sum(array_of(n) == array for n in nodes) != len(loads) + 1:
            continue
        own, is_from_before = known[id(stmt)], legality.dependences.is_of_the_iteration_before
        reads = tuple(
            n
            for n in loads
            if n.mask is None and (_precedes(loop, n, stmt) or is_from_before(loop, own, known[id(n)]))
        )
        early = {id(n) for s in loop.body[: number + 1] for n in evaluated_always(s)}
        if not reads or not all(id(n) in early for n in reads) or scalars_read(reads) & moving:
            continue
        if _flows_into(reads, loop.body[:number], stmt):
            yield number, reads


def _precedes(loop: For, read: Load, stmt: Store | Update) -> bool:
    """Whether the next iteration reads what this one stores by the text alone, which may have products of scalars."""
    following = {loop.var: shifted(Var(loop.var, loc=loop.loc), loop.step)}
    later = substitute(read.index, following)
    return not contains(later, Load) and all(map(are_equal, later, stmt.index))


def _flows_into(reads: tuple[Load, ...], earlier: tuple[Stmt, ...], stmt: Stmt) -> bool:
    """Whether what is stored is made of what is read."""
    assert isinstance(stmt, Store | Update)
    used = (*backward_slice(earlier, scalars_read(stmt.value)), stmt.value)
    ids = {id(node) for node in walk(used)}
    return any(id(read) in ids for read in reads)
