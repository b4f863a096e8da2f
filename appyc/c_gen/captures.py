"""The captured variables of a multithreaded loop, by how its pieces use them."""

from __future__ import annotations

from dataclasses import dataclass

from appyc.ir.invariance import is_invariant
from appyc.ir.nodes import Alloc, For, LoopMode, Reduction, Symbol, Update
from appyc.ir.visit import scalars_read, scalars_written, symbols_of, walk


@dataclass(frozen=True, slots=True)
class Captures:
    """The variables that a piece captures from the enclosing function, each list in program order.

    arrays, values: read (a value may be changed, in the piece's own copy). reductions: scalars,
    through a pointer to the piece's partial result. copied: arrays among `arrays` that the piece
    gets a copy of, to combine into. last: through a pointer that the piece with the last
    iteration writes. atomics: scalars that all pieces update atomically, through a pointer.
    """

    arrays: tuple[Symbol, ...]
    values: tuple[Symbol, ...]
    reductions: tuple[Reduction, ...]
    copied: tuple[Reduction, ...]
    last: tuple[Symbol, ...]
    atomics: tuple[Symbol, ...]
    private: tuple[Symbol, ...]
    allocated: tuple[Symbol, ...]


def perfect_nest(loop: For) -> tuple[For, ...]:
    """The loop, and as many loops right inside it as `collapse` asks for and may be run as one."""
    nest = [loop]
    wanted = loop.clauses.collapse if loop.clauses else 1
    while len(nest) < wanted and len(nest[-1].body) == 1:
        inner = nest[-1].body[0]
        if not isinstance(inner, For) or inner.mode is not LoopMode.PARALLEL:
            break
        bound = {outer.var for outer in nest} | scalars_written(inner.body)
        if not is_invariant(inner.bounds, bound):
            break
        nest.append(inner)
    return tuple(nest)


def captures_of(nest: tuple[For, ...]) -> Captures:
    """The variables from outside that the body of a nest uses, by how it uses them."""
    body = nest[-1].body
    combined = tuple(dict.fromkeys(r for loop in nest for r in loop.reductions))
    reductions = tuple(r for r in combined if not r.symbol.is_array)
    reduced = {r.symbol for r in reductions}
    private = {s for loop in nest for s in (*loop.private, *loop.last)} - reduced
    last = tuple(dict.fromkeys(s for loop in nest for s in loop.last if s not in reduced))
    bound = {n.var for n in walk(nest) if isinstance(n, For)}
    made = {n.array: n for n in walk(body) if isinstance(n, Alloc)}
    atomic = {n.target for n in walk(body) if isinstance(n, Update) and n.atomic and not n.target.is_array}
    used = symbols_of(body)
    scalars = [s for s in used if not s.is_array and s not in bound | reduced]
    return Captures(
        arrays=tuple(s for s in used if s.is_array and s not in made),
        values=tuple(s for s in scalars if s not in private | atomic),
        reductions=reductions,
        copied=tuple(r for r in combined if r.symbol.is_array),
        last=last,
        atomics=tuple(s for s in scalars if s in atomic - private),
        private=tuple(s for s in scalars if s in private),
        allocated=tuple(s for s in used if s in made and not made[s].in_frame),
    )


def outside_symbols(loop: For) -> set[Symbol]:
    """The scalars that the function around a threaded loop has to declare."""
    nest = perfect_nest(loop)
    captures = captures_of(nest)
    bounds = {s for outer in nest for s in scalars_read(outer.bounds)}
    condition = loop.clauses.condition if loop.clauses else None
    if condition is not None:
        bounds |= scalars_read(condition)
    reduced = {r.symbol for r in captures.reductions}
    return {*captures.values, *captures.last, *captures.atomics, *reduced, *bounds}
