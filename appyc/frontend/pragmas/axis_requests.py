"""The properties that a pragma gives the axes of a tensor statement, and the axes that each of its slices
names."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from appyc.errors import Note, PragmaError
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.pragmas.pragma_nodes import Dim
from appyc.ir.nodes import Compare, Expr, Fail, If, Likely, Stmt, Symbol, Unary


@dataclass(frozen=True, slots=True)
class AxisRequests:
    """dims: what is said, by the slice as `ast.dump` has it; several where the pragma has the slice several
    times. occurrences: of each slice of the statement, its number among the slices of its subscript with the same
    text, and their count. axes: those found so far, with what is said of each."""

    dims: dict[str, tuple[Dim, ...]]
    occurrences: dict[ast.Slice, tuple[int, int]]
    axes: dict[Symbol, tuple[Dim, ...]]

    @classmethod
    def of(cls, dims: tuple[Dim, ...], statement: ast.stmt) -> AxisRequests:
        said: dict[str, tuple[Dim, ...]] = {}
        for dim in dims:
            key = ast.dump(dim.slice)
            said[key] = (*said.get(key, ()), dim)
        occurrences: dict[ast.Slice, tuple[int, int]] = {}
        for node in ast.walk(statement):
            if isinstance(node, ast.Subscript):
                parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                slices = [part for part in parts if isinstance(part, ast.Slice)]
                texts = [ast.dump(part) for part in slices]
                for k, (part, text) in enumerate(zip(slices, texts, strict=True)):
                    occurrences[part] = texts[:k].count(text), texts.count(text)
        return cls(said, occurrences, {})

    def found(self, axis: Symbol, written: ast.Slice, extent: Expr) -> tuple[Stmt, ...]:
        """A slice of the statement, with the axis made for it; the test of what is promised of it."""
        dim = self._dim_of(written)
        if dim is None:
            return ()
        self.axes[axis] = (dim,)
        return () if dim.le is None else (_kept(dim, dim.le, extent),)

    def inside(self) -> AxisRequests:
        """The requests in a function that the statement calls: of the axes that it gets, not of slices of its own."""
        return replace(self, dims={})

    def _dim_of(self, written: ast.Slice) -> Dim | None:
        """The properties that a pragma gives a slice. Given once, they hold for all equal slices; given
        several times, for them in turn, and for none of a subscript with fewer such slices."""
        dims = self.dims.get(ast.dump(written), ())
        if len(dims) < 2:
            return dims[0] if dims else None
        number, count = self.occurrences.get(written, (0, 0))
        return dims[number] if number < len(dims) <= count else None

    def follow(self, old: Symbol, new: Symbol) -> None:
        """Passes the properties of axis `old` to `new`, which replaces it. Raises PragmaError where the
        two differ."""
        dims = tuple(dict.fromkeys((*self.axes.get(new, ()), *self.axes.get(old, ()))))
        if not dims:
            return
        self.axes[new] = dims
        first, *others = sorted(dims, key=lambda d: (d.loc.line, d.loc.col))
        for second in others:
            if _properties(second) == _properties(first):
                continue
            raise PragmaError(
                f"one loop runs over '{slice_text(first)}' and '{slice_text(second)}', "
                "which have different properties",
                second.loc,
                "name one of the two, or give both the same properties",
                related=(Note(first.loc, "the other one"),),
            )


def slice_text(dim: Dim) -> str:
    return ast.unparse(dim.slice)


def _properties(dim: Dim) -> tuple[object, ...]:
    return dim.parallel, dim.simd, dim.block, dim.reduce, dim.le


def _kept(dim: Dim, most: int, extent: Expr) -> Stmt:
    """The test that the slice is as short as the pragma promises."""
    loc = dim.loc
    kept = Likely(Compare("<=", extent, integer(most, loc), loc=loc), loc=loc)
    message = f"the slice '{slice_text(dim)}' has {{value}} elements, and the pragma promises le({most})"
    return If(Unary("~", kept, loc=loc), (Fail("ValueError", message, (extent,), loc=loc),), loc=loc)
