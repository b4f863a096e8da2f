"""Splits a generated module into translation units that are compiled in parallel.

    module.text         one file, with everything `static`: what reports show, and what a cached kernel is known by
    module.units(2)     the same program as two files: what one defines is hidden from outside of the library,
                        and declared in the other; functions of thousands of lines are optimised less
    module.libraries    files with helpers that are the same in every program; their objects are kept (`compiler/cpu`)

The split loses no optimisation. The functions of loops are not inlined or analysed across calls within one file
either (`emit_function`). Helpers with files of their own are called once for a loop or a product, not inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

LEAST = 8_000
"""Characters of the functions in one file: about 60 ms of gcc. Starting it, and linking two files, takes a third of
that."""

PER_VECTOR_LOOP = 3_000
"""Characters that take gcc as long as one vectorised loop, with its remainders."""

LARGE = 80_000
"""Characters of one function from which on it is optimised less: gcc's time grows faster than its length,
to four seconds here, and a third of that with -O1, under which `omp simd` loops still get their lanes."""

MUCH = 200_000
"""Characters of all functions together from which on they are optimised less: the last tenth of a program's
speed is not worth five seconds of compiling."""

STARTS_LOOPS = 'optimize("Og")'
"""The attribute of functions whose time is that of what they call, for which gcc takes a third of its time for -O3.
Clang knows no such attribute."""

RUNS_FEW = 'optimize("O2")'
"""The attribute of functions that would have STARTS_LOOPS, but run a few iterations of these loops
themselves."""

HAS_TILES = 'optimize("no-tree-vrp", "no-thread-jumps")'
"""The attribute of functions whose vectors are written out: gcc looks for ranges of integers and for branches
to join there, for an eighth of its time, and finds none."""

_HIDDEN = 'visibility("hidden")'

MASKS, SINES_AND_COSINES = "masks", "sines and cosines"
"""The features of code that needs compiler flags of its own (`toolchain.flags`)."""


@dataclass(frozen=True, slots=True)
class File:
    """The text of one C file. hasty: it is optimised less, since it is too long."""

    text: str
    hasty: bool = False


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
    def effort(self) -> int:
        """The time that gcc takes for it, in characters."""
        return len(self.body) + PER_VECTOR_LOOP * self.body.count("#pragma omp simd")

    @property
    def declared(self) -> str:
        """The declaration, for the files that call it."""
        return f"__attribute__(({_HIDDEN})) {self.head};"

    def filled(self, fill: Callable[[str], str]) -> Definition:
        """A template's, with its placeholders filled in."""
        return replace(self, head=fill(self.head), body=fill(self.body), comment=fill(self.comment))


def cut(start: str, functions: Sequence[Definition], entry: str, most: int) -> tuple[File, ...]:
    """Up to `most` files that take about equal time, and one that is optimised less.

    start: what all of them begin with. entry: the function that is called from outside.
    """
    declared = "\n".join(function.declared for function in functions)
    large = [f for f in functions if len(f.body) >= LARGE]
    others = [f for f in functions if f not in large]
    count = max(1, min(most, len(others), sum(f.effort for f in others) // LEAST))
    files: list[list[Definition]] = [[] for _ in range(count)]
    efforts = [0] * count
    for function in sorted(others, key=lambda f: -f.effort):
        least = efforts.index(min(efforts))
        files[least].append(function)
        efforts[least] += function.effort
    last = efforts.index(min(efforts))
    much = sum(len(f.body) for f in functions) >= MUCH
    out = []
    for at, file in enumerate(files):
        end = entry if at == last else ""
        out.append(File(_joined([start, declared, *(f.shared for f in file), end]), hasty=much))
    if large:
        out.append(File(_joined([start, declared, *(f.shared for f in large)]), hasty=True))
    return tuple(out)


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
