"""Builds a kernel's shared library from C text: compiles its files in parallel, and helpers once for all programs.

    files of the program ──► cc -c ──► objects ──┐
    files of helpers ──► cc -c ──► the cache ────┴──► link ──► kernel.so

A short program is one file, which is compiled and linked at one go.
"""

from __future__ import annotations

from pathlib import Path

from appyc.c_gen.c_file import CModule
from appyc.c_gen.translation_units import File
from appyc.options import Options, usable_cores
from appyc.runtime import toolchain
from appyc.runtime.cache import Cache
from appyc.runtime.fingerprint import digest

_OBJECT = "helpers.o"


def build(module: CModule, folder: Path, options: Options, cache: Cache) -> Path:
    """The module's library, in the folder."""
    built = folder / "kernel.so"
    compiler = (toolchain.compiler_id(), *toolchain.flags(options, needs=module.needs))
    kept: list[Path] = []
    missing: dict[str, str] = {}
    for number, text in enumerate(module.libraries):
        key = digest("helpers", text, *compiler)
        there = cache.lookup(key)
        if there is None:
            missing[key] = text
        else:
            kept.append(folder / f"kept{number}.o")
            kept[-1].write_bytes(there.path(_OBJECT).read_bytes())  # another process may remove the entry
    if module.draws:
        kept.append(toolchain.distributions())
    units = module.units(usable_cores())
    if len(units) == 1 and not missing:
        toolchain.build(units[0].text, built, options, kept, needs=module.needs)
        return built
    files = [*map(File, missing.values()), *units]
    objects = toolchain.compile_files(files, folder, options, needs=module.needs)
    for key, made in zip(missing, objects, strict=False):
        cache.store(key, {_OBJECT: made.read_bytes()}, {})
    toolchain.build("", built, options, [*objects, *kept])
    return built
