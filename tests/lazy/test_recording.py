"""When recorded operations run, in which order, and what is never run."""

from __future__ import annotations

import copy
import gc
import linecache
import pickle
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import appyc
import appyc.numpy as np
from appyc.lazy._nodes import Buffer, Statement
from appyc.lazy.gathering import Gathered, gather
from appyc.lazy.operations import pointwise
from appyc.lazy.recorded_calls import Recorded
from appyc.lazy.recording import Recording, line_of
from appyc.lazy.running import STATE, flush
from appyc.options import recorded_bounds


@pytest.fixture(autouse=True)
def _nothing_recorded() -> None:
    flush()


@appyc.jit
def largest(a):
    out = a[0]
    for i in range(a.shape[0]):
        out = max(out, a[i])
    return out


def pending() -> int:
    STATE.recording.prune()
    return len(STATE.recording.statements)


def test_a_pending_reader_sees_the_array_as_it_was() -> None:
    b = np.zeros(4)
    a = b + 1
    b[0] = 100
    assert a.tolist() == [1, 1, 1, 1]
    assert b.tolist() == [100, 0, 0, 0]


def test_asking_for_the_change_runs_the_pending_reader_before() -> None:
    b = np.zeros(4)
    a = b + 1
    b[0] = 100
    assert b.tolist() == [100, 0, 0, 0]
    assert a.tolist() == [1, 1, 1, 1]


def test_writing_through_a_view_writes_to_the_array() -> None:
    b = np.zeros((3, 4))
    c = b * 1
    c.T[1][...] = 7
    c[::-1][0, 2:] += 2
    assert c.tolist() == [[0, 7, 0, 0], [0, 7, 0, 0], [0, 7, 2, 2]]


def test_an_element_is_a_number_of_its_time() -> None:
    a = np.arange(4.0)
    first = a[0]
    a[0] = 9
    assert float(first) == 0
    first += 1
    assert a.tolist() == [9, 1, 2, 3]


def test_overlapping_parts_of_one_array() -> None:
    a = np.arange(6)
    a[1:] = a[:-1]
    assert a.tolist() == [0, 0, 1, 2, 3, 4]


def test_what_is_dropped_is_never_computed() -> None:
    a = np.ones(8)
    b = a + 1
    c = b * 2
    del b
    assert pending() == 3  # c needs both
    del c
    assert pending() == 1
    del a
    assert pending() == 0


def test_changes_of_a_dropped_array_are_dropped() -> None:
    a = np.ones(8) * 2
    a += 1
    a[2:] = a[1:-1]
    assert pending() == 4
    del a
    assert pending() == 0


def test_a_change_that_only_a_statement_run_before_it_kept_alive_is_dropped() -> None:
    a = np.zeros((3, 4)) + 1
    diagonal = np.diagonal(a).copy()  # reads a view that only NumPy knows, between programs
    a[1:] = 7
    del a
    flush()
    assert diagonal.tolist() == [1, 1, 1]


def test_only_what_is_asked_for_runs() -> None:
    a = np.ones(8)
    b, c = a + 1, a + 2
    assert b[0].item() == 2
    assert pending() == 1
    assert c.tolist() == [3] * 8


def test_a_million_operations_leave_nothing_behind() -> None:
    a = np.ones(4)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(100_000):
        a + 1.0
    gc.collect()
    assert len(gc.get_objects()) - before < 2000
    assert pending() < 100


@pytest.fixture
def bounded() -> Iterator[Callable[[int, int], None]]:
    flush()
    yield STATE.recording.bound
    STATE.recording.bound(*recorded_bounds())


def test_no_more_statements_wait_than_may(bounded) -> None:
    bounded(5, 1 << 30)
    a = np.ones(4)
    held = []
    for k in range(40):
        held.append(a + float(k))
        assert pending() <= 5
    assert [x.tolist()[0] for x in held] == [1.0 + k for k in range(40)]
    x = held[0]
    for _ in range(40):
        x = x * 1.5  # nobody holds the ones between, but the statements do
        assert pending() <= 5
    assert x.tolist() == [1.5**40] * 4


def test_no_more_bytes_wait_than_may(bounded) -> None:
    bounded(1000, 4000)
    a = np.ones(100)
    flush()
    held = []
    for k in range(23):
        held.append(a + float(k))
        assert sum(b.nbytes for s in STATE.recording.statements for b in s.makes()) <= 4000
        assert pending() == k % 5 + 1
    assert [x.tolist()[0] for x in held] == [1.0 + k for k in range(23)]
    for k in range(50):
        a + float(k)  # dropped: it does not count
    assert all(x.buffer.memory is not None for x in held)
    big = np.zeros(2000) + 1  # more than may wait, alone
    assert float((big + 1).sum()) == 4000


def test_each_statement_alone(bounded) -> None:
    bounded(1, 1 << 30)
    a = np.ones(4)
    b = a * 2 + 1
    b[1:] += a[:-1]
    assert pending() <= 1
    assert b.tolist() == [3, 4, 4, 4]


def test_bounds_come_from_the_environment() -> None:
    assert recorded_bounds({}) == (160, 1 << 30)
    given = {"APPYC_RECORDED_STATEMENTS": "7", "APPYC_RECORDED_BYTES": "4096"}
    assert recorded_bounds(given) == (7, 4096)
    for wrong in ("0", "-1", "many"):
        with pytest.raises(ValueError, match="APPYC_RECORDED_BYTES must be a positive number"):
            recorded_bounds({"APPYC_RECORDED_BYTES": wrong})


def test_what_a_report_tells_of_keeps_no_array_alive() -> None:
    a = np.ones(7) + 1
    b = (a * 2).sum()
    assert float(b) == 28
    gone = weakref.ref(a.buffer.memory)
    del a, b
    assert gone() is None
    assert "np.multiply" in appyc.explain()


def test_the_text_of_a_program_goes_with_it() -> None:
    STATE.programs.clear()
    STATE.last = []
    gc.collect()
    before = [name for name in linecache.cache if name.startswith("<recorded-")]
    assert (np.array([1.0, 2.0]) * 3 + 1).tolist() == [4, 7]
    assert [name for name in linecache.cache if name.startswith("<recorded-")] != before
    STATE.programs.clear()
    STATE.last = []
    gc.collect()
    assert [name for name in linecache.cache if name.startswith("<recorded-")] == before


def test_exponents_are_told_apart_by_value_and_type() -> None:
    values = [1.5, -2.0, 0.0]
    for _ in range(2):
        for exponent in (0.0, -0.0, 1, 1.0, 2, 2.5, 5, 7, -1.0, 0.5):
            with numpy.errstate(all="ignore"):
                wanted = numpy.array(values) ** exponent
            found = (np.array(values) ** exponent).numpy()
            assert numpy.array_equal(found, wanted, equal_nan=True), exponent
    with pytest.raises(ValueError, match="negative integer powers"):
        (np.array([1, 2]) ** -1).tolist()
    assert (np.array([1, 2]) ** 3).tolist() == [1, 8]


def test_a_call_whose_results_are_dropped_is_not_needed() -> None:
    a = np.ones(8) + 1
    with appyc.deferred():
        largest(a)
    del a
    assert pending() == 0


def test_powers_of_equal_numbers_of_other_types_are_other_operations() -> None:
    a = np.arange(4)
    for exponent in (2, 2.0, True):
        found, wanted = a**exponent, numpy.arange(4) ** exponent
        assert found.dtype == wanted.dtype
        assert found.tolist() == wanted.tolist()


def test_a_time_loop_is_one_program() -> None:
    def evolved(np):
        u = np.zeros((32, 32))
        u[16, 16] = 1.0
        for _ in range(200):
            lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
            u[1:-1, 1:-1] += 0.1 * lap
        return float(u.sum())

    STATE.programs.clear()
    assert evolved(np) == pytest.approx(evolved(numpy))
    assert len(STATE.programs) <= 4


def test_sizes_and_numbers_are_parameters() -> None:
    STATE.programs.clear()
    for n in (9, 17, 40):
        for k in range(3, 5):
            x = np.arange(float(n))
            assert float((x[k:] * (k + 0.5)).sum()) == numpy.arange(float(n))[k:].sum() * (k + 0.5)
    assert len(STATE.programs) == 1


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (lambda a: a + np.ones(3), ValueError),
        (lambda a: a[7], IndexError),
        (lambda a: a[0, 0], IndexError),
        (lambda a: a.sum(axis=2), ValueError),
        (lambda a: a.reshape(3, 3), ValueError),
        (lambda a: a @ np.ones(7), ValueError),
        (lambda a: a.__setitem__(slice(0, 2), np.ones(3)), ValueError),
        (lambda a: (a > 0).__iadd__(0.5), TypeError),
        (lambda a: a.transpose(0, 1), ValueError),
        (lambda a: a & 1.5, TypeError),
    ],
)
def test_faults_are_numpys_and_raised_where_they_are_written(wrong, kind) -> None:
    with pytest.raises(kind) as mine:
        wrong(np.ones(4))
    with pytest.raises(kind) as theirs:
        wrong(numpy.ones(4))
    assert type(mine.value) is type(theirs.value)


def test_recorded_statements_know_their_line() -> None:
    a = np.ones(4)
    b = a + 1  # the line
    file, line = line_of(STATE.recording.statements[-1].site)
    assert file == __file__
    text = linecache.getline(file, line)
    assert "# the line" in text
    del b


def test_other_libraries_see_later_changes() -> None:
    a = np.zeros(3) + 1
    view = numpy.asarray(a)
    a[0] = 5
    assert view.tolist() == [5, 1, 1]
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


def test_values_from_outside_are_those_of_the_moment() -> None:
    outside = numpy.zeros(3)
    a = np.asarray(outside)
    b = a + outside
    outside[:] = 9
    assert b.tolist() == [0, 0, 0]


def test_numpys_functions_take_the_arrays() -> None:
    a = np.arange(6.0).reshape(2, 3)
    assert isinstance(numpy.exp(a), np.ndarray)
    assert numpy.linalg.norm(a) == pytest.approx(numpy.linalg.norm(numpy.arange(6.0)))
    assert np.linalg.inv(np.eye(3) * 2).tolist() == (numpy.eye(3) / 2).tolist()
    numpy.copyto(a, 1.0)
    assert a.sum().item() == 6
    a.sort()
    order = np.argsort(np.array([3, 1, 2]))
    assert order.tolist() == [1, 2, 0]


def test_functions_that_write_to_their_arguments_wait_for_readers() -> None:
    a = np.array([3.0, 1.0, 2.0])
    b = a * 2
    a.sort()
    assert b.tolist() == [6, 2, 4]
    assert a.tolist() == [1, 2, 3]


def test_out_and_masks() -> None:
    a = np.array([1.0, -2.0, 3.0])
    b = np.empty(3)
    assert np.multiply(a, 2, out=b) is b
    b[b < 0] = 0
    assert b.tolist() == [2, 0, 6]
    assert a[a > 0].tolist() == [1, 3]


def test_copies_and_pickles() -> None:
    a = np.arange(3) + 1
    for other in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a)), a.copy()):
        other[0] = 7
        assert other.tolist() == [7, 2, 3]
    assert a.tolist() == [1, 2, 3]


def test_edges() -> None:
    assert (np.zeros((0, 3)) + 1).sum().item() == 0
    with pytest.raises(ValueError, match="zero-size"):
        np.zeros(0).max()
    assert (np.array(2.0) + 1).item() == 3
    with pytest.raises(OverflowError):
        np.ones(2, numpy.uint8) + 300
    assert (np.ones(2, numpy.uint8) + 255).tolist() == [0, 0]
    assert np.array([1, None], dtype=object).tolist() == [1, None]
    assert (np.array(["a", "b"]) == "a").tolist() == [True, False]
    assert str(np.ones(2) / 0) == "[inf inf]"


def test_every_public_name_is_there() -> None:
    missing = [name for name in numpy.__all__ if not hasattr(np, name)]
    assert missing == []


def test_the_garbage_collector_may_take_a_result_while_it_is_about_to_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An exception and its frames hold each other, and arrays, until the collector comes."""

    def in_a_circle() -> None:
        circle: list[object] = [np.ones(3) + 1.0]
        circle.append(circle)

    def after_the_collector(statements: list[Recorded]) -> Gathered:
        gc.collect()
        return gather(statements)

    gc.disable()
    try:
        in_a_circle()
        kept = np.ones(3) + 2.0
        monkeypatch.setattr("appyc.lazy.running.gather", after_the_collector)
        flush()
    finally:
        gc.enable()
    assert kept.tolist() == [3, 3, 3]


def test_what_sums_look_at_counts_as_work() -> None:
    """A sum is one number, but a program of sums over large arrays is worth compiling."""
    large = np.array(numpy.arange(30_000.0).reshape(10_000, 3))
    index = np.array([3, 5])
    work = []
    for _ in range(2):
        flush()
        gathered = [large.sum(), large.max(axis=0), large[index], large[1:3] * 2.0]
        work.append([gather([statement]).work for statement in STATE.recording.statements])
        del gathered
    assert work == [[30_000, 30_000, 6, 6]] * 2


def lines_of_programs() -> list[int]:
    """How many statements each program has that ran last, in the order in which they came to be."""
    return [len(program.text.lines) for program in STATE.programs.values() if program.runs]


def test_a_loop_is_told_although_something_came_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What precedes it runs with its first iterations; then its body is one program."""
    monkeypatch.setattr(STATE, "programs", {})
    monkeypatch.setattr(STATE, "habits", {})
    flush()
    u = np.zeros((20, 20))
    u[0] = 100.0
    weights = np.ones((20, 20)) * 0.1
    wanted = u.numpy() * 0.0
    wanted[0] = 100.0
    flush()
    STATE.programs.clear()
    u = np.zeros((20, 20))
    u[0] = 100.0
    for _ in range(60):
        change = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += weights[1:-1, 1:-1] * change
    counts = lines_of_programs()
    assert counts[0] <= 40  # and not all that may wait
    assert len(counts) <= 4
    programs = [program for program in STATE.programs.values() if len(program.text.lines) == 14]
    assert sum(program.runs for program in programs) >= 20
    for _ in range(60):
        change = (
            wanted[:-2, 1:-1]
            + wanted[2:, 1:-1]
            + wanted[1:-1, :-2]
            + wanted[1:-1, 2:]
            - 4 * wanted[1:-1, 1:-1]
        )
        wanted[1:-1, 1:-1] += 0.1 * change
    numpy.testing.assert_allclose(u.numpy(), wanted)


def test_a_short_loop_in_a_longer_one_is_not_taken_for_it() -> None:
    places = [(code, way, way) for code in ("f",) for way in range(40)]
    inner, outer = places[:3], places[3:12]
    body = inner * 7 + outer
    before = places[30:34]
    target = Buffer((3,), numpy.dtype(float))

    def is_due(sites: list[tuple[object, int, int]], site: tuple[object, int, int]) -> bool:
        recording = Recording(1 << 10, 1 << 30, 1)
        recording.statements = [Statement(pointwise(numpy.where), (), target, None, (3,), s) for s in sites]  # type: ignore
        return recording.is_due(site)  # type: ignore[arg-type]

    program = before + body * 4
    found = [n for n in range(4, 4 + 4 * len(body)) if is_due(program[:n], program[n])]
    assert found
    assert found[0] >= 4 + 3 * len(body)  # once the body has come three times
    assert not any(is_due(places[:n], places[n]) for n in range(39))


def test_a_loop_after_other_statements_runs_in_equal_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    def recorded_of(program: Callable[[], object]) -> list[int]:
        flush()
        counts = []
        take = STATE.recording.take_new

        def counted() -> list[Recorded]:
            counts.append(len(STATE.recording.statements))
            return take()

        monkeypatch.setattr(type(STATE.recording), "take_new", lambda self: counted())
        program()
        monkeypatch.undo()
        flush()
        return counts

    def loop() -> object:
        x = np.ones((30, 30))
        y = x * 2.0
        for _ in range(30):
            y = np.sqrt(y * x + 1.0) - x
        return y

    quick = recorded_of(loop)
    assert len(quick) > 5
    assert set(quick[1:]) == {12}


def test_a_loop_with_more_bytes_than_may_wait_is_cut_at_the_same_places_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twelve statements, of which four may wait: cut wherever four have come, they would be many programs."""
    monkeypatch.setattr(STATE, "programs", {})
    monkeypatch.setattr(STATE, "habits", {})
    monkeypatch.setattr(STATE.recording, "most_bytes", 4 * 800)

    def steps(np: Any, count: int) -> Any:
        x = y = np.arange(100.0) * 1.0
        for _ in range(count):
            a = x * 0.5 + y
            b = np.sqrt(np.abs(a)) - x
            y = np.minimum(a, b) + np.maximum(x, a) * 0.25
            x = np.cos(y) - b * 0.125
        return x

    flush()
    steps(np, 5)
    flush()
    known = len(STATE.programs)
    found = steps(np, 40)
    flush()
    assert len(STATE.programs) <= known + 2
    assert known < 10
    numpy.testing.assert_allclose(found.numpy(), steps(numpy, 40))


def test_what_goes_on_to_wait_is_there_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are too many bytes, and what runs for it raises."""
    monkeypatch.setattr(STATE.recording, "most_bytes", 3 * 800)
    flush()

    def fail(take: Callable[[], object], *_: object) -> None:
        take()
        raise RuntimeError("boom")

    def steps() -> None:
        y = np.ones(100) * 2.0
        for _ in range(9):
            y = y + 1.0

    with monkeypatch.context() as patch:
        patch.setattr("appyc.lazy.running._run_all", fail)
        with pytest.raises(RuntimeError, match="boom"):
            steps()
    assert STATE.recording.statements
    flush()


def test_converts_elements_to_times_and_text() -> None:
    """NumPy's names of such types (`datetime64[D]`, `str64`) are no names in a program."""
    days = np.array(["2024-01-01", "2024-03-01"], "M8[D]")
    assert days[1,].astype("M8[s]") == numpy.datetime64("2024-03-01T00:00:00")
    assert np.array(["a", "bc"])[1,].astype("S3") == b"bc"
    assert np.arange(3)[1,].astype(">i4").dtype == ">i4"
