"""Calls of functions that read what is no argument: after the first ones, a look-up and the dispatcher do them."""

from __future__ import annotations

import gc
import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pytest

import appyc
from appyc.compiler.compiled_function import CompiledFunction

table = np.arange(8.0)


def weighted(a):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * table[i]
    return total


class Model:
    def __init__(self):
        self.rates, self.scale = np.arange(1.0, 9.0), 2.0

    def total(self, a):
        out = 0.0
        for i in range(a.shape[0]):
            out += a[i] * self.rates[i] * self.scale
        return out

    def grow(self, a):
        for i in range(a.shape[0]):
            self.rates[i] += a[i]

    def at(self, k):
        out = 0.0
        for i in range(k, k + 3):
            out += self.rates[i]
        return out


def closure(weights, scale):
    def total(a):
        out = 0.0
        for i in range(a.shape[0]):
            out += a[i] * weights[i] * scale
        return out

    return total


def draws(rng, n):
    total = 0.0
    for _ in range(n):
        total += rng.random()
    return total


def by_name(a, weights):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * weights["scale"]
    return total


@pytest.fixture
def slow_calls(monkeypatch):
    """The calls that took the slow path."""
    seen, call = [], CompiledFunction._call
    monkeypatch.setattr(
        CompiledFunction, "_call", lambda self, *a, **k: seen.append(a) or call(self, *a, **k)
    )
    return seen


def jitted(fn):
    return appyc.jit(strict=True)(fn)  # no race: compiled code is called


def settled(slow_calls, fn, *args):
    """Calls until the slow path has been taken; the calls that follow are to be quick."""
    fn(*args)
    slow_calls.clear()


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (weighted, (np.ones(8),)),
        (closure(np.arange(8.0), 3.0), (np.ones(8),)),
        (by_name, (np.ones(8), {"scale": 2.5})),
        (draws, (np.random.default_rng(1), 5)),
    ],
    ids=["global", "closure", "dict", "generator"],
)
def test_calls_are_quick_after_the_first(slow_calls, fn, args):
    compiled = jitted(fn)
    settled(slow_calls, compiled, *args)
    for _ in range(3):
        got = compiled(*args)
        if fn is draws:
            assert 0 < got < 5
        else:
            assert got == fn(*args)
    assert not slow_calls


def test_the_dispatcher_looks_up_arrays_that_have_a_name(monkeypatch):
    compiled, inner = jitted(weighted), jitted(closure(np.arange(8.0), 3.0))
    a = np.ones(8)
    assert compiled(a) == weighted(a)
    assert inner(a) == 84
    assert len(compiled.kernels) == len(inner.kernels) == 1
    monkeypatch.setitem(globals(), "table", np.arange(8.0) * 2)
    assert compiled(a) == weighted(a) == 56
    monkeypatch.setitem(globals(), "table", np.arange(16)[::2])  # of another type
    assert compiled(a) == weighted(a)
    assert len(compiled.kernels) == 2
    monkeypatch.setitem(globals(), "table", np.arange(4.0))
    with pytest.raises(IndexError):
        compiled(a)
    monkeypatch.delitem(globals(), "table")
    with pytest.raises(appyc.CompileError, match="'table' is not defined"):
        compiled(a)


def add_to_table(a):
    for i in range(7):
        table[i + 1] += a[i]
    return table


def test_arrays_that_have_a_name_may_overlap_arguments(monkeypatch):
    compiled = jitted(add_to_table)
    for shift in (0, 1, None):
        data = np.arange(20.0)
        monkeypatch.setitem(globals(), "table", data[2:10])
        found = compiled(np.ones(8) if shift is None else data[2 + shift : 10 + shift])
        assert found is table
        got = data.copy()
        data[:] = np.arange(20.0)
        add_to_table(np.ones(8) if shift is None else data[2 + shift : 10 + shift])
        np.testing.assert_array_equal(got, data)
    table.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compiled(np.ones(8))


def test_methods_see_what_their_fields_are_at_the_call(slow_calls):
    class Compiled(Model):
        total = jitted(Model.total)

    a, model = np.ones(8), Compiled()
    settled(slow_calls, model.total, a)
    for change in (
        lambda: setattr(model, "scale", 3.5),
        lambda: model.rates.__setitem__(2, 100.0),
        lambda: setattr(model, "rates", np.arange(8.0)),
    ):
        change()
        assert model.total(a) == Model.total(model, a)
    assert not slow_calls
    other = Compiled()
    assert other.total(a) == Model.total(other, a)
    assert not slow_calls


@pytest.mark.parametrize(
    "change",
    [
        lambda m: setattr(m, "rates", m.rates.astype(np.float32)),
        lambda m: setattr(m, "rates", np.arange(16.0)[::2]),
        lambda m: setattr(m, "scale", 3),
        lambda m: setattr(m, "scale", np.float64(1.5)),
        lambda m: setattr(m, "scale", "x"),
        lambda m: delattr(m, "scale"),
    ],
)
def test_fields_of_other_types_are_met_by_another_version_or_by_python(change):
    class Compiled(Model):
        total = appyc.jit(Model.total)

    a, model, plain = np.ones(8), Compiled(), Model()
    for _ in range(8):
        assert model.total(a) == plain.total(a)
    change(model), change(plain)
    for _ in range(8):
        try:
            wanted = plain.total(a)
        except (TypeError, AttributeError) as error:
            with pytest.raises(type(error)):
                model.total(a)
        else:
            got = model.total(a)
            assert got == wanted
            assert type(got) is type(wanted)


def test_versions_of_one_kind_of_call_are_all_quick(slow_calls):
    compiled = jitted(weighted)
    rows, columns = np.ones(8), np.ones((8, 2))[:, 0]
    settled(slow_calls, compiled, rows)
    settled(slow_calls, compiled, columns)
    settled(slow_calls, compiled, rows)
    for a in (rows, columns) * 2:
        assert compiled(a) == weighted(a)
    assert not slow_calls


def test_a_field_that_overlaps_an_argument_is_as_in_python():
    class Compiled(Model):
        grow = jitted(Model.grow)

    compiled, plain = Compiled(), Model()
    for view in (slice(0, 7), slice(0, 7), slice(None)):
        compiled.grow(np.ones(8)), plain.grow(np.ones(8))
        compiled.grow(compiled.rates[view]), plain.grow(plain.rates[view])
        np.testing.assert_array_equal(compiled.rates, plain.rates)


def test_a_read_only_field_may_not_be_written():
    class Compiled(Model):
        grow = jitted(Model.grow)

    model = Compiled()
    model.grow(np.ones(8))
    model.rates.flags.writeable = False
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            model.grow(np.ones(8))


def test_what_the_program_raises_is_raised_once(slow_calls):
    class Compiled(Model):
        at = jitted(Model.at)

    model = Compiled()
    model.at(2)
    for _ in range(2):
        slow_calls.clear()
        with pytest.raises(IndexError, match="index 8 is out of bounds"):
            model.at(6)
    assert not slow_calls  # once there is a version that checks
    assert model.at(5) == 6 + 7 + 8


def test_the_lock_of_a_generator_is_held_and_given_back():
    compiled, rng = jitted(draws), np.random.default_rng(3)
    wanted = [draws(np.random.default_rng(3), 4)]
    assert [compiled(rng, 4)] == wanted
    with rng.bit_generator.lock:
        pass  # free again
    with pytest.raises(TypeError):
        compiled(rng, "n")
    with rng.bit_generator.lock:
        pass


# ---------------------------------------------------------------- functions of libraries


class Held:
    def __init__(self, f):
        self.f = f


def by_argument(a, f):
    total = 0.0
    for x in a:
        total += f(x)
    return total


def by_attribute(a, held):
    total = 0.0
    for x in a:
        total += held.f(x)
    return total


def by_key(a, held):
    total = 0.0
    for x in a:
        total += held["f"](x)
    return total


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fn", "hold"), [(by_argument, lambda f: f), (by_attribute, Held), (by_key, lambda f: {"f": f})]
)
def test_another_function_of_a_library_is_another_version(fn, hold):
    """`math.cos` was computed by the code for `math.sin`: both are of one class, and built in."""
    compiled, a = appyc.jit(cache=False)(fn), np.arange(3.0)
    for _ in range(3):
        for f in (math.sin, math.cos, abs, np.sin, np.cos):
            assert compiled(a, hold(f)) == pytest.approx(fn(a, hold(f)))


class Kind(Enum):
    UP, DOWN = 1, -1


def by_identity(a, kind):
    total = 0.0
    for x in a:
        total += x if kind is Kind.UP else -x
    return total


def by_equality(a, kind):
    total = 0.0
    for x in a:
        total += x if kind != Kind.DOWN else -x
    return total


def by_membership(a, kind):
    total = 0.0
    for x in a:
        total += x if kind in (Kind.UP, None) else -x
    return total


def by_pattern(a, kind):
    total = 0.0
    for x in a:
        match kind:
            case Kind.UP:
                total += x
            case Kind.DOWN:
                total -= x
    return total


def by_field(a, held):
    total = 0.0
    for x in a:
        total += x if (held.f, 1) == (Kind.UP, 1) else -x
    return total


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("fn", [by_identity, by_equality, by_membership, by_pattern, by_field])
def test_another_member_of_an_enumeration_is_another_version(fn, strict):
    """The code for the member of the first call was run for all: they are of one class."""
    compiled, a = appyc.jit(fn, strict=strict), np.arange(3.0)
    for _ in range(3):
        for kind in Kind:
            given = Held(kind) if fn is by_field else kind
            assert compiled(a, given) == fn(a, given)


def filled(dtype, n):
    a = np.zeros(n, dtype)
    for k in range(n):
        a[k] = k
    return a


def test_another_dtype_is_another_version():
    """The code on disk was taken for any of them."""
    compiled = appyc.jit(filled)
    for _ in range(3):
        for dtype in map(np.dtype, ("int16", "float32", ">f4", "float64")):
            assert compiled(dtype, 4).dtype == dtype
            assert compiled(dtype, 4).tolist() == [0, 1, 2, 3]


def signed(a, held):
    total = 0.0
    for x in a:
        total += x if isinstance(held, Held) else -x
    return total


def test_another_class_is_another_version():
    for given in (Held(1), Model(), Held(1)):
        assert jitted(signed)(np.arange(3.0), given) == signed(np.arange(3.0), given)


def are_one(a, b, n):
    total = 0
    for i in range(n):
        total += i
    return total if a is b else -total


def are_equal(a, b, n):
    total = 0
    for i in range(n):
        total += i
    return total if a == b else -total


@pytest.mark.parametrize("fn", [are_one, are_equal])
@pytest.mark.parametrize("make", [lambda: Held(1), lambda: Law(1.0), lambda: {"k": 1}])
def test_objects_are_compared_in_python(fn, make):
    compiled, one, other = appyc.jit(fn), make(), make()
    for a, b in ((one, one), (one, other), (other, other), (other, one)):
        assert compiled(a, b, 3) == fn(a, b, 3)


@dataclass
class Law:
    factor: float

    def applied(self, x):
        return self.factor * x


def through_a_field(a, held):
    total = 0.0
    for x in a:
        total += held.f.applied(x) + held.f.factor
    return total


def through_a_dict(a, held):
    total = 0.0
    for x in a:
        total += held["laws"]["f"].applied(x)
    return total


@pytest.mark.parametrize("fn", [through_a_field, through_a_dict])
def test_another_object_of_one_class_in_a_field_needs_no_other_version(slow_calls, fn):
    def given(factor):
        law = Law(factor)
        return Held(law) if fn is through_a_field else {"laws": {"f": law}}

    compiled, a = jitted(fn), np.arange(3.0)
    settled(slow_calls, compiled, a, given(1.0))
    for k in range(6):
        assert compiled(a, given(float(k))) == fn(a, given(float(k)))
    assert not slow_calls


def without_a_field(a, held):
    total = 0.0
    for x in a:
        total += x if held.f is None else held.f * x
    return total


@pytest.mark.parametrize("f", [None, 2.0])
def test_a_field_may_be_none(f):
    assert jitted(without_a_field)(np.arange(3.0), Held(f)) == without_a_field(np.arange(3.0), Held(f))


def with_items(a, held):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * held.f[i % len(held.f)]
    return total


@pytest.mark.parametrize("strict", [True, False])
def test_a_field_may_hold_another_container(strict):
    """A list that had become a dict was an AssertionError."""
    compiled, a = appyc.jit(with_items, strict=strict), np.arange(3.0)
    for _ in range(2):
        for f in ([1, 2.5], (1, 2), np.arange(2), [1, 2], {0: 5, 1: 7}, [2, 0.5]):
            try:
                assert compiled(a, Held(f)) == with_items(a, Held(f))
            except appyc.CompileError:
                assert strict
                assert isinstance(f, dict)


def with_a_text(a, held):
    total = 0.0
    for x in a:
        total += x if held.f == "up" else -x
    return total


def test_an_equal_text_in_a_field_needs_no_other_version(slow_calls):
    compiled, a = jitted(with_a_text), np.arange(3.0)
    settled(slow_calls, compiled, a, Held("up"))
    assert compiled(a, Held("".join(["u", "p"]))) == 3.0
    assert not slow_calls
    assert compiled(a, Held("down")) == -3.0


# ---------------------------------------------------------------- keywords and defaults


def scaled(a, k=2.0, /, low=0, *, high=None):
    return a[low] * k


def shifted(a, k=2.0, low=0):
    total = 0.0
    for i in range(low, a.shape[0]):
        total += a[i] * k
    return total


def test_keywords_and_defaults_need_no_slow_path(slow_calls):
    compiled, a = jitted(shifted), np.arange(5.0)
    settled(slow_calls, compiled, a)
    for keywords in ({}, {"k": 3.0}, {"low": 2}, {"low": 1, "k": 0.5}):
        assert compiled(a, **keywords) == shifted(a, **keywords)
    assert compiled(k=1.0, low=3, a=a) == shifted(a, 1.0, 3)
    assert not slow_calls


@pytest.mark.parametrize(
    ("args", "keywords"),
    [((), {}), ((1, 2, 3, 4), {}), ((1,), {"b": 2}), ((1,), {"a": 2}), ((), {"k": 2.0}), ((1, 2), {"k": 3})],
)
def test_wrong_calls_are_type_errors(args, keywords):
    compiled = jitted(shifted)
    compiled(np.ones(3))
    with pytest.raises(TypeError, match="shifted"):
        compiled(*args, **keywords)


def test_positional_only_and_keyword_only_parameters():
    compiled, a = appyc.jit(scaled), np.arange(5.0)
    for _ in range(3):
        assert compiled(a, 3.0, low=2, high=1) == 6.0
        with pytest.raises(TypeError):
            compiled(a, k=3.0)


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
@pytest.mark.parametrize("make", [appyc.jit, appyc.autojit])
def test_the_fields_of_an_object_stay_where_the_interpreter_keeps_them(make):
    """CPython keeps the fields of an object in the object itself until its `__dict__` is asked for, which makes a dict
    that is slower: 1.6 times in a Monte Carlo program."""

    class Walker:
        def __init__(self):
            self.x, self.steps = 0.5, 4

    def compiled(walker, n):
        for _ in range(walker.steps * n):
            walker.x = walker.x * 0.5 + 1
        return walker.x

    def in_python(walker, n):
        for _ in range(walker.steps * n):
            walker.x = walker.x * 0.5 + len(str(n))
        return walker.x

    for walk in map(make, (compiled, in_python)):
        for _ in range(8):
            walker = Walker()
            walk(walker, 2)
            assert not any(isinstance(part, dict) for part in gc.get_referents(walker))
