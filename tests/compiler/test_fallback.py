"""Functions that Python runs, since they cannot be compiled or are quicker there."""

from __future__ import annotations

import collections
import contextlib
import datetime
import enum
import time
import warnings

import numpy as np
import pytest

import appyc
from appyc.compiler.compiled_function import CALLS_LEFT
from appyc.compiler.fallback import LARGE_CALL, LARGE_HOSTED_CALL, ROUNDS, Race
from appyc.runtime.dispatch import Entry
from appyc.runtime.frame import raise_fault
from benchmarks.fallbacks import PROGRAMS
from tests.e2e.harness import compare_values


def counts(words):
    found = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found


def queued(a, n):
    waiting = collections.deque()
    total = 0.0
    for i in range(n):
        waiting.append(i)
        for k in range(2):
            total += a[i] * k
    return total, len(waiting)


def first(x):
    return x[0]


def length(x):
    return len(x)


def total(x):
    found = 0
    for item in x:
        found += item
    return found


@pytest.mark.parametrize(
    ("function", "given", "told"),
    [
        (length, [1, 2.0] * 50, r"the length of a list is not compiled\n.*np\.array\(x\)"),
        (
            first,
            np.zeros(2, [("x", "f8"), ("y", "i4")]),
            r"a record of a structured array cannot be returned",
        ),
        (first, np.zeros(2, [("x", "f8"), ("y", "S4")]), r"a structured array is not compiled\n.*a\['x'\]"),
        (
            total,
            np.ones(3, np.longdouble),
            r"a loop over an array of float128 is not compiled\n.*np\.float64",
        ),
        (first, np.zeros(2, "M8[D]"), r"an array of datetime64\[D\] is not compiled\n.*np\.int64"),
        (first, np.array([1, "x"], object), r"an array of objects is not compiled"),
        (total, bytearray(b"bytes"), r"a loop over a bytearray is not compiled\n.*numpy\.frombuffer"),
        (total, [datetime.timedelta(1)] * 2, r"a sequence of timedelta objects is not compiled"),
    ],
)
def test_a_warning_tells_what_is_not_compiled_and_what_to_pass_instead(function, given, told):
    with pytest.warns(appyc.FallbackWarning, match=f"(?s){told}"):
        tried(appyc.jit(function), given)


def tried(function, given):
    for _ in range(5):
        with contextlib.suppress(TypeError):
            function(given)


class Point:
    def __init__(self):
        self.x = 1.0


ARGUMENTS = {
    "structured": np.zeros(2, [("x", float)]),
    "longdouble": np.ones(2, np.longdouble),
    "datetime64": np.zeros(2, "datetime64[s]"),
    "objects": np.array([Point(), None]),
    "bytes": b"ab",
    "str": "ab",
    "long list": [1.0, 2] * 50,
    "list of objects": [datetime.date(2000, 1, 1)],
    "dict": {0: 1},
    "masked": np.ma.array([1.0, 2.0]),
    "big-endian": np.ones(2, ">f8"),
    "deque": collections.deque([1]),
}


@pytest.mark.parametrize("kind", ARGUMENTS)
@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_arguments_that_cannot_be_compiled_are_left_to_python(kind):
    given = ARGUMENTS[kind]
    jitted = appyc.jit(first)
    for _ in range(5):
        found = jitted(given)
        assert type(found) is type(first(given))
        assert repr(found) == repr(first(given))


class Level(enum.IntEnum):
    LOW = 1


COSTLY = {
    "list": [[1.0] * 20],
    "memmap": np.ones(3).view(np.memmap),
    "enum": (Level.LOW, 2),
    "keys": {"a": 1.0},
}


@pytest.mark.parametrize("kind", COSTLY)
@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_short_calls_with_arguments_that_take_longer_to_pass_are_left_to_python(kind):
    def shortest(x):
        return x[0]

    def of_key(x):
        return x["a"]

    fn, given = (of_key if kind == "keys" else shortest), COSTLY[kind]

    def is_left() -> bool:
        jitted = appyc.jit(fn)
        for _ in range(3 + 2 * ROUNDS):
            assert jitted(given) == fn(given)
        return jitted.is_in_python and len(jitted.handed) == 1

    assert any(is_left() for _ in range(4))  # what is measured on a busy machine may be wrong once


def test_defaults_and_keywords_are_bound_as_python_binds_them():
    def given(a, /, b, c=3):
        return (a, b, c)

    def scaled(a, b, c=3):
        return a * b + c

    jitted = appyc.jit(scaled)
    assert jitted(2, 5) == jitted(2, b=5) == jitted(b=5, a=2) == jitted(c=3, b=5, a=2) == 13
    for args, keywords in (
        ((1,), {}),
        ((1, 2, 3, 4), {}),
        ((1, 2), {"a": 3}),
        ((1, 2), {"d": 3}),
        ((), {"b": 2}),
    ):
        with pytest.raises(TypeError):
            jitted(*args, **keywords)
    only = appyc.jit(given)
    assert only(1, 2) == only(1, b=2) == (1, 2, 3)
    with pytest.raises(TypeError):
        only(a=1, b=2)


@pytest.mark.parametrize("kind", ["structured", "longdouble", "long list", "dict", "deque"])
def test_they_remain_errors_where_the_function_says_how_it_is_to_run(kind):
    def scale(a, x):
        # pragma parallel for
        for i in range(a.shape[0]):
            a[i] *= x[0]

    def ranged(a, x):
        for i in appyc.prange(a.shape[0]):
            a[i] *= x[0]

    for fn in (scale, ranged, appyc.jit(strict=True)(first)):
        arguments = (np.ones(2), ARGUMENTS[kind])[-1 if fn is not scale and fn is not ranged else 0 :]
        with pytest.raises(appyc.CompileError):
            appyc.jit(fn, strict=getattr(fn, "options", None) is not None)(*arguments)


def test_one_warning_names_function_line_and_reason():
    jitted = appyc.jit(counts)
    with pytest.warns(appyc.FallbackWarning) as caught:
        found = [jitted(["a"] * (100 * k + 70)) for k in range(5)]
    assert found == [{"a": 100 * k + 70} for k in range(5)]
    assert [w.filename for w in caught] == [__file__]
    text = str(caught[0].message)
    assert text.startswith("counts runs in Python: ")
    assert "for word in words:" in text
    assert f"{__file__}:{counts.__code__.co_firstlineno + 2}:" in text


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_kind_of_call_in_vain_is_handed_to_python():
    jitted = appyc.jit(counts)
    given = (["a"] * 100,)
    kind = jitted.kind(given, {})
    jitted(*given)
    assert kind not in jitted.handed  # one call may be an exception
    for _ in range(5):
        jitted(*given)
    assert jitted.handed == {kind: (counts, 0)}
    assert jitted.explain().python_parts


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_other_kinds_of_calls_are_still_compiled():
    jitted = appyc.jit(first)
    for _ in range(5):
        jitted(np.ones(2, np.longdouble))
    assert len(jitted.handed) == 1
    assert jitted(np.arange(3.0)) == 0.0
    assert len(jitted.kernels) == 1


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_one_call_in_vain_keeps_no_others_from_compiled_code():
    jitted = appyc.jit(lambda n, k=1: n + k)
    assert jitted(1, k=2) == 3
    for _ in range(5):
        assert jitted(2**70, 1) == 2**70 + 1
        assert jitted(2**70) == 2**70 + 1
    assert not jitted.handed


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_many_calls_in_vain_are_handed_although_others_of_their_kind_are_compiled():
    class Cells:
        def __init__(self, items):
            self.items = items

        @appyc.jit
        def doubled(self, k):
            return self.items[k] * 2

    assert Cells(np.arange(3.0)).doubled(1) == 2.0
    words = Cells({1: "a"})
    assert {words.doubled(1) for _ in range(400)} == {"aa"}
    assert [limit for _, limit in Cells.__dict__["doubled"].handed.values()] == [2_000_000]
    assert Cells(np.arange(3.0)).doubled(1) == 2.0


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_call_by_keyword_is_handed_too():
    def tagged(x, *, tag="none"):
        return {tag: x}

    jitted = appyc.jit(tagged)
    for k in range(6):
        assert jitted(k, tag="a") == {"a": k}
        assert jitted(k) == {"none": k}
    assert len(jitted.handed) == 2


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_methods_are_handed_with_their_instance():
    class Counter:
        def __init__(self):
            self.seen = {}

        @appyc.jit
        def add(self, word):
            self.seen[word] = self.seen.get(word, 0) + 1
            return self.seen[word]

    one, other = Counter(), Counter()
    assert [one.add("a") for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    assert other.add("a") == 1


def test_exceptions_are_pythons_own():
    def missing(d):
        return d[3].nothing

    jitted = appyc.jit(missing)
    with pytest.warns(appyc.FallbackWarning), pytest.raises(KeyError):
        jitted({})
    with pytest.raises(AttributeError):
        jitted({3: 1})


SCALES = np.ones(3)


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_global_that_becomes_what_cannot_be_compiled(monkeypatch):
    def scaled(a):
        return a * SCALES[0]

    jitted = appyc.jit(scaled)
    assert jitted(2.0) == 2.0
    monkeypatch.setitem(globals(), "SCALES", np.full(3, 4.0, np.longdouble))
    assert jitted(2.0) == 8.0


# ---------------------------------------------------------------- races


def test_a_race_is_won_by_the_least_time():
    race = Race(None)
    assert not race.is_on()  # the call that compiles
    for k in range(ROUNDS):
        assert race.is_on()
        assert not race.is_pythons_turn
        assert race.take(5000 + k, of_python=False) is None
        assert race.is_on()
        assert race.is_pythons_turn
        decided = race.take(1000 if k else 90_000, of_python=True)
    assert decided is True
    assert race.limit > 90_000
    assert race.is_on()  # the limit was exceeded
    assert not race.is_pythons_turn


def test_other_work_on_the_machine_does_not_decide_a_race():
    """Threads of a loop wait for each other where others use the cores; Python has none to wait for."""
    race = Race(None)
    race.is_on()
    for compiled, python in ((1_900_000, 1_300_000), (20_000, 1_200_000), (1_800_000, 1_400_000)):
        assert race.take(compiled, of_python=False) is None
        decided = race.take(python, of_python=True)
    assert decided is False


def test_compiled_code_that_runs_long_wins_at_once_and_is_left_alone_for_a_while():
    race = Race(None)
    race.is_on()
    assert race.take(LARGE_CALL + 1, of_python=False) is False
    pause = next(k for k in range(10_000) if race.is_on())
    assert race.take(LARGE_CALL + 1, of_python=False) is False
    assert next(k for k in range(10_000) if race.is_on()) > pause > 1


def test_a_call_that_the_machine_delays_is_no_large_one():
    """Compiled code would win for good, however slow, where Python is kept from running once."""
    race = Race(None)
    race.is_on()
    for python in (9 * LARGE_CALL, 5000, 6000):
        assert race.take(9 * LARGE_CALL if python == 5000 else 20_000, of_python=False, worked=20_000) is None
        decided = race.take(python, of_python=True, worked=5000)
    assert decided is True
    assert race.is_on()
    assert race.take(9 * LARGE_CALL, of_python=False, worked=8 * LARGE_CALL) is False


def test_the_work_of_a_call_in_a_race_is_measured(monkeypatch):
    def f(xs):
        return xs[0]

    known = []
    take = Race.take

    def spied(race, nanoseconds, *, of_python, worked):
        known.append((nanoseconds, worked))
        return take(race, nanoseconds, of_python=of_python, worked=worked)

    monkeypatch.setattr(Race, "take", spied)
    jitted = appyc.jit(f)
    for _ in range(4):
        jitted([1.0] * 5000)
    assert known
    assert all(worked > 0 for _, worked in known)


def test_copies_of_items_make_no_call_large():
    """Else Python would never be timed where compiled code looks at a few items of a list that it gets as a whole."""
    race = Race(None, items=400_000)
    race.is_on()
    for _ in range(ROUNDS):
        assert race.take(2 * LARGE_CALL, of_python=False) is None
        decided = race.take(1000, of_python=True)
    assert decided is True
    assert race.limit == 2 * LARGE_CALL, "compiled code takes as long"


def python_takes(monkeypatch, nanoseconds):
    """Makes races see this time of each call in Python, and 1000 of each compiled one."""
    take = Race.take
    monkeypatch.setattr(
        Race,
        "take",
        lambda race, _, of_python, worked: take(
            race, nanoseconds if of_python else 1000, of_python=of_python
        ),
    )


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_regions_that_lose_hand_the_whole_function_to_python(monkeypatch):
    python_takes(monkeypatch, 1)
    monkeypatch.setattr(Race, "limit", 10**12)
    monkeypatch.setattr("appyc.compiler.compiled_function.limit_for", lambda nanoseconds: 10**12)
    jitted = appyc.jit(looping)
    a = np.arange(5.0)
    for _ in range(8):
        assert jitted(a, []) == looping(a, [])
    assert [f for f, _ in jitted.handed.values()] == [looping]


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_regions_that_win_are_called_by_the_host(monkeypatch):
    python_takes(monkeypatch, 100_000)
    jitted = appyc.jit(looping)
    a = np.arange(5.0)
    for _ in range(2 * ROUNDS + 1):
        assert jitted(a, []) == looping(a, [])
    assert [f.__name__ for f, _ in jitted.handed.values()] == ["looping"]
    assert [f for f, _ in jitted.handed.values()] != [looping]


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_python_gets_a_function_that_it_runs_faster_as_a_whole(monkeypatch):
    """Though each of its regions is faster than what is called in its place when it is timed alone."""
    take = Race.take

    def timed(race, _, *, of_python, worked):
        in_python = 1 if race.large == LARGE_HOSTED_CALL else 100_000
        return take(race, in_python if of_python else 1000, of_python=of_python)

    monkeypatch.setattr(Race, "take", timed)
    monkeypatch.setattr(Race, "limit", 10**12)
    jitted = appyc.jit(looping)
    a = np.arange(5.0)
    for _ in range(2 * ROUNDS + 1):
        assert jitted(a, []) == looping(a, [])
    assert [f for f, _ in jitted.handed.values()] == [looping]


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_call_that_takes_longer_than_its_limit_brings_the_race_back(monkeypatch):
    python_takes(monkeypatch, 1)
    monkeypatch.setattr(Race, "limit", 1)
    jitted = appyc.jit(looping)
    a = np.arange(5.0)
    for _ in range(9):
        assert jitted(a, []) == looping(a, [])


def looping(a, log):
    total = 0.0
    for _ in range(3):
        for i in range(a.shape[0]):
            total += a[i] * 2
        log.append(total)
    return total, log


# ---------------------------------------------------------------- the dispatcher


def test_an_entry_hands_calls_of_a_kind_until_one_takes_too_long():
    entry = Entry(lambda *args, **keywords: "fallback", raise_fault)
    entry.handed[entry.kind((1,), {"pause": 0.0})] = (lambda x, pause: time.sleep(pause), 20_000_000)
    assert entry(1, pause=0.0) is None
    assert entry("a", pause=0.0) == "fallback"
    assert entry(1) == "fallback"
    assert entry(1, pause=0.1) is None
    assert entry.handed == {}
    assert entry(1, pause=0.0) == "fallback"
    entry.handed[entry.kind((1,), {})] = (lambda x: 1 // 0, 0)
    with pytest.raises(ZeroDivisionError):
        entry(1)


def test_the_dispatcher_tells_kinds_apart():
    values = [1, 2.0, "s", None, int, len, lambda: 0, [1], [1] * 65, (1, (2.0,)), (), np.ones(2), np.ones((2, 2)),
              np.ones(2, ">f8"), np.ones(2, np.longdouble), np.float64(1), np.ma.array([1]), {}]  # fmt: skip
    one = Entry(print, raise_fault)
    for k, value in enumerate(values):
        for n, also in enumerate(values):
            assert (one.kind((value,), {}) == one.kind((also,), {})) == (k == n)
    assert one.kind((1,), {"a": 1}) != one.kind((1, 1), {})
    assert one.kind(tuple(range(100)), {}) is None


def test_nothing_warns_where_all_is_compiled():
    jitted = appyc.jit(first)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(8):
            jitted(np.ones(3))


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_loop_of_few_iterations_in_a_loop_in_python_is_not_compiled():
    def few(n, log):
        for i in range(n):
            total = 0
            for k in range(3):
                total += i * k
            log.append(total)
        return log

    def many(n, log):
        for i in range(n):
            total = 0
            for k in range(n):
                total += i * k
            log.append(total)
        return log

    one, other = appyc.jit(few), appyc.jit(many)
    assert one(4, []) == few(4, [])
    assert other(4, []) == many(4, [])
    assert not one.explain().loops
    assert [r.index for r in other.explain().loops] == ["k"]


def test_the_programs_of_the_benchmark_do_what_python_does():
    for program in PROGRAMS:
        jitted = appyc.jit(program.function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", appyc.FallbackWarning)
            for _ in range(9):
                one, other = program.arguments(), program.arguments()
                compare_values(program.function(*other), jitted(*one), program.function.__name__)


def leaves(tree, weight=1):
    if isinstance(tree, int):
        return weight
    return sum(leaves(branch, weight) for branch in tree)


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_recursive_function_in_python_calls_itself_and_not_the_dispatcher(monkeypatch):
    tree = [1, [2, [3, 4]], [], [[5], 6]]
    take = Race.take
    won = lambda race, _, *, of_python, worked: take(race, 2 - of_python, of_python=of_python)  # noqa: E731
    monkeypatch.setattr(Race, "take", won)  # by Python, however long a call takes
    monkeypatch.setattr("appyc.compiler.compiled_function.limit_for", lambda nanoseconds: 10**12)
    plain, compiled = leaves, appyc.jit(leaves)
    monkeypatch.setitem(globals(), "leaves", compiled)
    assert [compiled(tree) for _ in range(20)] == [6] * 20
    handed, _, names, name = compiled.handed[compiled.kind((tree, 1), {})]
    assert handed is not plain
    assert (names[name], handed.__qualname__, handed.__globals__) == (compiled, "leaves", globals())
    assert handed.__code__.co_firstlineno == plain.__code__.co_firstlineno

    calls = []

    def counted(branch, weight):
        calls.append(branch)
        return compiled(branch, weight)

    monkeypatch.setitem(globals(), "leaves", counted)
    assert compiled(tree) == 6
    assert len(calls) == 11


def zeroed(a, flag):
    total = 0.0
    for i in range(len(a)):
        if flag:
            a[i] = 0.0
        total += a[i]
    return total


def test_python_decides_whether_a_read_only_array_is_stored_into():
    given = np.arange(5.0)
    given.flags.writeable = False
    compiled = appyc.jit(zeroed)
    assert compiled(given, False) == 10.0
    with pytest.raises(ValueError, match="read-only"):
        compiled(given, True)
    with pytest.raises(ValueError, match="'a' is read-only, and this assigns to it"):
        appyc.jit(strict=True)(zeroed)(given, False)


def test_calls_that_store_into_read_only_arrays_are_handed_to_python():
    def fill(a, b):
        for i in range(a.shape[0]):
            a[i] = b[i] + 1

    jitted = appyc.jit(fill)
    jitted.compile(np.ones(3), np.ones(3))
    closed = np.zeros(3)
    closed.flags.writeable = False
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            jitted(closed, np.ones(3))
    assert list(jitted.handed.values()) == [(fill, 0)]
    a = np.zeros(3)
    jitted(a, closed)  # what is only read may be closed
    assert a.tolist() == [1, 1, 1]


def test_compiled_code_that_leaves_many_calls_to_python_races_against_it():
    def fibonacci_number(n):
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    jitted = appyc.jit(fibonacci_number)
    jitted.compile(3)
    for _ in range(CALLS_LEFT):
        assert jitted.kernels
        assert jitted(150) == fibonacci_number(150)
    assert not jitted.kernels
    for n in (150, 50) * 10:  # whoever wins
        assert jitted(n) == fibonacci_number(n)
