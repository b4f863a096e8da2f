"""Functions with *args and **kwargs: what is compiled, what runs in Python, and recorded arrays among them."""

from __future__ import annotations

import re
from collections import namedtuple

import numpy as np
import pytest

import appyc
import appyc.numpy as anp
from appyc.compiler.compiled_function import CompiledFunction
from tests.e2e.harness import compare_values

A = np.arange(5.0)
Point = namedtuple("Point", "x y")
Twin = namedtuple("Twin", "x y")


def _scaled(a, *others, **words):
    out = a * words["k"]
    for other in others:
        out = out + other * words["weight"]
    return out


def _with_a_call(a, *others, shift=1.0, **words):
    total = np.zeros(len(a))
    for x in others:
        for i in range(len(a)):
            total[i] += x[i] * shift
    ordered = np.sort(total)[::-1]
    for i in range(len(a)):
        total[i] = ordered[i] - words.get("less", 0)
    return total


def test_words_are_read_by_their_names_at_each_call() -> None:
    function = appyc.jit(strict=True, cache=False, target="cpu")(_scaled)
    for words in ({"k": 2.0, "weight": 3}, {"k": 4.0, "weight": 3}, {"k": A, "weight": 1j}):
        compare_values(_scaled(A, A, A + 1, **words), function(A, A, A + 1, **words), "result")
    compare_values(_scaled(A, k=2), function(A, k=2), "result")


def test_a_word_that_is_not_there_raises_what_python_raises() -> None:
    with pytest.raises(KeyError):
        appyc.jit(cache=False, target="cpu")(_scaled)(A, A, k=2, other=3)


def test_what_runs_in_python_gets_them_too() -> None:
    function = appyc.jit(cache=False, target="cpu")(_with_a_call)
    for others in ((), (A,), (A, A * 2)):
        compare_values(_with_a_call(A, *others), function(A, *others), "result")
        compare_values(
            _with_a_call(A, *others, shift=2, less=3), function(A, *others, shift=2, less=3), "result"
        )


def test_recorded_arrays_among_them() -> None:
    function = appyc.jit(cache=False, target="cpu")(_scaled)
    recorded = anp.array(A) * 2
    compare_values(
        _scaled(A * 2, A, k=2, weight=3), np.asarray(function(recorded, A, k=2, weight=3)), "result"
    )
    compare_values(
        _scaled(A, A * 2, k=2, weight=3), np.asarray(function(A, recorded, k=2, weight=3)), "result"
    )


def test_deferred_calls() -> None:
    function = appyc.jit(cache=False, target="cpu", defer=True)(_scaled)
    recorded = anp.array(A) * 2
    compare_values(
        _scaled(A, A * 2, k=2, weight=3), np.asarray(function(A, recorded, k=2, weight=3)), "result"
    )


def _itself(p):
    return p


def _made(a):
    total = 0.0
    for v in a:
        total += v
    return Point(total, a * 2)


@pytest.mark.parametrize(("fn", "args"), [(_itself, (Point(1, 2.0),)), (_made, (A,))])
def test_a_named_tuple_that_is_returned_is_one(fn, args) -> None:
    function = appyc.jit(cache=False, target="cpu")(fn)
    for _ in range(2):
        found = function(*args)
        assert type(found) is Point
        compare_values(fn(*args), found, "result")


def test_a_named_tuple_of_a_local_class_is_returned_by_python() -> None:
    kind = namedtuple("kind", "x y")

    def f(n):
        return kind(n, 2 * n)

    assert appyc.jit(cache=False, target="cpu")(f)(3) == kind(3, 6)
    with pytest.raises(appyc.UnsupportedError, match="of a class that is local to a function"):
        appyc.jit(cache=False, target="cpu", strict=True)(f)(3)


def test_a_tuple_and_a_named_tuple_have_versions_of_their_own() -> None:
    function = appyc.jit(cache=False, target="cpu")(_itself)
    for given in ((1, 2.0), Point(1, 2.0), (3, 4.0), Point(3, 4.0)):
        assert type(function(given)) is type(given)
    assert len(function.kernels) == 2  # the dispatcher knows a named tuple by its class
    other = appyc.jit(cache=False, target="cpu")(_itself)
    for given in (Point(1, 2.0), Twin(1, 2.0), Point(1, 2.0)):
        assert type(other(given)) is type(given)
    assert len(other.kernels) == 2


def test_a_call_with_a_named_tuple_of_a_local_class_is_not_dispatched() -> None:
    local = namedtuple("local", "y x")
    function = appyc.jit(cache=False, target="cpu")(lambda p: p.x)
    for given in (local(1, 2), Point(2, 1), local(1, 2)):
        assert function(given) == 2


def test_compiled_code_for_a_named_tuple_is_found_on_disk(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("APPYC_CACHE_DIR", str(tmp_path))

    def moved(p, a):
        return a * p.x + p.y

    for _ in range(2):
        assert appyc.jit(target="cpu", strict=True)(moved)(Point(2, 3.0), A).tolist() == (A * 2 + 3).tolist()
    assert appyc.jit(target="cpu")(_itself)((1, 2)) == (1, 2)


def _in_metres(x, unit="m", spread=None):
    factor = 0.001 if unit == "mm" else 0.01 if unit == "cm" else 1.0
    return x * factor if spread is None else x + spread


def test_the_dispatcher_knows_texts() -> None:
    function = appyc.jit(cache=False, target="cpu")(_in_metres)
    made = "".join(("m", "m"))  # no constant of this file
    for given in ((A,), (A, "mm"), (A, made), (A + 1, "m"), (A,), (A, "M"), (A, "mm")):
        compare_values(_in_metres(*given), function(*given), "result")
    compare_values(A + 2.0, function(A, "cm", spread=2.0), "result")
    assert len(function.kernels) == 4  # for "m", "mm" and "M", and with a spread


def test_a_text_of_another_class_is_not_dispatched() -> None:
    function = appyc.jit(cache=False, target="cpu")(_in_metres)
    for unit in (np.str_("mm"), "mm", np.str_("m"), np.str_("mm")):
        compare_values(_in_metres(A, unit), function(A, unit), "result")


def _picked(a, *, at=0, times=2):
    return a[at] * times


@pytest.mark.parametrize(
    ("args", "keywords"),
    [
        ((A,), {}),
        ((A,), {"times": 3}),
        ((), {"a": A, "at": 1}),
        ((A, 1), {}),
        ((A,), {"of": 1}),
        ((A,), {"at": 99}),
        ((), {}),
    ],
)
def test_the_dispatcher_takes_parameters_that_are_given_by_keyword_only(args, keywords, monkeypatch) -> None:
    function = appyc.jit(cache=False, target="cpu", strict=True)(_picked)
    assert function(A, at=1) == _picked(A, at=1)
    assert len(function.kernels) == 1
    try:
        wanted: object = _picked(*args, **keywords)
    except (TypeError, IndexError) as error:
        with pytest.raises(type(error), match=re.escape(str(error)[:20])):
            function(*args, **keywords)
    else:
        monkeypatch.setattr(CompiledFunction, "_call", None)
        assert function(*args, **keywords) == wanted


def test_a_call_with_keywords_is_left_to_python() -> None:
    def product(n, *, by=1):  # type: ignore[no-untyped-def]
        return n * by * 4

    function = appyc.jit(cache=False, target="cpu")(product)
    for n in (3, 2**61, 5):
        assert function(n, by=2) == n * 8
