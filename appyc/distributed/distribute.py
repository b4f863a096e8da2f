"""A call over Dask's arrays as a graph of tasks: the program runs here, its loop nests become tasks over blocks.

Loops around nests run while the graph is written, so that each of their iterations is a layer of tasks. The blocks of a
nest are taken in the order of the program, and each reads the arrays as the blocks before it left them. So a task
depends on those alone that wrote what it reads: blocks of a parallel loop are independent, and those of a loop that
carries dependences form a wavefront. Scalars into which a nest combines elements are trees of tasks, of the same shape
for the same chunks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, cast

import dask.array as da
import numpy as np
from dask.base import tokenize

from appyc.analysis.sets.evaluate import hold
from appyc.compiler.analyse import Analysed
from appyc.distributed.block_tasks import DependsOnTasksError, Plans, Prepared
from appyc.distributed.chunk_choice import chosen_chunks, have_one_memory
from appyc.distributed.chunk_grids import Graph, Grid, Grids, Task
from appyc.distributed.dask_arrays import array_of, fuse_tasks, number_of
from appyc.distributed.kernels import Maker
from appyc.distributed.plan import Counting, Plan
from appyc.distributed.program import Program
from appyc.distributed.scattering import accesses_by_array
from appyc.distributed.time_tiles import TimeTiled
from appyc.errors import Note, UnsupportedError
from appyc.ir.array_accesses import AccessNode
from appyc.ir.nodes import Function, Load, Symbol
from appyc.ir.printer import print_function
from appyc.ir.raising import never_left
from appyc.ir.results import CONTAINERS, DictOf, ListOf, MadeOf, NoneOr, ResultTree, ViewOf, nested
from appyc.ir.visit import arrays_written
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.reduce_remainders import reduce_remainders
from appyc.passes.simplify.simplify_div_mod import simplify_div_mod
from appyc.passes.simplify.substitute_induction import substitute_induction


def is_chunked(value: object) -> bool:
    """Whether a value is an array of Dask's."""
    return type(value).__module__.startswith("dask.array") and hasattr(value, "__dask_graph__")


def stand_in(value: object) -> object:
    """A small array of the type that blocks of a chunked array have; another value is itself."""
    return np.empty((2,) * value.ndim, value.dtype) if is_chunked(value) else value  # type: ignore[attr-defined]


@dataclass(slots=True)
class Chunked:
    """A function for chunked arguments of some types. forms: of its program: with fused nests, with closed forms alone,
    and as it is. A call takes the first whose guards hold. text: of the function. plans: those of the last call, behind
    what they depend on."""

    analysed: Analysed
    make: Maker
    options: Options
    forms: tuple[Prepared, ...] = field(init=False)
    text: str = field(init=False)
    plans: tuple[object, Plans] = (None, Plans())

    def __post_init__(self) -> None:
        plain = better = self.analysed.plain
        for rewrite in (simplify_div_mod, reduce_remainders, substitute_induction):
            better = rewrite(better, PassContext(self.options))
        functions = map(never_left, (self.analysed.function, better, plain))
        self.forms = tuple(Prepared.of(fn, self.options) for fn in functions)
        self.text = print_function(plain)

    def form(self, values: Mapping[Symbol, Any]) -> Prepared:
        return next(form for form in self.forms if hold(form.fn.guards, values))

    def plans_of(self, form: Prepared, grids: Grids, values: Mapping[Symbol, Any], graph: Graph) -> Plans:
        """The plans of a call: those of the last call, if its form, chunks and numbers are the same."""
        numbers = [v for s, v in values.items() if not s.is_array]
        of = id(form), [(grid.chunks, type(grid.meta)) for grid in grids.values()], numbers, graph.shares
        known = self.plans  # other threads may replace them
        if known[0] != of:
            known = self.plans = of, Plans()
        return known[1]


def _items(values: Iterable[Any]) -> Iterator[Any]:
    """The arguments that are parameters: those in tuples, and none that are None."""
    for value in values:
        if isinstance(value, tuple):
            yield from _items(value)
        elif value is not None:
            yield value


def _access(fn: Function, array: Symbol, *, writes: bool) -> AccessNode:
    """The first access of an array, or the first that writes."""
    accesses = accesses_by_array(fn.body, [array])[array]
    return next(n for n in accesses if not writes or not isinstance(n, Load))


def _begun(chunked: Chunked, named: Mapping[str, Any]) -> tuple[Program, dict[Symbol, Any]]:
    """The program before it runs, and its arrays."""
    analysed = chunked.analysed
    fn = analysed.plain
    items = list(_items(named.values()))
    if analysed.outside.captures or fn.callees or len(fn.params) != len(items):
        raise UnsupportedError(f"{fn.name!r} takes more from outside than arrays and numbers", fn.loc,
                               "pass all arrays as arguments")  # fmt: skip
    values = dict(zip(fn.params, items, strict=True))
    given = {s: v for s, v in values.items() if s.is_array}
    token = tokenize(chunked.text, *values.values())
    written, used = arrays_written(fn), accesses_by_array(fn.body, given)
    for symbol, value in sorted(given.items(), key=lambda pair: -getattr(pair[1], "size", 0)):
        if not is_chunked(value):
            if symbol in written:
                raise UnsupportedError(
                    f"{symbol.name!r} is written and is no array of Dask's", _access(fn, symbol, writes=True).loc,
                    f"pass dask.array.from_array({symbol.name}, chunks=...)",
                )  # fmt: skip
            beside = [side for other in given.values() if is_chunked(other) for side in other.chunks]
            chunks = chosen_chunks(fn.body, symbol, np.shape(value), beside)
            given[symbol] = da.from_array(value, chunks, name=f"given-{symbol.name}-{token}")
    for one, other in itertools.permutations(given, 2):
        if given[one] is given[other] and one in written and other in used:
            write, access = _access(fn, one, writes=True), _access(fn, other, writes=False)
            verb = "reads" if isinstance(access, Load) else "writes to"
            raise UnsupportedError(
                f"one array is the arguments {one.name!r} and {other.name!r} of {fn.name!r}, which writes to it",
                write.loc, "pass a copy of it for one of the two", label=f"writes to it as {one.name!r}",
                related=(Note(access.loc, f"{verb} it as {other.name!r}"),),
            )  # fmt: skip
    for symbol, value in given.items():
        if np.isnan(value.shape).any():
            raise UnsupportedError(f"the sizes of the chunks of {symbol.name!r} are not known", fn.loc)
    shares = have_one_memory(sum(array.nbytes for array in given.values()))
    graph = Graph(token, [copy(array) for array in given.values()], shares)
    form, grids = chunked.form(values | given), {s: Grid(s.name, a, graph) for s, a in given.items()}
    plans = chunked.plans_of(form, grids, values, graph)
    program = TimeTiled(form, graph, grids, dict(values), chunked.make, chunked.options, plans=plans)
    return program, given


def planned(chunked: Chunked, named: Mapping[str, Any]) -> Plan:
    """The plan of a call: its layers of tasks, and the bytes that they move."""
    call, _ = _begun(chunked, named)
    call.counting, is_complete = Counting(), True
    try:
        call.block(call.fn.body)
    except DependsOnTasksError:
        is_complete = False
    fuse_tasks(call.graph, [task.key for task in call.computed.values()], call.grids.values())
    return call.counting.plan(call.fn.name, call.graph, is_complete=is_complete)


class _Results(dict[int, object]):
    """The results of a call by their numbers, found when they are asked for."""

    def __init__(self, find: Callable[[int], object]) -> None:
        super().__init__()
        self.find = find

    def __missing__(self, number: int) -> object:
        return self.setdefault(number, self.find(number))


def _is_of_results(tree: ResultTree) -> bool:
    """Whether a returned value is made of results as they are, and not of their elements."""
    match tree:
        case tuple() | DictOf():
            return all(map(_is_of_results, tree.items if isinstance(tree, DictOf) else tree))
        case NoneOr(value=value):
            return _is_of_results(value)
        case MadeOf(makes, items) if makes not in CONTAINERS:  # a named tuple
            return _is_of_results(items)
        case _:
            return not isinstance(tree, ViewOf | ListOf | MadeOf)


def distribute(chunked: Chunked, named: Mapping[str, Any]) -> object:
    """Rebinds the chunked arguments that the function writes to arrays that Dask computes, and gives its result.

    Raises UnsupportedError, with its location, for what cannot be distributed.
    """
    call, given = _begun(chunked, named)
    fn = call.fn
    refused = UnsupportedError("a distributed function returns numbers and arrays", fn.loc)
    if not _is_of_results(fn.tree):
        raise refused
    call.block(fn.body)
    scalars: dict[int, Any] = {}

    def number(at: int) -> object:
        """A result that is no array. One that is not asked for need not have a value."""
        value = fn.results[at].value
        if value is not None and not isinstance(value, Symbol) and at not in scalars:
            scalars[at] = call.scalar(value)
        return scalars.get(at)

    nested(fn.tree, cast("Sequence[object]", _Results(number)))
    keys = {scalar.key for scalar in scalars.values() if isinstance(scalar, Task)}
    call.raising -= keys
    if not call.raising:  # else there is more to run
        fuse_tasks(call.graph, keys, call.grids.values())
    for position, (symbol, array) in enumerate(given.items()):
        if call.grids[symbol].is_changed:
            new = array_of(f"{fn.name}-{symbol.name}-{position}", call.grids[symbol])
            array.dask, array._name, array._chunks = new.dask, new._name, new._chunks  # as `__setitem__` does
    made: dict[Symbol, Any] = {}

    def result(at: int) -> object:
        found = fn.results[at]
        value = found.value
        if isinstance(value, Symbol):
            if value in given:
                return given[value]
            if value not in call.grids:
                raise refused
            if value not in made:
                made[value] = array_of(f"{fn.name}-{value.name}-{value.uid}", call.grids[value])
            return copy(made[value])
        if value is None:
            raise refused
        scalar = number(at)
        if not isinstance(scalar, Task):
            return scalar if found.python else value.dtype.numpy.type(scalar)
        return number_of(f"{fn.name}-result-{at}", scalar.key, value.dtype.numpy, call.graph)

    out = nested(fn.tree, cast("Sequence[object]", _Results(result)))
    call.run_raising()
    return out
