"""Loops over generators become loops."""

from __future__ import annotations

import importlib
import itertools
import warnings

import numpy as np
import pytest

import appyc
from appyc.errors import FallbackWarning


def halves(n):
    while n > 0:
        yield n
        n //= 2


def test_a_generator_that_is_bound_anew_is_looked_at_again(monkeypatch):
    @appyc.jit(strict=True)
    def total(n):
        s = 0
        for k in halves(n):
            s += k
        return s

    def ones(n):
        for _ in range(n):
            yield 1

    assert total(20) == 20 + 10 + 5 + 2 + 1
    monkeypatch.setitem(globals(), "halves", ones)
    assert total(20) == 20


def of_a_list(a):
    s = 0.0
    for x, y in itertools.combinations(a, 2):
        a[5] += x
        s += x * y
    return s


def of_itself(n):
    def below(n):
        if n > 0:
            yield n
            yield from below(n - 1)

    s = 0
    for k in below(n):
        s += k
    return s


def that_returns(n):
    def until(n):
        for k in range(n):
            if k == 4:
                return
            yield k

    s = 0
    for k in until(n):
        s += k
    return s


def that_cleans_up(n):
    def all_of(n):
        try:
            yield from range(n)
        finally:
            pass

    s = 0
    for k in all_of(n):
        s += k
    return s


@pytest.mark.parametrize(
    ("kernel", "given"),
    [(of_a_list, np.arange(6.0)), (of_itself, 5), (that_returns, 9), (that_cleans_up, 4)],
)
def test_others_run_in_python(kernel, given):
    expected = kernel(np.copy(given) if isinstance(given, np.ndarray) else given)
    with pytest.raises(appyc.CompileError):
        appyc.jit(kernel, strict=True)(np.copy(given) if isinstance(given, np.ndarray) else given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        assert appyc.jit(kernel)(given) == expected


def test_a_pragma_in_a_loop_is_not_copied():
    @appyc.jit(strict=True)
    def marked(a, n):
        for k in itertools.accumulate(range(n)):
            # pragma parallel for
            for i in range(1, 9):
                a[i] += k

    with pytest.raises(appyc.UnsupportedError, match="accumulate"):
        marked(np.zeros(9), 4)


def test_names_of_another_module_are_not_this_ones(tmp_path, monkeypatch):
    (tmp_path / "of_generators.py").write_text(
        "SCALE = 3\n\ndef scaled(n):\n    for k in range(n):\n        yield SCALE * k\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    scaled = importlib.import_module("of_generators").scaled
    monkeypatch.setitem(globals(), "SCALE", 100)

    def total(n):
        s = 0
        for k in scaled(n):
            s += k
        return s

    monkeypatch.setitem(globals(), "scaled", scaled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        assert appyc.jit(total)(4) == 18


def test_a_pragma_needs_a_loop():
    @appyc.jit
    def marked(a):
        # pragma parallel for
        for k in itertools.chain(range(3), range(5)):
            a[k] = 1.0

    with pytest.raises(appyc.CompileError):
        marked(np.zeros(9))
