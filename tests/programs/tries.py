"""`try` statements: tests in front of what may raise, and handlers as branches; nothing is left to Python."""

import math
from functools import partial

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))


class Missing(Exception):
    pass


@_on([1.0, 2.0, 0.0, -4.0, 0.0])
@_on(floats(6))
@_on(np.array([1.0, 0.0, -2.0]))
def inverses(x):
    """Python's numbers raise, NumPy's become infinite."""
    total, bad = 0.0, 0
    with np.errstate(divide="ignore"):
        for i in range(len(x)):
            try:
                total += 1.0 / x[i]
            except ZeroDivisionError:
                bad += 1
    return total, bad


@_on(ints(9, lo=0, hi=6), ints(7, lo=-3, hi=3))
@_on(ints(9, lo=0, hi=1), ints(1))
def what_was_assigned_is_seen(at, x):
    found = []
    for i in at:
        k = int(i)
        try:
            v = int(x[k])
            found.append(v)
            v = 12 // v
            x[k + 1] = v
        except IndexError:
            found.append(100)
        except ZeroDivisionError:
            found.append(200)
            continue
        else:
            found.append(v)
        found.append(300)
    return found, x


@_on(ints(20, lo=0, hi=9), 5)
@_on(ints(20, lo=0, hi=9), 100)
@_on(ints(20, lo=-2, hi=3), 0)
def nested(x, limit):
    log, n = [], 0
    try:
        for i in range(len(x)):
            try:
                v = int(x[i])
                if v == limit:
                    raise Missing
                if i > 15:
                    break
                for j in range(i):
                    n += int(x[i + j]) // (v - j)
            except ZeroDivisionError:
                log.append(i)
                if v == 3:
                    log.append(int(x[i + 12]))
            except ValueError:
                log.append(-100)
    except Missing:
        return log, n, -1
    except IndexError:
        log.append(-2)
    return log, n, 1


@_on(40)
def leaves_and_goes_on(n):
    out = []
    for i in range(n):
        try:
            if i % 7 == 3:
                continue
            if 100 // (i - 20) == 100:
                return out, i
            out.append(i // (i % 5))
        except ZeroDivisionError as error:
            if i > 30:
                break
            out.append(-i)
    return out, -1


@_on(ints(12, lo=0, hi=4), 3)
@_on(ints(12, lo=0, hi=4), 9)
def of_dicts(x, key):
    counts = {}
    for v in x:
        k = int(v)
        try:
            counts[k] += 1
        except KeyError:
            counts[k] = 1
    try:
        found = counts[key]
    except LookupError:
        found = -1
    else:
        found *= 10
    return counts, found


@_on([4.0, -1.0, 0.0, math.nan, 9.5, math.inf], 3)
def domains(x, n):
    bad, wrong, total = 0, 0, 0.0
    for v in x:
        try:
            total += math.sqrt(v) + n // int(v)
        except ValueError:
            bad += 1
        except Exception:  # noqa: BLE001  (all that may raise here is known)
            wrong += 1
    return total, bad, wrong


@_on([3, 0, 2], 2)
@_on([3, 0, 2], 5)
@_on([3, 1, 2], 2)
@_on([3, 1, 2], 7)
def with_finally(x, n):
    runs = 0
    out = 0
    try:
        try:
            out = 10 // x[n]
            if n == 2:
                raise Missing
        except ZeroDivisionError:
            out = -1
        finally:
            runs += 1
    except IndexError:
        out = -5
    except Missing:
        out += 100
    return out, runs


@_on([3, 1, 4, 1, 5, 0, 2])
@_on([1, 1, 1])
def until_the_end(x):
    at, steps = 0, 0
    try:
        while x[at] > 0:
            at += x[at]
            steps += 1
    except IndexError:
        steps += 1000
    return at, steps


@_on([1, 2, 3], 2)
@_on([1, 2, 3], 9)
def raises_what_no_handler_names(x, n):
    stack = list(x)
    total = 0
    for i in range(n):
        try:
            v = stack.pop()
            total += v
            if total > 50:
                raise KeyError(total)
        except ZeroDivisionError:
            total = 0
        except IndexError:
            if i > 4:
                raise ValueError(f"empty at {i}") from None
            total += 10
    return total


@_on(2.0, 0)
@_on(0, -1)
@_on(0.0, 2)
@_on(0.5, -2)
def powers(x, n):
    try:
        return x**n
    except ZeroDivisionError:
        return -1.0


def _quotient(x, n):
    try:
        if x > n:
            raise ValueError(f"{x} is more than {n}")
        return x // (n - 2)
    except (ValueError, ZeroDivisionError):
        x += n
        return -x


def _first(x, n):
    try:
        return x[n] // n
    except IndexError:
        return -1
    except ZeroDivisionError:
        return -2


@_on(ints(9, lo=0, hi=9), 12)
def in_functions_that_are_called(x, n):
    numbers = [int(v) for v in x]
    total = 0
    for i in range(n):
        total = 3 * total + _quotient(i, 5) + _quotient(i, i % 4) + _first(numbers, i)
    return total


@PROGRAMS.on(np.array([0.0, 1.0]), 1)
@PROGRAMS.on(np.array([0.0, 1.0]), 5)
@PROGRAMS.on(np.array([2.0, 1.0]), 5)
@PROGRAMS.on(np.array([2.0, 1.0]), 1)
def no_handler_names_what_is_raised_first(a, n):
    xs = [float(v) for v in a]
    s = 0.5
    try:
        s += 1.0 / xs[0] + 2.0 / xs[n]
    except ValueError:
        s = -1.0
    return s
