"""`fn.graph()`: every operation and array once, groups around what they hold, in a picture and in text."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import appyc
from appyc.report.dataflow import Dataflow
from appyc.report.layout import laid_out
from tests.report.graph_programs import (
    gathered,
    in_a_time_loop,
    laplacian,
    nothing,
    of_what_is_computed,
    softmax,
    stencil_of_a_temporary,
    two_groups,
)

PLANE, ROW = np.ones((8, 6)), np.ones(6)
SVG = "{http://www.w3.org/2000/svg}"


CASES = [
    (softmax, (PLANE, PLANE.copy())),
    (stencil_of_a_temporary, (ROW, ROW.copy())),
    (two_groups, (PLANE, np.ones((6, 6)))),
    (in_a_time_loop, (ROW, ROW.copy())),
    (nothing, (ROW,)),
]
NAMES = [case[0].__name__ for case in CASES]


def test_text_of_a_softmax(golden):
    golden("graph_softmax.mmd", softmax.graph(*CASES[0][1]).mermaid)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=NAMES)
def test_everything_is_drawn_once(fn, args):
    graph = fn.graph(*args)
    names = [rect.get("id") for rect in ET.fromstring(graph.svg).iter(f"{SVG}rect") if rect.get("id")]
    expected = [f"n{item.number}" for item in (*graph.flow.operations, *graph.flow.values)]
    expected += [f"g{number}" for number in range(len(graph.flow.groups))]
    assert sorted(names) == sorted(expected)
    for name in expected:
        assert graph.mermaid.count(f" {name}[") + graph.mermaid.count(f" {name}([") == 1


@pytest.mark.parametrize(("fn", "args"), CASES, ids=NAMES)
def test_groups_hold_their_nodes_and_no_others(fn, args):
    graph = fn.graph(*args)
    boxes = {
        rect.get("id"): tuple(float(rect.get(k) or 0) for k in ("x", "y", "width", "height"))
        for rect in ET.fromstring(graph.svg).iter(f"{SVG}rect")
        if rect.get("id")
    }
    for item in (*graph.flow.operations, *graph.flow.values):
        for number in range(len(graph.flow.groups)):
            is_inside = _holds(boxes[f"g{number}"], boxes[f"n{item.number}"])
            assert is_inside == (item.group == number)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=NAMES)
def test_no_two_nodes_overlap(fn, args):
    boxes = [
        tuple(float(rect.get(k) or 0) for k in ("x", "y", "width", "height"))
        for rect in ET.fromstring(fn.graph(*args).svg).iter(f"{SVG}rect")
        if (rect.get("id") or "").startswith("n")
    ]
    for number, (x, y, w, h) in enumerate(boxes):
        for left, top, width, height in boxes[number + 1 :]:
            assert x + w <= left or left + width <= x or y + h <= top or top + height <= y


def _holds(outer, inner) -> bool:
    x, y, w, h = outer
    left, top, width, height = inner
    return x <= left and y <= top and left + width <= x + w and top + height <= y + h


def _named(flow: Dataflow, name: str):
    return [value for value in flow.values if value.name == name]


def test_arrays_have_their_sizes_and_places():
    flow = softmax.graph(PLANE, PLANE.copy()).flow
    (x,), (e,), (y,) = (_named(flow, name) for name in "xey")
    assert (x.size, x.is_given, x.is_stored) == (384, True, True)
    assert (e.is_stored, e.group) == (False, 0)
    assert (y.is_result, y.group) == (True, None)
    (group,) = flow.groups
    assert group.before is not None
    assert group.after == 3 * 384  # x, and y from memory and back
    assert group.before > group.after


@pytest.mark.parametrize(
    ("fn", "args", "label"),
    [
        (
            laplacian,
            (PLANE, PLANE.copy()),
            "new = u[2:, 1:-1] + u[:-2, 1:-1] - 2.0 * u[1:-1, 1:-1]",
        ),
        (stencil_of_a_temporary, (ROW, ROW.copy()), "b[1:] = t[1:] - t[:-1]"),
        (gathered, (ROW, ROW.copy(), np.arange(6)), "b[i] = b[i] + a[at[i]] * a[i - 1]"),
    ],
)
def test_operations_keep_their_slices(fn, args, label):
    assert label in [op.label for op in fn.graph(*args).flow.operations]


def test_a_slice_of_what_is_computed_is_no_slice_of_an_array():
    labels = [op.label for op in of_what_is_computed.graph(ROW, ROW.copy(), np.ones(5)).flow.operations]
    assert labels == ["new = (a + b) * 1.0", "out[:] = new"]


def test_operation_that_is_computed_where_it_is_read():
    flow = stencil_of_a_temporary.graph(ROW, ROW.copy()).flow
    assert [op.is_copied for op in flow.operations] == [True, False]


def test_array_that_is_written_again_is_another_node():
    flow = in_a_time_loop.graph(ROW, ROW.copy()).flow
    assert len(_named(flow, "a")) == 2
    order = {number: at for at, number in enumerate(_topological(flow))}
    assert all(order[a] < order[b] for a, b in flow.edges)


def _topological(flow: Dataflow) -> list[int]:
    left = {item.number for item in (*flow.operations, *flow.values)}
    out: list[int] = []
    while left:
        ready = sorted(n for n in left if not any(b == n and a in left for a, b in flow.edges))
        assert ready, "the graph has a circle"
        out += ready
        left -= set(ready)
    return out


def test_without_arguments_sizes_are_those_of_the_first_call():
    function = appyc.jit(softmax.py_func)
    function.compile(PLANE, PLANE.copy())
    function.compile(np.ones((60, 80)), np.ones((60, 80)))
    assert "384 B" in function.graph().mermaid
    assert "38.4 kB" in function.graph(np.ones((60, 80)), np.ones((60, 80))).mermaid


def test_saving(tmp_path):
    graph = softmax.graph(PLANE, PLANE.copy())
    for suffix, start in ((".svg", "<svg"), (".mmd", "flowchart"), (".md", "```mermaid")):
        graph.save(tmp_path / f"graph{suffix}")
        assert (tmp_path / f"graph{suffix}").read_text().startswith(start)
    with pytest.raises(ValueError, match=r"\.png"):
        graph.save(tmp_path / "graph.png")


def test_explain_tells_of_joined_loops_and_bytes():
    text = str(softmax.explain(PLANE, PLANE.copy()))
    assert "run as one; not stored: a temporary for x.max(axis=1, keepdims=True), e, a temporary for " in text
    assert "keepdims=True); 1.15 kB to and from memory, not" in text
    assert (
        "for these arguments; an element that is written counts twice" in text
    )  # 384 B are read, and as many written


def test_explain_without_arguments_tells_the_bytes_of_the_first_call():
    function = appyc.jit(softmax.py_func)
    function.compile(PLANE, PLANE.copy())
    function.compile(np.ones((60, 80)), np.ones((60, 80)))
    assert "1.15 kB to and from memory, not" in str(function.explain())
    assert "for the first call's sizes; an element" in str(function.explain())
    assert "115 kB to and from memory, not" in str(function.explain(np.ones((60, 80)), np.ones((60, 80))))


def test_explain_tells_how_bytes_are_counted_only_where_there_are_some():
    assert "counts twice" not in str(gathered.explain(ROW, ROW.copy(), np.arange(6)))


def test_what_is_in_no_memory_is_not_missed():
    """The loops inside the joined rows stay apart, and hand each other a row that is in no memory."""
    report = softmax.explain(PLANE, PLANE.copy())
    assert [r.text for r in report.remarks if r.kind == "missed"] == []


def test_what_stays_in_memory_is_missed():
    report = two_groups.explain(PLANE, np.ones((6, 6)))
    assert any(r.text.startswith("not joined with the loop") for r in report.remarks if r.kind == "missed")


def test_layout_of_a_long_edge_leaves_room():
    sizes = {1: (40.0, 20.0), 2: (40.0, 20.0), 3: (40.0, 20.0)}
    layout = laid_out(sizes, {}, [(1, 2), (2, 3), (1, 3)], {})
    (bend, _) = layout.routes[1, 3]
    middle = layout.nodes[2]
    assert not middle.left <= bend[0] <= middle.left + middle.width
    assert layout.nodes[1].bottom < middle.top < middle.bottom < layout.nodes[3].top
