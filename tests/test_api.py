"""`appyc.jit` from the user's side: what it takes, what it keeps, and when it compiles."""

from __future__ import annotations

import collections
import gc
import inspect
import linecache
import math
import pickle
import re
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.compiler import cpu
from appyc.ir.types import DType
from appyc.lazy.running import STATE, flush
from appyc.options import Options, from_environment, num_threads


@pytest.fixture
def compiled(monkeypatch) -> list[str]:
    """The names of functions that are analysed, one for each compilation."""
    names: list[str] = []
    analyse = cpu.analyse

    def counting(fn, *rest):
        names.append(fn.__name__)
        return analyse(fn, *rest)

    monkeypatch.setattr(cpu, "analyse", counting)
    return names


DTYPE_NAMES = [d.value for d in DType if d.kind != "s"]


def uncached(fn: Callable[..., Any]) -> Any:
    """A jitted function that finds nothing on disk, so that compilations can be counted."""
    return appyc.jit(fn, cache=False)


def scale(a, factor=2.0):
    """Multiplies in place."""
    for i in range(a.shape[0]):
        a[i] *= factor
    return factor


SCALE = appyc.jit(scale)


# ---------------------------------------------------------------- decorating


def test_jit_bare_with_options_and_as_a_function():
    @appyc.jit
    def bare(x):
        return x + 1

    @appyc.jit(target="cpu", fastmath=True)
    def with_options(x):
        return x + 1

    assert bare(1) == with_options(1) == appyc.jit(bare.py_func, strict=True)(1) == 2
    assert with_options.options == Options(target="cpu", fastmath=True)


def test_fastmath_knows_nan_and_infinity():
    @appyc.jit(strict=True, fastmath=True)
    def smallest_and_count(x):
        best, count = np.inf, 0
        for v in x:
            if not np.isnan(v):
                count += 1
                best = min(best, v)
        return best == np.inf, count, x[~np.isnan(x)].sum()

    assert smallest_and_count(np.array([np.nan, 2.0, np.nan, 1.0])) == (False, 2, 3.0)
    assert smallest_and_count(np.full(9, np.nan)) == (True, 0, 0.0)


def test_jit_of_a_jitted_function_takes_the_new_options():
    again = appyc.jit(SCALE, target="python")
    assert again.options.target == "python"
    assert again.py_func is scale


def test_name_documentation_and_signature_are_kept():
    assert SCALE.__name__ == "scale"
    assert SCALE.__qualname__ == "scale"
    assert SCALE.__doc__ == "Multiplies in place."
    assert SCALE.__module__ == __name__
    assert SCALE.__wrapped__ is scale
    assert SCALE.py_func is scale
    assert str(inspect.signature(SCALE)) == "(a, factor=2.0)"
    assert repr(SCALE) == "<appyc.jit scale target='auto'>"


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("APPYC_TARGET", "cpu", Options(target="cpu")),
        ("APPYC_AUTO", "0", Options(auto=False)),
        ("APPYC_STRICT", "yes", Options(strict=True)),
        ("APPYC_FASTMATH", "TRUE", Options(fastmath=True)),
        ("APPYC_CACHE", "off", Options(cache=False)),
        ("APPYC_BOUNDSCHECK", "no", Options(boundscheck=False)),
        ("APPYC_EXACT", "on", Options(exact=True)),
        ("APPYC_DEFER", "1", Options(defer=True)),
        ("APPYC_BLAS", "0", Options(blas=False)),
    ],
)
def test_every_option_has_a_variable(monkeypatch, variable, text, expected):
    monkeypatch.setenv(variable, text)
    assert appyc.jit(scale).options == expected


def test_defer_records_calls_with_recorded_arrays():
    import appyc.numpy

    @appyc.jit(defer=True)
    def doubled(a):
        for i in range(a.shape[0]):
            a[i] *= 2.0

    flush()
    a = appyc.numpy.ones(9000)
    doubled(a)
    assert len(STATE.recording.statements) == 2  # with the array that is created
    assert a.tolist() == [2] * 9000


def test_schedule_takes_text():
    assert appyc.jit(scale, schedule="scale(a)").options == Options(schedule="scale(a)", strict=True)
    with pytest.raises(TypeError, match="schedule must be text"):
        appyc.jit(schedule=1)


def test_tune_makes_a_function_that_tunes_itself():
    tuned = appyc.jit(scale, tune=True)
    assert isinstance(tuned, appyc.JitFunction)
    assert type(tuned) is not appyc.JitFunction
    assert tuned.options == Options()  # as without it, for what is compiled


def test_libraries_stay_what_is_called():
    def solved(a, b):
        for i in range(len(b)):
            b[i] = np.linalg.det(a[i])

    compiled, a, b = appyc.jit(solved, libraries=True), np.arange(12.0).reshape(3, 2, 2), np.zeros(3)
    compiled(a, b)
    assert b.tolist() == [np.linalg.det(one) for one in a]
    assert "np.linalg.det" in str(compiled.explain())


def test_every_option_is_tested_above():
    assert set(Options.__dataclass_fields__) == {
        "target", "auto", "strict", "fastmath", "cache", "boundscheck", "exact", "defer", "blas",
        "libraries", "schedule", "tune",
    }  # fmt: skip


def test_what_is_given_goes_before_the_environment():
    assert from_environment({"target": "cpu"}, {"APPYC_TARGET": "python"}).target == "cpu"
    assert from_environment({"cache": True}, {"APPYC_CACHE": "0"}).cache is True


def test_number_of_threads_from_the_environment():
    assert num_threads({"APPYC_NUM_THREADS": "3", "OMP_NUM_THREADS": "5"}) == 3
    assert num_threads({"OMP_NUM_THREADS": "5"}) == 5
    assert num_threads({"OMP_NUM_THREADS": "4,2"}) >= 1


def test_number_of_threads_can_be_set():
    before = appyc.get_num_threads()
    try:
        appyc.set_num_threads(2)
        assert appyc.get_num_threads() == 2
        a = np.arange(100_000.0)
        SCALE(a)
        assert a[-1] == 2 * 99_999
    finally:
        appyc.set_num_threads(before)


# ---------------------------------------------------------------- arguments


def test_keywords_and_defaults():
    for call in (
        SCALE,
        lambda a: SCALE(a=a),
        lambda a: SCALE(factor=2.0, a=a),
        lambda a: SCALE(a, factor=2.0),
    ):
        a = np.ones(3)
        assert call(a) == 2.0
        np.testing.assert_array_equal(a, [2, 2, 2])


def test_keyword_only_and_positional_only_parameters():
    @appyc.jit
    def combine(x, /, y=3, *, z=5):
        return 100 * x + 10 * y + z

    assert combine(1) == 135
    assert combine(1, 2, z=4) == 124
    assert combine(1, z=4, y=2) == 124
    for args, keywords in (((1, 2, 3), {}), ((), {"x": 1})):
        with pytest.raises(TypeError) as python:
            combine.py_func(*args, **keywords)
        with pytest.raises(TypeError, match=re.escape(str(python.value))):
            combine(*args, **keywords)


def test_defaults_and_keywords_go_through_the_dispatcher():
    f = appyc.jit(scale)
    for _ in range(2):
        a = np.ones(3)
        f(a)
        f(a=a, factor=3.0)
        np.testing.assert_array_equal(a, [6, 6, 6])
    assert len(f.kernels) == 1


def test_calls_that_do_not_fit_raise_as_python_does():
    for args, keywords in (((), {}), ((1, 2, 3), {}), ((1,), {"a": 1}), ((1,), {"other": 1})):
        with pytest.raises(TypeError) as python:
            scale(*args, **keywords)
        with pytest.raises(TypeError, match=re.escape(str(python.value))):
            SCALE(*args, **keywords)


def test_function_without_arguments():
    @appyc.jit
    def answer():
        total = 0
        for i in range(7):
            total += i
        return 2 * total

    assert answer() == 42
    assert "for i" in str(answer.explain())


def test_python_scalars_come_back_as_python_scalars():
    @appyc.jit
    def same(x):
        return x

    for value in (True, 3, 2.5, 1 + 2j):
        assert type(same(value)) is type(value)
        assert same(value) == value


@pytest.mark.parametrize(
    "name",
    DTYPE_NAMES,
)
def test_numpy_scalars_come_back_as_numpy_scalars(name):
    @appyc.jit
    def same(x):
        return x

    kind = np.dtype(name).type
    assert type(same(kind(1))) is kind
    assert same(kind(1)) == kind(1)


def test_results_have_the_types_that_numpy_gives():
    @appyc.jit
    def mixed(x, y):
        return x * 2, x + y, x < y, x / 3

    for x, y in (
        (1, 2),
        (np.int8(1), np.int16(2)),
        (np.float32(1), 2),
        (np.float32(1), 2.0),
        (1, np.uint8(2)),
    ):
        for got, expected in zip(mixed(x, y), mixed.py_func(x, y), strict=True):
            assert type(got) is type(expected)
            assert got == expected


def test_tuples_and_none_as_arguments():
    @appyc.jit
    def use(pair, a, offset=None):
        x, (y, z) = pair
        out = x * y + z + a[0]
        if offset is not None:
            out += offset
        return out, (x, y)

    a = np.array([10.0])
    assert use((1, (2, 3)), a) == (15.0, (1, 2))
    assert use((1, (2, 3)), a, 0.5) == (15.5, (1, 2))
    assert use((1.5, (2, 3)), a, None) == (16.0, (1.5, 2))


def test_arrays_in_tuples():
    @appyc.jit
    def add(arrays):
        a, b = arrays
        for i in range(a.shape[0]):
            a[i] += b[i]
        return a

    a, b = np.ones(3), np.ones(3)
    assert add((a, b)) is a
    np.testing.assert_array_equal(a, [2, 2, 2])


def test_array_results_are_the_arguments_themselves():
    @appyc.jit
    def pick(a, b, first):
        return a if first else b

    a, b = np.ones(2), np.zeros(2)
    result = appyc.jit(itself)(a)
    assert result is a
    assert pick.py_func(a, b, True) is a


def itself(a):
    return a


def test_integer_beyond_64_bits_is_left_to_python():
    def double(n):
        return 2 * n

    with pytest.raises(OverflowError):
        appyc.jit(strict=True)(double)(2**64)
    with pytest.warns(appyc.FallbackWarning):
        assert appyc.jit(double)(2**64) == 2**65


# ---------------------------------------------------------------- one version per signature


def test_one_version_for_all_shapes(compiled):
    f = uncached(scale)
    for n in (1, 2, 5, 100):
        f(np.ones(n))
    assert compiled == ["scale"]


def test_a_version_for_each_dtype_rank_and_layout(compiled):
    def first(a):
        return a.size

    f = uncached(first)
    kinds = [
        np.ones(4),
        np.ones(4, np.float32),
        np.ones((4, 4)),
        np.ones((4, 4), order="F"),
        np.ones((8, 8))[::2, ::2],
    ]
    for _ in range(2):
        for a in kinds:
            assert f(a) == a.size
    assert len(compiled) == len(kinds)


def test_python_and_numpy_scalars_are_different_signatures(compiled):
    def double(x):
        return 2 * x

    f = uncached(double)
    for x in (1, 2, np.int64(1), np.int64(2), 1.0, True):
        f(x)
    assert len(compiled) == 4


def test_read_only_arrays_need_no_version_of_their_own(compiled):
    def first(a):
        return a[0]

    f = uncached(first)
    a = np.ones(3)
    a.flags.writeable = False
    assert f(np.ones(3)) == f(a) == 1.0
    assert len(compiled) == 1


def test_read_only_array_that_is_written_is_refused_and_untouched():
    a = np.ones(3)
    SCALE(np.ones(3))
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        SCALE(a)
    np.testing.assert_array_equal(a, [1, 1, 1])


def test_arguments_that_overlap_give_what_python_gives():
    @appyc.jit
    def shift(a, b):
        for i in range(b.shape[0]):
            a[i] = b[i]

    for fn in (shift, shift.py_func):
        memory = np.arange(10.0)
        fn(memory[1:], memory[:-1])
        np.testing.assert_array_equal(memory, np.zeros(10))


# ---------------------------------------------------------------- values from outside

FACTOR = 2.0
TABLE = np.array([1.0, 2.0, 3.0])


@appyc.jit
def with_global(x):
    return FACTOR * x


def helper(x):
    return x + 1


@appyc.jit
def with_callee(x):
    return helper(x)


@appyc.jit
def with_table(i):
    return TABLE[i]


def test_changed_global_is_seen(monkeypatch):
    assert with_global(3.0) == 6.0
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 5.0)
    assert with_global(3.0) == 15.0
    monkeypatch.undo()
    assert with_global(3.0) == 6.0


def test_global_that_keeps_changing_is_warned_of(monkeypatch):
    @appyc.jit
    def grow(x):
        return FACTOR * x

    def run():
        for k in range(12):
            monkeypatch.setattr(sys.modules[__name__], "FACTOR", 1000.5 + k)
            assert grow(2.0) == 2 * FACTOR

    with pytest.warns(RuntimeWarning, match=r"grow was compiled 4 times .* \(FACTOR\)") as caught:
        run()
    assert [w.filename for w in caught] == [__file__]


def test_changed_callee_is_seen(monkeypatch):
    assert with_callee(1) == 2

    def other(x):
        return x * 10

    monkeypatch.setattr(sys.modules[__name__], "helper", other)
    assert with_callee(1) == 10


def test_changed_global_of_a_callee_is_seen(monkeypatch):
    @appyc.jit
    def outer(x):
        return with_global(x) + 1

    assert outer(3.0) == 7.0
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 5.0)
    assert outer(3.0) == 16.0


def test_global_array_is_read_anew_at_each_call(monkeypatch):
    assert with_table(1) == 2.0
    TABLE[1] = 7.0
    try:
        assert with_table(1) == 7.0
    finally:
        TABLE[1] = 2.0
    monkeypatch.setattr(sys.modules[__name__], "TABLE", np.array([0.5, 0.25]))
    assert with_table(1) == 0.25
    monkeypatch.setattr(sys.modules[__name__], "TABLE", np.array([[1, 2], [3, 4]], np.int32)[0])
    assert with_table(1) == 2
    assert type(with_table(1)) is np.int32


def test_changed_closure_is_seen():
    def make():
        k = 1

        @appyc.jit
        def add(x):
            return x + k

        def change(value):
            nonlocal k
            k = value

        return add, change

    add, change = make()
    assert add(1) == 2
    change(10)
    assert add(1) == 11
    change(0.5)
    assert add(1) == 1.5


def test_functions_of_one_factory_have_their_own_values():
    def power(n):
        @appyc.jit
        def raised(x):
            out = 1.0
            for _ in range(n):
                out *= x
            return out

        return raised

    square, cube = power(2), power(3)
    assert (square(3.0), cube(3.0), square(3.0)) == (9.0, 27.0, 9.0)


def test_closure_over_an_array():
    def make(table):
        @appyc.jit
        def look_up(i):
            return table[i]

        return look_up

    a = np.arange(4.0)
    look_up = make(a)
    assert look_up(2) == 2.0
    a[2] = 9.0
    assert look_up(2) == 9.0


def test_closures_that_are_made_anew_are_told_apart():
    @appyc.jit(strict=True)
    def mapped(a, function):
        for i in range(len(a)):
            a[i] = function(a[i])
        return a

    def with_table(table):
        return lambda x: x + table[0]

    def with_operation(operation, k):
        return lambda x: operation(x, k)

    def with_default(k):
        return lambda x, k=k: x / k

    for made in (
        with_table(np.arange(3.0) + 1), with_table(np.arange(3.0) + 5), with_table(np.arange(2)), with_table((7.0,)),
        with_operation(np.add, 2), with_operation(np.subtract, 2), with_operation(np.subtract, 2.5),
        with_default(2), with_default(4), with_default(np.float64(4)),
    ):  # fmt: skip
        wanted = mapped.py_func(np.arange(4.0), made)
        np.testing.assert_array_equal(mapped(np.arange(4.0), made), wanted)


# ---------------------------------------------------------------- methods and objects


class Field:
    scale = 3.0

    def __init__(self, n):
        self.values = np.ones(n)
        self.step = 0.5

    @appyc.jit
    def smooth(self, weight):
        for i in range(self.values.shape[0]):
            self.values[i] *= weight * self.step
        return self.step

    @appyc.jit
    def twice(self, x):
        return self.helper(x) * 2

    def helper(self, x):
        return x + self.step

    @staticmethod
    @appyc.jit
    def inner_static(x):
        return x + 1

    @appyc.jit
    @staticmethod
    def outer_static(x):
        return x + 2

    @classmethod
    @appyc.jit
    def inner_class(cls, x):
        return x * cls.scale

    @appyc.jit
    @classmethod
    def outer_class(cls, x):
        return x * cls.scale


def test_method_reads_the_object_at_each_call():
    field, other = Field(3), Field(5)
    assert field.smooth(4.0) == 0.5
    np.testing.assert_array_equal(field.values, [2, 2, 2])
    other.step = 2.0
    assert other.smooth(1.0) == 2.0
    np.testing.assert_array_equal(other.values, [2, 2, 2, 2, 2])
    field.values = np.ones(2, np.float32)
    field.smooth(4.0)
    np.testing.assert_array_equal(field.values, np.full(2, 2, np.float32))


def test_method_calls_a_method(compiled):
    field = Field(3)
    assert field.twice(1.0) == 3.0
    field.step = 1.0
    assert field.twice(1.0) == 4.0


def test_method_is_compiled_once(compiled):
    def twice(self, x):
        return self.helper(x) * 2

    class Local(Field):
        pass

    Local.twice = uncached(twice)
    field = Local(3)
    for _ in range(3):
        field.twice(1.0)
    assert compiled == ["twice"]


def test_static_and_class_methods():
    assert Field.inner_static(1) == Field(1).inner_static(1) == 2
    assert Field.outer_static(1) == Field(1).outer_static(1) == 3
    assert Field.inner_class(2.0) == Field(1).inner_class(2.0) == 6.0
    assert Field.outer_class(2.0) == Field(1).outer_class(2.0) == 6.0


def test_bound_method_can_be_jitted():
    field = Field(2)
    add = appyc.jit(field.helper)
    assert add(1.0) == 1.5
    field.step = 2.0
    assert add(1.0) == 3.0


def test_class_method_sees_a_changed_class(monkeypatch):
    assert Field.inner_class(2.0) == 6.0
    monkeypatch.setattr(Field, "scale", 10.0)
    assert Field.inner_class(2.0) == 20.0


@dataclass
class Grid:
    cells: np.ndarray
    origin: tuple[float, float]


def test_object_with_array_and_tuple_fields():
    @appyc.jit
    def corner(grid, k):
        return grid.cells[k] + grid.origin[1]

    assert corner(Grid(np.arange(3.0), (0.0, 0.5)), 2) == 2.5
    assert corner(Grid(np.arange(5.0), (0.0, 1.5)), 4) == 5.5


Point = collections.namedtuple("Point", "x y")


def test_named_tuple_is_a_tuple():
    @appyc.jit
    def total(p):
        return p[0] + p[1]

    assert total(Point(1, 2)) == 3


def test_arguments_are_not_kept_alive():
    f = uncached(scale)
    a = np.ones(10)
    dead = weakref.ref(a)
    f(a)
    del a
    gc.collect()
    assert dead() is None


# ---------------------------------------------------------------- where functions come from


def test_pickled_by_name():
    assert pickle.loads(pickle.dumps(SCALE_BY_NAME)) is SCALE_BY_NAME


@appyc.jit
def SCALE_BY_NAME(a):
    return a[0]


CELL = """
@appyc.jit
def in_cell(a):
    #pragma parallel for
    for i in range(a.shape[0]):
        a[i] += offset
"""


def test_function_of_a_notebook_cell():
    name = "<ipython-input-7-0123456789ab>"
    linecache.cache[name] = (len(CELL), None, CELL.splitlines(keepends=True), name)
    space = {"appyc": appyc, "offset": 2.0}
    exec(compile(CELL, name, "exec"), space)
    a = np.zeros(3)
    space["in_cell"](a)
    np.testing.assert_array_equal(a, [2, 2, 2])
    space["offset"] = 1.0
    space["in_cell"](a)
    np.testing.assert_array_equal(a, [3, 3, 3])


def test_cell_that_is_run_again_with_another_text():
    for number, sign in enumerate("+-"):
        text = f"@appyc.jit\ndef change(x):\n    return x {sign} 1\n"
        name = f"<ipython-input-{number}-feed>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        space = {"appyc": appyc}
        exec(compile(text, name, "exec"), space)
        assert space["change"](1) == (2 if sign == "+" else 0)


def test_function_from_exec_has_no_source():
    space: dict[str, Any] = {"appyc": appyc}
    exec("@appyc.jit(strict=True)\ndef lost(x):\n    return x\n", space)
    with pytest.raises(appyc.UnsupportedError, match="the source of 'lost' cannot be read"):
        space["lost"](1)


def test_function_from_exec_runs_in_python_with_a_warning():
    space: dict[str, Any] = {"appyc": appyc}
    exec("@appyc.jit\ndef lost(x, y=[]):\n    return [x, *y]\n", space)
    with pytest.warns(appyc.FallbackWarning, match="lost runs in Python: the source of 'lost'") as caught:
        results = [space["lost"](1, y=[k]) for k in range(9)]
    assert results == [[1, k] for k in range(9)]
    assert [w.filename for w in caught] == [__file__]


# ---------------------------------------------------------------- threads


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    """The results of `work(k)` for all k, started at once."""
    gate = threading.Barrier(count)

    def run(k: int) -> Any:
        gate.wait()
        return work(k)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_first_call_from_eight_threads_compiles_once(compiled):
    f = uncached(scale)

    def work(k):
        a = np.full(1000, float(k))
        f(a)
        return a[0]

    assert in_threads(8, work) == [2.0 * k for k in range(8)]
    assert compiled == ["scale"]


def test_different_types_from_eight_threads():
    names = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float32"]
    f = uncached(double_all)

    def work(k):
        a = np.arange(50, dtype=names[k])
        for _ in range(20):
            f(a, np.arange(50, dtype=names[k]))
        return (a == 2 * np.arange(50)).all()

    assert all(in_threads(8, work))


def double_all(out, a):
    for i in range(a.shape[0]):
        out[i] = 2 * a[i]


# ---------------------------------------------------------------- prange


def test_prange_is_range_in_python_and_parallel_when_compiled():
    @appyc.jit
    def add(a, b):
        for i in appyc.prange(1, a.shape[0], 2):
            a[i] += b[i]

    assert list(appyc.prange(3)) == [0, 1, 2]
    assert list(appyc.prange(1, 7, 2)) == [1, 3, 5]
    expected, a, b = np.ones(9), np.ones(9), np.arange(9.0)
    add(a, b)
    add.py_func(expected, b)
    np.testing.assert_array_equal(a, expected)
    assert [r.mode for r in add.explain().loops] == ["parallel"]


# ---------------------------------------------------------------- compile, source, targets


def test_compile_does_not_run_and_the_call_then_compiles_nothing(compiled):
    f = uncached(scale)
    a = np.ones(3)
    assert f.compile(a) is None
    np.testing.assert_array_equal(a, [1, 1, 1])
    assert compiled == ["scale"]
    f(a)
    np.testing.assert_array_equal(a, [2, 2, 2])
    assert compiled == ["scale"]


def test_compile_for_another_target_leaves_calls_alone():
    f = appyc.jit(scale, target="python")
    a = np.ones(3)
    f.compile(a, target="cpu")
    f(a)
    np.testing.assert_array_equal(a, [2, 2, 2])
    assert not f.kernels
    assert f.compile(a) is None


def test_source_of_every_kind():
    f = appyc.jit(scale)
    a = np.ones(3)
    assert f.source("python").startswith("def scale(a, factor=2.0):")
    f(a)
    assert "a[i]" in f.source("ir")
    assert f.source() == f.source("ir")
    assert "int32_t" in f.source("c")
    assert "float" in f.source("c", np.ones(3, np.float32))
    for stage in ("asm", np.ones(3)):
        with pytest.raises(ValueError, match="kind must be"):
            f.source(stage)


def test_source_for_triton():
    assert "tl.load" in appyc.jit(scale).source("triton", np.ones(3))


def test_source_before_any_call_needs_arguments():
    f = appyc.jit(scale)
    with pytest.raises(ValueError, match="scale has not been compiled yet"):
        f.source("c")
    assert f.source("c", np.ones(3))


def test_target_python_runs_the_function_itself():
    @appyc.jit(target="python")
    def anything(items):
        return [math.sqrt(x) for x in items]

    assert anything([4.0]) == [2.0]


def test_target_interpret_runs_the_kernels():
    f = appyc.jit(scale, target="interpret")
    a = np.ones(3)
    assert f(a, 3.0) == 3.0
    np.testing.assert_array_equal(a, [3, 3, 3])


@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_read_only_array_is_refused_on_every_target(target):
    f = appyc.jit(scale, target=target, strict=True)
    a = np.ones(3)
    a.flags.writeable = False
    with pytest.raises(appyc.CompileError, match="'a' is read-only"):
        f(a)
    np.testing.assert_array_equal(a, [1, 1, 1])


def test_indices_are_not_checked_where_that_was_asked_for():
    @appyc.jit(boundscheck=False)
    def inside(a, i):
        return a[i]

    assert inside(np.arange(5.0), 3) == 3.0


def test_strict_raises_what_otherwise_runs_in_python():
    def mixed(a):
        names = {"first", "last"}
        for i in range(a.shape[0]):
            a[i] += 1.0
        return len(names)

    with pytest.raises(appyc.UnsupportedError):
        appyc.jit(mixed, strict=True)(np.ones(3))
    a = np.ones(3)
    assert appyc.jit(mixed)(a) == 2
    np.testing.assert_array_equal(a, [2, 2, 2])


def test_error_leaves_no_trace_for_the_next_call():
    @appyc.jit(strict=True)
    def pick(a, i):
        return float(a[i])

    with pytest.raises(appyc.CompileError):
        pick(np.ones((2, 2)), 1)
    assert pick(np.ones(2), 1) == 1.0
    with pytest.raises(IndexError):
        pick(np.ones(2), 2)
    assert pick(np.ones(2), 0) == 1.0


def test_an_unsigned_index_beyond_int64_does_not_count_from_the_end():
    @appyc.jit
    def f(a, at):
        a[at[0]] = 1.0

    a = np.zeros(4)
    with pytest.raises(IndexError):
        f(a, np.array([2**64 - 1], np.uint64))
    assert not a.any()


def test_a_property_is_read_where_it_stands():
    class Counter:
        def __init__(self):
            self.a, self.b = np.zeros(2), np.zeros(4)

        @property
        def top(self):
            return float(self.a[0])

        @appyc.jit
        def run(self):
            for i in range(4):
                self.a[0] += 1
                self.b[i] = self.top

    counter = Counter()
    counter.run()
    assert counter.b.tolist() == [1, 2, 3, 4]


def test_returning_a_value_on_some_paths_only_runs_in_python():
    @appyc.jit  # noqa: RET503
    def find(a, x):
        for i in range(len(a)):
            if a[i] == x:
                return i

    assert find(np.arange(3.0), 2.0) == 2
    assert find(np.arange(3.0), 7.0) is None


@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_lambdas_are_compiled(target):
    double = appyc.jit(lambda x: x * 2.0, target=target, strict=True)
    assert double(np.arange(3.0)).tolist() == [0, 2, 4]
    compile(double.source("ir"), "lambda", "exec")
