"""`appyc check`: what becomes of every pragma and loop, without running the program.

    heat.py:9:4: I101 for i: independent, runs on threads: no two iterations touch the same data
    heat.py:14:4: D001 loop over 'i' carries a dependence: ...

Columns count from 1. Nothing of the program is run: types come from annotations and from
use (`appyc.frontend.kinds`), its imports of NumPy and math are known, and its other functions
are seen as text. What cannot be typed so is a warning, not an error.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from appyc.errors import CompileError, DependenceError, Loc, PragmaError, TypeInferenceError, UnsupportedError
from appyc.frontend.outline import Region, annotation_around, split
from appyc.frontend.pragma_nodes import LoopPragma, Pragma
from appyc.frontend.pragmas import read_pragmas
from appyc.frontend.script import module_text
from appyc.frontend.source import Source
from appyc.frontend.trip_counts import has_own_loop
from appyc.options import Options
from appyc.report.assumed import AssumedModule, Subject
from appyc.report.explain import LoopRecord, report

VERDICT_CODES = {
    "independent": "I101",
    "reduction": "I102",
    "carried": "I103",
    "independent-if": "I104",
    "unknown": "I105",
}
IN_PYTHON = "I106"
OTHER_LOOP = "I107"
PRAGMA_HOLDS = "I100"
NOT_TYPED = "W001"
SYNTAX = "S001"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the answer. severity: "error", "warning" or "info"; line and column from 1."""

    file: str
    line: int
    column: int
    code: str
    severity: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.code} {self.message}"


@dataclass(frozen=True, slots=True)
class CheckResult:
    findings: tuple[Finding, ...]

    @property
    def exit_code(self) -> int:
        """0 fine, 1 errors in pragmas or loops, 2 a file that cannot be read."""
        if any(f.code == SYNTAX for f in self.findings):
            return 2
        return int(any(f.severity == "error" for f in self.findings))

    def as_text(self) -> str:
        return "\n".join(str(f) for f in self.findings)

    def as_json(self) -> str:
        return json.dumps([asdict(f) for f in self.findings], indent=1)


def check_files(files: Sequence[Path]) -> CheckResult:
    """The findings in all files, in the order of the files and of their lines."""
    return CheckResult(tuple(f for file in files for f in check_file(file)))


def check_file(file: Path) -> list[Finding]:
    """The findings in one file."""
    name = str(file)
    try:
        text = file.read_bytes().decode("utf-8-sig")
        tree = ast.parse(text, name)
    except OSError as error:
        return [Finding(name, 1, 1, SYNTAX, "error", f"cannot be read: {error.strerror}")]
    except SyntaxError as error:
        return [Finding(name, error.lineno or 1, error.offset or 1, SYNTAX, "error", error.msg)]
    except ValueError as error:
        return [Finding(name, 1, 1, SYNTAX, "error", str(error))]
    found, text = _pragma_errors(tree, text, name)
    module = AssumedModule(tree, text, name)
    for subject in module.subjects():
        if has_own_loop(subject.source.ast):
            found += _Check(subject, module, read_pragmas(subject.source)).run()
    found += _check_module_loops(tree, module)
    return sorted(set(found), key=lambda f: (f.line, f.column, f.code))


def _check_module_loops(tree: ast.Module, module: AssumedModule) -> list[Finding]:
    """The loops outside all functions: they are compiled by `appyc run`."""
    found: list[Finding] = []
    judged: set[int] = set()
    for subject in module.module_loops():
        check = _Check(subject, module, read_pragmas(subject.source))
        found += check.run()
        judged |= check.judged
    for loop in loops_of_body(tree.body):
        if not any(f.line == loop.lineno for f in found) and loop.lineno not in judged:
            message = f"{_head(loop)}: runs in Python: put it into a function"
            found.append(Finding(module.file, loop.lineno, loop.col_offset + 1, IN_PYTHON, "info", message))
    return found


def _pragma_errors(tree: ast.Module, text: str, file: str) -> tuple[list[Finding], str]:
    """Every pragma that cannot be read or is for nothing, and the text without them."""
    found: list[Finding] = []
    while True:
        try:
            read_pragmas(module_text(tree, text, file))
        except PragmaError as error:
            found.append(_of_error(error))
            lines = text.splitlines(keepends=True)
            at = error.loc.line - 1
            code, sign, _ = lines[at].partition("#")
            if not sign:
                return found, text
            lines[at] = code + "#\n"
            text = "".join(lines)
        else:
            return found, text


class _Check:
    """The findings in one function."""

    def __init__(self, subject: Subject, module: AssumedModule, pragmas: dict[ast.stmt, Pragma]) -> None:
        self.subject = subject
        self.module = module
        self.pragmas = pragmas
        self.found: list[Finding] = []
        self.judged: set[int] = set()

    def run(self) -> list[Finding]:
        self._analyse(self.subject, self.pragmas)
        for loop in _loops(self.subject.source.ast):
            if loop.lineno not in self.judged:
                self._info(self.subject.source.loc(loop), IN_PYTHON, f"{_head(loop)}: runs in Python")
        return self.found

    def _analyse(self, subject: Subject, pragmas: dict[ast.stmt, Pragma]) -> None:
        try:
            analysed = self.module.analyse(subject, Options(target="cpu"))
        except (UnsupportedError, TypeInferenceError) as error:
            self._without_the_uncompilable(subject, pragmas, error)
        except (DependenceError, PragmaError) as error:
            self._add(_of_error(error))
            self.judged.update(loop.lineno for loop in _loops(subject.source.ast))
        else:
            self._report(subject.source, pragmas, report(analysed, subject.source, "cpu").loops)

    def _without_the_uncompilable(
        self, subject: Subject, pragmas: dict[ast.stmt, Pragma], error: CompileError
    ) -> None:
        if annotation_around(subject.source, pragmas, error) is not None:
            # Types are assumed: only what no type would help is surely an error.
            self._add(_of_error(error) if isinstance(error, UnsupportedError) else self._untyped(error))
            self.judged.update(loop.lineno for loop in _loops(subject.source.ast))
            return
        regions: list[Region] = []

        def taken(region: Region) -> object:
            regions.append(region)
            return region.function

        split(subject.function, subject.source, pragmas, error, taken)
        for region in regions:
            inner = self.module.region(subject, region)
            self._analyse(inner, read_pragmas(inner.source))
        known = "" if isinstance(error, UnsupportedError) else "not known before a call: "
        for loop in _loops(subject.source.ast):
            inside = loop.lineno <= error.loc.line <= (loop.end_lineno or loop.lineno)
            if loop.lineno not in self.judged and inside:
                self.judged.add(loop.lineno)
                message = f"{_head(loop)}: runs in Python: line {error.loc.line}: {known}{error.summary}"
                self._info(subject.source.loc(loop), IN_PYTHON, message)

    def _untyped(self, error: CompileError) -> Finding:
        text = f"'{self.subject.name}' could not be judged without a call: {error.summary}"
        return Finding(
            self.subject.source.file, error.loc.line, error.loc.col + 1, NOT_TYPED, "warning", text
        )

    def _report(self, source: Source, pragmas: dict[ast.stmt, Pragma], records: Iterable[LoopRecord]) -> None:
        loops = {loop.lineno: loop for loop in _loops(source.ast)}
        for record in records:
            loop = loops.get(record.line)
            if loop is None:
                continue  # of a function that was called and is reported by itself
            self.judged.add(record.line)
            text = f"for {record.index}: {record.verdict}, runs {_HOW[record.mode]}: {record.reason}"
            self._info(source.loc(loop), VERDICT_CODES.get(record.verdict, "I105"), text)
            pragma = pragmas.get(loop)
            if isinstance(pragma, LoopPragma) and pragma.request in ("parallel", "simd"):
                self._info(pragma.loc, PRAGMA_HOLDS, f"'{pragma.directive}' holds: {record.verdict}")
        for loop in loops.values():
            if loop.lineno not in self.judged:
                self.judged.add(loop.lineno)
                what = "runs in order" if isinstance(loop, ast.While) else "unrolled"
                self._info(source.loc(loop), OTHER_LOOP, f"{_head(loop)}: compiled, {what}")

    def _info(self, loc: Loc, code: str, message: str) -> None:
        self._add(Finding(loc.file, loc.line, loc.col + 1, code, "info", message))

    def _add(self, finding: Finding) -> None:
        self.found.append(finding)


_HOW = {
    "parallel": "on threads",
    "simd": "in vector lanes",
    "scan": "in chunks",
    "sequential": "in order",
}


def _of_error(error: CompileError) -> Finding:
    loc = error.loc
    notes = "".join(
        f"; {note.loc.line}:{note.loc.col + 1}: {note.text}" for note in error.related if note.text
    )
    return Finding(loc.file, loc.line, loc.col + 1, error.code, "error", f"{error.summary}{notes}")


def _loops(function: ast.FunctionDef) -> list[ast.For | ast.While]:
    return loops_of_body(function.body)


def loops_of_body(body: Iterable[ast.stmt]) -> list[ast.For | ast.While]:
    """The loops of some statements, but not those of functions that they define."""
    out: list[ast.For | ast.While] = []
    stack: list[ast.AST] = [*body]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.For | ast.While):
            out.append(node)
        stack += ast.iter_child_nodes(node)
    return sorted(out, key=lambda loop: (loop.lineno, loop.col_offset))


def _head(loop: ast.For | ast.While) -> str:
    return f"for {ast.unparse(loop.target)}" if isinstance(loop, ast.For) else "while"
