"""The neighbours of a schedule: one line of it edited.

    i  threads  jam 8        i  threads  jam 4      i  threads  jam 8  tile(32, 64)      i  lanes
      j  lanes          ->     j  lanes        or     j  lanes                      or     j  lanes     ...

Numbers are halved and doubled, words that a loop can do without are left out, and operations are put in. Nothing is
proven here: what is not legal, or no form that the loop has, is refused when the schedule is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, takewhile, zip_longest

from appyc.ir.schedule_tree import Line
from appyc.ir.transforms import Transform

_COUNTS = re.compile(r"(jam|accumulators|interleave|in order below) (\d+)(?: or (\d+))?")
_STRIP = re.compile(r"strip of (\d+) vectors")
_OPTIONAL = (
    "threads",
    "lanes",
    "in order below",
    "flat at one",
    "early exit",
    "compaction",
    "guarded",
    "nontemporal",
)
"""Words that a line may leave out, each for another form of its loop."""

_MOST = 16
"""Copies of a body: more of them take long to compile."""
_TILES = ((32, 32), (16, 128), (128, 16), (8, 512))
_FACTORS = (2, 4, 8)
_LAUNCHES = {
    "block": ("block(64)", "block(256)", "block(1024)"),
    "num_warps": ("num_warps(2)", "num_warps(8)"),
}
_OF_PRODUCTS = {
    "block": ("block(64, 64)", "block(128, 64)", "block(32, 32)"),
    "num_warps": ("num_warps(4)", "num_warps(8)"),
    "num_stages": ("num_stages(2)", "num_stages(4)"),
}


def neighbours(lines: Sequence[Line], given: str, *, on_gpu: bool) -> Iterator[tuple[str, str]]:
    """Schedules as text, each with its new line. The first edits of all lines come before the second ones.

    given: the schedule that led to these lines, whose loops keep theirs; other loops have none, and run as the compiler
    decides.
    """
    lines = [replace(line, cost=()) for line in lines]
    asked = {words[0] for line in given.splitlines() if (words := line.split())}
    each = [_edits(lines, at, on_gpu=on_gpu) for at, line in enumerate(lines) if line.loop is not None]
    seen: set[str] = set()
    edited = (one for one in chain.from_iterable(zip_longest(*each)) if one is not None)
    for at, new in edited:
        kept = [
            new if number == at else line
            for number, line in enumerate(lines)
            if number == at or line.depth == 0 or (line.loop is not None and line.name in asked)
        ]
        text = "\n".join(map(str, kept))
        if text not in seen:
            seen.add(text)
            yield text, str(new).strip()


def _edits(lines: Sequence[Line], at: int, *, on_gpu: bool) -> Iterator[tuple[int, Line]]:
    line, nest = lines[at], _nest(lines, at)
    transforms = [replace(line, transforms=given) for given in _transforms(line, nest)]
    if len(nest) > 1:  # first: an unrolled loop inside has a loop for the rest beside it, which ends the nest
        yield from ((at, new) for new in transforms)
    for launch in _launches(line) if on_gpu else ():
        yield at, replace(line, launch=launch)
    for words in _dropped(line.words, ("threads",)) if on_gpu else _words(line.words):
        yield at, replace(line, words=words)
    if len(nest) == 1:
        yield from ((at, new) for new in transforms)


def _nest(lines: Sequence[Line], at: int) -> list[Line]:
    """The loop of a line and those inside it that are each alone in the one around."""
    inside = takewhile(lambda line: line.depth > lines[at].depth, lines[at + 1 :])
    right_inside = [line for line in inside if line.depth == lines[at].depth + 1]
    alone = len(right_inside) == 1 and right_inside[0].loop is not None
    return [lines[at], *(_nest(lines, at + 1) if alone else ())]


def _words(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for at, word in enumerate(words):
        for other in _other_counts(word):
            yield (*words[:at], other, *words[at + 1 :])
    yield from _dropped(words, _OPTIONAL)


def _other_counts(word: str) -> Iterator[str]:
    if match := _COUNTS.fullmatch(word):
        counts = [int(count) for count in match.groups()[1:] if count is not None]
        others = {other for count in counts for other in (count // 2, count * 2) if 0 < other <= _MOST}
        yield from (f"{match[1]} {count}" for count in sorted(others, reverse=True))
    if match := _STRIP.fullmatch(word):
        yield from (f"strip of {count} vectors" for count in (int(match[1]) + 1, int(match[1]) - 1) if count)


def _dropped(words: tuple[str, ...], optional: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for at, word in enumerate(words):
        if word.startswith(optional):
            yield (*words[:at], *words[at + 1 :]) or ("serial",)


def _transforms(line: Line, nest: Sequence[Line]) -> Iterator[tuple[Transform, ...]]:
    done = line.transforms
    for at, one in enumerate(done):
        before, behind = done[:at], done[at + 1 :]
        yield (*before, *behind)
        for number, size in enumerate(one.sizes):
            for new in (size * 2, size // 2):
                if new > 1:
                    yield (
                        *before,
                        replace(one, sizes=(*one.sizes[:number], new, *one.sizes[number + 1 :])),
                        *behind,
                    )
    if done or line.loop is None:
        return
    loc = line.loop.loc
    if len(nest) > 1:
        names = [inner.name for inner in nest]
        yield (Transform("interchange", loops=(names[1], names[0]), loc=loc),)
        yield from ((Transform("tile", sizes, loc=loc),) for sizes in _TILES)
        yield from ((Transform("jam", (factor,), loc=loc),) for factor in _FACTORS[:2])
    else:
        yield from ((Transform("unroll", (factor,), loc=loc),) for factor in _FACTORS)


def _launches(line: Line) -> Iterator[tuple[str, ...]]:
    assert line.loop is not None
    if "threads" not in line.words and line.loop.product is None:
        return
    given = {clause.partition("(")[0]: clause for clause in line.launch}
    usual = _LAUNCHES if line.loop.product is None else _OF_PRODUCTS
    for name in usual:
        for clause in _resized(given[name]) if name in given else usual[name]:
            yield tuple({**given, name: clause}.values())
        if name in given:
            yield tuple(clause for other, clause in given.items() if other != name)


def _resized(clause: str) -> Iterator[str]:
    """A clause of numbers with one of them doubled, and halved."""
    for match in re.finditer(r"\d+", clause):
        for new in (int(match[0]) * 2, int(match[0]) // 2):
            if new:
                yield f"{clause[: match.start()]}{new}{clause[match.end() :]}"
