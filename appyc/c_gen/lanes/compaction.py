"""Stream compaction: stores selected elements densely, without a branch for each element.

    for (i = lo; i < hi; i += 1)            for (start = lo; start < hi; start = stop) {
        if (a[i] > 0) {                         int64_t count = 0;
            found[k] = i;            ->         for (i = start; i < stop; i += 1) {
            k += 1;                                 found_part[count] = i;
        }                                           count += a[i] > 0;
                                                }
                                                memcpy(&found[k], found_part, count * sizeof *found_part);
                                                k += count;
                                            }

Where the elements are in no order, the branch cannot be predicted, and each misprediction costs as much as twenty
elements. Here every element is stored to a buffer, and the next one overwrites it where the condition does not hold.
The buffer has room for all elements of a part, which `found` may not have: where `found` is too short, the part runs
as the original loop, which raises. A SIMD reduction counts the elements selected in each piece of a part. A piece
without any is skipped. In a piece with few, a bit mask gives their positions.

Which loops take this form, `passes/vectorise/compaction_form.py` says.
"""

from __future__ import annotations

from collections.abc import Mapping

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.lanes.simd import flag_bits
from appyc.c_gen.text.c_expressions import element, expression
from appyc.c_gen.text.c_types import storage_type
from appyc.ir.nodes import For, Symbol
from appyc.ir.packing_loops import Selection, selection_of

PART = 512
"""Elements of a part: its buffer stays in the cache next to the core."""

PIECE = 64
"""Elements of a piece, for which the condition is evaluated in lanes at first: the bits of a mask."""

FEW = 4
"""Selected elements of a piece up to which they are stored one by one, in the order of a mask's bits. Each of these
costs as much as several elements that are stored and counted; computing the mask costs a quarter of a piece."""


def emit_packing(ctx: FunctionContext, loop: For, lo: str, hi: str, body: Body) -> None:
    """Writes the loop from `lo` to `hi`. body: writes statements as they are."""
    writer, fresh = ctx.writer, ctx.module.names.fresh
    found = selection_of(loop)
    assert found is not None
    start, stop, count = fresh("start"), fresh("stop"), fresh("count")
    parts = {store.array: fresh(f"{store.array.name}_part") for store in found.stores}
    position, var = ctx.name(found.counter), ctx.name(loop.var)
    for array, part in parts.items():
        writer.line(f"{storage_type(array.dtype)} {part}[{PART}];")
    writer.line(f"int64_t {start} = {lo};")
    with writer.block(f"while ({start} < {hi})"):
        writer.line(f"const int64_t {stop} = {hi} - {start} < {PART} ? {hi} : {start} + {PART};")
        writer.line(f"int64_t {count} = 0;")
        _emit_part(ctx, loop.var, found, parts, (start, stop, count))
        checked = [store.array for store in found.stores if store.checked]
        fits = " && ".join(f"{position} + {count} <= {ctx.extent(array, 0)}" for array in checked)
        with writer.block(f"if ({position} >= 0 && {fits})" if checked else f"if ({count})"):
            for array, part in parts.items():
                target = element(ctx, array, [position])
                writer.line(f"__builtin_memcpy(&{target}, {part}, (uint64_t){count} * sizeof *{part});")
            writer.line(f"{position} += {count};")
        if checked:
            with writer.block(f"else for (int64_t {var} = {start}; {var} < {stop}; {var} += 1)"):
                body(ctx, loop.body)
        writer.line(f"{start} = {stop};")


def _emit_part(
    ctx: FunctionContext,
    loop_var: Symbol,
    found: Selection,
    parts: Mapping[Symbol, str],
    names: tuple[str, str, str],
) -> None:
    """Stores the selected elements from `start` to `stop` to the buffers, and counts them."""
    writer, fresh = ctx.writer, ctx.module.names.fresh
    start, stop, count = names
    piece, end, some, bits = (fresh(name) for name in ("piece", "end", "some", "bits"))
    var, cond = ctx.name(loop_var), expression(ctx, found.cond)
    width = flag_bits(found.cond)
    with writer.block(f"for (int64_t {piece} = {start}; {piece} < {stop}; {piece} += {PIECE})"):
        writer.line(f"const int64_t {end} = {stop} - {piece} < {PIECE} ? {stop} : {piece} + {PIECE};")
        writer.line(f"uint{width}_t {some} = 0;")
        writer.line(f"#pragma omp simd reduction(+ : {some})")
        with writer.block(f"for (int64_t {var} = {piece}; {var} < {end}; {var} += 1)"):
            writer.line(f"{some} += (uint{width}_t)(bool)({cond});")
        writer.line(f"if (!{some}) continue;")
        with writer.block(f"if ({some} <= {FEW})"):
            writer.line(f"uint64_t {bits} = 0;")
            writer.line(f"#pragma omp simd reduction(| : {bits})")
            with writer.block(f"for (int64_t {var} = {piece}; {var} < {end}; {var} += 1)"):
                writer.line(f"{bits} |= (uint64_t)(bool)({cond}) << ({var} - {piece});")
            with writer.block(f"for (; {bits}; {bits} &= {bits} - 1)"):
                writer.line(f"const int64_t {var} = {piece} + __builtin_ctzll({bits});")
                for store in found.stores:
                    writer.line(f"{parts[store.array]}[{count}] = {expression(ctx, store.value)};")
                writer.line(f"{count} += 1;")
            writer.line("continue;")
        with writer.block(f"for (int64_t {var} = {piece}; {var} < {end}; {var} += 1)"):
            for store in found.stores:
                writer.line(f"{parts[store.array]}[{count}] = {expression(ctx, store.value)};")
            writer.line(f"{count} += (bool)({cond});")
