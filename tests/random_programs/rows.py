"""Random statements about slices, and names for views."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.random_programs.kinds import Array, Expr, kind, result_types
from tests.random_programs.statements import Statements


class Rows(Statements):
    """Statements about vectors: rows and columns too."""

    def row(self, length: str, kinds: str, depth: int = 1) -> Expr | None:
        """An expression of vectors of one length; its types are those of the elements. Lengths: of an axis n, n-1
        and n-2 elements of it, and every second of them."""
        found: list[Expr] = []
        for name, array in self.arrays.items():
            if kind(array.dtype) not in kinds:
                continue
            cuts = {
                "": ["", "[::-1]", "[:]"],
                "-1": ["[1:]", "[:-1]", "[:0:-1]"],
                "-2": ["[2:]", "[1:-1]", "[:-2]"],
                "/2": ["[::2]"],
            }
            base, _, way = length.partition("|")
            if len(array.lengths) == 1 and array.lengths[0] == base:
                found += [Expr(name + cut, frozenset({array.item})) for cut in cuts[way]]
                made = (helper for helper, dtype in self.row_helpers.items() if dtype == array.dtype)
                found += [
                    Expr(f"{helper}({name}, {self.pick('0123')}){cuts[way][0]}", frozenset({array.item}))
                    for helper in made
                ]
            if len(array.lengths) == 2:
                for axis in (0, 1):
                    if array.lengths[axis] == base:
                        where = self.index(array.lengths[1 - axis])
                        found += [
                            Expr(
                                f"{name}[{where}, {cut[1:-1] or ':'}]"
                                if axis
                                else f"{name}[{cut[1:-1] or ':'}, {where}]",
                                frozenset({array.item}),
                            )
                            for cut in cuts[way]
                        ]
        if not found:
            return None
        left = self.pick(found)
        if depth <= 0 or self.chance(35):
            return left
        right = self.row(length, kinds, depth - 1) if self.chance(60) else self.number(kinds, 1)
        assert right is not None
        if kinds == "b":
            return self.apply(self.pick(["{0} & {1}", "{0} | {1}"]), left, right)
        template = self.weighted(
            {
                "{0} + {1}": 4,
                "{0} - {1}": 2,
                "{0} * {1}": 2,
                "np.maximum({0}, {1})": 1,
                "np.minimum({0}, {1})": 1,
            }
        )
        combined = self.apply(template, left, right)
        if self.chance(8):
            combined = replace(
                combined,
                text=f"np.where({left.text} > {right.text}, {left.text}, {right.text})",
                types=result_types("np.maximum({0}, {1})", (left.types, right.types)),
            )
        return combined if combined.types and combined.has(kinds) else left

    def rows(self) -> None:
        """A statement about slices."""
        names = [n for n, a in self.arrays.items() if a.writable and kind(a.dtype) != "c"]
        if not names or self.in_parallel:
            return self.store()
        name = self.pick(names)
        array = self.arrays[name]
        axis = self.rng.randrange(len(array.lengths))
        way = self.weighted({"": 3, "-1": 4, "-2": 2, "/2": 2})
        cut = self.pick(
            {"": [":", "::-1"], "-1": ["1:", ":-1", ":0:-1"], "-2": ["1:-1", "2:", ":-2"], "/2": ["::2"]}[way]
        )
        kinds = kind(array.dtype)
        value = (
            self.row(f"{array.lengths[axis]}|{way}", kinds, 2) if self.chance(97) else self.number(kinds, 1)
        )
        if value is None or (value.has("i") and "int" in value.types):
            value = Expr(self.constant(kinds).text if kinds != "i" else self.pick("0123"), frozenset())
        if len(array.lengths) == 2:
            others = {self.index(array.lengths[1 - axis]): 5, ":": 1 if axis == 1 else 0}
            other = self.weighted(others)
            cut = f"{other}, {cut}" if axis else f"{cut}, {other}"
        target = f"{name}[{cut}]"
        if self.chance(6) and len(array.lengths) == 1 and kinds in "if":
            return self.put(f"{name}[{name} > {self.leaf(kinds).text}] = {self.pick('0123')}")
        if self.chance(6) and len(array.lengths) == 1 and kinds in "if":
            ways = [".sort()", "[1:].sort()", "[::-1].sort()", f"[:] = np.sort({name}[:])"]
            return self.put(name + self.pick([*ways, f"[:] = {name}[np.argsort({name}, kind='stable')]"]))
        sign = self.weighted({"": 6, "+": 3, "-": 1}) if kinds in "if" else ""
        if sign and value.types:
            wide = [
                np.dtype(t) for t in result_types("np.add({0}, {1})", (frozenset({array.item}), value.types))
            ]
            if not all(np.can_cast(w, array.dtype, "same_kind") for w in wide):
                sign = ""
        self.put(f"{target} {sign}= {value.text}")
        return None

    def view(self) -> None:
        """A name for a part of an array, or for a new one."""
        if not self.arrays or self.in_parallel:
            return self.store()
        source = self.pick(list(self.arrays))
        array = self.arrays[source]
        name = self.new("v")
        if self.chance(25) and len(array.lengths) == 1 and kind(array.dtype) in "if":
            value = self.row(f"{array.lengths[0]}|", kind(array.dtype), 2)
            if value is not None and len(value.types) == 1 and "int" not in value.types:
                self.put(
                    f"{name} = {value.text} + 0"
                    if kind(array.dtype) == "i"
                    else f"{name} = {value.text} * 1.0"
                )
                types = result_types("{0} + 0" if kind(array.dtype) == "i" else "{0} * 1.0", (value.types,))
                self.arrays[name] = Array(min(types), (f"len({name})",))
                return None
        if len(array.lengths) == 2:
            axis = self.rng.randrange(2)
            cut = self.weighted({":": 3, "1:": 2, "::2": 1, "::-1": 1})
            where = self.index(array.lengths[1 - axis])
            self.put(f"{name} = {source}[{where}, {cut}]" if axis else f"{name} = {source}[{cut}, {where}]")
        else:
            cuts = {"1:": 3, ":-1": 2, "::2": 2, "::-1": 2, "1:-1": 2, ":": 1, "2:2": 0.3, "-3:": 1}
            self.put(f"{name} = {source}[{self.weighted(cuts)}]")
        self.arrays[name] = Array(array.dtype, (f"len({name})",), array.writable)
        return None
