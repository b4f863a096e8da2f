"""The benchmark on the GPU, with what stands for one: programs agree, and the table is made."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

from benchmarks import gpu, machine
from tests import stand_in_cupy


def test_all_programs_are_measured(tmp_path: Path) -> None:
    out = tmp_path / "gpu.json"
    described = mock.patch.object(gpu, "describe", return_value=machine.describe("cpu"))
    with stand_in_cupy.installed() as cupy, described:
        cupy.fuse = lambda: lambda program: program
        assert gpu.main(["--scale", "0.00002", "--rounds", "1", "--json", str(out)]) == 0
        assert cupy.cuda.driver.launches
    rows = json.loads(out.read_text())["rows"]
    assert [row["program"] for row in rows] == [program.__name__ for program in gpu.ALL]
    assert all(row["appyc"] > 0 and set(row["peers"]) == {"cupy", "cupy.fuse"} for row in rows)
