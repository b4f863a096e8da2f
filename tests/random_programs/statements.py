"""Random statements of a function, made from what `docs/language.md` says may stand in one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from tests.random_programs.expressions import Expressions
from tests.random_programs.kinds import INT, INTS, UNSIGNED, Expr, Name, kind, result_types

MOST_LOOPS = 3


class Statements(Expressions):
    """Writes one function. results: the kinds of what it returns."""

    def __init__(self, rng: random.Random, results: str) -> None:
        super().__init__(rng)
        self.results = results
        self.lines: list[str] = []
        self.level = 1
        self.loops = 0
        self.is_parallel = False
        self.in_parallel = False
        self.return_types: set[str] = set()
        self.is_early = False
        """A `return` stands before the last."""

    # ---------------------------------------------------------------- text

    def put(self, line: str) -> None:
        self.lines.append("    " * self.level + line)

    @contextmanager
    def under(self, header: str) -> Iterator[None]:
        """A block, and its end: names that it binds are not read behind it."""
        self.put(header)
        before = dict(self.names), dict(self.arrays)
        self.level += 1
        yield
        self.level -= 1
        self.names, self.arrays = {**before[0], **self._leaking(before[0])}, before[1]

    def _leaking(self, before: dict[str, Name]) -> dict[str, Name]:
        found = {n: replace(v, over="", assignable=False) for n, v in self.names.items() if n not in before}
        return {n: v for n, v in found.items() if self.chance(4)}

    # ---------------------------------------------------------------- statements

    def body(self, most: int) -> None:
        for _ in range(self.rng.randint(1, most)):
            self.statement()

    def statement(self) -> None:
        deep = self.level > 4 or len(self.lines) > 16
        ways: dict[Callable[[], None], float] = {
            self.assign: 12, self.augment: 10, self.store: 14, self.branch: 0 if deep else 8,
            self.loop: 0 if deep or self.loops >= MOST_LOOPS or self.in_parallel else 9,
            self.while_loop: 0 if deep or self.loops >= MOST_LOOPS - 1 or self.in_parallel else 2.5, self.rows: 6,
            self.leave: 2.5, self.exchange: 1.5, self.view: 2,
            self.append: 2 if self.lists and not self.in_parallel else 0,
            self.call_alone: 2 if self.helpers else 0, self.match: 0 if deep else 0.7,
        }  # fmt: skip
        self.weighted(ways)()

    def target(self, kinds: str) -> str:
        """A name to assign to; a new one where there is none."""
        if self.in_parallel:
            return ""
        names = [n for n in self.names_of(kinds) if self.names[n].assignable]
        return self.pick(names) if names and self.chance(70) else ""

    def declare(self, kinds: str) -> str:
        """A new name for numbers of a kind, and the types that it may get."""
        name = self.new(kinds)
        if kinds == "b":
            allowed = {"bool", "bool_"}
        elif kinds == "i":
            some = self.pick(INTS)
            like = UNSIGNED if some in UNSIGNED else tuple(t for t in INTS if t not in UNSIGNED)
            allowed = self.pick([{"int"}, {"int"}, {"int", some}, {"int", some, self.pick(like)}, {some}])
        elif kinds == "f":
            allowed = self.pick(
                [
                    {"float"},
                    {"float", "float64"},
                    {"float", "float64", "int"},
                    {"float", "float32"},
                    {"float64"},
                ]
            )
        else:
            allowed = self.pick([{"complex", "complex128"}, {"complex"}])
        self.names[name] = Name(frozenset(allowed))
        return name

    def give(self, name: str, expr: Expr) -> Expr:
        """The expression, as it may be assigned to the name."""
        found = self.fit(expr, self.names[name].allowed)
        if "int" in found.types and found.bits > 10:
            found = self.fit(Expr(f"{found.text} % 97", found.types, 7), self.names[name].allowed)
        seen = self.names[name].seen
        seen |= found.types
        self.joined = self.joined or len(seen) > 1
        return found

    def assign(self) -> None:
        kinds = self.weighted(
            {"i": 6, "f": 4, "b": 1.5, "c": 1 if self.names_of("c") or self._has("c") else 0}
        )
        expr = self.number(kinds, 3)
        name = self.target(kinds) or self.declare(kinds)
        if kinds in "if" and self.chance(6):
            condition = f"({name} := {self.give(name, expr).text}) > {self.leaf(kinds).text}"
            with self.under(f"if {condition}:"):
                self.statement()
            return
        self.put(f"{name} = {self.give(name, expr).text}")

    def _has(self, kinds: str) -> bool:
        return any(kind(a.dtype) in kinds for a in self.arrays.values())

    def augment(self) -> None:
        names = [n for n, v in self.names.items() if v.assignable]
        if not names:
            return self.assign()
        name = self.pick(names[-5:])
        kinds = (
            "f"
            if kind(min(self.names[name].allowed)) == "f"
            or len({kind(t) for t in self.names[name].allowed}) > 1
            else kind(min(self.names[name].allowed))
        )
        signs = {
            "i": ["+", "+", "-", "*", "&", "|", "^", "//", "%", ">>"],
            "f": ["+", "+", "-", "*", "/"],
            "b": ["&", "|", "^"],
            "c": ["+", "*"],
        }
        sign = self.pick(signs[kinds])
        expr = self.number(kinds, 2)
        if (sign in ("//", "%", ">>") and self.chance(85)) or sign == ">>":
            expr = Expr(self.pick("12357"), INT, 3)
        if kinds == "i" and expr.bits > 8:
            expr = self.fit(Expr(f"{expr.text} % 97", expr.types, 7), expr.types)
        allowed = self.names[name].allowed
        types = result_types(f"{{0}} {sign} {{1}}", (allowed, expr.types))
        if not types or not types <= allowed:
            expr = self.fit(expr, allowed)
            types = result_types(f"{{0}} {sign} {{1}}", (allowed, expr.types))
            if not types or not types <= allowed:
                return self.put(f"{name} = {self.give(name, expr).text}")
        if kinds in "fc" and self.loops:
            self.inexact = True
        seen = self.names[name].seen
        seen |= types
        self.joined = self.joined or len(seen) > 1
        if sign == "*" and "int" in allowed:
            return self.put(f"{name} = {name} * {expr.text} % 97")
        text = self.weighted({f"{name} {sign}= {expr.text}": 4, f"{name} = {name} {sign} {expr.text}": 1})
        self.put(text)
        return None

    def store(self) -> None:
        """Into an element: what does not fit into it rarely."""
        names = [n for n, a in self.arrays.items() if a.writable]
        if not names:
            return self.assign()
        name = self.pick(names)
        array = self.arrays[name]
        kinds = kind(array.dtype)
        where = ", ".join(self.index(length) for length in array.lengths)
        expr = self.number("i" if kinds == "f" and self.chance(15) else kinds, 3)
        if kinds == "i" and "int" in expr.types and expr.bits > 6 and self.chance(90):
            expr = self.apply("{0} & 63", expr)
        sign = self.weighted(
            {
                "": 8,
                "+": 4,
                "-": 1.5,
                "*": 1,
                "&": 0.6 if kinds == "i" else 0,
                "|": 0.5 if kinds in "bi" else 0,
            }
        )
        if kinds == "b" and sign in ("+", "-", "*"):
            sign = ""
        if sign and not result_types(f"{{0}} {sign} {{1}}", (frozenset({array.item}), expr.types)):
            sign = ""
        self.inexact = self.inexact or (bool(sign) and kinds in "fc" and bool(self.loops))
        self.put(f"{name}[{where}] {sign}= {expr.text}")
        return None

    def branch(self) -> None:
        with self.under(f"if {self.truth(2)}:"):
            self.body(2)
        if self.chance(25):
            with self.under(f"elif {self.truth(1)}:"):
                self.body(2)
        if self.chance(40):
            with self.under("else:"):
                self.body(2)

    def match(self) -> None:
        self.put(f"match {self.number('i', 1).text}:")
        self.level += 1
        for pattern in ("case 0:", "case 1 | 2:", f"case x0 if {self.truth(1)}:", "case _:"):
            if pattern == "case 0:" or self.chance(60):
                with self.under(pattern):
                    self.body(1)
        self.level -= 1

    def leave(self) -> None:
        """Ends a loop, an iteration or the call, under a condition."""
        ways = {"return": 3.0, "raise": 1.5, "assert": 0.5}
        if self.loops:
            ways |= {"break": 3, "continue": 3}
        way = self.weighted(ways)
        if way == "assert":
            return self.put(f"assert {self.truth(1)} or {self.truth(1)} or {self.truth(1)}, 'it holds'")
        with self.under(f"if {self.truth(2)}{' and ' + self.truth(1) if self.chance(60) else ''}:"):
            if self.chance(25):
                self.statement()
            if way == "return":
                self.put(f"return {self.returned()}")
                self.is_early = True
            elif way == "raise":
                self.put(
                    self.pick(
                        ["raise ValueError('wrong')", "raise IndexError", "raise ZeroDivisionError('none')"]
                    )
                )
            else:
                self.put(way)
        return None

    def returned(self) -> str:
        found = []
        for kinds in self.results:
            if kinds == "n" and self.chance(40):
                found.append("None")
                continue
            expr = self.number(kinds.replace("n", "i"), 2)
            self.return_types |= expr.types
            found.append(expr.text)
        self.joined = self.joined or len(self.return_types) > 1
        return ", ".join(found)

    def exchange(self) -> None:
        kinds = self.pick("if")
        names = [n for n in self.names_of(kinds) if self.names[n].assignable]
        if len(names) < 2 or self.in_parallel:
            return self.store()
        one, two = self.rng.sample(names, 2)
        left, right = self.number(kinds, 1), self.number(kinds, 1)
        first, second = (self.read(two), left) if self.chance(50) else (right, self.read(one))
        self.put(f"{one}, {two} = {self.give(one, first).text}, {self.give(two, second).text}")
        return None

    def append(self) -> None:
        name = self.pick(list(self.lists))
        item = self.lists[name]
        expr = self.fit(self.number(kind(item), 2), frozenset({item}))
        if item == "int" and expr.bits > 20:
            expr = Expr(f"{expr.text} % 97", INT, 7)
        with self.under(f"if len({name}) < 40:"):
            self.put(f"{name}.append({expr.text})")

    def call_alone(self) -> None:
        if called := self.call(self.pick("if"), 2):
            kinds = kind(min(called.types))
            name = self.target(kinds) or self.declare(kinds)
            self.put(f"{name} = {self.give(name, called).text}")
        else:
            self.store()

    def loop(self) -> None:
        raise NotImplementedError

    def while_loop(self) -> None:
        raise NotImplementedError

    def rows(self) -> None:
        raise NotImplementedError

    def view(self) -> None:
        raise NotImplementedError
