"""Products of arrays as sums over axes: `@`, np.dot and its kin, np.einsum and what it can say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from appyc.errors import LengthError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor, as_value, broadcast, fail_unless, kept, renamed
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import cast, const, integer
from appyc.frontend.library.axis_arguments import Arguments, integers
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.values import Number, Opaque, Tensor, TupleValue, Value
from appyc.ir.nodes import Compare, Const, Expr, Reduce, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import rename, substitute

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def matmul(scope: Scope, given: Mapping[str, Value], loc: Loc) -> Value:
    """`a @ b`: stacks of matrices over leading axes, vectors as a row or a column.

    Raises TypeInferenceError for operands without axes; emits the test of the inner lengths.
    """
    sides = [as_tensor(scope, given[name], loc, "an operand of @") for name in "ab"]
    for side in sides:
        if not side.ndim:
            raise TypeInferenceError(f"@ takes arrays, not {describe(as_value(side))}", loc,
                                     "multiply by numbers with *")  # fmt: skip
    stack = _LETTERS[: max(2, *(side.ndim for side in sides)) - 2]
    own = ["IK" if sides[0].ndim > 1 else "K", "KJ" if sides[1].ndim > 1 else "K"]
    inputs = [stack[len(stack) + 2 - max(s.ndim, 2) :] + o for s, o in zip(sides, own, strict=True)]
    output = stack + "".join(own).replace("K", "")
    return contracted(scope, sides, inputs, output, loc, of_one_length="K")


def outer(op: str, scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.add.outer and its kin, `a op b` for all pairs of elements: the axes of both operands, as they are."""
    left, right = as_tensor(scope, given["a"], loc), as_tensor(scope, given["b"], loc)
    # A view and its transpose share their axes.
    axes, other = renamed(scope, right)
    element = arithmetic.binary(op, Number(left.element, False), Number(other, False), loc).expr
    return as_value(Tensor((*left.axes, *axes), (*left.extents, *right.extents), element))


def sum_of(product: Expr, axes: Sequence[Symbol], extents: Sequence[Expr], loc: Loc) -> Reduce:
    """The sum of products, in their own type; of bools whether any is true."""
    op = "or" if product.dtype is DType.BOOL else "+"
    start = const(False, DType.BOOL, loc) if op == "or" else cast(const(0, DType.INT64, loc), product.dtype)
    return Reduce(op, tuple(axes), tuple(extents), product, start, loc=loc)


def same_length(scope: Scope, a: Expr, b: Expr, loc: Loc) -> None:
    """The test that two axes which are summed over together have one length."""
    if a == b:
        return
    if isinstance(a, Const) and isinstance(b, Const):
        raise LengthError(f"axes of lengths {a.value} and {b.value} cannot be multiplied", loc)
    message = "matmul: the axes that are summed over have lengths {value} and {extent}"
    fail_unless(scope, Compare("==", a, b, loc=loc), None, message, loc, lengths=(a, b))


def settled(scope: Scope, tensor: Tensor, name: str, loc: Loc) -> Value:
    """A sum over axes, computed here and now: as an operand it would be computed again and again."""
    if not tensor.axes:
        return Number(scope.temp(name, tensor.element), python=False)
    return kept(scope, tensor, name, loc)


# ---------------------------------------------------------------- np.einsum


def einsum(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.einsum of constant subscripts without an ellipsis.

    Raises TypeInferenceError for subscripts that do not fit the operands.
    """
    text = given["subscripts"]
    operands = given.get("operands")
    if not isinstance(text, Opaque) or not isinstance(text.obj, str) or "." in text.obj:
        raise UnsupportedError("einsum is compiled for constant subscripts without an ellipsis", loc)
    values = operands.items if isinstance(operands, TupleValue) else (operands,) if operands else ()
    inputs, output = _parsed(text.obj.replace(" ", ""), loc)
    if len(inputs) != len(values):
        raise LengthError(f"{len(inputs)} subscripts for {len(values)} operands", loc)
    tensors = [as_tensor(scope, value, loc) for value in values]
    return contracted(scope, tensors, inputs, output, loc)


def _parsed(text: str, loc: Loc) -> tuple[list[str], str]:
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    letters = "".join(inputs)
    if not arrow:
        output = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    foreign = [c for c in output if c.isalpha() and c not in letters]
    if foreign and (not letters or letters.isalpha()):
        raise LengthError(f"einsum's output {output!r} names {foreign[0]!r}, an axis that no operand has", loc,
                                 *((f"the operands have {', '.join(map(repr, dict.fromkeys(letters)))}",)
                                 if letters else ()))  # fmt: skip
    twice = [c for c in output if c.isalpha() and output.count(c) > 1]
    if twice:
        raise LengthError(f"einsum's output {output!r} names {twice[0]!r} twice", loc,
                          "every axis of the result has a letter of its own")  # fmt: skip
    if (letters and not letters.isalpha()) or not set(output) <= set(letters):
        raise LengthError(f"einsum cannot read the subscripts {text!r}", loc,
                          "they are letters, commas and ->, as in 'ij,jk->ik'")  # fmt: skip
    return inputs, output


def contracted(
    scope: Scope,
    tensors: Sequence[Tensor],
    inputs: Sequence[str],
    output: str,
    loc: Loc,
    *,
    of_one_length: str = "",
) -> Value:
    """The products of the operands' elements, summed over the labels that the output does not have. of_one_length:
    labels along which nothing is stretched."""
    for tensor, labels in zip(tensors, inputs, strict=True):
        if tensor.ndim != len(labels):
            raise LengthError(
                f"an operand of {tensor.ndim} dimensions has {len(labels)} subscripts, {labels!r}", loc
            )
    order = list(dict.fromkeys([*output, *(c for labels in inputs for c in labels)]))
    summed = len(order) > len(output)
    if len(tensors) == 1 and not summed:
        tensor = _over(scope, tensors[0], inputs[0], order, loc)
        return as_value(replace(tensor, view=tensors[0].view, unsettled=tensors[0].unsettled))
    if summed and len(tensors) > 1:
        tensors = [as_tensor(scope, kept(scope, t, "factor", loc), loc) for t in tensors]
    for label in of_one_length:
        tensors = _of_one_length(scope, tensors, [labels.index(label) for labels in inputs], loc)
    aligned = [
        _over(scope, tensor, labels, order, loc) for tensor, labels in zip(tensors, inputs, strict=True)
    ]
    shape = broadcast(scope, aligned, loc)
    count = len(output)
    product = _product(shape.elements, loc)
    if not summed:
        return as_value(Tensor(shape.axes, shape.extents, product))
    inner = {axis: scope.supply.fresh("k", DType.INT64) for axis in shape.axes[count:]}
    for axis, new in inner.items():
        scope.same_axis(axis, new)
    total = sum_of(rename(product, inner), tuple(inner.values()), shape.extents[count:], loc)
    return settled(scope, Tensor(shape.axes[:count], shape.extents[:count], total), "product", loc)


def _of_one_length(scope: Scope, tensors: Sequence[Tensor], axes: Sequence[int], loc: Loc) -> list[Tensor]:
    """The tensors, whose axes with these numbers are tested to be as long as that of the first one."""
    first = tensors[0].extents[axes[0]]
    for tensor, axis in zip(tensors[1:], axes[1:], strict=True):
        same_length(scope, first, tensor.extents[axis], loc)
    return [
        replace(t, extents=(*t.extents[:axis], first, *t.extents[axis + 1 :]))
        for t, axis in zip(tensors, axes, strict=True)
    ]


def _product(elements: Sequence[Expr], loc: Loc) -> Expr:
    out = Number(elements[0], python=False)
    for element in elements[1:]:
        out = arithmetic.binary("*", out, Number(element, python=False), loc)
    return out.expr


def _over(scope: Scope, tensor: Tensor, labels: str, order: Sequence[str], loc: Loc) -> Tensor:
    """The tensor over one axis for each label; those that it has not are of length 1."""
    axes: list[Symbol] = []
    extents: list[Expr] = []
    indices: dict[Symbol, Expr] = {}
    for label in order:
        own = [k for k, c in enumerate(labels) if c == label]
        axis = scope.supply.fresh("i", DType.INT64)
        axes.append(axis)
        extents.append(tensor.extents[own[0]] if own else integer(1, loc))
        for k in own:
            indices[tensor.axes[k]] = Var(axis, loc=loc)
            scope.same_axis(tensor.axes[k], axis)
            same_length(scope, tensor.extents[own[0]], tensor.extents[k], loc)
    return Tensor(tuple(axes), tuple(extents), substitute(tensor.element, indices))


def tensordot(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.tensordot over a number of axes, or over those that are named."""
    a, b = as_tensor(scope, given["a"], loc), as_tensor(scope, given["b"], loc)
    axes = given.get("axes", arithmetic.python_number(2, loc))
    if isinstance(axes, TupleValue) and len(axes.items) == 2:
        pairs = [integers(item, loc, "axes") or () for item in axes.items]
    else:
        (count,) = integers(axes, loc, "axes") or (2,)
        pairs = [tuple(range(a.ndim - count, a.ndim)), tuple(range(count))]
    ranks = (a.ndim, b.ndim)
    fits = all(-rank <= n < rank for rank, side in zip(ranks, pairs, strict=True) for n in side)
    if len(pairs[0]) != len(pairs[1]) or not fits:
        raise LengthError("shape-mismatch for sum: the axes do not pair up", loc)
    left = [_LETTERS[k] for k in range(a.ndim)]
    right = [_LETTERS[a.ndim + k] for k in range(b.ndim)]
    for one, other in zip(*pairs, strict=True):
        right[other] = left[one]
    output = "".join(c for c in [*left, *right] if [*left, *right].count(c) == 1)
    inputs, both = ["".join(left), "".join(right)], "".join(c for c in left if c in right)
    return contracted(scope, [a, b], inputs, output, loc, of_one_length=both)
