"""Scalars of a kernel that only count: programs, rows, and what is a small multiple or sum of these.

They and the sizes of arrays may have 32 bits (the kernel's constexpr INDEX) where a launch finds that its sizes and
the numbers it passes are small enough: `KernelText.scale` times each of them fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from appyc.ir.gpu_program import Kernel, ProgramIndex
from appyc.ir.kernel_scalars import targets_of
from appyc.ir.nodes import Assign, Binary, Const, Expr, Extent, Symbol, Unary, Var
from appyc.ir.types import DType, Layout
from appyc.ir.visit import scalars_read, symbols_of, walk

SMALL = 1 << 12
"""Constants up to here count as 1, beside sizes of which a launch asks that they are small."""


def index_scalars(kernel: Kernel) -> dict[Symbol, int]:
    """The scalars of a kernel that only count, each with its greatest value as a multiple of the largest size
    or argument. Empty where no address needs a product."""
    if not any(
        s.is_array and (s.array.ndim > 1 or s.array.layout is Layout.STRIDED) for s in symbols_of(kernel.body)
    ):
        return {}
    found: dict[Symbol, int] = {}
    targets = [target for stmt in walk(kernel.body) for target in targets_of(stmt)]  # type: ignore[arg-type]
    for stmt in kernel.body:
        match stmt:
            case ProgramIndex(own, _, None):
                found |= dict.fromkeys(own, 1)
            case Assign(target, value) if target.dtype is DType.INT64 and targets.count(target) == 1:
                size = times(value, found, {kernel.chosen, kernel.rows})
                if size is not None and scalars_read(value) & found.keys():
                    found[target] = size
    return found


def times(e: Expr, known: Mapping[Symbol, int], lanes: Set[Symbol | None] = frozenset()) -> int | None:
    """The greatest value of an expression as a multiple of the largest size; None where it is no sum of
    multiples of sizes. lanes: the scalars that are the sizes of blocks."""
    match e:
        case Const(value=int(number)):
            return 1 if abs(number) <= SMALL else None
        case Extent():
            return 1
        case Var(symbol=symbol):
            return known.get(symbol)
        case Unary("-", arg):
            return times(arg, known, lanes)
        case Binary("*", Var(symbol=number), Var(symbol=other)) if other in lanes:
            return known.get(
                number
            )  # of blocks, which has as many iterations as the loop, or a few lanes more
        case Binary("*", arg, Const(value=int(factor))) if not e.trap:
            size = times(arg, known, lanes)
            return None if size is None or abs(factor) > SMALL else size * max(abs(factor), 1)
        case Binary("+" | "-", lhs, rhs) if not e.trap:
            sizes = times(lhs, known, lanes), times(rhs, known, lanes)
            return None if None in sizes else sum(size for size in sizes if size is not None)
        case _:
            return None


def wraps_alike(e: Expr) -> bool:
    """Whether an expression of 32 bits is right where its value fits them, however large its parts are."""
    match e:
        case Const() | Extent() | Var():
            return e.dtype is DType.INT64
        case Unary("-", arg):
            return wraps_alike(arg)
        case Binary("+" | "-" | "*", lhs, rhs, False):
            return wraps_alike(lhs) and wraps_alike(rhs)
        case _:
            return False
