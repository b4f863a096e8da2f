"""Pragmas: what each form says, which statement it is for, and the error for each mistake."""

from __future__ import annotations

import ast
import itertools
import linecache
import textwrap

import numpy as np
import pytest

import appyc
from appyc.errors import PragmaError
from appyc.frontend.pragmas.pragma_nodes import AtomicPragma, DimsPragma, LoopPragma
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.source import Source, read_source
from appyc.ir.nodes import Clauses

_NUMBERS = itertools.count()


def source_of(body: str) -> Source:
    """The source of a function `f` with this body, on line 1 of a file of its own."""
    text = "def f(a, n):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"
    name = f"<pragmas-{next(_NUMBERS)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict = {}
    exec(compile(text, name, "exec"), scope)
    return read_source(scope["f"])


def pragmas_of(body: str) -> dict[str, object]:
    """Pragmas by the text of their statement's first line."""
    source = source_of(body)
    return {source.line(s.lineno).strip(): p for s, p in read_pragmas(source).items()}


def loop(clauses: str) -> LoopPragma:
    (pragma,) = pragmas_of(f"{clauses}\nfor i in range(n):\n    a[i] = 0").values()
    assert isinstance(pragma, LoopPragma)
    return pragma


def error_of(body: str) -> PragmaError:
    with pytest.raises(PragmaError) as caught:
        read_pragmas(source_of(body))
    return caught.value


def pointed_at(error: PragmaError) -> str:
    return (error.loc.source_line() or "")[error.loc.col : error.loc.end_col]


# ---------------------------------------------------------------- what a pragma says


@pytest.mark.parametrize("text", ["#pragma parallel for # fast", "#pragma parallel for#it's 'fast'"])
def test_a_second_hash_begins_a_remark(text: str) -> None:
    pragma = loop(text)
    assert (pragma.request, pragma.clause_locs) == ("parallel", ())
    assert (pragma.loc.source_line() or "")[pragma.loc.col : pragma.loc.end_col] == "#pragma parallel for"


def test_a_remark_does_not_end_a_pragma_that_is_continued() -> None:
    pragma = loop("#pragma parallel for # fast \\\n#  reduction(+: total) # all of it")
    assert [name for clause in pragma.reductions for name in clause.names] == ["total"]


def test_a_hash_in_a_text_is_no_remark() -> None:
    pragma = loop('#pragma parallel for if(kind == "#1") simd')
    assert pragma.condition is not None
    assert ast.unparse(pragma.condition) == "kind == '#1'"
    assert pragma.clauses.simd


def test_an_error_at_a_word_before_a_remark_points_at_the_word() -> None:
    error = error_of("#pragma parallel for smd # fast\nfor i in range(n):\n    a[i] = 0")
    assert pointed_at(error) == "smd"


def test_a_pragma_that_ends_too_early_says_so() -> None:
    error = error_of("#pragma parallel\nfor i in range(n):\n    a[i] = 0")
    assert error.summary == "expected 'for' after 'parallel', found the end of the pragma"


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("#pragma parallel for", "parallel"),
        ("# pragma parallel for", "parallel"),
        ("#   pragma   parallel   for", "parallel"),
        ("#pragma sequential for", "sequential"),
        ("#pragma simd", "simd"),
        ("#pragma auto", "auto"),
    ],
)
def test_directives_of_a_loop(text, request_):
    assert loop(text).request == request_


def test_every_clause():
    pragma = loop(
        "#pragma parallel for simd collapse(2) block(32, 64) num_warps(8) reduction(+: s, t) \\\n"
        "#    reduction(max:m) private(x,y) shared(z) to(b) from(c) schedule(dynamic, 4) independent"
    )
    said = pragma.clauses
    assert (said.simd, said.collapse, said.block, said.num_warps) == (True, 2, (32, 64), 8)
    assert [(r.op, [*r.names]) for r in pragma.reductions] == [
        ("+", ["s", "t"]),
        ("max", ["m"]),
    ]
    assert [*pragma.private] == ["x", "y"]
    assert [*pragma.shared, *pragma.to, *pragma.from_] == ["z", "b", "c"]
    assert (said.schedule, said.chunk, said.independent) == ("dynamic", 4, True)


def test_defaults_without_clauses():
    pragma = loop("#pragma parallel for")
    assert pragma == LoopPragma(Clauses("parallel", loc=pragma.loc))


@pytest.mark.parametrize("op", ["+", "*", "min", "max", "&", "|", "^", "and", "or"])
def test_reduction_operators(op):
    assert loop(f"#pragma parallel for reduction({op}: s)").reductions[0].op == op


def test_names_and_clauses_know_their_places():
    pragma = loop("#pragma parallel for private(first, \\\n#   second)")
    second = pragma.private[1]
    assert (second.loc.line, second.loc.col, second.loc.end_col) == (3, 8, 14)
    assert (pragma.clause_loc("private").line, pragma.clause_loc("private").col) == (2, 25)
    assert pragma.clause_loc("collapse") == pragma.loc


def test_condition_is_an_expression_with_its_places():
    body = "#pragma parallel for if(π > 3 and \\\n#  (n + 1) * 2 > len(a))\nfor i in range(n):\n    pass"
    source = source_of(body)
    (pragma,) = read_pragmas(source).values()
    assert ast.unparse(pragma.condition) == "π > 3 and (n + 1) * 2 > len(a)"
    for node in ast.walk(pragma.condition):
        if isinstance(node, ast.Name):
            loc = source.loc(node)
            assert source.line(loc.line)[loc.col : loc.end_col] == node.id


def test_atomic():
    found = pragmas_of("#pragma atomic\na[0] += 1")
    assert isinstance(found["a[0] += 1"], AtomicPragma)


def test_slices_of_a_tensor_statement():
    found = pragmas_of(
        "#pragma :n=>parallel,block(128) 1:n - 1 => simd, reduce(sum) \\\n"
        "#   a[0] : => le(64)\n"
        "a[:n, 1:n-1] = 0"
    )
    (pragma,) = found.values()
    assert isinstance(pragma, DimsPragma)
    assert [ast.unparse(ast.Subscript(ast.Name("x"), d.slice)) for d in pragma.dims] == [
        "x[:n]",
        "x[1:n - 1]",
        "x[a[0]:]",
    ]
    first, second, third = pragma.dims
    assert (first.parallel, first.block) == (True, 128)
    assert (second.simd, second.reduce) == (True, "sum")
    assert third.le == 64
    assert (third.loc.line, third.loc.col) == (3, 8)


# ---------------------------------------------------------------- what it is for


def test_binds_to_the_next_statement_past_comments_and_blank_lines():
    found = pragmas_of("""
        #pragma parallel for

        # a remark
        for i in range(n):
            #pragma simd
            for j in range(n):
                pass
        else:
            #pragma auto
            for k in range(n):
                pass
    """)
    assert [(line, p.request) for line, p in found.items()] == [
        ("for i in range(n):", "parallel"),
        ("for j in range(n):", "simd"),
        ("for k in range(n):", "auto"),
    ]


def test_nested_function_and_method_lines():
    def outer():
        def inner(n):
            # pragma parallel for
            for _ in range(n):
                pass

        return inner

    (statement,) = read_pragmas(read_source(outer()))
    assert isinstance(statement, ast.For)


@pytest.mark.parametrize(
    "comment",
    [
        "# pragma: no cover",
        "#pragma: no cover",
        "# pragma nocover",
        "# pragma no-branch",
        "# pragma no branch",
        "# this pragma is a word",
        "# pragmas are comments",
        "# program",
        "##pragma parallel for",
        "# #pragma parallel for",
        "#!pragma parallel for",
        "# pragma, as a word",
    ],
)
def test_other_comments_are_left_alone(comment):
    assert pragmas_of(f"{comment}\nn = 1  {comment}") == {}


def test_text_in_a_string_is_no_pragma():
    assert pragmas_of('x = """\n#pragma paralel\n"""') == {}


# ---------------------------------------------------------------- mistakes in the text


@pytest.mark.parametrize(
    ("text", "word", "message"),
    [
        ("#pragma paralel for", "paralel", "unknown directive 'paralel'"),
        ("#pragma parallel fro", "fro", "expected 'for' after 'parallel'"),
        ("#pragma parallel", "parallel", "expected 'for' after 'parallel'"),
        ("#pragma", "#pragma", "asks for nothing"),
        ("#pragma omp parallel for", "omp", "without 'omp'"),
        ("#pragma parallel for privat(x)", "privat", "did you mean 'private'?"),
        ("#pragma parallel for zzz", "zzz", "clauses are simd, collapse"),
        ("#pragma parallel for firstprivate(x)", "firstprivate", "without a clause"),
        ("#pragma parallel for num_threads(4)", "num_threads", "set_num_threads"),
        ("#pragma parallel for, simd", ",", "unknown clause ','"),
        ("#pragma parallel for collapse", "collapse", "write collapse(2)"),
        ("#pragma parallel for collapse(2", "collapse", "lacks its closing ')'"),
        ("#pragma parallel for collapse(0)", "0", "positive whole number, not '0'"),
        ("#pragma parallel for collapse(-1)", "-", "positive whole number, not '-1'"),
        ("#pragma parallel for collapse()", ")", "positive whole number, not ')'"),
        ("#pragma parallel for collapse(2 3)", "3", "expected ')' or ','"),
        ("#pragma parallel for block(x)", "x", "positive whole number, not 'x'"),
        ("#pragma parallel for block(1.5)", ".", "expected ')' or ','"),
        ("#pragma parallel for num_warps(3)", "3", "power of two up to 32, not 3"),
        ("#pragma parallel for num_stages(9)", "9", "a number up to 8, not 9"),
        ("#pragma parallel for num_warps(64)", "64", "power of two up to 32, not 64"),
        ("#pragma parallel for reduction(plus: s)", "plus", "reduction operators are +"),
        ("#pragma parallel for reduction(mx: s)", "mx", "did you mean 'max'?"),
        ("#pragma parallel for reduction(-: s)", "-", "write reduction(+: ...)"),
        ("#pragma parallel for reduction(&&: s)", "&&", "write reduction(and: ...)"),
        ("#pragma parallel for reduction(+ s)", "s", "expected ':' after '+'"),
        ("#pragma parallel for reduction(+:)", ")", "takes names of variables"),
        ("#pragma parallel for private()", ")", "takes names of variables"),
        ("#pragma parallel for private(x,)", ")", "takes names of variables"),
        ("#pragma parallel for private(x, x)", "x", "named twice"),
        ("#pragma parallel for private(a[0])", "[", "expected ')' or ','"),
        ("#pragma parallel for private(for)", "for", "takes names of variables, not 'for'"),
        ("#pragma parallel for private x", "private", "lacks its argument"),
        ("#pragma parallel for schedule(guided)", "guided", "schedules are static, dynamic"),
        ("#pragma parallel for if(n >)", "if", "takes a condition in Python, not 'n >'"),
        ("#pragma parallel for if(n > (3)", "if", "lacks its closing ')'"),
        ("#pragma parallel for simd simd", "simd", "is there twice"),
        ("#pragma parallel for private(x) private(y)", "private", "is there twice"),
        ("#pragma parallel for private(x) reduction(+: x)", "x", "both 'reduction' and 'private'"),
        ("#pragma parallel for reduction(+: x) reduction(*: x)", "x", "'reduction' twice"),
        ("#pragma parallel for \\\n#pragma simd", "pragma", "starts with '#' alone"),
        ("#pragma atomic simd", "simd", "takes no clause"),
        ("#pragm parallel for", "#pragm", "did you mean '#pragma'?"),
        ("# pragma: parallel for", "# pragma:", "a pragma has no colon"),
        ("# Pragma simd", "# Pragma", "did you mean '#pragma'?"),
        ("#pargma parallel for", "#pargma", "did you mean '#pragma'?"),
        ("#pragmaparallel for", "#pragmaparallel", "put a blank after '#pragma'"),
        ("#pragma parallel for \\", "\\", "no comment line after it"),
        ("#pragma :n=>paralel", "paralel", "did you mean 'parallel'?"),
        ("#pragma :n=>", ">", "expected a property"),
        ("#pragma n=>parallel", "n", "expected a slice before '=>'"),
        ("#pragma :n=>parallel simd", "simd", "expected ',' or another slice"),
        ("#pragma :n=>simd,simd", "simd", "is there twice"),
        ("#pragma :n=>reduce(mean)", "mean", "reductions are sum, max, min"),
        ("#pragma :n=>block(0)", "0", "positive whole number"),
    ],
)
def test_mistake_is_shown_at_its_word(text, word, message):
    error = error_of(f"{text}\nfor i in range(n):\n    pass")
    assert pointed_at(error) == word
    assert message in str(error)


def test_duplicate_points_to_both_places():
    error = error_of("#pragma parallel for simd collapse(2) simd\nfor i in range(n):\n    pass")
    assert error.loc.col == 42
    assert error.related[0].loc.col == 25


# ---------------------------------------------------------------- mistakes in the place


@pytest.mark.parametrize(
    "body",
    [
        "n = 1\n#pragma parallel for",
        "for i in range(n):\n    pass\n    #pragma parallel for",
        "if n:\n    pass\n    #pragma parallel for\nelse:\n    for i in range(n):\n        pass",
        "n = [\n    #pragma parallel for\n    1]",
    ],
)
def test_pragma_that_nothing_follows(body):
    assert "no statement follows this pragma" in str(error_of(body))


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(n):\n    n = 1\n    #pragma parallel for\nfor j in range(n):\n    pass",
        "for i in range(n):\n#pragma parallel for\n    for j in range(n):\n        pass",
    ],
)
def test_pragma_in_another_block_than_the_next_statement(body):
    error = error_of(body)
    assert "not in the block of the statement that follows" in str(error)
    assert "for j in range(n):" in str(error)


def test_pragma_behind_code():
    error = error_of("for i in range(n):  #pragma parallel for\n    pass")
    assert "a pragma behind code" in str(error)


def test_remark_for_another_tool_behind_code():
    assert not pragmas_of("for i in range(n):  # pragma exempt branch\n    pass")


def test_loop_pragma_on_an_assignment():
    error = error_of("#pragma parallel for\nx = 1\nfor i in range(n):\n    pass")
    assert str(error).splitlines()[0] == (
        "'parallel for' binds to 'x = 1' on line 3, which is not a for loop [P001]"
    )


def test_loop_pragma_on_a_while_loop():
    assert "binds to 'while n:' on line 3" in str(error_of("#pragma simd\nwhile n:\n    n -= 1"))


def test_long_statement_is_cut_in_the_message():
    error = error_of("#pragma auto\na[0] = " + " + ".join(["n"] * 40))
    assert "..." in error.summary
    assert len(error.summary) < 110


def test_atomic_on_a_loop():
    assert "not an assignment" in str(error_of("#pragma atomic\nfor i in range(n):\n    pass"))


def test_two_pragmas_on_one_loop():
    error = error_of("#pragma parallel for\n#pragma simd\nfor i in range(n):\n    pass")
    assert "two pragmas on one statement" in str(error)
    assert error.related[0].loc.line == 2


def test_rendered_error():
    error = error_of("#pragma parallel for colapse(2)\nfor i in range(n):\n    pass")
    assert str(error).splitlines()[2:] == [
        "  |",
        "2 |     #pragma parallel for colapse(2)",
        "  |                          ^^^^^^^ did you mean 'collapse'?",
    ]


def test_variables_of_loops_may_be_named_private():
    """As programs with OpenMP do; one that is also set elsewhere in the loop is made private as any other."""

    def named(a, b):
        n, m = a.shape
        # pragma parallel for private(i, j, t)
        for i in range(n):
            for j in range(m):
                t = a[i, j] * 2
                b[i, j] = t

    def behind(a, b):
        n, m = a.shape
        j = 0
        # pragma parallel for private(i, j)
        for i in range(n):
            for j in range(m):
                b[i, j] = a[i, j]

    for fn in (named, behind):
        for target in ("cpu", "interpret"):
            a, one, other = np.arange(12.0).reshape(3, 4), np.zeros((3, 4)), np.zeros((3, 4))
            jitted = appyc.jit(strict=True, target=target)(fn)
            jitted(a, one)
            fn(a, other)
            np.testing.assert_array_equal(one, other)
            assert jitted.explain().loops[0].verdict == "independent"


# ---------------------------------------------------------------- forms of a nest


def test_forms_of_a_nest_need_no_directive() -> None:
    pragma = loop("#pragma tile(32, 64) unroll(4)")
    assert pragma.request == "auto"
    assert [(t.name, t.sizes) for t in pragma.clauses.transforms] == [("tile", (32, 64)), ("unroll", (4,))]
    (swap,) = loop("#pragma parallel for interchange(j, i)").clauses.transforms
    assert [*swap.loops] == ["j", "i"]


@pytest.mark.parametrize(
    ("clause", "word"),
    [
        ("tile()", ")"),
        ("tile(-4)", "-"),
        ("tile(4,)", ")"),
        ("unroll(2, 2)", "unroll"),
        ("interchange(1)", "1"),
        ("interchange(i, i)", "i"),
        ("tile(8) tile(8)", "tile"),
        ("tile(9999999999)", "tile"),
    ],
)
def test_a_form_that_is_not_understood(clause: str, word: str) -> None:
    error = error_of(f"#pragma {clause}\nfor i in range(n):\n    a[i] = 0")
    assert pointed_at(error) == word
