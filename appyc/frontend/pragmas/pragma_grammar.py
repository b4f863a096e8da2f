"""The grammar of pragmas: from the text of one to a record of what it asks for.

What is wrong with the text itself is found here, at the word that is wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, NoReturn

from appyc.errors import Note, PragmaError
from appyc.frontend.pragmas import pragma_nodes as pragmas
from appyc.frontend.pragmas.pragma_reader import PragmaText, Reader, Word
from appyc.ir.nodes import REDUCTION_OPS, Clauses
from appyc.ir.transforms import TRANSFORMS, Transform

DIRECTIVES = ("parallel for", "sequential for", "simd", "auto", "atomic")
PRAGMA_REDUCTION_OPS = tuple(op for op in REDUCTION_OPS if op not in ("minimum", "maximum"))
SCHEDULES = ("static", "dynamic")
DIM_REDUCTIONS = ("sum", "max", "min")
MAX_WARPS = 32
MAX_STAGES = 8
MAX_TILE = 1 << 30
MAX_FACTOR = 64
"""The largest factor of `unroll` and `jam`: the number of copies of the body."""


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause, or a property of a slice. fields: of the record, which get its values. form: an example of it with its
    argument; "" for a word without one, whose field gets True. read: the values of the argument."""

    fields: str
    form: str = ""
    read: Callable[[Reader, Word], Any] = Reader.integer

    def values(self, reader: Reader, word: Word) -> dict[str, Any]:
        """The values by field, read behind the clause's word."""
        if not self.form:
            return {self.fields: True}
        reader.open(word, self.form)
        value = self.read(reader, word)
        reader.close(word)
        fields = self.fields.split()
        return dict(zip(fields, value, strict=True)) if len(fields) > 1 else {self.fields: value}


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


def _sizes(reader: Reader, clause: Word) -> tuple[int, ...]:
    sizes = [reader.integer(clause)]
    while reader.accept(","):
        sizes.append(reader.integer(clause))
    return tuple(sizes)


def _tile(reader: Reader, clause: Word) -> Transform:
    sizes = _sizes(reader, clause)
    if max(sizes) > MAX_TILE:
        reader.fail(f"'tile' takes sizes up to {MAX_TILE}, not {max(sizes)}", clause)
    return Transform("tile", sizes, loc=reader.loc(clause))


def _factor(reader: Reader, clause: Word) -> Transform:
    (factor, *others) = _sizes(reader, clause)
    if others or factor > MAX_FACTOR:
        found = f"not {factor}" if not others else f"not {1 + len(others)}"
        what = f"one number up to {MAX_FACTOR}" if not others else "one number"
        reader.fail(f"{clause.text!r} takes {what}, {found}", clause)
    return Transform(clause.text, (factor,), loc=reader.loc(clause))


def _interchange(reader: Reader, clause: Word) -> Transform:
    return Transform("interchange", loops=reader.names(clause), loc=reader.loc(clause))


def _number(what: str, fits: Callable[[int], bool]) -> Callable[[Reader, Word], int]:
    def read(reader: Reader, clause: Word) -> int:
        number = reader.integer(clause)
        if not fits(number):
            reader.fail(f"{clause.text!r} takes {what}, not {number}", reader.last)
        return number

    return read


def _reduction(reader: Reader, clause: Word) -> pragmas.ReductionClause:
    hint = _REDUCTION_HINTS.get(reader.peek())
    op = reader.choice("reduction operator", PRAGMA_REDUCTION_OPS, *([hint] if hint else []))
    if not reader.accept(":"):
        word = reader.next()
        reader.fail(f"expected ':' after {op!r}, found {word.shown}", word)
    return pragmas.ReductionClause(op, reader.names(clause))


def _schedule(reader: Reader, clause: Word) -> tuple[str, int | None]:
    kind = reader.choice("schedule", SCHEDULES)
    return kind, reader.integer(clause) if reader.accept(",") else None


def _condition(reader: Reader, clause: Word) -> ast.expr:
    start, end = reader.until(")", clause)
    try:
        return reader.pragma.expression(start, end)
    except SyntaxError:
        text = reader.pragma.text[start:end].strip()
        reader.fail(f"'if' takes a condition in Python, not {text!r}", clause)


_WARPS = _number(f"a power of two up to {MAX_WARPS}", lambda n: n <= MAX_WARPS and n & (n - 1) == 0)
_STAGES = _number(f"a number up to {MAX_STAGES}", lambda n: n <= MAX_STAGES)
_CLAUSES = {
    "simd": _Clause("simd"),
    "collapse": _Clause("collapse", "collapse(2)"),
    "block": _Clause("block", "block(128) or block(32, 32)", _sizes),
    "num_warps": _Clause("num_warps", "num_warps(4)", _WARPS),
    "num_stages": _Clause("num_stages", "num_stages(3)", _STAGES),
    "reduction": _Clause("reductions", "reduction(+: total)", _reduction),
    "private": _Clause("private", "private(a, b)", Reader.names),
    "shared": _Clause("shared", "shared(a, b)", Reader.names),
    "to": _Clause("to", "to(a, b)", Reader.names),
    "from": _Clause("from_", "from(a, b)", Reader.names),
    "schedule": _Clause("schedule chunk", "schedule(dynamic) or schedule(static, 16)", _schedule),
    "if": _Clause("condition", "if(n > 1000)", _condition),
    "independent": _Clause("independent"),
    "interchange": _Clause("transforms", "interchange(j, i), the loops in their new order", _interchange),
    "tile": _Clause("transforms", "tile(32) or tile(32, 64)", _tile),
    "jam": _Clause("transforms", "jam(4)", _factor),
    "unroll": _Clause("transforms", "unroll(4)", _factor),
}
CLAUSES = tuple(_CLAUSES)
_REPEATABLE = ("reduction",)


# ---------------------------------------------------------------- directives


def parse_pragma(pragma: PragmaText) -> pragmas.Pragma:
    """The parsed pragma. Raises PragmaError at the word that cannot be understood."""
    reader = Reader(pragma)
    if "=>" in pragma.text and reader.peek() not in _FIRST_WORDS:
        return pragmas.DimsPragma(pragma.head, _dims(reader))
    if reader.peek() in TRANSFORMS:
        return _loop(reader, "auto")
    word = reader.next()
    match word.text:
        case "":
            known = ", ".join(f"'#pragma {d}'" for d in DIRECTIVES)
            raise PragmaError("a pragma that asks for nothing", pragma.head, f"write one of {known}")
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
            return pragmas.AtomicPragma(pragma.head)
    return _unknown_directive(reader, word)


def _unknown_directive(reader: Reader, word: Word) -> NoReturn:
    hint = _OPENMP_HINTS.get(word.text)
    if hint is None:
        close = get_close_matches(word.text, _FIRST_WORDS, 1, 0.6)
        label = f"did you mean {close[0]!r}?" if close else ""
        hint = f"directives are {', '.join(DIRECTIVES)}"
        reader.fail(f"unknown directive {word.text!r}", word, *([] if close else [hint]), label=label)
    reader.fail(f"unknown directive {word.text!r}", word, hint)


def _loop(reader: Reader, request: str) -> pragmas.LoopPragma:
    pragma = pragmas.LoopPragma(Clauses(request, loc=reader.pragma.head))
    while reader.peek():
        word = reader.next()
        if word.text not in _CLAUSES:
            hint = _OPENMP_HINTS.get(word.text)
            if word.text == "pragma":
                hint = "a line that continues a pragma starts with '#' alone"
            reader.unknown("clause", word, CLAUSES, *([hint] if hint else []))
        loc = reader.loc(word)
        earlier = [loc for name, loc in pragma.clause_locs if name == word.text]
        if earlier and word.text not in _REPEATABLE:
            raise PragmaError(
                f"the clause {word.text!r} is there twice", loc, related=(Note(earlier[0], "first here"),)
            )
        for field, value in _CLAUSES[word.text].values(reader, word).items():
            pragma = pragma.saying(field, value)
        pragma = replace(pragma, clause_locs=(*pragma.clause_locs, (word.text, loc)))
    _check_roles(pragma)
    return pragma


def _check_roles(pragma: pragmas.LoopPragma) -> None:
    """A variable is combined, or private, or shared: not two of these."""
    roles = [("reduction", name) for clause in pragma.reductions for name in clause.names]
    roles += [("private", name) for name in pragma.private]
    roles += [("shared", name) for name in pragma.shared]
    seen: dict[str, tuple[str, pragmas.Name]] = {}
    for role, name in roles:
        if name in seen:
            other, first = seen[name]
            roles_given = f"both {other!r} and {role!r}" if other != role else f"{role!r} twice"
            raise PragmaError(
                f"{name!r} is in {roles_given}",
                name.loc,
                f"name {name!r} once: iterations combine it, have one each, or share it",
                related=(Note(first.loc, f"{other!r} here"),),
            )
        seen[name] = (role, name)


# ---------------------------------------------------------------- slices of tensor statements


def _dims(reader: Reader) -> tuple[pragmas.Dim, ...]:
    dims: list[pragmas.Dim] = []
    while reader.peek():
        start = reader.last.end
        if "=>" not in reader.pragma.text[start:]:
            word = reader.next()
            reader.fail(f"expected ',' or another slice with '=>', found {word.text!r}", word)
        slice_ = _slice(reader, start)
        dims.append(_properties(reader, pragmas.Dim(reader.pragma.source.loc(slice_), slice_)))
    return tuple(dims)


def _slice(reader: Reader, start: int) -> ast.Slice:
    """The slice that starts at `start`; takes the words up to the arrow behind it."""
    _, end = reader.until("=>", Word("slice", start, start + 1))
    reader.next()
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


_PROPERTIES = {
    "parallel": _Clause("parallel"),
    "simd": _Clause("simd"),
    "block": _Clause("block", "block(128)"),
    "reduce": _Clause("reduce", "reduce(sum)", lambda reader, _: reader.choice("reduction", DIM_REDUCTIONS)),
    "le": _Clause("le", "le(128)"),
}
DIM_PROPERTIES = tuple(_PROPERTIES)


def _properties(reader: Reader, dim: pragmas.Dim) -> pragmas.Dim:
    seen: set[str] = set()
    while True:
        word = reader.next()
        if word.text in seen:
            reader.fail(f"the property {word.text!r} is there twice", word)
        seen.add(word.text)
        if not word.text:
            reader.fail("expected a property of the slice, found nothing", word)
        if word.text not in _PROPERTIES:
            reader.unknown("property", word, DIM_PROPERTIES)
        dim = replace(dim, **_PROPERTIES[word.text].values(reader, word))
        if not reader.accept(","):
            return dim
