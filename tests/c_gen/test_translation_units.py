"""One module as several files: the same program, and each function in one of them."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.c_gen import translation_units
from appyc.c_gen.c_file import CModule
from appyc.compiler import build
from appyc.compiler.analyse import analyse
from appyc.compiler.requests import Request
from appyc.errors import GENERATED
from appyc.frontend.source import capture, read_source
from appyc.options import Options
from appyc.runtime import toolchain
from appyc.runtime.signature import typeof
from appyc.runtime.toolchain import compile_files, find_compiler, flags
from tests.c_gen.c_runner import generate


def stages(x, y):
    """Loops in threads, temporaries, a sum, and an access that may fail."""
    a = np.zeros(len(x))
    for i in range(len(x)):
        a[i] = x[i] * 2.0
    b = np.cumsum(a) + y[0]
    for i in range(1, len(x)):
        y[i] = b[i - 1] + a[i]
    return b, y.sum(), np.sin(b).max()


def products(x, y):
    z = x @ y
    return z @ x + z.T, x.sum(axis=0)


def chosen(x, y):
    return x[x > 0.5], np.flip(y)[:3], np.argmax(x)


VECTORS = (np.linspace(0, 1, 50), np.linspace(1, 2, 50))
MATRICES = tuple(np.random.default_rng(1).random((2, 40, 40)))
PROGRAMS = [(stages, VECTORS), (products, MATRICES), (chosen, VECTORS)]


def module_of(function: Callable[..., Any], given: tuple[np.ndarray, ...]) -> CModule:
    types = {name: typeof(value, name, GENERATED) for name, value in zip("xy", given, strict=True)}
    options = Options()
    return generate(
        analyse(function, read_source(capture(function)), Request(types, {}, "cpu"), options).function,
        options,
    )


@pytest.fixture(autouse=True)
def short_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation_units, "LEAST", 500)


@pytest.mark.parametrize(("function", "given"), PROGRAMS)
def test_each_function_stands_in_one_file_and_is_declared_in_all(
    function: Callable[..., Any], given: tuple[np.ndarray, ...]
) -> None:
    module = module_of(function, given)
    files = [file.text for file in module.units(3)]
    assert len(files) == min(3, len(module.functions)) > 1
    for part in module.functions:
        assert sum(f"{part.head} {{" in file for file in files) == 1
        assert all(part.declared in file for file in files)
    assert sum(f"int32_t {module.entry}(" in file for file in files) == 1
    (whole,) = (file.text for file in module.units(1))
    assert all(whole.count(part.shared) == 1 for part in module.functions)


def test_short_programs_are_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation_units, "LEAST", 1_000_000)
    assert len(module_of(*PROGRAMS[0]).units(8)) == 1


@pytest.mark.sampled
@pytest.mark.parametrize(("function", "given"), PROGRAMS)
def test_files_declare_all_that_they_call(
    tmp_path: Path, function: Callable[..., Any], given: tuple[np.ndarray, ...]
) -> None:
    """C takes what is not declared for a function of integers, and compiled kernels are compiled without warnings."""
    module = module_of(function, given)
    quiet = [flag for flag in flags(Options()) if flag != "-w"]
    for text in (*(file.text for file in module.units(3)), *module.libraries):
        source = tmp_path / "file.c"
        source.write_text(text)
        command = [
            *find_compiler().split(),
            *quiet,
            "-Werror=implicit-function-declaration",
            "-c",
            str(source),
        ]
        done = subprocess.run(
            [*command, "-o", str(tmp_path / "file.o")], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.sampled
@pytest.mark.parametrize("cores", [1, 2, 5])
@pytest.mark.parametrize(("function", "given"), PROGRAMS)
def test_any_number_of_files_gives_the_same(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], given: tuple[np.ndarray, ...], cores: int
) -> None:
    monkeypatch.setattr(build, "usable_cores", lambda: cores)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    expected = function(*(x.copy() for x in given))
    found = appyc.jit(target="cpu", cache=False, strict=True)(function)(*(x.copy() for x in given))
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_files_know_of_the_same_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry and the program are in different files, and a call this deep has a stack of its own."""
    monkeypatch.setattr(build, "usable_cores", lambda: 2)

    def deepest(x, n):
        def depth(k):
            return 0 if k == 0 else 1 + depth(k - 1)

        for i in range(1, len(x)):  # makes the program longer than the callee
            if x[i] > 0.5:
                x[i] = np.sin(x[i - 1]) + x[i] * 2.0
            elif x[i] > 0.25:
                x[i] = np.cos(x[i - 1]) * x[i] - 1.0
            else:
                x[i] = np.exp(x[i] - x[i - 1]) / 2.0
        return depth(n)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300_000)
    try:
        assert appyc.jit(target="cpu", cache=False, strict=True)(deepest)(np.ones(9), 290_000) == 290_000
    finally:
        sys.setrecursionlimit(limit)


def steps(x, y):
    for _ in range(5):
        x[1:-1] = 0.5 * (x[2:] + x[:-2])
        y[:] = y + x
    return x, y


def summed(x, y):
    """The loop that goes in order is the program's own."""
    for i in range(1, len(x)):
        x[i] = np.sin(x[i - 1]) + y[i]
    return x, np.flip(y) * 2.0


def looked_up(x, y):
    """An inspector looks at the places first."""
    at = (y * 10.0).astype(np.int64)
    for i in range(len(x)):
        x[at[i]] = y[i] * 2.0
    return x, at


def counted(x, y):
    """Each thread has a copy, and the program puts them together."""
    out = np.zeros(20)
    for i in range(len(x)):
        out[int(y[i] * 5.0)] += x[i]
    return out, y


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("function", "starts_loops"), [(steps, True), (summed, False), (looked_up, False), (counted, False)]
)
def test_only_a_program_that_starts_loops_is_hardly_optimised(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], starts_loops: bool
) -> None:
    module = module_of(function, VECTORS)
    chosen = [translation_units.STARTS_LOOPS in f.attributes for f in module.functions]
    assert chosen == [False] * (len(chosen) - 1) + [starts_loops]
    test_any_number_of_files_gives_the_same(monkeypatch, function, (VECTORS[0], VECTORS[1] - 0.9), 2)


@pytest.mark.parametrize(("function", "given"), PROGRAMS)
def test_very_long_functions_are_optimised_less(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], given: tuple[np.ndarray, ...]
) -> None:
    module = module_of(function, given)
    longest = max(len(f.body) for f in module.functions)
    monkeypatch.setattr(translation_units, "LARGE", longest)
    chosen = [file.text for file in module.units(2) if file.hasty]
    assert len(chosen) == 1
    for f in module.functions:
        assert (f.shared in chosen[0]) == (len(f.body) == longest)
    assert sum(f"int32_t {module.entry}(" in file.text for file in module.units(2)) == 1
    test_any_number_of_files_gives_the_same(monkeypatch, function, given, 2)


def test_all_of_a_very_long_program_is_optimised_less(monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of(*PROGRAMS[0])
    assert not any(file.hasty for file in module.units(2))
    monkeypatch.setattr(translation_units, "MUCH", 500)
    assert all(file.hasty for file in module.units(2))


@pytest.mark.skipif("clang" in toolchain.compiler_id(), reason="clang has no such attribute")
def test_a_function_that_is_optimised_less_keeps_the_flags(tmp_path: Path) -> None:
    """Integers wrap, and products are not contracted, whatever the level."""
    less = f"__attribute__(({translation_units.STARTS_LOOPS}))"
    text = (
        f"{less} int wraps(int x) {{ return x + 1 > x; }}\n"
        f"{less} double sum(double a, double b, double c) {{ return a * b + c; }}\n"
    )
    built = tmp_path / "levels.so"
    toolchain.build(text, built, Options())
    library = ctypes.CDLL(str(built))
    library.sum.restype, library.sum.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    assert library.wraps(2**31 - 1) == 0
    assert library.sum(1 + 2.0**-30, 1 - 2.0**-30, -1.0) == 0.0


def test_helpers_are_the_same_file_in_all_programs() -> None:
    libraries = [module_of(*program).libraries for program in PROGRAMS]
    assert {libraries[0][0]} == {found[0] for found in libraries}
    assert [len(found) for found in libraries] == [1, 2, 1]
    assert "product_float64(" in libraries[1][1]


def test_a_file_that_does_not_compile_is_shown(tmp_path: Path) -> None:
    texts = [
        translation_units.File("int one(void) { return 1; }"),
        translation_units.File("int two(void) { return nothing; }"),
    ]
    with pytest.raises(appyc.errors.InternalError, match=r"1 int two\(void\) { return nothing; }"):
        compile_files(texts, tmp_path, Options())
