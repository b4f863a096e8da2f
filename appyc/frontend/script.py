"""Instrumentation of a module for `appyc run`: its functions are decorated, its loops outlined.

    def step(u, v):                          @__appyc__.function
        for i in ...:                        def step(u, v):
            ...                                  for i in ...:
                                    ->               ...
    total = 0.0                              total = 0.0
    for i in range(n):                       (total,) = __appyc__.regions[0](n, total, x)
        total += x[i]
    print(total)                             print(total)

The runner defines `__appyc__` in the module's namespace. Every statement keeps its line and
column. A function with a decorator other than `staticmethod` and `classmethod` is unchanged,
since the decorator's use of it is unknown.

A loop at module level is outlined where the change is not observable: no function of the module
reads its variables (it would see them change), no name is looked up by its text (`globals`,
`exec`, ...), and the loop's live-out names are definitely assigned. Other loops stay.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from appyc.errors import PragmaError
from appyc.frontend.outline import jumps_out
from appyc.frontend.pragmas.pragma_nodes import Pragma
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.regions import region_call, region_definition
from appyc.frontend.source import Part, Source
from appyc.frontend.syntax.liveness import live_before, names_assigned, surely_assigned
from appyc.frontend.syntax.trip_counts import has_own_loop

SCOPE = "__appyc__"
"""The global name through which an instrumented module calls the runner."""

_KNOWN_DECORATORS = ("staticmethod", "classmethod")
_BY_TEXT = frozenset({"globals", "locals", "vars", "dir", "exec", "eval", "__dict__", "__main__"})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True)
class ModuleText(Source):
    """A whole module as the source of one function, from which its pragmas are read."""

    tree: ast.FunctionDef

    @property
    def ast(self) -> ast.FunctionDef:
        return self.tree


@dataclass(frozen=True, slots=True)
class Instrumented:
    """The instrumented module, and the loops that were outlined from it."""

    tree: ast.Module
    regions: tuple[Part, ...]


def module_text(tree: ast.Module, text: str, file: str) -> ModuleText:
    """The module as a source; `tree` is its AST."""
    arguments = ast.arguments([], [], None, [], [], None, [])
    function = ast.FunctionDef("module", arguments, tree.body, [], lineno=1, col_offset=0)
    return ModuleText("module", file, tuple(text.splitlines(keepends=True)), 1, 0, function)


def instrument(text: str, file: str, *, loops: bool) -> Instrumented:
    """The module with its functions decorated, and its module-level loops outlined if `loops` is set.

    Raises SyntaxError as Python does.
    """
    tree = ast.parse(text, file)
    regions: list[Part] = []
    if loops:
        whole = module_text(tree, text, file)
        try:
            pragmas = read_pragmas(whole)
        except PragmaError:
            pragmas = None  # reported when its function is compiled, or by `appyc check`
        if pragmas is not None and not _looks_up_by_text(tree):
            work = _Loops(
                whole,
                pragmas,
                _names_of_functions(tree),
                _rebound(tree),
                names_assigned(stmt for stmt in tree.body if not isinstance(stmt, _SCOPES)),
            )
            tree.body = work.in_block(tree.body, frozenset(), frozenset())
            regions = work.regions
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and has_own_loop(node):
            known = [d for d in node.decorator_list if isinstance(d, ast.Name) and d.id in _KNOWN_DECORATORS]
            node.decorator_list += [_decorator(node)] if known == node.decorator_list else []
    return Instrumented(tree, tuple(regions))


def _decorator(node: ast.FunctionDef) -> ast.expr:
    """The decorator, located at the line of `def` so that the function's first line does not change."""
    name = ast.Attribute(ast.Name(SCOPE, ast.Load()), "function", ast.Load())
    return ast.fix_missing_locations(ast.copy_location(name, node))


def _looks_up_by_text(tree: ast.Module) -> bool:
    names = (getattr(n, "id", None) or getattr(n, "attr", None) for n in ast.walk(tree))
    imports = (a.name for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names)
    return any(name in _BY_TEXT for name in (*names, *imports))


def _names_of_functions(tree: ast.Module) -> frozenset[str]:
    """Names that functions and classes of the module mention, except those that are always local."""
    scopes = [n for n in ast.walk(tree) if isinstance(n, _SCOPES)]
    mentioned = (n.id for scope in scopes for n in ast.walk(scope) if isinstance(n, ast.Name))
    return (frozenset(mentioned) | _rebound(tree)) - _locals_only(tree)


def _rebound(tree: ast.AST) -> frozenset[str]:
    """Names that functions declare to be global."""
    return frozenset(name for n in ast.walk(tree) if isinstance(n, ast.Global) for name in n.names)


def _locals_only(tree: ast.Module) -> frozenset[str]:
    """Names that are local in every function that mentions them: assigned there and not global."""
    local: set[str] = set()
    outer: set[str] = set()
    for scope in (n for n in ast.walk(tree) if isinstance(n, _SCOPES)):
        own = {n.arg for n in ast.walk(scope) if isinstance(n, ast.arg)}
        if not isinstance(scope, ast.ClassDef):
            own |= names_assigned([scope])
        declared = _rebound(scope)
        mentioned = {n.id for n in ast.walk(scope) if isinstance(n, ast.Name)} | declared
        local |= own - declared
        outer |= (mentioned - own) | declared
    return frozenset(local - outer)


@dataclass
class _Loops:
    """Outlines the loops among a module's statements."""

    whole: ModuleText
    pragmas: dict[ast.stmt, Pragma]
    shared: frozenset[str]
    """Module variables that functions of the module may read."""
    rebound: frozenset[str]
    """Module variables that functions of the module may assign."""
    variables: frozenset[str]
    regions: list[Part] = field(default_factory=list)

    def in_block(self, body: list[ast.stmt], before: frozenset[str], after: frozenset[str]) -> list[ast.stmt]:
        """The block with its loops outlined. before: names definitely assigned at its start. after: live-out names."""
        out: list[ast.stmt] = []
        for k, stmt in enumerate(body):
            live = live_before(body[k + 1 :], after)
            if isinstance(stmt, ast.For | ast.While):
                out.append(self._taken_out(stmt, before, live) or stmt)
            elif isinstance(stmt, ast.If):
                # Its blocks may be mutated: no other tree shares them.
                stmt.body = self.in_block(stmt.body, before, live)
                stmt.orelse = self.in_block(stmt.orelse, before, live)
                out.append(stmt)
            else:
                out.append(stmt)
            before |= surely_assigned([stmt])
        return out

    def _taken_out(self, loop: ast.stmt, before: frozenset[str], after: frozenset[str]) -> ast.stmt | None:
        assigned = names_assigned([loop])
        inputs = live_before([loop], frozenset()) & (self.variables | assigned)
        outputs = assigned & after
        if jumps_out(loop) or _binds_otherwise(loop) or assigned & self.shared:
            return None
        if inputs & self.rebound:
            return None
        if not inputs <= before or not outputs <= surely_assigned([loop]) | inputs:
            return None
        name = f"module_lines_{loop.lineno}_{loop.end_lineno}"
        node = region_definition(name, sorted(inputs), sorted(outputs), [loop])
        here = {s: p for s in ast.walk(loop) if isinstance(s, ast.stmt) and (p := self.pragmas.get(s))}
        self.regions.append(replace(self.whole.part(node, here), is_region=True))
        number = ast.Constant(len(self.regions) - 1)
        table = ast.Attribute(ast.Name(SCOPE, ast.Load()), "regions", ast.Load())
        callee = ast.Subscript(table, number, ast.Load())
        return region_call(callee, sorted(inputs), sorted(outputs), loop)


def _binds_otherwise(loop: ast.stmt) -> bool:
    """Whether the loop binds or unbinds names in a way that assignments to a function's locals do not model."""
    kinds = (ast.Import, ast.ImportFrom, ast.Delete, ast.Lambda, ast.NamedExpr, ast.Try, ast.With)
    return any(isinstance(n, kinds) for n in ast.walk(loop))
