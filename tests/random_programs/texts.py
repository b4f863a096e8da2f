"""Random programs of texts: their characters, and lists, sets and dicts of these.

for i, c in enumerate(s[1:]):
    if c in t or c == w[-1]:
        w += c
        l.append(s[i])
return w, sorted(l), d
"""

from __future__ import annotations

import random
import re
from pathlib import Path

from tests.random_programs.check import Verdict, functions
from tests.random_programs.listed import compared
from tests.random_programs.programs import Program

CALLS = (
    ("abca", "ab", 1), ("", "b", 0), ("a", "", 2), ("1B2b aé", "b2", 3), ("ab€ab\tXy", "ab", -1), ("bb", "bb", 5),
)  # fmt: skip
_BOUNDS = ("", "", "1", "-1", "2", "n", "-n", "i", "i + 1", "0", "-2", "len(t)")
_STEPS = ("", "", "", ":-1", ":2", ":-2", ":n")
_BEGUN = {
    "c": ('""', "s[0]", "'a'", "s[-1]", "t[0] if t else 'x'"),
    "w": ('""', "'a'", "'xy'", "s[1:]", "t[::-1]", "s[:n]", "''.join(l)"),
    "l": ("[]", "list(s)", "sorted(t)", "['a', s[0]]", "list(t[1:])", "list(reversed(s))"),
    "e": ("set()", "set(s)", "{'a'}", "set(t)"),
    "d": ("{}", "{'a': 1}"),
}
"""What names of a character, a text, a list, a set and a dict begin with."""


class _Maker:
    """The names of the function: s, t, of texts; n, i, k, of integers; those of _BEGUN; x, of a loop's character."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.own = [name for name in "clwed" if self.rng.random() < 0.6]
        self.loop = 0
        makers = [
            self.number,
            self.text,
            self.list,
            self.character,
            self.condition,
            lambda: ", ".join(["k", *self.own]),
        ]
        self.results = self.rng.sample(makers, self.rng.randint(1, 3))

    def has(self, name: str, *forms: str) -> list[str]:
        return [*forms] if name in self.own else []

    def part(self, of: str) -> str:
        pick = self.rng.choice
        return f"{of}[{pick(_BOUNDS)}:{pick(_BOUNDS)}{pick(_STEPS)}]"

    def index(self, of: str) -> str:
        return self.rng.choice(
            ["0", "-1", "i", "i", f"i % len({of})", "n", "i + 1", "-i", f"len({of}) - 1 - i"]
        )

    def given(self) -> str:
        plain = self.rng.choice("sst")
        return self.rng.choice([plain, self.part(plain)])

    def text(self) -> str:
        plain = self.rng.choice(["s", "s", "t", *self.has("w", "w", "w")])
        joined = [f'"".join(reversed({plain}))', *self.has("l", '"".join(l)')]
        forms = [plain, plain, plain, self.part(plain), self.part(plain), *joined]
        return self.made(plain) if self.rng.random() < 0.2 else self.rng.choice(forms)

    def made(self, plain: str) -> str:
        """A text that an expression makes, short of other texts."""
        pick = self.rng.choice
        part = pick(["s", "t", "'a'", "'xy'", self.part(plain), *self.has("c", "c")])
        forms = [
            f"({plain} + {part})", f"({part} + {plain})[:9]", f"({plain}[:4] * {pick(['n', '2', 'i'])})",
            f"{plain}.{pick(['lower', 'upper', 'strip', 'lstrip', 'rstrip'])}()",
            f"{plain}.replace({pick(['chr(97)', repr('a'), repr('b')])}, {part})",
            f"{pick([repr(''), repr(' '), 't[:2]'])}.join(z for z in {plain} if z {pick(['!=', '>'])} 'a')",
        ]  # fmt: skip
        return pick(forms)

    def list(self) -> str:
        made = [
            f"list({self.text()})",
            f"sorted({self.text()})",
            f"list(reversed({self.text()}))",
            "[s[0], 'a']",
        ]
        return self.rng.choice([*made, *self.has("l", "l", "l", "l", self.part("l"), "sorted(l)", "l[:]")])

    def sequence(self) -> str:
        return self.text() if self.rng.random() < 0.7 else self.list()

    def character(self) -> str:
        of = self.rng.choice(["s", "s", "s", "t", *self.has("w", "w"), *self.has("l", "l", "l")])
        item = f"{of}[{self.index(of)}]"
        forms = [
            item, item, item, *["x"] * (3 * bool(self.loop)), "'a'", "''", "'é'", f"{item}.upper()",
            "chr(97 + i)", *self.has("c", "c", "c", "c.lower()"), f"({item} if n > 1 else 'b')",
        ]  # fmt: skip
        return self.rng.choice(forms)

    def number(self) -> str:
        c = self.character()
        forms = [
            "n", "k", f"len({self.text()})", f"len({self.list()})", f"ord({c})", f"int({c})", "i",
            f"{self.rng.choice('st')}.count({c})", f"{self.text()}.count({self.given()})",
            f"{self.text()}.find({self.given()}, {self.index('s')})", f"{self.text()}.index({self.given()})",
            *self.has("l", f"l.count({c})", f"l.index({c})"),
            *self.has("d", f"d.get({c}, 0)", "len(d)", f"d[{c}]"), *self.has("e", "len(e)"),
            *self.has("w", f"w.count({c})"), f"sum(1 for y in {self.text()} if y == {c})",
        ]  # fmt: skip
        return self.rng.choice(forms)

    def condition(self) -> str:
        c, operator = self.character(), self.rng.choice(["==", "!=", "==", "<", ">="])
        among = self.rng.choice(
            ["'ab'", "('a', 'é')", "s", "t", self.sequence(), *self.has("e", "e"), *self.has("d", "d")]
        )
        constant = self.rng.choice(["''", "'a'", "'ab'", "[]", "['a']", "['a', 'b']"])
        forms = [
            f"{c} {operator} {self.character()}", f"{c} {operator} {self.character()}", f"{c} in {among}",
            f"{c} not in {among}", f"{self.text()} {operator[:2]} {self.text()}",
            f"{self.list()} == {self.list()}",
            f"{self.sequence() if self.rng.random() < 0.3 else self.character()} == {constant}",
            f"{c}.{self.test()}()", f"not {self.text()}", f"len({self.text()}) > {self.number()}",
            f"{self.number()} > n", "i > 0", *self.has("l", "not l"),
            f"{self.given()} in {self.text()}",
            f"{self.text()}.{self.rng.choice(['startswith', 'endswith'])}({self.given()})",
            f"{self.text()} {operator} {self.given()}",
            f"{self.given()}.{self.test()}()",
        ]  # fmt: skip
        return self.rng.choice(forms)

    def test(self) -> str:
        return self.rng.choice(["isdigit", "isalpha", "isspace", "isupper", "islower", "isalnum"])

    def statement(self) -> str:
        c, text = self.character(), self.text()
        forms = [
            f"k += {self.number()}", f"k = {self.number()}", f"k += {self.condition()}",
            *self.has("c", *[f"c = {c}"] * 2, f"c = max({text})", f"c, k = {c}, k + 1"),
            *self.has("w", f"w += {c}", f"w += {c}", f"w += {self.given()}", f"w = w + {c}", f"w = {text}",
                      f"w = ({c} + w)[:20]"),
            *self.has("l", f"l.append({c})", f"l.append({c})", "l.pop()", "l.pop(0)", "l.sort()", "l.reverse()"),
            *self.has("l", f"l.insert(i, {c})", f"l.extend({self.given()})", f"l += list({self.given()})"),
            *self.has("l", f"l[{self.index('l')}] = {c}", f"l = {self.list()}", "l[0], l[-1] = l[-1], l[0]"),
            *self.has("l", *self.has("c", "c = l.pop()")),
            *self.has("e", f"e.add({c})", f"e.add({c})", f"e.discard({c})"),
            *self.has("d", f"d[{c}] = {self.number()}", f"d[{c}] = d.get({c}, 0) + 1", f"d[{c}] = i"),
        ]  # fmt: skip
        return self.rng.choice(forms)

    def loop_over(self, indent: str, depth: int) -> list[str]:
        forms = [
            f"for x in {self.sequence()}:", f"for i, x in enumerate({self.sequence()}):",
            f"for x in reversed({self.text()}):", f"for x, y in zip({self.sequence()}, {self.text()}):",
            "for x in s:", f"for i in range(len({self.sequence()})):",
            f"for i, x in enumerate({self.part('s')}):", "for i in range(n):",
        ]  # fmt: skip
        over = self.rng.choice(forms)
        has_item = "x" in over.partition(" in ")[0]
        self.loop += has_item
        block = self.block(f"{indent}    ", depth + 1)
        self.loop -= has_item
        if any(re.search(r"\bl(\.append|\.insert|\.extend| \+=)", line) for line in block):
            over = re.sub(r"\bl\b(?=[,):])", "l[:]", over)
        if any(re.search(r"\bw (\+=|= w \+)", line) for line in block):
            over = re.sub(r"\bw\b", "w[:5]", over)  # which else grows exponentially
        return [indent + over, *block]

    def block(self, indent: str, depth: int) -> list[str]:
        lines = []
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.random() if depth < 3 else 1.0
            if kind < 0.2 and self.loop < 2:
                lines += self.loop_over(indent, depth)
            elif kind < 0.45:
                lines += [f"{indent}if {self.condition()}:", *self.block(indent + "    ", depth + 1)]
                if self.rng.random() < 0.3:
                    lines += [f"{indent}else:", *self.block(indent + "    ", depth + 1)]
            elif kind < 0.5:
                lines += [f"{indent}while j < len({self.text()}) and {self.condition()} and j < 6:",
                          *self.block(indent + "    ", depth + 1), f"{indent}    j += 1"]  # fmt: skip
            elif kind < 0.55:
                lines += [f"{indent}if {self.condition()}:", f"{indent}    {self.returned()}"]
            else:
                lines.append(indent + self.statement())
        return lines

    def returned(self) -> str:
        """A return of values that have the same types in all returns."""
        return f"return {', '.join(value() for value in self.results)}"

    def function(self) -> str:
        lines = ["def f(s, t, n):", "    i = j = k = 0"]
        for name in self.own:
            begun = self.rng.choice([b for b in _BEGUN[name] if "(l)" not in b or "l" in self.own])
            lines.append(f"    {name} = {begun}")
        lines += self.block("    ", 1)
        lines += self.loop_over("    ", 1)
        return "\n".join([*lines, f"    {self.returned()}"]) + "\n"


def program(seed: int) -> Program:
    """The program of a seed: a function `f(s, t, n)` of two texts and an integer."""
    return Program(seed, _Maker(seed).function(), (), False, False, False)


def check(made: Program, folder: Path) -> Verdict:
    """What the program comes to, beside plain Python."""
    path = folder / f"texts{made.seed}.py"
    return compared(made, functions(made, path, range), CALLS, path)
