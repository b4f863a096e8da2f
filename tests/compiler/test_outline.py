"""Functions of which a part runs in Python."""

from __future__ import annotations

import numpy as np
import pytest

import appyc


def same(fn, *args):
    """Runs the function compiled and in Python on equal arguments; returns the jitted function."""
    jitted = appyc.jit(fn)
    copies = [[a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2)]
    assert jitted(*copies[0]) == fn(*copies[1])
    for one, other in zip(*copies, strict=True):
        np.testing.assert_array_equal(one, other)
    return jitted


def test_loops_beside_an_uncompilable_statement_are_compiled():
    def f(a):
        total = 0.0
        for i in range(a.shape[0]):
            total += a[i]
        text = f"{total:.1f}"
        for i in range(a.shape[0]):
            a[i] = total
        return text

    report = same(f, np.arange(4.0)).explain()
    assert [r.mode for r in report.loops] == ["parallel", "parallel"]
    assert len(report.python_parts) == 1
    assert "f-string" in report.python_parts[0][1]


def test_a_loop_around_an_uncompilable_statement_runs_in_python_and_its_loops_are_compiled():
    def f(a, steps):
        log = set()
        for t in range(steps):
            for i in range(a.shape[0]):
                a[i] = a[i] * 2 + t
            log.add(f"{t:2}")
        return log

    report = same(f, np.arange(5.0), 3).explain()
    assert [r.index for r in report.loops] == ["i"]
    assert "f-string" in str(report)


def test_variables_go_into_regions_and_come_back():
    def f(a, n):
        s = 1
        k = 0
        for i in range(n):
            s = s + a[i]
            k = i
        values = [s, k]
        for i in range(n):
            s = s * 2
            a[i] = s - k
        return values, s

    same(f, np.arange(6), 5)


def iterated(a, limit, most):
    text = f"{len(a):3} elements"
    assert text
    for step in range(most):  # noqa: B007
        change = 0.0
        for i in range(1, len(a)):
            change = max(change, a[i] - a[i - 1])
            a[i] = a[i - 1]
        if change < limit:
            break
    return a[-1] * 2.0, step


def test_what_is_read_behind_a_loop_that_may_assign_it_stays_in_python():
    report = same(iterated, np.arange(6.0), 0.5, 9).explain()
    assert [r.index for r in report.loops] == ["step", "i"]
    with pytest.raises(UnboundLocalError):
        appyc.jit(iterated)(np.arange(6.0), 0.5, 0)


def test_a_branch_at_fault_keeps_its_loops_compiled():
    def f(a, flag):
        if flag:
            for i in range(a.shape[0]):
                a[i] += 1.0
            names = {"x": 1}
        else:
            names = {}
            for i in range(a.shape[0]):
                a[i] -= 1.0
        return names

    same(f, np.arange(3.0), True)
    same(f, np.arange(3.0), False)


def test_statements_that_leave_the_function_stay_in_python():
    def f(a):
        for i in range(a.shape[0]):
            if a[i] > 2.0:
                return [i]
        return []

    same(f, np.arange(5.0))


def test_closures_and_globals_are_seen_by_both_parts():
    scale = 3.0

    def f(a):
        for i in range(a.shape[0]):
            a[i] = a[i] * scale
        return [scale, np.float64(a.sum())]

    same(f, np.arange(4.0))


def test_pragmas_hold_in_regions():
    def f(a):
        items = [1]
        # pragma parallel for
        for i in range(a.shape[0] - 1):
            a[i + 1] = a[i] * a[i]
        return items

    with pytest.raises(appyc.DependenceError):
        appyc.jit(f)(np.arange(9.0))


def test_strict_makes_a_python_part_an_error():
    def f(a):
        for i in range(a.shape[0]):
            a[i] = 0.0
        return {1}

    with pytest.raises(appyc.UnsupportedError):
        appyc.jit(strict=True)(f)(np.ones(3))


def test_an_uncompilable_statement_in_an_annotated_loop_is_an_error():
    def f(a):
        # pragma parallel for
        for i in range(a.shape[0]):
            a[i] = [1, 2].index(2)

    with pytest.raises(appyc.UnsupportedError, match="a list"):
        appyc.jit(f)(np.ones(3))


def test_a_function_with_nothing_to_compile_runs_in_python():
    def f(x):
        return {x}

    jitted = appyc.jit(f)
    assert jitted(3) == {3}
    assert "runs in Python" in str(jitted.explain())


def test_an_exception_in_a_region_tells_the_line_of_the_file():
    def f(a):
        items = [1]
        for i in range(5):
            a[i] = 1.0
        return items

    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 of 'a' with size 3"):
        appyc.jit(f)(np.zeros(3))


def test_two_arrays_that_swap_between_time_steps():
    def f(a, b, steps):
        for _ in range(steps):
            # pragma parallel for
            for i in range(1, a.shape[0] - 1):
                b[i] = a[i - 1] + a[i + 1]
            a, b = b, a
        return np.float64(a[1])

    report = same(f, np.arange(6.0), np.zeros(6), 3).explain()
    assert [r.mode for r in report.loops] == [
        "sequential",
        "parallel",
        "parallel",
    ]  # once for each arrangement
    assert not report.python_parts


def test_names_defined_inside_hide_those_outside():
    def f(a):
        def scale(x):
            return 2.0 * x

        s = 0.0
        for i in range(a.shape[0]):
            s += scale(a[i])
        return s

    same(f, np.ones(3))


def scale(x):
    return 1000.0 * x


def test_builtins_and_imports_hidden_by_local_names():
    def f(a):
        from math import floor as abs

        def min(x, y):
            return x + y

        s = 0.0
        for i in range(a.shape[0]):
            s += abs(a[i]) + min(a[i], 1.0)
        return s

    same(f, np.array([-1.5, 2.5]))


def test_a_nested_function_sees_what_loops_assign():
    def f(a):
        total = 0.0

        def report():
            return f"total {total:.1f}"

        for i in range(a.shape[0]):
            total += a[i]
        return report()

    assert "a nested function reads 'total'" in str(same(f, np.ones(3)).explain())


def test_the_loop_variable_and_what_may_be_unassigned_go_on_after_a_region():
    def f(a, limit):
        items = []
        for i in range(a.shape[0]):
            if a[i] > limit:
                last = a[i]
            a[i] = a[i] * 0.5
        items.append(i)
        if limit < 3.0:
            items.append(float(last))
        return items, i

    jitted = same(f, np.arange(6.0), 2.0)
    same(f, np.arange(6.0), 99.0)
    assert [r.mode for r in jitted.explain().loops] != []
    with pytest.raises(UnboundLocalError):
        appyc.jit(f)(np.arange(2.0), 2.5)


def test_an_illegal_pragma_is_refused_beside_a_python_part():
    def f(a):
        out = set()
        # pragma parallel for
        for i in range(1, a.shape[0]):
            a[i] = a[i - 1] * 2.0
        out.add(a[0])
        return out, i

    with pytest.raises(appyc.DependenceError):
        appyc.jit(f)(np.ones(30))


def test_a_time_loop_that_is_left_by_break_has_compiled_loops_inside():
    def f(a, steps):
        history = set()
        for t in range(steps):  # noqa: B007
            # pragma parallel for
            for i in range(a.shape[0]):
                a[i] = a[i] * 0.5
            history.add(float(a[0]))
            if a[0] < 1e-3:
                break
        return len(history), t

    report = same(f, np.ones(5), 100).explain()
    assert [(r.index, r.mode) for r in report.loops] == [("i", "parallel")]


def test_a_break_behind_an_inner_loop_leaves_the_outer_one():
    def f(a, most):
        seen = set()
        for t in range(9):
            for i in range(a.shape[0]):
                a[i] = a[i] + t
            else:  # noqa: PLW0120
                if t > most:
                    break
            k = 0
            while k < a.shape[0]:
                k += 1
            else:  # noqa: PLW0120
                if t == 7:
                    continue
            seen.add(float(a[0]))
        return seen, t

    same(f, np.ones(5), 3)
    same(f, np.ones(5), 30)


def test_an_early_return_leaves_other_loops_compiled():
    def f(a, x):
        names = [b"a"]
        for i in range(a.shape[0]):
            a[i] += 1.0
        for i in range(a.shape[0]):
            if a[i] == x:
                return names, i
        return names, -1

    report = same(f, np.arange(4.0), 3.0).explain()
    same(f, np.arange(4.0), 30.0)
    assert len(report.loops) == 1
    assert "left by return or break" in str(report)


def test_a_recursive_function_that_cannot_be_compiled_runs_in_python():
    assert np.array_equal(appyc.jit(middle)(np.array([3.0, 1.0, 2.0])), [1.0])


def middle(a):
    return a[:1] if len(a) < 3 else middle(a[1:-1])


def test_keyword_only_defaults_are_kept():
    def f(a, *, n=3):
        items = [1]
        for i in range(n):
            a[i] = 1.0
        return items

    same(f, np.zeros(4))


def test_what_a_split_region_may_leave_unassigned_comes_back():
    """The region of the inner loop has a flag for `place`; split again, it needs another for the flag itself."""

    def f(a, m):
        best = 0.0
        place = None
        for i in range(a.shape[0]):
            for j in range(m):
                if a[i] * (j + 1) > best:
                    best = a[i] * (j + 1)
                    place = (i, (j, 1))
        return best, place

    same(f, np.array([3.0, 4.0, 1.0, 4.0]), 2)
    same(f, np.zeros(3), 2)


def test_names_of_flags_are_free():
    def f(a):
        k_is_assigned = k_received = -7
        for i in range(a.shape[0]):
            if a[i] > 2:
                k = i
        text = f"{k:2}"
        for i in range(a.shape[0]):
            a[i] = k
        return text, k, k_is_assigned, k_received

    same(f, np.arange(5.0))


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_name_bound_in_a_condition_is_there_behind_a_part_in_python():
    @appyc.jit
    def bound(x):
        if (first := x + 1.0) > 0.5:
            pass
        for _ in range(1, int(x)):
            first = repr(x)
        return first

    assert bound(1.0) == 2.0
    assert bound(2.0) == "2.0"


def test_a_name_that_an_expression_may_bind_in_a_region_keeps_its_value():
    def in_a_condition(a, k, n):
        for i in range(n):
            if (k := i * 2) > 100:
                a[i] = 1
        text = f"{n:2}"
        return text, k

    def behind_an_and(a, k, n):
        for i in range(a.shape[0]):
            a[i] += 1
        x = n > 2 and (k := n) > 0
        text = f"{n:2}"
        return text, k, x

    def in_a_while(a, k, n):
        i = 0
        while i < n and (k := i + 5) < 7:
            i += 1
            a[0] += i
        text = f"{n:2}"
        return text, k, i

    for fn in (in_a_condition, behind_an_and, in_a_while):
        for n in (0, 3):
            same(fn, np.arange(4), 7, n)


def test_a_marked_loop_that_cannot_be_compiled_beside_a_python_part_says_both():
    """Whatever classes the two errors have: some take no message."""

    def parted(b, c, k):
        n = len(b)
        b[(c[1] >> 1) % n] = max(k, c[b[0] % n]) << 2
        for _ in appyc.prange(k):
            b[0] = (n if k > 3 else c[0]) - n * n
        return n

    with pytest.raises(
        appyc.UnsupportedError, match="apart from it, this cannot be compiled: this integer is"
    ):
        appyc.jit(parted)(np.arange(5, dtype=np.uint8), np.arange(5, dtype=np.int16), 3)


def test_a_name_that_is_only_assigned_in_a_region_keeps_a_value_of_any_type_from_before_it():
    def f(a):
        order = np.lexsort((a,))
        least = np.inf
        pair = (-1, -1)
        for k in range(1, len(order)):
            gap = a[order[k]] - a[order[k - 1]]
            if gap < least:
                least = gap
                pair = (order[k - 1], order[k])
        return least, pair

    report = same(f, np.array([5.0, 1.0, 8.0, 1.5])).explain()
    assert [r.index for r in report.loops] == ["k"]
    same(f, np.array([5.0, 5.0, 5.0])[:1])


def test_lists_and_dicts_that_are_made_before_a_library_call_grow_in_the_region_behind_it():
    def f(w, n):
        first, rest = [], [-1] * n
        total = 0.0
        seen = {}
        order = np.lexsort((w,))
        for k in order:
            if w[k] > 0.5 or not first:
                first.append(int(k))
                total += w[k]
            else:
                rest.append(int(k))
            seen[int(k) % 3] = seen.get(int(k) % 3, 0) + 1
        return first, rest, total, seen

    report = same(f, np.random.default_rng(1).random(12), 2).explain()
    assert [reason for _, reason in report.python_parts] == [
        "np.lexsort cannot be compiled: only the library has it"
    ]
    same(f, np.zeros(1), 0)


def test_a_container_that_is_used_read_or_jumped_over_before_it_grows_is_made_where_it_stands():
    def f(w, n):
        many = [n] * 2
        n = int(np.linalg.norm(w))
        kept = []
        for k in range(3):
            found = [k]
            if w[k] == 1.0:
                print(end="")
                continue
            kept.append(found[0] + n)
        first = list(w)
        view = w[1:]
        view[0] = 7.0
        print(end="")
        for x in w:
            first.append(x)
            many.append(n)
        return many, kept, found, first

    same(f, np.array([3.0, 0.0, 4.0]), 9)
    same(f, np.array([3.0, 4.0, 1.0]), 9)


def test_a_comprehension_that_binds_a_name_of_later_loops_is_compiled_with_them():
    def f(n, seed):
        drawn = np.random.default_rng(seed).random((n, n)) < 0.6
        todo = [(0, j) for j in range(n) if drawn[0, j]]
        total = 0
        for i, j in todo:
            total += i + 2 * j
        return total + sum(j for j in range(n))

    assert not same(f, 6, 3).explain().python_parts[1:]


def test_functions_and_generators_inside_a_region_read_what_it_assigns():
    def f(n, seed):
        drawn = np.random.default_rng(seed).random((n, 2))
        order = list(range(n))
        total = 0.0
        for axis in range(2):
            order.sort(key=lambda i: drawn[i, axis])
            nearest = min((drawn[k, axis] - drawn[order[0], 1]) ** 2 for k in range(1, n))
            for i in order:
                total += nearest * (i + 1)
        return total

    assert not same(f, 6, 3).explain().python_parts[1:]


def test_a_statement_that_yields_is_in_no_region():
    """The call of a region with a `yield` made a generator, which was dropped: the function returned None."""

    def steps(a, n):
        name = str({n})
        total = 0.0
        while n > 0:
            for i in range(len(a)):
                a[i] = a[i] * 2 + i
            total += a.sum()
            n -= 1
            yield total
        sent = yield name
        for _ in range(2):
            yield sent

    expected = list(steps(np.ones(5), 3))
    jitted = appyc.jit(cache=False, target="cpu")(steps)
    assert [list(jitted(np.ones(5), 3)) for _ in range(6)] == [expected] * 6
    assert [part.line for part in jitted.explain().loops]
