"""How the loops in this folder say what they are, and what they are to be run on.

A loop is a function whose parameters say by their names what they hold, so that one line
makes the arguments of any of them, at any size:

    a b c d e          vectors of n numbers            flat     a square of m * m numbers in one vector
    aa bb cc           squares of m by m, m * m <= n   base     two n numbers; a view of it is given as well
    perm               a permutation of range(n)       n m      the sizes
    some               indices, many of them twice     k        a shift
    key hist           numbers below 64, 64 counters   alpha    a number
    out                n integers                      last     room for one number
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isqrt
from typing import Any, TypeAlias

import numpy as np

Function: TypeAlias = Callable[..., Any]

ORDER_FREE = ("independent", "reduction")
"""Truths of loops whose iterations may run in any order as they stand."""

AFTER_CHANGE = ("after change", "scan", "search", "packing")
"""Truths of loops that may run in parallel once they are written differently."""

CALL_DECIDES = ("condition", "data")
"""Truths of loops for which the arguments of the call decide."""

TRUTHS = (*ORDER_FREE, *AFTER_CHANGE, *CALL_DECIDES, "carried")


@dataclass(frozen=True)
class Loop:
    """One entry. family: the class of loops that it stands for.

    truth: may it run in parallel? `needs`: what has to be done first, where something has.
    pragma: where the loop carries one, "right" if the loop can run as asked, in whatever way, and
    "wrong" if it has to be refused; else "". special: arguments that
    are not what the name says, as a maker by size.
    """

    fn: Function
    family: str
    truth: str
    needs: str = ""
    pragma: str = ""
    special: dict[str, Callable[[int], Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.fn.__name__

    @property
    def may_be_parallel(self) -> bool:
        """Whether some way is known to run it on more than one lane or thread, whatever the arguments."""
        return self.truth in ORDER_FREE + AFTER_CHANGE

    def arguments(self, n: int, seed: int = 0) -> tuple[Any, ...]:
        """New arguments for vectors of n elements."""
        numbers = np.random.default_rng([seed, n])
        names = inspect.signature(self.fn).parameters
        return tuple(self.special[p](n) if p in self.special else _MAKERS[p](n, numbers) for p in names)


@dataclass
class Corpus:
    """The loops of one file. `@LOOPS.add(...)` above a function adds it."""

    loops: list[Loop] = field(default_factory=list)

    def add(
        self, family: str, truth: str, needs: str = "", *, pragma: str = "", **special: Callable[[int], Any]
    ) -> Callable[[Function], Function]:
        assert truth in TRUTHS, truth

        def enter(fn: Function) -> Function:
            self.loops.append(Loop(fn, family, truth, needs, pragma, special))
            return fn

        return enter


def numbers(shape: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Both signs, none of them near zero, products of many of them harmless."""
    size = rng.uniform(0.05, 1.0, shape)
    signs = np.where(rng.uniform(0, 1, shape) < 0.4, -1, 1)
    return (size * signs).astype(np.float32)


def _vector(n: int, rng: np.random.Generator) -> np.ndarray:
    return numbers(n, rng)


def _square(n: int, rng: np.random.Generator) -> np.ndarray:
    return numbers((isqrt(n), isqrt(n)), rng)


_MAKERS: dict[str, Callable[[int, np.random.Generator], Any]] = {
    **dict.fromkeys(("a", "b", "c", "d", "e"), _vector),
    **dict.fromkeys(("aa", "bb", "cc"), _square),
    "flat": lambda n, rng: numbers(isqrt(n) ** 2, rng),
    "perm": lambda n, rng: rng.permutation(n),
    "some": lambda n, rng: rng.integers(0, max(n // 2, 1), n),
    "key": lambda n, rng: rng.integers(0, 64, n),
    "hist": lambda n, rng: np.zeros(64, np.float32),
    "out": lambda n, rng: np.zeros(n, np.int64),
    "last": lambda n, rng: np.zeros(1, np.float32),
    "n": lambda n, rng: n,
    "m": lambda n, rng: isqrt(n),
    "k": lambda n, rng: 1,
    "alpha": lambda n, rng: np.float32(0.75),
}
