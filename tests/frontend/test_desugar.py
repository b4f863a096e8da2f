"""Desugaring: what each rule makes of syntax, what it leaves, and that Python sees no difference."""

from __future__ import annotations

import ast
import builtins
import linecache
import re
import runpy
import tempfile
import textwrap
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.errors import Loc, UnsupportedError
from appyc.frontend.desugar.building import matched
from appyc.frontend.desugar.comprehension_loops import ALL, LIST, SUM, folded
from appyc.frontend.desugar.consumed_generators import without_generator_calls
from appyc.frontend.desugar.generator_loops import without_generators
from appyc.frontend.desugar.hash_tables import without_hash_tables
from appyc.frontend.desugar.nested_lists import without_nested_lists
from appyc.frontend.desugar.parsed_functions import without_matches, without_nonlocals
from appyc.frontend.desugar.predicated_jumps import Unrolled
from appyc.frontend.desugar.range_names import without_range_names
from appyc.frontend.desugar.rebound_names import with_names_for_rebound
from appyc.frontend.desugar.sequences import without_deques
from appyc.frontend.desugar.tries import without_tries
from appyc.frontend.source import capture, read_source
from tests.e2e.harness import run_everywhere


def rewritten(text: str) -> str:
    tree = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return ast.unparse(ast.fix_missing_locations(without_matches(tree)))


def _without_containers(text: str) -> str:
    path = Path(tempfile.mkdtemp()) / "made.py"
    path.write_text(textwrap.dedent(text))
    space = runpy.run_path(str(path))
    function = next(value for value in space.values() if isinstance(value, FunctionType))
    linecache.checkcache()

    def value_of(node: ast.expr) -> object:
        outer = isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).partition(".")[0] in space
        return eval(ast.unparse(node), space) if outer else getattr(builtins, ast.unparse(node), None)

    source = read_source(capture(function))
    for rule in (
        without_generator_calls,
        without_generators,
        without_range_names,
        without_tries,
        without_deques,
        without_hash_tables,
        without_nested_lists,
    ):
        source = rule(source, value_of)
    text = re.sub(r"<function (\w+) at 0x\w+>", r"\1", ast.unparse(source.ast))
    return re.sub(r"ReturnedContainer\(makes='(\w+)'.*?\)\)\(", r"\1(", text)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("it.insert(at, item)", "xs.insert(i + 1, f(x))", {"it": "xs", "at": "i + 1", "item": "f(x)"}),
        ("it.insert(at, item)", "xs.insert(i)", None),
        ("len(it)", "len(q)", {"len": "len", "it": "q"}),
        ("len(it)", "size(q)", None),
        ("it[at]", "a[i]", {"it": "a", "at": "i"}),
        ("it[at]", "a[1:]", None),
        ("it.append(item)", "a.append(*b)", None),
        ("it in other", "x not in y", None),
    ],
)
def test_a_pattern(pattern: str, text: str, found: dict[str, str] | None) -> None:
    names = matched(pattern, ast.parse(text, mode="eval").body)
    assert (names and {name: ast.unparse(node) for name, node in names.items()}) == found


def test_a_pattern_of_a_statement() -> None:
    stmt = ast.parse("del xs[0]").body[0]
    assert matched("del it[at]", stmt) is not None
    assert matched("it[at]", stmt) is None


def test_a_generator_that_is_left() -> None:
    assert _without_containers("""
        def f(x, n):
            def pairs(n):
                for i in range(n):
                    for j in range(i):
                        yield i + j

            s = 0
            for k in pairs(n):
                if x[k] < s:
                    break
                s += x[k]
            return s
        """) == textwrap.dedent("""\
        def f(x, n):

            def pairs(n):
                for i in range(n):
                    for j in range(i):
                        yield (i + j)
            s = 0
            done = False
            for pairs_i in range(n):
                for pairs_j in range(pairs_i):
                    k = pairs_i + pairs_j
                    if x[k] < s:
                        done = True
                        break
                    s += x[k]
                if done:
                    break
            return s""")


def test_all_that_a_generator_yields() -> None:
    assert _without_containers("""
        def f(x, n, total):
            def halves(n):
                while n > 1:
                    n //= 2
                    yield n

            n -= 2 * sum(halves(n), total) + max(halves(n + 1))
            return list(halves(n)), total
        """) == textwrap.dedent("""\
        def f(x, n, total):

            def halves(n):
                while n > 1:
                    n //= 2
                    yield n
            total_2 = total
            halves_n = n
            while halves_n > 1:
                halves_n //= 2
                item = halves_n
                total_2 = total_2 + item
            total_3 = []
            halves_n_3 = n + 1
            while halves_n_3 > 1:
                halves_n_3 //= 2
                item_2 = halves_n_3
                total_3.append(item_2)
            max_2 = max(total_3)
            n -= 2 * total_2 + max_2
            total_4 = []
            halves_n_5 = n
            while halves_n_5 > 1:
                halves_n_5 //= 2
                item_3 = halves_n_5
                total_4.append(item_3)
            return (total_4, total)""")


@pytest.mark.parametrize(
    "statement",
    [
        "n = sum(g(n)) if n else 0",
        "n = 1 / n + sum(g(n))",
        "n = x[0] + sum(g(n))",
        "n = sum(changing(x))",
        "n = sum(g(n), start=1)",
        "x[n] += sum(g(n))",
    ],
)
def test_other_calls_of_generators_stay(statement: str) -> None:
    made = "def g(n):\n    yield n\ndef changing(x):\n    x[0] = 1\n    yield 1\n"
    assert statement in _without_containers(f"def f(x, n):\n    {statement}\n    return n\n{made}")


def test_choices_from_a_range() -> None:
    assert _without_containers("""
        import itertools

        def f(x, n):
            s = 0
            for two in itertools.combinations(range(1, n), 2):
                s += x[two[0]] * x[two[1]]
            return s
        """) == textwrap.dedent("""\
        def f(x, n):
            s = 0
            combinations_iterable.range.stop = n
            for combinations_one in range(len(range(1, combinations_iterable.range.stop, 1))):
                for combinations_two in range(combinations_one + 1, len(range(1, combinations_iterable.range.stop, 1))):
                    two = (1 + combinations_one, 1 + combinations_two)
                    s += x[two[0]] * x[two[1]]
            return s""")


def test_a_dict() -> None:
    assert _without_containers("""
        def f(a):
            d = {}
            for x in a:
                d[x] = d.get(x, 0) + 1
            for k, v in d.items():
                d[k] = -v
            return d
    """) == textwrap.dedent("""
        def f(a):
            d.keys = []
            d.values = []
            d.table = [-1] * 16
            for x in a:
                d_item = get(d.table, d.keys, d.values, x, 0) + 1
                d_key = x
                d_number = find(d.table, d.keys, d_key)
                if d_number < 0:
                    enter(d.table, d.keys, d_number)
                    d_number = len(d.keys)
                    d.keys.append(d_key)
                    d.values.append(d_item)
                    if 2 * len(d.keys) > len(d.table):
                        d.table = [-1] * (2 * len(d.table))
                        enter_all(d.table, d.keys)
                else:
                    put(d.values, d_number, d_item)
            for k, v in zip(d.keys, d.values):
                d_item_2 = -v
                d_key_2 = k
                d.values[found(d.table, d.keys, d_key_2)] = d_item_2
            return dict(d.keys, d.values)
    """).strip()  # fmt: skip


def test_keys_that_are_deleted() -> None:
    assert _without_containers("""
        def f(a, n):
            s = set()
            d = {}
            for x in a:
                s.add(x)
                s.discard(n)
                d[x] = d.pop(n, 0)
            del d[n]
            while s and len(d) > 3:
                n += d.pop(n)
            for k in d:
                n += k
            return n
    """) == textwrap.dedent("""
        def f(a, n):
            s.keys = []
            s.table = [-1] * 16
            s.gone = [0]
            d.keys = []
            d.values = []
            d.table = [-1] * 16
            d.gone = [0]
            for x in a:
                s_key = x
                s_number = find(s.table, s.keys, s_key)
                if s_number < 0:
                    enter(s.table, s.keys, s_number)
                    s_number = len(s.keys)
                    s.keys.append(s_key)
                    if 2 * len(s.keys) > len(s.table):
                        s.gone = [0]
                        s.live = [0] * len(s.keys)
                        mark(s.live, s.table)
                        pack(s.live, s.keys)
                        s.table = [-1] * (2 * len(s.table) if 4 * len(s.keys) > len(s.table) else len(s.table))
                        s_number = len(s.keys) - 1
                        enter_all(s.table, s.keys)
                drop(s.gone, s.table, s.keys, n)
                d_item = take(d.gone, d.table, d.keys, d.values, n, 0)
                d_key = x
                d_number = find(d.table, d.keys, d_key)
                if d_number < 0:
                    enter(d.table, d.keys, d_number)
                    d_number = len(d.keys)
                    d.keys.append(d_key)
                    d.values.append(d_item)
                    if 2 * len(d.keys) > len(d.table):
                        d.gone = [0]
                        d.live = [0] * len(d.keys)
                        mark(d.live, d.table)
                        pack(d.live, d.keys)
                        pack(d.live, d.values)
                        d.table = [-1] * (2 * len(d.table) if 4 * len(d.keys) > len(d.table) else len(d.table))
                        d_number = len(d.keys) - 1
                        enter_all(d.table, d.keys)
                else:
                    put(d.values, d_number, d_item)
            delete(d.gone, d.table, d.keys, n)
            while len(s.keys) > s.gone[0] and len(d.keys) - d.gone[0] > 3:
                n += d.values[delete(d.gone, d.table, d.keys, n)]
            if d.gone[0] > 0:
                d.gone = [0]
                d.live = [0] * len(d.keys)
                mark(d.live, d.table)
                pack(d.live, d.keys)
                pack(d.live, d.values)
                d.table = [-1] * (2 * len(d.table) if 4 * len(d.keys) > len(d.table) else len(d.table))
                enter_all(d.table, d.keys)
            for k in d.keys:
                n += k
            return n
    """).strip()  # fmt: skip


@pytest.mark.parametrize(
    "use",
    [
        "for k in d: d.pop(k)",
        "n = sum(v for v in d.values())",
        "n = [k for k in d]",
        "d.pop(n, 1, 2)",
        "n = d.popitem()",
    ],
)
def test_another_use_of_a_dict_that_loses_keys_is_an_error(use: str) -> None:
    with pytest.raises(UnsupportedError, match="'d' has a use that cannot be compiled"):
        _without_containers(f"""
            def f(n):
                d = {{}}
                d[n] = 2
                del d[n]
                {use}
                return n
        """)


def test_what_sum_looks_at_in_a_dict_that_loses_keys_are_those_that_its_table_has() -> None:
    text = _without_containers("""
        def f(n):
            d = {}
            d[n] = 2
            del d[n]
            return sum(d.values())
    """)
    at = "d_number_2"
    live = f"for {at} in range(len(d.keys)) if find(d.table, d.keys, d.keys[{at}]) == {at}"
    assert f"return sum((d.values[{at}] {live}))" in text


def test_a_deque() -> None:
    assert _without_containers("""
        from collections import deque
        def f(n):
            q = deque()
            q.append(n)
            while q and len(q) < 5:
                q.append(q.popleft() + q[-1])
            for x in q:
                n += x
            return q, n
    """) == textwrap.dedent("""
        def f(n):
            q.items = []
            q.head = [0]
            q.items.append(n)
            while len(q.items) > q.head[0] and len(q.items) - q.head[0] < 5:
                q.items.append(pop_left(q.items, q.head) + item_of(q.items, q.head, -1))
            drop_front(q.items, q.head)
            for x in q.items:
                n += x
            drop_front(q.items, q.head)
            return (deque(q.items), n)
    """).strip()  # fmt: skip


def test_a_list_of_lists() -> None:
    assert _without_containers("""
        def f(edges, n, x):
            near = [[] for _ in range(n)]
            for u, v in edges:
                near[u].append(v)
            for v in near[0]:
                x += v
            for row in near:
                x += len(row) + row[0]
            near[1] = [x]
            return near
    """) == textwrap.dedent("""
        def f(edges, n, x):
            near.items = []
            near.starts = []
            near.counts = []
            near.rooms = []
            for __2 in range(n):
                near.starts.append(len(near.items))
                near.counts.append(0)
                near.rooms.append(0)
            for u, v in edges:
                near_row = row_of(near.counts, u)
                near_item = v
                if is_full(near.counts, near.rooms, near_row):
                    near_first = len(near.items)
                    for near_k in range(2 * length_of(near.counts, near_row) + 4):
                        near.items.append(near_item)
                    move_to_end(near.items, near.starts, near.counts, near.rooms, near_row, near_first)
                put_last(near.items, near.starts, near.counts, near_row, near_item)
            near_row_2 = row_of(near.counts, 0)
            for k in range(length_of(near.counts, near_row_2)):
                v = item_at(near.items, first_of(near.starts, near_row_2) + k)
                x += v
            for row.row in range(len(near.counts)):
                x += length_of(near.counts, row.row) + near.items[position(near.starts, near.counts, row.row, 0)]
            near_first_2 = len(near.items)
            near.items.extend([x])
            replace_row(near.items, near.starts, near.counts, near.rooms, row_of(near.counts, 1), near_first_2)
            return lists(near.items, near.starts, near.counts)
    """).strip()  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "rows.pop()",  # numbers of rows would change
        "row = rows[0]; row = [1]",  # a name that is bound to something else too
        "row = rows[0]; rows = [[]]; x = row[0]",  # a row of a list that is gone
        "new = [1]; rows.append(new); new.append(2)",  # a list with two names
        "rows[0] = rows[1]",
        "x = rows[0] == [1]",
        "for v in rows[0]: rows[0].append(v)",
        "def g(): return rows[0]",
    ],
)
def test_another_use_of_rows_is_an_error(body: str) -> None:
    with pytest.raises(UnsupportedError, match=r"'(rows|row)' has a use that cannot be compiled"):
        _without_containers(f"""
            def f(x):
                rows = [[] for _ in range(3)]
                rows[0].append(1)
                {body}
                return rows
        """)


def test_a_handler_that_one_place_reaches() -> None:
    assert _without_containers("""
        def f(x, n):
            s = 0
            for i in range(n):
                try:
                    if s > 100:
                        raise ValueError("much")
                    s += 1 / x[i]
                    s += 1
                except ZeroDivisionError:
                    s -= 1
                except ValueError as error:
                    continue
                else:
                    s *= 2
                s += 3
            return s
        """) == textwrap.dedent("""\
        def f(x, n):
            s = 0
            for i in range(n):
                ZeroDivisionError
                ValueError
                if s > 100:
                    continue
                else:
                    other(s)
                    if not outside(x, i) and by_zero(1, x[i]):
                        s -= 1
                    else:
                        not outside(x, i) and other(x[i])
                        not outside(x, i) and other(s)
                        not outside(x, i) and other(1 / x[i])
                        s += 1 / x[i]
                        other(s)
                        s += 1
                        s *= 2
                s += 3
            return s""")


def test_a_handler_that_several_places_reach() -> None:
    assert _without_containers("""
        def f(x, n):
            s = 0
            d = {}
            try:
                for i in range(n):
                    d[i] = x[i]
                    while x[s] > 0:
                        s += d[s]
                s //= n
            except (LookupError, ZeroDivisionError):
                s = -1
            else:
                s += 1
            return s
        """) == textwrap.dedent("""\
        def f(x, n):
            s = 0
            d.keys = []
            d.values = []
            d.table = [-1] * 16
            caught = 0
            (LookupError, ZeroDivisionError)
            for i in range(n):
                if outside(x, i):
                    caught = 1
                    break
                d_item = x[i]
                d_key = i
                d_number = find(d.table, d.keys, d_key)
                if d_number < 0:
                    enter(d.table, d.keys, d_number)
                    d_number = len(d.keys)
                    d.keys.append(d_key)
                    d.values.append(d_item)
                    if 2 * len(d.keys) > len(d.table):
                        d.table = [-1] * (2 * len(d.table))
                        enter_all(d.table, d.keys)
                else:
                    put(d.values, d_number, d_item)
                while True:
                    if outside(x, s):
                        caught = 1
                        break
                    if not x[s] > 0:
                        break
                    if find(d.table, d.keys, s) < 0:
                        caught = 1
                        break
                    s += d.values[found(d.table, d.keys, s)]
                if caught != 0:
                    break
            if not caught != 0:
                if by_zero(s, n):
                    caught = 1
                else:
                    s //= n
                    s += 1
            if caught == 1:
                caught = 0
                s = -1
            return s""")


def test_an_exception_in_a_handler_is_the_outer_trys() -> None:
    assert _without_containers("""
        def f(x, n):
            try:
                try:
                    n = x[n]
                except IndexError:
                    n //= n
                n += 1
            except ZeroDivisionError:
                n = 7
            return n
        """) == textwrap.dedent("""\
        def f(x, n):
            caught = 0
            ZeroDivisionError
            IndexError
            if outside(x, n):
                if by_zero(n, n):
                    caught = 1
                else:
                    n //= n
            else:
                n = x[n]
            if not caught != 0:
                n += 1
            if caught == 1:
                caught = 0
                n = 7
            return n""")


@pytest.mark.parametrize(
    "text",
    [
        "try: n = 1 / n\nexcept ZeroDivisionError as e: n = len(e.args)",  # the exception is used
        "try: n = 1 / n\nexcept ZeroDivisionError: raise",
        "try: n = f(x, n) / n\nexcept ZeroDivisionError: n = 1",  # which may raise anything
        "try: n = x.pop() / n\nexcept ZeroDivisionError: n = 1",  # a test would pop, too
        "try: x[n] = x.pop()\nexcept IndexError: n = 1",  # the item is gone before
        "try: x[0], x[n] = 1, 2\nexcept IndexError: n = 1",  # the first is stored before
        "try: n = 0 < n < x[n]\nexcept IndexError: n = 1",  # x[n] may not be read
        "try: n = 2 ** n\nexcept OverflowError: n = 1",
        "try: n += unbound\nexcept Exception: n = 1\nunbound = 1",
        "try: n = 1 / n\nexcept n: n = 1",  # no class
        "try: n = 1 / n\nfinally: x[0] = 1",  # it is seen, whatever is raised
        "try: n = 1\nfinally: n = 1 / n",
        "for i in x:\n    try: continue\n    finally: n = 1",
        "try: return 1\nfinally: n = 1",
        "try: import math\nexcept ImportError: n = 1",
        "try: n = [1 / k for k in x]\nexcept ZeroDivisionError: n = 1",
        "try:\n    with x: n = 1\nexcept KeyError: n = 1",
        "try: raise KeyError from None or x\nexcept KeyError: n = 1",
        "try: raise Made(n)\nexcept Made: n = 1",  # what makes it may do more
    ],
)
def test_another_try_stays(text: str) -> None:
    body = textwrap.indent(text, "    ")
    made = "class Made(Exception):\n    def __init__(self, n):\n        self.n = n\n"
    assert "try:" in _without_containers(f"def f(x, n):\n{body}\n    return n\n{made}")


def test_a_row_may_be_replaced_where_liveness_is_not_known() -> None:
    assert "replace_row" in _without_containers("""
        def f(x):
            rows = [[] for _ in range(3)]
            try:
                x = x + 1
            except ValueError as error:
                rows[0] = [len(error.args)]
            return rows
    """)


def test_messages_name_the_list_of_lists() -> None:
    def f(n):
        rows = [[] for _ in range(n)]
        rows[0].append(1)
        rows[1].append(0.5j)
        return rows

    with pytest.raises(UnsupportedError, match="'rows' gets numbers of different types"):
        appyc.jit(strict=True)(f)(2)


def test_another_use_of_a_container_is_an_error_there() -> None:
    with pytest.raises(UnsupportedError, match="'d' has a use that cannot be compiled") as caught:
        _without_containers("""
            def f(n):
                d = {}
                for i in range(n):
                    d[i] = i
                d.popitem()
                return d
        """)
    assert caught.value.loc is not None
    assert caught.value.loc.line == 6


def test_cells() -> None:
    tree = ast.parse(
        textwrap.dedent("""
        def f(xs):
            total, other = (0, 1)
            count = 0
            def add(x):
                nonlocal count, total
                count += 1
                total += x
                return count
            for x in xs:
                add(x)
            return (total, count)
    """)
    ).body[0]
    assert isinstance(tree, ast.FunctionDef)
    assert ast.unparse(without_nonlocals(tree)) == textwrap.dedent("""
        def f(xs):
            total, other = (0, 1)
            count = [0]

            def add(x):
                nonlocal total
                count[0] += 1
                total += x
                return count[0]
            for x in xs:
                add(x)
            return (total, count[0])
    """).strip()  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "for n in range(3): pass\n    def g():\n        nonlocal n\n        n += 1",
        "n = 0\n    def g(n):\n        def h():\n            nonlocal n\n            n += 1",
        "n = 0\n    def g():\n        n = 1\n        def h():\n            nonlocal n\n            n += 1",
        "n = 0\n    def g():\n        nonlocal n\n        n += 1\n    def h():\n        n = 1",
        "n = 0\n    def g():\n        nonlocal n\n        n = 1\n    [n for n in (1, 2)]",
        "if a: n = 0\n    def g():\n        nonlocal n\n        n += 1",
        "def g():\n        nonlocal a\n        a += 1",
    ],
)
def test_other_names_of_nested_functions_stay(body: str) -> None:
    tree = ast.parse(f"def f(a):\n    {body}\n    g()").body[0]
    assert isinstance(tree, ast.FunctionDef)
    before = ast.unparse(tree)
    assert ast.unparse(without_nonlocals(tree)) == before


def test_a_chain() -> None:
    found = rewritten("""
        def f(k, matched):
            match k % 5:
                case 0: return 1
                case 1 | -2 if k > 9: return 2
                case n if n > 3: return n
                case n: k = n
    """)
    assert (
        found
        == textwrap.dedent("""
        def f(k, matched):
            matched_2 = k % 5
            if matched_2 == 0:
                return 1
            elif (matched_2 == 1 or matched_2 == -2) and k > 9:
                return 2
            else:
                n = matched_2
                if n > 3:
                    return n
                else:
                    n = matched_2
                    k = n
    """).strip()
    )


def test_a_tuple_that_is_written_out() -> None:
    found = rewritten("""
        def f(i, out):
            match (i % 3, i % 5):
                case (0, 0): out[i] = 15
                case (0, rest): out[i] = rest
                case None: pass
    """)
    assert (
        found
        == textwrap.dedent("""
        def f(i, out):
            matched = (i % 3, i % 5)
            if matched[0] == 0 and matched[1] == 0:
                out[i] = 15
            elif matched[0] == 0:
                rest = matched[1]
                out[i] = rest
            elif matched is None:
                pass
    """).strip()
    )


@pytest.mark.parametrize(
    "pattern",
    ["[0, *_]", "{'a': 1}", "Point(x=0)", "True", "(0, 1)", "(1, 2, 3)", "(a, 0) if a > 2", "0 | (1 as k)"],
)
def test_other_patterns_stay(pattern: str) -> None:
    subject = "k, k" if " if " in pattern or "3" in pattern else "k"
    text = f"def f(k):\n    match {subject}:\n        case {pattern}: return 1"
    assert "match" in rewritten(text)


def _steps(n, first):  # type: ignore[no-untyped-def]
    total = first
    for i in range(n):
        match i:
            case x if x > 14:
                total += x
            case 2:
                total += 100
        match i % 4, total > 50:
            case 1, _:
                match i % 2:
                    case 0:
                        total += 1
            case 3, big:
                total += big
                continue
            case 2, True | False:
                break
        total *= 2
    return total


def _by_name(mode, x):  # type: ignore[no-untyped-def]
    match mode:
        case "sum" | "total":
            return x.sum()
        case None:
            return 0.0
        case other:
            return x[0] * len(other)


def _fizz(n):  # type: ignore[no-untyped-def]
    out = np.zeros(n, dtype=np.int64)
    for i in range(n):
        match (i % 3, i % 5):
            case (0, 0):
                out[i] = 15
            case (0, _):
                out[i] = 3
            case (_, 0):
                out[i] = 5
            case (a, b):
                out[i] = -a - b
    return out


@pytest.mark.parametrize("mode", ["sum", None, "other"])
def test_text_is_known_when_compiling(mode: Any) -> None:
    run_everywhere(_by_name, mode, np.arange(5.0), strict=True)


def test_numbers() -> None:
    run_everywhere(_fizz, 31, strict=True)


def test_what_stays_a_match_runs_in_python() -> None:
    run_everywhere(_steps, 20, 1)
    with pytest.raises(appyc.UnsupportedError, match="match statement with these patterns"):
        appyc.jit(strict=True, cache=False)(_steps)(20, 1)


def _shown(*statements: ast.stmt) -> str:
    """The statements as text; each node has a location."""
    nodes = (n for s in statements for n in ast.walk(s) if isinstance(n, ast.stmt | ast.expr))
    assert all(hasattr(node, "lineno") for node in nodes)
    return "\n".join(map(ast.unparse, statements))


def _comprehension(text: str) -> ast.GeneratorExp:
    node = ast.parse(f"({text})", mode="eval").body
    assert isinstance(node, ast.GeneratorExp)
    return node


def _text(text: str) -> str:
    return textwrap.dedent(text).strip()


def test_comprehensions_become_loops() -> None:
    node = _comprehension("x * y for x in a if x > 2 if x < 9 for y in b")
    assert _shown(*folded(node, "items", LIST)) == _text("""
        items = []
        for x in a:
            if x > 2:
                if x < 9:
                    for y in b:
                        items.append(x * y)
    """)
    assert _shown(*folded(_comprehension("x for x in a"), "total", SUM, start=ast.Constant(0))) == _text("""
        total = 0
        for x in a:
            total = total + x
    """)


def test_searches_end_with_the_item_that_decides() -> None:
    assert _shown(*folded(_comprehension("x > y for x in a for y in b"), "found", ALL)) == _text("""
        found = True
        for x in a:
            for y in b:
                if not x > y:
                    found = False
                    break
            if not found:
                break
    """)


def test_jumps_of_unrolled_loops_become_branches() -> None:
    loop = ast.parse(
        _text("""
        for d in t:
            if d < 0:
                continue
            if d > 5:
                if d > 7:
                    break
                s += 1
            s += d
    """)
    ).body[0]
    assert isinstance(loop, ast.For)
    unrolled = Unrolled(loop, lambda _: Loc("here", 1))
    assert unrolled.goes_on is not None
    assert ast.unparse(unrolled.goes_on) == "not left_1_0"
    assert _shown(*unrolled.start, *unrolled.body) == _text("""
        left_1_0 = False
        skipped_1_0 = False
        if d < 0:
            skipped_1_0 = True
        else:
            if d > 5:
                if d > 7:
                    left_1_0 = True
                    skipped_1_0 = True
                else:
                    s += 1
            if not skipped_1_0:
                s += d
    """)


# ---------------------------------------------------------------- names of containers that are bound to something else


def _read_behind(a, n):
    xs = [1.0]
    if n:
        xs = np.array(xs)
    return xs


def _read_by_the_next_iteration(a, n):
    xs = [1.0]
    while len(xs) < n:
        a += xs[0]
        xs = np.append(xs, a)
    return a


def _read_at_a_continue(a, n):
    s, xs = 0.0, []
    for k in range(n):
        s += len(xs)
        xs = a * k
        if k == 1:
            continue
        xs = [s]
    return s


def _read_by_a_nested_function(a, n):
    xs = [1.0]
    first = lambda: xs[0]  # noqa: E731
    xs = np.array([2.0])
    return first()


def _read_by_a_handler(a, n):
    xs = [1.0]
    try:
        xs = np.array([n])
        a[n] = 0
    except IndexError:
        return xs
    return a


def _copied(a, n):
    xs = [1.0]
    ys = xs
    xs = ys
    return xs, ys


@pytest.mark.parametrize(
    "function",
    [_read_behind, _read_by_the_next_iteration, _read_at_a_continue, _read_by_a_nested_function,
     _read_by_a_handler, _copied],
)  # fmt: skip
def test_a_container_keeps_its_name_where_that_is_read_behind_the_block(function: FunctionType) -> None:
    source = read_source(capture(function))
    assert ast.unparse(with_names_for_rebound(source).ast) == ast.unparse(source.ast)


def test_what_a_name_of_a_container_is_bound_to_next_has_its_own_name() -> None:
    def made(a, n):
        for _ in range(n):
            xs, m = [], 0
            xs.append(a)
            xs, m = np.array(xs), len(xs)
            xs += m
            xs = [2 * x for x in xs]
        return 0

    loop = with_names_for_rebound(read_source(capture(made))).ast.body[0]
    assert isinstance(loop, ast.For)
    assert [ast.unparse(stmt) for stmt in loop.body[2:]] == [
        "xs_2, m = (np.array(xs), len(xs))",
        "xs_2 += m",
        "xs_2_2 = [2 * x for x in xs_2]",
    ]
