"""Finds the C library's vector math functions, such as libmvec's, by one test of compiler and library on a machine.

    <cache>/v1/vector-math-<key>.json     the functions' names

glibc keeps these forms in a library of their own, libmvec, which linking with libm brings along where
it is needed; which exist depends on its version and on the processor. For gcc an attribute in a prototype
declares them (`c_gen/text/c_helpers.py`), clang knows those of x86 by itself. Other C libraries
have none, and their functions are called for one number at a time.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from appyc import options
from appyc.ir.intrinsics import VECTOR_FUNCTIONS
from appyc.ir.nodes import Binary, Function, Intrinsic, Node
from appyc.ir.visit import walk
from appyc.runtime.cache import Cache
from appyc.runtime.fingerprint import binary_fingerprint, digest, machine_fingerprint
from appyc.runtime.trusted import workspace

_VARIANTS = {"x86_64": (("b", 16), ("c", 32), ("d", 32), ("e", 64)), "aarch64": (("n", 16), ("s", 0))}
"""The vector variants that gcc may call, by processor: the letter in the function's name and the bytes of a
vector, 0 where they are not fixed."""


def calls_any(fn: Function) -> bool:
    """Whether a function calls anything that may have such a form."""
    return any(_may_be_vector(node) for node in walk(fn))


def _may_be_vector(node: Node) -> bool:
    match node:
        case Intrinsic():
            return node.name in VECTOR_FUNCTIONS
        case Binary():
            return node.op == "**" and node.dtype.is_float
        case _:
            return False


def vector_functions(command: str) -> frozenset[str]:
    """The names, as C spells them, of the functions that code by this compiler may call with vectors."""
    return _found(command, options.cache_dir()) if _processor() in _VARIANTS else frozenset()


def _processor() -> str:
    return os.uname().machine


@lru_cache(maxsize=8)
def _found(command: str, folder: Path) -> frozenset[str]:
    program = binary_fingerprint(shlex.split(command)[0]) or ""
    file = f"vector-math-{digest(command, program, machine_fingerprint())[:32]}.json"
    cache = Cache(folder)
    known = _read(cache.read_text(file))
    if known is None:
        known = frozenset(_linked(command, _candidates()))
        cache.write_text(file, json.dumps(sorted(known)))
    return known


def _read(text: str | None) -> frozenset[str] | None:
    """The vector functions in a cache entry; None where it is missing or not valid."""
    try:
        names = json.loads(text or "")
    except ValueError:
        return None
    return frozenset(names) if isinstance(names, list) and set(names) <= set(_candidates()) else None


def _candidates() -> list[str]:
    return [name + suffix for name in VECTOR_FUNCTIONS for suffix in ("", "f")]


def symbols_of(function: str) -> list[str]:
    """The library's names for the vector forms of a function, of which a compiler may take any."""
    single = function not in VECTOR_FUNCTIONS
    arity = VECTOR_FUNCTIONS[function[:-1] if single else function]
    out = []
    for letter, size in _VARIANTS[_processor()]:
        lanes = str(size // (4 if single else 8)) if size else "x"
        mask = "M" if size == 0 else "N"
        out.append(f"_ZGV{letter}{mask}{lanes}{'v' * arity}_{function}")
    return out


def _linked(command: str, functions: Sequence[str]) -> list[str]:
    """The subset of functions all of whose vector forms link. Most libraries have all or none."""
    if not functions or _links(command, [s for f in functions for s in symbols_of(f)]):
        return list(functions)
    if len(functions) == 1 or not _links(command, []):
        return []
    half = len(functions) // 2
    return _linked(command, functions[:half]) + _linked(command, functions[half:])


def _links(command: str, symbols: Sequence[str]) -> bool:
    declared = "".join(f"extern char {name}[];\n" for name in symbols)
    text = f"{declared}const char *table[] = {{{', '.join([*symbols, '0'])}}};\n"
    return accepts(command, ("-Wl,-z,defs", "-lm"), text)


@lru_cache(maxsize=16)
def accepts(command: str, flags: tuple[str, ...], text: str = "") -> bool:
    """Whether the compiler makes a library of a text with these flags."""
    with workspace() as folder:
        out = str(Path(folder, "probe.so"))
        words = [*shlex.split(command), "-shared", "-fPIC", "-x", "c", "-", "-o", out, *flags]
        return subprocess.run(words, input=text, capture_output=True, text=True, check=False).returncode == 0


def clang_flags(command: str) -> tuple[str, ...]:
    """The flags that make clang call the vector forms that it knows; none where it does not know the
    library."""
    if not vector_functions(command):
        return ()
    flags = ("-fveclib=libmvec",)
    return flags if accepts(command, flags) else ()
