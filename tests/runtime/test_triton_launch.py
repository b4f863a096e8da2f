"""What the launcher does around the driver: packing arguments, copies that share memory."""

from __future__ import annotations

import struct
from types import SimpleNamespace

import numpy as np
import pytest

import appyc
from appyc.ir.nodes import Symbol
from appyc.ir.types import ArrayType, DType, Layout, ScalarType
from appyc.runtime.kernel_variants import packed_layout
from appyc.runtime.triton_launch import DeviceArguments, shared_memory
from tests import stand_in_cupy
from tests.triton_gen.source_runner import program_of


def test_arguments_are_aligned_to_their_size_and_two_pointers_follow():
    layout, offsets, size = packed_layout(["*fp64", "i1", "fp32", "i8", "i64"])
    assert offsets == [0, 8, 12, 16, 24, 32, 40]
    assert size == struct.calcsize(layout) == 48


def test_arrays_that_overlap_share_one_range():
    memory = np.zeros(100)
    a, b, c, other = memory[:10], memory[5:20], memory[50:60], np.zeros(3)
    shared = shared_memory([a, b, c, other])
    assert set(shared) == {id(a), id(b)}
    low, high = shared[id(a)]
    assert high - low == 20 * 8
    assert shared[id(b)] == (low, high)


def test_empty_arrays_share_nothing():
    memory = np.zeros(4)
    assert shared_memory([memory, memory[:0]]) == {}


class _HostMemory(np.ndarray):
    """Stands for CuPy's arrays, whose `data` is an address that offsets can be added to."""


class _FakeCupy:
    ndarray = _HostMemory

    def array(self, a, order):
        return np.array(a, order=order, copy=True).view(_HostMemory)

    def empty(self, shape, dtype, order):
        return np.full(shape, 7, dtype, order=order).view(_HostMemory)

    def asnumpy(self, a):
        return np.asarray(a)


def program(*params, written, overwritten=None):
    overwritten = overwritten or (False,) * len(params)
    return SimpleNamespace(params=params, written=written, overwritten=overwritten)


def test_written_arrays_come_back_and_results_are_the_callers_own():
    a = Symbol("a", 0, ArrayType(DType.FLOAT64, 1))
    b = Symbol("b", 1, ArrayType(DType.FLOAT64, 2, Layout.F))
    n = Symbol("n", 2, ScalarType(DType.FLOAT32))
    x, y = np.zeros(3), np.asfortranarray(np.zeros((2, 3)))
    memory = DeviceArguments(program(a, b, n, written=(True, False, False)), [x, y, 0.1], _FakeCupy())
    on_device = memory.values
    assert on_device[1].flags.f_contiguous
    assert on_device[2] == np.float32(0.1)
    on_device[0][:] = 5.0
    on_device[1][:] = 5.0
    memory.copy_back()
    np.testing.assert_array_equal(x, 5.0)
    np.testing.assert_array_equal(y, 0.0)
    assert memory.handed_back(on_device[0]) is x
    new = memory.handed_back(np.ones(2).view(_HostMemory))
    assert type(new) is np.ndarray


def test_what_is_overwritten_is_not_copied_to_the_device():
    a = Symbol("a", 0, ArrayType(DType.FLOAT64, 1))
    x = np.zeros(3)
    memory = DeviceArguments(program(a, written=(True,), overwritten=(True,)), [x], _FakeCupy())
    np.testing.assert_array_equal(memory.values[0], 7.0)
    memory.copy_back(complete=False)
    np.testing.assert_array_equal(x, 0.0)
    memory.copy_back()
    np.testing.assert_array_equal(x, 7.0)


def fails_late(a, b):
    for i in range(b.shape[0]):
        b[i] = a[i] * 2.0
    if a.shape[0] > 2:
        raise ValueError("too long")


def fails_early(a, b):
    if a.shape[0] > 2:
        raise ValueError("too long")
    for i in range(b.shape[0]):
        b[i] = a[i] * 2.0


@pytest.mark.parametrize("fn", [fails_late, fails_early])
def test_an_array_is_as_a_program_left_it_that_raised(fn):
    ours, theirs = np.ones(5), np.ones(5)
    with pytest.raises(ValueError, match="too long"):
        fn(np.arange(5.0), theirs)
    with stand_in_cupy.installed(), pytest.raises(ValueError, match="too long"):
        appyc.jit(fn, target="gpu", cache=False)(np.arange(5.0), ours)
    np.testing.assert_array_equal(ours, theirs)


def doubled(a, b):
    for i in range(b.shape[0]):
        b[i] = a[i] * 2.0


def test_a_guard_that_does_not_hold_copies_nothing_back():
    b = np.ones(5)
    with stand_in_cupy.installed(), pytest.raises(IndexError):
        appyc.jit(doubled, target="gpu", cache=False)(np.arange(3.0), b)
    np.testing.assert_array_equal(b[:3], [0.0, 2.0, 4.0])
    assert set(b[3:]) <= {0.0, 1.0}, "memory of the device that nobody has written"


def added(a, b):
    b += a


def padded(a, b):
    for i in range(1, b.shape[0]):
        b[i] = a[i]


def squared(a, b):
    b[:] = a * a


def read_by_a_bound(a, b):
    for i in range(b.shape[0]):
        for k in range(int(b[i])):
            b[i] = a[i] + k


def read_by_bounds_alone(a, b):
    for i in range(b.shape[0]):
        s = 0.0
        for _ in range(int(b[i])):
            s += a[i]
        b[i] = s


OVERWRITING = (doubled, squared, fails_late)


@pytest.mark.parametrize(
    "fn", [*OVERWRITING, fails_early, added, padded, read_by_a_bound, read_by_bounds_alone]
)
def test_what_is_overwritten(fn):
    assert program_of(fn, np.ones(5), np.ones(5)).overwritten == (False, fn in OVERWRITING)


@pytest.mark.gpu
def test_program_runs_on_the_gpu(tmp_path):
    pytest.importorskip("cupy")
    from appyc.runtime.cache import Cache
    from appyc.runtime.triton_launch import launch
    from tests.triton_gen.test_programs import CASES

    fn, args = CASES["scale"]
    ours, theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in args], list(args)
    launch(program_of(fn, *ours), Cache(tmp_path))(ours)
    fn(*theirs)
    np.testing.assert_array_equal(ours[1], theirs[1])
