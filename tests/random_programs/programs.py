"""Random programs: a function, what it calls, and what it takes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.random_programs.kinds import COMPLEX, FLOATS, INT, INTS, Array, Helper, Name, Types, kind
from tests.random_programs.loops import Loops
from tests.random_programs.rows import Rows


@dataclass(frozen=True)
class Parameter:
    """An array, where it has axes, or a number; of a tuple, `count` items."""

    name: str
    dtype: str
    axes: int = 0
    layout: str = "C"
    count: int = 0
    value: object = None


@dataclass(frozen=True)
class Program:
    """The text of a function `f` and of what it calls. joined: numbers of several types may meet in one name.
    inexact: what it computes depends on the order of sums, or on a library. parallel: it has a `prange`."""

    seed: int
    text: str
    parameters: tuple[Parameter, ...]
    joined: bool
    inexact: bool
    parallel: bool


class Maker(Loops, Rows):
    """Writes one function."""


class RowMaker(Maker):
    """Writes a function of a vector `v` that returns a new one, `u`, or in few places its argument."""

    def returned(self) -> str:
        return "v" if self.chance(8) else "u"


def scalar_helper(rng: random.Random, name: str) -> tuple[list[str], Helper, Maker]:
    """A function of numbers, which may return early and has a default."""
    maker = Maker(rng, rng.choice("if"))
    count = rng.randint(1, 3)
    types: list[Types] = []
    for number in range(count):
        allowed = frozenset(
            {"int"} if maker.results == "i" else {"float"} if rng.random() < 0.7 else {"float", "float64"}
        )
        maker.names[f"p{number}"] = Name(allowed, set(), 20)
        types.append(allowed)
    defaults = rng.randint(0, 1) if count > 1 else 0
    header = ", ".join(
        f"p{k}"
        + (f"={rng.choice('2357') if maker.results == 'i' else '0.5'}" if k >= count - defaults else "")
        for k in range(count)
    )
    maker.body(3)
    maker.put(f"return {maker.returned()}")
    returns = frozenset(maker.return_types)
    return [f"def {name}({header}):", *maker.lines], Helper(tuple(types), returns, "", defaults), maker


def array_helper(rng: random.Random, name: str, dtype: str) -> tuple[list[str], Helper, Maker]:
    """A function of a row and a number: it may write to the row. One in three calls itself, and is not inlined."""
    maker = Maker(rng, "i" if kind(dtype) == "i" else "f")
    maker.arrays["v"] = Array(dtype, ("len(v)",))
    maker.names["p0"] = Name(INT)
    maker.body(2)
    maker.loop()
    maker.put(f"return {maker.returned()}")
    again = (
        ["    if p0 > 1000000:", f"        return {name}(v, 0)"]
        if sum(map(len, maker.lines)) % 3 == 0
        else []
    )
    text = [f"def {name}(v, p0):", *again, *maker.lines]
    return text, Helper((INT,), frozenset(maker.return_types), dtype), maker


def row_helper(rng: random.Random, dtype: str) -> tuple[list[str], Maker]:
    """A function `r` of a vector and a number, whose result is a new vector. Every second one calls itself."""
    maker = RowMaker(rng, "f")
    lengths = ("len(v)",)
    maker.arrays |= {"v": Array(dtype, lengths), "u": Array(dtype, lengths)}
    maker.names["p0"] = Name(INT)
    maker.put("u = v.copy()")
    maker.body(1)
    maker.loop()
    maker.put(f"return {maker.returned()}")
    again = ["    if p0 > 1000000:", "        return r(v, 0)"] if rng.random() < 0.5 else []
    return ["def r(v, p0):", *again, *maker.lines], maker


def parameters(rng: random.Random) -> list[Parameter]:
    """What a function takes: two to four arrays, and some numbers."""
    main = rng.choice([*INTS, "float64", "float64", "float64", "float32"])
    types = [
        main,
        main if rng.random() < 0.6 else rng.choice([*INTS, *FLOATS]),
        rng.choice([*INTS, *FLOATS, "bool", *COMPLEX]),
    ]
    found = []
    for name, dtype in zip("abc"[: rng.randint(1, 3)], types, strict=False):
        found.append(Parameter(name, dtype, 1, rng.choice(["C", "C", "C", "half", "back"])))
    if rng.random() < 0.5:
        found.append(
            Parameter(
                "m",
                rng.choice([main, "float64", rng.choice(INTS)]),
                2,
                rng.choice(["C", "C", "F", "half", "thin"]),
            )
        )
    if rng.random() < 0.4:
        found.append(Parameter("ix", rng.choice(["int64", "int64", "int32", "uint8", "int8", "uint64"]), 1))
    some = [
        Parameter("k", "int", value=rng.choice([0, 1, 3, 5, 7, -1, 100, 300])),
        Parameter("x", "float", value=rng.choice([0.5, -2.0, 3.25, 0.0])),
        Parameter("flag", "bool", value=rng.choice([True, False])),
        Parameter("s", rng.choice([*INTS, *FLOATS]), value=rng.choice([0, 1, 5, 100])),
        Parameter("z", "complex", value=1.5 - 2j),
        Parameter("t", rng.choice(["int", "float"]), count=rng.randint(1, 4)),
    ]
    return found + [p for p in some if rng.random() < 0.4]


def program(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    given = parameters(rng)
    results = rng.choice(["i", "f", "b", "if", "ii", "n", "", "fi", "i", "f"])
    maker = Maker(rng, results)
    lines: list[str] = []
    makers = [maker]
    for number in range(rng.choice([0, 0, 1, 2])):
        with_array = rng.random() < 0.4 and kind(given[0].dtype) in "if"
        text, helper, made = (
            array_helper(rng, f"g{number}", given[0].dtype)
            if with_array
            else scalar_helper(rng, f"h{number}")
        )
        lines += [*text, "", ""]
        maker.helpers[f"{'g' if with_array else 'h'}{number}"] = helper
        makers.append(made)
    if rng.random() < 0.3 and kind(given[0].dtype) in "if":
        text, made = row_helper(rng, given[0].dtype)
        lines += [*text, "", ""]
        maker.row_helpers["r"] = given[0].dtype
        makers.append(made)
    maker.prange_share = rng.choice([0, 0, 60])
    for p in given:
        if p.axes:
            lengths = ("n",) if p.axes == 1 else ("n", "w")
            maker.arrays[p.name] = Array(p.dtype, lengths, p.name != "ix" or rng.random() < 0.2)
        elif p.count:
            maker.tuples[p.name] = (p.dtype, p.count)
        else:
            maker.names[p.name] = Name(
                frozenset({p.dtype}), {p.dtype}, 9, assignable=p.dtype in ("int", "float")
            )
    maker.put("n = len(a)")
    maker.names["n"] = Name(INT, {"int"}, 6, assignable=False)
    if any(p.axes == 2 for p in given):
        maker.put("w = m.shape[1]")
        maker.names["w"] = Name(INT, {"int"}, 6, assignable=False)
    if rng.random() < 0.2:
        maker.lists["found"] = rng.choice(["int", "int", "float"])
        maker.put("found = []")
    maker.body(2)
    maker.loop()
    maker.body(2)
    last = [maker.returned()] if results else []
    if rng.random() < 0.4 and not maker.is_early and results != "n":
        last.append(
            rng.choice([n for n in maker.arrays if n != "ix"]) + rng.choice(["", "", "[1:]", "[::-1]"])
        )
    if maker.lists and rng.random() < 0.6 and not maker.is_early:
        last.append("found")
    maker.put(f"return {', '.join(last)}".rstrip())
    names = ", ".join(p.name for p in given)
    text = "\n".join([*lines, f"def f({names}):", *maker.lines]) + "\n"
    joined, inexact = any(m.joined for m in makers), any(m.inexact for m in makers)
    return Program(seed, text, tuple(given), joined, inexact, maker.is_parallel)


def kernel_text(rng: random.Random, name: str, dtypes: Sequence[str]) -> str:
    """A function of vectors of these types and an int, in which no name and no result may be of several types."""
    while True:
        maker = Maker(rng, rng.choice(["i", "f", "", "f"]))
        names = "ab"[: len(dtypes)]
        maker.arrays = {array: Array(dtype, ("n",)) for array, dtype in zip(names, dtypes, strict=True)}
        maker.names = {"p": Name(INT, {"int"}, 6), "n": Name(INT, {"int"}, 6, assignable=False)}
        maker.put("n = len(a)")
        maker.loop()
        maker.body(1)
        maker.put(f"return {maker.returned()}".rstrip())
        if not maker.joined:
            return "\n".join([f"def {name}({', '.join(names)}, p):", *maker.lines]) + "\n"
