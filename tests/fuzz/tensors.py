"""Random programs of statements about whole arrays, as Hypothesis strategies.

A program is drawn statement by statement, each run at once on real arrays: what NumPy refuses
is drawn again, so that programs are of all shapes and few of them raise. Floats are small
multiples of a quarter. Where a rounding error would become a visible difference (comparisons,
`//`, `%`, conversions to integers) operands are arrays as they came in, never results.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.generator import Program, drawn_array

DTYPES = ("float64", "float64", "float32", "int64", "int64", "int32", "int8", "uint8", "uint16", "bool",
          "complex128")  # fmt: skip
MAX_ELEMENTS = 400
ATTEMPTS = 12

_ARITHMETIC = ("+", "-", "*", "+", "-", "*", "/")
_EXACT = ("//", "%", "<", ">=", "==", "!=", "&", "|", "^")
_PLACE_BY_PLACE = ("-{}", "+{}", "~{}", "abs({})", "np.minimum({}, 1)", "np.maximum({}, {})", "{}.T", "{}[::-1]",
                   "np.where({} > 0, {}, 2)", "np.conjugate({})", "np.clip({}, 0, 1)", "{}.copy()", "{}[None]",
                   "{}[..., None]", "np.sqrt(np.abs({}))", "np.logical_not({})", "{} * 2", "1 - {}", "np.flipud({})",
                   "np.rot90({})", "np.tile({}, 2)", "np.pad({}, 1)", "np.pad({}, (0, 2), 'edge')", "np.diag({})",
                   "np.atleast_2d({})", "np.vstack(({}, {}))", "np.moveaxis({}, 0, -1)", "np.array({})",
                   "np.array([{}, {}])", "np.broadcast_to({}, (2, 3))", "np.einsum('ij->ji', {})",
                   "np.trace({}, 1) * {}", "{}.diagonal()", "np.split({}, 2)[1]")  # fmt: skip
_CONVERTED = (".astype(np.float32)", ".astype(np.int64)", ".astype(np.uint8)", ".astype(bool)")
_COMPARED = ("> 0", "<= 1", "!= 2", "< -1", "== 0")
_ALONG = ("np.cumsum({}{})", "({}).cumsum({})", "np.cumprod({}{})", "np.diff({}{})", "np.maximum.accumulate({}{})",
          "np.add.accumulate({}{})", "np.add.reduce({}{})", "np.minimum.reduce({}{})")  # fmt: skip
_PLACES = ("np.argmax({}{})", "({}).argmin({})", "np.argmin({}{})", "np.ptp({}{})", "np.nansum({}{})",
           "np.nanmax({}{})", "np.count_nonzero({}{})")  # fmt: skip
_COUNTED = ("np.bincount(np.abs({}).ravel() % 5)", "np.searchsorted(np.arange(4), {})", "np.flatnonzero({})",
            "np.digitize({}, np.arange(3))", "np.argwhere({})", "np.histogram({}, 4)[0]", "np.extract({} > 0, {})",
            "np.take({}, np.arange(2))", "np.compress(np.arange(3) > 0, {})")  # fmt: skip
_REDUCED = ("sum", "sum", "min", "max", "mean", "any", "all", "prod", "std", "var")
_MADE = ("np.zeros({})", "np.ones({}, dtype=np.int32)", "np.full({}, 2.5)", "np.arange({})", "np.eye({})",
         "np.linspace(0.0, 1.0, {})")  # fmt: skip


@dataclass(frozen=True)
class _Drawn:
    """Text and its value. exact: free of rounding."""

    text: str
    value: Any
    exact: bool


@st.composite
def tensor_programs(draw: st.DrawFn) -> Program:
    """A program and arguments for it."""
    extents = (draw(st.integers(0, 5)), draw(st.integers(1, 4)), 3)
    args = [
        drawn_array(draw, draw(st.sampled_from(DTYPES)), tuple(
            draw(st.sampled_from(extents)) for _ in range(draw(st.sampled_from((1, 1, 2, 2, 3))))
        )) for _ in range(draw(st.integers(1, 3)))
    ]  # fmt: skip
    if draw(st.integers(0, 7)) == 7:  # memory that two arguments share
        args.append(args[0][::-1] if draw(st.booleans()) else args[0])
    k = draw(st.integers(-2, 4))
    body = _Body(draw, {**{"abcd"[n]: a for n, a in enumerate(args)}, "k": k})
    lines = body.statements(draw(st.integers(1, 6)))
    head = f"def program({', '.join(['abcd'[n] for n in range(len(args))] + ['k'])}):"
    source = (
        "\n".join(
            [
                head,
                *("    " + line.replace("\n", "\n    ") for line in lines),
                f"    return {body.returned()}",
            ]
        )
        + "\n"
    )
    return Program(source, (*args, k))


class _Body:
    def __init__(self, draw: st.DrawFn, values: dict[str, Any]) -> None:
        self.draw = draw
        self.given = list(values)
        copies: dict[int, Any] = {}
        self.values = copy.deepcopy(values, copies)
        self.made: list[str] = []
        self.kinds = (
            self.bound,
            self.bound,
            self.stored,
            self.updated,
            self.reduced,
            self.masked,
            self.combined,
            self.rebound,
            self.swapped,
        )

    def one_of(self, items: Any) -> Any:
        return self.draw(st.sampled_from(list(items)))

    def statements(self, count: int) -> list[str]:
        out: list[str] = []
        for _ in range(count):
            for _ in range(ATTEMPTS):
                line = self.one_of(self.kinds)()
                if line is not None and self.runs(line):
                    out.append(line)
                    break
        return out

    def runs(self, line: str) -> bool:
        """Runs the statement on the program's arrays; undone where NumPy refuses it."""
        before = copy.deepcopy(self.values, {})
        try:
            with np.errstate(all="ignore"):
                exec(line, {"np": np}, self.values)
        except (ValueError, TypeError, IndexError, OverflowError, np.exceptions.AxisError):
            self.values = before
            return False
        return all(_is_small(v) for v in self.values.values())

    def returned(self) -> str:
        names = [name for name in self.made if name in self.values][-3:]
        return ", ".join(names) + ("," if len(names) == 1 else "") if names else "None"

    # ------------------------------------------------------------ statements

    def bound(self) -> str | None:
        drawn = self.expression(self.draw(st.integers(1, 3)))
        if drawn is None or isinstance(drawn.value, tuple):
            return None
        name = f"t{len(self.made)}"
        self.made.append(name)
        text = drawn.text if not _is_name(drawn.text) else f"{drawn.text} + 0"
        return f"{name} = {text}" if _owns(drawn.text) else f"{name} = ({text}) * 1"

    def rebound(self) -> str | None:
        """A loop or a branch that binds a name to another array."""
        name = self.made_array()
        if name is None:
            return None
        drawn = self.expression(1)
        if drawn is None or isinstance(drawn.value, tuple):
            return None
        head = self.one_of((f"for r in range({self.draw(st.integers(0, 3))}):", "if k > 0:"))
        value = self.one_of((f"{name} * 0.5 + {drawn.text}", f"{name} - {drawn.text}", f"{name}[::-1] * 1",
                             f"np.where({name} == {name}, {drawn.text}, {name})", f"{name}[1:] + 0",
                             f"np.concatenate(({name}, {name}))", f"{name}.T + 0", drawn.text))  # fmt: skip
        new, old = self.evaluated(value, False), self.values[name]
        if new is None or not isinstance(new.value, np.ndarray):
            return None
        if (new.value.dtype, new.value.ndim) != (old.dtype, old.ndim) and head.startswith("if"):
            return None  # which branches may not differ in
        store = self.one_of(("", "", f"\n    {name}[0] = 1"))
        return f"{head}\n    {name} = {value}{store}"

    def swapped(self) -> str | None:
        """A loop that exchanges two names, and may store into one of them."""
        one, other = self.made_array(), self.made_array()
        if one is None or other is None or one == other:
            return None
        if (
            self.values[one].dtype != self.values[other].dtype
            or self.values[one].ndim != self.values[other].ndim
        ):
            return None
        store = self.one_of(("", f"    {one}[0] = {other}[-1]\n", f"    {other}[1:] = {one}[:-1]\n"))
        return f"for r in range({self.draw(st.integers(0, 3))}):\n{store}    {one}, {other} = {other}, {one}"

    def made_array(self) -> str | None:
        names = [n for n in self.made if isinstance(self.values.get(n), np.ndarray) and self.values[n].ndim]
        return self.one_of(names) if names else None

    def stored(self) -> str | None:
        drawn, place = self.expression(2), self.place()
        if drawn is None or (np.iscomplexobj(drawn.value) and not self.is_complex(place)):
            return None  # NumPy drops the imaginary part with a warning
        return f"{place} = {drawn.text}" if self.has_axes_for(drawn, place) else None

    def updated(self) -> str | None:
        drawn, place = self.expression(1), self.place()
        if drawn is None or not self.has_axes_for(drawn, place):
            return None
        return f"{place} {self.one_of(('+', '-', '*'))}= {drawn.text}"

    def has_axes_for(self, drawn: _Drawn, place: str) -> bool:
        """Whether the place is no single element, or the value is none: NumPy stores an array there if it is one of
        booleans, with one element."""
        target = self.evaluated(place, False)
        return target is None or not np.ndim(drawn.value) or bool(np.ndim(target.value))

    def masked(self) -> str | None:
        """A store under a mask, which is of the array's own elements or another's of its shape."""
        name, drawn = self.one_of(self.arrays()), self.mask()
        if drawn is None:
            return None
        value = self.one_of(("0", "2", "k", f"{name}[{drawn.text}] + 1", f"{name}[{drawn.text}][::-1]"))
        column = self.one_of(("", "", "", ":, ", "..., "))
        return f"{name}[{column}{drawn.text}] {self.one_of(('=', '=', '+=', '*='))} {value}"

    def combined(self) -> str | None:
        name = self.one_of(self.arrays())
        if self.values[name].dtype.kind not in "iuf" or self.values[name].dtype == np.uint64:
            return None  # NumPy computes with floats there, and a negative one has no unsigned value
        at = self.one_of(
            (f"np.arange({name}.shape[0]) // 2", f"np.arange({name}.shape[0])[::-1]", "np.arange(1)")
        )
        function, value = self.one_of((("add", "k"), ("subtract", "2"), ("maximum", "1"), ("multiply", "k")))
        return f"np.{function}.at({name}, {at}, {value})"

    def mask(self) -> _Drawn | None:
        leaf = self.leaf()
        if leaf is None or not leaf.exact or np.iscomplexobj(leaf.value) or not np.ndim(leaf.value):
            return None
        text = f"({leaf.text} {self.one_of(_COMPARED)})"
        return self.evaluated(text if self.draw(st.booleans()) else f"~{text}", True)

    def is_complex(self, place: str) -> bool:
        return np.iscomplexobj(self.values[place.partition("[")[0]])

    def reduced(self) -> str | None:
        drawn = self.reduction()
        if drawn is None:
            return None
        name = f"t{len(self.made)}"
        self.made.append(name)
        return f"{name} = {drawn.text}"

    def place(self) -> str:
        name = self.one_of(self.arrays())
        return f"{name}{self.subscript(self.values[name].ndim)}"

    # ------------------------------------------------------------ expressions

    def arrays(self) -> list[str]:
        return [n for n, v in self.values.items() if isinstance(v, np.ndarray) and v.ndim]

    def evaluated(self, text: str, exact: bool) -> _Drawn | None:
        try:
            with np.errstate(all="ignore"):
                value = eval(text, {"np": np}, self.values)
        except (ValueError, TypeError, IndexError, OverflowError, np.exceptions.AxisError):
            return None
        return _Drawn(text, value, exact) if _is_small(value) else None

    def leaf(self) -> _Drawn | None:
        name = self.one_of(self.arrays())
        if self.draw(st.integers(0, 2)):
            name += self.subscript(self.values[name].ndim)
        return self.evaluated(name, name[0] in self.given)

    def subscript(self, ndim: int) -> str:
        parts = [self.one_of(_SLICES) for _ in range(self.draw(st.integers(1, ndim)))]
        if self.draw(st.integers(0, 7)) == 7:
            parts.insert(self.draw(st.integers(0, len(parts))), self.one_of(("None", "...")))
        return f"[{', '.join(parts)}]"

    def expression(self, depth: int) -> _Drawn | None:
        if depth == 0:
            return self.leaf()
        make: Callable[[int], _Drawn | None] = self.one_of(
            (
                self.binary,
                self.binary,
                self.binary,
                self.stretched,
                self.exact,
                self.unary,
                self.unary,
                self.product,
                self.new,
                self.chosen,
                self.along,
                self.places,
                self.counted,
            )
        )
        return make(depth - 1) or self.leaf()

    def binary(self, depth: int) -> _Drawn | None:
        left, right = self.expression(depth), self.expression(depth)
        if left is None or right is None:
            return None
        operand = right.text if self.draw(st.integers(0, 4)) else self.one_of(("2", "0.5", "k", "1j"))
        return self.evaluated(f"({left.text} {self.one_of(_ARITHMETIC)} {operand})", False)

    def stretched(self, depth: int) -> _Drawn | None:
        """Several operands of one shape, but for axes along which some of them have one place."""
        of = self.one_of(self.arrays())
        ndim = self.values[of].ndim
        operands = [self.narrowed(of, ndim) for _ in range(self.draw(st.integers(2, 4)))]
        if self.draw(st.integers(0, 3)) == 3:
            drawn = self.leaf()
            operands += [] if drawn is None else [drawn.text]
        operands = self.draw(st.permutations(operands))
        joined = f" {self.one_of(('+', '-', '*'))} ".join(operands)
        return self.evaluated(f"({joined})", False)

    def narrowed(self, name: str, ndim: int) -> str:
        """An array, or one place or the whole of it along each axis."""
        match self.draw(st.integers(0, 5)):
            case 0:
                return name
            case 1:
                return f"{name}.sum(axis={self.draw(st.integers(0, ndim - 1))}, keepdims=True)"
            case 2:
                return (
                    f"np.ones(({', '.join(self.one_of(('1', f'{name}.shape[{n}]')) for n in range(ndim))},))"
                )
            case _:
                places = (":", ":", ":1", "-1:", "k:k + 1", "0:1", "None:1")
                return f"{name}[{', '.join(self.one_of(places) for _ in range(ndim))}]"

    def exact(self, depth: int) -> _Drawn | None:
        left, right = self.leaf(), self.leaf()
        if left is None or right is None or not (left.exact and right.exact):
            return None
        if self.draw(st.integers(0, 3)) == 3 and not np.iscomplexobj(left.value):
            return self.evaluated(left.text + self.one_of(_CONVERTED), True)
        operand = right.text if self.draw(st.booleans()) else self.one_of(("2", "3", "1"))
        op = self.one_of(_EXACT)
        if op in ("<", ">=") and (np.iscomplexobj(left.value) or np.iscomplexobj(right.value)):
            return None  # NumPy orders complex numbers by their parts
        return self.evaluated(f"({left.text} {op} {operand})", True)

    def unary(self, depth: int) -> _Drawn | None:
        inner = self.leaf() if depth == 0 else self.expression(depth)
        if inner is None:
            return None
        form = self.one_of(_PLACE_BY_PLACE)
        if ("> 0" in form and not inner.exact) or not isinstance(inner.value, np.ndarray):
            return None
        if np.iscomplexobj(inner.value) and any(word in form for word in ("imum", "clip", "> 0", "sqrt")):
            return None
        return self.evaluated(form.replace("{}", f"({inner.text})"), inner.exact and "sqrt" not in form)

    def product(self, depth: int) -> _Drawn | None:
        left, right = self.leaf(), self.leaf()
        if left is None or right is None:
            return None
        form = self.one_of(
            (
                "({} @ {})",
                "np.dot({}, {})",
                "np.outer({}.sum(axis=0), {})",
                "({}.T @ {})",
                "np.inner({}, {})",
                "np.kron({}, {})",
                "np.tensordot({}, {}, 1)",
                "np.einsum('ij,jk->ki', {}, {})",
                "np.einsum('i,ij->', {}, {})",
            )
        )
        return self.evaluated(form.format(left.text, right.text), False)

    def chosen(self, depth: int) -> _Drawn | None:
        leaf, drawn = self.leaf(), self.mask()
        if leaf is None or drawn is None or not isinstance(leaf.value, np.ndarray) or not leaf.value.ndim:
            return None
        column = self.one_of(("", "", "", ":, ", "0, "))
        suffix = self.one_of(("", "", " * 2", ".sum()", ".mean()", f" + {leaf.text}[{column}{drawn.text}]"))
        return self.evaluated(
            f"({leaf.text}[{column}{drawn.text}]{suffix})", leaf.exact and "mean" not in suffix
        )

    def along(self, depth: int) -> _Drawn | None:
        return self.called(_ALONG, self.leaf() if depth == 0 else self.expression(depth), False)

    def places(self, depth: int) -> _Drawn | None:
        """Of operands that are exact: where an extreme is may hang on the last digit."""
        return self.called(_PLACES, self.leaf(), True)

    def called(self, forms: tuple[str, ...], inner: _Drawn | None, exact: bool) -> _Drawn | None:
        if inner is None or not isinstance(inner.value, np.ndarray) or not inner.value.ndim:
            return None
        form = self.one_of(forms)
        unordered = any(word in form for word in ("arg", "imum", "ptp", "max"))
        if (exact and not inner.exact) or (unordered and np.iscomplexobj(inner.value)):
            return None
        axis = f"axis={self.draw(st.integers(-inner.value.ndim, inner.value.ndim - 1))}"
        given = axis if self.draw(st.booleans()) or "accumulate" in form else ""
        if given and not form.startswith("("):
            given = f", {given}"
        return self.evaluated(form.format(inner.text, given), exact)

    def counted(self, depth: int) -> _Drawn | None:
        leaf = self.leaf()
        if leaf is None or not leaf.exact or not isinstance(leaf.value, np.ndarray) or not leaf.value.ndim:
            return None
        if np.iscomplexobj(leaf.value):
            return None
        return self.evaluated(self.one_of(_COUNTED).replace("{}", leaf.text), True)

    def new(self, depth: int) -> _Drawn | None:
        name = self.one_of(self.arrays())
        form = self.one_of(_MADE)
        return self.evaluated(form.format(f"{name}.shape[0]"), True)

    def reduction(self) -> _Drawn | None:
        inner = self.leaf() if self.draw(st.booleans()) else self.expression(1)
        if inner is None or not isinstance(inner.value, np.ndarray) or not inner.value.ndim:
            return None
        function = self.one_of(_REDUCED)
        if np.iscomplexobj(inner.value) and function in ("min", "max"):
            return None  # NumPy orders complex numbers by their parts
        arguments = []
        if self.draw(st.booleans()):
            axes = self.draw(st.integers(-inner.value.ndim, inner.value.ndim - 1))
            arguments.append(f"axis={axes}")
        if self.draw(st.integers(0, 3)) == 3:
            arguments.append("keepdims=True")
        return self.evaluated(f"({inner.text}).{function}({', '.join(arguments)})", False)


_SLICES = (
    ":",
    ":",
    ":",
    "1:",
    ":-1",
    "1:-1",
    "::2",
    "::-1",
    "k:",
    ":k",
    "-2:",
    "0",
    "-1",
    "1:1",
    "2::-1",
    "0:1",
    "::k",
    "1::k",
)


def _is_small(value: Any) -> bool:
    """Whether the value is of a type that programs have, and of few elements."""
    if isinstance(value, np.ndarray):
        return value.size <= MAX_ELEMENTS and value.dtype.name in (
            *DTYPES,
            "uint32",
            "uint64",
            "int16",
            "complex64",
        )
    return True


def _is_name(text: str) -> bool:
    return text.isidentifier()


def _owns(text: str) -> bool:
    """Whether the text makes a new array, rather than a view of another one."""
    return text.startswith("(") and any(op in text for op in (" + ", " - ", " * ", " / ", " @ "))
