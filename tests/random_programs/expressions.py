"""Random expressions of numbers, as `docs/language.md` has them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.random_programs.kinds import (
    BITS,
    PYTHON,
    Array,
    Expr,
    Helper,
    Name,
    Types,
    kind,
    result_types,
    type_name,
)


class Expressions:
    """What names stand for, and expressions of them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names: dict[str, Name] = {}
        self.arrays: dict[str, Array] = {}
        self.helpers: dict[str, Helper] = {}
        self.row_helpers: dict[str, str] = {}
        """Functions that return a new vector of the length of their argument, with the dtype of both."""
        self.tuples: dict[str, tuple[str, int]] = {}
        self.lists: dict[str, str] = {}
        self.joined = False
        self.inexact = False
        self.fresh = itertools.count()
        self.nested = 0
        """Of indices in each other."""

    # ---------------------------------------------------------------- choices

    def chance(self, percent: float) -> bool:
        return self.rng.random() * 100 < percent

    def pick(self, options: Sequence[Any]) -> Any:
        return self.rng.choice(options)

    def weighted(self, options: dict[Any, float]) -> Any:
        return self.rng.choices(list(options), list(options.values()))[0]

    def new(self, prefix: str) -> str:
        return f"{prefix}{next(self.fresh)}"

    # ---------------------------------------------------------------- operations

    def apply(self, template: str, *operands: Expr, bits: int | None = None) -> Expr:
        """The operation on operands; no types where it is none."""
        types = result_types(template, tuple(o.types for o in operands))
        size = max(o.bits for o in operands) if bits is None else bits
        if "int" in types and size > 40:
            return self.apply("{0} % 97", Expr(f"({template.format(*(o.text for o in operands))})", types, 7))
        return Expr(f"({template.format(*(o.text for o in operands))})", types, size)

    def join(self, template: str, condition: str, *operands: Expr) -> Expr:
        """One of the operands, which are joined in one name or result."""
        types = frozenset().union(*(o.types for o in operands))
        self.joined = self.joined or len(types) > 1
        text = template.format(*(o.text for o in operands), condition=condition)
        return Expr(f"({text})", types, max(o.bits for o in operands))

    def fit(self, expr: Expr, allowed: Types) -> Expr:
        """The expression, converted where it may have other types than these."""
        if expr.types <= allowed:
            return expr
        target = self.pick(sorted(allowed))
        value = expr.text
        if kind(target) == "i":
            value = f"int({value} % 97)"
        if target in ("bool", "bool_"):
            return Expr(f"bool({value})", frozenset({"bool"}), 1)
        if target == "int":
            return Expr(value, frozenset({"int"}), 7)
        shown = target if target in PYTHON else f"np.{target}"
        return Expr(f"{shown}({value})", frozenset({target}), 7)

    # ---------------------------------------------------------------- leaves

    def names_of(self, kinds: str) -> list[str]:
        return [name for name, n in self.names.items() if all(kind(t) in kinds for t in n.allowed)]

    def read(self, name: str) -> Expr:
        return Expr(name, self.names[name].allowed, self.names[name].bits)

    def constant(self, kinds: str) -> Expr:
        if kinds == "c":
            return Expr(self.pick(["1j", "(2-1j)", "(0.5+0.25j)"]), frozenset({"complex"}))
        if kinds == "f":
            return Expr(self.pick(["0.5", "2.0", "0.0", "-1.5", "0.1", "3.25"]), frozenset({"float"}))
        if kinds == "b":
            return Expr(self.pick(["True", "False"]), frozenset({"bool"}), 1)
        small, rare = (
            [0, 1, 1, 2, 2, 3, 4, 5, 7, 11],
            [-1, -2, -7, 100, 127, 128, 200, 255, 300, 70000, 2**31, -(2**40)],
        )
        value = self.pick(rare if self.chance(8) else small)
        return Expr(f"({value})" if value < 0 else str(value), frozenset({"int"}), max(4, value.bit_length()))

    def index(self, length: str) -> str:
        """An index into an axis of this length; rarely one that is out of range."""
        self.nested += 1
        found = self._index(length)
        self.nested -= 1
        return found

    def _index(self, length: str) -> str:
        loops = [(name, n) for name, n in self.names.items() if n.over == length]
        way = self.rng.random()
        if loops and way < 0.8:
            name, loop = self.pick(loops[-2:])
            before, after = loop.left_out
            forms = {
                name: 8,
                f"{name} - 1": 2,
                f"-{name} - 1": 0.7,
                f"{length} - 1 - {name}": 1,
                f"{name} // 2": 0.7,
            }
            forms[f"{name} - 2"] = 0.6 if before else 0.2
            forms[f"{name} + 1"] = 4 if after else 0.15
            forms[f"-{name}"] = 0.3
            return str(self.weighted(forms))
        if way < 0.9 and self.nested < 2:
            where = [name for name, a in self.arrays.items() if name.startswith("ix") and len(a.lengths) == 1]
            if where and loops:
                return f"{self.pick(where)}[{self.pick(loops)[0]}]"
            return f"{self.number('i', 1).text} % {length}"
        if way < 0.92 and self.nested < 2:
            return self.number("i", 1).text
        return str(self.weighted({"0": 6, "-1": 4, "1": 1, "2": 0.5, "9": 0.05}))

    def element(self, kinds: str) -> Expr | None:
        arrays = [name for name, a in self.arrays.items() if kind(a.dtype) in kinds]
        if not arrays:
            return None
        name = self.pick(arrays)
        array = self.arrays[name]
        where = ", ".join(self.index(length) for length in array.lengths)
        return Expr(f"{name}[{where}]", frozenset({array.item}), BITS.get(array.item, 0))

    def leaf(self, kinds: str) -> Expr:
        way = self.rng.random()
        if way < 0.4 and self.nested < 2 and (found := self.element(kinds)):
            return found
        if way < 0.8 and (names := self.names_of(kinds)):
            return self.read(self.pick(names[-6:] if self.chance(70) else names))
        if way < 0.85 and kinds in "if":
            fitting = [name for name, (item, _) in self.tuples.items() if kind(item) == kinds]
            if fitting:
                name = self.pick(fitting)
                item, length = self.tuples[name]
                return Expr(f"{name}[{self.rng.randrange(-length, length)}]", frozenset({item}), 10)
        if way < 0.88 and kinds == "i" and self.lists:
            return Expr(f"len({self.pick(list(self.lists))})", frozenset({"int"}), 10)
        if way < 0.91 and kinds == "i" and self.arrays:
            return Expr(f"len({self.pick(list(self.arrays))})", frozenset({"int"}), 6)
        return self.constant(kinds)

    # ---------------------------------------------------------------- numbers

    def number(self, kinds: str, depth: int) -> Expr:
        """An expression of one kind: b, i, f or c; of ints and floats for `f`."""
        if depth <= 0 or self.chance(35):
            return self.leaf("i" if kinds == "f" and self.chance(15) else kinds)
        for _ in range(4):
            found = {"b": self._truth, "i": self._int, "f": self._float, "c": self._complex}[kinds](depth - 1)
            if found.types and found.has("if" if kinds == "f" else kinds):
                return found
        return self.leaf(kinds)

    def _int(self, depth: int) -> Expr:
        left, right = self.number("i", depth), self.number("i", depth - 1)
        small = self.pick([Expr(str(n), frozenset({"int"}), 3) for n in (1, 2, 3, 5, 7)])
        way = self.rng.random()
        if way < 0.34:
            return self.apply(
                self.pick(["{0} + {1}", "{0} - {1}"]), left, right, bits=max(left.bits, right.bits) + 1
            )
        if way < 0.46:
            return self.apply("{0} * {1}", left, right, bits=left.bits + right.bits)
        if way < 0.58:
            divisor = right if self.chance(20) else small
            return self.apply(self.pick(["{0} // {1}", "{0} % {1}"]), left, divisor)
        if way < 0.68:
            return self.apply(self.pick(["{0} & {1}", "{0} | {1}", "{0} ^ {1}"]), left, right)
        if way < 0.73:
            return self.apply(self.pick(["{0} << {1}", "{0} >> {1}"]), left, small, bits=left.bits + 7)
        if way < 0.79:
            return self.apply(self.pick(["-{0}", "~{0}", "abs({0})"]), left)
        if way < 0.86:
            return self.join(self.pick(["min({0}, {1})", "max({0}, {1})"]), "", left, right)
        if way < 0.92:
            return self.join("{0} if {condition} else {1}", self.truth(depth), left, right)
        if way < 0.94:
            return self.apply("{0} ** 2", left, bits=left.bits * 2)
        if way < 0.95:
            return self.apply("{0} + {1}", self.number("b", depth), left, bits=left.bits + 1)
        if way < 0.96:
            return Expr(f"int({self.number('b', depth).text})", frozenset({"int"}), 1)
        if way < 0.98 and (called := self.call("i", depth)):
            return called
        if (found := self._generated("i")) is not None:
            return found
        return left

    def _float(self, depth: int) -> Expr:
        left, right = self.number("f", depth), self.number("f", depth - 1)
        way = self.rng.random()
        if way < 0.5:
            return self.apply(self.pick(["{0} + {1}", "{0} - {1}", "{0} * {1}"]), left, right)
        if way < 0.6:
            divisor = (
                right
                if self.chance(30)
                else self.pick([Expr(n, frozenset({"float"})) for n in ("2.0", "0.5", "4.0")])
            )
            return self.apply("{0} / {1}", left, divisor)
        if way < 0.65:
            divisor = right if self.chance(30) else Expr("1.5", frozenset({"float"}))
            return self.apply(self.pick(["{0} // {1}", "{0} % {1}"]), left, divisor)
        if way < 0.72:
            return self.apply(self.pick(["-{0}", "abs({0})", "np.floor({0})", "np.abs({0})"]), left)
        if way < 0.79:
            return self.join(self.pick(["min({0}, {1})", "max({0}, {1})"]), "", left, right)
        if way < 0.86:
            return self.join("{0} if {condition} else {1}", self.truth(depth), left, right)
        if way < 0.90:
            self.inexact = True
            names = [
                "math.sqrt(abs({0}))",
                "np.sqrt(abs({0}))",
                "math.cos({0} % 4)",
                "np.sin({0} % 4)",
                "{0} ** 2",
            ]
            return self.apply(self.pick(names), left)
        if way < 0.92 and self.names_of("c"):
            return self.apply(self.pick(["{0}.real", "{0}.imag"]), self.number("c", depth))
        if way < 0.95 and (called := self.call("f", depth)):
            return called
        if way < 0.97 and (found := self._generated("f")) is not None:
            return found
        return self.apply(
            self.pick(["float({0})", "np.float64({0})", "np.float32({0})"]), self.number("i", depth)
        )

    def _complex(self, depth: int) -> Expr:
        left = self.number("c", depth)
        right = self.number(self.pick("cfi"), depth - 1)
        self.inexact = True
        if self.chance(80):
            return self.apply(self.pick(["{0} + {1}", "{0} - {1}", "{0} * {1}"]), left, right)
        return self.apply(self.pick(["-{0}", "{0}.conjugate()"]), left)

    def truth(self, depth: int) -> str:
        """A condition; rarely a number."""
        if self.chance(6):
            return self.number(self.pick("if"), depth).text
        return self.number("b", depth + 1).text

    def _truth(self, depth: int) -> Expr:
        way = self.rng.random()
        if way < 0.6:
            kinds = self.pick("iif")
            signs = ["<", "<=", ">", ">=", "==", "!="]
            return self.apply(
                f"{{0}} {self.pick(signs)} {{1}}", self.number(kinds, depth), self.number(kinds, depth - 1)
            )
        if way < 0.68:
            ends = self.number("i", 0), self.number("i", depth), self.number("i", 0)
            return Expr(f"({' <= '.join(e.text for e in ends)})", frozenset({"bool", "bool_"}), 1)
        if way < 0.82:
            return self.join(
                self.pick(["{0} and {1}", "{0} or {1}"]), "", self.number("b", depth), self.number("b", depth)
            )
        if way < 0.9:
            return self.apply("not {0}", self.number("b", depth))
        if way < 0.94:
            return Expr(f"({self.number('i', depth).text} in (0, 2, 5, -1))", frozenset({"bool"}), 1)
        if way < 0.97 and (rows := [n for n, a in self.arrays.items() if len(a.lengths) == 1]):
            item = self.new("e")
            text = (
                f"{self.pick(['any', 'all'])}({item} > {self.leaf('i').text} for {item} in {self.pick(rows)})"
            )
            return Expr(text, frozenset({"bool"}), 1)
        return self.apply(
            self.pick(["{0} & {1}", "{0} | {1}", "{0} ^ {1}"]),
            self.number("b", depth),
            self.number("b", depth),
        )

    def call(self, kinds: str, depth: int) -> Expr | None:
        """A call of one of the program's functions."""
        fitting = [
            n for n, h in self.helpers.items() if h.returns and all(kind(t) in kinds for t in h.returns)
        ]
        if not fitting:
            return None
        name = self.pick(fitting)
        helper = self.helpers[name]
        given = []
        if helper.array:
            rows = [n for n, a in self.arrays.items() if a.dtype == helper.array and len(a.lengths) == 1]
            if not rows:
                return None
            given.append(
                self.pick(rows)
                + self.weighted({"": 4, "[1:]": 3, "[::2]": 2, "[::-1]": 2, "[:-1]": 2, "[2:2]": 0.5})
            )
        count = len(helper.parameters) - (self.rng.randint(0, helper.defaults) if helper.defaults else 0)
        for number, types in enumerate(helper.parameters[:count]):
            value = self.fit(self.number(kind(min(types)), depth - 1), types).text
            given.append(f"p{number}={value}" if number == count - 1 and self.chance(20) else value)
        return Expr(f"{name}({', '.join(given)})", helper.returns, 20)

    def _generated(self, kinds: str) -> Expr | None:
        """A sum, minimum or maximum over a row."""
        rows = [n for n, a in self.arrays.items() if len(a.lengths) == 1 and kind(a.dtype) == kinds]
        if not rows:
            return None
        name, item = self.pick(rows), self.new("e")
        types = frozenset({self.arrays[name].item})
        bits = BITS.get(self.arrays[name].item, 0)
        self.inexact = self.inexact or kinds == "f"
        way = self.weighted({"sum": 3, "method": 2, "max": 1})
        if way == "sum":
            self.joined = True
            text = f"sum({item} for {item} in {name}{self.pick(['', '[1:]', '[::-2]'])})"
            return Expr(text, types | {"int"}, bits + 5)
        if way == "max":
            return Expr(f"{name}.{self.pick(['max', 'min'])}()", types, bits)
        sums = frozenset({type_name(np.ones(1, self.arrays[name].dtype).sum())})
        return Expr(f"np.sum({name})", sums, 64)
