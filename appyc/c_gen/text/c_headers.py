"""The C run-time helpers of generated code, as `c_gen/headers/*.h` have them.

A line `//: name <- needs` begins a helper. It names the helpers that this one needs, and ends in `| shared` where the
function may have a C file of its own. Lines with `//` are the header's own and reach no C file. A name that ends
in `_D` is a template's, `<operation>_<dtype>` when it is instantiated: T is the type, U its unsigned counterpart,
R a complex type's real one, BITS and BYTES its size, D the dtype's name, and F the suffix of a math function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from appyc.c_gen.text.c_types import c_type
from appyc.c_gen.translation_units import Definition
from appyc.ir.draw_functions import LIBRARY
from appyc.ir.machine_model import MARGIN, OWN_WORTH, Machine

MIN_ITERATIONS = 1 << 16
"""Iterations below which one thread inspects, and a loop without a pragma is not inspected: it would not pay."""

LINE_BYTES = 64

_MACHINE_INDICES = tuple(f"machine_{field.name}" for field in fields(Machine))

CONSTANTS = {
    "LINE_BYTES": str(LINE_BYTES),
    "MACHINE_INDICES": ", ".join(_MACHINE_INDICES),
    "MACHINE_WORTH": str(1 - MARGIN),
    "MIN_ITERATIONS": str(MIN_ITERATIONS),
    "OWN_WORTH": str(OWN_WORTH),
}
"""Numbers that the headers share with Python, by the words that stand for them there."""

DECLARED = (
    "omp_get_wtime", "team_is_crowded", "time_slice", "appyc_profile", "profile_width", "threads_used_at",
    "loop_left_at", "left_behind", "machine_worth", *_MACHINE_INDICES, "blas_by_rows", "blas_as_is", "blas_transposed",
    "blas_upper", "blas_lower", "shape_all", "shape_before", "shape_from", "tile_rows", "tile_vectors",
)  # fmt: skip
"""The names that the headers declare beside the helpers."""

_HELPER = re.compile(r"^//: (?P<name>\w+)(?: <-(?P<needs>[ \w]+?))?(?P<shared> \| shared)?\n", re.MULTILINE)
_OWN_LINE = re.compile(r"^//.*\n", re.MULTILINE)
_FUNCTION = re.compile(
    r"(?P<comment>/\*.*?\*/\n)?static (?:__attribute__\(\((?P<attributes>[\w, ]+)\)\) )?(?P<head>[^{]+)(?P<body> \{.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Helper:
    """One helper's text, and the names of those that it needs."""

    text: str | Definition
    needs: tuple[str, ...] = ()


def _helpers(header: str) -> Iterator[tuple[str, Helper]]:
    """The helpers of a header, by name."""
    starts = list(_HELPER.finditer(header))
    ends = [start.start() for start in starts[1:]] + [len(header)]
    for start, end in zip(starts, ends, strict=True):
        text = _OWN_LINE.sub("", header[start.end() : end]).strip()
        needs = tuple((start["needs"] or "").split())
        yield start["name"], Helper(_definition(text) if start["shared"] else text, needs)


def _definition(text: str) -> Definition:
    found = _FUNCTION.fullmatch(text)
    assert found, text
    attributes = tuple(filter(None, (found["attributes"] or "").split(", ")))
    return Definition(found["head"], found["body"], attributes, found["comment"] or "")


def header_text(header: Path) -> str:
    """A header with its constants filled in."""
    return re.sub(
        "|".join(rf"\b{word}\b" for word in CONSTANTS), lambda m: CONSTANTS[m[0]], header.read_text()
    )


def _prototype(name: str) -> str:
    """The C prototype of a distribution of NumPy's library."""
    info = LIBRARY[name]
    parameters = ", ".join(("struct generator *", *map(c_type, info.arguments)))
    return f"extern {c_type(info.result)} {name}({parameters});"


HEADERS = tuple(sorted((Path(__file__).parent.parent / "headers").glob("*.h")))

_ALL = {name: helper for header in HEADERS for name, helper in _helpers(header_text(header))}

PLAIN = {name: Helper(_prototype(name), ("generator",)) for name in LIBRARY} | {
    name: helper for name, helper in _ALL.items() if not name.endswith("_D")
}
TEMPLATES = {name.removesuffix("_D"): helper for name, helper in _ALL.items() if name.endswith("_D")}
