"""Primitives of library text beside NumPy's functions, which the front end lowers itself."""

# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np


def each(function, *arrays):
    """`function` of the elements at each index of arrays, which are broadcast."""
    return np.vectorize(function)(*arrays)


def by_index(shape, element):
    """The array of a shape in which the element at an index, a tuple, is what a function gives for that. The
    function reads an array in one expression only."""
    out = [element(at) for at in np.ndindex(*shape)]
    return np.array(out).reshape(shape)


def in_memory_order(a):
    """The indices of an array's elements in the order in which these lie in memory."""
    it = np.nditer(a, flags=["multi_index", "zerosize_ok"])
    return [it.multi_index for _ in it]


def rest_of_floats(x, y):
    """np.fmod of floats."""
    return np.fmod(x, y)


def high_product(a, b):
    """The upper 64 bits of the product of two uint64."""
    return np.uint64(int(a) * int(b) >> 64)


def as_list(items):
    """A tuple that is a list where it is returned."""
    return list(items)


def as_text(items):
    """The text of a list of characters, or of code points."""
    return "".join(c if isinstance(c, str) else chr(c) for c in items)


def refuse(message, hint=""):
    """Leaves the call to the library, which may raise what it raises."""
    raise NotImplementedError(message)


def left_unless(condition, why):
    """Leaves the call to Python where the condition does not hold."""
    if not condition:
        raise NotImplementedError(why)


def erf(x):
    """The error function of floats."""
    return np.vectorize(math.erf)(x)


def erfc(x):
    """One less the error function of floats."""
    return np.vectorize(math.erfc)(x)


def gamma(x):
    """The gamma function of floats."""
    return np.vectorize(math.gamma)(x)


def log_gamma(x):
    """The logarithm of the gamma function's size."""
    return np.vectorize(math.lgamma)(x)
