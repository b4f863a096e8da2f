"""Lists that a function makes: what is refused, and then runs in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appyc
from tests.e2e.harness import run_everywhere


def _of_two_types(n):  # type: ignore[no-untyped-def]
    out = [0]
    for k in range(n):
        out.append(k * 0.5)
    return np.array(out)


def _of_arrays(n):  # type: ignore[no-untyped-def]
    out = []
    for k in range(n):
        out.append(np.ones(3) * k)
    return np.array(out)


def _with_two_names(n):  # type: ignore[no-untyped-def]
    out = []
    same = out
    for k in range(n):
        same.append(k)
    return np.array(out), len(same)


def _while_it_grows(n):  # type: ignore[no-untyped-def]
    out = [1]
    for k in out:
        if k < n:
            out.append(k + 1)
    return np.array(out)


@pytest.mark.parametrize("fn", [_of_two_types, _of_arrays, _with_two_names, _while_it_grows])
def test_what_an_array_would_not_do_is_refused_and_runs_in_python(fn: Any) -> None:
    with pytest.raises(appyc.UnsupportedError):
        appyc.jit(strict=True, cache=False, target="cpu")(fn)(3)
    for n in (0, 3):
        run_everywhere(fn, n, targets=("cpu",))
