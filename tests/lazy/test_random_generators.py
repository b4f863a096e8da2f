"""The generators of `appyc.numpy.random` give what NumPy's give, as appyc's arrays, and shuffle these."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy
import pytest

import appyc.numpy as np


def makers() -> list[Any]:
    return [
        lambda module: module.random.default_rng(7),
        lambda module: module.random.Generator(module.random.PCG64(7)),
        lambda module: module.random.RandomState(7),
    ]


@pytest.mark.at_once
@pytest.mark.parametrize("make", makers())
@pytest.mark.parametrize("shape", [(10,), (10, 3), (4, 3, 2), (3000, 4)])
def test_an_array_is_shuffled(make: Any, shape: tuple[int, ...]) -> None:
    values = numpy.arange(float(numpy.prod(shape))).reshape(shape)
    wanted = values * 2.0
    make(numpy).shuffle(wanted)
    for a in (np.array(values * 2.0), np.array(values) * 2.0):
        before = a + 1.0  # reads what is overwritten
        make(np).shuffle(a)
        assert numpy.array_equal(a, wanted)
        assert numpy.array_equal(before, values * 2.0 + 1.0)


def test_a_view_is_shuffled_in_its_array() -> None:
    a, values = np.array(numpy.arange(12.0).reshape(6, 2)), numpy.arange(12.0).reshape(6, 2)
    np.random.default_rng(1).shuffle(a.T[:, 1:], axis=1)
    numpy.random.default_rng(1).shuffle(values.T[:, 1:], axis=1)
    assert numpy.array_equal(a, values)
    assert not numpy.array_equal(a, numpy.arange(12.0).reshape(6, 2))


@pytest.mark.parametrize(
    "draw", [np.random.shuffle, np.random.default_rng(2).shuffle, np.random.RandomState(2).shuffle]
)
def test_a_list_is_shuffled_itself(draw: Any) -> None:
    parts = [np.array([float(k)]) for k in range(20)]
    given = list(parts)
    draw(given)
    assert sorted(map(id, given)) == sorted(map(id, parts))
    assert [id(p) for p in given] != [id(p) for p in parts]
    numbers = list(range(20))
    draw(numbers)
    assert numbers != list(range(20))
    assert sorted(numbers) == list(range(20))


DRAWS = {
    "normal": lambda rng: rng.normal(size=(3, 4)),
    "of arrays": lambda rng: rng.normal(np.array([1.0, 2.0]), 0.5) if isinstance(rng, np.random.Generator) else
    rng.normal(numpy.array([1.0, 2.0]), 0.5),
    "permutation": lambda rng: rng.permutation(np.arange(9.0).reshape(3, 3)),
    "choice": lambda rng: rng.choice(np.arange(9.0), 4),
}  # fmt: skip


@pytest.mark.parametrize("draw", DRAWS.values(), ids=list(DRAWS))
def test_what_is_drawn_is_an_array_of_ours(draw: Any) -> None:
    found, wanted = draw(np.random.default_rng(5)), draw(numpy.random.default_rng(5))
    assert type(found) is np.ndarray
    assert numpy.array_equal(found, wanted)


def test_out_is_filled() -> None:
    out, wanted = np.zeros(5), numpy.zeros(5)
    found = np.random.default_rng(5).random(out=out)
    numpy.random.default_rng(5).random(out=wanted)
    assert found is out
    assert numpy.array_equal(out, wanted)


def test_a_generator_is_one_of_numpys() -> None:
    rng = np.random.default_rng(np.array([1, 2]))
    assert isinstance(rng, numpy.random.Generator)
    assert np.random.default_rng(rng) is rng
    assert repr(rng).startswith("Generator(PCG64)")
    assert type(rng.random()) is float
    assert rng.bit_generator.state == numpy.random.default_rng(rng).bit_generator.state
    shared = numpy.random.default_rng(3)
    np.random.default_rng(shared).random()
    assert shared.random() == numpy.random.default_rng(3).random(2)[1]
    assert all(type(g) is type(rng) for g in rng.spawn(2))


@pytest.mark.parametrize("make", makers())
def test_a_generator_is_copied_and_pickled(make: Any) -> None:
    rng = make(np)
    rng.normal()  # RandomState keeps the second one of a pair
    for twin in (copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))):
        assert type(twin) is type(rng)
        assert twin.normal() == copy.deepcopy(rng).normal()
