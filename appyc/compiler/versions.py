"""One compiled version (specialisation) of a function: for which calls it is valid, and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from types import CellType, FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np

from appyc.compiler.analyse import Analysed, CompiledFor, analyse, simplified
from appyc.compiler.captured_values import Captured, dispatcher_of
from appyc.compiler.cpu import CpuCompiler, CpuVersion
from appyc.compiler.deep_recursion import deep_recursion
from appyc.compiler.demanded_versions import DemandedVersions, overlapping_version, stretched_version
from appyc.compiler.requests import Request
from appyc.compiler.waiting import Notice
from appyc.errors import InternalError, LeftToPython, Loc, ReadOnlyArguments, defects_of
from appyc.frontend.access import IN_FUNCTIONS, AccessPath, closure_cells, fetch, find, python_function
from appyc.frontend.field_cells import CELL
from appyc.frontend.source import Source
from appyc.ir.abi import frame_layout
from appyc.ir.aliasing import Sharing
from appyc.ir.types import ArrayType, Container
from appyc.options import Options
from appyc.runtime.dispatch import Entry, GuardFailure
from appyc.runtime.frame import HostProgram, Interface, Kernel, Watched, flat_values, groups_of, invoke
from appyc.runtime.overlap import any_overlap, lists_are_apart
from appyc.runtime.signature import typeof

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Version:
    """Compiled code for one request. run: takes the arguments by parameter name."""

    captured: Captured
    run: Callable[[Mapping[str, object]], object]
    kernel: Kernel | None = None
    """The kernel for the dispatcher, where calls need nothing but their arguments."""
    quick: Callable[[Mapping[str, object]], object] | None = None
    """A faster `run` for calls that need more; raises StaleVersion for arguments that it does not take."""
    in_python: bool = False
    """Parts of it run in Python: it takes the very objects that the caller gave."""

    @property
    def outside(self) -> CompiledFor:
        return self.captured.outside

    def given_back(self, named: Mapping[str, object], result: object) -> object:
        """The result of a call as those make it whose memory the function has taken from outside, if they say so."""
        fn = self.captured.fn
        paths = [path for path in self.outside.captures if path.steps[-1][0] != CELL]
        for path in paths:
            owner: Any = find(fn, path, named)
            if hasattr(type(owner), "__appyc_result__"):
                taken = [find(fn, other, named) for other in paths]
                return type(owner).__appyc_result__(result, taken, tuple(named.values()))
        return result


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """The inputs for compiling versions of a function for one request.

    add: takes kernels for the dispatcher that calls turn out to need, after the usual one. on_defect: hears
    of a fault of the compiler's own, in this version or in one that a call turns out to need; if it does
    not raise, there is no such version, and Python takes its calls.
    """

    fn: FunctionType
    source: Source
    wanted: Request
    options: Options
    add: Callable[[Kernel], None]
    on_defect: Callable[[InternalError], None]

    def attempt(self, make: Callable[[], T | None]) -> T | None:
        """The result of `make`; None where a fault of the compiler's own prevents it."""
        try:
            with defects_of("the compiler"), deep_recursion():
                return make()
        except InternalError as error:
            self.on_defect(error)
            return None


def make_version(job: Job) -> Version | None:
    """Compiles, or finds compiled code on disk. Raises CompileError."""
    if job.wanted.target == "cpu":
        return _cpu_version(job)
    return job.attempt(partial(_gpu_version, job))


def _cpu_version(job: Job) -> Version | None:
    fn, wanted = job.fn, job.wanted
    compiler = CpuCompiler(fn, job.source, wanted, job.options)
    usual = job.attempt(compiler.version)
    if usual is None:
        return None
    face = usual.kernel.interface

    captured = Captured(fn, usual.outside, wanted.typeless)
    usual_kernel, of_captures = _dispatched(usual.kernel, captured, wanted)

    def add(kernel: Kernel) -> None:
        if of_captures is not None:
            of_captures.add(kernel)
        elif usual_kernel is not None:
            job.add(replace(kernel, watched=usual_kernel.watched, captures=usual_kernel.captures))

    @cache
    def plain() -> CpuVersion | None:
        found = job.attempt(partial(compiler.version, plain=True))
        if found is not None:
            add(replace(usual.kernel, checked=found.kernel))
            for one in stretched.made():
                add(one.kernel)  # before the usual one, as they were
        return found

    def unit_version(units: frozenset[tuple[int, int]]) -> CpuVersion | None:
        found = job.attempt(partial(compiler.unit_version, units))
        if found is not None:
            add(found.kernel)
        return found

    stretched = DemandedVersions(unit_version)

    def shared_version(sharing: Sharing) -> CpuVersion | None:
        found = job.attempt(partial(compiler.shared_version, sharing))
        if found is None:
            return None
        visible = len(face.layout.params)
        groups = groups_of(sharing, found.kernel.interface.layout, visible, face.written)
        if groups is not None:
            # All arrays that the program writes have to be writeable, those it writes through others too.
            its_face = replace(found.kernel.interface, arguments=face.arguments, written=face.written)
            same = list(range(visible))
            for group in sharing:
                for member in group.members if group.offsets is None else ():
                    same[member] = group.members[0]
            if all(r.param is None or r.param < visible for r in its_face.results):
                add(replace(found.kernel, interface=its_face, same=tuple(same), groups=groups))
        return found

    overlapping = DemandedVersions(shared_version)

    def run(named: Mapping[str, object]) -> object:
        values = captured.values(named)
        if not captured.draws:
            return run_with(values, named)
        with captured.drawing(values, named):
            return run_with(values, named)

    def run_with(values: tuple[object, ...], named: Mapping[str, object]) -> object:
        flat = flat_values(face.arguments, values)
        if _holds_readonly(flat, face.written):
            _refuse_readonly(job, named)
        if not lists_are_apart(flat, face.written):
            raise LeftToPython
        if any_overlap(flat, face.written):
            shared, hidden = overlapping_version(overlapping, flat, face.written)
            if shared is not None:
                with suppress(GuardFailure):
                    return invoke(shared.kernel, (*values, *hidden))
            return invoke(_made(plain()).kernel, values)
        with suppress(GuardFailure):
            return invoke(usual.kernel, values)
        if (found := stretched_version(stretched, flat)) is not None:
            with suppress(GuardFailure):
                return invoke(found.kernel, values)
        return invoke(_made(plain()).kernel, values)  # not in a handler: what it raises stands alone

    quick = None if of_captures is None else captured.quick(of_captures)
    return Version(captured, run, usual_kernel, quick)


def _dispatched(
    kernel: Kernel, captured: Captured, wanted: Request
) -> tuple[Kernel, None] | tuple[None, Entry | None]:
    """The kernel as the dispatcher may take it, where it needs no values but the arguments and arrays that have a
    name; else a dispatcher of its own, if one can tell the arguments."""
    outside = captured.outside
    watched = [_watched(captured.fn, path, value) for path, value in outside.watched]
    captures = [_watched(captured.fn, path, None) for path in outside.captures]
    are_arrays = all(isinstance(t, ArrayType) and not t.is_list for t in outside.capture_types)
    if wanted.typeless or not are_arrays or captured.draws or None in (*watched, *captures):
        return None, dispatcher_of(kernel)
    steps = [step for path in watched if path is not None for step in path]
    found = [path for path in captures if path is not None]
    steps += [step for path in found for step in path[:-1]]
    return replace(kernel, watched=tuple(steps), captures=tuple(path[-1][:2] for path in found)), None


def _watched(fn: FunctionType, path: AccessPath, value: object) -> list[Watched] | None:
    """The namespace, name and value that the dispatcher compares at each step of a path; None where it
    cannot."""
    out: list[Watched] = []
    owner: object = fn
    for n, (kind, name) in enumerate(path.steps, 1):
        where = _namespace(owner, kind, name)
        if where is None:
            return None
        with suppress(LookupError, AttributeError):
            owner = find(fn, AccessPath(path.steps[:n]), {})
        out.append((where, name, owner))
    return [*out[:-1], (*out[-1][:2], value)]


def _namespace(owner: object, kind: str, name: str) -> dict[str, object] | CellType | FunctionType | None:
    """The dictionary, cell or function in which a step of an access path is looked up."""
    function = python_function(owner)
    match kind:
        case "global" if function is not None:
            return function.__globals__
        case "closure" if function is not None:
            return closure_cells(function)[name]
        case "key" if isinstance(owner, dict):
            return owner
        case "attr" if isinstance(owner, ModuleType):
            return vars(owner)
        case "attr" if name in IN_FUNCTIONS:
            return function
        case _:
            return None


def _holds_readonly(flat: Sequence[object], written: frozenset[int]) -> bool:
    """Whether an array that the function writes may not be written."""
    return any(isinstance(a, np.ndarray) and not a.flags.writeable for a in (flat[n] for n in written))


def _refuse_readonly(job: Job, named: Mapping[str, object]) -> None:
    """Compiles with the arrays marked as what they are, which raises at the first store. Python decides whether there
    is one, where neither `strict` nor a pragma asks for compiled code."""
    from appyc.frontend.fault_paths import has_annotation  # noqa: PLC0415  (a warm start parses nothing)

    if not job.options.strict and not has_annotation(job.source):
        raise ReadOnlyArguments
    loc, objects = Loc(job.source.file, job.source.first_line), job.wanted.objects
    types = {
        n: t if n in objects or (isinstance(t, ArrayType) and t.is_list) else typeof(named[n], n, loc)
        for n, t in job.wanted.types.items()
    }
    analyse(job.fn, job.source, replace(job.wanted, types=types), job.options)
    raise ValueError("assignment destination is read-only")


def _made(version: T | None) -> T:
    """The version; without one Python takes the call, of which nothing has been done yet."""
    if version is None:
        raise LeftToPython
    return version


def _host_version(job: Job) -> Version | None:
    """A function that no GPU runs, recursive, with lists, unaligned fields, or attributes that it assigns: in C for
    NumPy's arrays, in Python for others."""
    fn = job.fn
    compiled = _cpu_version(
        replace(job, wanted=replace(job.wanted, target="cpu"), options=job.options.where("cpu"))
    )
    if compiled is None:
        return None

    def run(named: Mapping[str, object]) -> object:
        outside = (fetch(fn, path, named) for path in compiled.outside.captures)
        if any(hasattr(value, "__cuda_array_interface__") for value in (*named.values(), *outside)):
            raise LeftToPython
        return compiled.run(named)

    return Version(compiled.captured, run)


def _is_hosts(simple: Analysed) -> bool:
    """Whether no GPU runs the function: it calls others, takes lists or packed arrays, or assigns attributes."""
    arrays = (symbol.array for symbol in simple.function.params if symbol.is_array)
    is_packed = any(array.container is Container.PACKED for array in arrays)
    return bool(simple.function.callees) or simple.outside.is_hosts or is_packed


def _gpu_version(job: Job) -> Version | None:
    from appyc.compiler.triton_kernels import gpu_runner  # noqa: PLC0415  (Triton is optional)
    from appyc.ir.visit import arrays_written  # noqa: PLC0415  (a warm start on the CPU does without the IR)
    from appyc.runtime.triton_launch import device_array  # noqa: PLC0415

    takes_numpy = job.options.target == "gpu"  # else each call with NumPy's arrays chooses where it runs
    job = replace(job, options=job.options.where(job.wanted.target))
    fn, wanted = job.fn, job.wanted
    if wanted.has_lists:
        return _host_version(job)
    with Notice(fn, job.source):
        simple = simplified(fn, job.source, wanted, job.options)
        analysed = None if _is_hosts(simple) else analyse(fn, job.source, wanted, job.options, simple)
        runner = None if analysed is None else gpu_runner(analysed, wanted.target)
    if analysed is None or runner is None:
        return _host_version(job)
    stored = arrays_written(analysed.function)
    written = frozenset(number for number, s in enumerate(analysed.function.params) if s in stored)
    captured = Captured(fn, analysed.outside, wanted.typeless)

    def run(named: Mapping[str, object]) -> object:
        values = captured.values(named)
        if _holds_readonly(flat_values(analysed.arguments, values), written):
            _refuse_readonly(job, named)
        return runner.run(values)

    if wanted.target != "gpu":
        return Version(captured, run)
    layout = replace(
        frame_layout(analysed.function), results=()
    )  # the host program returns what the function does
    face = Interface(analysed.arguments, layout, written, (), None, ())
    host = HostProgram(runner.alone, device_array(), takes_numpy)
    kernel, of_captures = _dispatched(Kernel(face, 0, host=host), captured, wanted)
    return Version(captured, run, kernel, None if of_captures is None else captured.quick(of_captures))
