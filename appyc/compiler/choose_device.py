"""Device selection for target="auto": whether a call with arguments in host memory runs on the CPU or the GPU.

A call with an array in GPU memory runs there. Any other call needs transfers both ways, and runs there only if
the cost model predicts a gain. A function that cannot be compiled for the GPU runs on the CPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import FunctionType

from appyc.compiler.analyse import Analysed, analyse
from appyc.compiler.captured_values import Captured
from appyc.compiler.forecast import Forecast, Forecaster
from appyc.compiler.requests import Request
from appyc.errors import CompileError
from appyc.frontend.source import Source
from appyc.options import Options
from appyc.runtime import machine_rates
from appyc.runtime.frame import flat_values
from appyc.runtime.gpu_device import cupy_with_device, gpu_numbers
from appyc.runtime.threads import get_num_threads

_Known = tuple[Analysed, Forecaster]


@dataclass(slots=True)
class DeviceChoice:
    """The choice of a device for calls of one function. staying: requests that cannot run on the GPU."""

    fn: FunctionType
    options: Options
    _known: dict[tuple[object, ...], _Known | None] = field(default_factory=dict)
    _staying: set[tuple[object, ...]] = field(default_factory=set)

    @property
    def is_open(self) -> bool:
        """Whether each call has the choice."""
        return self.options.target == "auto" and cupy_with_device() is not None

    def of(self, wanted: Request, source: Source, named: Mapping[str, object]) -> Request:
        """The request, for where the call is to run. Only one for the CPU may change."""
        if wanted.target != "cpu" or not self.is_open or wanted.key in self._staying:
            return wanted
        found = self.forecast(wanted, source, named)
        return replace(wanted, target="gpu") if found is not None and found.prefers_gpu else wanted

    def forecast(self, wanted: Request, source: Source, named: Mapping[str, object]) -> Forecast | None:
        """The predicted times of the call on CPU and GPU; None where they cannot be predicted."""
        if wanted.key not in self._known:
            self._known[wanted.key] = self._learnt(wanted, source)
        known = self._known[wanted.key]
        if known is None:
            return None
        analysed, forecaster = known
        values = flat_values(
            analysed.arguments, Captured(self.fn, analysed.outside, wanted.typeless).values(named)
        )
        return forecaster.forecast(values, machine_rates.current(), gpu_numbers(), get_num_threads())

    def stay(self, wanted: Request) -> None:
        """Records that the request cannot run on the GPU."""
        self._staying.add(wanted.key)

    def _learnt(self, wanted: Request, source: Source) -> _Known | None:
        try:
            analysed = analyse(self.fn, source, wanted, self.options)
        except CompileError:
            return None  # whoever compiles it will say so
        return analysed, Forecaster.of(analysed.function)
