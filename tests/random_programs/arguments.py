"""Arguments of random programs: for one program, calls of the same types with other lengths, values and overlap."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np

from tests.random_programs.kinds import PYTHON, kind
from tests.random_programs.programs import Parameter, Program

CASES = ("small", "wide", "short", "overlapping")


def arguments(program: Program, case: str) -> tuple[Any, ...]:
    """What `f` is called with in one of the cases."""
    rng = random.Random(f"{program.seed} {case}")
    n = {"small": 6, "wide": rng.choice([2, 5, 9, 17]), "short": rng.choice([0, 1, 1, 2]), "overlapping": 7}[
        case
    ]
    w = rng.choice([1, 3, 4, 5]) if case != "small" else 4
    made: dict[str, Any] = {}
    for p in program.parameters:
        if p.axes:
            made[p.name] = _array(p, n, w, case, rng)
        elif p.count:
            made[p.name] = tuple(PYTHON[p.dtype](rng.choice([0, 1, 2, 3, 5, -1])) for _ in range(p.count))
        elif p.dtype in PYTHON:
            given = (
                p.value
                if case == "small" or p.dtype in ("bool", "complex")
                else rng.choice([p.value, 2, 3, 0])
            )
            made[p.name] = PYTHON[p.dtype](given)
        else:
            made[p.name] = np.dtype(p.dtype).type(
                p.value if case == "small" else rng.choice([0, 2, 100, p.value])
            )
    if case == "overlapping":
        _overlap(program, made, rng)
    return tuple(made[p.name] for p in program.parameters)


def _overlap(program: Program, made: dict[str, Any], rng: random.Random) -> None:
    """Two vectors of one type get parts of one memory, or the second is the first."""
    vectors = [p for p in program.parameters if p.axes == 1]
    for one, two in itertools.pairwise(vectors):
        if (one.dtype, one.layout) != (two.dtype, two.layout):
            continue  # NumPy's own copies between steps of one direction and different lengths are wrong
        step = {"C": 1, "half": 2, "back": -1}
        size = 2 * len(made[one.name]) + 8
        memory = _values(one, size, 3, "small", rng)
        for p, start in ((one, 0), (two, rng.choice([0, 1, 2, 3]))):
            view = memory[start : start + len(made[p.name]) * abs(step[p.layout])]
            made[p.name] = view[:: step[p.layout]][: len(made[p.name])]
        return


def _array(p: Parameter, n: int, w: int, case: str, rng: random.Random) -> np.ndarray:
    w = 1 if p.layout == "thin" and case == "wide" else w
    rows = 2 * n if p.layout == "half" else n
    size = rows if p.axes == 1 else rows * w
    memory = _values(p, size, n, case, rng)
    if p.axes == 2:
        memory = memory.reshape((rows, w)) if p.layout != "F" else memory.reshape((w, rows)).T
    return {"half": memory[::2], "back": memory[::-1]}.get(p.layout, memory)


def _values(p: Parameter, size: int, n: int, case: str, rng: random.Random) -> np.ndarray:
    kinds = kind(p.dtype)
    if p.name == "ix":
        known = list(range(max(n, 1))) + ([-1] if case == "wide" and p.dtype.startswith("int") else [])
        return np.array([rng.choice(known) for _ in range(size)], p.dtype)
    if kinds == "b":
        return np.array([rng.random() < 0.5 for _ in range(size)], bool)
    if kinds == "i":
        limits = np.iinfo(p.dtype)
        extreme = [
            int(limits.max),
            int(limits.min),
            int(limits.max) - 1,
            int(limits.max) // 2,
            int(limits.max) // 3,
        ]
        few = [0, 1, 2, 3, 4, 5, 6, 7, 1, 2, *([-1, -2, -5] if limits.min < 0 else [])]
        return np.array(
            [rng.choice(extreme if case == "wide" and rng.random() < 0.25 else few) for _ in range(size)],
            p.dtype,
        )
    special = [np.nan, np.inf, -np.inf, -0.0, 1e10]
    numbers = [
        rng.choice(special) if case == "wide" and rng.random() < 0.1 else rng.randint(-20, 40) / 4
        for _ in range(size)
    ]
    if kinds == "c":
        return np.array([complex(x if np.isfinite(x) else 1.0, rng.randint(-4, 4)) for x in numbers], p.dtype)
    return np.array(numbers, p.dtype)
