"""Dead scalars, empty loops and empty branches go; what can raise stays."""

from __future__ import annotations

import numpy as np

from appyc.ir.printer import print_function
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.dead_code_elimination import dead_code_elimination
from tests.ir_makers import Program, assign, compare, for_, if_, load, store, update
from tests.printed import run_printed


def test_golden(golden):
    p = Program()
    a, n, i, j = p.array("a", 1), p.integer("n"), p.index("i"), p.index("j")
    t, u = p.local("t"), p.local("u")
    fn = p.function(
        assign(t, 1.0),
        assign(u, 2.0),
        for_(j, 0, n, [update(u, [], "+", 1.0)]),
        if_(compare(">", n, 3), [assign(t, 0.0)]),
        for_(i, 0, n, [assign(t, 5.0), store(a, [i], 1.0, checked=False)]),
    )
    out = dead_code_elimination(fn, PassContext())
    golden("ir/dead_code_elimination.txt", f"{print_function(fn)}\n# after\n\n{print_function(out)}")
    one, other = np.zeros(4), np.zeros(4)
    run_printed(fn, one, 4)
    run_printed(out, other, 4)
    np.testing.assert_array_equal(one, other)


def test_checked_access_stays():
    p = Program()
    a, t = p.array("a", 1), p.local("t")
    fn = p.function(assign(t, load(a, 7)))
    assert dead_code_elimination(fn, PassContext()) is fn


def test_live_scalar_stays():
    p = Program()
    t = p.local("t")
    fn = p.function(assign(t, 1.0), results=(t,))
    assert dead_code_elimination(fn, PassContext()) is fn
