"""Chains of loops that run in blocks: how many loops a chain has, what ends it, and when it pays."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from appyc import pipeline
from appyc.analysis.accesses.scalar_flow import live_after
from appyc.ir.array_accesses import accesses_in
from appyc.ir.nodes import Alloc, For
from appyc.ir.printer import print_function
from appyc.options import Options
from appyc.passes.fuse import tiled_chains
from appyc.passes.fuse.tiled_chains import Chain, ChainFinder
from appyc.passes.pass_context import PassContext
from tests.e2e.harness import run_everywhere
from tests.lowering import lowered
from tests.passes.test_overlapped_tiling import LINE, UP_TO, blocked, compared
from tests.printed import run_printed


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(tiled_chains, "ROWS", {1: 4, 2: 4, 3: 4})


def read_twice(x):
    t = np.exp(x)
    a = t[:-2] + t[1:-1] * t[2:]
    b = t[3:] * t[2:-1] - t[1:-2] * t[:-3]
    return a, b


def stencils_of_stencils(x):
    a = np.exp(x)
    b = np.sqrt(a[2:] + a[:-2])
    c = np.exp(b[1:] - b[:-1])
    return c[2:] * c[:-2] + c[1:-1]


def edges_of_zero(x):
    """What a loop leaves out is zero, in a block's array, too."""
    n = x.shape[0]
    t, y, z = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(1, n - 1):
        t[i] = np.exp(x[i + 1]) - x[i - 1]
    for i in range(n):
        y[i] = np.exp(t[i]) + x[i]
    for i in range(2, n - 1):
        z[i] = y[i - 2] + y[i + 1] * t[i]
    return z


def stored_between(x):
    """A block stores its own rows of `p`, and has those of its neighbours for itself."""
    n = x.shape[0]
    p, q = np.zeros(n), np.zeros(n)
    for i in range(n):
        p[i] = np.exp(x[i])
    for i in range(1, n - 1):
        q[i] = 2.0 * p[i] - p[i - 1] - p[i + 1]
    total = 0.0
    for i in range(n):
        total += p[i] * q[i]
    return p, q, total


def total_of_a_producer(x):
    """Rows that are computed twice count once."""
    n = x.shape[0]
    p, total = np.zeros(n), 0.0
    for i in range(n):
        p[i] = np.exp(x[i])
        total += p[i]
    q = np.zeros(n)
    for i in range(1, n - 1):
        q[i] = 2.0 * p[i] - p[i - 1] * p[i + 1]
    return total, q[1:] + q[:-1], q[3:] * q[:-3]


def planes(x):
    p, s = np.zeros(x.shape), np.zeros(x.shape)
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            p[i, j] = np.exp(x[i, j + 1]) - np.exp(x[i - 1, j])
        for j in range(1, x.shape[1] - 1):
            s[i, j] = p[i, j - 1] - p[i, j + 1]
    out = np.zeros(x.shape)
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            out[i, j] = p[i + 1, j] + s[i, j] - p[i - 1, j] * p[i, j - 1]
    return out, out.sum()


def rows_of_others(x):
    """The rows of the last loop are not its iterations."""
    t = np.exp(x)
    u = t[1:] * t[:-1]
    y = np.zeros(x.shape)
    y[2:-1] = u[2:] - u[:-2] / t[2:-1]
    return y, (u[1:-1] * t[1:-2]).sum()


def added_to(x):
    """Rows that are computed once more start anew: what is added to them is added once."""
    n = x.shape[0]
    t, y = np.zeros(n), np.zeros(n)
    for i in range(1, n - 1):
        t[i] += np.exp(x[i]) - x[i - 1]
    for i in range(n):
        y[i] = np.exp(t[i])
        y[i] += 0.5
        y[i] *= x[i]
    z = np.zeros(n)
    for i in range(1, n - 1):
        z[i] += y[i - 1] * y[i + 1] - t[i]
    return y, z


def first_row_set_apart(x):
    """An array that another statement has come to is not a block's."""
    n = x.shape[0]
    t = np.zeros(n)
    t[0] = 5.0
    for i in range(1, n):
        t[i] = np.exp(x[i])
    y = np.zeros(n)
    for i in range(1, n - 1):
        y[i] = t[i - 1] * t[i + 1]
    return y[1:] - y[:-1] * t[1:]


CHAINS = [
    read_twice, stencils_of_stencils, edges_of_zero, stored_between, total_of_a_producer, rows_of_others,
    added_to, first_row_set_apart,
]  # fmt: skip


def joined(context: PassContext) -> int:
    """The loops in the longest chain."""
    counts = [int(r.text.split()[0]) for r in context.remarks if "run together in blocks" in r.text]
    return max(counts, default=0)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [6, 7, 8, 9, 12, 13, 31])
@pytest.mark.parametrize("fn", CHAINS, ids=lambda fn: fn.__name__)
def test_chains(fn, n):
    compared(fn, np.cos(np.arange(float(n))))


@pytest.mark.parametrize("shape", [(1, 4), (2, 2), (3, 3), (4, 4), (5, 4), (9, 3), (13, 6)])
def test_chains_of_planes(shape):
    compared(planes, np.cos(np.arange(float(np.prod(shape)))).reshape(shape))


def test_all_loops_of_a_chain_run_together(monkeypatch):
    monkeypatch.setattr(
        tiled_chains, "ROWS", {1: 32}
    )  # in shorter blocks, the rows of neighbours would be too many
    for fn, count in ((stencils_of_stencils, 3), (stored_between, 3), (read_twice, 3), (added_to, 3)):
        _, context = blocked(fn, LINE)
        assert joined(context) == count, fn.__name__


def in_order_between(x):
    t = np.exp(x)
    for i in range(1, x.shape[0]):
        t[i] = t[i] + t[i - 1]
    return t[2:] * t[:-2] + t[1:-1]


def changed_twice(x):
    t = np.exp(x)
    y = t[1:] * t[:-1]
    t[1:] = y
    return t[2:] - t[:-2] * y[1:]


def total_between(x):
    t = np.exp(x)
    total = t.sum()
    return t[2:] - t[:-2] * total


def last_of_a_producer(x):
    """No block needs the last rows of `t`."""
    n, last = x.shape[0], 0.0
    t, y = np.zeros(n), np.zeros(n)
    for i in range(n):
        last = np.exp(x[i])
        t[i] = np.sqrt(last)
    for i in range(1, n - 9):
        y[i] = t[i - 1] * t[i + 1] + t[i]
    y[0] = last
    return y


@pytest.mark.parametrize(
    "fn", [in_order_between, changed_twice, total_between, last_of_a_producer], ids=lambda fn: fn.__name__
)
def test_what_is_needed_whole_ends_a_chain(fn):
    unblocked(fn)


def unblocked(fn):
    program, context = blocked(fn, LINE)
    assert joined(context) == 0, print_function(program)
    np.testing.assert_allclose(run_printed(program, LINE.copy()), fn(LINE.copy()), rtol=1e-13)


def in_steps(x):
    n = x.shape[0]
    t, y = np.zeros(n), np.zeros(n)
    for i in range(n):
        t[i] = np.exp(x[i])
    for i in range(1, n - 1, 3):
        y[i] = t[i - 1] * t[i + 1] + t[i]
    return y


def raising(x):
    n = x.shape[0]
    t, y = np.zeros(n), np.zeros(n)
    for i in range(n):
        if x[i] > 1000.0:
            raise ValueError(i)
        t[i] = np.exp(x[i])
    for i in range(1, n - 1):
        y[i] = t[i - 1] * t[i + 1] + t[i]
    return y


def two_rows(x):
    n = x.shape[0]
    t, u, y = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(n - 1):
        t[i] = np.exp(x[i])
        u[i + 1] = np.sqrt(t[i])
    for i in range(1, n - 1):
        y[i] = t[i - 1] * u[i + 1] + t[i]
    return y


def of_no_row(x):
    n, z = x.shape[0], np.zeros(())
    t, y = np.zeros(n), np.zeros(n)
    for i in range(n):
        z[()] = 2.0
        t[i] = np.exp(x[i])
    for i in range(1, n - 1):
        y[i] = t[i - 1] * t[i + 1] + t[i]
    return y * z[()]


def its_own_rows(x):
    n = x.shape[0]
    t, y = np.zeros((n, 2)), np.zeros(n)
    for i in range(n - 1):
        t[i, 0] = np.exp(x[i]) + t[i + 1, 1]
    for i in range(1, n - 1):
        y[i] = t[i - 1, 0] * t[i + 1, 0] + t[i, 0]
    return y


def written_later(x):
    n = x.shape[0]
    t, z, y = np.zeros(n), np.zeros(n), np.zeros(n)
    q = np.exp(x)
    for i in range(1, n - 1):
        z[i] = t[i - 1] * q[i + 1] + t[i]
    for i in range(n):
        t[i] = np.exp(q[i])
    for i in range(1, n - 1):
        y[i] = t[i - 1] * q[i + 1] + z[i]
    return y


NOT_BY_ROWS = (in_steps, raising, two_rows, of_no_row, its_own_rows)


@pytest.mark.parametrize("fn", NOT_BY_ROWS, ids=lambda fn: fn.__name__)
def test_loops_that_do_not_store_a_row_at_a_time(fn):
    unblocked(fn)


def test_what_is_read_before_it_is_written_ends_a_chain(monkeypatch):
    monkeypatch.setattr(Chain, "gain", lambda chain: 1.0)
    program, _ = blocked(written_later, LINE)
    np.testing.assert_allclose(run_printed(program, LINE.copy()), written_later(LINE.copy()), rtol=1e-13)


def test_text_of_a_chain(golden):
    before = pipeline.run(lowered(stored_between, LINE), (*pipeline.SIMPLIFY, *UP_TO[:-1]), PassContext())
    after, _ = blocked(stored_between, LINE)
    golden("tensors/chains_in_blocks.txt", f"{print_function(before)}\n# after\n\n{print_function(after)}")


def found(fn, *args: object) -> Chain | None:
    """The chain that starts at the first loop of a function."""
    context = PassContext(Options(target="cpu"))
    program = pipeline.run(lowered(fn, *args), (*pipeline.SIMPLIFY, *UP_TO[:-1]), context)
    made = frozenset(stmt.array for stmt in program.body if isinstance(stmt, Alloc))
    counts = Counter(array for array, _, _ in accesses_in(program.body))
    returned = {r.value for r in program.results}
    finder = ChainFinder(counts, made, made - returned, live_after(program), context)
    start = next(at for at, stmt in enumerate(program.body) if isinstance(stmt, For))
    return finder.chain(program.body, start)


def test_a_chain_says_what_blocks_need(monkeypatch):
    monkeypatch.setattr(tiled_chains, "ROWS", {1: 32})
    chain = found(stored_between, LINE)
    assert chain is not None
    assert [(one.row, one.near, one.far) for one in chain.members] == [(0, -1, 1), (0, 0, 0), (0, 0, 0)]
    assert chain.rows == 32
    assert chain.fresh.temporary == frozenset()
    assert [type(stmt).__name__ for stmt in chain.before] == ["Assign"]
    temporary = found(stencils_of_stencils, LINE)
    assert temporary is not None
    assert {array.name for array in temporary.fresh.temporary} == {"a", "c"}


def test_a_halo_costs_what_it_computes_again(monkeypatch):
    monkeypatch.setattr(tiled_chains, "ROWS", {1: 32})
    chain = found(stored_between, LINE)
    assert chain is not None
    wide = replace(chain, members=(replace(chain.members[0], near=-64), *chain.members[1:]))
    assert chain.gain() > 0 > wide.gain()
    assert chain.gain() > replace(chain, members=chain.members[:1]).gain()


def test_a_chain_has_no_more_loops_than_analysis_allows(monkeypatch):
    monkeypatch.setattr(tiled_chains, "ROWS", {1: 32})
    monkeypatch.setattr(tiled_chains, "MOST_MEMBERS", 2)
    assert found(stored_between, LINE) is None  # two loops without a temporary are `shifted_fusion`'s
    assert found(in_order_between, LINE) is None


def test_what_raises_ends_a_chain_only_behind_writes_that_show(monkeypatch):
    def hidden(x, y):
        a = np.exp(x)
        if x[0] > 2.0:
            raise ValueError("too large")
        for i in range(1, x.shape[0] - 1):
            y[i] = np.sqrt(a[i + 1] + a[i - 1])
        return a[2:] * a[:-2] + a[1:-1]

    def shown(x, y):
        a = np.exp(x)
        for i in range(1, x.shape[0] - 1):
            y[i] = np.sqrt(a[i + 1] + a[i - 1])
        if x[0] > 2.0:
            raise ValueError("too large")
        return a[2:] * a[:-2] + a[1:-1]

    monkeypatch.setattr(tiled_chains, "ROWS", {1: 32})
    chain = found(hidden, LINE, LINE.copy())
    assert chain is not None
    assert len(chain.members) == 3
    assert found(shown, LINE, LINE.copy()) is None


def test_what_leaves_a_loop_ends_a_chain_inside_it():
    def steps(x, y, z):
        for k in range(3):
            t = np.empty(x.shape[0])
            for i in range(x.shape[0]):
                t[i] = np.exp(x[i]) + k
                y[i] = t[i] + k
            if x[k] > 1.0:
                break
            for i in range(1, x.shape[0] - 1):
                z[i] = t[i - 1] + x[i] * t[i + 1]

    x = np.linspace(0.0, 3.0, 5000)
    x[1] = 2.0
    run_everywhere(steps, x, np.zeros(5000), np.zeros(5000), targets=("cpu",))


def test_blocks_of_planes_have_fewer_rows(monkeypatch):
    monkeypatch.setattr(tiled_chains, "ROWS", {1: 32, 2: 4, 3: 2})
    chain = found(planes, np.ones((10, 8)))
    assert chain is not None
    assert chain.rows == 4
