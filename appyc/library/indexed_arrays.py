"""Arrays whose elements are those of others at computed indices: np.tile, np.roll, np.pad, np.kron, grids."""

# mypy: ignore-errors
# ruff: noqa: B905, PLR1714, RUF005  (what the front end does not compile)

from __future__ import annotations

import math

import numpy as np

from appyc.library.accumulations import part
from appyc.library.primitives import as_list, by_index, refuse
from appyc.library.table import of

# ---------------------------------------------------------------- along axes


def with_item(items, k, item):
    """A tuple with another item at a position."""
    return items[:k] + (item,) + items[k + 1 :]


def with_leading_axes(a, rank):
    """A view with axes of length 1 in front, up to this rank."""
    return np.expand_dims(a, tuple(range(rank - a.ndim)))


@of(np.repeat, method="repeat")
def repeat(a: np.ndarray, repeats, axis=None):
    """Each element several times in a row, along an axis or in C order."""
    if axis is not None and (axis < -a.ndim or axis >= a.ndim):
        refuse("there is no such axis")
    return repeated(np.ravel(a) if axis is None else a, repeats, 0 if axis is None else axis % a.ndim)


def repeated(a, repeats, k):
    shape = with_item(a.shape, k, a.shape[k] * repeats)
    return by_index(shape, lambda at: a[with_item(at, k, at[k] // max(repeats, 1))])


@of(np.tile)
def tile(A: np.ndarray, reps):  # noqa: N803  (NumPy's name)
    """The array several times along each axis."""
    times = reps if isinstance(reps, tuple) else (reps,)
    return tiled(with_leading_axes(A, len(times)), (1,) * (A.ndim - len(times)) + times)


def tiled(a, times):
    shape = tuple(n * many for n, many in zip(a.shape, times))
    return by_index(shape, lambda at: a[tuple(i % max(n, 1) for i, n in zip(at, a.shape))])


@of(np.roll)
def roll(a: np.ndarray, shift, axis=None):
    """The elements moved along axes; those that leave at the end come in at the start."""
    if axis is None and a.ndim > 1:
        refuse("np.roll over all axes is not compiled")
    axes = (0,) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,)
    if len(shifts) != len(axes) and len(shifts) > 1 and len(axes) > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences of one length")
    return rolled(
        a, shifts * len(axes) if len(shifts) == 1 else shifts, axes * len(shifts) if len(axes) == 1 else axes
    )


def rolled(a, shifts, axes):
    if any(tuple((k < -a.ndim) | (k >= a.ndim) for k in axes)):
        refuse("there is no such axis")
    own = tuple(
        tuple(shift for shift, axis in zip(shifts, axes) if axis % a.ndim == number)
        for number in tuple(range(a.ndim))
    )
    by = tuple(sum(some) % max(n, 1) for n, some in zip(a.shape, own))
    return by_index(
        a.shape,
        lambda at: a[tuple(
            i if not some else i - b if i >= b else i - b + n for i, some, b, n in zip(at, own, by, a.shape)
        )],
    )  # fmt: skip


@of(np.pad)
def pad(array: np.ndarray, pad_width, mode="constant", constant_values=0):
    """The array within a border of a constant, or of what stands at its edge."""
    if mode != "constant" and mode != "edge":
        refuse("np.pad is compiled with mode='constant' and mode='edge'")
    widths = pad_width
    if not isinstance(pad_width, tuple):
        widths = (pad_width, pad_width)
    if not isinstance(widths[0], tuple):
        widths = (widths,) * array.ndim
    if any(tuple((before < 0) | (behind < 0) for before, behind in widths)):
        raise ValueError("index can't contain negative values")
    if mode == "edge" and any(tuple(n == 0 for n in array.shape)):
        raise ValueError("can't extend an empty axis using modes other than 'constant' or 'empty'")
    return padded(array, widths, mode, array.dtype.type(constant_values))


def padded(a, widths, mode, value):
    shape = tuple(before + n + behind for n, (before, behind) in zip(a.shape, widths))
    if mode == "edge":
        return by_index(
            shape, lambda at: a[tuple(min(max(i - b, 0), n - 1) for i, n, (b, _) in zip(at, a.shape, widths))]
        )
    return by_index(
        shape,
        lambda at: (
            a[tuple(i - b for i, (b, _) in zip(at, widths))] if is_inside(at, a.shape, widths) else value
        ),
    )


def is_inside(at, shape, widths):
    return all(tuple((b <= i) & (i < b + n) for i, n, (b, _) in zip(at, shape, widths)))


@of(np.split)
def split(ary: np.ndarray, indices_or_sections, axis=0):
    """Views of equal parts along an axis, or of those between indices."""
    if not isinstance(indices_or_sections, tuple) and ary.shape[axis] % indices_or_sections != 0:
        raise ValueError("array split does not result in an equal division")
    return np.array_split(ary, indices_or_sections, axis)


@of(np.array_split)
def array_split(ary: np.ndarray, indices_or_sections, axis=0):
    """Views of parts along an axis, the first ones longer by one if need be, or of those between indices."""
    n = ary.shape[axis]
    if isinstance(indices_or_sections, tuple):
        bounds = (0, *indices_or_sections, n)
    else:
        size, longer = n // indices_or_sections, n % indices_or_sections
        bounds = tuple(size * k + min(k, longer) for k in tuple(range(indices_or_sections + 1)))
    return as_list(tuple(part(ary, axis, bounds[k], bounds[k + 1]) for k in tuple(range(len(bounds) - 1))))


# ---------------------------------------------------------------- matrices


@of(np.kron)
def kron(a: np.ndarray, b: np.ndarray):
    """The Kronecker product: for each element of the first, the second times it."""
    return blocks(with_leading_axes(a, np.ndim(b)), with_leading_axes(b, np.ndim(a)))


def blocks(a, b):
    shape = tuple(n * m for n, m in zip(a.shape, b.shape))
    return by_index(
        shape,
        lambda at: (
            a[tuple(i // max(m, 1) for i, m in zip(at, b.shape))]
            * b[tuple(i % max(m, 1) for i, m in zip(at, b.shape))]
        ),
    )


@of(np.eye)
def eye(N, M=None, k=0, dtype=np.float64):  # noqa: N803  (NumPy's names)
    """Ones on a diagonal, zeros elsewhere."""
    return by_index((N, N if M is None else M), lambda at: at[1] == at[0] + k).astype(dtype)


@of(np.identity)
def identity(n, dtype=np.float64):
    """Ones on the main diagonal, zeros elsewhere."""
    return eye(n, None, 0, dtype)


@of(np.tril)
def tril(m: np.ndarray, k=0):
    """The elements on a diagonal and below it, zeros elsewhere."""
    return by_index(m.shape, lambda at: m[at] if at[-1] <= at[-2] + k else m.dtype.type(0))


@of(np.triu)
def triu(m: np.ndarray, k=0):
    """The elements on a diagonal and above it, zeros elsewhere."""
    return by_index(m.shape, lambda at: m[at] if at[-1] >= at[-2] + k else m.dtype.type(0))


@of(np.diag)
def diag(v: np.ndarray, k=0):
    """The diagonal of a matrix, or the matrix with a diagonal."""
    if v.ndim == 2:
        return np.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.shape[0] + abs(k)
    return by_index(
        (n, n), lambda at: v[at[0] if k >= 0 else at[1]] if at[1] == at[0] + k else v.dtype.type(0)
    )


@of(np.fill_diagonal)
def fill_diagonal(a: np.ndarray, val):
    """Stores a number into the diagonal of a matrix."""
    if a.ndim != 2 or np.ndim(val) != 0:
        refuse("np.fill_diagonal is compiled for a matrix and a number")
    for i in range(min(a.shape[0], a.shape[1])):
        a[i, i] = val


# ---------------------------------------------------------------- grids


@of(np.meshgrid)
def meshgrid(*xi, sparse=False, indexing="xy"):
    """Each of several vectors over all axes, or with `sparse` over one of its own."""
    rank = len(xi)
    swaps = indexing == "xy" and rank > 1
    order = (1, 0) + tuple(range(2, rank)) if swaps else tuple(range(rank))
    shape = tuple(np.ravel(xi[k]).shape[0] for k in order)
    return tuple(
        over_axis(np.ravel(xi[k]), order[k], ones_but(shape, order[k]) if sparse else shape)
        for k in tuple(range(rank))
    )


def ones_but(shape, k):
    return with_item((1,) * len(shape), k, shape[k])


def over_axis(v, k, shape):
    """A vector along one axis of a shape."""
    return by_index(shape, lambda at: v[at[k]])


def grid_points(kind, start, stop, count):
    """`count` coordinates of a type along an axis of a grid, from start to about stop."""
    n = abs(int(count))
    step = kind((stop - start) / float(max(n - 1, 1)))
    return by_index((n,), lambda at: kind(at[0]) * step + kind(start))


def grid_steps(kind, start, stop, step):
    """The coordinates of a type along an axis of a grid that are steps apart."""
    n = max(math.ceil((stop - start) / step), 0)
    return by_index((n,), lambda at: kind(at[0]) * kind(step) + kind(start))


def check_grid(start, stop, step):
    """Raises ValueError for an axis of a grid of less than no coordinates."""
    if (start - stop >= step) if step > 0 else (start - stop <= step):
        raise ValueError("negative dimensions are not allowed")


@of(np.linspace)
def linspace(start, stop, num=50, endpoint=True, dtype=None):
    """A number of points from start to stop, the last of them exactly stop, or one step before it."""
    kind = np.result_type(start, stop, 0.0).type
    if dtype is None:
        return spaced(kind, kind(start), kind(stop), num, endpoint)
    if np.result_type(dtype).kind in ("i", "u"):
        return np.floor(spaced(kind, kind(start), kind(stop), num, endpoint)).astype(dtype)
    return spaced(kind, kind(start), kind(stop), num, endpoint).astype(dtype)


def spaced(kind, start, stop, n, endpoint):
    step = (stop - start) / kind(max(n - 1 if endpoint else n, 1))
    return by_index(
        (n,), lambda at: stop if endpoint and (at[0] == n - 1) & (n > 1) else kind(at[0]) * step + start
    )


@of(np.ix_)
def ix_(*args):
    """Index arrays for all combinations of positions along each axis; a mask stands for those where it holds."""
    return tuple(opened(args[k], k, len(args)) for k in tuple(range(len(args))))


def opened(v, k, rank):
    if np.ndim(v) != 1:
        refuse("np.ix_ takes vectors")
    if v.dtype.kind == "b":
        v = np.nonzero(v)[0]
    return over_axis(v, k, with_item((1,) * rank, k, v.shape[0]))


@of(np.indices)
def indices(dimensions):
    """The index along each axis of each element of an array of this shape."""
    shape = dimensions if isinstance(dimensions, tuple) else (dimensions,)
    return np.stack(tuple(positions(k, shape) for k in tuple(range(len(shape)))), 0)


def positions(k, shape):
    """The index along axis `k` of each element of an array of this shape."""
    return by_index(shape, lambda at: at[k])


# ---------------------------------------------------------------- products


@of(np.inner)
def inner(a: np.ndarray, b: np.ndarray):
    """The sums of products over the last axes."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return a * b
    return np.tensordot(a, b, (-1, -1))


@of(np.dot, method="dot")
def dot(a: np.ndarray, b: np.ndarray):
    """The product of matrices and vectors, else the sum over the first's last axis and the second's last but one."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return a * b
    if a.ndim <= 2 and b.ndim <= 2:
        return a @ b
    return np.tensordot(a, b, (-1, -2 if b.ndim > 1 else -1))
