"""Fixtures for tests of chunked arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Three worker processes for all tests that kill none."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as started:
        yield started


@pytest.fixture
def workers(cluster: Any) -> Iterator[Any]:
    """A client of the worker processes, which compute what asks for no other scheduler."""
    import distributed

    with distributed.Client(cluster) as client:
        yield client
