"""Functions of scipy.special, for float32 and float64."""

# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np

from appyc.library import primitives
from appyc.library.table import of_scipy


@of_scipy(elements=1)
def erf(x):
    """The error function."""
    return primitives.erf(x)


@of_scipy(elements=1)
def erfc(x):
    """One less the error function."""
    return primitives.erfc(x)


@of_scipy(elements=1)
def gamma(x):
    """The gamma function."""
    return primitives.gamma(x)


@of_scipy(elements=1)
def gammaln(x):
    """The logarithm of the gamma function's size."""
    return primitives.log_gamma(x)


@of_scipy(elements=2)
def beta(a, b):
    """The beta function."""
    signed = primitives.gamma(a) * primitives.gamma(b) / primitives.gamma(a + b)
    large = np.exp(primitives.log_gamma(a) + primitives.log_gamma(b) - primitives.log_gamma(a + b))
    return large if a > 20.0 or b > 20.0 else signed


@of_scipy(elements=2)
def betaln(a, b):
    """The logarithm of the beta function's size."""
    return primitives.log_gamma(a) + primitives.log_gamma(b) - primitives.log_gamma(a + b)


@of_scipy(elements=1)
def expit(x):
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-x))


@of_scipy(elements=1)
def log_expit(x):
    """The logarithm of the logistic function."""
    return x - np.log1p(np.exp(x)) if x < 0.0 else -np.log1p(np.exp(-x))


@of_scipy(elements=1)
def logit(p):
    """The inverse of the logistic function."""
    middle = 2.0 * (p - 0.5)
    return np.log1p(middle) - np.log1p(-middle) if 0.3 <= p <= 0.65 else np.log(p / (1.0 - p))


@of_scipy(elements=1)
def ndtr(x):
    """The normal distribution's cumulative distribution function."""
    scaled = x * math.sqrt(0.5)
    return (
        0.5 + 0.5 * primitives.erf(scaled) if abs(scaled) < math.sqrt(0.5) else 0.5 * primitives.erfc(-scaled)
    )


@of_scipy(elements=2)
def xlogy(x, y):
    """x log(y), 0 where x is."""
    return 0.0 if x == 0.0 and not np.isnan(y) else x * np.log(y)


@of_scipy(elements=2)
def xlog1py(x, y):
    """x log(1 + y), 0 where x is."""
    return 0.0 if x == 0.0 and not np.isnan(y) else x * np.log1p(y)


@of_scipy(elements=1)
def entr(x):
    """-x log(x), the summand of an entropy."""
    return -x * np.log(x) if x > 0.0 else 0.0 if x == 0.0 else x if np.isnan(x) else -np.inf


@of_scipy(elements=2)
def rel_entr(x, y):
    """x log(x / y), the summand of a relative entropy."""
    none = x + y if np.isnan(x + y) else np.inf
    return x * np.log(x / y) if x > 0.0 and y > 0.0 else 0.0 if x == 0.0 and y >= 0.0 else none


@of_scipy(elements=2)
def kl_div(x, y):
    """x log(x / y) - x + y, the summand of a Kullback-Leibler divergence."""
    none = x + y if np.isnan(x + y) else np.inf
    return x * np.log(x / y) - x + y if x > 0.0 and y > 0.0 else y if x == 0.0 and y >= 0.0 else none


@of_scipy(elements=1)
def exp10(x):
    """10 to a power."""
    return 10.0**x


@of_scipy(elements=2)
def boxcox(x, lmbda):
    """The Box-Cox transformation."""
    return np.log(x) if abs(lmbda) < 1e-19 else np.expm1(lmbda * np.log(x)) / lmbda
