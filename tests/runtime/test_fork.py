"""Compiled functions in a process made by fork."""

from __future__ import annotations

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
