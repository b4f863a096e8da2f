"""In fused loops a read of an element that the iteration has stored takes the stored value."""

from __future__ import annotations

import numpy as np

from appyc import pipeline
from appyc.ir.nodes import Load
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.passes.pass_context import PassContext
from appyc.passes.storage.store_to_load_forwarding import store_to_load_forwarding
from tests.lowering import lowered
from tests.printed import run_printed

X, Y, Z = np.linspace(0.0, 1.0, 5), np.zeros(5), np.zeros(5)


def before(fn):
    """The function as the pass gets it, and its context."""
    context = PassContext()
    plain = pipeline.run(lowered(fn, X, Y, Z), pipeline.SIMPLIFY, context, verify=True)
    passes = pipeline.ANALYSE[: pipeline.ANALYSE.index(store_to_load_forwarding)]
    return pipeline.run(plain, passes, context), context


def chain(x, y, z):
    for i in range(x.shape[0]):
        y[i] = 2.0 * x[i]
    for i in range(x.shape[0]):
        z[i] = y[i] + 1.0


def test_golden(golden):
    fn, context = before(chain)
    out = store_to_load_forwarding(fn, context)
    golden("ir/store_to_load_forwarding.txt", f"{print_function(fn)}\n# after\n\n{print_function(out)}")
    assert sum(isinstance(n, Load) for n in walk(out)) == 1
    y, z = Y.copy(), Z.copy()
    run_printed(out, X, y, z)
    np.testing.assert_array_equal(y, 2.0 * X)
    np.testing.assert_array_equal(z, 2.0 * X + 1.0)


def test_loops_that_were_not_fused_stay():
    def single(x, y, z):
        for i in range(x.shape[0]):
            y[i] = 2.0 * x[i]
            z[i] = y[i] + 1.0

    fn, context = before(single)
    assert not context.fusions
    assert store_to_load_forwarding(fn, context) is fn
