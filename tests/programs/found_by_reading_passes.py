"""Programs that a sceptical reader of passes found to go wrong. The docstring says how."""

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
