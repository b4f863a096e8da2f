"""float16: elements of two bytes, whose operations are computed in float32 and rounded one by one."""

import numpy as np
from scipy import special

from tests.programs.registry import C_ONLY, Programs, floats, ints

PROGRAMS = Programs(strict=True)

_ALL = np.arange(65536, dtype=np.uint16).view(np.float16)
"""Each of them, with subnormal numbers, infinities and all NaNs."""
_FEW = np.concatenate([_ALL[::97], np.array([np.inf, -np.inf, np.nan, 6e-8, -0.0, 65504.0], np.float16)])
_FINITE = _ALL[np.isfinite(_ALL)]
_BETWEEN = (_FINITE[:-1].astype(np.float64) + _FINITE[1:]) / 2
"""What lies halfway between two neighbours, where rounding is to even."""


def _halves(n: int, seed: int = 0) -> np.ndarray:
    return floats(n, dtype=np.float16, seed=seed)


@PROGRAMS.on(_ALL, targets=C_ONLY)
@PROGRAMS.on(_FEW)
def widened(a):
    return a.astype(np.float32), a.astype(np.float64), a.astype(np.complex64), a.astype(bool)


@PROGRAMS.on(_FINITE, targets=C_ONLY)
@PROGRAMS.on(_FINITE[::97])
def to_integers(a):
    return a.astype(np.int64), a.astype(np.int32)


@PROGRAMS.on(np.concatenate([_BETWEEN, np.nextafter(_BETWEEN, np.inf), np.nextafter(_BETWEEN, 0)]), targets=C_ONLY)
@PROGRAMS.on(np.array([65519.999, 65520.0, 1e300, -np.inf, np.nan, 2.0**-25, 2.0**-25 * 1.0001, 1e-30]))
def narrowed(a):
    return a.astype(np.float16), a.astype(np.float32).astype(np.float16)


@PROGRAMS.on(np.concatenate([np.arange(-70000, 70000, 7), np.array([2**62, 2**24 + 1])]))
@PROGRAMS.on(ints(9, dtype=np.uint8))
def from_integers(a):
    return a.astype(np.float16), np.float16(a[0]) + a[1:].astype(np.float16)


@PROGRAMS.on(_ALL, _ALL[::-1].copy(), targets=C_ONLY)
@PROGRAMS.on(_FEW, _FEW[::-1])
def operations(a, b):
    return a + b, a - b, a * b, a / b, a % b, -a, abs(a), np.sqrt(abs(a)), np.maximum(a, b), a < b, a == b, np.isnan(a)


@PROGRAMS.on(_halves(9), 0.1)
@PROGRAMS.on(_halves(9), np.float16(0.1))
@PROGRAMS.on(_halves(9), np.float32(0.1))
@PROGRAMS.on(_halves(9), 3)
@PROGRAMS.on(_halves(9), np.int16(3))
@PROGRAMS.on(_halves(9), 1.5j)
def promotions(a, x):
    return a * x, a + 0.1, a[0] * x, x + a[1], np.where(a > 0, a, x)


@PROGRAMS.on(_halves(300), _halves(300, 1), np.zeros(300, np.float16))
@PROGRAMS.on(_halves(12)[::2], _halves(6, 1), np.zeros(6, np.float16)[::-1])
def smoothed(a, b, out):
    largest = a[0]
    for i in range(len(a)):
        if a[i] > largest:
            largest = a[i]
    for i in range(1, len(a)):
        t = a[i] * b[i]
        out[i] = 0.25 * out[i - 1] + t
        out[i] += a[i - 1]
    return largest, t, float(t), out


@PROGRAMS.on(_halves(4000), _halves(4000, 1))
def summed_in_parallel(a, b):
    out = np.empty(len(a), np.float16)
    total = 0.0
    #pragma parallel for reduction(+: total)
    for i in range(len(a)):
        out[i] = a[i] * b[i] + a[i]
        total += float(out[i])
    return out, round(total, 6)


@PROGRAMS.on(_halves(99))
@PROGRAMS.on(_ALL[:1])
def reduced(a):
    return a.max(), a.min(), a.argmax(), np.sum(a, dtype=np.float32), a.astype(np.float32).sum(), a.std(), a.copy()


@PROGRAMS.on(np.array([1, 4, 100], np.int8))
@PROGRAMS.on(np.array([1, 4, 200], np.uint8))
@PROGRAMS.on(np.array([True, False]))
@PROGRAMS.on(np.array([1, 0.25, 0.5], np.float16))
def roots_of_small_numbers(a):
    return np.sqrt(a), np.sqrt(a) * 2, np.deg2rad(a), np.angle(a), np.hypot(a, a)


@PROGRAMS.on(np.array([1, 4, 100], np.int8))
@PROGRAMS.on(np.array([1, 4, 100], np.int16))
@PROGRAMS.on(np.array([True, False]))
def functions_of_small_numbers(a):
    return np.i0(a), np.sinc(a), special.erf(a), special.xlogy(a, a), special.kl_div(a, a)


@PROGRAMS.on(np.float16(1.5), True, joined=True)
@PROGRAMS.on(np.float16(1.5), False, joined=True)
def a_literal_beyond_it(x, takes):
    y = x if takes else 1e5
    return y


def _counted(n: int, dtype: type) -> np.ndarray:
    return np.arange(1, n + 1).astype(dtype)


@PROGRAMS.on(_counted(4, np.float16), _counted(3, np.float16))
@PROGRAMS.on(_counted(15, np.float16), _counted(3, np.float16))
@PROGRAMS.on(_counted(4, np.float32), _counted(3, np.float32))
def convolved(a, b):
    return np.convolve(a, b)


@PROGRAMS.on(_counted(4, np.uint16), 3)
@PROGRAMS.on(_counted(18, np.uint16), 3)
@PROGRAMS.on(_counted(4, np.uint8), 3)
@PROGRAMS.on(_counted(18, np.float16), 3)
def sums_around(a, reach):
    out = np.zeros_like(a)
    #pragma parallel for
    for i in range(len(a)):
        total = out[i]
        for k in range(max(0, i - reach + 1), min(len(a), i + 1)):
            total = out.dtype.type(np.float32(total) + np.float32(a[k]) * np.float32(2))
        out[i] = total
    return out


_LARGE = floats(30, 40, dtype=np.float16, seed=3) * np.float16(300) + np.float16(400)
"""Of which sums along an axis and of all are no numbers of float16."""


@PROGRAMS.on(_LARGE)
@PROGRAMS.on(_LARGE.T)
def means_of_large_sums(a):
    masked = a[a > 300].mean(), np.mean(a, where=a < 300)
    return a.mean(), a.mean(axis=0), np.mean(a, axis=1, keepdims=True), np.average(a, axis=0), masked


@PROGRAMS.on(_halves(3001))
def means_in_their_own_type(a):
    return np.mean(a, dtype=np.float32), np.mean(a * 0 + np.float16(0.5), dtype=np.float16)
