"""Random pragmas on random loops, against running the loops in other orders.

Each program is a random one (`tests.fuzz.generator`) with a pragma on one or two of its
loops, `independent` never among the clauses. Plain Python then runs the iterations of the marked
loops backwards and in random orders. Where an order changes the outcome, beyond rounding,
the compiler must have refused the pragma, or said what it did to keep the results; and
whatever it runs gives what plain Python gives.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hypothesis import strategies as st

from appyc.api import JitFunction
from appyc.errors import CompileError, DependenceError, PragmaError
from appyc.report.explain import Report
from tests.e2e.harness import LOOSE, Mismatch, Outcome, call, compare, compiled, run_on, settings
from tests.fuzz.check import ALLOWED, is_refusal
from tests.fuzz.generator import Program, programs
from tests.fuzz.nests import nest_programs
from tests.orders import orders, reordered, same

OPERATORS = {ast.Add: "+", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}


@dataclass(frozen=True)
class Marked:
    """A program with pragmas. marks: the marked loops, by number in the text, and for each how many
    loops its pragma is about (`collapse`)."""

    program: Program
    marks: tuple[tuple[int, int], ...]

    @cached_property
    def loops(self) -> list[ast.For]:
        return _loops(self.program.source)

    @property
    def numbers(self) -> set[int]:
        """The loops whose iterations may change places if the pragmas are right."""
        return {number for start, count in self.marks for number in range(start, start + count)}

    def lines(self, number: int) -> range:
        """The lines of a loop, its pragma's before it included."""
        loop = self.loops[number]
        return range(loop.lineno - 1, (loop.end_lineno or loop.lineno) + 1)

    def __str__(self) -> str:
        return str(self.program)


def _loops(source: str) -> list[ast.For]:
    """Every `for` loop, in the order of the text."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.For)]
    return sorted(found, key=lambda loop: loop.lineno)


# ---------------------------------------------------------------- making them


@st.composite
def marked_programs(draw: st.DrawFn, *, large: bool = True) -> Marked:
    plain = _without_loop_pragmas(draw(st.one_of(nest_programs(), programs(large=large))))
    loops = _loops(plain.source)
    count = min(len(loops), draw(st.sampled_from((1, 1, 1, 2))))
    chosen = draw(
        st.lists(st.integers(0, len(loops) - 1), min_size=count, max_size=count, unique=True).map(sorted)
    )
    lines = plain.source.splitlines()
    marks: list[tuple[int, int]] = []
    for number in reversed(chosen):
        loop = loops[number]
        text, about = _pragma(draw, loop)
        marks.insert(0, (number, about))
        lines.insert(loop.lineno - 1, " " * loop.col_offset + text)
    return Marked(Program("\n".join(lines) + "\n", plain.args), tuple(marks))


def _without_loop_pragmas(program: Program) -> Program:
    lines = program.source.splitlines(keepends=True)
    return Program("".join(x for x in lines if "#pragma" not in x or "atomic" in x), program.args)


def _pragma(draw: st.DrawFn, loop: ast.For) -> tuple[str, int]:
    """The text, and how many loops it is about."""
    chance = st.integers(0, 99)
    if draw(chance) < 15:
        return "#pragma simd", 1
    parts, about = ["#pragma parallel for"], 1
    if draw(chance) < 20:
        parts.append("simd")
    if len(loop.body) == 1 and isinstance(loop.body[0], ast.For) and draw(chance) < 40:
        parts.append("collapse(2)")
        about = 2
    summed = sorted({n.target.id for n in ast.walk(loop) if _is_sum(n)})
    assigned = sorted(
        {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    )
    plain = [name for name in assigned if name not in summed]
    if summed and draw(chance) < 40:
        name = draw(st.sampled_from(summed))
        parts.append(f"reduction({draw(_operator(loop, name))}: {name})")
    if plain and draw(chance) < 20:
        parts.append(f"private({draw(st.sampled_from(plain))})")
    if draw(chance) < 15:
        parts.append(draw(st.sampled_from(("schedule(dynamic)", "schedule(static, 2)", "if(n > 3)"))))
    return " ".join(parts), about


def _is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)


def _operator(loop: ast.For, name: str) -> st.SearchStrategy[str]:
    """The operator of the updates more often than another one."""
    own = [
        OPERATORS[type(n.op)]
        for n in ast.walk(loop)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name) and n.target.id == name
        and type(n.op) in OPERATORS
    ]  # fmt: skip
    return st.sampled_from((*own, *own, *own, "+", "max"))


# ---------------------------------------------------------------- judging them


def check_marked(marked: Marked, targets: Sequence[str]) -> str:
    """Compares what the compiler says and does with what other orders do.

    Returns the outcome: "refused" (an order changes the result), "refused, though no order mattered",
    "clause refused", "runs in any order", "runs in a way that was told", "raised". Raises Mismatch
    where a result is wrong, or where order matters and nothing was said.
    """
    fn = marked.program.function()
    expected = call(fn, marked.program.args)
    if expected.error is not None and not isinstance(expected.error, ALLOWED):
        raise Mismatch(f"the generator wrote a program that fails: {expected.error!r}")
    try:
        for target in targets:
            found = run_on(fn, marked.program.args, target, strict=True)
            compare(expected, found, target, joined=True, tolerance=LOOSE)
    except CompileError as error:
        return _refused(marked, expected, error)
    if expected.error is not None:
        return "raised"
    if not order_matters(marked, expected):
        return "runs in any order"
    report = _report(marked, targets[0])
    silent = [number for number in marked.numbers if not _is_told(marked, number, report)]
    alone = [n for n in silent if order_matters(marked, expected, {n})]
    if alone:
        line = marked.loops[alone[0]].lineno
        raise Mismatch(f"the loop of line {line} depends on its order, and was run without a word\n{report}")
    return "runs in a way that was told"


def _refused(marked: Marked, expected: Outcome, error: CompileError) -> str:
    if not is_refusal(error):
        raise Mismatch(f"not compiled: {error}") from error
    if isinstance(error, PragmaError):
        return "clause refused"
    if not isinstance(error, DependenceError):
        return "refused for another reason"
    if expected.error is not None or order_matters(marked, expected):
        return "refused"
    if order_matters(marked, expected, keep_last=False):
        return "refused, though only the last iteration had to stay the last"
    return "refused, though no order mattered"


def order_matters(
    marked: Marked, expected: Outcome, numbers: set[int] | None = None, *, keep_last: bool = True
) -> bool:
    """Whether some order of the marked loops changes the outcome.

    keep_last: the last iteration stays where it is, as what it leaves in scalars is what a parallel
    loop leaves there, too.
    """
    chosen = marked.numbers if numbers is None else numbers
    for order in orders():
        fn = reordered(marked.program.source, "program", chosen, order, chosen if keep_last else set())
        if not same(expected, call(fn, marked.program.args), LOOSE):
            return True
    return False


def _report(marked: Marked, target: str) -> Report:
    with settings(target):
        jitted = compiled(marked.program.function(), target, strict=True)
        assert isinstance(jitted, JitFunction)
        return jitted.explain(*marked.program.args)


def _is_told(marked: Marked, number: int, report: Report) -> bool:
    """Whether the report says what became of a loop: a reduction, several loops, copies, a test at the call,
    lanes that keep a carried dependence."""
    lines = marked.lines(number)
    if any(remark.loc.line in lines for remark in report.remarks):
        return True
    records = [record for record in report.loops if record.line == marked.loops[number].lineno]
    if len(records) > 1:
        return True
    return any(r.verdict in ("reduction", "independent-if") or "lanes run" in r.reason for r in records)
