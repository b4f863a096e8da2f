"""Chooses the tiles of matrix products that kernels of a GPU compute.

    for i in range(n):                          LoopSchedule(tiles=(128x64, 64x64, 32x32))
        for j in range(i):             ->
            for k in range(m):
                c[i, j] += a[i, k] * b[k, j]

A large tile loads each element of a factor for more of the target, and a small one leaves fewer multiprocessors idle,
or elements of the tile outside the target. The launch knows the sizes, and chooses from what is listed here; the
clauses `block(rows, columns)`, `num_warps` and `num_stages` leave one kind of tiles.

Requires: `find_products` has run. Does not handle: products of complex numbers, which are loops by then.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.nodes import For, Function
from appyc.ir.schedule import Product, ProductTiles
from appyc.ir.visit import loops_of
from appyc.passes.pass_context import PassContext

STEP = 16
"""Columns of a strip: the least that `tl.dot` takes in double precision."""
STAGES = 3
TILES = ((128, 64), (64, 64), (32, 32))
"""The rows and columns of tiles to choose from: with these no thread spills registers on sm_80 and sm_90 in
double precision."""
ELEMENTS_OF_A_WARP = 512
"""Elements of the target that a warp computes, 16 for each thread: a tile of 64 by 64 has eight warps."""
LEAST = 16
"""Rows and columns of the smallest tile that `tl.dot` takes without padding."""
MOST = 256


def choose_product_tiles(fn: Function, ctx: PassContext) -> Function:
    """The function with the tiles of its products in the schedule."""
    decided = {
        loop.var: replace(fn.schedule[loop.var], tiles=_tiles(loop, loop.product))
        for loop in loops_of(fn.body)
        if loop.product is not None
    }
    return replace(fn, schedule=fn.schedule.updated(decided)) if decided else fn


def _tiles(nest: For, product: Product) -> tuple[ProductTiles, ...]:
    sizes: tuple[tuple[int, int], ...] = (
        TILES[1:] if product.exchanged else TILES
    )  # twice as many strips are in registers
    asked = [loop.clauses for loop in (nest, *loops_of(nest.body)) if loop.clauses is not None]
    blocks = [size for clauses in asked for size in clauses.block]
    if blocks:
        # The powers of two that sides of a tile have for so many iterations.
        sides = (1 << (size - 1).bit_length() for size in (*blocks, blocks[0])[:2])
        rows, columns = (min(max(side, LEAST), MOST) for side in sides)
        sizes = ((rows, columns),)
    warps = next((c.num_warps for c in asked if c.num_warps is not None), None)
    stages = next((c.num_stages for c in asked if c.num_stages is not None), STAGES)
    return tuple(
        ProductTiles(m, n, STEP, warps or min(max(m * n // ELEMENTS_OF_A_WARP, 1), 8), stages)
        for m, n in sizes
    )
