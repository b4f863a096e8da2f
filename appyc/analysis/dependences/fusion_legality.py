"""The legality of loop fusion: its syntactic conditions. The dependences are those of `Legality`.

In the fused loop an iteration of the second loop follows the same iteration of the first. Fusion is
legal if the fused loop carries no dependence (`Legality.judge`), and under the conditions tested
here: the ranges are equal, nothing leaves a loop early, and no scalar that is live-out of the first
loop is read by the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from appyc.analysis.accesses.scalar_flow import scalars_of
from appyc.analysis.accesses.syntactic_effects import Texts, Touched, has_effect_itself
from appyc.ir import nodes as ir
from appyc.ir.affine import are_equal, operands
from appyc.ir.names import ordered
from appyc.ir.raising import may_leave
from appyc.ir.visit import rewrite, scalars_read, scalars_written, symbols_of, walk

MAX_NODES = 2000
"""The most nodes of a fused loop."""

RANGES, PRAGMAS = "they run over different ranges", "they have different pragmas"
ENDS = "one of them may raise, or end early"


@dataclass(frozen=True, slots=True)
class EqualExtents:
    """The lengths that are equal by the function's guards, as equivalence classes.

    first: the representative of each length that is equal to another one.
    """

    first: dict[ir.Extent, ir.Extent]

    @classmethod
    def of(cls, guards: tuple[ir.Guard, ...]) -> EqualExtents:
        first: dict[ir.Extent, ir.Extent] = {}

        def leader(extent: ir.Extent) -> ir.Extent:
            while extent in first:
                extent = first[extent]
            return extent

        for guard in guards:
            for part in operands(guard.holds, "and", "&"):
                match part:
                    case ir.Compare("==", ir.Extent() as lhs, ir.Extent() as rhs):
                        one, other = leader(lhs), leader(rhs)
                        if one != other:
                            first[other] = one
        return cls({extent: leader(extent) for extent in first})

    def same(self, one: ir.Expr, other: ir.Expr) -> bool:
        """Whether two expressions are equal, with equal lengths substituted and sums compared by their terms."""
        return one == other or are_equal(self._named(one), self._named(other))

    def _named(self, expr: ir.Expr) -> ir.Expr:
        return rewrite(expr, lambda n: self.first.get(n, n) if isinstance(n, ir.Extent) else n)


def why_not_joined(first: ir.For, second: ir.For, equal: EqualExtents, texts: Texts) -> str | None:
    """The syntactic reason against the fusion of two loops; None if there is none."""
    if first.step != second.step or not (equal.same(first.lo, second.lo) and equal.same(first.hi, second.hi)):
        return RANGES
    if not do_clauses_agree(first, second):
        return PRAGMAS
    body = texts.by(first.body)
    if body.has_effects or texts.by(second.body).has_effects:
        return ENDS
    if texts.by((first, second)).nodes > MAX_NODES:
        return "the loop would be too long"
    one, two, bounds = body.touched, texts.of(second).touched, Touched.by(second.bounds)
    if not one.is_free_of(bounds):
        return "the first decides how often the second runs"
    if one.made & (two.reads | two.writes | two.sizes):
        return "the second uses an array that the first makes"
    return None


def left_behind(first: ir.For, second: ir.For) -> ir.Symbol | None:
    """A scalar that flows from the first loop into the second, which makes fusion illegal; None if there is none.

    Two reductions of one scalar by the same operator are legal. A dependence of the first loop on
    the second one's scalars shows in the fused loop, which then carries it.
    """
    both = scalars_written(first.body)
    if both:
        both &= scalars_read(second.body) | scalars_written(second.body)
    if not both:
        return None
    found = scalars_of(alone(first, second))
    one, two = found[first.var], found[second.var]
    for symbol in ordered(both):
        both_combine = any(r.symbol == symbol and r in two.reductions for r in one.reductions)
        if not (both_combine or symbol in two.private):
            return symbol
    return None


def has_effects(body: tuple[ir.Stmt, ...]) -> bool:
    """Whether the body has side effects, which an early end of another loop must not reorder."""
    return any(has_effect_itself(n) for n in walk(body))


def do_clauses_agree(first: ir.For, second: ir.For) -> bool:
    """Whether the pragmas of two loops, or that of one, can be the fused loop's.

    A loop without a pragma agrees with a plain `parallel for`: nothing is lost, since the fused
    loop may run in parallel too.
    """
    one, two = first.clauses, second.clauses
    if one == two:
        return True
    if one is None or two is None:
        asked = one or two
        assert asked is not None
        return _bare(asked) == ir.Clauses("parallel", loc=asked.loc)
    return _bare(one) == _bare(two) and not one.independent


def joined_clauses(first: ir.For, second: ir.For) -> ir.Clauses | None:
    """The pragma of the fused loop: the lists of names are concatenated."""
    one, two = first.clauses, second.clauses
    if one is None or two is None:
        return one or two
    return replace(
        one,
        reductions=tuple(dict.fromkeys(one.reductions + two.reductions)),
        private=tuple(dict.fromkeys(one.private + two.private)),
        shared=tuple(dict.fromkeys(one.shared + two.shared)),
        to=tuple(dict.fromkeys(one.to + two.to)),
        from_=tuple(dict.fromkeys(one.from_ + two.from_)),
    )


def asks_for_no_more_than_threads(clauses: ir.Clauses | None) -> bool:
    """Whether a loop has no pragma, or a plain `parallel for` without further clauses."""
    return clauses is None or clauses == ir.Clauses("parallel", loc=clauses.loc)


def _bare(clauses: ir.Clauses) -> ir.Clauses:
    """The clauses without their lists of names."""
    return replace(clauses, reductions=(), private=(), shared=(), to=(), from_=())


def placed(
    first: ir.For, second: ir.For, between: Sequence[ir.Stmt], texts: Texts
) -> tuple[list[ir.Stmt], list[ir.Stmt]] | None:
    """The statements between the loops, moved before or behind both; None where a statement may move neither way."""
    one, two = texts.of(first).touched, texts.of(second).touched
    before: list[ir.Stmt] = []
    behind: list[ir.Stmt] = []
    for stmt in between:
        mine = texts.of(stmt).touched
        stays = not may_leave(stmt)
        if stays and mine.is_free_of(one) and all(mine.is_free_of(texts.of(s).touched) for s in behind):
            before.append(stmt)
        elif stays and mine.is_free_of(two):
            behind.append(stmt)
        else:
            return None
    return before, behind


def alone(*loops: ir.For) -> ir.Function:
    """A function of these loops only, with every symbol that they use as a parameter."""
    bound = {n.var for n in walk(loops) if isinstance(n, ir.For)}
    params = tuple(s for s in symbols_of(loops) if s not in bound)
    return ir.Function("joined", params, loops, loc=loops[0].loc)
