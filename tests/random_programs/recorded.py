"""Random programs of arrays, run with NumPy and with `appyc.numpy`, from what `docs/lazy.md` says is recorded.

A statement is drawn, and tried with NumPy: one that raises is mostly left out. So shapes and types need no rules here.
"""

from __future__ import annotations

import contextlib
import random
import re
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

import appyc
from appyc.lazy.running import STATE
from tests.e2e.harness import LOOSE, Mismatch, compare_values
from tests.random_programs.check import MOST_SECONDS, SINGLE, Verdict, processor_time
from tests.random_programs.programs import kernel_text

DTYPES = [
    "float64",
    "float64",
    "float64",
    "float32",
    "int64",
    "int32",
    "uint8",
    "int8",
    "uint64",
    "bool",
    "complex128",
]

VALUES = [
    "{x} + {y}", "{x} - {y}", "{x} * {y}", "{x} * {c}", "{x} + {c}", "{c} - {x}", "{x} / 4", "{x} // {d}",
    "{x} % {d}", "{x} ** 2", "-{x}", "abs({x})", "~{x}", "{x} & {y}", "{x} | {y}", "{x} ^ {y}", "{x} << 1",
    "{x} >> 2", "{x} < {y}", "{x} >= {c}", "{x} == {y}", "{x} != {c}", "np.maximum({x}, {y})",
    "np.minimum({x}, {c})", "np.sqrt(np.abs({x}))", "np.floor({x})", "np.sin({x})",
    "np.where({x} > {c}, {x}, {y})", "np.where({x} < {y}, {c}, {x})", "np.clip({x}, 0, 3)",
    "np.square({x})", "np.sign({x})", "{x}.sum()", "{x}.sum(axis={a})", "{x}.mean(axis={a})", "{x}.prod()",
    "{x}.min(axis={a})", "{x}.max()", "{x}.any()", "{x}.all(axis={a})", "{x}.var()", "{x}.std(axis={a})",
    "{x}.argmin()", "{x}.argmax(axis={a})", "{x}.cumsum()", "np.cumsum({x}, axis={a})",
    "np.cumprod({x}, axis={a})", "np.ptp({x})", "np.nansum({x})", "{x}.sum(axis={a}, keepdims=True)",
    "np.sum({x}, dtype=np.float64)", "{x}.max(axis={a}, initial=0)", "np.sum({x}, where={x} > {c})",
    "np.add.reduce({x})", "np.add.accumulate({x})", "np.add.outer({x}, {y})", "{x} @ {y}",
    "np.dot({x}, {y})", "np.inner({x}, {y})", "np.outer({x}, {y})", "np.linalg.norm({x})",
    "np.einsum('i,i', {x}, {y})", "np.einsum('ij->ji', {x})", "np.einsum('ij,j->i', {x}, {y})",
    "np.concatenate([{x}, {y}])", "np.stack([{x}, {x}])", "np.roll({x}, {i})", "np.roll({x}, 1, axis={a})",
    "np.round({x})", "np.tile({x}, 2)", "np.repeat({x}, 2)", "np.pad({x}, 1)",
    "np.pad({x}, 1, mode='edge')", "np.tril({x})", "np.triu({x}, 1)", "np.isclose({x}, {y})",
    "np.nan_to_num({x})", "np.diff({x})", "np.diff({x}, axis={a})", "np.take({x}, [0, 1, 0])",
    "{x}.astype({t})", "{x}.copy()", "np.copy({x})", "{x}[{s}]", "{x}[{s}, {s}]", "{x}[..., {i}]",
    "{x}[{i}]", "{x}[{i}:]", "{x}[None]", "{x}[:, None]", "{x}.T", "{x}.reshape(-1)", "{x}.ravel()",
    "{x}.reshape(2, -1)", "np.flip({x})", "np.moveaxis({x}, 0, -1)", "np.split({x}, 2)[1]",
    "np.diagonal({x})", "{x}.real", "{x}.imag", "{x}.view(np.uint8)",
    "np.broadcast_to({x}, (3,) + {x}.shape)", "np.squeeze({x})", "np.expand_dims({x}, 0)",
    "np.swapaxes({x}, 0, -1)", "{x}[[0, 1, 1]]", "{x}[np.array([1, 0])]", "{x}[:, [0, 1]]",
    "{x}[[0, 1], [1, 0]]", "{x}[{x} > {c}]", "{x}[np.argsort({x})]", "np.sort({x})", "np.unique({x})",
    "np.nonzero({x})[0]", "np.argsort({x}, kind='stable')", "np.zeros({n})", "np.ones({n}, {t})",
    "np.full({n}, {c})", "np.arange({n})", "np.arange({n}, dtype={t})", "np.linspace(0, 1, {n})",
    "np.eye(3)", "np.zeros_like({x})", "np.ones_like({x})", "np.array({x})", "np.asarray({x})",
    "np.array([{c}, {c}, {c}])", "np.isnan({x})", "np.logical_and({x}, {y})", "np.count_nonzero({x})",
    "np.bincount(np.abs({x}).astype(np.int64) % 5)", "np.trapezoid({x})", "np.vstack([{x}, {y}])",
    "np.hstack([{x}, {x}])", "float({x}.sum())", "int({x}.max())", "bool({x}.any())", "{x}.tolist()",
    "len({x})", "{x}.shape[0]", "{x}.item(0)", "sum({x})", "max({x})", "[v for v in {x}][0]",
    "float({x}[{i}])", "{x}.size", "{x}.ndim",
]  # fmt: skip

STATEMENTS = [
    "{x}[{s}] = {y}", "{x}[{s}] = {y}[{s}]", "{x}[{s}] += {c}", "{x}[{s}] *= 2", "{x} += {y}", "{x} -= {c}",
    "{x} *= {y}", "{x}[:] = {e}", "{x}[...] = {e}", "{x}[{i}] = {c}", "{x}[{i}] += {c}",
    "{x}[{i}] = {x}[{i}] + {y}[{i}]", "{x}[{x} > {c}] = 0", "{x}[{x} < {c}] += 1", "{x}[[0, 1]] = {c}",
    "{x}[[0, 1]] += {y}[[1, 0]]", "{x}[1:] = {x}[:-1]", "{x}[:-1] += {x}[1:]", "{x}[::-1] = {y}",
    "{x}[{s}, {i}] = {c}", "np.add({x}, {y}, out={x})", "np.multiply({x}, {c}, out={x})",
    "np.add({x}, {y}, out={x}, where={x} > {c})", "np.add.at({x}, [0, 0, 1], {c})", "np.copyto({x}, {y})",
    "np.putmask({x}, {x} > {c}, 0)", "{x}.fill({c})", "{x}.sort()", "{x}, {y} = {y}, {x}", "{x} = {y}",
    "{x} = {x}[1:]", "{x} = {x} + {y}", "{x} = {e}", "{x}.T[{i}] = {c}", "{x}.reshape(-1)[0] = {c}",
    "{x}.real = {c}", "np.cumsum({x}, out={x})", "{x}[{s}] = {x}[{s}][::-1]", "del {x}",
    "np.clip({x}, 0, 2, out={x})", "{x} **= 2", "{x} //= {d}", "{x} &= {y}", "{x} |= 1",
]  # fmt: skip

BLOCKS = [
    "for step in range({k}):",
    "if {x}.sum() > {c}:",
    "if {x}[{i}] > {c}:",
    "for step in range({i}, 3):",
]


@dataclass(frozen=True)
class Program:
    """text: of a function `run(np, ...)`. kernels: text of functions that it calls. compiles: each program that it
    records is compiled, however small; at_once: elements of arrays that are computed at once."""

    seed: int
    text: str
    kernels: str
    compiles: bool
    at_once: int


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.values: dict[str, Any] = {}
        self.lines: list[str] = []
        self.kernels: dict[str, Any] = {}
        self.count = 0

    def arrays(self) -> list[str]:
        return [n for n, v in self.values.items() if isinstance(v, numpy.ndarray)] or ["a"]

    def fill(self, template: str) -> str:
        """The template with names and numbers in it."""
        pick, arrays = self.rng.choice, self.arrays()
        x = pick(arrays[-6:])
        alike = [
            n for n in arrays if numpy.shape(self.values[n])[-1:] == numpy.shape(self.values[x])[-1:]
        ] or arrays
        choices: dict[str, Callable[[], str]] = {
            "x": lambda: x,
            "y": lambda: pick(alike if self.rng.random() < 0.85 else arrays),
            "c": lambda: pick(["0", "1", "2", "3", "0.5", "-1", "2.0", *self._numbers()]),
            "d": lambda: pick(["2", "3", "1.5"]),
            "a": lambda: pick(["0", "-1", "1", "None"]),
            "i": lambda: pick(["0", "1", "-1", "2"]),
            "k": lambda: pick("2345"),
            "n": lambda: pick(["6", "8", "(3, 6)"]),
            "t": lambda: pick(["np.float32", "np.int64", "np.float64", "np.int16", "bool"]),
            "s": lambda: pick(["1:", ":-1", "::2", "::-1", "1:-1", ":", "2:5", "1::2"]),
            "e": self.expression,
        }  # fmt: skip
        return re.sub(r"\{(\w)\}", lambda m: choices[m[1]](), template)

    def _numbers(self) -> list[str]:
        return [
            n
            for n, v in self.values.items()
            if isinstance(v, int | float | numpy.number) and numpy.isfinite(v)
        ][-4:]

    def expression(self) -> str:
        if self.kernels and self.rng.random() < 0.1:
            return self.call()
        text = self.fill(self.rng.choice(VALUES))
        return f"({text}) {self.rng.choice('+*-')} {self.fill('{y}')}" if self.rng.random() < 0.3 else text

    def call(self) -> str:
        name = self.rng.choice(list(self.kernels))
        dtypes = self.kernels[name]
        given = []
        for dtype in dtypes:
            fitting = [
                n
                for n in self.arrays()
                if getattr(self.values.get(n), "dtype", None) == dtype and self.values[n].ndim == 1
            ]
            given.append(self.rng.choice(fitting) if fitting else "a")
        return f"{name}({', '.join(given)}, {self.rng.choice(['1', '2', '3'])})"

    def line(self) -> str:
        if self.rng.random() < 0.55:
            self.count += 1
            return f"v{self.count} = {self.expression()}"
        return self.fill(self.rng.choice(STATEMENTS))

    def statement(self) -> list[str]:
        if self.rng.random() < 0.12:
            return [
                self.fill(self.rng.choice(BLOCKS)),
                *(f"    {self.line()}" for _ in range(self.rng.randint(1, 4))),
            ]
        return [self.line()]

    def keep(self, lines: list[str], namespace: dict[str, Any]) -> str:
        """What NumPy does with the lines, on copies: `kept`, or why not."""
        memo: dict[int, Any] = {}
        before = {n: _copied(v, memo) for n, v in self.values.items()}
        try:
            with numpy.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("error")
                exec("\n".join(lines), namespace, self.values)
            if any(getattr(v, "size", 0) > 4000 for v in self.values.values()):
                raise ValueError("too large")
        except Exception as error:  # noqa: BLE001
            self.values = before
            return type(error).__name__
        self.values.pop("step", None)
        return "kept"


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    """A copy that keeps views: of the same memory, where its owner was copied before."""
    if not isinstance(value, numpy.ndarray):
        return value
    owner = value
    while isinstance(owner.base, numpy.ndarray):
        owner = owner.base
    if id(owner) not in memo:
        memo[id(owner)] = owner.copy(order="K")
    new = memo[id(owner)]
    if value is owner or new.strides != owner.strides:
        return new if value is owner else value.copy(order="K")
    offset = value.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    flat = new.reshape(-1, order="A").view(numpy.uint8) if new.size else new
    return (
        numpy.ndarray(value.shape, value.dtype, flat.data, offset, value.strides)
        if new.size and offset >= 0
        else value.copy()
    )


def inputs(seed: int) -> dict[str, numpy.ndarray]:
    """The arrays that a program begins with."""
    rng = random.Random(f"inputs {seed}")
    found = {}
    for name in "abcd":
        dtype = numpy.dtype(rng.choice(DTYPES))
        shape = (
            rng.choice([(6,), (6,), (8,), (3, 6), (6, 6), (1,), (2, 3, 6), (6, 1), (0,)])
            if name != "a"
            else (6,)
        )
        numbers = [
            rng.randint(-8, 24) / 4 if dtype.kind in "fc" else rng.randint(0, 6)
            for _ in range(int(numpy.prod(shape)))
        ]
        found[name] = numpy.array(numbers, dtype).reshape(shape)
    return found


def program(seed: int) -> Program:
    """The program of a seed."""
    maker = _Maker(seed)
    maker.values = inputs(seed)
    kernels = []
    namespace: dict[str, Any] = {"np": numpy, "math": __import__("math"), "prange": range}
    for number in range(maker.rng.choice([0, 0, 1, 2])):
        dtypes = ("float64", maker.rng.choice(["float64", "int64"]))[: maker.rng.randint(1, 2)]
        kernels.append(kernel_text(maker.rng, f"k{number}", dtypes))
        maker.kernels[f"k{number}"] = dtypes
        exec(kernels[-1], namespace)
        namespace[f"k{number}"] = _with_numpys_numbers(namespace[f"k{number}"])
    for _ in range(maker.rng.randint(3, 14)):
        lines = maker.statement()
        came = maker.keep(lines, namespace)
        if came == "kept":
            maker.lines += lines
        elif came in ("ValueError", "IndexError") and maker.rng.random() < 0.02:
            maker.lines += lines
            break
    return Program(
        seed,
        "\n".join(maker.lines) + "\n",
        "\n\n\n".join(kernels),
        maker.rng.random() < 0.2,
        maker.rng.choice([0, 0, 8192]),
    )


@contextlib.contextmanager
def _recording(made: Program) -> Iterator[None]:
    before = STATE.worth, STATE.recording.at_once
    STATE.worth = 0 if made.compiles else before[0]
    STATE.recording.at_once = made.at_once
    try:
        yield
    finally:
        appyc.flush()
        STATE.worth, STATE.recording.at_once = before


def run(made: Program, np: ModuleType, path: Path) -> tuple[dict[str, Any], Exception | None, list[str]]:
    """The names that the program leaves, the error that it ended with, and NumPy's warnings of invalid operations."""
    path.write_text(made.kernels or "\n")
    namespace: dict[str, Any] = {
        "np": numpy,
        "math": __import__("math"),
        "prange": appyc.prange,
        "__name__": path.stem,
    }
    exec(compile(made.kernels, str(path), "exec"), namespace)
    for name in [n for n in namespace if re.fullmatch(r"k\d", n)]:
        kernel = namespace[name]
        called = kernel if np is numpy else appyc.jit(defer=True, cache=False)(kernel)
        namespace[name] = _with_numpys_numbers(called)
    namespace["np"] = np
    values: dict[str, Any] = {name: np.array(value) for name, value in inputs(made.seed).items()}
    error = None
    with numpy.errstate(all="ignore", invalid="warn"), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            exec(compile(made.text, str(path.with_suffix(".program")), "exec"), namespace, values)
            if np is not numpy:
                values = {name: _plain(value) for name, value in values.items()}
        except Exception as raised:  # noqa: BLE001
            error = raised
        if np is not numpy and error is not None:
            values = {name: known for name, value in values.items() if (known := _known(value)) is not None}
    values.pop("step", None)
    return values, error, [str(w.message) for w in told]


def _with_numpys_numbers(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose numbers are NumPy's, as those of a recorded call are."""

    def called(*args: Any) -> Any:
        return _numpys(kernel(*args))

    return called


def _numpys(value: Any) -> Any:
    """NumPy's number of a Python number. A call that could not be recorded gives Python's own."""
    return numpy.asarray(value)[()] if isinstance(value, bool | int | float) else value


def _plain(value: Any) -> Any:
    """NumPy's array or number of what was recorded."""
    if type(value).__module__.startswith("appyc"):
        array = numpy.asarray(value)
        return array[()] if isinstance(value, numpy.generic) else array
    return [_plain(v) for v in value] if isinstance(value, list) else value


def _known(value: Any) -> Any:
    """The same after an error; None for what was to be computed with the operation that raised it."""
    try:
        return _plain(value)
    except RuntimeError:
        return None


def check(made: Program, folder: Path) -> Verdict:
    """What the program came to, recorded, beside what NumPy gives."""
    import appyc.numpy as recorded

    path = folder / f"recorded{made.seed}.py"
    began, wall = processor_time(), time.monotonic()
    try:
        expected, error, told = run(made, numpy, path)
        if any("in cast" in message for message in told):
            return Verdict(made.seed, "invalid cast", "")
        with _recording(made):
            found, raised, _ = run(made, recorded, path)
        if isinstance(raised, OverflowError) and "more than 64 bits" in str(raised):
            return Verdict(made.seed, "overflow", "")
        if type(error) is not type(raised):
            where = "".join(traceback.format_exception(raised)[-6:]) if raised else ""
            raise Mismatch(f"NumPy ended with {error!r}, recorded {raised!r}\n{where}")
        if error is not None and made.kernels:
            return Verdict(made.seed, "same", "", processor_time() - began, 1)  # a deferred call raises late
        has_singles = any(numpy.asarray(v).dtype.char in "fF" for v in inputs(made.seed).values())
        tolerance = SINGLE if has_singles or "float32" in made.text + made.kernels else LOOSE
        for name, value in expected.items():
            if error is not None and name not in found:
                continue
            compare_values(_numpys(value), _numpys(found[name]), name, tolerance=tolerance)
    except Mismatch as fault:
        return Verdict(made.seed, "differs", str(fault))
    except Exception:  # noqa: BLE001  (whatever else is raised is a fault)
        return Verdict(made.seed, "internal", traceback.format_exc(limit=-4))
    finally:
        path.unlink(missing_ok=True)
    cpu = processor_time() - began
    kind = "slow" if cpu > MOST_SECONDS and time.monotonic() - wall > MOST_SECONDS else "same"
    return Verdict(made.seed, kind, "", cpu, 1)
