"""Calls a random program as plain Python on NumPy and compiled, and tells what came of it."""

from __future__ import annotations

import ast
import itertools
import linecache
import random
import re
import resource
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import appyc
from appyc.runtime.threads import set_num_threads
from tests.e2e.harness import Mismatch, Outcome, Tolerance, compare, copied, settings
from tests.random_programs.arguments import CASES, arguments
from tests.random_programs.programs import Program

EXACT = Tolerance(single=0.0, double=0.0)
ROUNDED = Tolerance(single=1e-3, double=1e-9, floor=1.0)

SINGLE = Tolerance(single=1e-3, double=1e-3, floor=1.0)

MOST_SECONDS = 5.0
"""Processor time that a program may take to compile."""

FAULTS = ("differs", "internal", "slow", "refused", "crash")


@dataclass(frozen=True)
class Verdict:
    """kind: `same`; one of FAULTS; or why less was compared: `in python`, `wrong` and `cautious` (a `prange` that was
    refused, and whose order matters or was not seen to), `unsupported` (in a `prange`), or what the language page has
    to be different. cpu: seconds to compile. calls: those that were compared."""

    seed: int
    kind: str
    detail: str = ""
    cpu: float = 0.0
    calls: int = 0


_DOCUMENTED = "out of bounds for", "arrays are indexed by integers"
"""Of errors that are found before the call, as `docs/language.md` lists them."""


class _NotCompared(Exception):
    """Python's result is none that compiled code promises."""


def functions(program: Program, path: Path, prange: Callable[..., Iterable[int]]) -> Callable[..., Any]:
    """The function `f` of the program, whose text is put at the path."""
    path.write_text(program.text)
    namespace: dict[str, Any] = {
        "np": np,
        "math": __import__("math"),
        "prange": prange,
        "__name__": path.stem,
    }
    exec(compile(program.text, str(path), "exec"), namespace)
    found: Callable[..., Any] = namespace["f"]
    return found


def check(
    program: Program, folder: Path, target: str = "threads", threads: int = 4, cases: Sequence[str] = CASES
) -> Verdict:
    """What the program came to on a target of `tests.e2e.harness`."""
    path = folder / f"program{program.seed}.py"
    try:
        return _check(program, path, target, threads, cases)
    finally:
        path.unlink(missing_ok=True)


def _check(program: Program, path: Path, target: str, threads: int, cases: Sequence[str]) -> Verdict:
    fn = functions(program, path, appyc.prange)
    device = {"threads": "cpu"}.get(target, target)
    cpu, calls, skipped = 0.0, 0, ""
    with ExitStack() as stack:
        stack.enter_context(settings(target))
        told = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        if target == "threads":
            set_num_threads(threads)
        compiled = appyc.jit(cache=False, target=device)(fn)
        for case in cases:
            given = arguments(program, case)
            try:
                expected = oracle(fn, given, joined=program.joined)
            except _NotCompared as reason:
                skipped = str(reason)
                continue
            try:
                began = processor_time()
                found = _call(compiled, given)
                cpu = max(cpu, processor_time() - began)
                if reason := _other_fault(program, expected, found):
                    skipped = reason
                    continue
                compare_outcomes(program, expected, found, case)
            except appyc.DependenceError as error:
                kind = (
                    "refused" if not program.parallel else "wrong" if depends(program, path) else "cautious"
                )
                return Verdict(program.seed, kind, error.summary, cpu)
            except appyc.CompileError as error:
                if isinstance(expected.error, TypeError | NameError) or any(
                    w in error.summary for w in _DOCUMENTED
                ):
                    return Verdict(program.seed, "same", cpu=cpu, calls=calls)
                kind = "unsupported" if program.parallel else "refused"
                told_of = f"{type(error).__name__}: {error.summary}"
                return Verdict(program.seed, kind, told_of, cpu)
            except Mismatch as error:
                return Verdict(program.seed, "differs", f"{case}: {error}", cpu)
            except Exception:  # noqa: BLE001  (whatever else is raised is a fault of the compiler)
                return Verdict(program.seed, "internal", traceback.format_exc(limit=-4), cpu)
            calls += 1
    if cpu > MOST_SECONDS:
        return Verdict(program.seed, "slow", f"{cpu:.1f} s", cpu, calls)
    if internal := [str(w.message) for w in told if issubclass(w.category, appyc.InternalWarning)]:
        return Verdict(program.seed, "internal", internal[0], cpu, calls)
    if any(issubclass(w.category, appyc.FallbackWarning) for w in told):
        return Verdict(program.seed, "in python", str(told[-1].message), cpu, calls)
    return Verdict(program.seed, "same" if calls else skipped, "", cpu, calls)


def processor_time() -> float:
    """Of this process and those that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def oracle(fn: Callable[..., Any], args: tuple[Any, ...], *, joined: bool = False) -> Outcome:
    """What Python gives. Raises _NotCompared where that is documented to be another thing compiled.

    joined: an integer may be kept in the type of a float, and divide as that does.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = _call(fn, args, invalid="warn", divide="warn")
    if any("cast" in str(w.message) for w in told):
        raise _NotCompared("invalid cast")
    if joined and any("divide by zero" in str(w.message) for w in told):
        raise _NotCompared("division by zero in a joined type")
    if isinstance(found.error, OverflowError) and not _is_compared(found.error):
        raise _NotCompared("overflow")
    if isinstance(found.error, ValueError) and (
        "NaN" in str(found.error) or "negative shift" in str(found.error)
    ):
        raise _NotCompared("documented")
    if any(isinstance(v, int) and abs(v) >= 2**63 for v in _numbers(found.value)):
        raise _NotCompared("beyond 64 bits")
    return found


def _is_compared(error: OverflowError) -> bool:
    """Whether it is NumPy's about an int of Python's own that compiled code holds: NumPy's ints wrap around there."""
    told = re.match(r"Python integer (-?\d+) out of bounds", str(error))
    if told is None or not -(2**63) <= int(told[1]) < 2**63:
        return False
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    text = Path(frame.f_code.co_filename).read_text().splitlines()[line - 1].strip()
    statement = ast.parse("pass" if text.endswith(":") else text).body[0]
    if not isinstance(statement, ast.Assign | ast.AugAssign):
        return True
    stored: ast.expr = statement.value
    if isinstance(statement, ast.AugAssign):
        target = ast.parse(ast.unparse(statement.target), mode="eval").body
        stored = ast.BinOp(target, statement.op, stored)
    try:
        value = eval(ast.unparse(stored), frame.f_globals, dict(frame.f_locals))
    except OverflowError:
        return True
    except Exception:  # noqa: BLE001  (a helper may have changed what its first call saw)
        return False
    return type(value) is int


def _numbers(value: Any) -> Iterable[Any]:
    return itertools.chain(*map(_numbers, value)) if isinstance(value, tuple | list) else (value,)


def _call(
    fn: Callable[..., Any], args: tuple[Any, ...], invalid: Any = "ignore", divide: Any = "ignore"
) -> Outcome:
    own = copied(args)
    with np.errstate(all="ignore", invalid=invalid, divide=divide):
        try:
            return Outcome(fn(*own), own)
        except (appyc.CompileError, appyc.InternalError, appyc.ToolchainError):
            raise
        except Exception as error:  # noqa: BLE001  (whatever Python raises, the others must raise too)
            return Outcome(None, own, error)


def compare_outcomes(program: Program, expected: Outcome, found: Outcome, case: str) -> None:
    """Raises Mismatch where what can be seen differs: values, types, arrays, errors, and what shares memory."""
    tolerance = ROUNDED if program.inexact else EXACT
    texts = program.text, *(p.dtype for p in program.parameters)
    has_singles = any(dtype in text for text in texts for dtype in ("float32", "int16", "int8"))
    if has_singles and (program.joined or program.inexact):
        tolerance = SINGLE  # in a float64 may be a float32, as NumPy's sine of an int16
    compare(
        expected, found, "threads" if expected.error else "cpu", joined=program.joined, tolerance=tolerance
    )
    one, two = _shared(expected), _shared(found)
    if one != two:
        raise Mismatch(f"results share memory with arguments {one}, compiled {two}")


def _other_fault(program: Program, expected: Outcome, found: Outcome) -> str:
    """Why a fault that Python finds is another one in compiled code, as documented; empty where it is not."""
    faults = IndexError, ZeroDivisionError, NameError, OverflowError
    if not isinstance(expected.error, faults):
        return ""
    if isinstance(found.error, faults):
        return "another fault" if type(found.error) is not type(expected.error) else ""
    goes_on = found.error is None or "NaN" in str(found.error)
    if program.joined and re.match("float .*(division|modulo)", str(expected.error)) and goes_on:
        return "a float of Python's or NumPy's"  # of its joined type, NumPy's
    if isinstance(expected.error, ZeroDivisionError) and found.error is None and _has_no_elements(expected):
        return "division in a statement without elements"
    return ""


def _has_no_elements(expected: Outcome) -> bool:
    """Whether the fault is in a statement about an empty array, or an empty slice of one."""
    if any(isinstance(a, np.ndarray) and not a.size for a in expected.args):
        return True
    assert expected.error is not None
    frame, line = list(traceback.walk_tb(expected.error.__traceback__))[-1]
    tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
    covering = [
        n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or 0)
    ]
    if not covering:
        return False
    statement = max(covering, key=lambda n: n.lineno)
    slices = [n for n in ast.walk(statement) if isinstance(n, ast.Subscript) and _has_slice(n)]
    return any(_size(_whole_axes(n), frame) == 0 for n in slices)


def _has_slice(node: ast.Subscript) -> bool:
    return any(isinstance(n, ast.Slice) for n in ast.walk(node.slice))


def _whole_axes(node: ast.Subscript) -> ast.expr:
    """The same subscript with all of each axis that it has an index for."""
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    parts: list[ast.expr] = [n if isinstance(n, ast.Slice) else ast.Slice() for n in items]
    return ast.Subscript(node.value, ast.Tuple(parts, ast.Load()), ast.Load())


def _size(node: ast.expr, frame: FrameType) -> int | None:
    """The number of elements of an array; None where it cannot be told."""
    code = compile(ast.fix_missing_locations(ast.Expression(node)), "<slice>", "eval")
    try:
        return int(np.size(eval(code, frame.f_globals, frame.f_locals)))
    except Exception:  # noqa: BLE001  (another fault of the same statement)
        return None


def _shared(outcome: Outcome) -> list[tuple[int, int]]:
    results = [v for v in _flat(outcome.value) if isinstance(v, np.ndarray)]
    arrays = [v for v in outcome.args if isinstance(v, np.ndarray)]
    return [(r, a) for r, x in enumerate(results) for a, y in enumerate(arrays) if np.shares_memory(x, y)]


def _flat(value: Any) -> Iterable[Any]:
    return itertools.chain(*map(_flat, value)) if isinstance(value, tuple) else (value,)


def depends(program: Program, path: Path) -> bool:
    """Whether the iterations of a `prange`, in another order, give something else."""
    rng = random.Random(program.seed)

    def shuffled(*bounds: int) -> Iterable[int]:
        order = list(range(*bounds))
        rng.shuffle(order)
        return order

    other = path.with_name(f"{path.stem}_shuffled.py")
    try:
        plain = functions(program, other, range)
        orders = [
            functions(program, other, order) for order in (lambda *b: reversed(range(*b)), shuffled, shuffled)
        ]
    finally:
        other.unlink(missing_ok=True)
    for case in CASES:
        given = arguments(program, case)
        expected = _call(plain, given)
        for order in orders:
            try:
                compare(expected, _call(order, given), "cpu", tolerance=ROUNDED)
            except Mismatch:
                return True
    return False


def planted() -> str:
    """What a store behind the end of an array comes to where indices are not tested."""

    def outside(a: np.ndarray, n: int) -> None:
        for i in range(n):
            a[i * i] = 1.0

    appyc.jit(cache=False, boundscheck=False, target="cpu")(outside)(np.zeros(9), 5)
    return "same"
