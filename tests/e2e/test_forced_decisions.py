"""Programs with decisions forced that otherwise only large arrays bring about."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pkgutil import iter_modules

import pytest

import tests.programs
from tests.e2e.forced import forced_decisions
from tests.e2e.harness import Mismatch, run_everywhere

USUAL = {("tiles", "interpret"), ("scans", "cpu")}
CALLS = 2
"""Of each program."""


def cases() -> list[object]:
    names = [info.name for info in iter_modules(tests.programs.__path__) if info.name != "registry"]
    pairs = [(name, target) for name in names for target in ("cpu", "threads", "interpret")]
    return [pytest.param(*pair, marks=() if pair in USUAL else pytest.mark.slow) for pair in pairs]


@pytest.mark.parametrize(("name", "target"), cases())
def test_programs_of_a_file(name: str, target: str) -> None:
    calls: Counter[object] = Counter()
    wrong = []
    with forced_decisions():
        for run in import_module(f"tests.programs.{name}").PROGRAMS.runs:
            calls[run.fn] += 1
            if target not in run.targets or calls[run.fn] > CALLS:
                continue
            try:
                run_everywhere(
                    run.fn, *run.args, targets=(target,), joined=run.joined, strict=run.strict, thorough=False
                )
            except Mismatch as found:
                wrong.append(f"{run.fn.__name__}: {found}")
    assert not wrong, "\n".join(wrong)
