"""Verdicts without running: what is taken for granted about arguments, and what is said."""

from __future__ import annotations

import pytest

from appyc.report.check import check_file


def codes(tmp_path, text):
    """(line, code) of every finding in a program."""
    file = tmp_path / "program.py"
    file.write_text(text)
    return [(f.line, f.code) for f in check_file(file)]


def test_ranks_come_from_subscripts_shapes_and_callees(tmp_path):
    assert codes(
        tmp_path,
        "def inner(m, k):\n"
        "    for j in range(m.shape[1]):\n"
        "        m[k, j] = 0.0\n"
        "def outer(m):\n"
        "    for k in range(len(m)):\n"
        "        inner(m, k)\n"
        "def unpacked(m, out):\n"
        "    rows, columns = m.shape\n"
        "    for i in range(rows):\n"
        "        out[i] = columns\n",
    ) == [(2, "I101"), (5, "I101"), (9, "I101")]


def test_index_arrays_hold_integers(tmp_path):
    text = (
        "def csr(values, columns, rows, x, y):\n"
        "    for i in range(len(y)):\n"
        "        s = 0.0\n"
        "        for k in range(rows[i], rows[i + 1]):\n"
        "            j = columns[k]\n"
        "            s += values[k] * x[j]\n"
        "        y[i] = s\n"
    )
    assert codes(tmp_path, text) == [(2, "I101"), (4, "I102")]


def test_annotations_count_more_than_use(tmp_path):
    text = (
        "import numpy as np\n"
        "def f(a: 'int64[:, :]', n: int, mask: np.ndarray):\n"
        "    for i in range(n):\n"
        "        a[i, 0] = a[i, 0] >> 1\n"
    )
    assert codes(tmp_path, text) == [(3, "I101")]


def test_methods_and_their_fields(tmp_path):
    text = (
        "class C:\n"
        "    def f(self, dt):\n"
        "        for i in range(self.a.shape[0]):\n"
        "            self.a[i] += dt * self.b[i, 0]\n"
    )
    assert codes(tmp_path, text) == [(3, "I101")]


def test_globals_are_read_not_run(tmp_path):
    text = (
        "import numpy as np\n"
        "N = 4 * 25\n"
        "int('this file was run')\n"
        "GRID = np.zeros((N, N))\n"
        "def f():\n"
        "    for i in range(N):\n"
        "        GRID[i, i] = N\n"
    )
    assert codes(tmp_path, text) == [(6, "I101")]


def test_every_pragma_that_cannot_be_read_is_reported(tmp_path):
    text = (
        "def f(a):\n"
        "    #pragma paralel for\n"
        "    for i in range(3):\n"
        "        print(i)\n"
        "    #pragma parallel for colapse(2)\n"
        "    for i in range(3):\n"
        "        a[i] = 1.0\n"
        "#pragma parallel for\n"
        "x = 3\n"
    )
    found = codes(tmp_path, text)
    assert [f for f in found if f[1] == "P001"] == [(2, "P001"), (5, "P001"), (8, "P001")]


def test_what_runs_in_python_is_told_apart_from_what_is_compiled(tmp_path):
    text = (
        "def f(a, steps):\n"
        "    log = set()\n"
        "    for t in range(steps):\n"
        "        for i in range(a.shape[0]):\n"
        "            a[i] = a[i] * 0.5\n"
        "        log.add(t)\n"
        "        while a[0] < 3.0:\n"
        "            a[0] += 1.0\n"
        "    return log\n"
    )
    assert codes(tmp_path, text) == [(3, "I106"), (4, "I101"), (7, "I107")]


def test_an_uncompilable_statement_in_an_annotated_loop_is_an_error(tmp_path):
    text = "def f(a):\n    #pragma parallel for\n    for i in range(len(a)):\n        a[i] = len([1, i])\n"
    assert codes(tmp_path, text) == [(4, "U001")]


def test_a_loop_of_the_module_itself(tmp_path):
    text = (
        "import numpy as np\n"
        "n = 10\n"
        "a = np.zeros(n)\n"
        "for i in range(n):\n"
        "    a[i] = i\n"
        "for j in range(n):\n"
        "    last = j\n"
        "print(last)\n"
    )
    assert codes(tmp_path, text) == [(4, "I101"), (6, "I106")]


@pytest.mark.parametrize("text", ["", "x = 1\n", "def f():\n    return 1\n"])
def test_nothing_to_say(tmp_path, text):
    assert codes(tmp_path, text) == []
