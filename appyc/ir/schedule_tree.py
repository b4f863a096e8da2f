"""`fn.source("schedule")`: how each loop runs in C, as an indented tree with one line a loop.

i  threads  jam 8 or 4  cost 1024.0 vector, 0.0 scalar, 8208.0 bytes
  j  lanes  strip of 3 vectors
    k  serial

The text may be edited and given back (`@appyc.jit(schedule=...)`); see `compiler/given_schedule.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from appyc.ir import schedule as forms
from appyc.ir.names import spellings
from appyc.ir.nodes import Const, For, Function, If, LoopMode, Stmt, Symbol, While
from appyc.ir.transforms import Transform
from appyc.ir.visit import symbols_of

Transforms = Mapping[Symbol, tuple[Transform, ...]]
"""Loop operations that were asked for and done, by the variable of the loop that asked."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line. loop: None of a function's first line, and of a `while`. launch: clauses about the programs of a GPU.
    cost: what is there to read only."""

    depth: int
    name: str
    loop: For | None = None
    words: tuple[str, ...] = ()
    transforms: tuple[Transform, ...] = ()
    launch: tuple[str, ...] = ()
    cost: tuple[str, ...] = ()

    def __str__(self) -> str:
        words = (*self.words, *map(str, self.transforms), *self.launch, *self.cost)
        return "  " * self.depth + "  ".join([self.name, *words])


def schedule_lines(fn: Function, transforms: Transforms) -> list[list[Line]]:
    """The lines of a function that is ready for C, and of those that it calls."""
    names = spellings(symbols_of(fn))
    tree = _Tree(fn, names.__getitem__, transforms)
    head = Line(0, f"{fn.name}({', '.join(names[p] for p in fn.params)})")
    lines = [head, *tree.block(fn.body, None, in_threads=False)]
    return [lines, *(each for callee in fn.callees for each in schedule_lines(callee.function, transforms))]


class _Tree:
    def __init__(self, fn: Function, name: Callable[[Symbol], str], transforms: Transforms) -> None:
        self.schedule, self.name, self.transforms = fn.schedule, name, transforms

    def block(
        self, body: tuple[Stmt, ...], around: forms.OuterLanes | forms.Dots | None, *, in_threads: bool
    ) -> Iterator[Line]:
        """around: the form of a loop around that decides how the loops here run, too."""
        for stmt in body:
            match stmt:
                case For():
                    yield from _inside(self.loop(stmt, around, in_threads=in_threads))
                case While():
                    yield Line(1, "while", words=("serial",))
                    yield from _inside(self.block(stmt.body, around, in_threads=in_threads))
                case If():
                    yield from self.block((*stmt.then, *stmt.orelse), around, in_threads=in_threads)

    def loop(
        self, loop: For, around: forms.OuterLanes | forms.Dots | None, *, in_threads: bool
    ) -> Iterator[Line]:
        decided = self.schedule[loop.var]
        form: forms.Form | None = decided.form if around is None else around
        threads = loop.mode is LoopMode.PARALLEL and not in_threads
        words = ["threads"] if threads else []
        words += _form_words(loop.var, form)
        if threads and loop.clauses is not None and loop.clauses.collapse > 1:
            words.append(f"collapse {loop.clauses.collapse}")
        if decided.in_order_below and around is None:
            words.append(f"in order below {decided.in_order_below}")
        if decided.flat_at_one and around is None:
            words.append("flat at one")
        if decided.packed and around is None:
            words.append(
                f"packed {', '.join(f'{self.name(array)} {length}' for array, length in decided.packed)}"
            )
        if decided.nontemporal:
            words.append(f"nontemporal {', '.join(map(self.name, decided.nontemporal))}")
        if loop.product is not None:
            words.append("call product")
        cost = (_cost_words(decided.cost),) if decided.cost is not None else ()
        done = self.transforms.get(loop.var, ())
        launch = loop.clauses.launch if loop.clauses is not None else ()
        yield Line(0, self.name(loop.var), loop, tuple(words or ["serial"]), done, launch, cost)
        inside = form if isinstance(form, forms.OuterLanes | forms.Dots) else None
        yield from self.block(loop.body, inside, in_threads=in_threads or threads)


def _inside(lines: Iterator[Line]) -> Iterator[Line]:
    return (replace(line, depth=line.depth + 1) for line in lines)


def _cost_words(cost: forms.LoopCost) -> str:
    """The text of an iteration's cost: its numbers where they are constant."""
    match cost:
        case forms.LoopCost(Const(vector), Const(scalar), Const(gathers), _, Const(size)):
            return f"cost {vector:g} vector, {scalar:g} scalar, {gathers:g} gathers, {size:g} bytes"
        case _:
            return "cost by size"


def _form_words(loop: Symbol, form: forms.Form | None) -> list[str]:
    """The words for the role of one loop in a form."""
    match form:
        case None:
            return []
        case forms.Simd():
            return ["lanes"]
        case forms.EarlyExitLanes():
            return ["lanes", "early exit"]
        case forms.Accumulators(count):
            return ["lanes", f"accumulators {count}"]
        case forms.Interleaved(count):
            return [f"interleave {count}"]
        case forms.Compaction():
            return ["compaction"]
        case forms.Guarded(lanes=lanes):
            return ["guarded", *(["lanes"] if lanes else [])]
        case forms.OuterLanes() if loop == form.lanes:
            return ["lanes", f"strip of {form.groups[0]} vectors"]
        case forms.Dots() if loop == form.columns:
            return [f"jam {form.block}"]
        case forms.Dots() if loop in form.dots:
            return ["lanes"]
        case forms.OuterLanes() | forms.Dots() if loop == form.rows:
            return ["jam " + " or ".join(map(str, dict.fromkeys(form.counts)))]
        case _:
            return []
