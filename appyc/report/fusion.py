"""Reports on loop fusion: which loops were fused, and the memory traffic that this saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from appyc.analysis.cost.argument_sizes import Sized, sizes_of
from appyc.analysis.cost.costs import bytes_moved
from appyc.analysis.sets.evaluate import evaluate
from appyc.compiler.analyse import Analysed
from appyc.ir.nodes import Alloc, Expr, Symbol
from appyc.ir.visit import loops_of, walk
from appyc.report.words import Words

HOW_COUNTED = "an element that is written counts twice, as memory is read before it is written"
"""The explanation for users of the bytes in a `FusionRecord`."""


@dataclass(frozen=True, slots=True)
class FusionRecord:
    """A group of fused loops.

    lines: of the loops, in order. kept: arrays contracted to scalars or to rows.
    before, after: memory traffic in bytes, in which a written element counts twice; None where the
    arguments are unknown.
    """

    lines: tuple[int, ...]
    kept: tuple[str, ...]
    before: int | None
    after: int | None

    def __str__(self) -> str:
        lines = ", ".join(str(line) for line in dict.fromkeys(self.lines))
        text = f"{len(self.lines)} loops at line {lines} run as one"
        if self.kept:
            text += f"; not stored: {', '.join(self.kept)}"
        if self.before is not None and self.after is not None:
            text += f"; {amount(self.after)} to and from memory, not {amount(self.before)}"
        return text


def amount(size: int) -> str:
    """Bytes for reading.

    >>> amount(800), amount(8_000_000)
    ('800 B', '8 MB')
    """
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size} B"


def known_sizes(analysed: Analysed, values: Mapping[str, object]) -> dict[Symbol, object]:
    """The parameters' values by symbol, and the shapes of allocated arrays where these values determine them."""
    sizes = sizes_of(values)
    known: dict[Symbol, object] = {p: sizes[p.name] for p in analysed.plain.params if p.name in sizes}
    for node in walk((*analysed.plain.body, *analysed.function.body)):
        if isinstance(node, Alloc) and node.array not in known:
            lengths = [_number(size, known) for size in node.shape]
            if all(length is not None for length in lengths):
                known[node.array] = Sized(tuple(length for length in lengths if length is not None))
    return known


def fusion_records(
    analysed: Analysed, known: Mapping[Symbol, object], words: Words
) -> tuple[FusionRecord, ...]:
    """The groups of fused loops, without those nested in another fused loop."""
    context = analysed.context
    loops = {loop.var: loop for loop in loops_of(analysed.function)}
    inside = {n.var for var in context.fusions if var in loops for n in loops_of(loops[var].body)}
    out = []
    for group in sorted(context.fusions.values(), key=lambda g: (g.locs[0].line, g.var.uid)):
        if group.var in inside:
            continue
        loop = loops.get(group.var)
        within = {group.var} if loop is None else {n.var for n in loops_of(loop)}
        kept = tuple(
            dict.fromkeys(words.called(array) for array, home in context.contracted.items() if home in within)
        )
        after = None if loop is None else _number(bytes_moved(loop), known)
        before = _number(group.before, known)
        out.append(FusionRecord(tuple(loc.line for loc in group.locs), kept, before, after))
    return tuple(out)


def _number(size: Expr, known: Mapping[Symbol, object]) -> int | None:
    try:
        return int(evaluate(size, known))
    except LookupError:
        return None
