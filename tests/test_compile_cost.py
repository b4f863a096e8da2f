"""A program that is four times as long costs about four times the work of compiling."""

from __future__ import annotations

import cProfile
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import CodeType

import numpy as np
import pytest

import appyc
from appyc.ir import visit


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


def visits(folder: Path, name: str, body: str) -> int:
    """How often compiling to C calls what walks IR: a measure that no other load disturbs."""
    path = folder / f"{name}.py"
    path.write_text("def kernel(a, b, c):\n" + body)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = appyc.jit(module.kernel)
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
