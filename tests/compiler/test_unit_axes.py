"""Calls with axes of length 1 have versions of their own, which the dispatcher finds."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

import appyc
from appyc.compiler.cpu import CpuCompiler
from appyc.compiler.demanded_versions import MOST
from tests.e2e.harness import run_everywhere


def standardised(a, b, c):
    return (a - b) / c


def layer(w, x, b):
    return np.maximum(w @ x + b, 0.0)


def scaled(out, a, b):
    out[:, :] = a * b
    out += b


def made(*shapes):
    rng = np.random.default_rng(1)
    return tuple(rng.uniform(1, 2, shape) for shape in shapes)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [standardised, layer, scaled], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize(
    "shapes",
    [((6, 6), (6, 6), (6, 1)), ((6, 6), (6, 1), (1, 6)), ((6, 6), (1, 6), (6, 6)), ((1, 6), (6, 1), (1, 1)),
     ((6, 6), (2, 6), (6, 1)), ((6, 6), (1, 1), (1, 1))],
    ids=str,
)  # fmt: skip
def test_as_in_python(fn, shapes):
    run_everywhere(fn, *made(*shapes))


def test_the_plain_version_is_not_needed():
    jitted = appyc.jit(standardised, cache=False, target="cpu")
    args = made((6, 4), (1, 4), (6, 1))
    with mock.patch.object(CpuCompiler, "version", autospec=True, side_effect=CpuCompiler.version) as version:
        for _ in range(3):
            assert np.array_equal(jitted(*args), standardised(*args))
    assert not any(call.kwargs.get("plain") for call in version.call_args_list)


def test_known_patterns_need_no_python():
    jitted = appyc.jit(standardised, cache=False, target="cpu")
    stretched, whole = made((6, 4), (1, 4), (6, 1)), made((6, 4), (6, 4), (6, 4))
    for args in (whole, stretched, whole):
        jitted(*args)
    with mock.patch.object(type(jitted), "_call", side_effect=AssertionError("a known call")):
        for args in (stretched, whole, stretched):
            assert np.array_equal(jitted(*args), standardised(*args))


def test_beyond_so_many_patterns_the_plain_version_serves():
    jitted = appyc.jit(standardised, cache=False, target="cpu")
    shapes = [((6, 4), (1, 4), (6, 1)), ((6, 4), (6, 1), (6, 1)), ((6, 1), (1, 4), (6, 1)),
              ((1, 4), (6, 4), (1, 1)), ((6, 4), (1, 1), (6, 1)), ((6, 4), (6, 1), (1, 1))]  # fmt: skip
    assert len(shapes) > MOST
    for _ in range(2):
        for one in shapes:
            args = made(*one)
            assert np.array_equal(jitted(*args), standardised(*args))
    with pytest.raises(ValueError, match="broadcast"):
        jitted(*made((6, 4), (3, 1), (6, 1)))
