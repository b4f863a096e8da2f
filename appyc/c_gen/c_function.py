"""Prologue and epilogue of the generated C functions: local variables, the exit label, freeing of arrays."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.text.c_types import c_type, storage_type
from appyc.c_gen.translation_units import Definition
from appyc.ir.nodes import Alloc, Function, Stmt, Symbol
from appyc.ir.types import DType
from appyc.ir.visit import symbols_of, walk


def emit_function(
    ctx: FunctionContext,
    name: str,
    parameters: Sequence[str],
    body: Callable[[], None],
    returns: DType | None = None,
    attributes: tuple[str, ...] = (),
) -> None:
    """Writes a function around what `body` writes, and adds it to the module.

    returns: the type of `result`, which `body` assigns and the function returns. A function without one is never
    inlined, because `restrict` holds for parameters only. `noipa`: gcc 12 may write an address as
    `2 * pointer - start`, lose sight of what it points to, and drop the call as one that has no effect.
    """
    writer, names = ctx.writer, ctx.module.names
    restrict = "" if ctx.module.sequential else "restrict "
    lines = textwrap.wrap(", ".join(parameters), 100, break_long_words=False)
    kind = "void" if returns is None else c_type(returns)
    head = "\n    ".join([f"{kind} {name}(", *lines]) + ")"
    with writer.block(""):
        if returns is None:
            writer.line("bool failed = fault[0] >= 0;")
            writer.line("if (failed) return;")
        else:
            writer.line("bool failed = false;")
            writer.line(f"{kind} result = 0;")
        for array in ctx.given:
            for kind, variable, where in _parts(ctx, array):
                writer.line(f"{kind} {variable} = *{where};")
        for array in ctx.allocated:
            alone = "" if array in ctx.resized else restrict
            writer.line(f"{storage_type(array.dtype)} *{alone}{names.of(array)} = 0;")
            writer.line(f"int64_t {names.of(array)}_held = 0;")
            for axis in range(array.array.ndim):
                writer.line(f"int64_t {names.extent(array, axis)} = 0;")
        body()
        if ctx.leaves:
            writer.label("leave")
        for array in ctx.given:
            for _, variable, where in _parts(ctx, array):
                writer.line(f"*{where} = {variable};")
        release = ctx.module.helpers.plain("release") if ctx.allocated else ""
        for array in ctx.allocated:
            writer.line(f"{release}({names.of(array)}, {names.of(array)}_held);")
        if returns is not None:
            writer.line("return result;")
    if returns is None:
        attributes = ("noinline", "noipa", *attributes)
    ctx.module.functions.append(Definition(head, f" {writer.text()}", attributes))


def _parts(ctx: FunctionContext, array: Symbol) -> list[tuple[str, str, str]]:
    """The C variables (type, name) that describe an array of one axis which may be resized, and the parameter that
    points to the caller's."""
    name = ctx.module.names.of(array)
    return [
        (f"{storage_type(array.dtype)} *", name, f"{name}_at"),
        ("int64_t", f"{name}_held", f"{name}_held_at"),
        ("int64_t", ctx.extent(array, 0), f"{name}_length_at"),
    ]


def parameters_of_resized(ctx: FunctionContext, array: Symbol) -> list[str]:
    """The C parameters for an array that a function may resize."""
    return [f"{kind} *{where}" for kind, _, where in _parts(ctx, array)]


def arguments_for_resized(ctx: FunctionContext, array: Symbol) -> list[str]:
    return [f"&{variable}" for _, variable, _ in _parts(ctx, array)]


def arrays_gone(fn: Function, allocated: frozenset[Symbol]) -> dict[int, list[Symbol]]:
    """The arrays that are dead after a statement of the function, by its number, where later arrays are allocated.
    They are freed then, so that a chain of temporaries takes no more memory than two or three do."""
    last_alloc = max((at for at, stmt in enumerate(fn.body) if _allocates(stmt)), default=-1)
    needed = set(symbols_of(fn.results))
    gone: dict[int, list[Symbol]] = {}
    for at in range(len(fn.body) - 1, -1, -1):
        used = [symbol for symbol in symbols_of(fn.body[at]) if symbol in allocated and symbol not in needed]
        needed.update(used)
        if used and at < last_alloc:
            gone[at] = used
    return gone


def _allocates(stmt: Stmt) -> bool:
    return any(isinstance(node, Alloc) and not node.in_frame for node in walk(stmt))


def emit_release(ctx: FunctionContext, array: Symbol) -> None:
    """Frees an array before the function ends."""
    name, release = ctx.module.names.of(array), ctx.module.helpers.plain("release")
    ctx.writer.line(f"{release}({name}, {name}_held);")
    ctx.writer.line(f"{name} = 0;")
    ctx.writer.line(f"{name}_held = 0;")
