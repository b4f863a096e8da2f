"""Stand-in for CUDA's libdevice in Triton's interpreter: the same functions by NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from appyc.ir.intrinsics import INTRINSICS

_NUMPY: dict[str, Callable[..., Any]] = {
    "pow": np.power,
    **{name: getattr(np, info.numpy.removeprefix("np.")) for name, info in INTRINSICS.items()
       if info.numpy.startswith("np.")},
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "erfc": np.vectorize(math.erfc, otypes=[np.float64]),
    "tgamma": np.vectorize(lambda x: _gamma(math.gamma, x), otypes=[np.float64]),
    "lgamma": np.vectorize(lambda x: _gamma(math.lgamma, x), otypes=[np.float64]),
}  # fmt: skip


def _gamma(function: Callable[[float], float], x: float) -> float:
    """Infinite where it overflows and at its poles, but NaN where it has no sign there."""
    try:
        return function(x)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.copysign(math.inf, x) if x == 0 or function is math.lgamma else math.nan


class Libdevice:
    """Stands for `triton.language.extra.libdevice`, whose functions do nothing in the interpreter."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _NUMPY:
            raise AttributeError(f"libdevice.{name}")
        return lambda *args: _elementwise(_NUMPY[name], args)


def _elementwise(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    import triton.language as tl  # noqa: PLC0415
    from triton.runtime.interpreter import TensorHandle  # noqa: PLC0415

    dtype = args[0].dtype
    data = function(*(a.handle.data for a in args)).astype(args[0].handle.data.dtype)
    shape = next((list(a.shape) for a in args if a.type.is_block()), None)
    type_ = dtype if shape is None else tl.block_type(dtype, shape)
    return tl.tensor(TensorHandle(data, dtype), type_)
