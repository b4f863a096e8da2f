"""`appyc.explain()`: the report of the last flush: its programs, their optimisation, and what NumPy ran."""

from __future__ import annotations

import inspect
from pathlib import PurePath

from appyc.api import JitFunction
from appyc.lazy.arrays import Array
from appyc.lazy.gathering import gather
from appyc.lazy.programs import as_function
from appyc.lazy.recording import line_of, parted
from appyc.lazy.running import STATE, Ran
from appyc.options import from_environment
from appyc.report.draw import Drawing, with_locations


def explain() -> str:
    """The report of the last flush: each program as text, with the lines that its statements were recorded at
    and what the compiler did with it; and what NumPy ran, with the reason."""
    if not STATE.last:
        return "nothing has run yet"
    return "\n".join(_described(ran) for ran in STATE.last)


def graph(*wanted: Array) -> Drawing:
    """The picture of what these arrays need that has not run yet: operations, arrays between them, and
    which run as one loop. Raises ValueError where nothing is pending, TypeError for what is not recorded."""
    for value in wanted:
        if not isinstance(value, Array):
            given = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
            raise TypeError(
                f"np.graph draws arrays and numbers of appyc.numpy that are recorded, not a {given}: "
                "give each of them as an argument of its own, np.graph(x, y)"
            )
    buffers = [array.buffer for array in wanted]
    with STATE.lock:
        STATE.recording.prune()
        statements, _ = parted(STATE.recording.pending(), buffers, ())
        if not statements:
            raise ValueError("nothing is pending: the values have been computed")
        found = gather(statements)
        numbers = sorted(found.numbers_of(buffers))
        text = as_function(found, numbers)
        arguments, sites = found.arguments(), found.sites
    options = from_environment({"strict": True, "target": "cpu"})

    def location(file: str, line: int) -> str:
        """The location where an operation was recorded, or of code inside a compiled function."""
        number = text.statement_at(line) if file == text.file else None
        file, line = (file, line) if number is None else line_of(sites[number])
        return f"{PurePath(file).name}:{line}"

    return with_locations(JitFunction(text.function, options).graph(*arguments), location)


def _described(ran: Ran) -> str:
    program = ran.program
    if program is None and ran.why:
        return f"at once: {ran.what}, {ran.why}"
    if program is None:
        return f"by {ran.by}: {ran.what}"
    lines = []
    sites = dict(zip(program.text.lines, program.sites, strict=True))
    for number, text in enumerate(inspect.getsource(program.text.function).splitlines(), 1):
        where = ""
        if number in sites:
            file, line = line_of(sites[number])
            where = f"  # {file}:{line}"
        lines.append(f"{number:4} {text}{where}")
    if ran.left:
        lines_left = ", ".join(str(program.text.lines[n]) for n in ran.left)
        lines.append(
            f"not stored, and recorded still, since its earlier results were never read: line {lines_left}"
        )
    if (program.is_ready or program.on_chunks) and program.compiled is not None:
        lines.append(str(program.compiled.explain(*ran.arguments_like())))
    elif program.reason:
        lines.append(f"by NumPy, since it was not compiled: {program.reason}")
    elif program.pays and program.compiled is not None:
        lines.append("by NumPy, while it is compiled")
    else:
        lines.append("by NumPy: too little to be worth compiling so far")
    return "\n".join(lines)
