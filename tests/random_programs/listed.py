"""Random programs of lists of numbers, and of texts: what they give and leave behind, with all types.

for i in range(len(x) - 1):
    if x[i] > y[-1]:
        x[i], x[i + 1] = x[i + 1], x[i]
"""

from __future__ import annotations

import copy
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import appyc
from tests.random_programs.check import Verdict, functions, processor_time
from tests.random_programs.programs import Program

KINDS: dict[str, Callable[[random.Random], Any]] = {
    "ints": lambda rng: rng.randint(-9, 9),
    "large": lambda rng: rng.choice([2**62, -(2**63), 2**63 - 1, 2**64, 3]),
    "floats": lambda rng: rng.choice([-0.0, 0.5, 1.0, -2.25, 4.0, float("inf")]),
    "bools": lambda rng: rng.random() < 0.5,
    "mixed": lambda rng: rng.choice([1, 2.0, True]),
    "numpy": lambda rng: np.float64(rng.randint(0, 3)),
}
SIZES = (3, 0, 1, 2, 5, 70)


@dataclass(frozen=True)
class Listed:
    """text: of a function `f(x, y, m, t, k)` of two lists, a list of lists, a text, and an integer."""

    seed: int
    text: str


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines = ["def f(x, y, m, t, k):", f"    s = y[0] {self.rng.choice(['+ y[0]', '* 1.0'])}"]

    def index(self, length: str) -> str:
        return self.rng.choice(["i", "i", "i", "i", "i - 1", "-1", "0", f"i % {length}", "k", "-i", "i + 1"])

    def item(self) -> str:
        name = self.rng.choice("xxxyym")
        if name == "m":
            return f"m[{self.index('len(m)')}][{self.index('len(m[0])')}]"
        return f"{name}[{self.index(f'len({name})')}]"

    def text_test(self) -> str:
        one, other = (f"t[{self.index('len(t)')}]" for _ in range(2))
        forms = [f"{one} == {other}", f"{one} < 'b'", f"{one} in 'aé'", "'a' in t", f"ord({one}) > 97", "t", "not t",
                 f"{one} != {other}", "sum([1 for c in t if c == 'a']) > 1", "t == 'ab'"]  # fmt: skip
        return self.rng.choice(forms if self.rng.random() < 0.8 else forms[:2])

    def value(self) -> str:
        forms = [
            *[self.item()] * 6, "s", "k", "1", "len(x)", f"{self.item()} + {self.item()}", f"{self.item()} * 2",
            f"max({self.item()}, {self.item()})", "sum(x)", "min(y)", "sum(m[-1][:1])", "sum(m[0])", f"-{self.item()}",
            f"abs({self.item()})", "(1 if 2 in x else 0)", f"{self.item()} // 2", "len(m[0])", "y[:2][0]",
        ]  # fmt: skip
        return self.rng.choice(forms)

    def statements(self) -> list[str]:
        one, other = self.item(), self.item()
        forms = [
            *[f"{one} = {self.value()}"] * 3, *[f"{one} = {other}"] * 3, *[f"{one}, {other} = {other}, {one}"] * 2,
            f"{one} += {self.value()}", f"s += {self.value()}", f"s = s + {self.item()}",
            "z = y\n    z[0] = z[-1]", "z = x[:]\n    z[0] = z[-1]\n    s += z[0]", "row = m[0]\n    row[0] = row[-1]",
            "for v in x:\n        s += v", "for v in m[0]:\n        s = s + v",
            "for p, q in zip(x, reversed(y)):\n        s += p * q", "z = sorted(x)\n    s += z[0]",
        ]  # fmt: skip
        left_to_python = [
            "x = y",
            "x.append(1)",
            "m[0] = m[-1]",
            "y[0:1] = [s]",
            "s = x",
            "z = y if k else x",
        ]
        return self.rng.choice(forms if self.rng.random() < 0.95 else left_to_python).split("\n")

    def text(self) -> str:
        for _ in range(self.rng.randint(1, 3)):
            indent = "    "
            if self.rng.random() < 0.7:
                bound = self.rng.choice(["len(x)", "len(y)", "len(m)", "k", "len(x) - 1"])
                self.lines.append(f"{indent}for i in range({bound}):")
                indent += "    "
            else:
                self.lines.append(f"{indent}i = k")
            if self.rng.random() < 0.4:
                number = f"{self.item()} {self.rng.choice(['>', '==', '<='])} {self.value()}"
                self.lines.append(f"{indent}if {self.rng.choice([number, self.text_test()])}:")
                indent += "    "
            for _ in range(self.rng.randint(1, 2)):
                self.lines += [indent + line.removeprefix("    ") for line in self.statements()]
        self.lines.append(f"    return {self.rng.choice(['s', 's, x', 'y', 'x[1:]', 'm', 's, x[:], y'])}")
        return "\n".join(self.lines) + "\n"


def program(seed: int) -> Listed:
    """The program of a seed."""
    return Listed(seed, _Maker(seed).text())


def check(made: Listed, folder: Path) -> Verdict:
    """What the program comes to for lists of some kinds and lengths, beside plain Python."""
    path, rng = folder / f"listed{made.seed}.py", random.Random(made.seed)
    sys.set_int_max_str_digits(0)
    fn = functions(Program(made.seed, made.text, (), False, False, False), path, range)
    kinds = [kind for kind in KINDS if kind != "mixed" or "* 1.0" in made.text]  # else of joined types
    calls = (_arguments(KINDS[kind], size, rng) for kind in rng.sample(kinds, 3) for size in SIZES)
    return compared(made, fn, calls, path)


def compared(
    made: Listed | Program, fn: Callable[..., Any], calls: Iterable[tuple[Any, ...]], path: Path
) -> Verdict:
    """What a program, whose text is put at the path, comes to in some calls, beside plain Python."""
    began, same = processor_time(), 0
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            warnings.simplefilter("error", appyc.InternalWarning)
            compiled = appyc.jit(fn, cache=False, target="cpu")
            for given in calls:
                one, other = _outcome(fn, given), _outcome(compiled, given)
                if one != other:
                    return Verdict(made.seed, "differs", f"{made.text}{given}\n{one}\n{other}")
                same += 1
    except appyc.InternalWarning as error:
        return Verdict(made.seed, "internal", f"{made.text}{error}")
    finally:
        path.unlink(missing_ok=True)
    left = [str(w.message) for w in told if issubclass(w.category, appyc.FallbackWarning)]
    kind = "in python" if left else "same"
    return Verdict(made.seed, kind, "".join(left[:1]), processor_time() - began, same)


def _arguments(number: Callable[[random.Random], Any], size: int, rng: random.Random) -> tuple[Any, ...]:
    x = [number(rng) for _ in range(size)]
    y = x if rng.random() < 0.1 else [number(rng) for _ in range(max(1, size - rng.randint(0, 1)))]
    width = rng.randint(1, 3)
    m = [[number(rng) for _ in range(width)] for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.1:
        m.append(rng.choice([m[0], y, [*m[0], 1]]))
    t = "".join(rng.choice("abé€") for _ in range(rng.choice([size, 0, 2])))
    return x, y, m, t, rng.randint(0, 3)


def _outcome(fn: Callable[..., Any], given: tuple[Any, ...]) -> str:
    """What a call gives, whose arguments those are that it returns, and what the arguments are then."""
    own = copy.deepcopy(given)
    try:
        out = fn(*own)
    except appyc.InternalWarning:
        raise
    except Exception as error:  # noqa: BLE001  (whatever Python raises, compiled code must raise too)
        return f"{type(error).__name__} {own!r}"
    parts = out if isinstance(out, tuple) else (out,)
    same = [isinstance(part, list) and any(part is argument for argument in own) for part in parts]
    returned = re.sub(r"-0\.0(?!\d)", "0.0", repr(out))  # a sum of zeros begins with 0.0 in lanes
    return f"{returned} {same} {own!r}"
