"""Runs recorded statements: as compiled programs, found again by their structure, or by NumPy.

What runs in NumPy instead: statements that are NumPy's business (`hosted`), programs that could
not be compiled, and small ones that have come a few times only, since compiling takes longer
than they do.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from appyc.api import JitFunction
from appyc.errors import CompileError, InternalError, ToolchainError
from appyc.lazy.gathering import Gathered, Key, gather
from appyc.lazy.nodes import Buffer, Operand, Own, Site, Statement, View
from appyc.lazy.operations import Copy, Product
from appyc.lazy.programs import Text, as_function
from appyc.lazy.recording import Recorded, Recording, drop_needless, line_of
from appyc.lazy.views import view_of
from appyc.options import from_environment, recorded_bounds

WORTH_COMPILING = 1 << 21
"""Elements computed over all runs of a program; before that, NumPy runs it."""

MOST_PROGRAMS = 4096

MOST_REPORTED = 256
"""Calls that NumPy ran, of which the report of one flush tells."""


@dataclass(slots=True)
class Program:
    """One structure. compiled: None before it is worth it, and where it failed, which `reason` tells."""

    text: Text
    sites: tuple[Site, ...]
    work: int = 0
    runs: int = 0
    compiled: JitFunction | None = None
    reason: str = ""


class Extent(NamedTuple):
    """Of an array in C order."""

    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(frozen=True, slots=True)
class Ran:
    """What a flush ran at once: a program, or one statement in NumPy.

    arguments: numbers, and shape and dtype of arrays, which are not to be kept alive for a report.
    """

    what: str
    program: Program | None = None
    arguments: tuple[object, ...] = ()

    def arguments_like(self) -> tuple[object, ...]:
        """What the program ran on, with arrays of zeros for its arrays."""
        return tuple(np.zeros(a.shape, a.dtype) if isinstance(a, Extent) else a for a in self.arguments)


@dataclass(slots=True)
class State:
    """What is recorded, programs by structure, and what ran last."""

    recording: Recording = field(default_factory=lambda: Recording(*recorded_bounds()))
    programs: dict[Key, Program] = field(default_factory=dict)
    last: list[Ran] = field(default_factory=list)
    worth: int = WORTH_COMPILING
    target: str = "auto"
    lock: threading.RLock = field(default_factory=threading.RLock)


STATE = State()
"""One for the process, since arrays go from thread to thread."""


def flush(wanted: Sequence[Buffer] | None = None, overwritten: Sequence[Buffer] = ()) -> None:
    """Runs what is recorded: all of it, or what `wanted` needs and what must come before a change
    of `overwritten` from outside.

    Raises what the operations raise, with the place where they were recorded.
    """
    with STATE.lock:
        statements = STATE.recording.take(wanted, overwritten)
        if statements:
            STATE.last = []
        while statements:
            _run_segment(statements)
            drop_needless(statements)  # what has run may have been the last to read their results


def ran_by_numpy(what: str) -> None:
    """For the report: a call that is not recorded."""
    if len(STATE.last) < MOST_REPORTED:
        STATE.last.append(Ran(f"{what}, which is not recorded"))


def _run_segment(statements: list[Recorded]) -> None:
    """Runs the first statements that go together, and takes them out of the list."""
    count = next((n for n, s in enumerate(statements) if s.operation.hosted), len(statements))
    if count == 0:
        hosted = statements.pop(0)
        assert isinstance(hosted, Statement)
        _run_hosted(hosted)
        return
    found = gather(statements[:count])
    del statements[:count]
    returned, reachable = found.reachable()
    results = _run_program(found, returned, found.arguments())
    for buffer, result in zip(reachable, results, strict=True):
        buffer.memory = np.asarray(result, buffer.dtype, order="C")


def _run_program(found: Gathered, returned: Sequence[int], arguments: tuple[object, ...]) -> Any:
    key = found.key(returned)
    program = STATE.programs.get(key)
    if program is None:
        if len(STATE.programs) >= MOST_PROGRAMS:
            STATE.programs.clear()
        program = STATE.programs[key] = Program(as_function(found, returned), tuple(found.sites))
    program.runs += 1
    program.work += found.work
    if program.compiled is None and not program.reason and program.work >= STATE.worth:
        program.compiled = JitFunction(
            program.text.function, from_environment({"strict": True, "target": STATE.target})
        )
    STATE.last.append(Ran("program", program, tuple(map(_without_values, arguments))))
    if program.compiled is not None:
        try:
            return program.compiled(*arguments)
        except (CompileError, InternalError, ToolchainError) as error:
            program.compiled, program.reason = None, str(error)
        except Exception as error:
            error.add_note(f"in what was recorded at {_places(program, error)}")
            raise
    try:
        with np.errstate(all="ignore"):
            return program.text.function(*arguments)
    except Exception as error:
        error.add_note(f"in what was recorded at {_places(program, error)}")
        raise


def _places(program: Program, error: BaseException) -> str:
    """Where the operation was recorded that raised; where that cannot be told, where the calls of compiled
    functions were, or else all."""
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


def _without_values(argument: object) -> object:
    return Extent(argument.shape, argument.dtype) if isinstance(argument, np.ndarray) else argument


def _run_hosted(statement: Statement) -> None:
    target = statement.target()
    assert target is not None
    operands = [_operand(operand, target) for operand in statement.operands]
    assert isinstance(statement.operation, Product | Copy)
    value = statement.operation.run(*operands)
    STATE.last.append(Ran(str(statement.operation)))
    if statement.path is None:
        target.memory = np.asarray(value, target.dtype, order="C")
    else:
        assert target.memory is not None
        view_of(target.memory, statement.path)[...] = value


def _operand(operand: Operand, target: Buffer) -> Any:
    match operand:
        case View():
            assert operand.buffer.memory is not None
            return view_of(operand.buffer.memory, operand.path)
        case Own(path=path):
            assert target.memory is not None
            return view_of(target.memory, path)
        case _:
            return operand
