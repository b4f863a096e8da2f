"""The benchmark of the choice between one thread and several: its arithmetic, and that it runs."""

from __future__ import annotations

import json

import pytest

from appyc.ir.machine_model import Machine
from benchmarks import cost_model
from benchmarks.cost_model import ALONE, CHOSEN, SETTINGS, THREADS, Row, by_size, summary


def test_what_choosing_costs_is_measured_by_the_better_way():
    rows = [
        Row("a", "MINI", alone=10, threads=20, chosen=11, rounds=3),
        Row("b", "MINI", alone=10, threads=5, chosen=5, rounds=3),
        Row("c", "LARGE", alone=8, threads=4, chosen=8, rounds=3),
    ]
    assert [r.slower for r in rows] == pytest.approx([0.1, 0, 1])
    found = summary(rows)
    assert found["chosen_slower"] == pytest.approx(1.1 / 3)
    assert found["always_alone_slower"] == pytest.approx(2 / 3)
    assert found["always_threads_slower"] == pytest.approx(1 / 3)
    assert found["worst"] == pytest.approx(1)
    assert by_size(rows)["LARGE"]["kernels"] == 1
    assert summary([])["chosen_slower"] == 0


def test_ways_differ_in_what_threads_cost_to_start():
    machine = Machine()
    assert SETTINGS[ALONE](machine).fork > 1e20
    assert SETTINGS[THREADS](machine).fork < -1e20
    assert SETTINGS[CHOSEN](machine) == machine


def test_a_run_prints_each_kernel_and_writes_what_it_found(tmp_path, capsys):
    out = tmp_path / "found.json"
    words = ["--datasets", "MINI", "--sizes", "100", "--only", "jacobi-1d", "triad", "--rounds", "3"]
    assert cost_model.main([*words, "--json", str(out)]) == 0
    record = json.loads(out.read_text())
    assert [(r["name"], r["size"]) for r in record["rows"]] == [("jacobi-1d", "MINI"), ("triad", "100")]
    assert record["kernels"] == 2
    assert all(r["alone"] > 0 and r["rounds"] == 3 for r in record["rows"])
    assert "jacobi-1d" in capsys.readouterr().out
