"""Results take the memory of donated arguments where nothing reads these any more, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.nodes import Alloc, Function
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.printed import run_printed

UP_TO = pipeline.ANALYSE[: [p.__name__ for p in pipeline.ANALYSE].index("buffer_donation") + 1]
TARGETS = ("cpu", "interpret")


def passed(fn, *args: object) -> Function:
    context = PassContext(Options(target="cpu", donate=("x", "y")))
    return pipeline.run(lowered(fn, *args), (*pipeline.SIMPLIFY, *UP_TO), context, verify=True)


def made(program: Function) -> int:
    """Arrays that the program allocates, and returns."""
    returned = {r.value for r in program.results}
    return sum(isinstance(n, Alloc) and n.array in returned for n in walk(program))


def scaled(x, y):
    return x * 2.0 + y


def two(x, y):
    a = x * 2.0 + y
    return a, np.sqrt(np.abs(a)) - x


def chosen(x, y):
    return np.where(y > 0.5, x * 2.0, y)


def by_loops(x, y):
    out = np.empty(x.shape)
    for i in range(x.shape[0]):
        if x[i, 0] > 1.0:
            for j in range(x.shape[1]):
                out[i, j] = x[i, j] + y[i, 0]
        else:
            for j in range(x.shape[1]):
                out[i, j] = x[i, j] * 0.5
    return out


def rows(x, y):
    """All of a row is read before any of it is stored."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def read_again(x, y):
    """The result, not the argument."""
    a = x + y
    return a, (a * y).sum()


PLANE = np.linspace(0.5, 1.5, 12).reshape(3, 4)
TAKEN = [(scaled, 0), (two, 0), (chosen, 0), (by_loops, 0), (rows, 0), (read_again, 0)]


@pytest.mark.parametrize(("fn", "count"), TAKEN, ids=lambda p: getattr(p, "__name__", ""))
def test_results_take_the_memory_of_what_is_donated(fn, count):
    program = passed(fn, PLANE, PLANE)
    assert made(program) == count, print_function(program)
    expected = fn(PLANE, PLANE + 1)
    assert_same(run_printed(program, PLANE.copy(), PLANE + 1), expected)
    for target in TARGETS:
        x, y = PLANE.copy(), PLANE + 1
        found = appyc.jit(target=target, donate=("x", "y"), cache=False)(fn)(x, y)
        assert_same(found, expected)
        arrays = [a for a in (found if isinstance(found, tuple) else (found,)) if a.shape]
        assert all(a is x or a is y for a in arrays), target


def assert_same(found, expected):
    several = isinstance(expected, tuple)
    for a, b in zip(found if several else (found,), expected if several else (expected,), strict=True):
        np.testing.assert_allclose(a, b)


def reversed_(x, y):
    return x[::-1] + y[:, ::-1]


def read_later(x, y):
    out = np.empty(x.shape)
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] + 1.0
            total += y[i, j] * x[(i + 1) % 3, j] + y[(i + 1) % 3, j]
    return out, total


def single(x, y):
    return (x + y).astype(np.float32)


def shorter(x, y):
    return x[:-1] + y[1:]


def returned_too(x, y):
    return x + 1.0, x, y


def changed(x, y):
    out = x + y
    x[0, 0] = 3.0
    y[0, 0] = 3.0
    return out


def transposed(x, y):
    out = np.empty((x.shape[0], x.shape[0]))
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            out[j, i] = x[i, j] - y[i, j]
    return out


def from_the_end(x, y):
    out = np.empty(x.shape)
    for i in range(-x.shape[0], x.shape[0]):
        out[i, 0] = x[i, 0] + y[i, 0]
    return out[:, 0]


REFUSED = [
    reversed_,
    read_later,
    single,
    shorter,
    returned_too,
    changed,
    transposed,
    from_the_end,
]


@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_what_is_read_again_keeps_its_memory(fn):
    expected = fn(PLANE.copy(), PLANE + 1)
    program = passed(fn, PLANE, PLANE)
    assert_same(run_printed(program, PLANE.copy(), PLANE + 1), expected)
    for target in TARGETS:
        x, y = PLANE.copy(), PLANE + 1
        found = appyc.jit(target=target, donate=("x", "y"), cache=False)(fn)(x, y)
        assert_same(found, expected)
        first = found[0] if isinstance(found, tuple) else found
        assert first is not x, target
        assert first is not y, target


@pytest.mark.parametrize("target", TARGETS)
def test_an_array_that_is_donated_and_given_again_keeps_its_values(target):
    x = PLANE.copy()
    found = appyc.jit(target=target, donate="x", cache=False)(scaled)(x, x)
    np.testing.assert_allclose(found, PLANE * 3.0)
    np.testing.assert_allclose(x, PLANE)


@pytest.mark.parametrize("target", TARGETS)
def test_an_array_that_may_not_be_written_is_not_taken(target):
    x = PLANE.copy()
    x.flags.writeable = False
    function = appyc.jit(target=target, donate="x", cache=False)(scaled)
    for _ in range(2):
        np.testing.assert_allclose(function(x, PLANE), PLANE * 3.0)
        np.testing.assert_allclose(x, PLANE)
    y = PLANE.copy()
    assert function(y, PLANE) is y


def helper(x):
    return x * 2.0


def partly_in_python(x, y):
    least = sorted(x[0].tolist())[0]
    z = helper(x)
    return x + z + y * least


@pytest.mark.parametrize("target", TARGETS)
def test_parts_of_a_function_that_runs_in_python_keep_what_they_read(target):
    expected = partly_in_python(PLANE, PLANE)
    found = appyc.jit(target=target, donate=("x", "y"), cache=False)(partly_in_python)(
        PLANE.copy(), PLANE.copy()
    )
    np.testing.assert_allclose(found, expected)


def test_names_that_are_no_parameters_are_refused():
    with pytest.raises(ValueError, match="donate names 'z', which is no parameter of scaled"):
        appyc.jit(donate="z")(scaled)
    with pytest.raises(TypeError, match="donate must be names of parameters, not 3"):
        appyc.jit(donate=3)(scaled)
