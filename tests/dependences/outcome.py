"""What appyc makes of each loop of the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import appyc
from appyc.api import JitFunction
from appyc.compiler.analyse import Analysed, analyse_shared
from appyc.ir.nodes import For, LoopMode
from appyc.ir.visit import arrays_written, loops_of
from appyc.report.explain import report
from appyc.runtime.shared_views import describe_sharing
from tests.dependences import annotated, combining, indexed, straight
from tests.dependences.corpus import Loop
from tests.e2e.harness import small_chunks

SMALL = 37

MODULES = {
    "straight": straight.LOOPS,
    "indexed": indexed.LOOPS,
    "combining": combining.LOOPS,
    "annotated": annotated.LOOPS,
}


def all_loops() -> list[Loop]:
    return [loop for module in MODULES.values() for loop in module.loops]


@dataclass(frozen=True)
class Outcome:
    """verdicts and modes: of every loop of the function, outer ones first, after all passes.

    refused: the error's code and sentence, where the function does not compile.
    """

    loop: Loop
    verdicts: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    refused: str = ""
    analysed: Analysed | None = None

    @property
    def runs_parallel(self) -> bool:
        """Whether some loop of it runs on threads or lanes."""
        return any(mode != "sequential" for mode in self.modes)


def outcome(loop: Loop) -> Outcome:
    """The analysis for arguments of the types that the loop is made for."""
    arguments = loop.arguments(SMALL)
    jitted = appyc.jit(cache=False, target="cpu")(loop.fn)
    assert isinstance(jitted, JitFunction)
    with small_chunks():
        try:
            found = jitted.explain(*arguments)
        except appyc.CompileError as error:
            return Outcome(loop, refused=f"{error.code}: {error.summary}")
        analysed = jitted._analyse(jitted._wanted(arguments, {}))
        if loop.family == "overlapping":
            analysed = _for_shared_memory(analysed, arguments)
            found = report(analysed, jitted._text(), "cpu")
    records = [r for r in found.loops if r.within is None]
    loops = [f for f in loops_of(analysed.function) if f.var not in analysed.context.parts]
    return Outcome(
        loop,
        tuple(_verdict_text(r.verdict, f, analysed) for r, f in zip(records, loops, strict=True)),
        tuple(_mode_text(f, analysed) for f in loops),
        tuple(r.reason for r in records),
        analysed=analysed,
    )


def _for_shared_memory(analysed: Analysed, arguments: tuple[object, ...]) -> Analysed:
    """The version that runs for arguments which overlap as these do."""
    written = arrays_written(analysed.function.body)
    numbers = frozenset(k for k, p in enumerate(analysed.function.params) if p in written)
    found = describe_sharing(arguments, numbers, any_distance=False)
    assert found is not None
    shared = analyse_shared(analysed, found.sharing)
    assert shared is not None
    return shared


def unordered(found: Outcome) -> Iterator[tuple[int, For]]:
    """The loops that may run in any order (within `safelen` iterations), with their numbers in
    the function. Lanes in step keep an order."""
    if found.analysed is not None:
        for number, loop in enumerate(loops_of(found.analysed.function)):
            if loop.mode is not LoopMode.SEQUENTIAL and not loop.in_step:
                yield number, loop


def _mode_text(loop: For, analysed: Analysed) -> str:
    if loop.var in analysed.context.parts.values():
        return "scan"
    if loop.in_step:
        return "simd in step"
    if analysed.function.schedule[loop.var].skew is not None:
        return "wave"
    return loop.mode.value + ("" if loop.safelen is None else f" up to {loop.safelen}")


def _verdict_text(verdict: str, loop: For, analysed: Analysed) -> str:
    change = analysed.context.changes.get(loop.var)
    return verdict if change is None else f"{verdict} {change}"
