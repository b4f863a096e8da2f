"""What a PolyBench kernel consists of, and when two results of one count as equal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Arguments: TypeAlias = dict[str, Any]
"""A kernel's arguments by name, in the order of its parameters: arrays and scalars."""

Sizes: TypeAlias = Mapping[str, int]

FORMS = ("loops", "tensors")
"""The ways in which every kernel is written for the compiler."""

DATASETS = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")


def sizes_table(names: str, **rows: tuple[int, ...]) -> dict[str, Sizes]:
    """The sizes of every dataset.

    >>> sizes_table("M N", MINI=(38, 42))
    {'MINI': {'M': 38, 'N': 42}}
    """
    return {dataset: dict(zip(names.split(), row, strict=True)) for dataset, row in rows.items()}


def relative_error(reference: np.ndarray, result: np.ndarray) -> float:
    """The norm of the difference over the norm of the reference; infinite where a NaN is.

    Where both hold the same NaN (a part of an array that the kernel must not touch) they
    agree there.
    """
    if reference.shape != result.shape or reference.dtype != result.dtype:
        return math.inf
    exact = np.asarray(reference, dtype=np.float64)
    difference = np.asarray(result, dtype=np.float64) - exact
    untouched = np.isnan(exact) & np.isnan(result)
    if untouched.any():
        exact, difference = exact[~untouched], difference[~untouched]
    scale = float(np.linalg.norm(exact))
    error = float(np.linalg.norm(difference))
    if not math.isfinite(error):
        return math.inf
    return error / scale if scale > 0 else error


@dataclass(frozen=True, slots=True)
class Kernel:
    """One benchmark.

    initialise(**sizes): the arguments with PolyBench's values. random(rng, **sizes):
    well-conditioned random arguments, since PolyBench's own values hide errors (fixed
    points, matrices of rank one, unit pivots); what a kernel must write before it reads
    holds NaN there.

    numpy_version(**arguments): plain NumPy, in place; the reference. loops(**arguments):
    the annotated loops, jitted. tensors(**arguments): the same in statements about whole
    arrays, rows and columns, jitted. outputs: the arguments that are compared.

    flops(**sizes): useful arithmetic operations. traffic(**sizes): bytes that must move
    at the least, every needed input element read once and every output written once.
    tolerance: the relative error up to which a result is right; 0 for integers.
    polybench_tolerance: another one for PolyBench's values, where those let rounding
    errors grow.
    compared(arguments): the arrays that are compared, where the outputs as they are
    would not do. It sees the reference's arguments too, to tell which parts of a
    result are determined by the input at all.
    """

    name: str
    dtype: type[np.generic]
    sizes: Mapping[str, Sizes]
    initialise: Callable[..., Arguments]
    random: Callable[..., Arguments]
    numpy_version: Callable[..., None]
    loops: Any
    tensors: Any
    outputs: tuple[str, ...]
    flops: Callable[..., float]
    traffic: Callable[..., float]
    tolerance: float = 1e-11
    polybench_tolerance: float | None = None
    compared: Callable[[Arguments, Arguments], Mapping[str, np.ndarray]] | None = None

    def form(self, name: str) -> Any:
        """One of FORMS: the jitted function."""
        return {"loops": self.loops, "tensors": self.tensors}[name]

    def arguments(self, data: str, dataset: str) -> Arguments:
        """Arguments of a dataset: data is "polybench" or "random" (the same ones every time)."""
        sizes = self.sizes[dataset]
        if data == "polybench":
            return self.initialise(**sizes)
        if data == "random":
            return self.random(np.random.default_rng(20), **sizes)
        raise ValueError(f"data must be 'polybench' or 'random', not {data!r}")

    def allowed_error(self, data: str) -> float:
        if data == "polybench" and self.polybench_tolerance is not None:
            return self.polybench_tolerance
        return self.tolerance

    def error(self, reference: Arguments, result: Arguments) -> float:
        """The largest relative error of the outputs."""
        expected = self._compared(reference, reference)
        found = self._compared(reference, result)
        return max(relative_error(expected[name], found[name]) for name in expected)

    def _compared(self, reference: Arguments, arguments: Arguments) -> Mapping[str, np.ndarray]:
        if self.compared is not None:
            return self.compared(reference, arguments)
        return {name: arguments[name] for name in self.outputs}
