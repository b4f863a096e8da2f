"""Random programs over arrays of Dask's in random chunks, beside plain Python over NumPy's; in one process, or on three
workers of which one is killed in each call."""

from __future__ import annotations

import os
import random
import signal
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np

import appyc
from tests.e2e.harness import Mismatch, Outcome, call, compare, settings
from tests.random_programs import neighbours
from tests.random_programs.arguments import arguments
from tests.random_programs.check import ROUNDED, Verdict, functions, processor_time
from tests.random_programs.programs import program

_FAULTS = IndexError, ZeroDivisionError, OverflowError, ValueError
"""Of several in a program, blocks may find another one first."""


def in_chunks(array: np.ndarray, rng: random.Random) -> Any:
    """The array in one to four chunks along each axis."""
    chunks = []
    for length in array.shape:
        cuts = sorted({rng.randint(1, length - 1) for _ in range(rng.randint(0, 3))}) if length > 1 else []
        chunks.append(tuple(b - a for a, b in zip([0, *cuts], [*cuts, length], strict=True)))
    return da.from_array(array, chunks=tuple(chunks))


def chunked_call(compiled: Any, given: tuple[Any, ...], rng: random.Random) -> Outcome:
    """What a call over chunks comes to. Raises UnsupportedError for what cannot be distributed."""
    own = tuple(in_chunks(v, rng) if isinstance(v, np.ndarray) else v for v in given)
    try:
        result = compiled(*own)
        found, result = dask.compute(own, result)
    except (appyc.CompileError, appyc.InternalError):
        raise
    except Exception as error:  # noqa: BLE001  (whatever Python raises, tasks must raise too)
        return Outcome(None, (), error)
    return Outcome(result, found)


@contextmanager
def workers() -> Iterator[Callable[[random.Random], AbstractContextManager[None]]]:
    """Three worker processes. Gives a context manager that kills one of them in its first second."""
    import distributed

    @contextmanager
    def kill_one(rng: random.Random) -> Iterator[None]:
        client.wait_for_workers(2)
        processes = [nanny.pid for nanny in cluster.workers.values() if nanny.pid is not None]
        killer = threading.Timer(rng.random(), os.kill, (rng.choice(processes), signal.SIGKILL))
        killer.start()
        yield
        killer.join()

    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield kill_one


@contextmanager
def this_process() -> Iterator[Callable[[random.Random], AbstractContextManager[None]]]:
    """The same for tasks that run one after the other in this process: none is killed."""
    with dask.config.set(scheduler="sync"):
        yield lambda _: nullcontext()


def plain(outcome: Outcome) -> Outcome:
    """The outcome with Python's numbers: a chunked call gives arrays without axes."""

    def number(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(number, value))
        return value if value is None or np.ndim(value) else np.asarray(value).item()

    return replace(outcome, value=number(outcome.value))


def check(seed: int, folder: Path, *, killed: bool = False) -> Verdict:
    """What the program of a seed comes to: one of neighbours, or any program where the seed is divisible by 4. killed:
    on workers of which one is killed."""
    rng = random.Random(seed)
    if seed % 4:
        made: Any = neighbours.program(seed, indirect=seed % 4 == 1)
        shapes = [(n,) if made.ndim == 1 else (n, rng.choice([1, 2, 3, 5, 8])) for n in (9, 4, 1, 2, 0, 17)]
        values = np.random.default_rng(seed)
        calls = [(*(values.random(shape).round(2) for _ in range(3)), int(values.integers(0, shape[0] + 2)))
                 for shape in shapes]  # fmt: skip
    else:
        made = program(seed)
        calls = [arguments(made, case) for case in ("small", "wide", "short")]
    path = folder / f"chunked{seed}.py"
    try:
        fn = functions(made, path, appyc.prange)
        return _checked(seed, made.text, fn, calls, rng, killed=killed)
    finally:
        path.unlink(missing_ok=True)


def _checked(
    seed: int,
    text: str,
    fn: Callable[..., Any],
    calls: list[tuple[Any, ...]],
    rng: random.Random,
    *,
    killed: bool,
) -> Verdict:
    began, done, refused = processor_time(), 0, ""
    try:
        where = workers if killed else this_process
        with settings("cpu"), warnings.catch_warnings(), np.errstate(all="ignore"), where() as disturbed:
            warnings.simplefilter("ignore")
            compiled = appyc.jit(fn, cache=False)
            for given in calls:
                expected = call(fn, given)
                if isinstance(expected.error, OverflowError):
                    continue  # compiled integers of NumPy's wrap around, as documented
                try:
                    with disturbed(rng):
                        found = chunked_call(compiled, given, rng)
                except appyc.CompileError as error:
                    refused = error.summary
                    continue
                if expected.error is not None or found.error is not None:
                    either = isinstance(expected.error, _FAULTS) and isinstance(found.error, _FAULTS)
                    if not either and type(expected.error) is not type(found.error):
                        raise Mismatch(f"raises {expected.error!r}, over chunks {found.error!r}")
                else:
                    compare(plain(expected), plain(found), "cpu", joined=True, tolerance=ROUNDED)
                done += 1
    except Mismatch as fault:
        return Verdict(seed, "differs", f"{fault}\n{text}")
    except Exception:  # noqa: BLE001  (whatever else is raised is a fault of the compiler)
        return Verdict(seed, "internal", traceback.format_exc(limit=-4) + text)
    return Verdict(seed, "same" if done else "unsupported", refused, processor_time() - began, done)
