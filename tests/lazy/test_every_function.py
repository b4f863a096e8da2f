"""Every public function, method and operator of NumPy does the same with appyc's arrays: value, dtype, shape, type,
order in memory, what it writes to, and the class of what it raises."""

from __future__ import annotations

import copy
import fractions
import json
import math
import numbers
import operator
import pickle
import statistics
import warnings
from typing import Any

import numpy
import pytest

import appyc.numpy as lazy
from appyc.lazy.arrays import number
from tests.lazy import calls

_MODULES = {
    m.__name__: m for m in (copy, fractions, json, math, numbers, operator, pickle, statistics, numpy)
}


def outcome(text: str, namespace: Any, convert: Any) -> tuple[Any, dict[str, Any]]:
    """What the expression gives or raises, and the arguments afterwards."""
    there = calls.arguments(convert)
    scope = {**_MODULES, **there, "np": namespace}
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = eval(text, scope)
            if isinstance(found, type(iter([])) | map | zip | enumerate):
                found = list(found)
        except Exception as error:  # noqa: BLE001  (which one is what is compared)
            found = error
    return found, there


def kind(value: Any) -> str:
    """The class that a value counts as: one of ours as NumPy's for which it stands."""
    if type(value) is number:
        return "number"
    if type(value) is lazy.ndarray:
        return "array"
    if isinstance(value, numpy.ndarray):
        return "array" if type(value) is numpy.ndarray else type(value).__name__
    return "number" if isinstance(value, numpy.generic) else type(value).__name__


def difference(wanted: Any, found: Any) -> str:
    """What is not the same; nothing if all is."""
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        return "" if type(wanted) is type(found) else f"{wanted!r}, here {found!r}"
    if kind(wanted) != kind(found):
        return f"{kind(wanted)}, here {kind(found)}: {wanted!r}, {found!r}"
    if isinstance(wanted, tuple | list):
        if len(wanted) != len(found):
            return f"{len(wanted)} items, here {len(found)}"
        return next((d for one, two in zip(wanted, found, strict=True) if (d := difference(one, two))), "")
    if isinstance(wanted, dict):
        return difference(list(wanted.items()), list(found.items()))
    if kind(wanted) not in ("array", "number"):
        return (
            ""
            if repr(wanted) == repr(found) or "object at" in repr(wanted)
            else f"{wanted!r}, here {found!r}"
        )
    if wanted.dtype != found.dtype or wanted.shape != found.shape:
        return f"{wanted.dtype}{wanted.shape}, here {found.dtype}{found.shape}"
    one, two = numpy.asarray(wanted), numpy.asarray(found)
    if one.dtype.kind in "fc":
        close = one.tobytes() == two.tobytes() or numpy.allclose(
            one, two, rtol=1e-5 if one.dtype.itemsize in (2, 4) else 1e-12, atol=1e-12, equal_nan=True
        )
    else:
        close = numpy.array_equal(one, two)
    if not close:
        return f"{one}, here {two}"
    if order(wanted) != order(found):
        return f"strides {wanted.strides}, here {found.strides}"
    return ""


def order(array: Any) -> tuple[int, ...]:
    """Of the axes in memory. Gaps between elements do not count: NumPy leaves them in parts of arrays of its own."""
    return tuple(s for s, e in zip(numpy.empty_like(view(array)).strides, array.shape, strict=True) if e > 1)


def view(array: Any) -> numpy.ndarray:
    return array.ghost() if type(array) is lazy.ndarray else numpy.asarray(array)


def writes(value: Any) -> Any:
    """Overwrites the arrays in a result, which shows whose views they are. Gives what that raises."""
    try:
        for item in value if isinstance(value, tuple | list) else (value,):
            if kind(item) == "array" and item.dtype.kind in "fiucb":
                item[...] = 1
    except (ValueError, TypeError) as error:
        return error
    return None


def compared(text: str) -> str:
    wanted, theirs = outcome(text, numpy, lambda values: values)
    found, ours = outcome(text, lazy, lazy.array)
    different = difference(wanted, found)
    if different:
        return different
    after = [f"{name} afterwards: {d}" for name in theirs if (d := difference(theirs[name], ours[name]))]
    if after:
        return after[0]
    different = difference(writes(wanted), writes(found))
    if different:
        return f"written: {different}"
    return next((f"{n} as a view: {d}" for n in theirs if (d := difference(theirs[n], ours[n]))), "")


def _texts() -> list[str]:
    out = [text for name in (*calls.UNARY_UFUNCS, *calls.BINARY_UFUNCS) for text in calls.ufunc_calls(name)]
    for prefix, table in (
        ("np.", calls.FUNCTIONS),
        ("np.linalg.", calls.LINALG),
        ("np.fft.", calls.FFT),
        ("np.random.", calls.RANDOM),
    ):
        out += [text.format(prefix + name) for name, texts in table.items() for text in texts]
    out += [text.format(name) for name, texts in calls.METHODS.items() for text in texts]
    return [*out, *calls.OPERATORS]


DIFFERENT = {
    "f[1:].base is f": "the array that a view is of is another object",
    "json.dumps(v[0])": "a number to come is no instance of float for code in C",
    "numpy.asarray(f)": "a read-only view",
    "numpy.asarray(f.sum())": "a read-only view",
    "numpy.from_dlpack(f)": "a read-only view",
    "np.finfo(f).eps": "an object with a dtype counts as one",
    "np.iinfo(k).max": "an object with a dtype counts as one",
}
"""What is not as in NumPy, and why."""


@pytest.mark.sampled
@pytest.mark.parametrize("start", range(0, 4000, 500))
def test_every_function_does_what_numpys_does(start: int) -> None:
    texts = [text for text in _texts() if text not in DIFFERENT]
    faults = {text: different for text in texts[start : start + 500] if (different := compared(text))}
    assert not faults


@pytest.mark.sampled
@pytest.mark.at_once
@pytest.mark.parametrize("start", range(0, 4000, 1000))
def test_every_function_does_it_where_small_arrays_are_computed_at_once(start: int) -> None:
    texts = [text for text in _texts() if text not in DIFFERENT]
    faults = {text: different for text in texts[start : start + 1000] if (different := compared(text))}
    assert not faults


@pytest.mark.parametrize("text", DIFFERENT)
def test_what_differs_is_known(text: str) -> None:
    assert compared(text)


def test_the_table_has_every_public_name() -> None:
    def functions(owner: Any) -> set[str]:
        found = {n for n in dir(owner) if not n.startswith("_") and callable(getattr(owner, n))}
        return {n for n in found if not isinstance(getattr(owner, n), type | numpy.ufunc)}

    for module, table in (
        (numpy, calls.FUNCTIONS),
        (numpy.linalg, calls.LINALG),
        (numpy.fft, calls.FFT),
        (numpy.random, calls.RANDOM),
    ):
        assert functions(module) <= table.keys(), module.__name__
    assert {n for n in dir(numpy.ndarray) if not n.startswith("_")} <= calls.METHODS.keys()
    assert set(calls.UNARY_UFUNCS + calls.BINARY_UFUNCS) == {
        n for n in dir(numpy) if isinstance(getattr(numpy, n), numpy.ufunc)
    }
