"""The cost of the iterations of a scan, alone and in chunks."""

from __future__ import annotations

from dataclasses import dataclass

from appyc.analysis.patterns.scans import LINEAR
from appyc.ir.nodes import Binary, Compare, Intrinsic, Load, Stmt, Store, Update
from appyc.ir.visit import walk

CALL_COST = 10
"""The cost of an intrinsic, in operations."""


WAITS = {"+": 4, "*": 4, "min": 4, "max": 4, "minimum": 4, "maximum": 4, LINEAR: 8}
"""The latency of a loop-carried step on floats, by operator, in operations that could run meanwhile."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Operations of one iteration: of the sequential loop with its latency, and of both passes of the chunks."""

    in_order: int
    in_chunks: int


def operations_of(body: tuple[Stmt, ...]) -> int:
    count = 1
    for node in walk(body):
        match node:
            case Intrinsic(name=name) if name not in ("abs", "real", "imag"):
                count += CALL_COST
            case Binary(op="/" | "//" | "%" | "**"):
                count += CALL_COST
            case Binary() | Intrinsic() | Load() | Store() | Update() | Compare():
                count += 1
            case _:
                pass
    return count
