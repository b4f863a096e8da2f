"""Array reductions in threads, by privatisation: each piece of a loop combines into a copy of the array.

    for i in range(n):        # parallel, reduction(+: hist)
        hist[key[i]] += 1

The first piece works on the array itself, so that one piece is the plain loop; each of the
others on a copy, which starts from the operator's neutral element. Afterwards the copies are
combined into the array, in the order of the pieces, so that the result is deterministic.

    int64_t hist_size = hist_n0, hist_apart = ..., *hist_copies = allocate(...);
    in parallel: own = piece ? hist_copies + (piece - 1) * hist_apart : hist; ...
    in parallel, each thread a part of the elements: hist[e] += every copy's [e];

How many pieces there are depends on the sizes, so that a copy is worth its memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.text.c_expressions import element
from appyc.c_gen.text.c_operators import combine
from appyc.c_gen.text.c_types import neutral, storage_type
from appyc.ir.nodes import Symbol
from appyc.ir.types import Layout

COPY_WORK = 8
"""Operations that a piece must have to do for each element of its copies: a copy is filled, read
once more, and takes up room in the caches."""

SHARED_ELEMENTS = 16_384
"""Elements from which on the threads share the combining."""


@dataclass(frozen=True, slots=True)
class ArrayCopies:
    """The copies of one array, and the operator that combines them."""

    op: str
    array: Symbol


def emit_allocation(ctx: FunctionContext, copies: Sequence[ArrayCopies], work: str | None) -> None:
    """Reduces `pieces` to what pays, and allocates. work: operations of the whole loop, if known."""
    if not copies:
        return
    names, writer = ctx.module.names, ctx.writer
    for copy in copies:
        name = names.of(copy.array)
        extents = [names.extent(copy.array, axis) for axis in range(copy.array.array.ndim)]
        writer.line(f"const int64_t {name}_size = {' * '.join(extents) or '1'};")
        # A multiple of a line of the cache: no two copies share one.
        writer.line(f"const int64_t {name}_apart = ({name}_size + 63) / 64 * 64;")
    if work is not None:
        elements = " + ".join(f"{names.of(copy.array)}_size" for copy in copies)
        writer.line(f"const double copies_pay = {work} / ({COPY_WORK}.0 * (double)({elements} + 1));")
        writer.line("if (copies_pay < (double)pieces) pieces = copies_pay < 2.0 ? 1 : (int64_t)copies_pay;")
    allocate = ctx.module.helpers.plain("allocate")
    for copy in copies:
        name, kind = names.of(copy.array), storage_type(copy.array.dtype)
        writer.line(f"{kind} *{name}_copies = 0;")
        with writer.block("if (pieces > 1)"):
            sizes = f"(int64_t[]){{pieces - 1, {name}_apart, {copy.array.dtype.itemsize}}}"
            writer.line(f"{name}_copies = {allocate}({sizes}, 3, false);")
            writer.line(f"if (!{name}_copies) pieces = 1;")


def emit_own(ctx: FunctionContext, copy: ArrayCopies) -> list[str]:
    """Declares, in a piece's iteration, the array that it works on; returns its data, extents and strides."""
    names, writer, array = ctx.module.names, ctx.writer, copy.array
    name, kind = names.of(array), storage_type(array.dtype)
    axes = range(array.array.ndim)
    writer.line(
        f"{kind} *const {name}_own = piece == 0 ? {name} : {name}_copies + (piece - 1) * {name}_apart;"
    )
    start = neutral(copy.op, array.dtype)
    writer.line(f"for (int64_t e = 0; piece > 0 && e < {name}_size; e += 1) {name}_own[e] = {start};")
    arguments = [f"{name}_own", *(names.extent(array, axis) for axis in axes)]
    if array.array.layout is Layout.STRIDED:
        for axis in axes:
            inner = [names.extent(array, later) for later in axes if later > axis]
            dense = " * ".join([*inner, str(array.dtype.itemsize)])
            stride = names.stride(array, axis)
            writer.line(f"const int64_t {stride}_own = piece == 0 ? {stride} : {dense};")
            arguments.append(f"{stride}_own")
    return arguments


def emit_combination(ctx: FunctionContext, copies: Sequence[ArrayCopies], *, shared: bool) -> None:
    """Combines the copies into their arrays. shared: each thread does a part of the elements."""
    writer = ctx.writer
    for copy in copies:
        start = ctx.module.helpers.plain("piece_start")
        name, dtype = ctx.module.names.of(copy.array), copy.array.dtype
        kind = storage_type(dtype)
        if shared:
            large = f"if ({name}_size >= {SHARED_ELEMENTS})"
            writer.line(f"#pragma omp parallel for num_threads((int)threads) schedule(static, 1) {large}")
        with writer.block("for (int64_t part = 0; part < pieces; part += 1)"):
            writer.line(f"const int64_t first = {start}({name}_size, part, pieces);")
            writer.line(f"const int64_t last = {start}({name}_size, part + 1, pieces);")
            with writer.block("for (int64_t piece = 1; piece < pieces; piece += 1)"):
                writer.line(f"const {kind} *const copy = {name}_copies + (piece - 1) * {name}_apart;")
                with writer.block("for (int64_t e = first; e < last; e += 1)"):
                    writer.line(f"{kind} *const slot = &{_element(ctx, copy.array)};")
                    writer.line(f"*slot = {combine(ctx, copy.op, dtype, '(*slot)', 'copy[e]')};")


def emit_release(ctx: FunctionContext, copies: Sequence[ArrayCopies]) -> None:
    """Frees the copies, where there are any."""
    for copy in copies:
        release = ctx.module.helpers.plain("release")
        name = ctx.module.names.of(copy.array)
        taken = f"(pieces - 1) * {name}_apart * {copy.array.dtype.itemsize}"
        ctx.writer.line(f"if ({name}_copies) {release}({name}_copies, {taken});")


def _element(ctx: FunctionContext, array: Symbol) -> str:
    """The element of the array that corresponds to element `e` of a copy, which is dense."""
    if array.array.layout is not Layout.STRIDED:
        return f"{ctx.module.names.of(array)}[e]"
    indices: list[str] = []
    rest = "e"
    for axis in range(array.array.ndim - 1, 0, -1):
        extent = ctx.extent(array, axis)
        indices.insert(0, f"({rest} % {extent})")
        rest = f"({rest} / {extent})"
    return element(ctx, array, [rest, *indices])
