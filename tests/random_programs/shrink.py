"""Makes a program smaller while it shows the same fault."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

_CONSTANT = ast.Constant(1)


def shrunk(text: str, shows: Callable[[str], bool], most: int = 400) -> str:
    """The smallest text that is found by leaving statements out, blocks without their header, and operands alone."""
    tries = 0
    changed = True
    while changed and tries < most:
        changed = False
        for number in range(sum(1 for _ in _changes(ast.parse(text)))):
            tree = ast.parse(text)
            for k, change in enumerate(_changes(tree)):
                if k == number:
                    change()
                    break
            else:
                break
            smaller = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            if len(smaller) >= len(text):
                continue
            tries += 1
            if shows(smaller):
                text, changed = smaller, True
                break
            if tries >= most:
                break
    return text


def _changes(tree: ast.AST) -> Iterator[Callable[[], None]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from _of_block(block, keeps=name == "body")
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                yield from (_set(node, field, v) for v in _parts(value))
            elif isinstance(value, list):
                yield from (
                    _put(value, k, v)
                    for k, item in enumerate(value)
                    if isinstance(item, ast.expr) and not isinstance(node, ast.Delete | ast.Assign)
                    for v in _parts(item)
                )


def _of_block(block: list[ast.stmt], *, keeps: bool) -> Iterator[Callable[[], None]]:
    for k, statement in enumerate(block):
        if len(block) > 1 or not keeps:
            yield _cut(block, k, [])
        elif not isinstance(statement, ast.Pass):
            yield _cut(block, k, [ast.Pass()])
        inner = getattr(statement, "body", None)
        if isinstance(inner, list) and not isinstance(statement, ast.FunctionDef):
            yield _cut(block, k, inner)


def _parts(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.Constant | ast.Name | ast.Tuple):
        return
    for part in ast.iter_child_nodes(value):
        if isinstance(part, ast.expr) and not (isinstance(value, ast.Call) and part is value.func):
            yield part
    yield _CONSTANT


def _cut(block: list[ast.stmt], k: int, into: list[ast.stmt]) -> Callable[[], None]:
    return lambda: block.__setitem__(slice(k, k + 1), into)


def _set(node: ast.AST, field: str, value: ast.expr) -> Callable[[], None]:
    return lambda: setattr(node, field, value)


def _put(items: list[ast.expr], k: int, value: ast.expr) -> Callable[[], None]:
    return lambda: items.__setitem__(k, value)
