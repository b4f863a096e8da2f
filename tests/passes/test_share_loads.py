"""What an iteration loads in any case is loaded once, also where a condition decides whether it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Function, Load
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.gpu.share_loads import share_loads
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.printed import run_printed
from tests.triton_gen.source_runner import compare


def shared(fn: Callable[..., Any], *args: object) -> Function:
    context = PassContext(Options(target="gpu"))
    before = pipeline.FOR_GPU[: pipeline.FOR_GPU.index(share_loads) + 1]
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE, *before)
    return pipeline.run(lowered(fn, *args), passes, context, verify=True)


def larger(a, b, c):
    for i in range(a.shape[0]):
        c[i] = a[i] * a[i] if a[i] > b[i] else b[i]


def inside(a, b, c):
    """Within a loop that each lane runs, and the tests of two conditions."""
    for i in range(a.shape[0]):
        s = 0.0
        for k in range(3, b.shape[0]):
            s = 0.5 * s + (b[k] if b[k] > a[i] or a[i] * b[k] < 0.1 else a[i])
        c[i] = s


def only_some(a, b, c):
    """An element that is loaded in one case stays there, as does one that is written."""
    for i in range(a.shape[0]):
        c[i] = (b[i] if a[i] > 0.5 else c[i]) * 2.0


def several(a, b, c):
    for i in range(a.shape[0]):
        t = a[i] + 1.0
        c[i] = t if t > 1.5 else a[i]
        b[i] = b[i] + (a[i] if c[i] > 1.2 else 0.0)  # read behind the store


ARGS = [np.random.default_rng(4).random(70) for _ in range(3)]


@pytest.mark.parametrize(("fn", "loads"), [(larger, 2), (inside, 2), (only_some, 3), (several, 2)])
def test_programs(fn: Callable[..., Any], loads: int) -> None:
    function = shared(fn, *ARGS)
    assert sum(isinstance(n, Load) for n in walk(function.body)) == loads
    ours, theirs = ([a.copy() for a in ARGS] for _ in range(2))
    run_printed(function, *ours)
    fn(*theirs)
    np.testing.assert_array_equal(ours, theirs)
    compare(fn, *ARGS)


def test_masks_are_left_where_all_lanes_load() -> None:
    text = compare(larger, *ARGS, build=False).text
    assert "mask=chosen" not in text


def test_text(golden: Callable[[str, str], None]) -> None:
    golden("ir/share_loads.txt", print_function(shared(larger, *ARGS)))


def test_without_parallel_loops_nothing_changes() -> None:
    def nothing(a):
        return a.shape[0]

    function = shared(nothing, np.zeros(3))
    assert share_loads(function, PassContext(Options(target="gpu"))) is function
