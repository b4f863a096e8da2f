"""The seeded defects: in a file, one text in place of another, and the tests that should find it."""

from __future__ import annotations

from dataclasses import dataclass

PROGRAMS = "tests/e2e/test_programs.py"


@dataclass(frozen=True)
class Defect:
    """name: its kind. file: in `appyc/`. old: occurs there once. tests: pytest's arguments for the relevant tests."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


DEFECTS = (
    Defect(
        "dropped bound",
        "passes/checks/check_bounds.py",
        "needed[access.name] = _Needed(old.loc, (*old.numbers, number), holds)",
        "needed[access.name] = _Needed(old.loc, (*old.numbers, number), old.holds)",
        (PROGRAMS, "-k", "memory and (partial_indexing or first_element or last_element)"),
    ),
    Defect(
        "wrong operator",
        "c_gen/text/c_expressions.py",
        'op = "&&" if expr.op == "and" else "||"',
        'op = "&&"',
        (PROGRAMS, "-k", "control_flow or searches"),
    ),
    Defect(
        "lost dependence",
        "analysis/dependences/legality.py",
        'elif conflict.exact and conflict.kind == "flow" and self._is_definite(conflict):\n'
        "                return self._carried(loop, conflict)",
        'elif conflict.exact and conflict.kind == "flow" and self._is_definite(conflict):\n'
        "                continue",
        (PROGRAMS, "-k", "nests or scientific or false_dependences"),
    ),
    Defect(
        "wrong identity of a reduction",
        "ir/integers.py",
        "            value = 1",
        "            value = 0 if dtype.is_float else 1",
        (PROGRAMS, "-k", "reductions"),
    ),
    Defect(
        "missing mask on the GPU",
        "triton_gen/triton_kernel.py",
        'return text if mask is None else f"{text}, mask={self.over(mask, axes)}"',
        "return text",
        (PROGRAMS, "-k", "elementwise and interpret or masks and interpret"),
    ),
    Defect(
        "lost cast",
        "c_gen/text/c_expressions.py",
        'return f"({c_type(dtype)}){by_way_of}({text})"',
        'return f"({text})"',
        (PROGRAMS, "-k", "numerics or integers"),
    ),
    Defect(
        "first iteration peeled and run again",
        "passes/loop_ops/peel.py",
        "replace(loop, lo=shifted(loop.lo, loop.step))",
        "loop",
        ("tests/passes/test_peel_wrap_around.py",),
    ),
    Defect(
        "lost private part",
        "passes/parallelise/privatise_arrays.py",
        "        if isinstance(node, Load):\n            return self.part.load(node.index, node.loc)",
        "        if isinstance(node, Load):\n            return node",
        ("tests/passes/test_privatise_arrays.py",),
    ),
    Defect(
        "overlap of arguments that end in one element",
        "runtime/overlap.py",
        "sum(r for r in reaches if r > 0) + itemsize",
        "sum(r for r in reaches if r > 0)",
        ("tests/runtime/test_overlap.py",),
    ),
    Defect(
        "integers wrap",
        "passes/checks/check_integer_overflow.py",
        "        None,\n    ).function()",
        "        None,\n    ).fn",
        (PROGRAMS, "-k", "growing_ints"),
    ),
)
