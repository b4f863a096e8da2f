"""Random programs of NumPy calls, as text that runs with `np` bound to NumPy or to appyc's namespace.

Statements make arrays, views and in-place changes, look at values in between, and drop names; each
is tried on NumPy at once, and drawn again where NumPy refuses it. Values are small multiples of a
quarter, so that only long sums and transcendental functions round.
"""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import appyc
import appyc.numpy

DTYPES = ("float64", "float64", "float64", "float32", "int64", "int32", "uint8", "bool", "complex128")
BINARY = ("+", "-", "*", "+", "-", "*", "/", "<", ">=", "==")
UNARY = ("np.sqrt(np.abs({}))", "-{}", "np.sin({})", "np.exp(-np.abs({}))", "np.abs({})", "{} ** 2",
         "np.square({})", "{}.copy()", "np.conjugate({})", "{}.astype(np.float64)", "{}.astype(np.float32)",
         "np.cumsum({}, axis=0)", "np.clip({}, -1, 1)", "np.maximum({}, 0.25)", "np.copy({})", "np.flip({})",
         "np.moveaxis({}, 0, -1)", "np.diagonal({}).copy()", "np.sort({}, axis=-1)", "np.zeros_like({})",
         "np.diff({}, axis=0)",
         "np.roll({}, 1)", "np.tril({})", "np.add.accumulate({})", "np.where({} > 0)[0] + 0", "np.real({})",
         "np.broadcast_to({}, (2, 1, 6)).copy()", "np.triu({}) + 0", "np.linspace(0, 1, np.size({}))")  # fmt: skip
REDUCED = ("np.argmax({}, axis=0)", "{}.argmin()", "np.cumsum({}, axis=-1)", "{}.cumprod(axis=0)", "{}.sum()",
           "{}.sum(axis=0)", "{}.mean(axis=-1)", "{}.max()", "np.min({}, axis=0)", "{}.any()",
           "{}.sum(axis=-1, keepdims=True)", "np.std({})", "{}.prod(axis=0)", "np.sum({}, axis=0, dtype=np.float64)",
           "np.add.reduce({})", "np.maximum.reduce({}, axis=-1)", "{}.sum(axis=0, initial=2)", "np.median({})",
           "np.linalg.norm({})", "np.count_nonzero({})", "np.argsort({}, axis=-1, kind='stable')")  # fmt: skip
PLACES = (
    "np.array([0, 1, 0])",
    "[-1, 0]",
    "np.array([[0, 1], [1, 0]])",
    "i",
    "i[::-1]",
    "i % 3",
    "np.argsort(i)",
)
AT = ("np.add", "np.subtract", "np.multiply", "np.maximum")
LOOKED_AT = (
    "float(np.real({}).sum())",
    "{}.shape",
    "bool(({} == {}).all())",
    "{}.tolist()",
    "str({}.dtype)",
    "len({})",
)


def scaled(x, y):
    for k in range(min(x.shape[0], y.shape[0])):
        y[k] = 0.5 * x[k] + y[k]


def smoothed(y):
    for k in range(1, y.shape[0]):
        y[k] = 0.5 * (y[k] + y[k - 1])


def total(x):
    found = np.float64(0.0)
    for k in range(x.shape[0]):
        found += x[k]
    return found


def given(x):
    """A copy of an array of NumPy's that changes afterwards, as a program's that is not appyc's may."""
    values = np.array(x)
    namespace = appyc.numpy if type(x) is appyc.numpy.ndarray else np
    out = np.array(values) if namespace is np else namespace.asarray(values)
    values[...] = 0
    return out


def outside(x):
    """What another library sees, in a view that is read-only."""
    return float(np.real(np.asarray(x)).sum())


PLAIN: dict[str, Callable[..., Any]] = {f.__name__: f for f in (scaled, smoothed, total)}
DEFERRED = {name: appyc.jit(defer=True)(f) for name, f in PLAIN.items()}
"""Functions that programs call, as they are and compiled."""

OTHERS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (given, outside)}
"""Functions of another library."""

NOT_NAMES = frozenset(("np", "seen", "__builtins__", *PLAIN, *OTHERS))


@dataclass
class Writer:
    """Writes a program and runs it on NumPy, statement by statement."""

    choose: random.Random
    names: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    serial: int = 0

    def arrays(self) -> list[str]:
        return [n for n, v in self.names.items() if isinstance(v, np.ndarray) and v.ndim]

    def operand(self) -> str:
        name = self.choose.choice(self.arrays() or list(self.names))
        if self.choose.random() < 0.3:
            return self.view(name)
        if self.choose.random() < 0.15:
            return self.choose.choice(("2", "0.5", "3", "1.25", "np.float32(0.5)", "-1"))
        return name

    def view(self, name: str) -> str:
        value = self.names[name]
        if not isinstance(value, np.ndarray) or value.ndim == 0:
            return name
        forms = [
            "[1:]",
            "[:-1]",
            "[::-1]",
            "[::2]",
            "[1:-1]",
            "[-1]",
            "[0]",
            ".T",
            "[None]",
            "[..., None]",
            "[2:5]",
            "[::-2]",
            "[4::-1]",
            "[::-1][1:]",
            "[1:][::-2]",
            "[0:0]",
        ]
        forms += [".reshape(-1)", ".ravel('K')", ".flat[1:3]"]
        if value.ndim > 1:
            forms += ["[:, 0]", "[:, 1:]", "[1:, :-1]", "[:, None]", "[:, ::-1]", ".swapaxes(0, 1)", ".real"]
        return name + self.choose.choice(forms)

    def statement(self) -> str:
        choose, kind = self.choose, self.choose.random()
        if kind < 0.42:
            return f"{self.fresh()} = {self.operand()} {choose.choice(BINARY)} {self.operand()}"
        if kind < 0.55:
            return f"{self.fresh()} = {choose.choice(UNARY).format(self.operand())}"
        if kind < 0.65:
            return f"{self.fresh()} = {choose.choice(REDUCED).format(self.operand())}"
        if kind < 0.72:
            return f"{self.fresh()} = {self.view(choose.choice(list(self.names)))}"
        if kind < 0.80:
            return f"{choose.choice(list(self.names))} {choose.choice(('+=', '-=', '*='))} {self.operand()}"
        if kind < 0.88:
            return f"{self.view(choose.choice(list(self.names)))}[...] = {self.operand()}"
        if kind < 0.91:
            name = choose.choice(list(self.names))
            mask = f"{choose.choice((name, self.operand()))} > {choose.choice(('0', '0.5'))}"
            return choose.choice((f"{name}[{mask}] = {choose.choice(('0', '1', '-2'))}", f"{name}[{mask}] += 1",
                                  f"{self.fresh()} = {name}[{mask}]", f"np.add({name}, 1, out={name}, where={mask})",
                                  f"{self.fresh()} = np.sum({name}, where={mask})", f"np.putmask({name}, {mask}, 2)",
                                  f"np.copyto({name}, {self.operand()}, where={mask})"))  # fmt: skip
        if kind < 0.93:
            return self.indexed()
        if kind < 0.94:
            return self.with_options()
        if kind < 0.95:
            one, two, three = self.operand(), self.operand(), self.operand()
            return f"{self.fresh()} = np.where({one} > {choose.choice(('0', '0.5'))}, {two}, {three})"
        if kind < 0.957:
            return self.kernel()
        if kind < 0.968 and len(self.names) > 2:
            return f"del {choose.choice([n for n in self.names if n != 'i'])}"
        name = self.operand()
        return f"seen.append({choose.choice(LOOKED_AT).format(name, name)})"

    def indexed(self) -> str:
        """Loads and stores by arrays of indices."""
        choose = self.choose
        name = choose.choice(self.arrays() or list(self.names))
        if choose.random() < 0.4:
            name = self.view(name)
        places = choose.choice(PLACES)
        key = choose.choice(
            (places, places, f":, {places}", f"0, {places}", f"{places}, {places}", f"{places}, 1:",
             f"..., {places}", f"{places}, None", f"::-1, {places}")
        )  # fmt: skip
        if choose.random() < 0.2:
            key = f"{choose.choice((name, self.operand()))} {choose.choice(('>', '<='))} {choose.choice(('0', '0.5'))}"
        value = choose.choice((self.operand(), "1", "2.5"))
        return choose.choice((
            f"{self.fresh()} = {name}[{key}]", f"{name}[{key}] = {value}", f"{name}[{key}] *= 2",
            f"np.add.at({name}, {choose.choice(PLACES[:2])}, {value})",
            f"{self.fresh()} = np.take({name}, {places}, axis=0)",
            f"np.divide({name}, 2, out={name})", f"np.multiply({name}, 3, out={name}, casting='unsafe')",
            f"{choose.choice(AT)}.at({name}, {choose.choice(PLACES)}, {value})",
            f"np.put({name}, {choose.choice(PLACES[:2])}, {value})", f"{name}.flat[1:3] = {value}",
        ))  # fmt: skip

    def with_options(self) -> str:
        """Calls with `out=`, `where=`, `dtype=` and `casting=`, and what takes arrays from outside."""
        choose = self.choose
        one, two, into = self.operand(), self.operand(), self.view(choose.choice(list(self.names)))
        dtype = choose.choice(
            ("np.float64", "np.float32", "np.int64", "np.int32", "np.uint8", "bool", "complex")
        )
        mask = f"{self.operand()} > {choose.choice(('0', '0.5'))}"
        f = choose.choice(("np.add", "np.multiply", "np.maximum", "np.subtract", "np.minimum"))
        return choose.choice((
            f"{f}({one}, {two}, out={into})", f"{f}({one}, {two}, out={into}, where={mask})",
            f"{f}({one}, {two}, out={into}, casting='unsafe')", f"{self.fresh()} = {f}({one}, {two}, dtype={dtype})",
            f"{self.fresh()} = np.sum({one}, axis=0, dtype={dtype})", f"np.sum({one}, axis=0, out={into})",
            f"{self.fresh()} = np.sum({one}, axis=-1, where={mask})", f"np.cumsum({one}, axis=0, out={into})",
            f"{self.fresh()} = np.max({one}, initial=0, where={mask})", f"np.sqrt(np.abs({one}), out={into})",
            f"{self.fresh()} = np.add.reduceat({one}, [0, 2, 1])", f"{self.fresh()} = {f}.accumulate({one})",
            f"{self.fresh()} = {f}.outer({one}, {two})", f"{self.fresh()} = {one}.astype({dtype})",
            f"{self.fresh()} = np.zeros({choose.choice(('()', '0', '(3, 0)', '6', '(4, 6)'))}, {dtype})",
            f"{self.fresh()} = np.full({choose.choice(('()', '0', '6', '(2, 3)'))}, 2)",
            f"{self.fresh()} = np.concatenate(({one}, {two}))", f"{self.fresh()} = np.stack(({one}, {two}))",
            f"{into}[...] = np.arange(np.size({into})).reshape({into}.shape)",
            f"{self.fresh()} = np.einsum('i,i->i', {one}, {two})", f"{self.fresh()} = {one} @ {two}",
            f"{self.fresh()} = np.where({mask}, {one}, {two})", f"{self.fresh()} = {one} // 2",
            f"{self.fresh()} = {one} % 3",
            f"np.copyto({into}, {one}, casting='unsafe')", f"{into}.fill(2)", f"{into}.sort()",
            f"{self.fresh()} = given({one})", f"seen.append(outside({one}))",
        ))  # fmt: skip

    def kernel(self) -> str:
        """A call of a compiled function that is deferred: on floats along one axis."""
        choose = self.choose
        names = [
            n
            for n, v in self.names.items()
            if np.ndim(v) == 1 and v.dtype == np.float64 and v.flags.writeable
        ]
        if not names:
            return "np"
        one, two = (
            choose.choice(names) + choose.choice(("", "", "[1:]", "[::-1]", "[::2]")) for _ in range(2)
        )
        return choose.choice((f"scaled({one}, {two})", f"smoothed({two})", f"{self.fresh()} = total({one})"))

    def fresh(self) -> str:
        if self.names and self.choose.random() < 0.2:
            return self.choose.choice(list(self.names))
        self.serial += 1
        return f"x{self.serial}"

    def add(self) -> None:
        """One more statement that NumPy takes."""
        for _ in range(20):
            line = self.statement()
            there: dict[str, Any] = {**copy.deepcopy(self.names), "np": np, "seen": [], **PLAIN, **OTHERS}
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    exec(line, there)
            except (
                SyntaxError,
                TypeError,
                ValueError,
                IndexError,
                AttributeError,
                OverflowError,
                ZeroDivisionError,
                NameError,
            ):
                continue
            left = {k: v for k, v in there.items() if k not in NOT_NAMES}
            if "i" not in left or np.shape(left["i"]) != (3,) or left["i"].dtype != np.int64:
                continue  # the indices stay what they are good for
            if any(np.size(v) > 400 or np.asarray(v).dtype == object for v in left.values()) or not any(
                np.ndim(v) for v in left.values()
            ):
                continue
            if any(np.asarray(v).dtype.kind in "fc" and not _is_small(v) for v in left.values()):
                continue
            self.names = left
            self.lines.append(line)
            return


def _is_small(value: Any) -> bool:
    with np.errstate(all="ignore"):
        return bool(np.all(np.abs(value) < 1e6))


@dataclass(frozen=True)
class Recorded:
    """A program: `inputs` by name, and lines that use them, `np` and the list `seen`."""

    inputs: dict[str, np.ndarray]
    lines: tuple[str, ...]

    def run(self, namespace: Any, convert: Callable[[np.ndarray], Any]) -> dict[str, Any]:
        """What the names are bound to afterwards, and what was looked at."""
        there: dict[str, Any] = {k: convert(v.copy()) for k, v in self.inputs.items()}
        there |= {"np": namespace, "seen": [], **OTHERS, **(PLAIN if namespace is np else DEFERRED)}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for number, line in enumerate(self.lines):
                try:
                    exec(line, there)
                except Exception as error:  # noqa: BLE001  (which one is what is compared)
                    there["seen"].append(f"line {number}: {type(error).__name__}")
                    break
        return {k: v for k, v in there.items() if k == "seen" or k not in NOT_NAMES}

    def __str__(self) -> str:
        given = [f"{k} = np.array({v.tolist()}, np.{v.dtype})" for k, v in self.inputs.items()]
        return "\n".join([*given, *self.lines])


def program(seed: int, least: int = 5, most: int = 60) -> Recorded:
    """The program of a seed, with between `least` and `most` statements."""
    choose = random.Random(seed)
    shapes = [(6,), (6,), (4, 6), (6, 6), (1, 6), (5,), (0,), (1,), (4, 1), (2, 3, 4), (), (3, 0)]
    inputs = {}
    for name in "abc":
        shape = choose.choice(shapes)
        size = int(np.prod(shape))
        values = np.array([choose.randint(-8, 8) / 4 for _ in range(size)])
        inputs[name] = np.abs(values * 4).astype(np.uint8).reshape(shape) if choose.random() < 0.1 else (
            values.reshape(shape).astype(choose.choice(DTYPES))
        )  # fmt: skip
    inputs["i"] = np.array([choose.randint(-3, 3) for _ in range(3)])
    writer = Writer(choose, dict(inputs))
    for _ in range(choose.randint(least, most)):
        writer.add()
    return Recorded(inputs, tuple(writer.lines))
