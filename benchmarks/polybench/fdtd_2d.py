"""fdtd-2d: T steps of Maxwell's equations in two dimensions, finite differences in time.

At step t: ey_0j = φ_t; ey_ij -= ½(hz_ij - hz_{i-1,j}); ex_ij -= ½(hz_ij - hz_{i,j-1});
hz_ij -= 0.7(ex_{i,j+1} - ex_ij + ey_{i+1,j} - ey_ij). All fields are NX×NY, double
precision. Space is parallel in each update, hz needs the new ex and ey, time is
sequential.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "TMAX NX NY",
    MINI=(20, 20, 30),
    SMALL=(40, 60, 80),
    MEDIUM=(100, 200, 240),
    LARGE=(500, 1000, 1200),
    EXTRALARGE=(1000, 2000, 2600),
)


def initialise(TMAX: int, NX: int, NY: int) -> Arguments:
    i, j = np.ogrid[:NX, :NY]
    return {
        "ex": i * (j + 1) / NX,
        "ey": i * (j + 2) / NY,
        "hz": i * (j + 3) / NX,
        "phi": np.arange(TMAX, dtype=np.float64),
    }


def random(rng: np.random.Generator, TMAX: int, NX: int, NY: int) -> Arguments:
    return {
        "ex": uniform(rng, NX, NY),
        "ey": uniform(rng, NX, NY),
        "hz": uniform(rng, NX, NY),
        "phi": uniform(rng, TMAX),
    }


def numpy_version(ex, ey, hz, phi):
    for source in phi:
        ey[0] = source
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@appyc.jit
def loops(ex, ey, hz, phi):
    steps = phi.shape[0]
    nx = hz.shape[0]
    ny = hz.shape[1]
    for t in range(steps):
        # pragma parallel for
        for j in range(ny):
            ey[0, j] = phi[t]
        # pragma parallel for
        for i in range(1, nx):
            # pragma parallel for
            for j in range(ny):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        # pragma parallel for
        for i in range(nx):
            # pragma parallel for
            for j in range(1, ny):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        # pragma parallel for
        for i in range(nx - 1):
            # pragma parallel for
            for j in range(ny - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


@appyc.jit(strict=True)
def tensors(ex, ey, hz, phi):
    for t in range(phi.shape[0]):
        ey[0] = phi[t]
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def flops(TMAX: int, NX: int, NY: int) -> int:
    return TMAX * (3 * (NX - 1) * NY + 3 * NX * (NY - 1) + 5 * (NX - 1) * (NY - 1))


def traffic(TMAX: int, NX: int, NY: int) -> int:
    return 8 * 6 * NX * NY


KERNEL = Kernel(
    name="fdtd-2d",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("ex", "ey", "hz"),
    flops=flops,
    traffic=traffic,
)
