"""Loads generated Triton text as Python functions and kernels."""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any

from appyc.errors import ToolchainError
from appyc.ir.names import in_ascii
from appyc.ir.symbols import Symbol
from appyc.ir.types import DType
from appyc.triton_gen.triton_module import TritonProgram


@lru_cache(maxsize=8)
def load_source(program: TritonProgram) -> dict[str, Any]:
    """The names that a program's text defines, its kernels as Triton's JITFunctions.

    The text is registered under a file name of its own, because Triton reads functions' source
    through `inspect`.
    """
    try:
        import triton.runtime.jit  # noqa: F401, PLC0415
    except ImportError as error:
        raise ToolchainError("Triton is not installed; `pip install appyc[interpret]` brings it") from error
    digest = hashlib.sha256(program.text.encode()).hexdigest()[:16]
    filename = f"<appyc triton {in_ascii(program.name)} {digest}>"  # ptxas takes no other letters
    lines = program.text.splitlines(keepends=True)
    linecache.cache[filename] = (len(program.text), None, lines, filename)
    names: dict[str, Any] = {"__name__": f"appyc_triton_{digest}"}
    exec(compile(program.text, filename, "exec"), names)
    return names


def load_host(program: TritonProgram) -> Callable[..., list[Any]]:
    """The host function of a program, which needs no Triton."""
    names: dict[str, Any] = {}
    exec(compile(program.host, f"<appyc host {program.name}>", "exec"), names)
    host: Callable[..., list[Any]] = names["host"]
    return host


class HostScalars:
    """The numbers among a host function's arguments: Python's own integers are exact on the host, others NumPy's."""

    def __init__(self, params: Sequence[Symbol]) -> None:
        self._types = [
            (n, p.dtype.numpy.type, int if p.dtype is DType.INT64 else None)
            for n, p in enumerate(params)
            if not p.is_array
        ]

    def converted(self, args: Iterable[Any]) -> list[Any]:
        values = list(args)
        for number, type_, exact in self._types:
            if type(values[number]) is not exact:
                values[number] = type_(values[number])
        return values


def plain_functions(names: dict[str, Any], replaced: dict[str, Any]) -> dict[str, Any]:
    """The names with each jitted function replaced by its Python function; these see each other, and
    `replaced` instead of what the text imported."""
    out: dict[str, Any] = {**names, **replaced}
    for name, value in names.items():
        python = getattr(value, "fn", None)
        if isinstance(python, FunctionType):
            out[name] = FunctionType(python.__code__, out, name, python.__defaults__)
    return out
