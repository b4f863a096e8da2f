"""The versions of a function: what is compiled for the types of a call's arguments, as a whole or in regions."""

from __future__ import annotations

import functools
import re
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic

from appyc.analysis.cost.argument_sizes import sizes_of
from appyc.compiler.analyse import Analysed, CompiledFor, analyse
from appyc.compiler.captured_values import Captured
from appyc.compiler.fallback import Hosted, R, frames_of_ours, warn_of_defect
from appyc.compiler.parameters import Parameters, call_by_name
from appyc.compiler.requests import Request, request
from appyc.compiler.version_budget import AT_ONCE, VersionBudget
from appyc.compiler.versions import Job, Version, make_version
from appyc.compiler.waiting import Compilations
from appyc.errors import (
    LARGE,
    CompileError,
    InternalError,
    Loc,
    PickedArrayError,
    ReadOnlyArguments,
    ToolchainError,
    TypeInferenceError,
    UnsupportedError,
)
from appyc.frontend.source import Source, capture, parameter_location, read_source
from appyc.ir.types import ArrayType
from appyc.options import Options
from appyc.runtime.dispatch import Entry
from appyc.runtime.frame import Kernel, OnFault
from appyc.runtime.gpu_device import cupy_with_device
from appyc.runtime.signature import is_on_gpu

if TYPE_CHECKING:
    from appyc.compiler.choose_device import DeviceChoice
    from appyc.frontend.outline import Region

_MARK = re.compile(r"^\s*#\s*pragma\b|\bprange\b")


class Specialisations(Entry, Generic[R]):
    """A function and its compiled versions. How calls choose one and run it is the subclass's concern."""

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    _call: Callable[..., object]
    """A call for which the dispatcher has no compiled version."""
    _on_fault: OnFault
    """Handles a fault that a kernel has raised under the dispatcher."""
    _add: Callable[[Request, Kernel], None]
    """Registers a kernel with the dispatcher."""
    _region: Callable[[Region], R]
    """A region of this function, which the part in Python calls."""
    _callee: Callable[[FunctionType], R]
    """A function that is called from the part in Python, compiled as far as possible."""

    def __init__(
        self,
        fn: FunctionType,
        options: Options,
        source: Source | None = None,
        on_loss: Callable[[], None] | None = None,
    ) -> None:
        """source: for a region of a function, whose source cannot be found from its code. on_loss: for functions called
        from a part in Python; it is called where Python turns out to be quicker."""
        self._parameters = Parameters(fn, self._text)
        super().__init__(*self._entry_of(self._call))
        functools.update_wrapper(self, fn)
        self.py_func = fn
        self.options = options
        self._snippet = capture(fn)
        self._part = source
        self._versions: dict[tuple[object, ...], list[Version]] = {}
        self._budget = VersionBudget()
        self._compilations = Compilations()
        self._last: Request | None = None
        self._sizes: dict[tuple[object, ...], dict[str, object]] = {}
        """Array sizes of the first call with arguments of these types, for which reports count bytes."""
        self._regions: dict[tuple[object, ...], Hosted[R]] = {}
        self._on_loss = on_loss
        self.beside: CompileError | None = None
        """The reason why the part of the function beside this region runs in Python."""
        self._has_warned = False

    def _entry_of(self, fallback: Callable[..., object]) -> tuple[Any, ...]:
        """What an entry for the function's calls is made of."""
        known = self._parameters
        return fallback, self._on_fault, known.names, known.defaults, known.keyword_only

    def _text(self) -> Source:
        return self._part if self._part is not None else read_source(self._snippet)

    @functools.cached_property
    def _kept_text(self) -> Source:
        """The text that is only looked at: calls that come while a thread compiles do not parse it again."""
        return self._text()

    @property
    def was_called(self) -> bool:
        return bool(self._versions)

    @property
    def is_hopeless(self) -> bool:
        """Whether all versions so far run in Python as a whole."""
        hosted = [self._regions.get(key) for key in self._versions]
        return bool(hosted) and all(h is not None and h.is_hopeless for h in hosted)

    @functools.cached_property
    def _seems_marked(self) -> bool:
        """Whether the source contains a pragma or `prange`, even in a string: a warm start parses nothing."""
        ends = [line for _, _, line in self._snippet.code.co_lines() if line is not None]
        text = self._snippet.lines[self._snippet.first_line - 1 : max(ends, default=0)]
        return any(_MARK.search(line) for line in text)

    @functools.cached_property
    def _has_pragma(self) -> bool:
        """Whether the function has a pragma or another annotation of its loops, which must be followed."""
        from appyc.frontend.fault_paths import has_annotation  # noqa: PLC0415  (a warm start parses nothing)

        try:
            return has_annotation(self._text())
        except UnsupportedError:
            return False

    def _given(self, args: tuple[object, ...], keywords: Mapping[str, object]) -> dict[str, object]:
        """The arguments by name, as compiled code takes them."""
        return self._parameters.with_tuples(self._parameters.bind(args, keywords))

    def _request(self, named: Mapping[str, object], target: str | None = None) -> Request:
        locate = functools.partial(parameter_location, self._snippet)
        where = target or _target(self.options.target, named.values())
        return request(named, locate, where, self._takes_any_object, lambda: self._parameters.texts)

    def _takes_any_object(self) -> bool:
        """Whether an argument of an uncompilable type may be passed to a part in Python."""
        return (
            self._part is not None
            or self._on_loss is not None
            or not (self.options.strict or self._has_pragma)
        )

    def _placed(self, wanted: Request, named: Mapping[str, object]) -> tuple[Request, Version]:
        """The request and the version for a call, on a GPU if that is chosen for it."""
        if wanted.target == "cpu" and self._has_choice():
            there = self._devices.of(wanted, self._text(), named)
            if there.target != "cpu":
                try:
                    return there, self._version(there, named, may_split=False)
                except (CompileError, InternalError, ToolchainError):
                    self._devices.stay(wanted)
        return wanted, self._version(wanted, named)

    def _has_choice(self) -> bool:
        """Whether a call may run on a GPU although none of its arrays is there."""
        return self.options.target == "auto" and cupy_with_device() is not None

    @functools.cached_property
    def _devices(self) -> DeviceChoice:
        from appyc.compiler.choose_device import DeviceChoice  # noqa: PLC0415  (not needed without a GPU)

        return DeviceChoice(self.py_func, self.options)

    def _version(self, wanted: Request, named: Mapping[str, object], *, may_split: bool = True) -> Version:
        found = self._find(wanted, named)
        if found is not None:
            return found
        with self._compilations.lock:
            found = self._find(wanted, named)
            if found is None:
                start = time.perf_counter_ns()
                found = self._make(wanted, may_split=may_split)
                self._budget.compiled(wanted.kin, time.perf_counter_ns() - start)
                self._sizes.setdefault(wanted.key, sizes_of(named))
                versions = [found, *self._versions.get(wanted.key, ())]
                self._versions[wanted.key] = versions
                if len(versions) == AT_ONCE:
                    self._warn_of_changes(versions)
            return found

    def _warn_of_changes(self, versions: list[Version]) -> None:
        pairs = zip(versions[0].outside.watched, versions[1].outside.watched, strict=False)
        changed = [str(path) for (path, now), (_, before) in pairs if now is not before]
        warnings.warn(
            f"{self.__qualname__} was compiled {len(versions)} times for the same types of arguments, since "
            f"what is built into its code changes between calls ({', '.join(changed) or 'a function it calls'}). "
            "Pass it as an argument, which needs one version only.",
            RuntimeWarning,
            stacklevel=frames_of_ours(),
        )

    def _find(self, wanted: Request, named: Mapping[str, object]) -> Version | None:
        versions = self._versions.get(wanted.key, ())
        return next((v for v in versions if v.captured.still_holds(named)), None)

    def _make(self, wanted: Request, *, may_split: bool = True) -> Version:
        add = functools.partial(self._add, wanted)
        try:
            made = make_version(Job(self.py_func, self._text(), wanted, self.options, add, self._on_defect))
            version = made if made is not None else self._defective(wanted)
        except (UnsupportedError, TypeInferenceError) as error:
            is_retried = isinstance(error, PickedArrayError) and not self._parameters.picks_arrays
            is_programs = isinstance(error, TypeInferenceError) and not self._takes_any_object()
            if is_retried or is_programs or not may_split:
                raise
            version = self._split(wanted, error)
        if version.kernel is not None:
            add(version.kernel)
        self._last = wanted  # set last: a failed compilation has nothing to explain
        return version

    def _left_to(self, error: Exception, args: Sequence[object]) -> Callable[..., object]:
        """The function for a call that compiled code has left: Python's, or the version with library
        calls."""
        if isinstance(error, ReadOnlyArguments) and (kind := self.kind(tuple(args), {})) is not None:
            self.handed[kind] = (self.py_func, 0)
        return self._with_libraries if str(error) == LARGE else self.py_func

    @functools.cached_property
    def _with_libraries(self) -> Specialisations[R]:
        """This function with a library's calls where that is faster for large arrays."""
        return type(self)(self.py_func, replace(self._inner_options(), libraries=True), self._part)

    def _inner_options(self) -> Options:
        """Options for regions and callees: without the schedule, which is the whole function's."""
        return replace(self.options, schedule="")

    def _arrays(self, wanted: Request) -> frozenset[str]:
        """Parameters that are arrays: array statements on them are compiled even beside a part in Python."""
        return frozenset(
            name for name, type_ in wanted.types.items() if isinstance(type_, ArrayType) and not type_.is_list
        )

    def _split(self, wanted: Request, error: CompileError) -> Version:
        """A version whose uncompilable part runs in Python, or the error."""
        from appyc.compiler.splitting import split_off  # noqa: PLC0415  (only where something cannot be compiled)

        hosted = split_off(
            error,
            self.py_func,
            self._text,
            self._arrays(wanted),
            self._region,
            self._callee,
            strict=self.options.strict,
            beside=self.beside,
        )
        return self._hosted(wanted, hosted)

    def _on_defect(self, error: InternalError) -> None:
        """Handles a defect of the compiler: raises it with the function's line if code must be compiled, else warns."""
        found = InternalError(error.where, error.what, Loc(self._snippet.file, self._snippet.first_line))
        if self.options.strict or self._has_pragma:
            raise found from error
        warn_of_defect(self.__qualname__, found)

    def _defective(self, wanted: Request) -> Version:
        """A version that runs in Python because of a compiler defect, of which the user has been warned."""
        from appyc.frontend.outline import PythonPart  # noqa: PLC0415

        loc = Loc(self._snippet.file, self._snippet.first_line)
        error = UnsupportedError("a defect of appyc keeps it from being compiled", loc)
        self._has_warned = True
        return self._hosted(wanted, Hosted(None, error, PythonPart(loc.line, error.summary)))

    def _hosted(self, wanted: Request, hosted: Hosted[R]) -> Version:
        self._regions[wanted.key] = hosted
        body = hosted.host if hosted.host is not None else self.py_func
        # The Python part looks globals up at each call; the regions watch what they capture.
        outside = Captured(self.py_func, CompiledFor((), (), ()), ())
        return Version(outside, lambda named: call_by_name(body, named), in_python=True)

    def _analyse(self, wanted: Request, target: str | None = None) -> Analysed:
        """Analyses the function. target: overrides that of the call."""
        options = self.options.where(target or wanted.target)
        return analyse(self.py_func, self._text(), wanted, options)


def _target(wanted: str, values: Iterable[object]) -> str:
    if wanted != "auto":
        return wanted
    return "gpu" if any(map(is_on_gpu, values)) else "cpu"
