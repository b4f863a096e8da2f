"""Dicts whose keys stand in the program: parameters of a model, small records; nothing is left to Python."""

from collections import defaultdict
from functools import partial

import numpy as np

from tests.programs.registry import Programs, floats

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))

GRID = {"nx": 5, "ny": 6, "weights": np.arange(3.0), "steps": {"dx": 2.5}}


@_on(floats(5, 6))
def of_the_module(x):
    s = 0.0
    for i in range(GRID["nx"]):
        for j in range(GRID["ny"]):
            s += x[i, j] * GRID["steps"]["dx"]
    return s + GRID["weights"][1]


@_on(floats(10), 3)
def written_out(x, n):
    p = {"a": 1.5, "b": float(n), 3: "fast", "v": x * 2}
    q = p
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        for k in range(n):
            out[i] += p["a"] * x[i] + q["b"] * k
    p["v"][0] = 100.0
    return out, len(q), p["v"], q[3] == "fast"


def _scaled(x, p):
    return {"value": x * p["a"] + p["b"], "n": p.get("n") if p is None else 4}


@_on(floats(10), {"a": 2.0, "b": 1})
@_on(floats(10), {"b": floats(10), "a": floats(10, dtype=np.float32), "more": "text"})
def given(x, p):
    return _scaled(x, p)["value"], _scaled(x, p)["n"]


@_on(floats(10), 3)
def returned(x, n):
    stats = dict(mean=x.mean(), n=len(x), more={"n": n, 3: (x, x[1:])})  # noqa: C408
    stats["span"] = x.max() - x.min()
    return stats, n


@_on(floats(10))
def filled_and_returned(x):
    out = {}
    out["scaled"] = x * 2
    s = 0.0
    for v in x:
        s += v
    out["sum"] = s
    return out


@_on(floats(10), 3)
@_on(floats(10), 1)
def one_of_two_returned(x, n):
    if n > 2:
        return {"a": x + 1, "b": 1}
    return {"a": x * 2, "b": 2}


def _moments(x):
    return {"mean": x.mean(), "n": 2}


@_on(floats(10))
def with_another_in_it(x):
    found = _moments(x)
    return {"z": x - found["mean"], "mean": 0, **found}


@_on(floats(20))
@_on(floats(0), joined=True)
def stored_into(x):
    state = {"n": 0, "sum": 0.0, "all": x}
    for v in x:
        if v > 0.0:
            state["n"] += 1
            state["sum"] = state["sum"] + v
    state["mean"] = state["sum"] / max(state["n"], 1)
    return state["mean"], state["n"], state["all"].size


@PROGRAMS.on(floats(7))
def run_over(x):
    table = {"scale": 2.0, "offset": x.sum(), "n": 3}
    total = 0.0
    names = 0
    for key in table:  # noqa: PLC0206  (as programs write it)
        total += table[key]
        if key == "offset":
            names += 1
    for value in table.values():
        total += value * 2
    for key, value in table.items():
        if key != "n":
            total += value
    return total, names, len(table), sum(table.values()), "n" in table


@PROGRAMS.on(floats(7))
def read_with_get(x):
    table = {"scale": 2.0, 5: 1}
    return table.get("scale") * x[0], table.get("no", -1.5), table.get(5, 7), table.get("no") is None


@PROGRAMS.on(floats(5))
def stored_into_while_running_over_others(x):
    counts = {"low": 0, "high": 0}
    limits = {"low": -1.0, "high": 1.0}
    for v in x:
        for name, limit in limits.items():
            if v > limit:
                counts[name] += 1
    return counts["low"], counts["high"]


@PROGRAMS.on(np.array([1, 2, 1, 7]))
@PROGRAMS.on(np.arange(60) ** 2 % 97)
def reads_enter_missing_keys(a):
    counts = defaultdict(int)
    for x in a:
        if counts[x] < 2 and counts[x + 1] < 5:
            counts[x] += counts[x - 1] + 1
    total = 0
    for k in counts:
        total += counts[k] * k
    i = 0
    while counts[i] < 3:
        counts[a[i % len(a)] % 5] += 1
        i = (i + 1) % 5
    return total, counts


@PROGRAMS.on(np.array([0, 1, 2, 1, 1]), np.array([1, 2, 0, 2, 3]), np.ones(5))
def pairs_with_weights(u, v, w):
    near = defaultdict(float)
    for i in range(len(u)):
        near[u[i], v[i]] += w[i]
    best = near[0, 0] - 1.0
    for (i, j), weight in near.items():
        if weight > best and j < 3:
            best = weight
    return best, len(near)
