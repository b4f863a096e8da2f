"""Compiled functions in a process made by fork."""

from __future__ import annotations

import multiprocessing
import os
import signal

import numpy as np
import pytest

import appyc


@appyc.jit
def double(a):
    # pragma parallel for
    for i in range(a.shape[0]):
        a[i] = a[i] * 2.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_can_call_after_its_parent_has():
    """Threads stay with the parent; a child that waited for them would hang."""
    a = np.ones(1_000_000)
    double(a)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        b = np.ones(1_000_000)
        double(b)
        os._exit(0 if (b == 2.0).all() and appyc.get_num_threads() == 1 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert (a == 2.0).all()


def _sum_with_threads(n):
    appyc.set_num_threads(2)
    a = np.ones(n)
    for _ in range(3):
        double(a)
    return float(a.sum())


@pytest.fixture
def two_threads():
    before = appyc.get_num_threads()
    appyc.set_num_threads(2)
    double(np.ones(1_000_000))
    yield
    appyc.set_num_threads(before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_may_have_threads_of_its_own(two_threads):
    """It waited for its parent's threads."""
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if _sum_with_threads(1_000_000) == 8e6 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_pool_of_forked_processes_runs_threaded_loops(two_threads):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(_sum_with_threads, [1_000_000] * 4).get(timeout=60)
    assert found == [8e6] * 4
