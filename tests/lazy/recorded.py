"""Which of NumPy's functions are recorded, and which are run by NumPy: docs/recorded.md.

    python -m tests.lazy.recorded --write

Each is called as `tests/lazy/calls.py` says; a call is recorded where nothing was computed for it.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy

import appyc.numpy as lazy
from appyc.lazy.running import STATE, flush
from tests.lazy import calls
from tests.lazy.test_every_function import outcome

PAGE = Path(__file__).parent.parent.parent / "docs" / "recorded.md"

LOOKS = frozenset({"data", "item", "tobytes", "tolist", "dumps"})
"""Methods that ask for the values, and so are neither."""

HEAD = """\
# Which of NumPy's functions are recorded

Each function of NumPy is called with arrays of `appyc.numpy`, most of them several times: with axes, types, masks,
and what it refuses. This page is what was found (`python -m tests.lazy.recorded --write`): whether the calls were
recorded, or run by NumPy on computed values. What both do is the same (`tests/lazy/test_every_function.py`), and
`appyc.explain()` names what NumPy ran.
"""


def is_recorded(text: str) -> bool | None:
    """Whether a call is recorded, or is answered without the values. None where NumPy refuses it."""
    wanted, _ = outcome(text, numpy, lambda values: values)
    if isinstance(wanted, Exception):
        return None
    flush()
    STATE.last = []
    outcome(text, lazy, lazy.array)
    return not any("not recorded" in ran.what for ran in STATE.last)


def tables() -> Iterator[tuple[str, dict[str, list[str]]]]:
    """For each part of NumPy, the calls of each function."""
    ufuncs = (*calls.UNARY_UFUNCS, *calls.BINARY_UFUNCS)
    yield "Ufuncs", {name: calls.ufunc_calls(name) for name in ufuncs}
    for title, prefix, table in (
        ("Functions", "np.", calls.FUNCTIONS), ("`np.linalg`", "np.linalg.", calls.LINALG),
        ("Methods of arrays", "", calls.METHODS),
    ):  # fmt: skip
        yield title, {name: [text.format(prefix + name) for text in texts] for name, texts in table.items()}


def sorted_by_kind(table: dict[str, list[str]]) -> dict[str, list[str]]:
    """Names by what becomes of their calls."""
    out: dict[str, list[str]] = {"recorded": [], "some calls recorded": [], "run by NumPy": []}
    for name, texts in sorted(table.items()):
        found = [is_recorded(text) for text in texts]
        known = [f for f in found if f is not None]
        if known and name not in LOOKS:
            out["recorded" if all(known) else "some calls recorded" if any(known) else "run by NumPy"].append(
                name
            )
    return out


def page() -> str:
    """The page. Nothing may be computed at once meanwhile (`Recording.at_once`)."""
    parts = [HEAD]
    for title, table in tables():
        parts.append(f"## {title}\n")
        for kind, names in sorted_by_kind(table).items():
            text = " ".join(names) or "none"
            parts.append(
                textwrap.fill(f"**{kind}** ({len(names)}): `{text}`", 110, break_on_hyphens=False) + "\n"
            )
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true")
    options: Any = parser.parse_args()
    STATE.recording.at_once = 0
    text = page()
    if options.write:
        PAGE.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
