"""`fn.graph()`: renders the dataflow graph of a function as SVG and as Mermaid text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from pathlib import Path

from appyc.compiler.analyse import Analysed
from appyc.report.dataflow import Dataflow, Operation, Value, dataflow
from appyc.report.fusion import FusionRecord, amount
from appyc.report.layout import CAPTION, MARGIN, Box, Layout, laid_out

LETTER, SMALL = 7.3, 6.1
"""Widths of a character in the two font sizes."""
EDGE_OF_PICTURE = 18.0

_STYLE = """
text { font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 12px; fill: #1b2733; }
.small { font-size: 10px; fill: #5b6b7a; }
.caption { font-size: 10.5px; fill: #7a5a12; stroke: #fdf6e3; stroke-width: 4; paint-order: stroke; }
.operation { fill: #e3eefb; stroke: #3b6ea8; stroke-width: 1.2; }
.copied { fill: #f6f8fa; stroke: #3b6ea8; stroke-width: 1.2; stroke-dasharray: 5 3; }
.value { fill: #ffffff; stroke: #8795a1; }
.given { stroke: #1b2733; stroke-width: 1.4; }
.result { stroke: #2e7d4f; stroke-width: 2; }
.register { fill: #fbfbfb; stroke: #a9b4bd; stroke-dasharray: 3 3; }
.group { fill: #fdf6e3; stroke: #c9a227; stroke-width: 1.2; }
.edge { fill: none; stroke: #6b7a88; stroke-width: 1.2; }
.thin { stroke: #a9b4bd; stroke-dasharray: 3 3; }
""".strip()


@dataclass(frozen=True, slots=True)
class Drawing:
    """The graph of a function. svg: a picture. mermaid: the text that Mermaid draws one from."""

    flow: Dataflow
    svg: str
    mermaid: str

    def save(self, path: str | Path) -> None:
        """Writes the picture, or Mermaid's text where the name ends in ".mmd" or ".md"."""
        file = Path(path)
        match file.suffix:
            case ".svg":
                file.write_text(self.svg, encoding="utf-8")
            case ".mmd":
                file.write_text(self.mermaid, encoding="utf-8")
            case ".md":
                file.write_text(f"```mermaid\n{self.mermaid}```\n", encoding="utf-8")
            case other:
                raise ValueError(f"a graph is saved as .svg, .mmd or .md, not as {other!r}")

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.mermaid


def drawing(analysed: Analysed, arguments: Mapping[str, object]) -> Drawing:
    flow = dataflow(analysed, arguments)
    return Drawing(flow, _svg(flow), _mermaid(flow))


def with_locations(drawn: Drawing, location: Callable[[str, int], str]) -> Drawing:
    """The drawing with other source locations of operations: what `location` gives for a file and a line."""
    operations = tuple(replace(op, location=location(op.file, op.line)) for op in drawn.flow.operations)
    flow = replace(drawn.flow, operations=operations)
    return Drawing(flow, _svg(flow), _mermaid(flow))


# ---------------------------------------------------------------- words


def _caption(record: FusionRecord) -> str:
    loops = f"{len(record.lines)} operations, one loop"
    if record.before is None or record.after is None:
        return loops
    return f"{loops}: {amount(record.before)} → {amount(record.after)}, writes counted twice"


def _size(value: Value) -> str:
    if value.size is None:
        return "scalar"
    if not value.is_stored:
        return "not stored"
    return "" if value.size < 0 else amount(value.size)


def _location(operation: Operation) -> str:
    return (operation.location or f"line {operation.line}") + (
        ", where it is read" if operation.is_copied else ""
    )


# ---------------------------------------------------------------- Mermaid


def _mermaid(flow: Dataflow) -> str:
    lines = ["flowchart TD"]
    for number, record in enumerate(flow.groups):
        lines.append(f'  subgraph g{number}["{escape(_caption(record))}"]')
        lines += _mermaid_nodes(flow, number, "    ")
        lines.append("  end")
    lines += _mermaid_nodes(flow, None, "  ")
    thin = {v.number for v in flow.values if not v.is_stored}
    for a, b in flow.edges:
        lines.append(f"  n{a} {'-.->' if {a, b} & thin else '-->'} n{b}")
    return "\n".join(lines) + "\n"


def _mermaid_nodes(flow: Dataflow, group: int | None, indent: str) -> list[str]:
    out = []
    for op in flow.operations:
        if op.group == group:
            out.append(f'{indent}n{op.number}["{escape(op.label)}<br/>{_location(op)}"]')
    for value in flow.values:
        if value.group == group:
            size = _size(value)
            out.append(f'{indent}n{value.number}(["{escape(value.name)}{f"<br/>{size}" if size else ""}"])')
    return out


# ---------------------------------------------------------------- SVG


def _svg(flow: Dataflow) -> str:
    sizes = {op.number: _box_size(op.label, _location(op)) for op in flow.operations}
    sizes |= {v.number: _box_size(v.name, _size(v)) for v in flow.values}
    group_of = {op.number: op.group for op in flow.operations}
    group_of |= {value.number: value.group for value in flow.values}
    captions = {n: len(_caption(record)) * SMALL * 1.06 for n, record in enumerate(flow.groups)}
    layout = laid_out(sizes, group_of, flow.edges, captions)
    width, height = layout.width + 2 * EDGE_OF_PICTURE, layout.height + 2 * EDGE_OF_PICTURE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<style>{_STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#6b7a88"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        f'<g transform="translate({EDGE_OF_PICTURE:.0f},{EDGE_OF_PICTURE:.0f})">',
    ]
    parts += [_svg_frame(layout.groups[number], number) for number in range(len(flow.groups))]
    thin = {v.number for v in flow.values if not v.is_stored}
    for a, b in flow.edges:
        parts.append(_svg_edge(layout, a, b, thin=bool({a, b} & thin)))
    parts += [_svg_caption(layout.groups[n], record) for n, record in enumerate(flow.groups)]
    for op in flow.operations:
        kind = "copied" if op.is_copied else "operation"
        parts += _svg_node(layout.nodes[op.number], f"n{op.number}", op.label, _location(op), kind, 4)
    for value in flow.values:
        parts += _svg_node(
            layout.nodes[value.number], f"n{value.number}", value.name, _size(value), _kind(value), 16
        )
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def _box_size(first: str, second: str) -> tuple[float, float]:
    width = max(len(first) * LETTER, len(second) * SMALL) + 22
    return max(width, 54.0), 38.0 if second else 26.0


def _kind(value: Value) -> str:
    if not value.is_stored and not value.is_result:
        return "value register"
    if value.is_result:
        return "value result"
    return "value given" if value.is_given else "value"


def _svg_frame(box: Box, number: int) -> str:
    return (
        f'<rect id="g{number}" class="group" x="{box.left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="8"/>'
    )


def _svg_caption(box: Box, record: FusionRecord) -> str:
    """Captions, drawn after the edges, which may cross them."""
    return (
        f'<text class="caption" x="{box.left + MARGIN:.1f}" y="{box.top + CAPTION - 7:.1f}">'
        f"{escape(_caption(record))}</text>"
    )


def _svg_node(box: Box, name: str, first: str, second: str, kind: str, radius: int) -> list[str]:
    line = box.top + box.height / 2 + (-2 if second else 4)
    out = [
        f'<rect id="{name}" class="{kind}" x="{box.left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="{radius}"/>',
        f'<text x="{box.middle:.1f}" y="{line:.1f}" text-anchor="middle">{escape(first)}</text>',
    ]
    if second:
        out.append(
            f'<text class="small" x="{box.middle:.1f}" y="{line + 14:.1f}" text-anchor="middle">'
            f"{escape(second)}</text>"
        )
    return out


def _svg_edge(layout: Layout, a: int, b: int, *, thin: bool) -> str:
    """A curve through control points that leaves its source and enters its target vertically."""
    start, end = layout.nodes[a], layout.nodes[b]
    points = [(start.middle, start.bottom), *layout.routes[a, b], (end.middle, end.top - 1)]
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    for (x, y), (next_x, next_y) in pairwise(points):
        half = (next_y - y) / 2
        path += f" C{x:.1f},{y + half:.1f} {next_x:.1f},{next_y - half:.1f} {next_x:.1f},{next_y:.1f}"
    kind = "edge thin" if thin else "edge"
    return f'<path class="{kind}" d="{path}" marker-end="url(#tip)"/>'
