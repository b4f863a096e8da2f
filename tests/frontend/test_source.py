"""The source of a function is found wherever Python can find it, with the file's own places."""

from __future__ import annotations

import ast
import functools
import importlib.util
import linecache
import os
import pty
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from appyc.errors import UnsupportedError
from appyc.frontend.source import Source, capture, read_source
from tests.counting import calls_of


def mark(*_options: object, **_named: object):
    return lambda fn: fn


def plain(a, n):
    # first comment
    total = a + n
    print(total)
    # last comment


def after_plain():
    return 1


@mark(len("("), lambda x: x)
@mark(
    "several",
    lines="def not_me(): pass",
)
def decorated(a):
    return a


def one_liner(a): return a + 1  # fmt: skip


def with_docstring(a):
    """A docstring
    that reaches further to the left.
    """
    return a


class Holder:
    factor = 2

    def method(self, a):
        # first
        return a * self.factor

    @staticmethod
    @mark()
    def static(a):
        return a

    def after(self):
        return None


def make_nested(k):
    @mark(k)
    def inner(a):
        naïve = a + k  # noqa: PLC2401
        return naïve * (a - 1)
        # end of inner

    # not of inner
    return inner


def line_in_this_file(source: Source, number: int) -> str:
    return Path(__file__).read_text().splitlines(keepends=True)[number - 1]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "fn",
    [
        plain,
        decorated,
        one_liner,
        with_docstring,
        Holder.method,
        Holder.static,
        make_nested(3),
        Holder().method,
    ],
)
def test_lines_and_nodes_are_those_of_the_file(fn):
    source = read_source(fn)
    assert source.ast.name == fn.__name__
    assert source.lines[0] == line_in_this_file(source, source.first_line)
    for node in ast.walk(source.ast):
        if isinstance(node, ast.Name):
            loc = source.loc(node)
            assert line_in_this_file(source, loc.line)[loc.col : loc.end_col] == node.id


def test_block_takes_its_last_comment_and_nothing_after():
    assert read_source(plain).lines[-1].strip() == "# last comment"
    assert read_source(make_nested(1)).lines[-1].strip() == "# end of inner"
    assert read_source(Holder.method).lines[-1].strip() == "return a * self.factor"
    assert len(read_source(one_liner).lines) == 1


def test_text_is_the_block_without_its_indentation():
    source = read_source(Holder.method)
    assert source.indent == 4
    assert source.text.splitlines() == [
        "def method(self, a):",
        "    # first",
        "    return a * self.factor",
    ]


def test_columns_count_characters_not_bytes():
    source = read_source(make_nested(1))
    product = source.ast.body[1].value
    loc = source.loc(product.right)
    assert line_in_this_file(source, loc.line)[loc.col : loc.end_col] == "a - 1"


def test_place_of_a_node_over_several_lines_has_no_end():
    source = read_source(with_docstring)
    assert source.loc(source.ast.body[0]).end_col == 0


def test_text_registered_in_linecache():
    text = "def made(a):\n    return a\n"
    linecache.cache["<made>"] = (len(text), None, text.splitlines(keepends=True), "<made>")
    scope: dict = {}
    exec(compile(text, "<made>", "exec"), scope)
    assert read_source(scope["made"]).text == text


def test_text_of_exec_is_refused():
    scope: dict = {}
    exec("def made(a):\n    return a\n", scope)
    with pytest.raises(UnsupportedError, match="source of 'made' cannot be read") as caught:
        read_source(scope["made"])
    assert "put the function into a file" in str(caught.value)


def test_lambdas_of_one_line_are_told_apart_by_their_code():
    alone = lambda x: x + 1  # noqa: E731
    first, second = lambda x: x * 2, lambda x: x * 3
    texts = [read_source(fn).text for fn in (alone, first, second)]
    assert texts == ["lambda x: x + 1", "lambda x: x * 2", "lambda x: x * 3"]


def test_lambdas_of_one_line_that_read_names_around_them_are_told_apart_by_their_columns():
    k = 2
    pair = lambda x: x + k, lambda x: x - k
    assert [read_source(fn).ast.body[0].value.col_offset for fn in pair] == [21, 38]
    alike = pair[0].__code__.replace(co_linetable=b"")
    with pytest.raises(UnsupportedError, match="cannot be told from others"):
        read_source(FunctionType(alike, globals(), closure=pair[0].__closure__))


def test_async_function_is_refused():
    async def waits():
        return 1

    with pytest.raises(UnsupportedError, match="async"):
        _ = read_source(waits).ast


@pytest.mark.parametrize("thing", [len, 3, Holder, functools.partial(plain, 1)])
def test_what_is_no_function_is_refused(thing):
    with pytest.raises(TypeError, match="only a Python function"):
        capture(thing)


def test_edit_after_capture_changes_nothing(tmp_path):
    file = tmp_path / "edited_later.py"
    file.write_text("def f(a):\n    return a + 1\n")
    snippet = capture(load(file).f)
    file.write_text("# a new line\ndef f(a):\n    return a + 2\n")
    linecache.checkcache(str(file))
    assert read_source(snippet).text == "def f(a):\n    return a + 1\n"


def test_reload_after_edit_reads_the_new_text(tmp_path):
    file = tmp_path / "reloaded.py"
    file.write_text("def f(a):\n    return a + 1\n")
    assert "a + 1" in read_source(load(file).f).text
    file.write_text("def f(a):\n    return a + 22\n")
    os.utime(file, (time.time() + 5, time.time() + 5))
    assert "a + 22" in read_source(load(file).f).text


def test_edit_before_capture_is_noticed(tmp_path):
    file = tmp_path / "edited_before.py"
    file.write_text("def f(a):\n    return a + 1\n")
    fn = load(file).f
    file.write_text("def g(a):\n    return a + 2\n\n")
    with pytest.raises(UnsupportedError, match="does not match its code"):
        _ = read_source(fn).ast


def test_capture_is_cheap():
    capture(plain)
    assert calls_of(lambda: capture(plain)) < 25


SESSION = """
from appyc.frontend.source import read_source, capture
def keep(fn):
    global kept
    kept = capture(fn)
    return fn

@keep
def typed(a):
    # a comment
    return a + 41

def outer():
    def inner(a):
        return a
    return inner

print("GOT", read_source(kept).text.count("a + 41"), read_source(kept).ast.lineno)
print("GOT", repr(read_source(outer()).text))
print("GOT", __import__("linecache").getline(read_source(kept).file, 4).strip())
"""


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="newer prompts keep the text themselves")
def test_function_typed_at_the_prompt(tmp_path):
    pytest.importorskip("readline")
    output = _typed_at_a_prompt(SESSION, tmp_path)
    found = [line for line in output.splitlines() if line.startswith("GOT")]
    assert found == ["GOT 1 2", "GOT 'def inner(a):\\n    return a\\n'", "GOT return a + 41"], output


def test_function_piped_to_the_interpreter_is_refused():
    text = textwrap.dedent("""
        from appyc.frontend.source import read_source
        def typed(a):
            return a
        read_source(typed)
    """)
    run = subprocess.run([sys.executable], input=text, capture_output=True, text=True, check=False)
    assert "put the function into a file" in run.stderr


def _typed_at_a_prompt(text: str, home: Path) -> str:
    """What Python prints when the text is typed at its prompt, on a terminal."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "HOME": str(home), "TERM": "dumb", "INPUTRC": os.devnull}
    command = [sys.executable, "-q"]
    run = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    os.write(leader, text.encode() + b"\nexit()\n")
    output = b""
    while chunk := _read_terminal(leader):
        output += chunk
    os.close(leader)
    run.wait(timeout=30)
    return output.decode()


def _read_terminal(leader: int) -> bytes:
    try:
        return os.read(leader, 4096)
    except OSError:  # the other end is closed
        return b""


def test_last_method_of_a_class_in_a_function():
    class Inner:
        def method(self):
            for i in range(4):
                self.a[0] += i

    after = Inner
    source = read_source(after.method)
    assert source.ast.name == "method"
    assert source.lines[-1].strip() in ("self.a[0] += i", "")
