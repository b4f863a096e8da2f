"""`numpy.random`'s generators, whose methods take and give appyc's arrays.

    rng = np.random.default_rng(3)
    x = rng.normal(size=(1000, 3))              an array of appyc's, as `np.random.normal` gives
    rng.shuffle(x)                              its rows are permuted

NumPy's own generator does not know an array of appyc's for one: it shuffles what says that it is a sequence by
exchanging items, which are views where there are two axes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from appyc.lazy import arrays, evaluation


def _method(of: Callable[..., Any]) -> Callable[..., Any]:
    """A method that runs at once on computed values. What is shuffled may be a list of anything."""

    @functools.wraps(of)
    def method(self: Any, *args: Any, **keywords: Any) -> Any:
        if of.__name__ == "shuffle" and args and not isinstance(args[0], arrays.Array):
            return of(self, *args, **keywords)
        return evaluation.evaluated(of.__get__(self), args, keywords)

    return method


_STATE = frozenset(("seed", "get_state", "set_state", "spawn"))
"""Methods that have to do with no arrays of values."""


class Generator(np.random.Generator):
    """NumPy's `Generator`, with appyc's arrays."""

    def __reduce__(self) -> Any:
        return type(self), (self.bit_generator,)

    def choice(self, *args: Any, **keywords: Any) -> Any:
        """The result of NumPy's own generator of the same bits, since `choice` calls other methods and looks
        at the classes of their results."""
        return evaluation.evaluated(np.random.Generator(self.bit_generator).choice, args, keywords)


class RandomState(np.random.RandomState):
    """NumPy's `RandomState`, with appyc's arrays."""

    def __reduce__(self) -> Any:
        _, *rest = super().__reduce__()
        return type(self), *rest


for _class in (Generator, RandomState):
    for _name in {*dir(_class)} - {*_STATE, *vars(_class)}:
        if not _name.startswith("_") and callable(_found := getattr(_class, _name)):
            setattr(_class, _name, _method(_found))


@functools.wraps(np.random.default_rng)
def default_rng(seed: Any = None) -> Generator:
    if isinstance(seed, Generator):
        return seed
    return Generator(np.random.default_rng(evaluation.plain(seed)).bit_generator)


_shuffle: Any = np.random.shuffle
"""A method of the generator whose methods are functions of `np.random`."""


@functools.wraps(_shuffle)
def shuffle(x: Any) -> None:
    _method(np.random.RandomState.shuffle)(_shuffle.__self__, x)


OWN: dict[Any, Any] = {
    np.random.Generator: Generator,
    np.random.RandomState: RandomState,
    np.random.default_rng: default_rng,
    np.random.shuffle: shuffle,
}
"""The functions and classes of `appyc.numpy.random` that are appyc's own, by NumPy's."""
