"""Which statements of a function become kernels, and what stays on the host."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.runtime.triton_interpret import interpret
from tests.triton_gen.source_runner import compare, program_of


def steps_over(a, b, n):
    s = 0.0
    for _ in range(n):
        # pragma parallel for
        for i in range(a.shape[0]):
            b[i] = a[i] + s
        s = s + b[0]
        a[1] = s
    return s


def test_text(golden):
    program = compare(steps_over, np.arange(4.0), np.zeros(4), 3, build=False)
    golden("triton_split_kernels.txt", program.text)


def test_neighbouring_statements_share_a_kernel():
    def together(a, b):
        x = a[0] + 1.0
        y = x * a[1]
        b[0] = y
        return y

    (kernel,) = compare(together, np.arange(1.0, 4.0), np.zeros(2), build=False).kernels
    assert "tl.store(b" in kernel.text


def test_scalar_code_stays_on_the_host():
    def thirds(x):
        steps = 0
        while x > 1.0:
            x = x / 3.0
            steps += 1
        return steps, x

    assert compare(thirds, 100.0, build=False).kernels == ()


def test_a_scalar_that_nothing_reads_is_not_copied_back():
    def unread(a):
        x = a[0] * 2.0
        a[1] = x

    def returned(a):
        x = a[0] * 2.0
        a[1] = x
        return x

    assert "rt.read(" not in program_of(unread, np.ones(3)).host
    assert program_of(returned, np.ones(3)).host.count("rt.read(") == 1


def test_a_bound_that_is_read_from_an_array_is_computed_by_a_kernel():
    def up_to(n, a):
        # pragma parallel for
        for i in range(n[0]):
            a[i] = 1.0

    program = compare(up_to, np.array([3]), np.zeros(5), build=False)
    assert program.host.index("rt.read(") < program.host.index("rt.lanes(")


def test_faults_are_asked_for_before_what_a_test_makes_safe():
    def added(rows, x):
        for k in range(rows.shape[0]):
            row = rows[k]
            if row < 0 or row >= x.shape[0]:
                raise ValueError("no such row")
            # pragma parallel for
            for j in range(x.shape[1]):
                x[row, j] += 1.0

    host = compare(added, np.array([0, 1, 0]), np.zeros((2, 3)), build=False).host
    test, accesses = (host.index(f'rt.launch("added_{number}"') for number in (1, 2))
    assert test < host.index("rt.check()") < accesses


def test_elsewhere_faults_are_asked_for_once():
    def gathered(index, a, b):
        # pragma parallel for
        for i in range(index.shape[0]):
            b[i] = a[index[i]]
        # pragma parallel for
        for i in range(index.shape[0]):
            b[i] = b[i] + a[0]

    assert program_of(gathered, np.array([0, 2]), np.ones(3), np.zeros(2)).host.count("rt.check()") == 1


def fails_on_host(n, a):
    if n > 3:
        raise ValueError("too large")
    # pragma parallel for
    for i in range(a.shape[0]):
        a[i] = n


def test_raise_outside_of_loops_has_its_place():
    args = [5, np.zeros(3)]
    assert "rt.check()\n        rt.fail(0)" in program_of(fails_on_host, *args).host
    with pytest.raises(ValueError, match="too large") as caught:
        interpret(program_of(fails_on_host, *args))(args)
    assert "test_split_kernels.py" in caught.value.__notes__[0]


def chase(following, start):
    at, steps = start, 0
    while at != 0:
        at = following[at]
        # pragma parallel for
        for i in range(following.shape[0]):
            following[i] = following[i]
        steps += 1
    return steps


def test_fault_ends_a_while_loop_that_would_run_for_ever():
    host = program_of(chase, np.array([0, 7, 1]), 2).host
    assert host.index("rt.launch(") < host.index("rt.check()") < host.rindex("rt.launch(")
    args = [np.array([0, 7, 1]), 2]
    with pytest.raises(IndexError, match="index 7"):
        interpret(program_of(chase, *args))(args)
    assert interpret(program_of(chase, *args))([np.array([0, 0, 1]), 2]) == [2]


def entered(rows, a, k):
    row = rows[k]
    if row < 0 or row >= 2:
        raise ValueError("no such row")
    a[row] = 1.0
    return row


def test_what_follows_a_test_that_raises_is_done_where_it_has_not():
    args = [np.array([0, 7, 1]), np.zeros(3), 1]
    with pytest.raises(ValueError, match="no such row"):
        interpret(program_of(entered, *args))(args)
    assert not args[1].any()
