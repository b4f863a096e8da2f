"""Calls of a function that is compiled for the types of its arguments: dispatch, races against Python, and faults."""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FunctionType
from typing import TYPE_CHECKING, Any

from appyc.compiler.captured_values import StaleVersion
from appyc.compiler.due_versions import DueVersions
from appyc.compiler.fallback import (
    CALLS_IN_VAIN,
    LARGE_CALL,
    Hosted,
    R,
    Race,
    calling_itself,
    limit_for,
    warn_of_python,
)
from appyc.compiler.parameters import call_by_name, recorded_in
from appyc.compiler.requests import Request
from appyc.compiler.version_budget import AT_ONCE, PUT_OFF
from appyc.compiler.versions import Version
from appyc.errors import (
    CompileError,
    DependenceError,
    InternalError,
    LeftToPython,
    Loc,
    PickedArrayError,
    ToolchainError,
)
from appyc.frontend.source import Source
from appyc.options import Options
from appyc.runtime.dispatch import Entry, GuardFailure
from appyc.runtime.frame import Kernel, raise_fault

if TYPE_CHECKING:
    from appyc.compiler.effects import Effects
    from appyc.compiler.fallback import Kind

UNPAID_AT_ONCE = 100_000
"""Nanoseconds in Python after which the budget of versions is asked: a question takes as long as some short calls."""

CALLS_LEFT = 16
"""Calls that compiled code begins and leaves to Python, after which it races against Python."""
CALLS_AFTER_COMPILED = 256
"""Consecutive calls in vain of a kind of which some calls are compiled, after which Python gets them."""
_MANY_KINDS = 8
"""Versions that are looked through for one kind of call."""


class CompiledFunction(DueVersions[R]):
    """A function that is compiled for the types of its arguments, at the first call with them.

    `py_func` is the Python function. A call that fits a compiled version is dispatched by
    the base class; all others call `_call`.
    """

    _distributed: Callable[[tuple[object, ...], Mapping[str, object]], object]
    """A call over chunked arrays, which becomes tasks of Dask's."""
    _explained: Callable[[DependenceError, Mapping[str, object]], DependenceError]
    """The error of a guard or inspector, with the values of this call that made it fail."""

    def __init__(
        self,
        fn: FunctionType,
        options: Options,
        source: Source | None = None,
        on_loss: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(fn, options, source, on_loss)
        self._races: dict[tuple[object, ...], Race] = {}
        self._quick: dict[Kind, list[Version]] = {}
        self._in_vain: Counter[object] = Counter()
        """Number of calls for which nothing was compiled, by kind."""
        self._some_compiled: set[object] = set()
        """The kinds of which some calls are compiled: by types that the kind does not tell."""
        self._dispatched: list[tuple[tuple[object, ...], Kernel]] = []
        """The kernels that the dispatcher was given, with the types that they are for."""
        self._of_lists: dict[tuple[object, ...], Entry] = {}
        """The entries that call kernels for lists, by types; they hand over list sizes that win against
        Python."""
        self._left: Counter[object] = Counter()
        """Number of calls by types that compiled code has begun and left to Python."""
        self.is_in_python = False
        """Whether the last decision on a kind of call was to run it in Python."""
        self._effects: dict[tuple[object, ...], Effects] = {}

    def __repr__(self) -> str:
        return f"<appyc.jit {self.__qualname__} target={self.options.target!r}>"

    def __reduce__(self) -> str:
        return self.__qualname__  # by name, as functions are

    def _call(self, *args: object, **keywords: object) -> object:
        """The slow path: a call for which the dispatcher has no compiled version."""
        recorded = recorded_in((*args, *keywords.values()) if keywords else args)
        if recorded is not None:  # an array that may not have been computed yet
            return type(recorded).__appyc_call__(recorded, self, args, keywords)
        if self.options.target == "python":
            return self.py_func(*args, **keywords)
        start = time.perf_counter_ns()
        refused: Exception | None = None
        in_python: Callable[[tuple[object, ...], dict[str, object]], object] | None = None
        try:
            if self._is_distributed(args, keywords):
                return self._distributed(args, keywords)
            bound = self._parameters.bind(args, keywords)
            named = self._parameters.with_tuples(bound)
            wanted = self._request(named)
            if not self._is_due(wanted, named):
                in_python = functools.partial(self._call_unpaid, wanted, self.kind(args, keywords))
            elif not self._has_waited(wanted, named):
                in_python = self._call_in_python
            else:
                wanted, version = self._placed(wanted, named)
        except (CompileError, InternalError, ToolchainError) as error:
            refused = error
        if refused is not None:  # outside of the handler: what a call in Python raises has no context
            if isinstance(refused, PickedArrayError) and not self._parameters.picks_arrays:
                self._parameters.picks_arrays = True
                return self._call(*args, **keywords)
            if not self._is_left_to_python(refused, self.kind(args, keywords)):
                # An error in the user's program, at the location in the message: appyc's own frames are no help.
                frames = None if isinstance(refused, CompileError) else refused.__traceback__
                raise refused.with_traceback(frames) from None
            return self.py_func(*args, **keywords)
        if in_python is not None:
            return in_python(args, keywords)
        hosted, kind = self._regions.get(wanted.key), self.kind(args, keywords)
        race = self._race(wanted, kind, named)
        if hosted is not None:
            return self._call_hosted(hosted, race, kind, args, keywords)
        self._in_vain[kind] = -CALLS_AFTER_COMPILED  # so that calls of this kind take this path
        self._some_compiled.add(kind)
        if kind is not None and race is None:
            self._call_quickly_from_now(kind, wanted, version)
        if race is None or kind is None or not race.is_on():
            start = time.perf_counter_ns()
            result = self._run(version.run, version, bound, named)
            self._budget.ran(time.perf_counter_ns() - start)
            return result
        if race.is_pythons_turn:
            return self._timed(race, kind, time.perf_counter_ns(), lambda: self.py_func(*args, **keywords))
        if race.entry is not None:
            entry, start = race.entry, time.perf_counter_ns()
            return self._timed(race, kind, start, lambda: entry(*args, **keywords))
        if version.quick is not None:
            race.on_win = functools.partial(self._call_quickly_from_now, kind, wanted, version)
            start = time.perf_counter_ns()
        return self._timed(race, kind, start, lambda: self._run_quickly(version, bound, named))

    def _call_in_python(self, args: tuple[object, ...], keywords: Mapping[str, object]) -> object:
        return self.py_func(*args, **keywords)

    def _is_left_to_python(self, error: Exception, kind: Kind | None) -> bool:
        """Whether Python makes a call that cannot be compiled; else the error is raised."""
        return False

    def _is_distributed(self, args: tuple[object, ...], keywords: Mapping[str, object]) -> bool:
        """Whether a call becomes tasks of Dask's."""
        chunked = any(type(v).__module__.startswith("dask.") for v in (*args, *keywords.values()))
        return chunked or self.options.target == "dask"

    def _call_quickly_from_now(self, kind: Kind, wanted: Request, version: Version) -> None:
        """Lets calls of a kind, for which the dispatcher has no kernel, look up what a version captures and run it."""
        is_placed = wanted.target == "gpu" or (wanted.target == "cpu" and not self._has_choice())
        if version.quick is None or not is_placed or any(isinstance(v, str) for v in wanted.objects.values()):
            return
        known = self._quick.setdefault(kind, [])
        if version not in known:
            known.insert(0, version)
            del known[_MANY_KINDS:]
        self.handed[kind] = (functools.partial(self._call_quickly, known), 0)

    def _run_quickly(
        self, version: Version, bound: Mapping[str, object], named: Mapping[str, object]
    ) -> object:
        """Runs a version, through the dispatcher if that takes the call."""
        if version.quick is not None:
            with suppress(StaleVersion):
                return self._run(version.quick, version, bound, named)
        return self._run(version.run, version, bound, named)

    def _call_quickly(self, versions: Sequence[Version], *args: object, **keywords: object) -> object:
        """A call of a kind that one of these versions took."""
        bound = self._parameters.bind(args, keywords)
        named = self._parameters.with_tuples(bound)
        for version in versions:
            assert version.quick is not None
            try:
                return self._run(version.quick, version, bound, named)
            except StaleVersion:
                continue
        return self._call(*args, **keywords)

    def _call_compiled(self, *args: object, **keywords: object) -> object:
        """A call of compiled code in a race with Python that does not fit its kernel."""
        bound = self._parameters.bind(args, keywords)
        named = self._parameters.with_tuples(bound)
        _, version = self._placed(self._request(named), named)
        return self._run(version.run, version, bound, named)

    def _run(
        self,
        run: Callable[[Mapping[str, object]], object],
        version: Version,
        bound: Mapping[str, object],
        named: Mapping[str, object],
    ) -> object:
        """Runs a version. bound: the arguments as given."""
        function: Callable[..., object]
        try:
            # A part in Python may change a list through an alias.
            result = run(bound if version.in_python else named)
            if version.outside.captures and run is version.run:
                return version.given_back(named, result)
            return result
        except (LeftToPython, GuardFailure) as error:  # a list may have changed meanwhile
            function = self._left_to(error, tuple(bound.values()))
        except DependenceError as error:
            if version.in_python:
                raise  # from a region, which has explained it
            raise self._explained(error, named) from None
        # Outside of the handler: what it raises has no context.
        return call_by_name(self.py_func, bound, function)

    # ------------------------------------------------------------ calls that Python makes

    def _call_hosted(
        self,
        hosted: Hosted[R],
        race: Race | None,
        kind: Kind | None,
        args: tuple[object, ...],
        keywords: Mapping[str, object],
    ) -> object:
        """A call of a function that cannot be compiled as a whole."""
        if hosted.host is None:
            self._in_vain[kind] += 1
            if self._on_loss is not None or self._in_vain[kind] >= CALLS_IN_VAIN:
                self._leave(kind, LARGE_CALL if kind in self._some_compiled else 0, hosted.error)
            else:
                self._warn(hosted.error)
            return self.py_func(*args, **keywords)
        if hosted.is_vain and kind not in hosted.left_in_vain:
            hosted.left_in_vain.add(kind)
            start = time.perf_counter_ns()
            out = self.py_func(*args, **keywords)
            limit = 0 if hosted.is_hopeless else limit_for(time.perf_counter_ns() - start)
            self._leave(kind, limit, hosted.error)
            return out
        if hosted.is_vain:  # a call in Python has taken much longer than those before
            hosted.race_again(kind)
        if kind is not None and race is None:
            self.handed[kind] = (hosted.host, 0)
        if race is None or kind is None or not race.is_on():
            return hosted.host(*args, **keywords)
        race.on_win = functools.partial(self.handed.update, {kind: (hosted.host, 0)})
        run = self.py_func if race.is_pythons_turn else hosted.host
        return self._timed(race, kind, time.perf_counter_ns(), lambda: run(*args, **keywords))

    def _call_unpaid(
        self, wanted: Request, kind: Kind | None, args: tuple[object, ...], keywords: Mapping[str, object]
    ) -> object:
        """A call in Python, since the function has many versions already, and others like it until that has cost as
        much as one more."""

        kin, spent = wanted.kin, 0

        def in_python(*args: object, **keywords: object) -> object:
            nonlocal spent
            start = time.perf_counter_ns()
            try:
                return self.py_func(*args, **keywords)
            finally:
                spent += time.perf_counter_ns() - start
                if spent > UNPAID_AT_ONCE:
                    if self._budget.spent(kin, spent) and kind is not None:
                        self.handed.pop(kind, None)
                    spent = 0

        if len(self._versions.get(wanted.key, ())) < AT_ONCE:  # else it has been warned of
            self._warn(CompileError(PUT_OFF, Loc(self._snippet.file, self._snippet.first_line)))
        if kind is not None:
            self.handed[kind] = (in_python, 0)
        return in_python(*args, **keywords)

    def _race(self, wanted: Request, kind: Kind | None, named: Mapping[str, object]) -> Race | None:
        """The race of a version against Python, for calls that the dispatcher passes on; None if annotations ask for
        compiled code. Lists of other sizes have races of their own, since their items are copied."""
        key = (wanted.key, kind) if wanted.has_lists else wanted.key
        race = self._races.get(key)
        if race is None and self._may_race(wanted):
            is_hosted, items = wanted.key in self._regions, wanted.copied_items(named)
            race = self._races[key] = Race(self._of_lists.get(wanted.key), is_hosted=is_hosted, items=items)
            if race.entry is not None and kind is not None:
                race.on_win = functools.partial(self.handed.update, {kind: (race.entry, 0)})
        return race

    def _timed(self, race: Race, kind: Kind, start: int, call: Callable[[], object]) -> object:
        """Times a call in a race, and acts on the outcome."""
        of_python, worked = race.is_pythons_turn, time.thread_time_ns()
        out = call()
        took, worked = time.perf_counter_ns() - start, time.thread_time_ns() - worked
        python_wins = race.take(took, of_python=of_python, worked=worked)
        if python_wins:
            error = CompileError(str(race), Loc(self._snippet.file, self._snippet.first_line))
            self._leave(kind, race.limit, error)
        elif python_wins is not None and race.on_win is not None:
            race.on_win()
        elif python_wins is not None and race.entry is not None:
            entry, race.entry = race.entry, None
            for kernel in reversed(entry.kernels):
                self.add(kernel)
        return out

    def _leave(self, kind: Kind | None, limit: int, error: CompileError) -> None:
        """Runs calls of a kind in Python from now on, until one takes more than `limit` nanoseconds (0: always)."""
        if kind is not None:
            itself = self._calling_itself
            if itself is not None and self.py_func.__globals__.get(self.__name__) is self:
                self.handed[kind] = (itself, limit, self.py_func.__globals__, self.__name__)
            else:
                self.handed[kind] = (self.py_func, limit)
        self.is_in_python = True
        if self._on_loss is not None:
            self._on_loss()
        else:
            self._warn(error)

    @functools.cached_property
    def _calling_itself(self) -> FunctionType | None:
        """The Python function, its calls of itself without the dispatcher; None for one that is not recursive."""
        return calling_itself(self.py_func, self._text) if self._part is None else None

    def _warn(self, error: CompileError) -> None:
        if not self._has_warned and self._on_loss is None:
            self._has_warned = True
            warn_of_python(self.__qualname__, error)

    def _on_regions_loss(self) -> None:
        """If all regions run in Python, makes the next call of the function decide anew."""
        vain = [hosted.host for hosted in self._regions.values() if hosted.is_vain]
        for kind, (function, *_) in list(self.handed.items()):
            if function in vain:
                self.handed.pop(kind, None)

    def _on_fault(self, kernel: Kernel, site: int, words: Sequence[Any], args: Sequence[object]) -> object:
        """Handles a fault that a kernel has raised under the dispatcher. Runs the call in Python where it may."""
        bound = dict(zip(self._parameters.signature.parameters, args, strict=True))
        try:
            raise_fault(kernel, site, words)
        except LeftToPython as error:
            self._race_if_in_vain(kernel)
            function = self._left_to(error, args)
        except DependenceError as error:
            raise self._explained(error, self._parameters.with_tuples(bound)) from None
        return call_by_name(self.py_func, bound, function)

    def _race_if_in_vain(self, kernel: Kernel) -> None:
        """Takes a kernel from the dispatcher, to race against Python, where it has left many calls to Python."""
        key = next((key for key, ours in self._dispatched if kernel in (ours, ours.checked)), None)
        if key is None:
            return
        self._left[key] += 1
        race = self._races.get(key)
        if self._left[key] < CALLS_LEFT or (race is not None and race.entry is not None):
            return
        self._left[key] = 0
        race = self._races[key] = Race(Entry(*self._entry_of(self._call_compiled)))
        assert race.entry is not None
        kernels = self.kernels
        self.clear_kernels()
        for ours in reversed(kernels):
            (race.entry if (key, ours) in self._dispatched else self).add(ours)

    def _add(self, wanted: Request, kernel: Kernel) -> None:
        """Registers a kernel with the dispatcher, if the dispatcher can handle all calls of the function."""
        on_cpu = self.options.target in ("auto", "cpu") and not self._has_choice()
        if not ((on_cpu or kernel.host is not None) and self._parameters.are_named):
            return
        if self._on_loss is not None and wanted.key not in self._races and self._may_race(wanted):
            self._races[wanted.key] = Race(Entry(*self._entry_of(self._call_compiled)))
        race = self._races.get(wanted.key)
        if self._may_race(wanted) and wanted.has_lists:
            entry = Entry(*self._entry_of(self._call_compiled))
            self._of_lists.setdefault(wanted.key, entry).add(kernel)
            return
        if self._may_race(wanted):
            self._dispatched.append((wanted.key, kernel))
        (self if race is None or race.entry is None else race.entry).add(kernel)
