"""Code generation for recorded statements: Python's text for the structures of `gathering` (see `programs`)."""

from __future__ import annotations

import itertools
from typing import Any

from appyc.lazy import operations
from appyc.lazy.equal_lengths import Length
from appyc.lazy.gathering import Form, Gathered, Line
from appyc.lazy.views import ROUND, tuple_of


class Writer:
    """Python's text for gathered statements."""

    def __init__(self, found: Gathered) -> None:
        self.found = found
        self.views = itertools.count()
        self.numbers = itertools.count()
        """The positions of arguments that are numbers, which forms take in turn."""
        self.functions: dict[str, object] = {}
        """Functions that the text calls, by their names in it."""

    def equalities(self) -> list[str]:
        """The assertions of equal lengths of inputs, from which the compiler infers equal trip counts."""
        return [f"assert {self._length(one)} == {self._length(two)}" for one, two in self.found.lengths.equal]

    def _length(self, length: Length) -> str:
        found = f"n{length.number}"
        if length.axis >= 0:
            found = f"{self.found.name(length.number)}.shape[{length.axis}]"
        return f"{found} {'+' if length.more > 0 else '-'} {abs(length.more)}" if length.more else found

    def statement(self, line: Line) -> list[str]:
        """The lines of a statement."""
        operation, forms, target, path = line
        operands = [self._operand(form) for form in forms]
        if isinstance(operation, operations.Call):
            assert isinstance(target, tuple)
            calls = self._call(operation, operands, target)
            if path is None:
                return calls
            return [f"for {ROUND} in range({self._number()}):", *(f"    {call}" for call in calls)]
        assert isinstance(target, int)
        if isinstance(operation, operations.Scatter):
            assert path is not None
            naming, view = self._stored_view(target, path)
            value, *indices = operands
            if operation.ufunc is None:
                return [*naming, f"{view}[{', '.join(indices)}] = {value}"]
            items = tuple_of(indices) if len(indices) > 1 else indices[0]
            return [*naming, f"np.{operation.ufunc.__name__}.at({view}, {items}, {value})"]
        value = operation.text.format(*operands)
        if path is None:
            return [f"{self.found.name(target)} = {value}"]
        last: Any = path[-1] if path else ("", 0, False)
        is_indexed = last[2]  # `p[3] = x`, which may be one element
        naming, view = self._stored_view(target, path[:-1] if is_indexed else path)
        return [*naming, f"{self._step(view, last) if is_indexed else f'{view}[...]'} = {value}"]

    def _stored_view(self, target: int, path: tuple[object, ...]) -> tuple[list[str], str]:
        """The view of a target by a path, and the statement that binds it to a name."""
        view = self.found.name(target)
        if not path:
            return [], view
        for step in path:
            view = self._step(view, step, dots=True)
        name = f"v{next(self.views)}"
        return [f"{name} = {view}"], name

    def _number(self) -> str:
        return f"s{next(self.numbers)}"

    def _call(
        self, operation: operations.Call, operands: list[str], made: tuple[int | None, ...]
    ) -> list[str]:
        known = (name for name, function in self.functions.items() if function is operation.function)
        name = next(known, f"f{len(self.functions)}")
        self.functions[name] = operation.function
        call = f"{name}({', '.join(operands)})"
        if not made:
            return [call]
        names = ["_" if number is None else self.found.name(number) for number in made]
        return [f"{names[0] if operation.effects.single else tuple_of(names)} = {call}"]

    def _operand(self, form: Form) -> str:
        if isinstance(form, str):
            return self._number()
        if isinstance(form, int):
            return self.found.name(form)
        if len(form) == 2:
            return self._length(self.found.lengths.created[form[1]])
        number, path, stretched = form
        found = self.found.name(number)
        for step in path:
            found = self._step(found, step)
        items = ["0, None" if is_stretched else ":" for is_stretched in stretched]
        return f"{found}[{', '.join(items)}]" if items else found

    def _step(self, view: str, step: Any, *, dots: bool = False) -> str:
        """A step of the path to a view. dots: of a view that is one, where NumPy may give a number without them."""
        text, count, is_index = step
        text = text.format(*[self._number() for _ in range(count)])
        if not is_index:
            return f"{view}{text}"
        return f"{view}[{', '.join(part for part in (text, '...' if dots else '') if part) or '()'}]"
