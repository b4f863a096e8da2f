"""Rows in the lanes of a program: each element is read once, and of a row without elements nothing is read."""

from __future__ import annotations

import numpy as np
import pytest

from tests.triton_gen.gpu_runner import cubins
from tests.triton_gen.source_runner import compare, program_of

REGISTERS = 65_536
"""Of a multiprocessor, from sm_70 on."""


def plane(*shape):
    return np.cos(np.arange(float(np.prod(shape)))).reshape(shape)


def softmax(x, y):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    y[:] = e / e.sum(axis=1, keepdims=True)


def test_text(golden):
    golden("triton_softmax_rows.txt", program_of(softmax, plane(2, 3), plane(2, 3)).text)


def test_a_row_is_read_once_and_written_once():
    x = plane(3, 5)
    program = compare(softmax, x, np.zeros_like(x), exact=False, libm=True)
    short, longer, strips = program.kernels
    assert (short.lanes, longer.lanes) == (1024, 4096)
    assert (short.num_warps, longer.num_warps) == (4, 16)
    for kernel in (short, longer):
        assert kernel.text.count("tl.load(") == 1, kernel.text
        assert kernel.text.count("tl.store(") == 1, kernel.text
        assert "barrier" not in kernel.text
    assert strips.text.count("tl.load(") == 3
    for arch in ("cuda:80", "cuda:90"):  # both fail where a kernel spills
        for kernel in cubins(program, arch, libm=True):
            assert kernel.registers * kernel.threads <= REGISTERS, kernel.name


def test_temporary_that_is_returned_has_its_memory():
    def both(x):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e, e / e.sum(axis=1, keepdims=True)

    compare(both, plane(4, 5), exact=False, build=False)
    short, *_ = program_of(both, plane(4, 5)).kernels
    assert (short.text.count("tl.load("), short.text.count("tl.store(")) == (1, 2)


def scaled_by_the_last(x, w, y):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] * w[x.shape[1] - 1]
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] - s


def test_rows_without_elements_read_nothing():
    """`w[-1]` would be read from in front of the array."""
    program = compare(scaled_by_the_last, plane(3, 0), np.zeros(0), plane(3, 0), build=False)
    loads = [line for kernel in program.kernels[:2] for line in kernel.text.splitlines() if "load(w" in line]
    assert len(loads) == 2
    assert all("mask=(0 < count)" in line for line in loads)
    compare(scaled_by_the_last, plane(3, 5), plane(5), plane(3, 5), exact=False, build=False)


def conditional(x, y):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            if x[i, j] > 0.0:
                s += x[i, j]
        for j in range(x.shape[1]):
            if x[i, j] > s:
                y[i, j] = x[i, j] * x[i, j]


def test_what_only_some_lanes_read_is_not_kept():
    kernel = compare(conditional, plane(3, 7), np.zeros((3, 7)), exact=False, build=False).kernels[0].text
    assert kernel.count("tl.load(x") == 4  # one for both conditions, three under them


def test_a_row_that_the_program_stores_is_read_again():
    def in_place(x, y):
        for i in range(x.shape[0]):
            s = 0.0
            for j in range(x.shape[1]):
                s += x[i, j] * y[i, j]
            for j in range(x.shape[1]):
                y[i, j] = (y[i, j] + x[i, j]) * s

    kernel = compare(in_place, plane(3, 7), plane(3, 7), exact=False, build=False).kernels[0].text
    assert (kernel.count("tl.load(x"), kernel.count("tl.load(y")) == (1, 2)


def normalised(x, y):
    """What is stored is read again, and stored again by an update."""
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * x[i, j] + 1.0
            s += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] *= 1.0 / s
        for j in range(x.shape[1]):
            y[i, j] = y[i, j] - x[i, j]


def from_neighbours(x, y):
    """The element of another lane is read in between."""
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] + 1.0
        for j in range(x.shape[1]):
            s += y[i, x.shape[1] - 1 - j] * (x[i, j] + 2.0)
        for j in range(x.shape[1]):
            y[i, j] = y[i, j] * s - x[i, j]


def some_again(x, y):
    """Only some lanes store again."""
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] + 1.0
            s += x[i, j]
        for j in range(x.shape[1]):
            if x[i, j] > 0.0:
                y[i, j] = y[i, j] / (s + 100.0)
        for j in range(x.shape[1]):
            y[i, j] = y[i, j] + (y[i, j] if y[i, j] > 0.3 else x[i, j])


def into_two(x, y):
    """An element that all lanes share, of the array whose elements are kept."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] + 1.0
        y[i, 0] = 7.0
        s = 0.0
        for j in range(x.shape[1]):
            s += y[i, j] * x[i, j]
        for j in range(x.shape[1]):
            y[i, j] = s - y[i, j]


@pytest.mark.parametrize(
    ("fn", "loads", "stores"),
    [(normalised, 1, 1), (from_neighbours, 2, 2), (some_again, 5, 3), (into_two, 3, 3)],
)
def test_what_is_stored_is_found_in_the_lane(fn, loads, stores):
    for shape in ((3, 5), (2, 130), (3, 1), (2, 0)):
        x = plane(*shape)
        if fn is into_two and not x.size:
            continue
        program = compare(fn, x, np.zeros_like(x), exact=False, build=shape == (3, 5))
    short, *_ = program.kernels
    assert (short.text.count("tl.load("), short.text.count("tl.store(")) == (loads, stores), short.text
