"""Eleven kernels as NPBench has them for NumPy, with its preset S, compiled, beside NumPy, Numba and Pythran.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.npbench [NAME ...] [--rounds 9] [--json FILE]

All ways take turns in one process on one thread; what counts is the least processor time of the thread. Numba and
Pythran compile the same text, and are left out where they are not there, refuse it, or give another result.
"""

from __future__ import annotations

import argparse
import inspect
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import appyc
from benchmarks.machine import write_rows
from benchmarks.pythran_peer import pythran_form

RANDOM = np.random.default_rng(42)


def contour_integral(NR, NM, slab_per_bc, Ham, int_pts, Y):
    P0 = np.zeros((NR, NM), dtype=np.complex128)
    P1 = np.zeros((NR, NM), dtype=np.complex128)
    for z in int_pts:
        Tz = np.zeros((NR, NR), dtype=np.complex128)
        for n in range(slab_per_bc + 1):
            zz = np.power(z, slab_per_bc / 2 - n)
            Tz += zz * Ham[n]
        if NR == NM:
            X = np.linalg.inv(Tz)
        else:
            X = np.linalg.solve(Tz, Y)
        if abs(z) < 1.0:
            X = -X
        P0 += X
        P1 += z * X
    return P0, P1


def match(b1, b2):
    if b1 + b2 == 3:
        return 1
    return 0


def nussinov(N, seq):
    table = np.zeros((N, N), np.int32)
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < N:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < N:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + match(seq[i], seq[j]))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def build_up_b(rho, dt, dx, dy, u, v):
    b = np.zeros_like(u)
    b[1:-1, 1:-1] = rho * (
        1 / dt * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
    )
    b[1:-1, -1] = rho * (
        1 / dt * ((u[1:-1, 0] - u[1:-1, -2]) / (2 * dx) + (v[2:, -1] - v[0:-2, -1]) / (2 * dy))
        - ((u[1:-1, 0] - u[1:-1, -2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, -1] - u[0:-2, -1]) / (2 * dy) * (v[1:-1, 0] - v[1:-1, -2]) / (2 * dx))
        - ((v[2:, -1] - v[0:-2, -1]) / (2 * dy)) ** 2
    )
    b[1:-1, 0] = rho * (
        1 / dt * ((u[1:-1, 1] - u[1:-1, -1]) / (2 * dx) + (v[2:, 0] - v[0:-2, 0]) / (2 * dy))
        - ((u[1:-1, 1] - u[1:-1, -1]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 0] - u[0:-2, 0]) / (2 * dy) * (v[1:-1, 1] - v[1:-1, -1]) / (2 * dx))
        - ((v[2:, 0] - v[0:-2, 0]) / (2 * dy)) ** 2
    )
    return b


def pressure_poisson_periodic(nit, p, dx, dy, b):
    pn = np.empty_like(p)
    for _q in range(nit):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[1:-1, -1] = ((pn[1:-1, 0] + pn[1:-1, -2]) * dy**2 + (pn[2:, -1] + pn[0:-2, -1]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, -1]
        p[1:-1, 0] = ((pn[1:-1, 1] + pn[1:-1, -1]) * dy**2 + (pn[2:, 0] + pn[0:-2, 0]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 0]
        p[-1, :] = p[-2, :]
        p[0, :] = p[1, :]


def channel_flow(nit, u, v, dt, dx, dy, p, rho, nu, F):
    udiff = 1
    stepcount = 0
    while udiff > 0.001:
        un = u.copy()
        vn = v.copy()
        b = build_up_b(rho, dt, dx, dy, u, v)
        pressure_poisson_periodic(nit, p, dx, dy, b)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu * (dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
                    + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1]))
            + F * dt
        )  # fmt: skip
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu * (dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2])
                    + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1]))
        )  # fmt: skip
        u[1:-1, -1] = (
            un[1:-1, -1]
            - un[1:-1, -1] * dt / dx * (un[1:-1, -1] - un[1:-1, -2])
            - vn[1:-1, -1] * dt / dy * (un[1:-1, -1] - un[0:-2, -1])
            - dt / (2 * rho * dx) * (p[1:-1, 0] - p[1:-1, -2])
            + nu * (dt / dx**2 * (un[1:-1, 0] - 2 * un[1:-1, -1] + un[1:-1, -2])
                    + dt / dy**2 * (un[2:, -1] - 2 * un[1:-1, -1] + un[0:-2, -1]))
            + F * dt
        )  # fmt: skip
        u[1:-1, 0] = (
            un[1:-1, 0]
            - un[1:-1, 0] * dt / dx * (un[1:-1, 0] - un[1:-1, -1])
            - vn[1:-1, 0] * dt / dy * (un[1:-1, 0] - un[0:-2, 0])
            - dt / (2 * rho * dx) * (p[1:-1, 1] - p[1:-1, -1])
            + nu * (dt / dx**2 * (un[1:-1, 1] - 2 * un[1:-1, 0] + un[1:-1, -1])
                    + dt / dy**2 * (un[2:, 0] - 2 * un[1:-1, 0] + un[0:-2, 0]))
            + F * dt
        )  # fmt: skip
        u[0, :] = 0
        u[-1, :] = 0
        v[0, :] = 0
        v[-1, :] = 0
        udiff = (np.sum(u) - np.sum(un)) / np.sum(u)
        stepcount += 1
    return stepcount


def crc16(data, poly=0x8408):
    crc = 0xFFFF
    for b in data:
        cur_byte = 0xFF & b
        for _ in range(8):
            if (crc & 0x0001) ^ (cur_byte & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur_byte >>= 1
    crc = ~crc & 0xFFFF
    return (crc << 8) | ((crc >> 8) & 0xFF)


def k3mm(A, B, C, D):
    return A @ B @ C @ D


def mandelbrot2(xmin, xmax, ymin, ymax, xn, yn, itermax, horizon):
    Xi, Yi = np.mgrid[0:xn, 0:yn]
    X = np.linspace(xmin, xmax, xn)[Xi]
    Y = np.linspace(ymin, ymax, yn)[Yi]
    C = X + Y * 1j
    N_ = np.zeros(C.shape, dtype=np.int64)
    Z_ = np.zeros(C.shape, dtype=np.complex128)
    Xi.shape = Yi.shape = C.shape = xn * yn
    Z = np.zeros(C.shape, np.complex128)
    for i in range(itermax):
        if not len(Z):
            break
        np.multiply(Z, Z, Z)
        np.add(Z, C, Z)
        I = abs(Z) > horizon
        N_[Xi[I], Yi[I]] = i + 1
        Z_[Xi[I], Yi[I]] = Z[I]
        np.logical_not(I, I)
        Z = Z[I]
        Xi, Yi = Xi[I], Yi[I]
        C = C[I]
    return Z_.T, N_.T


def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def relu(x):
    return np.maximum(x, 0)


def conv2d(input, weights):
    K = weights.shape[0]
    N = input.shape[0]
    H_out = input.shape[1] - K + 1
    W_out = input.shape[2] - K + 1
    C_out = weights.shape[3]
    output = np.empty((N, H_out, W_out, C_out), dtype=np.float32)
    for i in range(H_out):
        for j in range(W_out):
            output[:, i, j, :] = np.sum(
                input[:, i : i + K, j : j + K, :, np.newaxis] * weights[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    return output


def batchnorm2d(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


def resnet(input, conv1, conv2, conv3):
    padded = np.zeros((input.shape[0], input.shape[1] + 2, input.shape[2] + 2, conv1.shape[3]))
    padded[:, 1:-1, 1:-1, :] = conv2d(input, conv1)
    x = batchnorm2d(padded)
    x = relu(x)
    x = conv2d(x, conv2)
    x = batchnorm2d(x)
    x = relu(x)
    x = conv2d(x, conv3)
    x = batchnorm2d(x)
    return relu(x + input)


def trisolv(L, x, b):
    for i in range(x.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


def jacobi_2d(TSTEPS, A, B):
    for _t in range(1, TSTEPS):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C


def _complex(*shape: int) -> np.ndarray:
    return RANDOM.random(shape) + 1j * RANDOM.random(shape)


def _flow() -> tuple[Any, ...]:
    ny = nx = 61
    u, v, p = np.zeros((ny, nx)), np.zeros((ny, nx)), np.ones((ny, nx))
    return 5, u, v, 0.1 / ((nx - 1) * (ny - 1)), 2 / (nx - 1), 2 / (ny - 1), p, 1.0, 0.1, 1.0


def _images() -> tuple[Any, ...]:
    shapes = ((8, 14, 14, 32), (1, 1, 32, 8), (3, 3, 8, 8), (1, 1, 8, 32))
    return tuple(RANDOM.random(shape, dtype=np.float32) for shape in shapes)


KERNELS: dict[Callable[..., Any], Callable[[], tuple[Any, ...]]] = {
    contour_integral: lambda: (50, 150, 2, _complex(3, 50, 50), _complex(32), _complex(50, 150)),
    nussinov: lambda: (60, RANDOM.integers(0, 4, 60).astype(np.int32)),
    channel_flow: _flow,
    crc16: lambda: (RANDOM.integers(0, 256, 1600).astype(np.uint8),),
    k3mm: lambda: tuple(RANDOM.random(s) for s in ((800, 850), (850, 900), (900, 950), (950, 1000))),
    mandelbrot2: lambda: (-2.25, 0.75, -1.25, 1.25, 200, 200, 40, 2.0),
    floyd_warshall: lambda: (RANDOM.integers(1, 999, (200, 200)).astype(np.int32),),
    resnet: _images,
    trisolv: lambda: (np.tril(RANDOM.random((2000, 2000))) + 2000 * np.eye(2000), np.zeros(2000), RANDOM.random(2000)),
    jacobi_2d: lambda: (50, RANDOM.random((150, 150)), RANDOM.random((150, 150))),
    gemm: lambda: (1.5, 1.2, *(RANDOM.random(s) for s in ((1000, 1100), (1000, 1200), (1200, 1100)))),
}  # fmt: skip


def numba_form(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
    """The kernel compiled by Numba; None where it refuses it."""
    import numba  # noqa: PLC0415  (slow, and an extra)

    names = {name: numba.njit(value) for name, value in globals().items() if value in _HELPERS}
    given = type(kernel)(kernel.__code__, {**globals(), **names}, kernel.__name__, kernel.__defaults__)
    jitted: Callable[..., Any] = numba.njit(given)
    try:
        jitted(*own(arguments))
    except Exception as error:  # noqa: BLE001  (Numba's errors are many)
        print(f"{kernel.__name__}: not by Numba ({type(error).__name__})")
        return None
    return jitted


def in_pythran(
    kernel: Callable[..., Any], arguments: tuple[Any, ...], folder: Path
) -> Callable[..., Any] | None:
    """The kernel compiled by Pythran; None where it refuses it."""
    text = "\n".join(map(inspect.getsource, (*_HELPERS, kernel)))
    try:
        compiled = pythran_form(text, kernel.__name__, arguments, folder, "-O3", "-march=native")
        compiled(*own(arguments))
    except (subprocess.CalledProcessError, TypeError) as error:
        print(f"{kernel.__name__}: not by Pythran ({type(error).__name__})")
        return None
    return compiled


_HELPERS = (match, build_up_b, pressure_poisson_periodic, relu, conv2d, batchnorm2d)


def own(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def measure(kernel: Callable[..., Any], rounds: int, folder: Path) -> dict[str, Any]:
    arguments = KERNELS[kernel]()
    ways: dict[str, Callable[..., Any]] = {"numpy": kernel, "appyc": appyc.jit(target="cpu")(kernel)}
    if (form := numba_form(kernel, arguments)) is not None:
        ways["numba"] = form
    if (form := in_pythran(kernel, arguments, folder)) is not None:
        ways["pythran"] = form
    given, results = {way: own(arguments) for way in ways}, {}
    for way, call in ways.items():
        results[way] = call(*given[way])
    for one, other in zip(
        (results["numpy"], *given["numpy"]), (results["appyc"], *given["appyc"]), strict=True
    ):
        for a, b in zip(*((x,) if not isinstance(x, tuple) else x for x in (one, other)), strict=True):
            if b is not None:
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4, err_msg=kernel.__name__)
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for way, call in ways.items():
            for _again in range(5 if least["appyc"] < 0.002 else 1):
                mine = own(arguments)
                start = time.thread_time()
                call(*mine)
                least[way] = min(least[way], time.thread_time() - start)
    return {"kernel": kernel.__name__, "seconds": least}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        parser.error("set OPENBLAS_NUM_THREADS=1: the time of one thread is measured")
    appyc.set_num_threads(1)
    rows = []
    with TemporaryDirectory() as folder:
        for kernel in KERNELS:
            if options.names and kernel.__name__ not in options.names:
                continue
            rows.append(row := measure(kernel, options.rounds, Path(folder)))
            took = row["seconds"]
            print(f"{row['kernel']:17s} " + "   ".join(
                f"{way} {1e3 * seconds:9.3f} ms ({seconds / took['appyc']:.2f}x)" for way, seconds in took.items()
            ), flush=True)  # fmt: skip
    if options.json:
        write_rows(
            options.json,
            f"OPENBLAS_NUM_THREADS=1 python -m benchmarks.npbench --rounds {options.rounds}",
            rows,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
