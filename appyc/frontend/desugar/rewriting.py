"""Rewriting of a function's text as a whole, on a copy; and of containers, of which names stand for parts."""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from appyc.errors import UnsupportedError
from appyc.frontend.desugar import building
from appyc.frontend.desugar.comprehension_loops import nest, with_own_names
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.tree import is_new_list, may_be_container, one_by_one, walk
from appyc.frontend.types.values import ReturnedContainer
from appyc.ir.names import container_of

ValueOf = Callable[[ast.expr], object]
"""A function that returns the value of a global name, or of a module's attribute; None for other
expressions."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A class of containers. makes: as in `ReturnedContainer`. start: the value of a missing key, None if it is an
    error. rows_of: the list of lists that the name is bound to rows of. is_bounded: whether items that are too many
    leave it. rank: the number of axes of a list's arrays. has_none: whether some items may be None."""

    makes: str
    start: int | float | None = None
    rows_of: str = ""
    is_bounded: bool = False
    rank: int = 0
    has_none: bool = False

    @property
    def is_set(self) -> bool:
        return self.makes == "set"


def rewritten(
    source: Source,
    rule: Callable[[ast.FunctionDef], ast.NodeTransformer],
    about: Callable[[ast.AST], object] = lambda _: True,
) -> Source:
    """The function with the transformer that `rule` gives for a copy of its text applied to the body's statements; the
    function itself where it has nothing that the rule is about.

    Pragmas stay with their statements, which a rule changes in place.
    """
    if not any(map(about, walk(source.ast))):
        return source
    function = copy.deepcopy(source.ast)
    same = dict(zip(ast.walk(source.ast), ast.walk(function), strict=True))
    pragmas = {
        stmt: pragma
        for old, pragma in read_pragmas(source).items()
        if isinstance(stmt := same[old], ast.stmt)
    }
    function.body = building.block_of(function.body, rule(function).visit)
    return replace(source.part(function, pragmas), facts={})


def with_split_assignments(source: Source) -> Source:
    """The function, in which `a, b = {}, []` is two assignments."""
    return rewritten(source, lambda _: _Split(), _of_containers)


class _Split(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> Any:
        if not _of_containers(node):
            return node
        parts = (ast.Assign([target], value) for target, value in one_by_one(node))
        return [ast.fix_missing_locations(ast.copy_location(part, node)) for part in parts]


def _of_containers(node: ast.AST) -> bool:
    pairs = one_by_one(node) if isinstance(node, ast.Assign) else []
    return len(pairs) > 1 and any(may_be_container(value) or is_new_list(value) for _, value in pairs)


def bindings(tree: ast.FunctionDef, kind_of: Callable[[ast.expr], Kind | None]) -> dict[str, Kind]:
    """The names, parameters apart, whose assignments all have values of one kind, and that kind."""
    found: dict[str, set[Kind | None]] = {}
    for node in walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                found.setdefault(name, set()).add(kind_of(value))
    given = parameter_names(tree)
    single = {name: kind for name, (kind, *others) in found.items() if not others and name not in given}
    return {name: kind for name, kind in single.items() if kind is not None}


def new_lists(tree: ast.FunctionDef) -> dict[str, Kind]:
    """The names that are bound to new lists alone."""
    return bindings(tree, lambda value: Kind("list") if is_new_list(value) else None)


class Rule(ast.NodeTransformer):
    """A transformer of a function, which may need new names, and the values of names."""

    def __init__(self, function: ast.FunctionDef, value_of: ValueOf) -> None:
        self.unused, self.value_of = building.FreshNames(function), value_of


class Rewriter(Rule):
    """A transformer of a function's own statements: functions inside it stay as they are."""

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return building.block_of(body, self.visit)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node


class Inlined(Rewriter):
    """Replaces names by the expressions that they are bound to, and leaves these assignments out."""

    def __init__(
        self, function: ast.FunctionDef, value_of: ValueOf, meanings: Mapping[str, ast.expr]
    ) -> None:
        super().__init__(function, value_of)
        self.meanings = meanings

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node.targets:
            case [ast.Name(id=name)] if name in self.meanings:
                return building.located(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        meaning = self.meanings.get(node.id)
        return node if meaning is None else building.located(copy.deepcopy(meaning), node)


class Rules(Rewriter):
    """Replaces uses of containers, by name: what matches a pattern becomes what a template says.

        "it.popleft()": "pop_left(items, head)"

    `it` is the container; every other name of a pattern stands for an expression.
    """

    STATEMENTS: ClassVar[Mapping[str, str]] = {}
    EXPRESSIONS: ClassVar[Mapping[str, str]] = {}
    TEMPORARIES: ClassVar[tuple[str, ...]] = ()
    """Names in templates that are new for each statement."""
    CONSTANTS: ClassVar[Mapping[str, ast.expr]] = {}
    """Names in templates that stand for functions."""

    def __init__(self, function: ast.FunctionDef, kinds: dict[str, Kind], value_of: ValueOf) -> None:
        super().__init__(function, value_of)
        self.kinds = kinds

    def owner(self, node: ast.AST | None) -> str | None:
        """The container that an expression is."""
        return node.id if isinstance(node, ast.Name) and node.id in self.kinds else None

    def container(self, found: dict[str, ast.expr]) -> str | None:
        """The container that a pattern has found; what stands for it is taken out."""
        return self.owner(found.pop("it"))

    def takes(self, pattern: str, node: ast.AST, name: str, found: Mapping[str, ast.expr]) -> bool:
        """Whether a rule is one of this container's, and of this node."""
        return True

    def rule_for(
        self, node: ast.AST, rules: Mapping[str, str] | None = None
    ) -> tuple[str, str, dict[str, ast.expr]] | None:
        """The template that a node becomes, of which container, and with what for the names of the pattern."""
        if rules is None:
            rules = self.STATEMENTS if isinstance(node, ast.stmt) else self.EXPRESSIONS
        for pattern, text in rules.items():
            found = building.matched(pattern, node)
            name = self.container(found) if found is not None else None
            if found is None or name is None or not self.takes(pattern, node, name, found):
                continue
            own = {word: found.pop(word) for word in [*found] if hasattr(builtins, word)}
            if all(self.value_of(value) is getattr(builtins, word) for word, value in own.items()):
                return text, name, found
        return None

    def visit(self, node: ast.AST) -> Any:
        if (rule := self.rule_for(node)) is None:
            return super().visit(node)
        text, name, found = rule
        make = self.statements if isinstance(node, ast.stmt) else self.expression
        return make(text, name, node, **{word: self.value(word, one) for word, one in found.items()})

    def value(self, word: str, found: ast.expr) -> ast.expr:
        """The expression that replaces a pattern's name in a template, itself rewritten."""
        out: ast.expr = self.visit(found)
        return out

    def statements(self, text: str, name: str, at: ast.AST, /, **given: ast.expr) -> list[ast.stmt]:
        """The statements of a template for a container."""
        own = {
            part: self.unused(f"{name}_{part}")
            for part in self.TEMPORARIES
            if re.search(rf"\b{part}\b", text)
        }
        return self.from_template(text, name, at, {**own, **given})

    def expression(self, text: str, name: str, at: ast.AST, /, **given: ast.expr) -> ast.expr:
        """The expression of a template for a container."""
        (stmt,) = self.from_template(text, name, at, given)
        assert isinstance(stmt, ast.Expr)
        return stmt.value

    def from_template(
        self, text: str, name: str, at: ast.AST, given: Mapping[str, str | ast.expr]
    ) -> list[ast.stmt]:
        """A template for a container, with what else its names stand for."""
        return building.template(text, {**self.CONSTANTS, "it": name, **given}, at)


class Containers(Rules):
    """A rule that replaces containers, by name, with lists and numbers.

    A use without a rule keeps the container's name, which `replaced` finds.
    """

    PARTS: ClassVar[tuple[str, ...]]
    """The names in templates of the variables that replace a container."""
    OVER: ClassVar[Mapping[str, str]] = {}
    """Iterables of loops, and the templates that replace them."""
    ITEMS: ClassVar[Mapping[str, str]] = {}
    """The templates for iterables of comprehensions and for arguments of LOOKERS, functions that only read
    items."""
    LOOKERS: ClassVar[frozenset[str]] = frozenset()
    FULL: ClassVar[str]
    """The test whether there is something in a container."""
    RETURNED: ClassVar[str]
    """The template of the return value, a call of `made`."""
    HINT: ClassVar[str]
    """The operations on such containers that are compiled, for the user."""

    def __init__(self, function: ast.FunctionDef, kinds: dict[str, Kind], value_of: ValueOf) -> None:
        super().__init__(function, kinds, value_of)
        self.parts: dict[str, dict[str, str]] = {}
        """The names of a container's parts, where these are, or become, parameters."""

    def from_template(
        self, text: str, name: str, at: ast.AST, given: Mapping[str, str | ast.expr]
    ) -> list[ast.stmt]:
        parts = self.parts.get(name) or {part: building.part_of(name, part) for part in self.PARTS}
        return super().from_template(text, name, at, {**parts, **given})

    def visit_Assign(self, node: ast.Assign) -> Any:
        name = self.owner(node.targets[0]) if len(node.targets) == 1 else None
        return self.generic_visit(node) if name is None else self.made(name, node.value, node)

    def made(self, name: str, value: ast.expr, at: ast.stmt) -> list[ast.stmt]:
        """The statements that make a container."""
        raise NotImplementedError

    def filled(self, value: ast.expr, filling: list[ast.stmt]) -> list[ast.stmt]:
        """The statements that put the first items into a container; of a comprehension in its loops."""
        if isinstance(value, ast.DictComp | ast.SetComp | ast.ListComp):
            filling = nest(with_own_names(value, self.unused, filling).generators, filling)
        return self.block([building.located(stmt, value) for stmt in filling])

    def visit_For(self, node: ast.For) -> Any:
        rule = self.rule_for(node.iter, self.OVER)
        if rule is None or self.is_changed(node.body, rule[1]):
            return self.generic_visit(node)
        text, name, _ = rule
        node.iter = self.expression(text, name, node.iter)
        self.generic_visit(node)
        return [*self.as_lists(name, node), node]

    def is_changed(self, body: list[ast.stmt], name: str) -> bool:
        """Whether statements may add or remove items of a container that is run over, or bind its name anew."""
        for node in walk(*body):
            match node:
                case ast.Attribute(value=ast.Name(id=owner)) | ast.Name(id=owner, ctx=ast.Store()) if (
                    owner == name
                ):
                    return True
        return False

    def looked_at(self, node: ast.expr, looker: str = "") -> ast.expr:
        """The replacement of a comprehension's iterable, or of an argument of one of LOOKERS."""
        rule = self.rule_for(node, self.ITEMS)
        return node if rule is None else self.expression(rule[0], rule[1], node)

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        node.iter = self.looked_at(node.iter)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        match node.func:
            case ast.Name(id=looker) if looker in self.LOOKERS:
                if self.value_of(node.func) is getattr(builtins, looker):
                    node.args = [self.looked_at(arg, looker) for arg in node.args]
            case ast.Attribute(attr="extend"):
                node.args = [self.looked_at(arg) for arg in node.args]
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if isinstance(node.op, ast.Add):
            node.value = self.looked_at(node.value)
        return self.generic_visit(node)

    def as_lists(self, name: str, at: ast.AST) -> list[ast.stmt]:
        """The statements after which a container is what its lists hold."""
        return []

    def returned_part(self, value: ast.expr, values: list[ast.expr], before: list[ast.stmt]) -> ast.expr:
        """One of the values that are returned, which is no container, behind the statements `before`."""
        out: ast.expr = self.visit(value)
        return out

    def visit_Return(self, node: ast.Return) -> Any:
        if node.value is None:
            return node
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        before: list[ast.stmt] = []
        given = [*values]
        for at, value in enumerate(given):
            name = self.owner(value)
            if name is None or self.kinds[name].is_bounded:
                values[at] = self.returned_part(value, given, before)
                continue
            before += self.as_lists(name, node)
            made = building.constant(ReturnedContainer(self.kinds[name].makes))
            values[at] = self.expression(self.RETURNED, name, node, made=made)
        if not isinstance(node.value, ast.Tuple):
            (node.value,) = values
        return [*before, node]

    def _test(self, node: ast.expr) -> ast.expr:
        """A condition, in which a container is true where there is something in it."""
        if isinstance(node, ast.BoolOp):
            node.values = [self._test(value) for value in node.values]
            return node
        name = self.owner(node)
        out: ast.expr = self.visit(node) if name is None else self.expression(self.FULL, name, node)
        return out

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> Any:
        node.test = self._test(node.test)
        return self.generic_visit(node)

    visit_While = visit_If
    visit_IfExp = visit_If

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            node.operand = self._test(node.operand)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if self.owner(node.target) is None or node.value is None:
            return self.generic_visit(node)
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))


def replaced(source: Source, kinds: dict[str, Kind], rule: type[Containers], value_of: ValueOf) -> Source:
    """The function without these containers. Raises UnsupportedError for a use of one that has no rule."""
    if not kinds:
        return source
    out = rewritten(source, lambda copied: rule(copied, kinds, value_of))
    for node in walk(out.ast):
        if isinstance(node, ast.Name) and node.id in kinds:
            raise UnsupportedError(f"{container_of(node.id)!r} has a use that cannot be compiled", source.loc(node),
                                   rule.HINT)  # fmt: skip
    return out
