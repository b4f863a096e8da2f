"""How the programs in this folder say what they are to be run on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

ALL = ("cpu", "threads", "interpret")
C_ONLY = ("cpu", "threads")


@dataclass(frozen=True)
class Run:
    """One call that every target must answer as Python does."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    targets: tuple[str, ...]
    joined: bool
    strict: bool


@dataclass
class Programs:
    """The programs of one file. `@PROGRAMS.on(...)` above a function adds a call of it.

    joined: the type of a result depends on the path that Python takes; compiled code has one
    type for all paths, in which both meet. strict: every statement must be compiled.
    """

    strict: bool = False
    runs: list[Run] = field(default_factory=list)

    def on(self, *args: Any, targets: tuple[str, ...] = ALL, joined: bool = False) -> Callable[[F], F]:
        def add(fn: F) -> F:
            self.runs.append(Run(fn, args, targets, joined, self.strict))
            return fn

        return add


def floats(*shape: int, dtype: Any = np.float64, seed: int = 0) -> np.ndarray:
    """Numbers between -2 and 2."""
    out: np.ndarray = np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)
    return out


def complexes(*shape: int, dtype: Any = np.complex128, seed: int = 0) -> np.ndarray:
    out: np.ndarray = (floats(*shape, seed=seed) + 1j * floats(*shape, seed=seed + 1)).astype(dtype)
    return out


def ints(*shape: int, lo: int = -9, hi: int = 10, dtype: Any = np.int64, seed: int = 0) -> np.ndarray:
    """Integers in [lo, hi)."""
    out: np.ndarray = np.random.default_rng(seed).integers(lo, hi, shape).astype(dtype)
    return out


def bools(*shape: int, seed: int = 0) -> np.ndarray:
    return ints(*shape, lo=0, hi=2, seed=seed).astype(bool)
