"""Merges parameters that are views of one array into one parameter.

    f(a, a):                                    both parameters are the first
        for i in range(n):                          for i in range(n):
            a[i] = b[i] * 2.0         ->                a[i] = a[i] * 2.0

    f(x[1:], x[:-1]):                           both are views of a base, a hidden parameter
        for i in range(n):                          for i in range(n):
            a[i] = b[i] * 2.0         ->                base[i + 1] = base[i] * 2.0

The dependence test then compares subscripts of one array and is exact: the distance is known or, where it is a
hidden parameter, the test becomes a condition on that parameter.
Pragmas are not enforced in such a version, as overlapping arguments are no fault: clauses that ask for a parallel
loop are dropped, and loops run in parallel where that is legal.

Requires: for a base, that every index of its views is in range without a check of its own
(`check_bounds`), as an index of one view may be one of another. The views stay in the
list of parameters, in the same order and with their extents.

Does not handle: views of which an index is read from an array; `why_not_shared` says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.ir.aliasing import SharedArray, Sharing
from appyc.ir.array_accesses import array_of, is_access, redirected
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Const, Expr, Extent, For, Function, Load, Node, Store, Symbol, Update, Var
from appyc.ir.types import ArrayType, DType, Layout
from appyc.ir.visit import arrays_written, rewrite, walk
from appyc.passes.node_builders import plus
from appyc.passes.parallelise.plain_loops import is_asked
from appyc.passes.pass_context import PassContext


def merge_aliases(fn: Function, ctx: PassContext, sharing: Sharing) -> Function:
    """The function for arguments that share memory in this way, with its hidden parameters at the end."""
    supply = NameSupply.after(fn)
    hidden: list[Symbol] = []
    views: dict[Symbol, _View] = {}
    for group in sharing:
        views |= _views(fn, group, supply, hidden)
    out = rewrite(fn, lambda node: _moved(node, views))
    return replace(out, params=(*fn.params, *hidden))


def why_not_shared(fn: Function, sharing: Sharing) -> str | None:
    """The reason why the function has no version for such arguments."""
    based = {fn.params[n] for group in sharing if group.offsets is not None for n in group.members}
    for node in walk((*fn.body, *fn.results)):
        if is_access(node) and array_of(node) in based and node.checked:
            return f"an index of '{array_of(node).name}' is known only when it is used"
    return None


@dataclass(frozen=True, slots=True)
class _View:
    """An array as a part of another. offset: of its first element there, one for each axis."""

    base: Symbol
    offset: tuple[Expr, ...] | None


def _views(fn: Function, group: SharedArray, supply: NameSupply, hidden: list[Symbol]) -> dict[Symbol, _View]:
    members = [fn.params[n] for n in group.members]
    if group.offsets is None:
        written = arrays_written(fn.body)
        chosen = next((m for m in members if m in written), members[0])
        return {m: _View(chosen, None) for m in members if m != chosen}
    first = members[0].array
    base = supply.fresh(f"{members[0].name}_base", ArrayType(first.dtype, first.ndim, Layout(group.layout)))
    hidden.append(base)
    views: dict[Symbol, _View] = {}
    for member, offsets in zip(members, group.offsets, strict=True):
        parts: list[Expr] = []
        for axis, offset in enumerate(offsets):
            if offset is None:
                symbol = supply.fresh(f"{member.name}_from_{axis}", DType.INT64)
                hidden.append(symbol)
                parts.append(Var(symbol, loc=fn.loc))
            else:
                parts.append(Const(offset, DType.INT64, loc=fn.loc))
        views[member] = _View(base, tuple(parts))
    return views


def _moved(node: Node, views: dict[Symbol, _View]) -> Node:
    """The access to the array that the view is a part of."""
    match node:
        case Load() | Store() | Update() if (view := views.get(array_of(node))) is not None:
            return redirected(node, view.base, _index(node.index, view))
        case Extent(array=array) if array in views and views[array].offset is None:
            return replace(node, array=views[array].base)
        case For() if is_asked(node):
            return replace(node, clauses=None)
        case _:
            return node


def _index(index: tuple[Expr, ...], view: _View) -> tuple[Expr, ...]:
    if view.offset is None:
        return index
    return tuple(plus(i, o) for i, o in zip(index, view.offset, strict=True))
