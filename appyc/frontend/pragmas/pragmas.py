"""Reading the pragmas of a function: which comments are pragmas, and which statement each is for.

A pragma is a comment line of its own, `#pragma ...` or `# pragma ...`; a `\\` at its end
continues it on the next comment line, and a second `#` begins a remark. It is for the
statement that follows in the same block, and stands in the same column:

    #pragma parallel for \\
    #    reduction(+: total)
    for i in range(n):
        ...

A comment that was surely meant as a pragma and is none (`#pragm parallel for`) is an error;
other comments are left alone, `# pragma: no cover` among them.
"""

from __future__ import annotations

import ast
import re
import tokenize
from dataclasses import dataclass
from difflib import get_close_matches

from appyc.errors import Loc, Note, PragmaError
from appyc.frontend.pragmas.pragma_grammar import parse_pragma
from appyc.frontend.pragmas.pragma_nodes import AtomicPragma, LoopPragma, Pragma
from appyc.frontend.pragmas.pragma_reader import PragmaText
from appyc.frontend.source import Part, Source
from appyc.frontend.syntax.tree import statements_in

_COMMENT = re.compile(r"#\s*([^\W\d]\w*)(.*)", re.DOTALL)
_DIRECTIVE = re.compile(r"\s*(parallel\s+for|sequential\s+for|simd|auto|atomic)\b|.*=>")
_COVERAGE = re.compile(r"\s*no[\s-]*(cover|branch)\b", re.IGNORECASE)
_TEXT_OR_REMARK = re.compile(r"""'[^']*'|"[^"]*"|#""")
_NOT_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
_EXCERPT = 40


def read_pragmas(source: Source) -> dict[ast.stmt, Pragma]:
    """The function's pragmas, by the statement (a node of `source.ast`) that each is for.

    Raises PragmaError for a pragma that cannot be read, and for one that no statement follows.
    """
    if isinstance(source, Part):
        return dict(source.pragmas)
    if not any("#" in line for line in source.lines):
        return {}
    statements = _statements_by_start(source.ast)
    out: dict[ast.stmt, Pragma] = {}
    for found in _find_pragmas(source):
        pragma = parse_pragma(found.text)
        statement = _target(source, found, statements)
        _check_kind(source, pragma, statement)
        if statement in out:
            raise PragmaError(
                "two pragmas on one statement",
                pragma.loc,
                "write all clauses into one pragma",
                related=(Note(out[statement].loc, "the other one"),),
            )
        out[statement] = pragma
    return out


@dataclass(frozen=True, slots=True)
class _Found:
    """A pragma's text, and the position of the first word of code after it (None at the end)."""

    text: PragmaText
    next_code: tuple[int, int] | None


# ---------------------------------------------------------------- comments


def _find_pragmas(source: Source) -> list[_Found]:
    tokens = list(tokenize.generate_tokens(iter(source.lines).__next__))
    out: list[_Found] = []
    at = 0
    while at < len(tokens):
        body = _pragma_body(source, tokens[at]) if tokens[at].type == tokenize.COMMENT else None
        if body is None:
            at += 1
            continue
        text, at = _joined(source, tokens, at, body)
        code = next((t for t in tokens[at:] if t.type not in _NOT_CODE), None)
        ended = code is None or code.type == tokenize.ENDMARKER
        position = None if ended or code is None else (_line(source, code), code.start[1])
        out.append(_Found(text, position))
    return out


def _line(source: Source, token: tokenize.TokenInfo) -> int:
    return token.start[0] + source.first_line - 1


def _pragma_body(source: Source, comment: tokenize.TokenInfo) -> int | None:
    """The offset in a comment of a pragma's text; None where the comment is no pragma."""
    match = _COMMENT.match(comment.string)
    if match is None:
        return None
    word, rest = match[1], match[2]
    line, col = _line(source, comment), comment.start[1]
    if word != "pragma":
        _check_spelling(match, Loc(source.file, line, col, col + match.end(1)))
        return None
    if rest[:1] in (".", ",", ";", "'", '"', "-") or _COVERAGE.match(rest):
        return None  # prose about pragmas; a remark for a coverage tool
    if rest.startswith(":") and "=>" not in rest:
        if not _DIRECTIVE.match(rest[1:]):
            return None  # "pragma: no cover" and its kin
        raise PragmaError("a pragma has no colon", Loc(source.file, line, col, col + match.end(1) + 1),
                          f"write #pragma {rest[1:].strip()}")  # fmt: skip
    if comment.line[:col].strip():
        if not _DIRECTIVE.match(rest):
            return None  # a remark for another tool
        raise PragmaError(
            "a pragma behind code",
            Loc(source.file, line, col, col + len(comment.string)),
            "put it on a line of its own, above the statement that it is for",
        )
    return match.end(1)


def _check_spelling(match: re.Match[str], loc: Loc) -> None:
    """Raises PragmaError for a comment that is a pragma but for a slip in the word itself."""
    word, rest = match[1], match[2]
    if word.startswith("pragma") and _DIRECTIVE.match(word.removeprefix("pragma") + rest):
        raise PragmaError(
            f"{word!r} is not a pragma", loc, "put a blank after '#pragma': #pragma parallel for"
        )
    if get_close_matches(word.lower(), ["pragma"], 1, 0.75) and _DIRECTIVE.match(rest):
        raise PragmaError(f"{word!r} is not a pragma", loc, label="did you mean '#pragma'?")


def _joined(source: Source, tokens: list[tokenize.TokenInfo], at: int, body: int) -> tuple[PragmaText, int]:
    """The text of the pragma that starts with tokens[at], and the position after its last comment."""
    comment = tokens[at]
    first_line, first_col = _line(source, comment), comment.start[1]
    first = _without_remark(comment.string, body).rstrip("\\ ")
    head = Loc(source.file, first_line, first_col, first_col + len(first))
    text = ""
    positions: list[tuple[int, int]] = []
    while True:
        string = comment.string.rstrip()
        continued = string.endswith("\\")
        part = _without_remark(string.removesuffix("\\"), body)[body:] + " "
        text += part
        line, col = _line(source, comment), comment.start[1]
        positions += [(line, col + body + i) for i in range(len(part))]
        at += 1
        if not continued:
            return PragmaText(source, text, tuple(positions), head), at
        while tokens[at].type == tokenize.NL:
            at += 1
        if tokens[at].type != tokenize.COMMENT or _line(source, tokens[at]) != line + 1:
            end = col + len(string)
            raise PragmaError(
                "a pragma that is continued, and no comment line after it",
                Loc(source.file, line, end - 1, end),
                "remove the backslash, or go on in a line that starts with '#'",
            )
        comment, body = tokens[at], 1


def _without_remark(comment: str, body: int) -> str:
    """The comment up to a second `#`, unless that is in a text: `if(kind == "#1")`."""
    for found in _TEXT_OR_REMARK.finditer(comment, body):
        if found.group() == "#":
            return comment[: found.start()]
    return comment


# ---------------------------------------------------------------- binding


def _statements_by_start(function: ast.FunctionDef) -> dict[tuple[int, int], ast.stmt]:
    """Statements by line and column of their first character; of several there, the outermost."""
    out: dict[tuple[int, int], ast.stmt] = {}
    for node in statements_in(function):
        if node is not function:
            decorators = getattr(node, "decorator_list", [])
            line = decorators[0].lineno if decorators else node.lineno
            out.setdefault((line, node.col_offset), node)
    return out


def _target(source: Source, found: _Found, statements: dict[tuple[int, int], ast.stmt]) -> ast.stmt:
    """The statement that the pragma is for."""
    loc = found.text.head
    # Code that starts no statement is `else`, say: the block has ended before.
    statement = statements.get(found.next_code) if found.next_code is not None else None
    if statement is None:
        raise PragmaError(
            "no statement follows this pragma in its block",
            loc,
            "a pragma stands right above the statement that it is for",
        )
    if statement.col_offset != loc.col:
        raise PragmaError(
            "this pragma is not in the block of the statement that follows",
            loc,
            "indent the pragma as the statement that it is for",
            related=(Note(source.loc(statement), "the next statement"),),
        )
    return statement


def _check_kind(source: Source, pragma: Pragma, statement: ast.stmt) -> None:
    if isinstance(pragma, LoopPragma):
        fits, wanted = isinstance(statement, ast.For), "a for loop"
    elif isinstance(pragma, AtomicPragma):
        fits, wanted = isinstance(statement, ast.Assign | ast.AugAssign), "an assignment"
    else:
        fits = isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return)
        wanted = "an assignment or a return"
    if fits:
        return
    line = statement.lineno
    excerpt = source.line(line)[source.column(line, statement.col_offset) :].strip()
    if len(excerpt) > _EXCERPT:
        excerpt = excerpt[: _EXCERPT - 3] + "..."
    raise PragmaError(
        f"{pragma.directive!r} binds to {excerpt!r} on line {line}, which is not {wanted}",
        pragma.loc,
        f"put the pragma right above {wanted}",
        related=(Note(source.loc(statement), ""),),
    )
