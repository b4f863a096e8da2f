"""Fallback to Python for functions and parts that cannot be compiled or do not gain, and the one warning of it.

The overhead of a call may exceed what compiled code gains: a region between two statements in Python is called
for a few iterations, an object's attributes are looked up for each call. So early calls of such functions are
made by compiled code and by Python in turn, and timed (`Race`). Python's calls are then made without a
detour (`Entry.handed`), until one takes much longer than those that were timed: its arguments are larger, and
the race starts again.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from appyc import errors
from appyc.frontend.access import closure_cells
from appyc.runtime.dispatch import Entry

if TYPE_CHECKING:
    from appyc.frontend.outline import PythonPart
    from appyc.frontend.source import Source

Kind = tuple[object, ...]
"""The kind of a call: see `Entry.kind`."""

ROUNDS = 3
"""Calls that each of the two makes in a race."""

LARGE_CALL = 2_000_000
"""Nanoseconds. The cost of calling does not matter to a call of compiled code that takes longer."""

COPY_OF_ITEM = 20
"""Nanoseconds that copying an item of a list takes at most, which the time of a large call does not include."""

LARGE_HOSTED_CALL = 5 * LARGE_CALL
"""LARGE_CALL for a function that runs in Python with compiled regions, each call of which has overhead."""

_FIRST_PAUSE = 64
_PAUSE_GROWS = 4
"""Calls after which compiled code that has won races again, and how many times as many there are after that."""

CALLS_IN_VAIN = 3
"""Calls of one kind of which nothing was compiled, after which Python gets them without a detour."""


class Race:
    """Compiled code beside Python, for calls with arguments of the same types: the least time of each counts, to which
    other work on the machine has added least.

    entry: what calls the compiled code without a detour, where the dispatcher could: its kernels are kept
    from the function's own calls as long as they are on trial. is_hosted: the compiled code is regions of a function
    that runs in Python. items: of lists, which each call copies. on_win: called when compiled code has won.
    """

    def __init__(self, entry: Entry | None, *, is_hosted: bool = False, items: int = 0) -> None:
        self.entry = entry
        self.large = (LARGE_HOSTED_CALL if is_hosted else LARGE_CALL) + COPY_OF_ITEM * items
        self.on_win: Callable[[], None] | None = None
        self._compiled: list[int] = []
        self._python: list[int] = []
        self._is_over = False
        self._pause, self._next_pause = 1, _FIRST_PAUSE  # the call that compiles is not timed

    def is_on(self) -> bool:
        """Whether the call is one of the race. It pauses when compiled code has won; where Python has won,
        a call gets here only when it exceeded the limit."""
        if self._pause > 0:
            self._pause -= 1
            return False
        if self._is_over:
            self._compiled, self._python, self._is_over = [], [], False
        return True

    @property
    def is_pythons_turn(self) -> bool:
        return len(self._compiled) > len(self._python)

    def take(self, nanoseconds: int, *, of_python: bool, worked: int | None = None) -> bool | None:
        """Takes the time of a call; whether Python wins, once that is known. worked: what the processor worked for it
        in the calling thread: a short call that other work on the machine delays is no large one."""
        (self._python if of_python else self._compiled).append(nanoseconds)
        least = nanoseconds if worked is None else min(nanoseconds, worked)
        is_large = least > self.large and nanoseconds >= max(self._compiled)
        if not is_large and len(self._python) < ROUNDS:
            return None
        self._is_over = True
        if not is_large and min(self._python) < min(self._compiled):
            return True
        self._pause, self._next_pause = self._next_pause, self._next_pause * _PAUSE_GROWS
        return False

    @property
    def limit(self) -> int:
        """The nanoseconds that a call in Python may take before the race starts again: compiled code takes as long."""
        return max(limit_for(max(self._python)), typical(self._compiled))

    def __str__(self) -> str:
        here, there = min(self._compiled) / 1000, min(self._python) / 1000
        return f"a call takes {here:.1f} us compiled, and {there:.1f} us in Python"


def typical(times: list[int]) -> int:
    """The median."""
    return sorted(times)[len(times) // 2]


def limit_for(nanoseconds: int) -> int:
    """The time of a call in Python that shows that it is another one than what took so long."""
    return 4 * nanoseconds + 20_000


class Raced(Protocol):
    """A region, as a function of its own."""

    is_in_python: bool
    handed: dict[Any, Any]
    beside: errors.CompileError | None

    @property
    def was_called(self) -> bool: ...

    @property
    def is_hopeless(self) -> bool: ...


R = TypeVar("R", bound=Raced)


@dataclass(slots=True, eq=False)
class Hosted(Generic[R]):
    """A function that runs in Python but for its regions.

    host: what calls the regions; None where nothing is worth compiling. error: of the part that cannot be compiled.
    left: loops that stay in Python. left_in_vain: kinds of calls that Python makes as a whole, since it is quicker in
    the regions too.
    """

    host: FunctionType | None
    error: errors.CompileError
    part: PythonPart
    regions: tuple[R, ...] = ()
    left: tuple[PythonPart, ...] = ()
    left_in_vain: set[Kind | None] = field(default_factory=set)

    @property
    def is_vain(self) -> bool:
        """Whether Python is quicker in all regions that were called."""
        called = [r for r in self.regions if r.was_called]
        return bool(called) and all(r.is_in_python for r in called)

    @property
    def is_hopeless(self) -> bool:
        """Whether nothing was compiled, in the regions that were called either."""
        called = (r for r in self.regions if r.was_called)
        return self.host is None or (self.is_vain and all(r.is_hopeless for r in called))

    def race_again(self, kind: Kind | None) -> None:
        """Lets the regions show anew what they gain to a kind of calls."""
        self.left_in_vain.discard(kind)
        for region in self.regions:
            region.is_in_python = False
            region.handed.clear()


def calling_itself(fn: FunctionType, text: Callable[[], Source]) -> FunctionType | None:
    """The function with its global name for itself bound to it, so that what it calls is no compiled function; None
    where it does not call itself by that name or does more with it, or its text cannot be read."""
    name = fn.__name__
    if fn.__code__.co_name != name or name in closure_cells(fn):
        return None
    try:
        tree = text().ast
    except errors.UnsupportedError:
        return None
    nodes = [node for statement in tree.body for node in ast.walk(statement)]
    named = sum(isinstance(node, ast.Name) and node.id == name for node in nodes)
    functions = [node.func for node in nodes if isinstance(node, ast.Call)]
    called = sum(isinstance(func, ast.Name) and func.id == name for func in functions)
    if not called or named > called or any(isinstance(node, ast.Global) for node in nodes):
        return None
    from appyc.frontend.regions import function_of  # noqa: PLC0415  (few functions are recursive)

    tree.decorator_list = []
    itself = function_of(fn, tree, {name: fn})
    cells = dict(zip(itself.__code__.co_freevars, itself.__closure__ or (), strict=True))
    if name not in cells:
        return None
    cells[name].cell_contents = itself
    return itself


def warn_of_python(name: str, error: errors.CompileError) -> None:
    """Tells that a function runs in Python, and why."""
    text = errors.diagnostic(f"{name} runs in Python: {error.summary}", error)
    warnings.warn(text, errors.FallbackWarning, stacklevel=frames_of_ours())


def warn_of_defect(name: str, error: errors.InternalError) -> None:
    """Tells that a function runs in Python because of a fault of appyc's own."""
    at = f" ({error.loc})" if error.loc is not None else ""
    text = f"{name}{at} runs in Python: {error.summary}. Please report it, with the function."
    warnings.warn(text, errors.InternalWarning, stacklevel=frames_of_ours())


def warn_of_pragma(pragma: errors.Loc, error: errors.CompileError) -> None:
    """Tells that a statement does not do what its pragma asks for."""
    told = copy(error)
    told.summary = f"the statement runs in Python, in spite of its pragma: {error.summary}"
    told.related = (errors.Note(pragma, "asked for here"), *error.related)
    warnings.warn(str(told), errors.FallbackWarning, stacklevel=frames_of_ours())


def frames_of_ours() -> int:
    """The `stacklevel` of a warning that is about the call of a jitted function."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "appyc":
        frame, level = frame.f_back, level + 1
    return level
