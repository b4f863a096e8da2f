"""What a user sees who made a mistake: every message whole, in tests/golden/errors.

Each case is a program as a newcomer would write it, run from a file of its own. The golden
text is what Python prints at the end of the traceback: the class, the message, the notes.
"""

from __future__ import annotations

import copy
import importlib.util
import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.errors import Loc, TypeInferenceError
from appyc.frontend.types.numbers import Either, PartedTypesError
from appyc.ir.types import DType
from appyc.options import num_threads

GOLDEN = Path(__file__).parent / "golden"
HEAD = "import appyc\nimport numpy as np\n\n\n"


def run(program: str, folder: Path) -> ModuleType:
    """Runs a program from a file, so that its source can be read as a user's is."""
    file = folder / "program.py"
    file.write_text(HEAD + program.lstrip("\n"))
    spec = importlib.util.spec_from_file_location("program", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(error: BaseException, folder: Path) -> str:
    """The error as Python prints it, with a path that is the same everywhere."""
    lines = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
    return "\n".join(lines).replace(f"{folder}/", "") + "\n"


PRAGMAS = {
    "pragma_number_of_threads": """
@appyc.jit
def clear(a):
    #pragma parallel for num_threads(2)
    for i in range(len(a)):
        a[i] = 0.0

clear(np.ones(4))
""",
    "pragma_unknown_property_of_a_slice": """
@appyc.jit
def clear(a, n):
    #pragma :n=>quickly
    a[:n] = 0.0

clear(np.ones(4), 2)
""",
    "pragma_at_end_of_block": """
@appyc.jit
def scale(a):
    for i in range(a.shape[0]):
        a[i] *= 2.0
        #pragma parallel for

scale(np.ones(4))
""",
    "pragma_not_indented_as_its_loop": """
@appyc.jit
def scale(a):
#pragma parallel for
    for i in range(a.shape[0]):
        a[i] *= 2.0

scale(np.ones(4))
""",
    "pragma_on_while": """
@appyc.jit
def scale(a):
    i = 0
    #pragma parallel for
    while i < a.shape[0]:
        a[i] *= 2.0
        i += 1

scale(np.ones(4))
""",
    "pragma_on_assignment": """
@appyc.jit
def scale(a):
    #pragma parallel for
    n = a.shape[0]
    for i in range(n):
        a[i] *= 2.0

scale(np.ones(4))
""",
    "pragma_misspelt_directive": """
@appyc.jit
def scale(a):
    #pragma paralel for
    for i in range(a.shape[0]):
        a[i] *= 2.0

scale(np.ones(4))
""",
    "pragma_misspelt_word": """
@appyc.jit
def scale(a):
    #pragm parallel for
    for i in range(a.shape[0]):
        a[i] *= 2.0

scale(np.ones(4))
""",
    "pragma_from_openmp": """
@appyc.jit
def scale(a):
    #pragma omp parallel for
    for i in range(a.shape[0]):
        a[i] *= 2.0

scale(np.ones(4))
""",
    "pragma_misspelt_clause": """
@appyc.jit
def scale(a):
    #pragma parallel for colapse(2)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] *= 2.0

scale(np.ones((4, 4)))
""",
    "pragma_clause_without_argument": """
@appyc.jit
def scale(a):
    #pragma parallel for collapse
    for i in range(a.shape[0]):
        a[i] *= 2.0

scale(np.ones(4))
""",
    "pragma_unknown_operator": """
@appyc.jit
def total(a):
    s = 0.0
    #pragma parallel for reduction(-: s)
    for i in range(a.shape[0]):
        s -= a[i]
    return s

total(np.ones(4))
""",
    "pragma_unknown_name_in_private": """
@appyc.jit
def scale(a):
    #pragma parallel for private(tmp)
    for i in range(a.shape[0]):
        temp = 2.0 * a[i]
        a[i] = temp

scale(np.ones(4))
""",
    "pragma_unknown_name_in_reduction": """
@appyc.jit
def total(a):
    s = 0.0
    #pragma parallel for reduction(+: sum)
    for i in range(a.shape[0]):
        s += a[i]
    return s

total(np.ones(4))
""",
    "pragma_wrong_operator_for_an_array": """
@appyc.jit
def histogram(bins, a):
    #pragma parallel for reduction(*: bins)
    for i in range(a.shape[0]):
        bins[a[i]] += 1

histogram(np.zeros(4, np.int64), np.zeros(4, np.int64))
""",
    "pragma_wrong_reduction_operator": """
@appyc.jit
def total(a):
    s = 0.0
    #pragma parallel for reduction(*: s)
    for i in range(a.shape[0]):
        s += a[i]
    return s

total(np.ones(4))
""",
    "pragma_wrong_operator_for_a_recurrence": """
@appyc.jit
def smoothed(a):
    s = 0.0
    #pragma parallel for reduction(+: s)
    for i in range(a.shape[0]):
        s = 0.5 * s + a[i]
    return s

smoothed(np.ones(4))
""",
    "pragma_name_in_two_clauses": """
@appyc.jit
def total(a):
    s = 0.0
    #pragma parallel for private(s) reduction(+: s)
    for i in range(a.shape[0]):
        s += a[i]
    return s

total(np.ones(4))
""",
    "pragma_that_shares_a_loop_variable": """
@appyc.jit
def count(a):
    #pragma parallel for shared(a, i)
    for i in range(a.shape[0]):
        a[i] = i

count(np.ones(4))
""",
    "pragma_twice": """
@appyc.jit
def scale(a):
    #pragma parallel for
    #pragma simd
    for i in range(a.shape[0]):
        a[i] *= 2.0

scale(np.ones(4))
""",
    "collapse_of_one_loop": """
@appyc.jit
def scale(a):
    #pragma parallel for collapse(2)
    for i in range(a.shape[0]):
        a[i] *= 2.0

scale(np.ones(4))
""",
    "tile_with_statement_between": """
@appyc.jit
def f(a, b):
    #pragma parallel for tile(8, 8)
    for i in range(a.shape[0]):
        b[i] = 0.0
        for j in range(a.shape[1]):
            b[i] += a[i, j]

f(np.ones((4, 4)), np.ones(4))
""",
    "tile_without_size": """
@appyc.jit
def f(a):
    #pragma tile
    for i in range(a.shape[0]):
        a[i] = 0.0

f(np.ones(4))
""",
    "tile_of_size_zero": """
@appyc.jit
def f(a):
    #pragma tile(0)
    for i in range(a.shape[0]):
        a[i] = 0.0

f(np.ones(4))
""",
    "unroll_too_far": """
@appyc.jit
def f(a):
    #pragma unroll(1000)
    for i in range(a.shape[0]):
        a[i] = 0.0

f(np.ones(4))
""",
    "unroll_of_a_search": """
@appyc.jit
def f(a):
    #pragma unroll(4)
    for i in range(a.shape[0]):
        if a[i] > 0.0:
            break
        a[i] = 1.0

f(np.zeros(4))
""",
    "interchange_of_unknown_loop": """
@appyc.jit
def f(a):
    #pragma interchange(k, i)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = 0.0

f(np.ones((4, 4)))
""",
    "interchange_that_changes_nothing": """
@appyc.jit
def f(a):
    #pragma interchange(i, j)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = 0.0

f(np.ones((4, 4)))
""",
    "jam_of_a_triangle": """
@appyc.jit
def f(a):
    #pragma jam(2)
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] = 0.0

f(np.ones((4, 4)))
""",
    "jam_of_one_loop": """
@appyc.jit
def f(a):
    #pragma jam(2)
    for i in range(a.shape[0]):
        a[i] = 0.0

f(np.ones(4))
""",
    "collapse_with_statement_between": """
@appyc.jit
def scale(a, f):
    #pragma parallel for collapse(2)
    for i in range(a.shape[0]):
        f[i] = 2.0
        for j in range(a.shape[1]):
            a[i, j] *= 2.0

scale(np.ones((4, 4)), np.ones(4))
""",
    "atomic_on_loop": """
@appyc.jit
def count(bins, a):
    #pragma atomic
    for i in range(a.shape[0]):
        bins[a[i]] += 1

count(np.zeros(4), np.zeros(4, np.int64))
""",
    "pragma_array_in_private": """
@appyc.jit
def scale(a, row):
    #pragma parallel for private(row)
    for i in range(a.shape[0]):
        if a[i] > 0.0:
            row[0] = a[i]
        a[i] = 2.0 * row[0]

scale(np.ones(4), np.ones(1))
""",
    "pragma_number_in_to": """
@appyc.jit
def scale(a, factor):
    #pragma parallel for to(factor)
    for i in range(a.shape[0]):
        a[i] *= factor

scale(np.ones(4), 2.0)
""",
    "pragma_unknown_schedule": """
@appyc.jit
def scale(a):
    #pragma parallel for schedule(guided)
    for i in range(a.shape[0]):
        a[i] *= 2.0

scale(np.ones(4))
""",
    "pragma_number_of_warps": """
@appyc.jit
def scale(a):
    #pragma parallel for num_warps(3)
    for i in range(a.shape[0]):
        a[i] *= 2.0

scale(np.ones(4))
""",
    "pragma_unknown_name_in_condition": """
@appyc.jit
def scale(a):
    #pragma parallel for if(m > 1000)
    for i in range(a.shape[0]):
        a[i] *= 2.0

scale(np.ones(4))
""",
    "pragma_on_loop_over_a_tuple": """
@appyc.jit
def total(a):
    s = 0.0
    #pragma parallel for
    for k in (0, 2):
        s += a[k]
    return s

total(np.ones(4))
""",
    "break_from_a_with_in_a_loop_over_a_tuple": """
@appyc.jit(strict=True)
def total(a):
    s = 0.0
    for k in (0, 2):
        with np.errstate(divide="ignore"):
            if a[k] < 0:
                break
        s += a[k]
    return s

total(np.ones(4))
""",
    "slice_that_the_statement_lacks": """
@appyc.jit
def smooth(a, b, M, N):
    #pragma 1:M-1=>parallel 1:N=>parallel
    b[1:M-1, 1:N-1] = a[:M-2, 1:N-1] + a[2:M, 1:N-1]

smooth(np.ones((4, 5)), np.ones((4, 5)), 4, 5)
""",
    "slice_that_is_not_reduced": """
@appyc.jit
def scale(a, N):
    #pragma :N=>parallel,reduce(sum)
    a[:N] *= 2.0

scale(np.ones(4), 4)
""",
    "slices_of_one_loop_that_differ": """
@appyc.jit
def shift(a, b, N):
    #pragma 1:N=>parallel :N-1=>simd
    b[1:N] = a[:N-1]

shift(np.ones(4), np.ones(4), 4)
""",
    "slice_longer_than_promised": """
@appyc.jit
def scale(a, N):
    #pragma :N=>simd,le(64)
    a[:N] *= 2.0

scale(np.ones(100), 100)
""",
    "slice_of_stores_that_meet": """
@appyc.jit
def scatter(a, places, x, N):
    #pragma :N=>parallel
    a[places[:N]] = x[:N]

scatter(np.ones(4), np.array([1, 2, 1]), np.ones(3), 3)
""",
    "atomic_extreme_of_wider_integers": """
@appyc.jit
def least(bins, a):
    #pragma parallel for
    for i in range(a.shape[0]):
        #pragma atomic
        bins[0] = min(bins[0], a[i])

least(np.zeros(4, np.uint8), np.zeros(4, np.int64))
""",
    "atomic_on_plain_assignment": """
@appyc.jit
def mark(bins, a):
    #pragma parallel for
    for i in range(a.shape[0]):
        #pragma atomic
        bins[a[i]] = 1.0

mark(np.zeros(4), np.zeros(4, np.int64))
""",
}

DEPENDENCES = {
    "carries_flow": """
@appyc.jit
def running(a):
    #pragma parallel for
    for i in range(1, a.shape[0]):
        a[i] = a[i] + a[i - 1] * a[i - 1]

running(np.ones(4))
""",
    "interchange_that_reverses": """
@appyc.jit
def shear(a):
    #pragma interchange(j, i)
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1] - 1):
            a[i, j] = a[i - 1, j + 1] + 1.0

shear(np.ones((4, 4)))
""",
    "schedule_that_reverses": """
@appyc.jit(schedule='''
    shear(a)
      i  serial  interchange(j, i)
''')
def shear(a):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1] - 1):
            a[i, j] = a[i - 1, j + 1] + 1.0

shear(np.ones((4, 4)))
""",
    "schedule_of_a_carried_loop": """
@appyc.jit(schedule="powers(a)\\n  i  threads")
def powers(a):
    for i in range(2, a.shape[0]):
        a[i] = a[i - 1] * a[i - 2]

powers(np.ones(4))
""",
    "schedule_of_unknown_loop": """
@appyc.jit(schedule="scaled(a)\\n  k  serial")
def scaled(a):
    for i in range(a.shape[0]):
        a[i] = a[i] * 2.0

scaled(np.ones(4))
""",
    "schedule_with_unknown_word": """
@appyc.jit(schedule="scaled(a)\\n  i  thread  tile(4)")
def scaled(a):
    for i in range(a.shape[0]):
        a[i] = a[i] * 2.0

scaled(np.ones(4))
""",
    "schedule_of_another_function": """
@appyc.jit(schedule="scale(a)\\n  i  threads")
def scaled(a):
    for i in range(a.shape[0]):
        a[i] = a[i] * 2.0

scaled(np.ones(4))
""",
    "schedule_with_a_form_that_does_not_fit": """
@appyc.jit(schedule="scaled(a)\\n  i  threads  lanes  accumulators 8")
def scaled(a):
    for i in range(a.shape[0]):
        a[i] = a[i] * 2.0

scaled(np.ones(4))
""",
    "jam_that_reverses": """
@appyc.jit
def shear(a):
    #pragma parallel for
    for k in range(a.shape[0]):
        #pragma jam(2)
        for i in range(1, a.shape[1]):
            for j in range(a.shape[2] - 1):
                a[k, i, j] = a[k, i - 1, j + 1] + 1.0

shear(np.ones((4, 4, 4)))
""",
    "tile_of_a_scalar_chain": """
@appyc.jit
def decay(a):
    s = 0.0
    #pragma tile(8, 8)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = 0.5 * s * s + a[i, j]
            a[i, j] = s

decay(np.ones((4, 4)))
""",
    "carries_anti": """
@appyc.jit
def shift(a, b):
    #pragma parallel for
    for i in range(a.shape[0] - 1):
        if b[i] > 0.0:
            a[i + 1] = 1.0
        b[i] = a[i + 1]
        a[i] = 2.0

shift(np.ones(4), np.ones(4))
""",
    "carries_output": """
@appyc.jit
def spread(a, b, k):
    #pragma parallel for
    for i in range(a.shape[0] - 1):
        b[i] = a[k[i]]
        b[i + 1] = a[i]

spread(np.ones(4), np.ones(4), np.arange(4))
""",
    "carries_scalar": """
@appyc.jit
def decay(a, b):
    x = 1.0
    #pragma parallel for
    for i in range(a.shape[0]):
        x = 0.5 * x * x + a[i]
        b[i] = x

decay(np.ones(4), np.ones(4))
""",
    "carries_in_prange": """
@appyc.jit
def running(a):
    for i in appyc.prange(1, a.shape[0]):
        a[i] *= a[i - 1] + 1.0 / a[i - 1]

running(np.ones(4))
""",
    "carries_in_outer_loop_of_stencil": """
@appyc.jit
def relax(a):
    #pragma parallel for
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])

relax(np.ones((4, 4)))
""",
    "indirect_store": """
@appyc.jit
def scatter(a, at, b):
    #pragma parallel for
    for i in range(at.shape[0]):
        a[at[at[i]]] = b[i]

scatter(np.ones(4), np.arange(4), np.ones(4))
""",
    "indirect_store_twice": """
@appyc.jit
def scatter(a, at, b):
    #pragma parallel for
    for i in range(at.shape[0]):
        a[at[i]] = b[i]

scatter(np.ones(4), np.array([0, 2, 2]), np.ones(4))
""",
    "index_read_and_written": """
@appyc.jit
def move(a, to, start):
    #pragma parallel for
    for i in range(to.shape[0]):
        a[to[i]] = a[start[i]]

move(np.ones(9), np.array([0, 2, 4]), np.array([1, 3, 2]))
""",
    "segments_that_overlap": """
@appyc.jit
def scale(y, ptr, w):
    #pragma parallel for
    for r in range(ptr.shape[0] - 1):
        for k in range(ptr[r], ptr[r + 1]):
            y[k] = 2.0 * w[r]

scale(np.ones(9), np.array([0, 5, 3, 9]), np.ones(3))
""",
    "shift_that_overlaps": """
@appyc.jit
def shift(a, k):
    n = a.shape[0]
    #pragma parallel for
    for i in range(n - k):
        a[i] = a[i + k]

shift(np.ones(100), 3)
""",
    "update_of_one_element": """
@appyc.jit
def total(out, a):
    #pragma parallel for
    for i in range(a.shape[0]):
        out[0] = out[0] * 0.5 + a[i]

total(np.zeros(1), np.ones(4))
""",
    "break_in_parallel_loop": """
@appyc.jit
def find(a, x):
    at = -1
    total = 0.0
    #pragma parallel for
    for i in range(a.shape[0]):
        total += a[i]
        if total > x:
            at = i
            break
    return at

find(np.ones(4), 1.0)
""",
    "return_in_parallel_loop": """
@appyc.jit
def find(a, x):
    #pragma parallel for
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] == x:
                return i
    return -1

find(np.ones((4, 4)), 1.0)
""",
    "scalar_set_in_some_iterations": """
@appyc.jit
def last_positive(a):
    last = 0.0
    #pragma parallel for
    for i in range(a.shape[0]):
        if a[i] > 0:
            last = a[i]
            a[i] = 0.0
    return last

last_positive(np.ones(4))
""",
    "update_of_array_element_across_lanes": """
@appyc.jit
def columns(out, a):
    #pragma simd
    for i in range(a.shape[0]):
        out[i % 4] += a[i]

columns(np.zeros(4), np.ones(9))
""",
}

CONSTRUCTS = {
    "keyword_of_a_builtin": """
@appyc.jit(strict=True)
def squared(a):
    return pow(a[0], exp=2)

squared(np.ones(4))
""",
    "range_that_no_loop_runs_over": """
@appyc.jit(strict=True)
def odd(a):
    total = 0.0
    for i in range(len(a))[1::2]:
        total += a[i]
    return total

odd(np.ones(4))
""",
    "extreme_without_a_start": """
@appyc.jit
def greatest(a):
    #pragma parallel for reduction(max: m)
    for i in range(a.shape[0]):
        m = max(m, a[i])
    return m

greatest(np.ones(4))
""",
    "list_comprehension": """
@appyc.jit(strict=True)
def doubled(a):
    return [[x, 2.0 * x] for x in a][0][1]

doubled(np.ones(4))
""",
    "list_with_a_use_of_its_own": """
@appyc.jit(strict=True)
def most(n):
    found = []
    for i in range(n):
        found.append(i % 3)
    return max(found), found.index(1, 2)

most(4)
""",
    "list_that_grows_in_parallel": """
@appyc.jit
def positive(a):
    found = []
    #pragma parallel for
    for i in range(a.shape[0]):
        if a[i] > 0:
            found.append(i)
    return found

positive(np.ones(4))
""",
    "number_or_none_in_a_tuple": """
@appyc.jit(strict=True)
def place(a, limit):
    found = None
    for i in range(a.shape[0]):
        if a[i] > limit:
            found = i
    pair = (found, limit)
    return pair[0]

place(np.ones(4), 0.5)
""",
    "none_as_a_number": """
@appyc.jit
def place(a, limit):
    found = None
    for i in range(a.shape[0]):
        if a[i] > limit:
            found = i
    return found + 1

place(np.ones(4), 2.0)
""",
    "list_display": """
@appyc.jit(strict=True)
def first(a):
    return [a[0], True]

first(np.ones(4))
""",
    "dict_display": """
@appyc.jit(strict=True)
def weight(i):
    w = {0: 1.0, 1: (2.0, 3.0)}
    return w[i]

weight(1)
""",
    "generator": """
@appyc.jit(strict=True)
def total(a):
    pairs = (x * y for x in a for y in a)
    return sum(pairs)

total(np.ones(4))
""",
    "yield": """
@appyc.jit(strict=True)
def items(a):
    for i in range(a.shape[0]):
        yield a[i]

items(np.ones(4))
""",
    "try": """
@appyc.jit(strict=True)
def inverse(a):
    for i in range(a.shape[0]):
        try:
            a[i] = 1.0 / a[i]
        except ZeroDivisionError as error:
            a[i] = len(error.args)

inverse(np.ones(4))
""",
    "with": """
@appyc.jit(strict=True)
def save(a, name):
    with open("out.txt") as file:
        file.write("x")

save(np.ones(4), 1)
""",
    "lambda_inside": """
@appyc.jit(strict=True)
def doubled(a):
    twice = lambda *x: 2.0 * x[0]
    for i in range(a.shape[0]):
        a[i] = twice(a[i])

doubled(np.ones(4))
""",
    "string_operation": """
@appyc.jit(strict=True)
def label(i):
    name = "row " + "x"
    return i

label(1)
""",
    "f_string": """
@appyc.jit(strict=True)
def label(i):
    name = f"row {i:3}"
    return name

label(1)
""",
    "print": """
@appyc.jit(strict=True)
def show(a):
    #pragma parallel for
    for i in range(a.shape[0]):
        print(a[i])

show(np.ones(4))
""",
    "global_statement": """
counter = 0

@appyc.jit(strict=True)
def count(n):
    global counter
    for i in range(n):
        counter += 1

count(4)
""",
    "call_of_library_function": """
import zlib

@appyc.jit(strict=True)
def checksum(a, start):
    return zlib.crc32(a, start)

checksum(np.ones(4), 1)
""",
    "call_of_function_that_does_not_compile": """
def clean(x):
    try:
        return 1.0 / x
    except ZeroDivisionError as error:
        return len(error.args)

@appyc.jit(strict=True)
def inverse(a):
    for i in range(a.shape[0]):
        a[i] = clean(a[i])

inverse(np.ones(4))
""",
    "call_with_wrong_number_of_arguments": """
def weight(x, y):
    return x * y

@appyc.jit(strict=True)
def weigh(a):
    for i in range(a.shape[0]):
        a[i] = weight(a[i])

weigh(np.ones(4))
""",
    "recursion_with_views": """
@appyc.jit(strict=True)
def halves(a):
    if len(a) < 2:
        return a[:1]
    return halves(a[: len(a) // 2])

halves(np.ones(5))
""",
    "recursion_that_lengthens_a_list": """
def countdown(found, n):
    if n > 0:
        found.append(n)
        countdown(found, n - 1)

@appyc.jit(strict=True)
def counted(n):
    found = [n]
    countdown(found[:], n)
    return found

counted(3)
""",
    "list_parameter_that_is_returned": """
def longer(xs):
    xs.append(1)
    return xs

@appyc.jit(strict=True)
def made(n):
    xs = [n]
    longer(xs)
    return xs

made(3)
""",
    "list_parameters_one_of_which_is_run_over": """
def doubled(xs, ys):
    for x in xs:
        ys.append(2 * x)

@appyc.jit(strict=True)
def made(n):
    xs = [n]
    doubled(xs, xs)
    return xs

made(3)
""",
    "list_parameter_with_other_numbers": """
def halves(xs, n):
    for k in range(n):
        xs.append(k * 1j)

@appyc.jit(strict=True)
def made(n):
    xs = [n]
    halves(xs, n)
    return xs

made(3)
""",
    "recursion_under_a_pragma": """
def clear(a, n):
    if n > 0:
        a[n - 1] = 0.0
        clear(a, n - 1)

@appyc.jit
def clear_beginnings(a):
    #pragma parallel for
    for i in range(a.shape[0]):
        clear(a, i)

clear_beginnings(np.ones(5))
""",
    "pragma_in_a_recursion": """
@appyc.jit
def clear(a, n):
    #pragma parallel for
    for i in range(n):
        a[i] = 0.0
    if n > 0:
        clear(a, n - 1)

clear(np.ones(5), 5)
""",
    "async_function": """
@appyc.jit(strict=True)
async def total(a):
    return a[0]

total(np.ones(4))
""",
    "float_in_a_shape": """
@appyc.jit(strict=True)
def table(n):
    return np.zeros((n, 2.0))

table(4)
""",
    "array_method_of_a_number": """
@appyc.jit(strict=True)
def largest(x):
    return x.max(axis=0, keepdims=True)

largest(3.0)
""",
    "einsum_output_without_operand": """
@appyc.jit(strict=True)
def product(a, b):
    return np.einsum("ij,jk->iz", a, b)

product(np.ones((2, 2)), np.ones((2, 2)))
""",
    "einsum_output_that_repeats": """
@appyc.jit(strict=True)
def product(a, b):
    return np.einsum("ij,jk->ii", a, b)

product(np.ones((2, 2)), np.ones((2, 2)))
""",
    "method_of_array": """
@appyc.jit
def order(a, out):
    #pragma parallel for
    for i in range(a.shape[0]):
        out[i] = a[i].argpartition(1)[0]

order(np.ones((4, 3)), np.ones(4))
""",
    "mask": """
@appyc.jit(strict=True)
def positive(a):
    return a[a[0] > 0]

positive(np.ones(4))
""",
    "reshaped_view_returned": """
@appyc.jit(strict=True)
def table(a):
    return a.reshape(-1)

table(np.ones((2, 2)))
""",
    "name_bound_to_another_array": """
@appyc.jit(strict=True)
def double(a, n):
    x = a
    for _ in range(n):
        x = x * 2
    x[0] = 1.0
    return x

double(np.ones(4), 2)
""",
    "library_call_in_annotated_loop": """
@appyc.jit
def middles(a, out):
    #pragma parallel for
    for i in range(a.shape[0]):
        out[i] = np.partition(a[i], 1)[1]

middles(np.ones((4, 3)), np.ones(4))
""",
    "lengths_do_not_fit": """
@appyc.jit(strict=True)
def add(a):
    return np.ones(3) + np.ones(4)

add(np.ones(4))
""",
    "axis_out_of_bounds": """
@appyc.jit(strict=True)
def total(a):
    return a.sum(axis=2)

total(np.ones((4, 4)))
""",
    "integer_array_takes_no_floats": """
@appyc.jit(strict=True)
def halve(a):
    a /= 2

halve(np.arange(4))
""",
    "too_many_axes_in_a_slice": """
@appyc.jit(strict=True)
def corner(a):
    return a[:2, :2, :2] + 1.0

corner(np.ones((4, 4)))
""",
    "assigns_more_axes": """
@appyc.jit(strict=True)
def fill(a, b):
    a[:] = np.zeros((2, 3))

fill(np.ones(4), 1)
""",
    "float_index_array": """
@appyc.jit(strict=True)
def pick(a, idx):
    return a[idx]

pick(np.ones(4), np.ones(2))
""",
    "product_with_a_number": """
@appyc.jit(strict=True)
def product(a):
    return a @ 2.0

product(np.ones((4, 4)))
""",
    "membership": """
@appyc.jit(strict=True)
def contains(a, x):
    return x in a

contains(np.ones(4), 1.0)
""",
    "raise_with_a_value": """
@appyc.jit(strict=True)
def check(a):
    #pragma parallel for
    for i in range(a.shape[0]):
        if a[i] < 0:
            raise ValueError(f"{a} at {i}")

check(np.ones(4))
""",
    "nested_function": """
@appyc.jit(strict=True)
def apply(a):
    def halved(x):
        return f"{x / 2}"
    return halved(a[0])

apply(np.ones(4))
""",
    "attribute_assigned": """
@appyc.jit(strict=True)
def flatten(a):
    a.shape = (16,)

flatten(np.ones((4, 4)))
""",
    "starred_argument": """
@appyc.jit(strict=True)
def largest(a):
    return max(*a)

largest(np.ones(4))
""",
}

NAMES_AND_TYPES = {
    "objects_of_one_class_on_two_paths": """
class Point:
    def __init__(self, x):
        self.x = x

@appyc.jit(strict=True)
def walk(n):
    p = Point(0.0)
    for i in range(n):
        p = Point(p.x + i)
    return p.x

walk(3)
""",
    "object_with_a_length": """
class Stack:
    def __init__(self):
        self.size = 0

    def __len__(self):
        return self.size

@appyc.jit(strict=True)
def count(n):
    s = Stack()
    for i in range(n):
        s.size += i
    return s.size

count(3)
""",
    "attribute_that_holds_none": """
class Solver:
    residual = None

@appyc.jit(strict=True)
def solve(s, a):
    for i in range(len(a)):
        s.residual = a[i]

solver = Solver()
solver.residual = None
solve(solver, np.ones(3))
""",
    "negative_of_bools": """
@appyc.jit(strict=True)
def others(a):
    return -a

others(np.ones(3, bool))
""",
    "name_not_defined": """
@appyc.jit(strict=True)
def scale(a, factor):
    for i in range(a.shape[0]):
        a[i] *= factr

scale(np.ones(4), 2.0)
""",
    "read_before_assignment": """
@appyc.jit(strict=True)
def total(a):
    for i in range(a.shape[0]):
        s += a[i]
    return s

total(np.ones(4))
""",
    "maybe_unassigned_at_run_time": """
@appyc.jit(strict=True)
def last(a, x):
    for i in range(a.shape[0]):
        if a[i] == x:
            found = i
    return found

last(np.ones(4), 2.0)
""",
    "module_has_no_attribute": """
@appyc.jit(strict=True)
def root(x):
    return np.squareroot(x)

root(2.0)
""",
    "object_has_no_attribute": """
class Grid:
    def __init__(self):
        self.step = 0.5

@appyc.jit(strict=True)
def width(grid, n):
    return n * grid.spacing

width(Grid(), 4)
""",
    "array_has_no_attribute": """
@appyc.jit(strict=True)
def size(a):
    return a.length

size(np.ones(4))
""",
    "inconsistent_returns": """
@appyc.jit(strict=True)
def first(a, all):
    if all:
        return a
    return a[0]

first(np.ones(4), True)
""",
    "return_missing_on_a_path": """
@appyc.jit(strict=True)
def part(x):
    if x[0] > 0:
        return 1, x
    elif x[0] < 0:
        return -1, -x

part(np.zeros(3))
""",
    "one_name_for_array_and_number": """
@appyc.jit(strict=True)
def reuse(a, flag):
    x = a
    if flag:
        x = 1.0
    return x

reuse(np.ones(4), True)
""",
    "too_many_indices": """
@appyc.jit(strict=True)
def corner(a):
    return a[0, 0]

corner(np.ones(4))
""",
    "too_few_indices": """
@appyc.jit(strict=True)
def scale(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += max(a[i], 2.0)
    return s

scale(np.ones((4, 4)))
""",
    "float_index": """
@appyc.jit(strict=True)
def middle(a):
    return a[a.shape[0] / 2]

middle(np.ones(4))
""",
    "float_range": """
@appyc.jit(strict=True)
def half(a):
    for i in range(a.shape[0] / 2):
        a[i] = 0.0

half(np.ones(4))
""",
    "complex_into_real_array": """
@appyc.jit(strict=True)
def rotate(a, z):
    for i in range(a.shape[0]):
        a[i] = z * a[i]

rotate(np.ones(4), 1j)
""",
    "array_into_element": """
@appyc.jit(strict=True)
def copy(a, b):
    for i in range(a.shape[0]):
        a[i] = b

copy(np.ones(4), np.ones(4))
""",
    "arithmetic_of_arrays": """
@appyc.jit(strict=True)
def add(a, b):
    for i in range(a.shape[0]):
        a[i] = a + b

add(np.ones(4), np.ones(4))
""",
    "array_as_condition": """
@appyc.jit(strict=True)
def clear(a, mask):
    if mask:
        a[0] = 0.0

clear(np.ones(4), np.ones(4, bool))
""",
    "index_of_a_tuple_without_a_name": """
@appyc.jit(strict=True)
def pick(x, y, i):
    return (x, y)[i]

pick(1.0, 2.0, 1)
""",
    "tuple_index_not_constant": """
@appyc.jit(strict=True)
def pick(t, i):
    return t[i]

pick((1.0, (2.0, 3.0)), 1)
""",
    "step_zero": """
@appyc.jit(strict=True)
def every(a):
    for i in range(0, a.shape[0], 0):
        a[i] = 0.0

every(np.ones(4))
""",
    "step_zero_at_run_time": """
@appyc.jit(strict=True)
def every(a, k):
    for i in range(0, a.shape[0], k):
        a[i] = 0.0

every(np.ones(4), 0)
""",
    "return_from_a_loop_inside_prange": """
@appyc.jit
def find(a):
    for i in appyc.prange(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0.5:
                return i
    return -1

find(np.ones((4, 4)))
""",
    "prange_without_arguments": """
@appyc.jit(strict=True)
def scale(a):
    for i in appyc.prange():
        a[i] = 0.0

scale(np.ones(4))
""",
    "prange_of_array": """
@appyc.jit(strict=True)
def scale(a):
    for i in appyc.prange(a):
        a[i] = 0.0

scale(np.ones(4))
""",
    "loop_over_number": """
@appyc.jit(strict=True)
def scale(a, n):
    for i in n:
        a[i] = 0.0

scale(np.ones(4), 4)
""",
    "bit_operator_on_floats": """
@appyc.jit(strict=True)
def both(a, b):
    return (a[0] > 0) & b[0]

both(np.ones(4), np.ones(4))
""",
    "unpacking_too_many": """
@appyc.jit(strict=True)
def first(t):
    x, y = t
    return x

first((1, 2, 3))
""",
    "text_as_index": """
@appyc.jit(strict=True)
def field(a):
    return a["x"]

field(np.ones(4))
""",
    "length_of_a_number": """
@appyc.jit(strict=True)
def count(n):
    for i in range(len(n)):
        pass

count(4)
""",
}

ARGUMENTS = {
    "argument_array_of_python": """
from array import array

@appyc.jit(strict=True)
def total(a):
    s = 0.0
    for x in a:
        s += x
    return s

total(array("d", [1.0, 2.0]))
""",
    "runs_in_python": """
import warnings

warnings.simplefilter("error", appyc.FallbackWarning)

@appyc.jit
def inverses(a):
    total = 0.0
    for i in range(a.shape[0]):
        try:
            total += 1 / a[i]
        except ZeroDivisionError as error:
            print(error)
    return total

inverses(np.ones(4))
""",
    "longdouble_array": """
@appyc.jit(strict=True)
def scale(a):
    for i in range(a.shape[0]):
        a[i] *= 2.0

scale(np.ones(4, np.longdouble))
""",
    "object_array": """
@appyc.jit(strict=True)
def scale(a):
    for i in range(a.shape[0]):
        a[i] *= 2.0

scale(np.array([1, None]))
""",
    "list_argument": """
@appyc.jit(strict=True)
def scale(a):
    for i in range(len(a)):
        a[i] *= 2.0

scale([1.0, "2"])
""",
    "string_argument": """
@appyc.jit(strict=True)
def scale(a, mode):
    for i in range(a.shape[0]):
        a[i] *= mode

scale(np.ones(4), "fast")
""",
    "dict_argument": """
@appyc.jit(strict=True)
def scale(a, settings):
    for i in range(a.shape[0]):
        a[i] *= settings[0]

scale(np.ones(4), {0: 2.0})
""",
    "list_in_global": """
WEIGHTS = [1.0, None] * 40

@appyc.jit(strict=True)
def scale(a):
    for i in range(a.shape[0]):
        a[i] *= WEIGHTS[i]

scale(np.ones(2))
""",
    "too_few_arguments": """
@appyc.jit
def scale(a, factor):
    for i in range(a.shape[0]):
        a[i] *= factor

scale(np.ones(4))
""",
    "unknown_keyword_argument": """
@appyc.jit
def scale(a, factor):
    for i in range(a.shape[0]):
        a[i] *= factor

scale(np.ones(4), faktor=2.0)
""",
    "integer_beyond_64_bits": """
@appyc.jit(strict=True)
def double(n):
    return 2 * n

double(2**70)
""",
    "big_endian_array": """
@appyc.jit(strict=True)
def first(a):
    return a[0]

first(np.ones(4, ">f8"))
""",
    "structured_array": """
@appyc.jit(strict=True)
def first(a):
    return a[0]

first(np.zeros(4, [("x", float), ("y", float)]))
""",
    "masked_array": """
@appyc.jit(strict=True)
def first(a):
    return a[0]

first(np.ma.array([1.0, 2.0]))
""",
    "longdouble_global": """
WEIGHTS = np.ones(4, np.longdouble)

@appyc.jit
def scale(a):
    #pragma parallel for
    for i in range(a.shape[0]):
        a[i] *= WEIGHTS[i]

scale(np.ones(4))
""",
}

AT_RUN_TIME = {
    "integer_too_large_in_a_recursion": """
@appyc.jit
def powers(a, n, x):
    if n == 0:
        return x
    a[0] += 1
    return powers(a, n - 1, x * 10)

powers(np.zeros(1), 30, 1)
""",
    "index_out_of_range": """
@appyc.jit
def shift(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i + 1]

shift(np.ones(4), np.ones(4))
""",
    "index_out_of_range_in_parallel_loop": """
@appyc.jit
def shift(a, b):
    #pragma parallel for
    for i in range(a.shape[0]):
        b[i] = a[i + 1]

shift(np.ones(4), np.ones(4))
""",
    "index_too_negative": """
@appyc.jit
def before(a, k):
    return a[k]

before(np.ones(4), -5)
""",
    "indirect_index_out_of_range": """
@appyc.jit
def gather(a, at, b):
    #pragma parallel for
    for i in range(at.shape[0]):
        b[i] = a[at[i]]

gather(np.ones(4), np.array([0, 1, 9]), np.ones(3))
""",
    "mismatched_shapes": """
@appyc.jit
def add(a, b, c):
    #pragma parallel for
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[i, j] = a[i, j] + b[i, j]

add(np.ones((4, 4)), np.ones((4, 3)), np.ones((4, 4)))
""",
    "read_only_array": """
@appyc.jit(strict=True)
def scale(a):
    for i in range(a.shape[0]):
        a[i] *= 2.0

a = np.ones(4)
a.flags.writeable = False
scale(a)
""",
    "division_by_zero": """
@appyc.jit
def mean(total, n):
    return total / n

mean(1.0, 0)
""",
    "raise_with_braces": """
@appyc.jit(strict=True)
def check(n):
    if n < 0:
        raise ValueError("n is of {0, 1, ...}, {value} is not")
    return n

check(-1)
""",
    "assertion": """
@appyc.jit
def check(n):
    assert n > 0, "n must be positive"
    return n

check(0)
""",
}

DECORATING = {
    "jit_of_class": """
@appyc.jit
class Grid:
    pass
""",
    "jit_of_builtin": """
appyc.jit(len)
""",
    "jit_of_numpy_function": """
appyc.jit(np.add)
""",
    "jit_with_positional_target": """
@appyc.jit("cpu")
def scale(a):
    pass
""",
    "unknown_option": """
@appyc.jit(parallel=True)
def scale(a):
    pass
""",
    "unknown_target": """
@appyc.jit(target="cuda")
def scale(a):
    pass
""",
    "option_of_wrong_type": """
@appyc.jit(fastmath="yes")
def scale(a):
    pass
""",
    "source_kind": """
@appyc.jit
def double(x):
    return 2 * x

double(1)
double.source("asm")
""",
    "explain_before_compiling": """
@appyc.jit
def double(x):
    return 2 * x

double.explain()
""",
    "target_of_compile": """
@appyc.jit
def double(x):
    return 2 * x

double.compile(1, target="cuda90")
""",
    "number_of_threads": """
appyc.set_num_threads(0)
""",
    "jit_of_callable_object": """
import functools

appyc.jit(functools.partial(max, 0))
""",
}

SPEAKS_FOR_ITSELF = {
    "tile_of_size_zero",
    "unroll_too_far",
    "call_with_wrong_number_of_arguments",
    "too_few_arguments",
    "unknown_keyword_argument",
    "pragma_number_of_warps",
    "pragma_unknown_name_in_condition",
    "slice_longer_than_promised",
    "none_as_a_number",
}
"""Messages without a hint, whose first line is one."""

CASES = {
    **PRAGMAS, **DEPENDENCES, **CONSTRUCTS, **NAMES_AND_TYPES, **ARGUMENTS, **AT_RUN_TIME, **DECORATING
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_message(name, golden, tmp_path):
    with pytest.raises(Exception) as raised:  # noqa: PT011  (the class is in the golden text)
        run(CASES[name], tmp_path)
    golden(f"errors/{name}.txt", shown(raised.value, tmp_path))


CODES = {"Pragma": "P001", "Unsupported": "U001", "Dependence": "D001"}
CODES |= dict.fromkeys(
    ("TypeInference", "Length", "Axis", "Subscript", "UnknownName", "UnknownAttribute"), "T001"
)


@pytest.mark.parametrize("name", CASES)
def test_golden_text_shows_the_place_and_the_code(name):
    """A compile error has its code and its place; whatever class it is, it is no InternalError."""
    text = (GOLDEN / "errors" / f"{name}.txt").read_text()
    kind = text.partition(":")[0]
    assert kind != "InternalError"
    if kind.removesuffix("Error") in CODES:
        assert f"[{CODES[kind.removesuffix('Error')]}]" in text.splitlines()[0]
        assert "--> program.py:" in text


@pytest.mark.parametrize(
    "group", [PRAGMAS, CONSTRUCTS, ARGUMENTS], ids=["pragmas", "constructs", "arguments"]
)
def test_most_messages_say_what_to_do(group):
    texts = {name: (GOLDEN / "errors" / f"{name}.txt").read_text() for name in group}
    silent = [n for n, t in texts.items() if "help:" not in t and "did you mean" not in t]
    assert set(silent) <= SPEAKS_FOR_ITSELF


def test_traceback_has_the_callers_line_and_little_else(tmp_path):
    with pytest.raises(appyc.DependenceError) as raised:
        run(CASES["carries_scalar"], tmp_path)
    frames = traceback.extract_tb(raised.value.__traceback__)
    ours = [f.name for f in frames if "appyc" in f.filename]
    assert ours == ["_call"]
    assert frames[-2].line == "decay(np.ones(4), np.ones(4))"
    assert raised.value.__suppress_context__


def test_index_error_names_array_index_extent_and_line(tmp_path):
    with pytest.raises(IndexError, match=r"^index 4 .* axis 0 of 'a' with size 4 \(line 8\)"):
        run(CASES["index_out_of_range"], tmp_path)


def test_variable_of_the_environment_with_a_bad_value(monkeypatch):
    monkeypatch.setenv("APPYC_TARGET", "cuda")
    with pytest.raises(ValueError, match=r"^APPYC_TARGET must be one of auto, cpu, .*, not 'cuda'$"):
        appyc.jit(lambda: None)
    monkeypatch.delenv("APPYC_TARGET")
    monkeypatch.setenv("APPYC_FASTMATH", "maybe")
    with pytest.raises(ValueError, match=r"^APPYC_FASTMATH must be one of .*, not 'maybe'$"):
        appyc.jit(lambda: None)


def test_missing_c_compiler(monkeypatch):
    monkeypatch.setenv("APPYC_CC", "no-such-compiler")
    with pytest.raises(
        appyc.ToolchainError, match="'no-such-compiler' that APPYC_CC or CC names was not found"
    ):
        appyc.jit(last, cache=False)(3)


def test_missing_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)  # as if it were not installed
    with pytest.raises(appyc.ToolchainError, match=r"needs CuPy. Install it: pip install 'appyc\[gpu\]'"):
        appyc.jit(last, target="gpu")(3)


def last(n):
    at = 0
    for i in range(n):
        at = i
    return at


def test_bad_number_of_threads_in_the_environment(monkeypatch):
    with pytest.raises(ValueError, match=r"^APPYC_NUM_THREADS must be a positive integer, not 'many'$"):
        num_threads({"APPYC_NUM_THREADS": "many"})


def test_what_is_nested_too_deeply_says_where(tmp_path):
    chain = " + ".join(["a[0]"] * 1400)
    program = f"@appyc.jit(strict=True, cache=False)\ndef f(a):\n    x = 1.0\n    return {chain}\n"
    module = run(program, tmp_path)
    with pytest.raises(appyc.UnsupportedError, match="nested too deeply") as raised:
        module.f(np.ones(3))
    assert raised.value.loc.line == 8
    assert max(map(len, str(raised.value).splitlines())) < 200
    module = run(program.replace("strict=True, ", ""), tmp_path)
    assert module.f(np.ones(3)) == 1400.0


def test_hundreds_of_terms_are_not_too_deep(tmp_path):
    limit = sys.getrecursionlimit()
    chain = " + ".join(["a[0]"] * 300)
    module = run(f"@appyc.jit(strict=True, cache=False)\ndef f(a):\n    return {chain}\n", tmp_path)
    assert "a[0] + a[0]" in module.f.source("ir", np.ones(3))
    assert module.f.source("c", np.ones(3))
    assert module.f.explain(np.ones(3)) is not None
    assert module.f(np.ones(3)) == 300.0
    assert sys.getrecursionlimit() == limit


def test_of_a_long_line_the_part_with_the_column_is_shown(tmp_path):
    many = "1.0, " * 100
    program = f"@appyc.jit(strict=True, cache=False)\ndef f(a):\n    return [{many}a @ undefined, {many}]\n"
    module = run(program, tmp_path)
    with pytest.raises(appyc.CompileError) as raised:
        module.f(np.ones(3))
    line, caret = str(raised.value).splitlines()[3:5]
    at = caret.index("^")
    assert line[at : at + len("undefined")] == "undefined"
    assert len(line) < 200


def axes_left_out(a, k):
    return np.swapaxes(a)


def axis_moved_out_of_range(a, k):
    return np.moveaxis(a, 0, 2)


def axes_of_another_rank(a, k):
    return a.transpose(0, 1, 2)


def axis_that_is_not_there(a, k):
    return a.sum(axis=2)


def index_too_many(a, k):
    return a[0, 0, 0]


def fraction_added_to_integers(a, k):
    k += 0.5


def bits_of_floats(a, k):
    return a & 1


def lengths_unpacked(a, k):
    x, y, z = a.shape
    return x + y + z


def two_lengths_left_open(a, k):
    return a.reshape(-1, -1)


def text_as_an_index(a, k):
    return a["x"]


def item_that_is_not_there(a, k):
    pair = k[0], k[1]
    return pair[5]


def step_of_zero(a, k):
    for i in range(1, 5, 0):
        a[i, 0] = 0.0


def number_of_letters(a, k):
    return int("x")


def diagonal_of_a_row(a, k):
    return np.trace(k)


def name_from_nowhere(a, k):
    return a + from_nowhere  # noqa: F821


@pytest.mark.parametrize(
    ("fn", "of_numpy"),
    [
        (axis_that_is_not_there, np.exceptions.AxisError),
        (axes_left_out, TypeError),
        (axis_moved_out_of_range, np.exceptions.AxisError),
        (axes_of_another_rank, ValueError),
        (index_too_many, IndexError),
        (fraction_added_to_integers, np._core._exceptions.UFuncTypeError),
        (bits_of_floats, TypeError),
        (lengths_unpacked, ValueError),
        (two_lengths_left_open, ValueError),
        (text_as_an_index, IndexError),
        (item_that_is_not_there, IndexError),
        (step_of_zero, ValueError),
        (number_of_letters, ValueError),
        (diagonal_of_a_row, ValueError),
        (name_from_nowhere, NameError),
    ],
)
@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_what_types_tell_is_an_error_of_the_compilers_class(fn, of_numpy, target):
    """The table in docs/language.md."""
    arguments = np.ones((2, 2)), np.ones(2, np.int64)
    with pytest.raises(of_numpy):
        fn(*arguments)
    with pytest.raises(of_numpy.__bases__ if of_numpy.__module__.startswith("numpy") else of_numpy) as raised:
        appyc.jit(fn, target=target, strict=True)(*arguments)
    assert isinstance(raised.value, TypeInferenceError)
    with pytest.raises(of_numpy), pytest.warns(appyc.FallbackWarning, match="runs in Python"):
        appyc.jit(fn, target=target)(*arguments)  # the function runs in Python, which raises its own


def added(a, b):
    return a + b


def stored(a, b):
    a[:] = b


def multiplied(a, b):
    return a @ b


def in_another_shape(a, b):
    return a.reshape(b.shape[0], 5) + 1.0


def chosen(a, b):
    return a[b[:, 0] > 0.0]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (added, "an axis has length 2 in one, 3 in another"),
        (stored, "an axis of it has length 3, and of the target 2"),
        (multiplied, "the axes that are summed over have lengths 4 and 3"),
        (in_another_shape, "cannot reshape array of 8 elements into 15"),
        (chosen, "an axis has length 2, and the mask 3"),
    ],
)
@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_lengths_that_do_not_fit_are_told(fn, message, target):
    a, b = np.ones((2, 4)), np.ones((3, 4))
    with pytest.raises((ValueError, IndexError)) as of_numpy:
        fn(a, b)
    with pytest.raises(type(of_numpy.value), match=message):
        appyc.jit(fn, target=target, strict=True)(a, b)


@pytest.mark.sampled
@pytest.mark.parametrize("value", ["²", "-1", "0", "1e3", "9" * 30, "٣", "many"])
@pytest.mark.parametrize("name", ["APPYC_NUM_THREADS", "APPYC_RECORDED_STATEMENTS"])
def test_a_bad_number_in_the_environment_is_named_and_ends_no_import(name, value):
    given = {**os.environ, name: value}
    words = [sys.executable, "-c", "import appyc.numpy as np; print((np.arange(3) * 2).sum())"]
    done = subprocess.run(words, env=given, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "6\n")
    assert f"RuntimeWarning: {name} must be a positive" in done.stderr


@pytest.mark.parametrize("change", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_are_copied_with_what_their_class_adds(change: Callable[[Any], Any]) -> None:
    loc = Loc("program.py", 3)
    error = PartedTypesError(Either(frozenset({DType.INT8}), branches=(loc,)), loc)
    again = change(error)
    assert (type(again), vars(again), str(again)) == (PartedTypesError, vars(error), str(error))
