"""Random typed loop programs, as Hypothesis strategies.

A program is a function of arrays of several types, ranks and layouts, of `n` and `m` (their
extents), of a small integer `k` and of a float `x`. Its loops are mostly affine, with bounds
that may be triangular, empty or run down; pragmas stand on loops at random, so that many are
wrong. What the generator avoids is listed in `tests.fuzz.expressions`.
"""

from __future__ import annotations

import linecache
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.expressions import WRAP, ArrayName, Expressions, Scope, Typed

DTYPES = ("float64", "float64", "float64", "float32", "int64", "int64", "int32", "int8", "uint8", "bool",
          "int16", "uint16", "uint32", "uint64", "complex128", "complex64")  # fmt: skip
MAX_SHOWN = 400
LAYOUTS = ("C", "C", "C", "F", "reversed", "every second")
REDUCTIONS = {"f": ("+", "+", "*", "min", "max"), "i": ("+", "+", "&", "|", "^", "min", "max")}


@dataclass(frozen=True)
class Program:
    """source: the text of `def program(...)`. args: what to call it with."""

    source: str
    args: tuple[Any, ...]

    def function(self) -> Callable[..., Any]:
        """The function, with its text where Python and the compiler look for it."""
        file = f"<program-{zlib.crc32(self.source.encode()):08x}>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(keepends=True), file)
        names: dict[str, Any] = {"np": np}
        exec(compile(self.source, file, "exec"), names)
        fn: Callable[..., Any] = names["program"]
        return fn

    def without_pragmas(self) -> Program:
        lines = self.source.splitlines(keepends=True)
        return Program("".join(line for line in lines if "#pragma" not in line), self.args)

    def __str__(self) -> str:
        args = "\n".join(f"#   {_described(a)}" for a in self.args)
        return f"{self.source}\n# called with\n{args}\n"


def _described(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return repr(value)
    if value.size > MAX_SHOWN:
        return f"{value.dtype.name} of shape {value.shape}, from {value.min()} to {value.max()}"
    text = f"np.array({value.tolist()!r}, np.{value.dtype.name}).reshape({value.shape})"
    return text if value.flags.c_contiguous else f"{text}  # strides {value.strides}"


@st.composite
def programs(draw: st.DrawFn, *, large: bool = False) -> Program:
    """A program and arguments for it. large: extents beyond a vector's width, now and then."""
    n, m = draw(st.integers(0, 6)), draw(st.integers(1, 5))
    if large and draw(st.integers(0, 3)) == 3:
        n, m = draw(st.sampled_from((9, 17, 35))), draw(st.sampled_from((3, 8, 19)))
    extents = {"n": n, "m": m, "4": 4}
    tidy = draw(st.booleans())
    arrays, values = [], []
    for number in range(draw(st.integers(1, 4))):
        rank = draw(st.sampled_from((1, 1, 1, 2, 2, 3)))
        shape = tuple(draw(st.sampled_from(("n", "n", "m", "4"))) for _ in range(rank))
        dtype = draw(st.sampled_from(DTYPES))
        if values and draw(st.integers(0, 9)) == 9:  # memory that two arguments share
            other = arrays[-1]
            array = ArrayName("abcd"[number], other.dtype, other.shape, other.written, other.read)
            values.append(draw(st.sampled_from((values[-1], values[-1][::-1]))))
        else:
            array = ArrayName(
                "abcd"[number], dtype, shape, not tidy or number % 2 == 0, not tidy or number % 2 == 1
            )
            values.append(drawn_array(draw, array.dtype, tuple(extents[e] for e in shape)))
        arrays.append(array)
    k = draw(st.integers(-2, 3))
    source = _Body(draw, arrays, tidy=tidy).source()
    return Program(source, (*values, n, m, k, draw(st.sampled_from((0.5, 0.0, -1.25, 3.0)))))


def drawn_array(draw: st.DrawFn, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Small multiples of a quarter: sums of them are exact in any order."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    layout = draw(st.sampled_from(LAYOUTS))
    whole = tuple(2 * s for s in shape) if layout == "every second" else shape
    if dtype.startswith("complex"):
        data = ((rng.integers(-8, 9, whole) + 1j * rng.integers(-8, 9, whole)) / 4).astype(dtype)
    elif dtype == "bool":
        data = rng.integers(0, 2, whole).astype(bool)
    elif dtype.startswith("float"):
        data = (rng.integers(-8, 9, whole) / 4).astype(dtype)
    else:
        data = rng.integers(0 if dtype[0] == "u" else -9, 10, whole).astype(dtype)
    match layout:
        case "F":
            data = np.asfortranarray(data)
        case "reversed":
            data = data[tuple(slice(None, None, -1) for _ in shape)]
        case "every second":
            data = data[tuple(slice(None, None, 2) for _ in shape)]
    return data


class _Body:
    """Draws the statements of one program."""

    def __init__(self, draw: st.DrawFn, arrays: list[ArrayName], *, tidy: bool) -> None:
        self.draw = draw
        self.arrays = arrays
        self.tidy = tidy
        """Whether iterations mostly write elements of their own, so that pragmas are mostly right."""
        self.lines: list[str] = []
        self.locals: dict[str, str] = {}
        self.late: dict[str, str] = {}
        """Locals that are first assigned somewhere inside, so that a read may fail."""
        self.wild = draw(st.integers(0, 9)) >= 8
        self.pragmas = draw(st.integers(0, 9)) >= 3
        self.results: list[str] = []
        self.loops = 0
        self.counters = 0

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def source(self) -> str:
        names = ", ".join(a.name for a in self.arrays)
        self.emit(0, f"def program({names}, n, m, k, x):")
        starts = {"s": ("float", "0.0"), "t": ("int", "0"), "acc": ("acc", "0.0"), "f": ("bool", "False"),
                  "u": ("float64", "np.float64(1.5)"), "w": ("int64", "np.int64(3)"),
                  "r": ("float32", "np.float32(0.5)")}  # fmt: skip
        for name in self.draw(st.lists(st.sampled_from(sorted(starts)), max_size=4, unique=True)):
            self.locals[name], value = starts[name]
            self.emit(1, f"{name} = {value}")
        for name, type_ in (("late", "float"), ("when", "int")):
            if self.chance(15):
                self.late[name] = type_
        self.results = [*self.locals, *(name for name in self.late if self.chance(50))]
        for _ in range(self.draw(st.integers(1, 3))):
            self.loop(1, {}, ())
            if self.chance(25):
                self.statement(1, {}, ())
        for name in self.late:  # assigned somewhere, so that Python takes it for a local
            self.emit(1, "if n > 99:")
            self.emit(2, f"{name} = {self.pick('0', '1')}" + (".5" if self.late[name] == "float" else ""))
        self.emit(1, self.leave())
        return "\n".join(self.lines) + "\n"

    # ------------------------------------------------------------ what can be read

    def expressions(self, ranges: dict[str, str]) -> Expressions:
        scalars = [Typed("n", "int", 6), Typed("m", "int", 5), Typed("k", "int", 3), Typed("x", "float")]
        scalars += [Typed(v, "int", 12) for v in ranges]
        for name, type_ in (*self.locals.items(), *self.late.items()):
            # `acc` starts as Python's float and becomes NumPy's, which divide by zero differently.
            if type_ != "acc":
                scalars.append(Typed(name, type_, 1_000_000 if type_ == "int" else 0))
        return Expressions(self.draw, Scope(self.arrays, scalars, ranges), wild=self.wild)

    # ------------------------------------------------------------ statements

    def block(self, depth: int, ranges: dict[str, str], kinds: tuple[str, ...]) -> None:
        for _ in range(self.draw(st.integers(1, 3))):
            self.statement(depth, ranges, kinds)

    def statement(self, depth: int, ranges: dict[str, str], kinds: tuple[str, ...]) -> None:
        """kinds: the loops around, "for" or "while", from the outside in."""
        form = self.draw(st.integers(0, 19))
        if form <= 6:
            self.store(depth, ranges)
        elif form <= 9:
            self.update_element(depth, ranges)
        elif form <= 12:
            self.reduce(depth, ranges)
        elif form <= 14:
            self.assign(depth, ranges)
        elif form <= 16 and depth < 5:
            self.branch(depth, ranges, kinds)
        elif form == 17 and len(kinds) < 3:
            self.loop(depth, ranges, kinds)
        elif form == 18 and len(kinds) < 3:
            self.while_loop(depth, ranges, kinds)
        elif form == 19 and kinds and self.chance(40):
            e = self.expressions(ranges)
            self.emit(depth, f"if {e.condition(1).text}:")
            self.emit(depth + 1, self.pick("break", "continue") if kinds[-1] != "while" else "break")
        else:
            self.store(depth, ranges)

    def leave(self) -> str:
        return f"return {', '.join(self.results)}" if self.results else "return"

    def value_for(self, e: Expressions, dtype: str) -> str:
        kind = Typed("", dtype).kind
        if kind == "b":
            return e.condition().text
        if kind == "f" and self.chance(20):
            kind = "i"
        value = e.number(kind)
        if value.kind in "fc" or value.type == dtype:
            return value.text
        return e.coerced(value, dtype).text

    def target(self, e: Expressions) -> tuple[ArrayName, str]:
        """An array to write, and the element."""
        array = self.pick(*[a for a in self.arrays if a.written])
        return array, e.own_element(array) if self.tidy and self.chance(90) else e.element(array)

    def store(self, depth: int, ranges: dict[str, str]) -> None:
        e = self.expressions(ranges)
        array, target = self.target(e)
        self.emit(depth, f"{target} = {self.value_for(e, array.dtype)}")

    def update_element(self, depth: int, ranges: dict[str, str]) -> None:
        e = self.expressions(ranges)
        array, target = self.target(e)
        kind = Typed("", array.dtype).kind
        op = {"b": ("&", "|", "^"), "i": ("+", "-", "*", "&", "|", "^"), "f": ("+", "-", "*", "/"),
              "c": ("+", "-", "*")}[kind]  # fmt: skip
        if self.pragmas and ranges and kind != "b" and self.chance(15):
            op = ("+", "-")
            target = e.element(array)
            self.emit(depth, "#pragma atomic")
        value = (
            f"np.bool_({e.condition().text})" if kind == "b" else e.coerced(e.number(kind), array.dtype).text
        )
        self.emit(depth, f"{target} {self.pick(*op)}= {value}")

    def reduce(self, depth: int, ranges: dict[str, str]) -> None:
        names = list(self.locals)
        if not names:
            self.store(depth, ranges)
            return
        name = self.pick(*names)
        type_ = "float64" if self.locals[name] == "acc" else self.locals[name]
        e = self.expressions(ranges)
        if self.tidy:  # what is combined into is read nowhere else
            e.scope.scalars = [s for s in e.scope.scalars if s.text not in self.locals]
        kind = Typed("", type_).kind
        if kind == "b":
            self.emit(
                depth, f"{name} = {name} {self.pick('and', 'or')} {e.coerced(e.condition(), 'bool').text}"
            )
            return
        op = self.pick(*REDUCTIONS[kind])
        value = e.coerced(e.number(kind), type_)
        text = f"({value.text}) % {WRAP}" if type_ == "int" else value.text
        if op in ("min", "max"):
            self.emit(depth, f"{name} = {op}({name}, {text})")
        elif self.chance(70):
            self.emit(depth, f"{name} {op}= {text}")
        else:
            self.emit(depth, f"{name} = {name} {op} {text}")

    def assign(self, depth: int, ranges: dict[str, str]) -> None:
        names = {**{n: t for n, t in self.locals.items() if t != "acc"}, **self.late}
        if not names:
            self.store(depth, ranges)
            return
        name = self.pick(*sorted(names))
        type_ = names[name]
        e = self.expressions(ranges)
        value = e.coerced(e.number(Typed("", type_).kind), type_)
        self.emit(depth, f"{name} = ({value.text}) % {WRAP}" if type_ == "int" else f"{name} = {value.text}")

    def branch(self, depth: int, ranges: dict[str, str], kinds: tuple[str, ...]) -> None:
        self.emit(depth, f"if {self.expressions(ranges).condition().text}:")
        self.block(depth + 1, ranges, kinds)
        if self.chance(20):
            self.emit(depth, f"elif {self.expressions(ranges).condition().text}:")
            self.block(depth + 1, ranges, kinds)
        if self.chance(40):
            self.emit(depth, "else:")
            self.block(depth + 1, ranges, kinds)

    # ------------------------------------------------------------ loops

    def loop(self, depth: int, ranges: dict[str, str], kinds: tuple[str, ...]) -> None:
        var = ("i", "j", "l", "p", "q", "v")[self.loops % 6] + (
            "" if self.loops < 6 else str(self.loops // 6)
        )
        self.loops += 1
        extent = self.pick("n", "n", "m", "4")
        bounds = self.bounds(extent, ranges)
        nested = self.chance(35) and len(kinds) < 2
        if self.pragmas and self.chance(45):
            self.emit(depth, f"#pragma {self.pragma(collapse=nested)}")
        self.emit(depth, f"for {var} in range({bounds}):")
        inner = {**ranges, var: extent}
        if nested:
            self.loop(depth + 1, inner, (*kinds, "for"))
            if self.chance(60):
                return
        self.block(depth + 1, inner, (*kinds, "for"))

    def pragma(self, *, collapse: bool) -> str:
        request = self.pick("parallel for", "parallel for", "parallel for", "parallel for simd", "simd",
                            "sequential for", "auto")  # fmt: skip
        if collapse and request == "parallel for" and self.chance(40):
            request += " collapse(2)"
        if request == "parallel for" and self.chance(15):
            request += self.pick(" schedule(dynamic)", " schedule(static, 2)", " if(n > 3)")
        return request

    def bounds(self, extent: str, ranges: dict[str, str]) -> str:
        """The arguments of `range`; values stay within the extent unless the program is wild."""
        outer = [v for v, e in ranges.items() if e == extent] or ["0"]
        hi = f"{extent} + 1" if self.wild and self.chance(10) else extent
        form = self.draw(st.integers(0, 13))
        if form <= 5:
            return hi
        if form <= 8:
            first = self.pick(*outer)
            return self.pick(f"{first}, {hi}", f"{first} + 1, {hi}", f"{first}", f"{first} + 1")
        if form == 9:
            return f"1, {extent} - 1"
        if form == 10:
            return f"{hi} - 1, -1, -1"
        if form == 11:
            return self.pick(f"0, {hi}, 2", f"1, {hi}, 3", f"{extent} - 1, 0, -2")
        if form == 12:
            return f"{extent} - 1, {self.pick(*outer)} - 1, -1"
        return f"max(k, 0), {hi}" if self.chance(50) else f"0, {hi}, k" if self.wild else f"k % 3, {hi}"

    def while_loop(self, depth: int, ranges: dict[str, str], kinds: tuple[str, ...]) -> None:
        counter = f"c{self.counters}"
        self.counters += 1
        self.emit(depth, f"{counter} = 0")
        condition = f" and {self.expressions(ranges).condition(1).text}" if self.chance(50) else ""
        self.emit(depth, f"while {counter} < {self.pick('3', 'm', 'n')}{condition}:")
        self.emit(depth + 1, f"{counter} += 1")
        self.block(depth + 1, ranges, (*kinds, "while"))
