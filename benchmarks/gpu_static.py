"""Bounds on the GPU kernels of the suite, from what the assembler made of them. No GPU is needed.

    python -m benchmarks.gpu_static [KERNEL ...] [--form loops] [--dataset LARGE] [--arch 90] [--json FILE]

The host part of each program runs with a device that launches nothing and notes what would be launched. Each kernel
that it asks for is compiled in the variant that these arguments get. A figure is of one element of a lane in the
innermost loop with the most arithmetic, or where there is none in a whole program that is at no edge:

    issued      instructions; `beside` those that are neither arithmetic of floats nor accesses
    bytes       loaded and stored, what caches serve included, but for what a warp loads twice
    in flight   bytes that a multiprocessor has asked for at once, if each thread asks for all that the loop loads;
                a grid of fewer programs than there are multiprocessors leaves some idle
    bound       what takes the longest on the GPU: memory, latency, issue or float64 units
    of copy     the rate at which bytes move then, in parts of the rate of a copy
    of peak     the rate of the float64 units then, in parts of what they can do

What kernels of `tl.dot` load comes from the L2 cache, since programs that run together share rows or columns.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import appyc
from appyc.compiler.triton_kernels import triton_program
from appyc.runtime.faults import fault_words
from appyc.runtime.gpu_products import multiply
from appyc.runtime.kernel_variants import KernelArguments, Variant, choose_lanes
from appyc.runtime.triton_build import CompiledKernel, compile_kernel
from appyc.runtime.triton_source import HostScalars, load_host
from appyc.triton_gen.triton_module import TritonProgram
from benchmarks.machine import write_results
from benchmarks.polybench.suite import KERNELS
from benchmarks.sass import counts, disassembled, unrolled

_THREADS, _BLOCKS, _REGISTERS = 2048, 32, 65536
"""What one multiprocessor holds at once."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """processors: multiprocessors. clock: Hz. doubles: float64 operations of one in a cycle. rate: bytes a second of
    a copy. l2: of loads that the L2 cache serves (assumed). latency: seconds of a load. shared: bytes of shared memory
    of one."""

    name: str
    processors: int
    clock: float
    doubles: int
    rate: float
    l2: float
    latency: float
    shared: int


GPUS = {
    "80": Gpu("A100", 108, 1.41e9, 32, 1.8e12, 4.0e12, 5.5e-7, 167_936),
    "90": Gpu("H200", 132, 1.83e9, 64, 4.3e12, 5.5e12, 6.5e-7, 233_472),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One kernel of one program; see the module's text."""

    program: str
    kernel: str
    launches: int
    programs: int
    lanes: int
    registers: int
    spilled: int
    widths: tuple[int, ...]
    issued: float
    beside: float
    bytes: float
    in_flight: int
    bound: str
    of_copy: float
    of_peak: float


_NO_LIBRARY = SimpleNamespace(lib=np.lib, matmul=lambda a, b: np.zeros((a.shape[0], b.shape[1]), a.dtype))
"""An array library that multiplies nothing."""


class CountingDevice:
    """The device of a host program that launches nothing. launches: how often each variant, and its programs.
    crowded: as of `choose_lanes`."""

    def __init__(self, program: TritonProgram, processors: int, crowded: Collection[tuple[str, int]]) -> None:
        self.texts = {text.name: text for text in program.kernels}
        self.arguments = {text.name: KernelArguments(text) for text in program.kernels}
        self.processors, self.crowded = processors, crowded
        self.faults = np.zeros(fault_words(program.sites), np.int64)
        self.launches: Counter[tuple[str, Variant]] = Counter()
        self.programs: Counter[tuple[str, Variant]] = Counter()

    def lanes(self, name: str, rows: int, count: int) -> int:
        return choose_lanes(self.texts[name], rows, count, self.processors, self.crowded)

    def launch(self, name: str, programs: int, lanes: int, *args: Any) -> None:
        key = name, self.arguments[name].variant(lanes, args)[0]
        self.launches[key] += 1
        self.programs[key] += int(programs)

    def steps(self, steps: range) -> range:
        return steps

    def recorded(self, number: int) -> range:
        return range(1)

    def array(self, shape: tuple[int, ...], dtype: str, zero: bool) -> Any:
        return np.empty(shape, dtype)

    def read(self, cell: Any) -> Any:
        return cell.dtype.type(0)

    def multiply(self, *product: Any, **more: Any) -> None:
        multiply(_NO_LIBRARY, self.launch, self.processors, *product, **more)

    def require(self, holds: bool, reason: str) -> None:
        if not holds:
            raise ValueError(f"the arguments do not have what was assumed: {reason}")

    def fail(self, site: int, value: int, extent: int) -> None:
        raise IndexError(f"fault at site {site}")

    def check(self) -> None:
        pass


def rows_of(name: str, function: Any, arguments: Sequence[Any], gpu: Gpu, target: str) -> list[Row]:
    """The kernels that a call of a jitted function launches, once all of them are compiled."""
    analysed = function._analyse(function._request(function._given(arguments, {}), "gpu"), "gpu")
    program = triton_program(analysed.function, analysed)
    crowded: set[tuple[str, int]] = set()
    built: dict[tuple[str, Variant], CompiledKernel] = {}
    while True:
        device = CountingDevice(program, gpu.processors, crowded)
        load_host(program)(device, *HostScalars(program.params).converted(arguments))
        new = [key for key in device.launches if key not in built]
        if not new:
            return [_row(name, key, built[key], device, gpu) for key in device.launches]
        for kernel, variant in new:
            text = device.texts[kernel]
            one = built[kernel, variant] = compile_kernel(program, text, target, variant)
            if one.is_crowded(variant.lanes * text.rows(variant.lanes)):
                crowded.add((kernel, variant.lanes))


def _row(name: str, key: tuple[str, Variant], built: CompiledKernel, device: CountingDevice, gpu: Gpu) -> Row:
    kernel, variant = key
    found = counts(disassembled(built.cubin))
    text = device.texts[kernel]
    lanes = variant.lanes * text.rows(variant.lanes)
    elements = unrolled(found, built.ptx) * max(1.0, lanes / built.threads) * text.rows_each * text.batch
    programs = max(1, device.programs[key] // device.launches[key])
    busy = min(programs, gpu.processors)
    resident = min(
        -(-programs // gpu.processors),
        _THREADS // built.threads,
        _BLOCKS,
        _REGISTERS // (built.threads * -(-max(built.registers, 1) // 8) * 8),
        gpu.shared // max(built.shared + 1024, 1),
    )
    in_flight = int(resident * built.threads * found.loaded)
    moved = (found.loaded + found.stored) / elements
    lanes_a_cycle = busy * gpu.clock
    seconds = {
        "memory": moved / (gpu.l2 if found.tiles else gpu.rate),
        "issue": found.issued / elements / (128 * lanes_a_cycle),
        "float64": found.doubles / elements / (gpu.doubles * lanes_a_cycle),
        "latency": moved * gpu.latency / (in_flight * busy) if in_flight else 0.0,
    }
    bound = max(seconds, key=lambda what: seconds[what])
    return Row(
        name,
        kernel,
        device.launches[key],
        device.programs[key] // device.launches[key],
        lanes,
        built.registers,
        built.spill_bytes,
        found.widths,
        found.issued / elements,
        (found.issued - found.arithmetic - found.accesses) / elements,
        moved,
        in_flight,
        bound,
        seconds["memory"] / seconds[bound] if moved else 0.0,
        seconds["float64"] / seconds[bound],
    )


def table(rows: Sequence[Row], gpu: Gpu) -> Table:
    out = Table(title=f"predicted for one {gpu.name}")
    for head in ("kernel", "launches", "programs", "lanes", "registers", "access", "issued", "beside", "bytes",
                 "in flight", "bound", "of copy", "of peak"):  # fmt: skip
        out.add_column(head, justify="left" if head == "kernel" else "right")
    for row in rows:
        out.add_row(
            f"{row.program} {row.kernel}", str(row.launches), str(row.programs), str(row.lanes),
            f"{row.registers}{f' + {row.spilled} B' if row.spilled else ''}",
            "/".join(map(str, row.widths)), f"{row.issued:.1f}", f"{row.beside:.1f}", f"{row.bytes:.1f}",
            f"{row.in_flight / 1000:.0f} kB", row.bound, f"{row.of_copy:.2f}",
            f"{row.of_peak:.2f}",
        )  # fmt: skip
    return out


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="all, where none is named")
    parser.add_argument("--form", choices=("loops", "tensors"), default="loops")
    parser.add_argument("--dataset", default="LARGE")
    parser.add_argument("--arch", choices=tuple(GPUS), default="90")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    gpu, rows = GPUS[options.arch], []
    for name in options.kernels or KERNELS:
        kernel = KERNELS[name]
        arguments = list(kernel.initialise(**kernel.sizes[options.dataset]).values())
        function = appyc.jit(target="gpu")(getattr(kernel, options.form).py_func)
        rows += rows_of(name, function, arguments, gpu, f"cuda:{options.arch}")
    Console(width=160).print(table(rows, gpu))
    if options.json:
        command = (
            f"python -m benchmarks.gpu_static {' '.join([*options.kernels, '--form'])} {options.form} "
            f"--dataset {options.dataset} --arch {options.arch}"
        )
        write_results(
            options.json, {"command": command, "gpu": asdict(gpu), "rows": [asdict(r) for r in rows]}
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
