"""A fault of the compiler's own: Python runs what nobody asked to be compiled, and one warning says so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import appyc
import appyc.numpy as anp
from appyc import pipeline
from appyc.runtime import toolchain

RUNS_IN_PYTHON = pytest.mark.filterwarnings("default::appyc.InternalWarning")


def broken_pass(fn, ctx):
    raise KeyError("a symbol")


@pytest.fixture
def broken(monkeypatch):
    """A pass fails whatever it is given."""
    monkeypatch.setattr(pipeline, "ANALYSE", (broken_pass, *pipeline.ANALYSE))


def doubled(a):
    for i in range(a.shape[0]):
        a[i] *= 2.0
    return a.shape[0]


def marked(a):
    # pragma parallel for
    for i in range(a.shape[0]):
        a[i] *= 2.0


def with_prange(a):
    for i in appyc.prange(a.shape[0]):
        a[i] *= 2.0


def beside_python(a, log):
    log.append(len(a))
    for i in range(a.shape[0]):
        a[i] *= 2.0


@RUNS_IN_PYTHON
def test_a_pass_that_fails_is_named_in_one_warning_and_python_runs_the_function(broken):
    fn, a = appyc.jit(doubled), np.ones(3)
    with pytest.warns(appyc.InternalWarning) as told:
        assert fn(a) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            fn(a)
    assert (a == 64.0).all()
    (text,) = (str(w.message) for w in told)
    assert "\n" not in text
    assert all(part in text for part in ("doubled", "broken_pass", "KeyError", "report", "test_defects.py:"))
    assert told[0].filename == __file__
    assert "a defect of appyc" in str(fn.explain())


@pytest.mark.parametrize("fn", [appyc.jit(doubled, strict=True), appyc.jit(marked), appyc.jit(with_prange)])
def test_it_is_an_error_where_code_must_be_compiled(fn, broken):
    with pytest.raises(appyc.InternalError, match="broken_pass") as caught:
        fn(np.ones(3))
    assert f"def {fn.__name__}(a):" in str(caught.value)


@RUNS_IN_PYTHON
def test_a_region_that_fails_runs_in_python(broken):
    fn, a, log = appyc.jit(beside_python), np.ones(3), []
    with pytest.warns(appyc.InternalWarning, match="broken_pass"):
        fn(a, log)
    assert (a == 2.0).all()
    assert log == [3]


@RUNS_IN_PYTHON
@pytest.mark.parametrize(
    ("owner", "name", "stage"),
    [
        ("appyc.frontend.lower", "_lower_body", "the front end"),
        ("appyc.c_gen.c_file", "generate", "the C back end"),
        ("appyc.runtime.describe", "describe", "the compiler"),
    ],
)
def test_every_part_of_the_compiler_has_its_name(owner, name, stage, monkeypatch):
    def fails(*args, **keywords):
        raise AssertionError("of its own")

    monkeypatch.setattr(f"{owner}.{name}", fails)
    a = np.ones(3)
    with pytest.warns(appyc.InternalWarning, match=f"internal error in {stage}: AssertionError: of its own"):
        appyc.jit(doubled, cache=False)(a)
    assert (a == 2.0).all()


@RUNS_IN_PYTHON
def test_c_that_does_not_compile_and_a_version_that_a_call_turns_out_to_need(monkeypatch):
    @appyc.jit(cache=False)
    def shifted(a, b, k):
        for i in range(a.shape[0]):
            a[i] = b[i + k]

    a, b = np.zeros(4), np.arange(4.0)
    shifted(a, b, 0)
    monkeypatch.setattr(toolchain, "_FLAGS", (*toolchain._FLAGS, "-include", "stdnoreturn.h", "-Dint64_t=?"))
    for _ in range(3):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            shifted(a, b, -1)
        assert a.tolist() == [3.0, 0.0, 1.0, 2.0]
        assert len(told) == (_ == 0)


@RUNS_IN_PYTHON
def test_what_was_recorded_runs_by_numpy(broken, monkeypatch):
    monkeypatch.setattr("appyc.lazy.running.STATE.worth", 0)
    with pytest.warns(appyc.InternalWarning, match="what was recorded"):
        assert float((anp.arange(9000.0) * 2.0 + 1.0)[3]) == 7.0
