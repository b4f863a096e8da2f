"""Imports inside functions: names bound to modules and their members at compile time."""

from __future__ import annotations

import ast
from importlib import import_module

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.resolve import LIBRARIES
from appyc.frontend.scope import Scope


def lower_import(scope: Scope, node: ast.Import | ast.ImportFrom, loc: Loc) -> None:
    """Binds the imported names. Raises UnsupportedError for modules outside `LIBRARIES`, which stay in Python."""
    for alias in node.names:
        name = alias.asname or alias.name.partition(".")[0]
        scope.bind(name, scope.names.constant(_imported(node, alias, loc), None, loc), loc)


def _imported(node: ast.Import | ast.ImportFrom, alias: ast.alias, loc: Loc) -> object:
    module = alias.name if isinstance(node, ast.Import) else node.module
    relative = isinstance(node, ast.ImportFrom) and node.level > 0
    if module is None or relative or module.partition(".")[0] not in LIBRARIES:
        raise UnsupportedError("an import cannot be compiled", loc, hints=("import at the top of the file",))
    try:
        found = import_module(module)
        if isinstance(node, ast.ImportFrom):
            return getattr(found, alias.name)
    except (ImportError, AttributeError):
        raise UnsupportedError(f"{module} has no {alias.name!r}", loc) from None
    return found if alias.asname is not None else import_module(module.partition(".")[0])
