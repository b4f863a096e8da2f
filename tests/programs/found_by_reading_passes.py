"""Programs that a sceptical reader of passes found to go wrong. The docstring says how."""

import numpy as np

from tests.programs.registry import Programs, floats

PROGRAMS = Programs()


@PROGRAMS.on(*(floats(12, seed=seed) for seed in range(4)))
def stored_scalar_changes(x, y, z, w):
    """The first store was removed though the element is read: the scalar that held its value changes before that."""
    for i in range(len(x)):
        t = x[i] * 2
        y[i] = t
        t = 5.0 * x[i]
        z[i] = y[i] + t
        y[i] = t
    for i in range(len(x)):
        w[i] = y[i] + z[i]


@PROGRAMS.on(*(floats(12, seed=seed) for seed in range(4)))
def stored_scalar_changes_under_a_condition(x, y, z, w):
    """As above."""
    for i in range(len(x)):
        t = x[i] * 2
        y[i] = t
        if x[i] > 0:
            t = 5.0 * x[i]
        z[i] = t
        y[i] = y[i] + 1
    for i in range(len(x)):
        w[i] = y[i] + z[i]


@PROGRAMS.on(np.full(41, 0.25), np.zeros(41), np.inf)
@PROGRAMS.on(np.where(np.arange(41) == 20, np.inf, 0.25), np.zeros(41), 1.0)
def remainder_of_a_product(x, s, t):
    """It was the product of t and 1 - x[i], which is no NaN where the difference of infinities is one."""
    for i in range(len(x)):
        t = t - x[i] * t
        s[i] = t
    return t


SIGNED = np.array([[1.0, -0.0, 0.0, -1.0, -0.0], [2.0, -0.0, -3.0, -0.0, 0.0]])


@PROGRAMS.on(SIGNED)
@PROGRAMS.on(SIGNED.astype(np.float32))
def negative_zeros(x):
    """Triton makes any constant zero the positive one."""
    y = np.empty(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = np.copysign(1.0, -0.0 if x[i, j] > 0 else x[i, j])
    return y


@PROGRAMS.on(SIGNED, np.zeros((2, 5)))
def last_value_of_a_row(x, y):
    """Of -0.0 the lanes of a GPU's program kept 0.0, which they added to it."""
    z = np.empty(len(x))
    for i in range(x.shape[0]):
        t = 1.0
        for j in range(x.shape[1]):
            t = x[i, j]
            y[i, j] = t * 2
        z[i] = np.copysign(1.0, t)
    return z


@PROGRAMS.on(np.where(np.arange(41) < 4, 1e-80, 1.0), np.zeros(41), 1e300)
def recurrence_from_a_huge_number(x, s, t):
    """The first chunk's factors are next to nothing together, and its result is not. Its start was not tested."""
    for i in range(len(x)):
        t = x[i] * t + s[i]
        s[i] = t
    return t
