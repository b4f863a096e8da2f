"""The array API standard's namespace, version 2024.12: every name is there, and calls give arrays of the namespace."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import appyc.numpy as np
from appyc.lazy.arrays import Array

CONSTANTS = "e inf nan newaxis pi"
CREATION = """
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril
triu zeros zeros_like
"""
DATA_TYPES = """
astype broadcast_arrays broadcast_to can_cast finfo iinfo isdtype result_type bool int8 int16 int32
int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
"""
UNARY = """
abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite
isinf isnan log log1p log2 log10 logical_not negative positive real reciprocal round sign signbit
sin sinh square sqrt tan tanh trunc
"""
BINARY = """
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide
equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or
logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract
"""
OTHERS = """
clip take take_along_axis vecdot matmul matrix_transpose tensordot broadcast_to concat expand_dims
flip moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin
count_nonzero nonzero searchsorted where unique_all unique_counts unique_inverse unique_values
argsort sort cumulative_prod cumulative_sum max mean min prod std sum var all any diff
"""
LINALG = """
cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank
matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
"""
FFT = "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift"
ATTRIBUTES = "dtype device mT ndim shape size T"
METHODS = """
__abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__ __dlpack_device__ __eq__
__float__ __floordiv__ __ge__ __getitem__ __gt__ __index__ __int__ __invert__ __le__ __lshift__
__lt__ __matmul__ __mod__ __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __rshift__ __setitem__
__sub__ __truediv__ __xor__ to_device __iadd__ __radd__ __imatmul__ __rmatmul__ __ipow__ __rpow__
__ilshift__ __rxor__
"""


def test_every_name_of_the_standard_is_there() -> None:
    space = np.ones(3).__array_namespace__(api_version="2024.12")
    assert space is np
    for names in (CONSTANTS, CREATION, DATA_TYPES, UNARY, BINARY, OTHERS):
        assert [n for n in names.split() if not hasattr(space, n)] == []
    assert [n for n in LINALG.split() if not hasattr(space.linalg, n)] == []
    assert [n for n in FFT.split() if not hasattr(space.fft, n)] == []
    for array in (np.ones((2, 2)), np.ones(3).sum()):
        assert [n for n in ATTRIBUTES.split() if n != "mT" and not hasattr(array, n)] == []
    assert [n for n in METHODS.split() if not hasattr(np.ones((2, 2)), n)] == []


def test_other_versions_are_refused() -> None:
    with pytest.raises(ValueError, match="Version"):
        np.ones(3).__array_namespace__(api_version="1066.01")


def test_the_namespace_tells_of_itself() -> None:
    info = np.__array_namespace_info__()
    assert info.default_device() == "cpu"
    assert info.capabilities()["boolean indexing"]
    assert info.default_dtypes()["real floating"] == numpy.float64
    assert "float32" in info.dtypes(kind="real floating")
    assert np.__array_api_version__ >= "2024.12"


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int32", "uint8", "bool"])
def test_functions_place_by_place(dtype: str) -> None:
    values = numpy.array([[1, 0, 1], [1, 1, 0]]).astype(dtype)
    ours = np.asarray(values)
    for names, count in ((UNARY, 1), (BINARY, 2)):
        for name in names.split():
            try:
                with numpy.errstate(all="ignore"):
                    wanted = getattr(numpy, name)(*[values] * count)
            except TypeError:
                with pytest.raises(TypeError):
                    getattr(np, name)(*[ours] * count)
                continue
            found = getattr(np, name)(*[ours] * count)
            assert isinstance(found, np.ndarray), name
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), name
            assert numpy.allclose(numpy.asarray(found), wanted, equal_nan=True), name


def test_results_belong_to_the_namespace() -> None:
    a = np.reshape(np.arange(6.0), (2, 3))
    found: list[Any] = [
        np.zeros(3, device="cpu"),
        np.asarray([1, 2], device="cpu"),
        np.linspace(0, 1, 3),
        np.eye(2),
        np.full((2,), 1.0),
        a.mT,
        np.concat((a, a)),
        np.stack([a, a]),
        *np.unstack(a),
        np.take(a, np.asarray([1]), axis=1),
        np.sort(a),
        np.where(a > 1, a, 0),
        np.linalg.inv(np.eye(2)),
        *np.linalg.svd(a),
        *np.linalg.eigh(np.eye(2)),
        np.fft.fft(a),
        *np.unique_all(a),
        *np.nonzero(a),
        *np.broadcast_arrays(a, a[0]),
        *np.meshgrid(a[0], a[1]),
        np.astype(a, np.float32),
        np.cumulative_sum(a, axis=1),
        np.matmul(a, a.mT),
        np.tensordot(a, a, axes=((0,), (0,))),
        np.vecdot(a, a),
        np.tril(a),
        np.from_dlpack(np.ones(2)),
        np.mean(a),
        np.max(a, axis=0),
        np.argsort(a),
        np.searchsorted(a[0], a[1]),
        np.tile(a, (2, 2)),
        np.repeat(a, 2),
        a.to_device("cpu"),
    ]
    assert [type(f).__name__ for f in found if not isinstance(f, Array | numpy.generic)] == []


def test_in_place_and_masks() -> None:
    a = np.asarray([1.0, -2.0, 3.0])
    b = a
    b += 1
    assert a is b
    a[a < 0] = 0
    a[0] = np.asarray(7.0)
    assert a.tolist() == [7, 0, 4]
    assert (a[a > 0] == np.asarray([7.0, 4.0])).all()
    with pytest.raises(ValueError, match="device"):
        a.to_device("tpu")
