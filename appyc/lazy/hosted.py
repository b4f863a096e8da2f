"""Statements that no program computes: copies, and products of matrices, which NumPy or CuPy runs."""

from __future__ import annotations

from typing import Any

from appyc.lazy import residence
from appyc.lazy._nodes import Buffer, Statement, View
from appyc.lazy.dead_results import Watch
from appyc.lazy.operations import Copy, Product
from appyc.lazy.recorded_nodes import Operand
from appyc.lazy.views import view_of


def run_hosted(statement: Statement, watch: Watch, *, for_gpu: bool) -> str:
    """Runs the statement. Returns the name of the library that did."""
    target = statement.target()
    assert target is not None
    if for_gpu and _has_run_there(statement, target, watch):
        return "CuPy"
    operands = [_operand(operand, target, watch) for operand in statement.operands]
    assert isinstance(statement.operation, Product | Copy)
    value = statement.operation.run(*operands)
    if statement.path is None:
        target.memory = residence.kept(value, target.dtype)
    else:
        view_of(residence.at_home(target), statement.path)[...] = value
    return "NumPy"


def _has_run_there(statement: Statement, target: Buffer, watch: Watch) -> bool:
    """Runs a product of floating-point matrices by CuPy. False: not done."""
    if not isinstance(statement.operation, Product) or target.dtype.kind not in "fc":
        return False
    sources = [(o.buffer or target, o.path) for o in statement.operands if isinstance(o, View)]
    if statement.path is not None:
        sources.append((target, statement.path))
    residence.move(buffer for buffer, _ in sources)
    views = residence.views_there(sources)
    if views is None:
        return False
    for buffer in statement.reads():
        watch.is_read(buffer)
    value = residence.product(*views[:2])
    if statement.path is None:
        target.memory = residence.kept(value, target.dtype)
    else:
        views[2][...] = value
    return True


def _operand(operand: Operand, target: Buffer, watch: Watch) -> Any:
    if not isinstance(operand, View):
        return operand
    if operand.buffer is None:
        return view_of(residence.at_home(target), operand.path)
    watch.is_read(operand.buffer)
    return residence.there(operand.buffer, operand.path)
