"""Compiled code that outlives the process: who finds it, who does not, and what harms it."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from appyc.runtime.toolchain import find_compiler

PROGRAM = """
import appyc
import numpy as np

FACTOR = 2.0


def weight(x, w=3.0):
    return x * w


def make(offset):
    @appyc.jit
    def shifted(x):
        return x + offset
    return shifted


@appyc.jit
def f(a):
    for i in range(a.shape[0]):
        a[i] = weight(a[i]) * FACTOR


a = np.ones(4)
f(a)
print(a[0], make(5.0)(1.0))
"""


IN_TURN = """
import contextlib, io, json, pathlib, runpy, sys

log = pathlib.Path(sys.argv[1])
for name in sys.argv[2:]:
    log.unlink(missing_ok=True)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(name)
    print(json.dumps([out.getvalue(), log.read_text().split() if log.exists() else []]))
log.unlink(missing_ok=True)
"""
"""Runs programs one after the other in one process, and prints what each has printed and asked of the C compiler."""


@dataclass
class Machine:
    """A folder with a program, a cache, and a C compiler that counts its runs."""

    folder: Path
    cache: Path
    compiler: Path

    def environment(self, **more: str) -> dict[str, str]:
        return {
            **os.environ,
            "APPYC_CACHE_DIR": str(self.cache),
            "APPYC_CC": str(self.compiler),
            "COUNTED_IN": str(self.folder / "log"),
            "PYTHONPATH": str(Path(__file__).parent.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            **more,
        }

    def start(self, program: str, **more: str) -> subprocess.Popen[str]:
        file = self.folder / "program.py"
        if not file.exists() or file.read_text() != program:
            file.write_text(program)
        return self.python(str(file), **more)

    def python(self, *words: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *words],
            env=self.environment(**more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, program: str = PROGRAM, **more: str) -> str:
        """What the program prints."""
        return finished(self.start(program, **more))

    def run_in_turn(self, *programs: str) -> list[tuple[str, int]]:
        """What each program of one process prints, and how many kernels are compiled for it.

        Each has a file, and functions, of its own, so that nothing but the folder tells one what another compiled.
        """
        files = [self.folder / f"program{number}.py" for number in range(len(programs))]
        for file, program in zip(files, programs, strict=True):
            file.write_text(program)
        done = finished(self.python("-c", IN_TURN, str(self.folder / "log"), *map(str, files)))
        found = map(json.loads, done.splitlines())
        return [(printed, asked.count("library")) for printed, asked in found]

    def runs(self) -> list[str]:
        """What the C compiler was asked for since the last question, sorted."""
        log = self.folder / "log"
        found = sorted(log.read_text().splitlines()) if log.exists() else []
        log.unlink(missing_ok=True)
        return found

    def compilations(self) -> int:
        """How many kernels were compiled."""
        return self.runs().count("library")


def finished(process: subprocess.Popen[str]) -> str:
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    return out + error


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wrapper = tmp_path_factory.mktemp("compiler") / "counting-cc"
    wrapper.write_text(
        "#!/bin/sh\n"
        'case "$*" in *--version*) ;; *" -c "*) echo object >> "$COUNTED_IN" ;; '
        '*) echo library >> "$COUNTED_IN" ;; esac\n'
        f'exec {find_compiler()} "$@"\n'
    )
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return wrapper


@pytest.fixture
def machine(tmp_path: Path, compiler: Path) -> Machine:
    return Machine(tmp_path, tmp_path / "cache", compiler)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, compiler: Path) -> Machine:
    """A machine on which one process has run the program."""
    folder = tmp_path_factory.mktemp("first")
    machine = Machine(folder, folder / "cache", compiler)
    assert machine.run() == "6.0 6.0\n"
    assert machine.runs() == ["library", "library", "object", "object"]  # f's loop, helpers; then `shifted`
    return machine


@pytest.fixture
def filled(machine: Machine, first: Machine) -> Machine:
    """A machine of its own with what the first process has left."""
    shutil.copytree(first.cache, machine.cache)
    return machine


def test_second_process_compiles_nothing(filled):
    assert filled.run() == "6.0 6.0\n"
    assert filled.compilations() == 0


def test_helpers_are_compiled_once_for_all_kernels(filled):
    filled.run(PROGRAM.replace("* FACTOR", "* FACTOR + 1"))
    assert filled.runs() == ["library"]
    for file in (filled.cache / "v1").glob("entries/*/helpers.o"):
        file.write_bytes(b"damaged")
    filled.run(PROGRAM.replace("* FACTOR", "* FACTOR + 2"))
    assert filled.runs() == ["library", "object", "object"]


def test_moved_function_is_found_and_reports_its_new_lines(machine):
    program = """
import appyc
import numpy as np

@appyc.jit
def pick(a, i):
    return a[i]

try:
    pick(np.ones(3), 3)
except IndexError as error:
    print(error, error.__notes__[0].splitlines()[0].rpartition("/")[2])
"""
    assert "(line 7) program.py:7:12" in machine.run(program)
    assert machine.compilations() >= 1
    assert "(line 9) program.py:9:12" in machine.run("\n\n" + program)
    assert machine.compilations() == 0


EDITS = [
    ("function", "* FACTOR", "* FACTOR + 1", "7.0 6.0"),
    ("callee", "return x * w", "return x * w - 1", "4.0 6.0"),
    ("global", "FACTOR = 2.0", "FACTOR = 4.0", "12.0 6.0"),
    ("default of the callee", "w=3.0", "w=5.0", "10.0 6.0"),
    ("closure", "make(5.0)", "make(7.0)", "6.0 8.0"),
    ("type of an argument", "np.ones(4)", "np.ones(4, np.float32)", "6.0 6.0"),
    ("layout of an argument", "a = np.ones(4)", "a = np.ones(8)[::2]", "6.0 6.0"),
    ("option", "@appyc.jit\ndef f", "@appyc.jit(fastmath=True)\ndef f", "6.0 6.0"),
]


def test_what_was_edited_is_compiled_anew(filled):
    assert all(PROGRAM.count(before) == 1 for _, before, _, _ in EDITS)
    edited = [PROGRAM.replace(before, after) for _, before, after, _ in EDITS]
    *found, unchanged = filled.run_in_turn(*edited, PROGRAM)
    for (what, _, _, printed), of_edited in zip(EDITS, found, strict=True):
        assert of_edited == (f"{printed}\n", 1), what
    assert unchanged == ("6.0 6.0\n", 0), "the one from before is still there"


IMPORTED = """
from math import sqrt as root
from numpy import sin as wave
from numpy import sum as total

import appyc
import numpy as np
import math as library


def helper(x):
    return root(x) + library.exp(x)


def bound(operation):
    return lambda x: operation(x, 2.0)


@appyc.jit
def f(a, each):
    for i in range(a.shape[0]):
        a[i] = wave(a[i]) + helper(a[i]) * each(a[i])
    return total(a)


each = bound(np.add)
print(abs(f(np.ones(4), each) - f.py_func(np.ones(4), each)) < 1e-9)
"""


def test_names_of_libraries_functions_are_asked_for(machine):
    assert machine.run(IMPORTED) == "True\n"
    assert machine.compilations() > 0
    edits = (
        ("sin as wave", "cos as wave"),
        ("sqrt as root", "log1p as root"),
        ("sum as total", "prod as total"),
        ("import math as library", "import numpy as library"),
        ("bound(np.add)", "bound(np.subtract)"),
        ("def helper", "def range(n):\n    return iter((0, 1))\n\n\ndef helper"),
    )
    same, *others = machine.run_in_turn(IMPORTED, *(IMPORTED.replace(*edit) for edit in edits))
    assert same == ("True\n", 0)
    for edit, (printed, compilations) in zip(edits, others, strict=True):
        assert printed == "True\n", edit
        assert compilations > 0, edit


def test_another_compiler_misses(filled):
    other = filled.folder / "other-cc"
    shutil.copy2(filled.compiler, other)
    assert filled.run(APPYC_CC=str(other)) == "6.0 6.0\n"
    assert filled.compilations() == 2


def test_damaged_file_is_rebuilt(filled):
    for pattern, damage in (
        ("entries/*/kernel.so", "cut"),
        ("entries/*/kernel.so", "removed"),
        ("entries/*/meta.json", "removed"),
        ("index/*.json", "cut"),
    ):
        files = list((filled.cache / "v1").glob(pattern))
        assert files
        for file in files:
            content = file.read_bytes()
            file.unlink()
            if damage == "cut":
                file.write_bytes(content[: len(content) // 2])
        (printed, _), again = filled.run_in_turn(PROGRAM, PROGRAM)
        assert printed == "6.0 6.0\n", (pattern, damage)
        assert again == ("6.0 6.0\n", 0), (pattern, damage)
    assert filled.run() == "6.0 6.0\n"
    assert filled.compilations() == 0


def test_four_processes_at_once(machine):
    started = [machine.start(PROGRAM) for _ in range(4)]
    assert [finished(p) for p in started] == ["6.0 6.0\n"] * 4
    machine.compilations()
    assert machine.run() == "6.0 6.0\n"
    assert machine.compilations() == 0
    assert not list((machine.cache / "v1").glob("tmp-*"))


def test_cache_false_leaves_no_trace(machine):
    assert machine.run(APPYC_CACHE="0") == "6.0 6.0\n"
    assert machine.compilations() == 2
    assert not machine.cache.exists()
    assert machine.run(APPYC_CACHE="0") == "6.0 6.0\n"
    assert machine.compilations() == 2


def test_folder_that_cannot_be_used_warns_and_works(machine):
    machine.cache.write_text("a file where a folder should be")
    printed = machine.run()
    assert printed.startswith("6.0 6.0\n")
    assert "CacheWarning: the cache folder" in printed
    assert "APPYC_CACHE_DIR" in printed


def test_folder_that_others_can_write_is_not_trusted(filled):
    filled.cache.chmod(0o777)
    printed = filled.run()
    assert printed.startswith("6.0 6.0\n")
    assert "can be written by other users" in printed
    assert filled.compilations() == 2


def test_read_only_folder_warns_and_works(machine):
    machine.cache.mkdir(mode=0o500)
    if os.geteuid() == 0 and Path("/proc/sys").exists():
        machine.cache = Path("/proc/sys")  # root may write everywhere else
    printed = machine.run()
    assert printed.startswith("6.0 6.0\n")
    assert "CacheWarning" in printed


def test_warm_start_imports_neither_the_ir_nor_isl(machine):
    program = (
        PROGRAM + "import sys\nprint(sorted(m for m in sys.modules if m in ('islpy', 'appyc.ir.nodes')))\n"
    )
    assert "islpy" in machine.run(program)
    assert machine.run(program).splitlines()[-1] == "[]"
