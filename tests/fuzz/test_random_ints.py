"""Random programs about integers of all widths and Python's own, joined by branches, loops and operators."""

from __future__ import annotations

import linecache
import random

import numpy as np
import pytest

import appyc
from tests.e2e.harness import call, compare, run_on

TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
STORED = ("int64", "uint8", "uint16", "uint32", "uint64")
"""Stores of NumPy's integers wrap around in signed ones, where Python raises."""
INTS = (0, 1, 2, 3, -1, -2, 7, 100, 127, 128, 255, 256, 300, -129, 40000, 70000, 2**31, 2**33, -(2**40))


class Writer:
    """Writes one program. It is right for Python whatever it does: what it raises is compared as well."""

    def __init__(self, seed: int) -> None:
        self.choice = random.Random(seed).choice
        self.random = random.Random(seed + 1).random

    def value(self, depth: int) -> str:
        if depth == 0 or self.random() < 0.2:
            return self.choice(("x", "y", "z", "a[i]", "b[i]", "k", "m", "i", "a[0]", str(self.choice(INTS))))
        one, two = self.value(depth - 1), self.value(depth - 1)
        op = self.choice(("+", "-", "*", "//", "%", "&", "|", "^"))
        forms = (f"({one} {op} {two})", f"min({one}, {two})", f"max({one}, {two})", f"abs({one})", f"(-{one})",
                 f"({one} if {self.condition()} else {two})", f"({one} or {two})", f"int({one})",
                 f"({one} >> (i % 3))", f"np.maximum({one}, {two})")  # fmt: skip
        return forms[0] if self.random() < 0.4 else self.choice(forms)

    def condition(self) -> str:
        order = self.choice(("<", "<=", ">", "==", "!="))
        return f"{self.value(0)} {order} {self.value(0)}"

    def statements(self, indent: int, depth: int) -> list[str]:
        out: list[str] = []
        room = " " * indent
        for _ in range(self.choice((1, 2, 3))):
            if depth and self.random() < 0.4:
                out += [f"{room}if {self.condition()}:", *self.statements(indent + 4, depth - 1)]
            else:
                target = self.choice(("x", "y", "z", "o[i]"))
                out.append(f"{room}{target} {self.choice(('=', '=', '+=', '-='))} {self.value(2)}")
        return out

    def program(self) -> str:
        first = [f"    {name} = {self.choice(('0', '255', 'k', 'a[0]', 'b[1]', '-1'))}" for name in "xyz"]
        loop = f"    for i in range({self.choice(('len(a)', 'k % 4'))}):"
        last = f"    return int(x), int(y), int({self.value(1)})"
        body = [*self.statements(4, 1), loop, *self.statements(8, 2)]
        return "\n".join(["def f(a, b, o, k, m):", "    i = 1", *first, *body, last, ""])


@pytest.mark.sampled
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_integers_are_what_python_has(seed, strict):
    writer, numbers = Writer(seed), np.random.default_rng(seed)
    text, name = writer.program(), f"<ints {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"np": np}
    exec(compile(text, name, "exec"), scope)
    arrays = (numbers.integers(-100, 300, 6).astype(writer.choice(types)) for types in (TYPES, TYPES, STORED))
    args = (*arrays, writer.choice(INTS), writer.choice(INTS))
    expected = call(scope["f"], args)
    try:
        found = run_on(scope["f"], args, "cpu", strict=strict)
    except appyc.CompileError:
        found = None
    refused = found is None or isinstance(found.error, appyc.CompileError)
    if refused and (strict or expected.error is not None):
        return
    assert found is not None, text
    compare(expected, found, "cpu", joined=True)
