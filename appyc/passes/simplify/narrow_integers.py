"""Narrowing: Python ints that are cut to 32 bits are computed in 32 bits."""

from __future__ import annotations

from typing import TypeGuard

from appyc.analysis.algebra.intervals import Box
from appyc.analysis.algebra.values_before import ValuesBefore
from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.integers import is_within, limits, range_of
from appyc.ir.types import DType
from appyc.ir.visit import contains, map_operands, statements, walk, with_body
from appyc.passes.pass_context import PassContext

_RING = frozenset({"+", "-", "*", "&", "|", "^"})
"""Operators of whose results the last bits depend on the operands' last bits alone."""

_UINT32 = limits(DType.UINT32)


def narrow_integers(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Hashes and random numbers of 32 bits, in loops whose iterations wait for one another.

    Before:                                                After:
        k = k * 3432918353 & 0xFFFFFFFF                        k = int(uint32(k) * 3432918353)
        k = (k << 15 | k >> 17) & 0xFFFFFFFF                   k = int(uint32(k) << 15 | uint32(k) >> 17)

    A rotation of 32 bits is one instruction, which the C compiler does not find in 64 bits. A right shift is narrowed
    where interval analysis shows that its operand fits.

    Runs behind all passes that make lanes: there, narrow operands would be converted.

    Does not handle: other widths; loops around others, or with lanes; conditions of `while`.
    """
    inner = {id(loop) for loop in statements(fn.body) if _is_serial(loop) and any(map(_is_cut, walk(loop)))}
    if not ctx.options.auto or not inner:
        return fn
    found = _Values(fn)

    def outside(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        return tuple(map_blocks(stmt, found.narrowed if id(stmt) in inner else outside) for stmt in body)

    return with_body(fn, outside(fn.body))


def _is_serial(loop: ir.Node) -> bool:
    if not isinstance(loop, ir.For | ir.While) or contains(loop.body, ir.For | ir.While):
        return False
    return isinstance(loop, ir.While) or loop.mode is ir.LoopMode.SEQUENTIAL


def _is_cut(node: ir.Node) -> TypeGuard[ir.Binary]:
    """Whether a node is what an operation gives, cut to 32 bits."""
    match node:
        case ir.Binary("&", ir.Binary(), ir.Const(value=0xFFFF_FFFF)):
            return node.dtype is DType.INT64
        case _:
            return False


class _Values(ValuesBefore):
    """Narrows integer operations, by the bounds of scalars before each statement."""

    def narrowed(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        """The statements of a loop with what is cut to 32 bits computed in 32 bits."""
        return tuple(self._statement(stmt) for stmt in body)

    def _statement(self, stmt: ir.Stmt) -> ir.Stmt:
        box = self.before.get(id(stmt))
        if box is None:
            return stmt  # it is never reached
        return map_operands(map_blocks(stmt, self.narrowed), lambda e: self._expression(e, box))

    def _expression(self, e: ir.Expr, box: Box) -> ir.Expr:
        if _is_cut(e):
            return ir.Cast(self._last_bits(e.lhs, box), DType.INT64, loc=e.loc)
        if isinstance(e, ir.Binary) and e.op == ">>" and e.dtype is DType.INT64 and self._shifts(e, box):
            return ir.Cast(self._last_bits(e, box), DType.INT64, loc=e.loc)
        return map_operands(e, lambda operand: self._expression(operand, box))

    def _last_bits(self, e: ir.Expr, box: Box) -> ir.Expr:
        """The last 32 bits of an integer of 64 bits, computed in 32 bits where possible."""
        match e:
            case ir.Const(value=int(value)):
                return ir.Const(value & _UINT32[1], DType.UINT32, loc=e.loc)
            case ir.Cast(arg=arg) if arg.dtype.is_integer:
                return ir.Cast(self._expression(arg, box), DType.UINT32, loc=e.loc)
            case ir.Binary(op=op, trap=False) if op in _RING or self._shifts(e, box):
                lhs, rhs = self._last_bits(e.lhs, box), self._last_bits(e.rhs, box)
                return ir.Binary(op, lhs, rhs, loc=e.loc)
            case _:
                return ir.Cast(self._expression(e, box), DType.UINT32, loc=e.loc)

    def _shifts(self, e: ir.Binary, box: Box) -> bool:
        """Whether an expression is a shift by less than 32, and one to the right of what has no more bits than that."""
        if e.op not in ("<<", ">>") or not is_within(range_of(e.rhs, box), (0, 31)):
            return False
        return e.op == "<<" or is_within(range_of(e.lhs, box), _UINT32)
