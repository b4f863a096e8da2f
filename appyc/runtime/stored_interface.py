"""A kernel's `Interface` as text, to be stored beside its machine code, in the cache, whose code is run too.

Lines of the function's own text are stored from its first line on, so that code which was
moved within its file, or to another one, reports faults at the lines where it is now.
"""

from __future__ import annotations

import base64
import pickle
from dataclasses import dataclass, replace

from appyc.ir.fault_words import FaultSite
from appyc.runtime.frame import Interface


@dataclass(frozen=True, slots=True)
class SourceExtent:
    """The location of a function's text: its file, its first line, and its number of lines."""

    file: str
    line: int
    lines: int

    def without(self, fault: FaultSite) -> FaultSite:
        """The site by the lines of the function's own text, and without a file, if it lies there."""
        is_own = fault.file == self.file and 0 <= fault.line - self.line < self.lines
        return replace(fault, file="", line=fault.line - self.line) if is_own else fault

    def within(self, fault: FaultSite) -> FaultSite:
        """The site where the function's text is now."""
        return fault if fault.file else replace(fault, file=self.file, line=self.line + fault.line)


def stored(face: Interface, extent: SourceExtent) -> str:
    """The text that `restored` reads."""
    own = replace(face, faults=tuple(map(extent.without, face.faults)))
    return base64.b64encode(pickle.dumps(own)).decode()


def restored(text: str, extent: SourceExtent) -> Interface:
    """The interface, with the fault sites of the function's own text at its present location."""
    face: Interface = pickle.loads(base64.b64decode(text))
    return replace(face, faults=tuple(map(extent.within, face.faults)))
