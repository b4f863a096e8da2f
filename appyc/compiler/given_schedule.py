"""`@appyc.jit(schedule=TEXT)`: the text of `fn.source("schedule")`, edited.

    i  threads  jam 8 or 4  cost by size            i  threads  jam 4  tile(32, 64)
      j  lanes  strip of 3 vectors          ->        j  lanes  strip of 2 vectors
        k  serial                                       k  serial

A line that says something else of its loop than the compiler decides is a request; a loop without a line runs as the
compiler decides. Operations in the words of pragmas come first, with `block`, `num_warps` and `num_stages` of programs
of a GPU. `threads`, `lanes` and `serial` become the clauses of the loop in the program, and are proven like those of a
pragma. Words of the form (`jam`, `strip`, `accumulators`, ...) go to `choose_forms`. What is not legal is an error
there, at the line that asks; what the compiler cannot do is an error here.

The function is compiled without requests, with the operations alone, and then with one line more after the other, from
the last to the first. A line that agrees with what is found on the way asks for nothing, so that the text of a function
with a schedule may be given back, too.
"""

from __future__ import annotations

import linecache
import re
import zlib
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from textwrap import dedent

from appyc import pipeline
from appyc.errors import Loc, Note, PragmaError
from appyc.frontend.pragmas.pragma_grammar import parse_pragma
from appyc.frontend.pragmas.pragma_nodes import LoopPragma
from appyc.frontend.pragmas.pragma_reader import PragmaText
from appyc.frontend.source import Source
from appyc.ir.nodes import Clauses, For, Function, Symbol
from appyc.ir.schedule_tree import Line, schedule_lines
from appyc.ir.transforms import TRANSFORMS, Transform
from appyc.ir.visit import loops_of, map_loops
from appyc.passes.pass_context import PassContext
from appyc.runtime.toolchain import vector_functions

_WORD = re.compile(r"\S+(?: \S+)*")
_KNOWN = re.compile(
    r"serial|threads|lanes|guarded|compaction|early exit|flat at one|call product|nontemporal \w+(, \w+)*"
    r"|(accumulators|interleave|collapse|in order below) \d+|strip of \d+ vectors|jam \d+( or \d+)?"
)
_EXAMPLES = "threads, lanes, serial, jam 4, strip of 2 vectors, accumulators 4, tile(32, 64), unroll(4)"
_DIRECTIVE = "auto "
"""The directive of the pragma that a line's operations are parsed as."""
_LAUNCH = ("block", "num_warps", "num_stages")
_VECTORS = ("lanes", "jam", "strip")


@dataclass(frozen=True, slots=True)
class _Given:
    """A line of the text about a loop."""

    name: str
    words: frozenset[str]
    transforms: tuple[Transform, ...]
    launch: Clauses
    loc: Loc

    @property
    def is_called(self) -> bool:
        """Whether the loop is of a function that is called."""
        return " in " in self.name


def as_given(function: Function, context: PassContext) -> tuple[Function, PassContext]:
    """A simplified function analysed with the schedule in its options, and what was found."""
    requests = _Requests(function, context)
    given = _read(context.options.schedule, function)
    own = requests.lines()
    for line in given:
        if line.name in own:
            requests.operations(own[line.name], line)
    found = [own, requests.lines()]
    changed: list[tuple[_Given, Line]] = []
    for line in reversed(given):
        shown = [lines[line.name] for lines in found if line.name in lines]
        if shown and all(line.words != set(one.words) for one in shown):
            changed.append((line, shown[-1]))
            requests.words(line, shown[-1])
            found.append(requests.lines())
    final = found[-1]
    for line, before in changed:
        _check(function, line, set(before.words), final.get(line.name))
    if stray := [line for line in given if not any(line.name in lines for lines in found)]:
        hint = f"its loops are {', '.join(own)}"
        raise _error(f"the schedule has no loop {stray[0].name!r}", stray[0].loc, function, hint)
    return requests.analysed(context.options.target)


def _check(function: Function, line: _Given, before: set[str], final: Line | None) -> None:
    """Raises PragmaError where the loop does not run as asked."""
    if final is None or line.transforms:
        return  # tiles, or other loops that the operations made, run as asked
    now = set(final.words)
    ignored = ((line.words - before) - now) | ((before - line.words) & now)
    if ignored - {"serial"}:
        text = f"the loop over {line.name!r} cannot run so: it runs as '{'  '.join(final.words)}'"
        raise _error(text, line.loc, function, "ask for a form that the loop has, or leave this line out")


def _error(text: str, loc: Loc, function: Function, *hints: str) -> PragmaError:
    return PragmaError(text, loc, *hints, related=(Note(function.loc, "the function"),))


@dataclass(frozen=True, slots=True)
class _Requests:
    """The requests read so far. wanted: clauses of loops of the program. asked: the words of loops' forms."""

    function: Function
    context: PassContext
    wanted: dict[Symbol, Clauses] = field(default_factory=dict)
    asked: dict[Symbol, frozenset[str]] = field(default_factory=dict)
    parts: dict[Symbol, tuple[Symbol, ...]] = field(default_factory=dict)

    def analysed(self, target: str) -> tuple[Function, PassContext]:
        def rule(loop: For) -> For:
            return replace(loop, clauses=self.wanted.get(loop.var, loop.clauses))

        context = deepcopy(self.context)
        context = replace(context, options=context.options.where(target), asked=self.asked)
        function = map_loops(self.function, rule)
        return pipeline.run(function, pipeline.ANALYSE, context), context

    def lines(self) -> Mapping[str, Line]:
        """The schedule of the loops by their names in it, as C has them."""
        function, context = self.analysed("cpu")
        self.parts.update({var: group.parts for var, group in context.fusions.items()})
        vectors = vector_functions(function, context.options)
        ready = pipeline.run(function, pipeline.FOR_C, replace(context, vector_functions=vectors))
        own, *called = schedule_lines(ready, context.transforms)
        of_called = {
            _of_called(head.name, one.name): one for head, *rest in called for one in rest if one.loop
        }
        return {line.name: line for line in own if line.loop is not None} | of_called

    def operations(self, before: Line, line: _Given) -> None:
        if list(map(str, line.transforms)) != list(map(str, before.transforms)):
            self.clauses(before, line, transforms=line.transforms)
        if line.launch.launch != before.launch:
            self.clauses(before, line, **{name: getattr(line.launch, name) for name in _LAUNCH})

    def words(self, line: _Given, before: Line) -> None:
        if line.is_called:
            self.clauses(before, line)
        threads, lanes = _modes(line.words)
        had_threads, had_lanes = _modes(before.words)
        dropped_lanes = threads and had_threads and had_lanes and not lanes
        if (threads, lanes) != (had_threads, had_lanes) and not dropped_lanes:
            request = "parallel" if threads else "simd" if lanes else "sequential"
            self.clauses(before, line, request=request, simd=threads and lanes)
        if (collapse := _number("collapse", line.words)) != _number("collapse", before.words):
            self.clauses(before, line, collapse=collapse)
        if not line.transforms and before.loop is not None:
            self.asked[before.loop.var] = line.words

    def clauses(self, shown: Line, line: _Given, **changes: object) -> None:
        """Asks this of the loops of the program that became the one that is shown."""
        assert shown.loop is not None
        var, at = shown.loop.var, (shown.loop.var.name, shown.loop.loc)
        parts = (var, *self.parts.get(var, ()))
        program = () if line.is_called else loops_of(self.function.body)
        loops = [loop for loop in program if loop.var in parts or (loop.var.name, loop.loc) == at]
        if not loops:
            text = f"the loop over {line.name!r} is not one of the program: its words stay as they are"
            hint = "change the lines of the program's own loops"
            raise _error(text, line.loc, self.function, hint)
        for loop in loops:
            own = self.wanted.get(loop.var) or loop.clauses or Clauses("auto", loc=line.loc)
            self.wanted[loop.var] = replace(own, loc=line.loc, **changes)  # type: ignore[arg-type]


def _modes(words: frozenset[str] | tuple[str, ...]) -> tuple[bool, bool]:
    """Whether a loop runs on threads, and in vectors."""
    return "threads" in words, any(word.startswith(_VECTORS) for word in words)


def _number(word: str, words: frozenset[str] | tuple[str, ...]) -> int:
    return next((int(w.split()[1]) for w in words if w.startswith(word)), 1)


# ---------------------------------------------------------------- the text


def _read(given: str, function: Function) -> list[_Given]:
    text = dedent(given)
    file = f"<schedule-{zlib.crc32(text.encode()):08x}>"
    lines = text.splitlines(keepends=True)
    linecache.cache[file] = (len(text), None, lines, file)
    source = Source(function.name, file, tuple(lines), 1, 0)
    out: dict[str, _Given] = {}
    called, starts = "", False
    for number, shown in enumerate(lines, 1):
        words = [*_WORD.finditer(shown)]
        if not words:
            continue
        loc = Loc(file, number, words[0].start(), words[-1].end())
        name = words[0].group()
        if words[0].start() == 0 and "(" in name:
            called = "" if name.startswith(f"{function.name}(") else name
            starts = starts or not called
        if not starts:
            text = f"the schedule does not begin with a line for {function.name!r}"
            hint = f"begin with {function.name}(...), and indent what follows"
            raise _error(text, loc, function, hint)
        if words[0].start() == 0 or name == "while":
            continue
        name = _of_called(called, name) if called else name
        if name in out:
            raise PragmaError(f"the loop {name!r} has two lines", loc,
                              related=(Note(out[name].loc, "the other one"),))  # fmt: skip
        out[name] = _line(source, function, name, words[1:], loc)
    return list(out.values())


def _of_called(head: str, loop: str) -> str:
    return f"{loop} in {head}"


def _line(source: Source, function: Function, name: str, words: list[re.Match[str]], loc: Loc) -> _Given:
    plain: list[str] = []
    operations, positions = _DIRECTIVE, [(loc.line, loc.col)] * len(_DIRECTIVE)
    for match in words:
        word = match.group()
        if word.partition("(")[0] in (*TRANSFORMS, *_LAUNCH):
            operations += word + " "
            positions += [(loc.line, match.start() + k) for k in range(len(word) + 1)]
        elif _KNOWN.fullmatch(word):
            plain.append(re.sub(r"^jam (\d+) or \1$", r"jam \1", word))
        elif not word.startswith("cost "):
            at = Loc(source.file, loc.line, *match.span())
            hints = f"words are {_EXAMPLES}", "with two blanks between"
            raise _error(f"{word!r} says nothing of a loop", at, function, *hints)
    transforms: tuple[Transform, ...] = ()
    launch = Clauses("auto", loc=loc)
    if operations != _DIRECTIVE:
        pragma = parse_pragma(PragmaText(source, operations, tuple(positions), loc))
        assert isinstance(pragma, LoopPragma)
        if others := [at for name, at in pragma.clause_locs if name not in (*TRANSFORMS, *_LAUNCH)]:
            raise _error("a schedule has operations only of the clauses of pragmas", others[0], function,
                         f"they are {', '.join((*TRANSFORMS, *_LAUNCH))}")  # fmt: skip
        transforms = pragma.clauses.transforms
        launch = replace(launch, **{name: getattr(pragma.clauses, name) for name in _LAUNCH})
    return _Given(name, frozenset(plain or ["serial"]), transforms, launch, loc)
