"""`appyc.autojit`: compilation of undecorated functions, where it is possible and profitable.

An `AutoFunction` is a jitted function with another policy. What cannot be compiled is no error: the
Python function runs, and the report has a line for it. Compiled code gives Python's results
bit for bit, sums of floats included (`Options.exact`).

A call is compiled if its estimated trip count, from the bounds of its ranges, is LARGE_CALL or more.
Smaller calls run in Python until their total time exceeds PATIENCE seconds.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, TypeVar

from appyc import errors
from appyc.api import JitFunction, recorded_in
from appyc.compiler.parameters import call_by_name
from appyc.compiler.requests import Request
from appyc.compiler.versions import Version
from appyc.frontend.access import closure_of
from appyc.frontend.source import Part, Source, read_source
from appyc.frontend.syntax.trip_counts import has_own_loop, iterations
from appyc.options import Options, from_environment

if TYPE_CHECKING:
    from appyc.compiler.fallback import Kind
    from appyc.frontend.outline import Region

T = TypeVar("T")

LARGE_CALL = 100_000
PATIENCE = 0.05

_NOT_COMPILED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_VARARGS | CO_VARKEYWORDS


def autojit(obj: T, /, **given: object) -> T:
    """A function or module whose loops are compiled where that can be and pays.

    A function with loops becomes a jitted one; one without loops, and what appyc cannot
    compile at all (a generator, say), is returned as it is. In a module the functions and
    the methods that it defines are replaced in place, and the module is returned.

    Options are those of `appyc.jit`; `exact` is on unless it is switched off, and with
    `strict` a loop that cannot be compiled is an error.
    """
    options = from_environment({"exact": True, **given})
    if isinstance(obj, ModuleType):
        _in_module(obj, lambda fn: automatic(fn, options))
    elif isinstance(obj, FunctionType):
        return automatic(obj, options)  # type: ignore[return-value]
    elif not isinstance(obj, JitFunction):
        raise TypeError(f"appyc.autojit takes a Python function or a module, not {obj!r}")
    return obj


def automatic(fn: FunctionType, options: Options) -> FunctionType | AutoFunction:
    """The function as an `AutoFunction` if it has loops and can be compiled, else unchanged."""
    if fn.__code__.co_flags & _NOT_COMPILED or fn.__name__ == "<lambda>":
        return fn
    try:
        node = read_source(fn).ast
    except errors.CompileError:
        return fn
    return AutoFunction(fn, options) if has_own_loop(node) else fn


def _in_module(module: ModuleType, compiled: Callable[[FunctionType], object]) -> None:
    for name, value in list(vars(module).items()):
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, FunctionType):
            setattr(module, name, compiled(value))
        elif isinstance(value, type):
            _in_class(value, compiled)


def _in_class(owner: type, compiled: Callable[[FunctionType], object]) -> None:
    for name, value in list(vars(owner).items()):
        if isinstance(value, FunctionType):
            setattr(owner, name, compiled(value))
        elif isinstance(value, staticmethod | classmethod) and isinstance(value.__func__, FunctionType):
            setattr(owner, name, type(value)(compiled(value.__func__)))  # type: ignore[arg-type]


class AutoFunction(JitFunction):
    """A jitted function that is compiled where that is possible and profitable, and runs in Python otherwise."""

    def __init__(
        self,
        fn: FunctionType,
        options: Options,
        source: Source | None = None,
        on_loss: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(fn, options, source, on_loss)
        self._fields = frozenset(fn.__code__.co_names)
        self._seconds = 0.0
        self._calls = 0
        self._reasons: dict[str, None] = {}
        """Why calls run in Python."""
        self._refused: list[tuple[int, str]] = []
        self._inner: list[AutoFunction] = []

    # ------------------------------------------------------------ calls

    def _call(self, *args: object, **keywords: object) -> object:
        start = time.perf_counter()
        if self._pays(args, keywords):
            return super()._call(*args, **keywords)
        try:
            return self.py_func(*args, **keywords)
        finally:
            self._calls += 1
            self._seconds += time.perf_counter() - start

    def _pays(self, args: tuple[object, ...], keywords: dict[str, object]) -> bool:
        """Whether compiling for this call is profitable, by the rule in the module docstring, or no question."""
        recorded = recorded_in((*args, *keywords.values()))
        if self.options.strict or self._seconds > PATIENCE or recorded is not None:
            return True
        try:
            named = self._given(args, keywords)
            if self._is_distributed(args, keywords) or self._find(self._request(named), named) is not None:
                return True
        except (TypeError, errors.CompileError):
            return True
        outer = {n: v for n, v in self.py_func.__globals__.items() if n in self._fields}
        values = {**outer, **closure_of(self.py_func), **named}
        return iterations(self._kept_text.ast.body, values) >= LARGE_CALL

    def _is_left_to_python(self, error: Exception, kind: Kind | None) -> bool:
        if self.options.strict:
            return False
        if isinstance(error, errors.ToolchainError) and not self._reasons:
            warnings.warn(f"appyc runs everything in Python: {error}", RuntimeWarning, stacklevel=4)
        if not isinstance(error, errors.CompileError):
            loc = errors.Loc(self._snippet.file, self._snippet.first_line)
            error = errors.CompileError(str(error).partition("\n")[0], loc)
        self._leave(kind, 0, error)
        return True

    def _run(
        self,
        run: Callable[[Mapping[str, object]], object],
        version: Version,
        bound: Mapping[str, object],
        named: Mapping[str, object],
    ) -> object:
        try:
            return super()._run(run, version, bound, named)
        except errors.CompileError:
            # Compiled code refuses some arguments before its first store (read-only arrays, dependences). In a
            # function that runs in part in Python the error is the program's own.
            if version.kernel is None and not version.outside.captures:
                raise
        return call_by_name(self.py_func, bound, self.py_func)

    def _warn(self, error: errors.CompileError) -> None:
        self._reasons.setdefault(f"line {error.loc.line}: {error.summary}")

    def _leave(self, kind: Kind | None, limit: int, error: errors.CompileError) -> None:
        self._warn(error)
        super()._leave(kind, limit, error)

    @property
    def has_given_up(self) -> bool:
        """Whether compilation was tried, and nothing of the function is compiled."""
        return bool(self._reasons) and (self.is_hopeless or not self._versions) and not self._of_chunks

    # ------------------------------------------------------------ compiling

    def _make(self, wanted: Request, *, may_split: bool = True) -> Version:
        if not may_split:
            return super()._make(wanted, may_split=False)
        while True:
            try:
                version = self._made(wanted)
            except errors.CompileError as error:
                if self.options.strict or not self._drop_pragma(error):
                    raise
                continue
            hosted = self._regions.get(wanted.key)
            if self.options.strict and hosted is not None and not hosted.regions:
                raise hosted.error
            return version

    def _made(self, wanted: Request) -> Version:
        try:
            return super()._make(wanted)
        except errors.TypeInferenceError as error:
            version = self._split(wanted, error)
            self._last = wanted
            return version

    def _arrays(self, wanted: Request) -> frozenset[str]:
        return frozenset()  # without a decorator, only loops are taken to be worth compiling

    def _callee(self, fn: FunctionType) -> JitFunction:
        return AutoFunction(fn, self._inner_options(), on_loss=self._on_regions_loss)

    def _region(self, region: Region) -> JitFunction:
        found = AutoFunction(region.function, self._inner_options(), region.source, self._on_regions_loss)
        self._inner.append(found)
        return found

    def _drop_pragma(self, error: errors.CompileError) -> bool:
        """Removes a pragma that cannot be fulfilled. The loop is then compiled as an unmarked one."""
        from appyc.frontend.fault_paths import annotation_around  # noqa: PLC0415
        from appyc.frontend.pragmas.pragmas import read_pragmas  # noqa: PLC0415

        source = self._text()
        line = error.loc.line
        if not _is_comment(source.line(line)):
            around = annotation_around(source, read_pragmas(source), error)
            line = around.line if around is not None else 0
        if not _is_comment(source.line(line)):
            return False
        self._part = _without_comment(source, line)
        self._refused.append((line, error.summary))
        return True

    # ------------------------------------------------------------ the report

    def summary(self) -> str:
        """The report as text: what was compiled, what was not, and why."""
        out = [f"{self.__qualname__} ({self._snippet.file}:{self._snippet.first_line})"]
        if self._last is not None and not self.has_given_up:
            report = self.explain()
            lines = [line for line in str(report).splitlines()[2:] if line != "  no loops"]
            out += [*(["  compiled"] if report.loops else []), *(f"  {line}" for line in lines)]
        out += [f"  pragma in line {line} not followed: {reason}" for line, reason in self._refused]
        for inner in self._inner:
            out += [f"  {line}" for line in inner.summary().splitlines()[1:] if inner._last is None]
        out += [f"  runs in Python: {reason}" for reason in self._reasons]
        if self._of_chunks:
            out.append("  over Dask's arrays: tasks over chunks")
        if self._calls:
            number = f"{self._calls} small call{'s' if self._calls > 1 else ''}"
            out.append(f"  {number} in Python ({self._seconds:.3f} s), not worth compiling for")
        return "\n".join(out if len(out) > 1 else [*out, "  was not called"])


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _without_comment(source: Source, line: int) -> Source:
    """The source with the comment that starts in `line`, and its continuations, emptied."""
    lines = list(source.lines)
    at = line - source.first_line
    while True:
        continued = lines[at].rstrip().endswith("\\")
        lines[at] = lines[at][: len(lines[at]) - len(lines[at].lstrip())] + "#\n"
        at += 1
        if not continued or at == len(lines) or not _is_comment(lines[at]):
            break
    if isinstance(source, Part):
        kept = {stmt: p for stmt, p in source.pragmas.items() if p.loc.line != line}
        return replace(source, lines=tuple(lines), pragmas=kept)
    return replace(source, lines=tuple(lines))
