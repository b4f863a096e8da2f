"""Random loops over elements beside the current one: periodic, clamped, negative, behind the end.

for i in range(1, n):
    o[i] += a[(i + 2) % n] * b[i - 3]
    if b[max(i - 1, 0)] > 0.5:
        s -= a[int(b[i] * 3)]
"""

from __future__ import annotations

import importlib.util
import random
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import appyc
from tests.e2e.harness import Mismatch, call, compare, settings
from tests.random_programs.check import ROUNDED, Verdict, processor_time

SIZES = (4, 0, 1, 2, 3, 9, 40)


@dataclass(frozen=True)
class Neighbours:
    """text: of a function `f(a, b, o, k)` of three arrays of one shape, of one or two axes, and an integer."""

    seed: int
    text: str
    ndim: int


class _Maker:
    def __init__(self, seed: int, *, indirect: bool) -> None:
        self.rng = random.Random(seed)
        self.ndim = self.rng.choice([1, 2])
        self.indirect = indirect
        self.offsets: list[str] = []
        self.names: dict[str, list[str]] = {"i": [], "j": []}
        self.lines = ["def f(a, b, o, k):", "    n, m = a.shape[0], a.shape[-1]", "    s = 0.0"]
        self.indent = "    "

    def emit(self, line: str) -> None:
        self.lines.append(self.indent + line)

    def index(self, var: str, length: str) -> str:
        """A subscript near a loop variable, in range or not."""
        by, sign = self.rng.choice([1, 1, 1, 2, 3]), self.rng.choice("+-")
        forms = [
            *[f"({var} {sign} {by}) % {length}"] * 8,
            *[f"{var} - {by}"] * 4,
            *[f"({var} + {offset}) % {length}" for offset in self.offsets],
            f"({var} * {by}) % {length}",
            f"({var} + k) % {length}",
            f"-{var} - 1",
            f"max({var} - {by}, 0)",
            f"min({var} + {by}, {length} - 1)",
            f"({var} + {by} if {var} + {by} < {length} else 0)",
            f"int(b[{'0, ' * (self.ndim - 1)}0] * {by}) % {length}",
            *[var] * 3,
            *self.names[var] * 3,
        ]
        return self.rng.choice(forms)

    def element(self, array: str) -> str:
        axes = (("i", "n"), ("j", "m"))[: self.ndim]
        return f"{array}[{', '.join(self.index(*axis) for axis in axes)}]"

    def loop(self, var: str, length: str) -> None:
        plain = f"range({length})"
        ranges = [plain] * 5 + [
            f"range(1, {length})",
            f"range({length} - 1)",
            f"range(1, {length} - 1)",
            f"range({length} - 1, -1, -1)",
            f"range(0, {length}, 2)",
            "range(k)",
        ]
        if self.rng.random() < 0.3:
            self.emit("# pragma auto")
        self.emit(f"for {var} in {self.rng.choice(ranges)}:")
        self.indent += "    "
        if self.rng.random() < 0.3:
            self.emit(f"beside_{var} = {self.index(var, length)}")
            self.names[var].append(f"beside_{var}")

    def text(self) -> str:
        chance = self.rng.random
        if chance() < 0.15:
            self.emit("for t in range(2):")
            self.indent += "    "
        self.loop("i", "n")
        if self.ndim == 2:
            self.loop("j", "m")
        if chance() < 0.3:
            steps = self.rng.choice(["range(-1, 2)", "(-1, 0, 1)", "(-1, 1)", "range(2)", "(0, 2)"])
            self.emit(f"for d in {steps}:")
            self.indent += "    "
            self.offsets.append("d")
        if chance() < 0.2:
            self.emit(self.rng.choice(["if i > 0:", "if i < n - 1 and i > k:"]))
            self.indent += "    "
        for _ in range(self.rng.randint(1, 3)):
            self.statement()
        self.lines.append("    return s")
        return "\n".join(self.lines) + "\n"

    def indirect_element(self) -> str:
        """An element of `o` at indices that elements of `b` say, of which few are out of range."""
        by, end = self.rng.choice(["", "", " - {}", " - 1", " + 1"]), self.rng.choice(["i", "n - 1 - i", "0"])
        at = f"b[{end}, j]" if self.ndim == 2 else f"b[{end}]"
        indices = [f"int({at} * {length}){by.format(length)}" for length in ("n", "m")[: self.ndim]]
        if self.ndim == 2 and self.rng.random() < 0.7:
            indices[self.rng.randrange(2)] = self.rng.choice(["i % n", "0"])
        return f"o[{', '.join(indices)}]"

    def statement(self) -> None:
        parts = [self.element(self.rng.choice("ab")) for _ in range(self.rng.randint(1, 3))]
        value = f" {self.rng.choice('+-*')} ".join(parts)
        target = self.element("o") if self.rng.random() < 0.4 else "o[i, j]" if self.ndim == 2 else "o[i]"
        if self.indirect and self.rng.random() < 0.5:
            target = self.indirect_element()
        match self.rng.choice("ooossuc"):
            case "o":
                self.emit(f"{target} {self.rng.choice(['=', '+='])} {value}")
            case "s":
                self.emit(f"s += {value}")
            case "u":
                self.emit(f"{self.element('a')} = ({value}) * 0.5")
            case _:
                self.emit(f"if {self.element('b')} > 0.5:")
                self.emit(f"    s -= {value}")


def program(seed: int, *, indirect: bool = False) -> Neighbours:
    """The program of a seed. indirect: it may store at indices that are elements of arrays."""
    maker = _Maker(seed, indirect=indirect)
    return Neighbours(seed, maker.text(), maker.ndim)


def check(made: Neighbours, folder: Path, target: str = "cpu") -> Verdict:
    """What the program comes to for arrays of some lengths, beside plain Python."""
    path = folder / f"neighbours{made.seed}.py"
    path.write_text(made.text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rng = np.random.default_rng(made.seed)
    began, calls = processor_time(), 0
    try:
        with settings(target), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = appyc.jit(module.f, cache=False, target=target)
            for size in SIZES:
                shape = (size,) if made.ndim == 1 else (size, int(rng.choice([0, 1, 2, 3, 5, 8])))
                given = (*(rng.random(shape).round(2) for _ in range(3)), int(rng.integers(0, size + 2)))
                compare(call(module.f, given), call(compiled, given), target, joined=True, tolerance=ROUNDED)
                calls += 1
    except Mismatch as fault:
        return Verdict(made.seed, "differs", f"{fault}\n{made.text}")
    except Exception:  # noqa: BLE001  (whatever else is raised is a fault of the compiler)
        return Verdict(made.seed, "internal", traceback.format_exc(limit=-4) + made.text)
    finally:
        path.unlink(missing_ok=True)
    return Verdict(made.seed, "same", "", processor_time() - began, calls)
