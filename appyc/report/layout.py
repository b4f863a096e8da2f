"""Layered layout of an acyclic graph: nodes in rows from top to bottom, with few edge crossings.

Each group of nodes is laid out separately, and is then one large node of the whole graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

Edge: TypeAlias = tuple[int, int]

GAP_ACROSS, GAP_DOWN = 26.0, 34.0
MARGIN, CAPTION = 16.0, 26.0
"""Padding in the box of a group: around its nodes, and above them for its caption."""
SWEEPS = 8

BEND = (6.0, 1.0)
"""Size of the dummy node of an edge in each row that it crosses."""

FIRST_GATE, FIRST_BEND = 1_000_000, 2_000_000
"""First numbers of dummy nodes: of an edge that enters or leaves a group, and of one that crosses a row."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle. left, top: of the upper left corner."""

    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.left + self.width / 2

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def moved(self, across: float, down: float) -> Box:
        return replace(self, left=self.left + across, top=self.top + down)


@dataclass(frozen=True, slots=True)
class Layout:
    nodes: dict[int, Box]
    groups: dict[int, Box]
    routes: dict[Edge, tuple[tuple[float, float], ...]]
    """Control points of an edge between its nodes."""
    width: float
    height: float


def laid_out(
    sizes: Mapping[int, tuple[float, float]],
    group_of: Mapping[int, int | None],
    edges: Sequence[Edge],
    captions: Mapping[int, float],
) -> Layout:
    """The layout of a graph. sizes: width and height of each node. captions: the minimum width of each group."""
    inner = {group: _inside(group, sizes, group_of, edges) for group in captions}
    outer_sizes = {n: size for n, size in sizes.items() if group_of.get(n) is None}
    for group, part in inner.items():
        width = max(captions[group], part.width) + 2 * MARGIN
        outer_sizes[_key(group)] = (width, part.height + 2 * MARGIN + CAPTION)

    def outer(node: int) -> int:
        group = group_of.get(node)
        return node if group is None else _key(group)

    between = list(dict.fromkeys((outer(a), outer(b)) for a, b in edges if outer(a) != outer(b)))
    whole = _with_bends(outer_sizes, between)
    groups = {group: whole.nodes[_key(group)] for group in captions}
    nodes = {n: box for n, box in whole.nodes.items() if n in sizes}
    routes = {(a, b): whole.routes.get((outer(a), outer(b)), ()) for a, b in edges}
    for group, part in inner.items():
        home = groups[group]
        across, down = home.left + (home.width - part.width) / 2, home.top + MARGIN + CAPTION
        nodes |= {n: box.moved(across, down) for n, box in part.nodes.items()}
        for (a, b), points in part.routes.items():
            moved = tuple((x + across, y + down) for x, y in points)
            routes[a, b] = (*routes[a, b], *moved) if group_of.get(b) == group else (*moved, *routes[a, b])
    return Layout(nodes, groups, routes, whole.width, whole.height)


def _inside(
    group: int,
    sizes: Mapping[int, tuple[float, float]],
    group_of: Mapping[int, int | None],
    edges: Sequence[Edge],
) -> Layout:
    """The layout of one group, with the routes inside it of edges that enter or leave it.

    An edge that crosses the border has a dummy node there, above or below all others.
    """
    own = {n: size for n, size in sizes.items() if group_of.get(n) == group}
    gates: dict[int, Edge] = {}
    all_edges: list[Edge] = []
    for edge in edges:
        a, b = edge
        if a in own and b in own:
            all_edges.append(edge)
        elif a in own or b in own:
            gate = FIRST_GATE + len(gates)
            gates[gate] = edge
            all_edges.append((gate, b) if b in own else (a, gate))
    part = _with_bends(own | dict.fromkeys(gates, BEND), all_edges, frozenset(gates))
    routes: dict[Edge, tuple[tuple[float, float], ...]] = {}
    for inner_edge, points in part.routes.items():
        outside = next((n for n in inner_edge if n in gates), None)
        if outside is None:
            routes[inner_edge] = points
            continue
        box = part.nodes[outside]
        way = (box.middle, box.top)
        routes[gates[outside]] = (way, *points) if inner_edge[0] == outside else (*points, way)
    nodes = {n: part.nodes[n] for n in own}
    return Layout(nodes, {}, routes, part.width, part.height)


def _key(group: int) -> int:
    """The node number of a group: negative, since nodes count from 1."""
    return -1 - group


def _with_bends(
    sizes: Mapping[int, tuple[float, float]], edges: Sequence[Edge], gates: frozenset[int] = frozenset()
) -> Layout:
    """The layout of nodes, with a dummy node for each edge in each row that it crosses.

    gates: nodes that belong above all others, or below them if an edge leads to them.
    """
    rows = _rows([n for n in sizes if n not in gates], [e for e in edges if not gates & set(e)])
    above = [a for a, _ in edges if a in gates]
    below = [b for _, b in edges if b in gates]
    rows = [*([above] if above else []), *rows, *([below] if below else [])]
    row_of = {node: number for number, row in enumerate(rows) for node in row}
    all_sizes = dict(sizes)
    short: list[Edge] = []
    bends: dict[Edge, list[int]] = {}
    fresh = FIRST_BEND
    for a, b in edges:
        chain = [a]
        for row in range(row_of[a] + 1, row_of[b]):
            fresh += 1
            all_sizes[fresh] = BEND
            rows[row].append(fresh)
            chain.append(fresh)
        bends[a, b] = chain[1:]
        short += zip(chain, [*chain[1:], b], strict=True)
    placed = _placed(_ordered(rows, short), all_sizes, short)
    heights: dict[int, tuple[float, float]] = {}
    for members in rows:
        reach = min(placed[n].top for n in members), max(placed[n].bottom for n in members)
        heights |= dict.fromkeys(members, reach)
    routes = {
        edge: tuple((placed[bend].middle, y) for bend in chain for y in heights[bend])
        for edge, chain in bends.items()
    }
    boxes = {node: placed[node] for node in sizes}
    width = max((box.left + box.width for box in placed.values()), default=0.0)
    height = max((box.bottom for box in placed.values()), default=0.0)
    return Layout(boxes, {}, routes, width, height)


def _rows(nodes: Sequence[int], edges: Sequence[Edge]) -> list[list[int]]:
    """Rows by longest path: a node is below all its predecessors. One without any is just above its first successor."""
    row: dict[int, int] = {}
    before: dict[int, list[int]] = {n: [] for n in nodes}
    after: dict[int, list[int]] = {n: [] for n in nodes}
    for a, b in edges:
        before[b].append(a)
        after[a].append(b)

    def depth(node: int, seen: frozenset[int] = frozenset()) -> int:
        if node not in row:
            row[node] = 1 + max((depth(p, seen | {node}) for p in before[node] if p not in seen), default=-1)
        return row[node]

    for node in nodes:
        depth(node)
    for node in nodes:
        if not before[node] and after[node]:
            row[node] = min(row[n] for n in after[node]) - 1
    out: list[list[int]] = [[] for _ in range(max(row.values(), default=-1) + 1)]
    for node in nodes:
        out[max(row[node], 0)].append(node)
    return [r for r in out if r]


def _ordered(rows: list[list[int]], edges: Sequence[Edge]) -> list[list[int]]:
    """Orders each row by the barycentres of neighbours, in sweeps down and up, to reduce crossings."""
    rows = [list(row) for row in rows]
    for sweep in range(SWEEPS):
        numbers = range(1, len(rows)) if sweep % 2 == 0 else range(len(rows) - 2, -1, -1)
        for number in numbers:
            other = rows[number - 1 if sweep % 2 == 0 else number + 1]
            position = {node: at / max(len(other) - 1, 1) for at, node in enumerate(other)}

            def weight(
                node: int, position: dict[int, float] = position, row: list[int] = rows[number]
            ) -> float:
                near = [position[a] for a, b in edges if b == node and a in position]
                near += [position[b] for a, b in edges if a == node and b in position]
                return sum(near) / len(near) if near else row.index(node) / max(len(row) - 1, 1)

            weights = {node: weight(node) for node in rows[number]}
            rows[number].sort(key=lambda node, weights=weights: weights[node])  # type: ignore[misc]
    return rows


def _placed(
    rows: Sequence[Sequence[int]], sizes: Mapping[int, tuple[float, float]], edges: Sequence[Edge] = ()
) -> dict[int, Box]:
    """Coordinates: rows are stacked and centred, then nodes move towards their neighbours where there is room."""
    widths = [sum(sizes[n][0] for n in row) + GAP_ACROSS * (len(row) - 1) for row in rows]
    widest = max(widths, default=0.0)
    out: dict[int, Box] = {}
    top = 0.0
    for row, width in zip(rows, widths, strict=True):
        tallest = max(sizes[n][1] for n in row)
        left = (widest - width) / 2
        for node in row:
            w, h = sizes[node]
            out[node] = Box(left, top + (tallest - h) / 2, w, h)
            left += w + GAP_ACROSS
        top += tallest + GAP_DOWN
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            _drawn_to_neighbours(row, out, edges, widest)
    return out


def _drawn_to_neighbours(
    row: Sequence[int], out: dict[int, Box], edges: Sequence[Edge], widest: float
) -> None:
    for at, node in enumerate(row):
        near = [out[a].middle for a, b in edges if b == node] + [out[b].middle for a, b in edges if a == node]
        if not near:
            continue
        box = out[node]
        low = 0.0 if at == 0 else out[row[at - 1]].left + out[row[at - 1]].width + GAP_ACROSS
        high = (widest if at == len(row) - 1 else out[row[at + 1]].left - GAP_ACROSS) - box.width
        wanted = sum(near) / len(near) - box.width / 2
        out[node] = replace(box, left=max(low, min(wanted, max(low, high))))
