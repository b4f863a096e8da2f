"""Functions that wrap others, and what `python -O` leaves out."""

from __future__ import annotations

import functools
import subprocess
import sys

import numpy as np
import pytest

import appyc


def doubled(fn):
    @functools.wraps(fn)
    def wrapper(a, factor=3.0):
        return 2 * fn(a) * factor

    return wrapper


def counted(fn):
    @functools.wraps(fn)
    def wrapper(*args, **keywords):
        return fn(*args, **keywords) + 1

    return wrapper


def logged(fn):
    log = []

    @functools.wraps(fn)
    def wrapper(a, factor=3.0):
        log.append(factor)
        for i in range(a.shape[0]):
            a[i] *= factor
        return fn(a), len(log)

    return wrapper


def first(a):
    return a[0]


def scaled(a, k=2):
    return a[0] * k


def test_a_wrapper_is_called_with_its_own_signature():
    jitted = appyc.jit(strict=True)(doubled(first))
    assert jitted(np.ones(3)) == 6.0
    assert jitted(np.ones(3), 1.0) == 2.0
    assert jitted(np.ones(3), factor=1.0) == 2.0
    assert jitted.__name__ == "first"
    with pytest.raises(TypeError):
        jitted(np.ones(3), 1.0, 2.0)


def test_two_wrappers_of_one_decorator_are_two_functions():
    one, other = doubled(first), doubled(scaled)
    for fn in (one, other, one):
        assert appyc.jit(fn)(np.ones(3)) == fn(np.ones(3))


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_wrapper_of_any_arguments():
    jitted = appyc.jit(counted(scaled))
    for _ in range(6):
        assert jitted(np.ones(3)) == 3.0
        assert jitted(np.ones(3), 4) == 5.0
        assert jitted(a=np.ones(3), k=1) == 2.0
    assert list(jitted._parameters.signature.parameters) == ["args", "keywords"]


def test_a_wrapper_of_which_a_part_runs_in_python_keeps_its_defaults():
    jitted, plain = appyc.jit(logged(first)), logged(first)
    for _ in range(3):
        assert jitted(np.ones(3)) == plain(np.ones(3))
    assert jitted(np.ones(3), factor=5.0) == plain(np.ones(3), factor=5.0)


def test_a_wrapper_that_is_called_from_a_compiled_function():
    inner = doubled(first)

    def outer(a):
        return inner(a, 2.0) + inner(a)

    assert appyc.jit(strict=True)(outer)(np.ones(3)) == outer(np.ones(3))


def test_python_without_asserts_compiles_none(tmp_path):
    """And an entry on disk of one kind is not taken for the other."""
    file = tmp_path / "program.py"
    file.write_text(
        "import appyc, numpy as np\n"
        "@appyc.jit(strict=True)\n"
        "def f(a):\n"
        "    assert a[0] > 5\n"
        "    if __debug__:\n"
        "        return 1.0\n"
        "    return a[0]\n"
        "try:\n"
        "    print(f(np.full(2, 3.0)), f(np.full(2, 7.0)))\n"
        "except AssertionError:\n"
        "    print('refused', f(np.full(2, 7.0)))\n"
    )
    for flags, expected in (
        ([], "refused 1.0"),
        (["-O"], "3.0 7.0"),
        ([], "refused 1.0"),
        (["-O"], "3.0 7.0"),
    ):
        done = subprocess.run([sys.executable, *flags, str(file)], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected


@pytest.mark.parametrize("way", ["-c", "-"])
def test_code_without_a_file_runs_in_python(way):
    text = (
        "import appyc, warnings\n"
        "@appyc.jit\n"
        "def f(n):\n"
        "    return n + 1\n"
        "print(f(1), f(2))\n"
        "try:\n"
        "    appyc.jit(f, strict=True)(1)\n"
        "except appyc.UnsupportedError as error:\n"
        "    print(error.summary)\n"
    )
    arguments = [way, text] if way == "-c" else [way]
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, input=text
    )
    assert done.stdout == "2 3\nthe source of 'f' cannot be read\n"
    assert done.stderr.count("FallbackWarning: f runs in Python: the source of 'f' cannot be read") == 1
