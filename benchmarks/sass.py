"""Instructions of a GPU kernel, as the assembler left them, and what its innermost loop issues.

    LDG.E.128 R4, desc[UR6][R2.64]     ->      a load of 16 bytes

What functions of the mathematical library do for few arguments is not counted: it is a call that others jump over.
Their tables of coefficients are in the first cache.
"""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory

import triton

_TOOL = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
_LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)([.\w]*)([^;]*);")
_JUMP = re.compile(r"\bbra(?:\.uni)?\s+(\$\w+);")
_WIDTH = re.compile(r"\.(U8|S8|U16|S16|64|128)\b")
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}

_DOUBLE = frozenset({"DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "DMMA"})
_SINGLE = frozenset({"FADD", "FMUL", "FFMA", "FSETP", "FMNMX", "FSEL", "MUFU", "FCHK", "HMMA"})
_TILE_PRODUCT = re.compile(r"\.(?:(\d)(\d)(\d)|(\d+)x(\d+)x(\d+))\b")
"""Rows, columns and length of the product that a warp computes in one DMMA: `.884`, `.16x8x16`."""
_THREADS_AND_RATE = 32 * 2
"""The threads of a warp share it, and its tensor cores multiply twice as fast as by DFMA."""

_WARP = 32
_ADDRESS = re.compile(r"\[(R\d+)(?:\.64|\.U32)?(?:\+UR\d+)?(?:\+?(-?0x[0-9a-f]+))?\]")
_RESULT = re.compile(r"((?:\.\S+)?)\s*(U?R\d+)\b")
_OPERAND = re.compile(r"[-~]?(?:0x[0-9a-f]+|\bU?R(?:\d+|Z)|c\[\w+\]\[\w+\])")
_WORD = 1 << 32

_TABLE = ".CONSTANT"
"""Suffix of loads of constants that the assembler has: Triton's loads may see what other threads store."""

_MEMORY = frozenset({"LDG", "STG", "LDS", "STS", "ATOMG", "RED", "ATOM", "LDL", "STL", "LDGSTS"})


@dataclass(frozen=True, slots=True)
class Instruction:
    """address: in bytes. name: without suffixes. rest: suffixes and operands."""

    address: int
    name: str
    rest: str

    @property
    def width(self) -> int:
        """Bytes that a load or store moves for a thread."""
        found = _WIDTH.search(self.rest.split()[0] if self.rest.split() else "")
        return _BYTES[found.group(1)] if found else 4


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one thread in the innermost loop with the most arithmetic, of those with DMMA if there are any; without loops,
    in a program at no edge.

    issued: all instructions. doubles: those of float64, DMMA as the DFMA that take as long. arithmetic: those of any
    float. tiles: DMMA. accesses: of memory. loads: how many of global memory. loaded, stored: its bytes, those of loads
    that a warp has in the same lines once, and the accesses' widths in `widths`. in_loop: whether it is a loop.
    """

    issued: int
    doubles: int
    arithmetic: int
    tiles: int
    accesses: int
    loads: int
    loaded: float
    stored: int
    widths: tuple[int, ...]
    in_loop: bool = False


def disassembled(cubin: bytes) -> list[Instruction]:
    """The instructions of a cubin with one kernel, in their order, those that only fill up left out."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        text = subprocess.run([_TOOL, "-sass", path], capture_output=True, text=True, check=True).stdout
    found = [Instruction(int(at, 16), name, more + rest) for at, _, name, more, rest in _LINE.findall(text)]
    return [i for i in found if i.name != "NOP" and _target(i) != i.address]


def counts(instructions: list[Instruction]) -> Counts:
    """What the hot region of a kernel issues."""
    instructions = _executed(instructions)
    jumps = [(i.address, target) for i in instructions if (target := _target(i)) is not None]
    regions = [
        [i for i in instructions if first <= i.address <= last] for first, last in _innermost_loops(jumps)
    ]
    inside = max((_counted(r) for r in regions), key=lambda c: (c.tiles > 0, _weight(c)), default=None)
    in_loops = {i.address for r in regions for i in r}
    found = _counted(_without_masks([i for i in instructions if i.address not in in_loops]))
    is_edge = inside is not None and 0 < inside.stored < found.stored  # of a tile that is not whole
    return found if inside is None or is_edge else replace(inside, in_loop=True)


def _executed(instructions: list[Instruction]) -> list[Instruction]:
    """Those that are executed for most arguments, the body of a function where it is called. What threads jump over
    together with a call is for few arguments, and left out, unless it loads or stores: that is a version of a program.
    What is jumped over with the loop around a call is executed."""
    calls = {i.address: target for i in instructions if (target := _target(i, "CALL")) is not None}
    if not calls:
        return instructions
    end = min(calls.values())
    jumps = [(i.address, target) for i in instructions if (target := _target(i)) is not None]
    loops = [(first, last) for last, first in jumps if first < last]
    left_out = []
    for call in calls:
        looped = [(first, last) for first, last in loops if first <= call <= last]
        around = [
            (first, last)
            for first, last in jumps
            if first < call < last
            and not any(first < i.address < last for i in instructions if i.name in ("LDG", "STG"))
            and not any(first < a and b < last for a, b in looped)
        ]
        left_out += [max(around)] if around else []
    out = []
    for i in instructions:
        if i.address < end and not any(a < i.address < b for a, b in left_out):
            called = (n for n in instructions if n.address >= calls.get(i.address, math.inf))
            body = takewhile(lambda n: n.name != "RET", called)
            out += [i, *(replace(n, address=i.address) for n in body)]
    return out


def _without_masks(instructions: list[Instruction]) -> list[Instruction]:
    """What a program at no edge runs: of two versions that store as many bytes, the shorter one."""
    for at, instruction in enumerate(instructions):
        target = _target(instruction)
        if target is None or target < instruction.address:
            continue
        one = [i for i in instructions[at + 1 :] if i.address < target]
        other = [i for i in instructions if i.address >= target]
        if _counted(one).stored == _counted(other).stored > 0:
            return instructions[: at + 1] + min(one, other, key=len)
    return instructions


def unrolled(found: Counts, ptx: str) -> int:
    """How often the assembler has put the body of the innermost loop into it: by the loads that there are before."""
    lines = ptx.splitlines()
    labels = {line.partition(":")[0]: at for at, line in enumerate(lines) if line.startswith("$")}
    jumps = [
        (at, labels[name.group(1)])
        for at, line in enumerate(lines)
        if (name := _JUMP.search(line)) is not None
    ]
    is_load = ["ld.global" in line or "shared.global" in line for line in lines]
    loads = [sum(is_load[first:last]) for first, last in _innermost_loops(jumps)]
    before = max(loads, default=0)
    return max(1, round(found.loads / before)) if found.in_loop and before else 1


def _innermost_loops(jumps: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges from the target of a jump back to the jump that hold no other such range."""
    loops = [(target, at) for at, target in jumps if target < at]
    return [
        (first, last)
        for first, last in loops
        if not any((first, last) != (a, b) and first <= a and b <= last for a, b in loops)
    ]


def _target(instruction: Instruction, name: str = "BRA") -> int | None:
    """The address that a branch goes to, or another instruction of that name."""
    found = re.search(r"0x([0-9a-f]+)\s*$", instruction.rest) if instruction.name == name else None
    return int(found.group(1), 16) if found else None


def _weight(found: Counts) -> float:
    return found.arithmetic + found.loaded + found.stored


def _as_long_as(tile: Instruction) -> int:
    """How many DFMA of each thread take as long as a DMMA."""
    found = _TILE_PRODUCT.match(tile.rest)
    return prod(int(n) for n in found.groups() if n) // _THREADS_AND_RATE if found else 1


def _lines(region: list[Instruction]) -> float:
    """Bytes that a thread's loads bring. Threads of a warp load adjacent elements: where two loads have addresses a
    few elements apart, the warp has most of the second one's elements by the first one."""
    values: dict[str, int] = {}
    offsets: dict[int, list[tuple[int, int]]] = {}
    for i in region:
        found = _ADDRESS.search(i.rest) if _is_load(i) else None
        if found is not None:
            register, offset = found.groups()
            offsets.setdefault(_value(register, values), []).append((int(offset or "0", 16), i.width))
        result = _RESULT.match(i.rest)
        if result is not None:
            values[result.group(2)] = _low_word(i, result.group(1), i.rest[result.end() :], values)
    out = 0.0
    for loads in offsets.values():
        end = -math.inf
        for offset, width in sorted(loads):
            out += min(max(offset + _WARP * width - end, 0) / _WARP, width)
            end = max(end, offset + _WARP * width)
    return out


def _low_word(i: Instruction, suffixes: str, rest: str, values: Mapping[str, int]) -> int:
    """The lower word of a result, for registers with arbitrary values: one address has one value, in whatever way it is
    computed. A result of instructions that compute no addresses is arbitrary, too."""
    operands = [_value(part, values) for part in _OPERAND.findall(rest)]
    is_lower = not {"X", "HI"} & set(suffixes.split("."))
    match i.name.removeprefix("U"):
        case "IADD3" | "VIADD" | "MOV" if is_lower:
            return sum(operands) % _WORD
        case "IMAD" if is_lower:
            return (operands[0] * operands[1] + operands[2]) % _WORD
        case "LEA" if is_lower:
            return ((operands[0] << operands[2]) + operands[1]) % _WORD
    return hash((i.name, suffixes, rest, *operands, i.address if i.name in _MEMORY else 0)) % _WORD


def _value(operand: str, values: Mapping[str, int]) -> int:
    """The value of a register, a number or a constant of the launch."""
    name = operand.lstrip("-~")
    if name in ("RZ", "URZ"):
        value = 0
    elif name.startswith("0x"):
        value = int(name, 16)
    else:
        value = values.get(name, hash(name))
    return (~value if operand[0] == "~" else -value if operand[0] == "-" else value) % _WORD


def _is_load(instruction: Instruction) -> bool:
    """Whether it loads from memory."""
    return instruction.name in ("LDG", "LDGSTS") and _TABLE not in instruction.rest


def _counted(region: list[Instruction]) -> Counts:
    loads = [i.width for i in region if _is_load(i)]
    lines = _lines(region)
    stores = [i.width for i in region if i.name == "STG"]
    tiles = [i for i in region if i.name == "DMMA"]
    doubles = sum(i.name in _DOUBLE for i in region)
    return Counts(
        len(region),
        doubles + sum(_as_long_as(i) - 1 for i in tiles),
        doubles + sum(i.name in _SINGLE for i in region),
        len(tiles),
        sum(i.name in _MEMORY for i in region),
        len(loads),
        lines,
        sum(stores),
        tuple(sorted(set(loads + stores))),
    )
