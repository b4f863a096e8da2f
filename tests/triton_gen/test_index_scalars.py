"""Counts and sizes of 32 bits: in which kernels, when a launch takes them, and that results are the same."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from appyc.runtime.kernel_variants import KernelArguments, Variant
from appyc.runtime.triton_build import compile_kernel
from appyc.runtime.triton_interpret import interpret
from appyc.triton_gen.index_scalars import times, wraps_alike
from appyc.triton_gen.triton_kernel import KernelText
from tests.ir_makers import Program, add, binary, expr, load, mul, neg
from tests.triton_gen.source_runner import compare, program_of


def corners(a, b, first):
    for i in range(first, a.shape[0] - 2):
        for j in range(a.shape[1]):
            b[i, j] = a[i + 2, j] * i + first


def doubled(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] * 2.0


def along(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i]


def test_sums_of_sizes_have_bounds() -> None:
    p = Program()
    i, n, a = p.index("i"), p.integer("n"), p.array("a", 1)
    known = {i: 3}
    assert times(expr(i), known) == 3
    assert times(add(mul(i, 4), 2), known) == 13
    assert times(neg(i), known) == 3
    assert times(expr(n), known) is None
    assert times(mul(i, i), known) is None
    assert times(add(i, 1 << 20), known) is None
    assert wraps_alike(add(mul(i, n), 1 << 20))
    assert not wraps_alike(binary("//", i, 2))
    assert not wraps_alike(load(a, i))


def kernel(fn, *args) -> KernelText:
    (found,) = program_of(fn, *args).kernels
    return found


def test_kernels_of_lines_have_one_type() -> None:
    assert kernel(along, np.ones(4), np.ones(4)).scale == 0
    assert kernel(corners, np.ones((4, 4)), np.ones((4, 4)), 1).scale >= 4


SIZE = 1 << 20


@pytest.mark.parametrize(
    ("rows", "scalar", "fits"),
    [
        (100, 5, True),
        (1 << 12, 5, False),
        (1 << 20, 5, False),
        (100, -(2**63), False),
        (100, 2**63 - 1, False),
    ],
)
def test_a_launch_looks_at_sizes_and_numbers(rows: int, scalar: int, fits: bool) -> None:
    text = replace(kernel(corners, np.ones((4, 4)), np.ones((4, 4)), 1), scale=8)
    array = SimpleNamespace(data=SimpleNamespace(ptr=0), shape=(rows, SIZE), strides=(8 * SIZE, 8))
    known = {"array": array, "n": SIZE}
    variant, _ = KernelArguments(text).variant(
        128, [known.get(p.kind, np.int64(scalar)) for p in text.params]
    )
    assert variant.narrow == fits


def test_results_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    args = np.random.default_rng(2).random((30, 7)), np.zeros((30, 7)), 3
    compare(corners, *args, build=False)
    chosen = []
    usual = KernelArguments.variant

    def wide(self, lanes, args):
        variant, values = usual(self, lanes, args)
        chosen.append(variant.narrow)
        return Variant(lanes), values

    monkeypatch.setattr(KernelArguments, "variant", wide)
    compare(corners, *args, build=False)
    assert chosen == [True]


def counted(a, first):
    for i in range(first, a.shape[0]):
        for j in range(first, a.shape[1]):
            a[i, j] += 1


def test_offsets_beyond_32_bits() -> None:
    side = 1 << 16
    a = np.zeros((side, side), np.int8)  # memory that nobody touches takes none
    interpret(program_of(counted, a, side - 3))([a, side - 3])
    np.testing.assert_array_equal(a[-4:, -4:], np.pad(np.ones((3, 3), np.int8), ((1, 0), (1, 0))))


@pytest.mark.parametrize("narrow", [False, True])
def test_products_of_sizes_have_the_type_of_the_variant(narrow: bool) -> None:
    program = program_of(doubled, np.ones((4, 4)), np.ones((4, 4)))
    built = compile_kernel(program, program.kernels[0], "cuda:90", Variant(256, narrow=narrow))
    assert built.spill_bytes == 0
    assert set(re.findall(r"arith.muli .* : (i\d+) ", built.ttir)) == {"i32" if narrow else "i64"}
