"""Random loops."""

from __future__ import annotations

from dataclasses import replace

from tests.random_programs.kinds import INT, Expr, Name, result_types
from tests.random_programs.statements import Statements


class Loops(Statements):
    """Loops over ranges, items and conditions."""

    def loop(self) -> None:
        lengths = sorted({length for a in self.arrays.values() for length in a.lengths}) or ["3"]
        n = self.pick(lengths)
        i = self.new("i")
        outer = [name for name, v in self.names.items() if v.over == n and v.left_out == (0, 0)]
        full: dict[str, tuple[float, str, tuple[int, int]]] = {
            f"range({n})": (10, n, (0, 0)), f"range(1, {n})": (4, n, (1, 0)), f"range({n} - 1)": (4, n, (0, 1)),
            f"range(1, {n} - 1)": (3, n, (1, 1)), f"range({n} - 1, -1, -1)": (2, n, (0, 0)),
            f"range({n} - 2, 0, -1)": (1.5, n, (1, 1)), f"range(0, {n}, 2)": (1.5, n, (0, 0)),
            f"range({n} - 1, 0, -3)": (1, n, (1, 0)), f"range({self.pick('034')})": (2, "", (0, 0)),
            "range(-2, 3)": (0.7, "", (0, 0)), "range(5, 2)": (0.4, "", (0, 0)),
            f"reversed(range({n}))": (0.7, n, (0, 0)),
            f"range({self.number('i', 1).text} % 7)": (1.5, "", (0, 0)),
            f"range(0, {n}, {self.number('i', 0).text} % 3 + 1)": (0.7, n, (0, 0)),
        }  # fmt: skip
        for other in outer[-1:]:
            full |= {
                f"range({other})": (2, n, (0, 1)),
                f"range({other}, {n})": (2, n, (0, 0)),
                f"range({other} + 1, {n})": (2, n, (1, 0)),
            }
        text = self.weighted({key: weight for key, (weight, _, _) in full.items()})
        _, over, left_out = full[text]
        made = {i: Name(INT, {"int"}, 6, assignable=False, over=over, left_out=left_out)}
        header = f"for {i} in {text}:"
        rows = [name for name, a in self.arrays.items() if len(a.lengths) == 1]
        if rows and self.chance(18):
            header = self._over_items(i, self.pick(rows), rows, made)
        if self.tuples and self.chance(4):
            name, (item, _) = self.pick(list(self.tuples.items()))
            made, header = {i: Name(frozenset({item}), {item}, 10, assignable=False)}, f"for {i} in {name}:"
        if (
            not self.loops
            and self.level == 1
            and self.chance(self.prange_share)
            and header.startswith(f"for {i} in range(")
        ):
            return self.parallel(f"for {i} in p{text}:", made)
        self.loops += 1
        with self.under(header):
            self.names |= made
            self.body(3)
        self.loops -= 1
        if self.chance(12):
            with self.under("else:"):
                self.body(1)
        if self.chance(8) and over and i in made:
            self.names[i] = replace(made[i], over="")
        return None

    prange_share = 0.0

    def _over_items(self, i: str, row: str, rows: list[str], made: dict[str, Name]) -> str:
        """The header of a loop over the elements of a row, or of two."""

        def item(name: str) -> str:
            types = frozenset({self.arrays[name].item})
            return self._bind(made, self.new("x"), Name(types, set(types), 63, assignable=False))

        way = self.rng.random()
        if way < 0.4:
            made[i] = Name(INT, {"int"}, 6, assignable=False, over=self.arrays[row].lengths[0])
            return f"for {i}, {item(row)} in enumerate({row}):"
        del made[i]
        if way < 0.7:
            other = self.pick(rows)
            return f"for {item(row)}, {item(other)} in zip({row}, {other}{self.pick(['', '[1:]'])}):"
        return f"for {item(row)} in {row}{self.pick(['', '[::-1]', '[1::2]'])}:"

    def _bind(self, made: dict[str, Name], name: str, value: Name) -> str:
        made[name] = value
        return name

    def parallel(self, header: str, made: dict[str, Name]) -> None:
        """A loop that a `prange` asks to be parallel. Most bind names of their own only, and sum into others."""
        self.is_parallel = True
        wrong = self.chance(35)
        sums = [n for n, v in self.names.items() if v.assignable and n[0] in "if"]
        hidden = {n: self.names.pop(n) for n in ([] if wrong else sums)}
        self.loops += 1
        self.in_parallel = not wrong
        with self.under(header):
            self.names |= made
            self.body(3)
            if hidden and self.chance(60):
                name = self.pick(list(hidden))
                kinds = name[0]
                expr = self.fit(self.number(kinds, 2), hidden[name].allowed)
                if expr.bits > 10:
                    expr = self.fit(Expr(f"{expr.text} % 97", expr.types, 7), hidden[name].allowed)
                if result_types("{0} + {1}", (hidden[name].allowed, expr.types)) <= hidden[name].allowed:
                    hidden[name].seen |= expr.types
                    self.joined, self.inexact = (
                        self.joined or len(hidden[name].seen) > 1,
                        self.inexact or kinds == "f",
                    )
                    self.put(f"{name} += {expr.text}")
        self.in_parallel = False
        self.loops -= 1
        self.names |= hidden

    def while_loop(self) -> None:
        """One whose counter goes on first, so that it ends."""
        lengths = sorted({length for a in self.arrays.values() for length in a.lengths}) or ["3"]
        n, k = self.pick(lengths), self.new("k")
        start, condition, step, left_out = self.pick([
            ("-1", f"{{k}} < {n} - 1", "+= 1", (0, 0)), ("0", f"{{k}} < {n} - 2", "+= 1", (1, 1)),
            (n, "{k} > 0", "-= 1", (0, 0)), ("20", "{k}", "//= 2", None), ("0", "{k} < 9", "+= 2", None),
        ])  # fmt: skip
        self.put(f"{k} = {start}")
        condition = condition.format(k=k)
        extra = self.pick(["", "", f" and {self.truth(1)}", f" and not {self.truth(1)}"])
        self.loops += 1
        with self.under(f"while {condition}{extra}:"):
            self.put(f"{k} {step}")
            self.names[k] = Name(
                INT, {"int"}, 6, assignable=False, over=n if left_out else "", left_out=left_out or (0, 0)
            )
            self.body(3)
        self.loops -= 1
        if self.chance(12):
            with self.under("else:"):
                self.body(1)
        self.names[k] = Name(INT, {"int"}, 6, assignable=False)
