"""Patterns of multithreaded loops: loops that are equal but for their variables share one C function.

    for i in range(n): b[i] = a[i] * 2.0            static void kernel_loop_2(begin, end, ..., b, b_n0, a, a_n0)
    for j in range(m): a[j] = b[j] * 2.0      ->    kernel_loop_2(0, trips, ..., b, b_n0, a, a_n0);
                                                    kernel_loop_2(0, trips, ..., a, a_n0, b, b_n0);

Helpers that are inlined several times, and sweeps that are written out, are such loops. The C compiler, which
takes most of the time, sees each of them once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.lanes.nontemporal_stores import has_streams
from appyc.errors import GENERATED
from appyc.ir.nodes import Const, For, Function, Symbol
from appyc.ir.raising import can_fault
from appyc.ir.schedule import Schedule
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, rename, symbols_of, walk

Pattern: TypeAlias = tuple[Function, tuple[str, ...], bool]


def pattern_of(ctx: FunctionContext, nest: tuple[For, ...]) -> Pattern | None:
    """The key of the C function of a piece: its loop with symbols numbered; None where its text contains
    source locations.

    The range of the outermost loop is not part of it: a piece takes where it begins and ends. The constants are there
    as texts too, since 0.0 equals -0.0.
    """
    if ctx.module.profiled is not None or can_fault(nest[0].body):
        return None
    anywhere = Const(0, DType.INT64, loc=GENERATED)
    entries = ((n.var, replace(ctx.schedule[n.var], cost=None)) for n in loops_of(nest[0]))
    loop = replace(nest[0], lo=anywhere, hi=anywhere)
    piece = Function("piece", (), (loop,), schedule=Schedule(tuple(entries)), loc=GENERATED)
    numbered = {s: Symbol("", number, s.type) for number, s in enumerate(symbols_of(loop))}
    constants = tuple(repr(n.value) for n in walk(loop) if isinstance(n, Const))
    return rename(piece, numbered), constants, has_streams(ctx, nest)
