"""Random loops over scratch arrays: what runs in parallel gives the same in any order, whatever memory holds."""

from __future__ import annotations

import linecache
import zlib
from typing import Any

import numpy as np
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import appyc
from appyc.analysis.sets.evaluate import evaluate
from appyc.api import JitFunction
from appyc.ir.nodes import LoopMode
from appyc.ir.printer import print_function
from appyc.ir.visit import loops_of
from tests.dependences.corpus import Function
from tests.dependences.test_loops import orders, reordered
from tests.e2e.harness import call, compare

OUTER = ("i", "i + 1", "i - 1", "i // 2", "0", "1", "n - 1 - i", "2 * i", "n - 1", "k")
INNER = ("j", "j", "j", "j + 1", "i + j", "m - 1 - j", "j // 2", "(i + j) // 2", "j % 2")
RANGES = ("0, n", "1, n - 1", "n - 2, 0, -1", "0, n, 2", "n - 1, -1, -2")
INNER_RANGES = ("0, m", "m - 1, -1, -1", "1, m", "0, i", "0, m, 2")
CONDITIONS = ("i > 1", "i < n - 1", "i == k", "x[i] > 0.0", "i % 2 == 0")
SIZES = ((5, 3, 1), (0, 3, 0), (1, 1, 0), (2, 0, 1), (7, 6, 2), (8, 2, -1), (6, 7, 6))
POISON = "def poison(shape, dtype):\n    return np.full(shape, 1e30, dtype)\n"


@st.composite
def loops(draw: st.DrawFn) -> str:
    """The text of a function of arrays t, u, x and numbers n, m, k, with one nest that may be annotated."""

    def read(inner: bool) -> str:
        return f"{draw(st.sampled_from('ttux'))}[{draw(st.sampled_from(OUTER + 3 * INNER * inner))}]"

    def statement(inner: bool) -> str:
        target = f"{draw(st.sampled_from('tttu'))}[{draw(st.sampled_from(OUTER + 3 * INNER * inner))}]"
        form = draw(
            st.sampled_from(("{t} += {a}", "{t} = x[i]", "{t} = {a} * 0.5 + {b}", "{t} = {a} * 0.5 + {b}"))
        )
        return form.format(t=target, a=read(inner), b=read(inner))

    def part() -> list[str]:
        match draw(st.sampled_from(("loop", "loop", "if", "statement"))):
            case "loop":
                inside = [f"            {statement(True)}" for _ in range(draw(st.integers(1, 2)))]
                return [f"        for j in range({draw(st.sampled_from(INNER_RANGES))}):", *inside]
            case "if":
                return [f"        if {draw(st.sampled_from(CONDITIONS))}:", f"            {statement(False)}"]
            case _:
                return [f"        {statement(False)}"]

    pragma = ["    #pragma parallel for"] * draw(st.booleans())
    head = f"    for i in range({draw(st.sampled_from(RANGES))}):"
    body = [line for _ in range(draw(st.integers(1, 3))) for line in part()]
    return "\n".join(["def program(t, u, x, n, m, k):", *pragma, head, *body]) + "\n"


def function(text: str) -> Function:
    file = f"<loop-{zlib.crc32(text.encode()):08x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {}
    exec(compile(text, file, "exec"), names)
    fn: Function = names["program"]
    return fn


def arguments(n: int, m: int, k: int) -> tuple[Any, ...]:
    rng = np.random.default_rng([n, m])
    return (*(rng.integers(-8, 9, 40) / 4.0 for _ in range(3)), n, m, k)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(loops())
def test_any_order_gives_what_python_gives(text: str) -> None:
    fn = function(text)
    jitted = appyc.jit(cache=False, target="cpu")(fn)
    assert isinstance(jitted, JitFunction)
    try:
        analysed = jitted._analyse(jitted._wanted(arguments(5, 3, 1), {}))
    except appyc.DependenceError:
        event("refused")
        return
    new = analysed.function
    chosen = {
        k: x for k, x in enumerate(loops_of(new.body)) if x.mode is not LoopMode.SEQUENTIAL and not x.in_step
    }
    event("in parallel" if chosen else "in order")
    last = {number for number, loop in chosen.items() if loop.last}
    blocks = {number: loop.safelen for number, loop in chosen.items() if loop.safelen is not None}
    printed = (
        print_function(new)
        .replace("np.empty(", "poison(")
        .replace("import numpy as np\n", f"import numpy as np\n{POISON}")
    )
    for size in SIZES:
        expected = call(fn, arguments(*size))
        known = dict(zip(new.params, arguments(*size), strict=False))
        if expected.error is not None or not all(evaluate(guard.holds, known) for guard in new.guards):
            continue  # such a call takes the plain function
        for order in orders():
            found = call(reordered(printed, new.name, set(chosen), order, last, blocks), arguments(*size))
            if "#pragma" in text and type(found.error).__name__ == "DependenceError":
                continue  # the arguments decide, and say no
            compare(expected, found, f"{size}, in another order")
