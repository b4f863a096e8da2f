"""Which loops become the grid and which one lanes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from appyc.ir.affine import coefficient
from appyc.ir.types import ArrayType, DType, Layout
from appyc.passes.gpu.map_gpu import choose_lane_loops, map_gpu, stride_score, why_not_parallel
from tests.ir_makers import Program, add, assign, binary, compare, for_, if_, load, store, update
from tests.triton_gen.gpu_runner import grid, simd


def names(loops):
    return [loop.var.name for loop in loops]


def test_lanes_go_to_the_middle_loop_of_a_matrix_product():
    p = Program()
    c, a, b, n = p.array("c", 2), p.array("a", 2), p.array("b", 2), p.integer("n")
    i, j, k = p.index("i"), p.index("j"), p.index("k")
    sums = for_(k, 0, n, [update(c, [i, j], "+", binary("*", load(a, i, k), load(b, k, j)))])
    mapping = map_gpu(grid(i, 0, n, [grid(j, 0, n, [sums])]))
    assert names(mapping.chain) == ["i", "j"]
    assert mapping.lane == j


def test_lanes_go_to_the_row_of_a_row_sum():
    p = Program()
    a, out, s, n = p.array("a", 2), p.array("out", 1), p.local("s"), p.integer("n")
    i, j = p.index("i"), p.index("j")
    row = simd(j, 0, n, [update(s, [], "+", load(a, i, j))], reductions=[("+", s)])
    nest = grid(i, 0, n, [assign(s, 0.0), row, store(out, [i], s)])
    mapping = map_gpu(nest)
    assert mapping.lane is None
    assert choose_lane_loops(mapping.body) == {j}


def nest_of(p, body, *loops):
    """Parallel loops around a body, each up to `n`, the first one outermost."""
    n = p.integer("n")
    for var in reversed(loops):
        body = [grid(var, 0, n, body)]
    return body[0]


def test_rows_of_tiles_are_adjacent_where_lanes_are_not():
    p = Program()
    a, b, i, j, k = p.array("a", 3), p.array("b", 3), p.index("i"), p.index("j"), p.index("k")
    mapping = map_gpu(nest_of(p, [store(b, [k, j, i], load(a, i, j, k))], i, j, k))
    assert (mapping.lane, mapping.rows, mapping.is_crossed) == (k, i, True)
    mapping = map_gpu(nest_of(p, [store(b, [i, j, k], load(a, i, j, k))], i, j, k))
    assert (mapping.lane, mapping.rows, mapping.is_crossed) == (k, j, False)


def test_no_tile_has_masks_instead_of_branches():
    p = Program()
    a, i, j = p.array("a", 2), p.index("i"), p.index("j")
    clear = store(a, [i, j], 0.0)
    by_row, by_lane = (if_(compare("<", load(a, *index), 1.0), [clear]) for index in ((i, 0), (i, j)))
    assert map_gpu(nest_of(p, [by_row], i, j)).rows is None
    assert map_gpu(nest_of(p, [by_lane], i, j)).rows == i
    shorter = for_(p.index("k"), 0, i, [clear])
    assert map_gpu(nest_of(p, [shorter], i, j)).rows is None


def test_fortran_order_turns_the_choice_round():
    p = Program()
    n, i, j = p.integer("n"), p.index("i"), p.index("j")
    a = replace(p.array("a", 2), type=ArrayType(DType.FLOAT64, 2, Layout.F))
    mapping = map_gpu(grid(i, 0, n, [grid(j, 0, n, [store(a, [i, j], 0.0)])]))
    assert mapping.lane == i


def test_inner_loop_whose_bound_depends_on_the_outer_one_is_no_axis():
    p = Program()
    a, n, i, j = p.array("a", 2), p.integer("n"), p.index("i"), p.index("j")
    mapping = map_gpu(grid(i, 0, n, [grid(j, 0, i, [store(a, [i, j], 0.0)])]))
    assert names(mapping.chain) == ["i"]


def test_atomic_that_a_gpu_lacks_keeps_the_loop_sequential():
    p = Program()
    n, i = p.integer("n"), p.index("i")
    small, real = p.array("small", 1, DType.INT8), p.array("real", 1)
    assert "atomic" in why_not_parallel(grid(i, 0, n, [update(small, [0], "+", i, atomic=True)]))
    assert "atomic" in why_not_parallel(grid(i, 0, n, [update(real, [0], "*", 2.0, atomic=True)]))
    assert why_not_parallel(grid(i, 0, n, [update(real, [0], "+", 2.0, atomic=True)])) is None


@pytest.mark.parametrize(
    ("make", "factor"),
    [
        (lambda i, a: add(i, 3), 1),
        (lambda i, a: binary("*", 4, i), 4),
        (lambda i, a: binary("-", 7, binary("*", i, 2)), -2),
        (lambda i, a: add(5, 3), 0),
        (lambda i, a: binary("%", i, 3), None),
        (lambda i, a: load(a, i), None),
    ],
)
def test_coefficient_of_an_index(make, factor):
    p = Program()
    assert coefficient(make(p.index("i"), p.array("a", 1, DType.INT64)), p.index("other")) in (0, None)
    i = p.index("i")
    assert coefficient(make(i, p.array("a", 1, DType.INT64)), i) == factor


def test_score_counts_inner_accesses_more():
    p = Program()
    a, n, i, k = p.array("a", 2), p.integer("n"), p.index("i"), p.index("k")
    nest = grid(i, 0, n, [store(a, [0, i], 0.0), for_(k, 0, n, [store(a, [i, k], 0.0)])])
    assert stride_score(nest, k) > stride_score(nest, i)
