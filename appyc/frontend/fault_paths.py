"""The statements around a fault, and the pragmas among them."""

from __future__ import annotations

import ast

from appyc.errors import CompileError, Loc
from appyc.frontend.pragmas.pragma_nodes import DimsPragma, LoopPragma, Pragma
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.source import Source


def annotation_around(source: Source, pragmas: dict[ast.stmt, Pragma], error: CompileError) -> Loc | None:
    """The location of the pragma or `prange` of the annotated loop around the fault; None if there is none."""
    loop = next((s for s in path_to(error, source) if is_annotated(s, pragmas)), None)
    return None if loop is None else pragmas[loop].loc if loop in pragmas else source.loc(loop)


def slices_pragma_of(source: Source, pragmas: dict[ast.stmt, Pragma], error: CompileError) -> Loc | None:
    """The location of the slice pragma of a statement around the fault; None if there is none."""
    path = path_to(error, source)
    return next((pragmas[s].loc for s in path if isinstance(pragmas.get(s), DimsPragma)), None)


def has_annotation(source: Source) -> bool:
    """Whether the function has a pragma or a `prange`. Its text is parsed only if it contains one of these words."""
    if not any(word in line for line in source.lines for word in ("pragma", "prange")):
        return False
    pragmas = read_pragmas(source)
    return bool(pragmas) or any(
        is_annotated(s, pragmas) for s in ast.walk(source.ast) if isinstance(s, ast.stmt)
    )


def is_annotated(stmt: ast.stmt, pragmas: dict[ast.stmt, Pragma]) -> bool:
    pragma = pragmas.get(stmt)
    if isinstance(pragma, LoopPragma) and pragma.request in ("parallel", "simd"):
        return True
    runs_over = stmt.iter if isinstance(stmt, ast.For) else None
    return isinstance(runs_over, ast.Call) and ast.unparse(runs_over.func).rpartition(".")[2] == "prange"


def location_of(error: CompileError, source: Source) -> Loc | None:
    """The error's location in this function: its own, or that of the call into the function that it is in."""
    candidates = (error.loc, *(note.loc for note in reversed(error.related)))
    first, last = source.first_line, source.first_line + len(source.lines)
    return next((p for p in candidates if p.file == source.file and first <= p.line < last), None)


def path_to(error: CompileError, source: Source) -> list[ast.stmt]:
    """The statements that enclose a fault, outermost first; none where it is in another function."""
    location = location_of(error, source)
    path: list[ast.stmt] = []
    body: list[ast.stmt] = source.ast.body if location is not None else []
    while location is not None:
        line = location.line
        found = next((s for s in body if s.lineno <= line <= (s.end_lineno or s.lineno)), None)
        if found is None:
            break
        path.append(found)
        body = [s for block in blocks_of(found) for s in block]
    return path


def blocks_of(stmt: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(stmt, ast.For | ast.While | ast.If):
        return [stmt.body, stmt.orelse]
    if isinstance(stmt, ast.With):
        return [stmt.body]
    return []
