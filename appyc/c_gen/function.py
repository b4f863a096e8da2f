"""The frame of every generated C function that runs statements: locals, the exit, clean-up."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from appyc.c_gen.context import FunctionContext
from appyc.c_gen.scalars import storage_type


def emit_function(
    ctx: FunctionContext, name: str, parameters: Sequence[str], body: Callable[[], None]
) -> None:
    """Writes a function around what `body` writes, and adds it to the module.

    It is never inlined, because `restrict` holds for parameters only. `noipa`: gcc 12 may write an
    address as `2 * pointer - start`, lose sight of what it points to, and drop the call as one that
    has no effect.
    """
    writer, names = ctx.writer, ctx.module.names
    restrict = "" if ctx.module.sequential else "restrict "
    lines = textwrap.wrap(", ".join(parameters), 100, break_long_words=False)
    head = f"static __attribute__((noinline, noipa)) void {name}("
    with writer.block("\n    ".join([head, *lines]) + ")"):
        writer.line("bool failed = fault[0] >= 0;")
        writer.line("if (failed) return;")
        for array in ctx.allocated:
            writer.line(f"{storage_type(array.dtype)} *{restrict}{names.of(array)} = 0;")
            writer.line(f"int64_t {names.of(array)}_held = 0;")
            for axis in range(array.array.ndim):
                writer.line(f"int64_t {names.extent(array, axis)} = 0;")
        body()
        if ctx.leaves:
            writer.label("leave")
        if ctx.allocated:
            release = ctx.module.helpers.plain("release")
            for array in ctx.allocated:
                writer.line(f"{release}({names.of(array)}, {names.of(array)}_held);")
    ctx.module.functions.append(writer.text())
