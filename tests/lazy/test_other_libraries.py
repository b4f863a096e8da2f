"""Calls of other libraries, and of NumPy's own modules in Python, with NumPy's arrays and with recorded ones."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import joblib
import matplotlib
import numpy
import pandas
import pytest
import scipy.sparse
import scipy.sparse.linalg as solvers
from numpy import ma
from numpy.polynomial import Polynomial, chebyshev, legendre, polynomial
from PIL import Image
from sklearn import cluster, gaussian_process, linear_model, metrics, model_selection, neighbors, svm
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

import appyc.numpy as lazy

matplotlib.use("Agg")

from matplotlib import pyplot

DIAGONALS = numpy.diag(numpy.arange(1.0, 41)) + numpy.eye(40, k=1) * 0.1 + numpy.eye(40, k=-1) * 0.1
SPARSE = scipy.sparse.csr_matrix(DIAGONALS)


def frame(a: Any) -> pandas.DataFrame:
    return pandas.DataFrame(a, columns=list("xyz"))


def drawn(draw: Callable[[Any], Any]) -> Any:
    figure, axes = pyplot.subplots()
    try:
        found = draw(axes)
        figure.savefig(io.BytesIO())
        return found
    finally:
        pyplot.close(figure)


def boxes(a: Any) -> Any:
    found = drawn(lambda axes: axes.boxplot(a))
    return [line.get_ydata() for line in found["medians"] + found["whiskers"]]


def errors(a: Any) -> Any:
    x, below, above = a[:, 0], abs(a[:, 1]), abs(a[:, 2])
    found = drawn(lambda axes: axes.errorbar(x, a[:, 1], yerr=[below, above], xerr=below))
    return [numpy.array(bars.get_segments()) for bars in found.lines[2]]


def violins(a: Any) -> Any:
    found = drawn(lambda axes: axes.violinplot(a))
    return [body.get_paths()[0].vertices for body in found["bodies"]]


def bars(np: Any, a: Any) -> Any:
    parts, weights = [a[:, 0], a[:5, 1]], [a[:, 0] * 0 + 1, a[:5, 1] * 0 + 2]
    return drawn(lambda axes: axes.hist(parts, bins=np.linspace(-2, 2, 5), weights=weights))[:2]


def others(np: Any, a: Any) -> None:
    steps, most = np.arange(40), abs(a)
    for draw in (
        lambda axes: axes.bar(steps, a[:, 0]),
        lambda axes: axes.errorbar(steps, a[:, 0], yerr=most[:, 1]),
        lambda axes: axes.contourf(a),
        lambda axes: axes.pcolormesh(a),
        lambda axes: axes.quiver(a[:, 0], a[:, 1]),
        lambda axes: axes.stackplot(steps, most[:, 0], most[:, 1]),
        lambda axes: axes.pie(most[:4, 0]),
        lambda axes: axes.set_xticks(np.arange(0, 40, 10)),
    ):
        drawn(draw)


def new_columns(np: Any, a: Any) -> Any:
    found = frame(a)
    found["w"] = a[:, 0] * 2
    found["k"] = a[:, 0] > 0
    found["i"] = np.arange(40)
    found.loc[:, "v"] = a[:, 1]
    found.iloc[:, 0] = a[:, 1]
    found.insert(0, "u", a[:, 2])
    return found.groupby("k").sum()


def changed_by_a_mask(np: Any, a: Any) -> Any:
    found = frame(a)
    found[a > 0] = 0
    return found


def of_each_format(np: Any, a: Any) -> Any:
    out = []
    for matrix in (
        *map(SPARSE.asformat, ("csr", "csc", "coo", "dia", "bsr", "lil", "dok")),
        scipy.sparse.coo_array(SPARSE),
    ):
        out += [matrix @ a, matrix @ a[:, 0], a.T @ matrix, matrix.dot(a), matrix.multiply(a[:, :1]).sum()]
    return out


def bytes_of(a: Any, dtype: Any) -> Any:
    return (abs(a) * 50).astype(dtype)


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "plots: boxplot": lambda np, a: boxes(a),
    "plots: boxplot of one": lambda np, a: boxes(a[:, 0]),
    "plots: hist": lambda np, a: drawn(lambda axes: axes.hist(a, bins=7))[:2],
    "plots: hist of one": lambda np, a: drawn(lambda axes: axes.hist(a[:, 1]))[:2],
    "plots: hist of lists": bars,
    "plots: violinplot": lambda np, a: violins(a),
    "plots: violinplot of one": lambda np, a: violins(a[:, 1]),
    "plots: errorbar": lambda np, a: errors(a),
    "plots: others": others,
    "images: grey": lambda np, a: Image.fromarray(bytes_of(a, np.uint8)).tobytes(),
    "images: colours": lambda np, a: Image.fromarray(bytes_of(a, np.uint8).reshape(8, 5, 3)).tobytes(),
    "images: turned": lambda np, a: Image.fromarray(bytes_of(a, np.uint8).T).tobytes(),
    "images: back": lambda np, a: np.asarray(Image.fromarray(bytes_of(a, np.uint8))),
    "data frames: mask": lambda np, a: frame(a)[a[:, 0] > 0],
    "data frames: maskloc": lambda np, a: frame(a).loc[a[:, 0] > 0, "x"],
    "data frames: smask": lambda np, a: pandas.Series(a[:, 0])[a[:, 0] > 0],
    "data frames: groupby": lambda np, a: frame(a).groupby(a[:, 0] > 0).mean(),
    "data frames: groupby2": lambda np, a: frame(a).groupby((a[:, 0] * 2).astype(int)).sum(),
    "data frames: groupbyl": lambda np, a: frame(a).groupby([(a[:, 0] * 2).astype(int), a[:, 1] > 0]).sum(),
    "data frames: iloc": lambda np, a: frame(a).iloc[np.array([1, 2, 5])],
    "data frames: iloc2": lambda np, a: frame(a).iloc[np.array([1, 2, 5]), np.array([0, 2])],
    "data frames: take": lambda np, a: frame(a).take(np.array([1, 2, 5])),
    "data frames: assign": lambda np, a: frame(a).assign(q=a[:, 0] ** 2).sort_values("q").describe(),
    "data frames: where": lambda np, a: frame(a).where(a > 0, -a),
    "data frames: series": lambda np, a: pandas.Series(a[:, 0], index=np.arange(40)).rolling(3).sum(),
    "data frames: cut": lambda np, a: pandas.cut(a[:, 0], np.linspace(-3, 3, 4)).value_counts(),
    "data frames: label": lambda np, a: (
        pandas.Series(a[:, 0], index=np.arange(40)).loc[np.array([3, 5])].sum()
    ),
    "data frames: labels": lambda np, a: pandas.Series(a[:, 0], index=a[:, 1]).loc[a[3, 1].item()],
    "data frames: number of bins": lambda np, a: pandas.cut(a[:, 0], 3).codes,
    "data frames: reindex": lambda np, a: frame(a).reindex(np.arange(39, -2, -2)),
    "data frames: indexer": lambda np, a: pandas.Index([3, 1, 2]).get_indexer(np.array([1, 2, 5])),
    "data frames: dict": lambda np, a: (
        pandas.DataFrame({"a": a[:, 0], "b": np.arange(40)}).groupby("b").first().sum()
    ),
    "data frames: isin": lambda np, a: pandas.Series(np.arange(9)).isin(np.array([2, 3])),
    "data frames: qcut": lambda np, a: pandas.qcut(a[:, 0], 4).codes,
    "data frames: factorize": lambda np, a: pandas.factorize((a[:, 0] * 2).astype(int)),
    "data frames: unique": lambda np, a: pandas.unique((a[:, 0] * 2).astype(int)),
    "data frames: crosstab": lambda np, a: pandas.crosstab(a[:, 0] > 0, a[:, 1] > 0),
    "data frames: merge": lambda np, a: frame(a).merge(
        pandas.DataFrame({"x": a[:, 0], "n": np.arange(40)}), on="x"
    ),
    "data frames: new columns": new_columns,
    "data frames: changed by a mask": changed_by_a_mask,
    "sparse solvers: eigsh": lambda np, a: solvers.eigsh(SPARSE, 3, v0=a[:, 0], return_eigenvectors=False),
    "sparse solvers: eigsh dense": lambda np, a: solvers.eigsh(
        a.T @ a, 1, v0=np.ones(3), return_eigenvectors=False
    ),
    "sparse solvers: eigs": lambda np, a: np.sort(
        solvers.eigs(np.asarray(SPARSE.toarray()), 3, v0=np.ones(40), return_eigenvectors=False).real
    ),
    "sparse solvers: svds": lambda np, a: solvers.svds(a, 1, v0=np.ones(3), return_singular_vectors=False),
    "sparse solvers: lobpcg": lambda np, a: numpy.round(
        solvers.lobpcg(SPARSE, np.asarray(a), maxiter=200, tol=1e-9)[0], 4
    ),
    "sparse solvers: lobpcg dense": lambda np, a: numpy.round(
        solvers.lobpcg(np.asarray(SPARSE.toarray()), np.asarray(a), maxiter=200, tol=1e-9)[0], 4
    ),
    "sparse solvers: linop": lambda np, a: solvers.LinearOperator(
        (3, 3), matvec=lambda v: (a.T @ a) @ v
    ).matvec(np.ones(3)),
    "sparse solvers: aslinop": lambda np, a: solvers.aslinearoperator(a).matvec(np.ones(3)),
    "sparse solvers: cg": lambda np, a: solvers.cg(SPARSE, a[:, 0])[0],
    "sparse solvers: gmres": lambda np, a: solvers.gmres(np.asarray(SPARSE.toarray()), a[:, 0])[0],
    "sparse solvers: spsolve": lambda np, a: solvers.spsolve(SPARSE.tocsc(), a[:, 0]),
    "sparse solvers: formats": of_each_format,
    "polynomials: poly": lambda np, a: Polynomial(a[:, 0][:3])(a[:5, 1]),
    "polynomials: polyfit": lambda np, a: Polynomial.fit(a[:, 0], a[:, 1], 3).convert().coef,
    "polynomials: polyval": lambda np, a: polynomial.polyval(a[:, 0], a[0]),
    "polynomials: cheb": lambda np, a: chebyshev.chebfit(a[:, 0], a[:, 1], 2),
    "polynomials: polymul": lambda np, a: polynomial.polymul(a[0], a[1]),
    "polynomials: roots": lambda np, a: polynomial.polyroots(a[0]),
    "polynomials: legval": lambda np, a: legendre.legval2d(a[:, 0], a[:, 1], a),
    "polynomials: trim": lambda np, a: polynomial.polytrim(a[0]),
    "polynomials: polyadd": lambda np, a: (Polynomial(a[0]) + Polynomial(a[1])).coef,
    "polynomials: polyadd2": lambda np, a: (Polynomial([1, 2, 3]) + a[0]).coef,
    "masked arrays: ma": lambda np, a: ma.masked_less(a, 0).mean(axis=0).filled(9),
    "masked arrays: ma2": lambda np, a: ma.array(a, mask=a > 0).sum(),
    "masked arrays: ma3": lambda np, a: ma.masked_where(a[:, 0] > 0, a[:, 1]).compressed(),
    "masked arrays: ma4": lambda np, a: (ma.masked_invalid(a) + a).filled(0),
    "masked arrays: ma5": lambda np, a: ma.median(ma.masked_greater(a, 1), axis=0).filled(0),
    "masked arrays: ma6": lambda np, a: ma.average(ma.array(a), weights=abs(a), axis=0),
    "masked arrays: ma7": lambda np, a: ma.concatenate([a, a]).shape,
    "masked arrays: mapoly": lambda np, a: ma.polyfit(a[:, 0], ma.masked_less(a[:, 1], -1), 1),
    "masked arrays: masked_array": lambda np, a: ma.masked_array(a, a < 0).std(),
    "learning: clone": lambda np, a: clone(FunctionTransformer(np.exp)).fit_transform(a),
    "learning: joblib": lambda np, a: joblib.Parallel(2)(joblib.delayed(np.sum)(a[k]) for k in range(3)),
    "learning: knn": lambda np, a: (
        neighbors.KNeighborsClassifier(3).fit(a, (a[:, 0] > 0).astype(int)).predict(a)
    ),
    "learning: svc": lambda np, a: svm.SVC().fit(a, (a[:, 0] > 0)).decision_function(a),
    "learning: cv": lambda np, a: model_selection.cross_val_score(linear_model.Ridge(), a, a[:, 0]),
    "learning: gp": lambda np, a: (
        gaussian_process.GaussianProcessRegressor().fit(a, a[:, 0]).predict(a[:3]).round(4)
    ),
    "learning: grid": lambda np, a: (
        model_selection.GridSearchCV(linear_model.Ridge(), {"alpha": np.logspace(-1, 1, 3)})
        .fit(a, a[:, 0])
        .best_params_["alpha"]
    ),
    "learning: dbscan": lambda np, a: cluster.DBSCAN(eps=np.float64(0.5)).fit(a).labels_,
    "learning: conf": lambda np, a: metrics.confusion_matrix(a[:, 0] > 0, a[:, 1] > 0),
    "learning: auc": lambda np, a: metrics.roc_auc_score(a[:, 0] > 0, a[:, 1]),
}


def simple(value: Any) -> Any:
    """A result in what can be compared."""
    if isinstance(value, pandas.DataFrame | pandas.Series):
        return value.to_string()
    if isinstance(value, numpy.ndarray):
        found = numpy.asarray(value)
        return found.round(9).tolist() if found.dtype.kind in "fc" else found.tolist()
    return [simple(item) for item in value] if isinstance(value, tuple | list) else value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_libraries_give_what_they_give_for_numpys_arrays(name: str) -> None:
    values = numpy.random.default_rng(0).normal(size=(40, 3))
    wanted = simple(CALLS[name](numpy, values.copy()))
    assert repr(simple(CALLS[name](lazy, lazy.array(values) + 0))) == repr(wanted)
