"""What compiled programs move, counted in the final IR, beside the least that they could.

An element counts once for each iteration of the innermost loop that touches it, however often it
is named there. A row that every iteration of a loop makes for itself stays in the cache, and does
not count.
"""

from __future__ import annotations

from collections import Counter
from math import prod

import numpy as np
import pytest

from appyc import pipeline
from appyc.analysis.sets.evaluate import evaluate
from appyc.ir.nodes import Alloc, Expr, For, Function, If, Load, Node, Stmt, Store, Symbol, Update
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.fuse.fuse_loops import fuse_loops
from appyc.passes.fuse.overlapped_tiling import overlapped_tiling
from appyc.passes.fuse.rematerialise import rematerialise
from appyc.passes.fuse.shifted_fusion import shifted_fusion
from appyc.passes.node_builders import trip_count
from appyc.passes.pass_context import PassContext
from appyc.passes.storage.contract_arrays import contract_arrays
from appyc.passes.storage.dead_store_elimination import dead_store_elimination
from appyc.passes.storage.store_to_load_forwarding import store_to_load_forwarding
from appyc.report.fusion import Sized
from tests.lowering import lowered

FUSION = (
    dead_store_elimination, rematerialise, fuse_loops, contract_arrays, overlapped_tiling,
    store_to_load_forwarding, shifted_fusion,
)  # fmt: skip

N, M = 24, 36
LINE, PLANE = np.linspace(0.0, 1.0, N), np.linspace(-1.0, 1.0, N * M).reshape(N, M)
ROW, SQUARE = np.linspace(1.0, 2.0, M), np.linspace(-1.0, 1.0, N * N).reshape(N, N)


class _Count:
    """Accesses by the name of the array, of one function and its arguments."""

    def __init__(self, fn: Function, args: tuple[object, ...]) -> None:
        self.known: dict[Symbol, object] = dict(zip(fn.params, args, strict=True))
        self.rows = {n.array for loop in walk(fn) if isinstance(loop, For) for n in walk(loop.body)
                     if isinstance(n, Alloc)}  # fmt: skip
        self.found: Counter[str] = Counter()
        self.block(fn.body, ())

    def block(self, body: tuple[Stmt, ...], trips: tuple[int, ...]) -> None:
        seen: set[tuple[Symbol, tuple[Expr, ...]]] = set()
        for stmt in body:
            match stmt:
                case For():
                    count = int(evaluate(trip_count(stmt.lo, stmt.hi, stmt.step), self.known))
                    self.block(stmt.body, (*trips, max(count, 0)))
                case If():
                    raise AssertionError("no branches in these programs")
                case Alloc():
                    lengths = tuple(int(evaluate(size, self.known)) for size in stmt.shape)
                    self.known[stmt.array] = Sized(lengths)
                case _:
                    seen |= self._touched(stmt)
        for array, _ in seen:
            if array not in self.rows:
                self.found[array.name] += prod(trips)

    def _touched(self, stmt: Node) -> set[tuple[Symbol, tuple[Expr, ...]]]:
        out = set()
        for node in walk(stmt):
            match node:
                case Load() | Store():
                    out.add((node.array, node.index))
                case Update() if node.target.is_array:
                    out.add((node.target, node.index))
                case _:
                    pass
        return out


def axpy_chain(a, x, y, z):
    y[:] = a * x
    z[:] = y + 1.0
    z[:] = z * y


def softmax(x, y):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    y[:] = e / e.sum(axis=1, keepdims=True)


def layer_norm(x, g, b, y):
    m = x.mean(axis=1, keepdims=True)
    v = ((x - m) ** 2).mean(axis=1, keepdims=True)
    y[:] = (x - m) / np.sqrt(v + 1e-5) * g + b


def gesummv(alpha, beta, a, b, x):
    return alpha * (a @ x) + beta * (b @ x)


def nine_points(a, b):
    t = a * 2.0 + 1.0
    b[1:-1, 1:-1] = (
        t[:-2, :-2] + t[:-2, 1:-1] + t[:-2, 2:]
        + t[1:-1, :-2] + t[1:-1, 1:-1] + t[1:-1, 2:]
        + t[2:, :-2] + t[2:, 1:-1] + t[2:, 2:]
    )  # fmt: skip


def sum_and_squares(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    q = 0.0
    for i in range(x.shape[0]):
        q += x[i] * x[i]
    return s, q


def three_statistics(x):
    return x.min(), x.max(), x.mean()


def unused_work(x, y):
    t = x * 3.0
    t[:] = t + 1.0
    y[:] = x + 1.0


INNER = (N - 2) * (M - 2)


def layer(a, b, c):
    return np.maximum(a @ b + c, 0.0)


def scaled_sum(alpha, beta, a, x, y):
    return alpha * (a @ x) + beta * y


# function, arguments, accesses by array
CASES = [
    # each element once: the least there is
    (axpy_chain, (2.0, LINE, LINE.copy(), LINE.copy()), {"x": N, "y": N, "z": N}),
    (sum_and_squares, (LINE,), {"x": N}),
    (three_statistics, (LINE,), {"x": N}),
    (unused_work, (LINE, LINE.copy()), {"x": N, "y": N}),
    # the matrices once; the vector once for each row
    (gesummv, (1.5, 0.5, SQUARE, SQUARE.T.copy(), LINE),
     {"a": N * N, "b": N * N, "x": N * N, "result": N}),
    # what follows a product in loops has it in a register
    (layer, (SQUARE, SQUARE.T.copy(), LINE), {"a": N**3, "b": N**3, "c": N * N, "result": N * N}),
    (scaled_sum, (1.5, 0.5, SQUARE, LINE, LINE.copy()), {"a": N * N, "x": N * N, "y": N, "result": N}),
    # two passes over a row, and the result
    (softmax, (PLANE, PLANE.copy()), {"x": 2 * N * M, "y": N * M}),
    # three passes: a mean, a variance about it, the result
    (layer_norm, (PLANE, ROW, ROW.copy(), PLANE.copy()),
     {"x": 3 * N * M, "g": N * M, "b": N * M, "y": N * M}),
    # no temporary; nine reads of what is near, as of the temporary itself
    (nine_points, (PLANE, PLANE.copy()), {"a": 9 * INNER, "b": INNER}),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "args", "expected"), CASES, ids=[case[0].__name__ for case in CASES])
def test_elements_that_are_touched(fn, args, expected):
    found = _moved(fn, args, pipeline.ANALYSE)
    assert found == expected
    apart = _moved(fn, args, tuple(p for p in pipeline.ANALYSE if p not in FUSION))
    assert sum(apart.values()) > sum(found.values())


def _moved(fn, args, passes) -> dict[str, int]:
    context = PassContext(Options(target="cpu", blas=False))
    program = pipeline.run(lowered(fn, *args), (*pipeline.SIMPLIFY, *passes), context, verify=True)
    return dict(_Count(program, args).found)
