"""The documentation shows what users see, and names what there is."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.frontend.pragmas.pragma_grammar import DIRECTIVES, PRAGMA_REDUCTION_OPS, SCHEDULES
from appyc.ir.types import DType
from appyc.options import Options

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
MESSAGES = {f.stem: f.read_text() for f in (ROOT / "tests/golden/errors").glob("*.txt")}


def blocks(text: str, language: str = "") -> list[str]:
    """The fenced blocks of a page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", blocks((DOCS / "errors.md").read_text()))
def test_shown_message_is_what_is_printed(block):
    assert block in MESSAGES.values()


def test_every_code_is_in_the_table():
    page = (DOCS / "errors.md").read_text()
    codes = {
        code for text in MESSAGES.values() for code in re.findall(r"\[([A-Z]\d{3})\]$", text, re.MULTILINE)
    }
    assert codes >= {"P001", "U001", "T001", "D001"}
    assert all(code in page for code in codes)


def test_every_dtype_option_directive_and_operator_is_documented():
    language, pragmas = ((DOCS / f"{name}.md").read_text() for name in ("language", "pragmas"))
    assert all(f"`{d}`" in language for d in DType if d.kind != "s")
    assert all(
        f"`{name}`" in language and (f"`APPYC_{name.upper()}`" in language or name == "schedule")
        for name in Options.__dataclass_fields__
    )
    assert all(f"`{d}`" in pragmas or f"`#pragma {d}`" in pragmas for d in DIRECTIVES)
    assert all(op.replace("|", r"\|") in pragmas for op in PRAGMA_REDUCTION_OPS)
    assert all(s in pragmas for s in SCHEDULES)


@pytest.mark.parametrize("page", ["README.md", "docs/language.md", "docs/pragmas.md", "docs/errors.md"])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), target


def test_names_that_the_pages_use_are_there():
    for page in ("README.md", "docs/language.md", "docs/pragmas.md", "docs/errors.md"):
        for name in re.findall(r"`(?:@)?appyc\.(\w+)", (ROOT / page).read_text()):
            assert hasattr(appyc, name), f"{page}: appyc.{name}"


def test_example_of_the_readme_runs(tmp_path):
    program = "\n".join(blocks((ROOT / "README.md").read_text(), "python"))
    file = tmp_path / "example.py"
    file.write_text(program)
    space: dict[str, object] = {"__name__": "example"}
    exec(compile(program, str(file), "exec"), space)
    smooth = space["smooth"]
    assert isinstance(smooth, appyc.JitFunction)
    assert [r.mode for r in smooth.explain().loops] == ["parallel"]
    softmax = space["softmax"]
    assert isinstance(softmax, appyc.JitFunction)
    np.testing.assert_allclose(softmax(np.eye(3)).sum(axis=1), 1.0)


def test_example_of_a_schedule_runs(tmp_path):
    (program,) = (b for b in blocks((DOCS / "pragmas.md").read_text(), "python") if "schedule=" in b)
    file = tmp_path / "example.py"
    file.write_text(program)
    space = {"appyc": appyc, "__name__": "example"}
    exec(compile(program, str(file), "exec"), space)
    a, b = np.arange(70.0 * 99).reshape(70, 99), np.zeros((99, 70))
    space["transposed"](a, b)
    np.testing.assert_array_equal(b, a.T)
    assert "i  serial  tile(32, 64)" in space["transposed"].source("schedule")


def test_example_of_recorded_calls_over_chunks_runs(tmp_path, capsys):
    pytest.importorskip("dask.array")
    programs = (b for b in blocks((DOCS / "distributed.md").read_text(), "python") if "appyc.numpy" in b)
    (program,) = programs
    file = tmp_path / "example.py"
    file.write_text(program)
    space: dict[str, object] = {"__name__": "example"}
    exec(compile(program, str(file), "exec"), space)
    assert "dask.array<" in capsys.readouterr().out
    x, y = space["x"].compute(), space["y"].compute()
    np.testing.assert_array_equal(space["c"], np.where(x > y, np.sqrt(x) * y, x - y))


STAGES = {
    "SIMPLIFY: for all arguments": pipeline.SIMPLIFY,
    "ANALYSE: the usual version": pipeline.ANALYSE,
    "FUSE: programs over chunked arrays": pipeline.FUSE,
    "FOR_C: before C": pipeline.FOR_C,
    "FOR_GPU: before Triton": pipeline.FOR_GPU,
}


def catalogue() -> str:
    """docs/passes.md: the passes in order, with the first sentence of each one's file, or of the function."""
    lines = [
        "# The passes, in order",
        "",
        "Made from their docstrings by `pytest tests/test_docs.py --update-golden`.",
    ]
    for stage, passes in STAGES.items():
        lines += ["", f"## {stage}", "", "| pass | folder | what it does |", "|---|---|---|"]
        for one in passes:
            module = inspect.getmodule(one)
            folder, _, name = module.__name__.removeprefix("appyc.passes.").rpartition(".")
            text = module.__doc__ if name == one.__name__ else one.__doc__
            first = " ".join(text.split("\n\n")[0].split())
            lines.append(f"| `{one.__name__}` | `{folder}` | {first} |")
    return "\n".join([*lines, ""])


def test_the_catalogue_of_passes_is_up_to_date(request):
    page = DOCS / "passes.md"
    if request.config.getoption("--update-golden"):
        page.write_text(catalogue())
    assert page.read_text() == catalogue()


def test_the_design_names_what_there_is():
    text = (DOCS / "design.md").read_text()
    assert len(text.split()) <= 2500
    for path in re.findall(r"`((?:\w+/)+\w+\.\w+)`", text):
        assert any((base / path).exists() for base in (ROOT, ROOT / "appyc")), path
    code = "\n".join(f"{f.stem}\n{f.read_text()}" for f in (ROOT / "appyc").rglob("*.py"))
    for name in re.findall(r"`([a-z]+(?:_[a-z]+)+)`", text):
        assert name in code, name
