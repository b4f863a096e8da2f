"""Programs that once went wrong, as small as they get. The docstring says how."""

import math
from collections import defaultdict

import numpy as np

from tests.programs.registry import Programs, floats

PROGRAMS = Programs()


@PROGRAMS.on(3)
def constant_result_keeps_numpy_type(n):
    """The interpreter returned Python's 1.5: a result that folds to a constant had lost its type."""
    u = np.float64(1.5)
    w = np.int32(3)
    for _ in range(n):
        pass
    return u, w, np.uint8(200), np.float32(0.5)


@PROGRAMS.on(np.array([1.0, -2.0, 3.0, -4.0]))
def read_of_what_an_earlier_iteration_assigned(a):
    """Refused, since no path before the loop assigns `previous`."""
    s = 0.0
    for i in range(4):
        if i > 0 and previous > 0:
            s += previous
        previous = a[i]
    return s


@PROGRAMS.on(0)
@PROGRAMS.on(2)
def read_of_a_bool_that_an_earlier_iteration_assigned(n):
    """As above; the type that the name starts with must not widen a bool."""
    out = 0
    for i in range(n):
        if i > 0:
            out += 1 if flag else 10
        flag = i == 0
    return out, flag


@PROGRAMS.on(floats(3))
@PROGRAMS.on(floats(6))
def condition_of_nothing_may_raise(a):
    """A branch that holds only `continue` or `pass` was dropped together with its condition."""
    #pragma parallel for
    for i in range(3):
        if a[2 * i] > 0.25:
            continue


@PROGRAMS.on(floats(3))
@PROGRAMS.on(floats(6))
def condition_of_pass_may_raise(a):
    """As above."""
    if a[4] > 0:
        pass


@PROGRAMS.on(floats(3))
@PROGRAMS.on(floats(6))
def unused_value_may_raise(a):
    """An expression that stands alone was dropped."""
    a[4]


@PROGRAMS.on(np.array([1.5]), 1, 1, 0.5)
@PROGRAMS.on(np.array([1.5, 2.5, 3.5]), 2, 3, 0.5)
def sum_that_reads_the_element_twice(a, n, m, x):
    """The sum was cut into two updates, and the second read what the first had written."""
    for i in range(m):
        a[0] = a[0] + 0.5 + (a[i % max(n, 1)] + x)


@PROGRAMS.on(floats(20, 20), floats(20, 20, seed=1), 9, 7, 0)
def store_twice_as_fast_as_its_condition(a, b, n, m, k):
    """gcc took the first of the loops that this becomes for one that changes nothing."""
    for i in range(m):
        for j in range(n):
            if a[i, j + 2] > 0.0:
                a[i + 2, j + j] = b[i + k, i + 2] * 0.5
            a[j, j // 2] = b[j, j] * 0.5


@PROGRAMS.on(floats(12, 12), floats(12, seed=1), floats(12, seed=2), 9)
@PROGRAMS.on(floats(12, 12), floats(12, seed=1), floats(12, seed=2), 1)
def store_beside_a_sum_that_may_not_run(A, c, d, n):
    """The element c[i] was held in a scalar under the condition that both inner loops run; the store
    beside the innermost one was skipped with it."""
    for i in range(0, n, 2):
        for j in range(0, i, 2):
            for l in range(n - 1, i, -1):
                c[i] += d[j + 2] * 0.5
            A[j, i] = 3.0


@PROGRAMS.on(np.array([[0.25, -0.25, -1.0], [-2.0, 3.75, -3.0], [2.25, 1.25, -2.5]], np.float32))
@PROGRAMS.on(np.array([[0.25, -0.25, -1.0], [-2.0, 3.75, -3.0], [2.25, 1.25, -2.5]]))
def negative_floats_as_small_integers(a):
    """C leaves the conversion of -2.0 to uint8 open, and -2.0 came back from it."""
    b = a[::-1] * a.astype(np.uint8)
    return b, a.astype(np.int16) + a, a.astype(np.uint16) * 2.0, a.astype(np.uint32) * 1.0


@PROGRAMS.on(floats(3, 4), 0)
@PROGRAMS.on(floats(3, 4), 2)
def swapped_sums_of_two_lengths(a, n):
    """A length that equals another one only where the loop runs was taken for it everywhere."""
    rows, columns = a.sum(axis=1), a.sum(axis=0)
    for _ in range(n):
        rows, columns = columns, rows
    return rows, columns


@PROGRAMS.on(floats(6, 7), 1)
@PROGRAMS.on(floats(6, 7), 0)
@PROGRAMS.on(floats(1, 7), 0)
def rows_plus_one_row(a, k):
    """Both parts of the range allocated one array for the sum, and its length was asked for before that."""
    for i in range(a.shape[0] - k):
        a[i, 1:] += a[0, :-1]


@PROGRAMS.on(floats(6, 7), floats(7, seed=1))
@PROGRAMS.on(floats(2, 3), floats(3, seed=1))
def rows_minus_the_last(a, b):
    """As above, cut at the other end, inside another loop."""
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            a[i, 1:-1] -= a[-1, 2:] * b[j]
        b[j] = a[0, j]


@PROGRAMS.on(floats(8), floats(9, 9), 0, -1.0)
@PROGRAMS.on(floats(8), floats(9, 9), 1, -1.0)
@PROGRAMS.on(floats(8), floats(9, 9), 1, 1.5)
@PROGRAMS.on(floats(80), floats(9, 9), 1, 1.98)
@PROGRAMS.on(floats(700), floats(9, 9), 1, 1.99)
def return_two_ifs_deep_before_a_nest(x, a, k, limit):
    """What follows the inner `if` is there in both arms, and the loops in it had the same variables."""
    for t in range(x.shape[0]):
        if k > 0:  # noqa: SIM102  (two ifs are what this is about)
            if x[t] > limit:
                return t
        for i in range(1, a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = a[i, j] * 0.5 + a[i - 1, j]
                a[0, j] += 0.25
    return -1


@PROGRAMS.on(floats(8), floats(5), 0)
@PROGRAMS.on(floats(8), floats(5), 1)
@PROGRAMS.on(floats(8), floats(5), 2)
def continue_and_break_two_ifs_deep(x, c, k):
    """As above, for other jumps, and a loop that combines into an element."""
    for t in range(x.shape[0]):
        if k > 0:  # noqa: SIM102  (two ifs are what this is about)
            if x[t] > 1.0:
                if k > 1:
                    break
                continue
        for i in range(c.shape[0]):
            c[i] += x[t]
            c[0] = c[0] + c[i]


@PROGRAMS.on(floats(7, 5), floats(7, seed=1), 2.0)
def recurrence_with_steps_that_only_add(a, c, k):
    """The inner loop of the scan was said to hand on the product of the factors, which it has none of."""
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = 0.5 * s + c[i]
        for j in range(a.shape[1]):
            s += k * a[i, j]
    return s


@PROGRAMS.on(floats(5), 0, 2)
@PROGRAMS.on(floats(5), 4, 2)
@PROGRAMS.on(floats(5), 4, 9)
def assertion_with_an_index_out_of_range(a, i, w):
    """A guard made one side of `or` true, and the other side, which raises, was not evaluated any more."""
    assert a[i + 1] > 100.0 or w < a.shape[0], "neither"
    return i


@PROGRAMS.on(floats(5), np.array([[3]], np.uint8), np.array([1, 2], np.int8), 3, 5, 0.5)
def private_scalars_of_a_test_alone(a, m, ix, k, n, t):
    """Iterations in lanes had private scalars of the branch that their block's test had replaced."""
    f1 = a[(k | m[0, 0]) % n] / np.sum(a)
    for x3, x4 in zip(a, a):
        match 3:
            case 0:
                a[128 % n] = ((x3 - a[-1]) + t) + (a[(k * k) % n] * a[(ix[-1] + ix[0]) % n])
            case 1 | 2:
                i5 = n
    return f1


@PROGRAMS.on(floats(5), np.full(5, 4), np.arange(5, dtype=np.uint8))
@PROGRAMS.on(-np.arange(6.0), np.full(6, 4), np.arange(6, dtype=np.uint8))
def left_from_an_inner_loop_beside_an_index_that_turns(a, b, m):
    n = len(a)
    for i in range(n):
        s = i
        for j in range(n):
            if i <= a[m[j] % n]:
                return 0.5
            b[i] = 1
            s -= a[-i]
    return 1.5


@PROGRAMS.on(floats(5), floats(2), np.zeros(2))
@PROGRAMS.on(floats(4), floats(2), np.zeros(2))
@PROGRAMS.on(floats(3), floats(2), np.zeros(2))  # -4 + 3 is an index again
@PROGRAMS.on(floats(2), floats(2), np.zeros(2))
@PROGRAMS.on(floats(5), floats(1), np.zeros(2))
@PROGRAMS.on(floats(0), floats(1), np.zeros(2))
def constants_from_the_end(a, b, out):
    for i in range(len(out)):
        out[i] = a[-4] + b[-2]


@PROGRAMS.on(floats(3, 5), 2)
@PROGRAMS.on(floats(2, 5), 2)
@PROGRAMS.on(floats(5, 1), 1)
def rows_from_the_end(a, k):
    a[-3, -k] = 1.0
    a[-3] = a[-1] * 2.0
    return a[-3].sum()


@PROGRAMS.on(floats(2))
@PROGRAMS.on(floats(4))
def an_element_that_is_not_there_and_not_used(a):
    if a[-4] > 0.5:
        pass


@PROGRAMS.on(np.uint16(49))
@PROGRAMS.on(np.uint16(1))
def a_chain_whose_last_operand_may_raise(s):
    return 1 if s <= 1 <= s * -2 else 0


@PROGRAMS.on(np.zeros(6), 4)
@PROGRAMS.on(np.zeros(6), 90)
def an_index_that_begins_at_the_length(a, w):
    """The guard asked for `a.shape[0] >= 2**63`, which wrapped around: the elements behind the array were written."""
    k = len(a)
    for i in range(w):
        if i == 77:
            k //= 2
        a[k] += i
    return k


@PROGRAMS.on(np.zeros(6), 4)
@PROGRAMS.on(np.zeros(1), 2)
def an_index_that_is_halved(a, w):
    k = len(a)
    total = 0.0
    for x in a:
        total += x
    for i in range(w):
        k //= 2
        a[k] += i
    return k, total


@PROGRAMS.on(np.ones(4))
def a_sum_of_what_each_iteration_makes(a):
    """The cost of the loop was told by the length of an array that is made in it."""
    for i in range(1):
        v = np.where(a, a, a)
        a[i] = sum(e for e in v)
    return a


@PROGRAMS.on(np.linspace(0.0, 1.0, 40), np.linspace(1.0, 0.0, 40))
def a_sum_beside_what_may_raise(a, b):
    """A block of iterations was run again, and its sum counted twice, where one might have raised and did not."""
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
        if b[i] > 0.5:
            s -= a[int(b[i] * 30)]
    return s


@PROGRAMS.on(1)
def a_name_that_no_iteration_binds(k):
    for _ in range(3):
        if True:
            pass
        else:
            k2 = 0
        if k > 5:
            k += k2
        k += 1
    return k


@PROGRAMS.on(2)
@PROGRAMS.on(0)
def an_element_and_a_list_that_grows(n):
    xs, out = [0.5, 1.5, 2.5], []
    for i in range(n):
        out.append(0.25 * i)
        xs[n] = 2.0 * i
    return out, xs


@PROGRAMS.on(3)
def the_sum_of_a_list_that_stays_empty(n):
    """It was 0.0, as that of NumPy's array of the list."""
    xs, counts = [], defaultdict(int)
    total = 0
    for _ in range(n):
        total += sum(counts.values()) + sum(xs, n)
    return total, sum(xs), xs


@PROGRAMS.on(np.arange(24.0).reshape(6, 4))
def a_negative_index_behind_an_append(m):
    """A list that grows was counted as two accesses, and those behind it took the bounds of others."""
    found = []
    k = 1
    k -= 1
    found.append(1)
    m[k, 1] -= k
    m[k - 1, 0] = 1
    return len(found)


@PROGRAMS.on(np.zeros(4), np.array([3]))
@PROGRAMS.on(np.zeros(4), np.array([4]))
def an_index_out_of_range_behind_an_append(a, ix):
    """As above: the last store was not checked."""
    found = []
    found.append(1)
    a[0] = 1.0
    a[1] = 2.0
    a[2] = 3.0
    a[ix[0]] = 4.0
    return len(found)


@PROGRAMS.on(np.arange(5.0), 3)
@PROGRAMS.on(np.arange(5.0), 1)
def a_time_loop_with_a_nest_that_only_reads(c, w):
    """Time tiling asked which element the first nest writes."""
    k = c[1]
    for _ in range(1, w):
        for _ in c:
            k = c[0]
        c += 1
    return k


@PROGRAMS.on(np.ones(3, np.uint64), np.full((3, 3), 5, np.uint16))
def an_int_of_32_bits_that_does_not_fit(b, m):
    """The number in the message had 32 bits."""
    w = 1
    b[1] = min(-7, m[w, 1])


@PROGRAMS.on(np.ones(6), np.array([0, 1, 2, 3, 1, 0], np.int8), 3)
def lanes_in_a_loop_with_scalars_of_its_own(a, ix, k):
    """The loop around the lanes was left with private scalars that are none any more."""

    def last(v):
        for i in range(1):
            half = np.float64(2.0 / 4)
            n = len(v)
            for _, _ in zip(v, v, strict=True):
                if 2.0 + v[n - 2] <= v[n - 1] and half < -1.5:
                    break
        p = 0
        for i in range(len(v)):
            p = p + (p - i) % 97
        return p % len(v)

    found = 0
    for i in range(1, len(a)):
        if ix[i] <= ix[ix[i]] + found <= k:
            found = last(a[1:])
        else:
            ix[1:] = ix[1:]
    return found


def _combined(n, p):
    for i in range(3):
        k = 0
        while k < 9 and not True:
            k += 2
            p = p | i
            half = float(i)
    return n % 5


@PROGRAMS.on(np.arange(6), np.arange(6), np.ones((6, 6)))
@PROGRAMS.on(np.array([3, 3, 1, 2, 0, 1]), np.array([5, 0, 2, 1, 4, 3]), np.ones((6, 6)))
def lanes_combine_a_scalar_without_a_write(b, ix, m):
    n = len(b)
    if (k := np.uint32(int(~b[b[0] % n] % 97))) > ix[(k + b[0]) % n]:
        for i in range(n - 1, -1, -1):
            v = b[:-1]
            k = _combined(n, int(v[(i ^ ix[i]) % len(v)] % 97)) % 97
    m[b[1] % n, k * len(ix) % n] = 0.1


@PROGRAMS.on(np.array([5.0, 2.0, 3.0]), np.zeros(3))
@PROGRAMS.on(np.array([0.0, 2.0]), np.zeros(2))
def named_behind_a_loop(a, o):
    """`:=` in a condition that is evaluated where the loop before it did not end early."""
    for i in range(a.shape[0]):
        if a[i] > 9.0:
            break
        o[i] = a[i]
    else:
        if (q := a[0]) > q - 1.0:
            o[0] = q + 1.0
    return o.sum()


@PROGRAMS.on(floats(6), floats(6, 4), (2.0, 1.0, 3.0))
def scan_in_blocks_with_a_last_value(a, m, t):
    """An internal error: lanes were given a last value, of a counter, that they do not make."""
    n = len(a)
    w = m.shape[1]
    s = m[3 % n, 0]
    for _ in a[1::2]:
        k = -1
        while k < w - 1 and True:
            k += 1
            for _ in a[1::2]:
                s = s / ((len(m) * t[0]) / 0.5)
            m[(w * n) % n, k] = math.cos(2.0 % 4)
        for i in range(0, w, 2):
            s -= m[(i | k) % n, i]
    return True


@PROGRAMS.on(floats(0))
@PROGRAMS.on(floats(3))
def length_of_items_that_raise(a):
    """The items were not evaluated."""
    return len([a[0], 1.0])
