"""Whether compiled code for a call is due: now, when a thread has made it, or when Python has spent as much."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

from appyc.analysis.cost.argument_sizes import sizes_of
from appyc.compiler.cpu import CpuCompiler
from appyc.compiler.fallback import R
from appyc.compiler.requests import Request
from appyc.compiler.specialisations import Specialisations
from appyc.compiler.waiting import SHORT_CALL, CallForecast


class DueVersions(Specialisations[R]):
    """The versions of a function, and which of them are worth waiting for."""

    @functools.cached_property
    def _forecast(self) -> CallForecast:
        """How long calls take in Python."""
        return CallForecast()

    def _may_race(self, wanted: Request) -> bool:
        here = wanted.target == "cpu" and self.options.target in ("auto", "cpu") and not self._has_choice()
        return here and not self.options.strict and not self._seems_marked

    def _is_due(self, wanted: Request, named: Mapping[str, object]) -> bool:
        """Whether the call's version exists, or may be compiled now: not beyond the function's budget, unless the call
        may take Python long, or annotations ask for compiled code."""
        if self._budget.covers(wanted.kin) or not self._may_race(wanted):
            return True
        if self._find(wanted, named) is not None:
            return True
        seconds = self._forecast.of_call(self._kept_text, self.py_func, named)
        return self._budget.runs_are_long if seconds == math.inf else seconds >= SHORT_CALL

    def _has_waited(self, wanted: Request, named: Mapping[str, object]) -> bool:
        """Whether to run the call compiled: its version exists, or is to be compiled now. False while a thread compiles
        it and the call is short in Python."""
        if not self._may_race(wanted) or self._part is not None or self._find(wanted, named) is not None:
            return True
        return self._compilations.has_waited(
            wanted.key,
            lambda: self._version(wanted, named),
            lambda: self._forecast.of_call(self._kept_text, self.py_func, named) < SHORT_CALL,
        )

    @property
    def is_compiling(self) -> bool:
        """Whether a thread is compiling a version."""
        return self._compilations.go_on

    def is_ready(self, args: tuple[object, ...], *, begins: bool, waits: bool) -> bool:
        """Whether a call with these arguments finds compiled code, in memory or on disk. Always on a GPU, or where
        one may be chosen.

        begins: a thread compiles it otherwise. waits: the call does it.
        """
        if waits or self.options.target not in ("auto", "cpu") or self._has_choice():
            return True
        wanted = self._request(named := self._given(args, {}))
        if wanted.target != "cpu" or self._find(wanted, named) is not None:
            return True
        if not begins:
            return CpuCompiler(self.py_func, self._text(), wanted, self.options).is_stored()
        sizes = sizes_of(named)  # the thread does not hold the arrays
        return self._compilations.has_waited(
            wanted.key, lambda: self._version(wanted, sizes), lambda: True, patience=0
        )
