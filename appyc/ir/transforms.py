"""Loop operations that a pragma asks for."""

from __future__ import annotations

from dataclasses import dataclass, field

from appyc.errors import Loc

TRANSFORMS = ("interchange", "tile", "jam", "unroll")
"""Their names, in the order in which those of one pragma are done."""


@dataclass(frozen=True, slots=True)
class Transform:
    """One clause. sizes: of tiles, or a factor. loops: the names of loop variables, outermost first."""

    name: str
    sizes: tuple[int, ...] = ()
    loops: tuple[str, ...] = ()
    loc: Loc = field(kw_only=True, compare=False, repr=False)

    @property
    def depth(self) -> int:
        """The least depth of the perfect nest that the transformation needs."""
        return {"interchange": len(self.loops), "tile": len(self.sizes), "jam": 2}.get(self.name, 1)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.sizes or self.loops))})"
