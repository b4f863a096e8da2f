"""NumPy's functions of arrays beyond operators and reductions, each against NumPy; nothing is left to Python."""

import numpy as np

from tests.programs.registry import Programs, complexes, floats, ints

PROGRAMS = Programs(strict=True)

_A, _B = floats(3, 4), floats(4, 5, seed=1)
_CUBE = floats(2, 3, 4)
_LINE = floats(7)
_ODD = np.array([0.0, -0.0, 1.5, -2.5, np.nan, np.inf, -np.inf, 3.5])


@PROGRAMS.on(_A, _B, _CUBE)
@PROGRAMS.on(floats(1, 1), floats(1, 1), floats(1, 1, 1))
@PROGRAMS.on(floats(0, 4), _B, floats(0, 3, 4))
@PROGRAMS.on(complexes(3, 4), complexes(4, 5), complexes(2, 3, 4))
@PROGRAMS.on(ints(3, 4, dtype=np.int32), ints(4, 5, dtype=np.int32), ints(2, 3, 4))
def einsums(a, b, c):
    return (
        np.einsum("ij,jk->ik", a, b),
        np.einsum("ij,jk", a, b),
        np.einsum("ij->ji", a) * 1,
        np.einsum("ij->", a),
        np.einsum("ij->j", a),
        np.einsum("ij,ij->i", a, a),
        np.einsum("abc,bc->a", c, a),
        np.einsum("abc,cd->abd", c, b),
        np.einsum("i,j->ij", a[:, 0], b[0]),
    )


@PROGRAMS.on(floats(4, 4), floats(4))
@PROGRAMS.on(floats(1, 1), floats(1))
@PROGRAMS.on(ints(3, 3), ints(3))
def einsums_of_diagonals(a, x):
    return np.einsum("ii->i", a) * 1, np.einsum("ii", a), np.einsum("i,ij,j", x, a, x), np.einsum("ii,i->", a, x)


@PROGRAMS.on(_A, _B, _CUBE)
@PROGRAMS.on(_A.astype(np.float32), _B.astype(np.float32), _CUBE)
def tensor_products(a, b, c):
    return (
        np.tensordot(a, b, 1),
        np.tensordot(c, a, axes=((1, 2), (0, 1))),
        np.tensordot(c, a),
        np.tensordot(a, b, axes=0),
        np.tensordot(a, b, axes=([1], [0])),
        np.inner(a, c[0]),
        np.inner(a, b[:, 0]),
        np.kron(a, b[:2, :2]),
        np.kron(a[0], b[0]),
        np.vdot(a, a),
    )


@PROGRAMS.on(complexes(3, 4))
def conjugated_products(z):
    return np.vdot(z, z * 2), np.inner(z, z), np.kron(z, z[:1])


@PROGRAMS.on(floats(4, 4))
@PROGRAMS.on(floats(3, 5))
@PROGRAMS.on(floats(1, 3))
@PROGRAMS.on(ints(4, 3, dtype=np.int8))
@PROGRAMS.on(floats(0, 3))
def diagonals(a):
    d = np.diag(a) * 2
    return (
        d, np.diag(a, 1) + 0, a.diagonal(-1) * 1, np.trace(a), a.trace(1), np.diag(d), np.diag(d, 1), np.diag(d, -2),
    )  # fmt: skip


@PROGRAMS.on(floats(3, 4), 7.0)
@PROGRAMS.on(floats(4, 2), -1.0)
def filled_diagonal(a, x):
    a[0, 0] = 5.0
    np.fill_diagonal(a[:2], x)
    return np.diagonal(_shifted(a), axis1=1, axis2=0) + 0


def _shifted(a):
    return a + 1


@PROGRAMS.on(_CUBE)
@PROGRAMS.on(floats(2, 1, 3))
def axes_moved(c):
    return (
        np.moveaxis(c, 0, -1) + 0, np.moveaxis(c, (0, 1), (2, 0)) + 0, np.rollaxis(c, 2) + 0,
        np.squeeze(c[:, :1], axis=1) * 2,
        c[:1].squeeze(0) * 1, np.atleast_2d(c[0, 0]) + 0, np.atleast_3d(c[0]) + 0, np.atleast_1d(c[0, 0, 0]) + 0,
        np.broadcast_to(c[0], (2, c.shape[1], c.shape[2])) + c, np.flipud(c) + 0, np.fliplr(c) * 1,
        np.rot90(c) + 0, np.rot90(c, 2) + 0, np.rot90(c, k=3, axes=(1, 2)) * 1, np.rot90(c, -1) + 0,
    )  # fmt: skip


@PROGRAMS.on(_A, 2)
@PROGRAMS.on(floats(0, 2), 1)
@PROGRAMS.on(floats(1, 1), 3)
@PROGRAMS.on(ints(2, 3, dtype=np.int16), 0)
def larger(a, k):
    return (
        np.tile(a, 2), np.tile(a, (k, 3)), np.tile(a[0:1], (2, 1, k)), np.pad(a, 1), np.pad(a, ((1, 2), (0, k))),
        np.pad(a, k, mode="constant", constant_values=7), np.vstack((a, a * 2)), np.dstack((a, a)),
        np.column_stack((a[:, 0], a)), np.vstack([a[:, 0], a[:, 1]]), np.pad(a, (1, 2), constant_values=3),
    )  # fmt: skip


@PROGRAMS.on(_A, 2)
@PROGRAMS.on(floats(1, 1), 3)
@PROGRAMS.on(floats(0, 2), 1)
def padded_with_the_edge(a, k):
    return np.pad(a, k, mode="edge"), np.pad(a[:, 0], (0, 2), "edge")


@PROGRAMS.on(floats(6), floats(4, 6))
@PROGRAMS.on(floats(5), floats(4, 6))
@PROGRAMS.on(floats(0), floats(2, 0))
def parts(a, b):
    one, two, three = np.split(b, 3, axis=1)
    head, middle, tail = np.split(a, (2, 4))
    first, second = np.split(a, 2)
    first[:] = 0.0
    return one + two - three, head + 0, middle * 2, tail * 3, second + 0


@PROGRAMS.on(floats(3), floats(4))
@PROGRAMS.on(floats(0), floats(4))
def grids(x, y):
    X, Y = np.meshgrid(x, y)
    I, J = np.meshgrid(x, y, indexing="ij")
    return X * Y, I - J, np.tri(3), np.tri(3, 4, 1), np.identity(3)


@PROGRAMS.on(_LINE, _LINE + 1e-9)
@PROGRAMS.on(_LINE, _LINE + 1e-3)
@PROGRAMS.on(_ODD, _ODD)
@PROGRAMS.on(floats(0), floats(0))
@PROGRAMS.on(floats(1), floats(3))
def compared(a, b):
    return (
        np.isclose(a, b), np.allclose(a, b), np.isclose(a, b, equal_nan=True), np.array_equal(a, b),
        np.isclose(a, 0.0, atol=0.5), np.allclose(a, b, rtol=1e-2), np.array_equal(a, a),
    )  # fmt: skip


@PROGRAMS.on(_ODD)
@PROGRAMS.on(_ODD.astype(np.float32))
@PROGRAMS.on(floats(0))
def cleaned(a):
    return (
        np.nan_to_num(a), np.nan_to_num(a, nan=1.0, posinf=2.0, neginf=-3.0), np.clip(a, None, 1.0),
        a.clip(-1.0), np.clip(a, -1.0, None), a.clip(-1, 1), np.round(a), a.round(1), np.around(a * 10, 2),
    )  # fmt: skip


@PROGRAMS.on(_ODD, _ODD[::-1].copy())
@PROGRAMS.on(_ODD.astype(np.float32), _ODD.astype(np.float32))
@PROGRAMS.on(floats(5, dtype=np.float32), floats(5))
def more_functions(a, b):
    return (
        np.heaviside(a, 0.5), np.logaddexp(a, b), np.logaddexp2(a, b), np.signbit(a), np.float_power(np.abs(a), 2),
        np.sinc(a), np.fix(a), np.isposinf(a), np.isneginf(b), np.fmod(a, b),
    )  # fmt: skip


@PROGRAMS.on(ints(9), ints(9, seed=1))
@PROGRAMS.on(ints(9, dtype=np.int32), ints(9, dtype=np.int8))
@PROGRAMS.on(np.array([7, -7, 7, -7, 0]), np.array([3, 3, -3, -3, 0]))
def of_integers(a, b):
    return np.fmod(a, b), np.round(a), np.clip(a, -2, None)


@PROGRAMS.on(_A, _LINE)
@PROGRAMS.on(ints(3, 4), ints(7))
@PROGRAMS.on(complexes(3, 4), complexes(7))
@PROGRAMS.on(_A.astype(np.float32), floats(0, dtype=np.float32))
def norms(a, x):
    return (
        np.linalg.norm(a), np.linalg.norm(x), np.linalg.norm(a, axis=0), np.linalg.norm(a, axis=1, keepdims=True),
        np.linalg.norm(x, 1), np.linalg.norm(a, 2, axis=1), np.average(a, axis=0),
    )  # fmt: skip


@PROGRAMS.on(_A, 3)
@PROGRAMS.on(_A, 2)
@PROGRAMS.on(ints(3, 4), -1.5)
@PROGRAMS.on(complexes(3, 4), 0)
@PROGRAMS.on(_A.astype(np.float32), np.inf)
def norms_of_any_order(a, p):
    return np.linalg.norm(a[0], p), np.linalg.norm(a, p, axis=1), np.linalg.norm(a, ord=3, axis=0, keepdims=True)


@PROGRAMS.on(2.0, 3, floats(3))
@PROGRAMS.on(np.float32(2.0), 0, floats(3, dtype=np.float32))
def from_numbers(x, n, a):
    weights = np.array([1.0, 2.0, x])
    table = np.array(((1, 2), (3, n)))
    both = np.array([a, a * 2])
    copy = np.array(a)
    copy[0] = 9.0
    same = np.asarray(a)
    same[1] = 8.0
    narrow = np.array([1, n], dtype=np.int16)
    return weights * a, table, both, copy, np.asarray(a, np.float32), narrow, np.array([True, False])


@PROGRAMS.on(floats(4), ints(4))
@PROGRAMS.on(floats(4), floats(4, seed=2))
def copied_into(a, b):
    np.copyto(a, b)
    np.copyto(a[1:], 2)
    return a


@PROGRAMS.on(np.array([250, 3, 7], np.uint8))
@PROGRAMS.on(np.array([-100, 100, 7], np.int8))
def gradient_of_narrow_integers(a):
    """Differences at the ends wrapped around."""
    return np.gradient(a)


@PROGRAMS.on(2.5)
@PROGRAMS.on(-1)
@PROGRAMS.on(True)
def arrays_of_a_number(x):
    return np.cumsum(x), np.repeat(x, 2), np.angle(x), np.sqrt(x)


@PROGRAMS.on([1, 2, 9])
@PROGRAMS.on((1.5, 9))
def clipped_list(items):
    return np.clip(items, 0, 2)
