"""`fn.source(kind)`: the text at each stage of the compiler."""

from __future__ import annotations

from appyc.compiler.analyse import Analysed
from appyc.ir.printer import print_function
from appyc.ir.schedule_tree import Line, schedule_lines


def text_of(analysed: Analysed, kind: str) -> str:
    """The analysed IR ("ir"), the schedule of its loops in C ("schedule"), the C file ("c"), or the kernels and host
    program ("triton")."""
    if kind == "ir":
        return print_function(analysed.function)
    if kind == "schedule":
        return "\n".join(map(str, lines_of(analysed)))
    if kind == "c":
        from appyc.c_gen.c_file import generate  # noqa: PLC0415  (one generator at a time is needed)

        options, vector_functions = analysed.context.options, analysed.vector_functions
        return generate(analysed.for_c(), options, vector_functions=vector_functions).text
    from appyc.compiler.triton_kernels import triton_program  # noqa: PLC0415

    return triton_program(analysed.function, analysed).text


def lines_of(analysed: Analysed) -> list[Line]:
    """The lines of the schedule in C, those of functions that are called at the end."""
    of_functions = schedule_lines(analysed.for_c(), analysed.context.transforms)
    return [line for lines in of_functions for line in lines]
