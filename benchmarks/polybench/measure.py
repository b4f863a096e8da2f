"""Runs one kernel: every run is validated, and a run that is wrong has no time."""

from __future__ import annotations

import inspect
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

import appyc
from benchmarks.machine import QUIET_SECONDS, Peaks
from benchmarks.polybench.kernel import Arguments, Kernel

WARM_SECONDS = 0.2
"""A run that is shorter is repeated at once, and the second one counts: threads are awake then, and
caches hold what they hold between the calls of a program."""

Progress = Callable[[str], None]
"""Told what comes next, in a word or two."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a kernel is run.

    repeat: timed runs. numpy_limit: seconds after which no further run of NumPy starts;
    the one that makes the reference is always there. form: one of kernel.FORMS.
    """

    dataset: str
    target: str
    repeat: int
    numpy_limit: float
    form: str = "loops"


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured. `failure` says what went wrong; there is no time then.

    errors: the relative error by kind of data. seconds: of each timed run. compile_seconds:
    of the first compilation, from the cache where that has it; None where nothing is compiled.
    """

    kernel: str
    form: str
    sizes: Mapping[str, int]
    failure: str | None = None
    errors: Mapping[str, float] = field(default_factory=dict)
    compile_seconds: float | None = None
    seconds: tuple[float, ...] = ()
    numpy_seconds: tuple[float, ...] = ()
    median: float | None = None
    numpy_median: float | None = None
    speedup: float | None = None
    gflops: float | None = None
    gbytes: float | None = None
    dgemm_share: float | None = None
    triad_share: float | None = None


class ValidationError(Exception):
    """A run's result is not the reference's."""


class References:
    """What NumPy makes of a kernel, kept while the kernel's forms are run one after the other.

    At EXTRALARGE NumPy takes minutes where the compiled kernel takes seconds.
    """

    def __init__(self) -> None:
        self._of: tuple[str, str] | None = None
        self._kept: dict[str, tuple[list[float], Arguments]] = {}

    def timed(self, kernel: Kernel, given: Arguments, settings: Settings) -> tuple[list[float], Arguments]:
        """The seconds of NumPy's runs on PolyBench's data, and what they leave in the arguments."""
        return self._once(kernel, settings, "polybench", lambda: _time_numpy(kernel, given, settings))

    def random(self, kernel: Kernel, given: Arguments, settings: Settings) -> Arguments:
        """What NumPy leaves in random arguments."""

        def run() -> tuple[list[float], Arguments]:
            arguments = copied(given)
            kernel.numpy_version(**arguments)
            return [], arguments

        return self._once(kernel, settings, "random", run)[1]

    def _once(
        self, kernel: Kernel, settings: Settings, data: str, run: Callable[[], tuple[list[float], Arguments]]
    ) -> tuple[list[float], Arguments]:
        of = kernel.name, settings.dataset
        if of != self._of:
            self._of, self._kept = of, {}
        if data not in self._kept:
            self._kept[data] = run()
        return self._kept[data]


def run_kernel(
    kernel: Kernel, settings: Settings, peaks: Peaks, progress: Progress, references: References
) -> Result:
    """Never raises for a fault of the kernel or of the compiler: the result tells it."""
    sizes = kernel.sizes[settings.dataset]
    try:
        return _run(kernel, settings, peaks, progress, references)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other kernels still run
        return Result(kernel.name, settings.form, sizes, failure=f"{type(error).__name__}: {error}")


def _run(
    kernel: Kernel, settings: Settings, peaks: Peaks, progress: Progress, references: References
) -> Result:
    device = Device(settings.target)
    compiled = appyc.jit(kernel.form(settings.form).py_func, target=settings.target, strict=True)
    progress("NumPy")
    given = kernel.arguments("polybench", settings.dataset)
    numpy_seconds, reference = references.timed(kernel, given, settings)

    progress("compile")
    compile_seconds = None
    if settings.target != "python":
        arguments = device.arguments(kernel, given)
        start = time.perf_counter()
        compiled.compile(*arguments)
        compile_seconds = time.perf_counter() - start

    progress("random data")
    errors = {"random": _validate_random(kernel, compiled, device, settings, references)}
    errors["polybench"] = 0.0
    seconds = []
    for number in range(settings.repeat):
        progress(f"run {number + 1}/{settings.repeat}")
        elapsed, result = device.timed(kernel, compiled, given)
        errors["polybench"] = max(errors["polybench"], _checked(kernel, reference, result, "polybench"))
        seconds.append(elapsed)
    return _rated(kernel, settings, peaks, errors, compile_seconds, seconds, numpy_seconds)


def _time_numpy(kernel: Kernel, given: Arguments, settings: Settings) -> tuple[list[float], Arguments]:
    seconds: list[float] = []
    while not seconds or (len(seconds) < settings.repeat and sum(seconds) < settings.numpy_limit):
        time.sleep(QUIET_SECONDS)
        elapsed, arguments = _numpy_once(kernel, given)
        if elapsed < WARM_SECONDS:
            elapsed, arguments = _numpy_once(kernel, given)
        seconds.append(elapsed)
    return seconds, arguments


def _numpy_once(kernel: Kernel, given: Arguments) -> tuple[float, Arguments]:
    arguments = copied(given)
    with np.errstate(divide="ignore", invalid="ignore"):  # gramschmidt, on PolyBench's matrix
        start = time.perf_counter()
        kernel.numpy_version(**arguments)
        return time.perf_counter() - start, arguments


def _validate_random(
    kernel: Kernel, compiled: Any, device: Device, settings: Settings, references: References
) -> float:
    given = kernel.arguments("random", settings.dataset)
    reference = references.random(kernel, given, settings)
    _, result = device.timed(kernel, compiled, given)
    return _checked(kernel, reference, result, "random")


def _checked(kernel: Kernel, reference: Arguments, result: Arguments, data: str) -> float:
    error = kernel.error(reference, result)
    allowed = kernel.allowed_error(data)
    if not error <= allowed:
        raise ValidationError(f"wrong on {data} data: relative error {error:.1e} exceeds {allowed:.0e}")
    return error


def _rated(
    kernel: Kernel,
    settings: Settings,
    peaks: Peaks,
    errors: Mapping[str, float],
    compile_seconds: float | None,
    seconds: list[float],
    numpy_seconds: list[float],
) -> Result:
    """Rates from the median. Only double-precision work is compared with a dgemm."""
    sizes = kernel.sizes[settings.dataset]
    median, numpy_median = statistics.median(seconds), statistics.median(numpy_seconds)
    gflops = kernel.flops(**sizes) / median / 1e9
    gbytes = kernel.traffic(**sizes) / median / 1e9
    return Result(
        kernel.name,
        settings.form,
        sizes,
        errors=errors,
        compile_seconds=compile_seconds,
        seconds=tuple(seconds),
        numpy_seconds=tuple(numpy_seconds),
        median=median,
        numpy_median=numpy_median,
        speedup=numpy_median / median,
        gflops=gflops,
        gbytes=gbytes,
        dgemm_share=gflops / peaks.dgemm_gflops if kernel.dtype is np.float64 else None,
        triad_share=gbytes / peaks.triad_gbytes,
    )


def copied(arguments: Arguments) -> Arguments:
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arguments.items()
    }


class Device:
    """Where arguments live: NumPy's arrays, or for the GPU CuPy's, resident before the clock starts."""

    def __init__(self, target: str) -> None:
        self._cupy: ModuleType | None = None
        if target == "gpu":
            import cupy  # noqa: PLC0415 - only a GPU run needs it

            self._cupy = cupy

    def arguments(self, kernel: Kernel, given: Arguments) -> list[Any]:
        """Fresh copies, in the order of the parameters."""
        order = inspect.signature(kernel.numpy_version).parameters
        fresh = copied(given)
        return [self._to_device(fresh[name]) for name in order]

    def timed(
        self, kernel: Kernel, function: Callable[..., None], given: Arguments
    ) -> tuple[float, Arguments]:
        """Seconds of one call on fresh copies, and the arguments after it, as NumPy's arrays."""
        time.sleep(QUIET_SECONDS)
        seconds, arguments = self._once(kernel, function, given)
        if seconds < WARM_SECONDS:
            seconds, arguments = self._once(kernel, function, given)
        names = inspect.signature(kernel.numpy_version).parameters
        return seconds, {name: self._to_host(value) for name, value in zip(names, arguments, strict=True)}

    def _once(
        self, kernel: Kernel, function: Callable[..., None], given: Arguments
    ) -> tuple[float, list[Any]]:
        arguments = self.arguments(kernel, given)
        self._wait()
        start = time.perf_counter()
        function(*arguments)
        self._wait()
        return time.perf_counter() - start, arguments

    def _to_device(self, value: Any) -> Any:
        if self._cupy is not None and isinstance(value, np.ndarray):
            return self._cupy.asarray(value)
        return value

    def _to_host(self, value: Any) -> Any:
        if self._cupy is not None and isinstance(value, self._cupy.ndarray):
            return self._cupy.asnumpy(value)
        return value

    def _wait(self) -> None:
        if self._cupy is not None:
            self._cupy.cuda.get_current_stream().synchronize()
