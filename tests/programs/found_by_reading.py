"""Programs that a sceptical reader found to go wrong. The docstring says how."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs()


@PROGRAMS.on(np.array([3, 9, 4], np.uint8))
@PROGRAMS.on(np.array([], np.uint8))
def start_below_what_the_array_holds(img):
    """-1 was wrapped into uint8, and 255 was the largest."""
    m = -1
    for i in range(len(img)):
        if img[i] > m:
            m = img[i]
    return int(m)


@PROGRAMS.on(np.array([3, 9, 4], np.uint8))
def start_below_with_max(img):
    """As above."""
    m = -1
    for i in range(len(img)):
        m = max(m, img[i])
    return int(m)


@PROGRAMS.on(np.array([100, 127], np.int8))
def start_above_what_the_array_holds(x):
    """999 was wrapped into int8."""
    s = 999
    for i in range(len(x)):
        if x[i] < s:
            s = x[i]
    return int(s)


@PROGRAMS.on(np.array([], np.float32))
@PROGRAMS.on(np.array([2.0, 1.0], np.float32))
def start_above_float32(x):
    """1e300 became inf."""
    m = 1e300
    for i in range(len(x)):
        if x[i] < m:
            m = x[i]
    return float(m)


@PROGRAMS.on(np.array([5], np.uint8), 0)
@PROGRAMS.on(np.array([5], np.uint8), 1)
def branch_that_may_not_assign(a, c):
    """-1 was wrapped where the branches meet."""
    x = -1
    if c:
        x = a[0]
    return bool(x < 0)


@PROGRAMS.on(0, 5, 2**63 - 1)
@PROGRAMS.on(-(2**62), 2**62 + 5, 2**61)
@PROGRAMS.on(5, -7, -3)
@PROGRAMS.on(5, -7, 3)
@PROGRAMS.on(5, 5, 2)
def count_with_a_variable_step(lo, hi, step):
    """The trip count overflowed."""
    n = 0
    for _ in range(lo, hi, step):
        n += 1
    return n


@PROGRAMS.on(floats(5))
def minimum_from_infinity(a):
    """float("inf") was refused."""
    m = float("inf")
    for i in range(len(a)):
        m = min(m, a[i])
    return float(m)


def first_above(x):
    for k in range(10):
        if x < k:
            return k
    return -1


@PROGRAMS.on(np.array([0.5, 3.5, 99.0]), np.zeros(3, np.int64))
def early_return_in_a_parallel_loop(a, b):
    """Refused: the returned value was taken to be carried from iteration to iteration."""
    #pragma parallel for
    for i in range(len(a)):
        b[i] = first_above(a[i])


@PROGRAMS.on(np.zeros(3, np.uint64))
def literal_beyond_int64(h):
    """np.uint64 of such a literal was refused, with the advice to use np.uint64."""
    for i in range(len(h)):
        h[i] = np.uint64(0xCBF29CE484222325)


def twice(x):
    return 2.0 * x


@PROGRAMS.on(twice, floats(4))
@PROGRAMS.on(first_above, floats(4))
def function_as_an_argument(f, a):
    """Refused as an argument."""
    for i in range(len(a)):
        a[i] = f(a[i])


@PROGRAMS.on(floats(16))
@PROGRAMS.on(floats(4))
def products_of_a_named_view_with_itself(v):
    """A view that has a name has one set of axes, and its transpose has them too: each factor lost one."""
    a = v.reshape(-1, 2)
    a[0, :] = 5.0
    return a.T @ a, np.add.outer(a, a), np.kron(a, a), (a @ a.T).sum(), np.einsum("ij,kj->ik", a, a)


@PROGRAMS.on(np.array(3.0), floats(4, 5))
@PROGRAMS.on(np.array(3.0), floats(4, 0))
def array_without_axes(s, a):
    """Beside one with two, on a GPU: it was looked for the axis along which it goes fast."""
    return s * a, a + s


@PROGRAMS.on(np.array([1, 9, 5], np.uint8), 300)
@PROGRAMS.on(np.array([1, 9, 5], np.uint8), -1)
@PROGRAMS.on(np.array([1, 9, 5], np.int8), 128)
@PROGRAMS.on(np.array([1, 9, 5], np.uint8), 7)
def stored_under_a_mask(a, k):
    """k was wrapped into the array's type."""
    a[a > 4] = k


@PROGRAMS.on(np.array([1, 9, 5], np.uint8), 300)
@PROGRAMS.on(np.array([1, 9, 5], np.uint8), 7)
def written_out_items(a, k):
    """Those of tuples and lists were."""
    a[1:] = k, 3


@PROGRAMS.on(256)
@PROGRAMS.on(-1)
@PROGRAMS.on(0)
@PROGRAMS.on(7)
def array_of_items(k):
    return np.array([k, 1], np.uint8)


@PROGRAMS.on(254, 3)
@PROGRAMS.on(-1, 3)
@PROGRAMS.on(254, 0)
@PROGRAMS.on(7, 3)
def array_of_a_list(k, n):
    found = []
    for i in range(n):
        found.append(k + i)
    a = np.array(found, np.uint8)
    b = np.array([k + i for i in range(n)], dtype=np.uint8)
    a[:] = found
    return a + b, np.asarray(found)


@PROGRAMS.on(np.array([1, 9, 5], np.uint8), 2**63)
@PROGRAMS.on(np.array([1, 9, 5], np.int64), 2**64 - 1)
@PROGRAMS.on(np.array([1, 9, 5], np.uint64), 2**63)
def clipped_by_a_large_int(a, k):
    """2**63 was 0 in uint8."""
    return np.clip(a, 2, k)


@PROGRAMS.on(np.arange(9.0), np.uint8(4))
@PROGRAMS.on(np.arange(9.0), np.int8(0))
def length_of_a_narrow_type(a, n):
    """A length that is not known was taken to be 1000, which uint8 does not hold."""
    for i in range(n):
        a[i] += 1
    return a[:n].sum()


@PROGRAMS.on(3, 2)
@PROGRAMS.on(3, 5)
def shared_number(k, n):
    """The list that a nested function keeps the number in had a name that is none in Triton's text."""
    count = 0

    def note(i):
        nonlocal count
        if i >= k:
            count += 1

    for i in range(n):
        note(i)
    return count


@PROGRAMS.on(())
@PROGRAMS.on((2, 5))
def smallest_of_a_tuple(t):
    return min(t) + max(t)


@PROGRAMS.on(())
def without_axes(shape):
    """A number was returned."""
    return np.full(shape, 3), np.ones(shape)


@PROGRAMS.on(np.arange(4.0))
@PROGRAMS.on(np.arange(6.0).reshape(2, 3))
def rolled_along_the_second(a):
    """An axis that is not there was counted around."""
    return np.roll(a, 1, axis=1)


@PROGRAMS.on(np.arange(4.0))
@PROGRAMS.on(np.arange(6.0).reshape(2, 3))
def flipped_along_the_second(a):
    return np.flip(a, 1), np.repeat(a, 2, axis=1)


@PROGRAMS.on(np.arange(4.0))
@PROGRAMS.on(np.arange(6.0).reshape(2, 3))
def swapped_with_the_second(a):
    return np.swapaxes(a, 0, 1), np.expand_dims(a, 2)


@PROGRAMS.on(np.arange(4.0), np.arange(4.0))
@PROGRAMS.on(np.arange(0.0), np.arange(4.0))
def mean_of_nothing(a, out):
    """A sum that no iteration has made NumPy's gave nan."""
    s = 0.0
    for i in range(len(a)):
        s += a[i]
        out[i] = s
    return s / len(a)


@PROGRAMS.on(np.array([200, 100], np.uint8), 2)
@PROGRAMS.on(np.array([200, 100], np.uint8), 0)
def remainder_of_nothing(a, n):
    s = 0
    for i in range(n):
        s += a[i] // 4
    return s % n


def _mean(x):
    s = 0
    for v in x:
        s += v
    return s / len(x)


@PROGRAMS.on(np.arange(4.0), np.arange(3.0), np.zeros(1))
@PROGRAMS.on(np.arange(4.0), np.arange(0.0), np.zeros(1))
@PROGRAMS.on(np.arange(0), np.arange(3.0), np.zeros(1))
def means_in_a_helper(a, b, out):
    """Its divisor follows from the arguments, which are tested before the store."""
    out[0] = _mean(a)
    return _mean(b)


@PROGRAMS.on(np.arange(4.0))
@PROGRAMS.on(np.arange(0.0))
@PROGRAMS.on(np.arange(3))
@PROGRAMS.on(np.arange(0))
def variance_by_sums_of_python(a):
    """A sum over nothing is Python's 0, and so is a sum of a generator's: NaN was the result."""
    mean = sum(a) / len(a)
    return sum((x - mean) ** 2 for x in a) / len(a)


@PROGRAMS.on(np.arange(4.0), 2)
@PROGRAMS.on(np.arange(4.0), 0)
@PROGRAMS.on(np.arange(0.0), 0)
def quotient_of_a_sum_of_squares(a, n):
    return sum([x * x for x in a]) / n


@PROGRAMS.on(np.arange(4.0), 1.5)
@PROGRAMS.on(np.arange(4.0), 9.0)
@PROGRAMS.on(np.arange(4), 9.0)
def mean_of_what_is_above(a, limit):
    s, n = 0.0, 0
    for x in a:
        if x > limit:
            s += x
            n += 1
    return s / n


def _quotient(s, n):
    return s // n if n > -5 else 0


@PROGRAMS.on(np.arange(4), 1)
@PROGRAMS.on(np.arange(4), 9)
def quotient_of_what_is_above(a, limit):
    s = n = 0
    for x in a:
        if x > limit:
            s += x
            n += 1
    return _quotient(s, n)


@PROGRAMS.on(np.arange(4.0), np.arange(2.0))
def behind_a_store_it_is_a_quotient_of_numpys(a, out):
    """Nothing leaves the call to Python there: the store would be made twice."""
    s, n = 0.0, 0
    for x in a:
        out[0] += x
        if x > out[1]:
            s += x
            n += 1
    return s / n, s % (n + 1)


@PROGRAMS.on(np.ones((3, 2)), np.zeros(3))
@PROGRAMS.on(np.ones((3, 0)), np.zeros(3))
def means_of_empty_rows(a, out):
    #pragma parallel for
    for i in range(len(out)):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s / a.shape[1]


def _last(xs):
    return xs.pop()


def _appended_to(xs, ys):
    for x in xs:
        if len(ys) < 9:
            ys.append(x + 1)


def _cleared(xs):
    xs.clear()
    return 5


@PROGRAMS.on(3)
def a_list_shrinks_while_a_comprehension_runs_over_it(n):
    """The comprehension had as many items as the list had before."""
    xs, ys, zs = [n, 5, 7], [n, 5, 7], [n, 5, 7]
    return [_last(xs) + x for x in xs], sum(ys.pop() + y for y in ys), max(_last(zs) + 0 * z for z in zs), xs, ys, zs


@PROGRAMS.on(3)
def a_list_of_two_names_grows_while_it_is_run_over(n):
    """The loop ended at the length that the list had before."""
    xs = [n, 5, 7]
    _appended_to(xs, xs)
    return xs


@PROGRAMS.on(3)
@PROGRAMS.on(0)
def a_helper_in_a_comprehension_clears_a_list(n):
    """The list was cleared where the comprehension has no items, too."""
    xs = [1, 2]
    ys = [_cleared(xs) for _ in range(n)]
    return xs, ys


@PROGRAMS.on(3)
@PROGRAMS.on(0)
def a_comprehension_binds_a_variable_of_the_function(n):
    """The assignment was made once, before the comprehension."""
    c, d, e = 1, 1, 2
    doubles = [(c := c * 2) for _ in range(n)]
    total = sum((d := 7) + k for k in range(n))
    more = [(e := k + 3) for k in range(n)]
    return c, d, doubles, total, more, np.arange(3.0) ** e


@PROGRAMS.on(3)
def a_comprehension_over_a_tuple_binds_a_variable(n):
    """Each item was what the variable had in the end."""
    c = 2
    return sum((c := k) for k in (5, 6, n)), [(c := c + k) for k in (1, 2)], c


@PROGRAMS.on(floats(3, 4))
@PROGRAMS.on(floats(2, 1))
def rows_that_are_stored_in_order(a):
    """The rows were copied first. In NumPy the second one is read after the first one was stored."""
    a[0:2] = a[1], a[0]
    return a


@PROGRAMS.on(floats(3, 4))
def rows_that_are_copied_first(a):
    a[0:2] = a[1].copy(), a[0] + 0.0
    return a


@PROGRAMS.on(floats(12), 6)
@PROGRAMS.on(floats(12), -1)
@PROGRAMS.on(floats(12), 5)
def rows_of_a_length_that_is_given(v, n):
    pairs = v.reshape(n, 2)
    total = 0.0
    for i in range(pairs.shape[0]):
        total += pairs[i, 0] - pairs[i, 1]
    return total


@PROGRAMS.on(floats(400), np.arange(400) % 3, np.zeros(3), 400)
@PROGRAMS.on(floats(400), np.arange(400) % 3, np.zeros(3), 399)
def every_second_into_few_elements(w, key, sums, n):
    """On a GPU, lanes with copies of the sums ran as many iterations as there are with a step of 1."""
    # pragma parallel for
    for i in range(0, n, 2):
        sums[key[i]] += w[i]


@PROGRAMS.on(np.arange(2700.0).reshape(300, 9), np.zeros(300), 1500.0)
def a_search_reads_what_an_inner_iteration_before_has_written(a, b, t):
    """The loop inside was run without its stores, to learn whether the iteration ends the search."""
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(1, a.shape[1]):
            s = a[i, j - 1]
            a[i, j] = s * 0.5
        if s > t:
            break
        b[i] = s
    return b


@PROGRAMS.on(floats(300, 8))
def an_element_is_kept_where_a_branch_continues(x):
    """Each iteration was said to write all that it reads: what follows `if` was taken for always reached."""
    n, m = x.shape
    t = np.zeros(m)
    y = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            if j > 2:
                if x[i, j] > 0:
                    y[i, j] = 1
                else:
                    continue
            t[j] = x[i, j]
        for j in range(m):
            y[i, j] += t[j]
    return t, y


@PROGRAMS.on(True)
@PROGRAMS.on(False)
def lengths_of_two_branches(c):
    """The length was that of the last branch, and elements behind the shorter array were written."""
    if c:
        a = np.zeros(3)
    else:
        a = np.zeros(5)
    for i in range(5):
        a[i] = i
    return a


@PROGRAMS.on(0)
@PROGRAMS.on(1)
def a_longer_array_from_a_loop_that_may_not_run(k):
    """As above."""
    a = np.zeros(3)
    for i in range(k):
        a = np.zeros(5)
    for i in range(5):
        a[i] = i
    return a


@PROGRAMS.on(1)
@PROGRAMS.on(2)
def a_shorter_array_in_the_next_iteration(n):
    """As above, with the length that the array had before the loop."""
    a = np.zeros(5)
    for i in range(n):
        for j in range(5):
            a[j] += j
        a = np.zeros(3)
    return a


@PROGRAMS.on(np.arange(400.0), 20, 10, 20)
@PROGRAMS.on(np.arange(400.0), 1, 10, 20)
def the_element_before_in_a_flat_array(a, m, n, l):
    """The 100 was taken for none, as if it were a square, and the loop for independent."""
    for i in range(n):
        for j in range(l):
            a[i * m + j + 100] = a[i * m + j + 99] * 0.5 + i
    return a


@PROGRAMS.on(np.arange(40.0) + 1, 5)
@PROGRAMS.on(np.arange(40.0) + 1, 25)
def elements_from_both_ends(t, n):
    """The loop was parallel where the dependences are absent whose conditions did not take too long to compute."""
    for i in range(n - 1, -1, -2):
        if i > 1:
            t[i] += t[i]
        t[n - 1 - i] = t[i] * 0.5 + t[i]
    return t


@PROGRAMS.on(np.arange(2700.0).reshape(300, 9), np.zeros(300), 1500.0)
@PROGRAMS.on(np.arange(2700.0).reshape(300, 9), np.zeros(300), 500.0)
def a_search_whose_inner_loop_may_raise(a, b, t):
    """Which iteration ends the search is told without the loop inside, which raises before it or never."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] == 700.0:
                raise ValueError("found")
        if a[i, 0] > t:
            break
        b[i] = a[i, 0]
    return b


# ---------------------------------------------------------------- iterators over arrays that stay in Python


@PROGRAMS.on(ints(4, 5), floats(3))
@PROGRAMS.on(ints(4, 5), ints(3))
def of_another_kind(a, b):
    for x in np.nditer(a, op_flags=["readwrite"]):
        x += b[0]
    b[1, ...] += 1.5


@PROGRAMS.on(floats(4))
def assigned_and_kept(a):
    total, items = 0.0, []
    for x in np.nditer(a):
        x = x + 1
        total += x
    for x in np.nditer(a):
        items.append(x)
    it = np.nditer(a)
    a = a + 1
    for x in it:
        total += x
    for x in it:
        total += x
    return total, items


@PROGRAMS.on(floats(4), floats(4, seed=1))
@PROGRAMS.on(floats(4)[::-1], floats(4, seed=1))
def dots(a, b):
    total = 0.0
    for x, y in np.nditer([a, b]):
        total = 0.5 * total + x * y
    for x in np.nditer(a):
        total = 0.5 * total + x
    return total


@PROGRAMS.on(ints(4), np.zeros(4, np.uint64))
@PROGRAMS.on(ints(4, lo=0, dtype=np.uint64), np.zeros(4, np.int64))
def results_with_a_sign(a, out):
    """An array without a sign took them, and wrapped what was negative."""
    np.add(a, a, out=out)
    for k in range(1, len(out)):
        out[k] += out[k - 1]
    return out


@PROGRAMS.on(ints(4, dtype=np.int32), np.zeros(4, np.uint32))
def copies_with_a_sign(a, out):
    """As above."""
    np.copyto(out, a)
    for k in range(1, len(out)):
        out[k] += out[k - 1]
    return out


@PROGRAMS.on(ints(4), np.zeros(4, np.uint8))
@PROGRAMS.on(ints(4, dtype=np.int32), np.zeros(4, np.uint32))
def changes_with_a_sign(a, out):
    """As above."""
    out[1:] -= a[1:]
    for k in range(1, len(out)):
        out[k] += out[k - 1]
    return out


@PROGRAMS.on(np.array([True, False]), 5)
def hash_beside_a_truth(flags, n):
    """An int of 64 bits beside a bool of NumPy's was made a complex number."""
    h = 14695981039346656037
    for k in range(n):
        h = ((h ^ k) * 1099511628211) % 2**64
    return flags[0] + h % 2**63, flags * (h % 1000)


@PROGRAMS.on(np.array([True, False]), 3)
@PROGRAMS.on(np.array([True, False]), 0)
def too_large_beside_a_truth(flags, n):
    """As above; NumPy adds in 64 bits with a sign, and raises."""
    h, out = 1, 0
    for k in range(n):
        h = (h << 63 | k) % 2**64
        out += k
    return flags + h, out
