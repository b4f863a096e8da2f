"""Expressions under masks: checks of indices and of overflow, and what only some lanes evaluate."""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np
import pytest

import appyc
from appyc.errors import InternalError
from appyc.ir.fault_words import FaultSites
from appyc.ir.gpu_program import Fault
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Call, Expr
from appyc.ir.types import DType
from appyc.passes.gpu.lane_expressions import ExpressionLowering, Where, is_in_subscript, may_act
from appyc.runtime.triton_interpret import interpret
from tests.ir_makers import Program, add, assign, binary, expr, for_, load, store
from tests.printed import run_printed
from tests.triton_gen.source_runner import compare as agrees
from tests.triton_gen.source_runner import program_of

RNG = np.random.default_rng(7)


def chosen(a, index, c, out):
    # pragma parallel for
    for i in range(index.shape[0]):
        out[i] = a[index[i]] if c[i] > 0.5 else 0.0


def test_text(golden):
    args = RNG.random(5), np.array([0, 9, 4, -5]), np.array([1.0, 0.0, 1.0, 1.0]), np.zeros(4)
    golden("triton_lane_expressions.txt", agrees(chosen, *args, build=False).kernels[0].text)


def gather(a, index, out):
    # pragma parallel for
    for i in range(index.shape[0]):
        out[i] = a[index[i]]


def scatter(a, index, out):
    # pragma parallel for independent
    for i in range(index.shape[0]):
        out[index[i]] = a[i]


def test_gather_out_of_range_names_array_index_and_extent():
    index = RNG.integers(0, 20, 150)
    index[77] = 25
    args = [RNG.random(20), index, RNG.random(150)]
    with pytest.raises(IndexError, match="index 25 is out of bounds for axis 0 of 'a' with size 20"):
        interpret(program_of(gather, *args))(args)


def test_scatter_out_of_range_writes_nothing_outside():
    memory = np.zeros(30)
    args = [RNG.random(5), np.array([0, 12, 3, 4, -11]), memory[10:20]]
    with pytest.raises(IndexError, match="index 12"):
        interpret(program_of(scatter, *args))(args)
    assert not memory[:10].any()
    assert not memory[20:].any()


def walk_list(following, start):
    at, steps = start, 0
    while at != 0:
        at = following[at]
        steps += 1
    return steps


def test_fault_ends_a_while_loop_inside_a_kernel():
    args = [np.array([0, 7, 1]), 2]
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 of 'following' with size 3"):
        interpret(program_of(walk_list, *args))(args)


def first_items(rows, n):
    near = [[] for _ in range(n)]
    for k in range(n):
        near[k].append(k)
    total = 0
    for k in range(len(rows)):
        total += near[rows[k]][0]
    return total


def test_accesses_that_a_test_makes_safe_do_not_happen_behind_its_fault():
    """In one kernel, and in those behind it; rows that are far outside would be read from memory that is not there."""
    compiled = appyc.jit(target="interpret", cache=False, strict=True)(first_items)
    assert compiled(np.array([0, 2, 1]), 3) == 3
    with pytest.raises(IndexError):
        compiled(np.array([0, 1, 1 << 40]), 3)


EDGES = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    7,
    40,
    62,
    63,
    2**31,
    2**32,
    3037000499,
    3037000500,
    2**62,
    -(2**62),
    2**63 - 1,
    -(2**63),
]
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "<<": operator.lshift}


def overflows(op: str):
    """A function that says whether `n op m` is noted as a fault, and what it is else."""
    p = Program()
    n, m = p.integer("n"), p.integer("m")
    lower, out = ExpressionLowering(NameSupply.after(p.function()), FaultSites()), []
    value = lower.expr(binary(op, n, m, trap=True), Where(), out)
    (fault,) = (stmt for stmt in out if isinstance(stmt, Fault))
    fn = p.function(*(stmt for stmt in out if stmt is not fault), results=[fault.cond, value])
    return lambda a, b: run_printed(fn, a, b)


@pytest.mark.parametrize("op", OPERATORS)
def test_overflow_is_noted_exactly(op):
    compiled = overflows(op)
    for a in EDGES:
        for b in EDGES:
            if op == "<<" and not 0 <= b <= 63:
                continue
            exact = OPERATORS[op](a, b)
            bad, value = compiled(a, b)
            assert bool(bad) == (not -(2**63) <= exact < 2**63), (a, b)
            assert bad or value == exact


def test_powers_about_the_limit_count_as_too_large():
    compiled = overflows("**")
    for base, exponent, bad in (
        (2, 62, False),
        (2, 63, True),
        (3037000499, 2, False),
        (3, 39, False),
        (3, 40, True),
    ):
        assert bool(compiled(base, exponent)[0]) == bad, (base, exponent)


def lowered(e: Expr, where: Where = Where()) -> tuple[Expr, list]:  # noqa: B008
    lower, out = ExpressionLowering(NameSupply.after(Program().function()), FaultSites()), []
    return lower.expr(e, where, out), out


def test_an_unchecked_expression_without_choices_stays_as_it_is():
    p = Program()
    plain = add(load(p.array("a", 1), p.integer("n"), checked=False), 1.0)
    assert lowered(plain) == (plain, [])


def test_a_shared_address_needs_no_mask_in_lanes_behind_the_end():
    p = Program()
    a, inside, safe = (p.array("a", 1), *(expr(p.local(name, DType.BOOL)) for name in ("inside", "safe")))
    shared = load(a, 0, checked=False)
    assert lowered(shared, Where(inside, lanes=True))[0].mask is None
    assert lowered(shared, Where(inside, lanes=True, safe=safe))[0].mask == safe
    assert lowered(shared, Where(inside, lanes=True, narrow=True))[0].mask == inside
    assert lowered(shared, Where(inside, lanes=True).only(safe))[0].mask == binary("&", inside, safe)


def test_a_shared_address_needs_no_mask_while_a_lane_is_active():
    p = Program()
    a, inside, other = (p.array("a", 1), *(expr(p.local(name, DType.BOOL)) for name in ("inside", "other")))
    shared, around = load(a, 0, checked=False), Where(lanes=True).while_any(inside)
    assert lowered(shared, around)[0].mask is None
    assert lowered(shared, around.only(other))[0].mask == binary("&", inside, other)
    assert lowered(shared, replace(around, safe=other))[0].mask == binary("&", inside, other)


def test_what_is_not_for_kernels_is_refused():
    p = Program()
    n = expr(p.integer("n"))
    with pytest.raises(InternalError, match="Call inside a kernel"):
        lowered(Call("f", (n,), DType.INT64, loc=n.loc))


def test_facts_about_expressions():
    p = Program()
    a, n, i, x = p.array("a", 1), p.integer("n"), p.index("i"), p.local("x")
    assert may_act(load(a, 0))
    assert may_act(binary("//", n, n, trap=True))
    assert not may_act(binary("//", n, 2))
    assert is_in_subscript(for_(i, 0, n, [store(a, [add(i, 1)], 0.0)]))
    assert not is_in_subscript(for_(i, 0, n, [assign(x, i), store(a, [0], x)]))
