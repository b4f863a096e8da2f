"""Detects a GPU and keeps its measured rates, for the choice between it and the CPU.

    <cache>/v1/gpu-<key>.json     the fields of `Gpu`

Looking costs nothing where there is none: CuPy, which is slow to import, is asked only if it and
Triton are installed and the system has a device. The numbers are measured when a call first has
the choice, and kept as those of the machine are (`appyc.runtime.machine_rates`).
"""

from __future__ import annotations

import json
import os.path
from dataclasses import asdict, fields
from functools import cache
from importlib.util import find_spec
from typing import Any

from appyc import options
from appyc.ir.machine_model import Gpu
from appyc.runtime.fingerprint import digest

_DEVICES = ("/dev/nvidiactl", "/dev/dxg")
_FIELDS = tuple(field.name for field in fields(Gpu))
_LEAST, _MOST = 1e-7, 1e9
"""Numbers outside of this are no measurements."""


@cache
def cupy_with_device() -> Any:
    """CuPy, where it finds a GPU that kernels could run on; else None."""
    if not any(os.path.exists(device) for device in _DEVICES):
        return None
    if find_spec("cupy") is None or find_spec("triton") is None:
        return None
    import cupy  # noqa: PLC0415

    return cupy if cupy.is_available() else None


@cache
def gpu_numbers() -> Gpu:
    """The rates of the current device: from the cache, or measured now; an ordinary one's where that fails."""
    cupy = cupy_with_device()
    if cupy is None or not options.machine_is_measured():
        return Gpu()
    from appyc.runtime.cache import Cache  # noqa: PLC0415

    known = Cache(options.cache_dir())
    file = f"gpu-{digest(device_name(cupy))[:32]}.json"
    found = _read(known.read_text(file))
    if found is None:
        found = _measured(cupy)
        known.write_text(file, json.dumps(asdict(found)))
    return found


def device_name(cupy: Any) -> str:
    """The current device, with the version of its driver."""
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    return f"{properties['name']!r} {cupy.cuda.runtime.driverGetVersion()}"


def _measured(cupy: Any) -> Gpu:
    from appyc.runtime.measure_gpu import measure_gpu  # noqa: PLC0415  (once for a device)

    try:
        found = measure_gpu(cupy)
    except (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.memory.OutOfMemoryError, MemoryError):
        return Gpu()
    return found if _is_plausible(asdict(found)) else Gpu()


def _read(text: str | None) -> Gpu | None:
    try:
        content = json.loads(text or "")
        numbers = {name: float(content[name]) for name in _FIELDS}
    except (ValueError, TypeError, KeyError):
        return None
    return Gpu(**numbers) if _is_plausible(numbers) else None


def _is_plausible(numbers: dict[str, float]) -> bool:
    return all(_LEAST <= number <= _MOST for number in numbers.values())
