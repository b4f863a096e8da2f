"""Loop idiom recognition: a loop that clears the lowest one of a word until none is left counts its ones.

    while x != 0:                      word = uint64(x)
        x = x & (x - 1)       ->       ...                        # sums of pairs, of fours, and of bytes of digits
        n = n + 1                      n = n + int(word * 0x0101010101010101 >> 56)
                                       x = 0

C compilers make one instruction of the sums, also in lanes, which a loop around has only without this one.

Of a negative Python int, for which the loop would not end, the ones among 64 digits are counted.

Requires: nothing. Does not handle: signed words of less than 64 bits; other statements in the loop.
"""

from __future__ import annotations

from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.names import NameSupply
from appyc.ir.types import DType
from appyc.ir.visit import with_body
from appyc.passes.node_builders import let
from appyc.passes.pass_context import PassContext


def population_counts(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function without such loops."""
    names = NameSupply.after(fn)

    def rule(block: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        return tuple(new for stmt in block for new in _counted(map_blocks(stmt, rule), names))

    return with_body(fn, rule(fn.body))


def _counted(stmt: ir.Stmt, names: NameSupply) -> tuple[ir.Stmt, ...]:
    match stmt:
        case ir.While(
            cond=ir.Compare(op="!=", lhs=ir.Var(symbol=word), rhs=ir.Const(value=0)),
            body=(ir.Assign() as one, ir.Assign() as other),
        ) if word.dtype in (DType.INT64, DType.UINT64):
            clears, counts = (one, other) if one.target == word else (other, one)
            if _clears(clears, word) and _counts(counts) and counts.target != word:
                return _sums(word, counts, names)
    return (stmt,)


def _clears(stmt: ir.Assign, word: ir.Symbol) -> bool:
    """Whether a statement is `word = word & (word - 1)`."""
    match stmt.value:
        case ir.Binary("&", lhs=kept, rhs=ir.Binary("-") as less) | ir.Binary(
            "&", lhs=ir.Binary("-") as less, rhs=kept
        ):
            is_below = isinstance(less.rhs, ir.Const) and less.rhs.value == 1
            return stmt.target == word and is_below and all(
                isinstance(part, ir.Var) and part.symbol == word for part in (kept, less.lhs)
            )  # fmt: skip
        case _:
            return False


def _counts(stmt: ir.Assign) -> bool:
    """Whether a statement is `n = n + 1`."""
    match stmt.value:
        case ir.Binary(op="+", lhs=ir.Var(symbol=counter), rhs=ir.Const(value=1)):
            return counter == stmt.target and counter.dtype is DType.INT64
        case _:
            return False


def _sums(x: ir.Symbol, step: ir.Assign, names: NameSupply) -> tuple[ir.Stmt, ...]:
    """Adds the number of ones in `x` to the counter of `step`, and sets `x` to 0."""
    loc, out = step.loc, list[ir.Stmt]()

    def binary(op: str, lhs: ir.Expr, rhs: ir.Expr | int) -> ir.Expr:
        return ir.Binary(
            op, lhs, ir.Const(rhs, DType.UINT64, loc=loc) if isinstance(rhs, int) else rhs, loc=loc
        )

    word = let("word", ir.Cast(ir.Var(x, loc=loc), DType.UINT64, loc=loc), names, out)
    odd = binary("&", binary(">>", word, 1), 0x5555555555555555)
    pairs = let("pairs", binary("-", word, odd), names, out)
    upper = binary("&", binary(">>", pairs, 2), 0x3333333333333333)
    fours = let("fours", binary("+", binary("&", pairs, 0x3333333333333333), upper), names, out)
    octets = binary("&", binary("+", fours, binary(">>", fours, 4)), 0x0F0F0F0F0F0F0F0F)
    ones = ir.Cast(binary(">>", binary("*", octets, 0x0101010101010101), 56), DType.INT64, loc=loc)
    total = ir.Binary("+", ir.Var(step.target, loc=loc), ones, python=True, loc=loc)
    none = ir.Const(0, x.dtype, loc=loc)
    return (*out, ir.Assign(step.target, total, loc=loc), ir.Assign(x, none, loc=loc))
