"""Asking a compiler which functions its C library has for vectors."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import appyc
from appyc.c_gen.translation_units import SINES_AND_COSINES
from appyc.ir.intrinsics import VECTOR_FUNCTIONS
from appyc.options import Options
from appyc.runtime import vector_math
from appyc.runtime.toolchain import build, find_compiler
from appyc.runtime.vector_math import symbols_of, vector_functions

ALL = {name + suffix for name in VECTOR_FUNCTIONS for suffix in ("", "f")}


@pytest.fixture(autouse=True)
def _asked_for_the_first_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("APPYC_CACHE_DIR", str(tmp_path))


def test_a_compiler_is_asked_once_a_machine() -> None:
    found = vector_functions(find_compiler())
    assert found <= ALL
    vector_math._found.cache_clear()
    with mock.patch.object(subprocess, "run", side_effect=AssertionError("asked again")):
        assert vector_functions(find_compiler()) == found


def test_a_damaged_answer_is_asked_for_again(tmp_path: Path) -> None:
    found = vector_functions(find_compiler())
    for file in tmp_path.glob("v1/vector-math-*.json"):
        file.write_text("none")
    vector_math._found.cache_clear()
    assert vector_functions(find_compiler()) == found


@pytest.mark.parametrize("missing", [{"erf", "erff"}, {"exp"}, ALL - {"pow", "powf"}, ALL])
def test_a_library_may_have_some(missing: set[str]) -> None:
    """One of glibc's early ones has six functions, and one form that is missing is one too many."""
    lost = {symbols_of(name)[-1] for name in missing}

    def links(_command: str, symbols: list[str]) -> bool:
        return not lost & set(symbols)

    with mock.patch.object(vector_math, "_links", links), machine("x86_64"):
        assert vector_functions("some compiler") == ALL - missing


def test_without_a_library_little_is_asked() -> None:
    asked: list[Any] = []

    def links(_command: str, symbols: list[str]) -> bool:
        asked.append(symbols)
        return False

    with mock.patch.object(vector_math, "_links", links), machine("x86_64"):
        assert vector_functions("another compiler") == frozenset()
    assert len(asked) == 2


def test_other_processors_have_none() -> None:
    with machine("riscv64"):
        assert vector_functions("a compiler") == frozenset()


def test_names_of_the_forms() -> None:
    with machine("x86_64"):
        assert symbols_of("exp") == ["_ZGVbN2v_exp", "_ZGVcN4v_exp", "_ZGVdN4v_exp", "_ZGVeN8v_exp"]
        assert symbols_of("powf") == ["_ZGVbN4vv_powf", "_ZGVcN8vv_powf", "_ZGVdN8vv_powf", "_ZGVeN16vv_powf"]
    with machine("aarch64"):
        assert symbols_of("exp") == ["_ZGVnN2v_exp", "_ZGVsMxv_exp"]


def machine(name: str) -> Any:
    return mock.patch.object(vector_math, "_processor", return_value=name)


def sine_and_cosine(x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.sin(x) * np.cos(x), np.exp(z)


def under_a_condition(x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    out = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0.3:
            out[i] = math.sin(x[i]) * math.cos(x[i])
    return out, np.exp(z)


@pytest.mark.parametrize("program", [sine_and_cosine, under_a_condition])
def test_a_sine_and_a_cosine_of_one_number_stay_in_lanes(tmp_path: Path, program: Any) -> None:
    """gcc joins them in one function, of which the library has no form for vectors."""
    found = vector_functions(find_compiler())
    if not {"sin", "cos", "exp"} <= found:
        pytest.skip("the library has no such forms here")
    text = appyc.jit(program, target="cpu").source("c", np.zeros(3), np.zeros(3, complex))
    build(text, tmp_path / "kernel.so", Options(), needs=(SINES_AND_COSINES,))
    names = (tmp_path / "kernel.so").read_bytes()
    assert all(any(symbol.encode() in names for symbol in symbols_of(f)) for f in ("sin", "cos", "exp"))
    assert b"sincos" not in names
