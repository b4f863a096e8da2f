"""A program that is four times as long costs about four times the work of compiling."""

from __future__ import annotations

import cProfile
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType

import numpy as np
import pytest

import appyc
from appyc.analysis.sets.allowance import Allowance
from appyc.api import JitFunction
from appyc.ir import visit
from tests.counting import calls_of


def straight_line(count: int) -> str:
    """One loop with so many statements."""
    lines = [f"        x{i} = x{i - 1} * a[i] + b[i]" for i in range(1, count + 1)]
    return "\n".join(
        ["    for i in range(len(a)):", "        x0 = a[i]", *lines, f"        c[i] = x{count}", ""]
    )


def many_loops(count: int) -> str:
    loop = "    for i in range(a.shape[0]):\n        c[i] += a[i] * {}.0 + b[i]\n"
    return "".join(loop.format(number) for number in range(count))


def temporaries(count: int) -> str:
    """So many statements about whole arrays, each with the one before it, as a recorded time loop has them."""
    lines = [f"    t{i} = t{i - 1} * b + a / t{i - 1}" for i in range(1, count + 1)]
    return "\n".join(["    t0 = a + c", *lines, f"    return t{count}", ""])


def read(folder: Path, name: str, text: str) -> JitFunction:
    """The function `kernel` of a program."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return appyc.jit(target="cpu", cache=False)(module.kernel)


def visits(folder: Path, name: str, body: str) -> int:
    """How often compiling to C calls what walks IR: a measure that no other load disturbs."""
    kernel = read(folder, name, "def kernel(a, b, c):\n" + body)
    profile = cProfile.Profile()
    profile.enable()
    kernel.source("c", np.zeros(8), np.zeros(8), np.zeros(8))
    profile.disable()
    return sum(entry.callcount for entry in profile.getstats() if _is_of_visit(entry.code))


def _is_of_visit(code: CodeType | str) -> bool:
    """Functions in C have only a name."""
    return isinstance(code, CodeType) and code.co_filename == visit.__file__


@pytest.mark.parametrize("program", [straight_line, many_loops])
def test_compiling_walks_a_long_program_no_more_often_than_a_short_one(
    tmp_path: Path, program: Callable[[int], str]
) -> None:
    short = visits(tmp_path, "short", program(25))
    long = visits(tmp_path, "long", program(100))
    assert long < 4.5 * short


def test_statements_about_arrays_that_become_one_loop_are_not_read_for_each_other(tmp_path: Path) -> None:
    """Each is tried with the loop that those before it have become: what is known of that one is not found again."""
    short = visits(tmp_path, "few", temporaries(10))
    long = visits(tmp_path, "many", temporaries(40))
    assert long < 5.0 * short


# ---------------------------------------------------------------- what isl is asked

Case = tuple[str, tuple[object, ...]]


def vector() -> np.ndarray:
    return np.ones(64)


def arguments(count: int) -> Case:
    """One loop over so many arrays."""
    names = [f"a{i}" for i in range(count)]
    total = " + ".join(f"{name}[i]" for name in names)
    return (
        f"def kernel({', '.join(names)}):\n    for i in range(a0.shape[0]):\n        a0[i] = {total}\n",
        tuple(vector() for _ in names),
    )


def chained_arguments(count: int) -> Case:
    """A loop over each pair of neighbours among so many arrays."""
    loops = [
        f"    for i in range(a{i}.shape[0]):\n        a{i}[i] = a{i - 1}[i] * 2.0\n" for i in range(1, count)
    ]
    names = ", ".join(f"a{i}" for i in range(count))
    return f"def kernel({names}):\n" + "".join(loops), tuple(vector() for _ in range(count))


def searches(count: int) -> Case:
    """So many loops that end early."""
    loops = [
        f"    i = 0\n    while i < n and a[i] > 0:\n        s += i\n        i += {1 + i}\n"
        for i in range(count)
    ]
    return "def kernel(a, n):\n    s = 0\n" + "".join(loops) + "    return s\n", (vector(), 64)


def stencils(count: int) -> Case:
    """So many nests that read each other's neighbours."""
    nest = (
        "    for i in range(1, a.shape[0] - 1):\n        for j in range(1, a.shape[1] - 1):\n"
        "            {0}[i, j] = {1}[i - 1, j] + {1}[i, j + 1]\n"
    )
    nests = [nest.format(*("ab" if i % 2 else "ba")) for i in range(count)]
    return "def kernel(a, b):\n" + "".join(nests), (np.ones((8, 8)), np.ones((8, 8)))


def branches(count: int) -> Case:
    """So many conditions, on each of which a value depends that the next one looks at."""
    steps = [f"        if x + m > {i}:\n            x = x + {i}\n        else:\n            x = x // 2\n"
             for i in range(count)]  # fmt: skip
    head = "def kernel(a, n, m):\n    for i in range(n):\n        x = i\n"
    return head + "".join(steps) + "        a[i] = x\n", (vector(), 64, 3)


def bitwise_crc(rounds: int) -> Case:
    """A short loop with a branch, which is unrolled."""
    return (
        "def kernel(table):\n    for i in range(table.shape[0]):\n        c = i\n"
        f"        for _ in range({rounds}):\n            if c & 1:\n                c = (c >> 1) ^ 0xEDB88320\n"
        "            else:\n                c = c >> 1\n        table[i] = c\n",
        (np.zeros(64, np.int64),),
    )


def asked(folder: Path, case: Case, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many of its operations isl may have done while a program was compiled, and 100 for each question."""
    tries, given = Allowance.tries, []

    def counted(allowance: Allowance) -> Iterator[int]:
        given.append(100)
        for number, work in enumerate(tries(allowance)):
            given.append(work if number else 0)
            yield work

    kernel = read(folder, f"program_{len(case[0])}", case[0])
    with monkeypatch.context() as patch:
        patch.setattr(Allowance, "tries", counted)
        kernel.source("c", *case[1])
    return sum(given)


@pytest.mark.parametrize(
    "program",
    [arguments, chained_arguments, searches, stencils, branches, bitwise_crc],
    ids=lambda p: p.__name__,
)
def test_a_longer_program_asks_no_more_for_each_of_its_statements(
    program: Callable[[int], Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = asked(tmp_path, program(8), monkeypatch)
    long = asked(tmp_path, program(32), monkeypatch)
    assert long < 5.0 * short + 120_000


def test_short_loops_with_branches_are_compiled_in_time(tmp_path: Path) -> None:
    """The conditions of each iteration depend on those of all before it."""
    kernel = read(tmp_path, "crc", bitwise_crc(8)[0])
    assert calls_of(lambda: kernel.source("c", *bitwise_crc(8)[1])) < 1_000_000  # minutes, once
