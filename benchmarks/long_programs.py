"""Programs of any length, for how compile time grows with it: a text with a function `kernel`, and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

Program: TypeAlias = tuple[str, tuple[object, ...]]
"""The text, and the arguments of a call."""


def _vectors(count: int) -> tuple[np.ndarray, ...]:
    return tuple(np.ones(64) for _ in range(count))


def _names(count: int) -> list[str]:
    return [f"a{k}" for k in range(count)]


def _function(names: list[str], body: str) -> str:
    return f"def kernel({', '.join(names)}):\n{body}"


def straight_line(count: int) -> Program:
    """One loop with so many statements, each with the one before it."""
    lines = [f"        x{i} = x{i - 1} * a[i] + b[i]\n" for i in range(1, count + 1)]
    body = f"    for i in range(len(a)):\n        x0 = a[i]\n{''.join(lines)}        c[i] = x{count}\n"
    return _function(["a", "b", "c"], body), _vectors(3)


def many_loops(count: int) -> Program:
    """So many loops over the same arrays."""
    loop = "    for i in range(a.shape[0]):\n        c[i] += a[i] * {}.0 + b[i]\n"
    return _function(["a", "b", "c"], "".join(map(loop.format, range(count)))), _vectors(3)


def temporaries(count: int) -> Program:
    """So many statements about whole arrays, each with the one before it, as a recorded time loop has them."""
    lines = [f"    t{i} = t{i - 1} * b + a / t{i - 1}\n" for i in range(1, count + 1)]
    return _function(["a", "b", "c"], f"    t0 = a + c\n{''.join(lines)}    return t{count}\n"), _vectors(3)


def arguments(count: int) -> Program:
    """One loop over so many arrays, with one statement."""
    names = _names(count)
    total = " + ".join(f"{name}[i]" for name in names)
    return _function(names, f"    for i in range(a0.shape[0]):\n        a0[i] = {total}\n"), _vectors(count)


def statements_on_arguments(count: int) -> Program:
    """One loop with a statement for each of so many arrays."""
    lines = [f"        a{k}[i] = a{k}[i] * 2.0 + {k}.0\n" for k in range(count)]
    return _function(_names(count), f"    for i in range(a0.shape[0]):\n{''.join(lines)}"), _vectors(count)


def chained_arguments(count: int) -> Program:
    """A loop over each pair of neighbours among so many arrays."""
    loop = "    for i in range(a{1}.shape[0]):\n        a{1}[i] = a{0}[i] * 2.0\n"
    loops = [loop.format(k - 1, k) for k in range(1, count)]
    return _function(_names(count), "".join(loops)), _vectors(count)


def searches(count: int) -> Program:
    """So many loops that end early."""
    loop = "    i = 0\n    while i < n and a[i] > 0:\n        s += i\n        i += {}\n"
    loops = [loop.format(k + 1) for k in range(count)]
    return _function(["a", "n"], f"    s = 0\n{''.join(loops)}    return s\n"), (*_vectors(1), 64)


def stencils(count: int, arrays: int = 2) -> Program:
    """So many loops, each of which reads neighbours of what the one before it has written."""
    loop = "    for i in range(1, {0}.shape[0] - 1):\n        {0}[i] = {1}[i - 1] + {1}[i] + {1}[i + 1] * {2}.0\n"
    names = _names(arrays)
    loops = [loop.format(names[(k + 1) % arrays], names[k % arrays], k) for k in range(count)]
    return _function(names, "".join(loops)), _vectors(arrays)


def slices(count: int) -> Program:
    """So many statements on slices, each of which reads neighbours of what the one before it has written."""
    line = "    {0}[1:-1] = {1}[2:] + {1}[1:-1] * {2}.0 + {1}[:-2]\n"
    names = _names(2)
    return _function(
        names, "".join(line.format(names[k % 2 - 1], names[k % 2], k) for k in range(count))
    ), _vectors(2)


def stencils_of_planes(count: int) -> Program:
    """The same with two axes and five arrays."""
    nest = (
        "    for i in range(1, {0}.shape[0] - 1):\n        for j in range(1, {0}.shape[1] - 1):\n"
        "            {0}[i, j] = {1}[i - 1, j] + {1}[i, j + 1] * {2}.0\n"
    )
    names = _names(5)
    nests = [nest.format(names[(k + 1) % 5], names[k % 5], k) for k in range(count)]
    return _function(names, "".join(nests)), tuple(np.ones((8, 8)) for _ in names)


def branches(count: int) -> Program:
    """So many conditions, on each of which a value depends that the next one looks at."""
    step = "        if x + m > {0}:\n            x = x + {0}\n        else:\n            x = x // 2\n"
    steps = "".join(map(step.format, range(count)))
    body = f"    for i in range(n):\n        x = i\n{steps}        a[i] = x\n"
    return _function(["a", "n", "m"], body), (*_vectors(1), 64, 3)


HELPERS = """
def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


def element(a, i, j):
    i = clamp(i, 0, a.shape[0] - 1)
    j = clamp(j, 0, a.shape[1] - 1)
    return a[i, j]


def weight(p, q, s):
    d = p - q
    if d < 0:
        d = -d
    return s / (1.0 + d * d)


"""


def inlined_helpers(count: int) -> Program:
    """A nest of six loops with so many statements, each with four inlined functions that branch."""
    line = "                            s += element(a, i + k - {}, j + m) * weight(p, q, w[p, q])\n"
    body = (
        "    for i in range(a.shape[0]):\n        for j in range(a.shape[1]):\n"
        "            for k in range(w.shape[0]):\n                for m in range(w.shape[1]):\n"
        "                    s = 0.0\n"
        "                    for p in range(w.shape[0]):\n                        for q in range(w.shape[1]):\n"
        f"{''.join(map(line.format, range(count)))}"
        "                    b[i, j] += s * c[k, m]\n"
    )
    planes = tuple(np.ones(shape) for shape in ((8, 8), (8, 8), (3, 3), (3, 3)))
    return HELPERS + _function(["a", "b", "c", "w"], body), planes


PROGRAMS: dict[str, Callable[[int], Program]] = {
    program.__name__: program
    for program in (
        straight_line, many_loops, temporaries, arguments, statements_on_arguments, chained_arguments, searches,
        stencils, slices, stencils_of_planes, branches, inlined_helpers,
    )
}  # fmt: skip
