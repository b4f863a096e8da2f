"""`appyc.explain()`: what the last flush ran, and how."""

from __future__ import annotations

import inspect

from appyc.lazy.recording import line_of
from appyc.lazy.running import STATE, Ran


def explain() -> str:
    """Of the last flush: each program as text, with the lines that its statements were recorded at and
    what the compiler did with it; and what NumPy ran, with the reason."""
    if not STATE.last:
        return "nothing has run yet"
    return "\n".join(_described(ran) for ran in STATE.last)


def _described(ran: Ran) -> str:
    program = ran.program
    if program is None:
        return f"by NumPy: {ran.what}"
    lines = []
    places = dict(zip(program.text.lines, program.sites, strict=True))
    for number, text in enumerate(inspect.getsource(program.text.function).splitlines(), 1):
        place = ""
        if number in places:
            file, line = line_of(places[number])
            place = f"  # {file}:{line}"
        lines.append(f"{number:4} {text}{place}")
    if program.compiled is not None:
        lines.append(str(program.compiled.explain(*ran.arguments)))
    elif program.reason:
        lines.append(f"by NumPy, since it was not compiled: {program.reason}")
    else:
        lines.append("by NumPy: too little to be worth compiling so far")
    return "\n".join(lines)
