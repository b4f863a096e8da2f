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
    It keeps the arrays that it writes to alive: what it stores into one may depend on all others. Where it rests,
    since it stores into one alone, whose values are likely dead, it has only a weak reference to that (`target`).
    """

    __slots__ = ("made", "operands", "operation", "target")

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
        self.may_go_on = not operation.effects.results
        self.always_waits = False
        self.target: weakref.ref[Buffer] | None = None

    @property
    def moves(self) -> list[tuple[int, ...]]:
        """The indices that grow from call to call: operand, step of its path, item of the step, and the
        increment."""
        return [*struct.iter_unpack("4n", self.moved)] if self.count > 1 else []

    def stored(self) -> list[Buffer]:
        """The buffers that the call stores into."""
        if self.target is not None:
            target = self.target()
            return [] if target is None else [target]
        return buffers_of([self.operands[number] for number in self.operation.effects.written])

    def makes(self) -> list[Buffer]:
        return [buffer for made in self.made if (buffer := made()) is not None]

    def writes(self) -> Sequence[Buffer]:
        return [*self.stored(), *self.makes()]

    def reads(self) -> Sequence[Buffer]:
        return buffers_of(self.operands)

    def resting(self) -> CallStatement:
        """The call as one that rests."""
        (target,) = set(self.stored())
        out = self._moved(target, None)
        out.target, out.may_go_on, out.last = weakref.ref(target), False, ()
        return out

    def again(self, target: Buffer) -> CallStatement:
        """The call as one that can run, if it rests."""
        return self if self.target is None else self._moved(None, target)

    def _moved(self, before: Buffer | None, now: Buffer | None) -> CallStatement:
        """The call with one buffer in place of another among its operands."""
        operands = [
            View(now, o.path, o.shape, o.dtype) if isinstance(o, View) and o.buffer is before else o
            for o in self.operands
        ]
        return CallStatement(self.operation, tuple(operands), (), self.site)


Recorded: TypeAlias = Statement | CallStatement
