"""Recorded calls of compiled functions, and the union of what is recorded."""

from __future__ import annotations

import struct
import weakref
from collections.abc import Sequence
from typing import TypeAlias

from appyc.lazy._nodes import Buffer, Run, Statement, View
from appyc.lazy.operations import Call
from appyc.lazy.recorded_nodes import Operand, Site, buffers_of


class CallStatement(Run):
    """A recorded call of a compiled function, or a run of calls whose arguments move evenly.

    operands: of the first call. count: of calls.
    It keeps the arrays that it writes to alive: what it stores into one may depend on all others.
    """

    __slots__ = ("made", "operands", "operation")

    shape: tuple[int, ...] = ()

    def __init__(
        self, operation: Call, operands: tuple[Operand, ...], made: Sequence[Buffer], site: Site
    ) -> None:
        self.operation = operation
        self.operands = operands
        self.made = tuple(weakref.ref(buffer) for buffer in made)
        """The scalars and arrays that it returns."""
        self.site = site
        self.count = 1
        self.last = operands
        self.function = operation.function
        self.may_go_on = not operation.results
        self.always_waits = False

    @property
    def moves(self) -> list[tuple[int, ...]]:
        """The indices that grow from call to call: operand, step of its path, item of the step, and the
        increment."""
        return [*struct.iter_unpack("4n", self.moved)] if self.count > 1 else []

    @property
    def stores(self) -> bool:
        return bool(self.operation.written)

    def stored(self) -> list[Buffer]:
        """The buffers that the call stores into."""
        return buffers_of([self.operands[number] for number in self.operation.written])

    def makes(self) -> list[Buffer]:
        return [buffer for made in self.made if (buffer := made()) is not None]

    def writes(self) -> Sequence[Buffer]:
        return [*self.stored(), *self.makes()]

    def reads(self) -> Sequence[Buffer]:
        return buffers_of(self.operands)


class RestingCall:
    """A deferred call that stores into one array, to which it holds only a weak reference."""

    __slots__ = ("operands", "operation", "site", "target")

    stores = True

    def __init__(self, call: CallStatement) -> None:
        (target,) = set(call.stored())
        self.operation = call.operation
        self.site = call.site
        self.target = weakref.ref(target)
        self.operands = tuple(
            View(None, o.path, o.shape, o.dtype) if isinstance(o, View) and o.buffer is target else o
            for o in call.operands
        )

    def stored(self) -> list[Buffer]:
        target = self.target()
        return [] if target is None else [target]

    writes = stored

    def makes(self) -> list[Buffer]:
        return []

    def reads(self) -> list[Buffer]:
        return buffers_of(self.operands)

    def again(self, target: Buffer) -> CallStatement:
        """The call as a statement that can run."""
        operands = tuple(
            View(target, o.path, o.shape, o.dtype) if isinstance(o, View) and o.buffer is None else o
            for o in self.operands
        )
        return CallStatement(self.operation, operands, (), self.site)


Recorded: TypeAlias = Statement | CallStatement

Waiting: TypeAlias = Statement | CallStatement | RestingCall
