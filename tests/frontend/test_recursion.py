"""Functions that call themselves: what of the surroundings of a call they keep to."""

import copy
import resource
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import appyc
from appyc.ir.nodes import Assign, Call
from appyc.ir.printer import print_function
from appyc.ir.verify import verify
from appyc.ir.visit import walk
from tests.lowering import lowered


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def count_down(a, n):
    a[0] += 1
    return 0 if n == 0 else count_down(a, n - 1)


def largest_depth(n):
    return n if n == 0 else 1 + largest_depth(n - 1)


def moved(a, i, x):
    if i >= len(a):
        return x
    a[i] = x
    return moved(a, i + 1, x * 10)


def total(a, i):
    return 0.0 if i >= len(a) else a[i] + total(a, i + 1)


def hashed(a, i, x):
    return x if i == len(a) else hashed(a, i + 1, x * 31 + a[i])


@pytest.fixture
def deep():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300_000)
    yield 290_000
    sys.setrecursionlimit(limit)


def test_an_integer_beyond_64_bits_is_pythons():
    compiled = appyc.jit(strict=True)(factorial)
    assert [compiled(n) for n in (20, 21, 60)] == [factorial(n) for n in (20, 21, 60)]


def test_it_raises_where_something_has_been_stored():
    compiled = appyc.jit(strict=True)(moved)
    with pytest.raises(OverflowError, match="64 bits"):
        compiled(np.zeros(30), 0, 1)
    assert compiled(np.zeros(10), 0, 1) == 10**10


def test_numpys_integers_wrap_as_in_python():
    a = np.arange(50)
    with np.errstate(over="ignore"):
        assert appyc.jit(strict=True)(hashed)(a, 0, 7) == hashed(a, 0, 7)


def test_the_limit_is_pythons_at_the_call(deep):
    compiled = appyc.jit(strict=True)(largest_depth)
    assert compiled(deep) == deep
    with pytest.raises(RecursionError):
        compiled(2 * deep)
    sys.setrecursionlimit(1000)
    assert compiled(900) == 900
    with pytest.raises(RecursionError):
        compiled(1100)


def test_the_stack_holds_deep_recursion_with_arrays(deep):
    a = np.zeros(1)
    assert appyc.jit(strict=True)(count_down)(a, deep) == 0
    assert a[0] == deep + 1


def test_a_stack_is_kept_from_call_to_call(deep):
    compiled = appyc.jit(strict=True)(largest_depth)
    assert compiled(10) == 10
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(1000):
        compiled(10)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 1000  # pages of stacks


def test_threads_have_a_stack_each(deep):
    compiled = appyc.jit(strict=True)(largest_depth)
    assert compiled(10) == 10
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(compiled, [deep, deep // 2] * 20)) == [deep, deep // 2] * 20


def test_arrays_that_are_only_read_may_be_read_only():
    a = np.arange(4.0)
    a.flags.writeable = False
    assert appyc.jit(strict=True)(total)(a, 0) == 6.0


def test_arguments_may_overlap():
    @appyc.jit(strict=True)
    def copied(a, b, n):
        if n > 0:
            a[n - 1] = b[n - 1]
            copied(a, b, n - 1)

    x, y = np.arange(9.0), np.arange(9.0)
    copied(x[1:], x[:-1], 8)
    copied.py_func(y[1:], y[:-1], 8)
    assert np.array_equal(x, y)


def test_the_ir_is_printed_as_python_that_runs():
    function = lowered(quick, np.zeros(3), 0, 2)
    assert verify(function) == []
    assert [c.function.name for c in function.callees] == ["quick_call"]
    calls = [
        n for n in walk(function.callees[0].function) if isinstance(n, Assign) and isinstance(n.value, Call)
    ]
    assert len(calls) == 2
    namespace = {}
    exec(print_function(function), namespace)
    a = np.random.default_rng(0).random(50)
    b = np.sort(a)
    namespace["quick"](a, 0, 49)
    assert np.array_equal(a, b)


def quick(a, lo, hi):
    if lo >= hi:
        return
    k = lo
    for i in range(lo + 1, hi + 1):
        if a[i] < a[lo]:
            k += 1
            a[k], a[i] = a[i], a[k]
    a[lo], a[k] = a[k], a[lo]
    quick(a, lo, k - 1)
    quick(a, k + 1, hi)


def test_ever_other_types_are_refused():
    @appyc.jit(strict=True)
    def nested(x, n):
        return n if n == 0 else nested((x, x), n - 1)

    with pytest.raises(appyc.UnsupportedError, match="ever other types"):
        nested(1.0, 3)


def test_a_jitted_function_among_functions():
    @appyc.jit(strict=True)
    def outer(n, a):
        for i in range(n):
            a[i] = inner(i) + 0.5
        return a.sum()

    @appyc.jit
    def inner(n):
        return 1 if n < 2 else inner(n - 1) + inner(n - 2)

    assert outer(10, np.zeros(10)) == 148.0


def test_automatic_compilation_gives_what_python_gives():
    def powers(n, k):
        out = 0
        for _ in range(k):
            out += 1
        return out if n == 0 else 10 * powers(n - 1, k)

    compiled = appyc.autojit(powers)
    assert compiled(30, 10**6) == 10**36
    assert compiled(3, 10**6) == 10**9


def _many_dicts(a):
    seen = {}
    for i in range(len(a)):
        k = int(a[i])
        seen[k] = seen.get(k, 0) + seen.get(k + 1, 0) + seen.get(k + 2, 0) + seen.get(k + 3, 1)
        seen[k + 1] = seen.get(k - 1, 0) + seen.get(k - 2, 0) + seen.get(k - 3, 0)
        seen[k + 2] = seen.get(k, 0) + seen.get(k + 4, 0) + seen.get(k + 5, 0)
        seen[k + 3] = seen.get(k + 6, 0)
    return seen


def _sum_of_many_dicts(a):
    seen = {}
    for i in range(len(a)):
        k = int(a[i])
        seen[k] = seen.get(k, 0) + seen.get(k + 1, 0) + seen.get(k + 2, 0) + seen.get(k + 3, 1)
        seen[k + 1] = seen.get(k - 1, 0) + seen.get(k - 2, 0) + seen.get(k - 3, 0)
        seen[k + 2] = seen.get(k, 0) + seen.get(k + 4, 0) + seen.get(k + 5, 0)
    return sum(seen.values())


def _many_dicts_and_a_parallel_loop(a):
    b = np.empty(len(a))
    for i in appyc.prange(len(a)):
        b[i] = 2.0 * a[i]
    return _sum_of_many_dicts(a), b


def test_loops_of_the_library_over_lists_are_called_where_there_are_many():
    a = np.arange(30) % 7
    compiled = appyc.jit(strict=True, cache=False)(_many_dicts)
    assert compiled(a) == _many_dicts(a)
    text = compiled.source("c", a)
    assert text.count("while (true)") == 2, "one loop that probes, one that enters into a larger table"
    call = next(line for line in text.splitlines() if " = slot_of_call" in line)
    assert "fault" not in call, "what cannot raise takes no location for a fault"


def test_loops_of_the_library_are_inlined_beside_parallel_loops():
    a = np.arange(30) % 7
    compiled = appyc.jit(strict=True, cache=False)(_many_dicts_and_a_parallel_loop)
    found, b = compiled(a)
    assert found == _sum_of_many_dicts(a)
    assert b.tolist() == (2.0 * a).tolist()


def walked(n):
    path, ends = [], []

    def down(k):
        path.append(k * 0.5)
        if k > 0:
            down(k - 1)
            down(k - 2)
        ends.append((len(path), k))
        path.pop()

    down(n)
    return ends


def test_lists_that_a_recursion_resizes_are_printed_as_arrays_that_it_resizes():
    function = lowered(walked, 8)
    assert verify(function) == []
    namespace = {}
    exec(print_function(function), namespace)
    assert namespace["walked"](8) == walked(8)


def test_only_lists_that_a_recursion_resizes_are_passed_by_reference():
    @appyc.jit(strict=True)
    def summed(n):
        items = list(range(n))
        items.append(n)
        ends = []

        def of(k):
            if k == len(items):
                ends.append(k)
                return 0
            return items[k] + of(k + 1)

        return of(0), ends

    assert summed(5) == (15, [6])
    text = summed.source("c", 5)
    assert "&ends, &ends_held" in text
    assert "&items, " not in text


def given(items, k):
    if k > 0:
        items.append(k)
        given(items, k - 1)


def run_over(n):
    items = [n]

    def put(k):
        items.append(k)
        return k if k == 0 else put(k - 1)

    for x in items:
        if len(items) < 9:
            put(x - 1 if x > 0 else 0)
    return items


def twice(n):
    items = []

    def put(a, b, k):
        if k > 0:
            a.append(len(b))
            put(a, b, k - 1)

    put(items, items, n)
    return items


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (run_over, (3,), "a list changes while a loop runs over it"),
        (twice, (3,), "a list as two arguments"),
        (given, ([0], 3), "this operation on a list is not compiled"),
    ],
)
def test_what_a_recursion_cannot_do_with_lists_runs_in_python(function, args, message):
    with pytest.raises(appyc.CompileError, match=message):
        appyc.jit(strict=True)(function)(*args)
    with pytest.warns(appyc.FallbackWarning):
        assert appyc.jit(function)(*copy.deepcopy(args)) == function(*copy.deepcopy(args))
