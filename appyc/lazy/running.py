"""Execution of recorded statements: as compiled programs, cached by structure, or in NumPy.

NumPy runs statements that are not compiled (`hosted`), programs that failed to compile or are still being compiled, and
programs that have run too little for compilation to pay.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from appyc.api import JitFunction, warn_of_defect
from appyc.errors import CompileError, InternalError, ToolchainError
from appyc.lazy import residence
from appyc.lazy._nodes import Buffer, Statement, View
from appyc.lazy.batched_scalars import companions
from appyc.lazy.dead_results import LEAST_BYTES, Habit, Left, Watch
from appyc.lazy.gathering import Gathered, Key, gather
from appyc.lazy.hosted import run_hosted
from appyc.lazy.programs import Program, as_function, error_lines, parts_of
from appyc.lazy.recorded_calls import CallStatement, Recorded
from appyc.lazy.recorded_nodes import buffers_of
from appyc.lazy.recording import Recording, Spent, drop_needless
from appyc.options import compile_wait, computed_at_once, from_environment, or_usual, recorded_bounds

WORTH_COMPILING = 1 << 21
"""Elements computed over all runs of a program from which on it is compiled; until then, NumPy runs it."""

MOST_PROGRAMS = 4096

MOST_REPORTED = 256
"""Maximum number of eager calls in the report of one flush."""


class ArraySpec(NamedTuple):
    """Shape and dtype of an array in C order."""

    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(frozen=True, slots=True)
class Ran:
    """One unit that a flush ran: a program, or one statement in NumPy.

    arguments: numbers, and shape and dtype of arrays, which are not to be kept alive for a report. left: lines of
    results that were not stored, and are recorded still. why: a call of a compiled function ran at once. by: what ran
    it, where no program did.
    """

    what: str
    program: Program | None = None
    arguments: tuple[object, ...] = ()
    left: tuple[int, ...] = ()
    why: str = ""
    by: str = "NumPy"

    def arguments_like(self) -> tuple[object, ...]:
        """The arguments that the program ran on, with arrays of zeros for its arrays."""
        return tuple(np.zeros(a.shape, a.dtype) if isinstance(a, ArraySpec) else a for a in self.arguments)


@dataclass(slots=True)
class State:
    """The state of recording: the recording, the caches of programs and histories, and the last flush.

    habits: of each structure, what became of its results. least_left: bytes of results that are left recorded.
    compiling: what a thread has begun to compile last: one at a time, which is there the sooner. target: None for what
    the environment says.
    withheld: an error that NumPy drops, and the buffer that could not be computed.
    """

    recording: Recording = field(
        default_factory=lambda: Recording(*or_usual(recorded_bounds), or_usual(computed_at_once))
    )
    habits: dict[Key, Habit] = field(default_factory=dict)
    watch: Watch = field(default_factory=Watch)
    least_left: int = LEAST_BYTES
    programs: dict[tuple[Habit, tuple[int, ...], bool], Program] = field(default_factory=dict)
    last: list[Ran] = field(default_factory=list)
    worth: int = WORTH_COMPILING
    compiling: JitFunction | None = None
    target: str | None = None
    withheld: tuple[Buffer, Exception] | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)


STATE = State()
"""One state for the process, since threads share arrays."""


def flush(wanted: Sequence[Buffer] | None = None, overwritten: Sequence[Buffer] = ()) -> None:
    """Runs what is recorded: all of it, or what `wanted` needs and what must come before a change
    of `overwritten` from outside.

    Raises what the operations raise, with the line where they were recorded.
    """
    with STATE.lock:
        if STATE.recording.statements or STATE.recording.left:
            _run_all(lambda: _taken(wanted, overwritten), wanted if not overwritten else None)


def _taken(wanted: Sequence[Buffer] | None, overwritten: Sequence[Buffer]) -> list[Recorded]:
    """The statements to run, with those of scalars computed speculatively along with the wanted ones."""
    recording = STATE.recording
    if wanted is None or overwritten:
        return recording.take(wanted, overwritten)
    beside = companions(recording.statements, wanted, STATE.watch.alone, STATE.least_left)
    for buffer, site in beside:
        STATE.watch.begin_beside(buffer, site)
    return recording.take([*wanted, *(buffer for buffer, _ in beside)])


MOST_HELD = 1 << 25
"""Maximum bytes of arrays that only the recording keeps alive when further memory is allocated."""


def make_room(nbytes: int) -> None:
    """Runs the recording before a large allocation, if it keeps too many bytes of arrays alive that the program has
    dropped: in NumPy they would be freed."""
    statements = STATE.recording.statements
    if nbytes >= LEAST_BYTES and statements and held_alone(statements) > MOST_HELD:
        flush_due()


def held_alone(statements: Sequence[Recorded]) -> int:
    """Bytes of computed arrays that only these statements keep alive."""
    read = [o for s in statements if type(s) is Statement for o in s.operands if isinstance(o, View)]
    buffers = [buffer for buffer in buffers_of(residence.alone(read)) if buffer.memory is not None]
    return sum(buffer.nbytes for buffer in residence.alone(buffers))


def flush_due() -> None:
    """Runs the recording because it is long enough, not because a value is needed: results that went unread before may
    stay recorded, and deferred statements do."""
    with STATE.lock:
        recording = STATE.recording
        if len(recording.left) > recording.most_statements:
            flush()
        else:
            _run_all(recording.take_new, ())


def flush_some() -> None:
    """Runs the recording except its last statements, because the results have too many bytes."""
    with STATE.lock:
        recording = STATE.recording
        rest = recording.split_off()
        try:
            flush()
        finally:
            recording.statements.extend(rest)
            recording.count_bytes()


def _run_all(take: Callable[[], list[Recorded]], wanted: Sequence[Buffer] | None) -> None:
    """Takes out statements and runs them. wanted: where not None, other results may stay recorded."""
    recording = STATE.recording
    was_running, recording.running = recording.running, True
    spent, start = Spent(), time.perf_counter()
    try:
        statements, again = take(), recording.again
        if statements:
            STATE.last = []
        for statement in statements if again else ():
            # A deferred result was predicted dead, but statements outside the deferred ones read it.
            is_new = id(statement) not in again
            for buffer in statement.reads() if is_new else statement.writes() if wanted is None else ():
                STATE.watch.is_read(buffer)
        with np.errstate(all="ignore"):
            while statements:
                _run_segment(statements, wanted, spent)
                drop_needless(statements)  # what has run may have been the last to read their results
    finally:
        recording.running = was_running
    beside = time.perf_counter() - start - spent.seconds
    recording.has_run(spent.statements, spent.largest, beside, spent.saved)


def ran_at_once(what: str, why: str = "") -> None:
    """Reports a call that ran instead of being recorded: of a compiled function for a reason, or of NumPy's."""
    if len(STATE.last) < MOST_REPORTED:
        STATE.last.append(Ran(what if why else f"{what}, which is not recorded", why=why))


def _run_segment(statements: list[Recorded], wanted: Sequence[Buffer] | None, spent: Spent) -> None:
    """Runs the first statements, up to one that is not compiled, and takes them out of the list.

    wanted: where not None, other results may stay recorded.
    """
    made = _held(statements)
    count = next((n for n, s in enumerate(statements) if s.operation.hosted), len(statements))
    if count == 0:
        if statements:
            first = statements.pop(0)
            assert isinstance(first, Statement)
            start = time.perf_counter()
            by = run_hosted(first, STATE.watch, for_gpu=residence.is_for_gpu(STATE.target))
            spent.since(start)
            spent.of(1, max(math.prod(o.shape) for o in first.operands if isinstance(o, View)))
            STATE.last.append(Ran(str(first.operation), by=by))
        return
    found = gather(statements[:count])
    made.clear()
    for buffer in found.inputs if STATE.watch.waiting else ():
        STATE.watch.is_read(buffer)
    habit = _habit_of(found)
    numbers = frozenset() if wanted is None else found.numbers_of(wanted)
    left = (
        habit.left(found, numbers, STATE.least_left)
        if wanted is not None and count == len(statements)
        else None
    )
    staying = [] if left is None else [statements[at] for at in left.lines]
    staying = [s.resting() if isinstance(s, CallStatement) else s for s in staying]  # without their targets
    del statements[:count]
    returned, reachable = found.reachable()
    if wanted is not None:
        _watch(habit, returned, reachable, numbers, left)
    if left is not None:
        pairs = [(n, b) for n, b in zip(returned, reachable, strict=True) if n not in left.numbers]
        returned, reachable = [n for n, _ in pairs], [b for _, b in pairs]
    results = _run_program(found, habit, returned, left, spent)
    for buffer, result in zip(reachable, results, strict=True):
        buffer.memory = residence.kept(result, buffer.dtype)
    STATE.recording.left[:0] = staying  # statements that were not chosen may read their results


def _held(statements: list[Recorded]) -> list[Sequence[Buffer]]:
    """Strong references to the results of the statements, since the garbage collector may run at any time. Dead
    statements are dropped."""
    made = [statement.writes() for statement in statements]
    while not all(made):
        made.clear()
        drop_needless(statements)
        made = [statement.writes() for statement in statements]
    return made


def _habit_of(found: Gathered) -> Habit:
    structure = found.structure()
    habit = STATE.habits.get(structure)
    if habit is None:
        if len(STATE.habits) >= MOST_PROGRAMS:
            STATE.habits.clear()
            STATE.programs.clear()
        habit = STATE.habits[structure] = Habit()
    return habit


def _watch(
    habit: Habit, returned: list[int], reachable: list[Buffer], wanted: frozenset[int], left: Left | None
) -> None:
    """Tracks the liveness of results that are reachable and not wanted."""
    for number, buffer in zip(returned, reachable, strict=True):
        is_small = bool(buffer.shape) and math.prod(buffer.shape) <= STATE.recording.at_once
        if number not in wanted and not is_small:  # eager operations may read or change it untracked
            STATE.watch.begin(buffer, habit, number)
    held = (
        frozenset() if left is None else left.numbers - left.unread
    )  # by the statements that stay, or a name, too
    habit.has_reached(frozenset(returned) - held)


def _run_program(
    found: Gathered, habit: Habit, returned: Sequence[int], left: Left | None, spent: Spent
) -> Any:
    on_chunks = any(residence.is_chunked(buffer.memory) for buffer in found.inputs)
    for buffer in found.changed() if on_chunks else ():
        residence.cut(buffer, found.inputs)
    key = (habit, tuple(returned), on_chunks)
    program = STATE.programs.get(key)
    if program is None:
        if len(STATE.programs) >= MOST_PROGRAMS:
            STATE.programs.clear()
        program = STATE.programs[key] = Program(
            as_function(found, returned), tuple(found.sites), on_chunks=on_chunks
        )
    program.work += found.work
    if _compiled(program) is not None and program.on_gpu:
        residence.move(found.inputs)
    lines = () if left is None else tuple(n for n, line in enumerate(found.lines) if line[2] in left.unread)
    results = _run(program, found.arguments(), max(found.work, 1), spent, lines)
    spent.saved += program.saved(found.work)
    spent.of(len(found.lines), found.largest)
    return results


def _compiled(program: Program) -> JitFunction | None:
    """The program as a compiled function; None while compilation does not pay yet, or if it failed."""
    is_worth = program.on_chunks or program.work >= STATE.worth
    if program.compiled is None and not program.parts and not program.reason and is_worth:
        given: dict[str, object] = {} if STATE.target is None else {"target": STATE.target}
        options = from_environment({"strict": True, **given})
        program.compiled, program.on_gpu = (
            JitFunction(program.text.function, options),
            options.target == "gpu",
        )
    return program.compiled


def _run(
    program: Program, arguments: tuple[object, ...], work: int, spent: Spent, left: tuple[int, ...] = ()
) -> Any:
    """Runs the program, compiled if that pays, else in NumPy, and returns its results. left: for the report."""
    if program.parts:
        return _run_parts(program, arguments, work, spent)
    program.runs += 1
    compiled = _compiled(program)
    ran = Ran("program", program, tuple(map(_without_values, arguments)), left)
    STATE.last.append(ran)
    if compiled is not None:
        try:
            if program.on_chunks or program.is_ready or _is_ready(program, compiled, arguments):
                start = time.perf_counter()
                results = compiled(*arguments)
                program.fast = min(program.fast, spent.since(start) / work)
                return results
        except (CompileError, InternalError, ToolchainError) as error:
            program.compiled = None
            if len(program.sites) > 1 and not isinstance(error, ToolchainError):
                program.parts = parts_of(program, error)
                STATE.last.remove(ran)
                return _run_parts(program, arguments, work, spent)
            if isinstance(error, InternalError):
                warn_of_defect("what was recorded", error)
            program.reason = str(error)
        except Exception as error:
            error.add_note(f"in what was recorded at {error_lines(program, error)}")
            raise
    start = time.perf_counter()
    try:
        return residence.by_numpy(program.text.function, arguments)
    except Exception as error:
        error.add_note(f"in what was recorded at {error_lines(program, error)}")
        raise
    finally:
        program.by_numpy += 1
        seconds = spent.since(start)
        program.seconds += seconds
        program.slow = min(program.slow, seconds / work)


def _is_ready(program: Program, compiled: JitFunction, arguments: tuple[object, ...]) -> bool:
    """Whether compiled code runs the program now: if it exists, or if NumPy would take longer than compilation.
    Otherwise NumPy runs it, and a thread compiles the program once that pays."""
    if not program.is_known:
        program.look_up()
    pays = program.pays
    if compile_wait() == math.inf:
        program.is_ready = True
    elif not program.is_known or (pays and _may_begin(compiled)):
        waits = program.a_run > program.compiling or any(program.text.calls)  # else compiled one by one
        program.is_ready = compiled.is_ready(arguments, begins=pays, waits=waits)
        program.is_known = True
    return program.is_ready


def _may_begin(compiled: JitFunction) -> bool:
    """Whether a thread may compile the program: one at a time, which is there the sooner."""
    may = STATE.compiling in (None, compiled) or not STATE.compiling.is_compiling
    if may:
        STATE.compiling = compiled
    return may


def _run_parts(program: Program, arguments: tuple[object, ...], work: int, spent: Spent) -> Any:
    """Runs the parts of a program in order. Each gets the results of those before it."""
    there = dict(zip(program.text.parameters, arguments, strict=True))
    for part in program.parts:
        values = _run(part, tuple(there[name] for name in part.text.parameters), work, spent)
        there.update(zip(part.text.returned, values, strict=True))
    return tuple(there[name] for name in program.text.returned)


def _without_values(argument: object) -> object:
    is_array = isinstance(argument, np.ndarray) or residence.is_there(argument)
    return ArraySpec(argument.shape, argument.dtype) if is_array else argument  # type: ignore[attr-defined]
