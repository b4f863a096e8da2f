"""`appyc.autojit`: what is compiled, what runs in Python, and that nobody sees the difference."""

from __future__ import annotations

import math
import sys
import types
import warnings

import numpy as np
import pytest

import appyc
from appyc.autojit import LARGE_CALL, AutoFunction
from appyc.errors import ToolchainError

LARGE = LARGE_CALL + 10


def is_compiled(fn):
    return isinstance(fn, AutoFunction) and bool(fn.kernels)


def same(fn, *args):
    """Calls the function in Python and automatic, on equal arguments; returns the automatic one."""
    automatic = appyc.autojit(fn)
    copies = [[a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2)]
    found, wanted = automatic(*copies[0]), fn(*copies[1])
    assert type(found) is type(wanted)
    np.testing.assert_array_equal(found, wanted)
    for one, other in zip(*copies, strict=True):
        np.testing.assert_array_equal(one, other)
    return automatic


# ---------------------------------------------------------------- what becomes compiled


def test_a_large_first_call_is_compiled():
    def f(a, b):
        for i in range(a.shape[0]):
            b[i] = a[i] * 2.0 + 1.0

    assert is_compiled(same(f, np.arange(float(LARGE)), np.zeros(LARGE)))


def test_a_small_call_runs_in_python():
    def f(a):
        for i in range(a.shape[0]):
            a[i] += 1.0

    automatic = same(f, np.zeros(10))
    assert not is_compiled(automatic)
    assert "small call" in automatic.summary()


def test_many_small_calls_are_compiled_in_the_end():
    def f(a):
        for i in range(a.shape[0]):
            a[i] += 1.0

    automatic = appyc.autojit(f)
    a = np.zeros(2000)
    for _ in range(400):
        automatic(a)
    assert is_compiled(automatic)
    assert (a == 400).all()


def test_a_function_without_loops_is_returned_as_it_is():
    def f(x):
        def inner(y):
            for _ in range(3):
                y += 1
            return y

        return inner(x)

    assert appyc.autojit(f) is f


@pytest.mark.parametrize(
    "text",
    [
        "def f(n):\n    for i in range(n):\n        yield i\n",
        "async def f(n):\n    for i in range(n):\n        pass\n",
        "def f(*args):\n    for a in args:\n        print(a)\n",
        "def f(**named):\n    for a in named:\n        print(a)\n",
    ],
)
def test_what_can_never_be_compiled_is_returned_as_it_is(text):
    namespace: dict[str, object] = {}
    exec(text, namespace)
    f = namespace["f"]
    assert appyc.autojit(f) is f


def test_a_lambda_is_returned_as_it_is():
    f = lambda n: [i for i in range(n)]  # noqa: E731, C416
    assert appyc.autojit(f) is f


def test_anything_else_is_refused():
    with pytest.raises(TypeError, match="takes a Python function or a module"):
        appyc.autojit(3)


def test_a_module_is_changed_in_place(tmp_path, monkeypatch):
    file = tmp_path / "some_loops.py"
    file.write_text(
        "from math import sqrt\n"
        "def loops(a):\n    for i in range(len(a)):\n        a[i] = 1.0\n"
        "def none(a):\n    return a\n"
        "class C:\n"
        "    def method(self, a):\n        for i in range(len(a)):\n            a[i] = 2.0\n"
        "    @staticmethod\n"
        "    def static(a):\n        for i in range(len(a)):\n            a[i] = 3.0\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import some_loops

    monkeypatch.delitem(sys.modules, "some_loops")
    assert appyc.autojit(some_loops) is some_loops
    assert isinstance(some_loops.loops, AutoFunction)
    assert isinstance(some_loops.none, types.FunctionType)
    assert isinstance(some_loops.sqrt, types.BuiltinFunctionType)
    a = np.zeros(LARGE)
    some_loops.loops(a)
    assert (a == 1.0).all()
    some_loops.C().method(a)
    assert (a == 2.0).all()
    some_loops.C.static(a)
    assert (a == 3.0).all()


# ---------------------------------------------------------------- what runs in Python


def total_of(values):
    total = 0
    for v in values:
        total += v
    return total


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 3],
        {1: 2, 3: 4},
        {5, 6},
        range(5),
        (x for x in [1, 2]),
        [2**70, 1],
        np.array([1, 2], dtype=object),
        [0.5] * LARGE,
    ],
)
def test_arguments_without_a_type_run_in_python(values):
    copy = list(values) if isinstance(values, types.GeneratorType) else values
    expected = total_of(copy)
    assert appyc.autojit(total_of)(copy) == expected


def test_strings_and_files_run_in_python(tmp_path):
    def count(text, file):
        n = 0
        for c in text:
            if c == "a":
                n += 1
        for _ in file:
            n += 1
        return n

    file = tmp_path / "lines"
    file.write_text("1\n2\n")
    automatic = appyc.autojit(count)
    for _ in range(3):
        with file.open() as lines:
            assert automatic("banana" * LARGE, lines) == 3 * LARGE + 2


def test_a_list_beside_arrays_does_not_keep_loops_from_being_compiled():
    def f(a, log):
        for i in range(a.shape[0]):
            a[i] = a[i] + 1.0
        log.append(a[0])
        return len(log)

    automatic = appyc.autojit(f)
    log: list[float] = []
    a = np.zeros(LARGE)
    assert [automatic(a, log) for _ in range(3)] == [1, 2, 3]
    assert log == [1.0, 2.0, 3.0]
    assert "log.append" in automatic.summary() or "append" in automatic.summary()
    assert "for i" in automatic.summary()


def test_wrong_arguments_raise_what_python_raises():
    def f(a, b):
        for i in range(len(a)):
            b[i] = a[i]

    automatic = appyc.autojit(f)
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'b'"):
        automatic(np.zeros(3))
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        automatic(np.zeros(3), c=1)


def test_the_programs_exceptions_are_its_own():
    def f(a, limit):
        for i in range(a.shape[0]):
            if a[i] > limit:
                raise ValueError(f"too large: {a[i]}")
        return "fine"

    automatic = appyc.autojit(f)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"too large: 5.0"):
            automatic(np.full(LARGE, 5.0), 1.0)
        assert automatic(np.zeros(LARGE), 1.0) == "fine"


def test_an_index_out_of_range_is_an_index_error():
    def f(a, n):
        for i in range(n):
            a[i] = i

    automatic = appyc.autojit(f)
    a = np.zeros(LARGE)
    with pytest.raises(IndexError, match="out of bounds"):
        automatic(a, LARGE + 1)
    np.testing.assert_array_equal(a, np.arange(float(LARGE)))


def test_an_array_that_may_not_be_written_raises_what_numpy_raises():
    def f(a):
        for i in range(a.shape[0]):
            a[i] = 1.0

    a = np.zeros(LARGE)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        appyc.autojit(f)(a)


def test_a_name_that_is_missing_is_a_name_error():
    def f(a):
        for i in range(a.shape[0]):
            a[i] = unknown_name  # noqa: F821

    with pytest.raises(NameError, match="unknown_name"):
        appyc.autojit(f)(np.zeros(LARGE))


def test_a_machine_without_a_compiler_runs_everything_in_python(monkeypatch):
    def f(a):
        for i in range(a.shape[0]):
            a[i] = 4.0

    def missing(*_args, **_named):
        raise ToolchainError("no C compiler was found")

    automatic = appyc.autojit(f)
    monkeypatch.setattr(automatic, "_make", missing)
    a = np.zeros(LARGE)
    with pytest.warns(RuntimeWarning, match="runs everything in Python"):
        automatic(a)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        automatic(a)
    assert (a == 4.0).all()
    assert "no C compiler" in automatic.summary()


@pytest.mark.filterwarnings("default::appyc.InternalWarning")
def test_a_defect_of_the_compiler_does_not_end_the_program(monkeypatch):
    def f(a):
        for i in range(a.shape[0]):
            a[i] = 4.0

    def broken(*_args, **_named):
        raise RuntimeError("boom")

    monkeypatch.setattr("appyc.compiler.cpu.CpuCompiler.version", broken)
    automatic, a = appyc.autojit(f), np.zeros(LARGE)
    with pytest.warns(appyc.InternalWarning, match="boom"):
        automatic(a)
    assert (a == 4.0).all()


def test_strict_makes_it_an_error():
    with pytest.raises(appyc.CompileError):
        appyc.autojit(total_of, strict=True)([1, "2"])


# ---------------------------------------------------------------- the same results


def test_a_sum_keeps_its_order():
    def f(a):
        total = 0.0
        for i in range(a.shape[0]):
            total += a[i]
        return total

    a = np.random.default_rng(0).standard_normal(LARGE) * 10.0 ** np.arange(LARGE).clip(0, 12)
    assert is_compiled(same(f, a))


def test_a_sum_inside_a_parallel_loop_keeps_its_order():
    def f(a, b):
        for i in range(a.shape[0]):
            total = 0.0
            for j in range(a.shape[1]):
                total += a[i, j] * a[i, j] * 1e-3
            b[i] = total

    assert is_compiled(same(f, np.random.default_rng(0).standard_normal((400, 400)), np.zeros(400)))


def test_calls_whose_integers_outgrow_64_bits_run_in_python():
    def factorial(n):
        out = 1
        for i in range(1, n):
            out *= i
        return out

    def fibonacci(n):
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    def cubes(n):
        total = 0
        for i in range(n):
            total += i * i * i
        return total

    for fn, n in ((factorial, 100), (fibonacci, 300), (cubes, 200_000)):
        automatic = appyc.autojit(fn)
        for _ in range(3):
            assert automatic(n) == fn(n)
        assert appyc.autojit(fn, strict=True)(n) == fn(n)


def test_integers_that_stay_small_are_compiled():
    def primes(n):
        count = 0
        for i in range(2, n):
            k = 2
            while k * k <= i and i % k != 0:
                k += 1
            if k * k > i:
                count += 1
        return count

    def random_walk(n):
        seed, place = 42, 0
        for _ in range(n):
            seed = (seed * 1103515245 + 12345) % 2147483648
            place += 1 if seed > 1073741824 else -1
        return place

    assert is_compiled(same(random_walk, LARGE))
    assert is_compiled(same(primes, 20_000))


def test_a_wrong_pragma_is_not_followed_and_reported():
    def f(a):
        # pragma parallel for
        for i in range(1, a.shape[0]):
            a[i] = a[i - 1] * a[i - 1]

    automatic = same(f, np.ones(LARGE))
    assert is_compiled(automatic)
    assert "not followed: loop over 'i' carries a dependence" in automatic.summary()


def test_sums_keep_their_order_under_a_pragma_too():
    def total(a):
        s = 0.0
        # pragma parallel for
        for i in range(a.shape[0]):
            s += a[i]
        return s

    def running(a):
        # pragma parallel for
        for i in range(1, a.shape[0]):
            a[i] = a[i - 1] + a[i]

    numbers = np.random.default_rng(0).random(200_000)
    for fn in (total, running):
        automatic = same(fn, numbers)
        assert is_compiled(automatic)
        assert "with exact=True its sums keep theirs" in automatic.summary()


def test_a_pragma_that_holds_for_some_arguments_is_followed_for_those():
    def scatter(a, index):
        # pragma parallel for
        for i in range(len(index)):
            a[index[i]] = i

    index = np.arange(LARGE)[::-1].copy()
    automatic = same(scatter, np.zeros(LARGE), index)
    assert is_compiled(automatic)
    twice = index // 2
    found, wanted = np.zeros(LARGE), np.zeros(LARGE)
    automatic(found, twice)
    scatter(wanted, twice)
    np.testing.assert_array_equal(found, wanted)


def test_a_pragma_that_cannot_be_read_is_reported():
    def f(a):
        # pragma parallel for colapse(2)
        for i in range(a.shape[0]):
            a[i] = 1.0

    automatic = same(f, np.ones(LARGE))
    assert is_compiled(automatic)
    assert "unknown clause 'colapse'" in automatic.summary()


def test_none_and_an_object_are_told_apart():
    class Box:
        value = 2.0

    def f(a, box):
        for i in range(a.shape[0]):
            a[i] += 1.0
        return box is None

    automatic = appyc.autojit(f)
    assert automatic(np.zeros(LARGE), None) is True
    assert automatic(np.zeros(LARGE), Box()) is False
    assert automatic(np.zeros(LARGE), [1]) is False


def test_recursion_and_closures():
    scale = 3.0

    def f(a, depth):
        for i in range(a.shape[0]):
            a[i] *= scale
        return math.sqrt(a[0]) if depth == 0 else g(a, depth - 1)

    g = appyc.autojit(f)
    assert g(np.ones(LARGE), 2) == math.sqrt(27.0)


def test_calls_in_vain_are_handed_to_python(tmp_path, monkeypatch):
    (tmp_path / "vain.py").write_text(
        "def total(values):\n    t = 0\n    for v in values:\n        t += v\n    return t\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import vain

    monkeypatch.setitem(sys.modules, "vain", vain)
    appyc.autojit(vain)
    assert vain.total([0.5, 1] * LARGE) == 1.5 * LARGE
    for _ in range(2000):
        assert vain.total([1, 2.0]) == 3


def test_a_function_with_attributes_of_its_own_keeps_them(tmp_path, monkeypatch):
    (tmp_path / "counting.py").write_text(
        "def f(values):\n    for v in values:\n        f.calls += 1\n    return f.calls\nf.calls = 0\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import counting

    monkeypatch.setitem(sys.modules, "counting", counting)
    appyc.autojit(counting)
    counting.f([1] * LARGE)
    for _ in range(2000):
        counting.f("x")
    counting.f.more = 1
    assert counting.f("x") == LARGE + 2001


def test_a_function_whose_parts_cannot_be_compiled_either_runs_whole_in_python():
    def grow(depth):
        items = []
        if depth:
            for _ in range(3):
                items.append(str(grow_automatic(depth - 1)))
        return 1 + sum(map(int, items))

    grow_automatic = appyc.autojit(grow)
    for _ in range(60):
        assert grow_automatic(5) == 364
    assert grow_automatic.has_given_up
    assert {limit for _, limit, *_ in grow_automatic.handed.values()} == {0}


def test_small_calls_find_what_is_compiled_for_short_lists():
    def f(a, weights):
        scale, shift = weights
        for i in range(len(a)):
            a[i] = a[i] * scale + shift

    automatic = appyc.autojit(f)
    for length in (LARGE, 10, 10):
        automatic(np.zeros(length), [1.0, 2.0])
    assert is_compiled(automatic)
    assert "small call" not in automatic.summary()


def test_small_calls_parse_the_function_once(monkeypatch):
    def run(task, n):
        out = 0
        for k in range(n):
            out += len(f"{task}{k}")
        return out

    automatic, parsed = appyc.autojit(run), []
    text = automatic._text
    monkeypatch.setattr(automatic, "_text", lambda: parsed.append(1) or text())
    assert {automatic("a", 3) for _ in range(20)} == {6}
    assert "20 small calls" in automatic.summary()
    assert len(parsed) <= 1


@pytest.mark.parametrize("question", ["_is_due", "_has_waited"])
def test_what_a_call_in_python_raises_makes_it_no_second_time(question, monkeypatch):
    runs = []

    @appyc.jit(strict=True)
    def refused(a):
        # pragma parallel for
        for i in range(1, len(a)):
            a[i] = a[i - 1] * a[i - 1]

    def f(a):
        for _ in range(len(a)):
            runs.append(1)
            refused(a)

    automatic = appyc.autojit(f)
    monkeypatch.setattr(automatic, question, lambda *_: False)
    with pytest.raises(appyc.DependenceError):
        automatic(np.zeros(LARGE))
    assert runs == [1]
