"""`explain()` and `graph()` of calls over chunked arrays: nothing runs, nothing is rebound."""

from __future__ import annotations

import numpy as np
import pytest

import appyc

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@appyc.jit
def smoothed(steps, a, b):
    for _ in range(steps):
        # pragma parallel for collapse(2)
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j]
        # pragma parallel for collapse(2)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = b[i, j]


@appyc.jit
def product(c, a, b):
    # pragma parallel for collapse(2)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@appyc.jit
def until_small(a, b):
    while a[0] > 0.5:
        for i in range(a.shape[0]):
            a[i] = a[i] * b[i]


def test_a_stencil_moves_its_halo():
    a, b = da.zeros((800, 800), chunks=200), da.zeros((800, 800), chunks=200)
    name = a.name
    plan = smoothed.explain(1, a, b)
    assert a.name == name
    assert [(layer.line, layer.blocks) for layer in plan.layers] == [(18, 16), (22, 16)]
    halo = 48 * 200 * 8  # sides between chunks
    copied, kept = plan.layers[0], plan.layers[1]
    assert copied.least == pytest.approx(halo, rel=0.02)
    assert copied.least <= copied.moved <= 1.1 * copied.least
    assert (kept.moved, kept.least) == (0, 0)
    assert "line 18   1 layer, 16 blocks" in str(plan)


def test_steps_together_have_fewer_tasks_and_a_wider_halo():
    a, b = da.zeros((800, 800), chunks=200), da.zeros((800, 800), chunks=200)
    one, eight = smoothed.explain(1, a, b), smoothed.explain(8, a, b)
    (layer,) = eight.layers
    assert layer.tasks < 8 * sum(each.tasks for each in one.layers) / 4
    assert layer.moved < 2 * 8 * one.layers[0].moved


def test_a_product_moves_each_panel_once():
    arrays = [da.zeros((80, 80), chunks=20) for _ in range(3)]
    (layer,) = product.explain(*arrays).layers
    assert layer.moved == layer.least == 2 * 16 * 3 * 20 * 20 * 8


@appyc.jit
def columns_added(a, sums):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            sums[j] += a[i, j]


def test_what_one_task_can_do_is_one_task():
    a, b = da.zeros((80, 80), chunks=40), da.zeros((80, 80), chunks=40)
    assert [layer.tasks for layer in smoothed.explain(1, a, b).layers][1] == 4  # the chunks of `a`
    blocks, total = 5, 1
    (layer,) = columns_added.explain(da.zeros((40, 4), chunks=(8, 4)), da.zeros(4)).layers
    assert (layer.blocks, layer.tasks) == (blocks, blocks + total)


def test_a_plan_is_that_of_the_chunks():
    def tasks(rows: int, columns: int) -> tuple[int, ...]:
        a, sums = da.ones((40, 24), chunks=(rows, columns)), da.zeros(24, chunks=columns)
        layers = columns_added.explain(a, sums).layers
        columns_added(a, sums)
        assert sums.compute().tolist() == [40.0] * 24
        return tuple(layer.tasks for layer in layers)

    chunks = ((8, 24), (2, 3), (40, 24))  # at (2, 3) all sums are more than a chunk of `a`
    first = [tasks(*each) for each in chunks]
    assert first == [tasks(*each) for each in chunks]
    assert len(first[1]) > len(first[0]) == len(first[2]) == 1


@appyc.jit
def squared(a, b, count):
    for i in range(a.shape[0]):
        s = a[i]
        for _ in range(count):
            s *= s
        b[i] = s


def test_the_work_of_a_block_does_not_grow_with_their_number(monkeypatch):
    from appyc.distributed import chunk_grids

    looked_at = 0

    def counted(*sides: int) -> int:
        nonlocal looked_at
        looked_at += 1
        return min(sides)

    monkeypatch.setattr(chunk_grids, "min", counted, raising=False)
    counts = []
    for blocks in (100, 400):
        looked_at = 0
        squared(da.ones(blocks, chunks=1), da.ones(blocks, chunks=1), 3)
        counts.append(looked_at / blocks)
    assert 0 < counts[1] <= counts[0] * 1.1


@appyc.jit
def summed_along_rows(a, b):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
            b[i, j] = s


@pytest.mark.parametrize(("chunks", "joined"), [((100, 400), {}), ((100, 50), {("a", 1): 8, ("b", 1): 8})])
def test_chunks_that_an_access_pattern_joins_are_told(chunks, joined):
    a, b = da.zeros((400, 400), chunks=chunks), da.zeros((400, 400), chunks=chunks)
    plan = summed_along_rows.explain(a, b)
    assert plan.layers[0].joined == joined
    assert ("a block takes 8 chunks of 'a' along axis 1" in str(plan)) == bool(joined)
    halo = smoothed.explain(1, da.zeros((800, 800), chunks=200), da.zeros((800, 800), chunks=200))
    assert not any(layer.joined for layer in halo.layers)


def test_what_depends_on_values_is_not_run():
    plan = until_small.explain(da.ones(8, chunks=4), da.ones(8, chunks=4))
    assert not plan.is_complete
    assert "depends on values" in str(plan)


def test_a_call_without_nests_has_no_tasks():
    arrays = [da.zeros((8, 8), chunks=4) for _ in range(2)]
    assert str(smoothed.explain(0, *arrays)) == "smoothed, over chunked arrays: 0 tasks\n"
    assert smoothed.graph(0, *arrays).mermaid == "flowchart TD\n"
    assert "<rect" not in smoothed.graph(0, *arrays).svg


def test_the_tasks_of_one_step_are_drawn(tmp_path):
    arrays = [da.zeros((8, 8), chunks=4) for _ in range(2)]
    drawn = smoothed.graph(1, *arrays)
    assert sum("smoothed_line_" in name for name in drawn.step) == 8
    assert drawn.mermaid.count("-->") == sum(map(len, drawn.step.values()))
    drawn.save(tmp_path / "step.svg")
    assert (tmp_path / "step.svg").read_text().count("<rect") == len(drawn.step)


def test_threads_share_chunks_and_workers_get_parts():
    def given():
        return [da.from_array(np.arange(64.0).reshape(8, 8), 4), da.zeros((8, 8), chunks=4)]

    (first, _) = smoothed.explain(1, *given()).layers
    assert first.tasks == first.blocks == 4
    a, b = given()
    smoothed(3, a, b)
    with dask.config.set(scheduler="distributed"):
        (cut, _) = smoothed.explain(1, *given()).layers
        c, d = given()
        smoothed(3, c, d)
    assert cut.tasks > cut.blocks
    assert (cut.moved, cut.least) == (first.moved, first.least)
    np.testing.assert_array_equal(a.compute(scheduler="sync"), c.compute(scheduler="sync"))


@appyc.jit
def shifted(steps, a, b, by):
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, a.shape[0]):
            b[i] = a[i - 1] * by
        # pragma parallel for
        for i in range(1, a.shape[0]):
            a[i] = b[i]


def test_a_plan_is_of_the_number_and_its_sign():
    for by in (0.0, -0.0, 2.0):
        a, b = da.ones(12, chunks=4), da.zeros(12, chunks=4)
        shifted(3, a, b, by)
        own, other = np.ones(12), np.zeros(12)
        shifted.py_func(3, own, other, by)
        assert str(a.compute(scheduler="sync").tolist()) == str(own.tolist())
