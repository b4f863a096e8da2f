"""Time loops around stencils run in tiles of several steps, and compute the same values bit for bit."""

from __future__ import annotations

import linecache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appyc import pipeline
from appyc.ir.nodes import Function, If, LoopMode
from appyc.ir.printer import print_function
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.locality import tile_time as module
from appyc.passes.locality.tile_time import tile_time
from appyc.passes.pass_context import PassContext
from tests.e2e.harness import run_everywhere
from tests.ir_makers import Program
from tests.lowering import lowered
from tests.orders import orders, reordered
from tests.printed import run_printed

UP_TO = pipeline.ANALYSE[: [p.__name__ for p in pipeline.ANALYSE].index("tile_time") + 1]


@pytest.fixture(autouse=True)
def _small_tiles(monkeypatch):
    """Tiles of a few elements, for arrays of any size."""
    monkeypatch.setattr(module, "CACHE", 0)
    monkeypatch.setattr(module, "STEPS", {0: 3, 1: 3, 2: 2})
    monkeypatch.setattr(module, "WINDOW", {0: 7, 1: 6, 2: 5})


def tiled(fn, *args: object, options: Options | None = None) -> tuple[Function, PassContext]:
    context = PassContext(options or Options(target="cpu"))
    return pipeline.run(lowered(fn, *args), (*pipeline.SIMPLIFY, *UP_TO), context, verify=True), context


def is_tiled(context: PassContext) -> bool:
    return any("time tiles" in r.text for r in context.remarks)


def grids(*shape: int, count: int = 2) -> list[np.ndarray]:
    rng = np.random.default_rng(sum(shape))
    return [rng.uniform(-1, 1, shape) for _ in range(count)]


def one_axis(steps, a, b):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) * 0.25
        for i in range(1, a.shape[0] - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) * 0.25


def copied_back(steps, a, b):
    for _ in range(steps):
        b[1:-1] = a[:-2] + a[2:]
        a[:] = b * 0.5


def far(steps, a, b):
    """Neighbours two and one elements away, to one side."""
    for t in range(steps):
        for i in range(2, a.shape[0]):
            b[i] = a[i - 2] * 0.5 + t
        for i in range(a.shape[0] - 1):
            a[i] = a[i] - b[i + 1] * 0.25


def two_axes(steps, a, b):
    n, m = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


def in_place(steps, a, b):
    """Gauss-Seidel: the rows depend on each other, and the elements of a row."""
    n, m = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j + 1]) * 0.25


def walls(steps, a, b):
    """Rows and columns of their own, at both ends, and a scalar of the step."""
    n, m = a.shape
    for t in range(steps):
        heat = 0.5 * t
        for j in range(m):
            a[0, j] = heat
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = (a[i - 1, j] + a[i + 1, j]) * 0.5 - a[i, j + 1]
        for i in range(n):
            b[i, 0] = b[i, 1]
        for j in range(m):
            b[n - 1, j] = b[n - 2, j] * 0.5
        for i in range(1, n):
            for j in range(m):
                a[i, j] = a[i, j] * 0.5 + b[i, j]


def fields(steps, a, b):
    """Three arrays on staggered grids, as in finite differences in the time domain."""
    c = np.zeros(a.shape)
    for _ in range(steps):
        a[1:, :] -= 0.5 * (c[1:, :] - c[:-1, :])
        b[:, 1:] -= 0.5 * (c[:, 1:] - c[:, :-1])
        c[:-1, :-1] -= 0.25 * (b[:-1, 1:] - b[:-1, :-1] + a[1:, :-1] - a[:-1, :-1])
    return c


def under_a_condition(steps, a, b):
    n, m = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(m):
                s = a[i - 1, j] + a[i + 1, j]
                if s > 0.0:
                    b[i, j] = s
        for i in range(n):
            for j in range(m):
                a[i, j] = b[i, j] * 0.5


def triangle(steps, a, b):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(i, a.shape[1] - 1):
                b[i, j] = a[i - 1, j] + a[i, j + 1] * 0.5
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (b[i + 1, j] + b[i, j - 1]) * 0.25


def three_axes(steps, a, b):
    n, m, k = a.shape
    for _ in range(steps):
        for x in range(1, n - 1):
            for y in range(1, m - 1):
                for z in range(1, k - 1):
                    b[x, y, z] = a[x - 1, y, z] + a[x, y + 1, z] - a[x, y, z - 1] * 0.5
        for x in range(1, n - 1):
            for y in range(1, m - 1):
                for z in range(1, k - 1):
                    a[x, y, z] = b[x, y, z] * 0.5


ONE = [(one_axis, 1), (copied_back, 1), (far, 1)]
TWO = [(fn, 2) for fn in (two_axes, in_place, walls, fields, under_a_condition, triangle)]
PROGRAMS = [*ONE, *TWO, (three_axes, 3)]
SIZES = {
    1: [(0, (5,)), (1, (5,)), (7, (3,)), (7, (2,)), (9, (31,)), (30, (17,))],
    2: [(0, (4, 4)), (2, (3, 3)), (7, (2, 9)), (8, (9, 2)), (9, (13, 17)), (20, (9, 30)), (5, (30, 8))],
    3: [(1, (4, 4, 4)), (5, (3, 8, 5)), (6, (9, 7, 12))],
}


@pytest.mark.sampled
@pytest.mark.parametrize(("fn", "rank"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_tiles_compute_the_same(fn, rank):
    program, context = tiled(fn, 1, *grids(*(4 for _ in range(rank))))
    assert is_tiled(context), print_function(program)
    for steps, shape in SIZES[rank]:
        ours, theirs = grids(*shape), grids(*shape)
        found, expected = run_printed(program, steps, *ours), fn(steps, *theirs)
        for mine, other in zip([*ours, found], [*theirs, expected], strict=True):
            np.testing.assert_array_equal(mine, other, err_msg=f"{steps} steps, {shape}")


@pytest.mark.parametrize(("fn", "rank"), [(one_axis, 1), (walls, 2), (in_place, 2), (three_axes, 3)])
def test_tiles_of_a_wave_may_run_in_any_order(fn, rank):
    program, _ = tiled(fn, 1, *grids(*(4 for _ in range(rank))))
    numbers = {at for at, loop in enumerate(loops_of(program)) if loop.var.name == "strip"}
    steps, shape = SIZES[rank][-1]
    expected = grids(*shape)
    fn(steps, *expected)
    for order in orders():
        run = reordered(print_function(program), program.name, numbers, order, set())
        ours = grids(*shape)
        run(steps, *ours)
        for mine, other in zip(ours, expected, strict=True):
            np.testing.assert_array_equal(mine, other)


@pytest.mark.sampled
@pytest.mark.parametrize(("fn", "rank"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_on_all_targets(fn, rank, tmp_path, monkeypatch):
    monkeypatch.setenv("APPYC_CACHE_DIR", str(tmp_path))  # the constants are no part of a key
    steps, shape = SIZES[rank][-1]
    run_everywhere(fn, steps, *grids(*shape), strict=True)


def defined(text: str):
    """The function of a text."""
    scope: dict[str, object] = {}
    linecache.cache["<stencil>"] = (len(text), None, text.splitlines(keepends=True), "<stencil>")
    exec(compile(text, "<stencil>", "exec"), scope)
    return scope["stencil"]


@st.composite
def stencils(draw: st.DrawFn) -> str:
    """The text of a time loop around a few stencils, some in place, with rows and columns at the walls."""
    offset = st.integers(-2, 2)
    lines = ["def stencil(steps, a, b):", "    n, m = a.shape", "    for t in range(steps):"]
    for _ in range(draw(st.integers(1, 3))):
        target = draw(st.sampled_from("ab"))
        reads = [
            f"{draw(st.sampled_from('ab'))}[i + {draw(offset)}, j + {draw(offset)}]"
            for _ in range(draw(st.integers(1, 3)))
        ]
        lines += [
            "        for i in range(2, n - 2):",
            "            for j in range(2, m - 2):",
            f"                {target}[i, j] = ({' + '.join(reads)}) * 0.25",
        ]
        if draw(st.booleans()):
            row = draw(st.sampled_from(["0", "1", "n - 1"]))
            lines += [
                "        for j in range(m):",
                f"            {draw(st.sampled_from('ab'))}[{row}, j] = 0.5 * t",
            ]
    return "\n".join(lines).replace("+ -", "- ")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=stencils(), steps=st.integers(0, 9), rows=st.integers(4, 14), columns=st.integers(4, 14))
def test_random_stencils(text, steps, rows, columns):
    fn = defined(text)
    program, _ = tiled(fn, steps, *grids(rows, columns))
    ours, theirs = grids(rows, columns), grids(rows, columns)
    run_printed(program, steps, *ours)
    fn(steps, *theirs)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, other)


def far_rows(steps, a, b):
    """A dependence as long as the array."""
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = a[i - 1] + a[n - 1 - i]
        for i in range(1, n - 1):
            a[i] = b[i]


def both_ends(steps, a, b):
    """A periodic border."""
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = a[i - 1] + a[i + 1]
        b[0] = b[n - 2]
        for i in range(n):
            a[i] = b[i] * 0.5


def shrinking(steps, a, b):
    """Bounds that depend on the step."""
    for t in range(steps):
        for i in range(t, a.shape[0] - 1):
            a[i] = a[i + 1] * 0.5


def measured(steps, a, b):
    """A sum that the next step reads."""
    s = 1.0
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = a[i - 1] + s
        s = 0.0
        for i in range(a.shape[0]):
            s += b[i]
        for i in range(a.shape[0]):
            a[i] = b[i]


def one_element(steps, a, b):
    """Nests with no index of a loop, and with no access at all."""
    s = 0.0
    for _ in range(steps):
        for _ in range(steps):
            a[-1] = 1.0
            a[0] = 0.5
            s = s + (0.5 + b[0])
    b[1] = s


def element_by_element(steps, a, b):
    """Nothing depends on a neighbour."""
    for _ in range(steps):
        for i in range(a.shape[0]):
            a[i] = a[i] * 0.5 + b[i]


def every_other_step(steps, a, b):
    for t in range(0, steps, 2):
        for i in range(1, a.shape[0] - 1):
            b[i] = a[i - 1] + a[i + 1] * t
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i] * 0.5


def raising(steps, a, b):
    """What was stored before a division by zero shows."""
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = a[i - 1] + 1.0 / float(a[i + 1])
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i] * 0.5


def raising_beside(steps, a, b):
    for t in range(steps):
        part = 1.0 / (2.0 - t)
        for i in range(1, a.shape[0] - 1):
            b[i] = a[i - 1] + a[i + 1]
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i] * part


def sampled(steps, a, b):
    for _ in range(steps):
        s = a[4]
        for i in range(1, a.shape[0] - 1):
            b[i] = a[i - 1] + a[i + 1]
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i] * s


def linked(steps, a, b):
    """A scalar that one nest leaves to the next."""
    for _ in range(steps):
        r = 0.0
        for i in range(1, a.shape[0] - 1):
            r = a[i - 1] + a[i + 1]
            b[i] = r * 0.5
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i] * r


def fading(steps, a, b):
    part = 1.0
    for _ in range(steps):
        part = 1.0 - part * 0.5
        for i in range(1, a.shape[0] - 1):
            a[i] = (a[i - 1] + a[i + 1]) * part


def left_behind(steps, a, b):
    part = 0.0
    for t in range(steps):
        part = t * 0.5
        for i in range(1, a.shape[0] - 1):
            a[i] = (a[i - 1] + a[i + 1]) * part
    b[0] = part


def summed(steps, a, b):
    s = 0.0
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = a[i - 1] + a[i + 1]
            s += b[i]
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i] * 0.5
    b[0] = s


def asked_in_order(steps, a, b):
    # pragma sequential for
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = a[i - 1] + a[i + 1]
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i] * 0.5


STAY = (far_rows, both_ends, shrinking, measured, one_element, element_by_element, every_other_step, raising,
        raising_beside, sampled, linked, fading, left_behind,
        summed, asked_in_order)  # fmt: skip


@pytest.mark.parametrize("fn", STAY)
def test_other_loops_stay(fn):
    program, context = tiled(fn, 3, *grids(9))
    assert not is_tiled(context), print_function(program)


def test_steps_with_elements_of_their_own_stay():
    def kept(a):
        for t in range(a.shape[0] - 1):
            for i in range(1, a.shape[1] - 1):
                a[t + 1, i] = (a[t, i - 1] + a[t, i + 1]) * 0.5

    assert not is_tiled(tiled(kept, *grids(5, 5, count=1))[1])


def test_the_range_of_the_steps_is_taken_once():
    def moving(n, a, b):
        for _ in range(n):
            for i in range(1, a.shape[0] - 1):
                b[i] = a[i - 1] + a[i + 1]
            n = 1
            for i in range(a.shape[0]):
                a[i] = b[i] * 0.5 * n

    program, context = tiled(moving, 7, *grids(9))
    assert is_tiled(context)
    ours, theirs = grids(30), grids(30)
    run_printed(program, 9, *ours)
    moving(9, *theirs)
    np.testing.assert_array_equal(ours, theirs)


def test_shortest_paths_stay():
    def shortest(a):
        n = a.shape[0]
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    a[i, j] = min(a[i, j], a[i, k] + a[k, j])

    assert not is_tiled(tiled(shortest, *grids(5, 5, count=1))[1])


def test_not_where_it_is_not_wanted():
    assert not is_tiled(tiled(one_axis, 3, *grids(9), options=Options(target="gpu"))[1])
    assert not is_tiled(tiled(one_axis, 3, *grids(9), options=Options(target="cpu", auto=False))[1])


def test_small_arrays_run_as_before(monkeypatch):
    monkeypatch.setattr(module, "CACHE", 1 << 20)
    program, _ = tiled(two_axes, 1, *grids(4, 4))
    (choice,) = [stmt for stmt in program.body if isinstance(stmt, If)]
    assert [loop.var.name for loop in loops_of(choice.orelse)] == ["_", "i", "j", "i", "j"]
    assert (
        sum(loop.mode is LoopMode.PARALLEL and loop.var.name == "strip" for loop in loops_of(choice.then))
        == 1
    )


def test_empty_function():
    fn = Program().function()
    assert tile_time(fn, PassContext(Options(target="cpu"))) is fn


def test_text(golden):
    golden("tensors/time_tiles.txt", print_function(tiled(one_axis, 1, *grids(9))[0]))
