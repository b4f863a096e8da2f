"""Random programs of stages on arrays of ordinary sizes, as Hypothesis strategies.

The other generators draw arrays of a few elements, which no block, panel, row on the chip or
library for products is made for. Here stages of real programs (stencils, products, statistics along
axes, updates in place, loops over time, over rows and over elements) follow one another in any order
on matrices of n by m, vectors of n and of m, and a scalar. Values stay near one, so that
rounding stays small: every stage is a mean of what it reads.
"""

from __future__ import annotations

from string import Formatter

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.generator import Program

SHAPES = ((0, 3), (1, 1), (1, 40), (2, 3), (17, 33))
LARGE_SHAPES = (*SHAPES, (40, 40), (70, 130), (300, 61), (3, 2100), (900, 7))
DTYPES = ("float64", "float64", "float64", "float32", "complex128")

# Slots: M a matrix to read, O one to write, N a vector of n, R one of n to write, C a vector of m,
# D one of m to write, S a scalar, W a number, V an expression of matrices.
STAGES = (
    # place by place
    "{O} = {V}", "{O} = {V}", "{O}[:] = {V}", "{O} *= 0.5 * {M}", "{O} += 0.25 * ({V})", "{O} = {M}.copy()",
    "{O}[::2] = {M}[::2] * {W}", "{O}[:, 1::2] *= {W}", "{O} = np.where({X} > {W}, {X}, {M})",
    "{O} = np.maximum({X}, {M})", "{O} = {M}[::-1] * {W}", "{O} = {M}[:, ::-1] * 0.5 + 0.5 * {M}",
    # stencils
    "{O}[1:-1, 1:-1] = 0.2 * ({M}[1:-1, 1:-1] + {M}[:-2, 1:-1] + {M}[2:, 1:-1] + {M}[1:-1, :-2] + {M}[1:-1, 2:])",
    "{O}[1:-1, 1:-1] = 0.25 * ({M}[:-2, :-2] + {M}[2:, 2:] + {M}[:-2, 2:] + {M}[2:, :-2])",
    "{O}[1:] = 0.5 * ({M}[1:] + {M}[:-1])", "{O}[:, 1:] -= 0.5 * ({M}[:, 1:] - {M}[:, :-1])",
    "{O}[1:] += 0.5 * ({O}[:-1] - {O}[1:])", "{O}[:-1] = 0.5 * ({O}[1:] + {M}[:-1])", "{O}[:, :-1] = {O}[:, 1:]",
    "{O}[0] = {M}[-1]", "{O}[:, 0] = {N}", "{O}[-1] = {C}", "{O}[0, :] = {W}", "{O}[:, -1] *= {W}",
    # broadcasts
    "{O} = {M} + 0.1 * {N}[:, None]", "{O} = {M} * {C}", "{O} = 0.5 * np.outer({N}, {C}) + 0.5 * {M}",
    "{O} -= 0.1 * ({N}[:, None] - {C})", "{O} = {M} * {S}", "{O} = ({M} - {M}.mean(axis=0)) * 0.5 + 1.0",
    "{O} = {M} / (1.0 + np.abs({M}).max(axis=1, keepdims=True))",
    "{O} = 1.0 + ({M} - {M}.mean(axis=1, keepdims=True)) / (1.0 + {M}.std(axis=1, keepdims=True))",
    "{O} = 1.0 + ({M} - {M}.mean(axis=0)) / (1.0 + {M}.std(axis=0))",
    # reductions
    "{R} = {V2}.sum(axis=1) / m", "{D} = {V2}.mean(axis=0)", "{R} = {M}.mean(axis=1)", "{R}[:] = {M}[:, 0]",
    "{D} = np.abs({M}).max(axis=0)", "{R} = np.abs({M}).min(axis=1)", "{S} = ({V}).mean().real",
    "{S} = 0.5 * {S} + 0.5 * np.abs({N} * {N}).mean()", "{S} = np.abs({M}).max()", "{D} = {D} * 0.5 + {M}[0] * 0.5",
    "{R} = 0.5 * {N} + 0.5 * {N} * {S}", "{D} = np.cumsum({C}) / m", "{S} = 0.5 + 0.5 * np.abs({M}[0, :]).mean()",
    # products
    "{R} = {M} @ {C} / m", "{D} = {N} @ {M} / n", "{D} = {M}.T @ {N} / n", "{O} = ({M} @ {M}.T / m) @ {M} / n",
    "{O} = {M} @ ({M}.T @ {M}) / (n * m)", "{O} += ({M} @ {M2}.T) @ {M} / (n * m)", "{S} = abs({N} @ {N}) / n",
    "{O} = 0.5 * ({M} @ np.ones((m, m), {M}.dtype) / m) + {M} * 0.5",
)  # fmt: skip

LOOPS = (
    "for t in range(k):\n    {T}",
    "for t in range(k):\n    {T}\n    {T}",
    "for t in range(k):\n    {T}\n    {T}\n    {T}",
    "for i in range(n):\n    {O}[i] = {M}[i] * {N}[i]\n    {R}[i] = {M}[i].sum() / m",
    "for i in range(n):\n    {O}[i, :] = 0.5 * {O}[i] + 0.5 * {C} * {N}[i]",
    "for i in range(1, n):\n    {O}[i] = 0.5 * {O}[i - 1] + 0.5 * {M}[i]",
    "for j in range(1, m):\n    {O}[:, j] = 0.5 * {O}[:, j - 1] + 0.5 * {M}[:, j]",
    "for i in range(n):\n    {R}[i] = 0.5 * ({M}[i] @ {C}) / m + 0.5",
    "for i in range(min(n, m)):\n    {O}[i, :i] = {M}[i, :i] * {W}\n    {D}[i] = {O}[i, :i + 1].sum() / m",
    "for i in range(n):\n    for j in range(m):\n        {O}[i, j] = {M}[i, j] * {C}[j] * 0.5 + {N}[i] * 0.5",
    "for i in range(1, n):\n    for j in range(1, m):\n        {O}[i, j] = 0.5 * {O}[i - 1, j] + 0.5 * {M}[i, j - 1]",
    "for i in range(1, n - 1):\n    for j in range(1, m - 1):\n"
    "        {O}[i, j] = 0.25 * ({M}[i - 1, j] + {M}[i + 1, j] + {M}[i, j - 1] + {M}[i, j + 1])",
    "for i in range(n):\n    q = 0.0\n    for j in range(m):\n        q += abs({M}[i, j])\n    {R}[i] = q / m",
    "for i in range(n):\n    for j in range(m):\n        {D}[j] += {M}[i, j] * {N}[i] / n",
    "if {S} > {W}:\n    {T}\nelse:\n    {T}",
    "for t in range(k):\n    {T}\n    if {S} < {W}:\n        {T}",
)

VALUES = (
    "{M} * {M}", "0.5 * {M} + 0.5 * {M}", "0.5 * ({M} - {M}) + {M}", "{M} / (1.0 + np.abs({M}))",
    "np.exp(-np.abs({M}))", "np.sqrt(np.abs({M}) + 0.5)", "{M} + 0.25 * {M} - 0.25 * {M}", "np.cos({M}) * {W}",
    "{M} * {S} * 0.5", "{M} * {C}", "{N}[:, None] * {M}", "{M} * {W}",
)  # fmt: skip

NUMBERS = ("0.5", "0.75", "1.0", "0.25", "0.9")


@st.composite
def pipeline_programs(draw: st.DrawFn, *, large: bool = False) -> Program:
    """A program of two to eight stages, and arguments for it. large: of some thousand elements, now and then."""
    n, m = draw(st.sampled_from(LARGE_SHAPES if large else SHAPES))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    rng = np.random.default_rng(draw(st.integers(0, 3)))
    body = _Body(draw, real=dtype.kind == "f")
    lines = [line for _ in range(draw(st.integers(2, 8))) for line in body.stage(loops=True)]
    returned = draw(
        st.lists(st.sampled_from((*body.matrices, *body.rows, *body.columns, "s")), min_size=1, max_size=3)
    )
    head = "def program(A, B, x, y, s, n, m, k):\n"
    source = head + "".join(f"    {line}\n" for line in lines) + f"    return {', '.join(returned)}\n"
    arrays = [rng.uniform(0.5, 1.5, shape) for shape in ((n, m), (n, m), (n,), (m,))]
    if dtype.kind == "c":
        arrays = [a + 1j * rng.uniform(-0.5, 0.5, a.shape) for a in arrays]
    arrays = [a.astype(dtype) for a in arrays]
    return Program(source, (*arrays, 0.8, n, m, draw(st.sampled_from((0, 1, 2, 5)))))


class _Body:
    def __init__(self, draw: st.DrawFn, *, real: bool) -> None:
        self.draw = draw
        self.real = real
        self.matrices, self.rows, self.columns = ["A", "B"], ["x"], ["y"]

    def one_of(self, items: object) -> str:
        return self.draw(st.sampled_from(list(items)))  # type: ignore[call-overload]

    def stage(self, *, loops: bool) -> list[str]:
        choices = (STAGES, STAGES, LOOPS) if loops else (STAGES,)
        form = self.one_of(self.draw(st.sampled_from(choices)))
        if not self.real and any(word in form for word in (">", "maximum")):
            form = "{O} = {V}"
        return self.filled(form, inner=form in LOOPS).split("\n")

    def filled(self, form: str, *, inner: bool) -> str:
        """The text with every slot filled; names that it makes exist only where it is not inside a loop."""
        made: list[tuple[list[str], str]] = []
        same: dict[str, str] = {}
        out = []
        for before, slot, _, _ in Formatter().parse(form):
            out.append(before)
            if slot is None:
                continue
            out.append(
                self.slot(slot, whole=form.startswith(f"{{{slot}}} = "), made=made, same=same, inner=inner)
            )
        for names, name in made:
            names.append(name)
        return "".join(out)

    def slot(
        self, slot: str, *, whole: bool, made: list[tuple[list[str], str]], same: dict[str, str], inner: bool
    ) -> str:
        pools = {
            "M": self.matrices,
            "N": self.rows,
            "C": self.columns,
            "O": self.matrices,
            "R": self.rows,
            "D": self.columns,
        }
        match slot:
            case "W":
                return self.one_of(NUMBERS)
            case "S":
                return "s"
            case "V":
                return self.filled(self.one_of(VALUES), inner=True)
            case "V2":
                return f"({self.filled(self.one_of(VALUES), inner=True)})"
            case "M2" | "X":
                return same.setdefault(slot, self.one_of(self.matrices))
            case "T":
                saved = [list(pool) for pool in (self.matrices, self.rows, self.columns)]
                lines = self.stage(loops=False)
                self.matrices, self.rows, self.columns = saved
                return "\n    ".join(lines)
        pool = pools[slot]
        if slot in "ORD":
            if slot in same:
                return same[slot]
            fresh = {"O": "T", "R": "r", "D": "c"}[slot] + str(len(pool))
            if whole and not inner and self.draw(st.booleans()):
                made.append((pool, fresh))
                same[slot] = fresh
            else:
                same[slot] = self.one_of(pool)
            return same[slot]
        return self.one_of(pool)
