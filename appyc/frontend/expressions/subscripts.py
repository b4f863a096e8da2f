"""Subscripts: items of arrays, tuples, lists and dicts, and the grids `np.mgrid` and `np.ogrid`."""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np

from appyc.errors import Loc, PickedArrayError, SubscriptError, UnsupportedError
from appyc.frontend.arrays import array_creation, list_of_rows, slice_bounds, slices, tensors
from appyc.frontend.arrays.reshaping import ravelled, stacked
from appyc.frontend.arrays.tensors import with_axis
from appyc.frontend.expressions import arithmetic, attributes, expressions, strings, structured_arrays
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.expressions.array_list_calls import common_array, learn_arrays
from appyc.frontend.expressions.indexed_tuples import item_of, table_of_constants
from appyc.frontend.expressions.inlining import called_with
from appyc.frontend.expressions.list_storage import list_item, list_part
from appyc.frontend.expressions.tables import as_item
from appyc.frontend.library.generator_calls import is_generators, one_of
from appyc.frontend.scope import Scope
from appyc.frontend.types import values as vals
from appyc.frontend.types.characters import is_character, is_written, sequence
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import PY_FLOAT, promoted
from appyc.ir.nodes import Binary, Compare, Const, Expr, Extent, Likely, Logical, Select
from appyc.library.indexed_arrays import check_grid, grid_points, grid_steps


def lower_subscript(scope: Scope, base: ast.expr, index: ast.expr, loc: Loc) -> vals.Value:
    """The value of a subscript `base[index]`."""
    value, tested = _subscript(scope, base, index, loc)
    if isinstance(value, vals.Records):
        return structured_arrays.tested(scope, value, loc)
    check_view(scope, value, tested)
    return value


def lower_owner(scope: Scope, node: ast.expr) -> tuple[vals.Value, int]:
    """The value that a subscript indexes, and the number of its indices that are known to be within bounds.

    That of a subscript itself is not tested: `a[i][j]` is one access.
    """
    if isinstance(node, ast.Subscript):
        value, tested = _subscript(scope, node.value, node.slice, scope.loc(node))
        return expressions.pack_masked(scope, value, scope.loc(node)), tested
    value = expressions.lower_expression(scope, node)
    return value, len(value.index) if isinstance(value, vals.ArrayRef) else 0


def check_view(scope: Scope, value: vals.Value, tested: int) -> None:
    """Emits the tests of a view's indices from the number `tested` on; what is no view has none."""
    if isinstance(value, vals.ArrayRef) and value.ndim:
        for axis, index in enumerate(value.index[tested:], start=tested):
            extent = Extent(value.symbol, axis, loc=index.loc)
            slice_bounds.check_bounds(scope, value.symbol, axis, index, extent)


def _subscript(scope: Scope, base: ast.expr, index: ast.expr, loc: Loc) -> tuple[vals.Value, int]:
    """The value of `base[index]`, and the number of its indices that are tested."""
    if isinstance(base, ast.Attribute) and base.attr == "flat":
        array = expressions.lower_expression(scope, base.value)
        if isinstance(array, vals.ArrayRef | vals.Tensor) and array.ndim:
            return _flat_item(scope, array, index, loc), 0
        owner, tested = attributes.attribute(scope, array, base.attr, scope.loc(base)), 0
    else:
        owner, tested = lower_owner(scope, base)
    if isinstance(owner, vals.Records):
        value, tested = structured_arrays.part_of(scope, owner, index, loc)
        is_element = isinstance(value, vals.ArrayRef) and not value.ndim
        return (expressions.number(value, loc) if is_element else value), tested
    if is_character(owner) or (is_written(owner) and isinstance(index, ast.Slice)):
        owner = strings.described(scope, owner, loc)
    if isinstance(owner, vals.ArrayRef | vals.Tensor):
        return as_item(scope, base, _array_item(scope, owner, tested, index, loc)), tested
    return _item(scope, base, owner, index, loc), 0


def _item(scope: Scope, base: ast.expr, owner: vals.Value, index: ast.expr, loc: Loc) -> vals.Value:
    """An item of what is no array."""
    owner = owner if isinstance(index, ast.Slice) else sequence(owner, loc)
    match owner:
        case vals.Opaque(obj=obj) if obj is np.mgrid or obj is np.ogrid:
            return _grid(scope, index, loc, is_open=obj is np.ogrid)
        case vals.TupleValue():
            return _tuple_item(scope, base, owner, index, loc)
        case vals.DictValue():
            return owner.values.items[expressions.dict_item(scope, owner, base, index, loc)]
        case vals.Opaque(obj=dict()) if isinstance(index, ast.Constant):
            return scope.names.item(owner, index.value, loc)
        case vals.Opaque() if is_generators(owner):
            return one_of(owner, expressions.lower_number(scope, index))
        case vals.ListSlots() if isinstance(index, ast.Slice):
            return list_part(scope, owner, index, loc)
        case vals.ListSlots():
            return list_item(scope, owner, expressions.lower_number(scope, index), loc)
        case vals.ListRows() | vals.TupleRow() if not isinstance(index, ast.Slice):
            return list_of_rows.item(scope, owner, expressions.lower_number(scope, index), loc)
        case _:
            raise expressions.refused(
                owner,
                "an index into",
                f"{describe(owner)} cannot be indexed",
                loc,
                "only arrays and tuples can be",
            )


def _flat_item(scope: Scope, array: vals.ArrayRef | vals.Tensor, index: ast.expr, loc: Loc) -> vals.Value:
    """`a.flat[k]`: indexes the elements in C order. Several elements are a copy, even for a slice."""
    tensor = tensors.as_tensor(scope, array, loc)
    out = slices.subscript(
        scope, ravelled(scope, tensor, loc).copied(), slices.lower_items(scope, index), loc
    )
    return out.copied() if isinstance(out, vals.Tensor) else out


def _grid(scope: Scope, index: ast.expr, loc: Loc, *, is_open: bool) -> vals.Value:
    """The coordinate arrays of a grid: `np.mgrid[a:b, c:d:s]`, `np.ogrid[...]`."""
    if not isinstance(index, ast.Tuple):
        return _coordinates(scope, [_grid_axis(scope, index, loc)], loc)[0]
    axes = [_grid_axis(scope, part, loc) for part in index.elts]
    vectors = _coordinates(scope, axes, loc)
    if is_open:
        return vals.TupleValue(tuple(_along(scope, v, k, len(vectors), loc) for k, v in enumerate(vectors)))
    for bounds, is_counted in axes:
        if not is_counted:
            called_with(scope, check_grid, bounds, loc)
    variables = tuple(v.axes[0] for v in vectors)
    extents = tuple(v.extents[0] for v in vectors)
    return stacked(scope, [vals.Tensor(variables, extents, v.element) for v in vectors], 0, loc)


def _grid_axis(scope: Scope, part: ast.expr, loc: Loc) -> tuple[list[vals.Number], bool]:
    """Start, stop, and step of an axis, or how many coordinates it has; and whether the latter is given."""
    if not isinstance(part, ast.Slice) or part.upper is None:
        raise UnsupportedError("np.mgrid and np.ogrid take slices with an end here", loc)
    count = _count(part.step)
    zero, one = (ast.copy_location(ast.Constant(value), part) for value in (0, 1))
    bounds = expressions.lower_numbers(scope, [part.lower or zero, part.upper, count or part.step or one])
    hint = "np.linspace makes so many points"
    if any(n.type.dtype.is_complex for n in bounds):
        raise UnsupportedError("a grid with a complex bound is not compiled", loc, hint)
    if count is not None and not bounds[2].type.dtype.is_integer:
        raise UnsupportedError("the number of points of a grid is no integer", loc, hint)
    return bounds, count is not None


def _coordinates(scope: Scope, axes: list[tuple[list[vals.Number], bool]], loc: Loc) -> list[vals.Tensor]:
    """The coordinates along each axis of a grid, all of one type."""
    kinds = [n.type for bounds, is_counted in axes for n in (bounds[:2] if is_counted else bounds)]
    kind = promoted([*kinds, PY_FLOAT] if any(is_counted for _, is_counted in axes) else kinds).dtype
    if len(axes) == 1 and not axes[0][1]:
        return [array_creation.arange(scope, axes[0][0], None, loc)]
    if kind.is_integer:
        return [array_creation.arange(scope, bounds, kind, loc) for bounds, _ in axes]
    made: list[vals.Tensor] = []
    for bounds, is_counted in axes:
        text = grid_points if is_counted else grid_steps
        made.append(
            tensors.as_tensor(
                scope, called_with(scope, text, [vals.Opaque(kind.numpy.type), *bounds], loc), loc
            )
        )
    return made


def _along(scope: Scope, vector: vals.Tensor, axis: int, rank: int, loc: Loc) -> vals.Tensor:
    """A vector along one of so many axes, the others of length 1."""
    out = vector.copied()
    for k in range(rank):
        if k != axis:
            out = with_axis(scope, out, k, loc)
    return out


def _count(step: ast.expr | None) -> ast.expr | None:
    """The number of coordinates of a grid that a step of `6j` or `n * 1j` stands for."""
    match step:
        case ast.Constant(value=complex(real=0.0, imag=imag)):
            return ast.copy_location(ast.Constant(int(abs(imag))), step)
        case (
            ast.BinOp(op=ast.Mult(), left=count, right=ast.Constant(value=complex(real=0.0, imag=1.0)))
            | ast.BinOp(op=ast.Mult(), left=ast.Constant(value=complex(real=0.0, imag=1.0)), right=count)
        ):
            return count
        case _:
            return None


def _array_item(
    scope: Scope, owner: vals.ArrayRef | vals.Tensor, tested: int, index: ast.expr, loc: Loc
) -> vals.Value:
    items = slices.lower_items(scope, index)
    if vals.is_listed(owner) and (len(items) > 1 or not isinstance(items[0], vals.Number | ast.Slice)):
        tensors.refuse_lists([owner], loc)
    if isinstance(owner, vals.Tensor) or not slices.is_element(items):
        check_view(scope, owner, tested)
        part = slices.subscript(scope, owner, items, loc)
        if vals.is_listed(owner) and isinstance(part, vals.Tensor) and part.ndim > 1:
            return replace(part, unsettled=True)  # it has the same rows
        return part
    ref = element(scope, owner, index, items, loc)
    if ref.ndim == 0:
        checked = not scope.source.trusted or bool(owner.index)
        return arithmetic.element_of(ref.symbol, ref.index, loc, checked=checked)
    return ref


def _tuple_item(
    scope: Scope, base: ast.expr, owner: vals.TupleValue, index: ast.expr, loc: Loc
) -> vals.Value:
    if isinstance(index, ast.Slice):
        return vals.TupleValue(owner.items[_constant_slice(scope, index, loc)])
    at = expressions.lower_number(scope, index)
    position = at.constant
    if not isinstance(position, int):
        table = owner.table or table_of_constants(scope, owner.items, loc)
        if table is None:
            _learn(scope, base, owner, loc)
            reason, instead = "it has no name", "give it one"
            if isinstance(base, ast.Name):
                reason, instead = "its items are no numbers of one kind", "put them into an array"
            kind = UnsupportedError if common_array(owner.items) is None else PickedArrayError
            raise kind(f"this tuple can be indexed by constants only: {reason}", loc, instead)
        return item_of(table, scope.temp("at", expressions.as_index(at, loc)), owner.items[0], loc)
    if not -len(owner.items) <= position < len(owner.items):
        raise SubscriptError(f"index {position} is out of range for a tuple of {len(owner.items)}", loc)
    return owner.items[position]


def _learn(scope: Scope, base: ast.expr, owner: vals.TupleValue, loc: Loc) -> None:
    """Raises Restart where a tuple that is indexed by a variable is a list of arrays of the function's own, or where a
    loop around it can be unrolled."""
    for loop in reversed(scope.unrollable):
        scope.facts.learn(scope.facts.unrolled, loop)
    array = common_array(owner.items)
    if isinstance(base, ast.Name) and base.id in scope.read_lists and array is not None:
        learn_arrays(scope, base.id, array.ndim, vals.dtype_of(array))


def _constant_slice(scope: Scope, index: ast.Slice, loc: Loc) -> slice[int | None, int | None, int | None]:
    def bound(part: ast.expr | None) -> int | None:
        if part is None:
            return None
        value = expressions.lower_number(scope, part).constant
        if not isinstance(value, int):
            raise UnsupportedError("a tuple can be sliced by constants only", loc)
        return value

    return slice(bound(index.lower), bound(index.upper), bound(index.step))


def element(
    scope: Scope, owner: vals.ArrayRef, index: ast.expr, items: list[slices.Item], loc: Loc
) -> vals.ArrayRef:
    """`owner[items]` for integer indices only: the array reference with more axes indexed."""
    values = [item for item in items if not isinstance(item, ast.Slice)]
    nodes = index.elts if isinstance(index, ast.Tuple) else [index]
    nodes = nodes if len(nodes) == len(values) else [index] * len(values)  # a name for a tuple
    if len(nodes) > owner.ndim:
        raise SubscriptError(
            f"too many indices: {len(owner.index) + len(nodes)}, "
            f"but this is {describe(vals.ArrayRef(owner.symbol))}", loc,
        )  # fmt: skip
    taken: list[Expr] = list(owner.index)
    for value, node in zip(values, nodes, strict=True):
        taken.append(_axis_index(scope, owner, len(taken), value, node))
    return vals.ArrayRef(owner.symbol, tuple(taken), owner.shape, tested=owner.tested and not values)


def _axis_index(scope: Scope, owner: vals.ArrayRef, axis: int, value: vals.Value, node: ast.expr) -> Expr:
    loc = scope.loc(node)
    out = expressions.single_index(value, loc).expr
    extent = Extent(owner.symbol, axis, loc=loc)
    if isinstance(out, Const):
        out = slice_bounds.constant_position(out, extent)
    elif (back := slice_bounds.back_from_end(out)) is not None:
        # The same for an index `-n`, on the likely path.
        counts = Compare(">", back, integer(0, loc), loc=loc)
        inside = Logical("and", counts, Compare("<=", back, extent, loc=loc), loc=loc)
        out = Select(Likely(inside, loc=loc), Binary("-", extent, back, loc=loc), out, loc=loc)
    return out
