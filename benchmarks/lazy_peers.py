"""The scripts of `benchmarks.lazy` as JAX and numexpr run them.

JAX: the very text, traced with `jax.numpy` for its namespace. The data are arguments, so that nothing is computed
while it compiles, and `float` gives back its argument, since tracing cannot look at values. Where the text stores into
arrays, or writes to a view by `+=`, there is no such form: JAX raises, or the result is another one, and the column
is empty.

numexpr: its expressions, written by hand with one `evaluate` for each array that is needed, for scripts that it
can say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy

Script = Callable[[Any], Any]


def jax_form(script: Script, data: dict[str, numpy.ndarray]) -> Callable[[], float] | None:
    """The script under `jax.jit`; None where JAX is not installed."""
    try:
        import jax  # noqa: PLC0415  (an optional peer)
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    assert isinstance(script, FunctionType)

    def traced(given: dict[str, Any]) -> Any:
        names = {**script.__globals__, **given, "float": lambda value: value}
        return FunctionType(script.__code__, names)(jax.numpy)

    compiled = jax.jit(traced)
    there = {name: jax.numpy.asarray(values) for name, values in data.items()}
    return lambda: float(compiled(there))


def numexpr_form(name: str, data: dict[str, numpy.ndarray]) -> Callable[[], float] | None:
    """The script in numexpr's words; None where there are none, or numexpr is not installed."""
    try:
        import numexpr  # noqa: PLC0415  (an optional peer)
    except ImportError:
        return None
    form = _FORMS.get(name)
    return None if form is None else lambda: form(numexpr.evaluate, data)


def _gray_scott(run: Any, data: dict[str, numpy.ndarray]) -> float:
    u, v = run("1.0 - 0.5 * g", {"g": data["GRID"]}), run("0.25 * g", {"g": data["GRID"]})
    for _ in range(10):
        names = {**_around("u", u), **_around("v", v)}
        du = run("0.16 * (un + uw - 4.0 * uc + ue + us) - uc * vc * vc + 0.06 * (1.0 - uc)", names)
        dv = run("0.08 * (vn + vw - 4.0 * vc + ve + vs) + uc * vc * vc - 0.122 * vc", names)
        u[1:-1, 1:-1] += du
        v[1:-1, 1:-1] += dv
    return float(u.sum() + v.sum())


def _around(name: str, a: numpy.ndarray) -> dict[str, numpy.ndarray]:
    """The interior of a grid and its neighbours."""
    return {name + "c": a[1:-1, 1:-1], name + "n": a[:-2, 1:-1], name + "s": a[2:, 1:-1], name + "w": a[1:-1, :-2],
            name + "e": a[1:-1, 2:]}  # fmt: skip


def _jacobi(run: Any, data: dict[str, numpy.ndarray]) -> float:
    a = data["GRID"].copy()
    change = 1.0
    for _ in range(10):
        new = run("0.2 * (ac + an + as_ + aw + ae)", {**_around("a", a), "as_": a[2:, 1:-1]})
        change = float(run("abs(new - old)", {"new": new, "old": a[1:-1, 1:-1]}).max())
        a[1:-1, 1:-1] = new
    return change


def _black_scholes(run: Any, data: dict[str, numpy.ndarray]) -> float:
    price, strike, years = data["SPOTS"]
    names = {"price": price, "strike": strike, "years": years}
    d1 = run("(log(price / strike) + (0.05 + 0.5 * 0.3 * 0.3) * years) / (0.3 * sqrt(years))", names)
    d2 = run("d1 - 0.3 * sqrt(years)", {"d1": d1, "years": years})

    def cumulative(x: numpy.ndarray) -> numpy.ndarray:
        k = run("1.0 / (1.0 + 0.2316419 * abs(x))", {"x": x})
        tail = run("0.3989422804014327 * exp(-0.5 * x * x) * k * (0.319381530 + k * (-0.356563782 + k * (1.781477937"
                   " + k * (-1.821255978 + k * 1.330274429))))", {"x": x, "k": k})  # fmt: skip
        found: numpy.ndarray = run("where(x > 0, 1.0 - tail, tail)", {"x": x, "tail": tail})
        return found

    names |= {"one": cumulative(d1), "two": cumulative(d2)}
    return float(run("price * one - strike * exp(-0.05 * years) * two", names).sum())


def _mixture(run: Any, data: dict[str, numpy.ndarray]) -> float:
    x = data["POINTS"][:, 0].copy()
    density = numpy.zeros_like(x)
    for weight, mean, deviation in ((0.3, -1.0, 0.5), (0.5, 0.4, 1.0), (0.2, 2.0, 0.7)):
        names = {
            "density": density,
            "x": x,
            "m": mean,
            "d": deviation,
            "w": weight / (deviation * math.sqrt(2 * math.pi)),
        }
        density = run("density + w * exp(-0.5 * ((x - m) / d) * ((x - m) / d))", names)
    return float(run("log(density)", {"density": density}).sum())


def _least_squares(run: Any, data: dict[str, numpy.ndarray]) -> float:
    x, y = data["POINTS"][:, 0].copy(), data["POINTS"][:, 1].copy()
    slope, offset = 0.0, 0.0
    for _ in range(20):
        error = run("slope * x + offset - y", {"x": x, "y": y, "slope": slope, "offset": offset})
        slope -= 0.1 * float(run("error * x", {"error": error, "x": x}).mean())
        offset -= 0.1 * float(error.mean())
    return slope + offset


def _mandelbrot(run: Any, data: dict[str, numpy.ndarray]) -> float:
    names: dict[str, Any] = {
        "cx": numpy.linspace(-2.0, 0.5, 900)[None, :],
        "cy": numpy.linspace(-1.2, 1.2, 900)[:, None],
    }
    zx, zy, count = (run("0.0 * cx * cy", names) for _ in range(3))
    for _ in range(24):
        names |= {"zx": zx, "zy": zy, "count": count}
        names["inside"] = run("zx * zx + zy * zy <= 4.0", names)
        zy = run("where(inside, 2.0 * zx * zy + cy, zy)", names)
        zx = run("where(inside, zx * zx - names_zy * names_zy + cx, zx)", {**names, "names_zy": names["zy"]})
        count = run("where(inside, count + 1.0, count)", names)
    return float(count.sum())


def _n_body(run: Any, data: dict[str, numpy.ndarray]) -> float:
    x, y, z = data["BODIES"]
    names = {
        "d" + n: run("a - b", {"a": c[None, :], "b": c[:, None]})
        for n, c in zip("xyz", (x, y, z), strict=True)
    }
    names["inverse"] = run("(dx * dx + dy * dy + dz * dz + 0.01) ** -1.5", names)
    return float(sum(run(f"d{n} * inverse", names).sum(axis=1).max() for n in "xyz"))


def _shallow_water(run: Any, data: dict[str, numpy.ndarray]) -> float:
    h, u, v = (run(text, {"g": data["GRID"]}) for text in ("1.0 + 0.1 * g", "0.0 * g", "0.0 * g"))
    for _ in range(8):
        names = _around("h", h)
        u[1:-1, 1:-1] = run("uc - 0.05 * (he - hw)", {**names, **_around("u", u)})
        v[1:-1, 1:-1] = run("vc - 0.05 * (hs - hn)", {**names, **_around("v", v)})
        names |= _around("u", u) | _around("v", v)
        h[1:-1, 1:-1] = run("hc - 0.05 * hc * (ue - uw + vs - vn)", names)
    return float(run("h * h", {"h": h}).sum() + run("u * u + v * v", {"u": u, "v": v}).sum())


_FORMS: dict[str, Callable[[Any, dict[str, numpy.ndarray]], float]] = {
    f.__name__[1:]: f
    for f in (_gray_scott, _jacobi, _black_scholes, _mixture, _least_squares, _mandelbrot, _n_body, _shallow_water)
}  # fmt: skip
