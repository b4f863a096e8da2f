"""Recorded programs on a GPU: every kernel of them is compiled for both architectures, and its values are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import appyc
import appyc.numpy as np
from appyc.lazy.running import STATE, flush
from tests.lazy.fuzz import compiling
from tests.triton_gen.source_runner import compare


def heat(xp: Any) -> Any:
    u = xp.pad(xp.asarray(numpy.arange(600.0).reshape(20, 30) % 7), 1, mode="edge")
    u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return xp.where(u > u.mean(), u, 0.0), xp.roll(u, 3, axis=1).max(axis=1)


@appyc.jit(defer=True)
def centred(a):
    return a - a.mean(axis=0), a.std(axis=0)


def standardised(xp: Any) -> Any:
    data = xp.asarray(numpy.arange(600.0).reshape(60, 10) ** 1.5)
    rest, spread = centred(data) if xp is np else centred.py_func(data)
    scaled = rest / spread
    return xp.concatenate((scaled, data)), scaled.argmax(axis=0), xp.linalg.norm(scaled)


@pytest.mark.sampled
@pytest.mark.parametrize("script", [heat, standardised])
def test_recorded_programs_compile_for_a_gpu(script: Callable[[Any], Any]) -> None:
    flush()
    wanted = script(numpy)
    with compiling("cpu", 1 << 60):
        found = script(np)
        flush()
        (ran,) = STATE.last
        for one, two in zip(wanted, found, strict=True):
            assert numpy.allclose(numpy.asarray(two), one)
        assert ran.program is not None
        arguments = [
            numpy.arange(a.size, dtype=a.dtype).reshape(a.shape) if isinstance(a, numpy.ndarray) else a
            for a in ran.arguments_like()
        ]
        compare(ran.program.text.function, *arguments, exact=False, libm=True)
