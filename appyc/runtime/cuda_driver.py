"""The CUDA driver's function that launches kernels, for `Launcher`, which calls it by its address."""

from __future__ import annotations

import ctypes
from functools import cache

from appyc.errors import ToolchainError

_LIBRARY = "libcuda.so.1"


@cache
def launch_address() -> int:
    """Of cuLaunchKernel, in the library that CuPy has loaded."""
    try:
        function = ctypes.CDLL(_LIBRARY).cuLaunchKernel
    except (OSError, AttributeError) as error:
        raise ToolchainError(f"the CUDA driver cannot be called: {error}") from error
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address
