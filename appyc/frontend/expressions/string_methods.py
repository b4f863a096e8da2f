"""Methods of str, and those of lists that a text has too."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from appyc.errors import Loc
from appyc.frontend.control import generated_calls
from appyc.frontend.desugar.comprehension_loops import JOINED, JOINED_WITH
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import python_number
from appyc.frontend.expressions.expressions import positional
from appyc.frontend.expressions.inlining import called_with
from appyc.frontend.expressions.strings import FUNCTIONS, as_text, compared, held, value_of, whole_texts
from appyc.frontend.scope import Scope
from appyc.frontend.types import values as vals
from appyc.frontend.types.characters import (
    as_character,
    is_character,
    is_string,
    is_text,
    is_written,
    refused_text,
)
from appyc.frontend.types.values import Opaque, Value
from appyc.ir.names import unused
from appyc.library import code_points
from appyc.library.list_lookups import count, equal, index


def lower(scope: Scope, node: ast.Call, owner: Value, loc: Loc) -> Value | None:
    """The value of a method of a text or a character; None where all is written out."""
    assert isinstance(node.func, ast.Attribute)
    if node.func.attr == "join":
        return _joined_items(scope, node, owner, loc)
    given = expressions.lower_operands(scope, positional(node, loc))
    return _method(scope, owner, node.func.attr, given, loc)


def call(scope: Scope, node: ast.Call, function: object, loc: Loc) -> Value | None:
    """The value of a call of a function of Python's that takes or gives a text; None for other calls."""
    if not any(function is one for one in FUNCTIONS):
        return None
    with scope.collect() as block:
        found = value_of(scope, function, expressions.lower_operands(scope, node.args), loc)
    scope.block += block if found is not None else []
    return found


def of_lists(scope: Scope, text: object, values: Sequence[Value], loc: Loc) -> Value | None:
    """The value of library text about lists where it is given texts; None for lists."""
    if text is equal and any(map(is_string, values)):
        return compared(scope, ast.Eq(), values, loc) or python_number(False, loc)
    if text in (count, index) and is_text(values[0]):
        return _method(scope, values[0], "count" if text is count else "index", values[1:], loc)
    return None


def _joined_items(scope: Scope, node: ast.Call, between: vals.Value, loc: Loc) -> vals.Value:
    """`between.join(items)`"""
    (items,) = positional(node, loc)
    is_plain = is_written(between) and not between.obj
    if is_plain and isinstance(items, ast.Name):
        value = scope.lower(items)
        if is_text(value) or (isinstance(value, vals.ListSlots) and not scope.callees.known.has_empty):
            return as_text(scope, {"items": value}, loc)
    name, is_next = unused("between", scope.locals), unused("is_next", scope.locals)
    scope.locals |= {name, is_next}
    scope.bind(name, between, loc)
    how = JOINED if is_plain else JOINED_WITH
    whole = generated_calls.folded_into(scope, items, "joined", how, between=name, is_next=is_next)
    return held(scope, whole, loc)


_TESTS = {name: getattr(code_points, name) for name in
          ("isalpha", "isdigit", "isalnum", "isspace", "isupper", "islower")}  # fmt: skip
_CHANGES = {"lower": code_points.lower, "upper": code_points.upper}


def _method(scope: Scope, owner: Value, name: str, given: Sequence[Value], loc: Loc) -> Value | None:
    """The value of a method of str; None where all is written out, or the method is not compiled."""
    is_found = any(is_text(value) or is_character(value) for value in (owner, *given))
    given = [as_character(value, loc) for value in given]
    owner = owner if given else as_character(owner, loc)
    if not is_string(owner) or all(map(is_written, (owner, *given))):
        return None
    whole = whole_texts(scope, (owner, *given), loc)
    is_one = is_character(owner)
    match name, given:
        case (("isalpha" | "isdigit" | "isalnum" | "isspace" | "isupper" | "islower"), []) if is_one:
            return called_with(scope, _TESTS[name], [owner], loc)
        case (("isalpha" | "isdigit" | "isalnum" | "isspace"), []):
            return called_with(scope, code_points.all_of, [whole[0], Opaque(_TESTS[name])], loc)
        case (("lower" | "upper"), []) if is_one:
            return called_with(scope, _CHANGES[name], [owner], loc)
        case (("lower" | "upper"), []):
            return called_with(scope, code_points.changed, [whole[0], Opaque(_CHANGES[name])], loc)
        case (("strip" | "lstrip" | "rstrip"), []):
            return called_with(scope, getattr(code_points, name), whole, loc)
        case (("startswith" | "endswith"), [part]) if is_string(part):
            return called_with(scope, getattr(code_points, name), whole, loc)
        case "replace", [old, new] if is_character(old := as_character(old, loc)) and is_string(new):
            return called_with(scope, code_points.replace, [whole[0], old, whole[2]], loc)
        case (("find" | "index"), [part, *start]) if is_string(part) and len(start) < 2:
            one = as_character(part, loc)
            if is_character(one) and not start:
                at = called_with(scope, code_points.find_in, [whole[0], one], loc)
            else:
                at = called_with(
                    scope, code_points.find, [*whole[:2], *(start or [python_number(0, loc)])], loc
                )
            return at if name == "find" else called_with(scope, code_points.index, [at], loc)
        case "count", [part] if is_string(part):
            return called_with(scope, code_points.count, whole, loc)
        case _ if is_found:
            raise refused_text(loc)
        case _:
            return None
