"""Finds and runs the C compiler: its command, its flags, compiling and linking."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from appyc.c_gen.translation_units import MASKS, SINES_AND_COSINES, File
from appyc.errors import InternalError, ToolchainError
from appyc.ir.nodes import Function
from appyc.options import Options, c_compiler
from appyc.runtime import vector_math
from appyc.runtime.fingerprint import machine_fingerprint

_CANDIDATES = ("cc", "gcc", "clang")

_INSTALLERS = (
    ("apt-get", "sudo apt-get install gcc"),
    ("dnf", "sudo dnf install gcc"),
    ("pacman", "sudo pacman -S gcc"),
    ("zypper", "sudo zypper install gcc"),
    ("apk", "sudo apk add gcc musl-dev"),
    ("brew", "brew install gcc"),
)

_FLAGS = (
    "-O3",
    "-march=native",
    "-fPIC",
    "-shared",
    "-fcommon",  # a pointer that several files of a kernel declare is one
    "-std=gnu11",
    "-fwrapv",  # integers wrap, as NumPy's
    "-ffp-contract=off",  # no FMA that the program did not ask for
    "-fno-tree-slp-vectorize",  # which makes some all the same (gcc 12)
    "-fno-math-errno",
    "-fno-trapping-math",
    "--param=max-rtl-if-conversion-unpredictable-cost=40",  # ten instructions take less time than half a misprediction
    "-w",  # a user can do nothing about a warning for generated code
)
_OF_GCC = ("-fira-region=one",)
"""The flags of gcc alone. Registers are allocated for a function at once, not loop by loop: of PolyBench's kernels that
takes an eighth of gcc's time away, and 1.5 % of the instructions."""
_FAST_MATH = (
    "-ffast-math",
    "-fno-finite-math-only",
    "-ffp-contract=fast",
    "-ftree-slp-vectorize",
    "-nostartfiles",
)
"""NaN and infinity, with which minima begin, stay what they are. With -ffast-math compilers link start-up code into a
library that makes the whole process, its other libraries too, flush subnormal numbers to zero; kernels need no
start-up code at all."""
_FLAGS_FOR = {
    MASKS: ("-fno-thread-jumps", "-fno-tree-vrp", "-fno-tree-pre"),
    SINES_AND_COSINES: ("-fdisable-tree-sincos",),
}
"""The flags of gcc, not of clang, for code with certain features. With MASKS, gcc would make branches of several
selects by one condition, or choose between results of a comparison instead of its operands; masked lanes can have
neither. With SINES_AND_COSINES, it would join a sine and a cosine of one number in a function without a vector form;
without its own knowledge of both (-fno-builtin-sin), it would not compute them in lanes under a condition."""

_HASTY = ("-O1",)
"""The optimisation flags for very long functions, which compile in a third of the time of -O3."""

_LIBRARIES = (
    "-Wl,--as-needed",
    "-lm",
)  # a kernel with a team of its own (c_gen/text/team.c) needs no libgomp


def find_compiler() -> str:
    """The command of the C compiler: APPYC_CC or CC where set, else the first of cc, gcc, clang.

    The program is an absolute path; what follows it ("ccache gcc", "gcc -m64") stays as it is.
    Raises ToolchainError, with the command that installs one, where there is none.
    """
    named = c_compiler()
    for candidate in (named,) if named else _CANDIDATES:
        try:
            program, *rest = shlex.split(candidate) or [""]
        except ValueError as error:
            raise ToolchainError(f"APPYC_CC or CC is {candidate!r}, which cannot be read: {error}") from error
        if path := shutil.which(program):
            return shlex.join([path, *rest])
    if named:
        raise ToolchainError(f"the C compiler {named!r} that APPYC_CC or CC names was not found")
    hint = next((command for tool, command in _INSTALLERS if shutil.which(tool)), "gcc or clang")
    raise ToolchainError(f"appyc needs a C compiler and found none (cc, gcc, clang). Install one: {hint}")


@lru_cache(maxsize=8)
def _version(command: str) -> str:
    words = [*shlex.split(command), "--version"]
    done = _started(words)
    if done.returncode != 0:
        reason = done.stderr.strip() or f"`{command} --version` ends with status {done.returncode}"
        raise ToolchainError(f"the C compiler {command} does not run: {reason}")
    return done.stdout.partition("\n")[0]


def compiler_id() -> str:
    """The compiler's command and version, and the processor, which `-march=native` stands for: the part of a
    cache key for the compiler and its target."""
    command = find_compiler()
    return f"{command} {_version(command)} {machine_fingerprint()}"


def _openmp_flags(command: str) -> tuple[str, ...]:
    """-fopenmp where the compiler can link it; a clang often comes without the library."""
    parallel = "void probe(void) {\n#pragma omp parallel\n    ;\n}\n"
    works = "clang" not in _version(command) or vector_math.accepts(command, ("-fopenmp",), parallel)
    return ("-fopenmp",) if works else ("-fopenmp-simd",)


def vector_functions(fn: Function, options: Options) -> frozenset[str]:
    """The library's functions that the code of a function may call with vectors; none where digits must
    be Python's, nor where it calls no such function."""
    if options.exact or not vector_math.calls_any(fn):
        return frozenset()
    return vector_math.vector_functions(find_compiler())


def flags(options: Options, *, needs: Sequence[str] = ()) -> tuple[str, ...]:
    """The compiler's arguments, but for the files: part of a cache key too. needs: some of `_FLAGS_FOR`."""
    compiler = find_compiler()
    fast = _FAST_MATH if options.fastmath else ()
    is_clang = "clang" in _version(compiler)
    lanes = vector_math.clang_flags(compiler) if is_clang and not options.exact else ()
    own = [
        flag
        for need in needs
        if not is_clang and vector_math.accepts(compiler, _FLAGS_FOR[need])
        for flag in _FLAGS_FOR[need]
    ]
    of_gcc = () if is_clang else _OF_GCC
    return (*_FLAGS, *of_gcc, *own, *_openmp_flags(compiler), *lanes, *fast)


def distributions() -> Path:
    """NumPy's library of random distributions, for linking. Raises ToolchainError where NumPy came without it."""
    found = Path(np.random.__path__[0], "lib", "libnpyrandom.a")
    if not found.exists():
        raise ToolchainError(f"NumPy's library of random distributions is not there: {found}")
    return found


def build(
    text: str, out_path: Path, options: Options, objects: Sequence[Path] = (), *, needs: Sequence[str] = ()
) -> None:
    """Compiles C text, if there is any, to a shared library, which appears at `out_path` whole or not at all.

    objects: what it is linked with, as `compile_files` makes it. needs: as in `flags`.
    """
    compiler = find_compiler()
    out_path.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(prefix=f".{out_path.name}.", dir=out_path.parent)
    os.close(handle)
    try:
        given = ["-x", "c", "-", "-x", "none", *map(str, objects)]
        command = [*shlex.split(compiler), *flags(options, needs=needs), *given, "-o", partial, *_LIBRARIES]
        done = _started(command, input=text)
        _judge(done.returncode, done.stderr, Path(partial), text)
        Path(partial).replace(out_path)
    finally:
        Path(partial).unlink(missing_ok=True)


def compile_files(
    files: Sequence[File], folder: Path, options: Options, *, needs: Sequence[str] = ()
) -> list[Path]:
    """Compiles C texts in parallel, each to an object file in the folder. needs: as in `flags`."""
    command = [*shlex.split(find_compiler()), *flags(options, needs=needs), "-c"]
    running: list[tuple[str, Path, subprocess.Popen[str]]] = []
    try:
        for number, file in enumerate(files):
            source, out = folder / f"file{number}.c", folder / f"file{number}.o"
            source.write_text(file.text)
            less = _HASTY if file.hasty else ()
            words = [*command, *less, str(source), "-o", str(out)]
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            running.append((file.text, out, process))
        for text, out, process in running:
            _, errors = process.communicate()
            _judge(process.returncode, errors, out, text)
    finally:
        for _, _, process in running:
            if process.poll() is None:
                process.kill()
                process.communicate()
    return [out for _, out, _ in running]


def _started(command: Sequence[str], input: str | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=input, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise ToolchainError(f"the C compiler {command[0]} cannot be started: {error.strerror}") from error


_MAGIC = (b"\x7fELF", b"\xcf\xfa\xed\xfe")
"""The first bytes of object files and libraries, on Linux and on macOS."""

_FAULT_OF_TEXT = re.compile(
    r"^[^\n]*:\d+:\d+: (?:error|note: in expansion)|undefined reference|multiple definition", re.MULTILINE
)
"""The pattern of a compiler's messages about the text that it was given. All others are about the compiler
itself."""


def _judge(status: int, said: str, out: Path, text: str = "") -> None:
    """Raises where a compiler has not done its work: InternalError for text that is no C, else ToolchainError."""
    said = said.strip()
    if status > 0 and _FAULT_OF_TEXT.search(said):
        numbered = "\n".join(f"{number:5} {line}" for number, line in enumerate(text.split("\n"), 1))
        raise InternalError("the C compiler", f"{said}\n{numbered}")
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
        what = f"was ended by the signal {name}" + (
            " (is there too little memory?)" if name == "SIGKILL" else ""
        )
    elif status > 0:
        what = f"failed with status {status}"
    elif not out.is_file() or out.stat().st_size == 0:
        what = "ended without an error, and wrote nothing"
    elif not out.read_bytes().startswith(_MAGIC):
        what = "ended without an error, but what it wrote is no machine code"
    else:
        return
    raise ToolchainError(f"the C compiler {find_compiler()} {what}" + (f":\n{said}" if said else ""))
