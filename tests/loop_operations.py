"""Helpers for tests of loop operations: analysed IR of a Python function, one loop of it replaced, and run."""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Callable

import numpy as np

from appyc import pipeline
from appyc.analysis.dependences.legality import Legality
from appyc.ir.blocks import perfect_nest
from appyc.ir.nodes import For, Function, Stmt
from appyc.ir.printer import print_function
from appyc.ir.verify import check
from appyc.ir.visit import loops_of, map_loops
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.printed import run_printed

BOUNDS = pipeline.ANALYSE[: [p.__name__ for p in pipeline.ANALYSE].index("check_bounds") + 1]


def analysed(fn: Callable[..., object], *args: object) -> Function:
    """The function as loop operations meet it: simplified, with bounds checked."""
    passes = (*pipeline.SIMPLIFY, *BOUNDS)
    return pipeline.run(lowered(fn, *args), passes, PassContext(Options(target="cpu")), verify=True)


def the_loop(fn: Function, name: str) -> For:
    return next(loop for loop in loops_of(fn) if loop.var.name == name)


def with_loop(fn: Function, loop: For, *new: Stmt) -> Function:
    """The verified function with other statements in the place of a loop."""
    out = map_loops(fn, lambda n: new if n.var == loop.var and n is loop else n)
    check(out, "the operation")
    return out


def text(fn: Function) -> str:
    """The printed loops, without what is around them."""
    lines = print_function(fn).splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("    for ") or " = min(" in line)
    body = [line for line in lines[first:] if line.strip() and not line.strip().startswith(("#", "return"))]
    return textwrap.dedent("\n".join(body)).strip()


def agrees(fn: Function, program: Callable[..., object], *args: object) -> None:
    """The function does what the program does."""
    mine, others = copy.deepcopy(args), copy.deepcopy(args)
    program(*others)
    run_printed(fn, *mine)
    for one, other in zip(mine, others, strict=True):
        np.testing.assert_array_equal(one, other)


# ---------------------------------------------------------------- nests of two loops


def scaled(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] * 2.0 + i


def down(a):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i, j] + a[i - 1, j] * 0.5 - a[i, j - 1]


def crossing(a):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1] - 1):
            a[i, j] = a[i, j] + a[i - 1, j + 1]


def triangle(a):
    for i in range(min(a.shape[0], a.shape[1])):
        for j in range(i):
            a[i, j] = a[i, j] + a[j, i] + i


def band_matrix(a):
    for i in range(a.shape[0]):
        for j in range(max(i - 2, 0), min(i + 3, a.shape[1])):
            a[i, j] = a[i, j] * 3.0 + j


def backwards(a):
    for i in range(a.shape[0] - 2, -1, -1):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] + a[i + 1, j]


def carried(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = s * 0.5 + a[i, j]
            a[i, j] = s


SHAPES = [(0, 3), (1, 1), (3, 4), (5, 5), (7, 4), (8, 9)]


def nest_of(program: Callable[..., object]) -> tuple[Function, tuple[For, ...], Legality]:
    """The analysed program, the loops of its nest over `i` and `j`, and what is legal there."""
    fn = analysed(program, np.ones((3, 4)))
    return fn, perfect_nest(the_loop(fn, "i")), Legality.of(fn)


def matrix(shape: tuple[int, int]) -> np.ndarray:
    return np.arange(1.0, 1.0 + shape[0] * shape[1]).reshape(shape) % 7.0
