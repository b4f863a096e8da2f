"""The calling convention of a compiled function: one frame of 8-byte slots.

A C kernel is `int32_t kernel(int64_t *frame)`. The frame holds, in this order:

    slot 0      number of threads that parallel loops may use (in)
    parameters  an array takes 1 + 2*ndim slots: data pointer, extents, strides in bytes;
                a scalar one slot (complex128: two, real then imaginary), its value in the
                low bytes: bool and integers extended to 64 bits, float32 and float64 as
                their own bits, complex64 as two adjacent float32
    results     a scalar as above (out); an array that the function made 1 + ndim slots: data
                pointer, which is the caller's to free, and extents; one that is a parameter none
    fault       FAULT_SLOTS slots: site, and the words of its message (out); the second is Python's recursion limit (in)

The kernel returns a `Status`. Everything that calls a kernel (the compiled dispatcher, its
Python fallback, tests) takes its offsets from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from appyc.ir.fault_words import FAULT_WORDS
from appyc.ir.types import ArrayType, DType, Type

if TYPE_CHECKING:  # a warm start calls kernels without ever importing the IR
    from appyc.ir.nodes import Function

FAULT_SLOTS = 1 + FAULT_WORDS


class Status(IntEnum):
    OK = 0
    GUARD = 1
    """A guard does not hold. Nothing has been written; run the checked version."""
    FAULT = 2
    """The program raised. The fault slots say where (`site` indexes the kernel's fault table)."""


def slots_of(type_: Type) -> int:
    """The number of frame slots of a parameter or result of this type."""
    if isinstance(type_, ArrayType):
        return 1 + 2 * type_.ndim
    return 2 if type_.dtype is DType.COMPLEX128 else 1


@dataclass(frozen=True, slots=True)
class FrameLayout:
    """Slot numbers. results: None for a result that is a parameter."""

    params: tuple[int, ...]
    results: tuple[int | None, ...]
    fault: int
    size: int


def frame_layout(fn: Function) -> FrameLayout:
    """The frame of a function's kernel."""
    from appyc.ir.nodes import Symbol  # noqa: PLC0415

    at = 1
    params: list[int] = []
    for symbol in fn.params:
        params.append(at)
        at += slots_of(symbol.type)
    results: list[int | None] = []
    for result in fn.results:
        if isinstance(result.value, Symbol):
            is_new = result.value not in fn.params
            results.append(at if is_new else None)
            at += 1 + result.value.array.ndim if is_new else 0
        else:
            results.append(at)
            at += 2 if result.value.dtype is DType.COMPLEX128 else 1
    return FrameLayout(tuple(params), tuple(results), at, at + FAULT_SLOTS)
