"""Translation of recorded statements to a Python function, which is compiled like any other.

    c = a * x + y; s = c.sum()              def recorded(p0, p1, s0):
                                                t0 = np.multiply(p0, s0)
                                ->              t1 = np.add(t0, p1)
                                                t2 = np.sum(t1, axis=(0,), keepdims=False)
                                                return t1, t2

Computed arrays, scalars and the bounds of slices are parameters; results that are live-out are returned.
Equal structures are one function, whatever the sizes. Broadcasting of an operand is explicit in the text
(`p0[:, 0, None]`), so that the compiler knows it.

A function that the compiler refuses is split at the refused statement into three functions: the statements
before it, the statement, and those after it. Each returns what later ones read.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import math
import traceback
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from appyc.api import JitFunction, SpentSeconds
from appyc.errors import CompileError
from appyc.lazy._nodes import Buffer
from appyc.lazy.gathering import Gathered
from appyc.lazy.numpy_form import names_in, numpy_form
from appyc.lazy.operations import Call
from appyc.lazy.recorded_nodes import Site
from appyc.lazy.recording import line_of
from appyc.lazy.views import tuple_of
from appyc.lazy.writing import Writer


@dataclass(frozen=True, slots=True)
class Text:
    """A recorded function. For each recorded statement: the last of its lines in the text, and whether it is a call
    of a compiled function. returned: the names of what it returns."""

    function: FunctionType
    lines: tuple[int, ...]
    calls: tuple[bool, ...]
    returned: tuple[str, ...]

    @property
    def file(self) -> str:
        """The name that stands in tracebacks."""
        return self.function.__code__.co_filename

    @property
    def parameters(self) -> tuple[str, ...]:
        code = self.function.__code__
        return code.co_varnames[: code.co_argcount]

    def statement_at(self, line: int) -> int | None:
        """The number of the recorded statement that a line belongs to."""
        return next((k for k, last in enumerate(self.lines) if line <= last), None)


_serial = itertools.count(1)


def as_function(found: Gathered, returned: Sequence[int]) -> Text:
    """The statements as a Python function of the arrays and the numbers, in this order."""
    writer = Writer(found)
    known = writer.equalities()
    statements = [writer.statement(line) for line in found.lines]
    parameters = [found.name(k) for k, buffer in enumerate(found.buffers) if isinstance(buffer, Buffer)]
    parameters += [f"s{k}" for k in range(len(found.scalars))]
    parameters += [f"n{k}" for k in range(len(found.lengths.arguments))]
    calls = tuple(isinstance(line[0], Call) for line in found.lines)
    names = [found.name(number) for number in returned]
    return _text(parameters, known, statements, names, calls, writer.functions)


def taken_apart(text: Text, at: int) -> list[tuple[Text, range]]:
    """The function as three: what comes before a statement, the statement, and what comes after, as far as there is
    any. With each, the numbers of its statements."""
    count = len(text.lines)
    functions = {k: v for k, v in text.function.__globals__.items() if k.startswith("f") and k[1:].isdigit()}
    source = linecache.getlines(text.file)
    statements = [
        [line[4:-1] for line in source[first:last] if not line.startswith("    assert ")]
        for first, last in zip((1, *text.lines), text.lines, strict=False)
    ]
    trees = [ast.parse("\n".join(lines)).body for lines in statements]
    out = []
    there = set(text.parameters)
    for piece in (range(at), range(at, at + 1), range(at + 1, count)):
        if not piece:
            continue
        mine = [stmt for k in piece for stmt in trees[k]]
        later = set(names_in([stmt for k in range(piece.stop, count) for stmt in trees[k]], ast.Load))
        made = set(names_in(mine, ast.Store))
        parameters = sorted(there.intersection(names_in(mine, ast.Load)))
        returned = sorted(name for name in made if name in later or name in text.returned)
        calls = tuple(text.calls[k] for k in piece)
        out.append((_text(parameters, [], [statements[k] for k in piece], returned, calls, functions), piece))
        there |= made
    return out


def _text(
    parameters: Sequence[str],
    known: Sequence[str],
    statements: Sequence[Sequence[str]],
    returned: Sequence[str],
    calls: tuple[bool, ...],
    functions: dict[str, Any],
) -> Text:
    """A function of these statements, lines of text each, which follow what is `known`."""
    body = [*known, *itertools.chain(*statements), f"return {tuple_of(returned)}"]
    text = "\n    ".join([f"def recorded({', '.join(parameters)}):", *body]) + "\n"
    file = f"<recorded-{next(_serial)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names_there: dict[str, object] = {"np": np, "__name__": "recorded", **functions}
    exec(compile(numpy_form(ast.parse(text)), file, "exec"), names_there)
    function = names_there["recorded"]
    assert isinstance(function, FunctionType)
    weakref.finalize(function, linecache.cache.pop, file, None)
    ends = itertools.accumulate(map(len, statements), initial=1 + len(known))
    return Text(function, tuple(ends)[1:], calls, tuple(returned))


# ---------------------------------------------------------------- programs

_COMPILING, _COMPILING_STATEMENT = 0.3, 0.04
"""Seconds that compiling takes: of any program, and more for each statement."""

_ELEMENT = 2e-9
"""Seconds that NumPy takes to compute one element."""

HOPED_SHARE = 0.75
"""The share of NumPy's time that compiling saves, as long as it has not been measured."""

LEAST_SHARE = 1 / 16
"""The share of the time that compiling takes which NumPy must have spent in a process that leaves word of
it."""


@dataclass(slots=True)
class Program:
    """One structure.

    by_numpy, seconds: its runs by NumPy, and what they took. slow, fast: the least seconds for an element that NumPy
    and compiled code have taken. spent: what it took processes before this one, once that has been looked up. compiled:
    None before it is worth it, and where it failed, which `reason` tells. is_ready: its code is there. is_known: it has
    been looked for on disk. on_gpu: it is compiled for one. on_chunks: it writes a graph of Dask's. parts: what it was
    taken apart into, since the compiler refuses one of its statements.
    """

    text: Text
    sites: tuple[Site, ...]
    work: int = 0
    runs: int = 0
    by_numpy: int = 0
    seconds: float = 0.0
    slow: float = math.inf
    fast: float = math.inf
    spent: SpentSeconds | None = None
    compiled: JitFunction | None = None
    is_ready: bool = False
    is_known: bool = False
    on_gpu: bool = False
    on_chunks: bool = False
    reason: str = ""
    parts: list[Program] = field(default_factory=list)

    def look_up(self) -> None:
        """Finds what NumPy has spent on it in earlier processes.

        A script of a second that is run again and again takes as long as one that runs for a minute. What compiling
        costs is weighed against the seconds of all processes, so that one of them compiles it for those that follow.
        """
        self.spent = SpentSeconds.of("".join(linecache.getlines(self.text.file)))

    def leave(self) -> None:
        """Adds the time of this process to that of the earlier ones, in the cache folder."""
        keeps = self.compiled is not None and self.compiled.options.cache and not self.is_ready
        if keeps and self.spent is not None and self.seconds >= LEAST_SHARE * self.compiling:
            self.spent.add(self.seconds)

    @property
    def compiling(self) -> float:
        """Seconds that compiling it may take."""
        return _COMPILING + _COMPILING_STATEMENT * len(self.text.lines)

    @property
    def a_run(self) -> float:
        """Seconds that NumPy takes for it: measured, or by what it computes."""
        return (self.seconds / self.by_numpy) if self.by_numpy else self.work * _ELEMENT

    def saved(self, work: int) -> float:
        """What a run for so many elements saves beside NumPy: measured, or hoped for."""
        slow = self.slow if self.by_numpy else _ELEMENT
        return work * (slow - self.fast if self.fast < math.inf else HOPED_SHARE * slow)

    @property
    def pays(self) -> bool:
        """Whether compiling it likely takes less than it saves: it has come again, and as often as it has come it will
        come still; or its first run would take longer than compiling it."""
        before = 0.0 if self.spent is None else self.spent.before
        has_paid = self.by_numpy > 1 and self.seconds + before > self.compiling
        return self.a_run > self.compiling or has_paid


def parts_of(program: Program, error: Exception) -> list[Program]:
    """The program without the statement that the compiler refuses, and that one; or halves, where none is named."""
    text = program.text
    at = None
    if isinstance(error, CompileError) and error.loc.file == text.file:
        at = text.statement_at(error.loc.line)
    return [
        Program(
            part,
            program.sites[numbers.start : numbers.stop],
            work=program.work,
            by_numpy=program.by_numpy,
            seconds=program.seconds,
            on_chunks=program.on_chunks,
        )
        for part, numbers in taken_apart(text, len(text.lines) // 2 if at is None else at)
    ]


def error_lines(program: Program, error: BaseException) -> str:
    """The source line of the operation that raised; where it is unknown, those of the calls of compiled functions, or
    else all."""
    text = program.text
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == text.file]
    for frame in frames:
        sites = [site for site, line in zip(program.sites, text.lines, strict=True) if line == frame.lineno]
        if sites:
            return _written(sites)
    calls = [site for site, is_call in zip(program.sites, text.calls, strict=True) if is_call]
    return _written(calls or program.sites)


def _written(sites: Sequence[Site]) -> str:
    return ", ".join(f"{file}:{line}" for file, line in dict.fromkeys(map(line_of, sites)))
