"""The rows of the ziggurats by which NumPy draws normal and exponential numbers, asked of NumPy itself.

A row has a threshold, a width and a height: a random integer below the threshold, times the width, is the number.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

_WORD = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)
_HALF = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)
_DOUBLE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)

_NEW_CAPSULE = ctypes.pythonapi.PyCapsule_New
_NEW_CAPSULE.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_NEW_CAPSULE.restype = ctypes.py_object


class _Bits(ctypes.Structure):
    """NumPy's `bitgen_t`."""

    _fields_ = (
        ("state", ctypes.c_void_p),
        ("word", _WORD),
        ("half", _HALF),
        ("double", _DOUBLE),
        ("raw", _WORD),
    )


class _Scripted:
    """A bit generator whose next word is given; it counts what is taken behind that."""

    def __init__(self) -> None:
        self.given, self.taken = 0, 0
        word = _WORD(self._word)
        self._bits = _Bits(None, word, _HALF(lambda _: 0), _DOUBLE(self._double), word)
        self.capsule = _NEW_CAPSULE(ctypes.addressof(self._bits), b"BitGenerator", None)
        self.lock = threading.Lock()

    def _word(self, _: object) -> int:
        self.taken += 1
        return self.given if self.taken == 1 else 2 << 3  # this one is below all thresholds

    def _double(self, _: object) -> float:
        self.taken += 1
        return 0.5


def _rows(method: str, bits: int, word: Callable[[int, int], int], height: Callable[[float], float]) -> Array:
    """threshold, width and height of each row. word: the one that has an integer of so many bits in a row."""
    source: Any = _Scripted()
    draw = getattr(np.random.Generator(source), method)

    def number(row: int, integer: int) -> float:
        source.given, source.taken = word(row, integer), 0
        found: float = draw()
        return found

    def is_sure(row: int, integer: int) -> bool:
        return math.isfinite(number(row, integer)) and source.taken == 1

    widths = np.array([number(row, 1) for row in range(256)])
    right = widths * 2.0**bits  # the right ends of rows; a number left of that of the row above is sure
    right[0] = 0.0
    out = np.zeros((256, 3))
    for row in range(256):
        threshold = int(right[row - 1] / widths[row])
        while is_sure(row, threshold):
            threshold += 1
        while threshold > 0 and not is_sure(row, threshold - 1):
            threshold -= 1
        out[row] = threshold, widths[row], height(right[row])
    out.flags.writeable = False
    return out


NORMAL = _rows("standard_normal", 52, lambda row, n: row | n << 9, lambda x: math.exp(-0.5 * x * x))
EXPONENTIAL = _rows("standard_exponential", 53, lambda row, n: row << 3 | n << 11, lambda x: math.exp(-x))
