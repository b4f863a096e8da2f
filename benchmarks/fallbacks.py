"""Programs that run in Python, in whole or in part, beside plain Python and Numba, in one process.

    python -m benchmarks.fallbacks [--json FILE] [--only NAME]

None may take more than SLOWEST times what Python takes after its first calls. Numba's column is empty where it
does not compile the function. Times are of the process, each the least of several rounds in turn.
"""

from __future__ import annotations

import argparse
import collections
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

import appyc
from benchmarks.drawing import DRAWING

SLOWEST = 1.2
FIRST_CALLS = 30
ROUNDS = 7
LEAST_SECONDS = 0.003
"""Of a measurement: short calls are repeated."""


def word_counts(text):
    counts = {}
    for word in text.split():
        word = word.strip(".,").lower()
        counts[word] = counts.get(word, 0) + 1
    return counts


def caesar(text, shift):
    out = []
    for c in text:
        out.append(chr((ord(c) - 97 + shift) % 26 + 97) if c.isalpha() else c)
    return "".join(out)


class Particle:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def step(self, dt):
        self.x += self.v * dt
        return self.x


def move(particles, dt, steps):
    for _ in range(steps):
        for p in particles:
            p.x += p.v * dt
            if p.x > 1.0:
                p.v = -p.v
    return particles[0].x


def one_step(particle, dt):
    particle.x += particle.v * dt
    return particle.x


def read_attribute(particle, t):
    return particle.x + particle.v * t


def matrix_of_lists(a, b):
    n = len(a)
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i][j] += a[i][k] * b[k][j]
    return c


def generated(n):
    def squares(m):
        for k in range(m):
            yield k * k

    total = 0
    for s in squares(n):
        total += s
    return total


def with_try(a):
    total = 0.0
    for x in a:
        try:
            total += 1 / x
        except ZeroDivisionError:
            total -= 1
    return total


def sliding(a, width):
    window = collections.deque(maxlen=width)
    out = np.zeros(len(a))
    for i in range(len(a)):
        window.append(a[i])
        total = 0.0
        for k in range(3):
            total += a[i] * k
        out[i] = total + len(window)
    return out


def logged(a, log):
    total = 0.0
    for i in range(a.shape[0]):
        for k in range(4):
            total += a[i] * k
        log.append(total)
    return total


def logged_rows(a, log):
    for i in range(a.shape[0]):
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * a[i, k]
        log.append(total)
    return len(log)


def triangle_rows(a, log):
    for i in range(a.shape[0]):
        total = 0.0
        for k in range(i):
            total += a[i, k] * a[k, i]
        log.add(total)
    return len(log)


def helper(table, k):
    return table.get(k, 0) + 1


def small_calls(keys):
    table = {}
    for k in keys:
        table[k] = helper(table, k)
    return table


def shortest_paths(graph, source):
    seen = {source: 0}
    waiting = collections.deque([source])
    while waiting:
        node = waiting.popleft()
        for other in graph[node]:
            if other not in seen:
                seen[other] = seen[node] + 1
                waiting.append(other)
    return seen


def unique_rows(a):
    seen = set()
    for i in range(a.shape[0]):
        seen.add(tuple(a[i]))
    return len(seen)


def formatted(a):
    lines = []
    for i in range(a.shape[0]):
        lines.append(f"{a[i]:.3f}")
    return ",".join(lines)


def structured(points):
    total = 0.0
    for i in range(points.shape[0]):
        total += points[i]["x"] * points["y"][i]
    return total


def half(a):
    total = np.float16(0)
    for i in range(a.shape[0]):
        total = total + a[i]
    return total


def long_list(values):
    best = values[0]
    for v in values:
        if v > best:  # noqa: PLR1730  (as users write it)
            best = v
    return best


def tiny(settings):
    return settings["a"] + settings["b"]


def column(table, k):
    return table[1:, k]


def memo(n, cache):
    if n in cache:
        return cache[n]
    cache[n] = n if n < 2 else cache[n - 1] + cache[n - 2]
    return cache[n]


def memoised(n, known):
    if n in known:
        return known[n]
    known[n] = n if n < 2 else memoised(n - 1, known) + memoised(n - 2, known)
    return known[n]


def orders(items, k, found):
    if k == len(items):
        found.append(tuple(items))
        return
    for i in range(k, len(items)):
        items[k], items[i] = items[i], items[k]
        orders(items, k + 1, found)
        items[k], items[i] = items[i], items[k]


def checksum(data):
    found = 0
    for byte in data:
        found = (found * 31 + byte) & 0xFFFFFFFF
    return found


def mondays(days):
    found = 0
    for day in days:
        if day.astype(int) % 7 == 4:
            found += 1
    return found


def by_name(method, x):
    return {"double": 2 * x, "half": x / 2}[method]


def normalised(record):
    return {key: value / record["n"] for key, value in record.items()}


def fibonacci_number(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def queens(n, row, columns, falling, rising):
    if row == n:
        return 1
    count = 0
    free = ((1 << n) - 1) & ~(columns | falling | rising)
    while free:
        bit = free & -free
        free ^= bit
        count += queens(n, row + 1, columns | bit, (falling | bit) << 1, (rising | bit) >> 1)
    return count


def quicksort(a, lo, hi):
    pivot, i, j = a[(lo + hi) // 2], lo, hi
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i += 1
            j -= 1
    if lo < j:
        quicksort(a, lo, j)
    if i < hi:
        quicksort(a, i, hi)


def flood(grid, i, j):
    if i < 0 or j < 0 or i >= grid.shape[0] or j >= grid.shape[1] or grid[i, j]:
        return 0
    grid[i, j] = 1
    return 1 + flood(grid, i + 1, j) + flood(grid, i - 1, j) + flood(grid, i, j + 1) + flood(grid, i, j - 1)


TEXT = "The quick brown fox, the lazy dog. And the other dog. " * 50
VALUES = np.linspace(0, 1, 2000)
SQUARE = np.linspace(0, 1, 200 * 200).reshape(200, 200)
LISTS = [[float(i + j) for j in range(20)] for i in range(20)]
GRAPH = {k: [(k * 7 + 1) % 500, (k * 3 + 2) % 500, (k + 1) % 500] for k in range(500)}


@dataclass(frozen=True)
class Program:
    """A function, and what makes the arguments of a call."""

    function: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]

    @property
    def name(self) -> str:
        return self.function.__name__


PROGRAMS = (
    Program(word_counts, lambda: (TEXT,)),
    Program(caesar, lambda: (TEXT.lower(), 3)),
    Program(move, lambda: ([Particle(0.1 * k, 0.2) for k in range(20)], 0.1, 30)),
    Program(one_step, lambda: (Particle(0.0, 1.0), 0.1)),
    Program(Particle.step, lambda: (Particle(0.0, 1.0), 0.1)),
    Program(read_attribute, lambda: (Particle(0.0, 1.0), 0.1)),
    Program(matrix_of_lists, lambda: (LISTS, LISTS)),
    Program(generated, lambda: (3000,)),
    Program(with_try, lambda: (VALUES,)),
    Program(sliding, lambda: (VALUES, 10)),
    Program(logged, lambda: (VALUES, [])),
    Program(logged_rows, lambda: (SQUARE, [])),
    Program(triangle_rows, lambda: (SQUARE, set())),
    Program(small_calls, lambda: ([k % 50 for k in range(2000)],)),
    Program(shortest_paths, lambda: (GRAPH, 0)),
    Program(unique_rows, lambda: (SQUARE,)),
    Program(formatted, lambda: (VALUES,)),
    Program(structured, lambda: (np.ones(1000, [("x", float), ("y", float)]),)),
    Program(half, lambda: (np.ones(1000, np.float16),)),
    Program(long_list, lambda: (list(range(3000)),)),
    Program(tiny, lambda: ({"a": 1, "b": 2, 3: 4},)),
    Program(column, lambda: (np.ones((9, 4)), 2)),
    Program(memo, lambda: (5, {4: 3, 3: 2})),
    Program(memoised, lambda: (30, {})),
    Program(orders, lambda: ([1, 2, 3, 4, 5], 0, [])),
    Program(checksum, lambda: (bytes(range(256)),)),
    Program(mondays, lambda: (np.arange("2024-01-01", "2024-12-31", dtype="M8[D]"),)),
    Program(by_name, lambda: ("half", 4.0)),
    Program(fibonacci_number, lambda: (150,)),
    Program(fibonacci, lambda: (20,)),
    Program(ackermann, lambda: (2, 30)),
    Program(queens, lambda: (7, 0, 0, 0, 0)),
    Program(quicksort, lambda: (np.sin(np.arange(3000.0)), 0, 2999)),
    Program(flood, lambda: (np.zeros((20, 20), np.int64), 3, 4)),
    Program(normalised, lambda: ({"n": 2.0, "x": 3.0},)),
)

DRAWN = tuple(Program(function, arguments) for function, arguments in DRAWING)


def seconds(function: Callable[..., Any], arguments: Callable[[], tuple[Any, ...]], calls: int) -> float:
    """Of one call, on the processor."""
    given = [arguments() for _ in range(calls)]
    start = time.process_time()
    for args in given:
        function(*args)
    return (time.process_time() - start) / calls


def decorated(function: FunctionType, decorator: Callable[[Any], Any]) -> Any:
    """The function as a decorator in its module makes it: a recursive one calls what the decorator has made."""
    names = dict(function.__globals__)
    own = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    own.__kwdefaults__ = function.__kwdefaults__
    own.__qualname__, own.__module__ = function.__qualname__, function.__module__
    names[function.__name__] = made = decorator(own)
    return made


def measured(program: Program) -> dict[str, float | None]:
    """The time of a call in each way, after the first ones."""
    ways: dict[str, Callable[..., Any]] = {
        "python": program.function,
        "appyc": decorated(program.function, appyc.jit),
    }
    import numba  # noqa: PLC0415  (the tests run the programs without it)

    compiled = decorated(program.function, numba.njit)
    try:
        compiled(*program.arguments())
        ways["numba"] = compiled
    except Exception:  # noqa: BLE001  (of many classes)
        pass
    for way in ways.values():
        for _ in range(FIRST_CALLS):
            way(*program.arguments())
    calls = max(1, min(20_000, int(LEAST_SECONDS / seconds(program.function, program.arguments, 3))))
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, way in ways.items():
            best[name] = min(best[name], seconds(way, program.arguments, calls))
    return {name: best.get(name) for name in ("python", "appyc", "numba")}


def compare(
    programs: Sequence[Program], args: Sequence[str] | None, usage: str | None
) -> dict[str, dict[str, float | None]]:
    """Measures the programs that the command line asks for, and prints and writes what they take."""
    parser = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only")
    given = parser.parse_args(args)
    warnings.simplefilter("ignore")
    print(f"{'program':<18}{'Python us':>12}{'appyc us':>12}{'ratio':>8}{'Numba us':>12}")
    results = {}
    for program in programs:
        if given.only is not None and given.only != program.name:
            continue
        found = results[program.name] = measured(program)
        python, ours, numbas = (found[k] for k in ("python", "appyc", "numba"))
        assert python is not None
        assert ours is not None
        mark = " <--" if ours > SLOWEST * python else ""
        beside = f"{numbas * 1e6:12.1f}" if numbas is not None else " " * 12
        print(
            f"{program.name:<18}{python * 1e6:12.2f}{ours * 1e6:12.2f}{ours / python:8.2f}{beside}{mark}",
            flush=True,
        )
    if given.json is not None:
        given.json.write_text(json.dumps(results, indent=1) + "\n")
    return results


def main(args: Sequence[str] | None = None) -> int:
    compare((*PROGRAMS, *DRAWN), args, __doc__)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
