"""The benchmark of looks at index arrays runs, and its programs compute the same with and without them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import appyc
from benchmarks.inspector import PROGRAMS, main


@pytest.mark.sampled
@pytest.mark.parametrize("name", PROGRAMS)
def test_looks_change_no_result(name):
    program = PROGRAMS[name]
    results = []
    for fn in (program.checked, appyc.jit(program.checked), appyc.jit(boundscheck=False)(program.trusting)):
        arguments = program.arguments(500, np.random.default_rng(3))
        fn(*arguments)
        results.append(arguments[0])
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], rtol=1e-12)


def test_a_file_of_results(tmp_path, capsys):
    file = tmp_path / "results.json"
    assert main(["--size", "2000", "--rounds", "1", "--json", str(file), "segments"]) == 0
    (row,) = json.loads(file.read_text())["rows"]
    assert row["program"] == "segments"
    assert row["cost"] == row["checked"] / row["trusting"] - 1
    assert "segments" in capsys.readouterr().out
