"""Measures a GPU's rates through CuPy: launch latency, bus and memory bandwidth, arithmetic.

Written from CuPy's documentation and tested with a stand-in for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from appyc.ir.machine_model import Gpu

_BYTES = 32 << 20
_ROUNDS = 64
"""Dependent operations of each thread."""

_CHAIN = f"double y = x; for (int k = 0; k < {_ROUNDS}; k++) y = y * 0.999 + 0.5; z = y"


def measure_gpu(cupy: Any) -> Gpu:
    """The numbers of the current device. Raises what CuPy raises."""
    wait = cupy.cuda.get_current_stream().synchronize
    host = np.ones(_BYTES // 8)
    there, result = cupy.asarray(host), cupy.empty_like(host)
    tiny = cupy.zeros(32)
    add = cupy.ElementwiseKernel("float64 x", "float64 z", "z = x + 1.0", "appyc_probe_add")
    chain = cupy.ElementwiseKernel("float64 x", "float64 z", _CHAIN, "appyc_probe_chain")
    gather = cupy.ElementwiseKernel("raw float64 x, int64 at", "float64 z", "z = x[at]", "appyc_probe_gather")
    indices = cupy.asarray(np.random.default_rng(1).integers(0, host.size, host.size // 8))

    def best(run: Callable[[], object], repeat: int = 1) -> float:
        run()
        wait()
        times = []
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(repeat):
                run()
            wait()
            times.append((time.perf_counter() - start) * 1e9 / repeat)
        return min(times)

    single = best(lambda: add(tiny, tiny))
    launch = best(lambda: add(tiny, tiny), repeat=100)
    streaming = best(lambda: add(there, result)) - single
    computing = best(lambda: chain(there, result)) - single
    gathering = best(lambda: gather(there, indices, result[: indices.size])) - single
    lone = best(lambda: chain(tiny[:1], tiny[:1])) - single
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    operations = 2 * _ROUNDS
    return Gpu(
        call=single,
        launch=launch,
        over_byte=best(lambda: cupy.asarray(host)) / _BYTES,
        back_byte=best(lambda: cupy.asnumpy(there)) / _BYTES,
        byte=_positive(streaming) / (2 * _BYTES),
        line=_positive(gathering) / indices.size,
        operation=_positive(computing) / (operations * host.size),
        lone=_positive(lone) / operations,
        full=float(properties["multiProcessorCount"]) * 512,
    )


def _positive(nanoseconds: float) -> float:
    return max(nanoseconds, 1.0)
