"""What is told of recorded operations: what ran, and a picture of what has not."""

from __future__ import annotations

import pytest

import appyc
import appyc.numpy as np
from appyc.lazy import running
from tests.lazy.fuzz import compiling


def test_the_last_flush_is_explained() -> None:
    with compiling("cpu", 0):
        a = np.array([1.0] * 50)
        b = (a * 2.0 + 1.0).sum()  # the recorded line
        assert float(b) == 150
        text = appyc.explain()
    assert "np.multiply(p0, s0)" in text
    assert "test_reporting.py:16" in text
    assert "reduction" in text


def test_what_numpy_ran_is_told_with_the_reason() -> None:
    with compiling("cpu", 1 << 40):
        assert (np.ones(3) + 1).tolist() == [2, 2, 2]
        assert "too little" in appyc.explain()
    with compiling("cpu", 0):
        z = np.ones((3, 3)) @ np.ones((3, 3))
        assert z.tolist() == [[3.0] * 3] * 3
        assert "by NumPy: Product" in appyc.explain()


def test_a_picture_of_what_is_pending() -> None:
    a = np.ones((4, 5))
    b = np.exp(a) * 2.0
    c = b.sum(axis=0)
    drawing = np.graph(c)
    assert "exp" in drawing.mermaid
    assert drawing.svg.startswith("<svg")
    assert c.shape == (5,)  # still pending, and not changed
    assert float(c[0]) == pytest.approx(8 * 2.718281828459045)
    with pytest.raises(ValueError, match="nothing is pending"):
        np.graph(a)


def test_a_program_that_cannot_be_compiled_is_run_by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_compiler(*args: object) -> object:
        raise appyc.ToolchainError("there is no C compiler")

    monkeypatch.setattr(running, "JitFunction", lambda *args: no_compiler)
    with compiling("cpu", 0):
        assert (np.ones(3) * 2.0).tolist() == [2, 2, 2]
        assert "there is no C compiler" in appyc.explain()


def test_the_report_names_what_numpy_ran() -> None:
    a = np.arange(4.0) + 1
    np.sort(a)
    assert "by NumPy: sort, which is not recorded" in appyc.explain()
