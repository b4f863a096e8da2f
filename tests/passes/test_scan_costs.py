"""Costs of scans: operations of an iteration, and what waiting for the step before adds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from appyc.errors import GENERATED
from appyc.ir.names import NameSupply
from appyc.ir.nodes import For, Intrinsic, Stmt
from appyc.ir.schedule import Scan
from appyc.ir.types import DType
from appyc.passes.parallelise.scan_composition import CALL_COST, LANES, WAITS, Totals, operations_of
from tests.ir_makers import Program, add, assign, binary, compare, expr, for_, if_, load, mul, store, update

p = Program()
n, a, b = p.integer("n"), p.array("a", 1), p.array("b", 1)
i, s, k = p.index("i"), p.local("s"), p.local("k", DType.INT64)


def at(array):
    return load(array, i, checked=False)


def call(name: str) -> Intrinsic:
    return Intrinsic(name, (at(a),), DType.FLOAT64, loc=GENERATED)


@pytest.mark.parametrize(
    ("body", "operations"),
    [
        ([], 0),
        ([assign(s, 1.0)], 0),
        ([assign(s, add(at(a), at(b)))], 3),
        ([store(b, [i], mul(at(a), 2.0))], 3),
        ([update(s, [], "+", at(a))], 2),
        ([if_(compare(">", at(a), 1.0), [assign(s, at(b))])], 3),
        ([assign(s, binary("/", at(a), 2.0))], 1 + CALL_COST),
        ([assign(s, call("exp"))], 1 + CALL_COST),
        ([assign(s, call("abs"))], 2),
    ],
)
def test_operations(body: list[Stmt], operations: int) -> None:
    assert operations_of(tuple(body)) == operations + 1


def totals_of(loop: For) -> Totals:
    everything = p.function(assign(s, 0.0), assign(k, 0), for_(i, 0, 1, []))
    return Totals(loop, NameSupply.after(everything))


def scan(op: str, symbol, *body: Stmt) -> For:
    return replace(for_(i, 0, n, list(body)), scans=(Scan(op, symbol),))


def test_a_sum_of_floats_waits_and_its_first_pass_has_lanes() -> None:
    loop = scan("+", s, update(s, [], "+", at(a)), store(b, [i], s))
    body = operations_of(loop.body)
    cost = totals_of(loop).cost()
    assert cost.in_order == body + WAITS["+"]
    assert cost.in_chunks == body + operations_of((update(s, [], "+", at(a)),)) // LANES


def test_a_recurrence_waits_longer_and_its_first_pass_runs_in_order() -> None:
    loop = scan("linear", s, assign(s, add(mul(at(a), s), at(b))))
    totals = totals_of(loop)
    cost = totals.cost()
    assert cost.in_order == operations_of(loop.body) + WAITS["linear"]
    assert cost.in_chunks == operations_of(loop.body) + operations_of(totals.loop().body)
    assert WAITS["linear"] > WAITS["+"]


def test_integers_do_not_wait() -> None:
    loop = scan("+", k, if_(compare(">", at(a), 1.0), [update(k, [], "+", expr(1))]))
    assert totals_of(loop).cost().in_order == operations_of(loop.body)
