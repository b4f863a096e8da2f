"""Random nests of loops with affine subscripts, on numbers that are all different.

They are plainer than the programs of `tests.fuzz.generator`, and large enough that two
iterations which depend on each other show it: where no order of a loop's iterations changes
what such a program computes, the loop is free more often than not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.generator import Program

SIZE = 9
ROOM = 20
"""Extents of the arrays: no subscript leaves them, and negative ones count from the end."""


@st.composite
def nest_programs(draw: st.DrawFn) -> Program:
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    arrays = [rng.uniform(-1, 1, (ROOM, ROOM)), rng.uniform(-1, 1, (ROOM, ROOM)), rng.uniform(-1, 1, ROOM)]
    source = _Nest(draw).source()
    return Program(
        source, (*arrays, rng.uniform(-1, 1, ROOM), SIZE, SIZE - 2, draw(st.sampled_from((0, 1, 3))))
    )


class _Nest:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.lines = ["def program(A, B, c, d, n, m, k):", "    s = 0.0", "    t = 0.0"]
        self.vars: list[str] = []

    def pick(self, options: Sequence[str]) -> str:
        return self.draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent  # shrinks to False

    def source(self) -> str:
        for _ in range(self.draw(st.integers(1, 2))):
            self.loop(1)
        return "\n".join([*self.lines, f"    return {self.pick(('s', 's', 's, t'))}"]) + "\n"

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def loop(self, depth: int) -> None:
        var = "ijl"[len(self.vars)]
        self.emit(depth, f"for {var} in range({self.bounds()}):")
        self.vars.append(var)
        if len(self.vars) < 3 and self.chance(55):
            if self.chance(30):
                self.statement(depth + 1)
            self.loop(depth + 1)
            if self.chance(20):
                self.statement(depth + 1)
        else:
            for _ in range(self.draw(st.sampled_from((1, 1, 2, 3)))):
                self.statement(depth + 1)
        self.vars.pop()

    def bounds(self) -> str:
        if self.vars and self.chance(35):
            outer = self.pick(self.vars)
            return self.pick(
                (outer, f"{outer}, n", f"{outer} + 1, n", f"n - 1, {outer}, -1", f"0, {outer}, 2")
            )
        return self.pick(("n", "m", "1, n", "0, n, 2", "n - 1, -1, -1", "k, m"))

    def statement(self, depth: int) -> None:
        if self.chance(15):
            self.emit(depth, f"if {self.pick((f'{self.pick(self.vars)} > k', f'{self.read()} > 0.0'))}:")
            depth += 1
        form = self.draw(st.integers(0, 9))
        if form <= 5:
            self.emit(depth, f"{self.element(('A', 'A', 'c'))} = {self.value()}")
        elif form <= 7:
            self.emit(depth, f"{self.element(('A', 'c'))} += {self.value()}")
        elif form == 8:
            self.emit(depth, self.pick((f"s += {self.value()}", f"s = max(s, {self.value()})")))
        else:
            self.emit(depth, f"t = {self.read()}")
            self.emit(depth, f"{self.element(('A', 'c'))} = t * {self.read()}")

    def value(self) -> str:
        return self.pick((f"{self.read()} * 0.5", f"{self.read()} * 0.5 + {self.read()} * 0.25"))

    def read(self) -> str:
        return self.element(("A", "A", "B", "B", "c", "d"))

    def element(self, arrays: Sequence[str]) -> str:
        array = self.pick(arrays)
        axes = 2 if array in ("A", "B") else 1
        return f"{array}[{', '.join(self.index() for _ in range(axes))}]"

    def index(self) -> str:
        var = self.pick(self.vars)
        form = self.draw(st.integers(0, 9))
        if form <= 6:
            offset = self.draw(st.sampled_from((0, 0, 0, 0, 1, 2)))
            return var if offset == 0 else f"{var} + {offset}"
        if form == 7:
            return f"{var} + {self.pick((*self.vars, 'k'))}"
        return self.pick((f"2 * {var}", f"n - 1 - {var} + k", f"{var} // 2", f"{var} + n", "k", f"{var} % 4"))
