"""Targets for which kernels are compiled ahead of time."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.runtime.triton_build import CAPABILITIES


@appyc.jit
def double(a):
    for i in range(len(a)):
        a[i] *= 2


@pytest.mark.parametrize("target", ["cuda:9", "cuda:900", "cuda:070"])
def test_a_capability_that_no_gpu_has_is_refused_with_the_known_ones(target: str) -> None:
    with pytest.raises(ValueError, match=f"no GPU is known as '{target}'") as caught:
        double.compile(np.ones(4), target=target)
    assert all(f"cuda:{capability}" in str(caught.value) for capability in CAPABILITIES)


@pytest.mark.parametrize("capability", [CAPABILITIES[0], CAPABILITIES[-1]])
def test_a_capability_that_is_listed_can_be_compiled_for(capability: int) -> None:
    assert double.compile(np.ones(4), target=f"cuda:{capability}")
