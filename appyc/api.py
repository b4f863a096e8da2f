"""`appyc.jit`: just-in-time compilation of a function per argument types, and dispatch of its calls."""

from __future__ import annotations

import functools
import inspect
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from appyc.analysis.cost.argument_sizes import sizes_of
from appyc.compiler.analyse import Analysed, CompiledFor, analyse
from appyc.compiler.fallback import (
    CALLS_IN_VAIN,
    Hosted,
    Race,
    frames_of_ours,
    limit_for,
    warn_of_pragma,
    warn_of_python,
)
from appyc.compiler.fallback import warn_of_defect as warn_of_defect  # noqa: PLC0414  (for `lazy`)
from appyc.compiler.versions import Job, Request, Version, call_values, is_stored, make_version, request
from appyc.compiler.waiting import Compilations, is_short
from appyc.errors import (
    CompileError,
    DependenceError,
    InternalError,
    LeftToPython,
    LibraryCallError,
    Loc,
    ToolchainError,
    TypeInferenceError,
    UnsupportedError,
)
from appyc.frontend.access import closure_of
from appyc.frontend.pragmas.prange import prange
from appyc.frontend.source import Source, capture, parameter_location, read_source
from appyc.ir.types import ArrayType
from appyc.options import TARGETS, Options, from_environment
from appyc.runtime.dispatch import LONGEST_LIST, Entry
from appyc.runtime.frame import Kernel, raise_fault
from appyc.runtime.gpu_device import cupy_with_device
from appyc.runtime.signature import Residence, residence_of
from appyc.runtime.temporary_memory import copied as copied  # noqa: PLC0414  (for `lazy`, which knows no runtime)

if TYPE_CHECKING:
    from appyc.compiler.choose_device import DeviceChoice
    from appyc.compiler.effects import Effects
    from appyc.compiler.fallback import Kind
    from appyc.frontend.outline import Region
    from appyc.report.draw import Drawing
    from appyc.report.explain import Report

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["JitFunction", "jit", "prange"]

_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
_MANY_CALLS = 1 << 60
_MANY_VERSIONS = 8
"""Versions for one combination of argument types that indicate a captured value which keeps changing."""

_DEVICE = re.compile(r"cuda:\d+")

_MARK = re.compile(r"^\s*#\s*pragma\b|\bprange\b")


def _as_tuple(items: Sequence[object], *, deep: bool) -> tuple[object, ...]:
    """The items of a list as a tuple. deep: nested lists become tuples too."""
    return tuple(_as_tuple(item, deep=True) if deep and type(item) is list else item for item in items)


class JitFunction(Entry):
    """A function that is compiled for the types of its arguments, at the first call with them.

    `py_func` is the Python function. A call that fits a compiled version is dispatched by
    the base class; all others call `_call`.
    """

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __init__(
        self,
        fn: FunctionType,
        options: Options,
        source: Source | None = None,
        on_loss: Callable[[], None] | None = None,
    ) -> None:
        """source: for a region of a function, whose source cannot be found from its code. on_loss: for functions called
        from a part in Python; it is called where Python turns out to be quicker."""
        super().__init__(self._call, self._on_fault)
        functools.update_wrapper(self, fn)
        self.py_func = fn
        self.options = options
        self._snippet = capture(fn)
        self._part = source
        self._signature = inspect.signature(fn, follow_wrapped=False)
        if unknown := [n for n in options.donate if n not in self._signature.parameters]:
            raise ValueError(f"donate names {unknown[0]!r}, which is no parameter of {fn.__qualname__}")
        kinds = {p.kind for p in self._signature.parameters.values()}
        self._takes_positional = kinds <= {inspect.Parameter.POSITIONAL_ONLY, _POSITIONAL}
        """All parameters can be given by position, as the dispatcher takes them."""
        found = self._signature.parameters.items()
        self._keywords = {name for name, p in found if p.kind is _POSITIONAL}
        self._defaults = {name: p.default for name, p in found if p.default is not p.empty}
        self._versions: dict[tuple[object, ...], list[Version]] = {}
        self._compilations = Compilations()
        self._last: Request | None = None
        self._sizes: dict[tuple[object, ...], dict[str, object]] = {}
        """Array sizes of the first call with arguments of these types, for which reports count bytes."""
        self._regions: dict[tuple[object, ...], Hosted[JitFunction]] = {}
        self._on_loss = on_loss
        self._races: dict[tuple[object, ...], Race] = {}
        self._in_vain: Counter[object] = Counter()
        """Number of calls for which nothing was compiled, by kind."""
        self._has_warned = False
        self.is_in_python = False
        """Whether the last decision on a kind of call was to run it in Python."""
        self._effects: dict[tuple[object, ...], Effects] = {}

    def __repr__(self) -> str:
        return f"<appyc.jit {self.__qualname__} target={self.options.target!r}>"

    def __reduce__(self) -> str:
        return self.__qualname__  # by name, as functions are

    def _text(self) -> Source:
        return self._part if self._part is not None else read_source(self._snippet)

    # ------------------------------------------------------------ calls

    def _call(self, *args: object, **keywords: object) -> object:
        """The slow path: a call for which the dispatcher has no compiled version."""
        recorded = recorded_in((*args, *keywords.values()) if keywords else args)
        if recorded is not None:  # an array that may not have been computed yet
            return type(recorded).__appyc_call__(recorded, self, args, keywords)
        if self.options.target == "python":
            return self.py_func(*args, **keywords)
        if self._takes_positional and len(args) < len(self._signature.parameters):
            return self._call_by_position(args, keywords)
        start = time.perf_counter_ns()
        bound = self._bind(args, keywords)
        try:
            named = self._with_tuples(bound)
            wanted = self._request(named)
            if not self._has_waited(wanted, named):
                return self.py_func(*args, **keywords)
            wanted, version = self._placed(wanted, named)
        except CompileError as error:
            # An error in the user's program, at the location in the message: appyc's own frames are no help.
            raise error.with_traceback(None) from None
        hosted, kind = self._regions.get(wanted.key), self.kind(args, keywords)
        if hosted is not None:
            return self._call_hosted(hosted, kind, args, keywords)
        self._in_vain[kind] -= _MANY_CALLS  # so that calls of this kind take this path
        race = self._race(wanted)
        if race is None or kind is None or not race.is_on():
            return self._run(version, bound, named)
        if race.is_pythons_turn:
            return self._timed(race, kind, time.perf_counter_ns(), lambda: self.py_func(*args, **keywords))
        if race.entry is not None:
            entry, start = race.entry, time.perf_counter_ns()
            return self._timed(race, kind, start, lambda: entry(*args, **keywords))
        return self._timed(race, kind, start, lambda: self._run(version, bound, named))

    def _call_by_position(self, args: tuple[object, ...], keywords: dict[str, object]) -> object:
        """A call with keywords or defaults, made positional for the dispatcher."""
        full = tuple(self._bind(args, keywords).values())
        out = self(*full)
        if self.handed:
            kind, given = self.kind(full, {}), self.kind(args, keywords)
            if kind in self.handed and kind is not None and given is not None:
                self.handed[given] = self.handed[kind]
        return out

    def _call_compiled(self, *args: object, **keywords: object) -> object:
        """A call of compiled code in a race with Python that does not fit its kernel."""
        bound = self._bind(args, keywords)
        named, _, version = self._prepared(bound)
        return self._run(version, bound, named)

    def _prepared(self, bound: dict[str, object]) -> tuple[Mapping[str, object], Request, Version]:
        """The arguments of a call as compiled code takes them, the request and the version."""
        named = self._with_tuples(bound)
        return named, *self._placed(self._request(named), named)

    def _run(self, version: Version, bound: Mapping[str, object], named: Mapping[str, object]) -> object:
        """Runs a version. bound: the arguments as given."""
        try:
            # A part in Python may change a list through an alias.
            result = version.run(bound if version.in_python else named)
            if version.outside.captures:
                return version.given_back(self.py_func, named, result)
            return result
        except LeftToPython:
            pass
        except DependenceError as error:
            if version.in_python:
                raise  # from a region, which has explained it
            raise self._explained(error, named) from None
        return _run(self.py_func, bound)  # outside the handler: what it raises has no context

    # ------------------------------------------------------------ calls that Python makes

    def _call_hosted(
        self,
        hosted: Hosted[JitFunction],
        kind: Kind | None,
        args: tuple[object, ...],
        keywords: dict[str, object],
    ) -> object:
        """A call of a function that cannot be compiled as a whole."""
        if hosted.host is None:
            self._in_vain[kind] += 1
            if self._on_loss is not None or self._in_vain[kind] >= CALLS_IN_VAIN:
                self._leave(kind, 0, hosted.error)
            else:
                self._warn(hosted.error)
            return self.py_func(*args, **keywords)
        if hosted.is_vain and kind not in hosted.left_in_vain:
            hosted.left_in_vain.add(kind)
            start = time.perf_counter_ns()
            out = self.py_func(*args, **keywords)
            self._leave(kind, limit_for(time.perf_counter_ns() - start), hosted.error)
            return out
        if hosted.is_vain:  # a call in Python has taken much longer than those before
            hosted.left_in_vain.discard(kind)
            hosted.race_again()
        if kind is not None:
            self.handed[kind] = (hosted.host, 0)
        return hosted.host(*args, **keywords)

    def _race(self, wanted: Request) -> Race | None:
        """The race of a version against Python, for calls that the dispatcher passes on; None if annotations ask for
        compiled code."""
        race = self._races.get(wanted.key)
        if race is None and self._may_race(wanted):
            race = self._races[wanted.key] = Race(None)
        return race

    def _may_race(self, wanted: Request) -> bool:
        here = wanted.target == "cpu" and self.options.target in ("auto", "cpu") and not self._has_choice()
        return here and not self.options.strict and not self._seems_marked

    def _timed(self, race: Race, kind: Kind, start: int, call: Callable[[], object]) -> object:
        """Times a call in a race, and acts on the outcome."""
        of_python = race.is_pythons_turn
        out = call()
        python_wins = race.take(time.perf_counter_ns() - start, of_python=of_python)
        if python_wins:
            loc = Loc(self._snippet.file, self._snippet.first_line)
            self._leave(kind, race.limit, CompileError(str(race), loc))
        elif python_wins is not None and race.entry is not None:
            entry, race.entry = race.entry, None
            for kernel in reversed(entry.kernels):
                self.add(kernel)
        return out

    def _leave(self, kind: Kind | None, limit: int, error: CompileError) -> None:
        """Runs calls of a kind in Python from now on, until one takes more than `limit` nanoseconds (0: always)."""
        if kind is not None:
            self.handed[kind] = (self.py_func, limit)
        self.is_in_python = True
        if self._on_loss is not None:
            self._on_loss()
        else:
            self._warn(error)

    def _warn(self, error: CompileError) -> None:
        if not self._has_warned and self._on_loss is None:
            self._has_warned = True
            warn_of_python(self.__qualname__, error)

    def _on_regions_loss(self) -> None:
        """If all regions run in Python, makes the next call of the function decide anew."""
        vain = [hosted.host for hosted in self._regions.values() if hosted.is_vain]
        for kind, (function, _) in list(self.handed.items()):
            if function in vain:
                self.handed.pop(kind, None)

    @property
    def was_called(self) -> bool:
        return bool(self._versions)

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

    def _on_fault(self, kernel: Kernel, site: int, value: int, extent: int, args: Sequence[object]) -> object:
        """Handles a fault that a kernel has raised under the dispatcher. Runs the call in Python where it may."""
        try:
            raise_fault(kernel, site, value, extent)
        except LeftToPython:
            return self.py_func(*args)
        except DependenceError as error:
            raise self._explained(error, self._given(tuple(args), {})) from None

    def _explained(self, error: DependenceError, named: Mapping[str, object]) -> DependenceError:
        """The error of a guard or inspector, with the values of this call that made it fail."""
        from appyc.report.second_look import second_look  # noqa: PLC0415  (only where a call is refused)

        wanted = self._request(named)
        analysed = self._analyse(wanted)
        return second_look(error, analysed, call_values(self.py_func, analysed.outside, wanted, named))

    def _bind(self, args: tuple[object, ...], keywords: Mapping[str, object]) -> dict[str, object]:
        parameters = self._signature.parameters
        if self._takes_positional and len(args) <= len(parameters):  # a tenth of the time
            given = dict(zip(parameters, args, strict=False))
            if not keywords and len(given) == len(parameters):
                return given
            found = {**self._defaults, **keywords, **given}
            if len(found) == len(parameters) and keywords.keys() <= self._keywords - given.keys():
                return {name: found[name] for name in parameters}
        try:
            bound = self._signature.bind(*args, **keywords)
        except TypeError as error:
            raise TypeError(f"{self.__qualname__}{self._signature}: {error}") from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def _given(self, args: tuple[object, ...], keywords: Mapping[str, object]) -> dict[str, object]:
        """The arguments by name, as compiled code takes them."""
        return self._with_tuples(self._bind(args, keywords))

    def _with_tuples(self, named: dict[str, object]) -> dict[str, object]:
        """The arguments, with read-only lists converted to tuples."""
        lists = [n for n, v in named.items() if type(v) is list and len(v) <= LONGEST_LIST]
        if not lists:
            return named
        read = self._read_parameters
        return {
            n: _as_tuple(cast("list[object]", v), deep=read[n]) if n in lists and n in read else v
            for n, v in named.items()
        }

    @functools.cached_property
    def _read_parameters(self) -> dict[str, bool]:
        from appyc.frontend.resolve import is_of_library  # noqa: PLC0415
        from appyc.frontend.syntax.containers import read_parameters  # noqa: PLC0415  (few calls have lists)

        try:
            function = self._text().ast
        except UnsupportedError:
            return {}  # it runs in Python
        return read_parameters(function, functools.partial(is_of_library, self.py_func))

    def _request(self, named: Mapping[str, object], target: str | None = None) -> Request:
        locate = functools.partial(parameter_location, self._snippet)
        where = target or _target(self.options.target, named.values())
        return request(named, locate, where, self._takes_any_object)

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

    def _has_waited(self, wanted: Request, named: Mapping[str, object]) -> bool:
        """Whether to run the call compiled: its version exists, or is to be compiled now. False while a thread compiles
        it and the call is short in Python."""
        if not self._may_race(wanted) or self._part is not None or self._find(wanted, named) is not None:
            return True
        return self._compilations.has_waited(
            wanted.key,
            lambda: self._version(wanted, named),
            lambda: is_short(self._text(), {**self.py_func.__globals__, **closure_of(self.py_func), **named}),
        )

    def is_ready(self, args: tuple[object, ...], *, begins: bool, waits: bool) -> bool:
        """Whether a call with these arguments finds compiled code, in memory or on disk. Always on a GPU, or where
        one may be chosen.

        begins: a thread compiles it otherwise. waits: the call does it.
        """
        if waits or self.options.target not in ("auto", "cpu") or self._has_choice():
            return True
        named = self._given(args, {})
        wanted = self._request(named)
        if wanted.target != "cpu" or self._find(wanted, named) is not None:
            return True
        if not begins:
            return is_stored(self.py_func, self._text(), wanted, self.options)
        sizes = sizes_of(named)  # the thread does not hold the arrays
        return self._compilations.has_waited(
            wanted.key, lambda: self._version(wanted, sizes), lambda: True, patience=0
        )

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
                found = self._make(wanted, may_split=may_split)
                self._sizes.setdefault(wanted.key, sizes_of(named))
                versions = [found, *self._versions.get(wanted.key, ())]
                self._versions[wanted.key] = versions
                if len(versions) == _MANY_VERSIONS:
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
        return next((v for v in versions if v.still_holds(self.py_func, named)), None)

    def _make(self, wanted: Request, *, may_split: bool = True) -> Version:
        add = functools.partial(self._add, wanted)
        try:
            made = make_version(Job(self.py_func, self._text(), wanted, self.options, add, self._on_defect))
            version = made if made is not None else self._defective(wanted)
        except (UnsupportedError, TypeInferenceError) as error:
            if not may_split or (isinstance(error, TypeInferenceError) and not self._takes_any_object()):
                raise
            version = self._split(wanted, error)
        if version.kernel is not None:
            add(version.kernel)
        self._last = wanted  # set last: a failed compilation has nothing to explain
        return version

    def _add(self, wanted: Request, kernel: Kernel) -> None:
        """Registers a kernel with the dispatcher, if the dispatcher can handle all calls of the function."""
        on_cpu = self.options.target in ("auto", "cpu") and not self._has_choice()
        if not (on_cpu and self._takes_positional):
            return
        if self._on_loss is not None and wanted.key not in self._races and self._may_race(wanted):
            self._races[wanted.key] = Race(Entry(self._call_compiled, self._on_fault))
        race = self._races.get(wanted.key)
        (self if race is None or race.entry is None else race.entry).add(kernel)

    def _region(self, region: Region) -> JitFunction:
        return JitFunction(region.function, self._inner_options(), region.source, self._on_regions_loss)

    def _callee(self, fn: FunctionType) -> JitFunction:
        """A function that is called from the part in Python, compiled as far as possible."""
        return JitFunction(fn, self._inner_options(), on_loss=self._on_regions_loss)

    def _inner_options(self) -> Options:
        """Options for regions and callees: without donation, since their arrays may be read again."""
        return replace(self.options, donate=()) if self.options.donate else self.options

    def _arrays(self, wanted: Request) -> frozenset[str]:
        """Parameters that are arrays: array statements on them are compiled even beside a part in Python."""
        return frozenset(name for name, type_ in wanted.types.items() if isinstance(type_, ArrayType))

    def _split(self, wanted: Request, error: CompileError) -> Version:
        """A version whose uncompilable part runs in Python, or the error."""
        from appyc.frontend.fault_paths import annotation_around, slices_pragma_of  # noqa: PLC0415
        from appyc.frontend.outline import PythonPart, split  # noqa: PLC0415
        from appyc.frontend.pragmas.pragmas import read_pragmas  # noqa: PLC0415

        part = PythonPart(error.loc.line, error.summary)
        refused = self.options.strict and not isinstance(error, LibraryCallError)
        try:
            source = self._text()
        except UnsupportedError:  # there is no text to split
            if refused:
                raise
            return self._hosted(wanted, Hosted(None, error, part))
        pragmas = read_pragmas(source)
        if refused or annotation_around(source, pragmas, error) is not None:
            raise error
        unheard = slices_pragma_of(source, pragmas, error)
        if unheard is not None and not isinstance(
            error, LibraryCallError
        ):  # beside a call, the rest heeds it
            warn_of_pragma(unheard, error)
        regions: list[JitFunction] = []

        def compiled(region: Region) -> JitFunction:
            regions.append(self._region(region))
            return regions[-1]

        left: list[PythonPart] = []

        def called(fn: FunctionType) -> JitFunction:
            regions.append(self._callee(fn))
            return regions[-1]

        host = split(
            self.py_func, source, pragmas, error, compiled, left, self._arrays(wanted),
            everything=self.options.strict, called=called,
        )  # fmt: skip
        return self._hosted(wanted, Hosted(host, error, part, tuple(regions), tuple(left)))

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

    def _hosted(self, wanted: Request, hosted: Hosted[JitFunction]) -> Version:
        self._regions[wanted.key] = hosted
        body = hosted.host if hosted.host is not None else self.py_func
        # The Python part looks globals up at each call; the regions watch what they capture.
        return Version(CompiledFor((), (), ()), lambda named: _run(body, named), in_python=True)

    # ------------------------------------------------------------ ahead of time, and looking in

    def compile(self, *args: object, target: str | None = None, **keywords: object) -> Any:
        """Compiles for these arguments without running.

        target: "cpu", "interpret", or "cuda:<compute capability>" such as "cuda:90", for
        which the compiled kernels are returned (cubin, PTX, registers, spills) and no GPU
        is needed. Raises CompileError as a call would.
        """
        is_device = target is not None and _DEVICE.fullmatch(target)
        if not is_device and target not in (None, *TARGETS):
            known = ", ".join(TARGETS)
            raise ValueError(f'target must be one of {known}, or "cuda:90" or the like, not {target!r}')
        named = self._given(args, keywords)
        if target is not None and is_device:
            from appyc.compiler.triton_kernels import cubins  # noqa: PLC0415  (Triton is optional)

            return cubins(self._analyse(self._request(named, "gpu"), "gpu"), target)
        wanted = self._request(named, target)
        if wanted.target != "python":
            self._version(wanted, named)
        return None

    def source(self, kind: str = "ir", *args: object, **keywords: object) -> str:
        """The text at one stage, for the latest compiled types or for those of `args`.

        kind: "python" the function; "ir" the analysed IR, printed as Python; "schedule" how each
        loop runs in C; "c" the C file; "triton" the kernels and the host program.
        """
        if kind == "python":
            return self._text().text
        if kind not in ("ir", "schedule", "c", "triton"):
            raise ValueError(f'kind must be "ir", "schedule", "c", "triton" or "python", not {kind!r}')
        from appyc.report.stage_texts import text_of  # noqa: PLC0415

        wanted = self._wanted(args, keywords)
        hosted = self._regions.get(wanted.key)
        if hosted is not None:
            return "\n".join(r.source(kind) for r in hosted.regions if r._last is not None)
        target = {"c": "cpu", "schedule": "cpu", "triton": "gpu"}.get(kind, wanted.target)
        return text_of(self._analyse(wanted, target), kind)

    def explain(self, *args: object, **keywords: object) -> Report:
        """What was done with each loop and why, for the latest compiled types or for those of `args`.

        Bytes are those of a call with `args`, else of the first call with arguments of these types.
        """
        from appyc.report.explain import joined, report  # noqa: PLC0415

        wanted = self._wanted(args, keywords)
        hosted = self._regions.get(wanted.key)
        if hosted is not None:
            inner = [r.explain() for r in hosted.regions if r._last is not None]
            return joined(self._text(), wanted, inner, (hosted.part, *hosted.left))
        if not args and not keywords:
            found = report(self._analyse(wanted), self._text(), wanted.target, self._sizes.get(wanted.key))
            return replace(found, counted_for="the first call's sizes")
        values = self._given(args, keywords)
        found = report(self._analyse(wanted), self._text(), wanted.target, values)
        if wanted.target != "cpu" or not self._has_choice():
            return found
        here_or_there = self._devices.forecast(wanted, self._text(), values)
        return replace(found, forecast=here_or_there)

    def graph(self, *args: object, **keywords: object) -> Drawing:
        """The operations of the function, the arrays that go from one to the next, and which of them run as
        one loop: a picture, for the latest compiled types or for those of `args`.

        `.svg` and `.mermaid` are its texts, `.save(path)` writes one of them; notebooks show it.
        """
        from appyc.report.draw import drawing  # noqa: PLC0415

        wanted = self._wanted(args, keywords)
        if wanted.key in self._regions:
            raise ValueError(f"a part of {self.__qualname__} runs in Python: see explain()")
        values = self._given(args, keywords) if args or keywords else self._sizes.get(wanted.key, {})
        return drawing(self._analyse(wanted), values)

    def profile(self, *args: object, **keywords: object) -> Report:
        """What `explain` says, and of each loop that threads may share how long it took in a call with
        these arguments, beside what the cost model predicts.

        The call is made, twice, on copies of the arrays. Raises what it raises; ValueError for a function
        that runs in Python but for its regions, and for a target that is not the CPU.
        """
        from appyc.report.profile_report import profiled  # noqa: PLC0415

        named = self._given(args, keywords)
        wanted = self._request(named)
        if wanted.key in self._regions:
            raise ValueError(f"a part of {self.__qualname__} runs in Python: see explain()")
        return profiled(self.py_func, self._text(), wanted, named, self.options)

    def effects(self, *args: object, **keywords: object) -> Effects:
        """What a call with arguments of these types changes and returns. Raises CompileError."""
        from appyc.compiler.effects import effects_of  # noqa: PLC0415  (a warm start does without the IR)

        wanted = self._request(self._given(args, keywords), "cpu")
        found = self._effects.get(wanted.key)
        if found is None:
            found = self._effects[wanted.key] = effects_of(self._analyse(wanted))
        return found

    def _analyse(self, wanted: Request, target: str | None = None) -> Analysed:
        """Analyses the function. target: overrides that of the call."""
        options = self.options.where(target or wanted.target)
        return analyse(self.py_func, self._text(), wanted.types, wanted.objects, options)

    def _wanted(self, args: tuple[object, ...], keywords: Mapping[str, object]) -> Request:
        self._compilations.finish()
        if args or keywords or (self._last is None and not self._signature.parameters):
            return self._request(self._given(args, keywords))
        if self._last is None and self.options.target == "python":
            raise ValueError(
                f"{self.__qualname__} runs in Python, as target='python' says: pass arguments here to see what would "
                "become of it"
            )
        if self._last is None:
            raise ValueError(
                f"{self.__qualname__} has not been compiled yet: call it, or pass arguments here"
            )
        return self._last


def recorded_in(values: Iterable[object]) -> Any:
    """The first recorded array among arguments or their nested tuples and lists; None if there is none."""
    for value in values:
        found = recorded_in(value) if type(value) in (tuple, list) else value  # type: ignore[arg-type]
        if hasattr(type(found), "__appyc_call__"):
            return found
    return None


def _run(fn: FunctionType, named: Mapping[str, object]) -> object:
    """Calls a function with arguments by parameter name, whatever the kinds of its parameters."""
    code, rest = fn.__code__, dict(named)
    positional = [rest.pop(name) for name in code.co_varnames[: code.co_argcount]]
    behind = iter(code.co_varnames[code.co_argcount + code.co_kwonlyargcount :])
    if code.co_flags & inspect.CO_VARARGS:
        positional += cast("tuple[object, ...]", rest.pop(next(behind)))
    if code.co_flags & inspect.CO_VARKEYWORDS:
        rest |= cast("dict[str, object]", rest.pop(next(behind)))
    return fn(*positional, **rest)


def _target(wanted: str, values: Iterable[object]) -> str:
    if wanted != "auto":
        return wanted
    return "gpu" if any(residence_of(v) is Residence.CUDA for v in values) else "cpu"


@overload
def jit(fn: F, /) -> F: ...
@overload
def jit(*, target: str = ..., auto: bool = ..., strict: bool = ..., fastmath: bool = ...,
        cache: bool = ..., boundscheck: bool = ..., exact: bool = ..., defer: bool = ...,
        blas: bool = ..., donate: str | Sequence[str] = ...) -> Callable[[F], F]: ...  # fmt: skip
def jit(fn: Callable[..., Any] | None = None, /, **given: object) -> Any:
    """Compiles a function: `@appyc.jit`, `@appyc.jit(target="cpu")` or `appyc.jit(fn, ...)`.

    target: "auto" (the GPU where an argument lives on one, or where that is predicted to be quicker), "cpu" (C with
    OpenMP), "gpu" (Triton), "interpret" (the Triton kernels in Triton's interpreter, on NumPy
    arrays), "python" (not compiled). auto: analyse loops without pragmas too. strict: what
    cannot be compiled is an error instead of running in Python. fastmath: let the C compiler
    reassociate floating-point arithmetic. cache: keep compiled code on disk. boundscheck:
    test that indices are in range. exact: to the last bit what Python gives: sums of floats keep
    their order where no pragma asks, and integers that may outgrow 64 bits run in Python. defer: calls with
    arrays of `appyc.numpy` are recorded, and run, fused with what was recorded around them, when a result is asked for.
    donate: parameters, by name, whose memory results may take, as with `donate_argnames` of `jax.jit`; who calls must
    not look at these arrays again.

    What is not given comes from the environment (APPYC_TARGET, APPYC_STRICT, ...), then from
    the defaults. Raises TypeError and ValueError for options that do not exist or fit; the
    call of a jitted function raises CompileError for what cannot be compiled.
    """
    options = from_environment(given)
    if fn is None:
        return lambda f: jit(f, **given)
    if isinstance(fn, JitFunction):
        fn = fn.py_func
    if isinstance(fn, staticmethod | classmethod):
        return type(fn)(jit(fn.__func__, **given))
    if isinstance(fn, MethodType):
        return MethodType(jit(fn.__func__, **given), fn.__self__)
    if isinstance(fn, str):
        raise TypeError(f"appyc.jit takes its options by name: appyc.jit(target={fn!r})")
    if not isinstance(fn, FunctionType):
        raise TypeError(f"appyc.jit takes a Python function, not {fn!r}")
    return JitFunction(fn, options)
