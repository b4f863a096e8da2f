"""Work that the targets of one program share: lowering, passes that do not depend on the target, and gcc's output.

Only `parallel_scan` and the passes after it depend on the constants that `tests.e2e.harness.settings` replaces. Of the
passes before `fuse_loops` only `expect_in_loops` depends on the device.
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
from appyc.passes.checks.expect_in_loops import expect_in_loops
from appyc.passes.fuse.fuse_loops import fuse_loops
from appyc.passes.parallelise.parallel_scan import parallel_scan
from appyc.passes.pass_context import Facts, PassContext
from appyc.runtime import toolchain

T = TypeVar("T")

BUILT = Path(__file__).parents[2] / "build" / "tests"
"""Where compiled code is kept between runs."""

_EXPECTED, _FUSION, _SCANS = map(pipeline.ANALYSE.index, (expect_in_loops, fuse_loops, parallel_scan))
"""Where the passes begin that depend on the device: one, then most from here on; and those that depend on more."""

_KEPT = 4


class _AnyDevice(Options):
    """The options of passes that do not ask for the device."""

    @property
    def on_gpu(self) -> bool:
        raise AssertionError("this pass depends on the device")


class SharedAnalyses:
    """Analysed functions of the last calls, by function, argument types and options, for processors and for GPUs."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Analysed] = OrderedDict()
        self._last: dict[tuple[pipeline.Pass, ...], tuple[tuple[Function, PassContext], Analysed]] = {}

    def simplified(self, fn: FunctionType, source: Source, wanted: Request, options: Options) -> Analysed:
        """As `appyc.compiler.analyse.simplified`."""

        def make() -> Analysed:
            return analyses.simplified(fn, source, wanted, options)

        return self._once(make, "simplified", fn, wanted, options)

    def analyse(
        self,
        fn: FunctionType,
        source: Source,
        wanted: Request,
        options: Options,
        simple: Analysed | None = None,
    ) -> Analysed:
        """As `appyc.compiler.analyse.analyse`."""
        before = simple or self.simplified(fn, source, wanted, options)

        def common() -> Analysed:
            begun = self._on_any_device(before, pipeline.ANALYSE[:_EXPECTED])
            expected = _run(begun, pipeline.ANALYSE[_EXPECTED : _EXPECTED + 1])
            checked = self._on_any_device(expected, pipeline.ANALYSE[_EXPECTED + 1 : _FUSION])
            return _run(checked, pipeline.ANALYSE[_FUSION:_SCANS])

        return _run(self._once(common, "analysed", fn, wanted, options), pipeline.ANALYSE[_SCANS:])

    def _on_any_device(self, analysed: Analysed, passes: tuple[pipeline.Pass, ...]) -> Analysed:
        """After these passes. For another device they have often begun with the same function, and made the same."""
        own = analysed.context.options
        options = _AnyDevice(**{**{f.name: getattr(own, f.name) for f in fields(own)}, "target": "auto"})
        before = analysed.function, _copied(analysed.context, options)
        known, after = self._last.get(passes, (None, None))
        if after is None or known != before:
            after = _run(replace(analysed, context=_copied(analysed.context, options)), passes)
            self._last[passes] = before, after
        return replace(analysed, function=after.function, context=_copied(after.context, own))

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


def _run(analysed: Analysed, passes: tuple[pipeline.Pass, ...]) -> Analysed:
    return replace(analysed, function=pipeline.run(analysed.function, passes, analysed.context))


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
    return PassContext(**{**own, "options": options, "facts": Facts()})


@contextmanager
def shared_analyses(shared: SharedAnalyses | None) -> Iterator[None]:
    """Compilations in this context take analysed functions from `shared`, and add theirs; None: each its own."""
    with contextlib.ExitStack() as stack:
        if shared is not None:
            stack.enter_context(mock.patch("appyc.compiler.cpu.simplified", shared.simplified))
            stack.enter_context(mock.patch("appyc.compiler.cpu.analyse", shared.analyse))
            stack.enter_context(mock.patch("appyc.compiler.versions.simplified", shared.simplified))
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
