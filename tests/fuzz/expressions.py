"""Random expressions whose value Python and compiled code must agree on.

Left out is what is known to differ by design: Python integers beyond 64 bits (every integer
expression carries a bound), integers that an array's type cannot hold (NumPy raises
OverflowError, compiled code wraps), conversions of NaN and infinity to integers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

MAX_BOUND = 2**60
WRAP = 97
"""Values are reduced modulo this before they are kept or put into narrow integers."""

Draw = st.DrawFn


@dataclass(frozen=True)
class Typed:
    """An expression's text. type: "int", "float", "bool" for Python's numbers, else NumPy's name.

    bound: no value of a Python int is larger.
    """

    text: str
    type: str
    bound: int = 0

    @property
    def python(self) -> bool:
        return self.type in ("int", "float", "bool")

    @property
    def kind(self) -> str:
        """'i' integers, 'f' floats, 'b' bools, 'c' complex numbers."""
        if self.python:
            return self.type[0]
        return {"u": "i"}.get(np.dtype(self.type).kind, np.dtype(self.type).kind)


@dataclass
class ArrayName:
    """A parameter that is an array; `shape` in the texts of its extents ("n", "m", "4")."""

    name: str
    dtype: str
    shape: tuple[str, ...]
    written: bool = True
    read: bool = True


@dataclass
class Scope:
    """What may be read where an expression stands. ranges: each loop variable's extent."""

    arrays: list[ArrayName]
    scalars: list[Typed] = field(default_factory=list)
    ranges: dict[str, str] = field(default_factory=dict)


class Expressions:
    """Draws expressions over a scope."""

    def __init__(self, draw: Draw, scope: Scope, *, wild: bool) -> None:
        self.draw = draw
        self.scope = scope
        self.wild = wild
        """Whether indices may be out of range."""

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent  # shrinks to False

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    # ------------------------------------------------------------ elements

    def element(self, array: ArrayName) -> str:
        """`a[i, j + 1]`."""
        index = [self.index(extent) for extent in array.shape]
        if len(index) > 1 and self.chance(10):
            return f"{array.name}{''.join(f'[{i}]' for i in index)}"
        return f"{array.name}[{', '.join(index)}]"

    def own_element(self, array: ArrayName) -> str:
        """An element that each iteration has for itself, as far as there are loops for the axes."""
        free = dict(self.scope.ranges)
        index = []
        for extent in array.shape:
            var = next((v for v, e in free.items() if e == extent), None)
            free.pop(var or "", None)
            index.append(var or self.pick("0", "-1"))
        return f"{array.name}[{', '.join(index)}]"

    def index(self, extent: str) -> str:
        """An index of an axis, in range more often than not."""
        fitting = [v for v, e in self.scope.ranges.items() if e == extent]
        others = list(self.scope.ranges)
        if fitting and not self.chance(25):
            return self.pick(*fitting)
        shape = self.draw(st.integers(0, 10))
        through = [a for a in self.scope.arrays if a.read and a.dtype in ("int64", "int32", "int8", "uint8")]
        if shape == 10 and through:
            array = self.pick(*through)
            inner = [
                self.pick(*[v for v, e in self.scope.ranges.items() if e == x], "0") for x in array.shape
            ]
            return f"{array.name}[{', '.join(inner)}] % {self._atleast(extent)}"
        if shape <= 1 or not others:
            return self.pick("0", "-1", "1", "k", f"{extent} - 1")
        var = self.pick(*(fitting or others))
        if shape == 2:
            return f"{var} % {self._atleast(extent)}"
        if shape == 3 and fitting:
            return f"{extent} - 1 - {var}"
        if shape == 4:
            return f"({var} + {self.pick('1', '2', 'k')}) % {self._atleast(extent)}"
        if shape == 5:
            return f"min({var}, {extent} - 1)"
        if not self.wild:
            return var if fitting else f"{var} % {self._atleast(extent)}"
        if shape == 6:
            return f"{var} - 1"
        if shape == 7:
            return f"{var} + {self.pick('1', 'k')}"
        if shape == 8 and len(others) > 1:
            return f"{self.pick(*others)} {self.pick('+', '-')} {var}"
        return f"{self.pick('2', '-1')} * {var}"

    def _atleast(self, extent: str) -> str:
        return extent if extent.isdigit() else f"({extent} + 1)" if self.wild else f"max({extent}, 1)"

    # ------------------------------------------------------------ numbers

    def number(self, kind: str, depth: int = 2) -> Typed:
        """An expression of kind 'i', 'f' or 'b'."""
        if kind == "b":
            return self.condition(depth)
        if kind == "c":
            return self._complex(depth)
        if depth == 0 or self.chance(25):
            return self._atom(kind)
        form = self.draw(st.integers(0, 9))
        if form <= 5:
            return self._binary(kind, depth)
        if form == 6:
            a = self.number(kind, depth - 1)
            return Typed(f"(-{a.text})", a.type, a.bound) if a.type != "uint8" else a
        if form == 7:
            a = self.number(kind, depth - 1)
            return Typed(f"abs({a.text})", a.type, a.bound)
        if form == 8:
            return self._ternary(kind, depth)
        return self._function(kind, depth)

    def _atom(self, kind: str) -> Typed:
        names = [s for s in self.scope.scalars if s.kind == kind]
        arrays = [a for a in self.scope.arrays if a.read and Typed("", a.dtype).kind == kind]
        choice = self.draw(st.integers(0, 9))
        if arrays and choice >= 4:
            array = self.pick(*arrays)
            return Typed(self.element(array), array.dtype)
        if names and choice >= 1:
            return self.pick(*names)
        if kind == "f":
            return Typed(self.pick("0.5", "1.0", "2.0", "-1.5", "0.25"), "float")
        value = self.draw(st.integers(0, 9))
        return Typed(str(value), "int", value)

    def _complex(self, depth: int) -> Typed:
        arrays = [a for a in self.scope.arrays if a.read and Typed("", a.dtype).kind == "c"]
        form = self.draw(st.integers(0, 6)) if depth else 0
        if form == 0 and arrays:
            array = self.pick(*arrays)
            return Typed(self.element(array), array.dtype)
        if form <= 1:
            return Typed(self.pick("1j", "(0.5 - 2j)"), "complex128")
        a = self._complex(depth - 1)
        if form == 2:
            return Typed(f"{a.text}.conjugate()", a.type)
        b = self._complex(depth - 1) if form <= 5 else self.number("f", depth - 1)
        return Typed(f"({a.text} {self.pick('+', '-', '*')} {b.text})", "complex128")

    def _binary(self, kind: str, depth: int) -> Typed:
        a = self.number(kind, depth - 1)
        if kind == "f":
            op = self.pick("+", "-", "*", "+", "-", "*", "/", "//", "%", "**")
            b = self.number("i" if self.chance(20) else "f", depth - 1)
            if op == "**":
                return Typed(f"({a.text} ** {self.pick('2', '3')})", a.type)
            return self._joined(op, a, b)
        op = self.pick("+", "-", "*", "+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "**")
        if op in ("<<", ">>", "**"):
            n = self.pick(2, 3) if op == "**" else self.draw(st.integers(0, 5))
            bound = {"<<": a.bound << n, ">>": a.bound, "**": a.bound**n}[op]
            return Typed(f"({a.text} {op} {n})", a.type, bound) if bound < MAX_BOUND else a
        return self._joined(op, a, self.number("i", depth - 1))

    def _joined(self, op: str, a: Typed, b: Typed) -> Typed:
        """`a op b`, with operands converted so that NumPy raises no OverflowError."""
        if a.python and b.python:
            bound = a.bound * b.bound if op == "*" else 2 * max(a.bound, b.bound) + 1
            if bound >= MAX_BOUND:
                op, bound = "-", a.bound + b.bound
            type_ = "float" if "f" in (a.kind, b.kind) or op == "/" else "int"
            return Typed(f"({a.text} {op} {b.text})", type_, bound)
        a, b = self._strong(a, b), self._strong(b, a)
        type_ = _result(a, b, op)
        return Typed(f"({a.text} {op} {b.text})", type_)

    def _strong(self, a: Typed, other: Typed) -> Typed:
        """A Python int beside a NumPy integer becomes an int64, unless it is a digit.

        So does a uint64 beside another type, with which NumPy would make it a float.
        """
        if a.type == "uint64" and other.type != "uint64" and not other.text.isdigit():
            return Typed(f"np.int64({a.text})", "int64")
        if a.type == "int" and other.kind == "i" and not other.python and not a.text.isdigit():
            return Typed(f"np.int64({a.text})", "int64")
        return a

    def _ternary(self, kind: str, depth: int) -> Typed:
        cond = self.condition(depth - 1)
        a = self.number(kind, depth - 1)
        b = self.coerced(self.number(kind, depth - 1), a.type)
        return Typed(f"({a.text} if {cond.text} else {b.text})", a.type, max(a.bound, b.bound))

    def _function(self, kind: str, depth: int) -> Typed:
        a = self.number(kind, depth - 1)
        name = self.pick("min", "max", "min", "max", "sqrt")
        if name == "sqrt" and kind == "f":
            return Typed(f"np.sqrt(abs({a.text}))", "float64" if a.python else a.type)
        if name == "sqrt":
            return a
        b = self.coerced(self.number(kind, depth - 1), a.type)
        return Typed(f"{name}({a.text}, {b.text})", a.type, max(a.bound, b.bound))

    def coerced(self, a: Typed, target: str) -> Typed:
        """The expression in a type, by a conversion that cannot raise. Floats stay floats."""
        if a.type == target:
            return a
        kind = Typed("", target).kind
        if a.kind == "b" and target != "bool":
            a = Typed(f"int({a.text})", "int", 1)
        if kind == "b":
            return Typed(f"bool({a.text})", "bool")
        if target == "float":
            return Typed(f"float({a.text})", "float")
        if target == "int":
            text = a.text if a.python else f"int({a.text} % {WRAP})"
            return Typed(text, "int", a.bound if a.python else WRAP)
        if kind == "f" or not a.python:
            return Typed(f"np.{target}({a.text})", target)
        return Typed(f"np.{target}({a.text} % {WRAP})", target)

    # ------------------------------------------------------------ conditions

    def condition(self, depth: int = 2) -> Typed:
        form = self.draw(st.integers(0, 9))
        if depth > 0 and form >= 8:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return Typed(f"({a.text} {self.pick('and', 'or')} {b.text})", "bool_")
        if form == 7:
            return Typed(f"(not {self.condition(max(depth - 1, 0)).text})", "bool")
        flags = [s for s in self.scope.scalars if s.kind == "b"]
        flags += [Typed(self.element(a), "bool_") for a in self.scope.arrays if a.read and a.dtype == "bool"][
            :1
        ]
        if flags and form == 6:
            return self.pick(*flags)
        kind = self.pick("i", "f")
        a = self.number(kind, max(depth - 1, 0))
        b = self.number(kind, 0)
        if form == 5 and kind == "i":
            c = self.number(kind, 0)
            return Typed(f"({a.text} <= {b.text} < {c.text})", "bool_")
        return Typed(f"({a.text} {self.pick('<', '<=', '>', '>=', '==', '!=')} {b.text})", "bool_")


def _result(a: Typed, b: Typed, op: str) -> str:
    """The type that NumPy gives."""
    one = {"int": 1, "float": 1.0, "bool": True}.get(a.type)
    two = {"int": 1, "float": 1.0, "bool": True}.get(b.type)
    x = np.dtype(a.type).type(1) if one is None else one
    y = np.dtype(b.type).type(1) if two is None else two
    with np.errstate(all="ignore"):
        out = x / y if op == "/" else x + y
    return out.dtype.name
