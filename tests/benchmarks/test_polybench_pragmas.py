"""Every pragma tells the truth: the loop below it may run its iterations in any order."""

from __future__ import annotations

import ast
import inspect
import random
import textwrap
from collections.abc import Callable

import pytest

from benchmarks.polybench.kernel import Kernel
from benchmarks.polybench.measure import copied
from benchmarks.polybench.suite import KERNELS

PLAIN = ("seidel-2d",)
"""Kernels without a parallel loop."""


def annotated_loops(source: str, tree: ast.AST) -> list[ast.For]:
    lines = source.splitlines()
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.For) and lines[node.lineno - 2].strip() == "# pragma parallel for"
    ]


def with_shuffled_loops(function: Callable[..., None], seed: int) -> Callable[..., None]:
    """The function with the iterations of its annotated loops in random order."""
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source)
    for loop in annotated_loops(source, tree):
        loop.iter = ast.Call(ast.Name("_shuffled", ast.Load()), [loop.iter], [])
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    order = random.Random(seed)

    def shuffled(iterations: range) -> list[int]:
        return order.sample(iterations, len(iterations))

    names = {**function.__globals__, "_shuffled": shuffled}
    exec(compile(ast.fix_missing_locations(tree), "<shuffled>", "exec"), names)
    return names[definition.name]


@pytest.mark.sampled
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_annotated_loops_run_in_any_order(kernel: Kernel) -> None:
    given = kernel.arguments("random", "MINI")
    expected = copied(given)
    kernel.numpy_version(**expected)
    for seed in (1, 2):
        result = copied(given)
        with_shuffled_loops(kernel.loops.py_func, seed)(**result)
        assert kernel.error(expected, result) <= kernel.tolerance


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_every_pragma_stands_on_a_loop(kernel: Kernel) -> None:
    source = textwrap.dedent(inspect.getsource(kernel.loops.py_func))
    assert source.count("pragma") == len(annotated_loops(source, ast.parse(source)))
    assert (source.count("pragma") == 0) == (kernel.name in PLAIN)


def test_a_false_pragma_is_found() -> None:
    def running_sum(a):
        # pragma parallel for
        for i in range(1, len(a)):
            a[i] += a[i - 1]

    values = list(range(20))
    with_shuffled_loops(running_sum, 1)(values)
    expected = list(range(20))
    running_sum(expected)
    assert values != expected


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_tensor_statements_carry_no_pragma(kernel: Kernel) -> None:
    """Which of their loops run in parallel the compiler finds by itself."""
    assert "pragma" not in inspect.getsource(kernel.tensors.py_func)
