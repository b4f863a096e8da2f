"""Loads that are made before the statements that need them, in lanes of a GPU: into scalars, each of them once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

from appyc.ir import visit
from appyc.ir.affine import LinearForm, linear_form
from appyc.ir.invariance import evaluated_always
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Expr, Load, Node, Stmt, Symbol, Var
from appyc.passes.gpu.lane_expressions import mentions
from appyc.passes.node_builders import let

Location: TypeAlias = tuple[Symbol, tuple[LinearForm[Expr], ...]]
"""An array, and subscripts in normal form."""


def location_of(load: Load) -> Location:
    return load.array, tuple(map(linear_form, load.index))


def line_of(location: Location, lane: Symbol) -> Location:
    """The location without its constant distance along the lanes."""
    array, at = location
    return array, tuple(LinearForm(i.terms) if lane in visit.scalars_read(tuple(i.terms)) else i for i in at)


def loads_in_advance(body: tuple[Stmt, ...], ahead: Collection[Symbol] = ()) -> Iterator[Load]:
    """The loads that an iteration makes in any case, at subscripts known before, of arrays that the nest only reads.
    ahead: written arrays that count as such."""
    written, own = visit.arrays_written(body).difference(ahead), visit.scalars_written(body)

    def is_plain(load: Load) -> bool:
        is_affine = not mentions(load, own) and not visit.contains(load.index, Load)
        in_parts = load.dtype.is_complex  # each part is loaded where it is used
        return not load.checked and load.array not in written and is_affine and not in_parts

    for stmt in body:
        yield from (n for n in evaluated_always(stmt) if isinstance(n, Load) and is_plain(n))


def made_ahead(loads: Iterable[Load], names: NameSupply, out: list[Stmt]) -> dict[Location, Symbol]:
    """The scalars that hold what is loaded, each of them once, in `out`."""
    held: dict[Location, Symbol] = {}
    for load in loads:
        if (location := location_of(load)) not in held:
            held[location] = let(load.array.name, load, names, out).symbol
    return held


def with_held(node: visit.N, held: Mapping[Location, Symbol]) -> visit.N:
    """The node, with those scalars instead of loads."""

    def rule(part: Expr) -> Expr:
        found = held.get(location_of(part)) if isinstance(part, Load) else None
        return with_held(part, held) if found is None else Var(found, loc=part.loc)

    return visit.map_operands(node, rule)


def read_once(
    body: tuple[Stmt, ...], names: NameSupply
) -> tuple[dict[Location, Symbol], tuple[Stmt, ...]] | None:
    """A block in which elements that are loaded in any case are not loaded again under a condition, and the scalars
    that hold them; None where there are none."""
    always = {id(n) for s in body for n in evaluated_always(s)}
    again = {location_of(n) for n in visit.walk(body) if isinstance(n, Load) and id(n) not in always}
    ahead: list[Stmt] = []
    loads = (load for load in loads_in_advance(body) if location_of(load) in again)
    held = made_ahead(loads, names, ahead)

    def rule(node: Node) -> Node:
        found = held.get(location_of(node)) if isinstance(node, Load) else None
        return node if found is None else Var(found, loc=node.loc)

    return (held, (*ahead, *visit.rewrite_all(body, rule))) if held else None
