"""Fixtures for the tests of what is recorded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from appyc.lazy.running import STATE

SMALL = 8192
"""The most elements of arrays that are computed at once in tests marked `at_once`."""


@pytest.fixture(autouse=True)
def _small_arrays_are_recorded(request: pytest.FixtureRequest) -> Iterator[None]:
    """The arrays of most tests are small, and it is recording that they are about: nothing is computed at once, but
    in tests marked `at_once`."""
    before = STATE.recording.at_once
    is_marked = request.node.get_closest_marker("at_once") is not None
    STATE.recording.at_once = SMALL if is_marked else 0
    STATE.recording.losses.clear()
    yield
    STATE.recording.at_once = before
