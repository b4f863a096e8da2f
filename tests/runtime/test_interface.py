"""The interface of a kernel: made from a function, and kept as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from appyc.errors import GENERATED, InternalError
from appyc.ir.abi import FrameLayout
from appyc.ir.arguments import NoneArg, ScalarArg, TupleArg
from appyc.ir.fault_words import FaultSite
from appyc.ir.nodes import Const, Function, Result, Store, Symbol, Var
from appyc.ir.types import ArrayType, DType, Layout, ScalarType
from appyc.runtime.describe import describe
from appyc.runtime.frame import Interface, KernelResult
from appyc.runtime.stored_interface import SourceExtent, restored, stored

MATRIX = ArrayType(DType.FLOAT32, 2, Layout.F, readonly=True)
VECTOR = ArrayType(DType.COMPLEX128, 1)
NUMBER = ScalarArg(DType.COMPLEX128, python=True)
ARGUMENTS = (TupleArg((MATRIX, NoneArg(), TupleArg((NUMBER,)))), VECTOR)
FAULTS = (
    FaultSite("IndexError", "own", "f.py", 12, 4, 8),
    FaultSite("IndexError", "below", "f.py", 20, 4, 8),
    FaultSite("ZeroDivisionError", "elsewhere", "g.py", 12, 4, 8),
)


def function():
    a, c, y = Symbol("a", 0, MATRIX), Symbol("c", 1, ScalarType(DType.COMPLEX128)), Symbol("y", 2, VECTOR)
    zero = Const(0, DType.INT64, loc=GENERATED)
    store = Store(y, (zero,), Var(c, loc=GENERATED), loc=GENERATED)
    results = (Result(Var(c, loc=GENERATED), python=True, loc=GENERATED), Result(y, loc=GENERATED))
    return Function("f", (a, c, y), (store,), results, (0, (1, 0)), loc=GENERATED)


def test_interface_of_a_function():
    face = describe(function(), ARGUMENTS, FAULTS)
    assert face == Interface(
        arguments=ARGUMENTS,
        layout=FrameLayout((1, 6, 8), (11, None), 13, 20),
        written=frozenset({2}),
        results=(KernelResult(DType.COMPLEX128, python=True), KernelResult(DType.COMPLEX128, param=2)),
        tree=(0, (1, 0)),
        faults=FAULTS,
    )


def test_arguments_that_are_not_the_functions_are_our_fault():
    with pytest.raises(InternalError, match="3 parameters for 1 arguments"):
        describe(function(), (MATRIX,), ())


def test_its_text_gives_the_same_interface():
    extent = SourceExtent("f.py", 10, 5)
    face = describe(function(), ARGUMENTS, FAULTS)
    for tree in (face.tree, None, 0, ()):
        one = replace(face, tree=tree)
        assert restored(stored(one, extent), extent) == one


def test_faults_of_moved_code_are_where_it_is_now():
    face = describe(function(), ARGUMENTS, FAULTS)
    text = stored(face, SourceExtent("f.py", 10, 5))
    moved = restored(text, SourceExtent("h.py", 100, 5)).faults
    assert [(f.file, f.line) for f in moved] == [("h.py", 102), ("f.py", 20), ("g.py", 12)]
