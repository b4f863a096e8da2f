"""Variants of one kernel: how many lanes its programs have, and what the compiler may assume of its arguments.

The host asks for lanes before it launches, since they decide how many programs there are. A thread of a program of
1024 lanes has eight elements, whose addresses share what is computed once; but a row of 130 elements would leave most
of them idle, and a small grid most of the GPU. Of rows with fewer elements than a program has threads, it computes a
tile.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from appyc.ir.gpu_program import LaneUse
from appyc.runtime.dispatch import Launcher
from appyc.triton_gen.triton_kernel import KernelText, Param

_FORMATS = {
    "i1": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I",
    "i64": "q", "u64": "Q", "fp16": "e", "fp32": "f", "fp64": "d",
}  # fmt: skip

ALIGNMENT = 16
"""Bytes of the widest access of a thread. Triton makes one where the pointer is a multiple of it, and the extents,
strides and offsets are multiples of as many elements."""

LANES_OF_A_WARP = 64
"""Two for each thread."""

PROGRAMS_EACH = 2
"""Programs that each multiprocessor should get."""

COST_OF_A_PROGRAM = 192
"""The lanes whose instructions take as long as what a program does once (five-point stencil, sm_90)."""


@dataclass(frozen=True, slots=True)
class Variant:
    """lanes: the value of the kernel's constexpr LANES. divisor: of all int64 arguments but those of the grid, 16 (for
    elements of one byte), 4 (of four) or 1; where it is not 1, all pointers are multiples of 16. narrow: sizes, and
    what counts programs and rows, have 32 bits, which holds all products; of 64 bits they take four instructions."""

    lanes: int
    divisor: int = 1
    narrow: bool = False

    def warps(self, kernel: KernelText) -> int:
        """The number of warps of a program. Where the launch chooses the lanes, each thread has two elements
        or more."""
        if kernel.fewest_lanes == kernel.lanes:
            return kernel.num_warps
        return min(kernel.num_warps, max(1, self.lanes * kernel.rows(self.lanes) // LANES_OF_A_WARP))

    def attributes(self, kernel: KernelText) -> dict[tuple[int, ...], list[list[Any]]]:
        """The divisibility of the arguments that Triton's compiler may assume."""
        if self.divisor == 1:
            return {}
        divisors = {"*": ALIGNMENT, "i": self.divisor}
        return {(at,): [["tt.divisibility", divisors[p.type[0]]]] for at, p in _measured(kernel.params)}


class KernelArguments:
    """The arguments of a kernel, packed as the driver takes them.

    signature: their types and offsets, and what a variant asks of each, for a `Launcher`.
    """

    def __init__(self, kernel: KernelText) -> None:
        layout, offsets, size = packed_layout([p.type for p in kernel.params])
        measured = dict(_measured(kernel.params))
        records = tuple(
            (
                "P" if p.type[0] == "*" else _FORMATS[p.type],
                offset,
                number in measured,
                p.symbol.dtype.part.itemsize if p.kind == "array" and p.symbol is not None else 0,
            )
            for number, (p, offset) in enumerate(zip(kernel.params, offsets, strict=False))
        )
        self.signature = records, size, 2**31 // kernel.scale if kernel.scale else 0
        self._pack = Launcher({"": self.signature}, None, None, 0).pack
        self._unpack = struct.Struct(layout).unpack

    def variant(self, lanes: int, args: Sequence[Any]) -> tuple[Variant, list[Any]]:
        """The variant that a launch with these arguments takes; numbers, and addresses for arrays."""
        packed, divisor, narrow = self._pack("", tuple(args))
        return Variant(int(lanes), divisor, narrow), list(self._unpack(packed)[: len(args)])


def packed_layout(types: Sequence[str]) -> tuple[str, list[int], int]:
    """The format of a kernel's arguments in one buffer, where each one begins, and the size.

    Triton adds two pointers to scratch memory at the end, which are null here.

    >>> packed_layout(["*fp64", "i1", "i64"])
    ('@Q?qQQ', [0, 8, 16, 24, 32], 40)
    """
    codes = ["Q" if type_[0] == "*" else _FORMATS[type_] for type_ in [*types, "*", "*"]]
    ends = [struct.calcsize("@" + "".join(codes[:count])) for count in range(1, len(codes) + 1)]
    offsets = [end - struct.calcsize(code) for end, code in zip(ends, codes, strict=True)]
    return "@" + "".join(codes), offsets, ends[-1]


def _measured(params: Sequence[Param]) -> Iterator[tuple[int, Param]]:
    """The arguments that addresses, or ends of rows, are sums and products of."""
    return (
        (number, p)
        for number, p in enumerate(params)
        if p.type[0] == "*" or (p.type == "i64" and p.kind != "grid")
    )


def choose_lanes(
    kernel: KernelText, rows: int, count: int, processors: int, crowded: Collection[tuple[str, int]] = ()
) -> int:
    """The lanes of a row, for rows of `count` iterations: those that issue the fewest instructions, idle lanes and
    what programs do once counted. The fewer programs there are than are enough for all multiprocessors, the more each
    costs. crowded: kernels and lanes that are known to have too few registers."""
    whole = 1 << max(int(count) - 1, 0).bit_length()
    if kernel.use is LaneUse.ROW:
        return min(whole, kernel.lanes)

    def cost(lanes: int) -> float:
        tile, blocks = kernel.rows(lanes), -(-count // lanes)
        tiles = -(-rows // tile)
        programs = tiles * (blocks if kernel.use is LaneUse.BLOCK else 1)
        issued = tiles * blocks * tile * lanes + programs * COST_OF_A_PROGRAM
        return issued * max(1.0, PROGRAMS_EACH * processors / max(programs, 1)) ** 2

    sizes = [kernel.fewest_lanes]
    while sizes[-1] < kernel.lanes:
        sizes.append(2 * sizes[-1])
    if kernel.tile is not None and whole < sizes[0]:
        sizes.append(whole)
    found = min(sizes, key=cost)
    while found > kernel.fewest_lanes and (kernel.name, found) in crowded:
        found //= 2
    return found
