"""Work that the targets of one program share: lowering, passes that do not depend on the target, and gcc's output.

Only `parallel_scan` and the passes after it depend on the constants that `tests.e2e.harness.settings` replaces.
Compiled code is found by its text and the compiler's flags, also by other processes and later runs.
"""

from __future__ import annotations

import contextlib
import copy
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from types import FunctionType
from typing import TypeVar
from unittest import mock

from appyc import pipeline
from appyc.compiler import analyse as analyses
from appyc.compiler import cpu
from appyc.compiler.analyse import Analysed
from appyc.compiler.requests import Request
from appyc.frontend.source import Source
from appyc.ir.nodes import Function
from appyc.ir.verify import check
from appyc.options import Options
from appyc.passes.parallelise.parallel_scan import parallel_scan
from appyc.passes.pass_context import PassContext
from appyc.runtime import toolchain

T = TypeVar("T")

BUILT = Path(__file__).parents[2] / "build" / "tests"
"""Where compiled code is kept between runs."""

COMMON = pipeline.ANALYSE[: pipeline.ANALYSE.index(parallel_scan)]
"""The passes with one result on all processors, and one on all GPUs."""

_KEPT = 4


class SharedAnalyses:
    """Analysed functions of the last calls, by function, argument types and options, for processors and for GPUs."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Analysed] = OrderedDict()

    def simplified(self, fn: FunctionType, source: Source, wanted: Request, options: Options) -> Analysed:
        """As `appyc.compiler.analyse.simplified`."""

        def make() -> Analysed:
            return analyses.simplified(fn, source, wanted, options)

        return self._once(make, "simplified", fn, wanted, options)

    def analyse(self, fn: FunctionType, source: Source, wanted: Request, options: Options) -> Analysed:
        """As `appyc.compiler.analyse.analyse`."""

        def run(analysed: Analysed, passes: tuple[pipeline.Pass, ...]) -> Analysed:
            return replace(analysed, function=pipeline.run(analysed.function, passes, analysed.context))

        simple = self.simplified(fn, source, wanted, options)
        common = self._once(lambda: run(simple, COMMON), "analysed", fn, wanted, options)
        return run(common, pipeline.ANALYSE[len(COMMON) :])

    def _once(
        self, make: Callable[[], Analysed], what: str, fn: FunctionType, wanted: Request, options: Options
    ) -> Analysed:
        if wanted.objects:
            return make()
        on_cpu, on_gpu = ((what, fn, tuple(wanted.types.items()), options.where(t)) for t in ("cpu", "gpu"))
        key, other = (on_gpu, on_cpu) if options.on_gpu else (on_cpu, on_gpu)
        if key not in self._kept:
            with verified_once() if other in self._kept else contextlib.nullcontext():
                self._kept[key] = make()
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        found = self._kept[key]
        return replace(found, context=_copied(found.context, options))


_RUN = pipeline.run


def verified_at_the_end(fn: Function, passes: tuple[pipeline.Pass, ...], ctx: PassContext) -> Function:
    """As `pipeline.run`; what the passes make is verified when all have run."""
    made = _RUN(fn, passes, ctx)
    check(made, "one of several passes")
    return made


def verified_once() -> contextlib.AbstractContextManager[object]:
    """For passes that have been verified one by one for another target: most do the same for both."""
    return mock.patch("appyc.pipeline.run", verified_at_the_end)


def _copied(context: PassContext, options: Options) -> PassContext:
    """The context with findings of its own, so that passes for one target tell another nothing."""
    own = {f.name: copy.copy(getattr(context, f.name)) for f in fields(context)}
    return PassContext(**{**own, "options": options})


@contextmanager
def shared_analyses(shared: SharedAnalyses | None) -> Iterator[None]:
    """Compilations in this context take analysed functions from `shared`, and add theirs; None: each its own."""
    with contextlib.ExitStack() as stack:
        if shared is not None:
            stack.enter_context(mock.patch("appyc.compiler.cpu.simplified", shared.simplified))
            stack.enter_context(mock.patch("appyc.compiler.cpu.analyse", shared.analyse))
            stack.enter_context(mock.patch("appyc.compiler.versions.analyse", shared.analyse))
        yield


USERS_FLAGS = toolchain._FLAGS
"""What gcc is given where appyc is used."""

NOT_OPTIMISED = tuple("-O0" if flag == "-O3" else flag for flag in USERS_FLAGS)
LESS_OPTIMISED = tuple("-O1" if flag == "-O3" else flag for flag in USERS_FLAGS)
"""What it is given in tests, but for the target `cpu`: -O1 makes lanes of `omp simd` loops too, in half the time."""


def shared_builds() -> contextlib.AbstractContextManager[object]:
    """Compilations that do not use the disk cache keep machine code in `BUILT`, where its text is the key."""
    disk = cpu.disk_cache
    return mock.patch("appyc.compiler.cpu.disk_cache", lambda root: disk(BUILT if root is None else root))
