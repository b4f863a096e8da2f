"""Compiles functions to C kernels for the CPU, through the disk cache.

A warm start finds the kernel by the function's text and by what it reads from outside, and
neither parses nor analyses anything.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from appyc.compiler.analyse import Analysed, CompiledFor, analyse, analyse_shared, analyse_units, simplified
from appyc.compiler.disk_cache import disk_cache
from appyc.compiler.requests import Request
from appyc.compiler.waiting import Notice
from appyc.errors import GENERATED, ToolchainError, TypeInferenceError, defects_of
from appyc.frontend.access import AccessPath, closure_of, find, plain_form, python_function
from appyc.frontend.library.generator_state import GENERATOR, PYTHON
from appyc.frontend.source import Source, capture, read_source
from appyc.ir.aliasing import Sharing
from appyc.options import Options, c_compiler, cache_dir
from appyc.runtime.attaching import load_kernel
from appyc.runtime.cache import Entry
from appyc.runtime.fingerprint import binary_fingerprint, digest
from appyc.runtime.frame import Interface, Kernel
from appyc.runtime.index import Dependency, index_key
from appyc.runtime.signature import typeof_captured
from appyc.runtime.stored_interface import SourceExtent, restored, stored
from appyc.runtime.trusted import workspace


@dataclass(frozen=True, slots=True)
class CpuVersion:
    """A function compiled for the CPU. checked: the plain variant, or its absence for now."""

    kernel: Kernel
    outside: CompiledFor


@dataclass(frozen=True, slots=True)
class CpuCompiler:
    """Compiles one Python function to C kernels, for one request."""

    fn: FunctionType
    source: Source
    wanted: Request
    options: Options

    def version(self, *, plain: bool = False) -> CpuVersion:
        """The kernel, from the cache where it is there.

        plain: the variant for overlapping arguments and for indices out of range.
        """
        make = self._simplified if plain else lambda: analyse(self.fn, self.source, self.wanted, self.options)
        found = self._variant("plain" if plain else "usual", make, plain=plain)
        assert found is not None, "there is a plain function of each"
        return found

    def shared_version(self, sharing: Sharing) -> CpuVersion | None:
        """The variant for arguments that share memory in this way, if there is one."""
        return self._variant(repr(sharing), lambda: analyse_shared(self._simplified(), sharing))

    def unit_version(self, units: frozenset[tuple[int, int]]) -> CpuVersion | None:
        """The variant for arguments of which these axes have length 1, if that makes a difference."""
        name = f"lengths of 1: {sorted(units)}"
        return self._variant(name, lambda: analyse_units(self._simplified(), units))

    def _variant(
        self, name: str, make: Callable[[], Analysed | None], *, plain: bool = False
    ) -> CpuVersion | None:
        key = self._key(name)
        if (found := self._found(key)) is not None:
            return found
        with Notice(self.fn, self.source):
            made = make()
            return None if made is None else self._build(made, key, plain)

    def _simplified(self) -> Analysed:
        return simplified(self.fn, self.source, self.wanted, self.options)

    def _key(self, variant: str) -> str:
        compiler = binary_fingerprint(c_compiler() or "cc") or binary_fingerprint("gcc")
        types = self.wanted.types
        built_in = sorted(
            (n, v if isinstance(v, str) else str(type(v))) for n, v in self.wanted.objects.items()
        )
        variant = digest(
            variant,
            np.__version__,
            compiler or "",
            repr(list(types)),
            repr(built_in),
            repr(__debug__),
            table.registered() if (table := sys.modules.get("appyc.library.table")) is not None else "[]",
        )
        return index_key(self.source.text, self.fn.__qualname__, tuple(types.values()), self.options, variant)

    def _found(self, key: str) -> CpuVersion | None:
        """The version on disk, if it is there and can be loaded."""
        found = self._find(key) if self.options.cache else None
        if found is None:
            return None
        try:
            return self._load(found)
        except ToolchainError:
            found.owner.remove(found)
            return None

    def is_stored(self) -> bool:
        """Whether the usual version is on disk."""
        return self.options.cache and self._find(self._key("usual")) is not None

    def _find(self, key: str) -> Entry | None:
        def current(dependency: Dependency) -> str | None:
            path = AccessPath(tuple((k, n) for k, n in json.loads(dependency.name)))
            try:
                value = find(self.fn, path, self.wanted.objects)
                return digest_of(value) if dependency.kind == "value" else _type_digest(plain_form(value))
            except (LookupError, AttributeError):
                return None

        return disk_cache(cache_dir())[1].find(key, current)

    def _build(self, analysed: Analysed, key: str, plain: bool) -> CpuVersion:
        from appyc.c_gen.c_file import generate  # noqa: PLC0415  (not needed on a warm start)
        from appyc.compiler.build import build  # noqa: PLC0415
        from appyc.pipeline import too_deep  # noqa: PLC0415
        from appyc.runtime import machine_rates, toolchain  # noqa: PLC0415
        from appyc.runtime.describe import describe  # noqa: PLC0415

        function = analysed.plain if plain else analysed.function
        try:
            with defects_of("the C back end"):
                function = function if plain else analysed.for_c()
                vector_functions = frozenset() if plain else analysed.vector_functions
                module = generate(function, self.options, sequential=plain, vector_functions=vector_functions)
        except RecursionError:
            raise too_deep(function) from None
        interface = describe(function, analysed.arguments, module.faults)
        cache_, index = disk_cache(cache_dir() if self.options.cache else None)
        entry_key = digest(
            module.text,
            np.__version__,
            toolchain.compiler_id(),
            *toolchain.flags(self.options, needs=module.needs),
        )
        entry = cache_.lookup(entry_key)
        if entry is not None and not _can_be_loaded(entry):
            cache_.remove(entry)
            entry = None
        if entry is None:
            with workspace() as folder:
                built = build(module, folder, self.options, cache_)
                if module.threaded:
                    machine_rates.ensure_measured()
                files = {"kernel.so": built.read_bytes(), "kernel.c": module.text.encode()}
            entry = cache_.store(entry_key, files, {})
        meta: dict[str, object] = {
            "entry": module.entry,
            "interface": stored(interface, _source_extent(self.source)),
            "given": len(analysed.arguments) - analysed.hidden,
            "captures": [path.steps for path in analysed.outside.captures],
            "watched": [path.steps for path, _ in analysed.outside.watched],
        }
        if self.options.cache:
            dependencies = [
                Dependency("value", json.dumps(path.steps), digest_of(value))
                for path, value in (*analysed.outside.watched, *analysed.outside.libraries)
            ]
            dependencies += [
                Dependency("type", json.dumps(path.steps), digest(repr(type_)))
                for path, type_ in zip(analysed.outside.captures, analysed.outside.capture_types, strict=True)
            ]
            index.add(key, dependencies, entry, meta)
        return _loaded(entry, module.entry, interface, analysed.outside)

    def _load(self, entry: Entry) -> CpuVersion:
        found: Mapping[str, Any] = entry.meta
        interface = restored(found["interface"], _source_extent(self.source))
        given = found["given"]
        captures = tuple(AccessPath(tuple((k, n) for k, n in steps)) for steps in found["captures"])
        paths = [AccessPath(tuple((k, n) for k, n in steps)) for steps in found["watched"]]
        watched = tuple((path, find(self.fn, path, self.wanted.objects)) for path in paths)
        outside = CompiledFor(captures, interface.arguments[given - len(captures) : given], watched)
        return _loaded(entry, found["entry"], interface, outside)


def _source_extent(source: Source) -> SourceExtent:
    return SourceExtent(source.file, source.first_line, len(source.lines))


def _can_be_loaded(entry: Entry) -> bool:
    try:
        ctypes.CDLL(str(entry.path("kernel.so")))
    except OSError:
        return False
    return True


def _loaded(entry: Entry, name: str, interface: Interface, outside: CompiledFor) -> CpuVersion:
    try:
        kernel = load_kernel(entry.path("kernel.so"), name, interface, alone=_draws_in_python(outside))
    except (OSError, AttributeError) as error:
        raise ToolchainError(f"compiled code cannot be loaded: {error}") from error
    return CpuVersion(kernel, outside)


def _draws_in_python(outside: CompiledFor) -> bool:
    """Whether a generator is one of Python's, which only the interpreter's lock keeps from others."""
    return any(path.steps[-1] == (GENERATOR, PYTHON) for path in outside.captures)


def _type_digest(value: object) -> str | None:
    try:
        return digest(repr(typeof_captured(value, "a captured value", GENERATED)))
    except TypeInferenceError:
        return None


def digest_of(value: object) -> str:
    """A digest of a captured value, as far as compiled code depends on it."""
    if isinstance(value, ModuleType):
        return digest("module", value.__name__)
    fn = python_function(value)
    if fn is not None:
        defaults = repr((fn.__defaults__, fn.__kwdefaults__))
        return digest("function", read_source(capture(fn)).text, defaults, repr(sorted(closure_of(fn))))
    if isinstance(value, type):
        return digest("type", value.__module__, value.__qualname__)
    if callable(value) and isinstance(name := getattr(value, "__name__", None), str):
        return digest(
            "function of a library", type(value).__qualname__, str(getattr(value, "__module__", "")), name
        )
    if isinstance(value, CodeType):
        return digest("code")  # its text is the function's
    if isinstance(value, dict):
        return digest("dict")  # each item that was used is named for itself
    return digest("value", type(value).__qualname__, repr(value))
