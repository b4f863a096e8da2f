"""Lowers a Python function for given argument types to analysed IR, with variants for aliased arguments."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING

from appyc.compiler.deep_recursion import deep_recursion
from appyc.compiler.requests import Request
from appyc.errors import defects_of
from appyc.frontend.access import AccessPath, fetch
from appyc.frontend.field_cells import CELL
from appyc.frontend.source import Source
from appyc.ir.aliasing import Sharing
from appyc.ir.arguments import ArgType, ScalarArg
from appyc.ir.types import ArrayType, DType
from appyc.options import Options
from appyc.runtime.signature import typeof_captured

if TYPE_CHECKING:
    from appyc.ir.nodes import Function
    from appyc.passes.pass_context import PassContext, Remark


@dataclass(frozen=True, slots=True)
class CompiledFor:
    """The captures and dependencies that a version was compiled for, beside its argument types.

    captures: where its hidden arguments are found at a call, and their types. watched:
    values from outside that are built into it. libraries: such as a program does not bind to others while it runs.
    """

    captures: tuple[AccessPath, ...]
    capture_types: tuple[ArgType, ...]
    watched: tuple[tuple[AccessPath, object], ...]
    libraries: tuple[tuple[AccessPath, object], ...] = ()

    @property
    def is_hosts(self) -> bool:
        """Whether calls assign fields of objects, or take lists."""
        lists = (isinstance(type_, ArrayType) and type_.is_list for type_ in self.capture_types)
        return any(lists) or any(path.steps[-1][0] == CELL for path in self.captures)


@dataclass(frozen=True, slots=True)
class Analysed:
    """A function in IR, ready for a generator.

    plain: right for any arguments, all accesses checked, no loop parallel. function: the
    same, analysed. arguments: the types of the given arguments, then of the captures, then of
    `hidden` ones that tell how arrays share memory.
    """

    plain: Function
    function: Function
    arguments: tuple[ArgType, ...]
    outside: CompiledFor
    context: PassContext
    hidden: int = 0

    @property
    def vector_functions(self) -> frozenset[str]:
        """The vector functions of the C library that the function's code may call."""
        from appyc.runtime import toolchain  # noqa: PLC0415  (not needed on a warm start)

        return toolchain.vector_functions(self.function, self.context.options)

    def for_c(self, remarks: list[Remark] | None = None) -> Function:
        """The analysed function as C is written from it. remarks: takes what there is to say of that."""
        from appyc import pipeline  # noqa: PLC0415  (not needed on a warm start)
        from appyc.passes.pass_context import PassContext  # noqa: PLC0415  (nor is this)

        found = [] if remarks is None else remarks
        context = PassContext(self.context.options, found, self.vector_functions, asked=self.context.asked)
        return pipeline.run(self.function, pipeline.FOR_C, context)


@deep_recursion()
def analyse(
    fn: FunctionType, source: Source, wanted: Request, options: Options, simple: Analysed | None = None
) -> Analysed:
    """IR for a request. Raises CompileError for what cannot be compiled or may not run in parallel.

    simple: what `simplified` gives for it, where that is known.
    """
    from appyc import pipeline  # noqa: PLC0415  (isl and the passes are not needed on a warm start)

    if simple is None:
        simple = simplified(fn, source, wanted, options)
    if options.schedule:
        from appyc.compiler.given_schedule import as_given  # noqa: PLC0415  (few functions have one)

        function, context = as_given(simple.function, simple.context)
        return replace(simple, function=function, context=context)
    return replace(simple, function=pipeline.run(simple.function, pipeline.ANALYSE, simple.context))


@deep_recursion()
def simplified(
    fn: FunctionType, source: Source, wanted: Request, options: Options, *, may_call: bool = True
) -> Analysed:
    """The lowered and simplified function before analysis, from which all but the usual version start.

    may_call: whether code for a CPU may call functions that could be inlined.
    """
    from appyc import pipeline  # noqa: PLC0415  (as above)
    from appyc.frontend.lower import ObjectArg, lower_function  # noqa: PLC0415
    from appyc.passes.pass_context import PassContext  # noqa: PLC0415

    objects = wanted.objects
    given = {n: ObjectArg(objects[n]) if n in objects else t for n, t in wanted.types.items()}
    with defects_of("the front end"):
        # A program of one lane on a GPU is slower than the library's; with `exact`, a text may round otherwise.
        is_on_gpu = options.target in ("gpu", "interpret")
        texts_from = math.inf if options.libraries or options.exact else int(is_on_gpu)
        may_call = may_call and texts_from == 0
        lowered = lower_function(fn, source, given, typeof_captured, texts_from=texts_from, may_call=may_call)
    context = _context_of(lowered.function, options)
    function = plain = pipeline.run_all(lowered.function, pipeline.SIMPLIFY, context)
    if not options.boundscheck:
        plain = pipeline.run_all(plain, pipeline.UNCHECKED, PassContext(options))
    hidden = tuple(
        typeof_captured(fetch(fn, c.path, objects), str(c.path), function.loc) for c in lowered.captures
    )
    outside = CompiledFor(
        tuple(c.path for c in lowered.captures),
        hidden,
        tuple((d.path, d.value) for d in lowered.dependencies if d.watched),
        tuple((d.path, d.value) for d in lowered.dependencies if not d.watched),
    )
    return Analysed(plain, function, (*wanted.types.values(), *hidden), outside, context)


def fused(simple: Analysed) -> Analysed:
    """The function with its loop nests fused."""
    from appyc import pipeline  # noqa: PLC0415  (as above)

    return replace(simple, function=pipeline.run(simple.function, pipeline.FUSE, simple.context))


def _context_of(fn: Function, options: Options) -> PassContext:
    """A context for passes, with what finding out about a function may cost."""
    from appyc.analysis.sets.allowance import Allowance  # noqa: PLC0415  (as above)
    from appyc.ir.visit import walk  # noqa: PLC0415
    from appyc.passes.pass_context import PassContext  # noqa: PLC0415

    size = sum(1 for _ in walk(fn))
    return PassContext(options, allowance=Allowance.of(size), trials=Allowance.of(size))


def analyse_units(analysed: Analysed, units: frozenset[tuple[int, int]]) -> Analysed | None:
    """The function analysed for arguments of which these axes, and no others, have length 1.

    None where the usual version is as right for them as for any arguments.
    """
    from appyc import pipeline  # noqa: PLC0415  (as above)
    from appyc.ir.array_accesses import passed_arrays  # noqa: PLC0415
    from appyc.passes.simplify.specialise_broadcast import depends_on_units, specialise_broadcast  # noqa: PLC0415

    if passed_arrays(analysed.plain.body) or not depends_on_units(analysed.plain, units):
        return None
    context = _context_of(analysed.plain, analysed.context.options)
    function = specialise_broadcast(analysed.plain, context, units)
    return replace(analysed, function=pipeline.run(function, pipeline.ANALYSE, context), context=context)


def analyse_shared(analysed: Analysed, sharing: Sharing) -> Analysed | None:
    """The function analysed for arguments that share memory in this way, its hidden arguments at the end.

    None where there is no such version: the plain function is right for any arguments.
    """
    from appyc import pipeline  # noqa: PLC0415  (as above)
    from appyc.ir.array_accesses import passed_arrays  # noqa: PLC0415
    from appyc.passes.simplify.merge_aliases import merge_aliases, why_not_shared  # noqa: PLC0415

    options = analysed.context.options
    if passed_arrays(analysed.plain.body):
        return None
    if not options.auto:
        return None  # loops run in parallel only where a pragma asks, and it asks for arrays that are apart
    context = _context_of(analysed.plain, options)
    function = analysed.plain
    if any(group.offsets is not None for group in sharing):
        function = pipeline.run(function, pipeline.PROVE_BOUNDS, context)
    if why_not_shared(function, sharing) is not None:
        return None
    shared = merge_aliases(function, context, sharing)
    hidden = tuple(
        p.type if isinstance(p.type, ArrayType) else ScalarArg(DType.INT64, python=True)
        for p in shared.params[len(function.params) :]
    )
    function = pipeline.run(shared, pipeline.ANALYSE, context)
    arguments = (*analysed.arguments, *hidden)
    return replace(analysed, function=function, arguments=arguments, context=context, hidden=len(hidden))
