"""Every program of tests/programs through every back end, against plain Python.

A program runs with its first arguments as C with every parallel loop cut up, with its smallest ones that fill more than
one program of a GPU in Triton's interpreter, and of twelve programs one runs with its first arguments as C that is
compiled as for users. Of six programs one also runs with another call's arguments, is verified after every pass, and
optimised by gcc. `-m slow` runs all arguments on all targets.
"""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import tests.programs as package
from tests.e2e.harness import run_everywhere
from tests.e2e.shared import SharedAnalyses
from tests.programs.registry import Programs, Run

ENOUGH = 128
"""More elements than the fewest lanes of a program."""

SHARED = SharedAnalyses()
"""Of the program that was tested last: its next test is often the same call on another target."""


def all_runs() -> list[Any]:
    """A parameter for each call and each of its targets."""
    params = []
    for info in pkgutil.iter_modules(package.__path__):
        programs = getattr(importlib.import_module(f"tests.programs.{info.name}"), "PROGRAMS", None)
        if not isinstance(programs, Programs):
            continue
        runs: defaultdict[str, list[Run]] = defaultdict(list)
        for run in reversed(programs.runs):  # decorators apply from the bottom up
            runs[f"{info.name}.{run.fn.__name__}"].append(run)
        for name, given in runs.items():
            interpreted = min(given, key=_interpreted_first)
            drawn = zlib.crc32(name.encode()) % 12
            is_sixth = drawn % 6 == 0
            others = {1 + drawn % max(len(given) - 1, 1)} if is_sixth else set()
            for number, run in enumerate(given):
                usual: set[str] = set()
                if number in {0, *others}:
                    usual.add("threads" if "threads" in run.targets else run.targets[0])
                if run is interpreted:
                    usual.add("interpret")
                if run is given[0] and drawn == 0:
                    usual.add("cpu")
                for target in run.targets:
                    marks = () if target in usual else pytest.mark.slow
                    params.append(
                        pytest.param(run, target, is_sixth, id=f"{name}-{number}-{target}", marks=marks)
                    )
    return params


def _interpreted_first(run: Run) -> tuple[bool, bool, int]:
    """Orders calls for the interpreter, which is slow: those with enough elements first, of them the smallest."""
    elements = sum(a.size for a in run.args if isinstance(a, np.ndarray))
    is_enough = elements > ENOUGH
    return "interpret" not in run.targets, not is_enough, elements if is_enough else -elements


@pytest.mark.parametrize(("run", "target", "thorough"), all_runs())
def test_program_does_what_python_does(run: Run, target: str, thorough: bool) -> None:
    run_everywhere(
        run.fn,
        *run.args,
        targets=(target,),
        joined=run.joined,
        strict=run.strict,
        shared=SHARED,
        thorough=thorough,
    )
