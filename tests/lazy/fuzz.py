"""Random programs of recorded operations against NumPy: `python -m tests.lazy.fuzz --programs 10000 --seed 1`.

    --target numpy      recorded, ordered and dropped as always, and run by NumPy (the quickest)
    --target cpu        every program compiled, in C
    --target interpret  and in Triton's interpreter
    --at-once N         operations on arrays with up to N elements are not recorded
    --leave             only what is asked for is computed, and the rest if it is asked for later

Prints each program that differs, without the statements that do not matter.
"""

from __future__ import annotations

import argparse
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

import appyc.numpy as lazy
from appyc.lazy.dead_results import Habit, Left, plan
from appyc.lazy.gathering import Gathered
from appyc.lazy.running import STATE
from tests.lazy.generator import Recorded, program
from tests.stand_in_cupy import installed


def reasons() -> list[str]:
    """Why programs failed to compile, of all cached ones."""
    found = []
    programs = list(STATE.programs.values())
    while programs:
        program = programs.pop()
        programs += program.parts
        if program.reason:
            found.append(program.reason)
    return found


@contextmanager
def compiling(target: str, worth: int, at_once: int = 0) -> Iterator[None]:
    """Programs are compiled for the target once they have computed so many elements; nothing is computed at once but
    on arrays with so many."""
    before = STATE.target, STATE.worth, STATE.recording.at_once
    STATE.programs.clear()
    STATE.target, STATE.worth, STATE.recording.at_once = target, worth, at_once
    try:
        yield
    finally:
        STATE.programs.clear()
        STATE.target, STATE.worth, STATE.recording.at_once = before


@contextmanager
def leaving_all() -> Iterator[None]:
    """Whatever is not asked for stays recorded, if it can be computed later."""

    def left(habit: Habit, found: Gathered, wanted: frozenset[int], least: int) -> Left | None:
        made = {n for n, buffer in enumerate(found.buffers) if isinstance(buffer, weakref.ref)}
        return plan(found.lines, made - wanted, wanted)

    usual, Habit.left = Habit.left, left  # type: ignore[method-assign]
    try:
        yield
    finally:
        Habit.left = usual  # type: ignore[method-assign]


def same(wanted: Any, found: Any) -> bool:
    """Whether two values are equal, floats up to the order in which they were added."""
    if isinstance(wanted, str):
        return isinstance(found, str) and wanted == found
    one, two = np.asarray(wanted), np.asarray(found)
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    if one.dtype.kind in "biu":
        return np.array_equal(one, two)
    return np.allclose(one, two, rtol=2e-5, atol=2e-5, equal_nan=True)


def difference(recorded: Recorded) -> str:
    """What NumPy gives and appyc does not; nothing if all is the same."""
    wanted = recorded.run(np, lambda values: values)
    found = recorded.run(lazy, lazy.array)
    try:
        return _different(wanted, found)
    except Exception as error:  # noqa: BLE001  (of a flush: there is none in NumPy)
        return f"{type(error).__name__}: {error}"


def _different(wanted: dict[str, Any], found: dict[str, Any]) -> str:
    for name, value in wanted.items():
        if name != "seen":
            if not same(value, found[name]):
                return f"{name}: {value!r} and {found[name]!r}"
            continue
        if len(value) != len(found["seen"]):
            return f"seen: {value} and {found['seen']}"
        for one, two in zip(value, found["seen"], strict=True):
            if not same(one, two):
                return f"seen: {one} and {two}"
    return ""


def shortened(recorded: Recorded) -> Recorded:
    """The program without the statements that its difference does not need."""
    at = len(recorded.lines) - 1
    while at >= 0:
        shorter = replace(recorded, lines=recorded.lines[:at] + recorded.lines[at + 1 :])
        if _differs(shorter):
            recorded = shorter
        at -= 1
    return recorded


def _differs(recorded: Recorded) -> bool:
    wanted = recorded.run(np, lambda values: values)["seen"]
    if any(isinstance(item, str) and item.startswith("line ") for item in wanted):
        return False  # it is no program without that line
    return bool(difference(recorded))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=60, help="statements of a program")
    parser.add_argument("--target", choices=("numpy", "cpu", "interpret", "gpu"), default="numpy",
                        help="gpu: on one that Triton's interpreter stands for")  # fmt: skip
    parser.add_argument("--leave", action="store_true")
    parser.add_argument("--at-once", type=int, default=0)
    options = parser.parse_args()
    compiled = options.target != "numpy"
    faults = 0
    leaving = leaving_all() if options.leave else nullcontext()
    target, worth = (options.target, 0) if compiled else ("cpu", 1 << 40)
    device = installed() if options.target == "gpu" else nullcontext()
    with device, leaving, compiling(target, worth, options.at_once):
        for seed in range(options.seed, options.seed + options.programs):
            recorded = program(seed, most=options.most)
            found = difference(recorded)
            if found:
                faults += 1
                short = shortened(recorded)
                print(f"--- program {seed}\n{short}\n{difference(short)}", flush=True)
        found = {reason.strip().splitlines()[0] for reason in reasons()}
    for reason in sorted(found):
        print(f"not compiled: {reason}")
    print(f"{options.programs} programs from seed {options.seed} ({options.target}): {faults} differ")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
