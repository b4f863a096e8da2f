"""Kernels written in C by hand, and both entries: the compiled one and its Python double."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from appyc.runtime import dispatch

C_KERNELS = r"""
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* y[i] += a * x[i]: a at 1, x at 2, y at 5, fault at 8 */
int32_t axpy(int64_t *f)
{
    double a; memcpy(&a, f + 1, 8);
    const char *x = (const char *)f[2]; char *y = (char *)f[5];
    for (int64_t i = 0; i < f[3]; i++) *(double *)(y + i * f[7]) += a * *(double *)(x + i * f[4]);
    return 0;
}
/* five 1-d arrays, the last written */
int32_t five(int64_t *f)
{
    double *out = (double *)f[13];
    for (int64_t i = 0; i < f[2]; i++)
        out[i] = ((double *)f[1])[i] + ((double *)f[4])[i] + ((double *)f[7])[i] + ((double *)f[10])[i];
    return 0;
}
/* one-slot identity: the result is the parameter */
int32_t echo(int64_t *f) { f[2] = f[1]; return 0; }
int32_t echo_wide(int64_t *f) { f[3] = f[1]; f[4] = f[2]; return 0; }
/* an int64, and two arrays of one axis: the number of the one with two elements, and the other one without elements */
int32_t one_of_two(int64_t *f)
{
    f[2] = f[1];
    for (int k = 0; k < 2; k++) f[3 + 2 * k] = (int64_t)calloc(2, 8), f[4 + 2 * k] = f[1] == k ? 2 : 0;
    return 0;
}
int32_t threads(int64_t *f) { f[1] = f[0]; return 0; }
int32_t nothing(int64_t *f) { return 0; }
/* scalar parameter at 1: guard fails where negative; fault slots at 3 */
int32_t guarded(int64_t *f) { if (f[1] < 0) return 1; f[2] = f[1] + 1; return 0; }
int32_t checked(int64_t *f) { f[2] = -1; return 0; }
int32_t faulty(int64_t *f) { f[3] = 0; f[4] = f[1]; f[5] = 10; return 2; }
int32_t unknown(int64_t *f) { return 7; }
"""


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], int]:
    """The address of a kernel above, by name."""
    compiler = os.environ.get("CC") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder: Path = tmp_path_factory.mktemp("kernels")
    source, library = folder / "kernels.c", folder / "kernels.so"
    source.write_text(C_KERNELS)
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    loaded = ctypes.CDLL(str(library))

    def find(name: str) -> int:
        value = ctypes.cast(loaded[name], ctypes.c_void_p).value
        assert value is not None
        return value

    return find


@pytest.fixture
def entry_type() -> type:
    return dispatch.Entry
