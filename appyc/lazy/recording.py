"""What has been asked for and not been computed yet: statements, in the order of the program.

A `Buffer` is the memory of one array; views of it share the buffer. A `Statement` makes a buffer,
or stores into part of one. Statements hold what they read, and only a weak reference to what
they write: a result that nobody can reach any more is dropped with its statement, and what only
that statement read goes with it.

To run a result is to run, in order, a part of the statements that is closed under its needs:
each one that makes or changes what a chosen one reads, and each one that reads or changes what
a chosen one overwrites. The rest stays recorded.
"""

from __future__ import annotations

import pathlib
import sys
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Protocol, TypeAlias

import numpy as np

from appyc.lazy.operations import Call, Operation
from appyc.lazy.runs import Moves, moves_between
from appyc.lazy.views import Path

Scalar: TypeAlias = bool | int | float | complex | np.generic


class Buffer:
    """The memory of an array and its views. memory: None until it is computed."""

    __slots__ = ("__weakref__", "_ghost", "dtype", "is_number", "lent", "memory", "nbytes", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, memory: np.ndarray | None = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.memory = memory
        size = dtype.itemsize
        for extent in shape:
            size *= extent
        self.nbytes = size
        self.is_number = False
        """Whether NumPy has a scalar here, not an array without axes: it never changes."""
        self.lent = False
        """Whether other libraries look at the memory: then what is stored must be seen there at once."""
        self._ghost: np.ndarray | None = None

    def ghost(self) -> np.ndarray:
        """An array like the one to come, with nothing in it: address space, and no memory until it is written."""
        if self.memory is not None:
            return self.memory
        if self._ghost is None:
            self._ghost = np.empty(self.shape, self.dtype)
        return self._ghost


class Readable(Protocol):
    """An operand that is an array: a view of a buffer."""

    @property
    def buffer(self) -> Buffer: ...
    @property
    def path(self) -> Path: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype: ...


@dataclass(frozen=True, slots=True)
class Own:
    """An operand that is a view of the statement's own target, which must not keep that alive."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype


Operand: TypeAlias = Readable | Own | Scalar


def buffers_of(operands: Iterable[Operand]) -> Iterable[Buffer]:
    """What the operands that are arrays, but not the statement's own, are views of."""
    for operand in operands:
        if not isinstance(operand, Own | bool | int | float | complex | np.generic):
            yield operand.buffer


class Statement:
    """One recorded operation. path: where in the target it stores; None where it makes the target."""

    __slots__ = ("operands", "operation", "path", "shape", "site", "target")

    def __init__(
        self,
        operation: Operation,
        operands: tuple[Operand, ...],
        target: Buffer,
        path: Path | None,
        shape: tuple[int, ...],
        site: Site,
    ) -> None:
        self.operation = operation
        self.operands = operands
        self.target = weakref.ref(target)
        self.path = path
        self.shape = shape
        """Of what is computed, which a store broadcasts to its place."""
        self.site = site

    def is_needless(self) -> bool:
        """Whether nobody can reach what it writes any more."""
        return self.target() is None

    def stores(self) -> Iterable[Buffer]:
        """What it changes."""
        target = self.target()
        return () if self.path is None or target is None else (target,)

    def makes(self) -> Iterable[Buffer]:
        target = self.target()
        return () if self.path is not None or target is None else (target,)

    def reads(self) -> Iterable[Buffer]:
        return buffers_of(self.operands)


class CallStatement:
    """A recorded call of a compiled function, or a run of calls whose arguments move evenly.

    operands: of the first. count: of calls. moves: from one to the next.
    It holds the arrays that it writes to, and is never needless: what it does to one of them may
    depend on all others.
    """

    __slots__ = ("count", "last", "made", "moves", "operands", "operation", "site")

    shape: tuple[int, ...] = ()

    def __init__(
        self, operation: Call, operands: tuple[Operand, ...], made: Sequence[Buffer], site: Site
    ) -> None:
        self.operation = operation
        self.operands = operands
        self.made = tuple(weakref.ref(buffer) for buffer in made)
        """The numbers that it returns."""
        self.site = site
        self.count = 1
        self.last = operands
        self.moves: Moves = ()

    def goes_on(self, operation: Call, operands: tuple[Operand, ...]) -> bool:
        """Whether a call is the next one of the run, to which it is added if so."""
        if operation is not self.operation or operation.results:
            return False
        found = moves_between(self.last, operands)
        if found is None or (self.count > 1 and found != self.moves):
            return False
        self.moves, self.last = found, operands
        self.count += 1
        return True

    def is_needless(self) -> bool:
        return False

    def stores(self) -> Iterable[Buffer]:
        return buffers_of(self.operands[number] for number in self.operation.written)

    def makes(self) -> Iterable[Buffer]:
        return (buffer for made in self.made if (buffer := made()) is not None)

    def reads(self) -> Iterable[Buffer]:
        return buffers_of(self.operands)


Recorded: TypeAlias = Statement | CallStatement

Site: TypeAlias = tuple[CodeType, int]
"""Code and the instruction in it: the line is found when it is asked for."""


def line_of(site: Site) -> tuple[str, int]:
    """File and line of a recorded operation."""
    code, instruction = site
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return code.co_filename, line
    return code.co_filename, code.co_firstlineno


_OWN_FOLDER = str(pathlib.Path(__file__).parent.parent)


def caller() -> Site:
    """The place outside appyc that the call came from."""
    frame = sys._getframe(2)
    while frame.f_code.co_filename.startswith(_OWN_FOLDER) and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


COME_ROUND = 12
"""So many statements are run when the program is back at the place of the first of them: a loop's
body becomes one program, the same in each iteration."""

MOST_STATEMENTS = 160
MOST_BYTES = 1 << 30
"""Bounds of what stays recorded: statements, and bytes of their results."""


class Recording:
    """The statements that have not run."""

    def __init__(self) -> None:
        self.statements: list[Recorded] = []
        self._bytes = 0

    def is_due(self, site: Site) -> bool:
        """Whether what is recorded should run before a statement at this place is added."""
        statements = self.statements
        if len(statements) < COME_ROUND or (
            statements[0].site != site and len(statements) < MOST_STATEMENTS and self._bytes < MOST_BYTES
        ):
            return False
        self.prune()
        self._bytes = sum(buffer.nbytes for s in statements for buffer in s.makes())
        if len(statements) >= MOST_STATEMENTS // 2 or self._bytes >= MOST_BYTES:
            return True
        return len(statements) >= COME_ROUND and statements[0].site == site

    def goes_on(self, operation: Call, operands: tuple[Operand, ...]) -> bool:
        """Whether the last statement is a run of calls that this one has been added to."""
        last = self.statements[-1] if self.statements else None
        return isinstance(last, CallStatement) and last.goes_on(operation, operands)

    def add(self, statement: Recorded, nbytes: int = 0) -> None:
        """Records. nbytes: of what it makes."""
        self.statements.append(statement)
        self._bytes += nbytes

    def prune(self) -> None:
        """Drops statements whose results nobody can reach. From the end, since each one that goes may
        have been the last to hold what an earlier one makes."""
        statements = self.statements
        for at in range(len(statements) - 1, -1, -1):
            if statements[at].is_needless():
                del statements[at]

    def take(self, wanted: Sequence[Buffer] | None, overwritten: Sequence[Buffer] = ()) -> list[Recorded]:
        """Takes out the statements that must run, in order: for `wanted`, or all of them.

        overwritten: buffers that something outside is about to change.
        """
        self.prune()
        if wanted is None:
            chosen, self.statements = self.statements, []
            self._bytes = 0
            return chosen
        chosen, self.statements = self.parted(wanted, overwritten)
        return chosen

    def parted(
        self, wanted: Sequence[Buffer], overwritten: Sequence[Buffer]
    ) -> tuple[list[Recorded], list[Recorded]]:
        """The statements that must run, and the others."""
        needed = {id(buffer) for buffer in wanted}
        changed = {id(buffer) for buffer in overwritten}
        chosen: list[Recorded] = []
        left: list[Recorded] = []
        for statement in reversed(self.statements):
            reads = {id(buffer) for buffer in statement.reads()}
            stores = {id(buffer) for buffer in statement.stores()}
            writes = stores.union(id(buffer) for buffer in statement.makes())
            if needed.isdisjoint(writes) and changed.isdisjoint(writes | reads):
                left.append(statement)
                continue
            chosen.append(statement)
            needed |= reads | stores
            changed |= stores
        return chosen[::-1], left[::-1]

    def concerns(self, buffers: Iterable[Buffer]) -> bool:
        """Whether a recorded statement changes or makes one of these."""
        wanted = {id(buffer) for buffer in buffers}
        return any(id(b) in wanted for s in self.statements for b in (*s.stores(), *s.makes()))
