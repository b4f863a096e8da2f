"""Lists that are sums of others; nothing is left to Python."""

from tests.programs.registry import Programs

PROGRAMS = Programs(strict=True)


def _counted(n):
    out = []
    for i in range(n):
        out.append(i * i)
    return out


@PROGRAMS.on(3)
@PROGRAMS.on(0)
def of_names(n):
    a, b = _counted(n), _counted(2)
    c = a + b
    return c, len(c + a), c + [n] + b


@PROGRAMS.on(3)
@PROGRAMS.on(0)
def with_written_lists(n):
    return [n, 1] + _counted(n), _counted(n) + [], [7] + _counted(1) + [n + 1, 2]


@PROGRAMS.on(4)
def run_over(n):
    total = 0
    for k, x in enumerate(_counted(n) + [5] + _counted(2)):
        total += k * x
    return total, sum(_counted(n) + _counted(3)), max([1] + _counted(n))


@PROGRAMS.on([1, 2, 3, 4])
@PROGRAMS.on([1])
def of_an_argument(xs):
    return xs + xs[1:], xs[::-1] + [9]


@PROGRAMS.on(3)
def of_tuples(n):
    a = [(i, i * 0.5) for i in range(n)]
    b = [(n, 1.5)]
    return a + b


@PROGRAMS.on(3)
def of_ints_and_floats(n):
    a = [i * 0.5 for i in range(n)]
    return a + [2.0 * n]


@PROGRAMS.on([3, 1, 2, 5, 4, 1])
@PROGRAMS.on([2.5, -1.0])
@PROGRAMS.on([7])
def quicksort(xs):
    if len(xs) <= 1:
        return xs[:]
    p = xs[0]
    less = [x for x in xs[1:] if x < p]
    more = [x for x in xs[1:] if x >= p]
    return quicksort(less) + [p] + quicksort(more)


@PROGRAMS.on(9)
@PROGRAMS.on(0)
def sum_of_sorted(n):
    xs = [(i * 7) % 11 for i in range(n)]
    total = 0
    for k, x in enumerate(quicksort(xs)):
        total += k * x
    return total


@PROGRAMS.on(4, 1)
@PROGRAMS.on(4, 0)
@PROGRAMS.on(0, 2)
def another_list_on_each_path(n, way):
    if way == 0:
        return _counted(n)
    if way == 1:
        return _counted(n) + [way]
    out = [way] * n
    out.append(n)
    return out


@PROGRAMS.on(5)
@PROGRAMS.on(0)
def subsets(n):
    """In the order of a recursion that extends a list of numbers."""
    return _subsets(n)


def _subsets(n):
    if n == 0:
        return [0]
    rest = _subsets(n - 1)
    return rest + [x + 2 ** (n - 1) for x in rest]
