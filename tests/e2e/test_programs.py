"""Every program of tests/programs through every back end, against plain Python.

A program's first arguments go through all of them. With the others, which differ in types, lengths and
paths, it runs as C with every parallel loop cut up: `-m slow` runs these on the other targets too.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from typing import Any

import pytest

import tests.programs as package
from tests.e2e.harness import run_everywhere
from tests.e2e.shared import SharedAnalyses
from tests.programs.registry import Programs, Run

SHARED = SharedAnalyses()
"""Of the program that was tested last: its next test is often the same call on another target."""


def all_runs() -> list[Any]:
    """A parameter for each call and each of its targets."""
    params = []
    for info in pkgutil.iter_modules(package.__path__):
        programs = getattr(importlib.import_module(f"tests.programs.{info.name}"), "PROGRAMS", None)
        if not isinstance(programs, Programs):
            continue
        count: Counter[str] = Counter()
        for run in reversed(programs.runs):  # decorators apply from the bottom up
            name = f"{info.name}.{run.fn.__name__}"
            for target in run.targets:
                marks = () if count[name] == 0 or target == _usual(run) else pytest.mark.slow
                params.append(pytest.param(run, target, id=f"{name}-{count[name]}-{target}", marks=marks))
            count[name] += 1
    return params


def _usual(run: Run) -> str:
    """The target on which a program runs with all of its arguments."""
    return "threads" if "threads" in run.targets else run.targets[0]


@pytest.mark.parametrize(("run", "target"), all_runs())
def test_program_does_what_python_does(run: Run, target: str) -> None:
    run_everywhere(run.fn, *run.args, targets=(target,), joined=run.joined, strict=run.strict, shared=SHARED)
