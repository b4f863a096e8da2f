"""The start-up benchmark runs, and its table has what was measured."""

from __future__ import annotations

import pytest

from benchmarks.startup import COMPILERS, TARGETS, run, table


def test_one_process_of_ours(tmp_path):
    numpy, imports, first, second = run("appyc", str(tmp_path))
    assert 0 < numpy < imports
    assert 0 < second < first
    assert list(tmp_path.iterdir()), "the first call filled the cache"


def test_table_has_targets_beside_times():
    phases = dict.fromkeys(("numpy", "import", "cold", "warm", "second"), 0.25)
    text = table(dict.fromkeys(COMPILERS, phases))
    rows = {line.rpartition("  250")[0].split("  ")[0]: line for line in text.splitlines()[1:]}
    assert len(rows) == len(phases)
    assert text.count("250") == 2 * len(phases)
    for seconds in TARGETS.values():
        assert f"{1000 * seconds:.3g}" in text


@pytest.mark.parametrize("phase", ["import", "cold", "warm"])
def test_every_promise_is_measured(phase):
    assert phase in TARGETS
