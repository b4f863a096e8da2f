"""Methods of np.random.RandomState that draw by other rules than those of np.random.Generator.

They begin with a normal number in store, of which NumPy's library has no public function (`legacy-distributions.c`).
"""

# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np

from appyc.library.distributions import (
    check_probability,
    check_scale,
    gauss,
    gauss_flag,
    is_negative,
    poisson,
    raise_if,
    standard_uniform,
)


def legacy_standard_normal(rng):
    flag, stored = gauss_flag(rng), gauss(rng)
    if flag[0] != 0:
        out = stored[0]
        flag[0] = 0
        stored[0] = 0.0
        return float(out)
    x = 0.0
    y = 0.0
    square = 0.0
    while square >= 1.0 or square == 0.0:
        x = 2.0 * standard_uniform(rng) - 1.0
        y = 2.0 * standard_uniform(rng) - 1.0
        square = x * x + y * y
    factor = float(np.sqrt(-2.0 * np.log(square) / square))
    stored[0] = factor * x
    flag[0] = 1
    return factor * y


legacy_randn = legacy_standard_normal


def legacy_normal(rng, loc=0.0, scale=1.0):
    check_scale(scale)
    return loc + scale * legacy_standard_normal(rng)


def legacy_lognormal(rng, mean=0.0, sigma=1.0):
    return float(np.exp(legacy_normal(rng, mean, sigma)))


def legacy_standard_exponential(rng):
    return float(-np.log(1.0 - standard_uniform(rng)))


def legacy_exponential(rng, scale=1.0):
    check_scale(scale)
    return scale * legacy_standard_exponential(rng)


def _legacy_small_gamma(rng, shape):
    x = 0.0
    most = -1.0
    while x > most:
        u = standard_uniform(rng)
        v = legacy_standard_exponential(rng)
        if u <= 1.0 - shape:
            x = u ** (1.0 / shape)
            most = v
        else:
            y = float(-np.log((1.0 - u) / shape))
            x = (1.0 - shape + shape * y) ** (1.0 / shape)
            most = v + y
    return x


def _legacy_large_gamma(rng, shape):
    b = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * b)
    v = 0.0
    is_taken = False
    while not is_taken:
        x = 0.0
        v = 0.0
        while v <= 0.0:
            x = legacy_standard_normal(rng)
            v = 1.0 + c * x
        v = v * v * v
        u = standard_uniform(rng)
        is_taken = u < 1.0 - 0.0331 * (x * x) * (x * x)
        if not is_taken:
            is_taken = np.log(u) < 0.5 * x * x + b * (1.0 - v + np.log(v))
    return b * v


def _legacy_gamma(rng, shape):
    if shape == 1.0:
        return legacy_standard_exponential(rng)
    if shape == 0.0:
        return 0.0
    return _legacy_small_gamma(rng, shape) if shape < 1.0 else _legacy_large_gamma(rng, shape)


def legacy_standard_gamma(rng, shape):
    raise_if(is_negative(shape), "shape < 0")
    return _legacy_gamma(rng, float(shape))


def legacy_gamma(rng, shape, scale=1.0):
    raise_if(is_negative(shape), "shape < 0")
    check_scale(scale)
    return scale * _legacy_gamma(rng, float(shape))


def legacy_chisquare(rng, df):
    raise_if(df <= 0, "df <= 0")
    return 2.0 * _legacy_gamma(rng, df / 2.0)


def legacy_f(rng, dfnum, dfden):
    raise_if(dfnum <= 0, "dfnum <= 0")
    raise_if(dfden <= 0, "dfden <= 0")
    above = legacy_chisquare(rng, dfnum) * dfden
    return above / (legacy_chisquare(rng, dfden) * dfnum)


def legacy_beta(rng, a, b):
    raise_if(a <= 0, "a <= 0")
    raise_if(b <= 0, "b <= 0")
    if not (a <= 1.0 and b <= 1.0):
        one = _legacy_gamma(rng, float(a))
        return one / (one + _legacy_gamma(rng, float(b)))
    x = 1.0
    y = 1.0
    u = 0.0
    v = 0.0
    while x + y > 1.0:
        u = standard_uniform(rng)
        v = standard_uniform(rng)
        x = u ** (1.0 / a)
        y = v ** (1.0 / b)
    if x + y > 0.0:
        return x / (x + y)
    x = float(np.log(u)) / a
    y = float(np.log(v)) / b
    most = max(y, x)
    x -= most
    y -= most
    return float(np.exp(x - np.log(np.exp(x) + np.exp(y))))


def legacy_standard_t(rng, df):
    raise_if(df <= 0, "df <= 0")
    x = legacy_standard_normal(rng)
    return math.sqrt(df / 2.0) * x / math.sqrt(_legacy_gamma(rng, df / 2.0))


def legacy_standard_cauchy(rng):
    x = legacy_standard_normal(rng)
    return x / legacy_standard_normal(rng)


def legacy_pareto(rng, a):
    raise_if(a <= 0, "a <= 0")
    return float(np.exp(legacy_standard_exponential(rng) / a)) - 1.0


def legacy_weibull(rng, a):
    raise_if(is_negative(a), "a < 0")
    return 0.0 if a == 0.0 else legacy_standard_exponential(rng) ** (1.0 / a)


def legacy_power(rng, a):
    raise_if(a <= 0, "a <= 0")
    return float(1.0 - np.exp(-legacy_standard_exponential(rng))) ** (1.0 / a)


def legacy_wald(rng, mean, scale):
    raise_if(mean <= 0, "mean <= 0")
    raise_if(scale <= 0, "scale <= 0")
    y = legacy_standard_normal(rng)
    y = mean * y * y
    x = mean + mean / (2.0 * scale) * (y - math.sqrt(4.0 * scale * y + y * y))
    return x if standard_uniform(rng) <= mean / (mean + x) else mean * mean / x


def legacy_negative_binomial(rng, n, p):
    raise_if(n <= 0, "n <= 0")
    check_probability(p)
    return int(poisson(rng, (1.0 - p) / p * _legacy_gamma(rng, float(n))))
