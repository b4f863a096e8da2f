"""Random programs of lists that a function makes for itself, of ints and floats.

for i in range(n):
    a[i % 2] = (p - b[-1])
    b.append(max(a[0], 2))
    a[:2] = b[-2:]
"""

from __future__ import annotations

import random
from pathlib import Path

from tests.random_programs.check import Verdict, functions
from tests.random_programs.listed import compared
from tests.random_programs.programs import Program

CALLS = ((0, 1, 0.5), (3, 2, 1.5), (5, -1, -0.5))
_LITERALS = ("0", "1", "2", "-3", "0.5", "1.5", "2.0", "n", "u", "v", "i", "v * 0.5")
_STARTS = ("[{}, {}, {}, 0.5]", "[{}] * 4 + [0, 0.5]", "[0.5, {}] + [{}] * 2")
_OPERATORS = ("+", "-", "*", "+", "-", "/ 4", "// 3", "% 5")


class _Maker:
    """Every list has ints and floats from its first statement on: so no item has a joined type."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def text(self) -> str:
        lines = ["def f(n, u, v):", "    i = 1"]
        for name in "ab":
            items = [self.rng.choice(_LITERALS) for _ in range(3)]
            lines.append(f"    {name} = {self.rng.choice(_STARTS).format(*items)}")
        lines += [
            "    a[0] = a[0] * 1",
            "    b[0] = b[0] * 1",
            "    p = a[0]",
            "    q = b[-1]",
            *self.statement("    "),
            "    for i in range(n):",
        ]
        for _ in range(self.rng.randint(1, 4)):
            lines += self.statement("        ")
        return "\n".join([*lines, f"    return {self.rng.choice(['a, b, p, q', 'a, p', 'p', 'b'])}"]) + "\n"

    def item(self) -> str:
        return f"{self.rng.choice('ab')}[{self.rng.choice(['0', '-1', '1', 'i % 2', 'i'])}]"

    def number(self, depth: int = 0) -> str:
        kind = self.rng.random() if depth < 3 else 0.0
        if kind < 0.25:
            return self.rng.choice(_LITERALS)
        if kind < 0.55:
            return self.rng.choice([self.item(), self.item(), "p", "q"])
        if kind < 0.65:
            return f"{self.rng.choice(['-', 'abs'])}({self.number(depth + 1)})"
        if kind < 0.75:
            return f"{self.rng.choice(['min', 'max'])}({self.item()}, {self.number(depth + 1)})"
        operator = self.rng.choice(_OPERATORS)
        right = "" if " " in operator else f" {self.number(depth + 1)}"
        return f"({self.number(depth + 1)} {operator}{right})"

    def condition(self) -> str:
        return f"{self.number(2)} {self.rng.choice(['<', '>', '==', '<='])} {self.number(2)}"

    def statement(self, indent: str) -> list[str]:
        name, other = self.rng.sample("ab", 2)
        forms = [
            *[f"{self.item()} = {self.number()}"] * 4, *[f"{name}.append({self.number()})"] * 2,
            f"{self.item()} += {self.number()}", *[f"{self.rng.choice('pq')} = {self.item()} + {self.number()}"] * 2,
            f"{self.rng.choice('pq')} = {self.rng.choice(['max', 'min', 'sum'])}({name})",
            f"for z in {name}:\n    p = {self.rng.choice(['p + z', 'max(p, z)', 'z - p', 'z'])}",
            f"{name} = {other}[{self.rng.choice(['', '1', '-1', '0'])}:]", f"{name}.insert(i, {self.number()})",
            f"p = {name}.pop()", f"{name}.reverse()", f"{name}.sort()", f"{name}[:2] = {other}[-2:]",
            f"{name}.extend({other})", f"{name} = [z {self.rng.choice(['* 2', '+ 0.5', '- 1'])} for z in {other}]",
            f"if {self.number(2)} in {name}:\n    q = q + 1", "p, q = q, p",
        ]  # fmt: skip
        lines = [indent + line for line in self.rng.choice(forms).split("\n")]
        if self.rng.random() < 0.2:
            return [f"{indent}if {self.condition()}:", *(f"    {line}" for line in lines)]
        return lines


def program(seed: int) -> Program:
    """The program of a seed: a function `f(n, u, v)` of two integers and a float."""
    return Program(seed, _Maker(seed).text(), (), False, False, False)


def check(made: Program, folder: Path) -> Verdict:
    """What the program comes to, beside plain Python."""
    path = folder / f"mixed{made.seed}.py"
    return compared(made, functions(made, path, range), CALLS, path)
