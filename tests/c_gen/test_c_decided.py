"""Loops that are left once what they look for is decided."""

from __future__ import annotations

import re

import numpy as np

import appyc
from appyc.api import JitFunction
from appyc.options import Options
from tests.c_gen.c_runner import generate


def text_of(fn, *args) -> str:
    jitted = appyc.jit(cache=False, target="cpu")(fn)
    assert isinstance(jitted, JitFunction)
    analysed = jitted._analyse(jitted._wanted(args, {}))
    return generate(analysed.function, Options(), sequential=False).text


def any_of(a):
    return (a > 0).any()


def all_of(a):
    return (a > 0).all()


def first_place(a):
    return a.argmin()


def any_and_sum(a):
    found = False
    total = 0.0
    for i in range(len(a)):
        found = found or a[i] > 0
        total += a[i]
    return found, total


def test_any_and_all_ask_after_each_part():
    assert "&& !(total))" in text_of(any_of, np.ones(3))
    assert "&& !(!total))" in text_of(all_of, np.ones(3))


def test_flags_are_as_wide_as_elements():
    assert "uint32_t total_found = 0;" in text_of(any_of, np.ones(3, np.float32))
    assert "uint8_t total_found = 0;" in text_of(any_of, np.ones(3, np.uint8))


def test_a_first_place_is_known_before_the_end():
    assert re.search(r"total\w* <= start\w* && total", text_of(first_place, np.ones(3)))


def test_a_loop_that_adds_as_well_goes_to_its_end():
    text = text_of(any_and_sum, np.ones(3))
    assert "_found" not in text
    assert "reduction(|| : found)" in text
