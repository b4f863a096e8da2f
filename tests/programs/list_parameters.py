"""Lists of numbers that functions get from functions that are compiled with them, and change in place; nothing is left
to Python."""

from functools import partial

from tests.programs.registry import Programs

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))


def _fill(found, n):
    for k in range(n):
        found.append(k * k)


def _fill_twice(found, n):
    _fill(found, n)
    _fill(found, 2)


def _halves(found, n):
    for k in range(n):
        found.append(k * 0.5)


def _swap(xs, i, j):
    xs[i], xs[j] = xs[j], xs[i]


def _emptied(stack):
    total = 0
    while stack:
        total += stack.pop()
    return total


@_on(5)
@_on(0)
def a_helper_fills_a_list(n):
    found = []
    _fill(found, n)
    return found


@_on(3)
def a_helper_gives_its_list_to_another(n):
    found = [7]
    _fill_twice(found, n)
    found.append(3)
    return found


@_on(4)
def a_helper_says_what_the_items_are(n):
    halves = []
    _halves(halves, n)
    return halves, sum(halves)


@_on(7)
@_on(1)
def a_helper_exchanges_items(n):
    xs = [3 * k for k in range(n)]
    for i in range(n // 2):
        _swap(xs, i, n - 1 - i)
    return xs


@_on(9)
def a_helper_empties_a_list_again_and_again(n):
    stack, totals = [], []
    for k in range(n):
        stack.append(k)
        if k % 3 == 0:
            totals.append(_emptied(stack))
    return stack, totals


def _added(a, b):
    a.append(1)
    b.append(2)
    a[0] += b[-1]


@_on(4)
def one_list_for_two_parameters(n):
    xs, ys = [n], [n]
    _added(xs, xs)
    _added(xs, ys)
    return xs, ys


@_on(5)
def a_nested_function_has_a_parameter_of_the_same_name(n):
    xs = [3, 1, 4, 1, 5]

    def raised(k, xs):
        xs[k % 5] += k
        return len(xs)

    total = 0
    for k in range(n):
        total += raised(k, xs)
    return total, xs


def _queens(n, row, columns, found):
    if row == n:
        found[0] += 1
        return
    for column in range(n):
        for before in range(row):
            if columns[before] == column or abs(columns[before] - column) == row - before:
                break
        else:
            columns[row] = column
            _queens(n, row + 1, columns, found)


@_on(6)
@_on(1)
def a_recursive_function_stores_into_lists(n):
    columns, found = [0] * n, [0]
    _queens(n, 0, columns, found)
    return found[0], columns


def _sort(xs, low, high):
    if low >= high:
        return
    pivot, i, j = xs[(low + high) // 2], low, high
    while i <= j:
        while xs[i] < pivot:
            i += 1
        while xs[j] > pivot:
            j -= 1
        if i <= j:
            xs[i], xs[j] = xs[j], xs[i]
            i += 1
            j -= 1
    _sort(xs, low, j)
    _sort(xs, i, high)


@_on(20)
@_on(0)
def a_recursive_function_sorts_a_list(n):
    xs = [(7 * k) % 31 for k in range(n)]
    _sort(xs, 0, n - 1)
    return xs


def _exchanged(a, b, k):
    if k == 0:
        return 0
    a[0] += 1
    b[1] += a[0]
    return _exchanged(b, a, k - 1)


@_on(4)
def a_recursive_function_exchanges_its_lists(n):
    a, b = [1, 2], [3, 4]
    _exchanged(a, b, n)
    return a, b


@_on(3)
@_on(0)
def a_list_grows_while_its_first_length_is_run_over(n):
    xs = [1, 2]
    for k in range(len(xs)):
        if k < n:
            xs.append(xs[k] + n)
    return xs


@_on(4)
def an_item_of_a_list_that_is_always_empty_is_an_index(n):
    xs, empty = [n, 3], []
    xs.insert((empty[0] if len(empty) > 0 else 2) % 3, len(empty))
    return xs, empty


def _put_first(xs, a):
    b = a
    xs.insert(0, a)
    if len(xs) > 1:
        b = xs.pop()
    xs[-1] = b


@_on(4)
@_on(0)
def a_number_that_is_copied_twice(n):
    xs = [n, 3, -1]
    _put_first(xs, (xs[0] if len(xs) > 0 else 4))
    return xs


def _doubled(xs):
    return [2 * x for x in xs]


@_on(4)
def a_list_grows_by_what_a_helper_makes_of_it(n):
    xs = [n, 3, -1]
    for x in _doubled(xs):
        xs.append(x)
    for k, x in enumerate(_doubled(xs)):
        if k % 2:
            xs.append(x)
    return xs


@_on(4)
def a_list_is_reversed_while_it_is_run_over(n):
    xs, seen = [3, 2, n], []
    for x in xs:
        seen.append(x)
        xs.reverse()
    return xs, seen


def _dot(xs, ys, k):
    s = 0
    for x, y in zip(xs, ys):
        s += x * y * k
    return s


@_on(4)
@_on(0)
def lists_without_names_are_given(n):
    def longest(xs, i):
        return i if i == len(xs) else longest(xs, i + 1)

    k = n + 1
    total = _dot([1] * n, [i * i for i in range(n)], k) + _dot([n, 2], [k, 3], -1)
    if _emptied([n, k, 2]) > longest([0] * n, 0):
        total += _emptied(sorted(_doubled([n, 5])))
    return total, _emptied([]), longest([n, 1], 0)
