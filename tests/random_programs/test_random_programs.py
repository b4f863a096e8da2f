"""A share of the random programs, and what makes them worth running: `python -m tests.random_programs` runs more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.random_programs import chunked, containers, listed, mixed, neighbours, objects, recorded, texts
from tests.random_programs.check import FAULTS, Verdict, check
from tests.random_programs.programs import program
from tests.random_programs.shrink import shrunk


def is_right(verdict: Verdict) -> None:
    assert verdict.kind not in FAULTS, verdict.detail


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(9104, 9112))
def test_compiled_as_python_does(seed: int, tmp_path: Path) -> None:
    is_right(check(program(seed), tmp_path))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(9200, 9204))
def test_in_the_interpreter(seed: int, tmp_path: Path) -> None:
    is_right(check(program(seed), tmp_path, "interpret"))


@pytest.mark.parametrize("seed", range(9312, 9322))
def test_recorded_as_numpy_does(seed: int, tmp_path: Path) -> None:
    is_right(recorded.check(recorded.program(seed), tmp_path))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(9400, 9406))
def test_elements_beside_the_current_one(seed: int, tmp_path: Path) -> None:
    is_right(neighbours.check(neighbours.program(seed), tmp_path))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(9503, 9508))
def test_over_random_chunks(seed: int, tmp_path: Path) -> None:
    is_right(chunked.check(seed, tmp_path))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(9502, 9506))
def test_lists_as_arguments(seed: int, tmp_path: Path) -> None:
    is_right(listed.check(listed.program(seed), tmp_path))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(9600, 9604))
def test_containers(seed: int, tmp_path: Path) -> None:
    is_right(containers.check(containers.program(seed), tmp_path))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(9700, 9704))
def test_lists_of_ints_and_floats(seed: int, tmp_path: Path) -> None:
    is_right(mixed.check(mixed.program(seed), tmp_path))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(9800, 9804))
def test_texts(seed: int, tmp_path: Path) -> None:
    is_right(texts.check(texts.program(seed), tmp_path))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(9900, 9904))
def test_objects(seed: int, tmp_path: Path) -> None:
    is_right(objects.check(objects.program(seed), tmp_path))


def test_one_seed_is_one_program() -> None:
    assert program(7) == program(7)
    assert recorded.program(7) == recorded.program(7)
    assert len({program(seed).text for seed in range(50)}) == 50


def test_programs_get_smaller() -> None:
    loop = "    for i in range(3):\n        if b > i:\n            a[i] = max(b, i) + 2\n"
    text = f"def f(a):\n    b = 1\n{loop}    return b\n"
    assert shrunk(text, lambda smaller: "max(" in smaller) == "def f(a):\n    a[i] = max(b, i)\n"


def test_the_sanitizer_sees_a_planted_overflow() -> None:
    command = [sys.executable, "-m", "tests.random_programs", "--sanitize", "--planted", "--programs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    if "cannot find" in done.stderr or "cannot be preloaded" in done.stderr:
        pytest.skip("this compiler comes without its sanitizers' libraries")
    assert done.returncode == 1, done.stdout
    assert "heap-buffer-overflow" in done.stderr
