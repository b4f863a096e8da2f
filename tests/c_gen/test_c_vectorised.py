"""Loops that the C compiler is to compute in vectors: it is asked whether it has."""

from __future__ import annotations

import platform
import re
import shlex
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.c_gen.translation_units import MASKS
from appyc.options import Options
from appyc.runtime.toolchain import compiler_id, find_compiler, flags

needs_gcc = pytest.mark.skipif("clang" in compiler_id(), reason="the question is put in gcc's words")


def clipped(a, low, high, out):
    for i in range(a.shape[0]):
        out[i] = np.minimum(np.maximum(a[i] * 2.0, low), high)


def sum_of_clipped(a, low, high, out):
    total = 0.0
    for i in range(a.shape[0]):
        total += np.minimum(np.maximum(a[i] * 0.5, low), high)
    out[0] = total


def limited(a, low, high, out):
    for i in range(a.shape[0]):
        limit = np.minimum(np.maximum(a[i] - 0.5, low), np.maximum(0.5 - a[i], -high))
        out[i] = np.sign(limit) * np.maximum(np.abs(limit), 0.125)


@pytest.mark.sampled
@needs_gcc
@pytest.mark.parametrize("program", [clipped, sum_of_clipped, limited])
def test_choices_inside_choices_are_vectors(program: Callable[..., Any]) -> None:
    values = np.array([-1.0, 0.0, -0.0, 0.3, 0.5, 0.7, 1.5, np.inf, -np.inf, np.nan] * 3)
    jitted = appyc.jit(program)
    out, wanted = np.zeros(values.shape), np.zeros(values.shape)
    jitted(values, 0.25, 0.75, out)
    program(values, 0.25, 0.75, wanted)
    np.testing.assert_array_equal(out, wanted)

    assert is_vectorised(jitted.source("c"))


def divided(a, b, quotients, remainders):
    for i in range(a.shape[0]):
        quotients[i] = a[i] // b[i]
        remainders[i] = a[i] % b[i]


@pytest.mark.sampled
@needs_gcc
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
def test_narrow_integers_are_divided_in_vectors(dtype: type[np.integer[Any]]) -> None:
    a = np.ones(100, dtype)
    assert is_vectorised(appyc.jit(target="cpu")(divided).source("c", a, a, a, a))


def collatz(first):
    x, steps = first, 0
    while x != 1:
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        steps += 1
    return steps


@pytest.mark.sampled
@needs_gcc
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the instruction is one of x86")
def test_a_short_choice_is_no_branch() -> None:
    jitted = appyc.jit(target="cpu")(collatz)
    assert jitted(27) == collatz(27)
    assert "cmov" in compiled(jitted.source("c"), "-S", "-o", "-").stdout.split("kernel_collatz:")[0]


def least_in_windows(a, width, out):
    for i in range(len(a)):
        least = a[i]
        count = 0
        for j in range(max(i - width + 1, 0), i + 1):
            if np.isnan(a[j]):
                continue
            if np.isnan(least) or a[j] < least:
                least = a[j]
            count += 1
        out[i] = least if count else 0.0


@needs_gcc
def test_each_loop_over_masked_lanes_is_vectors() -> None:
    a = np.ones(100)
    text = appyc.jit(target="cpu")(least_in_windows).source("c", a, 5, a.copy())
    found = compiled(text, *flags(Options(), needs=[MASKS]), "-fopt-info-vec", "-o", "/dev/null").stderr
    vectors = {line.split(":")[1] for line in found.splitlines() if "loop vectorized" in line}
    assert len(vectors) == text.count("#pragma omp simd") == 6


def spread(cells, cut, steps):
    new = cells.copy()
    for _ in range(steps):
        for i in range(1, min(cut, len(cells) - 1)):
            new[i] = cells[i - 1] ^ cells[i + 1]
        for i in range(cut, len(cells)):
            cells[i] = new[i]


@needs_gcc
def test_short_loops_in_a_loop_begin_without_a_call() -> None:
    text = appyc.jit(target="cpu")(spread).source("c", np.ones(20, np.int64), 3, 5)
    assert all(f"{name}(" in text for name in ("trip_count", "min_int64", "threads_may_pay"))
    called = set(re.findall(r"call\s+(\w+)", compiled(text, "-S", "-o", "-").stdout))
    assert not called & {"trip_count", "min_int64", "max_int64", "threads_may_pay"}


def is_vectorised(text: str) -> bool:
    """Whether the C compiler makes vectors of some loop."""
    return "loop vectorized" in compiled(text, "-fopt-info-vec", "-o", "/dev/null").stderr


def compiled(text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """The C compiler's run on a text, with the flags for kernels and further ones."""
    command = [*shlex.split(find_compiler()), *flags(Options()), *options, "-x", "c", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True)
