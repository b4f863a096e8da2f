"""An element that an iteration loads in any case is not loaded again under a condition, on a GPU.

    for i in range(0, n):      # parallel               for i in range(0, n):      # parallel
        c[i] = a[i] if a[i] > b[i] else b[i]     ->         a_1 = a[i]
                                                            b_1 = b[i]
                                                            c[i] = a_1 if a_1 > b_1 else b_1

Lanes have masks instead of conditions, and the compiler for a GPU keeps loads with different masks apart.

Requires: all passes that change loops have run. Does not handle: blocks with other statements than assignments, stores
and updates; arrays that the block writes.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.blocks import map_blocks
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Assign, For, Function, Stmt, Store, Symbol, Update
from appyc.ir.visit import with_body
from appyc.passes.gpu.loads_ahead import read_once
from appyc.passes.gpu.map_gpu import map_nests
from appyc.passes.node_builders import with_private
from appyc.passes.pass_context import PassContext


def share_loads(fn: Function, ctx: PassContext) -> Function:
    """The function with a scalar for each such element."""
    names, made = NameSupply.after(fn), set[Symbol]()

    def block(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        if not all(isinstance(s, Assign | Store | Update) for s in body):
            return tuple(inside(s) for s in body)
        found = read_once(body, names)
        if found is None:
            return body
        made.update(found[0].values())
        return found[1]

    def inside(stmt: Stmt) -> Stmt:
        if isinstance(stmt, For):
            return stmt if stmt.scans else with_private(replace(stmt, body=block(stmt.body)), made)
        return map_blocks(stmt, block)

    return with_body(fn, map_nests(fn.body, lambda nest: (inside(nest),)))
