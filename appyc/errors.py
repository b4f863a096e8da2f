"""Source locations, the exception classes, and the renderer of diagnostics.

Every error that a user can cause is built from meanings (what was found, where, what to
do) and rendered here, so that all of them look alike:

    PragmaError: unknown clause 'paralel' [P003]
      --> kernel.py:12:15
       |
    12 |     #pragma paralel for
       |             ^^^^^^^ did you mean 'parallel'?
       = help: ...
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Loc:
    """A location in a source file. `line` counts from 1, `col` from 0; `end_col` is exclusive.

    `end_col == 0` means that the extent is unknown; one caret is drawn.
    """

    file: str
    line: int
    col: int = 0
    end_col: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.col + 1}"

    def source_line(self) -> str | None:
        """The text of the line, or None where the source cannot be read any more."""
        text = linecache.getline(self.file, self.line)
        return text.rstrip("\n") if text else None


GENERATED = Loc("<generated>", 0)
"""The location of nodes that correspond to no line of the user's program (the verifier's own tests, say)."""


@dataclass(frozen=True, slots=True)
class Note:
    """A related source location of a diagnostic, with its label."""

    loc: Loc
    text: str


class CompileError(Exception):
    """A fault in the user's program, with its location.

    `summary` says what was found, in one sentence; `label` stands beside the caret;
    `related` points to further locations; `hints` say what to do.
    """

    code: ClassVar[str] = "E000"

    def __init__(
        self, summary: str, loc: Loc, *hints: str, label: str = "", related: tuple[Note, ...] = ()
    ) -> None:
        self.summary = summary
        self.loc = loc
        self.label = label
        self.related = related
        self.hints = hints
        super().__init__(summary)

    def __str__(self) -> str:
        return diagnostic(f"{self.summary} [{self.code}]", self)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), vars(self)))


class PragmaError(CompileError):
    """A pragma that cannot be read, binds to nothing, or names what is not there."""

    code = "P001"


class UnsupportedError(CompileError):
    """A construct that appyc does not compile."""

    code = "U001"


class PickedArrayError(UnsupportedError):
    """An array of a tuple is picked at run time. A list of arrays may be `TupleKind.ARRAYS` instead."""


class LibraryCallError(UnsupportedError):
    """A call that only a library can answer. Outside annotated loops it is made from Python, between
    parts that are compiled, and is no error."""


class TypeInferenceError(CompileError, TypeError):
    """An expression or argument whose type cannot be had, or is wrong where it stands. Its subclasses are of the
    classes that Python and NumPy raise for the same fault."""

    code = "T001"


class LengthError(TypeInferenceError, ValueError):
    """Lengths or numbers of axes that do not fit, or a value that is none of those taken."""


class AxisError(TypeInferenceError, ValueError, IndexError):
    """An axis that an array does not have."""


class SubscriptError(TypeInferenceError, IndexError):
    """A subscript that an array or tuple does not take."""


class UnknownNameError(TypeInferenceError, UnboundLocalError):
    """A name that nothing is bound to."""


class UnknownAttributeError(TypeInferenceError, AttributeError):
    """An attribute that an object does not have."""


class DependenceError(CompileError):
    """A loop that was asked to run in parallel and may not."""

    code = "D001"


class FallbackWarning(RuntimeWarning):
    """A function, or a statement with a pragma, runs in Python, since it cannot be compiled or is quicker there."""


class InternalWarning(FallbackWarning):
    """A function, or a part of one, runs in Python because of a fault of appyc's own."""


class LeftToPython(Exception):  # noqa: N818  (a signal to the caller, who then runs the Python function)
    """What a call meets was not compiled. Nothing that others can see has been written."""


LARGE = "a matrix for which the library is faster"
"""Why a call is left to the same function with calls of the library in it."""


def conversion_error(value: float) -> Exception:
    """What compiled code raises for `int(value)`: Python's exception for NaN and infinities, and OverflowError for what
    is an int of more than 64 bits."""
    if math.isfinite(value):
        return OverflowError(
            f"int of {value} takes more than 64 bits where elements have been stored: compute in floats"
        )
    name, kind = ("NaN", ValueError) if math.isnan(value) else ("infinity", OverflowError)
    return kind(f"cannot convert float {name} to integer")


class ReadOnlyArguments(LeftToPython):
    """The function stores into arrays that are read-only in this call, and may do so in any such call."""


class ToolchainError(RuntimeError):
    """A tool that appyc needs is missing or broken: no C compiler, no Triton, no GPU."""


class InternalError(Exception):
    """appyc's own fault. Names the pass; never the user's to mend. loc: of the function that was compiled."""

    def __init__(self, where: str, what: str, loc: Loc | None = None) -> None:
        lines = [f"internal error in {where}: {what}", *(snippet(loc) if loc is not None else ())]
        lines.append("This is a defect in appyc. Please report it with the function that was compiled.")
        super().__init__("\n".join(lines))
        self.where = where
        self.what = what
        self.loc = loc

    def __reduce__(self) -> tuple[object, ...]:
        return (InternalError, (self.where, self.what, self.loc))

    @property
    def summary(self) -> str:
        """One line, for a warning or a report."""
        return f"internal error in {self.where}: {self.what.partition(chr(10))[0]}"


@contextmanager
def defects_of(where: str) -> Iterator[None]:
    """Turns unexpected exceptions in a part of the compiler into InternalError. Deliberate errors pass through."""
    try:
        yield
    except (
        CompileError,
        InternalError,
        ToolchainError,
        LeftToPython,
        OSError,
        RecursionError,
        MemoryError,
        Warning,
    ):
        raise
    except Exception as error:
        raise InternalError(where, f"{type(error).__name__}: {error}") from error


def _rebuild(kind: type[CompileError], state: dict[str, object]) -> CompileError:
    error = kind.__new__(kind, state["summary"])
    vars(error).update(state)
    return error


WIDEST = 160
"""Characters of a source line that are shown; of a longer line, those around the column."""


def snippet(loc: Loc, label: str = "") -> list[str]:
    """The arrow line, the source line and the caret line for one location."""
    gutter = " " * len(str(loc.line))
    lines = [f"{gutter}--> {loc}"]
    text = loc.source_line()
    if text is None:
        return lines
    col = loc.col
    width = (loc.end_col or col + 1) - col
    if len(text) > WIDEST:
        start = min(max(0, col - WIDEST // 2), len(text) - WIDEST)
        text, col = "..." * (start > 0) + text[start : start + WIDEST], col - start + 3 * (start > 0)
    width = max(1, min(width, len(text) - col))
    # Tabs are kept, so that the caret stands under its character whatever the tab width is.
    lead = "".join("\t" if c == "\t" else " " for c in text[:col])
    caret = f"{gutter} | {lead}{'^' * width}"
    return [*lines, f"{gutter} |", f"{loc.line} | {text}", f"{caret} {label}".rstrip()]


def diagnostic(head: str, error: CompileError) -> str:
    """The text of a diagnostic with this first line, as the user sees it."""
    lines = [head, *snippet(error.loc, error.label)]
    for note in error.related:
        lines += snippet(note.loc, note.text)
    gutter = " " * len(str(error.loc.line))
    lines += [f"{gutter} = help: {hint}" for hint in error.hints]
    return "\n".join(lines)
