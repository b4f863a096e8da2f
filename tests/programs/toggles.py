"""Parallel loops over rows that are picked by an integer of few values, which enclosing loops carry."""

from tests.programs.registry import Programs, floats

PROGRAMS = Programs(strict=True)

_U = floats(3, 40)


@PROGRAMS.on(_U, 5)
@PROGRAMS.on(_U, 4)
@PROGRAMS.on(_U, 0)
@PROGRAMS.on(floats(2, 40), 3)
@PROGRAMS.on(floats(1, 40), 3)  # raises IndexError
@PROGRAMS.on(_U[:, ::-2], 5)
def toggle(u, steps):
    p = 0
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, u.shape[1] - 1):
            u[1 - p, i] = 0.5 * (u[p, i - 1] + u[p, i + 1])
        p = 1 - p
    return p


@PROGRAMS.on(_U, 5)
def bit(u, steps):
    p = 0
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, u.shape[1] - 1):
            u[p ^ 1, i] = 0.5 * (u[p, i - 1] + u[p, i + 1])
        p ^= 1
    return p


@PROGRAMS.on(_U, 5)
def exchanged(u, steps):
    p, q = 0, 1
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, u.shape[1] - 1):
            u[q, i] = 0.5 * (u[p, i - 1] + u[p, i + 1])
        p, q = q, p
    return p, q


@PROGRAMS.on(_U, 7)
def three_levels(u, steps):
    old, now, new = 0, 1, 2
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, u.shape[1] - 1):
            u[new, i] = u[now, i - 1] + u[now, i + 1] - u[old, i]
        old, now, new = now, new, old
    return u[now, 3]


@PROGRAMS.on(_U, 7)
def round_and_round(u, steps):
    p = 0
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, u.shape[1] - 1):
            u[(p + 1) % 3, i] = 0.5 * (u[p, i - 1] + u[p, i + 1])
        p = (p + 1) % 3
    return p


@PROGRAMS.on(_U, 7)
def wrapped_by_a_test(u, steps):
    p = 2
    for _ in range(steps):
        q = p
        p += 1
        if p == 3:
            p = 0
        # pragma parallel for
        for i in range(1, u.shape[1] - 1):
            u[p, i] = 0.5 * (u[q, i - 1] + u[q, i + 1])
    return p


@PROGRAMS.on(_U, 6)
def by_the_step(u, steps):
    for t in range(steps):
        # pragma parallel for
        for i in range(1, u.shape[1] - 1):
            u[(t & 1) ^ 1, i] = 0.5 * (u[t % 2, i - 1] + u[t % 2, i + 1])


@PROGRAMS.on(_U, 5)
def chosen(u, steps):
    p = 1
    while steps > 0:
        # pragma parallel for
        for i in range(1, u.shape[1] - 1):
            u[1 if p == 0 else 0, i] = 0.5 * (u[p, i - 1] + u[p, i + 1])
        p = int(not p)
        steps -= 1
    return p


@PROGRAMS.on(_U, 3, 4)
def inside_another_loop(u, rounds, steps):
    p = 0
    for r in range(rounds):
        for t in range(steps + r):
            # pragma parallel for
            for i in range(1, u.shape[1] - 1):
                u[1 - p, i] = 0.5 * (u[p, i - 1] + u[p, i + 1])
            p = 1 - p
            if u[p, 5] > 1.5 and t > 2:
                break
        u[p, 0] += 1.0
    return p


@PROGRAMS.on(floats(2, 9, 20), 5)
def planes(u, steps):
    p = 0
    for _ in range(steps):
        # pragma parallel for collapse(2)
        for i in range(1, u.shape[1] - 1):
            for j in range(1, u.shape[2] - 1):
                u[1 - p, i, j] = 0.25 * (u[p, i - 1, j] + u[p, i + 1, j] + u[p, i, j - 1] + u[p, i, j + 1])
        p = 1 - p
    return p


@PROGRAMS.on(_U, 5, True)
@PROGRAMS.on(_U, 4, False)
def rows_by_a_flag(u, steps, is_first):
    for _ in range(steps):
        new = 1 if is_first else 0
        old = 0 if is_first else 1
        # pragma parallel for
        for i in range(1, u.shape[1] - 1):
            u[new, i] = 0.5 * (u[old, i - 1] + u[old, i + 1])
        is_first = not is_first
    return is_first


@PROGRAMS.on(_U, 0, 1)
@PROGRAMS.on(_U, 1, 0)
def rows_that_are_given(u, new, old):
    # pragma parallel for
    for i in range(1, u.shape[1] - 1):
        u[new, i] = 0.5 * (u[old, i - 1] + u[old, i + 1])


@PROGRAMS.on(_U, 0, 1)
@PROGRAMS.on(_U, 1, 1)
def rows_that_may_be_one(u, new, old):
    for i in range(1, u.shape[1] - 1):
        u[new, i] = 0.5 * (u[old, i - 1] + u[old, i + 1])
