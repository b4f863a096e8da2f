"""What the tests of `fn.graph()` draw; in a file of their own, since the drawings have their line numbers."""

from __future__ import annotations

import numpy as np

import appyc


@appyc.jit(target="cpu")
def softmax(x, y):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    y[:] = e / e.sum(axis=1, keepdims=True)


@appyc.jit(target="cpu")
def stencil_of_a_temporary(a, b):
    t = a * 2.0
    b[1:] = t[1:] - t[:-1]


@appyc.jit(target="cpu")
def two_groups(x, out):
    means = x.mean(axis=0)
    d = x - means
    out[:] = d.T @ d


@appyc.jit(target="cpu")
def in_a_time_loop(a, b):
    for _ in range(10):
        b[:] = a * 2.0
        a[:] = b + 1.0


@appyc.jit(target="cpu")
def nothing(x):
    return x


@appyc.jit(target="cpu")
def laplacian(u, out):
    out[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] - 2.0 * u[1:-1, 1:-1]


@appyc.jit(target="cpu")
def gathered(a, b, at):
    for i in range(1, b.shape[0]):
        b[i] += a[at[i]] * a[i - 1]


@appyc.jit(target="cpu")
def of_what_is_computed(a, b, out):
    out[:] = (a + b)[1:] * np.ones(a.shape[0] - 1)[: a.shape[0] - 1]
