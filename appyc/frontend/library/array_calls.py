"""NumPy functions and methods of arrays: their arguments, and what they mean."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import array_creation
from appyc.frontend.arrays.reshaping import normalised, ravelled, reordered, reshaped
from appyc.frontend.arrays.tensors import (
    as_tensor,
    is_always_empty,
    materialise,
    refuse_lists,
    with_axis,
)
from appyc.frontend.arrays.where_arguments import given_destination, given_mask, put
from appyc.frontend.control.comprehensions import collected
from appyc.frontend.expressions import expressions, strings
from appyc.frontend.expressions.arithmetic import cast, integer, python_number
from appyc.frontend.expressions.attributes import shape_of
from appyc.frontend.expressions.left_calls import leave_without_items
from appyc.frontend.library import (
    array_makers,
    array_reductions,
    array_tables,
    linear_algebra,
    scan_functions,
    texts,
)
from appyc.frontend.library.array_makers import arange, join, new_array, result_type, type_limits
from appyc.frontend.library.array_reductions import reduce_array
from appyc.frontend.library.axis_arguments import (
    Arguments,
    Bound,
    Entry,
    along,
    given_dtype,
    integers,
)
from appyc.frontend.library.scan_functions import given_back
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import is_list, tuple_in_place
from appyc.frontend.types import values as vals
from appyc.frontend.types.descriptions import describe
from appyc.ir.nodes import Binary, Expr, Load, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import substitute, walk
from appyc.library import primitives
from appyc.library.table import text_of


def works_on_arrays(obj: object) -> bool:
    """Whether a function of numbers works element by element on arrays, as NumPy's do."""
    return isinstance(obj, np.ufunc) or obj in _ELEMENTWISE


_ELEMENTWISE = (np.where, np.clip, np.real, np.imag, np.angle, np.conjugate, abs, pow, divmod)


def lower_array_call(scope: Scope, obj: object, node: ast.Call, loc: Loc) -> vals.Value | None:
    """The value of a NumPy function of arrays; None where `obj` is none of those."""
    if obj is np.where and len(node.args) == 1:
        obj = np.nonzero
    try:
        entry = _FUNCTIONS.get(obj)
    except TypeError:
        return None
    if (text := text_of(obj)) is not None:
        destination, node = given_destination(obj, node, range(text.elements, text.elements + 1))
        entry = texts.entry_of(text, obj)
        takes_lists = texts.takes_lists(text)
        found = entry[1](scope, _bound(scope, node, entry[0], [], loc, takes_lists=takes_lists), loc)
        if destination.out is None and destination.where is None:
            return found
        return put(scope, destination, [found], lambda numbers: numbers[0], loc, "a result")
    if entry is None:
        return None
    parameters, make = entry
    lower = _generated if obj is sum else _collected
    kept = obj in (np.array, np.asarray)  # these test that each item fits
    return make(scope, _bound(scope, node, parameters, [], loc, lower, as_lists=kept), loc)


def lower_primitive(scope: Scope, obj: object, values: Sequence[vals.Value], loc: Loc) -> vals.Value | None:
    """The value of a primitive, or a function of arrays, of these values; None where `obj` is none of those."""
    if (entry := _FUNCTIONS.get(obj)) is None:
        return None
    parameters, make = entry
    return make(scope, dict(zip(parameters, values, strict=False)), loc)


def lower_array_method(
    scope: Scope, owner: vals.ArrayRef | vals.Tensor | vals.Masked, name: str, node: ast.Call, loc: Loc
) -> vals.Value:
    """The value of a method of an array."""
    entry = _METHODS.get(name) or texts.method(name)
    if entry is None:
        raise UnsupportedError(f"the method {name!r} of {describe(owner)} cannot be compiled", loc,
                               "write it as a loop, or call it outside the compiled function")  # fmt: skip
    parameters, make = entry
    return make(scope, _bound(scope, node, parameters, [owner], loc), loc)


def _collected(
    scope: Scope, node: ast.expr, kinds: tuple[type[ast.expr], ...] = (ast.ListComp,)
) -> vals.Value:
    """An argument; a list of items is what NumPy makes an array of."""
    if not isinstance(node, kinds):
        return scope.lower(node)
    assert isinstance(node, ast.ListComp | ast.GeneratorExp)
    return collected(scope, node)


def _generated(scope: Scope, node: ast.expr) -> vals.Value:
    """An argument that a function takes item by item; a list without items is an empty tuple."""
    value = _collected(scope, node, (ast.ListComp, ast.GeneratorExp))
    return (
        vals.TupleValue(()) if isinstance(value, vals.ListSlots) and is_always_empty(scope, value) else value
    )


def _bound(
    scope: Scope,
    node: ast.Call,
    parameters: tuple[str, ...],
    given: list[vals.Value],
    loc: Loc,
    lower: Callable[[Scope, ast.expr], vals.Value] = _collected,
    *,
    as_lists: bool = False,
    takes_lists: bool = False,
) -> Arguments:
    """Argument values by parameter name. takes_lists: lists stay what they are. Raises UnsupportedError for what the
    function has no form for."""
    what = ast.unparse(node.func)
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        raise UnsupportedError("a starred argument cannot be compiled", loc, "write the arguments out")
    nodes = [_listed(n) for n in (*node.args, *(k.value for k in node.keywords))]
    values = [
        _unlisted(scope, node, value, loc, as_list=as_lists)
        if (lower is _collected or isinstance(value, vals.ListSlots)) and not takes_lists
        else value
        for node, value in zip(nodes, expressions.lower_operands(scope, nodes, lower), strict=True)
    ]
    positional = [*given, *values[: len(node.args)]]
    rest = next((k for k, name in enumerate(parameters) if name.startswith("*")), None)
    if rest is not None:  # one tuple, or its items
        parameters = tuple(name.removeprefix("*") for name in parameters)
        items = positional[rest:]
        if len(items) > 1 or (items and isinstance(items[0], vals.Number)):
            positional[rest:] = [vals.TupleValue(tuple(items))]
    if len(positional) > len(parameters):
        raise UnsupportedError(f"{what} with {len(node.args)} positional arguments cannot be compiled", loc)
    out = Bound(what, loc)
    out.update(zip(parameters, positional, strict=False))
    for keyword, value in zip(node.keywords, values[len(node.args) :], strict=True):
        if keyword.arg not in parameters:
            raise UnsupportedError(f"the argument {keyword.arg!r} of {what} cannot be compiled", loc)
        out[str(keyword.arg)] = value
    return out


def _unlisted(scope: Scope, node: ast.expr, value: vals.Value, loc: Loc, *, as_list: bool) -> vals.Value:
    """An argument, with a list as what NumPy makes an array of; as_list: of Python's numbers still."""
    if isinstance(value, vals.ListSlots):
        tensor = as_tensor(scope, value, loc)
        if value.of_tuples:
            leave_without_items(scope, tensor.extents[0], loc)
        return tensor
    if not vals.is_listed(value):
        return value
    tensor = as_tensor(scope, value, loc)
    is_made = isinstance(node, ast.ListComp | ast.GeneratorExp)
    if not is_made and any(isinstance(n, Load) and n.array.array.readonly for n in walk(tensor.element)):
        refuse_lists([value], loc)  # NumPy makes no numbers of bytes and texts
    return replace(tensor, python=as_list)


def _listed(node: ast.expr) -> ast.expr:
    """A list of shapes or arrays means what a tuple of them means."""
    if isinstance(node, ast.BinOp) and is_list(node):
        return _listed(tuple_in_place(node))
    if not isinstance(node, ast.List | ast.Tuple):
        return node
    return ast.copy_location(ast.Tuple([_listed(n) for n in node.elts], ast.Load()), node)


# ---------------------------------------------------------------- what the functions mean


def _reduction(name: str, scope: Scope, given: Arguments, loc: Loc, *, of_first: bool = False) -> vals.Value:
    """np.sum and its kin; of_first: along the first axis where none is given, as the methods of ufuncs."""
    over = along(given, loc)
    if of_first and "axis" not in given:
        over = replace(over, axes=(0,))
    mask, initial = given_mask(given.get("where")), given.get("initial")
    dtype, start = given_dtype(given.get("dtype"), loc), None if vals.is_none(initial) else initial
    found = reduce_array(scope, name, given["a"], loc, over, dtype, mask, start)
    return given_back(scope, given, found, loc)


def _flip(scope: Scope, given: Arguments, loc: Loc) -> vals.Value:
    tensor = as_tensor(scope, given["a"], loc)
    axes = integers(given.get("axis"), loc, "axis")
    reversed_axes = range(tensor.ndim) if axes is None else [normalised(n, tensor.ndim, loc) for n in axes]
    indices: dict[Symbol, Expr] = {}
    for k in reversed_axes:
        last = Binary("-", tensor.extents[k], integer(1, loc), loc=loc)
        indices[tensor.axes[k]] = Binary("-", last, Var(tensor.axes[k], loc=loc), loc=loc)
    return replace(tensor, element=substitute(tensor.element, indices))


def _expand_dims(scope: Scope, given: Arguments, loc: Loc) -> vals.Value:
    tensor = as_tensor(scope, given["a"], loc)
    axes = integers(given["axis"], loc, "axis") or ()
    for k in sorted(normalised(n, tensor.ndim + len(axes), loc) for n in axes):
        tensor = with_axis(scope, tensor, k, loc)
    return tensor


def _astype(scope: Scope, given: Arguments, loc: Loc) -> vals.Value:
    tensor = as_tensor(scope, given["a"], loc)
    dtype = given_dtype(given["dtype"], loc) or DType.FLOAT64
    if tensor.element.dtype.is_complex and not dtype.is_complex:
        raise TypeInferenceError(f"complex numbers cannot be made {dtype}", loc, "use z.real")
    if tensor.element.dtype is dtype:
        return materialise(scope, tensor, "copy", loc)
    return vals.Tensor(tensor.axes, tensor.extents, cast(tensor.element, dtype))


def _reshape(scope: Scope, given: Arguments, loc: Loc) -> vals.Value:
    tensor = as_tensor(scope, given["a"], loc)
    return reshaped(scope, tensor, array_creation.shape_from(scope, given["shape"], loc), loc)


def _flat(scope: Scope, given: Arguments, loc: Loc, *, copied: bool) -> vals.Value:
    tensor = as_tensor(scope, given["a"], loc)
    return ravelled(scope, tensor.copied() if copied else tensor, loc)


_REDUCED = ("a", "axis", "dtype", "out", "keepdims", "initial", "where")
_MEAN = ("a", "axis", "dtype", "out", "keepdims", "where")
_EXTREME = ("a", "axis", "out", "keepdims", "initial", "where")
_TRUTH = ("a", "axis", "out", "keepdims", "where")

_METHODS: dict[str, Entry] = {
    **array_reductions.METHODS,
    **scan_functions.METHODS,
    **array_tables.METHODS,
    **{name: (_REDUCED, partial(_reduction, name)) for name in ("sum", "prod")},
    "mean": (_MEAN, partial(_reduction, "mean")),
    **{name: (_EXTREME, partial(_reduction, name)) for name in ("min", "max")},
    **{name: (_TRUTH, partial(_reduction, name)) for name in ("any", "all")},
    "transpose": (("a", "*axes"), partial(reordered, np.transpose)),
    "swapaxes": (("a", "axis1", "axis2"), partial(reordered, np.swapaxes)),
    "copy": (
        ("a",),
        lambda scope, given, loc: materialise(scope, as_tensor(scope, given["a"], loc), "copy", loc),
    ),
    "astype": (("a", "dtype"), _astype),
    "fill": (("a", "value"), array_makers.fill),
    "reshape": (("a", "*shape"), _reshape),
    "ravel": (("a",), partial(_flat, copied=False)),
    "flatten": (("a",), partial(_flat, copied=True)),
}

_FUNCTIONS: dict[object, Entry] = {
    **array_reductions.FUNCTIONS, **scan_functions.FUNCTIONS, **array_tables.FUNCTIONS,
    primitives.each: (("function", "*arrays"), texts.each),
    primitives.by_index: (("shape", "element"), texts.by_index), primitives.refuse: (("message", "hint"), texts.refuse),
    primitives.as_list: (("items",), texts.as_list), primitives.as_text: (("items",), strings.as_text),
    primitives.left_unless: (("condition", "why"), texts.left_unless),
    **{
        ufunc.reduce: (_REDUCED, partial(_reduction, name, of_first=True))
        for ufunc, name in (*scan_functions.UFUNCS.items(), *scan_functions.BITWISE.items())
    },
    **{getattr(np, name): _METHODS[name] for name in (
        "sum", "prod", "mean", "min", "max", "any", "all", "transpose", "swapaxes", "copy",
    )},
    np.amin: _METHODS["min"], np.amax: _METHODS["max"],
    np.flip: (("a", "axis"), _flip), np.expand_dims: (("a", "axis"), _expand_dims),
    np.matmul: (("a", "b"), linear_algebra.matmul), np.linalg.matmul: (("a", "b"), linear_algebra.matmul),
    np.result_type: (("*arrays",), result_type),
    np.promote_types: (("*arrays",), result_type),
    np.finfo: (("type",), partial(type_limits, np.finfo)), np.iinfo: (("type",), partial(type_limits, np.iinfo)),
    np.ndim: (("a",), lambda scope, given, loc: python_number(as_tensor(scope, given["a"], loc).ndim, loc)),
    np.shape: (("a",), lambda scope, given, loc: shape_of(as_tensor(scope, given["a"], loc), loc)),
    **{f.outer: (("a", "b"), partial(linear_algebra.outer, op))
       for f, op in ((np.add, "+"), (np.subtract, "-"), (np.multiply, "*"))},
    np.reshape: (("a", "shape"), _reshape), np.ravel: (("a",), partial(_flat, copied=False)),
    np.concatenate: (("arrays", "axis"), partial(join, new_axis=False)),
    np.stack: (("arrays", "axis"), partial(join, new_axis=True)),
    np.zeros: (("shape", "dtype"), partial(new_array, 0)), np.ones: (("shape", "dtype"), partial(new_array, 1)),
    **{f: (("shape", "dtype"), partial(new_array, None)) for f in (np.empty, np.ndarray)},
    np.full: (("shape", "fill_value", "dtype"), partial(new_array, None)),
    np.zeros_like: (("a", "dtype"), partial(new_array, 0)), np.ones_like: (("a", "dtype"), partial(new_array, 1)),
    np.empty_like: (("a", "dtype"), partial(new_array, None)),
    np.full_like: (("a", "fill_value", "dtype"), partial(new_array, None)),
    np.arange: (("start", "stop", "step", "dtype"), arange),
}  # fmt: skip
