"""Every kernel, loops and tensor statements, against its NumPy version, and that against other formulas."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import appyc
from benchmarks.polybench.kernel import DATASETS, FORMS, Arguments, Kernel, relative_error
from benchmarks.polybench.measure import copied
from benchmarks.polybench.suite import KERNELS

pytestmark = pytest.mark.usefixtures("kept_builds")

TARGETS = ("python", "cpu")
DATA = ("polybench", "random")

every_form = pytest.mark.parametrize("form", FORMS)
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def reference(kernel: Kernel, given: Arguments) -> Arguments:
    arguments = copied(given)
    with np.errstate(divide="ignore", invalid="ignore"):
        kernel.numpy_version(**arguments)
    return arguments


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # gramschmidt, PolyBench's matrix
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("target", TARGETS)
@every_form
@every_kernel
def test_kernel_agrees_with_numpy(kernel: Kernel, form: str, target: str, data: str) -> None:
    given = kernel.arguments(data, "MINI")
    result = copied(given)
    appyc.jit(kernel.form(form).py_func, target=target, strict=True)(**result)
    assert kernel.error(reference(kernel, given), result) <= kernel.allowed_error(data)


@pytest.mark.sampled
@every_kernel
def test_kernel_agrees_with_numpy_in_tritons_interpreter(kernel: Kernel) -> None:
    """Two time steps, 20 elements a side and one form of each are enough there: the interpreter is slow."""
    form = FORMS[list(KERNELS).index(kernel.name) % len(FORMS)]
    sizes = {
        name: min(size, 2 if name in ("TSTEPS", "TMAX") else 20)
        for name, size in kernel.sizes["MINI"].items()
    }
    given = kernel.random(np.random.default_rng(20), **sizes)
    result = copied(given)
    appyc.jit(kernel.form(form).py_func, target="interpret", strict=True)(**result)
    assert kernel.error(reference(kernel, given), result) <= kernel.tolerance


@every_kernel
def test_doing_nothing_is_an_error_on_random_data(kernel: Kernel) -> None:
    given = kernel.arguments("random", "MINI")
    expected = reference(kernel, given)
    for name in kernel.outputs:
        unwritten = {**expected, name: given[name]}
        assert kernel.error(expected, unwritten) > 0.01


@every_kernel
def test_arguments_are_those_of_both_versions(kernel: Kernel) -> None:
    names = list(inspect.signature(kernel.loops.py_func).parameters)
    assert list(inspect.signature(kernel.tensors.py_func).parameters) == names
    assert list(inspect.signature(kernel.numpy_version).parameters) == names
    for data in DATA:
        given = kernel.arguments(data, "MINI")
        assert list(given) == names
        for value in given.values():
            assert not isinstance(value, np.ndarray) or value.dtype == kernel.dtype
    assert set(kernel.outputs) <= set(names)


@every_form
@every_kernel
def test_inputs_keep_their_values(kernel: Kernel, form: str) -> None:
    """What a form of the kernel leaves alone, the NumPy version leaves alone too."""
    given = kernel.arguments("random", "MINI")
    result = copied(given)
    kernel.form(form).py_func(**result)
    expected = reference(kernel, given)
    for name, value in given.items():
        if isinstance(value, np.ndarray) and np.array_equal(value, result[name], equal_nan=True):
            assert np.array_equal(value, expected[name], equal_nan=True), name


@every_kernel
def test_random_arguments_are_the_same_every_time(kernel: Kernel) -> None:
    one, other = (kernel.arguments("random", "MINI") for _ in range(2))
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


@every_kernel
def test_work_grows_with_the_dataset(kernel: Kernel) -> None:
    assert tuple(kernel.sizes) == DATASETS
    flops = [kernel.flops(**kernel.sizes[dataset]) for dataset in DATASETS]
    traffic = [kernel.traffic(**kernel.sizes[dataset]) for dataset in DATASETS]
    if kernel.name in ("atax", "bicg"):  # as published, EXTRALARGE is the smaller one
        flops[3:], traffic[3:] = flops[:2:-1], traffic[:2:-1]
    assert flops == sorted(flops)
    assert traffic == sorted(traffic)


@pytest.mark.parametrize(
    ("name", "gigaflops", "megabytes"),
    [
        ("gemm", 2.64, 37.8),
        ("2mm", 3.31, 39.0),
        ("3mm", 5.40, 39.8),
        ("syrk", 1.44, 21.1),
        ("syr2k", 2.88, 30.7),
        ("symm", 2.40, 32.8),
        ("trmm", 1.20, 23.2),
        ("doitgen", 1.08, 54.0),
        ("correlation", 2.02, 25.0),
        ("covariance", 2.02, 25.0),
        ("gemver", 0.032, 64.2),
        ("cholesky", 2.67, 32.0),
        ("lu", 5.33, 64.0),
        ("gramschmidt", 2.88, 34.6),
        ("floyd-warshall", 43.9, 62.7),
        ("nussinov", 5.21, 12.5),
        ("fdtd-2d", 6.59, 57.6),
        ("heat-3d", 24.6, 41.5),
        ("jacobi-2d", 8.42, 40.6),
    ],
)
def test_work_at_large(name: str, gigaflops: float, megabytes: float) -> None:
    kernel = KERNELS[name]
    sizes = kernel.sizes["LARGE"]
    assert kernel.flops(**sizes) / 1e9 == pytest.approx(gigaflops, rel=0.005)
    assert kernel.traffic(**sizes) / 1e6 == pytest.approx(megabytes, rel=0.005)


# ---------------------------------------------------------------- other ways to the same values


def solved(name: str, data: str) -> tuple[Arguments, Arguments]:
    """Arguments before and after the NumPy version."""
    given = KERNELS[name].arguments(data, "MINI")
    return given, reference(KERNELS[name], given)


def assert_close(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-12) -> None:
    assert relative_error(np.asarray(expected), found) <= tolerance


@pytest.mark.parametrize("data", DATA)
def test_symm_is_the_symmetric_product(data: str) -> None:
    given, result = solved("symm", data)
    S = np.where(np.tri(*given["A"].shape, dtype=bool), given["A"], given["A"].T)
    assert_close(result["C"], given["beta"] * given["C"] + given["alpha"] * np.einsum("ik,kj", S, given["B"]))


@pytest.mark.parametrize("name", ["syrk", "syr2k"])
def test_rank_updates_leave_the_upper_triangle(name: str) -> None:
    given, result = solved(name, "random")
    A, B = given["A"], given.get("B", given["A"])
    product = np.einsum("ik,jk", A, B) + (np.einsum("ik,jk", B, A) if name == "syr2k" else 0)
    full = given["beta"] * given["C"] + given["alpha"] * product
    assert_close(result["C"], np.tril(full) + np.triu(given["C"], 1))


def test_trmm_is_the_unit_triangular_product() -> None:
    given, result = solved("trmm", "random")
    L = np.eye(len(given["A"])) + np.tril(given["A"], -1)
    assert_close(result["B"], given["alpha"] * np.einsum("ki,kj", L, given["B"]))


def test_doitgen_is_a_tensor_product() -> None:
    given, result = solved("doitgen", "random")
    assert_close(result["A"], np.einsum("rqs,sp->rqp", given["A"], given["C4"]))


def test_covariance_and_correlation_are_numpys() -> None:
    given, result = solved("covariance", "random")
    assert_close(result["cov"], np.cov(given["D"], rowvar=False))
    given, result = solved("correlation", "random")
    varied = given["D"].std(axis=0) > 0.1
    assert 0 < varied.sum() < len(varied)
    assert_close(result["corr"][np.ix_(varied, varied)], np.corrcoef(given["D"][:, varied], rowvar=False))


def test_gemver_solves_in_the_order_of_its_steps() -> None:
    given, result = solved("gemver", "random")
    A = given["A"] + np.outer(given["u1"], given["v1"]) + np.outer(given["u2"], given["v2"])
    x = given["x"] + given["beta"] * A.T @ given["y"] + given["z"]
    assert_close(result["A"], A)
    assert_close(result["x"], x)
    assert_close(result["w"], given["w"] + given["alpha"] * A @ x)


@pytest.mark.parametrize("data", DATA)
def test_factorisations_multiply_back(data: str) -> None:
    given, result = solved("cholesky", data)
    L = np.tril(result["A"])
    assert_close(L @ L.T, given["A"])
    assert_close(np.triu(result["A"], 1), np.triu(given["A"], 1), 0.0)
    given, result = solved("lu", data)
    L = np.tril(result["A"], -1) + np.eye(len(result["A"]))
    assert_close(L @ np.triu(result["A"]), given["A"])


@pytest.mark.parametrize("data", DATA)
def test_solvers_solve(data: str) -> None:
    given, result = solved("ludcmp", data)
    assert_close(given["A"] @ result["x"], given["b"], 1e-9)
    given, result = solved("trisolv", data)
    assert_close(np.tril(given["L"]) @ result["x"], given["b"], 1e-9)
    given, result = solved("durbin", data)
    r = given["r"]
    row = np.concatenate([[1.0], r[:-1]])
    T = row[np.abs(np.subtract.outer(np.arange(len(r)), np.arange(len(r))))]
    assert_close(T @ result["y"], -r, 1e-9)


def test_gramschmidt_is_a_qr_decomposition() -> None:
    given, result = solved("gramschmidt", "random")
    Q, R = result["Q"], result["R"]
    assert_close(Q @ R, given["A"])
    assert_close(Q.T @ Q, np.eye(Q.shape[1]))
    assert_close(R, np.triu(R), 0.0)


def test_gramschmidt_compares_only_what_the_input_determines() -> None:
    kernel = KERNELS["gramschmidt"]
    _, result = solved("gramschmidt", "polybench")
    columns = kernel.compared(result, result)["Q"].shape[1]
    assert 5 < columns < kernel.sizes["MINI"]["M"]
    assert all(np.isfinite(part).all() for part in kernel.compared(result, result).values())


def test_stencils_are_linear_maps() -> None:
    """One step more is the step's matrix applied once more; here the matrix is built from its formula."""
    kernel = KERNELS["jacobi-1d"]
    given = kernel.random(np.random.default_rng(1), TSTEPS=3, N=12)
    n = len(given["A"])
    step = np.zeros((n, n))
    for i in range(1, n - 1):
        step[i, i - 1 : i + 2] = 0.33333
    A, B = given["A"].copy(), given["B"].copy()
    ends = np.isin(np.arange(n), (0, n - 1))
    for _ in range(3):
        B = np.where(ends, B, step @ A)
        A = np.where(ends, A, step @ B)
    result = reference(kernel, given)
    assert_close(result["A"], A)
    assert_close(result["B"], B)


def test_heat_and_seidel_keep_linear_fields() -> None:
    for name in ("heat-3d", "seidel-2d"):
        given, result = solved(name, "polybench")
        assert_close(result["A"], given["A"])


def test_seidel_solves_for_each_sweep() -> None:
    """A sweep is (9·I - lower)·new = upper·old, lower being the neighbours that come earlier."""
    kernel = KERNELS["seidel-2d"]
    given = kernel.random(np.random.default_rng(2), TSTEPS=1, N=7)
    old = given["A"]
    n = len(old)
    M, right = np.eye(n * n), old.ravel().copy()
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            at = i * n + j
            M[at, at], right[at] = 9.0, 0.0
            for other in ((i + di) * n + j + dj for di in (-1, 0, 1) for dj in (-1, 0, 1)):
                if other < at:
                    M[at, other] = -1.0
                else:
                    right[at] += old.flat[other]
    assert_close(reference(kernel, given)["A"].ravel(), np.linalg.solve(M, right))


def test_adi_solves_its_tridiagonal_systems() -> None:
    kernel = KERNELS["adi"]
    steps, n = 2, 8
    given = kernel.random(np.random.default_rng(3), TSTEPS=steps, N=n)
    tau, delta = 1 / steps, 1 / n
    a, d = -tau / delta**2, -tau / delta**2 / 2

    def solve(off: float, right: np.ndarray) -> np.ndarray:
        M = np.eye(n)
        for j in range(1, n - 1):
            M[j, j - 1 : j + 2] = off, 1 - 2 * off, off
        return np.linalg.solve(M, np.concatenate([[1.0], right, [1.0]]))

    u = given["u"].copy()
    for _ in range(steps):
        v = np.ones((n, n))
        for i in range(1, n - 1):
            v[:, i] = solve(a, (-d * u[:, i - 1] + (1 + 2 * d) * u[:, i] - d * u[:, i + 1])[1:-1])
        for i in range(1, n - 1):
            u[i] = solve(d, (-a * v[i - 1] + (1 + 2 * a) * v[i] - a * v[i + 1])[1:-1])
    assert_close(reference(kernel, given)["u"], u)


def test_fdtd_keeps_a_constant_field() -> None:
    """Without a source that changes, differences of equal values are zero."""
    kernel = KERNELS["fdtd-2d"]
    field = np.full((6, 7), 2.0)
    given = {"ex": field.copy(), "ey": field.copy(), "hz": field.copy(), "phi": np.full(4, 2.0)}
    result = reference(kernel, given)
    for name in kernel.outputs:
        assert_close(result[name], field, 0.0)


def test_deriche_filters_rows_then_columns() -> None:
    """The filter of one line as a matrix, in double precision."""
    kernel = KERNELS["deriche"]
    given = kernel.random(np.random.default_rng(4), W=9, H=6)
    alpha = float(given["alpha"])
    e = math.exp(-alpha)
    k = (1 - e) ** 2 / (1 + 2 * alpha * e - math.exp(2 * alpha))

    def matrix(n: int) -> np.ndarray:
        recurrence = np.eye(n) - 2**-alpha * np.eye(n, k=-1) + e * e * np.eye(n, k=-2)
        causal = k * np.eye(n) + k * e * (alpha - 1) * np.eye(n, k=-1)
        anticausal = k * e * (alpha + 1) * np.eye(n, k=1) - k * e * e * np.eye(n, k=2)
        return np.linalg.solve(recurrence, causal) + np.linalg.solve(recurrence.T, anticausal)

    expected = matrix(9) @ given["X"].astype(np.float64) @ matrix(6).T
    assert_close(reference(kernel, given)["Y"], expected.astype(np.float32), kernel.tolerance)


@pytest.mark.parametrize("data", DATA)
def test_floyd_warshall_finds_shortest_paths(data: str) -> None:
    """By squaring in the min-plus algebra instead."""
    given, result = solved("floyd-warshall", data)
    P = given["P"].astype(np.int64)
    np.fill_diagonal(stay := P.copy(), 0)
    for _ in range(math.ceil(math.log2(len(P)))):
        stay = (stay[:, :, None] + stay[None]).min(axis=1)
    off_diagonal = ~np.eye(len(P), dtype=bool)
    np.testing.assert_array_equal(result["P"][off_diagonal], stay[off_diagonal])


def test_nussinov_counts_pairs() -> None:
    """All foldings of a short sequence, by recursion over the partner of the first base."""
    q = np.array([0, 3, 1, 1, 2, 2, 0, 1, 3, 3], np.int32)

    def most(start: int, end: int) -> int:
        if end - start < 2:
            return 0
        best = most(start + 1, end)
        for partner in range(start + 2, end):
            if q[start] + q[partner] == 3:
                best = max(best, 1 + most(start + 1, partner) + most(partner + 1, end))
        return best

    given = {"q": q, "t": np.zeros((len(q), len(q)), np.int32)}
    assert reference(KERNELS["nussinov"], given)["t"][0, -1] == most(0, len(q)) == 3
