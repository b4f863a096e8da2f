"""Nested functions: `def` and `lambda` inside a compiled function.

They are inlined where they are called, like any function. Captured names of the enclosing function
have their values at the time of the call, as in Python.

Does not handle: decorators, what `desugar/parsed_functions.py` leaves of `nonlocal`, and functions that are returned or
stored.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays import tensors
from appyc.frontend.expressions import expressions
from appyc.frontend.resolve import Called
from appyc.frontend.scope import Scope
from appyc.frontend.source import lambda_definition
from appyc.frontend.syntax.liveness import names_read
from appyc.frontend.syntax.tree import assigned_names
from appyc.frontend.types.values import Opaque, Value


@dataclass(frozen=True, slots=True, eq=False)
class LocalFunction:
    """A nested function. home: the enclosing function's scope. defaults: its parameters' default values,
    evaluated at its definition."""

    tree: ast.FunctionDef
    home: Scope
    defaults: dict[str, Value]

    @property
    def key(self) -> object:
        """The function's identity: its source location and name."""
        return (self.home.source.file, self.tree.lineno, self.tree.col_offset, self.tree.name)

    @property
    def signature(self) -> inspect.Signature:
        """The function's signature, with `...` for each default value."""
        args = self.tree.args
        kinds = (
            (args.posonlyargs, inspect.Parameter.POSITIONAL_ONLY),
            (args.args, inspect.Parameter.POSITIONAL_OR_KEYWORD),
            (args.kwonlyargs, inspect.Parameter.KEYWORD_ONLY),
        )
        return inspect.Signature(
            [
                inspect.Parameter(
                    a.arg, kind, default=... if a.arg in self.defaults else inspect.Parameter.empty
                )
                for group, kind in kinds
                for a in group
            ]
        )

    def called(self, loc: Loc) -> Called:
        """The function with the current values of the enclosing function's names that it captures."""
        home = self.home
        text = home.source.part(self.tree, home.pragmas)
        return Called(self.tree.name, self.key, text, home.names, self.around(loc))

    def around(self, loc: Loc) -> dict[str, Value]:
        """The current values of the enclosing function's names that it captures."""
        names = (names_read(self.tree) - assigned_names(self.tree)) & self.home.locals
        return {name: self.home.read(name, loc) for name in sorted(names) if name in self.home.env}


def defined(scope: Scope, node: ast.FunctionDef | ast.Lambda) -> Opaque:
    """The value of a `def` or a `lambda`. Raises UnsupportedError for decorators and `*args`."""
    tree = node if isinstance(node, ast.FunctionDef) else lambda_definition(node)
    if tree.decorator_list:
        raise UnsupportedError("a decorator of a nested function cannot be compiled",
                               scope.loc(tree.decorator_list[0]), "define it outside")  # fmt: skip
    args = tree.args
    if args.vararg is not None or args.kwarg is not None:
        raise UnsupportedError("*args and **kwargs cannot be compiled", scope.loc(node),
                               "name the parameters")  # fmt: skip
    positional = [*args.posonlyargs, *args.args]
    pairs = list(zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True))
    pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
    values = [
        tensors.settled(scope, expressions.pack_masked(scope, value, scope.loc(node)))
        for value in expressions.lower_operands(scope, [default for _, default in pairs])
    ]
    defaults = {a.arg: value for (a, _), value in zip(pairs, values, strict=True)}
    return Opaque(LocalFunction(tree, scope, defaults))
