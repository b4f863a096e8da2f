"""Pragmas on tensor statements: from what is said of a slice to the loop that runs over it.

    #pragma :M=>parallel :K=>reduce(sum)
    y[:M] = A[:M, :K] @ x[:K]

Every slice that is lowered makes an axis, and an axis goes by other names where arrays are put
together: `Scope.same_axis` keeps track. The statement's `ForAll`s and `Reduce`s take the clauses along to
the loops that `expand_tensors` makes of them, where they are held to like those of any loop.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from appyc.errors import Loc, PragmaError
from appyc.frontend.pragmas.axis_requests import AxisRequests, slice_text
from appyc.frontend.pragmas.pragma_nodes import Dim, DimsPragma
from appyc.frontend.scope import Scope
from appyc.ir.nodes import Clauses, ForAll, Node, Reduce, Stmt
from appyc.ir.visit import rewrite_all, walk

_OPS = {"sum": ("+",), "max": ("max", "maximum"), "min": ("min", "minimum")}
_NAMES = {op: name for name, ops in _OPS.items() for op in ops}


def lower_with_dims(scope: Scope, node: ast.stmt, pragma: DimsPragma, lower: Callable[[], None]) -> None:
    """`lower()` emits the statement; its loops get what the pragma asks of their axes.

    Raises PragmaError for a slice that the statement does not have, and for a property that
    does not fit.
    """
    requests = AxisRequests.of(pragma.dims, node)
    around, scope.requests = scope.requests, requests
    with scope.collect() as block:
        lower()
    scope.requests = around
    for dim in pragma.dims:
        _check(dim, node, requests, block)

    def rule(found: Node) -> Node:
        if not isinstance(found, ForAll | Reduce) or not any(axis in requests.axes for axis in found.axes):
            return found
        asked = tuple(_clauses(requests.axes.get(axis, ()), found.loc) for axis in found.axes)
        return replace(found, clauses=asked)

    scope.block.extend(rewrite_all(tuple(block), rule))


def _clauses(dims: tuple[Dim, ...], loc: Loc) -> Clauses:
    """The clauses of an axis whose `dims` agree."""
    if not dims:
        return Clauses("auto", loc=loc)
    dim = dims[0]
    request = "parallel" if dim.parallel else "simd" if dim.simd else "auto"
    block = (dim.block,) if dim.block is not None else ()
    both = dim.parallel and dim.simd
    return Clauses(request, simd=both, block=block, over=slice_text(dim), loc=dim.loc)


# ---------------------------------------------------------------- what does not fit


def _check(dim: Dim, node: ast.stmt, requests: AxisRequests, block: list[Stmt]) -> None:
    axes = {axis for axis, others in requests.axes.items() if dim in others}
    if not axes:
        slices = dict.fromkeys(ast.unparse(n) for n in ast.walk(node) if isinstance(n, ast.Slice))
        listed = ", ".join(f"'{text}'" for text in slices)
        if slice_text(dim) in slices:
            raise PragmaError(
                f"no array of the statement has the slice '{slice_text(dim)}' as often as the pragma", dim.loc,
                "name it once for all axes that it stands for",
            )  # fmt: skip
        raise PragmaError(f"the statement has no slice '{slice_text(dim)}'", dim.loc,
                          f"its slices are {listed}" if slices else "it has no slices: write them out")  # fmt: skip
    loops = [n for n in walk(block) if isinstance(n, ForAll | Reduce) and axes & set(n.axes)]
    if not loops:
        raise PragmaError(f"no loop runs over the slice '{slice_text(dim)}'", dim.loc,
                          "name a slice of the array that is assigned to, or of one that is reduced")  # fmt: skip
    if dim.reduce is not None:
        _check_reduction(dim, dim.reduce, list(_operators(loops)))


def _operators(loops: list[ForAll | Reduce]) -> Iterator[str]:
    for loop in loops:
        if isinstance(loop, Reduce):
            yield _NAMES.get(loop.op, loop.op)


def _check_reduction(dim: Dim, wanted: str, found: list[str]) -> None:
    if wanted in found:
        return
    text = slice_text(dim)
    if not found:
        raise PragmaError(f"nothing is reduced over the slice '{text}'", dim.loc,
                          "drop the property: every element of this slice has a result of its own")  # fmt: skip
    raise PragmaError(f"the slice '{text}' is reduced with {found[0]!r}, not with {wanted!r}", dim.loc,
                      "drop the property: reductions are recognised without it")  # fmt: skip
