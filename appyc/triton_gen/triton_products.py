"""Generates the Triton text of a kernel for matrix products: a tile of the target for each program, by `tl.dot`.

    target = keep * target + scale * (left @ right)           for each matrix of a stack

A program adds up strips of columns of `left` and rows of `right`; Triton loads the next strips meanwhile. Double
precision uses the tensor cores (DMMA), single precision does only with `fastmath`, in TF32. Of a triangle, a program
whose tile has no wanted element adds nothing up. Where sums end or begin at a diagonal, so do the strips of a
program; those on the diagonal are masked. What the right factor has beside the sums of a row counts 0 times, so that
where it is not finite, the columns of a strip are added one by one. Programs visit bands of BAND tiles, whose factors
stay in the L2 cache.

The constexpr LAYOUT says for the target, the left and the right factor, as digits of base 3, which stride is known to
be 1: 0 none, 1 that between columns, 2 that between rows. With it, threads load adjacent elements together.
"""

from __future__ import annotations

from collections.abc import Iterator

from appyc.ir.gpu_program import Multiply
from appyc.ir.schedule import ProductShape, ProductTiles
from appyc.ir.types import DType
from appyc.triton_gen.triton_helpers import COMBINE
from appyc.triton_gen.triton_kernel import SIGNATURE, KernelText, Param

BAND = 8
"""Rows of tiles in a band."""

LAYOUT = 1 + 3 + 9
"""All matrices by rows."""

_MOST = COMBINE["max"]

_NAMES = "target", "left", "right", "left_too", "right_too"


def tiled_name(kernel: str, tiles: ProductTiles) -> str:
    """The name of a product's kernel that has these tiles."""
    return f"{kernel}_{tiles.rows}x{tiles.columns}"


def emit_product(product: Multiply, tiles: ProductTiles, *, fastmath: bool) -> KernelText:
    """The kernel of one product that has these tiles. fastmath: whether single precision may be TF32."""
    dtype = product.call.target.array.dtype
    params = tuple(_params(product, dtype))
    names = ", ".join([*(p.name for p in params), "LAYOUT: tl.constexpr"])
    body = "\n".join(
        f"    {line}" if line else "" for line in _lines(product, tiles, dtype, fastmath=fastmath)
    )
    name = tiled_name(product.kernel, tiles)
    text = f"@triton.jit\ndef {name}({names}):\n{body}\n"
    helpers = frozenset((_MOST,) if product.shape.of_sums else ())
    return KernelText(
        name, text, params, LAYOUT, LAYOUT, tiles.warps, helpers, "LAYOUT", num_stages=tiles.stages
    )


def _params(product: Multiply, dtype: DType) -> Iterator[Param]:
    """The parameters of the kernel, in the order in which `runtime.gpu_products.multiply` passes them."""
    names = _NAMES[: 3 + len(product.call.exchanged)]
    for name in names:
        yield Param(name, "*" + SIGNATURE[dtype], "array")
    for name in ("rows", "columns", "summed"):
        yield Param(name, "i64", "scalar")
    yield Param("edge", "i64", "grid")
    for name in names:
        for stride in ("next", "row", "column"):
            yield Param(f"{name}_{stride}", "i64", "scalar")
    for name, value in (("scale", product.scale), ("keep", product.keep)):
        if value is not None:
            yield Param(name, SIGNATURE[dtype], "scalar")


def _along(name: str, direction: str, product: Multiply) -> Iterator[str]:
    """The strides of a matrix along a direction: its own, and that of the factor which is the same matrix exchanged."""
    yield f"{name}_{direction}"
    if product.call.exchanged and name != "target":
        other = "right_too" if name == "left" else "left_too"
        yield f"{other}_{'row' if direction == 'column' else 'column'}"


def _lines(product: Multiply, tiles: ProductTiles, dtype: DType, *, fastmath: bool) -> Iterator[str]:
    number, rows, columns, step = f"tl.{dtype}", tiles.rows, tiles.columns, tiles.step
    precision = "tf32" if fastmath and dtype is DType.FLOAT32 else "ieee"
    pairs = [("left", "right"), *([("left_too", "right_too")] if product.call.exchanged else ())]
    for digit, name in enumerate(_NAMES[:3]):
        yield f"if LAYOUT // {3**digit} % 3 == 1:"
        yield from (f"    {stride} = 1" for stride in _along(name, "column", product))
        yield f"if LAYOUT // {3**digit} % 3 == 2:"
        yield from (f"    {stride} = 1" for stride in _along(name, "row", product))
    yield f"down, along = (rows + {rows - 1}) // {rows}, (columns + {columns - 1}) // {columns}"
    yield "program = tl.program_id(0).to(tl.int64)"
    yield "member, program = program // (down * along), program % (down * along)"
    yield f"band = program // ({BAND} * along) * {BAND}"
    yield f"height = tl.minimum(down - band, {BAND})"
    yield f"program = program % ({BAND} * along)"
    yield f"top, first = (band + program % height) * {rows}, program // height * {columns}"
    yield f"i = (top + tl.arange(0, {rows}))[:, None]"
    yield f"j = (first + tl.arange(0, {columns}))[None, :]"
    yield f"k = tl.arange(0, {step}).to(tl.int64)"
    yield "inside = (i < rows) & (j < columns)"
    ranges, first = [("0", "summed", "")], "k"
    match product.shape:
        case ProductShape.ALL:
            pass
        case ProductShape.SUM_BEFORE:
            yield f"whole = tl.minimum(tl.maximum(edge + top, 0), summed) // {step} * {step}"
            yield f"last = tl.minimum(edge + top + {rows - 1}, summed)"
            ranges = [("0", "whole", ""), ("whole", "last", "< edge + i")]
        case ProductShape.SUM_FROM:
            yield f"start = tl.maximum(edge + top, 0) // {step} * {step}"
            yield f"whole = (tl.maximum(edge + top + {rows - 1}, 0) + {step - 1}) // {step} * {step}"
            yield "whole = tl.minimum(whole, summed)"
            ranges = [("start", "whole", ">= edge + i"), ("whole", "summed", "")]
            first = "(start + k)"
        case ProductShape.BEFORE:
            yield "inside = inside & (j < edge + i)"
            yield f"summed = tl.where(first < edge + top + {rows - 1}, summed, 0)"
        case ProductShape.FROM:
            yield "inside = inside & (j >= edge + i)"
            yield f"summed = tl.where(first + {columns - 1} >= edge + top, summed, 0)"
    if product.shape.of_sums:
        yield "left_rows = left + member * left_next + i * left_row"
        yield "right_columns = right + member * right_next + j * right_column"
    for one, other in pairs:
        yield f"{one} += member * {one}_next + i * {one}_row + {first}[None, :] * {one}_column"
        yield f"{other} += member * {other}_next + {first}[:, None] * {other}_row + j * {other}_column"
    yield f"total = tl.full(({rows}, {columns}), 0, {number})"
    for lo, hi, wanted in ranges:
        yield f"for step in range({lo}, {hi}, {step}):"
        yield "    rest = summed - step"
        for one, other in pairs:
            mask = "(i < rows) & (k[None, :] < rest)" + (
                f" & ((step + k)[None, :] {wanted})" if wanted else ""
            )
            yield f"    strip = tl.load({one}, mask={mask}, other=0)"
            yield f"    {other}_strip = tl.load({other}, mask=(k[:, None] < rest) & (j < columns), other=0)"
            dot = f'total = tl.dot(strip, {other}_strip, total, input_precision="{precision}", out_dtype={number})'
            yield from _by_columns(step, wanted, dot) if wanted else (f"    {dot}",)
            yield f"    {one} += {step} * {one}_column"
            yield f"    {other} += {step} * {other}_row"
    yield "target += member * target_next + i * target_row + j * target_column"
    if product.scale is not None:
        yield "total = total * scale"
    if product.keep is not None:
        yield "total = total + tl.load(target, mask=inside, other=0) * keep"
    yield "tl.store(target, total, mask=inside)"


def _by_columns(step: int, wanted: str, dot: str) -> Iterator[str]:
    """A strip with elements that do not count: by `dot`, or where that would make NaN of them, column by column."""
    yield "    odd = (right_strip - right_strip != 0).to(tl.int32)"
    yield f"    if tl.reduce(odd, None, {_MOST}) == 0:"
    yield f"        {dot}"
    yield "    else:"
    yield f"        for column in range(0, {step}):"
    yield "            now = step + column"
    yield f"            counts = (i < rows) & (now < summed) & (now {wanted})"
    yield "            one = tl.load(left_rows + now * left_column, mask=counts, other=0)"
    yield "            more = tl.load(right_columns + now * right_row, mask=(j < columns) & (now < summed), other=0)"
    yield "            total = tl.where(counts, total + one * more, total)"
