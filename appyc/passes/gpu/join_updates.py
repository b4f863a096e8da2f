"""Updates of one element that follow each other become one, on a GPU.

    A[i, j] += u1[i] * v1[j]
    A[i, j] += u2[i] * v2[j]     ->     A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]

A kernel would load and store the element each time, behind a barrier. The order of the operations is preserved.

Requires: no later pass looks for updates that are reductions. Does not handle: atomic updates; checked accesses.
"""

from __future__ import annotations

from appyc.ir.blocks import map_blocks
from appyc.ir.nodes import Function, Stmt, Store, Update
from appyc.ir.visit import arrays_read, with_body
from appyc.passes.node_builders import combine, result_of
from appyc.passes.pass_context import PassContext


def join_updates(fn: Function, ctx: PassContext) -> Function:
    """The function with one store for such updates."""
    return with_body(fn, _joined(fn.body))


def _joined(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for stmt in body:
        before = out[-1] if out else None
        if isinstance(stmt, Update) and (store := _as_store(before, stmt)) is not None:
            out[-1] = store
        else:
            out.append(map_blocks(stmt, _joined))
    return tuple(out)


def _as_store(before: Stmt | None, stmt: Update) -> Store | None:
    """What both statements store; None where they do not store to the same element, or the second one reads the array
    besides."""
    array = stmt.target
    if not _is_plain(stmt) or not array.is_array or array in arrays_read((stmt.value, *stmt.index)):
        return None
    match before:
        case Update(target, index) if _is_plain(before) and target.is_array:
            value = result_of(before)
        case Store(target, index, value) if _is_plain(before):
            pass
        case _:
            return None
    if (target, index) != (array, stmt.index) or value.dtype != array.dtype or array.dtype.is_complex:
        return None
    return Store(target, stmt.index, combine(stmt.op, value, stmt.value), checked=False, loc=stmt.loc)


def _is_plain(stmt: Store | Update) -> bool:
    return not (stmt.checked or (isinstance(stmt, Update) and stmt.atomic)) and stmt.mask is None
