"""A program that is three times as long costs about three times the work of compiling."""

from __future__ import annotations

import importlib.util
from ast import FunctionDef
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.analysis.accesses.access_pairs import Meetings
from appyc.analysis.algebra import integer_syntax
from appyc.analysis.patterns import block_chains
from appyc.analysis.sets.allowance import Allowance
from appyc.api import JitFunction
from appyc.frontend import scope
from appyc.frontend.control.loop_bodies import LoopBody
from appyc.ir.nodes import Function, Symbol
from appyc.passes.checks import check_integer_overflow
from benchmarks.long_programs import (
    PROGRAMS,
    Program,
    inlined_helpers,
    searches,
    slices,
    stencils,
    stencils_of_planes,
)
from tests.counting import calls_of


def read(folder: Path, program: Program) -> JitFunction:
    """The function `kernel` of a program."""
    name = f"program_{len(program[0])}"
    path = folder / f"{name}.py"
    path.write_text(program[0])
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return appyc.jit(target="cpu", cache=False)(module.kernel)


def bitwise_crc(rounds: int) -> Program:
    """A short loop with a branch, which is unrolled."""
    return (
        "def kernel(table):\n    for i in range(table.shape[0]):\n        c = i\n"
        f"        for _ in range({rounds}):\n            if c & 1:\n                c = (c >> 1) ^ 0xEDB88320\n"
        "            else:\n                c = c >> 1\n        table[i] = c\n",
        (np.zeros(64, np.int64),),
    )


@dataclass(frozen=True, slots=True)
class Work:
    """What compiling to C takes, in numbers that no other load disturbs.

    calls: of functions. isl: the operations that isl may have done, and 100 for each question. text: characters of C.
    """

    calls: int
    isl: int
    text: int


def work_of(folder: Path, program: Program, monkeypatch: pytest.MonkeyPatch) -> Work:
    tries, given = Allowance.tries, []

    def counted(allowance: Allowance) -> Iterator[int]:
        given.append(100)
        for number, work in enumerate(tries(allowance)):
            given.append(work if number else 0)
            yield work

    kernel = read(folder, program)
    texts: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(Allowance, "tries", counted)
        calls = calls_of(lambda: texts.append(kernel.source("c", *program[1])))
    return Work(calls, sum(given), len(texts[0]))


@pytest.mark.sampled
@pytest.mark.parametrize("program", [*PROGRAMS.values(), bitwise_crc], ids=lambda p: p.__name__)
def test_a_longer_program_takes_no_more_work_for_each_of_its_statements(
    program: Callable[[int], Program], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Passes look at up to eight neighbours of a loop, so that short programs take less than their share."""
    few, many = (3, 9) if program is inlined_helpers else (10, 30)
    short = work_of(tmp_path, program(few), monkeypatch)
    long = work_of(tmp_path, program(many), monkeypatch)
    assert long.calls < 3.6 * short.calls
    assert long.isl < 3.75 * short.isl + 40_000
    assert long.text < 3.375 * short.text


def test_no_pass_gives_up_a_row_of_searches(tmp_path: Path) -> None:
    """What is known of the scalars behind each loop is kept by name: all of it together would double with each."""
    text, arguments = searches(25)
    found = read(tmp_path, (text, arguments)).explain(*arguments)
    assert "left out" not in str(found)
    assert [loop.mode for loop in found.loops] == ["parallel"] * 50


@pytest.mark.parametrize("program", [stencils, slices, stencils_of_planes], ids=lambda p: p.__name__)
def test_blocks_of_stencils_are_told_apart_by_their_bounds(
    program: Callable[[int], Program], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No sets of pairs of iterations are made that turn out to be empty."""
    in_vain: list[object] = []
    pairs = Meetings.pairs

    def counted(*asked: Any) -> Any:
        found = pairs(*asked)
        in_vain.extend([asked] if found.is_empty() else [])
        return found

    monkeypatch.setattr(Meetings, "pairs", counted)
    text, arguments = program(20)
    read(tmp_path, (text, arguments)).source("ir", *arguments)
    assert in_vain == []


def test_two_loops_of_a_chain_are_weighed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains that end too soon are tried again from their second loop on, up to twelve times for each loop."""
    asked: list[tuple[int, int]] = []
    saves = block_chains.saves_traffic

    def counted(one: block_chains.Member, last: block_chains.Member) -> bool:
        asked.append((one.loop.loc.line, last.loop.loc.line))
        return saves(one, last)

    monkeypatch.setattr(block_chains, "saves_traffic", counted)
    text, arguments = stencils(20)
    read(tmp_path, (text, arguments)).source("ir", *arguments)
    assert asked
    assert len(asked) == len(set(asked))


def test_bounds_of_integers_are_tried_on_one_reading_of_the_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_for: list[str] = []
    once = integer_syntax.last_occurrences

    def counted(fn: Function) -> dict[int, set[Symbol]]:
        read_for.append(fn.name)
        return once(fn)

    monkeypatch.setattr(integer_syntax, "last_occurrences", counted)
    text, arguments = searches(5)
    read(tmp_path, (text, arguments)).source("ir", *arguments)
    assert read_for == ["kernel", "kernel"]  # for the version that tests everything, and for the usual one


def test_no_bounds_of_integers_are_tried_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a parameter that is an integer, most of the bounds that are tried say the same."""
    tried: list[tuple[str, ...]] = []
    once = check_integer_overflow.OverflowAnalysis

    def counted(fn: Function, syntax: Any, known: dict[Symbol, Any], **how: bool) -> Any:
        tried.append((*map(str, known.items()), str(how)))
        return once(fn, syntax, known, **how)

    monkeypatch.setattr(check_integer_overflow, "OverflowAnalysis", counted)
    text = "def kernel(a):\n    x = 1\n    for i in range(len(a)):\n        x = x * 3 + int(a[i])\n    return x\n"
    arguments = (np.arange(9),)
    read(tmp_path, (text, arguments)).source("ir", *arguments)
    assert len(tried) == len(set(tried)) > 1


def test_helpers_are_read_once_for_all_their_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsed, and gone through for what is known of their names."""
    looked: list[str] = []
    names_of = scope.assigned_names

    def counted(function: FunctionDef) -> frozenset[str]:
        looked.append(function.name)
        return names_of(function)

    monkeypatch.setattr(scope, "assigned_names", counted)
    text, arguments = inlined_helpers(10)
    read(tmp_path, (text, arguments)).source("ir", *arguments)
    assert sorted(looked) == ["clamp", "element", "kernel", "weight"]


def test_short_loops_with_branches_are_compiled_in_time(tmp_path: Path) -> None:
    """The conditions of each iteration depend on those of all before it."""
    kernel = read(tmp_path, bitwise_crc(8))
    assert calls_of(lambda: kernel.source("c", *bitwise_crc(8)[1])) < 1_000_000  # minutes, once


def test_a_nest_is_lowered_once_for_scalars_of_its_iterations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each loop that had to settle their types anew would double the work of all loops around it."""
    lowered: list[int] = []
    once = LoopBody._once

    def counted(self: LoopBody, *arguments: Any) -> Any:
        lowered.append(self.loc.line)
        return once(self, *arguments)

    monkeypatch.setattr(LoopBody, "_once", counted)
    loops = "".join(f"{'    ' * (k + 1)}for i{k} in range(2):\n" for k in range(6))
    body = "".join(f"{'    ' * 7}{line}\n" for line in ("t = a[i0 + i5]", "u = t * t", "b[i1] += u"))
    kernel = read(tmp_path, (f"def kernel(a, b):\n{loops}{body}", ()))
    kernel.source("c", np.ones(8), np.ones(8))
    assert sorted(lowered) == [2, 3, 4, 5, 6, 7]
