"""Methods and operators of lists, by those that are compiled and by library text.

    del xs[i]                         xs.pop(i)
    xs.remove(v)              ->      xs.pop(index(xs, v))
    xs.sort(reverse=True)             xs.reverse(); xs.sort(); xs.reverse()
    xs.count(v), xs == ys             count(xs, v), equal(xs, ys)
    len(xs[a:b:c])                    part_length(xs, a, b, c)

Requires: the name is bound to new lists alone. The functions are those of `appyc.library.list_lookups`.

Does not handle: slices that are deleted; comparisons of lists of floats, whose NaNs may be one object; `index` with
bounds; the order of lists; lists that are parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from appyc.frontend.desugar.building import functions_of
from appyc.frontend.desugar.rewriting import Rules, ValueOf, new_lists, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import walk
from appyc.library import list_lookups


def without_list_methods(source: Source, value_of: ValueOf) -> Source:
    """The function, with these methods of its own lists replaced."""
    lists = new_lists(source.ast)
    rules = _Methods(source.ast, lists, value_of)
    if not any(map(rules.rule_for, walk(source.ast))):
        return source
    return rewritten(source, lambda _: rules)


class _Methods(Rules):
    STATEMENTS = {
        "del it[at]": "it.pop(at)",
        "it.remove(item)": "it.pop(index(it, item))",
        "it.sort(reverse=True)": "it.reverse(); it.sort(); it.reverse()",
        "it.sort(reverse=False)": "it.sort()",
    }
    EXPRESSIONS = {
        "it.index(item)": "index(it, item)",
        "it.count(item)": "count(it, item)",
        "len(it[start:stop:step])": "part_length(it, start, stop, step)",
        "it == other": "equal(it, other)",
        "it != other": "not equal(it, other)",
    }
    CONSTANTS = functions_of(list_lookups)

    def takes(self, pattern: str, node: ast.AST, name: str, found: Mapping[str, ast.expr]) -> bool:
        return "other" not in found or self.owner(found["other"]) is not None
