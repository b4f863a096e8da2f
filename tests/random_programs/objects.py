"""Random programs of objects: dataclasses, named tuples and enumerations as arguments, closures, generators, `match`.

def f(p, q, r, a, n, *, m=2):
    for i in range(n):
        p.x += q.scaled(a[i])
        k, y = turned(y, k)
    return R(k, y), p.total
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.random_programs.check import Verdict, functions
from tests.random_programs.listed import compared
from tests.random_programs.programs import Program


class Mode(Enum):
    UP = 1
    DOWN = 2


class R(NamedTuple):
    k: int
    y: float


@dataclass(eq=False)
class P:
    """k, m: integers. x: a float. v: an array. mode: of an enumeration. r: a named tuple."""

    k: int
    m: int
    x: float
    v: np.ndarray
    mode: Mode
    r: R

    @property
    def total(self) -> float:
        return self.x + self.k

    def scaled(self, by: float, plus: float = 1.0) -> float:
        return self.x * by + plus

    def step(self, by: int) -> int:
        self.k += by
        self.v[by % len(self.v)] += self.x
        return self.k


def _made(k: int, mode: Mode) -> P:
    return P(k, 2 - k, 0.5 * k, np.arange(4.0) + k, mode, R(k + 1, 1.5))


def calls() -> list[tuple[Any, ...]]:
    one, other = _made(1, Mode.UP), _made(2, Mode.DOWN)
    apart = [
        (one, other, R(3, 0.25), (np.arange(5.0), np.arange(3)), 3),
        (other, one, R(0, 2.0), (np.ones(2), np.ones(4, int)), 0),
    ]
    return [*apart, (one, one, one.r, (one.v, np.arange(4)), 4), *apart[:1]]


class _Maker:
    """Names of the function: p, q, of objects; r, of a named tuple; a, b, of arrays; n, i, k, of integers; y, of a
    float; z, of a pair; e, of a mode."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        makers = [self.integer, self.float, lambda: "(y, (k, y))", lambda: "w", lambda: "e is Mode.UP"]
        self.results = self.rng.sample(makers, self.rng.randint(1, 3)) + [self.named] * (
            self.rng.random() < 0.1
        )

    def index(self, of: str) -> str:
        return self.rng.choice(["0", "-1", "i", f"i % len({of})", f"k % len({of})", "p.k"])

    def integer(self, depth: int = 0) -> str:
        inner = self.integer(depth + 1) if depth < 2 else "n"
        forms = [
            "k", "k", "n", "i", "p.k", "q.m", "r.k", "p.r.k", "r[0]", "z[0]", "int(b[0])",
            f"({inner} + {inner})", f"({inner} - p.k)", "(1 if p.mode is Mode.UP else 2)", "len(p.v)",
            f"inner({inner})", "w[1].k", f"({inner} * 2 % 7)", f"sum(counted({inner} % 5))", "m",
            f"max(k, {inner})",
        ]  # fmt: skip
        return self.rng.choice(forms)

    def float(self, depth: int = 0) -> str:
        of = self.rng.choice(["a", "p.v", "q.v"])
        inner = self.float(depth + 1) if depth < 2 else "y"
        forms = [
            "y", "y", "p.x", "q.x", "r.y", "p.r.y", f"float({of}[{self.index(of)}])", f"({inner} + {inner})",
            "p.total", f"({inner} * 0.5)", f"q.scaled({inner})", f"p.scaled({inner}, plus={inner})", "z[1]",
            "r[1]", "w[0]", f"float(sum(t * 0.5 for t in counted({self.integer(2)} % 4)))",
        ]  # fmt: skip
        return self.rng.choice(forms)

    def condition(self) -> str:
        forms = [
            f"{self.integer()} > {self.integer()}", f"{self.float()} < {self.float()}", "e is Mode.UP",
            "p.mode == q.mode", "q.mode in (Mode.UP, Mode.DOWN)", "p.mode != e", "z == (1, 2.0)", "r == q.r",
        ]  # fmt: skip
        return self.rng.choice(forms if self.rng.random() < 0.95 else ["p is q", "p.v is q.v"])

    def statement(self) -> str:
        of = self.rng.choice(["a", "p.v", "q.v"])
        forms = [
            f"k = {self.integer()} % 11", f"k += {self.integer()} % 5", f"y = {self.float()} * 0.25",
            "p.x += 1.0", f"{self.rng.choice(['p', 'q'])}.x = {self.float()} * 0.25",
            f"{self.rng.choice(['p', 'q'])}.k = {self.integer()} % 13",
            f"{of}[{self.index(of)}] = {self.float()} * 0.5",
            f"z = ({self.integer()} % 9, {self.float()} * 0.5)", "k, y = turned(k, y)", "z = R(k, y)",
            "z = r", "e = q.mode", f"k = q.step({self.integer()} % 3) % 9", "q.m, p.m = p.m, q.m",
            "w = (y, R(k, y))", "s = p\ns.x = 0.5", "r = R(z[0], z[1])", "r = r._replace(k=k)",
            f"for t in counted({self.integer()} % 4):\n    k += t", "p.m -= 1", "y += float(sum(p.v))",
            "for t, u in pairs(2):\n    y += t * u\n    k = t",
            "match p.mode:\n    case Mode.UP:\n        k += 1\n    case _:\n        y = 0.0",
            "match k:\n    case 0 | 1:\n        k = 5\n    case 2:\n        y = 1.5\n    case _:\n        k -= 1",
        ]  # fmt: skip
        rare = [
            "match r:\n    case R(k=1):\n        k = 3\n    case R(k=t, y=u):\n        y += u", "bump(1)",
            "match z:\n    case (0, u):\n        y = u\n    case (t, _):\n        k = t",
        ]  # fmt: skip
        return self.rng.choice(forms if self.rng.random() < 0.97 else rare)

    def block(self, indent: str, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.random() if depth < 3 else 1.0
            if kind < 0.15:
                lines += [
                    f"{indent}for i in range({self.rng.choice(['n', '3', 'len(p.v)'])}):",
                    *self.block(indent + "    ", depth + 1),
                ]
            elif kind < 0.35:
                lines += [f"{indent}if {self.condition()}:", *self.block(indent + "    ", depth + 1)]
            elif kind < 0.4:
                lines += [f"{indent}if {self.condition()}:", f"{indent}    {self.returned()}"]
            else:
                lines += [indent + line for line in self.statement().split("\n")]
        return lines

    def named(self) -> str:
        return self.rng.choice(["R(k, y)", "r", "p.r"])

    def returned(self) -> str:
        """A return of values that have the same types in all returns."""
        return f"return {', '.join(value() for value in self.results)}"

    def text(self) -> str:
        body = self.block("    ", 1)
        body += ["    for i in range(n):", *self.block("        ", 2), f"    {self.returned()}"]
        used = "\n".join(body)
        nested = {
            "inner(": ["    def inner(by, more=1):",
                       f"        return by + {self.rng.choice(['more', 'k', 'p.k', 'n'])}"],
            "bump(": ["    def bump(by):", "        nonlocal k", "        k += by", "        p.x += 0.5"],
            "counted(": ["    def counted(upto):", "        for g in range(upto):",
                         f"            yield {self.rng.choice(['g', 'g * g', 'g + n', 'g + m'])}"],
            "pairs(": ["    def pairs(upto):", "        for g in range(upto):", "            yield g, 0.5 * g"],
            "turned(": ["    def turned(one, other):", "        return int(other) % 7, one * 0.5"],
        }  # fmt: skip
        lines = [
            "def f(p, q, r, ab, n, *, m=2):",
            "    a, b = ab",
            "    i, k, y, z, e = 0, 1, 0.5, (1, 2.0), p.mode",
            "    w = (0.5, r)",
        ]
        for name, definition in nested.items():
            lines += definition if name in used else []
        return "\n".join([*lines, *body]) + "\n"


def program(seed: int) -> Program:
    """The program of a seed: a function of two objects, a named tuple, a pair of arrays and an integer."""
    return Program(seed, _Maker(seed).text(), (), False, False, False)


def check(made: Program, folder: Path) -> Verdict:
    """What the program comes to, beside plain Python."""
    path = folder / f"objects{made.seed}.py"
    fn = functions(made, path, range)
    fn.__globals__.update(Mode=Mode, R=R, P=P)
    return compared(made, fn, calls(), path)
