"""Finding the compiler and building with it."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import appyc
from appyc.c_gen.translation_units import MASKS, File
from appyc.errors import InternalError, ToolchainError
from appyc.options import Options
from appyc.runtime import toolchain
from appyc.runtime.toolchain import build, compile_files, compiler_id, find_compiler, flags
from appyc.runtime.trusted import workspace
from tests.e2e.shared import USERS_FLAGS


def test_missing_compiler_says_how_to_install_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("APPYC_CC", "CC"):
        monkeypatch.delenv(name, raising=False)
    installer = tmp_path / "apt-get"
    installer.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match="sudo apt-get install gcc"):
        find_compiler()


def test_a_named_compiler_is_taken_or_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPYC_CC", "no-such-compiler")
    with pytest.raises(ToolchainError, match="'no-such-compiler'"):
        find_compiler()
    monkeypatch.setenv("APPYC_CC", "gcc")
    assert find_compiler().endswith("gcc")
    assert compiler_id().startswith(find_compiler())


def test_a_named_compiler_may_have_arguments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("APPYC_CC", "gcc -O1")
    program, argument = find_compiler().split()
    assert Path(program).is_absolute()
    assert argument == "-O1"
    out = tmp_path / "kernel.so"
    build("int answer(void) { return 42; }", out, Options())
    assert ctypes.CDLL(str(out)).answer() == 42


def test_a_compiler_that_does_not_run_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPYC_CC", "false")
    with pytest.raises(ToolchainError, match=r"does not run: .* ends with status 1"):
        compiler_id()


def test_build_leaves_a_library_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "folder" / "kernel.so"
    build("int answer(void) { return 42; }", out, Options())
    assert [path.name for path in out.parent.iterdir()] == ["kernel.so"]
    assert ctypes.CDLL(str(out)).answer() == 42


def test_a_failed_build_shows_the_text_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InternalError, match=r"1 int answer\(void\) { return nothing; }"):
        build("int answer(void) { return nothing; }", tmp_path / "kernel.so", Options())
    assert not list(tmp_path.iterdir())


def test_only_fastmath_reassociates() -> None:
    assert "-ffast-math" not in flags(Options())
    assert "-ffast-math" in flags(Options(fastmath=True))


def test_loading_fastmath_code_leaves_the_process_alone(tmp_path: Path) -> None:
    """-ffast-math would link code that makes every library of the process flush subnormal numbers."""
    out = tmp_path / "fast.so"
    build("double twice(double x) { return 2.0 * x; }\n", out, Options(fastmath=True))
    program = (
        "import ctypes, sys, numpy as np\n"
        "ctypes.CDLL(sys.argv[1])\n"
        "assert np.float64(5e-324) * np.ones(1)[0] > 0.0\n"
    )
    subprocess.run([sys.executable, "-c", program, str(out)], check=True)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("kill -9 $$", r"was ended by the signal SIGKILL \(is there too little memory\?\)"),
        (
            "echo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1",
            "Killed signal terminated",
        ),
        ("echo '/t/x.s: No space left on device' >&2; exit 1", "status 1:\n/t/x.s: No space left"),
        ("exit 0", "ended without an error, and wrote nothing"),
        (
            'while [ "$1" != -o ]; do shift; done; echo garbage > "$2"',
            "ended without an error, but what it wrote is no machine code",
        ),
    ],
)
@pytest.mark.parametrize("how", ["at one go", "in files"])
def test_a_compiler_that_breaks_off_is_named(
    how: str, script: str, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "breaks-off"
    fake.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ echo gcc 1; exit 0; }}\n{script}\n')
    fake.chmod(0o755)
    monkeypatch.setenv("APPYC_CC", str(fake))
    in_files = functools.partial(compile_files, [File("int x;")], tmp_path, Options())
    at_one_go = functools.partial(build, "int x;", tmp_path / "kernel.so", Options())
    with pytest.raises(ToolchainError, match=f"(?s)breaks-off.*{told}"):
        (in_files if how == "in files" else at_one_go)()


def test_a_compiler_that_cannot_be_read_or_started_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("APPYC_CC", "gcc '")
    with pytest.raises(ToolchainError, match="APPYC_CC or CC"):
        find_compiler()
    (tmp_path / "no-program").write_bytes(b"\0")
    (tmp_path / "no-program").chmod(0o755)
    monkeypatch.setenv("APPYC_CC", str(tmp_path / "no-program"))
    with pytest.raises(ToolchainError, match="no-program cannot be started"):
        compiler_id()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_a_temporary_folder_that_is_of_no_use_is_named(code: int) -> None:
    with (
        pytest.raises(ToolchainError, match=f"(?s)temporary files, .*{os.strerror(code)}.*TMPDIR"),
        workspace(),
    ):
        raise OSError(code, os.strerror(code))


def test_two_products_side_by_side_are_rounded_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """gcc 12 makes `vfmaddsub` of what stands in one vector, which `-ffp-contract=off` does not keep it from."""
    monkeypatch.setattr("appyc.runtime.toolchain._FLAGS", USERS_FLAGS)

    @appyc.jit(exact=True, cache=False, target="cpu")
    def product(a: complex, b: complex) -> complex:
        return a * b

    numbers = np.random.default_rng(0).random((100, 4))
    for ar, ai, br, bi in numbers.tolist():
        assert product(complex(ar, ai), complex(br, bi)) == complex(ar, ai) * complex(br, bi)


@pytest.mark.parametrize("flag", ["-fdisable-tree-no-such-pass", "-fno-tree-vrp"])
def test_flags_that_the_compiler_does_not_know_are_left_out(
    flag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(toolchain._FLAGS_FOR, MASKS, (flag,))
    assert (flag in flags(Options(), needs=[MASKS])) == (flag == "-fno-tree-vrp")
