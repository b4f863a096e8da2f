"""Stub to be written."""
from appyc.ir.nodes import Function
from appyc.passes.context import PassContext


def split_complex(fn: Function, ctx: PassContext) -> Function:
    return fn
