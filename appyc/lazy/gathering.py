"""Canonical structure of recorded statements: the key under which compiled programs are cached.

    c = a * x + y; s = c.sum()         (multiply, (0, number), 1), (add, (1, 2), 3), (sum over all, (3,), 4)

Buffers are numbered in the order of their first use. Values that differ between runs of the same statements become
arguments: computed arrays, scalars, extents and the bounds of slices, except those near an end. Each flush makes one
walk over its statements.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from appyc.lazy._nodes import Buffer, Statement, View
from appyc.lazy.equal_lengths import NOTHING, Lengths, related
from appyc.lazy.operations import Call, Kind, Operation
from appyc.lazy.recorded_calls import CallStatement, Recorded
from appyc.lazy.recorded_nodes import Scalar, Site, ghost_of
from appyc.lazy.residence import at_home
from appyc.lazy.views import NUMBER, Path, form_of, view_of

Key: TypeAlias = tuple[object, ...]

Form: TypeAlias = "str | int | tuple[str, int] | tuple[int, Key, tuple[bool, ...]]"
"""The form of an operand: a scalar; a buffer's whole array, by the buffer's number; a length of what
is created; or a view of a buffer, with the axes along which it is stretched."""

Line: TypeAlias = tuple[Operation, tuple[Form, ...], "int | tuple[int | None, ...]", Key | None]
"""The form of a statement: operation, operands, the number of what is written (or made by a call),
and the path of the view that it stores into (or the number of calls)."""


@dataclass(slots=True)
class Gathered:
    """The structure of statements, and the arguments of a call.

    buffers: by their numbers; weak references to results, as in the statements themselves.
    """

    lines: list[Line] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    buffers: list[Buffer | weakref.ref[Buffer]] = field(default_factory=list)
    inputs: list[Buffer] = field(default_factory=list)
    scalars: list[Scalar] = field(default_factory=list)
    work: int = 0
    """Total elements computed, or read where these are more: a sum is one number."""
    largest: int = 0
    """The most elements that one statement computes, creates or reads."""
    lengths: Lengths = NOTHING

    def arguments(self) -> tuple[object, ...]:
        """The arguments of a call of the program: the arrays that exist, and the numbers."""
        return (*[_argument(buffer) for buffer in self.inputs], *self.scalars, *self.lengths.arguments)

    def reachable(self) -> tuple[list[int], list[Buffer]]:
        """The results that are still reachable once the statements are dropped: numbers, and buffers."""
        numbers, found = [], []
        for number, made in enumerate(self.buffers):
            if type(made) is weakref.ref and (buffer := made()) is not None:
                numbers.append(number)
                found.append(buffer)
        return numbers, found

    def name(self, number: int) -> str:
        """The name of a buffer in the text of a program: p and its number for a parameter, else t and its
        number."""
        return f"{'p' if isinstance(self.buffers[number], Buffer) else 't'}{number}"

    def numbers_of(self, buffers: Sequence[Buffer]) -> frozenset[int]:
        """The numbers of those among the buffers that the statements make."""
        wanted = set(buffers)
        return frozenset(
            n for n, made in enumerate(self.buffers) if type(made) is weakref.ref and made() in wanted
        )

    def changed(self) -> list[Buffer]:
        """The arrays that exist and are stored into."""
        numbers = set[object]()
        for operation, operands, made, path in self.lines:
            if isinstance(operation, Call):
                numbers.update(
                    form[0] for k in operation.effects.written if isinstance(form := operands[k], tuple)
                )
            elif path is not None:
                numbers.add(made)
        return [b for n, b in enumerate(self.buffers) if n in numbers and isinstance(b, Buffer)]

    def structure(self) -> Key:
        """Equal for equal code, but for what is returned."""
        return (tuple(self.lines), self.lengths.equal, self.lengths.created)


def _argument(buffer: Buffer) -> object:
    memory = buffer.memory
    if memory is None:
        raise RuntimeError(
            "an operation reads values that were never computed, since another one raised an error"
        )
    return memory if memory.ndim else at_home(buffer)[()]


class _Gatherer:
    def __init__(self) -> None:
        self.out = Gathered()
        self.numbers: dict[Buffer, int] = {}
        self.created: dict[int, int] = {}
        """Lengths of axes that are created, with a number for each."""
        self.has_calls = False

    def statement(self, statement: Statement) -> None:
        """Adds a line. It runs for each statement of each flush: it is written to be short in time."""
        out, numbers, operation, shape = self.out, self.numbers, statement.operation, statement.shape
        target = statement.target()
        assert target is not None, "a dead statement was to run"
        operands: list[Form] = []
        work = math.prod(shape)
        picks = operation.kind is Kind.PICKING
        for operand in statement.operands:
            if not isinstance(operand, View):
                out.scalars.append(operand)
                operands.append(NUMBER)
                continue
            buffer = operand.buffer or target
            number = numbers.get(buffer)
            if number is None:
                number = self._input(buffer)
            if operand.path or operand.shape != shape:
                stretched = _stretch(operand.shape, statement)
                is_view = operand.path or stretched
                operands.append((number, self._path(operand.path), stretched) if is_view else number)
                if not picks and operand.shape != shape:
                    work = max(work, math.prod(operand.shape))
            else:
                operands.append(number)
        if statement.path is None:
            number = numbers[target] = len(out.buffers)
            out.buffers.append(statement.target)
            out.lines.append((operation, tuple(operands), number, None))
        else:
            path = self._path(statement.path)
            out.lines.append((operation, tuple(operands), self._known(target), path))
            if work == 1:  # a number that is stored into each element
                work = view_of(ghost_of(target), statement.path).size
        out.work += work
        out.largest = max(out.largest, work)

    def create(self, statement: Statement) -> None:
        """Adds a line for an array that is created, which is no work."""
        self.out.largest = max(self.out.largest, math.prod(statement.shape))
        out, created, rank = self.out, self.created, len(statement.shape)
        operands: list[Form] = [("length", created.setdefault(n, len(created))) for n in statement.shape]
        for value in statement.operands[rank:]:
            out.scalars.append(value)  # type: ignore[arg-type]
            operands.append(NUMBER)
        out.lines.append((statement.operation, tuple(operands), self._made(statement.target), None))  # type: ignore[arg-type]

    def related(self) -> Lengths:
        """Finds equal lengths that do not follow from the operations."""
        if not self.created and not self.has_calls:
            return NOTHING
        found = related([(self.numbers[b], b.shape) for b in self.out.inputs], self.created)
        return found if self.has_calls else found._replace(equal=())

    def call(self, statement: CallStatement) -> None:
        """Adds a line for a call, or a run of calls."""
        out = self.out
        self.has_calls = True
        operands: list[Form] = []
        for number, operand in enumerate(statement.operands):
            if isinstance(operand, View):
                moving: dict[int, dict[int, int]] = {}
                for of, step, item, by in statement.moves:
                    if of == number:
                        moving.setdefault(step, {})[item] = by
                operands.append((self._known(operand.buffer), self._path(operand.path, moving), ()))
            else:
                out.scalars.append(operand)
                operands.append(NUMBER)
        made = tuple(self._made(reference) for reference in statement.made)
        times = None
        if statement.count > 1:
            out.scalars.append(statement.count)
            times = (NUMBER,)
        out.lines.append((statement.operation, tuple(operands), made, times))
        sizes = [math.prod(b.shape) for b in (*statement.reads(), *statement.makes())]
        out.work += sum(sizes)
        out.largest = max([out.largest, *sizes])

    def _made(self, reference: weakref.ref[Buffer]) -> int | None:
        buffer = reference()
        if buffer is None:
            return None
        number = self.numbers[buffer] = len(self.out.buffers)
        self.out.buffers.append(reference)
        return number

    def _known(self, buffer: Buffer) -> int:
        number = self.numbers.get(buffer)
        return self._input(buffer) if number is None else number

    def _input(self, buffer: Buffer) -> int:
        number = self.numbers[buffer] = len(self.out.buffers)
        self.out.buffers.append(buffer)
        self.out.inputs.append(buffer)
        return number

    def _path(self, path: Path, moving: Mapping[int, Mapping[int, int]] = MappingProxyType({})) -> Key:
        scalars = self.out.scalars
        if not moving:
            return tuple([form_of(step, scalars) for step in path])
        return tuple([form_of(step, scalars, moving.get(number, {})) for number, step in enumerate(path)])


def _stretch(shape: tuple[int, ...], statement: Statement) -> tuple[bool, ...]:
    """Which axes of an operand have one element where the result has another number."""
    if statement.operation.kind not in (Kind.ELEMENTWISE, Kind.POWER):
        return ()
    whole = statement.shape
    if shape == whole or not shape:
        return ()
    own = whole[len(whole) - len(shape) :]
    axes = tuple(mine == 1 and other != 1 for mine, other in zip(shape, own, strict=True))
    return axes if any(axes) else ()


def gather(statements: list[Recorded]) -> Gathered:
    """The inputs, scalars and structure of a recording, gathered in one walk over its statements."""
    gatherer = _Gatherer()
    for statement in statements:
        gatherer.out.sites.append(statement.site)
        if isinstance(statement, CallStatement):
            gatherer.call(statement)
        elif statement.operation.kind is Kind.CREATION:
            gatherer.create(statement)
        else:
            gatherer.statement(statement)
    gatherer.out.lengths = gatherer.related()
    return gatherer.out
