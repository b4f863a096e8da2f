"""`appyc.jit`: a Python function that runs compiled."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from appyc.compiler import Analysed, CompiledFor, CpuCompiler, CpuVersion, analyse, location
from appyc.errors import TypeInferenceError, UnsupportedError
from appyc.frontend.access import fetch
from appyc.frontend.prange import prange
from appyc.frontend.source import capture, read_source
from appyc.ir.arguments import ArgType, NoneArg
from appyc.ir.types import ArrayType
from appyc.options import Options, from_environment
from appyc.runtime.dispatch import Entry
from appyc.runtime.frame import GuardFailure, flat_values, invoke, raise_fault
from appyc.runtime.overlap import find_overlap
from appyc.runtime.signature import Residence, residence_of, typeof
from appyc.runtime.threads import get_num_threads

if TYPE_CHECKING:
    from appyc.report.explain import Report

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["JitFunction", "jit", "prange"]


class _Version:
    """One compiled version: how to run it, and what it was compiled for."""

    def __init__(self, outside: CompiledFor, run: Callable[[tuple[object, ...]], object]) -> None:
        self.outside = outside
        self.run = run


class JitFunction(Entry):
    """A function that is compiled for the types of its arguments, at the first call with them.

    `py_func` is the Python function. A call that fits a compiled version is dispatched by
    the base class; all others come to `_call`.
    """

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __init__(self, fn: FunctionType, options: Options) -> None:
        super().__init__(self._call, raise_fault)
        functools.update_wrapper(self, fn)
        self.py_func = fn
        self.options = options
        self._snippet = capture(fn)
        self._signature = inspect.signature(fn)
        self._versions: dict[tuple[object, ...], list[_Version]] = {}
        self._lock = threading.RLock()
        self._last: Call | None = None

    def __repr__(self) -> str:
        return f"<appyc.jit {self.__qualname__} target={self.options.target!r}>"

    def __reduce__(self) -> str:
        return self.__qualname__  # by name, as functions are

    # ------------------------------------------------------------ calls

    def _call(self, *args: object, **keywords: object) -> object:
        """A call that no compiled version was found for."""
        if self.options.target == "python":
            return self.py_func(*args, **keywords)
        call = Call(self, args, keywords)
        version = self._version(call)
        return version.run(call.values)

    def _version(self, call: Call) -> _Version:
        key = (call.target, tuple(call.types.values()))
        for version in self._versions.get(key, ()):
            if self._still_holds(version.outside, call):
                return version
        with self._lock:
            for version in self._versions.get(key, ()):
                if self._still_holds(version.outside, call):
                    return version
            version = self._compile(call)
            self._versions[key] = [version, *self._versions.get(key, ())]
            self._last = call
            return version

    def _still_holds(self, outside: CompiledFor, call: Call) -> bool:
        """Whether what was built into the code is what it was."""
        for path, value in outside.watched:
            try:
                if fetch(self.py_func, path, call.named) is not value:
                    return False
            except (LookupError, AttributeError):
                return False
        return True

    def _compile(self, call: Call) -> _Version:
        if call.target == "cpu":
            return self._compile_cpu(call)
        return self._compile_triton(call)

    def _compile_cpu(self, call: Call) -> _Version:
        compiler = CpuCompiler(self.py_func, self._snippet, self.options)
        usual = compiler.version(call.types, call.objects)

        @functools.cache
        def plain() -> CpuVersion:
            return compiler.version(call.types, call.objects, plain=True)

        def run(values: tuple[object, ...]) -> object:
            face = usual.kernel.interface
            values = (*values, *self._captured(usual.outside, values))
            flat = flat_values(face.arguments, values)
            for number in face.written:
                array = flat[number]
                if isinstance(array, np.ndarray) and not array.flags.writeable:
                    self._refuse_readonly(values)
            if find_overlap(flat, face.written) is not None:
                return invoke(plain().kernel, values, get_num_threads())
            try:
                return invoke(usual.kernel, values, get_num_threads())
            except GuardFailure:
                return invoke(plain().kernel, values, get_num_threads())

        if not usual.outside.captures and not usual.outside.watched and not call.objects:
            self.add(usual.kernel)
        return _Version(usual.outside, run)

    def _captured(self, outside: CompiledFor, values: tuple[object, ...]) -> list[object]:
        named = dict(zip(self._signature.parameters, values, strict=False))
        return [fetch(self.py_func, path, named) for path in outside.captures]

    def _refuse_readonly(self, values: tuple[object, ...]) -> None:
        """Compiles with the arrays marked as what they are, which raises at the first store."""
        types = {
            name: typeof(value, name, location(self._snippet))
            for name, value in zip(self._signature.parameters, values, strict=False)
        }
        analyse(self.py_func, read_source(self._snippet), types, {}, self.options)
        raise ValueError("assignment destination is read-only")

    def _compile_triton(self, call: Call) -> _Version:
        from appyc.gpu_compiler import gpu_runner  # noqa: PLC0415  (Triton is optional)

        analysed = self._analyse(call)
        runner = gpu_runner(analysed, call.target)

        def run(values: tuple[object, ...]) -> object:
            return runner((*values, *self._captured(analysed.outside, values)))

        return _Version(analysed.outside, run)

    def _analyse(self, call: Call) -> Analysed:
        return analyse(self.py_func, read_source(self._snippet), call.types, call.objects, self.options)

    # ------------------------------------------------------------ ahead of time, and looking in

    def compile(self, *args: object, target: str | None = None, **keywords: object) -> Any:
        """Compiles for these arguments without running.

        target: "cpu", "interpret", or "cuda:<compute capability>" such as "cuda:90", for
        which the compiled kernels are returned (cubin, PTX, registers, spills) and no GPU
        is needed. Raises CompileError as a call would.
        """
        call = Call(self, args, keywords)
        if target is not None and target.startswith("cuda"):
            from appyc.gpu_compiler import cubins  # noqa: PLC0415  (Triton is optional)

            return cubins(self._analyse(call), target)
        if target is not None:
            call = Call(self, args, keywords, target=target)
        self._version(call)
        return None

    def source(self, kind: str = "ir", *args: object, **keywords: object) -> str:
        """The text at one stage, for the latest compiled types or for those of `args`.

        kind: "python" the function; "ir" the analysed IR, printed as Python; "c" the C file;
        "triton" the kernels and the host program.
        """
        if kind == "python":
            return read_source(self._snippet).text
        if kind not in ("ir", "c", "triton"):
            raise ValueError(f'kind must be "ir", "c", "triton" or "python", not {kind!r}')
        from appyc.report.source import text_of  # noqa: PLC0415

        return text_of(self._analyse(self._call_for(args, keywords)), kind)

    def explain(self, *args: object, **keywords: object) -> Report:
        """What was done with each loop and why, for the latest compiled types or for those of `args`."""
        from appyc.report.explain import report  # noqa: PLC0415

        call = self._call_for(args, keywords)
        return report(self._analyse(call), read_source(self._snippet), call.target)

    def _call_for(self, args: tuple[object, ...], keywords: Mapping[str, object]) -> Call:
        if args or keywords or (self._last is None and not self._signature.parameters):
            return Call(self, args, keywords)
        if self._last is None:
            raise ValueError(
                f"{self.__qualname__} has not been compiled yet: call it, or pass arguments here"
            )
        return self._last


class Call:
    """One call's arguments, bound to parameters, with their types."""

    def __init__(
        self,
        owner: JitFunction,
        args: tuple[object, ...],
        keywords: Mapping[str, object],
        target: str | None = None,
    ) -> None:
        bound = owner._signature.bind(*args, **keywords)
        bound.apply_defaults()
        loc = location(owner._snippet)
        self.named: dict[str, object] = dict(bound.arguments)
        self.objects: dict[str, object] = {}
        self.types: dict[str, ArgType] = {}
        for parameter in owner._signature.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise UnsupportedError(
                    "*args and **kwargs cannot be compiled", loc, hints=("name the parameters",)
                )
            self.types[parameter.name] = self._type(parameter.name, owner)
        self.target = target or _target(owner.options.target, self.named.values())

    @property
    def values(self) -> tuple[object, ...]:
        return tuple(None if n in self.objects else v for n, v in self.named.items())

    def _type(self, name: str, owner: JitFunction) -> ArgType:
        value = self.named[name]
        try:
            found = typeof(value, name, location(owner._snippet))
        except TypeInferenceError:
            if not _is_plain_object(value):
                raise
            self.objects[name] = value
            return NoneArg()
        # A read-only array will do for a version that only reads it.
        return _writeable(found)


def _writeable(type_: ArgType) -> ArgType:
    if isinstance(type_, ArrayType) and type_.readonly:
        return ArrayType(type_.dtype, type_.ndim, type_.layout)
    return type_


def _is_plain_object(value: object) -> bool:
    """An instance of a class of the user's: its fields are read where the function reads them."""
    return type(value).__module__.partition(".")[0] not in ("builtins", "numpy") and hasattr(
        value, "__dict__"
    )


def _target(wanted: str, values: Any) -> str:
    if wanted != "auto":
        return wanted
    return "gpu" if any(residence_of(v) is Residence.CUDA for v in values) else "cpu"


@overload
def jit(fn: F, /) -> F: ...
@overload
def jit(*, target: str = ..., auto: bool = ..., strict: bool = ..., fastmath: bool = ...,
        cache: bool = ..., boundscheck: bool = ...) -> Callable[[F], F]: ...  # fmt: skip
def jit(fn: Callable[..., Any] | None = None, /, **given: object) -> Any:
    """Compiles a function: `@appyc.jit`, `@appyc.jit(target="cpu")` or `appyc.jit(fn, ...)`.

    target: "auto" (the GPU where an argument lives on one, else the CPU), "cpu" (C with
    OpenMP), "gpu" (Triton), "interpret" (the Triton kernels in Triton's interpreter, on NumPy
    arrays), "python" (not compiled). auto: analyse loops without pragmas too. strict: what
    cannot be compiled is an error instead of running in Python. fastmath: let the C compiler
    reassociate floating-point arithmetic. cache: keep compiled code on disk. boundscheck:
    test that indices are in range.

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
    if not isinstance(fn, FunctionType):
        raise TypeError(f"appyc.jit takes a Python function, not {fn!r}")
    return JitFunction(fn, options)
