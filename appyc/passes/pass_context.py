"""The context of a pass: options, cached facts about the function, and the reports of what the pass did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from appyc.analysis.accesses.syntactic_effects import Texts
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import LoopVerdict
from appyc.analysis.sets.allowance import Allowance
from appyc.errors import Loc
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Expr, For, Function, LoopMode, Symbol
from appyc.ir.transforms import Transform
from appyc.ir.visit import N, loops_of, map_loops, rename
from appyc.options import Options
from appyc.passes.node_builders import fresh_variables


@dataclass(frozen=True, slots=True)
class Remark:
    """Something worth telling the user that is no error.

    kind: "note" (what was done), "missed" (what was not, and why not), "warning". stored: of a miss, the arrays
    that go through memory for it; where a later pass sees to it that none of them does, it is none. hint: what the
    user could change, of a miss.
    """

    loc: Loc
    text: str
    kind: str = "note"
    stored: frozenset[Symbol] = frozenset()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FusionGroup:
    """Loops that were fused into one.

    var: the variable of the fused loop. parts, locs: the variables and source locations of the original loops, in
    order. before: the memory traffic in bytes of the original loops, with float64 elements.
    """

    var: Symbol
    parts: tuple[Symbol, ...]
    locs: tuple[Loc, ...]
    before: Expr


Question: TypeAlias = "Callable[[For, PassContext], bool]"


@dataclass(slots=True)
class Facts:
    """The cached legality analysis of the function that a pass last asked about, and facts about statements.

    fn: the function. bare: the function without the modes of its loops. texts: the effects of statements.
    answers: to questions about loops that stand alone, by the question and the loop's identity.
    """

    fn: Function | None = None
    bare: Function | None = None
    legality: Legality | None = None
    texts: Texts = field(default_factory=Texts)
    answers: dict[tuple[Question, int], tuple[For, bool]] = field(default_factory=dict)

    def about(self, fn: Function, allowance: Allowance) -> Legality:
        if self.legality is None or self.fn is not fn:
            bare = _without_modes(fn)
            if self.legality is None or self.bare != bare:
                self.legality = Legality.of(fn, allowance)
            self.fn, self.bare = fn, bare
        return self.legality

    def forget(self) -> None:
        """Frees the sets, which are not read after the last pass."""
        self.fn = self.bare = self.legality = None
        self.texts, self.answers = Texts(), {}


def _without_modes(fn: Function) -> Function:
    """The function with all that a pass decides about loops, and that changes nothing for others, left out."""

    def rule(loop: For) -> For:
        return replace(
            loop,
            mode=LoopMode.SEQUENTIAL,
            private=(),
            last=(),
            reductions=(),
            safelen=None,
            in_step=False,
            scans=(),
        )

    return map_loops(fn, rule)


@dataclass(frozen=True, slots=True)
class PassContext:
    """One compilation's settings and findings. Passes read the options and append to the rest.

    vector_functions: those of C's library that have a form for vectors, by their names in C.
    verdicts: what dependence analysis said about each loop, by the loop's variable. changes: what was
    done to a loop before that, in words that follow the verdict. ways: what made its iterations independent, in words
    that follow "independent after". facts: what `legality` has found out.
    allowance: what may still be spent on finding out more; trials: the same for loops that a pass would make, or moves
    to where they stand alone.
    fusions: the loops that were joined, by the variable of what they are now. contracted: arrays that are
    in no memory any more, with the loop whose iterations have an element or a row of each. recomputed:
    arrays whose elements are computed at every read. parts: of loops that a pass made to run another one
    by, which reports leave out, and of that one. copies: of loops that are there a second time, for other
    sizes, which reports leave out, too. transforms: the loop operations that were asked for and done. asked:
    what a given schedule says of a loop's form.
    """

    options: Options = field(default_factory=Options)
    remarks: list[Remark] = field(default_factory=list)
    vector_functions: frozenset[str] = frozenset()
    verdicts: dict[Symbol, LoopVerdict] = field(default_factory=dict)
    changes: dict[Symbol, str] = field(default_factory=dict)
    ways: dict[Symbol, list[str]] = field(default_factory=dict)
    parts: dict[Symbol, Symbol] = field(default_factory=dict)
    copies: dict[Symbol, Symbol] = field(default_factory=dict)
    fusions: dict[Symbol, FusionGroup] = field(default_factory=dict)
    contracted: dict[Symbol, Symbol] = field(default_factory=dict)
    recomputed: dict[Symbol, Loc] = field(default_factory=dict)
    transforms: dict[Symbol, tuple[Transform, ...]] = field(default_factory=dict)
    asked: dict[Symbol, frozenset[str]] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts, compare=False, repr=False)
    allowance: Allowance = field(default_factory=Allowance, compare=False, repr=False)
    trials: Allowance = field(default_factory=Allowance, compare=False, repr=False)

    def may_change_loops(self, fn: Function) -> bool:
        """Whether passes look at the loops of a function: without `auto`, only if one has a pragma."""
        return self.options.auto or any(loop.clauses is not None for loop in loops_of(fn.body))

    def remark(self, loc: Loc, text: str, kind: str = "note") -> None:
        self.remarks.append(Remark(loc, text, kind))

    def missed(self, loc: Loc, text: str, hint: str, stored: frozenset[Symbol] = frozenset()) -> None:
        """Says what was not done, why not, and what the user could change."""
        self.remarks.append(Remark(loc, text, "missed", stored, hint))

    def freed(self, loop: Symbol, way: str) -> None:
        """Keeps what was done so that the iterations of a loop are independent."""
        self.ways.setdefault(loop, []).append(way)

    def version(self, nest: N, names: NameSupply) -> N:
        """The nest once more, with loop variables, and so verdicts, of its own."""
        fresh = fresh_variables(nest, names)
        known = [(old, new) for old, new in fresh.items() if old in self.verdicts]
        self.verdicts.update((new, replace(self.verdicts[old], var=new)) for old, new in known)
        return rename(nest, fresh)

    def copied(self, nest: N, names: NameSupply) -> N:
        """A copy of the nest with loop variables of its own, which reports leave out."""
        new = self.version(nest, names)
        self.copies.update((n.var, old.var) for old, n in zip(loops_of(nest), loops_of(new), strict=True))
        return new

    def legality(self, fn: Function) -> Legality:
        """The facts about the loops of a function.

        Made anew only if the function is not the one last asked about, but for the modes of its
        loops: passes in a row that change nothing else share one analysis, and what it remembers.
        """
        return self.facts.about(fn, self.allowance)

    def answer(self, question: Question, loop: For) -> bool:
        """The answer to a question about a loop that stands alone, which is asked once."""
        key = question, id(loop)
        if key not in self.facts.answers:
            self.facts.answers[key] = loop, question(loop, self)
        return self.facts.answers[key][1]

    def findings(self) -> tuple[list[Remark], list[dict[Symbol, Any]]]:
        """A snapshot of the findings of passes so far, for `go_back_to`."""
        return list(self.remarks), [dict(found) for found in self._by_symbol()]

    def go_back_to(self, before: tuple[list[Remark], list[dict[Symbol, Any]]]) -> None:
        """Forgets what was found since, by a pass that is left out."""
        self.remarks[:] = before[0]
        for found, then in zip(self._by_symbol(), before[1], strict=True):
            found.clear()
            found.update(then)

    def _by_symbol(self) -> tuple[dict[Symbol, Any], ...]:
        return (
            self.verdicts, self.changes, self.parts, self.copies, self.fusions, self.contracted, self.recomputed,
            self.transforms,
        )  # fmt: skip
