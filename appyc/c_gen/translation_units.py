"""Splits a generated module into translation units that are compiled in parallel.

    module.text         one file, with everything `static`: what reports show, and what a cached kernel is known by
    module.units(2)     the same program as two files: what one defines is hidden from outside of the library,
                        and declared in the other; a long program that only starts loops is one of them,
                        hardly optimised; functions of thousands of lines are optimised less
    module.libraries    files with helpers that are the same in every program; their objects are kept (`compiler/cpu`)

The split loses no optimisation. The functions of loops are not inlined or analysed across calls within one file
either (`emit_function`). Helpers with files of their own are called once for a loop or a product, not inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

LEAST = 8_000
"""Characters of the functions in one file: about a tenth of a second of gcc. Starting it takes a fifth of that."""

LARGE = 80_000
"""Characters of one function from which on it is optimised less: gcc's time grows faster than its length,
to four seconds here, and a third of that with -O1, under which `omp simd` loops still get their lanes."""

MUCH = 200_000
"""The same of all functions together: the last tenth of a program's speed is not worth five seconds of compiling."""

_HIDDEN = 'visibility("hidden")'


@dataclass(frozen=True, slots=True)
class File:
    """The text of one C file. hasty: it is optimised less, since it is too long. starts: hardly at all, since its code
    only calls functions of other files and allocates their memory."""

    text: str
    hasty: bool = False
    starts: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """A C function that may stand in a file of its own.

    head: its type, name and parameters. body: what follows, from the brace on. attributes: those that it has
    wherever it stands. comment: what stands above it.
    """

    head: str
    body: str
    attributes: tuple[str, ...] = ()
    comment: str = ""

    @property
    def static(self) -> str:
        """The definition with internal linkage, for a module of one file."""
        attributes = f"__attribute__(({', '.join(self.attributes)})) " if self.attributes else ""
        return f"{self.comment}static {attributes}{self.head}{self.body}"

    @property
    def shared(self) -> str:
        """The definition with linkage for calls from other files of the module."""
        attributes = ", ".join((_HIDDEN, *self.attributes))
        return f"{self.comment}__attribute__(({attributes})) {self.head}{self.body}"

    @property
    def declared(self) -> str:
        """The declaration, for the files that call it."""
        return f"__attribute__(({_HIDDEN})) {self.head};"

    def filled(self, fill: Callable[[str], str]) -> Definition:
        """A template's, with its placeholders filled in."""
        return replace(self, head=fill(self.head), body=fill(self.body), comment=fill(self.comment))


def cut(
    start: str, functions: tuple[Definition, ...], entry: str, most: int, *, starts_loops: bool = False
) -> tuple[File, ...]:
    """Up to `most` files of about equal size, and up to two that are optimised less.

    start: what all of them begin with. entry: the function that is called from outside, which calls the last one of
    the others. starts_loops: that one does nothing else; a file of its own, where it is long.
    """
    declared = "\n".join(function.declared for function in functions)
    out = []
    if starts_loops and len(functions[-1].body) >= LEAST:
        out.append(File(_joined([start, declared, functions[-1].shared, entry]), starts=True))
        functions, entry = functions[:-1], ""
    large = tuple(function for function in functions if len(function.body) >= LARGE)
    if large:
        out.append(File(_joined([start, declared, *(f.shared for f in large)]), hasty=True))
        functions = tuple(function for function in functions if function not in large)
        if not functions and not entry:
            return tuple(out)
    length = sum(len(f.body) for f in functions)
    count = max(1, min(most, len(functions), length // LEAST))
    files: list[list[Definition]] = [[] for _ in range(count)]
    sizes = [0] * count
    for function in sorted(functions, key=lambda f: -len(f.body)):
        emptiest = sizes.index(min(sizes))
        files[emptiest].append(function)
        sizes[emptiest] += len(function.body)
    last = sizes.index(min(sizes))
    for at, file in enumerate(files):
        end = entry if at == last else ""
        out.append(File(_joined([start, declared, *(f.shared for f in file), end]), hasty=length >= MUCH))
    return tuple(out)


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
