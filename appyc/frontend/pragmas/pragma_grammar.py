"""The grammar of pragmas: from the text of one to a record of what it asks for.

What is wrong with the text itself is found here, at the word that is wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from typing import NoReturn, TypeAlias

from appyc.errors import Note, PragmaError
from appyc.frontend.pragmas.pragma_nodes import (
    AtomicPragma,
    Dim,
    DimsPragma,
    LoopPragma,
    Name,
    Pragma,
    ReductionClause,
    TransformClause,
)
from appyc.frontend.pragmas.pragma_reader import PragmaText, Reader, Word
from appyc.ir.nodes import REDUCTION_OPS
from appyc.ir.transforms import TRANSFORMS

DIRECTIVES = ("parallel for", "sequential for", "simd", "auto", "atomic")
PRAGMA_REDUCTION_OPS = tuple(op for op in REDUCTION_OPS if op not in ("minimum", "maximum"))
SCHEDULES = ("static", "dynamic")
DIM_REDUCTIONS = ("sum", "max", "min")
DIM_PROPERTIES = ("parallel", "simd", "block", "reduce", "le")
MAX_WARPS = 32
MAX_STAGES = 8
MAX_TILE = 1 << 30
MAX_FACTOR = 64
"""The largest factor of `unroll` and `jam`: the number of copies of the body."""

ClauseReader: TypeAlias = Callable[[Reader, Word, LoopPragma], LoopPragma]
"""Reads a clause behind its word: the pragma with what the clause asks for."""

_FIRST_WORDS = (*dict.fromkeys(d.split()[0] for d in DIRECTIVES), *TRANSFORMS)


# ---------------------------------------------------------------- clauses

_REDUCTION_HINTS = {
    "-": "a sum takes subtraction too: write reduction(+: ...)",
    "&&": "write reduction(and: ...)",
    "||": "write reduction(or: ...)",
}
_OPENMP_HINTS = {
    "omp": "appyc's pragmas are written without 'omp': #pragma parallel for",
    "num_threads": "the number of threads is set with appyc.set_num_threads or APPYC_NUM_THREADS",
    "firstprivate": "a scalar's value before the loop is there in it without a clause",
    "lastprivate": "a scalar's value after the loop is that of the last iteration without a clause",
    "default": "variables need no clause; appyc finds out how each one is used",
    "nowait": "appyc finds out where threads must wait",
}


def _sizes(reader: Reader, clause: Word, form: str) -> tuple[int, ...]:
    reader.open(clause, form)
    sizes = [reader.integer(clause)]
    while reader.accept(","):
        sizes.append(reader.integer(clause))
    reader.close(clause)
    return tuple(sizes)


def _tile(reader: Reader, clause: Word, pragma: LoopPragma) -> LoopPragma:
    sizes = _sizes(reader, clause, "tile(32) or tile(32, 64)")
    if max(sizes) > MAX_TILE:
        reader.fail(f"'tile' takes sizes up to {MAX_TILE}, not {max(sizes)}", clause)
    return _transformed(pragma, TransformClause("tile", sizes))


def _factor(reader: Reader, clause: Word, pragma: LoopPragma) -> LoopPragma:
    (factor, *others) = _sizes(reader, clause, f"{clause.text}(4)")
    if others or factor > MAX_FACTOR:
        found = f"not {factor}" if not others else f"not {1 + len(others)}"
        what = f"one number up to {MAX_FACTOR}" if not others else "one number"
        reader.fail(f"{clause.text!r} takes {what}, {found}", clause)
    return _transformed(pragma, TransformClause(clause.text, (factor,)))


def _interchange(reader: Reader, clause: Word, pragma: LoopPragma) -> LoopPragma:
    reader.open(clause, "interchange(j, i), the loops in their new order")
    names = reader.names(clause)
    reader.close(clause)
    return _transformed(pragma, TransformClause("interchange", loops=names))


def _transformed(pragma: LoopPragma, transform: TransformClause) -> LoopPragma:
    return replace(pragma, transforms=(*pragma.transforms, transform))


def _number_clause(form: str, what: str, fits: Callable[[int], bool]) -> ClauseReader:
    """A clause of one number, which is the field of its name."""

    def read(reader: Reader, clause: Word, pragma: LoopPragma) -> LoopPragma:
        reader.open(clause, form)
        number = reader.integer(clause)
        if not fits(number):
            reader.fail(f"{clause.text!r} takes {what}, not {number}", reader.last)
        reader.close(clause)
        return replace(pragma, **{clause.text: number})  # type: ignore[arg-type]

    return read


def _flag_clause(_reader: Reader, clause: Word, pragma: LoopPragma) -> LoopPragma:
    """A clause without argument, which is the field of its name."""
    return replace(pragma, **{clause.text: True})  # type: ignore[arg-type]


def _block(reader: Reader, clause: Word, pragma: LoopPragma) -> LoopPragma:
    return replace(pragma, block=_sizes(reader, clause, "block(128) or block(32, 32)"))


def _reduction(reader: Reader, clause: Word, pragma: LoopPragma) -> LoopPragma:
    reader.open(clause, "reduction(+: total)")
    hint = _REDUCTION_HINTS.get(reader.peek())
    op = reader.choice("reduction operator", PRAGMA_REDUCTION_OPS, hints=(hint,) if hint else ())
    if not reader.accept(":"):
        word = reader.next()
        reader.fail(f"expected ':' after {op!r}, found {word.shown}", word)
    names = reader.names(clause)
    reader.close(clause)
    return replace(pragma, reductions=(*pragma.reductions, ReductionClause(op, names)))


def _names_clause(field: str) -> ClauseReader:
    def read(reader: Reader, clause: Word, pragma: LoopPragma) -> LoopPragma:
        reader.open(clause, f"{clause.text}(a, b)")
        names = reader.names(clause)
        reader.close(clause)
        return replace(pragma, **{field: names})  # type: ignore[arg-type]

    return read


def _schedule(reader: Reader, clause: Word, pragma: LoopPragma) -> LoopPragma:
    reader.open(clause, "schedule(dynamic) or schedule(static, 16)")
    kind = reader.choice("schedule", SCHEDULES)
    chunk = reader.integer(clause) if reader.accept(",") else None
    reader.close(clause)
    return replace(pragma, schedule=kind, chunk=chunk)


def _if(reader: Reader, clause: Word, pragma: LoopPragma) -> LoopPragma:
    reader.open(clause, "if(n > 1000)")
    start, end = reader.until(")", clause)
    try:
        return replace(pragma, condition=reader.pragma.expression(start, end))
    except SyntaxError:
        text = reader.pragma.text[start:end].strip()
        reader.fail(f"'if' takes a condition in Python, not {text!r}", clause)


_CLAUSES: dict[str, ClauseReader] = {
    "simd": _flag_clause,
    "collapse": _number_clause("collapse(2)", "a number", lambda n: n > 0),
    "block": _block,
    "num_warps": _number_clause(
        "num_warps(4)", f"a power of two up to {MAX_WARPS}", lambda n: n <= MAX_WARPS and n & (n - 1) == 0
    ),
    "num_stages": _number_clause("num_stages(3)", f"a number up to {MAX_STAGES}", lambda n: n <= MAX_STAGES),
    "reduction": _reduction,
    "private": _names_clause("private"),
    "shared": _names_clause("shared"),
    "to": _names_clause("to"),
    "from": _names_clause("from_"),
    "schedule": _schedule,
    "if": _if,
    "independent": _flag_clause,
    "interchange": _interchange,
    "tile": _tile,
    "jam": _factor,
    "unroll": _factor,
}
CLAUSES = tuple(_CLAUSES)
_REPEATABLE = ("reduction",)


# ---------------------------------------------------------------- directives


def parse_pragma(pragma: PragmaText) -> Pragma:
    """What the pragma asks for. Raises PragmaError at the word that cannot be understood."""
    reader = Reader(pragma)
    if "=>" in pragma.text and reader.peek() not in _FIRST_WORDS:
        return DimsPragma(pragma.head, _dims(reader))
    if reader.peek() in TRANSFORMS:
        return _loop(reader, "auto")
    word = reader.next()
    match word.text:
        case "":
            known = ", ".join(f"'#pragma {d}'" for d in DIRECTIVES)
            raise PragmaError("a pragma that asks for nothing", pragma.head, hints=(f"write one of {known}",))
        case "parallel" | "sequential":
            follower = reader.next()
            if follower.text != "for":
                at = follower if follower.text else word
                reader.fail(f"expected 'for' after {word.text!r}, found {follower.shown}", at)
            return _loop(reader, word.text)
        case "simd" | "auto":
            return _loop(reader, word.text)
        case "atomic":
            rest = reader.next()
            if rest.text:
                reader.fail(f"{word.text!r} takes no clause", rest)
            return AtomicPragma(pragma.head)
    return _unknown_directive(reader, word)


def _unknown_directive(reader: Reader, word: Word) -> NoReturn:
    hint = _OPENMP_HINTS.get(word.text)
    if hint is None:
        close = get_close_matches(word.text, _FIRST_WORDS, 1, 0.6)
        label = f"did you mean {close[0]!r}?" if close else ""
        hint = f"directives are {', '.join(DIRECTIVES)}"
        reader.fail(f"unknown directive {word.text!r}", word, label=label, hints=() if close else (hint,))
    reader.fail(f"unknown directive {word.text!r}", word, hints=(hint,))


def _loop(reader: Reader, request: str) -> LoopPragma:
    pragma = LoopPragma(reader.pragma.head, request)
    while reader.peek():
        word = reader.next()
        read = _CLAUSES.get(word.text)
        if read is None:
            hint = _OPENMP_HINTS.get(word.text)
            if word.text == "pragma":
                hint = "a line that continues a pragma starts with '#' alone"
            reader.unknown("clause", word, CLAUSES, hints=(hint,) if hint else ())
        loc = reader.loc(word)
        earlier = [loc for name, loc in pragma.clause_locs if name == word.text]
        if earlier and word.text not in _REPEATABLE:
            raise PragmaError(
                f"the clause {word.text!r} is there twice", loc, related=(Note(earlier[0], "first here"),)
            )
        pragma = read(reader, word, pragma)
        pragma = replace(pragma, clause_locs=(*pragma.clause_locs, (word.text, loc)))
    _check_roles(pragma)
    return pragma


def _check_roles(pragma: LoopPragma) -> None:
    """A variable is combined, or private, or shared: not two of these."""
    roles = [("reduction", name) for clause in pragma.reductions for name in clause.names]
    roles += [("private", name) for name in pragma.private]
    roles += [("shared", name) for name in pragma.shared]
    seen: dict[str, tuple[str, Name]] = {}
    for role, name in roles:
        if name.text in seen:
            other, first = seen[name.text]
            roles_given = f"both {other!r} and {role!r}" if other != role else f"{role!r} twice"
            raise PragmaError(
                f"{name.text!r} is in {roles_given}", name.loc, related=(Note(first.loc, f"{other!r} here"),)
            )
        seen[name.text] = (role, name)


# ---------------------------------------------------------------- slices of tensor statements


def _dims(reader: Reader) -> tuple[Dim, ...]:
    dims: list[Dim] = []
    while reader.peek():
        start = reader.last.end
        if "=>" not in reader.pragma.text[start:]:
            word = reader.next()
            reader.fail(f"expected ',' or another slice with '=>', found {word.text!r}", word)
        slice_ = _slice(reader, start)
        dims.append(_properties(reader, Dim(reader.pragma.source.loc(slice_), slice_)))
    return tuple(dims)


def _slice(reader: Reader, start: int) -> ast.Slice:
    """The slice that starts at `start`; takes the words up to the arrow behind it."""
    _, end = reader.until("=>", Word("slice", start, start + 1))
    text = reader.pragma.text[start:end]
    try:
        tree = reader.pragma.subscript(start, end)
    except SyntaxError:
        tree = None
    if not isinstance(tree, ast.Slice):
        lead = len(text) - len(text.lstrip())
        word = Word(text.strip(), start + lead, start + max(lead + 1, len(text.rstrip())))
        reader.fail(f"expected a slice before '=>', found {word.shown}", word)
    return tree


def _properties(reader: Reader, dim: Dim) -> Dim:
    seen: set[str] = set()
    while True:
        word = reader.next()
        if word.text in seen:
            reader.fail(f"the property {word.text!r} is there twice", word)
        seen.add(word.text)
        match word.text:
            case "parallel":
                dim = replace(dim, parallel=True)
            case "simd":
                dim = replace(dim, simd=True)
            case "block" | "le":
                reader.open(word, f"{word.text}(128)")
                size = reader.integer(word)
                dim = replace(dim, block=size) if word.text == "block" else replace(dim, le=size)
                reader.close(word)
            case "reduce":
                reader.open(word, "reduce(sum)")
                dim = replace(dim, reduce=reader.choice("reduction", DIM_REDUCTIONS))
                reader.close(word)
            case "":
                reader.fail("expected a property of the slice, found nothing", word)
            case _:
                reader.unknown("property", word, DIM_PROPERTIES)
        if not reader.accept(","):
            return dim
