"""Structured arrays and records as arguments, whose fields are arrays of their own."""

from typing import NamedTuple

import numpy as np

import appyc
from tests.programs.registry import C_ONLY, Programs, ints

PROGRAMS = Programs(strict=True)
_on = PROGRAMS.on

_FIELDS = [("id", "i8"), ("side", "i4"), ("price", "f8"), ("filled", "?"), ("point", "f4", (3,)), ("z", "c16")]
ALIGNED, PACKED = np.dtype(_FIELDS, align=True), np.dtype([("mark", "i1"), *_FIELDS])


def _orders(n=12, dtype=ALIGNED, seed=0):
    out = np.zeros(n, dtype)
    rng = np.random.default_rng(seed)
    out["id"], out["side"] = np.arange(n), rng.integers(0, 2, n)
    out["price"], out["filled"] = rng.random(n), rng.random(n) < 0.5
    out["point"], out["z"] = rng.random((n, 3)), rng.random(n) + 1j
    return out


def _read_only(array):
    array.flags.writeable = False
    return array


def _at_odd_address(n):
    """Records of an aligned dtype at addresses that are not."""
    memory = np.zeros(n * ALIGNED.itemsize + 1, np.uint8)[1:]
    out = memory.view(ALIGNED)
    out[:] = _orders(n)
    return out


@_on(_orders())
@_on(_orders(24)[::-2])
@_on(_orders(0), joined=True)
@_on(_read_only(_orders()))
@_on(_orders(dtype=PACKED))
@_on(_at_odd_address(7))
def read(orders):
    total, z = 0.0, 0j
    for i in range(len(orders)):
        total += orders["price"][i] * orders[i]["side"]
        z += orders[i]["z"] + orders["point"][i, 1] + orders[i]["point"][2]
    last = 0
    for order in orders:
        if order["filled"]:
            last = order["id"]
    return total, z, last, orders.size, orders.ndim, orders.shape


@_on(_orders(), _orders(seed=1))
@_on(_orders(24)[::-2], _orders(seed=1))
@_on(_orders(dtype=PACKED), _orders(dtype=PACKED, seed=1))
def written(orders, out):
    for i in range(orders.shape[0]):
        order = orders[i]
        if order["filled"]:
            out[i]["price"] = order["price"] + 1
            out["id"][i] -= order["id"] * 2
        out[i]["point"] = 1.5
        out[i]["point"][1] = i
    out["side"][:] = -1
    out["z"] = orders["z"] * 2


@_on(_orders())
def fields_of_one_array(orders):
    for i in range(1, len(orders)):
        orders[i]["price"] = orders[i - 1]["id"] + orders[i]["z"].imag
        orders["id"][i] = orders[i]["side"] + orders[i - 1]["price"]


@_on(_orders(), ints(5, lo=-3, hi=3))
@_on(_orders(2), np.array([1, -3, 0]))
@_on(_orders(2), np.array([1, 2, 0]))
def picked(orders, chosen):
    total = 0.0
    for k in range(len(chosen)):
        order = orders[chosen[k]]
        total += order["price"] - order["side"]
    return total + orders[-1]["price"]


@_on(_orders(), 2, 7)
@_on(_orders(), 9, 3)
@_on(_orders(dtype=PACKED), -5, 20)
def slices(orders, first, end):
    part = orders[first:end]
    part["price"][:] = 5
    for i in range(len(part)):
        part[i]["id"] += i
    return np.sum(part["price"] * part["side"]), part["point"][1:, 0].sum(), part, orders[2:][1]["id"]


@_on(_orders())
def returned(orders):
    return orders, orders["price"], orders["point"][1:, 2], orders[::-2]


@_on(_orders(), 12)
def never_read(orders, k):
    order = orders[k]
    return k


def _fill(record, number, price):
    record["id"] = number
    record["price"] = price
    return record


@_on(_orders(), 5)
@_on(_orders(), 13)
def of_functions(orders, n):
    for i in range(n):
        r = _fill(orders[i], i, i * 0.5)
        r["side"] += 1
    return orders[n - 1]["id"]


@_on(np.zeros(5, ALIGNED[["id", "side", "price"]])[2], 3)
def record(r, n):
    for i in range(n):
        r["id"] += i
    r["price"] = r["id"] + r["side"]
    return r["price"]


class Tree(NamedTuple):
    nodes: np.ndarray
    weights: np.ndarray


@_on(Tree(_orders(), np.arange(12.0)))
def in_a_tuple(tree):
    s = 0.0
    for i in range(len(tree.nodes)):
        node = tree.nodes[i]
        s += node["price"] * tree.weights[node["id"]]
    return s


@_on(_orders(64))
def in_parallel(orders):
    for i in appyc.prange(len(orders)):
        orders[i]["price"] = orders[i]["price"] * 2 + orders[i]["side"]
        orders["side"][i] = 0


_ONE = _orders()


@_on(_ONE[2:9], _ONE[1:8], targets=C_ONLY)
@_on(_ONE, _ONE)
def overlapping(orders, others):
    for i in range(len(orders)):
        orders[i]["price"] = others[i]["price"] + others[0]["id"]
        orders[i]["id"] += 1


# ---------------------------------------------------------------- new ones


@_on(9, 4)
@_on(0, 0, joined=True)
@_on(3, -1)
def made(n, m):
    some, none = np.empty(n, dtype=PACKED), np.zeros(m, ALIGNED)
    k = 0
    for name in range(n):
        if name % 3:
            some[k]["id"], some["side"][k] = name, -name
            some[k]["price"] = name * 0.5
            some[k]["mark"] = some[k]["filled"] = name % 2
            some[k]["z"] = 1j * name
            some["point"][k] = name
            k += 1
    for record in none:
        record["point"][1] = 5
        record["id"] += len(none)
    return some[:k], none, none[1:]["price"].sum()


def _started(n, is_full):
    out = np.zeros(n, ALIGNED)
    out["id"][:] = -1
    if not is_full:
        return out
    out["price"][:] = 2.5
    return out


@_on(4, True)
@_on(4, False)
def made_by_a_function(n, is_full):
    out = _started(n, is_full)
    _fill(out[2], 7, 1.5)
    return out, out["id"].sum()


@_on(5, True)
@_on(5, False)
def made_in_parallel(n, is_full):
    out = _started(n, is_full)
    for i in appyc.prange(n):
        out[i]["price"] += out[i]["id"] + i
    return out[::-2], out[n:]


@_on(_orders(), 0.5)
@_on(_orders(dtype=PACKED), 0.5)
def chosen(orders, least):
    out = np.empty(len(orders), orders.dtype)
    out["point"][:] = 0
    out["z"] = 1
    k = 0
    for order in orders:
        if order["price"] > least:
            out[k]["id"] = order["id"]
            out[k]["side"] = order["side"]
            out[k]["price"] = order["price"]
            out[k]["filled"] = not order["filled"]
            k += 1
    return out[:k]["id"], k


@_on(_orders())
def comprehended(orders):
    prices = np.array([order["price"] * 2 for order in orders])
    return prices, sum(order["id"] for order in orders[2:] if order["side"] == 1)
