"""Imports run one way: what docs/design.md's table allows, and nothing else."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "appyc"

_BASE = ("errors", "options")
_GENERATORS = ("c_gen", "triton_gen")
_BELOW_PIPELINE = ("ir", "frontend", "analysis", "passes", *_GENERATORS, "runtime", *_BASE)

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "errors": (),
    "options": (),
    "ir": ("errors",),
    "library": (),
    "frontend": ("library", "ir", *_BASE),
    "analysis": ("ir", "errors"),
    "passes": ("analysis", "ir", *_BASE),
    "c_gen": ("ir", *_BASE),
    "triton_gen": ("ir", *_BASE),
    "runtime": ("ir", *_GENERATORS, *_BASE),
    "lazy": ("api", "report", *_BASE),
    "numpy": ("lazy",),
    "pipeline": _BELOW_PIPELINE,
    "compiler": ("pipeline", *_BELOW_PIPELINE),
    "report": ("compiler", "pipeline", *_BELOW_PIPELINE),
    "distributed": ("compiler", "runtime", "passes", "analysis", "ir", *_BASE),
    "tuning": ("report", "compiler", "analysis", "runtime", "ir", *_BASE),
    "api": ("tuning", "distributed", "compiler", "pipeline", "report", *_BELOW_PIPELINE),
    "autojit": ("api", "compiler", "report", "pipeline", *_BELOW_PIPELINE),
    "scripts": ("autojit", "frontend", *_BASE),
    "cli": ("scripts", "report", *_BASE),
    "__main__": ("cli",),
    "__init__": ("autojit", "api", *_BELOW_PIPELINE),
}
"""For each part of the package, the other parts that it may import."""


def imported_parts(text: str) -> Iterator[tuple[int, str]]:
    """The parts of appyc that a module imports, anywhere in it, with the line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "appyc":
            names = [f"appyc.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import"
            names = [node.module or ""]
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            if package == "appyc" and rest:
                yield node.lineno, rest.split(".")[0]


def part_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def forbidden_imports(part: str, text: str) -> list[str]:
    allowed = {part, *MAY_IMPORT[part]}
    return [f"line {line}: {other}" for line, other in imported_parts(text) if other not in allowed]


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda f: str(f.relative_to(PACKAGE)))
def test_module_imports_only_what_stands_below_it(file):
    part = part_of(file)
    assert part in MAY_IMPORT, f"{part} is not in the table: say here, and in docs/design.md, where it stands"
    assert forbidden_imports(part, file.read_text()) == []


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("ir", "from appyc.passes.fuse import fuse"),
        ("ir", "import appyc.frontend"),
        ("analysis", "def f():\n    from appyc import options"),
        ("c_gen", "from appyc.triton_gen import emit"),
        ("errors", "import appyc.ir.nodes"),
    ],
)
def test_backward_import_is_found(part, text):
    assert len(forbidden_imports(part, text)) == 1


def test_forward_import_is_allowed():
    assert (
        forbidden_imports("passes", "import numpy\nfrom appyc.ir import nodes\nfrom appyc.passes import x")
        == []
    )


def test_table_has_no_circle():
    def below(part: str, above: tuple[str, ...]) -> None:
        assert part not in above, " -> ".join([*above, part])
        for other in MAY_IMPORT[part]:
            below(other, (*above, part))

    for part in MAY_IMPORT:
        below(part, ())


def modules_imported(file: Path) -> Iterator[str]:
    """The modules of appyc that a module imports when it runs, by their full names."""
    names = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
    for node in names:
        for alias in node.names:
            inside = f"{node.module}.{alias.name}"
            yield inside if inside in MODULES else str(node.module)


MODULES = {".".join(f.relative_to(PACKAGE.parent).with_suffix("").parts): f for f in PACKAGE.rglob("*.py")}


def test_modules_of_one_part_do_not_import_one_another():
    graph = {
        name: {other for other in modules_imported(file) if other in MODULES and other != name}
        for name, file in MODULES.items()
    }
    graphlib.TopologicalSorter(graph).prepare()
