"""Methods of random generators, in terms of `ir/draw_functions.py`: inlined where a program calls them.

`numpy_*` are methods of np.random.Generator, `legacy_*` of np.random.RandomState (np.random's own functions are those
of one; those that draw from normal numbers are in `legacy_distributions.py`). Methods of random.Random are in
`python_random.py`.
Arguments are named and refused as the libraries do it. What is not here runs in Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Primitive:
    """A function that draws: called with a generator and its arguments."""

    name: str


@dataclass(frozen=True)
class Stored:
    """A part of a generator's state beside its bits, an array: called with the generator."""

    step: str


standard_uniform = Primitive("random_standard_uniform")
uniform = Primitive("random_uniform")
standard_normal = Primitive("random_standard_normal")
normal = Primitive("random_normal")
standard_exponential = Primitive("random_standard_exponential")
exponential = Primitive("random_exponential")
standard_gamma = Primitive("random_standard_gamma")
gamma = Primitive("random_gamma")
beta = Primitive("random_beta")
chisquare = Primitive("random_chisquare")
fisher = Primitive("random_f")
standard_cauchy = Primitive("random_standard_cauchy")
pareto = Primitive("random_pareto")
weibull = Primitive("random_weibull")
power = Primitive("random_power")
laplace = Primitive("random_laplace")
gumbel = Primitive("random_gumbel")
logistic = Primitive("random_logistic")
lognormal = Primitive("random_lognormal")
rayleigh = Primitive("random_rayleigh")
standard_t = Primitive("random_standard_t")
wald = Primitive("random_wald")
vonmises = Primitive("random_vonmises")
triangular = Primitive("random_triangular")
poisson = Primitive("random_poisson")
negative_binomial = Primitive("random_negative_binomial")
binomial = Primitive("binomial")
logseries = Primitive("random_logseries")
geometric = Primitive("random_geometric")
zipf = Primitive("random_zipf")
interval = Primitive("random_interval")
bounded = Primitive("bounded")
standard_uniform_float32 = Primitive("standard_uniform_float32")
normal_float32 = Primitive("standard_normal_float32")
exponential_float32 = Primitive("standard_exponential_float32")
next_float = Primitive("python_random")
next_bits = Primitive("python_bits")
next_below = Primitive("python_below")
gauss_flag = Stored("gauss flag")
gauss = Stored("gauss")


BY_LENGTHS = frozenset({"rand", "randn"})
"""Methods that take the lengths of their result as arguments."""

AFTER_SIZE = frozenset({"endpoint"})
"""Parameters that come after `size`."""

INTEGERS = frozenset(
    {"integers", "randint", "poisson", "binomial", "negative_binomial", "geometric", "logseries", "zipf"}
)


# ---------------------------------------------------------------- arguments


def raise_if(wrong, message):
    if wrong:
        raise ValueError(message)


def is_negative(x):
    return x <= 0.0 and (x < 0.0 or math.copysign(1.0, x) < 0.0)


def _check_range(width):
    if not math.isfinite(width):
        raise OverflowError("Range exceeds valid bounds")


def check_scale(scale):
    raise_if(is_negative(scale), "scale < 0")


def _check_rate(lam):
    raise_if(not lam >= 0.0, "lam < 0 or lam is NaN")
    raise_if(lam > 9.223372006484771e18, "lam value too large")


def check_probability(p):
    raise_if(not 0.0 <= p <= 1.0, "p < 0, p > 1 or p is NaN")


# ---------------------------------------------------------------- floats


def _plainly(draw):
    """A method without parameters."""

    def method(rng):
        return draw(rng)

    return method


def _located(draw):
    """A method whose parameters are a location and a scale."""

    def method(rng, loc=0.0, scale=1.0):
        check_scale(scale)
        return draw(rng, loc, scale)

    return method


numpy_random = _plainly(standard_uniform)
numpy_standard_normal = _plainly(standard_normal)
numpy_standard_exponential = _plainly(standard_exponential)
numpy_standard_cauchy = _plainly(standard_cauchy)
random_float32 = _plainly(standard_uniform_float32)
standard_normal_float32 = _plainly(normal_float32)
standard_exponential_float32 = _plainly(exponential_float32)
numpy_normal = _located(normal)
numpy_laplace = legacy_laplace = _located(laplace)
numpy_gumbel = legacy_gumbel = _located(gumbel)
numpy_logistic = legacy_logistic = _located(logistic)
legacy_random = legacy_random_sample = legacy_rand = numpy_random


def numpy_uniform(rng, low=0.0, high=1.0):
    width = float(high) - float(low)
    _check_range(width)
    raise_if(is_negative(width), "high < low")
    return uniform(rng, low, width)


def legacy_uniform(rng, low=0.0, high=1.0):
    width = float(high) - float(low)
    _check_range(width)
    return uniform(rng, low, width)


def numpy_exponential(rng, scale=1.0):
    check_scale(scale)
    return exponential(rng, scale)


def numpy_standard_gamma(rng, shape):
    raise_if(is_negative(shape), "shape < 0")
    return standard_gamma(rng, shape)


def numpy_gamma(rng, shape, scale=1.0):
    raise_if(is_negative(shape), "shape < 0")
    check_scale(scale)
    return gamma(rng, shape, scale)


def numpy_beta(rng, a, b):
    raise_if(a <= 0, "a <= 0")
    raise_if(b <= 0, "b <= 0")
    return beta(rng, a, b)


def numpy_chisquare(rng, df):
    raise_if(df <= 0, "df <= 0")
    return chisquare(rng, df)


def numpy_f(rng, dfnum, dfden):
    raise_if(dfnum <= 0, "dfnum <= 0")
    raise_if(dfden <= 0, "dfden <= 0")
    return fisher(rng, dfnum, dfden)


def numpy_pareto(rng, a):
    raise_if(a <= 0, "a <= 0")
    return pareto(rng, a)


def numpy_weibull(rng, a):
    raise_if(is_negative(a), "a < 0")
    return weibull(rng, a)


def numpy_power(rng, a):
    raise_if(a <= 0, "a <= 0")
    return power(rng, a)


def numpy_lognormal(rng, mean=0.0, sigma=1.0):
    raise_if(is_negative(sigma), "sigma < 0")
    return lognormal(rng, mean, sigma)


def numpy_rayleigh(rng, scale=1.0):
    check_scale(scale)
    return rayleigh(rng, scale)


def numpy_standard_t(rng, df):
    raise_if(df <= 0, "df <= 0")
    return standard_t(rng, df)


def numpy_wald(rng, mean, scale):
    raise_if(mean <= 0, "mean <= 0")
    raise_if(scale <= 0, "scale <= 0")
    return wald(rng, mean, scale)


def numpy_vonmises(rng, mu, kappa):
    raise_if(is_negative(kappa), "kappa < 0")
    return vonmises(rng, mu, kappa)


def numpy_triangular(rng, left, mode, right):
    raise_if(left > mode, "left > mode")
    raise_if(mode > right, "mode > right")
    raise_if(left == right, "left == right")
    return triangular(rng, left, mode, right)


legacy_triangular = numpy_triangular


# ---------------------------------------------------------------- integers


def numpy_poisson(rng, lam=1.0):
    _check_rate(lam)
    return int(poisson(rng, lam))


legacy_poisson = numpy_poisson


def numpy_binomial(rng, n, p):
    raise_if(n < 0, "n < 0")
    check_probability(p)
    return int(binomial(rng, p, n))


legacy_binomial = numpy_binomial


def numpy_negative_binomial(rng, n, p):
    raise_if(n <= 0, "n <= 0")
    raise_if(not 0.0 < p <= 1.0, "p <= 0, p > 1 or p contains NaNs")
    return int(negative_binomial(rng, n, p))


def numpy_geometric(rng, p):
    raise_if(not 0.0 < p <= 1.0, "p <= 0, p > 1 or p contains NaNs")
    return int(geometric(rng, p))


def numpy_logseries(rng, p):
    raise_if(not 0.0 <= p < 1.0, "p < 0, p >= 1 or p is NaN")
    return int(logseries(rng, p))


def numpy_zipf(rng, a):
    raise_if(not a > 1.0, "a <= 1 or a is NaN")
    return int(zipf(rng, a))


def _checked_width(low, high, endpoint):
    """The number of integers to choose from, less one."""
    if endpoint:
        raise_if(low > high, "low > high")
        return high - low
    raise_if(low >= high, "low >= high")
    return high - low - 1


def numpy_integers(rng, low, high=None, endpoint=False):
    if high is None:
        raise_if(endpoint and low < 0, "high < 0")
        raise_if(not endpoint and low <= 0, "high <= 0")
        return np.int64(bounded(rng, low if endpoint else low - 1))
    return np.int64(bounded(rng, _checked_width(low, high, endpoint))) + np.int64(low)


def legacy_randint(rng, low, high=None):
    if high is None:
        raise_if(low <= 0, "high <= 0")
        return int(np.int64(interval(rng, low - 1)))
    return int(np.int64(interval(rng, _checked_width(low, high, False))) + np.int64(low))
