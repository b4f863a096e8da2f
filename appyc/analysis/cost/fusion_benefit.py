"""The benefit of loop fusion: the memory traffic that is saved by temporal reuse, in bytes.

    for i in range(n):                          x: n * 8 bytes, which the second loop
        s += x[i]                               finds in a register
    for j in range(n):
        q += x[j] * x[j]

An array counts where both loops access it in the same order, so that an iteration of the second reuses the
elements that the same iteration of the first has touched. Lengths that are not known are taken to be
`NOMINAL`: what is compared is long beside long, and long beside short.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from appyc.analysis.cost.costs import traffic_of
from appyc.analysis.sets.evaluate import evaluate
from appyc.ir.array_accesses import accesses_in
from appyc.ir.integers import limits
from appyc.ir.intrinsics import VECTOR_FUNCTIONS
from appyc.ir.nodes import Binary, Const, Expr, Extent, For, Intrinsic, Load, Node, Symbol, Update, Var
from appyc.ir.visit import contains, loops_of, rewrite, scalars_read, substitute, walk

Traffic: TypeAlias = Mapping[Symbol, Expr]
"""The bytes of each array that a loop moves, as `traffic_of` has them."""

NOMINAL = 1000
"""The length of what is not known to be short."""

WORTHWHILE = 1 / 8
"""The part of both loops' traffic that joining them must save."""

MAX_STREAMS = 16
"""Arrays that one loop walks at a time: processors foretell the next lines of about as many."""

MAX_TOTALS = 8
"""Scalars that one loop combines into: each takes some registers of vectors, of which there are 16 or 32."""


def why_not_worthwhile(first: For, second: For) -> str | None:
    """The reason why the fusion of loops that share no temporary does not pay; None where it does."""
    totals = _totals(first, second)
    one, two = traffic_of(first), traffic_of(second)
    if len(one.keys() | two.keys()) > MAX_STREAMS:
        return f"one loop would walk {len(one.keys() | two.keys())} arrays, and {MAX_STREAMS} are enough"
    if totals > MAX_TOTALS:
        return f"one loop would combine into {totals} scalars, and {MAX_TOTALS} are enough"
    alike = [array for array in one.keys() & two.keys() if _walked_alike(first, second, array)]
    return None if is_worthwhile(one, two, alike) else "it would hardly save traffic to memory"


def is_worthwhile(one: Traffic, two: Traffic, alike: Collection[Symbol], part: float = WORTHWHILE) -> bool:
    """Whether the fused loop has much less memory traffic than the two, if it reuses some arrays from the cache."""
    before = sum(_amount(size) for size in (*one.values(), *two.values()))
    return sum(min(_amount(one[array]), _amount(two[array])) for array in alike) >= part * before


def ends_lanes(first: For, second: For) -> bool:
    """Whether one of the loops calls functions that are computed in lanes, which a loop inside the other
    would end: `exp` of a number takes six times as long alone, and its result 16 bytes there and back."""
    around = [contains(loop.body, For) for loop in (first, second)]
    if around[0] == around[1]:
        return False
    flat = second if around[0] else first
    return any(
        isinstance(n, Intrinsic) and n.name in VECTOR_FUNCTIONS and n.dtype.is_float for n in walk(flat.body)
    )


def matrix_of_all_iterations(loop: For) -> Symbol | None:
    """A matrix that each iteration multiplies something with, as in a product of matrices.

    Where the loop's iterations and those right inside it are computed in tiles, the matrix comes from memory
    once; with anything else between the two loops, once for each iteration.
    """
    inner = {n.var for n in loops_of(loop.body)}
    added = (n.value for n in walk(loop.body) if isinstance(n, Update) and n.op == "+")
    for value in added:
        for factor in walk(value) if isinstance(value, Binary) and value.op == "*" else ():
            named = scalars_read(factor) if isinstance(factor, Load) else {loop.var}
            if isinstance(factor, Load) and loop.var not in named and len(named & inner) > 1:
                return factor.array
    return None


def _totals(*loops: For) -> int:
    """The number of distinct scalars that reductions in the loops combine into."""
    return len({n.target for n in walk(loops) if isinstance(n, Update) and not n.target.is_array})


def _walked_alike(first: For, second: For, array: Symbol) -> bool:
    """Whether the two loops access the array's elements in the same order, as far as these loops go."""

    def indices(loop: For) -> list[tuple[Expr, ...]]:
        return [index for accessed, index, _ in accesses_in(loop.body) if accessed == array]

    var = Var(first.var, loc=first.loc)
    mine = {
        (axis, i) for index in indices(first) for axis, i in enumerate(index) if first.var in scalars_read(i)
    }
    return any(
        (axis, substitute(expr, {second.var: var})) in mine
        for index in indices(second)
        for axis, expr in enumerate(index)
    )


def _amount(size: Expr) -> float:
    """An estimate in bytes, with lengths that are not known taken to be NOMINAL."""

    def rule(node: Node) -> Node:
        if isinstance(node, Extent | Var):
            return Const(min(NOMINAL, limits(node.dtype)[1]), node.dtype, loc=node.loc)
        return node

    try:
        return float(evaluate(rewrite(size, rule), {}))
    except LookupError:
        return float(NOMINAL)
