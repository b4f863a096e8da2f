"""`appyc.jit`: just-in-time compilation of a function for the types of its arguments."""

from __future__ import annotations

import functools
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from appyc.compiler.analyse import fused, simplified
from appyc.compiler.captured_values import Captured
from appyc.compiler.compiled_function import CompiledFunction
from appyc.compiler.deep_recursion import deep_recursion
from appyc.compiler.disk_cache import SpentSeconds as SpentSeconds  # noqa: PLC0414  (for `lazy`)
from appyc.compiler.fallback import warn_of_defect as warn_of_defect  # noqa: PLC0414  (for `lazy`)
from appyc.compiler.parameters import recorded_in as recorded_in  # noqa: PLC0414
from appyc.compiler.requests import Request
from appyc.errors import CompileError, DependenceError
from appyc.frontend.pragmas.prange import prange
from appyc.options import TARGETS, Options, from_environment
from appyc.runtime.temporary_memory import copied as copied  # noqa: PLC0414  (for `lazy`, which knows no runtime)

if TYPE_CHECKING:
    from appyc.compiler.effects import Effects as Effects  # noqa: PLC0414  (for `lazy`)
    from appyc.distributed.distribute import Chunked
    from appyc.distributed.plan import Plan
    from appyc.frontend.outline import Region
    from appyc.report.explain import Report
    from appyc.tuning.tune import Tuned
    from appyc.tuning.winners import Winner

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["JitFunction", "jit", "prange", "tune"]

_DEVICE = re.compile(r"cuda:\d+")


class JitFunction(CompiledFunction["JitFunction"]):
    """A function that is compiled for the types of its arguments, at the first call with them.

    `py_func` is the Python function.
    """

    def _distributed(self, args: tuple[object, ...], keywords: Mapping[str, object]) -> object:
        from appyc.distributed.distribute import distribute  # noqa: PLC0415  (Dask is optional)

        return distribute(*self._chunked(args, keywords))

    def _planned(self, args: tuple[object, ...], keywords: Mapping[str, object]) -> Plan:
        from appyc.distributed.distribute import planned  # noqa: PLC0415  (as above)

        return planned(*self._chunked(args, keywords))

    def _chunked(
        self, args: tuple[object, ...], keywords: Mapping[str, object]
    ) -> tuple[Chunked, Mapping[str, object]]:
        """A call over chunked arrays."""
        from appyc.distributed.distribute import Chunked, stand_in  # noqa: PLC0415  (as above)

        named = self._given(args, keywords)
        wanted = self._request({n: stand_in(v) for n, v in named.items()}, "cpu")
        known = self._of_chunks.get(wanted.key)
        if known is None or not Captured(self.py_func, known.analysed.outside, wanted.typeless).still_holds(
            named
        ):
            self._analyse(wanted)  # refuses loops that are not as parallel as they say
            target = "auto" if self.options.target == "dask" else self.options.target
            options = replace(self.options, target=target, strict=True, schedule="")
            plain = simplified(self.py_func, self._text(), wanted, options, may_call=False)
            known = self._of_chunks[wanted.key] = Chunked(fused(plain), JitFunction, options)
        return known, named

    @functools.cached_property
    def _of_chunks(self) -> dict[object, Chunked]:
        return {}

    def _region(self, region: Region) -> JitFunction:
        return JitFunction(region.function, self._inner_options(), region.source, self._on_regions_loss)

    def _callee(self, fn: FunctionType) -> JitFunction:
        return JitFunction(fn, self._inner_options(), on_loss=self._on_regions_loss)

    def _tuned(
        self,
        args: tuple[object, ...],
        keywords: Mapping[str, object],
        seconds: float,
        clock: Callable[[], float] = time.perf_counter,
    ) -> Tuned[JitFunction]:
        """Searches for a quicker schedule for these arguments, and keeps it."""
        from appyc.tuning.search import NothingToTune  # noqa: PLC0415  (only where something is tuned)
        from appyc.tuning.tune import Call  # noqa: PLC0415

        def compiled(options: Options) -> JitFunction:
            made = JitFunction(self.py_func, options, self._part)
            made._version(wanted, named)
            return made

        if not self._is_compiled_here(args, keywords):
            raise NothingToTune(
                f"{self.__qualname__} is not compiled for such a call: pass arrays of NumPy or CuPy, "
                "and a target that is not 'python' or 'dask'"
            )
        named = self._given(args, keywords)
        wanted = self._request(named)
        if wanted.target == "cpu" and self._has_choice():
            wanted, _ = self._placed(wanted, named)
        call = Call(self, wanted, named, args, keywords, compiled, lambda made: made._analyse(wanted, "cpu"))
        found = call.tuned(self.options, seconds, clock)
        self._winner(named).keep(found.schedule)
        return found

    def _is_compiled_here(self, args: tuple[object, ...], keywords: Mapping[str, object]) -> bool:
        """Whether calls are compiled by themselves, neither recorded nor made tasks of."""
        is_recorded = recorded_in((*args, *keywords.values())) is not None
        return (
            self.options.target != "python" and not is_recorded and not self._is_distributed(args, keywords)
        )

    def _winner(self, named: Mapping[str, object]) -> Winner:
        from appyc.tuning.winners import Winner  # noqa: PLC0415  (as above)

        return Winner.of(self._kept_text.text, self.__qualname__, self._request(named), named, self.options)

    def _explained(self, error: DependenceError, named: Mapping[str, object]) -> DependenceError:
        from appyc.report.second_look import second_look  # noqa: PLC0415  (only where a call is refused)

        wanted = self._request(named)
        analysed = self._analyse(wanted)
        return second_look(
            error, analysed, Captured(self.py_func, analysed.outside, wanted.typeless).values(named)
        )

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
        if wanted.target == "dask":
            self._analyse(wanted, "cpu")  # workers compile
        elif wanted.target != "python":
            self._version(wanted, named)
        return None

    @deep_recursion()
    def source(self, kind: str = "ir", *args: object, **keywords: object) -> str:
        """The text at one stage, for the latest compiled types or for those of `args`.

        kind: "python" the function; "ir" the analysed IR, printed as Python; "schedule" how each
        loop runs in C; "c" the C file; "triton" the kernels and the host program.
        """
        if not isinstance(kind, str) or kind not in ("ir", "schedule", "c", "triton", "python"):
            raise ValueError(f'kind must be "ir", "schedule", "c", "triton" or "python", not {kind!r}')
        if kind == "python":
            return self._text().text
        from appyc.report.stage_texts import text_of  # noqa: PLC0415

        wanted = self._wanted(args, keywords)
        hosted = self._regions.get(wanted.key)
        if hosted is not None:
            return "\n".join(r.source(kind) for r in hosted.regions if r._last is not None)
        target = {"c": "cpu", "schedule": "cpu", "triton": "gpu"}.get(kind, wanted.target)
        return text_of(self._analyse(wanted, "cpu" if target == "dask" else target), kind)

    @deep_recursion()
    def explain(self, *args: object, **keywords: object) -> Any:
        """What was done with each loop and why, for the latest compiled types or for those of `args`. Of a call
        over chunked arrays: its layers of tasks, and the bytes that they move.

        Bytes are those of a call with `args`, else of the first call with arguments of these types.
        """
        if (args or keywords) and self._is_distributed(args, keywords):
            return self._planned(args, keywords)
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

    def graph(self, *args: object, **keywords: object) -> Any:
        """The operations of the function, the arrays that go from one to the next, and which of them run as
        one loop: a picture, for the latest compiled types or for those of `args`.

        `.svg` and `.mermaid` are its texts, `.save(path)` writes one of them; notebooks show it. Of a call over
        chunked arrays: the tasks of one step, which are also its `.step`.
        """
        if (args or keywords) and self._is_distributed(args, keywords):
            return self._planned(args, keywords)
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

    def _wanted(self, args: tuple[object, ...], keywords: Mapping[str, object]) -> Request:
        self._compilations.finish()
        if args or keywords or (self._last is None and not self._parameters.signature.parameters):
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


class SelfTuning(JitFunction):
    """A function that is tuned at the first call of each size class, where nothing is known of it on disk."""

    def __init__(self, fn: FunctionType, options: Options) -> None:
        super().__init__(fn, options)
        self._chosen: dict[object, Callable[..., object]] = {}
        self._by_schedule: dict[str, Callable[..., object]] = {"": super().__call__}
        self._tuning = threading.RLock()

    @functools.cached_property
    def _with_libraries(self) -> JitFunction:
        return JitFunction(self.py_func, replace(self._inner_options(), libraries=True))

    def __call__(self, *args: object, **keywords: object) -> object:
        if not self._is_compiled_here(args, keywords):
            return super().__call__(*args, **keywords)
        from appyc.tuning.winners import size_class  # noqa: PLC0415  (few functions are tuned)

        named = self._given(args, keywords)
        key = self.kind(args, keywords) or self._request(named).key, size_class(named)
        if key not in self._chosen:
            with self._tuning:
                if key not in self._chosen:
                    self._chosen[key] = self._choose(args, keywords, named)
        try:
            return self._chosen[key](*args, **keywords)
        except CompileError:  # what is built into the code has changed, and its schedule fits no more
            self._chosen[key] = super().__call__
            return super().__call__(*args, **keywords)

    def _choose(
        self, args: tuple[object, ...], keywords: Mapping[str, object], named: Mapping[str, object]
    ) -> Callable[..., object]:
        from appyc.tuning.search import SECONDS, NothingToTune  # noqa: PLC0415  (as above)

        try:
            schedule = self._winner(named).schedule()
            if schedule is None:
                schedule = self._tuned(args, keywords, SECONDS).schedule
        except (CompileError, NothingToTune):
            schedule = ""  # the call says what there is to say
        if schedule not in self._by_schedule:
            options = replace(self.options, strict=True, schedule=schedule)
            self._by_schedule[schedule] = JitFunction(self.py_func, options)
        return self._by_schedule[schedule]


def tune(
    fn: Callable[..., Any], /, *args: object, seconds: float = 30.0, **keywords: object
) -> Tuned[JitFunction]:
    """Searches, for so many seconds, for a quicker schedule of a function for these arguments: starting from the
    compiler's own (`source("schedule")`), one line at a time is changed.

    Each is compiled, compared with the default's result on copies of the arguments, and timed in turn with the best one
    until then. The winner is kept in the cache folder: functions under `jit(tune=True)` use it. An interrupt (Ctrl-C)
    ends the search with what it has found. Raises CompileError for what cannot be compiled, ValueError where there is
    nothing to tune.

    >>> found = appyc.tune(smooth, a, b)
    >>> print(found)
    >>> smooth = found.function
    """
    if not isinstance(seconds, int | float) or not seconds > 0:
        raise ValueError(f"seconds must be a positive number, not {seconds!r}")
    if isinstance(fn, MethodType):
        return tune(fn.__func__, fn.__self__, *args, seconds=seconds, **keywords)
    found = fn if isinstance(fn, JitFunction) else jit(fn)
    assert isinstance(found, JitFunction)
    return found._tuned(args, keywords, seconds)


@overload
def jit(fn: F, /) -> F: ...
@overload
def jit(*, target: str = ..., auto: bool = ..., strict: bool = ..., fastmath: bool = ...,
        cache: bool = ..., boundscheck: bool = ..., exact: bool = ..., defer: bool = ...,
        blas: bool = ..., schedule: str = ..., tune: bool = ...) -> Callable[[F], F]: ...  # fmt: skip
def jit(fn: Callable[..., Any] | None = None, /, **given: object) -> Any:
    """Compiles a function: `@appyc.jit`, `@appyc.jit(target="cpu")` or `appyc.jit(fn, ...)`.

    target: "auto" (the GPU where an argument lives on one, or where that is predicted to be quicker), "cpu" (C with
    OpenMP), "gpu" (Triton), "interpret" (the Triton kernels in Triton's interpreter, on NumPy
    arrays), "python" (not compiled), "dask" (tasks over chunked arrays, into which large ones of NumPy's are cut).
    auto: analyse loops without pragmas too. strict: what
    cannot be compiled is an error instead of running in Python. fastmath: let the C compiler
    reassociate floating-point arithmetic. cache: keep compiled code on disk. boundscheck:
    test that indices are in range. exact: to the last bit what Python gives: sums of floats keep
    their order where no pragma asks, and integers that may outgrow 64 bits run in Python. defer: calls with
    arrays of `appyc.numpy` are recorded, and run, fused with what was recorded around them, when a result is asked for.
    schedule: how the loops run, as the text that `source("schedule")` gives, edited. tune: the first call of each size
    class takes half a minute for `tune` of the arguments' copies, where the cache folder knows no winner.

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
    return SelfTuning(fn, replace(options, tune=False)) if options.tune else JitFunction(fn, options)
