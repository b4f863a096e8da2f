"""With `exact`, tensor statements that NumPy rounds in its own way are refused, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.errors import UnsupportedError
from appyc.options import Options
from appyc.passes.checks.check_exact_floats import check_exact_floats
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered

X = np.linspace(1.0, 2.0, 6)
EXACT = PassContext(Options(exact=True))


def total(x):
    return x.sum()


def exponential(x):
    return np.exp(x)


def power(x):
    return x**x


def extreme(x):
    return x.max(), np.sqrt(x), x * 2.0 + 1.0


@pytest.mark.parametrize("fn", [total, exponential, power])
def test_refused_with_the_statement(fn):
    before = lowered(fn, X)
    with pytest.raises(UnsupportedError, match="last digits") as refused:
        check_exact_floats(before, EXACT)
    assert refused.value.loc.line > fn.__code__.co_firstlineno
    assert check_exact_floats(before, PassContext()) is before


def test_accepted():
    before = lowered(extreme, X)
    assert check_exact_floats(before, EXACT) is before
    sums = lowered(total, np.arange(6))
    assert check_exact_floats(sums, EXACT) is sums
