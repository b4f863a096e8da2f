"""Python's ints beside NumPy's integers of all widths, where paths and operands join: each keeps what it is."""

import numpy as np

from tests.programs.registry import Programs, ints

PROGRAMS = Programs()

TYPES = (np.uint8, np.int8, np.uint16, np.int32, np.uint64, np.int64)


def _on(*values, types=TYPES):
    """Calls with each of the values, for arrays of each of the types."""

    def add(fn):
        for dtype in types:
            for k in values:
                a = np.array([0, 2, 100, 7, 3, 4], dtype)
                PROGRAMS.on(a, k, np.zeros(6, dtype), joined=True)(fn)
        return fn

    return add


@_on(3, -1, 300)
def extremes(a, k, out):
    for i in range(6):
        out[i] = max(a[i], k) if i < 3 else min(k, a[i])


@_on(3, 300)
def chosen(a, k, out):
    for i in range(6):
        out[i] = a[i] if i > 2 else k
    out[0] = a[0] or k


@_on(5, -7)
def signs(a, k, out):
    for i in range(6):
        out[i] = -(k if i < 2 else a[i]) // 2 + abs(a[i] if i < 3 else k)


@_on(1, 9)
def signs_of_literals(a, k, out):
    least = a[1] if k > 5 else -128
    return -max(a[1], 4), ~(a[1] if k > 5 else 4), abs(-min(a[2], 7)), -least, abs(least), -a[1] // 2


@_on(1, 9)
def functions_of_arrays(a, k, out):
    least = min(a[2], 7)
    root = np.sqrt(a + least)[1]
    return np.sqrt(least), np.add(least, 1) - 20, np.where(k > 5, least, 1) - 10, np.hypot(least, 1), root


@_on(1, 0)
def left_behind(a, k, out):
    s = 1
    for i in range(3):
        s = s - i
    if k:
        s = a[2]
    return s, s + 1


@_on(7, -3, 70000)
def from_a_branch(a, k, out):
    s = 1
    if a[2] > 100:
        s = a[2]
    out[0] = s % k
    return s % k


@_on(3)
def total(a, k, out):
    s = 0
    for i in range(6):
        s += a[i]
    return s * 100 - 1


@PROGRAMS.on(np.zeros(0, np.uint8))
@PROGRAMS.on(np.full(3, 200, np.uint8))
def total_of_none(a):
    s = 0
    for i in range(len(a)):
        s += a[i]
    return s - 1


@_on(5, -1)
def running_extreme(a, k, out):
    m = k
    for i in range(6):
        if a[i] > m:
            m = a[i]
    return int(m)


@_on(0)
def in_each_iteration(a, k, out):
    for i in range(6):
        m = 0
        if a[i] > 3:
            m = a[i]
        out[i] = m + 1


def _helper(x, k):
    if x > 3:
        return x
    return k


@_on(2, 300)
def from_a_helper(a, k, out):
    for i in range(6):
        out[i] = _helper(a[i], k) & 7
        out[i] = _helper(a[i], 1) + a[i]


@_on(90)
def widening_in_a_while(a, k, out):
    x = a[1]
    n = 0
    while x < k and n < 5:
        x = x + k if n == 2 else x + 1
        n += 1
    return int(x)


@_on(3, 9)
def in_tuples(a, k, out):
    t = (a[0], k)
    if k > 5:
        t = (k, a[1])
    return int(t[0] + 1), int(t[1] * 2)


@_on(3, 9)
def of_two_widths(a, k, out):
    x = a[2]
    if k > 5:
        x = a.astype(np.int16)[2]
    return int(x * x)


@_on(3, 127, 128, 300, -1)
def operands(a, k, out):
    for i in range(6):
        out[i] = a[i] + k
        out[i] += k
        out[i] = (k - a[i]) & a[i]


@_on(3, 300, -1)
def stored(a, k, out):
    for i in range(6):
        out[i] = k * i


@_on(3, 300, -1)
def whole_arrays(a, k, out):
    out[:] = a * 2 + k
    out[1:] = k
    out[:3] = np.maximum(a[:3], k)


@_on(3, 300, -1)
def cut_to_bounds(a, k, out):
    out[:] = np.clip(a, 1, 300) + np.clip(a, -1, 70)
    out[:2] = np.where(a[:2] > 1, a[:2], k)
    out[2:] = np.clip(a[2:], 0, k)


@_on(3, 300, -1)
def compared(a, k, out):
    n = 0
    for i in range(6):
        n += (a[i] < k) + 10 * (k != a[i]) + 100 * (a[i] >= k)
    return n


@PROGRAMS.on(np.zeros(5, np.int8), 5)
@PROGRAMS.on(np.zeros(140, np.int8), 140)
@PROGRAMS.on(np.zeros(300, np.uint8), 300)
def with_the_loops_variable(a, n):
    for i in range(n):
        a[i] = a[0] + i


@PROGRAMS.on(3, np.uint8(9))
@PROGRAMS.on(300, np.uint8(9))
def default(k, x, y=1000):
    return int(max(x, k)), x + k, min(y, x) == 9


def _beyond(a, k):
    return max(a[k], len(a)) - k


@_on(0, 3)
def parted_in_a_helper(a, k, out):
    for i in range(6):
        out[i] = i
    return _beyond(a, k)


@_on(1)
def constant_floats_are_stored(a, k, out):
    for i in range(6):
        out[i] = 2.75
    if k:
        out[k] = -1.5
    out[2:] = -0.5


@_on(0, 1, 2)
def constant_floats_that_no_integer_holds(a, k, out):
    out[5] = 1
    if k == 0:
        out[0] = np.nan
    elif k == 1:
        out[1:] = -np.inf
    else:
        out[2] = 1e30


def _of_two(one, two):
    """Calls with elements of two types, some of them negative or as large where the type has no such."""
    values = np.array([-3, 2, 100])
    for flag in (True, False):
        args = values.astype(one), values.astype(two), np.array([2, 5, 3]), flag, np.zeros((8, 3))
        yield PROGRAMS.on(*args, joined=True)


def elements_of_two_types(a, c, m, flag, out):
    for i in range(3):
        s = c[i] if flag else a[i]
        out[0, i] = s - m[i]
        out[1, i] = s / 2
        out[2, i] = s * 0.5
        out[3, i] = np.minimum(s, m[i])
        out[4, i] = s / m[i]
        out[5, i] = s < m[i]
        out[6, i] = (s if flag else -3) / 2
        out[7, i] = s // np.float64(m[i])


for _pair in ((np.int32, np.uint16), (np.uint8, np.int16), (np.int8, np.uint8), (np.uint32, np.int64)):
    for _run in _of_two(*_pair):
        _run(elements_of_two_types)


@PROGRAMS.on(True, 0)
@PROGRAMS.on(False, 0)
@PROGRAMS.on(True, 3)
def equal_constants(c, k):
    """They are Python's still, and a division by zero raises."""
    x = 5
    if c:
        x = 5
    return max(5, 5) // k, x % k, min(7, 7) % k


@PROGRAMS.on(True)
def equal_constants_of_which_nothing_is_used(c):
    i = max(5, 5) // 0
    return c


@PROGRAMS.on(np.array([1, 5], np.uint64), np.array([-3, 7]))
@PROGRAMS.on(np.array([1, 5], np.uint64), np.array([1, 0]))
def a_comparison_with_an_unsigned_element_that_is_not_there(a, b):
    """A negative operand decided the comparison before the other one was evaluated, which raises IndexError."""
    count = 0
    for x in b:
        if x == a[b[1]]:
            count += 1
        if a[b[1]] > -1:
            count += 1
        if x >= a[b[1]]:
            count += 1
    return count


@PROGRAMS.on(ints(4), 1)  # raises ZeroDivisionError: both are Python's in the first iteration
@PROGRAMS.on(ints(4), 0)
def divided_in_a_loop(a, n):
    left = 0
    for i in range(n):
        left = (a[i] if i else n) % i
    return left


@PROGRAMS.on(0)  # raises ZeroDivisionError
@PROGRAMS.on(-4)
def remainder_of_nothing(n):
    return 0 % n + 5


def _raising(*args):
    return PROGRAMS.on(*args, joined=True)


@_raising(ints(4, dtype=np.int32), 1)
@_raising(ints(4, dtype=np.int32), 0)
@_raising(ints(4, dtype=np.uint8), 9)
def in_texts(a, k):
    x = k
    for v in a:
        if v == x:
            raise ValueError(f"{x} is {x:3d} of {len(a)}")
        x = v if k else 7
    return x


@_raising(np.array([3, 1, 3, 0], np.int32), 4)
@_raising(np.array([3, 1, 3, 0], np.int32), 5)
@_raising(np.array([3, 1, 3, 0], np.uint8), 4)
def as_keys(a, n):
    numbers = {0: 0}
    for k in range(n):
        x = a[k] if k else 0
        if x not in numbers:
            numbers[x] = len(numbers)
        a[k] = numbers[x]
    return numbers[a[-1] if n else 0], numbers[0]


@_on(0, 9, types=(np.uint8, np.int32, np.float32))
def updated_items_of_lists(a, k, out):
    """Items that were Python's, and that operations with narrower numbers of NumPy's make such."""
    seen = [0] * 3
    sums = [0.0] * 3
    for i in range(6):
        seen[i % 3] += a[i]
        sums[i % 2] += a[i]
    if k:
        seen[0] += 300  # more than a uint8 holds
    return seen, sums


@_on(3, 2**63 - 1, types=(np.int64,))
def beyond_the_limit(a, k, out):
    """The int that is Python's grows beyond 64 bits, which NumPy's does not."""
    s = k
    for i in range(6):
        if a[i] > s:
            s = a[i]
    return s + 1, s * 3 - s


@_on(3, -(2**63), types=(np.int64,))
def beyond_the_least(a, k, out):
    p, q = k, a[0]
    for _ in range(5):
        p, q = q, p
    return p - 1, q - 1, -(p if out[0] else q), -(k if len(a) else a[1])


@_on(3, 2**63 + 5, types=(np.int64,))
def modulus_beyond(a, k, out):
    s = 1
    if len(a) < 3:
        s = a[0]
    return int(s) % k


@_on(31, types=(np.int64,))
def wrapping_hash(a, k, out):
    """It begins with an int that is small, and goes on with NumPy's, which wrap."""
    h = 7
    for i in range(6):
        h = h * 31 + a[i] * 2**60
    return h


@PROGRAMS.on(2**53 + 1, True)
@PROGRAMS.on(-(2**53) - 1, True)
@PROGRAMS.on(2**53 + 1, False)
@PROGRAMS.on(7, True, joined=True)
def large_ints_that_meet_floats(k, is_int):
    x = k if is_int else 2.5
    if is_int:
        y = k
    else:
        y = 0.5
    z = k
    for i in range(3):
        if not is_int:
            z = z + 0.5
    return x, y, z, max(k, 2.0), min((k, 1e300)), k or 0.5


@_on(2, 0, types=(np.uint64, np.int64))
def sums_of_nothing(a, k, out):
    """The sum over no items is Python's 0, from which numbers of NumPy's cannot be taken."""
    nothing = a[6:]
    return (
        (sum(nothing) - k) % 97,
        (sum(e for e in nothing) - k) % 97,
        (sum([e + e for e in nothing]) - k) % 97,
        sum(a[:3]) + k,
        sum(e for e in a) % 97,
    )
