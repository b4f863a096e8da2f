"""`fn.source(kind)`: the text at each stage of the compiler."""

from __future__ import annotations

from appyc.compiler.analyse import Analysed
from appyc.ir.printer import print_function
from appyc.ir.schedule_tree import schedule_tree


def text_of(analysed: Analysed, kind: str) -> str:
    """The analysed IR ("ir"), the schedule of its loops in C ("schedule"), the C file ("c"), or the kernels and host
    program ("triton")."""
    if kind == "ir":
        return print_function(analysed.function)
    if kind in ("c", "schedule"):
        from appyc.c_gen.c_file import generate  # noqa: PLC0415  (one generator at a time is needed)
        from appyc.runtime import toolchain  # noqa: PLC0415

        options = analysed.context.options
        vector_functions = toolchain.vector_functions(analysed.function, options)
        function = analysed.for_c(vector_functions)
        if kind == "schedule":
            return schedule_tree(function, analysed.context.transforms)
        return generate(function, options, vector_functions=vector_functions).text
    from appyc.compiler.triton_kernels import triton_text  # noqa: PLC0415

    return triton_text(analysed)
