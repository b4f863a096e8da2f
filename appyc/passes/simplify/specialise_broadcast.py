"""Specialises a function for arguments with axes of length 1.

    n = a.shape[1] if likely(a.shape[1] == b.shape[1])       guard a.shape[1] == 1, b.shape[1] != 1
        else b.shape[1] if a.shape[1] == 1 else a.shape[1]
    for j in range(n):                                 ->    for j in range(b.shape[1]):
        out[j] = a[i, j if likely(...) else 0] + b[i, j]         out[j] = a[i, 0] + b[i, j]

Conditions on lengths are folded under the assumption that these axes have length 1, and that all others do not.
The guards restrict the version to calls for which that holds. Later passes see broadcast arrays, where the
usual version assumes that no array is broadcast.

Requires: tensor statements are loops (`expand_tensors`).

Does not handle: lengths of arrays that the function allocates; conditions on those are tested at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from appyc.ir import nodes as ir
from appyc.ir.types import DType
from appyc.ir.visit import rewrite, walk
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.constant_conditions import folded
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.simplify.dead_code_elimination import dead_code_elimination

Units = frozenset[tuple[int, int]]
"""The axes of length 1: numbers of a parameter and of an axis."""

_MAX_ROUNDS = 8
"""Rounds of folding and propagation: a length may be computed from others in a chain of this many statements."""


def specialise_broadcast(fn: ir.Function, ctx: PassContext, units: Units) -> ir.Function:
    """The version of the function for arguments whose axes of length 1 are exactly these."""
    lengths = {(symbol, axis): (number, axis) in units for number, symbol in enumerate(fn.params)
               if symbol.is_array for axis in range(symbol.array.ndim)}  # fmt: skip
    asked: set[tuple[ir.Symbol, int]] = set()
    out = fn
    for _ in range(_MAX_ROUNDS):
        before = out
        out = rewrite(out, lambda node: _known(node, lengths, asked))
        out = rewrite(out, folded)
        out = dead_code_elimination(copy_propagation(out, ctx), ctx)
        if out == before:
            break
    guards = tuple(_guard(fn, symbol, axis, lengths[symbol, axis]) for symbol, axis in sorted(asked, key=str))
    return replace(out, guards=(*guards, *out.guards))


def depends_on_units(fn: ir.Function, units: Units) -> bool:
    """Whether the usual version assumes that an axis among `units` is as long as another."""
    ones = {(fn.params[number], axis) for number, axis in units}
    return any(
        isinstance(node, ir.Likely)
        and any(isinstance(e, ir.Extent) and (e.array, e.axis) in ones for e in walk((node.arg,)))
        for node in walk(fn)
    )


def _known(
    node: ir.Node, lengths: Mapping[tuple[ir.Symbol, int], bool], asked: set[tuple[ir.Symbol, int]]
) -> ir.Node:
    """A length of 1, and what comparing one with another length gives."""
    match node:
        case ir.Extent(array=array, axis=axis) if lengths.get((array, axis), False):
            asked.add((array, axis))
            return ir.Const(1, DType.INT64, loc=node.loc)
        case ir.Compare(op="==" | "!=" as op, lhs=lhs, rhs=rhs):
            same = _same(lhs, rhs, lengths, asked)
            return node if same is None else ir.Const(same == (op == "=="), DType.BOOL, loc=node.loc)
        case _:
            return node


def _same(
    a: ir.Expr, b: ir.Expr, lengths: Mapping[tuple[ir.Symbol, int], bool], asked: set[tuple[ir.Symbol, int]]
) -> bool | None:
    """Whether two lengths are equal, where that is known."""
    match a, b:
        case ir.Const(value=one), ir.Const(value=other):
            return one == other
        case (ir.Const(value=1), ir.Extent() as length) | (ir.Extent() as length, ir.Const(value=1)):
            if (length.array, length.axis) not in lengths:
                return None
            asked.add((length.array, length.axis))
            return False
        case _:
            return None


def _guard(fn: ir.Function, symbol: ir.Symbol, axis: int, is_unit: bool) -> ir.Guard:
    length, one = ir.Extent(symbol, axis, loc=fn.loc), ir.Const(1, DType.INT64, loc=fn.loc)
    test = ir.Compare("==" if is_unit else "!=", length, one, loc=fn.loc)
    return ir.Guard(test, "axes of length 1 are where they were", loc=fn.loc)
