"""Loops that combine into arrays, on threads: with copies, without, and the same bits every time."""

from __future__ import annotations

import itertools
from unittest import mock

import numpy as np
import pytest

import appyc
from tests.e2e.harness import _THREADS, TIGHT, call, compare, settings

KEYS = np.random.default_rng(0).integers(0, 40, 1000)
WEIGHTS = np.random.default_rng(1).uniform(-1, 1, 1000)


def histogram(h, key, w):
    for i in range(len(key)):
        h[key[i]] += w[i]


def atomic(h, key, w):
    # pragma parallel for
    for i in range(len(key)):
        # pragma atomic
        h[key[i]] += w[i]


def rows(h, key, w):
    for i in range(len(key)):
        for j in range(h.shape[1]):
            h[key[i], j] += w[i] * j


def on_threads(fn, args, copy_work):
    """What a call leaves behind when a copy of an element counts for so many operations."""
    with (
        settings("threads"),
        mock.patch("appyc.c_gen.array_copies.COPY_WORK", copy_work),
        mock.patch("appyc.c_gen.loops.loop_pieces.ATOMIC_WORK", 0),
    ):
        jitted = appyc.jit(cache=False, target="cpu")(fn)
        return call(jitted, args), jitted.source("c")


@pytest.mark.sampled
@pytest.mark.parametrize("copy_work", [0, 1, 10**15])
@pytest.mark.parametrize("fn", [histogram, atomic])
def test_the_sums_are_those_of_python_with_copies_and_without(fn, copy_work):
    args = (np.ones(40), KEYS, WEIGHTS)
    found, _ = on_threads(fn, args, copy_work)
    compare(call(fn, args), found, "threads", tolerance=TIGHT)


def test_two_runs_give_the_same_bits():
    args = (np.zeros(40), KEYS, WEIGHTS)
    first, _ = on_threads(histogram, args, 0)
    for _ in range(5):
        again, _ = on_threads(histogram, args, 0)
        assert again.args[0].tobytes() == first.args[0].tobytes()


def test_the_first_piece_adds_to_the_array_itself_and_the_others_after_it():
    args = (np.full(40, 0.1), KEYS, WEIGHTS)
    found, _ = on_threads(histogram, args, 0)
    bounds = [round(k * len(KEYS) / _THREADS + 0.3) for k in range(_THREADS + 1)]
    expected = args[0].copy()
    parts = []
    for number, (lo, hi) in enumerate(itertools.pairwise(bounds)):
        part = expected if number == 0 else np.full(40, -0.0)
        histogram(part, KEYS[lo:hi], WEIGHTS[lo:hi])
        parts.append(part)
    for part in parts[1:]:
        expected += part
    assert found.args[0].tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "array",
    [np.zeros((40, 5)), np.zeros((5, 40)).T, np.zeros((80, 10))[::2, ::-2], np.zeros((40, 0)), np.zeros((0, 5))],
    ids=["rows", "columns", "strides", "no columns", "nothing"],
)  # fmt: skip
def test_copies_of_any_layout(array):
    key = KEYS if len(array) else KEYS[:0]
    found, _ = on_threads(rows, (array, key, WEIGHTS), 0)
    compare(call(rows, (array, key, WEIGHTS)), found, "threads", tolerance=TIGHT)


def test_lanes_do_not_combine_into_arrays():
    _, text = on_threads(histogram, (np.zeros(40), KEYS, WEIGHTS), 0)
    assert "h_copies" in text
    assert "omp simd" not in text
    assert "omp atomic" not in text


def test_atomics_are_what_is_left_where_copies_do_not_pay():
    _, text = on_threads(atomic, (np.zeros(40), KEYS, WEIGHTS), 0)
    assert "omp atomic" in text
    assert "if (in_place)" in text


def test_a_loop_that_only_counts_has_no_use_for_atomics():
    with settings("cpu"):
        jitted = appyc.jit(cache=False, target="cpu")(atomic)
        call(jitted, (np.zeros(40), KEYS, WEIGHTS))
    assert ">= 50.0" in jitted.source("c")
