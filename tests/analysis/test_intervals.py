"""The values of loop-carried scalars, against what an interpreter sees them have."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.analysis.algebra.intervals import (
    MAX_BOXES,
    WORK,
    Box,
    Intervals,
    hull_of,
    reachable_values,
    widened,
)
from appyc.analysis.sets.evaluate import evaluate
from appyc.ir.nodes import (
    Assign,
    Binary,
    Break,
    Continue,
    For,
    Function,
    If,
    Stmt,
    Symbol,
    Update,
    Var,
    While,
)
from appyc.ir.raising import traps_overflow
from appyc.ir.visit import loops_of, statements, walk
from appyc.passes.checks.check_integer_overflow import check_integer_overflow
from appyc.pipeline import SIMPLIFY
from tests.ir_makers import Program
from tests.lowering import after, lowered


def heads(fn: Function) -> Iterator[set[frozenset[tuple[str, tuple[int, int]]]]]:
    """The states at each loop, with the variables' names."""
    found = reachable_values(fn)
    for loop in (n for n in walk(fn.body) if isinstance(n, For | While)):
        yield {
            frozenset((symbol.name, ends) for symbol, ends in box.items())
            for box in found.at.get(id(loop), ())
        }


def states(*each: dict[str, tuple[int, int] | int]) -> set[frozenset[tuple[str, tuple[int, int]]]]:
    return {frozenset((k, (v, v) if isinstance(v, int) else v) for k, v in one.items()) for one in each}


def toggle(a, n):
    p = 0
    for t in range(n):
        a[p] = t
        p = 1 - p


def exchange(a, n):
    p, q = 0, 1
    for t in range(n):
        a[p] = a[q] + t
        p, q = q, p


def ring(a, n):
    k = 0
    for t in range(n):
        a[k] = t
        k += 1
        if k == 100:
            k = 0


def far_ring(a, n):
    k = 7
    while n > 0:
        a[k] = n
        k = (k + 5) % 1000
        n -= 1


def counts(a, n):
    k = 0
    for t in range(n):
        if a[t] > 0:
            a[k] = t
            k += 1


def counts_and_wraps(a, n):
    k = np.int64(0)
    for t in range(n):
        if a[t] > 0:
            a[k] = t
            k += np.int64(1)


def dead_before(a, n):
    """Neither is read once the loop has begun: a state would grow with each of such names."""
    k = 3
    a[k] = 1.0
    m = 5 if n > 7 else 6
    a[m] = 2.0
    p = 0
    for t in range(n):
        c = t % 4
        a[p] = c
        p = 1 - p


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (dead_before, states({"p": 0}, {"p": 1})),
        (toggle, states({"p": 0}, {"p": 1})),
        (ring, states({"k": (0, 99)})),
        (far_ring, states({"k": (0, 999)})),
        (counts, states({"k": (0, 2**63 - 1)})),  # it is Python's, and does not wrap
        (counts_and_wraps, states({})),
    ],
)
def test_known_loops(fn, expected):
    (found,) = heads(lowered(fn, np.zeros(100), 5))
    assert found == expected


def test_exchanged_values_are_seen_together():
    (found,) = heads(lowered(exchange, np.zeros(100), 5))
    pairs = {tuple(dict(state)[name] for name in "pq") for state in found}
    assert pairs == {((0, 0), (1, 1)), ((1, 1), (0, 0))}


def test_widening_ends_where_bounds_rotate_between_scalars():
    p = Program()
    names = [p.integer(name) for name in ("old", "now", "new")]
    head = entry = {s: (k, k) for k, s in enumerate(names)}
    for rounds in range(1, 12):
        rotated = {s: head[t] for s, t in zip(names, (*names[1:], names[0]), strict=True) if t in head}
        both = hull_of([head, entry, rotated])
        if both == head:
            return
        head = widened(head, both, [2, 5] if rounds < 4 else [])
    raise AssertionError("bounds still change")


# ---------------------------------------------------------------- random programs


class Writer:
    """A random program of integers that loops change."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.loops = 0

    def number(self) -> str:
        pick = self.rng.choice
        name, other, c = pick("pqr"), pick("pqr"), self.rng.randint(0, 4)
        return pick([
            str(c), name, f"{c} - {name}", f"{name} + {c}", f"{name} ^ {c}", f"{name} & {c}", f"-{name}",
            f"({name} + {c}) % {c + 1}", f"{name} // {c + 1}", f"min({name}, {other})", f"max({name}, {c})",
            f"{name} - {other}", f"{c} if {self.test()} else {name}",
        ])  # fmt: skip

    def test(self) -> str:
        op = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        first = f"{self.rng.choice('pqr')} {op} {self.rng.choice(['p', 'q', 'r', '0', '1', '3'])}"
        return first if self.rng.random() < 0.8 else f"{first} {self.rng.choice(['and', 'or'])} n > 2"

    def block(self, depth: int, in_loop: bool, pad: str) -> list[str]:
        out: list[str] = []
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.random()
            if kind < 0.15 and depth < 3:
                self.loops += 1
                out += [f"{pad}for t{self.loops} in range({self.rng.choice(['n', '3', 'p', 'q + 1'])}):"]
                out += self.block(depth + 1, True, pad + "    ")
            elif kind < 0.2 and depth < 2:
                self.loops += 1
                out += [f"{pad}w{self.loops} = 0", f"{pad}while w{self.loops} < n and {self.test()}:"]
                out += [f"{pad}    w{self.loops} += 1", *self.block(depth + 1, False, pad + "    ")]
            elif kind < 0.4 and depth < 4:
                out += [f"{pad}if {self.test()}:", *self.block(depth + 1, in_loop, pad + "    ")]
                if self.rng.random() < 0.5:
                    out += [f"{pad}else:", *self.block(depth + 1, in_loop, pad + "    ")]
            elif kind < 0.45 and in_loop:
                return [*out, f"{pad}{self.rng.choice(['break', 'continue'])}"]
            elif kind < 0.55:
                out.append(f"{pad}p, q = q, p")
            else:
                out.append(f"{pad}{self.rng.choice('pqr')} = {self.number()}")
        return out

    def program(self) -> str:
        body = [f"    {name} = {self.rng.randint(0, 2)}" for name in "pqr"]
        body += ["    for t in range(n):", *self.block(1, True, " " * 8)]
        return "\n".join(["def program(n):", *body, "    return p, q, r", ""])


class Jump(Exception):
    def __init__(self, kind: type) -> None:
        self.kind = kind


class Interpreter:
    """Runs IR of scalars, and looks whether a loop's states have the values."""

    def __init__(self, fn: Function, n: int) -> None:
        self.found: Intervals = reachable_values(fn)
        self.known: dict[Symbol, Any] = {fn.params[0]: n}
        self.steps = 0
        self.block(fn.body)

    def see(self, where: dict[int, list[Box]], node: Stmt) -> None:
        possible = where.get(id(node))
        if possible is None:
            return
        ok = any(
            all(
                symbol not in self.known or low <= int(self.known[symbol]) <= high
                for symbol, (low, high) in box.items()
            )
            for box in possible
        )
        assert ok, (node, possible, self.known)

    def value(self, expr: Any) -> Any:
        return evaluate(expr, self.known)

    def block(self, body: tuple[Stmt, ...]) -> None:
        for stmt in body:
            self.steps += 1
            if self.steps > 20_000:
                raise Jump(Function)
            match stmt:
                case Assign():
                    self.known[stmt.target] = self.value(stmt.value)
                case Update():
                    changed = Binary(stmt.op, Var(stmt.target, loc=stmt.loc), stmt.value, loc=stmt.loc)
                    self.known[stmt.target] = self.value(changed)
                case If():
                    self.block(stmt.then if self.value(stmt.cond) else stmt.orelse)
                    self.see(self.found.behind, stmt)
                case For() | While():
                    self.loop(stmt)
                    self.see(self.found.behind, stmt)
                case Break() | Continue():
                    raise Jump(type(stmt))
                case _:
                    raise AssertionError(stmt)

    def loop(self, loop: For | While) -> None:
        turns = iter(())
        if isinstance(loop, For):
            turns = iter(range(int(self.value(loop.lo)), int(self.value(loop.hi)), loop.step))
        while True:
            if isinstance(loop, For):
                self.known.pop(loop.var, None)
            self.see(self.found.at, loop)
            if isinstance(loop, For):
                turn = next(turns, None)
                if turn is None:
                    return
                self.known[loop.var] = turn
            elif not self.value(loop.cond):
                return
            try:
                self.block(loop.body)
            except Jump as jump:
                if jump.kind is Break:
                    return
                if jump.kind is not Continue:
                    raise


@pytest.mark.sampled
@pytest.mark.parametrize("seed", [*range(150), 1150, 1897])  # the last two: boxes beside a widened one
def test_random_programs(seed: int, tmp_path: Path) -> None:
    text = Writer(random.Random(seed)).program()
    path, scope = tmp_path / "program.py", {}
    path.write_text(text)
    exec(compile(text, str(path), "exec"), scope)
    fn = lowered(scope["program"], 3)
    assert loops_of(fn.body)
    for n in (0, 1, 5):
        try:
            Interpreter(fn, n)
        except Jump:
            continue  # too many steps


def test_what_a_branch_tells_of_a_scalar_holds_only_in_it():
    @appyc.jit(strict=True, cache=False)
    def stores(a, steps, s):
        k = 0
        for t in range(steps.shape[0]):
            if k >= 0 and k < 5:
                m = 0
                for j in range(s.shape[0]):
                    if s[j] > 0:
                        s[m] = j
                        m += 1
            a[k] = t
            k = k + steps[t]

    with pytest.raises(IndexError, match="index 1000010 is out of bounds"):
        stores(np.zeros(11), np.array([0, 10, 1_000_000, 0]), np.arange(6))


# ---------------------------------------------------------------- refused


@appyc.jit
def starts_below_zero(u, steps):
    p = -1  # 1 - p is 2, which is the last of three rows, as -1 is
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, u.shape[1]):
            u[1 - p, i] = u[p, i - 1]
        p = 1 - p


@appyc.jit
def meets_itself(u, steps):
    p, q = 0, 0
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, u.shape[1]):
            u[q, i] = u[p, i - 1]
        p, q = q, p


@appyc.jit
def leaves_the_toggle(u, steps):
    p = 0
    for t in range(steps):
        # pragma parallel for
        for i in range(1, u.shape[1]):
            u[1 - p, i] = u[p, i - 1]
        p = 1 - p
        if t == 3:
            p -= 1


@pytest.mark.parametrize("fn", [starts_below_zero, meets_itself, leaves_the_toggle])
def test_rows_that_may_be_one_are_refused(fn):
    with pytest.raises(appyc.DependenceError):
        fn(np.zeros((3, 20)), 6)


def test_a_comparison_bounds_the_variable_of_a_sum_and_a_product():
    """Sifting down a heap: `2 * k + 1 < n` keeps k below n / 2, so that none of it can overflow."""

    def sift(a, n):
        k = 0
        while 2 * k + 1 < n:
            c = 2 * k + 1
            if c + 1 < n and a[c] < a[c + 1]:
                c += 1
            a[k] = a[c]
            k = c

    fn = after(lowered(sift, np.arange(9), 9), *SIMPLIFY, check_integer_overflow)
    assert not any(traps_overflow(n) for n in walk(fn))


def nested_counters(a, n):
    p = q = r = 0
    for _ in range(n):
        while p < 5 and a[p] > 0:
            p += 1
            while q < 7 and a[q] > p:
                q += 1
                while r < 9 and a[r] > q:
                    r += 1
                r = 0 if a[r] > 2 else r
            q = q - 1 if q > 3 else q
        p = p % 3


def test_a_loop_that_was_widened_is_looked_at_with_one_box():
    fn = lowered(nested_counters, np.zeros(10), 5)
    found = reachable_values(fn)
    size = sum(1 for _ in statements(fn.body))
    spent = WORK * (sum(1 for _ in walk(fn.body)) + MAX_BOXES) - found.work
    assert spent < 20 * size


def test_floats_and_loops_that_change_no_integer_are_not_looked_at():
    def sums(a, n):
        total = 0.0
        for i in range(n):
            for j in range(n):
                if a[j] > 0.5:
                    total += a[i] * a[j]
        return total

    found = reachable_values(lowered(sums, np.zeros(3), 3))
    assert (found.at, found.behind, found.work) == ({}, {}, 0)
