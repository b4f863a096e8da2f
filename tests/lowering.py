"""IR of Python functions, as the front end makes it for given arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from appyc import pipeline
from appyc.errors import GENERATED
from appyc.frontend.lower import lower_function
from appyc.frontend.source import capture, read_source
from appyc.ir.nodes import Function
from appyc.ir.verify import check
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.pipeline import Pass
from appyc.runtime.signature import typeof


def lowered(fn: Callable[..., Any], *args: object) -> Function:
    """The function as it leaves the front end."""
    names = inspect.signature(fn).parameters
    types = {name: typeof(value, name, GENERATED) for name, value in zip(names, args, strict=True)}
    return lower_function(fn, read_source(capture(fn)), types, typeof).function  # type: ignore[arg-type]


def after(fn: Function, *passes: Pass, context: PassContext | None = None) -> Function:
    """The function after some passes, each of them verified."""
    context = context or PassContext()
    for transform in passes:
        fn = transform(fn, context)
        check(fn, transform.__name__)
    return fn


def around(transform: Pass, fn: Callable[..., Any], *args: object) -> tuple[Function, Function]:
    """The function in front of a pass of `ANALYSE`, and behind it."""
    context = PassContext(Options(target="cpu"))
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(transform)])
    before = pipeline.run(lowered(fn, *args), passes, context)
    return before, pipeline.run(before, (transform,), context, verify=True)
