"""Runs one random program everywhere."""

from __future__ import annotations

import numpy as np

import appyc
from appyc.errors import CompileError, DependenceError
from tests.e2e.harness import LOOSE, Mismatch, call, compare, compiled, run_on, settings
from tests.fuzz.generator import Program

ALLOWED = (IndexError, ZeroDivisionError, UnboundLocalError, ValueError)
"""What a program may raise; anything else is the generator's fault."""


def check(program: Program, targets: tuple[str, ...]) -> str:
    """Compares the program's outcome on each target with Python's.

    Returns "same", "raised" where Python and the others raised, or "refused" where the
    compiler says no for a good reason; without its pragmas such a program must do.
    Raises Mismatch, or whatever broke in the compiler.
    """
    try:
        return _compared(program, targets)
    except CompileError as error:
        if not is_refusal(error):
            raise Mismatch(f"not compiled: {error}") from error
    without = program.without_pragmas()
    if without.source != program.source:
        check(without, targets)
    return "refused"


def _compared(program: Program, targets: tuple[str, ...]) -> str:
    fn = program.function()
    expected = call(fn, program.args)
    if expected.error is not None and not isinstance(expected.error, ALLOWED):
        raise Mismatch(f"the generator wrote a program that fails: {expected.error!r}")
    for target in targets:
        if target.startswith("cuda"):
            with settings(target):
                compiled(fn, "interpret", strict=True).compile(*program.args, target=target)
            continue
        found = run_on(fn, program.args, target, strict=True)
        compare(expected, found, target, joined=True, tolerance=LOOSE)
    return "same" if expected.error is None else "raised"


REFUSALS = (
    "is read before it is assigned",
    "a parallel loop cannot be left by return from",
    "on one path and",  # a name that a loop binds to another kind of array
    "is bound to another array here, and the array that it had before",  # and somebody may tell
    "whether what is returned here is a view",  # the name is bound to a view on some paths
)


def is_refusal(error: CompileError) -> bool:
    """Whether the error says that a pragma is wrong, or that a variable has no value or type where it is read."""
    if isinstance(error, DependenceError | appyc.PragmaError):
        return True
    return any(text in error.summary for text in REFUSALS)


def quiet() -> np.errstate:
    """While it lasts: NumPy would warn of every overflow, which programs here mean."""
    return np.errstate(all="ignore")
