"""Runs recorded statements: as compiled programs, found again by their structure, or by NumPy.

What runs in NumPy instead: statements that are NumPy's business (`hosted`), programs that could
not be compiled, that a thread is still compiling, and such that have come a few times only, since compiling takes
longer than they do.
"""

from __future__ import annotations

import math
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from appyc.api import JitFunction, warn_of_defect
from appyc.errors import CompileError, InternalError, ToolchainError
from appyc.lazy import residence
from appyc.lazy.batched_scalars import companions
from appyc.lazy.dead_results import LEAST_BYTES, Habit, Left, Watch
from appyc.lazy.gathering import Gathered, Key, gather
from appyc.lazy.operations import Copy, Product
from appyc.lazy.programs import Program, as_function, parts_of, places
from appyc.lazy.recorded_nodes import Buffer, Operand, Own, Statement, View, held_alone
from appyc.lazy.recording import CallStatement, Recorded, Recording, RestingCall, Waiting, drop_needless
from appyc.lazy.views import view_of
from appyc.options import compile_wait, computed_at_once, from_environment, or_usual, recorded_bounds

WORTH_COMPILING = 1 << 21
"""Elements computed over all runs of a program; before that, NumPy runs it."""

LEAST_DONATED = 1 << 24
"""Bytes of an array that is worth a program of its own, whose results take its memory."""

MOST_PROGRAMS = 4096

MOST_REPORTED = 256
"""Calls that NumPy ran, of which the report of one flush tells."""


class Extent(NamedTuple):
    """Of an array in C order."""

    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(frozen=True, slots=True)
class Ran:
    """What a flush ran at once: a program, or one statement in NumPy.

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
        """What the program ran on, with arrays of zeros for its arrays."""
        return tuple(np.zeros(a.shape, a.dtype) if isinstance(a, Extent) else a for a in self.arguments)


@dataclass(slots=True)
class State:
    """What is recorded, programs by structure and by what they return, and what ran last.

    habits: of each structure, what became of its results. least_left: bytes of results that are left recorded.
    least_donated: of an array whose memory results may take. target: None for what the environment says.
    """

    recording: Recording = field(
        default_factory=lambda: Recording(*or_usual(recorded_bounds), or_usual(computed_at_once))
    )
    habits: dict[Key, Habit] = field(default_factory=dict)
    watch: Watch = field(default_factory=Watch)
    least_left: int = LEAST_BYTES
    least_donated: int = LEAST_DONATED
    programs: dict[tuple[Habit, tuple[int, ...], tuple[str, ...]], Program] = field(default_factory=dict)
    last: list[Ran] = field(default_factory=list)
    worth: int = WORTH_COMPILING
    target: str | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)


STATE = State()
"""One for the process, since arrays go from thread to thread."""


def flush(wanted: Sequence[Buffer] | None = None, overwritten: Sequence[Buffer] = ()) -> None:
    """Runs what is recorded: all of it, or what `wanted` needs and what must come before a change
    of `overwritten` from outside.

    Raises what the operations raise, with the place where they were recorded.
    """
    with STATE.lock:
        recording = STATE.recording
        if not recording.statements and not recording.left:
            return
        was_running, recording.running = recording.running, True
        try:
            _run_all(_taken(wanted, overwritten), wanted if not overwritten else None)
        finally:
            recording.running = was_running


def _taken(wanted: Sequence[Buffer] | None, overwritten: Sequence[Buffer]) -> list[Recorded]:
    """The statements that are to run, with those of numbers that had better be computed with what is wanted."""
    recording = STATE.recording
    if wanted is None or overwritten:
        return recording.take(wanted, overwritten)
    beside = companions(recording.statements, wanted, STATE.watch.alone, STATE.least_left)
    for buffer, site in beside:
        STATE.watch.begin_beside(buffer, site)
    return recording.take([*wanted, *(buffer for buffer, _ in beside)])


MOST_HELD = 1 << 25
"""Bytes of arrays that may be held by what is recorded alone, while memory is taken for others."""


def make_room(nbytes: int) -> None:
    """Runs what is recorded before so much memory is taken for something else, if arrays wait in it to be read that the
    program has dropped: in NumPy they would be gone."""
    statements = STATE.recording.statements
    if nbytes >= LEAST_BYTES and statements and held_alone(statements) > MOST_HELD:
        flush_due()


def flush_due() -> None:
    """Runs what is recorded because there is enough of it, and not because somebody asks for something: results that
    went unread before may stay recorded, and what was left so stays."""
    with STATE.lock:
        recording = STATE.recording
        if len(recording.left) > recording.most_statements:
            flush()
            return
        was_running, recording.running = recording.running, True
        try:
            _run_all(recording.take_new(), ())
        finally:
            recording.running = was_running


def flush_some() -> None:
    """Runs what is recorded, but for the last statements, because the results have too many bytes."""
    with STATE.lock:
        recording = STATE.recording
        rest = recording.split_off()
        try:
            flush()
        finally:
            recording.statements.extend(rest)
            recording.count_bytes()


def _run_all(statements: list[Recorded], wanted: Sequence[Buffer] | None) -> None:
    """Runs what was taken. wanted: where not None, other results may stay recorded."""
    again = STATE.recording.again
    if statements:
        STATE.last = []
    for statement in statements if again else ():
        # What was left for nobody to read: it is read by others than those that were left with it.
        is_new = id(statement) not in again
        for buffer in statement.reads() if is_new else statement.writes() if wanted is None else ():
            STATE.watch.is_read(buffer)
    with np.errstate(all="ignore"):
        while statements:
            _run_segment(statements, wanted)
            drop_needless(statements)  # what has run may have been the last to read their results


def ran_by_numpy(what: str) -> None:
    """For the report: a call that is not recorded."""
    if len(STATE.last) < MOST_REPORTED:
        STATE.last.append(Ran(f"{what}, which is not recorded"))


def ran_at_once(what: str, why: str) -> None:
    """For the report: a call of a compiled function that was not recorded."""
    if len(STATE.last) < MOST_REPORTED:
        STATE.last.append(Ran(what, why=why))


def reasons() -> list[str]:
    """Why NumPy ran what was to be compiled: of all programs that are known."""
    found = []
    programs = list(STATE.programs.values())
    while programs:
        program = programs.pop()
        programs += program.parts
        if program.reason:
            found.append(program.reason)
    return found


def _run_segment(statements: list[Recorded], wanted: Sequence[Buffer] | None) -> None:
    """Runs the first statements that go together, and takes them out of the list.

    wanted: where not None, other results may stay recorded.
    """
    made = _held(statements)
    count = next((n for n, s in enumerate(statements) if s.operation.hosted), len(statements))
    if count == 0:
        if statements:
            hosted = statements.pop(0)
            assert isinstance(hosted, Statement)
            _run_hosted(hosted)
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
    staying = [_resting(statements[at]) for at in left.lines] if left is not None else []
    del statements[:count]
    returned, reachable = found.reachable()
    if wanted is not None:
        _watch(habit, returned, reachable, numbers, left)
    if left is not None:
        pairs = [(n, b) for n, b in zip(returned, reachable, strict=True) if n not in left.numbers]
        returned, reachable = [n for n, _ in pairs], [b for _, b in pairs]
    results = _run_program(found, habit, returned, left)
    for buffer, result in zip(reachable, results, strict=True):
        buffer.memory = residence.kept(result, buffer.dtype)
    STATE.recording.left[:0] = staying  # what was not chosen with them may read what they make


def _resting(statement: Recorded) -> Waiting:
    """The statement, or one in its place that keeps nothing alive that it writes."""
    return RestingCall(statement) if isinstance(statement, CallStatement) else statement


def _held(statements: list[Recorded]) -> list[Sequence[Buffer]]:
    """What the statements make or change, so that none of it goes meanwhile (the garbage collector may run at any
    time); statements whose results have gone are dropped."""
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
    """Sees to it that one will know whether anybody has read what is reachable and not wanted."""
    for number, buffer in zip(returned, reachable, strict=True):
        is_small = bool(buffer.shape) and math.prod(buffer.shape) <= STATE.recording.at_once
        if number not in wanted and not is_small:  # what is computed at once may read or change it
            STATE.watch.begin(buffer, habit, number)
    held = (
        frozenset() if left is None else left.numbers - left.unread
    )  # by the statements that stay, or a name, too
    habit.has_reached(frozenset(returned) - held)


def _run_program(found: Gathered, habit: Habit, returned: Sequence[int], left: Left | None) -> Any:
    donated = _donated(found, returned)
    key = (habit, tuple(returned), donated)
    program = STATE.programs.get(key)
    if program is None:
        if len(STATE.programs) >= MOST_PROGRAMS:
            STATE.programs.clear()
        program = STATE.programs[key] = Program(as_function(found, returned), tuple(found.sites), donated)
    program.work += found.work
    STATE.recording.has_run(len(found.lines), found.work)
    if _compiled(program) is not None and program.on_gpu:
        residence.move(found.inputs)
    lines = () if left is None else tuple(n for n, line in enumerate(found.lines) if line[2] in left.unread)
    return _run(program, found.arguments(), lines)


def _donated(found: Gathered, returned: Sequence[int]) -> tuple[str, ...]:
    """Parameters with large arrays that nobody holds once the program has run, where results are like them."""
    if all(buffer.nbytes < STATE.least_donated for buffer in found.inputs):
        return ()
    made = [buffer() for n in returned if isinstance(buffer := found.buffers[n], weakref.ref)]
    alike = {(buffer.shape, buffer.dtype) for buffer in made if buffer is not None}
    large = [
        number
        for number, buffer in enumerate(found.buffers)
        if isinstance(buffer, Buffer)
        and buffer.nbytes >= STATE.least_donated
        and (buffer.shape, buffer.dtype) in alike
    ]
    return tuple(found.name(n) for n in large if residence.is_sole(found.buffers, n, lists=2))


def _compiled(program: Program) -> JitFunction | None:
    """The program as a compiled function, once that is worth it."""
    if program.compiled is None and not program.parts and not program.reason and program.work >= STATE.worth:
        given: dict[str, object] = {} if STATE.target is None else {"target": STATE.target}
        options = from_environment({"strict": True, "donate": program.donated, **given})
        program.compiled, program.on_gpu = (
            JitFunction(program.text.function, options),
            options.target == "gpu",
        )
    return program.compiled


def _run(program: Program, arguments: tuple[object, ...], left: tuple[int, ...] = ()) -> Any:
    """What the program returns: compiled, once that is worth it, or by NumPy. left: for the report."""
    if program.parts:
        return _run_parts(program, arguments)
    program.runs += 1
    compiled = _compiled(program)
    ran = Ran("program", program, tuple(map(_without_values, arguments)), left)
    STATE.last.append(ran)
    if compiled is not None:
        try:
            if program.is_ready or _is_ready(program, compiled, arguments):
                return compiled(*arguments)
        except (CompileError, InternalError, ToolchainError) as error:
            program.compiled = None
            if len(program.sites) > 1 and not isinstance(error, ToolchainError):
                program.parts = parts_of(program, error)
                STATE.last.remove(ran)
                return _run_parts(program, arguments)
            if isinstance(error, InternalError):
                warn_of_defect("what was recorded", error)
            program.reason = str(error)
        except Exception as error:
            error.add_note(f"in what was recorded at {places(program, error)}")
            raise
    start = time.thread_time()  # what others on the machine do does not count
    try:
        return residence.by_numpy(program.text.function, arguments)
    except Exception as error:
        error.add_note(f"in what was recorded at {places(program, error)}")
        raise
    finally:
        program.by_numpy += 1
        program.seconds += time.thread_time() - start


def _is_ready(program: Program, compiled: JitFunction, arguments: tuple[object, ...]) -> bool:
    """Whether compiled code runs the program now: where it is there, and where NumPy would take longer than compiling
    it. Else NumPy does, and a thread compiles the program once that pays."""
    pays = program.pays
    if compile_wait() == math.inf:
        program.is_ready = True
    elif pays or not program.is_known:
        waits = program.a_run > program.compiling or any(program.text.calls)  # else compiled one by one
        program.is_ready = compiled.is_ready(arguments, begins=pays, waits=waits)
        program.is_known = True
    return program.is_ready


def _run_parts(program: Program, arguments: tuple[object, ...]) -> Any:
    """One part after the other, each with what those before it have made."""
    there = dict(zip(program.text.parameters, arguments, strict=True))
    for part in program.parts:
        values = _run(part, tuple(there[name] for name in part.text.parameters))
        there.update(zip(part.text.returned, values, strict=True))
    return tuple(there[name] for name in program.text.returned)


def _without_values(argument: object) -> object:
    is_array = isinstance(argument, np.ndarray) or residence.is_there(argument)
    return Extent(argument.shape, argument.dtype) if is_array else argument  # type: ignore[attr-defined]


def _run_hosted(statement: Statement) -> None:
    target = statement.target()
    assert target is not None
    if _has_run_there(statement, target):
        return
    operands = [_operand(operand, target) for operand in statement.operands]
    assert isinstance(statement.operation, Product | Copy)
    value = statement.operation.run(*operands)
    STATE.last.append(Ran(str(statement.operation)))
    if statement.path is None:
        target.memory = np.asarray(value, target.dtype, order="C")
    else:
        view_of(residence.at_home(target), statement.path)[...] = value


def _has_run_there(statement: Statement, target: Buffer) -> bool:
    """Whether CuPy has run it: products of floating-point matrices, where programs run on a GPU."""
    is_product = isinstance(statement.operation, Product) and target.dtype.kind in "fc"
    if not is_product or not residence.is_for_gpu(STATE.target):
        return False
    places = [
        (o.buffer if isinstance(o, View) else target, o.path)
        for o in statement.operands
        if isinstance(o, View | Own)
    ]
    if statement.path is not None:
        places.append((target, statement.path))
    residence.move(buffer for buffer, _ in places)
    views = residence.views_there(places)
    if views is None:
        return False
    for operand in statement.operands:
        if isinstance(operand, View):
            STATE.watch.is_read(operand.buffer)
    value = residence.product(*views[:2])
    STATE.last.append(Ran(str(statement.operation), by="CuPy"))
    if statement.path is None:
        target.memory = residence.kept(value, target.dtype)
    else:
        views[2][...] = value
    return True


def _operand(operand: Operand, target: Buffer) -> Any:
    match operand:
        case View():
            STATE.watch.is_read(operand.buffer)
            return view_of(residence.at_home(operand.buffer), operand.path)
        case Own(path=path):
            return view_of(residence.at_home(target), path)
        case _:
            return operand
