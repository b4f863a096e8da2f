"""Compiler options: an immutable record with defaults, and all reads of environment variables."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

MAX_THREADS = 1 << 16

TARGETS = ("auto", "cpu", "gpu", "interpret", "python", "dask")

_OF_ONE_FUNCTION = ("schedule",)
"""Options that no environment variable sets."""

_FALSE = ("0", "false", "no", "off")
_TRUE = ("1", "true", "yes", "on")


@dataclass(frozen=True, slots=True)
class Options:
    """What `appyc.jit` takes. Hashable, so it is its own part of a cache key.

    target: "cpu" C with OpenMP; "gpu" Triton kernels; "interpret" the same kernels in
    Triton's interpreter on NumPy arrays; "python" the function itself, not compiled; "dask" tasks over chunked arrays;
    "auto" the GPU where an argument lives on one, and where that is predicted to be quicker.
    auto: analyse loops without pragmas too. strict: what cannot be compiled is an error,
    not a part that runs in Python. fastmath: let the C compiler reassociate and contract
    floating-point arithmetic. cache: keep compiled code on disk. boundscheck: test that
    indices are in range. exact: to the last bit what Python gives: a sum of floats
    keeps its order unless a pragma asks, and integers that may outgrow 64 bits are not compiled.
    defer: calls with arrays of `appyc.numpy` are recorded, and run when a result is asked for.
    blas: products of large matrices are left to the library that NumPy uses; never under `exact`.
    libraries: functions that are compiled in loops and that a library has faster for large arrays (`np.linalg.solve`)
    are the library's calls always, and not only where arrays are large.
    schedule: how loops run, as the text that `source("schedule")` gives, edited; implies strict.
    tune: the first call with arguments of a size class searches for a quicker schedule, which later ones have.
    """

    target: str = "auto"
    auto: bool = True
    strict: bool = False
    fastmath: bool = False
    cache: bool = True
    boundscheck: bool = True
    exact: bool = False
    defer: bool = False
    blas: bool = True
    libraries: bool = False
    schedule: str = ""
    tune: bool = False

    def __post_init__(self) -> None:
        if self.target not in TARGETS:
            raise ValueError(f"target must be one of {', '.join(TARGETS)}, not {self.target!r}")

    @property
    def on_gpu(self) -> bool:
        """Whether loops become kernels for a GPU."""
        return self.target in ("gpu", "interpret")

    def where(self, target: str) -> Options:
        """The options of a version for one target, where `auto` allows several."""
        return self if target == self.target else replace(self, target=target)


def from_environment(given: Mapping[str, object], environ: Mapping[str, str] = os.environ) -> Options:
    """Options as given; what is not given comes from APPYC_<OPTION>, then from the defaults.

    Raises TypeError for an option that does not exist, ValueError for a value that cannot
    be read.
    """
    known = Options.__dataclass_fields__
    for name in given:
        if name not in known:
            raise TypeError(f"appyc.jit has no option {name!r}; it has {', '.join(known)}")
    values: dict[str, object] = {}
    for name, default in ((n, f.default) for n, f in known.items()):
        text = environ.get(f"APPYC_{name.upper()}") if name not in _OF_ONE_FUNCTION else None
        if name in given:
            values[name] = _checked(name, given[name], default)
        elif text is not None:
            variable = f"APPYC_{name.upper()}"
            values[name] = _flag(variable, text) if isinstance(default, bool) else _target(variable, text)
    if values.get("schedule"):
        values["strict"] = True  # what runs in Python has no schedule
    return Options(**values)  # type: ignore[arg-type]


def _checked(name: str, value: object, default: object) -> object:
    if isinstance(default, tuple):
        names = (value,) if isinstance(value, str) else value
        if not isinstance(names, tuple | list) or not all(isinstance(n, str) for n in names):
            raise TypeError(f"{name} must be names of parameters, not {value!r}")
        return tuple(names)
    if isinstance(default, bool) and not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    if name == "schedule" and not isinstance(value, str):
        raise TypeError(f'schedule must be text, as source("schedule") gives it, not {value!r}')
    return value


def _target(name: str, text: str) -> str:
    if text not in TARGETS:
        raise ValueError(f"{name} must be one of {', '.join(TARGETS)}, not {text!r}")
    return text


def _flag(name: str, text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError(f"{name} must be one of {', '.join(_TRUE + _FALSE)}, not {text!r}")


def cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Where compiled code is kept: APPYC_CACHE_DIR, else appyc under the user's cache folder."""
    given, base = environ.get("APPYC_CACHE_DIR"), environ.get("XDG_CACHE_HOME")
    if base and not given:
        return Path(base) / "appyc"
    try:
        return Path(given).expanduser() if given else Path.home() / ".cache" / "appyc"
    except RuntimeError as error:  # no such user, or one without a home
        wrong = f"APPYC_CACHE_DIR is {given!r}" if given else "there is no home folder"
        raise ValueError(f"{wrong}: {error}. Set APPYC_CACHE_DIR to a folder of your own.") from error


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def num_threads(environ: Mapping[str, str] = os.environ) -> int:
    """Threads for parallel loops: APPYC_NUM_THREADS, else OMP_NUM_THREADS, else the usable cores."""
    for name in ("APPYC_NUM_THREADS", "OMP_NUM_THREADS"):
        if text := environ.get(name):
            if not 1 <= (_whole(text) or 0) <= MAX_THREADS:
                if name == "OMP_NUM_THREADS":
                    continue  # OpenMP allows lists there; it is not ours to judge
                raise ValueError(f"{name} must be a positive integer, not {text!r}")
            return int(text)
    return usable_cores()


def kept_bytes(environ: Mapping[str, str] = os.environ) -> int:
    """Bytes of freed kernel memory that may be kept for reuse: APPYC_KEPT_BYTES, else a GiB or, on a small
    machine, an eighth of its memory."""
    if text := environ.get("APPYC_KEPT_BYTES"):
        if _whole(text) is None:
            raise ValueError(f"APPYC_KEPT_BYTES must be a number of bytes, not {text!r}")
        return int(text)
    try:
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0  # not known: nothing is kept
    return max(0, min(1 << 30, physical // 8))


def progress_is_shown(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether compilations that take more than a second are shown on stderr: unless APPYC_PROGRESS=0."""
    return _flag("APPYC_PROGRESS", environ.get("APPYC_PROGRESS") or "1")


def compile_wait(environ: Mapping[str, str] = os.environ) -> float:
    """Maximum seconds that a call which is short in Python waits for compilation: APPYC_COMPILE_WAIT (inf: until it
    ends), else 1."""
    text = environ.get("APPYC_COMPILE_WAIT") or "1"
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise ValueError(f"APPYC_COMPILE_WAIT must be a number of seconds, or inf, not {text!r}")
    return seconds


def recorded_bounds(environ: Mapping[str, str] = os.environ) -> tuple[int, int]:
    """Bounds on the recording: the number of pending operations (APPYC_RECORDED_STATEMENTS, else 160), and the bytes
    of their results (APPYC_RECORDED_BYTES, else a GiB)."""
    return (
        _number("APPYC_RECORDED_STATEMENTS", 160, 1, environ),
        _number("APPYC_RECORDED_BYTES", 1 << 30, 1, environ),
    )


def computed_at_once(environ: Mapping[str, str] = os.environ) -> int:
    """Maximum elements of arrays whose operations run eagerly instead of being recorded: APPYC_RECORDED_AT_ONCE,
    else 262144; 0: none run eagerly."""
    return _number("APPYC_RECORDED_AT_ONCE", 1 << 18, 0, environ)


def _whole(text: str) -> int | None:
    """The integer that a text of the digits 0 to 9 denotes; None for anything else, such as `²`."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def or_usual(read: Callable[[Mapping[str, str]], T]) -> T:
    """The value of an environment variable; where it is invalid, a warning, and the default.

    For what is read as modules are imported, or inside the compiler, which must not fail.
    """
    try:
        return read(os.environ)
    except ValueError as error:
        warnings.warn(f"{error}; it is ignored", RuntimeWarning, stacklevel=2)
        return read({})


def _number(name: str, usual: int, least: int, environ: Mapping[str, str]) -> int:
    text = environ.get(name) or str(usual)
    number = _whole(text)
    if number is None or number < least:
        wanted = "a positive number" if least else "a number that is not negative"
        raise ValueError(f"{name} must be {wanted}, not {text!r}")
    return number


def machine_is_measured(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the machine model is calibrated by measurement (APPYC_MACHINE=measured, the default), or has the
    parameters of an ordinary machine (APPYC_MACHINE=default)."""
    text = environ.get("APPYC_MACHINE") or "measured"
    if text not in ("measured", "default"):
        raise ValueError(f"APPYC_MACHINE must be measured or default, not {text!r}")
    return text == "measured"


def c_compiler(environ: Mapping[str, str] = os.environ) -> str | None:
    """The C compiler that APPYC_CC or CC names, if any."""
    return environ.get("APPYC_CC") or environ.get("CC") or None
