"""While a function is compiled: calls that wait, calls that run in Python, and what stderr says."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import appyc
from appyc.api import JitFunction
from appyc.compiler import waiting
from appyc.compiler.waiting import Notice
from appyc.frontend.source import capture, read_source

SECONDS = 60.0


def add_up(n):
    s = 0
    for i in range(n):
        s += i
    return s


def until(n):
    i = 0
    while i < n:
        i += 1
    return i


def helped(n):
    s = 0
    for i in range(n):
        s += add_up(i)
    return s


def marked(n):
    s = 0
    # pragma parallel for
    for i in range(n):
        s += i
    return s


def wrong(a):
    # pragma parallel for
    for i in range(1, len(a)):
        a[i] = a[i - 1]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Nothing is compiled before it is set."""
    gate, make = threading.Event(), JitFunction._make

    def slowly(jitted: JitFunction, *args: object, **keywords: object) -> object:
        assert gate.wait(SECONDS)
        return make(jitted, *args, **keywords)

    monkeypatch.setattr(JitFunction, "_make", slowly)
    monkeypatch.setenv("APPYC_COMPILE_WAIT", "0.01")
    yield gate
    gate.set()


def opened_soon(gate: threading.Event) -> None:
    threading.Timer(0.3, gate.set).start()


def made(jitted: JitFunction, call: Callable[[], object]) -> None:
    """Calls until the version is there."""
    for _ in range(2000):
        call()
        if jitted._versions:
            return
        threading.Event().wait(0.01)
    raise AssertionError("it is never compiled")


def test_a_short_call_runs_in_python_and_a_later_one_takes_the_version(gate: threading.Event) -> None:
    jitted = appyc.jit(target="cpu")(add_up)
    assert jitted(10) == 45
    assert not jitted._versions
    gate.set()
    made(jitted, lambda: jitted(10))
    assert jitted(11) == 55


def test_other_threads_do_not_wait_either(gate: threading.Event) -> None:
    jitted = appyc.jit(target="cpu")(add_up)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(jitted(10))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert found == [45] * 4
    assert not jitted._versions


@pytest.mark.sampled
@pytest.mark.parametrize(("function", "argument"), [(add_up, 10**8), (until, 3), (helped, 3), (marked, 3)])
def test_a_call_that_may_take_long_waits(
    gate: threading.Event, function: Callable[[int], int], argument: int
) -> None:
    jitted = appyc.jit(target="cpu")(function)
    opened_soon(gate)
    jitted(argument)
    assert jitted._versions


def test_strict_functions_wait(gate: threading.Event) -> None:
    jitted = appyc.jit(target="cpu", strict=True)(add_up)
    opened_soon(gate)
    assert jitted(10) == 45
    assert jitted._versions


def test_what_compiling_raises_comes_with_a_later_call(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> object:
        assert gate.wait(SECONDS)
        raise appyc.ToolchainError("no compiler")

    monkeypatch.setattr(JitFunction, "_make", fail)
    jitted = appyc.jit(target="cpu")(add_up)
    assert jitted(10) == 45
    gate.set()
    with pytest.raises(appyc.ToolchainError, match="no compiler"):
        made(jitted, lambda: jitted(10))


def test_a_pragma_that_is_wrong_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPYC_COMPILE_WAIT", "0")
    with pytest.raises(appyc.DependenceError):
        appyc.jit(target="cpu")(wrong)(np.ones(9))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_that_is_forked_meanwhile_compiles_for_itself(gate: threading.Event) -> None:
    jitted = appyc.jit(target="cpu")(add_up)
    assert jitted(10) == 45
    child = os.fork()
    if child == 0:
        status = 1
        try:
            gate.set()
            made(jitted, lambda: jitted(10))
            status = int(jitted(11) != 55)
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, *, soon: float, seconds: float) -> str:
    monkeypatch.setattr(waiting, "NOTICE_AFTER", soon)
    monkeypatch.setattr(waiting, "_TICK", 0.01)
    monkeypatch.setattr("sys.stderr", stream)
    with Notice(add_up, read_source(capture(add_up))):
        threading.Event().wait(seconds)
    return stream.getvalue()


def test_one_line_says_what_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPYC_PROGRESS", "1")
    found = shown(io.StringIO(), monkeypatch, soon=0.0, seconds=0.2)
    assert found == f"appyc: compiling add_up ({__file__}:{add_up.__code__.co_firstlineno}) ...\n"


def test_a_setting_that_cannot_be_read_is_no_error_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPYC_PROGRESS", "perhaps")
    with pytest.warns(RuntimeWarning, match="APPYC_PROGRESS must be one of .*, not 'perhaps'; it is ignored"):
        assert "compiling add_up" in shown(io.StringIO(), monkeypatch, soon=0.0, seconds=0.2)


def test_a_terminal_shows_how_long_and_then_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPYC_PROGRESS", "1")
    found = shown(Terminal(), monkeypatch, soon=0.0, seconds=0.2)
    assert found.startswith("\rappyc: compiling add_up (")
    assert ") ... 0 s\r" in found
    assert "\n" not in found
    assert found.endswith(" \r")


@pytest.mark.parametrize(("shows", "soon"), [("0", 0.0), ("1", SECONDS)])
def test_nothing_is_said_where_that_is_unwanted_or_soon_done(
    monkeypatch: pytest.MonkeyPatch, shows: str, soon: float
) -> None:
    monkeypatch.setenv("APPYC_PROGRESS", shows)
    assert shown(io.StringIO(), monkeypatch, soon=soon, seconds=0.05) == ""


def test_versions_that_later_calls_need_are_told_of_too(monkeypatch, capsys):
    @appyc.jit(target="cpu", cache=False)
    def shifted(a, b):
        for i in range(1, a.shape[0]):
            a[i] = b[i - 1] + 1.0

    values = np.zeros(8)
    shifted(values, np.zeros(8))
    monkeypatch.setenv("APPYC_PROGRESS", "1")
    monkeypatch.setattr(waiting, "NOTICE_AFTER", 0.0)
    shifted(values[1:], values[:-1])
    assert "appyc: compiling test_versions_that_later_calls_need" in capsys.readouterr().err


def test_what_is_in_the_cache_starts_no_thread(monkeypatch, tmp_path):
    monkeypatch.setenv("APPYC_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("APPYC_PROGRESS", "1")
    appyc.jit(target="cpu")(add_up)(10)
    started = []
    monkeypatch.setattr(threading.Thread, "start", lambda thread: started.append(thread.name))
    assert appyc.jit(target="cpu")(add_up)(10) == 45
    assert started == []


def test_a_program_that_ends_before_its_function_is_compiled_leaves_it_in_the_cache(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import appyc
import numpy as np

@appyc.jit
def doubled(a):
    for i in range(a.shape[0]):
        a[i] *= 2
    return a

assert doubled(np.ones(3)).tolist() == [2, 2, 2]
""")
    env = {**os.environ, "APPYC_COMPILE_WAIT": "0", "APPYC_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, str(program)], env=env, check=True, timeout=120)
    assert list((tmp_path / "cache").rglob("kernel.so"))


def test_reports_wait_for_what_is_being_compiled(monkeypatch):
    monkeypatch.setenv("APPYC_COMPILE_WAIT", "0")

    @appyc.jit(cache=False)
    def doubled(a):
        for i in range(a.shape[0]):
            a[i] *= 2

    doubled(np.ones(3))
    assert "for (int64_t i" in doubled.source("c")


def test_calls_of_equal_sizes_are_estimated_once() -> None:
    asked: list[str] = []

    def ask(answer: float, which: str) -> float:
        asked.append(which)
        return answer

    forecast = waiting.CallForecast()
    assert forecast.of({"a": np.ones(5), "n": 3}, lambda: ask(5.0, "five")) == 5.0
    assert forecast.of({"a": np.zeros(5), "n": 3}, lambda: ask(0.0, "five again")) == 5.0
    assert forecast.of({"a": np.ones(6), "n": 3}, lambda: ask(6.0, "six")) == 6.0
    assert forecast.of({"a": np.ones(6), "n": [3]}, lambda: ask(7.0, "a list")) == 7.0
    assert forecast.of({"a": np.ones(6), "n": [3]}, lambda: ask(8.0, "a list again")) == 8.0
    assert asked == ["five", "six", "a list", "a list again"]


def test_numbers_of_numpy_are_sizes_beside_shapes() -> None:
    forecast = waiting.CallForecast()
    for n, value in enumerate((np.ones(()), np.float64(0.5), np.ones((2, 3)), np.float64(0.5), 0.5)):
        assert forecast.of({"a": value}, lambda n=n: float(n)) == min(n, 3)  # type: ignore[misc]


def test_other_threads_get_the_interpreter_soon_while_one_compiles() -> None:
    """NumPy, which gives it up in each operation, would wait 5 ms for it after each."""
    usual = sys.getswitchinterval()
    seen: list[float] = []
    begun, done = threading.Barrier(3), threading.Event()

    def make() -> None:
        begun.wait(SECONDS)
        seen.append(sys.getswitchinterval())
        done.wait(SECONDS)

    compilations = waiting.Compilations()
    for key in ("one", "two"):
        assert not compilations.has_waited(key, make, lambda: True, patience=0)
    begun.wait(SECONDS)
    done.set()
    for thread in threading.enumerate():
        if thread.name == "appyc-compile":
            thread.join(SECONDS)
    assert seen == pytest.approx([waiting.SWITCH_SECONDS] * 2)
    assert sys.getswitchinterval() == usual
