"""Python ints beyond 64 bits: guards bound arguments, loops test what they carry, the rest traps."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.errors import LeftToPython
from appyc.ir.nodes import Const, Fail, If, While
from appyc.ir.raising import traps_overflow
from appyc.ir.verify import check
from appyc.ir.visit import contains, loops_of, scalars_read, walk
from appyc.passes.checks.check_integer_overflow import check_integer_overflow
from appyc.pipeline import SIMPLIFY
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered


def checked(fn, *args):
    return after(lowered(fn, *args), *SIMPLIFY, check_integer_overflow)


def traps(fn):
    return [n.op for n in walk(fn) if traps_overflow(n)]


def counter(a):
    count = 0
    for i in range(a.shape[0]):
        if a[i] > 0:
            count += 1
    return count


def generator(a):
    seed = 1
    for i in range(a.shape[0]):
        seed = (seed * 1103515245 + 12345) % 2147483648
        a[i] = seed


def masked(a, h):
    for i in range(a.shape[0]):
        h = (h * 33 + (i << 40)) & 0xFFFFFFFF
        a[i] = h


def bounded_powers(a):
    for i in range(a.shape[0]):
        a[i] += 2 ** (i % 10) + (1 << (i % 8))


def sieve(a):
    for i in range(2, a.shape[0]):
        j = i
        while j < a.shape[0]:
            a[j] = 0
            j += i


def popcount(a):
    for i in range(a.shape[0]):
        n, count = i, 0
        while n:
            n &= n - 1
            count += 1
        a[i] = count


@pytest.mark.parametrize("fn", [counter, generator, bounded_powers, sieve, popcount])
def test_what_is_proven_costs_nothing(fn):
    found = checked(fn, np.zeros(3))
    assert not traps(found)
    assert not found.guards
    assert not any(isinstance(n, Fail) and n.error == LeftToPython.__name__ for n in walk(found))


def test_what_is_cut_to_its_last_bits_may_wrap():
    found = checked(masked, np.zeros(3), 5)
    assert not traps(found)
    assert not found.guards


def of_the_last(a, k):
    mask = (1 << 2 * k) - 1
    h = 0
    for i in range(a.shape[0]):
        h = (h << 2 | int(a[i]) & 3) & mask
        a[i] = h ^ (h >> 7)
    return h


def under_any_mask(a, mask):
    h = 1
    for i in range(a.shape[0]):
        h = h * 3 & mask
        a[i] = h & 255
    return h & 65535


def test_what_a_mask_of_a_variable_cuts_may_wrap():
    (loop,) = loops_of(checked(of_the_last, np.zeros(8, np.int64), 3).body)
    assert not traps(loop)
    assert not contains(loop, If)
    (loop,) = loops_of(checked(under_any_mask, np.zeros(8, np.int64), 3).body)
    assert traps(loop) == ["*"]


@pytest.mark.parametrize(
    ("fn", "given"),
    [(of_the_last, (0, 1, 6, 30, 31)), (under_any_mask, (0, 5, 2**63 - 1, -1, -(2**63)))],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_results_under_masks(fn, given):
    for number in given:
        run_everywhere(fn, np.random.default_rng(number & 63).integers(0, 9, 37), number)


def linear_index(a, n, m, k):
    for i in range(n):
        for j in range(m):
            for l in range(k):
                a[(i * m + j) * k + l] = 1.0


def sum_of_products(n):
    total = 0
    for i in range(n):
        for j in range(n):
            total += i * j
    return total


@pytest.mark.parametrize(("fn", "args"), [(linear_index, (np.zeros(8), 2, 2, 2)), (sum_of_products, (3,))])
def test_guards_bound_arguments(fn, args):
    found = checked(fn, *args)
    assert not traps(found)
    assert {g.reason for g in found.guards} == {"integers stay within 64 bits"}


def farthest(ways, n):
    x = y = far = 0
    for i in range(n):
        if ways[i] == 0:
            x += 1
        elif ways[i] == 1:
            x -= 1
        elif ways[i] == 2:
            y += 1
        else:
            y -= 1
        far = max(far, x * x + y * y)
    return far


def test_bounds_of_what_is_computed_from_counters_are_those_of_the_counters():
    (guard,) = checked(farthest, np.zeros(8, np.int64), 8).guards
    assert max(n.value for n in walk(guard) if isinstance(n, Const)) == 1 << 28


def collatz(n):
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    return n


def test_a_loop_tests_what_it_carries():
    found = checked(collatz, 27)
    assert not traps(found)
    assert [n.error for n in walk(found) if isinstance(n, Fail)] == [LeftToPython.__name__]


def collatz_between(n, a):
    while n != 1:
        p, q, r, s = int(a[n % 8]), int(a[n % 7]), int(a[n % 6]), int(a[n % 5])
        t, u, v = max(p, q), max(r, s), min(p, s)
        if t < u < v < p or q < r < t < v:
            return u
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    return n


def test_a_loop_does_not_test_what_each_iteration_computes_anew():
    found = checked(collatz_between, 27, np.arange(8))
    (loop,) = (n for n in walk(found) if isinstance(n, While))
    (test,) = (n for n in loop.body if isinstance(n, If) and any(isinstance(s, Fail) for s in n.then))
    assert [s.name for s in scalars_read(test.cond)] == ["n"]


def collatz_of_each(a):
    for i in range(1, a.shape[0]):
        n = i
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
        a[i] = n


def test_after_stores_a_loop_goes_on_in_a_copy_that_traps():
    found = checked(collatz_of_each, np.zeros(9))
    assert sum(isinstance(n, While) for n in walk(found)) == 2
    assert sorted(traps(found)) == ["*", "+"]


def collatz_with_digits(a):
    for i in range(1, a.shape[0]):
        n = i
        while n != 1:
            for k in range(3):
                a[k] += n % 10
            n = n // 2 if n % 2 == 0 else 3 * n + 1


def test_the_copy_has_loop_variables_of_its_own():
    found = checked(collatz_with_digits, np.zeros(9))
    assert sum(isinstance(n, While) for n in walk(found)) == 2
    check(found, "check_integer_overflow")


def factorial(n):
    f = 1
    for i in range(2, n + 1):
        f *= i
    return f


def test_what_is_not_proven_traps():
    assert traps(checked(factorial, 5)) == ["*"]


def numpys(a):
    total = a[0]
    for i in range(a.shape[0]):
        total = total * a[i] + 1
    return total


def test_numpys_integers_wrap():
    assert not traps(checked(numpys, np.arange(3)))


def test_a_loop_without_iterations_tests_nothing():
    def tripled(a, n):
        x = int(a[0])
        for _ in range(n):
            x = x * 3
        return x + 1

    fn = appyc.jit(cache=False, strict=True)(tripled)
    assert fn(np.array([5]), 3) == 136
    assert fn(np.array([2**63 - 1]), 0) == 2**63


def test_overflow_behind_stores_names_the_line():
    def stored(a):
        f = 1
        for i in range(a.shape[0]):
            f *= i + 2
            a[i] = i

    with pytest.raises(
        OverflowError, match="takes more than 64 bits where elements have been stored"
    ) as raised:
        appyc.jit(cache=False)(stored)(np.zeros(40))
    assert "f *= i + 2" in "".join(raised.value.__notes__)


def rotations(a, out):
    for i in range(a.shape[0]):
        x, y = 39797, 0
        for k in range(16):
            if a[i] > k:
                x, y = x - (y >> k), y + (x >> k)
            else:
                x, y = x + (y >> k), y - (x >> k)
        out[i] = x


def many_rotations(a, out):
    for i in range(a.shape[0]):
        x, y = 39797, 0
        for k in range(1600):
            x, y = x - (y >> k % 8), y + (x >> k % 8)
        out[i] = x


def test_few_iterations_are_analysed_one_by_one():
    assert traps(checked(rotations, np.zeros(4), np.zeros(4, np.int64))) == []
    assert traps(checked(many_rotations, np.zeros(4), np.zeros(4, np.int64))) == ["-", "+"]


def test_a_difference_traps_alone():
    def differences(out, y):
        s = 1
        for i in range(out.shape[0]):
            s = s * 3
            s -= y
            out[i] = s

    assert traps(checked(differences, np.zeros(4, np.int64), 3)) == ["*", "-"]
