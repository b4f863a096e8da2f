"""Dicts whose keys stand in the program: parameters of a model, small records; nothing is left to Python."""

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
