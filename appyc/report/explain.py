"""`fn.explain()`: the optimisation report of a function: verdict, mode and reason of each loop, and remarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from appyc.analysis.dependences.verdicts import LoopVerdict, Verdict
from appyc.compiler.analyse import Analysed
from appyc.compiler.forecast import Forecast
from appyc.compiler.requests import Request
from appyc.frontend.outline import PythonPart
from appyc.frontend.source import Source
from appyc.ir.blocks import walk_in_loops
from appyc.ir.nodes import For, LoopMode
from appyc.ir.printer import print_expr
from appyc.ir.visit import loops_of
from appyc.passes.pass_context import Remark
from appyc.report.fusion import HOW_COUNTED, FusionRecord, fusion_records, known_sizes
from appyc.report.times import LoopTime, time_text
from appyc.report.words import Words


@dataclass(frozen=True, slots=True)
class LoopRecord:
    """One loop of the program.

    line: of the `for`. index: the loop variable's name. verdict: "independent", "reduction",
    "scan", "carried", "independent-if" or "unknown". mode: "parallel", "scan", "simd" or
    "sequential", what the loop runs as. reason: one sentence, with what was done to the loop so that it may run so.
    depth: 0 for an outermost loop. within: the line of the loop that it was fused with. hint: what to change, of a
    loop that runs in order. title: what the report calls it, as "for i"; loops that statements about arrays became,
    and those that the compiler made, have no name in the program.
    """

    line: int
    index: str
    verdict: str
    mode: str
    reason: str
    depth: int = 0
    within: int | None = None
    hint: str = ""
    title: str = ""

    def __str__(self) -> str:
        return self.reason if self.reason.startswith(self.verdict) else f"{self.verdict}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Report:
    """The report of what the compiler did with a function. `str()` is for reading, the fields are for
    programs."""

    function: str
    file: str
    target: str
    signature: str
    loops: tuple[LoopRecord, ...]
    remarks: tuple[Remark, ...]
    guards: tuple[str, ...]
    python_parts: tuple[tuple[int, str], ...] = ()
    fusions: tuple[FusionRecord, ...] = ()
    counted_for: str = "these arguments"
    """Whose sizes the bytes of `fusions` are."""
    times: tuple[LoopTime, ...] = ()
    """The measured times of loops, in a report of `profile()`."""
    seconds: float | None = None
    """The whole run, where one was timed."""
    forecast: Forecast | None = None
    """The predicted times, for a call that could run on the CPU or a GPU."""

    def __str__(self) -> str:
        where = (
            "target='python' runs it as it is; compiled, it would be"
            if self.target == "python"
            else (f"compiled for {self.target}")
        )
        lines = [f"{self.function}({self.signature})", f"  {self.file}, {where}"]
        for line, reason in self.python_parts:
            lines.append(f"  line {line:<4} runs in Python: {reason}")
        if not self.loops:
            lines.append("  no loops")
        names = ["  " * r.depth + (r.title or f"for {r.index}") for r in self.loops]
        width = max(map(len, names), default=0)
        for record, name in zip(self.loops, names, strict=True):
            lines.append(f"  line {record.line:<4} {name:<{width}}  {record.mode:<10} {record}")
            lines += [f"            hint: {record.hint}"] if record.hint else []
        lines += [f"  joined: {fusion}" for fusion in self.fusions]
        if any(fusion.after is not None for fusion in self.fusions):
            lines.append(f"  of these bytes: for {self.counted_for}; {HOW_COUNTED}")
        for guard in self.guards:
            lines.append(f"  tested once at each call: {guard}")
        for remark in self.remarks:
            lines.append(f"  {remark.kind}: line {remark.loc.line}: {remark.text}")
            lines += [f"            hint: {remark.hint}"] if remark.hint else []
        if self.forecast is not None:
            lines.append(f"  {_forecast_text(self.forecast)}")
        if self.seconds is not None:
            lines.append(f"  timed, on copies of the arguments: {time_text(self.seconds)} for the call")
            lines += [f"  {loop_time}" for loop_time in self.times]
        return "\n".join(lines)

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        """Shows the text in IPython, not the fields."""
        printer.text(str(self))  # type: ignore[attr-defined]


def _forecast_text(found: Forecast) -> str:
    here, there, moving = (time_text(t * 1e-9) for t in (found.cpu, found.gpu, found.moving))
    device = "on the GPU" if found.prefers_gpu else "here"
    return f"predicted {here} here, {there} on the GPU ({moving} of it the way there and back): runs {device}"


def report(
    analysed: Analysed, source: Source, target: str, values: Mapping[str, object] | None = None
) -> Report:
    """The report of an analysed function. values: the arguments for which bytes are counted."""
    function = analysed.function
    depths = {
        node.var: sum(isinstance(loop, For) for loop in around)
        for node, around in walk_in_loops(function)
        if isinstance(node, For)
    }
    words = Words.of(analysed)
    return Report(
        function=source.name,
        file=source.file,
        target=target,
        signature=", ".join(f"{p.name}: {p.type}" for p in function.params),
        loops=_with_joined(
            [
                _record(loop, depths[loop.var], analysed, words)
                for loop in loops_of(function)
                if loop.var not in analysed.context.parts and loop.var not in analysed.context.copies
            ],
            analysed,
            words,
        ),
        remarks=_remarks(analysed, target, words),
        guards=tuple(f"{print_expr(g.holds)} ({g.reason})" for g in function.guards),
        fusions=fusion_records(analysed, known_sizes(analysed, values or {}), words),
    )


def _remarks(analysed: Analysed, target: str, words: Words) -> tuple[Remark, ...]:
    """Remarks without duplicates, and without those of missed contractions that another pass has made."""
    elsewhere = analysed.context.contracted.keys() | analysed.context.recomputed.keys()
    found = list(analysed.context.remarks)
    if target == "cpu":
        analysed.for_c(found)
    left = [
        replace(r, text=words.said(r.text), hint=words.said(r.hint))
        for r in found
        if not r.stored or not r.stored <= elsewhere
    ]
    return tuple({(r.loc.line, r.kind, r.text): r for r in left}.values())


def joined(source: Source, wanted: Request, inner: list[Report], parts: tuple[PythonPart, ...]) -> Report:
    """The report of a function that runs in Python except for its compiled regions."""
    own = tuple((part.line, part.reason) for part in parts)
    return Report(
        function=source.name,
        file=source.file,
        target=wanted.target,
        signature=", ".join(f"{n}: {t}" for n, t in wanted.types.items()),
        loops=tuple(r for found in inner for r in found.loops),
        remarks=tuple(r for found in inner for r in found.remarks),
        guards=tuple(g for found in inner for g in found.guards),
        fusions=tuple(f for found in inner for f in found.fusions),
        python_parts=own + tuple(p for found in inner for p in found.python_parts),
    )


def _record(loop: For, depth: int, analysed: Analysed, words: Words) -> LoopRecord:
    found = analysed.context.verdicts.get(loop.var)
    verdict = found.verdict.value if found is not None else "unknown"
    reason = (
        found.reason if found is not None else "not analysed, since the function passes arrays to others in C"
    )
    hint = "" if found is not None else "loops without such calls are analysed in a function of their own"
    if found is not None and (ways := _ways(found, analysed, words)):
        after = f"after {' and '.join(ways)}"
        reason = f"independent {after}" if found.verdict is Verdict.INDEPENDENT else f"{reason}, {after}"
    if loop.clauses is not None and loop.clauses.independent:
        reason = "independent on your word; array accesses were not checked"
    if (change := analysed.context.changes.get(loop.var)) is not None:
        reason = f"{change}, {reason}"
    if loop.mode is LoopMode.SEQUENTIAL and found is not None:
        if found.may_run_in_any_order:
            reason = f"{reason}; not marked parallel"
            hint = "write `#pragma parallel for` above it, where its iterations are worth threads"
        elif loop.var not in analysed.context.parts.values():
            hint = next(iter(found.hints), "")
    in_chunks = loop.var in analysed.context.parts.values()
    skew = analysed.function.schedule[loop.var].skew
    mode = "scan" if in_chunks else loop.mode.value if skew is None else "wave"
    if skew is not None:
        reason, hint = (
            f"{reason}; its iterations overlap, each {skew} of the inner loop behind the one before",
            "",
        )
    reason, hint = (words.said(text) for text in (reason, hint))
    return LoopRecord(
        loop.loc.line, loop.var.name, verdict, mode, reason, depth, hint=hint, title=words.loop(loop)
    )


def _ways(found: LoopVerdict, analysed: Analysed, words: Words) -> list[str]:
    """The transformations that made the iterations of a loop independent."""
    if not found.may_run_on_threads:
        return []
    private = [f"'{s.name}'" for s in found.private if words.is_own(s) and s not in found.last]
    last = [f"'{s.name}'" for s in found.last if words.is_own(s)]
    ways = list(dict.fromkeys(analysed.context.ways.get(found.var, ())))
    ways += [f"privatising {', '.join(private)}"] if private else []
    ways += [f"privatising {', '.join(last)}, live-out from the last iteration"] if last else []
    return ways


def _with_joined(records: list[LoopRecord], analysed: Analysed, words: Words) -> tuple[LoopRecord, ...]:
    """The records, with one more for each line whose loop was fused into one further up."""
    modes = {loop.var: loop for loop in loops_of(analysed.function)}
    for group in analysed.context.fusions.values():
        if group.var not in modes:
            continue
        first = _record(modes[group.var], 0, analysed, words)
        for var, loc in zip(group.parts, group.locs, strict=True):
            if any(record.line == loc.line for record in records):
                continue
            line = group.locs[0].line
            reason = f"runs in the loop at line {line}"
            at = next((n for n, r in enumerate(records) if r.line > loc.line), len(records))
            title = f"for {var.name}" if words.is_known(var) else "array loop"
            records.insert(
                at, LoopRecord(loc.line, var.name, first.verdict, first.mode, reason, 0, line, "", title)
            )
    return tuple(records)
