"""Random programs of dicts, counters, sets and deques that a function makes for itself.

for h in range(n):
    d[h % 3, k] = t % 7
    for i, v in d.items():
        if i not in s: t += q.popleft() if q else v
    s = {i for i in s if i in d}
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from pathlib import Path

from tests.random_programs.check import Verdict, functions
from tests.random_programs.listed import compared
from tests.random_programs.programs import Program

CALLS = (([3, 1, 4, 1, 5], 4), ([2], 0), ([7, 7, -1], 6))
MAKERS = ("{}", "set()", "Counter()", "defaultdict(int)", "deque()", "Counter(a)", "set(a)", "{0: 1}",
          "deque(range(n))", "{k: k * k for k in range(n)}", "{k % 3 for k in a}")  # fmt: skip


@dataclass(frozen=True)
class _Container:
    name: str
    made: str
    of_pairs: bool

    @property
    def kind(self) -> str:
        named = self.made.partition("(")[0]
        return (
            named
            if named in ("set", "Counter", "defaultdict", "deque")
            else "set"
            if "%" in self.made
            else "dict"
        )


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.containers = []
        for k in range(self.rng.randint(1, 3)):
            made = self.rng.choice(MAKERS)
            of_pairs = made in ("{}", "set()", "Counter()", "defaultdict(int)") and self.rng.random() < 0.5
            self.containers.append(_Container(f"c{k}", made, of_pairs))

    def text(self) -> str:
        lines = ["def f(a, n):", *(f"    {c.name} = {c.made}" for c in self.containers), "    t = 0"]
        lines += ["    for h in range(n):", *self.block(0, ("h", "n"), "        ", frozenset())]
        returned = (f"sorted({c.name})" if c.kind == "set" else c.name for c in self.containers)
        return "\n".join([*lines, f"    return t, {', '.join(returned)}"]) + "\n"

    def key(self, of_pairs: bool, names: tuple[str, ...]) -> str:
        def one() -> str:
            name = self.rng.choice([*names, str(self.rng.randint(-3, 8))])
            shapes = (
                name,
                f"{name} % {self.rng.randint(2, 8)}",
                f"{name} + {self.rng.randint(0, 4)}",
                f"a[{name} % len(a)]",
            )
            return self.rng.choice(shapes)

        return f"({one()}, {one()})" if of_pairs else one()

    def statement(self, c: _Container, names: tuple[str, ...], is_run_over: bool) -> str:
        name, value = c.name, self.rng.choice([*names, "t % 7"])
        key = self.key(c.of_pairs, names)
        looks = [f"t += len({name})", f"if not {name}: t += 1"]
        i = "i, j" if c.of_pairs else "i"
        item = f"({i})" if c.of_pairs else i
        test = self.rng.choice([f"{item} in {name}", "i % 2 == h % 2", "i != h"])
        match c.kind:
            case "deque":
                changes = [f"{name}.append({value})"] * 3 + [
                    f"if {name}: t += {name}.popleft()",
                    f"if {name}: {name}.pop()",
                ]
                changes.append(f"{name} = deque([i + 1 for i in {name} if {test}])")
                looks.append(f"if len({name}) > 1: t += {name}[-1] - {name}[1]")
            case "set":
                changes = [f"{name}.add({key})"] * 3
                changes.append(f"{name} = {{{item} for {i} in {name} if {test}}}")
                others = [o.name for o in self.containers if o.kind == "set" and o.of_pairs == c.of_pairs]
                other, op = self.rng.choice(others), self.rng.choice("&|-^")
                changes += [
                    f"{name} {op}= {other}",
                    f"{name} = {other} {op} {name}",
                    f"{name}.update({other})",
                ]
                looks.append(f"t += len({name} {op} {other})")
                looks += [f"if {key} in {name}: t += 1", f"for {i} in {name}: t = (3 * t + i) % 1009"]
            case kind:
                changes = [f"{name}[{key}] = {value}"] * 2
                changes += [f"{name}[{self.key(c.of_pairs, names)}] += {value}"] * (2 * (kind != "dict"))
                changes += [f"{name} = {{{item}: k + 1 for {item}, k in {name}.items() if {test}}}"] * (
                    kind == "dict"
                )
                read = (
                    f"{name}[{key}]" if kind == "Counter" else f"{name}.get({key}, {self.rng.randint(0, 2)})"
                )
                looks += [f"t += {read}", f"if {key} not in {name}: t -= 1", f"t += sum({name}.values())"]
        return self.rng.choice(looks if is_run_over else changes + looks)

    def block(self, depth: int, names: tuple[str, ...], indent: str, run_over: frozenset[str]) -> list[str]:
        out = []
        for _ in range(self.rng.randint(1, 3)):
            c = self.rng.choice(self.containers)
            out.append(indent + self.statement(c, names, c.name in run_over))
            if depth == 2 or self.rng.random() > 0.35:
                continue
            over, var = self.rng.choice(self.containers), "ij"[depth]
            inner = f"{indent}    "
            if over.kind == "set" or self.rng.random() < 0.5:
                out.append(f"{indent}for {var} in range({self.rng.choice(['n', '3', 'len(a)'])}):")
                out += self.block(depth + 1, (*names, var), inner, run_over)
                continue
            target, source, more = var, over.name, (var,)
            if over.kind != "deque":
                target = f"({var}, z), v" if over.of_pairs else f"{var}, v"
                source, more = f"{over.name}.items()", (var, "v")
            out.append(f"{indent}for {target} in {source}:")
            out += self.block(depth + 1, (*names, *more), inner, run_over | {over.name})
            if over.kind != "deque" and not over.of_pairs and self.rng.random() < 0.5:
                out.append(f"{inner}{over.name}[{var}] = v + 1")
        return out


def program(seed: int) -> Program:
    """The program of a seed: a function `f(a, n)` of a list of integers and an integer."""
    return Program(seed, _Maker(seed).text(), (), False, False, False)


def check(made: Program, folder: Path) -> Verdict:
    """What the program comes to, beside plain Python."""
    path = folder / f"containers{made.seed}.py"
    fn = functions(made, path, range)
    fn.__globals__.update(Counter=Counter, defaultdict=defaultdict, deque=deque)
    return compared(made, fn, CALLS, path)
