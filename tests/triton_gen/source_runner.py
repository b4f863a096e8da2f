"""Compiles Python functions through the whole compiler to Triton, and compares with Python itself."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

from appyc.compiler.analyse import analyse
from appyc.compiler.requests import Request
from appyc.errors import Loc
from appyc.frontend.source import read_source
from appyc.options import Options
from appyc.pipeline import lower_to_gpu
from appyc.runtime.signature import typeof
from appyc.runtime.triton_interpret import interpret
from appyc.triton_gen.triton_module import TritonProgram, generate
from tests.triton_gen.gpu_runner import cubins


def program_of(fn: Callable[..., Any], *args: Any, checked: bool = False) -> TritonProgram:
    """The Triton text of a function for these arguments. checked: of its plain variant."""
    names = list(inspect.signature(fn).parameters)
    loc = Loc(__file__, 1)
    types = {name: typeof(arg, name, loc) for name, arg in zip(names, args, strict=True)}
    analysed = analyse(fn, read_source(fn), Request(types, {}, "interpret"), Options(target="interpret"))
    function = analysed.plain if checked else analysed.function
    return generate(lower_to_gpu(function, analysed.context), Options())


def compare(
    fn: Callable[..., Any], *args: Any, exact: bool = True, libm: bool = False, build: bool = True
) -> TritonProgram:
    """Runs the function in Python and in the interpreter, compares arrays and results, and builds
    its kernels for both architectures."""
    program = program_of(fn, *args)
    ours, theirs = copy.deepcopy(list(args)), copy.deepcopy(list(args))
    got = interpret(program)(ours)
    with np.errstate(all="ignore"):
        expected = fn(*theirs)
    flat = list(expected) if isinstance(expected, tuple) else [] if expected is None else [expected]
    for mine, python in zip([*ours, *got], [*theirs, *flat], strict=True):
        if exact:
            assert_array_equal(mine, python)
        else:
            np.testing.assert_allclose(mine, python, rtol=1e-12, atol=1e-300)
    if build:
        for arch in ("cuda:80", "cuda:90"):
            cubins(program, arch, libm=libm)
    return program
