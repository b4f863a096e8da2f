"""What a pass is given beside the function: the options, and where to say what it found."""

from __future__ import annotations

from dataclasses import dataclass, field

from appyc.analysis.verdicts import LoopVerdict
from appyc.errors import Loc
from appyc.ir.nodes import Symbol
from appyc.options import Options


@dataclass(frozen=True, slots=True)
class Remark:
    """Something worth telling the user that is no error.

    kind: "note" (what was done), "missed" (what was not, and why not), "warning".
    """

    loc: Loc
    text: str
    kind: str = "note"


@dataclass(frozen=True, slots=True)
class PassContext:
    """One compilation's settings and findings. Passes read the options and append to the rest.

    verdicts: what dependence analysis said about each loop, by the loop's variable.
    """

    options: Options = field(default_factory=Options)
    remarks: list[Remark] = field(default_factory=list)
    verdicts: dict[Symbol, LoopVerdict] = field(default_factory=dict)

    def remark(self, loc: Loc, text: str, kind: str = "note") -> None:
        self.remarks.append(Remark(loc, text, kind))
