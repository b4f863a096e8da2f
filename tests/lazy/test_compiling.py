"""Recorded programs that a thread compiles, while NumPy runs them, and such as are not compiled at all."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import appyc
import appyc.numpy as np
from appyc.api import JitFunction
from appyc.lazy import programs
from appyc.lazy.running import STATE, flush
from tests.lazy.fuzz import compiling, reasons

SCRIPTS = sorted((Path(__file__).parent.parent / "recorded_scripts").glob("*.py"))
SECONDS = 60.0


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Nothing is compiled before it is set, no call waits, and all programs that come again are worth compiling."""
    gate, make = threading.Event(), JitFunction._make

    def slowly(jitted: JitFunction, *args: Any, **keywords: Any) -> Any:
        assert gate.wait(SECONDS)
        return make(jitted, *args, **keywords)

    flush()
    monkeypatch.setattr(JitFunction, "_make", slowly)
    monkeypatch.setenv("APPYC_COMPILE_WAIT", "0")
    monkeypatch.setattr(programs, "_COMPILING", 0.0)
    monkeypatch.setattr(programs, "_COMPILING_STATEMENT", 0.0)
    monkeypatch.setattr(programs, "_ELEMENT", 0.0)
    monkeypatch.setattr(programs.Program, "a_run", 0.0)
    monkeypatch.setattr(STATE, "compiling", None)
    with compiling("cpu", 0):
        yield gate
        gate.set()


def step(x: Any) -> Any:
    return np.sqrt(x * 2.0 + 1.0)


def test_numpy_runs_what_a_thread_compiles(gate: threading.Event) -> None:
    x, wanted = np.array(numpy.arange(9.0)), numpy.arange(9.0)
    for _ in range(5):
        x, wanted = step(x), numpy.sqrt(wanted * 2.0 + 1.0)
        assert x.tolist() == wanted.tolist()
    (program,) = STATE.programs.values()
    assert not program.is_ready
    assert "by NumPy, while it is compiled" in appyc.explain()
    gate.set()
    for _ in range(2000):
        x, wanted = step(x), numpy.sqrt(wanted * 2.0 + 1.0)
        assert x.tolist() == wanted.tolist()
        if program.is_ready:
            break
        threading.Event().wait(0.01)
    assert program.is_ready
    assert "by NumPy" not in appyc.explain()


def test_one_program_is_compiled_at_a_time(gate: threading.Event) -> None:
    def run(k: int) -> None:
        x = np.array(numpy.arange(9.0))
        for _ in range(k):
            x = x * 2.0 + 1.0
        x.tolist()

    started = threading.active_count()
    for _ in range(5):
        for k in (1, 2, 3):
            run(k)
    assert threading.active_count() == started + 1
    gate.set()
    for _ in range(2000):
        for k in (1, 2, 3):
            run(k)
        if all(program.is_ready for program in STATE.programs.values()):
            break
        threading.Event().wait(0.01)
    assert [program.is_ready for program in STATE.programs.values()] == [True] * 3


def test_what_is_in_the_cache_runs_at_once(gate: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    gate.set()
    with monkeypatch.context() as patch:
        patch.setattr(programs.Program, "a_run", 1.0)
        step(np.array(numpy.arange(7.0))).tolist()
    assert [program.is_ready for program in STATE.programs.values()] == [True]
    STATE.programs.clear()
    step(np.array(numpy.arange(7.0))).tolist()
    (program,) = STATE.programs.values()
    assert program.is_ready


def test_a_program_that_comes_once_is_not_compiled(gate: threading.Event) -> None:
    started = threading.active_count()
    for k in range(1, 5):
        x = np.array(numpy.arange(9.0))
        for _ in range(k):
            x = x + 1.0
        x.tolist()
    assert threading.active_count() == started


def test_a_run_that_takes_longer_than_compiling_waits_for_it(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.set()
    monkeypatch.setattr(programs.Program, "a_run", 1.0)
    step(np.array(numpy.arange(9.0))).tolist()
    (program,) = STATE.programs.values()
    assert program.is_ready


def test_what_the_compiler_refuses_in_a_thread_is_taken_apart(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> object:
        raise appyc.UnsupportedError("no", appyc.errors.Loc("x.py", 1))

    monkeypatch.setattr(JitFunction, "_make", fail)
    for _ in range(200):
        assert step(np.array(numpy.arange(3.0))).tolist() == numpy.sqrt(numpy.arange(3.0) * 2 + 1).tolist()
        if reasons():
            break
        threading.Event().wait(0.01)
    assert reasons()


def test_temporaries_that_numpy_computes_give_their_memory_back() -> None:
    size = 1 << 17
    x = np.array(numpy.ones(size))
    for _ in range(20):
        x = np.sqrt(x * 2.0)
    with compiling("cpu", 1 << 60):
        tracemalloc.start()
        x.compute()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 6 * 8 * size


@pytest.mark.sampled
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_loops_that_bind_their_names_anew_compile_few_programs(script: Path) -> None:
    """Of those that the first iterations record, most never come again."""
    words = [sys.executable, str(script), "128", "60"]
    expected = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600).stdout
    text = f"""
import runpy, sys
sys.argv = {words[1:]!r}
from appyc.api import JitFunction
made, make = [], JitFunction._make
def counted(jitted, *args, **keywords):
    made.append(jitted)
    return make(jitted, *args, **keywords)
JitFunction._make = counted
import appyc.numpy
text = open(sys.argv[0]).read().replace("import numpy as np", "import appyc.numpy as np")
exec(compile(text, sys.argv[0], "exec"), {{"__name__": "__main__"}})
appyc.flush()
print("made", len(made))
"""
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=600, check=True,
        env={**os.environ, "APPYC_COMPILE_WAIT": "0"},
    )  # fmt: skip
    out, _, made = done.stdout.rpartition("made ")
    assert out == expected
    assert int(made) <= 1
