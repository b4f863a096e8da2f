"""Index-set splitting at the iteration where a choice between elements changes.

    for i in range(0, n + m):                                       cut = min(max(n, 0), n + m)
        c[i] = x[i] if i < n else y[i - n]            ->            for i in range(0, cut):
                                                                        c[i] = x[i]
                                                                    for i_2 in range(cut, n + m):
                                                                        c[i_2] = y[i_2 - n]

Such loops come from `concatenate`, `roll`, `pad`, `triu` and `tril`. The C compiler does not vectorise a select between
elements if one of them may be out of bounds.

A subscript that is kept within bounds, in an innermost loop, makes gathers of loads in a row; so it is a choice too:

    for j in range(m):                                          for j in range(0, cut): b[j] = a[0]
        b[j] = a[max(j - 1, 0)]                     ->          for j_2 in range(cut, m): b[j_2] = a[j_2 - 1]

So is a bound of a loop with conditions that is kept within a range:

    for i in range(n):                                          for i in range(0, min(w, n)):
        for j in range(max(i - w, 0), i):           ->              for j in range(0, i): ...
            if a[j] > best: best = a[j]                         for i_2 in range(min(w, n), n):
                                                                    for j in range(i_2 - w, i_2): ...

So are conditions of statements in innermost loops, for the loops around them too, outer ones first; a part that does
nothing vanishes:

    for k in range(m):
        if i - k >= 0:                              ->          for k in range(0, min(m, i + 1)):
            s += w[k] * a[i - k]                                    s += w[k] * a[i - k]

The iterations keep their order, so the transformation is legal for any loop. Runs after loop fusion and the other
passes that move loops, and before the verdicts of the dependence analysis. A pragma on the loop is kept.

Does not handle: steps other than 1; conditions of `if` statements in loops that another one repeats without using its
variable, which `tile_time` takes as a whole; loops around or inside a product of matrices, which
is marked as a whole; GPUs, whose lanes have masks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from typing import TypeGuard

from appyc.ir import nodes as ir
from appyc.ir.affine import NO_TERMS, LinearForm, difference, distance, excess, written
from appyc.ir.blocks import collapsed_loops, map_blocks
from appyc.ir.invariance import arrays_made, changed_in, evaluated_always, is_invariant
from appyc.ir.names import NameSupply
from appyc.ir.types import DType
from appyc.ir.visit import (
    arrays_written,
    contains,
    loops_of,
    rename,
    rewrite_all,
    scalars_read,
    statements,
    walk,
    with_body,
)
from appyc.passes.loop_ops.cut import split, why_not_cut
from appyc.passes.node_builders import has_iterations, shifted, truth
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.constant_conditions import folded

MAX_NODES = 300
"""A larger body is not written twice."""

MAX_ADDED = 1200
"""Nodes of all parts but one: no more are added to the function for each loop."""

MAX_CUTS = 4
"""The most cuts of one loop: enough for five concatenated arrays, and for stencils of two neighbours on each side."""

BORDER = 4
"""The most iterations of a border, of which no part is worth a loop of its own."""


def split_at_conditions(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with such loops cut."""
    if ctx.options.on_gpu or not ctx.options.auto:
        return fn
    has_choices = any(isinstance(n, ir.Select) or _is_clamp(n) for n in walk(fn.body))
    if not has_choices and not contains(fn.body, ir.If):
        return fn
    loops = loops_of(fn.body)
    collapsed = collapsed_loops(fn)
    has_products = any(loop.product is not None for loop in loops)
    with_products = {
        loop.var
        for nest in (loops if has_products else ())
        if any(n.product is not None for n in loops_of(nest))
        for loop in loops_of(nest)
    }
    read = scalars_read(fn.body)
    steps = [loop for loop in loops if loop.var not in read]
    in_steps = {loop.var for step in steps for loop in loops_of(step.body)}
    names = NameSupply.after(fn)

    def parts(stmt: ir.Stmt) -> tuple[ir.Stmt, ...]:
        if not isinstance(stmt, ir.For) or stmt.var in with_products or stmt.var in ctx.copies:
            return (stmt,)
        if stmt.var in collapsed or why_not_cut(stmt) is not None:
            return (stmt,)
        at_ifs = stmt.var not in in_steps
        ahead, loop = _with_loads_ahead(stmt, names) if at_ifs else ((), stmt)
        return (*ahead, *_Cutting(fn, names, at_ifs).parts(loop, MAX_CUTS, MAX_ADDED))

    def block(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        # Outer loops first: the rows of a border have no conditions on columns.
        return tuple(map_blocks(part, block) for stmt in body for part in parts(stmt))

    return with_body(fn, block(fn.body))


@dataclass(frozen=True, slots=True)
class _Cutting:
    """The cuts of one loop of a function. at_ifs: also at `if` statements."""

    fn: ir.Function
    names: NameSupply
    at_ifs: bool

    def parts(self, loop: ir.For, cuts: int, room: int) -> tuple[ir.Stmt, ...]:
        """The parts of a loop that do anything, with the assignments of their bounds. room: nodes that may be added."""
        if not loop.body:
            return ()
        found = _turning_point(loop, self.at_ifs) if cuts > 0 else None
        if found is None or (size := sum(1 for _ in walk(loop.body))) > min(room, MAX_NODES):
            return (loop,)
        cond, boundary, holds_before = found
        if (is_first := _in_one_part(loop, boundary)) is not None:
            same = replace(loop, body=_knowing(loop.body, cond, holds_before == is_first))
            return self.parts(same, cuts, room)
        before, (first, second) = split(self.fn, loop, [("cut", boundary)], self.names)
        again = rename(cond, {loop.var: second.var})
        first = replace(first, body=_knowing(first.body, cond, holds_before))
        second = replace(second, body=_knowing(second.body, again, not holds_before))
        short = [_is_short(loop.lo, boundary), _is_short(boundary, loop.hi)]
        if isinstance(
            cond, ir.Binary
        ):  # the part in which the subscript stays at its bound is short as a rule
            short[distance(_chosen(cond, holds_before), loop.var) is not None] = True
        left = (room - size) // (2 - any(short))
        one, other = (
            self.parts(part, 0 if is_border else cuts - 1, left)
            for part, is_border in zip((first, second), short, strict=True)
        )
        return (*before, *one, *other)


def _with_loads_ahead(loop: ir.For, names: NameSupply) -> tuple[tuple[ir.Assign, ...], ir.For]:
    """The loop, and before it the reads of elements that the conditions of its first iteration compare its variable
    with."""
    if contains(loop.body, ir.For | ir.While | ir.Continue | ir.Fail):
        return (), loop
    moving, stored = changed_in(loop), arrays_written(loop.body) | arrays_made(loop.body)
    bounds = [
        found[0]
        for choice in loop.body if isinstance(choice, ir.If)
        for cond in evaluated_always(choice.cond) if isinstance(cond, ir.Compare)
        if (found := _boundary(cond, loop.var, moving, stored)) is not None
    ]  # fmt: skip
    known = {n: names.fresh(f"{n.array.name}_ahead", n.dtype) for n in walk(bounds) if isinstance(n, ir.Load)}
    first = has_iterations(loop)
    ahead = (
        ir.Assign(s, ir.Select(first, n, ir.Const(0, n.dtype, loc=n.loc), loc=n.loc), loc=n.loc)
        for n, s in known.items()
    )

    def rule(node: ir.Node) -> ir.Node:
        return ir.Var(known[node], loc=node.loc) if isinstance(node, ir.Load) and node in known else node

    return tuple(ahead), replace(loop, body=rewrite_all(loop.body, rule)) if known else loop


def _in_one_part(loop: ir.For, boundary: ir.Expr) -> bool | None:
    """Whether all iterations are in the first part of a loop that is cut; None where they may be in both."""
    behind, ahead = excess(loop.hi, boundary), excess(loop.lo, boundary)
    if behind is not None and behind <= 0:
        return True
    return False if ahead is not None and ahead >= 0 else None


def _is_short(lo: ir.Expr, hi: ir.Expr) -> bool:
    """Whether a range has a few iterations at most: a border, which is not cut again."""
    length = excess(hi, lo)
    return length is not None and length <= BORDER


def _turning_point(loop: ir.For, at_ifs: bool) -> tuple[ir.Compare | ir.Binary, ir.Expr, bool] | None:
    """A monotonic condition of a select between elements, or a subscript's bound, for which `lhs < rhs` stands; the
    iteration at which it changes, and its value before."""
    moving = changed_in(loop)
    for choice in (*_choices(loop.body), *(_conditions(loop.body) if at_ifs else ())):
        for cond in walk(choice.cond):
            if isinstance(cond, ir.Compare) and (found := _boundary(cond, loop.var, moving)) is not None:
                return cond, *found
    for clamp in walk((*_subscripts(loop.body), *_bounds(loop.body))):
        if not _is_clamp(clamp):
            continue
        is_left = ir.Compare("<", clamp.lhs, clamp.rhs, loc=clamp.loc)
        if (found := _boundary(is_left, loop.var, moving)) is not None:
            return clamp, *found
    return None


def _conditions(body: tuple[ir.Stmt, ...]) -> list[ir.If]:
    """The conditional statements of an innermost loop; in another loop, those of the innermost loops inside it."""
    inner = [loop for loop in loops_of(body) if not contains(loop.body, ir.For | ir.While)]
    if not inner and contains(body, ir.While):
        return []
    bodies = [loop.body for loop in inner] if inner else [body]
    return [n for own in bodies for n in statements(own) if isinstance(n, ir.If)]


def _choices(body: tuple[ir.Stmt, ...]) -> Iterator[ir.Select]:
    """Selects between elements; in an innermost loop, also selects between subscripts of elements."""
    for node in walk(body):
        if isinstance(node, ir.Select) and contains((node.then, node.orelse), ir.Load):
            yield node
    yield from (n for n in walk(_subscripts(body)) if isinstance(n, ir.Select))


def _is_clamp(node: ir.Node) -> TypeGuard[ir.Binary]:
    return isinstance(node, ir.Binary) and node.op in ("min", "max")


def _subscripts(body: tuple[ir.Stmt, ...]) -> list[ir.Expr]:
    """The subscripts in the body of an innermost loop, and the values of the scalars in them; none for another loop."""
    if contains(body, ir.For | ir.While):
        return []
    found = [index for n in walk(body) if isinstance(n, ir.Load | ir.Store | ir.Update) for index in n.index]
    scalars = scalars_read(found)
    return found + [n.value for n in statements(body) if isinstance(n, ir.Assign) and n.target in scalars]


def _bounds(body: tuple[ir.Stmt, ...]) -> list[ir.Expr]:
    """The bounds of loops with conditions that store nothing: these are lanes beside loops that count alike."""
    inner = (n for n in loops_of(body) if contains(n.body, ir.If) and not arrays_written(n.body))
    return [bound for loop in inner for bound in loop.bounds]


def _chosen(clamp: ir.Binary, is_left_less: bool) -> ir.Expr:
    return clamp.lhs if (clamp.op == "min") == is_left_less else clamp.rhs


def _boundary(
    cond: ir.Compare, var: ir.Symbol, moving: Set[ir.Symbol], stored: Set[ir.Symbol] | None = None
) -> tuple[ir.Expr, bool] | None:
    """The first iteration of the second part, and whether the condition holds in the first part. stored: as
    `is_invariant` says."""
    if cond.op in ("==", "!=") or {cond.lhs.dtype, cond.rhs.dtype} != {DType.INT64}:
        return None
    form, here = difference(cond.lhs, cond.rhs), ir.Var(var, loc=cond.loc)
    step = form.terms.get(here, 0)
    if step not in (1, -1):
        return None
    rest = form.plus(LinearForm({here: step}), -1)
    bound = written(NO_TERMS.plus(rest, -step), cond.loc)  # step * var + rest is compared with 0
    if not is_invariant(bound, moving, stored):
        return None
    op = cond.op if step == 1 else ir.MIRRORED[cond.op]
    return shifted(bound, op in ("<=", ">")), op in ("<", "<=")


def _knowing(body: tuple[ir.Stmt, ...], cond: ir.Compare | ir.Binary, holds: bool) -> tuple[ir.Stmt, ...]:
    """The statements where the condition is known, with what follows from it."""

    def rule(node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
        match node:
            case ir.Compare() if node == cond:
                return truth(holds, node.loc)
            case ir.Binary() if node == cond:
                return _chosen(node, holds)
            case _:
                return folded(node)

    return rewrite_all(body, rule)
