"""Statements that no program computes: copies, and products of matrices, which NumPy or CuPy runs."""

from __future__ import annotations

from appyc.lazy import residence
from appyc.lazy._nodes import Statement, View
from appyc.lazy.dead_results import Watch
from appyc.lazy.operations import Expression, product
from appyc.lazy.views import view_of


def run_hosted(statement: Statement, watch: Watch, *, for_gpu: bool) -> str:
    """Runs the statement. Returns the name of the library that did: CuPy for products of floating-point matrices."""
    target, operation = statement.target(), statement.operation
    assert target is not None
    assert isinstance(operation, Expression)
    sources = [(o.buffer or target, o.path) for o in statement.operands if isinstance(o, View)]
    stored = [] if statement.path is None else [(target, statement.path)]
    views = None
    if for_gpu and operation is product(hosted=True) and target.dtype.kind in "fc":
        residence.move(buffer for buffer, _ in sources + stored)
        views = residence.views_there(sources + stored)
    for buffer in statement.reads():
        watch.is_read(buffer)
    library = "NumPy" if views is None else "CuPy"
    if views is None:
        views = [
            view_of(residence.at_home(buffer), path) if buffer is target else residence.there(buffer, path)
            for buffer, path in sources + stored
        ]
    value = operation.run(*views[: len(sources)])
    if stored:
        views[-1][...] = value
    else:
        target.memory = residence.kept(value, target.dtype)
    return library
