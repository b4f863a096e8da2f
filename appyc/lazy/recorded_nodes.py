"""The IR of a recording: buffers, views of them, and statements, which `_nodes.c` makes (see `_nodes.pyi`).

A `Buffer` is the memory of one array; views of it share the buffer. A `Statement` makes a buffer,
or stores into part of one. Statements hold what they read, and only a weak reference to what
they write.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import CodeType
from typing import TypeAlias

import numpy as np

from appyc.lazy import _nodes
from appyc.lazy._nodes import Buffer, View

FORMAT = 19
"""The version of the interface of `_nodes.c`. The same number stands there."""

if _nodes.FORMAT != FORMAT:
    raise ImportError("appyc's recorder was built for another version of appyc: install it again with pip")

Scalar: TypeAlias = bool | int | float | complex | np.generic

Site: TypeAlias = tuple[CodeType, int, int]
"""A recording site: code, the instruction in it, and a hash of the call stack. The line is looked up on demand."""

Operand: TypeAlias = View | Scalar
"""A view without a buffer is one of the statement's own target, which a statement does not keep alive."""


def ghost_of(buffer: Buffer) -> np.ndarray:
    """An uninitialised stand-in for the array to come: address space, without memory until it is written."""
    if buffer.ghost is None:  # one per buffer, since views of it are identified by their addresses
        if isinstance(buffer.memory, np.ndarray):
            return buffer.memory
        buffer.ghost = np.empty(buffer.shape, buffer.dtype)
    return buffer.ghost


def buffers_of(operands: Iterable[Operand]) -> list[Buffer]:
    """The buffers of the array operands, without the statement's own target."""
    return [o.buffer for o in operands if isinstance(o, View) and o.buffer is not None]
