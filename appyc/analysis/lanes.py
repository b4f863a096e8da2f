"""Which loop of a nest the C back end will make vector lanes of: a forecast, for estimates of cost.

What it does make of them is decided in `c_gen`, on the same grounds: a loop whose iterations may
run side by side, with nothing in it that ends early, and accesses that come to neighbouring places.
"""

from __future__ import annotations

from appyc.analysis.strides import Pace, Strides
from appyc.ir.nodes import Alloc, Break, Fail, For, Load, LoopMode, Store, Update, While
from appyc.ir.visit import walk


def lanes_of(around: tuple[For, ...], strides: Strides) -> For | None:
    """The loop, of those around an innermost statement, that becomes lanes; None where none does."""
    best: tuple[int, For] | None = None
    for loop in reversed(around):  # inner ones first: they win where they are as good
        if loop.mode is LoopMode.SEQUENTIAL or not _is_straight(loop):
            continue
        far = _far_accesses(loop, strides)
        if loop is not around[-1] and far:
            continue  # lanes around another loop need neighbours throughout
        if best is None or far < best[0]:
            best = (far, loop)
    return None if best is None else best[1]


def _is_straight(loop: For) -> bool:
    for node in walk(loop.body):
        match node:
            case While() | Alloc() | Fail() | Break():
                return False
            case Load() | Store() if node.checked:
                return False
            case Update() if node.atomic or (node.index and node.checked):
                return False
            case _:
                pass
    return True


def _far_accesses(loop: For, strides: Strides) -> int:
    count = 0
    for node in walk(loop.body):
        match node:
            case Load():
                count += strides.pace(node.array, node.index, loop.var) is Pace.FAR
            case Update() if node.target.is_array:
                count += strides.pace(node.target, node.index, loop.var) is Pace.FAR
            case _:
                pass
    return count
