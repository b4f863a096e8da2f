"""The source text of a function: captured at decoration, parsed at the first compilation.

`capture` runs at decoration: it keeps the lines that Python has just executed, so that a later
edit of the file cannot mix new text with old code. It inspects no line. `read_source` runs at
the first compilation: it finds the function's block in the lines and parses it, with the line
and column numbers of the file.
"""

from __future__ import annotations

import ast
import linecache
import re
from ast import AST, FunctionDef, stmt
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, TypeVar, cast

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.source_history import FUTURE_FLAGS, block_length, from_history
from appyc.frontend.syntax.tree import loop_locals, parameters_of

if TYPE_CHECKING:  # a warm start reads no pragmas
    from appyc.frontend.pragmas.pragma_nodes import Pragma

V = TypeVar("V")

_ORIGIN = re.compile(r"  #line (?P<line>\d+):(?P<start>\d+)-(?P<end>\d+) (?P<file>.+)$")


@dataclass(frozen=True, slots=True)
class Snippet:
    """The location of a function's text: the lines of its file, and the line of `def` or the first decorator.

    `lines` is empty where Python does not know the text (code from `exec` or `python -c`).
    """

    code: CodeType
    file: str
    lines: Sequence[str]
    first_line: int


@dataclass(frozen=True)
class Source:
    """A function's source text.

    `lines` are the file's lines from `first_line` on, with decorators and the comments at the end
    of the body. `indent` is the indentation of the first line. `facts` are those about the text found so far, which
    rounds of lowering and inlined calls share. `is_region` tells of statements behind which the interpreter continues,
    with what these return.
    """

    name: str
    file: str
    lines: tuple[str, ...]
    first_line: int
    indent: int
    facts: dict[str, object] = field(default_factory=dict, kw_only=True, compare=False, repr=False)
    is_region: bool = field(default=False, kw_only=True)
    trusted: bool = field(default=False, kw_only=True)
    """Whether indices of single elements are in bounds and not negative, integers have at most 64 bits, and divisions
    by zero are NumPy's: nothing is tested."""

    @property
    def text(self) -> str:
        """The block without its indentation."""
        width = self.indent
        return "".join(line[width:] if not line[:width].strip() else line.lstrip() for line in self.lines)

    @cached_property
    def ast(self) -> FunctionDef:
        """The parsed function, with `match` statements desugared to chains of `if`s, and numbers that nested functions
        assign to lists of one.

        Line and column numbers are the file's; columns count bytes, as in every Python AST.
        """
        block = "".join(self.lines)
        # An indented block is parsed below an `if`, not dedented: columns stay as they are,
        # and so do strings and comments that reach further to the left than the code.
        try:
            module = ast.parse("if True:\n" + block if self.indent else "\n" + block)
        except SyntaxError as error:
            raise self._mismatch() from error
        ast.increment_lineno(module, self.first_line - 2)
        first = module.body[0]
        node = first.body[0] if isinstance(first, ast.If) and self.indent else first
        if isinstance(node, ast.AsyncFunctionDef):
            raise UnsupportedError("an async function cannot be compiled", self.loc(node),
                                   "write it with def alone")  # fmt: skip
        if not isinstance(node, FunctionDef) or node.name != self.name:
            raise self._mismatch()
        from appyc.frontend.desugar import parsed_functions  # noqa: PLC0415  (a warm start parses nothing)

        return parsed_functions.without_nonlocals(parsed_functions.without_matches(node))

    def loc(self, node: AST) -> Loc:
        """The source location of a statement or expression; its end is known if it lies on one line."""
        line, start = getattr(node, "lineno", self.first_line), getattr(node, "col_offset", 0)
        if line in self.origins:
            return self.origins[line]
        end_line, end = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
        if end_line != line or end is None:
            end = 0
        if not self.line(line).isascii():
            start, end = self.column(line, start), self.column(line, end)
        return Loc(self.file, line, start, end)

    @cached_property
    def origins(self) -> dict[int, Loc]:
        """The original locations of generated lines, from their comments `#line 7:4-20 file.py`."""
        found = ((number, _ORIGIN.search(line)) for number, line in enumerate(self.lines, self.first_line))
        return {
            number: Loc(of["file"], int(of["line"]), int(of["start"]), int(of["end"]))
            for number, of in found
            if of is not None
        }

    def column(self, line: int, offset: int) -> int:
        """The column of a byte offset: Python's AST counts UTF-8 bytes, a `Loc` characters."""
        text = self.line(line)
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))

    def line(self, number: int) -> str:
        """A line of the file by its number; empty outside the function."""
        at = number - self.first_line
        return self.lines[at] if 0 <= at < len(self.lines) else ""

    def remember(self, name: str, make: Callable[[], V]) -> V:
        """A fact about the text, which is found once."""
        if name not in self.facts:
            self.facts[name] = make()
        return cast(V, self.facts[name])

    @property
    def read_once(self) -> frozenset[str]:
        """Parameters whose arrays may be described and not stored, since they are read in one expression."""
        return frozenset()

    @cached_property
    def constants(self) -> frozenset[str]:
        """Names that stand for a constant where they are bound to one: no join reads them."""
        return loop_locals(self.ast)

    def part(self, tree: FunctionDef, pragmas: Mapping[stmt, Pragma]) -> Part:
        """The source of a function that consists of statements of this one."""
        at = self.file, self.lines, self.first_line, self.indent
        return Part(tree.name, *at, tree, pragmas, is_region=self.is_region)

    def of_callee(self, fn: FunctionType) -> Source:
        """The source of a function that this one calls."""
        return replace(read_source(capture(fn)), facts={})

    def _mismatch(self) -> UnsupportedError:
        return UnsupportedError(
            f"the source of {self.name!r} does not match its code",
            Loc(self.file, self.first_line),
            "the file was probably changed after it was imported: import it anew",
        )


@dataclass(frozen=True)
class Part(Source):
    """The source of a generated function that consists of a function's statements, at their original lines.

    `tree` shares its statements with the function's AST; `pragmas` are the function's.
    """

    tree: FunctionDef
    pragmas: Mapping[ast.stmt, Pragma]

    @property
    def ast(self) -> FunctionDef:
        return self.tree


@dataclass(frozen=True)
class LibraryText(Part):
    """The source of a function of appyc's own, inlined at a call: all of it has the location of that call."""

    at: Loc

    @cached_property
    def constants(self) -> frozenset[str]:
        return self.remember("constants", lambda: _bound_once(self.tree))

    @property
    def read_once(self) -> frozenset[str]:
        return self.remember("read once", lambda: _read_once(self.tree))

    def loc(self, node: AST) -> Loc:
        return self.at

    def part(self, tree: FunctionDef, pragmas: Mapping[stmt, Pragma]) -> Part:
        return replace(self, name=tree.name, tree=tree, facts=_facts(tree))

    def of_callee(self, fn: FunctionType) -> Source:
        return library_text(fn, self.at, trusted=self.trusted)


@cache
def _facts(function: FunctionDef) -> dict[str, object]:
    """The facts about a function of appyc's own that are known so far."""
    return {}


def _bound_once(function: FunctionDef) -> frozenset[str]:
    """The names that a function binds in one statement, or has from around it."""
    names = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
    bound = [n.id for n in names if isinstance(n.ctx, ast.Store)]
    times = Counter([*bound, *(a.arg for a in parameters_of(function))])
    return frozenset(name for name in {n.id for n in names} | times.keys() if times[name] <= 1)


def _read_once(function: FunctionDef) -> frozenset[str]:
    """The names whose elements a function reads in one expression at most, outside its loops, and does not store. (A
    lambda is read where it stands: it says what an element is.)"""
    times = sum((_reads(stmt) for stmt in function.body), Counter[str]())
    names = times.keys() | {a.arg for a in parameters_of(function)}
    return frozenset(name for name in names if times[name] <= 1)


def _reads(node: AST) -> Counter[str]:
    """The number of reads of each name, those of its type and shape apart. Reads in a loop, or of an array
    that is stored into, count twice."""
    match node:
        case ast.Name(id=name):
            return Counter([name])
        case ast.Attribute(value=ast.Name(), attr="dtype" | "ndim" | "shape" | "size"):
            return Counter()
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _reads(test) + (_reads(body) | _reads(orelse))
    times = sum(map(_reads, ast.iter_child_nodes(node)), Counter[str]())
    is_stored = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    return times + times if is_stored or isinstance(node, ast.For | ast.While | ast.FunctionDef) else times


@cache
def _parsed(fn: FunctionType) -> Source:
    return read_source(capture(fn))


def library_text(fn: FunctionType, at: Loc, *, trusted: bool) -> LibraryText:
    """The text of a function of appyc's own, as inlined at a call; it is parsed once."""
    source = _parsed(fn)
    return LibraryText(
        source.name, source.file, source.lines, source.first_line, source.indent, source.ast, {}, at,
        facts=_facts(source.ast), trusted=trusted,
    )  # fmt: skip


@dataclass(frozen=True)
class LambdaSource(Part):
    """The source of a lambda, as that of an equivalent function."""

    node: ast.Lambda

    @property
    def text(self) -> str:
        """The unparsed expression, since the lambda's lines may contain other lambdas."""
        return ast.unparse(self.node)


def parameter_location(snippet: Snippet, name: str) -> Loc:
    """The source location of a parameter; the function's first line if its text is not available."""
    function_at = Loc(snippet.file, snippet.first_line)
    try:
        source = read_source(snippet)
        arguments = source.ast.args
    except UnsupportedError:
        return function_at
    parameters = (node for node in ast.walk(arguments) if isinstance(node, ast.arg))
    return next((source.loc(node) for node in parameters if node.arg == name), function_at)


def capture(fn: FunctionType | MethodType) -> Snippet:
    """The location of the function's text. It is cheap, for fast decoration, and parses nothing."""
    if isinstance(fn, MethodType):
        fn = cast(FunctionType, fn.__func__)
    if not isinstance(fn, FunctionType):
        raise TypeError(f"only a Python function can be compiled, not {fn!r}")
    code = fn.__code__
    file = code.co_filename
    linecache.checkcache(file)  # an entry from before an edit and a reload is of no use
    lines: Sequence[str] = linecache.getlines(file, fn.__globals__)
    if not lines and file == "<stdin>":
        file, lines = from_history(code)
    return Snippet(code, file, lines, code.co_firstlineno)


def read_source(fn: FunctionType | MethodType | Snippet) -> Source:
    """The function's source. Raises UnsupportedError if it is not available."""
    snippet = fn if isinstance(fn, Snippet) else capture(fn)
    name, file, first = snippet.code.co_name, snippet.file, snippet.first_line
    if name == "<lambda>":
        return _lambda(snippet)
    if first > len(snippet.lines):
        raise UnsupportedError(
            f"the source of {name!r} cannot be read",
            Loc(file, first),
            "put the function into a file and import it from there",
        )
    rest = snippet.lines[first - 1 :]
    lines = tuple(rest[: block_length(rest)])
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    return Source(name, file, lines, first, indent)


def _lambda(snippet: Snippet) -> Source:
    """The source of a lambda: the only one that starts in its line, or one there with its columns or bytecode."""
    code, first = snippet.code, snippet.first_line
    try:
        module = ast.parse("".join(snippet.lines))
    except SyntaxError:
        module = ast.Module([], [])
    starting = [n for n in ast.walk(module) if isinstance(n, ast.Lambda) and n.lineno == first]
    found = starting
    if len(starting) > 1:
        spans = frozenset(code.co_positions())
        found = [n for n in starting if _span_of(n.body) in spans]
        found = found or [n for n in starting if _alike(_code_of(n, code), code)]
    if not found:
        raise UnsupportedError("the source of this lambda cannot be told from others", Loc(snippet.file, first),
                               "write it as a function with def")  # fmt: skip
    return LambdaSource(
        "<lambda>", snippet.file, tuple(snippet.lines[first - 1 : found[0].end_lineno]), first, 0,
        lambda_definition(found[0]), {}, found[0],
    )  # fmt: skip


def _span_of(body: ast.expr) -> tuple[int | None, ...]:
    """The lines and columns of an expression, as code objects have them unless Python leaves them out."""
    return body.lineno, body.end_lineno, body.col_offset, body.end_col_offset


def _code_of(node: ast.Lambda, like: CodeType) -> CodeType:
    """The code object of a lambda whose free names are all globals."""
    whole = compile(
        ast.Expression(node), like.co_filename, "eval", like.co_flags & FUTURE_FLAGS, dont_inherit=True
    )
    return next(c for c in whole.co_consts if isinstance(c, CodeType))


def _alike(a: CodeType, b: CodeType) -> bool:
    return all(
        getattr(a, part) == getattr(b, part) for part in ("co_code", "co_consts", "co_names", "co_varnames")
    )


def lambda_definition(node: ast.Lambda) -> FunctionDef:
    """The function definition that is equivalent to a lambda."""
    value = ast.copy_location(ast.Return(node.body), node.body)
    return ast.copy_location(FunctionDef("<lambda>", node.args, [value], []), node)


# ---------------------------------------------------------------- the interactive interpreter
