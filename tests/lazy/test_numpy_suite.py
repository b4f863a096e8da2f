"""The list of NumPy's own tests that fail here gives reasons that the documentation names."""

from __future__ import annotations

from pathlib import Path

from tests.lazy.numpy_suite import LIST, REASONS, reason

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "lazy.md"


def test_each_reason_is_documented() -> None:
    text = " ".join(DOCUMENTATION.read_text().split())
    assert [why for why in REASONS.values() if why not in text] == []


def test_each_heading_of_the_list_is_a_reason() -> None:
    first, *headings = [line[2:] for line in LIST.read_text().splitlines() if line.startswith("# ")]
    assert "tests.lazy.numpy_suite" in first
    assert set(headings) <= {*REASONS.values(), "not examined"}


def test_a_reason_is_found_by_the_name_of_the_test_or_its_error() -> None:
    assert reason("a.py::test_iter_copy", "failed: AssertionError").startswith("`np.nditer`")
    assert reason("a.py::test_x", "failed: AssertionError at assert a.base is b").startswith("Which array")
    assert reason("a.py::test_x", "failed: ValueError: what this is") == "not examined"
