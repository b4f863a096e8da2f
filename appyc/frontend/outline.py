"""A function of which a part cannot be compiled: the rest becomes functions of their own.

    def f(A, path):                         def f(A, path):                     # runs in Python
        n = A.shape[0]                          n = A.shape[0]
        log = open(path)             ->         log = open(path)
        for i in range(n):                      total = f_lines_4_5(A, n)       # compiled
            total += A[i]                       log.write(str(total))
        log.write(str(total))

The statement that cannot be compiled stays in Python; where it is a loop or a branch, its
body is taken in turn. What is left of it and right of it, if it holds a loop, is outlined:
parameters are the names live before it, results the names that it assigns and that are
live after it. Lines and columns stay those of the file. A region that cannot be compiled
either is split again when it is called.

Not outlined, and so run in Python: statements that jump out of the region (return, break),
and regions whose parameters or results may be unassigned.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType

from appyc.errors import CompileError, Loc
from appyc.frontend.liveness import live_before, names_assigned, surely_assigned
from appyc.frontend.pragma_nodes import LoopPragma, Pragma
from appyc.frontend.source import Part, Source


@dataclass(frozen=True, slots=True)
class PythonPart:
    """A statement that runs in Python, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Region:
    """Statements that became a function: `function` in Python, and its source with its pragmas."""

    name: str
    function: FunctionType
    source: Source


@dataclass
class _Work:
    """One function being split."""

    source: Source
    fault: ast.stmt
    bound: frozenset[str]
    """Names of the function's parameters."""
    definitions: dict[str, ast.FunctionDef] = field(default_factory=dict)


def split(
    fn: FunctionType,
    source: Source,
    pragmas: dict[ast.stmt, Pragma],
    error: CompileError,
    compiled: Callable[[Region], object],
) -> FunctionType | None:
    """`fn` with its compilable regions replaced by calls of what `compiled` makes of them.

    None where the fault is in an annotated loop (it is an error then), or nothing that is
    worth compiling is left.
    """
    path = _path_to(source.ast, _line_of(error, source))
    if path is None or any(_is_annotated(s, pragmas) for s in path):
        return None
    arguments = source.ast.args
    parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    work = _Work(source, path[-1], frozenset(a.arg for a in parameters))
    body = _split_block(work, source.ast.body, path, frozenset(), work.bound, in_loop=False)
    if not work.definitions:
        return None
    regions = {
        name: compiled(Region(name, _function(fn, node, {}), _part(source, node, pragmas)))
        for name, node in work.definitions.items()
    }
    host = copy.copy(source.ast)
    host.body = body
    host.decorator_list = []
    return _function(fn, host, regions)


def annotation_around(source: Source, pragmas: dict[ast.stmt, Pragma], error: CompileError) -> Loc | None:
    """The pragma of the loop that the fault is in, if any."""
    path = _path_to(source.ast, _line_of(error, source)) or []
    return next((pragmas[s].loc for s in path if _is_annotated(s, pragmas)), None)


def _is_annotated(stmt: ast.stmt, pragmas: dict[ast.stmt, Pragma]) -> bool:
    pragma = pragmas.get(stmt)
    if isinstance(pragma, LoopPragma) and pragma.request in ("parallel", "simd"):
        return True
    runs_over = stmt.iter if isinstance(stmt, ast.For) else None
    return isinstance(runs_over, ast.Call) and ast.unparse(runs_over.func).rpartition(".")[2] == "prange"


def _line_of(error: CompileError, source: Source) -> int:
    """The line of this function that the error is about: its own, or that of the call."""
    places = (error.loc, *(note.loc for note in reversed(error.related)))
    first, last = source.first_line, source.first_line + len(source.lines)
    return next((p.line for p in places if p.file == source.file and first <= p.line < last), 0)


def _path_to(function: ast.FunctionDef, line: int) -> list[ast.stmt] | None:
    """The statements around a line, outermost first."""
    path: list[ast.stmt] = []
    body: list[ast.stmt] = function.body
    while True:
        found = next((s for s in body if s.lineno <= line <= (s.end_lineno or s.lineno)), None)
        if found is None:
            return path or None
        path.append(found)
        body = [s for block in _blocks(found) for s in block]


def _blocks(stmt: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(stmt, ast.For | ast.While | ast.If):
        return [stmt.body, stmt.orelse]
    if isinstance(stmt, ast.With):
        return [stmt.body]
    return []


def _split_block(
    work: _Work,
    body: list[ast.stmt],
    path: list[ast.stmt],
    after: frozenset[str],
    before: frozenset[str],
    *,
    in_loop: bool,
) -> list[ast.stmt]:
    """The block with its regions outlined. `before`: names surely assigned when it starts."""
    at = next(k for k, s in enumerate(body) if s is path[0])
    left, fault, right = body[:at], body[at], body[at + 1 :]
    live_right = live_before(right, after)
    live_fault = live_before([fault], live_right)
    assigned = before | surely_assigned(left)
    middle = _python_statement(work, fault, path[1:], live_right, assigned, in_loop=in_loop)
    past = assigned | surely_assigned([fault])
    return [
        *_outlined(work, left, live_fault, before),
        middle,
        *_outlined(work, right, after, past),
    ]


def _python_statement(
    work: _Work,
    stmt: ast.stmt,
    path: list[ast.stmt],
    after: frozenset[str],
    before: frozenset[str],
    *,
    in_loop: bool,
) -> ast.stmt:
    """The statement at fault, to run in Python, with what is in it outlined."""
    if not isinstance(stmt, ast.For | ast.While | ast.If):
        return stmt
    out = copy.copy(stmt)
    is_loop = not isinstance(stmt, ast.If)
    bound = names_assigned([stmt.target]) if isinstance(stmt, ast.For) else frozenset()
    around = after | (live_before([stmt], after) if is_loop else frozenset())
    for name in ("body", "orelse"):
        block: list[ast.stmt] = getattr(stmt, name)
        start = before | (bound if name == "body" else frozenset())
        if path and any(s is path[0] for s in block):
            new = _split_block(work, block, path, around, start, in_loop=in_loop or is_loop)
        else:
            new = _outlined(work, block, around, start)
        setattr(out, name, new)
    return out


def _outlined(
    work: _Work, body: list[ast.stmt], after: frozenset[str], before: frozenset[str]
) -> list[ast.stmt]:
    """A call in place of the statements, or the statements where that cannot be or does not pay."""
    while body and not _has_loop(body[0]):
        return [body[0], *_outlined(work, body[1:], after, before | surely_assigned(body[:1]))]
    while body and not _has_loop(body[-1]):
        rest = _outlined(work, body[:-1], live_before(body[-1:], after), before)
        return [*rest, body[-1]]
    if not body or any(jumps_out(s) for s in body):
        return body
    inputs = sorted(live_before(body, frozenset()) & (work.bound | names_assigned([work.source.ast])))
    surely = surely_assigned(body)
    outputs = sorted(names_assigned(body) & after)
    if not set(inputs) <= before or not set(outputs) <= surely | set(inputs):
        return body
    name = f"{work.source.name}_lines_{body[0].lineno}_{body[-1].end_lineno}"
    work.definitions[name] = region_definition(name, inputs, outputs, body)
    return [region_call(ast.Name(name, ast.Load()), inputs, outputs, body[0])]


def _part(source: Source, node: ast.FunctionDef, pragmas: dict[ast.stmt, Pragma]) -> Part:
    inside = set(ast.walk(node))
    here = {stmt: pragma for stmt, pragma in pragmas.items() if stmt in inside}
    return Part(node.name, source.file, source.lines, source.first_line, source.indent, node, here)


def _has_loop(stmt: ast.stmt) -> bool:
    return any(isinstance(n, ast.For | ast.While) for n in ast.walk(stmt))


def jumps_out(stmt: ast.stmt, in_loop: bool = False) -> bool:
    """Whether control may leave the statement other than by its end."""
    match stmt:
        case ast.Return() | ast.Global() | ast.Nonlocal():
            return True
        case ast.Break() | ast.Continue():
            return not in_loop
        case ast.For() | ast.While():
            return any(jumps_out(s, True) for block in _blocks(stmt) for s in block)
        case ast.Try() | ast.FunctionDef() | ast.ClassDef() | ast.Match():
            return True
        case _:
            return any(jumps_out(s, in_loop) for block in _blocks(stmt) for s in block)


# ---------------------------------------------------------------- making functions


def region_definition(
    name: str, inputs: list[str], outputs: list[str], body: list[ast.stmt]
) -> ast.FunctionDef:
    """Statements as a function of the names they need, which returns those that are needed after them."""
    arguments = ast.arguments([], [ast.arg(n) for n in inputs], None, [], [], None, [])
    value = ast.Tuple([ast.Name(n, ast.Load()) for n in outputs], ast.Load())
    last = body[-1]
    node = ast.FunctionDef(name, arguments, [*body, ast.copy_location(ast.Return(value), last)], [])
    ast.copy_location(node, body[0])
    return ast.fix_missing_locations(node)


def region_call(callee: ast.expr, inputs: list[str], outputs: list[str], place: ast.stmt) -> ast.stmt:
    """`outputs = callee(inputs)` at the place of the statements that it stands for."""
    call = ast.Call(callee, [ast.Name(n, ast.Load()) for n in inputs], [])
    out: ast.stmt
    if outputs:
        out = ast.Assign([ast.Tuple([ast.Name(n, ast.Store()) for n in outputs], ast.Store())], call)
    else:
        out = ast.Expr(call)
    return ast.fix_missing_locations(ast.copy_location(out, place))


def _function(fn: FunctionType, node: ast.FunctionDef, extra: dict[str, object]) -> FunctionType:
    """The definition as a function with `fn`'s globals and closure, and more free names."""
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    cells |= {name: CellType(value) for name, value in extra.items()}
    outer = ast.FunctionDef(
        "outer", ast.arguments([], [ast.arg(n) for n in cells], None, [], [], None, []), [node], []
    )
    ast.copy_location(outer, node)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = _inner_code(_inner_code(compile(module, fn.__code__.co_filename, "exec"), "outer"), node.name)
    closure = tuple(cells[name] for name in code.co_freevars)
    out = FunctionType(
        code, fn.__globals__, node.name, fn.__defaults__ if node.name == fn.__name__ else None, closure
    )
    out.__qualname__ = f"{fn.__qualname__}.{node.name}" if node.name != fn.__name__ else fn.__qualname__
    out.__module__ = fn.__module__
    return out


def _inner_code(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
