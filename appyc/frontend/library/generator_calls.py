"""Calls that draw random numbers: a generator's method is a text of `library/`, inlined."""

from __future__ import annotations

import ast
import inspect
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import BuiltinFunctionType, FunctionType, MethodType

import numpy as np

from appyc.errors import CompileError, LibraryCallError, Loc, TypeInferenceError
from appyc.frontend.access import AccessPath
from appyc.frontend.arrays.tensors import as_tensor
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.expressions.inlining import bind, inlined
from appyc.frontend.library import generator_state as state
from appyc.frontend.library.made_generators import looked_at, lower_bits_method, next_of, of_text
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import walk
from appyc.frontend.types import values as vals
from appyc.frontend.types.made_values import MadeGenerator, MadeMethod, made_generator
from appyc.frontend.types.numbers import as_dtype
from appyc.ir.draw_functions import DRAWS
from appyc.ir.nodes import Draw, Expr, Load
from appyc.ir.types import DType, Layout
from appyc.library import (
    bit_generators,
    distributions,
    drawn_arrays,
    legacy_distributions,
    python_random,
    sampling,
)

Arguments = dict[str, vals.Value]

_MODULE_GENERATORS = ((np.random.mtrand, "_rand"), (random, "_inst"))
"""The generators that functions of modules share, so that calls of several are draws from one."""


_MODULES = (sampling, distributions, legacy_distributions, python_random)
"""Modules with the texts of generators' methods."""

_READERS = ("list", "sorted", "sum", "min", "max", "len")
"""Functions for which an array is as good as a list."""


@dataclass(frozen=True, slots=True)
class OneOf(vals.Opaque):
    """A generator in a list or tuple of them. obj: one of that kind; root: where the list is found."""

    index: Expr | None = None


def generator_of(scope: Scope, callee: vals.Opaque) -> vals.Opaque | None:
    """The generator that a method is bound to."""
    owner = getattr(callee.obj, "__self__", None)
    if state.kind_of(owner) is None or not isinstance(callee.obj, MethodType | BuiltinFunctionType):
        return None
    root = None
    if callee.root is not None:
        kind, _ = callee.root.steps[-1]
        # One generator has one path, whichever of its methods is called: two paths would be two generators.
        root = (
            AccessPath(callee.root.steps[:-1]) if kind == "method" else callee.root.step("attr", "__self__")
        )
    for module, name in _MODULE_GENERATORS:
        if owner is getattr(module, name):
            if root is not None:
                scope.names.environment.depend(root, owner)
            root = AccessPath((("module", module.__name__), ("attr", name)))
    return vals.Opaque(owner, root)


def is_generators(owner: vals.Opaque) -> bool:
    """Whether it is a list of generators that is found again at the next call."""
    is_list = owner.root is not None and isinstance(owner.obj, list | tuple)
    return is_list and state.kind_of_all(owner.obj) is not None


def one_of(owner: vals.Opaque, index: vals.Number) -> OneOf:
    """`rngs[i]` of such a list."""
    assert isinstance(owner.obj, list | tuple)
    return OneOf(owner.obj[0], owner.root, arithmetic.cast(index.expr, DType.INT64))


def lower_method(scope: Scope, node: ast.Call, owner: vals.Opaque, name: str, loc: Loc) -> vals.Value | None:
    """The value of a call of a generator's method; None for a method in Python's library that is text itself."""
    kind = state.kind_of(owner.obj)
    fn = _text_of(f"{kind}_{name}")
    if kind == state.PYTHON and fn is None and isinstance(getattr(type(owner.obj), name, None), FunctionType):
        return None
    if fn is None or owner.root is None:
        raise LibraryCallError(f"{ast.unparse(node.func)} cannot be compiled: only the library has it", loc,
                               "call it before the loop")  # fmt: skip
    with or_library(node, loc):
        return _drawn(scope, node, owner, fn, name, loc)


def lower_made_method(scope: Scope, node: ast.Call, method: MadeMethod, loc: Loc) -> vals.Value:
    """The value of a call of a method of a generator, or bit generator, that the program makes inside a
    loop."""
    bits, name = method.owner, method.name
    if not bits.draws:
        return lower_bits_method(scope, node, bits, name, loc)
    fn = _text_of(f"{state.NUMPY}_{name}")
    try:
        if fn is None:
            raise TypeInferenceError("only the library has it", loc)
        return _drawn(scope, node, vals.Opaque(bits), fn, name, loc)
    except CompileError as error:
        raise LibraryCallError(
            f"{ast.unparse(node.func)} of a generator that a loop makes cannot be compiled: {error.summary}", loc,
            "random, uniform, normal, exponential, lognormal, integers, choice and permutation can; for others, "
                   "make the generators before the loop with spawn, one for each iteration",
        ) from None  # fmt: skip


@contextmanager
def or_library(node: ast.Call, loc: Loc) -> Iterator[None]:
    """Turns a CompileError of a method call, such as one for array arguments, into LibraryCallError, which
    Python runs."""
    try:
        yield
    except CompileError as error:
        raise LibraryCallError(f"{ast.unparse(node.func)} cannot be compiled here: {error.summary}", loc,
                               "draw before the loop, or draw numbers one by one") from None  # fmt: skip


def _drawn(
    scope: Scope, node: ast.Call, owner: vals.Opaque, fn: FunctionType, name: str, loc: Loc
) -> vals.Value:
    if name in distributions.BY_LENGTHS:
        dims = expressions.lower_operands(scope, node.args)
        if node.keywords:
            raise TypeInferenceError(f"{name} takes no keyword arguments", loc)
        given: Arguments = {"size": vals.TupleValue(tuple(dims))} if dims else {}
    else:
        given = bind(scope, node, name, _signature(fn), owner, loc, looked_at)
    for parameter, value in given.items():
        if state.kind_of(owner.obj) != state.PYTHON and (
            (isinstance(value, vals.ListSlots) and name != "shuffle")
            or (isinstance(value, vals.TupleValue) and parameter in ("a", "x", "p"))
        ):
            array: Arguments = {"a": as_tensor(scope, value, loc)}
            given[parameter] = inlined(scope, drawn_arrays.as_array, array, loc, trusted=False)
    population = given.get("population")
    has_python_items = _has_python_items(population)
    if population is not None and not (has_python_items and _is_looked_at(scope, node)):
        raise TypeInferenceError("a list of this is made in Python", loc)
    parameters = inspect.signature(fn).parameters
    arguments = {
        n: given.get(n, owner if n == "rng" else scope.names.constant(p.default, None, loc))
        for n, p in parameters.items()
    }
    if fn.__module__ == sampling.__name__:
        chosen = inlined(scope, fn, arguments, loc)
        return chosen if population is None else replace(as_tensor(scope, chosen, loc), python=True)
    size, out, dtype = (None if vals.is_none(given.get(n)) else given[n] for n in ("size", "out", "dtype"))
    result = _result(name, dtype, loc)
    if result is np.float32:
        fn = getattr(distributions, f"{name}_float32")
    if size is None and out is None:
        return inlined(scope, fn, arguments, loc, trusted=False)
    if out is None:
        assert size is not None
        lengths = size.items if isinstance(size, vals.TupleValue) else (size,)
        shape: Arguments = {"shape": vals.TupleValue(tuple(lengths)), "dtype": vals.Opaque(np.dtype(result))}
        out = inlined(scope, drawn_arrays.empty, shape, loc, trusted=False)
    if not isinstance(out, vals.ArrayRef) or out.symbol.array.layout is not Layout.C or out.index:
        raise TypeInferenceError("the array to fill must be contiguous", loc)
    if out.symbol.dtype.numpy != result or not 1 <= out.ndim <= len(drawn_arrays.FILLED):
        raise TypeInferenceError(f"an array of {out.symbol.dtype} with {out.ndim} axes is not filled", loc)
    args = vals.TupleValue(tuple(v for n, v in arguments.items() if n != "rng"))
    inlined(
        scope,
        drawn_arrays.FILLED[out.ndim - 1],
        {"draw": vals.Opaque(fn), "rng": owner, "args": args, "out": out},
        loc,
        trusted=False,
    )
    return out


def _signature(fn: FunctionType) -> inspect.Signature:
    """The method's parameters as NumPy has them: size, dtype and out are the same of all methods."""
    parameters = list(inspect.signature(fn).parameters.values())
    if fn.__name__.startswith(state.PYTHON) or fn.__module__ == sampling.__name__:
        return inspect.Signature(parameters)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    after = [p for p in parameters if p.name in distributions.AFTER_SIZE]
    size, dtype, out = (inspect.Parameter(n, kind, default=None) for n in ("size", "dtype", "out"))
    return inspect.Signature([*(p for p in parameters if p not in after), size, dtype, *after, out])


def _has_python_items(population: vals.Value | None) -> bool:
    """Whether all items of a list, tuple or range are numbers of one of Python's types."""
    match population:
        case vals.TupleValue(items=items):
            types = {item.type if isinstance(item, vals.Number) else None for item in items}
            return len(types) == 1 and isinstance(items[0], vals.Number) and items[0].python
        case vals.ListSlots() as slots:
            return not slots.of_tuples and slots.kinds[0].python
        case _:
            return isinstance(population, vals.Tensor) and population.python


def _is_looked_at(scope: Scope, node: ast.Call) -> bool:
    """Whether the list that a call gives is indexed at once, run over, unpacked or copied: it is as good as an array
    then."""
    for around in walk(scope.source.ast):
        match around:
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice):
                found = value is node
            case (
                ast.For(iter=value)
                | ast.comprehension(iter=value)
                | ast.Assign(targets=[ast.Tuple()], value=value)
            ):
                found = value is node
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found = value is node and name in scope.list_names
            case ast.Call(func=ast.Name(id=name), args=[value]) if name in _READERS:
                found = value is node and name not in scope.locals
            case _:
                found = False
        if found:
            return True
    return False


def _text_of(name: str) -> FunctionType | None:
    """The text of a method, by kind and name."""
    texts = (getattr(module, name, None) for module in _MODULES)
    return next((text for text in texts if text is not None), None)


def _result(name: str, dtype: vals.Value | None, loc: Loc) -> type[np.generic]:
    """The type of an array of such numbers."""
    usual: type[np.generic] = np.int64 if name in distributions.INTEGERS else np.float64
    if dtype is None:
        return usual
    asked = as_dtype(dtype.obj) if isinstance(dtype, vals.Opaque) else None
    has_short = name in ("random", "standard_normal", "standard_exponential")
    if asked is not None and (asked.numpy == usual or (has_short and asked is DType.FLOAT32)):
        return asked.numpy.type
    raise TypeInferenceError("numbers of this dtype are drawn by the library", loc)


def lower_primitive(
    scope: Scope, node: ast.Call, what: distributions.Primitive | distributions.Stored, loc: Loc
) -> vals.Value:
    """A draw, or a part of a generator's state, in the text of `library/distributions.py`."""
    owner, *values = expressions.lower_operands(scope, node.args)
    assert isinstance(owner, vals.Opaque)
    if (bits := made_generator(owner)) is not None:
        return _drawn_from_made(scope, bits, what, values, loc)
    assert owner.root is not None
    kind = state.kind_of(owner.obj)
    step = state.GENERATOR if isinstance(what, distributions.Primitive) else what.step
    if kind is None or not state.has_part(step, kind):
        raise TypeInferenceError("where this generator has its state is not known", loc)
    array = scope.names.environment.capture(
        owner.root.step(step, kind), state.part_of(owner.obj, step, kind), loc
    )
    assert isinstance(array, vals.ArrayRef)
    if isinstance(what, distributions.Stored):
        if isinstance(owner, OneOf):
            raise TypeInferenceError("lists of such generators are drawn from in Python", loc)
        return array
    index = owner.index if isinstance(owner, OneOf) and owner.index is not None else None
    position = index if index is not None else arithmetic.const(0, DType.INT64, loc)
    where = Load(array.symbol, (position,), checked=index is not None, loc=loc)
    args = tuple(n.expr for n in _arguments(what.name, values, loc))
    return vals.Number(scope.temp("drawn", Draw(what.name, where, args, loc=loc)), python=True)


def _arguments(name: str, values: list[vals.Value], loc: Loc) -> list[vals.Number]:
    wanted = DRAWS[name].arguments
    return [
        vals.Number(
            arithmetic.cast(expressions.number(v, loc, "an argument").expr, dtype),
            python=dtype is DType.FLOAT64,
        )
        for v, dtype in zip(values, wanted, strict=True)
    ]


def _drawn_from_made(
    scope: Scope,
    bits: MadeGenerator,
    what: distributions.Primitive | distributions.Stored,
    values: list[vals.Value],
    loc: Loc,
) -> vals.Value:
    """The number that a primitive draws from a generator that the program makes."""
    assert isinstance(what, distributions.Primitive)
    found = next_of(scope, bits, what.name, loc)
    if found is not None:
        return found
    if not hasattr(bit_generators, what.name):
        raise TypeInferenceError("only the library has the distribution", loc)
    return of_text(scope, what.name, [vals.Opaque(bits), *_arguments(what.name, values, loc)], loc)
