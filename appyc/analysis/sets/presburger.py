"""The interface to isl: parametric integer sets, with a bound on the work.

Everything that an analysis speaks of (loop variables, extents, scalars, values that it
cannot see into) is a named parameter of a set without dimensions. isl aligns parameters
by name, so sets and expressions combine without any bookkeeping of spaces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from appyc.analysis.sets.allowance import Allowance
from appyc.analysis.sets.lazy_isl import isl
from appyc.ir.affine import LinearForm

T = TypeVar("T")

MAX_DISJUNCTS = 16
"""A set of iterations in more pieces than that is not restricted any further."""

MAX_PIECES = 12
"""An expression with more cases than that is treated as one that cannot be seen into."""

MAX_PARTS = 32
"""The most convex parts of the conditions of an expression's cases together. Each branch on two conditions doubles
those of a value that a branch before it has chosen."""

MAX_ROUNDED = 12
"""The most roundings in an expression's cases and their conditions together; with more, nothing is known of
its value."""

BETWEEN = 500_000
"""isl's operations between two questions with bounds of their own, about a second; a pass with more is left out."""

WITNESS_RANGE = 16
"""Examples for messages are looked for among parameters of at most this size."""


class Presburger:
    """One isl context: makers for expressions and sets, and questions with bounded work."""

    def __init__(self, allowance: Allowance | None = None) -> None:
        self._context = isl.Context()
        self._context.set_max_operations(BETWEEN)
        self.allowance = allowance if allowance is not None else Allowance()
        self._is_asked = False
        self._ids: dict[str, isl.Id] = {}
        self._constants: dict[int, isl.PwAff] = {}
        self._parameters: dict[str, isl.PwAff] = {}
        self.everything: isl.Set = isl.Set.universe(isl.Space.params_alloc(self._context, 0))
        self.nothing: isl.Set = self.everything.complement()

    # ---- makers

    def constant(self, value: int) -> isl.PwAff:
        if value not in self._constants:
            self._constants[value] = isl.PwAff.val_on_domain(self.everything, self._integer(value))
        return self._constants[value]

    def parameter(self, name: str) -> isl.PwAff:
        if name not in self._parameters:
            self._parameters[name] = isl.PwAff.param_on_domain_id(self.everything, self._id(name))
        return self._parameters[name]

    def is_simple(self, value: isl.PwAff) -> bool:
        """Whether an expression has few cases, and rounds little in them: whatever is asked of it takes that often."""
        cases = value.n_piece()
        if cases == 1:
            return True
        if cases > MAX_PIECES:
            return False
        pieces = value.get_pieces()
        parts = sum(where.n_basic_set() for where, _ in pieces)
        rounds = isl.dim_type.div
        rounded = sum(
            aff.dim(rounds) + sum(part.dim(rounds) for part in where.get_basic_sets())
            for where, aff in pieces
        )
        return bool(parts <= MAX_PARTS and rounded <= MAX_ROUNDED)

    def floor_divide(self, value: isl.PwAff, divisor: int) -> isl.PwAff:
        """Rounded down, as Python's `//`; the divisor is positive."""
        return value.scale_down_val(self._integer(divisor)).floor()

    def modulo(self, value: isl.PwAff, divisor: int) -> isl.PwAff:
        """Not negative, as Python's `%` by a positive divisor."""
        return value.mod_val(self._integer(divisor))

    def scale(self, value: isl.PwAff, factor: int) -> isl.PwAff:
        return value.scale_val(self._integer(factor))

    def choose(self, when: isl.Set, then: isl.PwAff, orelse: isl.PwAff) -> isl.PwAff:
        return then.intersect_domain(when).union_add(orelse.intersect_domain(when.complement()))

    def not_above(self, low: isl.PwAff, high: isl.PwAff, *, strict: bool = False) -> isl.Set:
        """The set on which `low <= high` (strict: `low < high`).

        What is at least the largest of several values is at least each of them: one piece, where isl
        would make one for each case, and what is intersected with it stays as simple.
        """
        out = self.everything
        for least in self.all_of(low, above=False):
            for greatest in self.all_of(high, above=True):
                out = out.intersect(least.lt_set(greatest) if strict else least.le_set(greatest))
        return out

    def equal(self, lhs: isl.PwAff, rhs: isl.PwAff) -> tuple[isl.Set, isl.Set]:
        """The set on which two values are equal, and the set on which they differ.

        Of values with cases isl makes two pieces for each pair of cases that differ; the complement of the
        equal values has a third as many.
        """
        same = lhs.eq_set(rhs)
        if lhs.n_piece() == 1 and rhs.n_piece() == 1:
            return same, lhs.ne_set(rhs)
        same = same.coalesce()
        return same, lhs.domain().intersect(rhs.domain()).subtract(same)

    def all_of(self, value: isl.PwAff, *, above: bool) -> list[isl.PwAff]:
        """The values that an expression is the largest (`above`: the least) of; itself, if it is no such."""
        if value.n_piece() == 1 or not self.everything.is_subset(value.domain()):
            return [value]
        cases = self._cases(value)
        return cases if all(self._bounds(case, value, above=above) for case in cases) else [value]

    def constant_of(self, value: isl.PwAff) -> int | None:
        """The number that an expression is, whatever the parameters; None where it varies."""
        if not value.is_cst() or value.n_piece() != 1:
            return None
        low, high = value.min_val(), value.max_val()
        return _number(low) if low.is_int() and low.eq(high) else None

    def linear_of(self, value: isl.PwAff) -> LinearForm[str] | None:
        """An expression as numbers; None where it has cases or rounds."""
        if value.n_piece() != 1:
            return None
        domain, piece = value.get_pieces()[0]
        if not domain.plain_is_universe() or not piece.get_denominator_val().is_one():
            return None
        terms: dict[str, int] = {}
        for factor, part in self.terms(piece):
            if not isinstance(part, str):
                return None
            terms[part] = factor
        return LinearForm(dict(sorted(terms.items())), self.constant_term(piece)[0])

    def largest_factor(self, value: isl.PwAff) -> int:
        """The largest factor of a parameter in any of the pieces, in absolute value."""
        return max(
            (abs(factor) for _, piece in value.get_pieces() for factor, _ in self.terms(piece)), default=0
        )

    def rename(self, thing: isl.Set, new: Callable[[str], str]) -> isl.Set:
        """A set or expression with its parameters renamed."""
        kind = isl.dim_type.param
        for position in range(thing.dim(kind)):
            old = thing.get_dim_name(kind, position)
            name = new(old)
            if name != old:
                thing = thing.set_dim_id(kind, position, self._id(name))
        return thing

    # ---- questions

    def reaching(self, points: isl.Set, names: Sequence[str], value: int) -> isl.Set:
        """The pieces in which each of these names may be at least so large, if there are any; else all."""
        if points.n_basic_set() < 2:
            return points
        large = [self.parameter(name).ge_set(self.constant(value)) for name in names]
        out = self.nothing
        for piece in points.get_basic_sets():
            found = isl.Set.from_basic_set(piece)
            if not any(found.intersect(far).is_empty() for far in large):
                out = out.union(found)
        return points if out.is_empty() else out.coalesce()

    def names(self, thing: isl.Set) -> list[str]:
        """The parameters that a set or expression really depends on."""
        kind = isl.dim_type.param
        thing = thing.drop_unused_params()
        return [thing.get_dim_name(kind, position) for position in range(thing.dim(kind))]

    def start_again(self) -> None:
        """Begins to count isl's operations anew: for those who ask one question for each part of their result."""
        self._context.reset_operations()

    def bounded(self, question: Callable[[], T], otherwise: T) -> T:
        """The answer, or `otherwise` where isl would have to work longer than allowed.

        The question may be asked several times, and ask others: these are a part of it.
        """
        if self._is_asked:
            return question()
        self._is_asked = True
        try:
            for work in self.allowance.tries():
                try:
                    return self._within(work, question)
                except _OutOfWorkError:
                    continue
        finally:
            self._is_asked = False
        self.allowance.unanswered += 1
        return otherwise

    def _within(self, operations: int, question: Callable[[], T]) -> T:
        """The answer; _OutOfWorkError where isl would need more of its operations for it."""
        self._context.set_max_operations(operations)
        self._context.reset_operations()
        try:
            return question()
        except isl.Error as error:
            if not is_out_of_work(error):
                raise
            raise _OutOfWorkError from error
        finally:
            self._context.set_max_operations(BETWEEN)
            self._context.reset_operations()

    def project_out(self, points: isl.Set, names: Sequence[str]) -> isl.Set:
        """The set without these parameters: for which values of the others some value exists."""
        kind = isl.dim_type.param
        for name in names:
            position = points.find_dim_by_name(kind, name)
            if position >= 0:
                points = points.project_out(kind, position, 1)
        return points

    def forget(self, points: isl.Set, is_gone: Callable[[str], bool]) -> isl.Set:
        """The set without those parameters among the ones that it depends on."""
        return self.project_out(points, [name for name in self.names(points) if is_gone(name)])

    def is_bounded(self, value: isl.PwAff, names: Sequence[str]) -> bool:
        """Whether the value has a lower and an upper bound that do not depend on the parameters of these names."""
        return bool(self.project_out(isl.Set.from_pw_aff(value), names).is_bounded())

    def smallest_point(self, points: isl.Set, order: Sequence[str]) -> dict[str, int] | None:
        """A point with small values, lexicographically least in `order`; None for an empty set."""
        named = self.names(points)
        ordered = [name for name in order if name in named]
        ordered += [name for name in named if name not in order]
        shown = sum(name in named for name in order)
        kind = isl.dim_type.set
        space = self._as_dimensions(points, ordered)
        small = space
        for number in range(len(ordered)):
            small = small.lower_bound_val(kind, number, self._integer(-WITNESS_RANGE))
            small = small.upper_bound_val(kind, number, self._integer(WITNESS_RANGE))
        if not small.is_empty():
            space = small
            least = space.project_out(kind, shown, len(ordered) - shown).lexmin().sample_point()
            for number in range(shown):
                space = space.fix_val(kind, number, least.get_coordinate_val(kind, number))
        elif space.is_empty():
            return None
        point = space.sample_point()
        return {name: _number(point.get_coordinate_val(kind, number)) for number, name in enumerate(ordered)}

    def first_point(self, points: isl.Set, order: Sequence[str]) -> dict[str, int] | None:
        """The point that is lexicographically least in `order`; None for an empty set."""
        named = self.names(points)
        for name in [n for n in order if n in named]:
            low, _ = self.value_range(points, name)
            if low is not None:
                points = points.intersect(self.parameter(name).eq_set(self.constant(low)))
        return None if points.is_empty() else self._sample(points, named)

    def _sample(self, points: isl.Set, named: Sequence[str]) -> dict[str, int]:
        kind = isl.dim_type.param
        point = points.sample_point()
        return {
            name: _number(point.get_coordinate_val(kind, position))
            for name in named
            if (position := point.get_space().find_dim_by_name(kind, name)) >= 0
        }

    def _as_dimensions(self, points: isl.Set, order: Sequence[str]) -> isl.Set:
        """The set with these parameters, all that it depends on, as its dimensions."""
        kinds = isl.dim_type
        points = points.drop_unused_params()
        for number, name in enumerate(order):
            position = points.find_dim_by_name(kinds.param, name)
            points = points.move_dims(kinds.set, number, kinds.param, position, 1)
        return points

    def value_range(self, points: isl.Set, name: str) -> tuple[int | None, int | None]:
        """The least and the greatest value of one parameter over a set; None where unbounded."""
        kind = isl.dim_type.param
        position = points.find_dim_by_name(kind, name)
        if position < 0:
            return None, None
        line = points.move_dims(isl.dim_type.set, 0, kind, position, 1).project_out_all_params()
        low, high = line.dim_min_val(0), line.dim_max_val(0)
        return (_number(low) if low.is_int() else None, _number(high) if high.is_int() else None)

    def least(self, points: isl.Set, name: str, *, greatest: bool = False) -> isl.PwAff | None:
        """The least (greatest) value of one parameter over a set, in terms of the others; None
        where it has no bound."""
        kind = isl.dim_type.param
        position = points.find_dim_by_name(kind, name)
        if position < 0:
            return None
        line = points.move_dims(isl.dim_type.set, 0, kind, position, 1).coalesce()
        end = isl.dim_type.set
        if not (line.dim_has_upper_bound(end, 0) if greatest else line.dim_has_lower_bound(end, 0)):
            return None
        return (line.dim_max(0) if greatest else line.dim_min(0)).coalesce()

    def bounding_cases(self, value: isl.PwAff, *, above: bool) -> list[isl.PwAff]:
        """The cases of a piecewise expression that, as expressions without conditions, are nowhere larger
        (`above`: smaller) than it."""
        return [case for case in self._cases(value) if self._bounds(case, value, above=above)]

    def _cases(self, value: isl.PwAff) -> list[isl.PwAff]:
        """The cases of an expression, each taken everywhere."""
        return [isl.PwAff.from_aff(piece) for _, piece in value.get_pieces()]

    def _bounds(self, case: isl.PwAff, value: isl.PwAff, *, above: bool) -> bool:
        inside = case.ge_set(value) if above else case.le_set(value)
        return bool(value.domain().is_subset(inside))

    # ---- parts

    def constraints_on(self, points: isl.Set, name: str) -> isl.BasicSet | None:
        """Inequalities between one parameter and the others that hold on the set: those of a
        polyhedron around it. None for a set that does not speak of the parameter."""
        kind = isl.dim_type.param
        around = points.remove_divs().simple_hull().remove_redundancies()
        position = around.get_space().find_dim_by_name(kind, name)
        if position < 0:
            return None
        kept = isl.BasicSet.universe(around.get_space())
        for constraint in around.get_constraints():
            if constraint.involves_dims(kind, position, 1):
                kept = kept.add_constraint(constraint)
        return kept

    def terms(self, affine: isl.Aff) -> list[tuple[int, str | isl.Aff]]:
        """An affine expression times its denominator, without the constant: factors, each of a
        parameter (its name) or of the floor of another such expression."""
        kinds = isl.dim_type
        scale, out = _number(affine.get_denominator_val()), []
        for kind in (kinds.param, kinds.div):
            for position in range(affine.dim(kind)):
                factor = affine.get_coefficient_val(kind, position).mul(self._integer(scale))
                if not factor.is_zero():
                    named = kind == kinds.param
                    part = affine.get_dim_name(kind, position) if named else affine.get_div(position)
                    out.append((_number(factor), part))
        return out

    def constant_term(self, affine: isl.Aff) -> tuple[int, int]:
        """The constant of an affine expression times its denominator, and the denominator."""
        scale = affine.get_denominator_val()
        return _number(affine.get_constant_val().mul(scale)), _number(scale)

    def _integer(self, value: int) -> isl.Val:
        if value.bit_length() < 64:
            return isl.Val.int_from_si(self._context, value)
        return isl.Val.read_from_str(self._context, str(value))

    def _id(self, name: str) -> isl.Id:
        if name not in self._ids:
            self._ids[name] = isl.Id(name, context=self._context)
        return self._ids[name]


class _OutOfWorkError(Exception):
    """isl has stopped, as it had to."""


def is_out_of_work(error: BaseException) -> bool:
    """Whether an error says that isl has reached its bound."""
    return isinstance(error, _OutOfWorkError) or "maximal number of operations" in str(error)


def _number(value: isl.Val) -> int:
    text: str | None = value.to_str()
    if text is None:  # printing is work as well, and says nothing where there is no more of it
        raise _OutOfWorkError
    return int(text)
