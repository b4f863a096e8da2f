"""NumPy's own tests, with `numpy` replaced by `appyc.numpy` in the modules that they are written in.

    python -m tests.lazy.numpy_suite                        all of them
    python -m tests.lazy.numpy_suite lib/tests/test_io.py   some
    python -m tests.lazy.numpy_suite --write                the list of all that pass on NumPy and fail here

Each file runs replaced, in a process of its own; the tests that fail then run as they are.
"""

from __future__ import annotations

import argparse
import builtins
import collections
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest

FOLDER = Path(numpy.__file__).parent
LIST = Path(__file__).parent / "numpy_suite.txt"
PARTS = ("_core", "lib", "linalg", "fft", "ma", "polynomial", "matrixlib", "random")
WITHOUT_ARRAYS = frozenset(
    "_core/tests/test_" + name + ".py"
    for name in ("cython", "limited_api", "mem_policy", "cpu_dispatcher", "cpu_features", "simd", "simd_module",
                 "array_api_info", "extint128", "print", "umath_accuracy", "casting_unittests", "arraymethod",
                 "custom_dtypes", "dtype", "argparse", "conversion_utils", "hashtable", "abc")
) | {"random/tests/test_extending.py"}  # fmt: skip
"""Files about NumPy's C interface and build, or that compile extensions."""

REASONS: dict[str, str] = {
    r"DID NOT WARN|No error raised during|test_overflows|Got warnings|warnings found|test_a_dtype_alias|len\(w\)|"
    r"rec\[0\]\.filename|DID NOT RAISE UserWarning": (
        "Warnings of divisions by zero or overflow, or of slices that are all NaN, come of what is computed at once "
        "alone"
    ),
    r"has no buffer|no attribute '__array_(interface|struct)__'": "Only numbers and text have a buffer",
    r"pickle": "What is pickled comes back as appyc's",
    r"__array__ method not producing|ArrayType|must be an? (numpy )?array|Could not convert object|"
    r"Cannot convert ndarray|expects int or sequence|must be numpy.ndarray|require base class|is not a sequence|"
    r"<built-in function|by concat|incref_elide|no attribute '_data'": "For code in C, a recorded array is none",
    r"Cannot change data-type for array of references|Type must be a sub-type of ndarray": (
        "A view of NumPy's own arrays takes `numpy.ndarray`"
    ),
    r"read-only|is not acceptable|readonly|writeable_memoryview|no version of DLPack|buffercallback": (
        "What other libraries are given (`numpy.asarray(a)`, DLPack, `memoryview(a)`, `numpy.ma.array(a)`) is a "
        "read-only view"
    ),
    r"self_containing|corecursive|self_reference|circular_reference|growing_list|replace_0d| is (obj|arr)$|item_ids": (
        "Arrays that are stored in an array of objects are NumPy's arrays there"
    ),
    r"test_iter_|test_writebacks|TestBroadcast|nditer": (
        "`np.nditer` and `np.broadcast` hold NumPy's arrays of their operands"
    ),
    r"type\(.*np\.ndarray|__class__ is ndarray|_returntypes|MyArr": (
        "Subclasses of `ndarray` (`np.memmap`, `np.recarray`, `numpy.ma`), classes of scalars (`np.float64([1, 2])`) "
        "and fields of structured arrays with objects give NumPy's own arrays"
    ),
    r"[Ss]ignature|test_overrides|mappingproxy|unexpected keyword|__module__|getattr\(np.ma|_Namespace|dir\(|"
    r"function_like|array_namespace|__dict__|docstring|newdoc|set_module": (
        "signatures, modules and classes of functions, and what `dir` lists, are appyc's"
    ),
    r"\.base|OWNDATA|owndata|base_|_base|refcount|references|swapaxes|matrix_multiply|_multi_index|_single_index|"
    r"from_readonly": "Which array holds the memory is not what `base`, `flags.owndata` and counts of references say",
    r"internal_overlap": "`as_strided` refuses views that reach beyond the memory of the array",
    r"ZeroSize|zero_width|TestCreationFuncs": "Elements without bytes (`S0`, `V0`) are in C order",
    r"binop_interaction": "`a.__add__(b)` gives what `a + b` gives",
    r"_warn_on_write|_CopyMode|astype_copyflag": (
        "Names that begin with an underscore (`np._core`, `np._CopyMode`) are NumPy's own affair"
    ),
    r"at assert.* is (not )?\w+": (
        "A function that gives back its argument may give an equal object instead of the very same"
    ),
}
"""Why tests fail here: a pattern for the name of a test, its error and its line, and words of docs/lazy.md."""


# ---------------------------------------------------------------- in the process of the tests


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--replaced", action="store_true", help="with appyc.numpy for numpy")
    parser.addoption("--outcomes", help="file for a line of JSON about each test")


@pytest.hookimpl(hookwrapper=True)
def pytest_pycollect_makeitem(collector: Any) -> Any:
    if collector.config.getoption("--replaced"):
        _replace(collector.getparent(pytest.Module).obj)
    yield


@functools.cache
def _public() -> dict[int, Any]:
    """What `appyc.numpy` has for NumPy's public functions and modules, by their `id`."""
    import appyc.numpy as lazy

    out: dict[int, Any] = {id(numpy): lazy}
    parts = ("linalg", "fft", "random", "lib.stride_tricks")
    for theirs, ours in (
        (numpy, lazy),
        *((attrgetter(part)(numpy), attrgetter(part)(lazy)) for part in parts),
    ):
        for name in dir(theirs):
            value = getattr(theirs, name)
            if not name.startswith("_") and (callable(value) or isinstance(value, ModuleType)):
                found = getattr(ours, name)
                if found is not value:
                    out[id(value)] = found
    return out


def _importing(before: Callable[..., Any]) -> Callable[..., Any]:
    """`__import__` that gives modules of tests `appyc.numpy`: decorators and bodies of classes find it, too."""

    def imported(name: str, scope: Any = None, *more: Any, **keywords: Any) -> Any:
        found = before(name, scope, *more, **keywords)
        is_test = scope is not None and Path(scope.get("__file__") or "").match(f"{FOLDER}/*/tests/test_*.py")
        return _public().get(id(found), found) if is_test else found

    return imported


_REPLACED: set[str] = set()


def _replace(module: ModuleType) -> None:
    if module.__name__ in _REPLACED:
        return
    _REPLACED.add(module.__name__)
    for name, value in list(vars(module).items()):
        if id(value) in _public():
            setattr(module, name, _public()[id(value)])


class Outcomes:
    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def write(self, *line: str) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(nodeid, "started", "")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            text = report.longreprtext if report.failed else ""
            error, line = (re.findall(mark, text, re.MULTILINE) for mark in (r"^E   +(.*)", r"^>   +(.*)"))
            outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
            self.write(report.nodeid, outcome, " at ".join(one[0][:200] for one in (error, line) if one))


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--replaced"):
        builtins.__import__ = _importing(builtins.__import__)
    if path := config.getoption("--outcomes"):
        config.pluginmanager.register(Outcomes(path))


# ---------------------------------------------------------------- outside


def outcomes(file: str, *, replaced: bool, tests: list[str] | None = None) -> dict[str, tuple[str, str]]:
    """The outcome of each test of a file, or of some of them, and its error."""
    with tempfile.TemporaryDirectory() as folder:
        path, arguments = Path(folder) / "outcomes", Path(folder) / "arguments"
        arguments.write_text("\n".join(str(FOLDER / test) for test in tests or [file]))
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "tests.lazy.numpy_suite", "-p", "no:cacheprovider",
            "-p", "no:xdist", "-c", os.devnull, "--rootdir", str(FOLDER), "-m", "not slow", "--outcomes", str(path),
            *(["--replaced"] if replaced else []), f"@{arguments}",
        ]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            ran = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=600,
                check=False,
            )
            note = ran.stdout[-2000:] if ran.returncode not in (0, 1, 5) else ""
        except subprocess.TimeoutExpired:
            note = "no end"
        if note:
            print(f"{file}: {note}", file=sys.stderr)
        lines = path.read_text().splitlines() if path.exists() else []
    return {name: (outcome, error) for name, outcome, error in map(json.loads, lines)}


def reason(name: str, error: str) -> str:
    return next(
        (why for pattern, why in REASONS.items() if re.search(pattern, f"{name}: {error}")), "not examined"
    )


def compared(file: str) -> tuple[int, list[tuple[str, str, str]]]:
    """How many tests pass on NumPy, and those among them that fail here, with their errors and reasons."""
    ours = outcomes(file, replaced=True)
    suspects = [name for name, (outcome, _) in ours.items() if outcome in ("failed", "started")]
    theirs = outcomes(file, replaced=False, tests=suspects) if suspects else {}
    failed = [name for name in suspects if theirs.get(name, ("", ""))[0] == "passed"]
    count = sum(outcome == "passed" for outcome, _ in ours.values()) + len(failed)
    return count, [(name, ": ".join(ours[name]), reason(name, ours[name][1])) for name in failed]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", help="below numpy's folder")
    parser.add_argument("--write", action="store_true", help=f"write {LIST.name}")
    options = parser.parse_args()
    files = options.files or [
        str(path.relative_to(FOLDER))
        for part in PARTS
        for path in sorted((FOLDER / part / "tests").glob("test_*.py"))
    ]
    count, out = 0, collections.defaultdict(list)
    for file in files:
        if file in WITHOUT_ARRAYS:
            continue
        passed, failed = compared(file)
        count += passed
        print(f"{file}: {len(failed)} of {passed}", flush=True)
        for name, error, why in failed:
            print(f"  {name.split('::', 1)[1]}  [{why}]  {error}", flush=True)
            out[why].append(name)
    total = sum(map(len, out.values()))
    print(f"{total} of {count} tests that pass on NumPy fail here")
    if options.write:
        text = [
            f"# python -m tests.lazy.numpy_suite --write: NumPy {numpy.__version__}, {total} of {count} tests"
        ]
        for why, names in sorted(out.items()):
            text += ["", f"# {why}", *sorted(names)]
        LIST.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
