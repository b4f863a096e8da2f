"""What launches cost the host: the cases run, with a driver that does nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import gpu_launch
from tests import stand_in_cupy


def test_all_cases_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FEW", 2), ("MANY", 8), ("CALLS", 3), ("ROUNDS", 1)):
        monkeypatch.setattr(gpu_launch, name, value)
    monkeypatch.setattr(stand_in_cupy.Driver, "launch", None)  # no kernel runs
    out = tmp_path / "launch.json"
    assert gpu_launch.main(["--json", str(out)]) == 0
    cases = {"call", "shapes", "numpy", "same", "other", "graph"}
    assert set(json.loads(out.read_text())["microseconds"]) == cases
