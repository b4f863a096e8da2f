"""PolyBench without its pragmas: what the compiler finds by itself must be right too."""

from __future__ import annotations

import ast
import linecache

import numpy as np
import pytest

import appyc
from appyc.frontend.source import read_source
from benchmarks.polybench.measure import copied
from benchmarks.polybench.suite import KERNELS


def unmarked(name):
    """The loop version as a function whose text has no pragmas."""
    source = read_source(KERNELS[name].loops.py_func)
    text = ast.unparse(ast.Module([*source.ast.body], []))
    arguments = ", ".join(a.arg for a in source.ast.args.args)
    body = "\n".join("    " + line for line in text.splitlines())
    whole = f"def loops({arguments}):\n{body}\n"
    file = f"<unmarked {name}>"
    linecache.cache[file] = (len(whole), None, whole.splitlines(True), file)
    namespace = dict(KERNELS[name].loops.py_func.__globals__)
    exec(compile(whole, file, "exec"), namespace)
    return namespace["loops"]


@pytest.mark.sampled
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_without_pragmas_is_right(name):
    kernel = KERNELS[name]
    given = kernel.arguments("random", "SMALL")
    reference, result = copied(given), copied(given)
    kernel.numpy_version(**reference)
    function = appyc.jit(target="cpu")(unmarked(name))
    function(**result)
    assert kernel.error(reference, result) <= kernel.allowed_error("random")


def test_stencils_without_pragmas_run_on_threads():
    function = appyc.jit(target="cpu")(unmarked("jacobi-2d"))
    given = copied(KERNELS["jacobi-2d"].arguments("random", "MINI"))
    function(**given)
    modes = {(r.index, r.mode) for r in function.explain().loops}
    assert ("i", "parallel") in modes
    assert ("_", "sequential") in modes
    assert not np.isnan(given["A"]).any()
