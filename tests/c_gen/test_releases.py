"""Temporaries give their memory back where nobody looks at them any more, and not before."""

from __future__ import annotations

import numpy as np

import appyc
from appyc.c_gen.c_function import arrays_gone
from appyc.compiler.analyse import analyse
from appyc.compiler.requests import Request
from appyc.errors import Loc
from appyc.frontend.source import read_source
from appyc.ir.nodes import Alloc
from appyc.options import Options
from appyc.runtime.signature import typeof


def stages(a, n):
    first = np.zeros(a.shape[0])
    for i in range(1, a.shape[0]):
        first[i] = first[i - 1] * 0.5 + a[i]
    for _ in range(n):
        again = np.zeros(a.shape[0] + 1)
        for i in range(a.shape[0]):
            again[i + 1] = again[i] + first[i]
        for i in range(a.shape[0]):
            first[i] = again[a.shape[0] - i]
    second = np.zeros(a.shape[0])
    for i in range(1, a.shape[0]):
        second[i] = second[i - 1] * 0.25 + first[a.shape[0] - i]
    third = np.zeros(a.shape[0])
    if n > 1:
        for i in range(1, a.shape[0]):
            third[i] = third[i - 1] - second[i] * a[i]
    return third, second[0]


def test_an_array_goes_after_its_last_statement_if_memory_is_wanted_later() -> None:
    args = {"a": np.arange(9.0), "n": 2}
    loc = Loc(__file__, 1)
    types = {name: typeof(value, name, loc) for name, value in args.items()}
    function = analyse(stages, read_source(stages), Request(types, {}, "cpu"), Options()).function
    made = {s.array: at for at, s in enumerate(function.body) if isinstance(s, Alloc)}
    first, second, third = made
    ((last, gone),) = arrays_gone(function, frozenset(made)).items()
    assert gone == [first]  # an element of the second is a result, and so is the third
    assert made[second] < last < made[third]


def test_what_went_is_not_read_any_more() -> None:
    compiled = appyc.jit(stages)
    for size, n in ((9, 2), (40_000, 3), (5, 0), (1, 1), (40_000, 1)):
        a = np.random.default_rng(size).standard_normal(size)
        for _ in range(2):  # the second time, with memory that was given back
            third, number = compiled(a, n)
            wanted, other = stages(a, n)
            np.testing.assert_allclose(third, wanted)
            assert number == other
