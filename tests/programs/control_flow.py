"""while, break, continue, else, early return, short circuit, chained comparison, ternaries, tuples."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs()


@PROGRAMS.on(48, 36)
@PROGRAMS.on(17, 0)
@PROGRAMS.on(0, 0)
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@PROGRAMS.on(27)
@PROGRAMS.on(1)
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@PROGRAMS.on(np.zeros(9, np.int64))
def collatz_in_parallel(out):
    #pragma parallel for
    for i in range(len(out)):
        n = i + 1
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        out[i] = steps


@PROGRAMS.on(np.zeros((4, 5), np.int32), 20)
def mandelbrot(out, limit):
    h, w = out.shape
    #pragma parallel for collapse(2)
    for y in range(h):
        for x in range(w):
            cr = -2.0 + 3.0 * x / w
            ci = -1.0 + 2.0 * y / h
            zr = zi = 0.0
            n = 0
            while n < limit and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
                n += 1
            out[y, x] = n


@PROGRAMS.on(1000)
def newton_sqrt(n):
    x = 1.0
    while True:
        y = 0.5 * (x + n / x)
        if abs(y - x) < 1e-9:
            break
        x = y
    return y


@PROGRAMS.on(30)
@PROGRAMS.on(2)
@PROGRAMS.on(0)
def count_primes(n):
    count = 0
    for i in range(2, n):
        for j in range(2, i):
            if j * j > i:
                count += 1
                break
            if i % j == 0:
                break
        else:
            count += 1
    return count


@PROGRAMS.on(ints(10))
def skips(a):
    s = 0
    for i in range(len(a)):
        if a[i] < 0:
            continue
        if a[i] > 7:
            break
        s += a[i]
    else:
        s = -s
    return s


@PROGRAMS.on(floats(8), np.zeros(8))
def continue_in_parallel(a, b):
    #pragma parallel for
    for i in range(8):
        if a[i] < 0:
            continue
        b[i] = a[i]
        if a[i] > 1:
            continue
        b[i] += 10


@PROGRAMS.on(5)
@PROGRAMS.on(0)
def while_else(n):
    k = 0
    while k < n:
        k += 2
        if k == 4:
            break
    else:
        k = -1
    return k


@PROGRAMS.on(ints(5, 5), 3)
@PROGRAMS.on(ints(5, 5), 100)
def find_in_matrix(a, x):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] == x:
                return i, j
    return -1, -1


@PROGRAMS.on(3)
@PROGRAMS.on(-3)
@PROGRAMS.on(0)
def early_return(n):
    if n > 0:
        return 1
    elif n < 0:
        return -1
    return 0


@PROGRAMS.on(floats(6), 1.0)
@PROGRAMS.on(floats(6), 99.0)
def return_from_while(a, limit):
    i = 0
    while i < 6:
        if a[i] > limit:
            return i
        i += 1
    return -1


@PROGRAMS.on(floats(6))
def returns_none(a):
    for i in range(6):
        if a[i] > 1:
            return
        a[i] = 0


@PROGRAMS.on(5, 3)
@PROGRAMS.on(3, 5)
def nested_tuples(a, b):
    pair = (a, (b, a + b))
    x, (y, z) = pair
    return pair[1][0], (x * 2, y / z), z


@PROGRAMS.on(3, 1, 2)
def tuple_swap(a, b, c):
    a, b, c = c, a, b
    (a, b), c = (b, a), c + 1
    return a, b, c


@PROGRAMS.on(10)
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@PROGRAMS.on(1, 2, 3)
@PROGRAMS.on(1.5, 1.5, 0)
@PROGRAMS.on(3, 2, 1)
def chained_comparison(a, b, c):
    n = 0
    if a < b < c:
        n += 1
    if a <= b >= c:
        n += 10
    if a == b != c:
        n += 100
    return n, a < b < c, 0 < a < 2


@PROGRAMS.on(floats(5), 5)
@PROGRAMS.on(floats(5), 2)
@PROGRAMS.on(floats(5), 7)
def short_circuit(a, k):
    if k < 5 and a[k] > 0:
        return 1
    if k >= 5 or a[k] < -1:
        return 2
    return 3


@PROGRAMS.on(3, 0)
@PROGRAMS.on(0, 5)
@PROGRAMS.on(0, 0)
@PROGRAMS.on(2, 7)
def and_or_values(a, b):
    return a and b, a or b, not a, (a or b) and 3


@PROGRAMS.on(2, 3.5)
@PROGRAMS.on(-2, 3.5)
def ternary(a, b):
    x = a if a > 0 else -a
    y = 1 if b > 10 else 2 if b > 3 else 3
    return x, y


@PROGRAMS.on(0)
@PROGRAMS.on(1)
@PROGRAMS.on(7)
def unbound_in_branch(n):
    if n > 0:
        x = n * 2
    if n > 5:
        x += 1
    return x


@PROGRAMS.on(3)
@PROGRAMS.on(0)
def unbound_in_loop(n):
    for i in range(n):
        if i > 0:
            y = t + i
        t = i * 1.5
    return y


@PROGRAMS.on(4)
def unbound_after_delete_in_branch(n):
    for i in range(n):
        x = i
    return x, i


@PROGRAMS.on(ints(6))
def while_with_continue(a):
    i = 0
    s = 0
    while i < 6:
        i += 1
        if a[i - 1] < 0:
            continue
        s += a[i - 1]
    return s, i


@PROGRAMS.on(5)
def nested_breaks(n):
    out = 0
    for i in range(n):
        j = 0
        while True:
            j += 1
            if j > i:
                break
            for k in range(10):
                if k == j:
                    break
                out += 1
            else:
                out += 1000
    return out


@PROGRAMS.on(5)
@PROGRAMS.on(-5)
def asserts(n):
    assert n > 0, "n must be positive"
    return n


@PROGRAMS.on(5)
@PROGRAMS.on(-5)
def raises(n):
    if n < 0:
        raise ValueError("negative")
    return n


@PROGRAMS.on(ints(8, lo=0), 3)
@PROGRAMS.on(ints(8, lo=0), 11)
def binary_search(a, x):
    lo, hi = 0, len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo


@PROGRAMS.on(2.0, 10)
@PROGRAMS.on(3, 13)
def power_by_squaring(x, n):
    result = 1
    while n > 0:
        if n & 1:
            result *= x
        x *= x
        n >>= 1
    return result


@PROGRAMS.on(True)
@PROGRAMS.on(False, joined=True)
def boolean_argument(flag):
    x = 3 if flag else 4
    return x, flag, not flag, flag + 1, flag and x


@PROGRAMS.on(3)
def constant_conditions(n):
    if False:
        n = "never"
    if True:
        n += 1
    while False:
        n += 100
    return n if 1 else 0


@PROGRAMS.on(3)
@PROGRAMS.on(1)
@PROGRAMS.on(0)
def one_name_for_two_loops(n):
    s = 0
    t = -1
    for t in range(n):
        for t in range(n - 1):
            s += t
        s += 10 * t
    return s, t


@PROGRAMS.on(7)
@PROGRAMS.on(2)
def left_by_return_alone(n):
    """The breaks are those of the loops inside."""
    k = 0
    while True:
        k += 1
        for i in range(n):
            if i == 3:
                break
        while True:
            break
        if k > n:
            return k, i


@PROGRAMS.on(np.array([1.0, 3.0, 1.0]))
@PROGRAMS.on(np.array([1.0, -9.0, 1.0]))
@PROGRAMS.on(np.array([1.0, 0.0, 1.0]))
def returned_before_the_else_clause(x):
    for i in range(3):
        if x[i] > 2:
            return i
        if x[i] < -5:
            break
    else:
        x[0] = 5
    return 7


@PROGRAMS.on(np.array([1.0, 3.0, 1.0]))
@PROGRAMS.on(np.array([1.0, 0.0, 1.0]))
def returned_before_two_else_clauses(x):
    for i in range(2):
        k = 0
        while k < 3:
            if x[k] > 2:
                return i
            k += 1
        else:  # noqa: PLW0120
            x[0] = 2
    else:  # noqa: PLW0120
        x[1] = 9
    x[2] = 7
    return 7


@PROGRAMS.on(1.5, 1e-10)
@PROGRAMS.on(1.5, 0.0)
def root_or_an_error(x, tolerance):
    """Nothing comes behind the else clause."""
    for step in range(8):
        fx = x**3 - 2 * x - 5
        if abs(fx) < tolerance:
            return x, step
        x -= fx / (3 * x**2 - 2)
    else:  # noqa: PLW0120
        raise RuntimeError("no convergence")


@PROGRAMS.on(floats(6))
@PROGRAMS.on(np.array([3, 1, 4, 1, 5]))
@PROGRAMS.on(floats(0))  # raises UnboundLocalError
def tuples_of_earlier_iterations(x):
    is_first, total = True, 0.0
    for i, v in enumerate(x):
        one = (v, -i)
        if is_first:
            best = one
            is_first = False
        elif one > best:
            best = one
        for j in range(2):
            if i > 0:
                total += j * last[0]
        last = (v * v, i)
    return best, last, total


@PROGRAMS.on(3, 2.0)
@PROGRAMS.on(3, -2.0)
def one_of_two_pairs_of_pairs(n, x):
    near, (far, steps) = ((n, x), ((n + 1, 0.5), 2)) if x < 0 else ((n - 1, 2 * x), ((n, x), 1))
    return near[0] * 10 + far[1] * steps, near[1]


def sum_of_steps(x, n):
    total = 0.0
    for k in range(n):
        total += x * k
    return total


@PROGRAMS.on(3, 2.0)
@PROGRAMS.on(3, -2.0)
def one_of_two_pairs_with_loops(n, x):
    a, (b, c) = (sum_of_steps(x, n), (1.0, n)) if x < 0 else (x, (sum_of_steps(x, 2 * n), 1))
    return a - b * c


@PROGRAMS.on(np.arange(5), 3)
@PROGRAMS.on(np.zeros(2, dtype=np.int64), 3)
def else_reads_a_name_of_its_own(a, k):
    """The verifier refused it: a name that only `else` assigns was taken for one of the loop's."""
    for _ in range(1, k):
        k %= 1
        if k > 7:
            break
    else:
        if a[1] > 0:
            if True:
                i = k % 97
            else:
                if a[1] > 3:
                    return 0
                j = i
            k += i % 97 + 1
    return k
