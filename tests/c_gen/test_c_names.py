"""Identifiers that the generator's own C text declares are none that a variable of the program can get."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import appyc.c_gen
from appyc.c_gen.text.c_names import Names
from tests.ir_makers import Program

_DECLARED = re.compile(r"(?:\b(?:bool|char|double|float|int|u?int\d+_t)\b|\0) (?:\*const )?([a-z]\w*) = ")


def c_texts() -> Iterator[str]:
    """All texts in the generator's modules, with a zero character for each part that is computed."""
    for path in Path(appyc.c_gen.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(v.value) if isinstance(v, ast.Constant) else "\0" for v in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
                yield node.value


def test_names_that_generated_text_declares_are_reserved() -> None:
    declared = {name for text in c_texts() for name in _DECLARED.findall(text)}
    assert {"copy", "pieces", "value"} <= declared
    names = Names(Program().function())
    assert {name for name in declared if names.fresh(name) == name} == set()
