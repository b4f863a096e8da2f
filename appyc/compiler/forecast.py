"""Predicts a call's time on the CPU and on the GPU by the cost model, before anything is compiled for either.

The loops of the function are known with what they cost (`analysis/cost/cost_parts.py`); the call's arguments
give trip counts, and the bytes that a GPU would have to be sent. Where that cannot be
predicted from the arguments (a bound that is loaded from an array), the call stays on its device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from appyc.analysis.cost.cost_parts import CostPart, parts_of
from appyc.analysis.sets.evaluate import evaluate
from appyc.ir.machine_model import Gpu, Machine, Work
from appyc.ir.nodes import Function, Symbol
from appyc.ir.visit import arrays_written


@dataclass(frozen=True, slots=True)
class Forecast:
    """Predicted nanoseconds of one call. moving: the part of `gpu` for the transfers of the arguments."""

    cpu: float
    gpu: float
    moving: float

    @property
    def prefers_gpu(self) -> bool:
        return self.gpu < self.cpu


@dataclass(frozen=True, slots=True)
class Forecaster:
    """A function's cost parts, from which a call's time is predicted. written: parameters copied back from a
    GPU."""

    params: tuple[Symbol, ...]
    parts: tuple[CostPart, ...]
    written: frozenset[Symbol]

    @classmethod
    def of(cls, fn: Function) -> Forecaster:
        return cls(fn.params, parts_of(fn), frozenset(arrays_written(fn)))

    def forecast(self, values: Sequence[object], machine: Machine, gpu: Gpu, threads: int) -> Forecast | None:
        """The times of a call with these parameters; None where they do not tell."""
        known = dict(zip(self.params, values, strict=True))
        cpu = on_gpu = 0.0
        try:
            for part in self.parts:
                runs, trips, width = (float(evaluate(e, known)) for e in (part.runs, part.trips, part.width))
                work = _work(part, trips, known)
                cpu += runs * _on_cpu(part, work, trips, machine, threads)
                on_gpu += runs * (gpu.shared(work, width) if part.is_parallel else gpu.alone(work))
        except LookupError:
            return None
        moving = gpu.call
        for symbol, value in known.items():
            if isinstance(value, np.ndarray):
                moving += value.nbytes * (gpu.over_byte + (gpu.back_byte if symbol in self.written else 0))
        return Forecast(cpu, on_gpu + moving, moving)


def _work(part: CostPart, trips: float, known: Mapping[Symbol, object]) -> Work:
    """The work of one execution of the loop. Raises LookupError where the arguments do not tell."""
    cost = part.cost
    vector, scalar, gathers = (
        trips * float(evaluate(e, known)) for e in (cost.vector, cost.scalar, cost.gathers)
    )
    moved = float(evaluate(cost.bytes, known)) + trips * float(evaluate(cost.bytes_each, known))
    return Work(vector, scalar, gathers, moved)


def _on_cpu(part: CostPart, work: Work, trips: float, machine: Machine, threads: int) -> float:
    alone = machine.alone(work)
    share = int(min(threads, trips))
    if not part.is_parallel or share < 2:
        return alone
    return min(alone, machine.fork + machine.together(work, share))
