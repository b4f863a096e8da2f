"""Gathers conditional updates of one reduction in an iteration into a private scalar, added once.

    for i in range(n):                      for i in range(n):
        if a[i] < k:                            mine = 0
            n += 1                 ->           if a[i] < k:
        if a[i] != k:                               mine += 1
            n += 10                             if a[i] != k:
                                                    mine += 10
                                                n += mine

gcc 12 makes wrong vectors of two of them where the elements that are compared are not as wide as the
sum.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.names import NameSupply
from appyc.ir.nodes import Break, Continue, For, Function, If, Symbol, Update, Var, While
from appyc.ir.visit import contains, loops_of, map_loops, rename, walk
from appyc.passes.node_builders import begun, with_private
from appyc.passes.pass_context import PassContext

_OPS = ("+", "*", "&", "|", "^")


def gather_updates(fn: Function, ctx: PassContext) -> Function:
    """The function with at most one conditional update of each scalar in an iteration of an innermost loop."""
    supply = NameSupply.after(fn)
    made: set[Symbol] = set()

    def rule(loop: For) -> For:
        loop = with_private(loop, made)
        if loops_of(loop.body) or contains(loop.body, While | Break | Continue):
            return loop  # no lanes, or an iteration that may end early
        for reduction in loop.reductions:
            symbol = reduction.symbol
            if not symbol.is_array and reduction.op in _OPS and _conditional_updates(loop, symbol) > 1:
                mine = supply.fresh(f"{symbol.name}_mine", symbol.type)
                made.add(mine)
                loop = _gathered(loop, symbol, reduction.op, mine)
        return loop

    return map_loops(fn, rule)


def _conditional_updates(loop: For, symbol: Symbol) -> int:
    branches = [stmt for stmt in loop.body if isinstance(stmt, If)]
    return sum(isinstance(n, Update) and n.target == symbol for branch in branches for n in walk(branch))


def _gathered(loop: For, symbol: Symbol, op: str, mine: Symbol) -> For:
    end = Update(symbol, (), op, Var(mine, loc=loop.loc), loc=loop.loc)
    body = (begun(mine, op, loop.loc), *(rename(stmt, {symbol: mine}) for stmt in loop.body), end)
    return replace(loop, body=body, private=(*loop.private, mine))
