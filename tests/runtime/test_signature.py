from __future__ import annotations

import subprocess
import sys
from enum import IntEnum

import numpy as np
import pytest

from appyc.errors import Loc, TypeInferenceError
from appyc.ir.arguments import NoneArg, ScalarArg, TupleArg, leaves
from appyc.ir.types import ArrayType, DType, Layout
from appyc.runtime.signature import ArgumentOverflowError, is_on_gpu, typeof

HERE = Loc("f.py", 1, 6, 7)


def type_of(value):
    return typeof(value, "x", HERE)


class Gpu:
    """As CuPy's arrays describe themselves."""

    def __init__(self, shape, typestr="<f8", strides=None, readonly=False):
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": typestr, "strides": strides, "data": (64, readonly), "version": 3
        }  # fmt: skip


class Colour(IntEnum):
    RED = 3


@pytest.mark.parametrize("dtype", [d for d in DType if d.kind != "s"])
def test_array_and_scalar_of_every_dtype(dtype):
    assert type_of(np.zeros((2, 3), dtype.numpy)) == ArrayType(dtype, 2)
    assert type_of(dtype.numpy.type(1)) == ScalarArg(dtype)


def test_python_numbers():
    assert type_of(True) == ScalarArg(DType.BOOL, python=True)
    assert type_of(3) == ScalarArg(DType.INT64, python=True)
    assert type_of(Colour.RED) == ScalarArg(DType.INT64, python=True)
    assert type_of(2.0) == ScalarArg(DType.FLOAT64, python=True)
    assert type_of(2j) == ScalarArg(DType.COMPLEX128, python=True)
    assert type_of(-(2**63)) == type_of(2**63 - 1)


def test_two_names_of_one_integer_are_one_dtype():
    assert (
        type_of(np.zeros(3, np.longlong)) == type_of(np.zeros(3, np.int64)) == type_of(np.zeros(3, np.intp))
    )


def test_layouts():
    a = np.zeros((4, 6))
    found = [type_of(x).layout.value for x in (a, a.T, a[:, 1:], a[::-1], a[:1], a[0], a[:, 0], a[:0, ::2])]
    assert found == ["C", "F", "S", "S", "C", "C", "S", "C"]
    assert type_of(np.array(1.0)) == ArrayType(DType.FLOAT64, 0)
    assert type_of(np.broadcast_to(np.ones(3), (2, 3))) == ArrayType(
        DType.FLOAT64, 2, Layout.STRIDED, readonly=True
    )


def test_tuples_and_none():
    found = typeof((1, (np.zeros(2), None)), "p", HERE), typeof(None, "q", HERE)
    assert found == (TupleArg((type_of(1), TupleArg((type_of(np.zeros(2)), NoneArg())))), NoneArg())
    assert list(leaves(found)) == [type_of(1), type_of(np.zeros(2))]
    assert [str(t) for t in found] == ["(python int64, (float64[:], None))", "None"]


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        (Gpu((4, 6)), ArrayType(DType.FLOAT64, 2)),
        (Gpu((4, 6), strides=(48, 8)), ArrayType(DType.FLOAT64, 2)),
        (Gpu((4, 6), strides=(8, 32), readonly=True), ArrayType(DType.FLOAT64, 2, Layout.F, readonly=True)),
        (Gpu((4, 6), "<i4", strides=(48, 8)), ArrayType(DType.INT32, 2, Layout.STRIDED)),
        (Gpu((1, 6), strides=(999, 8)), ArrayType(DType.FLOAT64, 2)),
        (Gpu((0, 6), strides=(999, 7)), ArrayType(DType.FLOAT64, 2)),
        (Gpu(()), ArrayType(DType.FLOAT64, 0)),
    ],
)
def test_arrays_on_a_gpu(gpu, expected):
    assert type_of(gpu) == expected
    assert is_on_gpu(gpu)
    assert is_on_gpu((1, (gpu,)))


def test_numpy_and_numbers_live_on_the_host():
    assert not is_on_gpu((np.zeros(3), np.float64(1), 2, None))


@pytest.mark.parametrize(
    ("value", "found", "hint"),
    [
        ([1, 2], "argument 'x' is a list", "pass np.asarray(x)"),
        (range(3), "argument 'x' is a range", "pass np.asarray(x)"),
        ({1: 2}, "argument 'x' is a dict", "pass its values"),
        ("ab", "argument 'x' is a str", "numbers, arrays"),
        (object(), "argument 'x' is an object", "numbers, arrays"),
        (Gpu, "argument 'x' is a type", "numbers, arrays"),
        ((1, [2]), "argument 'x[1]' is a list", "pass np.asarray(x[1])"),
        (np.ma.zeros(3), "argument 'x' is a numpy.ma.MaskedArray", "pass np.asarray(x)"),
        (np.longdouble(1), "of type dtype", "x.astype(np.float64)"),
        (np.zeros(3, np.longdouble), "which is not supported", "x.astype(np.float64)"),
        (np.zeros(3, ">f8"), "an array of dtype >f8", "newbyteorder"),
        (np.zeros(3, object), "an array of dtype object", "supported are bool, int8"),
        (np.zeros(3, "M8[s]"), "an array of dtype datetime64[s]", "supported are"),
        (np.zeros(3, [("re", "S4")]), "which is not supported", "x['re'].copy()"),
        (Gpu((2,), ">f4"), "an array of dtype >f4", "newbyteorder"),
    ],
)  # fmt: skip
def test_refusal_says_what_was_found_and_what_to_do(value, found, hint):
    with pytest.raises(TypeInferenceError) as caught:
        type_of(value)
    assert found in caught.value.summary
    assert hint in caught.value.hints[0]
    assert caught.value.loc == HERE


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 10**400])
def test_integer_beyond_64_bits_is_an_overflow(value):
    with pytest.raises(OverflowError, match=r"argument 'x' is .*, which does not fit in 64 bits") as caught:
        type_of(value)
    assert isinstance(caught.value, ArgumentOverflowError)


def test_importing_the_runtime_brings_in_nothing_heavy():
    code = (
        "import sys; import appyc.runtime.dispatch, appyc.runtime.index, appyc.runtime.stored_interface;"
        "print([m for m in ('islpy', 'triton', 'cupy', 'numba', 'appyc.ir.nodes') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert out.stdout.strip() == "[]"
