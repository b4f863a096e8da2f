"""Copies of arrays that iterations update: as printed IR, in the interpreter, as cubins."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Alloc, For, Function, LoopMode, Update
from appyc.ir.printer import print_function
from appyc.ir.visit import contains, walk
from appyc.options import Options
from appyc.passes.gpu import private_copies as module
from appyc.passes.gpu.private_copies import private_copies
from appyc.passes.pass_context import PassContext
from appyc.runtime.triton_interpret import interpret
from tests.lowering import lowered
from tests.printed import run_printed
from tests.triton_gen.source_runner import compare, program_of


def copied(fn, *args: object, **options: object) -> tuple[Function, PassContext]:
    context = PassContext(Options(target="gpu", **options))  # type: ignore[arg-type]
    before = pipeline.FOR_GPU[: pipeline.FOR_GPU.index(private_copies) + 1]
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE, *before)
    return pipeline.run(lowered(fn, *args), passes, context, verify=True), context


def has_copies(fn: Function) -> bool:
    return any(isinstance(n, Alloc) for n in walk(fn))


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few copies that small arrays have them, and one lane has several iterations."""
    for name, value in (("SPREAD", 4), ("SHARE", 1), ("LANES", 8), ("FEWEST", 2)):
        monkeypatch.setattr(module, name, value)


def counts(h, key, w):
    for i in range(key.shape[0]):
        h[key[i]] += 1


def downwards(h, key, w):
    for i in range(key.shape[0] - 2, 0, -2):
        h[key[i] // 2 + 1] += i


def of_an_image(h, key, w):
    image = key.reshape(key.shape[0] // 4, 4)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            if image[i, j] != 2:
                h[image[i, j]] += 2


def weighted(h, key, w):
    for i in range(key.shape[0]):
        x = w[i] * 0.5
        if x > -0.4:
            h[key[i]] += x


def in_any_order(h, key, w):
    # pragma parallel for reduction(+: h)
    for i in range(key.shape[0]):
        h[key[i]] += w[i]


def products(h, key, w):
    for i in range(key.shape[0]):
        h[key[i]] *= w[i]


def largest(h, key, w):
    for i in range(key.shape[0]):
        h[key[i]] = max(h[key[i]], w[i])


def in_pairs(h, key, w):
    for i in range(key.shape[0]):
        h[key[i] % 2, key[i] // 2] += w[i]


def neighbours(h, key, w):
    for i in range(key.shape[0]):
        for j in range(2):
            h[key[i] + j] += w[i]


def weighted_image(h, key, w):
    image, weights = key.reshape(4, key.shape[0] // 4), w.reshape(4, w.shape[0] // 4)
    for i in range(image.shape[0]):
        for j in range(image.shape[1] - 1, 0, -1):
            if image[i, j] != 2:
                h[image[i, j]] += weights[i, j]


def weighted_volume(h, key, w):
    image, weights = key.reshape(2, 2, key.shape[0] // 4), w.reshape(2, 2, w.shape[0] // 4)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            for k in range(image.shape[2]):
                h[image[i, j, k]] += weights[i, j, k]


INTEGERS = [counts, downwards, of_an_image]
FLOATS = [weighted, in_any_order, largest, products, in_pairs, neighbours]
IMAGES = [weighted_image, weighted_volume]


def arrays(n: int, dtype: type) -> tuple[np.ndarray, ...]:
    key = (np.arange(n) * 7 + np.arange(n) // 3) % 5
    h = np.array([3, -2, 0, 5, 1, 2]).astype(dtype)
    if np.dtype(dtype).kind == "f":
        h[h == 0] = -0.0
    return h, key, np.cos(np.arange(float(n))).astype(dtype)


def check(fn, n: int, dtype: type, *, build: bool = False) -> None:
    h, key, w = arrays(n, dtype)
    args = h.reshape(2, 3) if fn is in_pairs else h, key, w
    function, _ = copied(fn, *args)
    assert has_copies(function)
    ours, theirs = ([a.copy() for a in args] for _ in range(2))
    run_printed(function, *ours)
    fn(*theirs)
    close = 1e-5 if dtype is np.float32 else 1e-13
    np.testing.assert_allclose(ours[0], theirs[0], rtol=close)
    np.testing.assert_array_equal(np.signbit(ours[0]), np.signbit(theirs[0]))
    if dtype is not np.float32:
        compare(fn, *args, exact=False, build=build)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [0, 4, 24, 64])
@pytest.mark.parametrize("fn", INTEGERS, ids=lambda fn: fn.__name__)
def test_integers(fn, n):
    check(fn, n, np.int64)
    check(fn, n, np.int8)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [0, 3, 17, 64])
@pytest.mark.parametrize("fn", FLOATS, ids=lambda fn: fn.__name__)
def test_floats(fn, n):
    check(fn, n, np.float64)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [8, 24, 64])
@pytest.mark.parametrize("fn", IMAGES, ids=lambda fn: fn.__name__)
def test_images(fn, n):
    check(fn, n, np.float64)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("fn", IMAGES, ids=lambda fn: fn.__name__)
def test_loops_of_a_nest_are_parallel_together(fn, dtype):
    function, _ = copied(fn, *arrays(64, dtype))
    nest = next(s for s in walk(function) if isinstance(s, For) and contains(s.body, Update))
    (inner,) = nest.body
    assert isinstance(inner, For)
    assert (nest.mode, inner.mode) == (LoopMode.PARALLEL, LoopMode.PARALLEL)


def test_kernels_compile():
    check(weighted_image, 64, np.float64, build=True)
    check(counts, 24, np.int64, build=True)
    check(weighted, 24, np.float64, build=True)


def test_updates_are_atomic_where_their_order_does_not_show():
    for fn, dtype, atomic in (
        (counts, np.int64, True),
        (counts, np.int8, False),
        (weighted, np.float64, False),
        (in_any_order, np.float64, True),
    ):
        function, context = copied(fn, *arrays(24, dtype))
        updates = [n for n in walk(function) if isinstance(n, Update) and len(n.index) == 2]
        assert [u.atomic for u in updates] == [atomic]
        assert any("copies" in r.text for r in context.remarks)


def test_sums_are_the_same_on_each_run():
    args = arrays(64, np.float64)
    assert "atomic" not in program_of(weighted, *args).text.partition("def weighted")[2]


def test_an_index_out_of_range_is_reported_as_the_arrays_own():
    h, key, w = arrays(64, np.float64)
    key[40] = 9
    with pytest.raises(IndexError, match="'h'"):
        interpret(program_of(weighted, h, key, w))([h, key, w])


def columns(h, key, w):
    """The loops change places instead."""
    for i in range(key.shape[0]):
        for j in range(h.shape[0]):
            h[j] += w[i] * j


def searched(h, key, w):
    """The array is read, too."""
    for i in range(key.shape[0]):
        h[key[i]] += h[0]


@pytest.mark.parametrize("fn", [columns, searched], ids=lambda fn: fn.__name__)
def test_other_loops_have_no_copies(fn):
    args = arrays(24, np.float64)
    assert not has_copies(copied(fn, *args)[0])
    compare(fn, *args, exact=False, build=False)


def test_sums_of_floats_keep_their_order_where_that_is_asked():
    assert not has_copies(copied(weighted, *arrays(24, np.float64), exact=True)[0])
    assert has_copies(copied(counts, *arrays(24, np.int64), exact=True)[0])


def test_text(golden):
    golden("ir/private_copies.txt", print_function(copied(weighted, *arrays(24, np.float64))[0]))
