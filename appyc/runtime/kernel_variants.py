"""Variants of one kernel: how many lanes its programs have, and what the compiler may assume of its arguments.

The host asks for lanes before it launches, since they decide how many programs there are. A thread of a program of
1024 lanes has eight elements, whose addresses share what is computed once; but a row of 130 elements would leave most
of them idle, and a small grid most of the GPU.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from appyc.triton_gen.triton_kernel import KernelText, Param

ALIGNMENT = 16
"""Bytes of the widest access of a thread. Triton makes one where the pointer is a multiple of it, and the extents,
strides and offsets are multiples of as many elements."""
DIVISORS = (16, 4)
"""Common divisors of the integer arguments that a variant is compiled for: of 16 elements of one byte or 4 of four."""

LANES_OF_A_WARP = 64
"""Two for each thread."""

PROGRAMS_EACH = 2
"""Programs that each multiprocessor should get."""

COST_OF_A_PROGRAM = 192
"""The lanes whose instructions take as long as what a program does once (five-point stencil, sm_90)."""


@dataclass(frozen=True, slots=True)
class Variant:
    """lanes: the value of the kernel's constexpr LANES. divisor: of all int64 arguments but those of the grid; where it
    is not 1, all pointers are multiples of 16. narrow: sizes, and what counts programs and rows, have 32 bits."""

    lanes: int
    divisor: int = 1
    narrow: bool = False

    def warps(self, kernel: KernelText) -> int:
        """Where the launch chooses the lanes, threads have two elements or more, and share what is computed once."""
        if kernel.fewest_lanes == kernel.lanes:
            return kernel.num_warps
        return min(kernel.num_warps, max(1, self.lanes // LANES_OF_A_WARP))

    def attributes(self, kernel: KernelText) -> dict[tuple[int, ...], list[list[Any]]]:
        """What Triton's compiler may assume of the arguments."""
        if self.divisor == 1:
            return {}
        divisors = {"*": ALIGNMENT, "i": self.divisor}
        return {(at,): [["tt.divisibility", divisors[p.type[0]]]] for at, p in _measured(kernel.params)}


def variant_of(kernel: KernelText, lanes: int, values: Sequence[Any], arrays: Sequence[Any]) -> Variant:
    """The variant for these arguments: numbers, and addresses for arrays; `arrays` has these themselves."""
    return Variant(lanes, common_divisor(kernel.params, values), fits_index(kernel, values, arrays))


def fits_index(kernel: KernelText, values: Sequence[Any], arrays: Sequence[Any]) -> bool:
    """Whether all that has the type INDEX in a kernel fits 32 bits. 64-bit products take four instructions."""
    if not kernel.scale:
        return False
    most = 2**31 // kernel.scale
    for param, value, array in zip(kernel.params, values, arrays, strict=True):
        if param.type == "i64" and not -most < value < most:
            return False
        if param.kind == "array" and param.symbol is not None:
            reach = sum(abs(s) * (n - 1) for s, n in zip(array.strides, array.shape, strict=True))
            if reach // param.symbol.dtype.part.itemsize >= most:
                return False
    return True


def common_divisor(params: Sequence[Param], values: Sequence[Any]) -> int:
    """The divisor of the variant for these arguments: numbers, and addresses for arrays."""
    measured = [(p, values[at]) for at, p in _measured(params)]
    if any(value % ALIGNMENT for p, value in measured if p.type[0] == "*"):
        return 1
    common = math.gcd(ALIGNMENT, *(value for p, value in measured if p.type[0] == "i"))
    return next((divisor for divisor in DIVISORS if common % divisor == 0), 1)


def _measured(params: Sequence[Param]) -> Iterator[tuple[int, Param]]:
    """The arguments that addresses, or ends of rows, are sums and products of."""
    return (
        (number, p)
        for number, p in enumerate(params)
        if p.type[0] == "*" or (p.type == "i64" and p.kind != "grid")
    )


def choose_lanes(kernel: KernelText, rows: int, count: int, processors: int) -> int:
    """The lanes of a program, for rows of `count` iterations: those that issue the fewest instructions, idle lanes and
    what programs do once counted, with programs enough for all multiprocessors."""

    def cost(lanes: int) -> tuple[bool, int]:
        programs = -(-count // lanes)
        if rows * programs < PROGRAMS_EACH * processors:
            return True, -programs
        return False, programs * (lanes + COST_OF_A_PROGRAM)

    sizes = [kernel.fewest_lanes]
    while sizes[-1] < kernel.lanes:
        sizes.append(2 * sizes[-1])
    return min(sizes, key=cost)
