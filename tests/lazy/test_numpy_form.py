"""What NumPy runs of a recorded program: temporaries without names."""

import ast
import tracemalloc

import numpy
import pytest

import appyc.numpy as np
from appyc.lazy import running
from appyc.lazy.numpy_form import numpy_form


def form(text: str) -> str:
    body = "".join(f"    {line}\n" for line in text.strip().splitlines())
    written = ast.unparse(numpy_form(ast.parse(f"def recorded():\n{body}")))
    return "\n".join(line.strip() for line in written.splitlines()[1:])


def test_a_temporary_is_written_where_it_is_used() -> None:
    text = "t1 = np.multiply(s0, p0)\nt2 = np.sqrt(p0)\nt3 = np.add(t1, t2)\nreturn (t3,)"
    assert form(text) == "return (np.multiply(s0, p0) + np.sqrt(p0),)"


def test_one_that_is_used_twice_has_a_name_until_then() -> None:
    text = "t1 = np.multiply(s0, p0)\nt2 = np.multiply(t1, t1)\nt3 = np.negative(t2)\nt4 = np.exp(t3)\nreturn (t4,)"
    expected = "t1 = np.multiply(s0, p0)\nreturn (np.exp(-np.multiply(t1, t1)),)"
    assert form(text) == expected


@pytest.mark.parametrize("store", ["p0[0] = 1.0", "np.add.at(p0, p1, 1.0)", "t9 = f0(p0)"])
def test_what_is_read_before_a_store_stays_before_it(store: str) -> None:
    text = f"t1 = np.multiply(s0, p0)\n{store}\nt2 = np.add(t1, p0)\nreturn (t2,)"
    assert form(text).splitlines()[:2] == ["t1 = np.multiply(s0, p0)", store]


def test_what_is_read_in_a_loop_is_computed_before_it() -> None:
    text = "t1 = np.multiply(s0, p0)\nfor r in range(3):\n        f0(t1)\nreturn ()"
    assert form(text).startswith("t1 = np.multiply(s0, p0)\nfor r")


def test_long_chains_compile() -> None:
    text = "\n".join(f"t{k} = np.add(t{k - 1}, 1.0)" for k in range(1, 3000))
    lines = form(f"{text}\nreturn (t2999,)").splitlines()
    assert 3000 / 60 < len(lines) < 3000 / 10
    values = numpy.zeros(3)
    names: dict[str, object] = {"np": numpy}
    exec("def recorded(t0):\n  " + "\n  ".join(lines), names)
    (found,) = names["recorded"](values)  # type: ignore[operator]
    assert found.tolist() == [2999.0] * 3


def test_sums_are_computed_in_the_memory_of_their_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running.STATE, "worth", 1 << 60)
    size = 1 << 17
    x = np.array(numpy.ones(size))
    tracemalloc.start()
    y = (x * 2.0 + x * 3.0 + x * 4.0 + x * 5.0).numpy()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert y[0] == 14.0
    assert most < 2.5 * 8 * size
