"""Background compilation: which calls wait for it, and the progress notice on stderr."""

from __future__ import annotations

import contextvars
import os
import sys
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, suppress
from math import inf
from types import FunctionType, TracebackType
from typing import TextIO

from appyc.frontend.access import closure_of
from appyc.frontend.source import Source
from appyc.frontend.syntax.trip_counts import evaluations
from appyc.options import compile_wait, or_usual, progress_is_shown

NOTICE_AFTER = 1.0
"""Seconds of compiling without a word."""

_TICK = 0.25
"""Seconds between two progress lines."""

_NODE_SECONDS = 50e-9
"""The seconds in which Python evaluates one AST node, elements of arrays included."""

SHORT_CALL = 1.0
"""Seconds that a call may take in Python while its function is compiled; a longer one waits."""


class Notice:
    """Says on stderr that a function is being compiled, from a second on; a terminal shows how long it has taken."""

    def __init__(self, fn: FunctionType, source: Source) -> None:
        self._text = f"appyc: compiling {fn.__qualname__} ({source.file}:{source.first_line}) ..."
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> None:
        if or_usual(progress_is_shown):
            self._thread = threading.Thread(target=self._tell, name="appyc-notice", daemon=True)
            self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()  # what the program prints next begins on a line of its own

    def _tell(self) -> None:
        start = time.monotonic()
        if self._done.wait(NOTICE_AFTER):
            return
        stream = sys.stderr
        with suppress(OSError, ValueError, AttributeError):  # there is no stderr, or it was closed
            if not is_live(stream):
                print(self._text, file=stream, flush=True)
                return
            line = self._text
            while not self._done.is_set():
                line = f"{self._text} {time.monotonic() - start:.0f} s"
                print(f"\r{line}", end="", file=stream, flush=True)
                self._done.wait(_TICK)
            print(f"\r{' ' * len(line)}\r", end="", file=stream, flush=True)


def is_live(stream: TextIO) -> bool:
    """Whether a line can be written over: in a terminal, and in a notebook."""
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")


class Compilations:
    """The versions of one function that are being made. Each belongs to the process that began it."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._starting = threading.Lock()
        self._going: dict[Hashable, _Compilation] = {}

    @property
    def lock(self) -> AbstractContextManager[object]:
        """The lock that is held while a version is compiled."""
        self._renew()
        return self._lock

    def _renew(self) -> None:
        """Resets the state in a forked child, where the threads of the parent process do not exist."""
        if self._process != os.getpid():
            self._process, self._lock = os.getpid(), threading.RLock()
            self._starting, self._going = threading.Lock(), {}

    def has_waited(
        self,
        key: Hashable,
        make: Callable[[], object],
        is_short: Callable[[], bool],
        patience: float | None = None,
    ) -> bool:
        """Whether the version is there now, or for the caller to make. Not where a thread is still at it after a
        second, and Python is through with the call soon. Raises what making it has raised.

        patience: seconds to wait, instead of the environment's setting.
        """
        patience = compile_wait() if patience is None else patience
        if patience == inf:
            return True
        self._renew()
        with self._starting:
            compilation = self._going.get(key)
            is_new = compilation is None
            if compilation is None:
                compilation = self._going[key] = _Compilation(lambda: self._made(key, make))
        if not compilation.done.wait(patience if is_new else 0):
            if is_short():
                return False
            compilation.done.wait()
        self._going.pop(key, None)
        if compilation.error is not None:
            raise compilation.error
        return True

    @property
    def go_on(self) -> bool:
        """Whether a thread is making a version."""
        self._renew()
        return not all(compilation.done.is_set() for compilation in list(self._going.values()))

    def finish(self) -> None:
        """Waits for the versions that threads are making, as reports do that are about them."""
        self._renew()
        for compilation in list(self._going.values()):
            compilation.done.wait()

    def _made(self, key: Hashable, make: Callable[[], object]) -> None:
        make()
        self._going.pop(key, None)


SWITCH_SECONDS = 1e-4
"""Python's switch interval while a thread compiles."""


class _Yielding:
    """Shortens Python's switch interval while any thread compiles: NumPy gives up the interpreter in operations on more
    than 500 elements, and would wait the usual 5 ms for it after each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = 0
        self._usual = 0.0

    def __enter__(self) -> None:
        with self._lock:
            self._threads += 1
            if self._threads == 1:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(min(self._usual, SWITCH_SECONDS))

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._threads -= 1
            if self._threads == 0 and sys.getswitchinterval() <= SWITCH_SECONDS:  # else the program set it
                sys.setswitchinterval(self._usual)


_YIELDING = _Yielding()
"""One for the process, as the interval is."""


class _Compilation:
    """A version that is made in a thread of its own. error: what that has raised."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make
        self.done = threading.Event()
        self.error: BaseException | None = None
        context = contextvars.copy_context()
        # No daemon: a program ends when what it has begun is in the cache, or short ones would never find it there.
        threading.Thread(target=context.run, args=(self._run,), name="appyc-compile").start()

    def _run(self) -> None:
        try:
            with _YIELDING:
                self._make()
        except BaseException as error:  # noqa: BLE001  (for the call that takes the result)
            self.error = error
        finally:
            self.done.set()


class CallForecast:
    """`seconds_in_python` of calls of one function: of calls alike, in numbers and shapes, it is asked once."""

    def __init__(self) -> None:
        self._last: tuple[list[object], float] | None = None

    def of(self, named: Mapping[str, object], ask: Callable[[], float]) -> float:
        """ask: `seconds_in_python` of the call."""
        sizes = [_size(value) for value in named.values()]
        if None in sizes:  # what an object holds may tell of loops too
            return ask()
        if self._last is None or self._last[0] != sizes:
            self._last = sizes, ask()
        return self._last[1]

    def of_call(self, source: Source, fn: FunctionType, named: Mapping[str, object]) -> float:
        """The estimated seconds that a call of a function with these arguments takes in Python."""
        values = {**fn.__globals__, **closure_of(fn), **named}
        return self.of(named, lambda: evaluations(source.ast.body, values, unknown=inf) * _NODE_SECONDS)


def _size(value: object) -> object:
    """The size of an argument that a call's time may depend on; never of a NumPy class, which compares
    otherwise."""
    if isinstance(value, float):
        return float(value)
    return value if isinstance(value, int) else getattr(value, "shape", None)
