"""Verdicts without running: what is taken for granted about arguments, and what is said."""

from __future__ import annotations

import pytest

from appyc.report.check import check_file


def messages(tmp_path, text):
    """(line, column, code, message) of every finding in a program."""
    file = tmp_path / "program.py"
    file.write_text(text)
    return [(f.line, f.column, f.code, f.message) for f in check_file(file)]


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
        '        log.add(f"{t}")\n'
        "        while a[0] < 3.0:\n"
        "            a[0] += 1.0\n"
        "    return log\n"
    )
    assert codes(tmp_path, text) == [(3, "I106"), (4, "I101"), (7, "I107")]


def test_loops_of_coroutines_run_in_python(tmp_path):
    text = (
        "async def f(a):\n"
        "    #pragma parallel for\n"
        "    for i in range(len(a)):\n"
        "        a[i] = 0\n"
        "    def g(b):\n"
        "        for i in range(len(b)):\n"
        "            b[i] = 1\n"
    )
    assert codes(tmp_path, text) == [(3, "I106"), (6, "I101")]


def test_an_uncompilable_statement_in_an_annotated_loop_is_an_error(tmp_path):
    text = (
        "def f(a):\n    #pragma parallel for\n    for i in range(len(a)):\n        a[i] = [1, i].index(i)\n"
    )
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


def test_a_pragma_on_slices_has_a_line_for_each_slice(tmp_path):
    text = (
        "def f(a, b, M, N):\n"
        "    #pragma :M=>parallel :N=>simd,le(8)\n"
        "    a[:M, :N] = b[:M, :N] * 2.0\n"
        "def g(a, idx, x, N):\n"
        "    #pragma :N=>parallel,block(4)\n"
        "    a[idx[:N]] = x[:N]\n"
    )
    assert messages(tmp_path, text) == [
        (2, 13, "I100", "':M=>parallel' holds: independent"),
        (2, 26, "I100", "':N=>simd,le(8)' holds: independent; each call tests le(8)"),
        (5, 13, "I100", "':N=>parallel,block(4)' holds: independent-if"),
    ]


def test_pragmas_on_slices_that_do_not_fit(tmp_path):
    text = (
        "def lacks(a, b, M, N):\n"
        "    #pragma 1:M=>parallel\n"
        "    b[1:N] = a[1:N]\n"
        "def sums(a, b, M, N):\n"
        "    log = set()\n"
        "    #pragma :N=>reduce(max)\n"
        "    b[:M] = a[:M, :N].sum(axis=1)\n"
        "    return log\n"
    )
    assert messages(tmp_path, text) == [
        (2, 13, "P001", "the statement has no slice '1:M'"),
        (6, 13, "P001", "the slice ':N' is reduced with 'sum', not with 'max'"),
    ]


def test_a_statement_with_a_pragma_that_runs_in_python(tmp_path):
    text = (
        "import numpy as np\n"
        "def library(a, N):\n"
        "    #pragma :N=>parallel\n"
        "    a[:N] = sorted(a[:N])\n"
        "def unknown(a, N):\n"
        "    #pragma :N=>parallel\n"
        "    a[:N] = nowhere(a[:N])\n"
        "a = np.zeros(4)\n"
        "#pragma :2=>parallel\n"
        "a[:2] = 1.0\n"
    )
    assert messages(tmp_path, text) == [
        (3, 5, "I106", "the statement runs in Python: line 4: sorted is called in Python only"),
        (7, 13, "W001", "'unknown' could not be judged without a call: name 'nowhere' is not defined"),
        (9, 1, "I106", "the statement runs in Python: put it into a function"),
    ]


def test_atomic_has_a_line(tmp_path):
    text = "def f(a, at, n):\n    for i in range(n):\n        #pragma atomic\n        a[at[i]] += 1.0\n"
    assert codes(tmp_path, text) == [(2, "I101"), (3, "I100")]


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ("float32[:", "the annotation 'float32[:' cannot be read, and is left out"),
        ("float23[:]", "'float23' is no type of elements: did you mean 'float32'?"),
    ],
)
def test_annotations_that_cannot_be_read(tmp_path, annotation, message):
    text = f"def f(a: '{annotation}', n: int):\n    for i in range(n):\n        a[i] = 1.0\n"
    (line, column, code, said), loop = messages(tmp_path, text)
    assert (line, column, code) == (1, 10, "W001")
    assert message in said
    assert loop[2] == "I101"


@pytest.mark.parametrize("annotation", ["float32[:, :]", "list[int]", "Grid", "np.ndarray", "float[:]"])
def test_annotations_of_all_kinds_are_taken(tmp_path, annotation):
    text = f"def f(a: '{annotation}', b, n: int):\n    for i in range(n):\n        b[i] = 1.0\n"
    assert codes(tmp_path, text) == [(2, "I101")]


@pytest.mark.parametrize(
    "parameter",
    [
        "x: 'np.longdouble[:]'",
        "x: Callable[[float], float] = abs",
        "x=np.datetime64('2020-01-01')",
        "x={1, 2}",
        "x: 'Widget' = object()",
        "*x",
        "**x",
    ],
)
def test_a_parameter_that_cannot_be_compiled_takes_its_own_loops_only(tmp_path, parameter):
    text = f"def f(a, {parameter}):\n    for i in range(len(a)):\n        a[i] = 2.0 * a[i]\n"
    text += "    for v in sorted(str(k) for k in x):\n        print(v)\n"
    found = dict(codes(tmp_path, "import numpy as np\n" + text))
    assert found[3] == "I101"
    assert found[5] == "I106"
