"""Runs one function as plain Python and through the back ends, and compares all that can be seen.

Compared are the returned values with their types, every array that was passed, and the type
of the exception where one is raised. Integers and bools agree bit for bit, floats to a
relative distance: reductions may be reassociated, and libraries differ in the last bit.
"""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

import appyc
from appyc import pipeline
from appyc.ir.machine_model import Machine
from appyc.runtime.machine_rates import using
from appyc.runtime.threads import get_num_threads, set_num_threads
from tests.e2e.shared import (
    LESS_OPTIMISED,
    NOT_OPTIMISED,
    USERS_FLAGS,
    SharedAnalyses,
    shared_analyses,
    shared_builds,
    verified_at_the_end,
)
from tests.memory import poisoned

TARGETS = ("cpu", "threads", "interpret")
"""cpu: C as users get it. threads: C with every parallel loop cut up, however small it is."""

GPU_TARGETS = ("gpu", "resident")
"""gpu: with NumPy's arrays, which go there and back. resident: with arrays that live on the GPU. Both need
CuPy, or what stands for it (`tests.stand_in_cupy`)."""


@dataclass(frozen=True)
class Tolerance:
    """How far floats may be apart, relative to the largest of the array, or to `floor` if that is larger."""

    single: float
    double: float
    floor: float = 0.0


TIGHT = Tolerance(single=2e-5, double=1e-12)
LOOSE = Tolerance(single=1e-3, double=1e-9, floor=1.0)
"""For programs that nobody has looked at: they may cancel all digits that are right."""

Scalar = bool | int | float | complex | np.generic

EAGER = Machine(fork=-1e30, wake=-1e30)
"""Starting threads brings time, so that they share every loop."""

_THREADS = 3
"""Odd, so that pieces are of unequal size."""


@dataclass(frozen=True)
class Outcome:
    """What a call left behind. error: the exception it ended with."""

    value: Any
    args: tuple[Any, ...]
    error: Exception | None = None


class Mismatch(AssertionError):
    """A back end that did not do what Python does."""


def run_everywhere(
    fn: Callable[..., Any],
    *args: Any,
    targets: tuple[str, ...] = TARGETS,
    joined: bool = False,
    strict: bool = False,
    shared: SharedAnalyses | None = None,
    thorough: bool = True,
) -> None:
    """Calls `fn` with copies of `args` as Python and on each target. Raises Mismatch where they differ.

    joined: a returned number may have the type in which those of several paths meet.
    strict: nothing may be left to Python. A CompileError passes through.
    shared: analysed functions of calls before, where `fn` reads the same globals now.
    thorough: the IR is verified after every pass, not at the end alone, and gcc optimises.
    """
    expected = call(fn, args)
    shared = shared or SharedAnalyses()
    for target in targets:
        found = run_on(fn, args, target, strict=strict, shared=shared, thorough=thorough)
        compare(expected, found, target, joined=joined)


def run_on(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    target: str,
    *,
    strict: bool = False,
    shared: SharedAnalyses | None = None,
    thorough: bool = True,
) -> Outcome:
    """The outcome of a compiled call on copies of the arguments. What C allocates holds NaN, or numbers that are
    huge: whatever is read before it is written changes a result."""
    poison = 0xFF if target == "threads" else 0x7E
    with settings(target, thorough=thorough), shared_analyses(shared), poisoned(poison):
        function = compiled(fn, target, strict=strict)
        return call(_resident(function) if target == "resident" else function, args)


@functools.lru_cache(maxsize=512)
def compiled(fn: Callable[..., Any], target: str, *, strict: bool = False) -> Callable[..., Any]:
    """The function, jitted once for each target; nothing is kept on disk."""
    device = {"threads": "cpu", "resident": "gpu"}.get(target, target)
    return appyc.jit(cache=False, strict=strict, target=device)(fn)


def _resident(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function for NumPy's arrays, called with CuPy's that share memory where they do."""
    import cupy

    def there(value: Any, known: dict[int, Any]) -> Any:
        if isinstance(value, tuple):
            items = [there(v, known) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if not isinstance(value, np.ndarray):
            return value
        base = _owner(value)
        if not base.size:
            return cupy.array(value)
        if id(base) not in known:
            known[id(base)] = cupy.array(base)
        memory = known[id(base)].data + (_address(value) - _address(base))
        return cupy.ndarray(value.shape, value.dtype, memory, value.strides)

    def back(value: Any) -> Any:
        if isinstance(value, tuple | list):
            return type(value)(back(v) for v in value)
        if isinstance(value, dict):
            out = copy.copy(value)  # of its class, which may be a Counter
            for key, v in value.items():
                out[key] = back(v)
            return out
        if isinstance(value, cupy.ndarray):  # CuPy has arrays without axes where NumPy has numbers
            return cupy.asnumpy(value) if value.ndim else cupy.asnumpy(value)[()]
        return value

    def call_there(*args: Any) -> Any:
        known: dict[int, Any] = {}
        given = there(args, known)
        try:
            return back(function(*given))
        finally:
            for mine, its in zip(args, given, strict=True):
                _fetch(mine, its)

    def _fetch(mine: Any, its: Any) -> None:
        if isinstance(mine, tuple):
            for one, two in zip(mine, its, strict=True):
                _fetch(one, two)
        elif isinstance(mine, np.ndarray) and mine.flags.writeable:
            mine[...] = cupy.asnumpy(its)

    return call_there


@contextmanager
def settings(target: str, *, thorough: bool = True) -> Iterator[None]:
    """What compiling and calling takes for a target.

    thorough: the IR is verified after every pass, not at the end alone, and gcc optimises; as it does for users on
    `cpu` alone.
    """
    checked = functools.partial(pipeline.run, verify=True) if thorough else verified_at_the_end
    longest = 4 if target == "threads" else 72  # a program of a GPU takes as many as it has lanes at a time
    chunks = contextlib.nullcontext() if target == "cpu" else small_chunks(longest)
    level = NOT_OPTIMISED if not thorough else USERS_FLAGS if target == "cpu" else LESS_OPTIMISED
    flags = mock.patch("appyc.runtime.toolchain._FLAGS", level)
    with mock.patch("appyc.pipeline.run", checked), shared_builds(), flags, chunks:
        if target != "threads":
            yield
            return
        before = get_num_threads()
        set_num_threads(_THREADS)
        try:
            with (
                mock.patch("appyc.c_gen.loops.loop_pieces.CUT_WORK", -1),
                mock.patch("appyc.c_gen.array_copies.COPY_WORK", 0),
                using(EAGER),
            ):
                yield
        finally:
            set_num_threads(before)


@contextmanager
def small_chunks(longest: int = 4) -> Iterator[None]:
    """Scans are cut into chunks however short they are, and into several rounds; on GPUs for few programs."""
    sizes = {"MIN_WORK": 0, "MIN_CHUNK": 1, "MAX_CHUNK": longest, "MARGIN": 0}
    with (
        mock.patch.multiple("appyc.passes.parallelise.parallel_scan", **sizes),
        mock.patch("appyc.passes.gpu.unsupported_on_gpu.PROGRAMS", 9),
        mock.patch("appyc.passes.gpu.scans_of_few_rows.LEAST", 1),
    ):
        yield


def call(fn: Callable[..., Any], args: tuple[Any, ...]) -> Outcome:
    """Calls a function on copies of the arguments."""
    own = copied(args)
    with np.errstate(all="ignore"):
        try:
            return Outcome(fn(*own), own)
        except (appyc.CompileError, appyc.InternalError, appyc.ToolchainError):
            raise
        except Exception as error:  # noqa: BLE001  (whatever Python raises, the others must raise too)
            return Outcome(None, own, error)


# ---------------------------------------------------------------- copies


def copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies that keep strides, and the memory that arguments share."""
    bases: dict[int, np.ndarray] = {}
    return tuple(_copied(a, bases) for a in args)


def _copied(value: Any, bases: dict[int, np.ndarray]) -> Any:
    if isinstance(value, tuple):
        items = [_copied(v, bases) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, np.ndarray):
        return _copied_array(value, bases)
    return copy.deepcopy(value)


def _copied_array(array: np.ndarray, bases: dict[int, np.ndarray]) -> np.ndarray:
    base = _owner(array)
    memory = bases.get(id(base))
    if memory is None:
        flat = base.ravel(order="K")
        memory = bases[id(base)] = np.array(flat, copy=True)
    offset = _address(array) - _address(base)
    out = (
        np.ndarray(array.shape, array.dtype, memory.data, offset, array.strides)
        if base.size
        else array.copy()
    )
    out.flags.writeable = array.flags.writeable
    return out


def _owner(array: np.ndarray) -> np.ndarray:
    """The array whose memory it is."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _address(array: np.ndarray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


# ---------------------------------------------------------------- comparison


def compare(
    expected: Outcome, found: Outcome, target: str, *, joined: bool = False, tolerance: Tolerance = TIGHT
) -> None:
    """Raises Mismatch where the outcomes differ."""
    # By name: printed programs define the exceptions of appyc's that they raise.
    if type(expected.error).__name__ != type(found.error).__name__:
        raise Mismatch(f"{target}: Python {_ending(expected)}, compiled code {_ending(found)}")
    compare_values(expected.value, found.value, f"{target}: result", joined=joined, tolerance=tolerance)
    if expected.error is not None and target != "cpu":
        return  # parallel iterations do not stop at the first fault: what else was written may differ
    for k, (one, two) in enumerate(zip(expected.args, found.args, strict=True)):
        compare_values(one, two, f"{target}: argument {k}", tolerance=tolerance)


def _ending(outcome: Outcome) -> str:
    if outcome.error is None:
        return f"returned {outcome.value!r}"
    return f"raised {type(outcome.error).__name__}: {outcome.error}"


def compare_values(
    expected: Any, found: Any, what: str, *, joined: bool = False, tolerance: Tolerance = TIGHT
) -> None:
    """Raises Mismatch unless both have one type and, but for rounding, one value."""
    if joined and isinstance(expected, Scalar) and isinstance(found, Scalar):
        expected = _widened(expected, found)
    if type(expected) is not type(found):
        raise Mismatch(f"{what}: expected {_typed(expected)}, found {_typed(found)}")
    if isinstance(expected, dict):
        compare_values(list(expected), list(found), f"{what}: keys", tolerance=tolerance)
        for key, one in expected.items():
            compare_values(one, found[key], f"{what}[{key!r}]", joined=joined, tolerance=tolerance)
        return
    if isinstance(expected, tuple | list):
        if len(expected) != len(found):
            raise Mismatch(f"{what}: expected {len(expected)} items, found {len(found)}")
        for k, (one, two) in enumerate(zip(expected, found, strict=True)):
            compare_values(one, two, f"{what}[{k}]", joined=joined, tolerance=tolerance)
        return
    if isinstance(expected, np.ndarray | np.void) and expected.dtype.names:
        if expected.dtype != found.dtype:
            raise Mismatch(f"{what}: expected {expected.dtype}, found {found.dtype}")
        for name in expected.dtype.names:
            compare_values(expected[name], found[name], f"{what}[{name!r}]", tolerance=tolerance)
        return
    if isinstance(expected, Scalar | np.ndarray):
        _compare_numbers(np.asarray(expected), np.asarray(found), what, tolerance)
        return
    slots = dict.fromkeys(getattr(expected, "__slots__", ()))
    if hasattr(expected, "__dict__") or slots:
        for name in getattr(expected, "__dict__", slots):
            compare_values(
                getattr(expected, name), getattr(found, name), f"{what}.{name}", tolerance=tolerance
            )
        return
    if expected != found:
        raise Mismatch(f"{what}: expected {expected!r}, found {found!r}")


def _widened(value: Any, like: Any) -> Any:
    """The value in the type of another, where paths with these types meet in the other's."""
    if isinstance(value, np.generic) and not isinstance(like, np.generic):
        return value
    if isinstance(value, bool) and isinstance(like, np.bool_):
        return np.bool_(value)
    given = value if isinstance(value, np.generic) else value * 1  # a Python number is weak
    wide = np.result_type(given, type(like) if isinstance(like, np.generic) else like)
    integers = isinstance(value, np.integer) and isinstance(like, np.integer)
    if wide != np.asarray(like).dtype and not (integers and like.itemsize >= value.itemsize):
        return value
    try:
        return type(like)(value)
    except OverflowError:
        return value  # no type in which both could meet


def _compare_numbers(expected: np.ndarray, found: np.ndarray, what: str, tolerance: Tolerance) -> None:
    if (expected.dtype, expected.shape) != (found.dtype, found.shape):
        raise Mismatch(f"{what}: expected {expected.dtype}{expected.shape}, found {found.dtype}{found.shape}")
    if expected.dtype.kind in "biu":
        same = np.array_equal(expected, found)
    else:
        same = _close(expected, found, tolerance)
    if not same:
        raise Mismatch(f"{what}: expected\n{expected!r}\nfound\n{found!r}")


def _close(expected: np.ndarray, found: np.ndarray, tolerance: Tolerance) -> bool:
    if expected.dtype == object:  # ints beyond 64 bits
        return np.asarray(expected == found)
    if expected.dtype.kind == "c":
        return _close(expected.real, found.real, tolerance) and _close(expected.imag, found.imag, tolerance)
    finite = np.isfinite(expected)
    if not np.array_equal(expected[~finite], found[~finite], equal_nan=True):
        return False
    one, two = expected[finite].astype(float), found[finite].astype(float)
    if not one.size:
        return True
    scale = max(float(np.abs(one).max()), float(np.finfo(expected.dtype).tiny), tolerance.floor)
    relative = tolerance.single if expected.dtype == np.float32 else tolerance.double
    return bool((np.abs(one - two) <= relative * scale).all())


def _typed(value: Any) -> str:
    return f"{value!r} of type {type(value).__name__}"
