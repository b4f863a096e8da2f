"""`appyc check`: a linter that reports the verdict of each pragma and loop without running the program.

    heat.py:9:4: I101 for i: independent, runs on threads: no iteration writes what another one reads or writes
    heat.py:14:4: D001 loop over 'i' carries a dependence: ...

Columns count from 1. Types are inferred from annotations and uses (`appyc.report.parameter_kinds`).
Imports of NumPy and math are known, and the program's other functions are read from their source.
What cannot be typed so is a warning, not an error.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from appyc.compiler.analyse import Analysed
from appyc.errors import CompileError, DependenceError, Loc, PragmaError, TypeInferenceError, UnsupportedError
from appyc.frontend.fault_paths import annotation_around
from appyc.frontend.outline import Region, split
from appyc.frontend.pragmas.axis_requests import slice_text
from appyc.frontend.pragmas.pragma_nodes import Dim, DimsPragma, LoopPragma
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.script import module_text
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.report.assumed import AssumedModule, Subject, parameters
from appyc.report.explain import LoopRecord, report
from appyc.report.parameter_kinds import annotation_fault

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
Loop = ast.For | ast.While


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnostic. severity: "error", "warning" or "info"; line and column from 1."""

    file: str
    line: int
    column: int
    code: str
    severity: str
    message: str

    @classmethod
    def at(cls, loc: Loc, code: str, severity: str, message: str) -> Finding:
        return cls(loc.file, loc.line, loc.col + 1, code, severity, message)

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
        check = _Check(subject, module)
        if any(stmt in check.pragmas or isinstance(stmt, Loop) for stmt in check.statements):
            found += check.run()
    found += _check_module_statements(tree, text, module)
    found += _check_coroutines(tree, name)
    return sorted(set(found), key=lambda f: (f.line, f.column, f.code))


def _check_module_statements(tree: ast.Module, text: str, module: AssumedModule) -> list[Finding]:
    """Findings outside all functions, where `appyc run` compiles the loops; other pragmas have no effect there."""
    found: list[Finding] = []
    judged: set[int] = set()
    for subject in module.module_loops():
        check = _Check(subject, module)
        found += check.run()
        judged |= check.judged
    for loop in loops_of_body(tree.body):
        if not any(f.line == loop.lineno for f in found) and loop.lineno not in judged:
            message = f"{_head(loop)}: runs in Python: put it into a function"
            found.append(Finding(module.file, loop.lineno, loop.col_offset + 1, IN_PYTHON, "info", message))
    pragmas = read_pragmas(module_text(tree, text, module.file))
    for stmt in own_statements(tree.body):
        pragma = pragmas.get(stmt)
        if pragma is None or isinstance(pragma, LoopPragma) or any(f.line == pragma.loc.line for f in found):
            continue
        message = "the statement runs in Python: put it into a function"
        found.append(Finding.at(pragma.loc, IN_PYTHON, "info", message))
    return found


def _check_coroutines(tree: ast.Module, file: str) -> list[Finding]:
    """Findings in async functions, none of which is compiled."""
    loops = (
        loop for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)
        for loop in loops_of_body(node.body)
    )  # fmt: skip
    return [
        Finding(file, loop.lineno, loop.col_offset + 1, IN_PYTHON, "info",
                f"{_head(loop)}: runs in Python: async functions cannot be compiled")
        for loop in loops
    ]  # fmt: skip


def _pragma_errors(tree: ast.Module, text: str, file: str) -> tuple[list[Finding], str]:
    """Each pragma that cannot be parsed or applies to no statement, and the text without them."""
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
    """The findings in one function, or in a region of it, whose findings are those of the function `around`."""

    def __init__(self, subject: Subject, module: AssumedModule, around: _Check | None = None) -> None:
        self.subject, self.source, self.module = subject, subject.source, module
        self.pragmas = read_pragmas(subject.source)
        self.statements = own_statements(subject.source.ast.body)
        self.loops = [stmt for stmt in self.statements if isinstance(stmt, Loop)]
        self.others = {
            s: p for s in self.statements if not isinstance(p := self.pragmas.get(s), LoopPragma | None)
        }
        """The pragmas on statements that are no loops."""
        self.targets = [(stmt, p.loc, "the statement") for stmt, p in self.others.items()]
        self.targets += [(loop, self.source.loc(loop), f"{_head(loop)}:") for loop in self.loops]
        """The statements to report on, each with its location and its name in messages."""
        self.found: list[Finding] = [] if around is None else around.found
        self.judged: set[int] = set() if around is None else around.judged
        """Lines of loops, and of pragmas on other statements, for which all findings are reported."""

    def run(self) -> list[Finding]:
        for arg in parameters(self.subject):
            fault = annotation_fault(arg.annotation)
            if arg.annotation is not None and fault is not None:
                loc = self.source.loc(arg.annotation)
                self.found.append(Finding.at(loc, NOT_TYPED, "warning", fault))
        self._analyse()
        for _, loc, what in self.targets:
            if loc.line not in self.judged:
                self._info(loc, IN_PYTHON, f"{what} runs in Python")
        return self.found

    def _analyse(self) -> None:
        try:
            analysed = self.module.analyse(self.subject, Options(target="cpu"))
        except (UnsupportedError, TypeInferenceError) as error:
            self._without_the_uncompilable(error)
        except (DependenceError, PragmaError) as error:
            self.found.append(_of_error(error))
            self._nothing_more()
        else:
            self._report(report(analysed, self.source, "cpu").loops)
            self._report_statements(analysed)

    def _nothing_more(self) -> None:
        """Marks all loops and pragmas of a function as reported, after an error in it."""
        self.judged.update(loc.line for _, loc, _ in self.targets)

    def _without_the_uncompilable(self, error: CompileError) -> None:
        if annotation_around(self.source, self.pragmas, error) is not None:
            # Types are assumed: only what no type would make compilable is surely an error.
            self.found.append(
                _of_error(error) if isinstance(error, UnsupportedError) else self._untyped(error)
            )
            self._nothing_more()
            return
        regions: list[Region] = []

        def taken(region: Region) -> object:
            regions.append(region)
            return region.function

        arrays = self.module.arrays(self.subject)
        split(self.subject.function, self.source, self.pragmas, error, taken, arrays=arrays)
        for region in regions:
            _Check(self.module.region(self.subject, region), self.module, self)._analyse()
        known = "" if isinstance(error, UnsupportedError) else "not known before a call: "
        for stmt, loc, what in self.targets:
            inside = stmt.lineno <= error.loc.line <= (stmt.end_lineno or stmt.lineno)
            if loc.line in self.judged or not inside:
                continue
            self.judged.add(loc.line)
            if known and stmt in self.others:
                self.found.append(self._untyped(error))
            else:
                self._info(
                    loc, IN_PYTHON, f"{what} runs in Python: line {error.loc.line}: {known}{error.summary}"
                )

    def _untyped(self, error: CompileError) -> Finding:
        text = f"'{self.subject.name}' could not be judged without a call: {error.summary}"
        return replace(Finding.at(error.loc, NOT_TYPED, "warning", text), file=self.source.file)

    def _report(self, records: Iterable[LoopRecord]) -> None:
        loops = {loop.lineno: loop for loop in self.loops}
        for record in records:
            loop = loops.get(record.line)
            if loop is None:
                continue  # of an inlined callee, which is reported separately
            self.judged.add(record.line)
            text = f"for {record.index}: {record.verdict}, runs {_HOW[record.mode]}: {record.reason}"
            self._info(self.source.loc(loop), VERDICT_CODES.get(record.verdict, "I105"), text)
            pragma = self.pragmas.get(loop)
            if isinstance(pragma, LoopPragma) and pragma.request in ("parallel", "simd"):
                self._info(pragma.loc, PRAGMA_HOLDS, f"'{pragma.directive}' holds: {record.verdict}")
        for loop in loops.values():
            if loop.lineno not in self.judged:
                self.judged.add(loop.lineno)
                what = "runs in order" if isinstance(loop, ast.While) else "unrolled"
                self._info(self.source.loc(loop), OTHER_LOOP, f"{_head(loop)}: compiled, {what}")

    def _report_statements(self, analysed: Analysed) -> None:
        """One finding for each slice that a pragma names, and one for each pragma without slices."""
        verdicts = {
            loop.clauses.loc: analysed.context.verdicts[loop.var].verdict.value
            for loop in loops_of(analysed.function)
            if loop.clauses is not None and loop.var in analysed.context.verdicts
        }
        for pragma in self.others.values():
            self.judged.add(pragma.loc.line)
            if not isinstance(pragma, DimsPragma):
                self._info(pragma.loc, PRAGMA_HOLDS, f"'{pragma.directive}' holds")
                continue
            for dim in pragma.dims:
                verdict = f": {verdicts[dim.loc]}" if dim.loc in verdicts else ""
                tested = f"; each call tests le({dim.le})" if dim.le is not None else ""
                self._info(dim.loc, PRAGMA_HOLDS, f"'{_asked(dim)}' holds{verdict}{tested}")

    def _info(self, loc: Loc, code: str, message: str) -> None:
        self.found.append(Finding.at(loc, code, "info", message))


_HOW = {"parallel": "on threads", "simd": "in vector lanes", "scan": "in chunks", "sequential": "in order"}


def _of_error(error: CompileError) -> Finding:
    notes = "".join(
        f"; {note.loc.line}:{note.loc.col + 1}: {note.text}" for note in error.related if note.text
    )
    return Finding.at(error.loc, error.code, "error", f"{error.summary}{notes}")


def _asked(dim: Dim) -> str:
    """The clauses of a pragma for a slice, as text: `1:N=>parallel,simd`."""
    said = [word for word, holds in (("parallel", dim.parallel), ("simd", dim.simd)) if holds]
    said += [f"block({dim.block})"] if dim.block is not None else []
    said += [f"reduce({dim.reduce})"] if dim.reduce is not None else []
    said += [f"le({dim.le})"] if dim.le is not None else []
    return f"{slice_text(dim)}=>{','.join(said)}"


def loops_of_body(body: Iterable[ast.stmt]) -> list[ast.For | ast.While]:
    """The loops of some statements, but not those of functions that they define."""
    return [stmt for stmt in own_statements(body) if isinstance(stmt, Loop)]


def own_statements(body: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Some statements and those inside them, in order, but not those of functions and classes that they define."""
    out: list[ast.stmt] = []
    stack: list[ast.AST] = [*body]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.stmt):
            out.append(node)
        stack += ast.iter_child_nodes(node)
    return sorted(out, key=lambda stmt: (stmt.lineno, stmt.col_offset))


def _head(loop: ast.For | ast.While) -> str:
    return f"for {ast.unparse(loop.target)}" if isinstance(loop, ast.For) else "while"
