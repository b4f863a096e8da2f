"""Loop distribution: separates statements that could run in parallel from those that could not."""

from __future__ import annotations

from appyc.analysis.dependences.statement_graph import StatementGraph, statement_graph
from appyc.analysis.dependences.verdicts import Verdict, named
from appyc.ir.blocks import collapsed_loops
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Assign, For, Function, Symbol
from appyc.ir.visit import loops_of, scalars_read, with_loops
from appyc.passes.loop_ops.fission import fission, why_not_fission
from appyc.passes.parallelise.plain_loops import has_fixed_bounds, is_plain
from appyc.passes.pass_context import PassContext

MAX_STATEMENTS = 12
"""A body with more statements is not distributed: building the dependence graph takes quadratic time."""

FREE, IN_STEP, SERIAL = "free", "in step", "serial"


def distribute_loops(fn: Function, ctx: PassContext) -> Function:
    """Innermost loops with a recurrence and other statements become several loops, in a legal order.

    Before:                                   After:
        for i in range(1, n):                     for i in range(1, n):
            a[i] = a[i] + c[i]                        a[i] = a[i] + c[i]
            b[i] = b[i - 1] + a[i]                    d[i] = a[i] * a[i]
            d[i] = a[i] * a[i]                    for i_2 in range(1, n):
                                                      b[i_2] = b[i_2 - 1] + a[i_2]

    Statements in one strongly connected component of the dependence graph stay in one loop. The components
    are sorted topologically, and adjacent components of one kind share a loop. Where every component is a
    single statement without a carried dependence, the iterations of the loops may run in any order. Where
    some statements may run only in SIMD lanes in lockstep, the statements are reordered within one loop,
    which `find_lanes` vectorises. Assignments of loop-invariant values to scalars are replicated in each
    loop that reads the scalars.

    Runs after `check_bounds` and `recognise_reductions`; only where nothing in the body can
    raise, since the writes before an exception would be visible.

    Does not handle: loops with a pragma, or that one around collapses, with loops inside, with `break` or `continue`;
    scalar expansion for scalars that connect statements; loops that may run in any order for some arguments only.
    """
    collapsed = collapsed_loops(fn)
    candidates = [n for n in loops_of(fn.body) if _is_candidate(n) and n.var not in collapsed]
    if not candidates or not ctx.options.auto:
        return fn
    legality = ctx.legality(fn)
    names = NameSupply.after(fn)
    parts: dict[Symbol, tuple[For, ...]] = {}
    for loop in candidates:
        verdict = legality.judge(loop)
        if verdict.may_run_in_any_order or verdict.verdict is Verdict.CONDITIONAL:
            continue
        graph = statement_graph(legality, loop)
        found = None if graph is None else distribution(graph)
        if graph is not None and found is not None and why_not_fission(graph, found) is None:
            parts[loop.var] = fission(loop, found, names)
            for part in parts[loop.var]:
                ctx.freed(part.var, "loop distribution: what carries a dependence runs in a loop of its own")
            what = "its statements are put in order" if len(found) == 1 else f"becomes {len(found)} loops"
            ctx.remark(loop.loc, f"{named(loop)}: {what}, so that some may run in parallel")
    return with_loops(fn, parts)


def _is_candidate(loop: For) -> bool:
    return (
        loop.clauses is None
        and 1 < len(loop.body) <= MAX_STATEMENTS
        and is_plain(loop)
        and has_fixed_bounds(loop)
    )


def distribution(graph: StatementGraph) -> list[tuple[int, ...]] | None:
    """The statements of each loop, in order, by their numbers; None where distribution has no benefit."""
    return _Plan(graph).groups()


class _Plan:
    """The distribution of one loop body over several loops."""

    def __init__(self, graph: StatementGraph) -> None:
        self.graph, self.components = graph, graph.components()

    def groups(self) -> list[tuple[int, ...]] | None:
        """The statements of each new loop, in order; None where distribution has no benefit."""
        kinds = {self.kind(component) for component in self.components}
        if kinds == {SERIAL} or not kinds:
            return None
        groups = [self._with_copies(group) for group in self._merged(self._order(kinds), kinds)]
        in_text = [tuple(range(len(self.graph.body)))]
        return None if groups == in_text else groups

    def kind(self, component: tuple[int, ...]) -> str:
        inside = [e for e in self.graph.carried if e.source in component and e.sink in component]
        if set(component) & self.graph.serial or any(
            e.conflict.kind == "reduction" or not e.forward for e in inside
        ):
            return SERIAL
        return IN_STEP if inside else FREE

    def _family(self, component: tuple[int, ...], kinds: set[str]) -> str:
        """The class of components that this one may share a loop with: those that lanes can run, or the serial ones."""
        kind = self.kind(component)
        return kind if kinds == {FREE} or kind == SERIAL else IN_STEP

    def _order(self, kinds: set[str]) -> list[tuple[int, ...]]:
        """The components in topological order. Of the components that are ready, the textually first one of
        the previous component's family is preferred."""
        left = list(self.components)
        out: list[tuple[int, ...]] = []
        while left:
            ready = [c for c in left if not any(self._leads(o, c) for o in left if o is not c)]
            alike = [c for c in ready if out and self._family(c, kinds) == self._family(out[-1], kinds)]
            out.append((alike or ready)[0])
            left.remove(out[-1])
        return out

    def _leads(self, one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        return any(self.graph.successors(node) & set(other) for node in one)

    def _merged(self, order: list[tuple[int, ...]], kinds: set[str]) -> list[tuple[int, ...]]:
        """Adjacent components of one family in one loop; free ones only where that creates no carried dependence."""
        groups: list[tuple[int, ...]] = []
        family = ""
        for component in order:
            mine = self._family(component, kinds)
            apart = mine == FREE and any(
                edge.source in groups[-1] and edge.sink in component for edge in self.graph.carried if groups
            )
            if groups and mine == family and not apart:
                groups[-1] += component
            else:
                groups.append(component)
            family = mine
        return [tuple(sorted(g)) if f else g for g, f in zip(groups, self._sortable(groups), strict=True)]

    def _sortable(self, groups: list[tuple[int, ...]]) -> list[bool]:
        """For each group, whether textual order is legal: no carried dependence points backwards in the text."""
        return [
            all(e.source <= e.sink for e in self.graph.carried if e.source in g and e.sink in g)
            or any(self.kind(c) == SERIAL for c in self.components if set(c) <= set(g))
            for g in groups
        ]

    def _with_copies(self, group: tuple[int, ...]) -> tuple[int, ...]:
        """The group with copies of the statements that set the scalars it reads. A statement whose
        scalar no statement of the body reads is added to the group with the last node."""
        body = self.graph.body
        needed = set().union(*(scalars_read(body[number]) for number in group))
        copies: list[int] = []
        for number in reversed(self.graph.copied):
            stmt = body[number]
            assert isinstance(stmt, Assign)
            unread = not any(
                stmt.target in scalars_read(other) for k, other in enumerate(body) if k != number
            )
            if stmt.target in needed or (unread and self.graph.nodes[-1] in group):
                copies.append(number)
                needed |= scalars_read(stmt.value)
        return self._placed(tuple(reversed(copies)), group)

    def _placed(self, copies: tuple[int, ...], group: tuple[int, ...]) -> tuple[int, ...]:
        """The copies and the group in textual order if the group is in that order; otherwise the copies come first."""
        if list(group) == sorted(group):
            return tuple(sorted((*copies, *group)))
        return (*copies, *group)
