"""What NumPy has spent on programs in earlier processes counts for whether they are compiled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import appyc.numpy as np
from appyc.lazy import programs
from appyc.lazy.programs import LEAST_SHARE, Program
from appyc.lazy.running import STATE, flush
from tests.lazy.fuzz import compiling


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPYC_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("APPYC_COMPILE_WAIT", "0")
    monkeypatch.setattr(programs, "_ELEMENT", 0.0)


def run_three_times() -> Program:
    """The program of a recorded operation, after three runs."""
    flush()
    STATE.programs.clear()
    STATE.compiling = None  # of an earlier test
    x = np.array(numpy.arange(50.0))
    for _ in range(3):
        x = np.sqrt(x * 3.0 + 1.0)
        flush()
    (program,) = STATE.programs.values()
    return program


def before(program: Program) -> float:
    assert program.spent is not None
    return program.spent.before


def test_seconds_of_processes_are_added_up() -> None:
    with compiling("cpu", 0):
        program = run_three_times()
        program.seconds = 1.5
        program.leave()
        again = run_three_times()
        assert before(again) == 1.5
        again.seconds = 0.5
        again.leave()
        assert before(run_three_times()) == 2.0


def test_a_program_that_has_run_for_long_in_other_processes_is_compiled() -> None:
    with compiling("cpu", 0):
        program = run_three_times()
        assert not program.is_ready
        assert program.compiled is not None
        program.seconds = program.compiling
        program.leave()
        again = run_three_times()
        assert again.compiled is not None
        again.compiled._compilations.finish()
        assert again.seconds < again.compiling
        assert run_three_times().is_ready


def test_no_word_is_left_of_what_is_compiled_or_took_no_time() -> None:
    with compiling("cpu", 0):
        program = run_three_times()
        program.seconds = 0.5 * LEAST_SHARE * program.compiling
        program.leave()
        program.seconds, program.is_ready = 5.0, True
        program.leave()
        program.is_ready, program.compiled = False, None
        program.leave()
        assert before(run_three_times()) == 0.0


def test_a_process_leaves_word_when_it_ends() -> None:
    text = "\n".join([
        "import numpy, appyc.numpy as np",
        "from appyc.lazy.running import STATE, flush",
        "STATE.worth = 0",
        "STATE.recording.at_once = 0",
        "x = np.array(numpy.arange(50.0))",
        "for _ in range(3):",
        "    x = np.%s(x * 0.5)",
        "    flush()",
        "(program,) = STATE.programs.values()",
        "print(program.spent.before)",
        "program.seconds = 0.1",
    ])  # fmt: skip
    names = ("sqrt", "exp", "sqrt")
    printed = [subprocess.check_output([sys.executable, "-c", text % name], text=True) for name in names]
    assert [float(line) for line in printed] == [0.0, 0.0, 0.1]
