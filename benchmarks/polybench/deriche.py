"""deriche: a recursive filter that smooths an image along its rows, then along its columns.

X is W×H, single precision. Along a row: f_j = a1·x_j + a2·x_{j-1} + b1·f_{j-1} + b2·f_{j-2}
forwards, g_j = a3·x_{j+1} + a4·x_{j+2} + b1·g_{j+1} + b2·g_{j+2} backwards, terms outside
the image being 0; the row becomes f + g. Along a column the same. With e = exp(-α):
k = (1 - e)²/(1 + 2α·e - exp(2α)), a1 = k, a2 = k·e(α - 1), a3 = k·e(α + 1), a4 = -k·e²,
b1 = 2^(-α), b2 = -e². Lines are parallel, the recurrences along them are not.
"""

import numpy as np

import appyc
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "W H",
    MINI=(64, 64),
    SMALL=(192, 128),
    MEDIUM=(720, 480),
    LARGE=(4096, 2160),
    EXTRALARGE=(7680, 4320),
)


def initialise(W: int, H: int) -> Arguments:
    i, j = np.ogrid[:W, :H]
    return {
        "alpha": np.float32(0.25),
        "X": (((313 * i + 991 * j) % 65536) / 65535).astype(np.float32),
        "Y": np.zeros((W, H), np.float32),
        "F": np.zeros((W, H), np.float32),
    }


def random(rng: np.random.Generator, W: int, H: int) -> Arguments:
    return {
        "alpha": np.float32(0.4),
        "X": rng.uniform(-1.0, 1.0, (W, H)).astype(np.float32),
        "Y": np.full((W, H), np.nan, np.float32),
        "F": np.full((W, H), np.nan, np.float32),
    }


def filter_lines(alpha, X):
    """The filter along the first axis, all lines at a time."""
    e = np.exp(-alpha)
    k = (1 - e) * (1 - e) / (1 + 2 * alpha * e - np.exp(2 * alpha))
    a1, a2, a3, a4 = k, k * e * (alpha - 1), k * e * (alpha + 1), -k * e * e
    b1, b2 = 2**-alpha, -e * e
    line = np.zeros((2, *X.shape[1:]), X.dtype)
    padded = np.concatenate([line, X, line])
    forwards = np.zeros_like(padded)
    backwards = np.zeros_like(padded)
    forwards[2:-2] = a1 * padded[2:-2] + a2 * padded[1:-3]
    backwards[2:-2] = a3 * padded[3:-1] + a4 * padded[4:]
    for j in range(2, X.shape[0] + 2):
        forwards[j] += b1 * forwards[j - 1] + b2 * forwards[j - 2]
    for j in range(X.shape[0] + 1, 1, -1):
        backwards[j] += b1 * backwards[j + 1] + b2 * backwards[j + 2]
    return forwards[2:-2] + backwards[2:-2]


def numpy_version(alpha, X, Y, F):
    rows = filter_lines(alpha, np.ascontiguousarray(X.T))
    Y[:] = filter_lines(alpha, np.ascontiguousarray(rows.T))


@appyc.jit
def loops(alpha, X, Y, F):
    w = X.shape[0]
    h = X.shape[1]
    e = np.exp(-alpha)
    k = (1.0 - e) * (1.0 - e) / (1.0 + 2.0 * alpha * e - np.exp(2.0 * alpha))
    a1 = k
    a2 = k * e * (alpha - 1.0)
    a3 = k * e * (alpha + 1.0)
    a4 = -k * e * e
    b1 = 2.0**-alpha
    b2 = -e * e
    zero = np.float32(0.0)
    # pragma parallel for
    for i in range(w):
        x1 = zero
        y1 = zero
        y2 = zero
        for j in range(h):
            y = a1 * X[i, j] + a2 * x1 + b1 * y1 + b2 * y2
            F[i, j] = y
            x1 = X[i, j]
            y2 = y1
            y1 = y
        x1 = zero
        x2 = zero
        y1 = zero
        y2 = zero
        for j in range(h - 1, -1, -1):
            y = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2
            Y[i, j] = F[i, j] + y
            x2 = x1
            x1 = X[i, j]
            y2 = y1
            y1 = y
    # pragma parallel for
    for j in range(h):
        x1 = zero
        y1 = zero
        y2 = zero
        for i in range(w):
            y = a1 * Y[i, j] + a2 * x1 + b1 * y1 + b2 * y2
            F[i, j] = y
            x1 = Y[i, j]
            y2 = y1
            y1 = y
        x1 = zero
        x2 = zero
        y1 = zero
        y2 = zero
        for i in range(w - 1, -1, -1):
            y = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2
            x2 = x1
            x1 = Y[i, j]
            Y[i, j] = F[i, j] + y
            y2 = y1
            y1 = y


@appyc.jit(strict=True)
def tensors(alpha, X, Y, F):
    w, h = X.shape
    e = np.exp(-alpha)
    k = (1.0 - e) * (1.0 - e) / (1.0 + 2.0 * alpha * e - np.exp(2.0 * alpha))
    a1, a2, a3, a4 = k, k * e * (alpha - 1.0), k * e * (alpha + 1.0), -k * e * e
    b1, b2 = 2.0**-alpha, -e * e
    G = np.zeros_like(X)
    F[:, 0] = a1 * X[:, 0]
    F[:, 1] = a1 * X[:, 1] + a2 * X[:, 0] + b1 * F[:, 0]
    for j in range(2, h):
        F[:, j] = a1 * X[:, j] + a2 * X[:, j - 1] + b1 * F[:, j - 1] + b2 * F[:, j - 2]
    G[:, h - 2] = a3 * X[:, h - 1]
    for j in range(h - 3, -1, -1):
        G[:, j] = a3 * X[:, j + 1] + a4 * X[:, j + 2] + b1 * G[:, j + 1] + b2 * G[:, j + 2]
    Y[:] = F + G
    F[0] = a1 * Y[0]
    F[1] = a1 * Y[1] + a2 * Y[0] + b1 * F[0]
    for i in range(2, w):
        F[i] = a1 * Y[i] + a2 * Y[i - 1] + b1 * F[i - 1] + b2 * F[i - 2]
    G[w - 1] = 0.0
    G[w - 2] = a3 * Y[w - 1]
    for i in range(w - 3, -1, -1):
        G[i] = a3 * Y[i + 1] + a4 * Y[i + 2] + b1 * G[i + 1] + b2 * G[i + 2]
    Y[:] = F + G


def flops(W: int, H: int) -> int:
    return 32 * W * H


def traffic(W: int, H: int) -> int:
    return 4 * 2 * W * H


KERNEL = Kernel(
    name="deriche",
    dtype=np.float32,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("Y",),
    flops=flops,
    traffic=traffic,
    tolerance=1e-4,  # single precision, and a difference of nearly equal numbers in k
)
