"""The functions that draw one number from a generator, as NumPy's `distributions.h` declares them.

Those of `LIBRARY` are NumPy's own: compiled code is linked with `libnpyrandom.a`. The others are written in C where
they are used: `python_*` draw from the state of a `random.Random`.
"""

from __future__ import annotations

from dataclasses import dataclass

from appyc.ir.types import DType

_F, _I, _U = DType.FLOAT64, DType.INT64, DType.UINT64


@dataclass(frozen=True, slots=True)
class DrawInfo:
    """The types of the arguments behind the generator, and of the number."""

    arguments: tuple[DType, ...] = ()
    result: DType = _F


def _floats(count: int) -> DrawInfo:
    return DrawInfo((_F,) * count)


LIBRARY: dict[str, DrawInfo] = {
    **{name: _floats(0) for name in ("random_standard_uniform", "random_standard_normal",
                                     "random_standard_exponential", "random_standard_cauchy")},
    **{name: _floats(1) for name in ("random_standard_gamma", "random_exponential", "random_chisquare",
                                     "random_pareto", "random_weibull", "random_power", "random_rayleigh",
                                     "random_standard_t")},
    **{name: _floats(2) for name in ("random_normal", "random_gamma", "random_uniform", "random_beta", "random_f",
                                     "random_laplace", "random_gumbel", "random_logistic", "random_lognormal",
                                     "random_wald", "random_vonmises")},
    "random_triangular": _floats(3),
    **{name: DrawInfo((_F,), _I) for name in ("random_poisson", "random_logseries", "random_geometric",
                                              "random_zipf")},
    "random_negative_binomial": DrawInfo((_F, _F), _I),
    "random_interval": DrawInfo((_U,), _U),
}  # fmt: skip

OWN: dict[str, DrawInfo] = {
    "bounded": DrawInfo((_U,), _U),
    "binomial": DrawInfo((_F, _I), _I),
    "standard_uniform_float32": DrawInfo((), DType.FLOAT32),
    "standard_normal_float32": DrawInfo((), DType.FLOAT32),
    "standard_exponential_float32": DrawInfo((), DType.FLOAT32),
    "python_random": _floats(0),
    "python_bits": DrawInfo((_I,), _U),
    "python_below": DrawInfo((_U,), _U),
}

DRAWS = LIBRARY | OWN

OF_PYTHON = frozenset({"python_random", "python_bits", "python_below"})
"""The functions that draw from a random.Random."""
