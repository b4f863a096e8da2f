"""What decides between one thread and several: the arithmetic, the same in C, and where numbers are kept."""

from __future__ import annotations

import ctypes
import time
from dataclasses import astuple, fields, replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from appyc.c_gen.text.c_helpers import Helpers
from appyc.c_gen.text.c_types import TYPEDEFS
from appyc.ir.machine_model import Machine, Work
from appyc.options import Options
from appyc.report.machine_table import describe_machine
from appyc.runtime import machine_rates, measure
from appyc.runtime.toolchain import build

MACHINE = Machine(
    vector=0.1, scalar=0.4, gather_near=1, gather_far=10, near_bytes=1e6, byte_near=0.01, byte_far=0.1,
    byte_shared=0.04, fork=2_000, wake=50_000, awake=1e6,
)  # fmt: skip


# ---------------------------------------------------------------- the arithmetic


def test_computing_and_moving_overlap_and_computing_is_shared_evenly():
    work = Work(vector=1e6, scalar=1e5, gathers=0, bytes=1e5)
    assert MACHINE.alone(work) == pytest.approx(1e5 + 4e4)
    assert MACHINE.together(work, 4) == pytest.approx(1.4e5 / 4)


def test_stream_from_memory_gains_only_what_memory_gives():
    work = Work(vector=0, scalar=0, gathers=0, bytes=1e8)
    assert MACHINE.alone(work) == pytest.approx(1e7)
    assert MACHINE.together(work, 2) == pytest.approx(5e6)
    assert MACHINE.together(work, 64) == pytest.approx(4e6)


def test_what_fits_into_the_caches_of_all_cores_moves_at_their_speed():
    work = Work(vector=0, scalar=0, gathers=0, bytes=4e6)
    assert MACHINE.alone(work) == pytest.approx(4e5)
    assert MACHINE.together(work, 4) == pytest.approx(1e4)


def test_gathers_cost_what_the_memory_that_they_are_from_costs():
    near, far = (MACHINE.alone(Work(0, 0, 1e6, size)) for size in (1e6, 1e6 + 1))
    assert (near, far) == (1e6, 1e7)


# ---------------------------------------------------------------- the same in C


@pytest.fixture(scope="module")
def in_c(tmp_path_factory):
    """The function that generated code calls, over a table that tests fill."""
    helpers = Helpers()
    for name in ("threads_may_pay", "threads_used", "writes_past"):
        helpers.plain(name)
    text = "\n".join([
        TYPEDEFS, helpers.text(),
        "bool pays(int64_t share, int64_t trips, double v, double s, double g, double b, double e) {",
        "    return threads_may_pay(share, trips, v, s, g, b, e); }",
        "void used(void) { threads_used(); }",
        "void forget(void) { threads_used_at = loop_left_at = -1e300; left_behind = 0; }",
    ])  # fmt: skip
    built = tmp_path_factory.mktemp("pay") / "pay.so"
    build(text, built, Options())
    library = ctypes.CDLL(str(built))
    library.pays.restype = ctypes.c_bool
    library.pays.argtypes = [ctypes.c_int64] * 2 + [ctypes.c_double] * 5
    table = (ctypes.c_double * len(fields(Machine)))()

    def use(found):
        library.forget()
        for place, value in enumerate(astuple(found)):
            table[place] = value
        ctypes.c_void_p.in_dll(library, "appyc_machine").value = ctypes.addressof(table)
        return library

    return use


amounts = st.floats(0, 1e7)


@given(
    st.integers(2, 64), st.integers(2, 10**6), amounts, amounts, st.floats(0, 1e5), amounts, st.floats(0, 1e3)
)
@example(2, 2, 0.0, 0.0, 0.0, 998001.0, 1000.0)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_compiled_code_decides_as_the_model_does(in_c, threads, trips, vector, scalar, gathers, once, each):
    per = [x / trips for x in (vector, scalar, gathers)]
    work = Work(*(x * trips for x in per), once + trips * each)
    gain = MACHINE.gain(work, min(threads, trips))
    for start in (MACHINE.fork, MACHINE.wake):
        if abs(gain - start) < 1e-6 * (1 + start):
            return  # rounding may decide
    woken = replace(MACHINE, wake=MACHINE.fork)
    threads = min(threads, trips)
    assert in_c(woken).pays(threads, trips, *per, once, each) == (gain > MACHINE.fork)
    assert in_c(MACHINE).pays(threads, trips, *per, once, each) == (gain > MACHINE.wake)


def test_without_a_table_every_loop_is_shared(tmp_path, in_c):
    library = in_c(MACHINE)
    assert not library.pays(2, 10, 1, 1, 0, 0, 0)
    ctypes.c_void_p.in_dll(library, "appyc_machine").value = None
    assert library.pays(2, 10, 1, 1, 0, 0, 0)


def middling(library):
    """A loop that gains 10 us from threads that run, and would lose 38 by waking them."""
    return library.pays(2, 1000, 720, 0, 0, 0, 0)


def test_loop_too_short_to_wake_threads_uses_those_that_are_awake(in_c):
    library = in_c(replace(MACHINE, awake=1e9))
    assert not middling(library)
    library.used()
    assert middling(library)
    asleep = in_c(replace(MACHINE, awake=1))
    asleep.used()
    assert not middling(asleep)


def test_short_loops_in_a_row_wake_threads_once_they_have_lost_as_much(in_c):
    library = in_c(replace(MACHINE, awake=1e9))
    answers = [middling(library) for _ in range(6)]
    assert answers == [False, False, False, False, True, False]  # 5 * 10 us > 48 us; none was woken here
    apart = in_c(replace(MACHINE, awake=1e-3))
    assert not any(middling(apart) for _ in range(20))


# ---------------------------------------------------------------- measured once, and kept


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """A process that knows nothing yet, with a cache folder of its own, on a machine as in MACHINE."""
    monkeypatch.setenv("APPYC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("APPYC_MACHINE", "measured")
    restart(monkeypatch)
    answers = [(MACHINE, True)]
    calls = []

    def fake(threads):
        calls.append(threads)
        return answers[0]

    monkeypatch.setattr(measure, "measure", fake)
    return answers, calls


def restart(monkeypatch):
    known = machine_rates._Known()
    monkeypatch.setattr(machine_rates, "_known", lambda: known)


def file_of(tmp_path):
    (found,) = (tmp_path / "cache" / "v1").glob("machine-*.json")
    return found


def test_numbers_are_measured_when_asked_for_and_never_by_looking(fresh, monkeypatch):
    _, calls = fresh
    assert machine_rates.current() == Machine()
    assert calls == []
    machine_rates.ensure_measured()
    assert machine_rates.current() == MACHINE
    machine_rates.ensure_measured()
    restart(monkeypatch)
    assert machine_rates.current() == MACHINE
    machine_rates.ensure_measured()
    assert len(calls) == 1


@pytest.mark.parametrize("damage", ["", "no json", '{"machine": {}}', "[1, 2]", '{"machine": 3, "runs": []}'])
@pytest.mark.parametrize("sealed", [True, False])
def test_damaged_file_is_as_good_as_none(fresh, monkeypatch, tmp_path, damage, sealed):
    _, calls = fresh
    machine_rates.ensure_measured()
    if sealed:
        machine_rates._cache().write_text(machine_rates._file(), damage)
    else:
        file_of(tmp_path).write_text(damage)
    restart(monkeypatch)
    assert machine_rates.current() == Machine()
    machine_rates.ensure_measured()
    assert machine_rates.current() == MACHINE
    assert len(calls) == 2


def test_numbers_that_are_no_measurements_are_not_believed(fresh, monkeypatch):
    answers, _ = fresh
    for wrong in (0.0, float("inf"), float("nan"), -1.0):
        answers[0] = (replace(MACHINE, fork=wrong), True)
        assert machine_rates.remeasure() is None
        assert machine_rates.current() == Machine()
        restart(monkeypatch)


def test_busy_machine_is_measured_again_by_the_next_processes_and_the_best_is_kept(fresh, monkeypatch):
    answers, calls = fresh
    for fork, near in ((2.9e3, 0.02), (2e3, 0.04), (2.5e3, 0.03), (1e3, 0.001)):
        answers[0] = (replace(MACHINE, fork=fork, byte_near=near), False)
        machine_rates.ensure_measured()
        machine_rates.ensure_measured()
        restart(monkeypatch)
    assert len(calls) == machine_rates.MAX_RUNS
    assert (machine_rates.current().fork, machine_rates.current().byte_near) == (2e3, 0.02)


def test_a_machine_that_was_busy_each_time_is_measured_again_later(fresh, monkeypatch):
    answers, calls = fresh
    for _ in range(machine_rates.MAX_RUNS + 1):
        answers[0] = (MACHINE, False)
        machine_rates.ensure_measured()
        restart(monkeypatch)
    later = time.time() + machine_rates.BELIEVED + 1
    monkeypatch.setattr(machine_rates.time, "time", lambda: later)
    answers[0] = (replace(MACHINE, own_product=0.01), True)
    machine_rates.ensure_measured()
    assert len(calls) == machine_rates.MAX_RUNS + 1
    assert machine_rates.current().own_product == 0.01
    restart(monkeypatch)
    machine_rates.ensure_measured()
    assert len(calls) == machine_rates.MAX_RUNS + 1, "a quiet measurement is final"


def test_streams_of_several_threads_are_believed_beside_those_of_one(fresh, monkeypatch):
    """A moment in which one thread had the memory to itself does not make several look slow."""
    answers, _ = fresh
    for far, shared in ((0.16, 0.08), (0.1, 0.1)):
        answers[0] = (replace(MACHINE, byte_far=far, byte_shared=shared), False)
        machine_rates.ensure_measured()
        restart(monkeypatch)
    ordinary = Machine()
    assert machine_rates.current().byte_far == 0.1
    assert machine_rates.current().byte_shared == 0.1 * ordinary.byte_shared / ordinary.byte_far


def test_threads_that_waited_for_cores_are_not_believed(fresh, monkeypatch):
    """Whoever measured it: an empty loop does not take milliseconds where each thread has a core."""
    answers, calls = fresh
    answers[0] = (replace(MACHINE, fork=5e6, wake=5e6, byte_shared=0.1), True)
    machine_rates.ensure_measured()
    restart(monkeypatch)
    found, ordinary = machine_rates.current(), Machine()
    assert (found.fork, found.wake) == (ordinary.fork, ordinary.wake)
    assert found.byte_shared < found.byte_far
    answers[0] = (MACHINE, True)
    machine_rates.ensure_measured()
    assert len(calls) == 2
    assert machine_rates.current().fork == MACHINE.fork


def test_machine_that_cannot_be_measured_is_an_ordinary_one(fresh):
    answers, calls = fresh
    answers[0] = None
    machine_rates.ensure_measured()
    machine_rates.ensure_measured()
    assert machine_rates.current() == Machine()
    assert len(calls) == 1


def test_switch_of_the_environment(fresh, monkeypatch):
    _, calls = fresh
    monkeypatch.setenv("APPYC_MACHINE", "default")
    machine_rates.ensure_measured()
    assert calls == []
    assert "ordinary machine" in describe_machine()
    monkeypatch.setenv("APPYC_MACHINE", "quick")
    with pytest.warns(RuntimeWarning, match="APPYC_MACHINE must be measured or default, not 'quick'"):
        machine_rates.ensure_measured()
    assert len(calls) == 1


def test_real_measurement_has_numbers_in_order(monkeypatch):
    found = measure.measure(2)
    if found is None:
        pytest.skip("the compiler has no OpenMP")
    m, _ = found
    assert all(machine_rates.FASTEST <= number <= machine_rates.SLOWEST for number in astuple(m))
    assert m.vector <= 2 * m.scalar
    assert m.byte_near <= 2 * m.byte_far
    assert m.byte_shared <= m.byte_far
    assert m.fork <= m.wake


def test_products_are_measured_for_one_thread_too(monkeypatch):
    found = measure.measure(1)
    if found is None:
        pytest.skip("the compiler has no OpenMP")
    assert all(1e-3 < number < 10 for number in (found[0].library_product, found[0].own_product))
    monkeypatch.setattr(measure.blas, "multiply", lambda: None)
    found = measure.measure(1)
    assert found is not None
    assert found[0].own_product > found[0].library_product


def test_no_compiler_measures_nothing(monkeypatch):
    monkeypatch.setenv("APPYC_CC", "no-such-compiler")
    assert measure.measure(2) is None


def test_command_prints_what_is_used(capsys):
    from appyc.cli import main

    assert main(["machine"]) == 0
    assert (
        "starting threads           3 us where they wait, 30 us where they sleep" in capsys.readouterr().out
    )
