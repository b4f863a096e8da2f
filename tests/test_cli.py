"""The `appyc` command: scripts give what they give in Python, and `check` answers as an editor wants it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from appyc.cli import main

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))

SIZES = {
    "conjugate_gradient": ["32"],
    "floyd_warshall": ["60"],
    "heat": ["60", "40"],
    "kmeans": ["1200"],
    "life": ["120", "24"],
    "mandelbrot": ["64"],
}
"""Arguments that make a script large enough for something to be compiled."""


def command(*words, cwd=None):
    done = subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, cwd=cwd, check=False
    )
    return done.returncode, done.stdout, done.stderr


def both(script, *arguments):
    """What a script gives in Python and under `appyc run`."""
    in_python = command(script, *arguments)
    compiled = command("-m", "appyc", "run", script, *arguments)
    return in_python, compiled


def write(folder, text, name="program.py"):
    file = folder / name
    file.write_text(text)
    return file


# ---------------------------------------------------------------- run


@pytest.mark.sampled
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_a_script_prints_the_same_compiled(script):
    arguments = SIZES.get(script.stem, [])
    in_python = command(script, *arguments)
    compiled = command("-m", "appyc", "run", "--report", script, *arguments)
    assert compiled[:2] == in_python[:2]
    assert in_python[2] == ""
    assert "compiled" in compiled[2]


LOOP = """\
import sys
import numpy as np
def fill(a, value):
    for i in range(a.shape[0]):
        a[i] = value
a = np.zeros(200_000)
fill(a, float(len(sys.argv)))
"""


def test_arguments_and_globals_are_the_scripts(tmp_path):
    script = write(
        tmp_path, LOOP + "print(a.sum(), sys.argv, __name__, __file__, fill.__name__, fill.__doc__)\n"
    )
    in_python, compiled = both(script, "--report", "-m", "x")
    assert compiled == in_python


@pytest.mark.sampled
@pytest.mark.parametrize("typed", ["program.py", "./program.py", "../{0}/program.py"])
def test_a_script_is_named_by_its_whole_path(tmp_path, typed):
    write(tmp_path, LOOP + "import os\nos.chdir('/')\nprint(__file__, sys.argv[0])\nopen(__file__)\n1 / 0\n")
    typed = typed.format(tmp_path.name)
    in_python = command(typed, cwd=tmp_path)
    compiled = command("-m", "appyc", "run", typed, cwd=tmp_path)
    assert compiled == in_python
    assert str(tmp_path) in compiled[2]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("ending", "code"),
    [("sys.exit(3)", 3), ("sys.exit('no')", 1), ("raise SystemExit", 0), ("1 / 0", 1), ("pass", 0)],
)
def test_exit_codes_and_tracebacks_are_pythons(tmp_path, ending, code):
    in_python, compiled = both(write(tmp_path, LOOP + ending + "\n"))
    assert compiled == in_python
    assert compiled[0] == code


def test_a_traceback_shows_the_programs_lines_only(tmp_path):
    script = write(
        tmp_path,
        "import numpy as np\n"
        "def check(a, limit):\n"
        "    for i in range(a.shape[0]):\n"
        "        if a[i] > limit:\n"
        "            raise ValueError({'value': a[i]})\n"
        "def work():\n"
        "    try:\n"
        "        check(np.ones(300_000), 0.5)\n"
        "    except ValueError as error:\n"
        "        raise RuntimeError('in work') from error\n"
        "for k in range(3):\n"
        "    work()\n",
    )
    in_python, compiled = both(script)
    assert compiled == in_python
    assert "line 5, in check" in compiled[2]


def test_a_syntax_error_is_pythons(tmp_path):
    in_python, compiled = both(write(tmp_path, "x = 1\nfor i in\n"))
    assert compiled == in_python


def test_a_script_that_is_not_there(tmp_path):
    code, _, errors = command("-m", "appyc", "run", tmp_path / "none.py")
    assert code == 2
    assert "can't open file" in errors


def test_modules_of_the_scripts_folder_are_compiled_and_libraries_are_not(tmp_path):
    write(tmp_path, LOOP, "helper.py")
    script = write(tmp_path, "import json\nimport helper\nprint(type(helper.fill).__name__, helper.a[0])\n"
                             "print(type(json.dumps).__name__)\n")  # fmt: skip
    code, out, _ = command("-m", "appyc", "run", script)
    assert (code, out) == (0, "AutoFunction 1.0\nfunction\n")


def test_a_module_runs_as_main(tmp_path):
    package = tmp_path / "pkg"
    package.mkdir()
    write(package, "", "__init__.py")
    write(package, LOOP + "print(a[0], __name__, __package__, sys.argv[1:])\n", "__main__.py")
    in_python = command("-m", "pkg", "one", "-x", cwd=tmp_path)
    compiled = command("-m", "appyc", "run", "-m", "pkg", "one", "-x", cwd=tmp_path)
    assert compiled == in_python
    assert compiled[1] == "3.0 __main__ pkg ['one', '-x']\n"


def test_loops_of_the_script_itself_are_compiled(tmp_path):
    script = write(
        tmp_path,
        "import numpy as np\n"
        "n = 400\n"
        "a = np.ones((n, n))\n"
        "total = 0.0\n"
        "for i in range(n):\n"
        "    for j in range(n):\n"
        "        total += a[i, j] * i\n"
        "print(total)\n"
        "if __name__ == '__main__':\n"
        "    for i in range(n):\n"
        "        for j in range(n):\n"
        "            a[i, j] = i - j\n"
        "print(a.sum(), a[3, 1])\n",
    )
    in_python = command(script)
    compiled = command("-m", "appyc", "run", "--report", script)
    assert compiled[:2] == in_python[:2]
    assert "line 5    for i" in compiled[2]
    assert "line 10   for i" in compiled[2]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "text",
    [
        # a function looks at the loop's variable
        "x = 0\ndef show():\n    print(x)\nfor i in range(3):\n    x = i\n    show()\n",
        # the loop's variable is read after it
        "for i in range(5):\n    pass\nprint(i)\n",
        # a variable that only some iterations assign
        "for i in range(5):\n    if i == 3:\n        found = i\nprint(found)\n",
        # names by their text
        "x = 0\nfor i in range(3):\n    x += i\n    print(globals()['x'])\n",
        # a function that rebinds what the loop reads
        "x = 0\ndef bump():\n    global x\n    x += 1\nfor i in range(3):\n    bump()\n    print(x)\n",
        "import math\nfor i in range(3):\n    import json\nprint(json.dumps(i))\n",
        "total = 0\nfor i in range(200000):\n    total += i\nelse:\n    print('done', total)\n",
        "d = {}\nfor k in 'abc':\n    d[k] = len(d)\nprint(d)\n",
        "fs = []\nfor k in range(3):\n    fs.append(lambda: k)\nprint([f() for f in fs])\n",
    ],
)
def test_module_loops_mean_what_they_mean_in_python(tmp_path, text):
    in_python, compiled = both(write(tmp_path, text))
    assert compiled == in_python


def test_definitions_in_a_loop_are_compiled_a_few_times_only(tmp_path):
    script = write(
        tmp_path,
        "def outer(k):\n"
        "    def inner(n):\n"
        "        s = 0\n"
        "        for i in range(n):\n"
        "            s += i * k\n"
        "        return s\n"
        "    return inner\n"
        "print([outer(k)(100) for k in range(20)], type(outer(1)).__name__)\n",
    )
    in_python, compiled = both(script)
    assert compiled == in_python


def test_decorated_functions_are_left_alone(tmp_path):
    script = write(
        tmp_path,
        "import functools\n"
        "@functools.cache\n"
        "def f(n):\n"
        "    for i in range(n):\n"
        "        n += i\n"
        "    return n\n"
        "print(f(10), f.cache_info(), type(f.__wrapped__).__name__)\n",
    )
    in_python, compiled = both(script)
    assert compiled == in_python


def test_strict_and_target(tmp_path):
    script = write(tmp_path, "def f(x):\n    for v in x:\n        print(v)\nf([1])\n")
    code, _, errors = command("-m", "appyc", "run", "--strict", script)
    assert code == 1
    assert "[T001]" in errors or "[U001]" in errors
    assert command("-m", "appyc", "run", "--target", "python", script)[:2] == (0, "1\n")
    assert command("-m", "appyc", "run", "--target", "moon", script)[0] == 2


# ---------------------------------------------------------------- check

CHECKED = """\
import math
import numpy as np
def good(a, b):
    #pragma parallel for
    for i in range(a.shape[0]):
        b[i] = math.sin(a[i])
def bad(a, n):
    #pragma parallel for
    for i in range(1, n):
        a[i] = a[i - 1] * a[i - 1]
"""


def test_check_prints_places_and_codes(tmp_path, capsys):
    file = write(tmp_path, CHECKED)
    assert main(["check", str(file)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.removeprefix(f"{file}:").split(" ")[:2] for line in lines] == [
        ["4:5:", "I100"],
        ["5:5:", "I101"],
        ["8:5:", "D001"],
    ]
    assert "iteration i=1 writes a[1], iteration i=2 reads a[1]" in lines[2]


def test_check_as_json(tmp_path, capsys):
    file = write(tmp_path, CHECKED)
    assert main(["check", "--json", str(file)]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found[2] == {
        "file": str(file),
        "line": 8,
        "column": 5,
        "code": "D001",
        "severity": "error",
        "message": found[2]["message"],
    }


@pytest.mark.sampled
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_check_ends_quietly_where_nobody_reads_on(tmp_path, options):
    """As in `appyc check f.py | head`."""
    words = ["check", *options, str(write(tmp_path, CHECKED))]
    with subprocess.Popen(
        [sys.executable, "-m", "appyc", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        errors = process.stderr.read()
    assert (process.returncode, errors) == (141, "")


def test_check_is_content_with_the_scripts(capsys):
    assert main(["check", *map(str, SCRIPTS)]) == 0
    assert "W001" not in capsys.readouterr().out


def test_check_syntax_error_and_usage(tmp_path, capsys):
    assert main(["check", str(write(tmp_path, "def f(:\n"))]) == 2
    assert ":1:7: S001 " in capsys.readouterr().out
    assert main(["check", str(tmp_path / "none.py")]) == 2
    with pytest.raises(SystemExit) as stopped:
        main(["check"])
    assert stopped.value.code == 2


def test_help_imports_no_compiler():
    text = "import sys; from appyc.cli import _parser; _parser().format_help(); print('islpy' in sys.modules)"
    assert command("-c", text)[1] == "False\n"


def test_a_script_that_imports_numpy_is_recorded_without_an_edit(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import numpy as np
import numpy
from numpy import sin, linalg
from numpy.linalg import norm
import numpy.linalg as la
import numpy.fft
import helper

def total(a):
    t = 0.0
    for i in range(a.shape[0]):
        t += np.sin(a[i])
    return t

a = np.linspace(0, 1, 200_000)
b = sin(a) ** 2 + np.cos(a) ** 2
print(b.sum(), norm(b) == la.norm(b) == linalg.norm(b), numpy.fft.fft(b[:4]), round(total(a), 6), helper.ones(3))
print(type(a).__module__, isinstance(a, np.ndarray), file=__import__("sys").stderr)
try:
    import numpy.nothing
except ImportError as error:
    print(error)
""")
    (tmp_path / "helper.py").write_text("import numpy as np\nones = lambda n: np.ones(n).tolist()\n")
    plain = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    command = [sys.executable, "-m", "appyc", "run", "--numpy", "--report", str(script)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout == plain.stdout
    assert "appyc.lazy.arrays True" in found.stderr
    assert "total (" in found.stderr
    assert "small call" not in found.stderr
