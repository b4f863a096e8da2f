"""What this machine is, and what it can reach: matrix products per second, bytes per second.

Both figures are measured, once per machine and device, and kept in the user's cache folder:
a kernel's rate means little without them.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import json
import math
import os
import platform
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType

import numpy as np

from appyc import options

TRIAD_SOURCE = """
void fill(double *a, double value, long n, int threads)
{
    #pragma omp parallel for num_threads(threads) schedule(static)
    for (long i = 0; i < n; i++)
        a[i] = value;
}

void triad(double *restrict a, const double *restrict b, const double *restrict c,
           double factor, long n, int threads)
{
    #pragma omp parallel for num_threads(threads) schedule(static)
    for (long i = 0; i < n; i++)
        a[i] = b[i] + factor * c[i];
}
"""

TRIAD_LENGTH = 1 << 25
"""Elements of each of the three vectors: together they exceed any cache."""

DGEMM_SIZE = 2048

TRIALS = 7

QUIET_SECONDS = 0.1
"""Before each timed run: the threads of NumPy's BLAS spin for a while after a product (a run's before, or the
one that validated it), and would take the cores from whatever is timed next."""


@dataclass(frozen=True, slots=True)
class Peaks:
    """The best that was measured: double-precision matrix product, and STREAM's triad."""

    dgemm_gflops: float
    triad_gbytes: float


@dataclass(frozen=True, slots=True)
class Machine:
    """What a result was measured on."""

    cpu: str
    threads: int
    system: str
    compiler: str
    blas: str
    gpu: str | None
    versions: Mapping[str, str]


class MeasurementError(Exception):
    """The machine lacks what a measurement needs; the message says what to install."""


def describe(device: str) -> Machine:
    """device: "cpu" or "gpu"."""
    return Machine(
        cpu=_cpu_model(),
        threads=options.num_threads(),
        system=platform.platform(),
        compiler=_compiler_version(),
        blas=_blas(),
        gpu=_gpu_name() if device == "gpu" else None,
        versions=_versions(),
    )


def write_results(file: Path, content: Mapping[str, object]) -> None:
    """What a benchmark has measured, as JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1) + "\n")


def write_rows(file: Path, command: str, rows: Sequence[Mapping[str, object]]) -> None:
    """What a benchmark has measured on the CPU, with the command that made it, the machine, and its load."""
    machine, load = asdict(describe("cpu")), os.getloadavg()[0]
    write_results(file, {"command": command, "machine": machine, "load": load, "rows": rows})


def peaks(machine: Machine, remeasure: bool = False) -> Peaks:
    """The peaks of the machine, or of its GPU where it names one: from the cache, or measured now."""
    file = options.cache_dir() / "benchmark-peaks.json"
    key = _key(machine)
    known = _read(file)
    if not remeasure and key in known:
        return Peaks(**known[key])
    measured = _measure_gpu() if machine.gpu else _measure_cpu(machine.threads)
    _write(file, {**known, key: asdict(measured)})
    return measured


def _key(machine: Machine) -> str:
    """What the peaks depend on. NumPy brings the BLAS that is measured."""
    known = replace(machine, versions={"numpy": machine.versions["numpy"]})
    return json.dumps(asdict(known), sort_keys=True)


def _read(file: Path) -> dict[str, dict[str, float]]:
    try:
        content = json.loads(file.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return content if isinstance(content, dict) else {}


def _write(file: Path, content: Mapping[str, object]) -> None:
    """Whole or not at all: another run may read it now."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False) as temporary:
        json.dump(content, temporary, indent=1)
    os.replace(temporary.name, file)


# ---------------------------------------------------------------- measuring


def _best(run: Callable[[], object]) -> float:
    """Seconds of the fastest of several runs, after one that does not count."""
    run()
    seconds = math.inf
    for _ in range(TRIALS):
        start = time.perf_counter()
        run()
        seconds = min(seconds, time.perf_counter() - start)
    return seconds


def _measure_cpu(threads: int) -> Peaks:
    n = DGEMM_SIZE
    a, b, c = (np.full((n, n), value) for value in (1.0, 2.0, 0.0))
    dgemm = 2 * n**3 / _best(lambda: np.matmul(a, b, out=c)) / 1e9
    with tempfile.TemporaryDirectory() as folder:
        library = ctypes.CDLL(str(_compile_triad(Path(folder))))
        triad = _triad(library, threads)
    return Peaks(dgemm, triad)


def _compile_triad(folder: Path) -> Path:
    compiler = shlex.split(options.c_compiler() or "cc")
    source, library = folder / "triad.c", folder / "triad.so"
    source.write_text(TRIAD_SOURCE)
    command = [
        *compiler,
        "-O3",
        "-march=native",
        "-fopenmp",
        "-shared",
        "-fPIC",
        "-o",
        str(library),
        str(source),
    ]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise MeasurementError(
            f"measuring this machine needs a C compiler, and {compiler!r} is not there; "
            "on Debian and Ubuntu: sudo apt-get install gcc"
        ) from error
    except subprocess.CalledProcessError as error:
        raise MeasurementError(f"{compiler} cannot compile the bandwidth test:\n{error.stderr}") from error
    return library


def _triad(library: ctypes.CDLL, threads: int) -> float:
    vectors = [np.empty(TRIAD_LENGTH) for _ in range(3)]
    pointers = [ctypes.c_void_p(vector.ctypes.data) for vector in vectors]
    length = ctypes.c_long(TRIAD_LENGTH)
    for pointer in pointers:  # by the threads that use them, so that pages lie near their cores
        library.fill(pointer, ctypes.c_double(1.0), length, threads)
    seconds = _best(lambda: library.triad(*pointers, ctypes.c_double(3.0), length, threads))
    if vectors[0][0] != 4.0 or vectors[0][-1] != 4.0:
        raise MeasurementError("the bandwidth test computed something wrong")
    return 24 * TRIAD_LENGTH / seconds / 1e9


def _measure_gpu() -> Peaks:
    cupy = _cupy()
    n = 4 * DGEMM_SIZE
    a, b, c = (cupy.full((n, n), value) for value in (1.0, 2.0, 0.0))
    triad = cupy.ElementwiseKernel("float64 b, float64 c, float64 factor", "float64 a", "a = b + factor * c")
    x, y, z = (cupy.ones(4 * TRIAD_LENGTH) for _ in range(3))

    def finished(run: Callable[[], object]) -> Callable[[], None]:
        def run_and_wait() -> None:
            run()
            cupy.cuda.get_current_stream().synchronize()

        return run_and_wait

    product_seconds = _best(finished(lambda: cupy.matmul(a, b, out=c)))
    triad_seconds = _best(finished(lambda: triad(y, z, 3.0, x)))
    return Peaks(2 * n**3 / product_seconds / 1e9, 24 * x.size / triad_seconds / 1e9)


# ---------------------------------------------------------------- describing


def _cupy() -> ModuleType:
    try:
        import cupy  # noqa: PLC0415 - only a GPU run needs it
    except ImportError as error:
        raise MeasurementError("a run on the GPU needs CuPy: pip install 'appyc[gpu]'") from error
    return cupy


def _gpu_name() -> str:
    cupy = _cupy()
    try:
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise MeasurementError(f"there is no GPU to run on: {error}") from error
    return properties["name"].decode()


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except FileNotFoundError:
        return platform.processor() or platform.machine()
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def _compiler_version() -> str:
    compiler = shlex.split(options.c_compiler() or "cc")
    try:
        done = subprocess.run([*compiler, "--version"], check=True, capture_output=True, text=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return "none"
    return done.stdout.splitlines()[0]


def _blas() -> str:
    blas = np.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in ("appyc", "numpy", "islpy", "triton", "cupy-cuda13x", "cupy-cuda12x"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
