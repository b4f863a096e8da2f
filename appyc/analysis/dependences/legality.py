"""The legality of running a loop in parallel: the verdict by its loop-carried dependences, and its explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from appyc.analysis.accesses.access_relations import accesses_of
from appyc.analysis.accesses.accesses import DRAW
from appyc.analysis.accesses.scalar_flow import CarriedScalar, LoopScalars, scalars_of
from appyc.analysis.dependences.carried_scalars import (
    grown_by,
    how_to_combine,
    is_set_flag,
    other_uses,
    swapped,
)
from appyc.analysis.dependences.dependences import Conflict, Dependences, Witness
from appyc.analysis.dependences.verdicts import LoopVerdict, Refusal, Verdict, iteration_text, loop_text
from appyc.analysis.patterns.compaction_pattern import packed_arrays
from appyc.analysis.patterns.early_exits import early_exit, exit_loc, leaves_early
from appyc.analysis.patterns.scans import LINEAR, scans_of
from appyc.analysis.sets.allowance import Allowance
from appyc.analysis.sets.conditions import Cases, cases_of, condition_of, text_of
from appyc.analysis.sets.lazy_isl import isl
from appyc.analysis.sets.presburger import Presburger
from appyc.errors import Note
from appyc.ir.names import container_of
from appyc.ir.nodes import Extent, For, Function, Symbol

MAX_CONFLICTS = 16
"""The most dependences that are collected: enough to refuse a loop, and to choose one to report."""

WORTHWHILE = 8
"""The extent of an array from which on it is worth asking whether a loop over it is free."""

OTHER_LOOP = "parallelise another loop of the nest, or leave this one sequential"
OATH = "if you know that no two iterations touch one element, say `independent` in the pragma"
COPIES = "ask for `parallel for`: threads can have copies of the array, lanes cannot"
STREAMS = "give each iteration a generator of its own: `rngs = rng.spawn(n)` before the call, and draw from `rngs[i]`"
APART = "let the loop do nothing else with these elements than combine into them, by one operator"


@dataclass(frozen=True, slots=True)
class Legality:
    """The verdicts on the loops of one function, computed on demand. judged: those computed so far."""

    dependences: Dependences
    scalars: Mapping[Symbol, LoopScalars]
    judged: dict[tuple[Symbol, frozenset[Symbol]], LoopVerdict] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, fn: Function, allowance: Allowance | None = None) -> Legality:
        """The analysis of a function. allowance: the remainder of isl's work, where other analyses used a part."""
        return cls(Dependences(accesses_of(fn, Presburger(allowance))), scalars_of(fn))

    def judge(self, loop: For, skip: frozenset[Symbol] = frozenset()) -> LoopVerdict:
        """The verdict on one loop. Dependences on arrays in `skip` are ignored."""
        known = self.judged.get((loop.var, skip))
        if known is None:
            known = self.judged[loop.var, skip] = self._judge(loop, skip)
        return known

    def _judge(self, loop: For, skip: frozenset[Symbol]) -> LoopVerdict:
        if leaves_early(loop):
            return self._early(loop)
        carried = self.scalars[loop.var].carried
        if carried:
            return self._scan(loop, skip) or self._scalar_carried(loop, carried[0])
        return self._arrays(loop, self.dependences.conflicts(loop, skip))

    def _early(self, loop: For) -> LoopVerdict:
        """The verdict on a loop with an early exit: it has a control dependence between iterations.

        A search is rewritten to another loop before it is judged (`speculative_search`)."""
        found = early_exit(loop, self.dependences)
        why = ""
        notes: tuple[Note, ...] = (Note(exit_loc(loop), "the loop ends here"),)
        if isinstance(found, Refusal):
            why, notes = f", and {found.reason}", (*notes, *found.notes)
        return self._answer(
            loop,
            Verdict.CARRIED,
            f"{loop_text(loop.var, loop.clauses)} may end early: whether an iteration runs depends on those before "
            f"it{why}",
            notes=notes,
            hints=("let every iteration run, and skip its work with `if`",),
        )

    def _answer(
        self,
        loop: For,
        verdict: Verdict,
        reason: str,
        notes: tuple[Note, ...] = (),
        hints: tuple[str, ...] = (),
        arrays: tuple[tuple[str, Symbol], ...] = (),
        condition: str | None = None,
        distance: int | None = None,
    ) -> LoopVerdict:
        scalars = self.scalars[loop.var]
        return LoopVerdict(
            loop.var, loop.loc, verdict, reason, notes, hints,
            scalars.private, scalars.last, scalars.reductions, arrays, condition, distance,
        )  # fmt: skip

    # ---- scalars

    def _scan(self, loop: For, skip: frozenset[Symbol]) -> LoopVerdict | None:
        """The verdict on a loop whose only loop-carried dependences are scans; None if there are others."""
        scans = scans_of(loop, [scalar.symbol for scalar in self.scalars[loop.var].carried])
        if scans is None:
            return None
        packed = packed_arrays(loop, scans)
        rest = self._arrays(loop, self.dependences.conflicts(loop, skip | {p.array for p in packed}))
        if not rest.may_run_in_any_order:
            return None
        what = [
            f"a linear recurrence of '{scan.symbol.name}'"
            if scan.op == LINEAR
            else f"a scan ({scan.op}) of '{scan.symbol.name}'"
            for scan in scans
        ]
        reason = " and ".join(what)
        if packed:
            names = ", ".join(f"'{p.array.name}'" for p in packed)
            reason += f"; no two iterations touch one element of {names}, since the counter grows"
        return replace(rest, verdict=Verdict.SCAN, reason=reason, scans=scans)

    def _scalar_carried(self, loop: For, scalar: CarriedScalar) -> LoopVerdict:
        name, which = scalar.symbol.name, loop_text(loop.var, loop.clauses)
        if scalar.read is None:
            return self._answer(
                loop,
                Verdict.CARRIED,
                f"{which} assigns '{name}' in some iterations only, and its value is used after the loop",
                notes=(Note(scalar.write, f"'{name}' is assigned here"),),
                hints=(f"assign '{name}' in every iteration, or compute it in a loop of its own",),
            )
        if is_set_flag(loop, scalar.symbol):
            name = name.removesuffix("_is_set")
            return self._answer(
                loop,
                Verdict.CARRIED,
                f"{which} reads '{name}', which only an earlier iteration may have assigned",
                notes=(
                    Note(scalar.write, f"'{name}' is assigned here"),
                    Note(scalar.read, "and read here, by the first iteration too"),
                ),
                hints=(f"assign '{name}' before the loop, or in each iteration before it is read",),
                distance=1,
            )
        if (array := grown_by(loop, scalar.symbol)) is not None:
            container = container_of(array.name)
            return self._answer(
                loop,
                Verdict.CARRIED,
                f"{which} carries a dependence: '{container}' grows from one iteration to the next",
                notes=(Note(scalar.write, f"'{container}' gets an item here"),),
                hints=("store each item in an element of its own of an array that is made before the loop",),
                distance=1,
            )
        hints: tuple[str, ...] = (
            how_to_combine(loop, scalar.symbol),
            f"if '{name}' belongs to one iteration, assign it before it is read",
        )
        if (op := swapped(loop, scalar.symbol)) is not None:
            hints = (f"write `{name} = {op}({name}, ...)`: the other way round, a NaN would win", *hints)
        return self._answer(
            loop,
            Verdict.CARRIED,
            f"{which} carries a dependence: an iteration reads the value of '{name}' that "
            "an earlier one assigned",
            notes=(
                Note(scalar.write, f"'{name}' is assigned here"),
                Note(scalar.read, "and read here by a later iteration"),
                *other_uses(loop, scalar.symbol),
            ),
            hints=hints,
            distance=1,
        )

    # ---- arrays

    def _arrays(self, loop: For, conflicts: Iterator[Conflict]) -> LoopVerdict:
        """The verdict by the dependences on arrays. Stops as soon as no further one could change it."""
        updates: list[Conflict] = []
        serious: list[Conflict] = []
        complete = True
        for conflict in conflicts:
            if conflict.kind == "reduction" and conflict.free_if is None:
                updates.append(conflict)
            elif conflict.instances is None:
                return self._unknown(loop, conflict)
            elif conflict.exact and conflict.kind == "flow" and self._is_definite(conflict):
                return self._carried(loop, conflict)
            else:
                serious.append(conflict)
            if len(serious) > MAX_CONFLICTS:
                complete = False
                break
        serious.sort(key=gravity)
        for conflict in serious:
            if conflict.exact and self._is_definite(conflict):
                return self._carried(loop, conflict)
        for conflict in serious:
            if not conflict.exact and conflict.free_if is None:
                return self._unknown(loop, conflict)
        if serious:
            return self._conditional(loop, serious, testable=complete and not updates)
        return self._free(loop, updates)

    def _is_definite(self, conflict: Conflict) -> bool:
        """Whether the dependence exists for all parameters for which the loop and the arrays are
        long enough."""
        _, farthest = self.dependences.distances(conflict)
        clear = self.dependences.clear_of(conflict, farthest)
        return clear is None or self._is_pointless(clear, whole=farthest is not None)

    def _free(self, loop: For, updates: list[Conflict]) -> LoopVerdict:
        scalars = self.scalars[loop.var]
        arrays = tuple(dict.fromkeys((c.source.op, c.source.array) for c in updates))
        atomic = self._atomic(loop)
        if not scalars.reductions and not arrays:
            found = self._answer(
                loop, Verdict.INDEPENDENT, "no iteration writes what another one reads or writes"
            )
            return replace(found, atomic=atomic)
        into = [f"'{r.symbol.name}' ({r.op})" for r in scalars.reductions]
        into += [f"elements of '{array.name}' ({op})" for op, array in arrays]
        notes = tuple(Note(c.source.loc, "several iterations update one element here") for c in updates[:1])
        reason = f"iterations combine into {', '.join(into)}"
        only_combined = self._are_only_combined(loop, arrays)
        hints = ((COPIES if only_combined else APART),) if arrays else ()
        found = self._answer(loop, Verdict.REDUCTION, reason, notes, hints, arrays)
        return replace(found, only_combined=only_combined, atomic=atomic)

    def _atomic(self, loop: For) -> tuple[tuple[str, Symbol], ...]:
        """The arrays that the loop accesses only by atomic updates with one operator."""
        touched = self.dependences.found.within(loop)
        pairs = tuple(dict.fromkeys((a.op, a.array) for a in touched if a.atomic))
        plain = {access.array for access in touched if not access.atomic}
        return tuple(p for p in pairs if p[1] not in plain and self._are_only_combined(loop, (p,)))

    def _are_only_combined(self, loop: For, arrays: tuple[tuple[str, Symbol], ...]) -> bool:
        """Whether the loop accesses the arrays only by updates with their operators: array reductions."""
        operators = {array: op for op, array in arrays}
        touched = [a for a in self.dependences.found.within(loop) if a.array in operators]
        has_neutral = all(op in ("+", "*") or not array.dtype.is_complex for op, array in arrays)
        return has_neutral and all(access.op == operators[access.array] for access in touched)

    def _carried(self, loop: For, conflict: Conflict) -> LoopVerdict:
        low, high = self.dependences.distances(conflict)
        reason = f"{loop_text(loop.var, loop.clauses)} carries a dependence: {self._meeting(conflict)}"
        if low is not None and low == high:
            reason += f" ({low} iteration{'s' if low != 1 else ''} later)"
        hints: tuple[str, ...] = (OTHER_LOOP,)
        if DRAW in (conflict.source.op, conflict.sink.op):
            hints = (STREAMS,)
        elif conflict.source.updates or conflict.sink.updates:
            hints = ("an element that iterations combine into may not be read or set in the loop", *hints)
        return self._answer(loop, Verdict.CARRIED, reason, notes_of(conflict), hints, distance=low)

    def _unknown(self, loop: For, conflict: Conflict) -> LoopVerdict:
        name, which = conflict.source.array.name, loop_text(loop.var, loop.clauses)
        if conflict.instances is None:
            reason = (
                f"{which}: it could not be proven in reasonable time that no two iterations touch "
                f"one element of '{name}'"
            )
        else:
            reason = (
                f"{which}: it cannot be told from the source whether two iterations touch "
                f"one element of '{name}'"
            )
        hints: tuple[str, ...] = (OATH,)
        if conflict.source.writes and not conflict.source.updates:
            hints += ("if iterations add up in the element, write `x[k] += ...` under `#pragma atomic`",)
        return self._answer(loop, Verdict.UNKNOWN, reason, notes_of(conflict), hints)

    def _conditional(self, loop: For, conflicts: list[Conflict], *, testable: bool) -> LoopVerdict:
        """The verdict on a loop that carries a dependence for some parameters only.

        testable: these are all its dependences, so that the loop is parallel in a call without them."""
        clears = [self.dependences.clear_of(conflict) for conflict in conflicts]
        sets = [clear for clear in clears if clear is not None]
        clear = None
        if len(sets) == len(clears):  # the others would have to be absent, too
            clear = self.dependences.sets.bounded(
                lambda: reduce(lambda a, b: a.intersect(b), sets).coalesce(), None
            )
        if clear is not None and self._is_pointless(clear):
            return self._carried(loop, conflicts[0])
        cases = None if clear is None else self._cases(clear, loop)
        condition = None if cases is None else text_of(cases)
        reason = f"{loop_text(loop.var, loop.clauses)} may carry a dependence: {self._meeting(conflicts[0])}"
        if condition is not None:
            reason += f"; the iterations are independent if {condition}"
        hints = ("if the arguments always rule that out, say `independent` in the pragma", OTHER_LOOP)
        guard = condition_of(cases, loop.loc) if cases is not None and testable else None
        found = self._answer(
            loop, Verdict.CONDITIONAL, reason, notes_of(conflicts[0]), hints, condition=condition
        )
        return replace(found, guard=guard)

    def _cases(self, clear: isl.Set, loop: For) -> Cases | None:
        affine = self.dependences.found.affine
        return self.dependences.sets.bounded(lambda: cases_of(clear, affine, loop.loc), None)

    def _is_pointless(self, clear: isl.Set, *, whole: bool = False) -> bool:
        """Whether only arrays of a few elements are free of the dependence: not worth a test at each call.

        whole: or only small values of some parameter, which may be a bound of an inner loop."""
        sets, names = self.dependences.sets, self.dependences.found.affine.names

        def question() -> bool:
            worth = clear
            for name in sets.names(clear):
                if whole or isinstance(names[name].origin, Extent):
                    worth = worth.intersect(sets.parameter(name).ge_set(sets.constant(WORTHWHILE)))
            return bool(worth.is_empty())

        return sets.bounded(question, False)

    def _meeting(self, conflict: Conflict) -> str:
        """`iteration i=3 writes a[4], iteration i=4 reads a[4]`."""
        return meeting_text(conflict, self.dependences.witness(conflict))


def meeting_text(conflict: Conflict, witness: Witness | None) -> str:
    """The iterations of a dependence and the element that they share, as a text for messages."""
    loop, name = conflict.loop, conflict.source.array.name
    if witness is None:
        return f"two iterations may touch one element of '{name}'"
    if conflict.source.op == DRAW:
        ends = (iteration_text(loop, number) for number in (witness.first, witness.second))
        return f"{' and '.join(ends)} draw from one generator, and which numbers each gets depends on their order"
    element = f"{name}[{', '.join(map(str, witness.element))}]"
    return (
        f"{iteration_text(loop, witness.first)} {conflict.source.deed} {element}, "
        f"{iteration_text(loop, witness.second)} {conflict.sink.deed} {element}"
    )


def gravity(conflict: Conflict) -> int:
    """The rank of a dependence in reports: a flow dependence before the reuse of an element (anti, output)."""
    return ("flow", "anti", "output", "reduction").index(conflict.kind)


def notes_of(conflict: Conflict) -> tuple[Note, ...]:
    source, sink = conflict.source, conflict.sink
    if source is sink:
        return (Note(source.loc, f"every iteration {source.deed} it here"),)
    return (
        Note(source.loc, f"{source.deed} '{source.array.name}' in the earlier iteration"),
        Note(sink.loc, f"{sink.deed} it in the later one"),
    )
