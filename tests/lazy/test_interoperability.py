"""Other libraries take recorded arrays, and give what they give for NumPy's."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy
import pytest

import appyc.numpy as np
from appyc.lazy.running import flush


@pytest.fixture
def pair() -> tuple[numpy.ndarray, Any]:
    """The same values, and as what is still to be computed."""
    values = numpy.round(numpy.random.default_rng(3).normal(size=(40, 3)) * 64) / 64 + 0.0
    return values, np.array(values - 1) + 1


def test_sparse_matrices(pair) -> None:
    from scipy import sparse

    values, ours = pair
    for kind in (sparse.csr_matrix, sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        matrix = kind(numpy.eye(40) * 2)
        assert numpy.allclose(numpy.asarray(matrix @ ours), matrix @ values)
        assert numpy.allclose(numpy.asarray(ours.T @ matrix), values.T @ matrix)
        assert numpy.allclose(numpy.asarray(matrix @ ours[:, 0]), matrix @ values[:, 0])
        assert numpy.allclose(kind(ours).toarray(), values)
    assert numpy.allclose(sparse.diags(ours[:3, 0]).toarray(), numpy.diag(values[:3, 0]))
    from scipy.sparse import linalg

    found, failed = linalg.cg(sparse.csr_array(numpy.eye(40) * 2), ours[:, 0])
    assert failed == 0
    assert numpy.allclose(found, values[:, 0] / 2)


def test_optimisation_and_integration(pair) -> None:
    from scipy import integrate, optimize

    centre = np.array([1.0, -2.0])

    def cost(x):
        return ((np.asarray(x) - centre) ** 2).sum()

    def slope(x):
        return 2 * (np.asarray(x) - centre)

    for method in ("BFGS", "Nelder-Mead", "L-BFGS-B"):
        found = optimize.minimize(
            cost, np.zeros(2), method=method, jac=None if method == "Nelder-Mead" else slope
        )
        assert found.success
        assert numpy.allclose(found.x, [1, -2], atol=1e-3)
    assert optimize.brentq(lambda x: np.asarray(x) ** 2 - 2, 0, 2) == pytest.approx(2**0.5)
    assert numpy.allclose(optimize.least_squares(lambda x: np.asarray(x) - centre, np.zeros(2)).x, [1, -2])
    solved = integrate.solve_ivp(lambda t, y: -np.asarray(y), (0, 1), np.array([1.0, 2.0]), rtol=1e-8)
    assert numpy.allclose(solved.y[:, -1], numpy.exp(-1) * numpy.array([1, 2]), rtol=1e-6)
    assert integrate.quad(lambda x: np.exp(np.asarray(x)), 0, 1)[0] == pytest.approx(numpy.e - 1)
    assert float(integrate.simpson(pair[1][:, 0])) == pytest.approx(integrate.simpson(pair[0][:, 0]))


def test_signals_images_and_special_functions(pair) -> None:
    from scipy import interpolate, linalg, ndimage, signal, spatial, special, stats

    values, ours = pair
    for function in (
        lambda a: signal.convolve2d(a, numpy.ones((3, 3))),
        lambda a: signal.savgol_filter(a[:, 0], 5, 2),
        lambda a: ndimage.gaussian_filter(a, 1.0),
        lambda a: ndimage.label(a > 0)[0],
        special.erf,
        lambda a: special.gamma(a[:, 0]),
        lambda a: special.logsumexp(a, axis=0),
        linalg.svdvals,
        lambda a: linalg.solve(a[:3], a[:3, 0]),
        stats.zscore,
        lambda a: stats.linregress(a[:, 0], a[:, 1]).slope,
        stats.norm.cdf,
        lambda a: interpolate.interp1d(numpy.arange(40), a[:, 0])(2.5),
        lambda a: spatial.cKDTree(a).query(a[:4])[1],
        lambda a: spatial.distance.cdist(a, a),
        lambda a: linalg.lu_factor(a[:3])[0],
    ):
        assert numpy.allclose(numpy.asarray(function(ours)), function(values))
    assert isinstance(special.erf(ours), np.ndarray)


def test_data_frames(pair) -> None:
    import pandas

    values, ours = pair
    frame, theirs = (pandas.DataFrame(a, columns=list("xyz")) for a in (ours, values))
    assert frame.equals(theirs)
    assert numpy.allclose(frame.rolling(3).mean().dropna(), theirs.rolling(3).mean().dropna())
    assert pandas.Series(ours[:, 0]).equals(pandas.Series(values[:, 0]))
    frame["w"] = ours[:, 0] * 2
    assert frame["w"].sum() == pytest.approx(2 * values[:, 0].sum())
    by = frame.groupby(numpy.asarray(ours[:, 0] > 0)).mean()
    assert numpy.allclose(by, theirs.assign(w=values[:, 0] * 2).groupby(values[:, 0] > 0).mean())
    assert numpy.allclose(np.array(frame["x"]).numpy(), values[:, 0])
    assert numpy.allclose((np.asarray(theirs["x"]) * 2).numpy(), values[:, 0] * 2)
    for sum_ in (ours[:, 0] + theirs["x"], theirs["x"] + ours[:, 0]):
        assert isinstance(sum_, pandas.Series)
        assert numpy.allclose(sum_, values[:, 0] * 2)
    assert numpy.allclose(np.exp(theirs["x"]), numpy.exp(values[:, 0]))
    assert pandas.DataFrame({"s": ours.sum(axis=1), "n": np.arange(40)})["n"].dtype == numpy.int64
    assert theirs.iloc[np.array([1, 2])].shape == (2, 3)
    assert theirs[numpy.asarray(ours[:, 0] > 0)].shape[0] == int((values[:, 0] > 0).sum())


def test_learning(pair) -> None:
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.metrics import accuracy_score, mean_squared_error
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    values, ours = pair
    target, labels = ours[:, 0] * 2 + 1, (ours[:, 1] > 0).astype(int)
    model = LinearRegression().fit(ours, target)
    assert numpy.allclose(model.coef_, [2, 0, 0])
    assert mean_squared_error(target, model.predict(ours)) == pytest.approx(0, abs=1e-20)
    assert numpy.allclose(StandardScaler().fit_transform(ours), StandardScaler().fit_transform(values))
    assert numpy.allclose(PCA(2).fit(ours).components_, PCA(2).fit(values).components_)
    for classifier in (LogisticRegression(), RandomForestClassifier(5, random_state=0)):
        assert accuracy_score(labels, classifier.fit(ours, labels).predict(ours)) > 0.9
    assert KMeans(2, n_init=1, random_state=0).fit(ours).labels_.shape == (40,)
    train, test = train_test_split(ours, random_state=0)
    assert numpy.allclose(numpy.asarray(train), train_test_split(values, random_state=0)[0])
    assert len(test) == 10


def test_plots(pair) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    values, ours = pair
    figure, axes = pyplot.subplots(1, 4)
    (line,) = axes[0].plot(ours[:, 0], ours[:, 1])
    assert numpy.allclose(line.get_xydata(), values[:, :2])
    image = axes[1].imshow(ours)
    assert numpy.allclose(image.get_array(), values)
    counts, edges, _ = axes[2].hist(ours[:, 0], bins=5)
    assert numpy.allclose(counts, numpy.histogram(values[:, 0], 5)[0])
    assert len(edges) == 6
    axes[3].scatter(ours[:, 0], ours[:, 1], c=ours[:, 2])
    axes[3].fill_between(np.arange(40), ours[:, 0], ours[:, 1])
    axes[3].set_xlim(ours.min(), ours.max())
    figure.savefig(io.BytesIO(), format="png")
    pyplot.close(figure)


def test_masked_arrays_subclasses_and_objects(pair) -> None:
    values, ours = pair
    masked = numpy.ma.masked_less(values, 0)
    for found, wanted in ((ours + masked, values + masked), (masked * ours, masked * values)):
        assert isinstance(found, numpy.ma.MaskedArray)
        assert numpy.ma.allequal(found, wanted)
    assert float(numpy.ma.masked_less(ours, 0).sum()) == pytest.approx(masked.sum())

    class Tagged(numpy.ndarray):
        pass

    tagged = values.view(Tagged)
    assert type(ours + tagged) is Tagged
    assert type(numpy.add(tagged, ours)) is Tagged
    objects = numpy.array([1, "a", None], object)
    assert (np.array(objects) == objects).tolist() == [True, True, True]
    assert (np.array([1, 2], object) + np.array([1, 2])).tolist() == [2, 4]


def test_dlpack_both_ways(pair) -> None:
    values, ours = pair
    assert numpy.allclose(numpy.from_dlpack(ours), values)
    assert numpy.shares_memory(np.from_dlpack(values), values)
    assert numpy.allclose(np.from_dlpack(ours).numpy(), values)
    assert ours.__dlpack_device__() == (1, 0)
    lent = numpy.from_dlpack(ours)
    ours[0, 0] = 5
    assert lent[0, 0] == 5
    with pytest.raises(BufferError):
        ours.__dlpack__(copy=False)


def test_conversions_to_numpy(pair) -> None:
    values, ours = pair
    assert numpy.asarray(ours) is not ours
    assert numpy.shares_memory(numpy.asarray(ours), numpy.asarray(ours))
    assert not numpy.shares_memory(numpy.array(ours), numpy.asarray(ours))
    assert numpy.asarray(ours, numpy.float32).dtype == numpy.float32
    with pytest.raises(ValueError, match="copy"):
        numpy.asarray(ours, numpy.float32, copy=False)
    assert numpy.array_equal(numpy.asarray(ours, copy=False), values)
    assert type(ours.to_numpy()) is numpy.ndarray
    assert numpy.array_equal(ours.to_numpy(), values)
    assert numpy.array_equal(numpy.frombuffer(bytes(ours)).reshape(40, 3), ours.numpy())


def test_what_others_hold_is_not_changed_behind_a_pending_reader(pair) -> None:
    _, ours = pair
    window = numpy.asarray(ours)
    later = ours * 2
    ours[0] = 7
    assert window[0, 0] == 7
    assert float(later[0, 0]) != 14


def test_copies_and_pickles_keep_order_and_type(pair) -> None:
    values, ours = pair
    for other in (
        copy.copy(ours.T),
        copy.deepcopy(ours.T),
        pickle.loads(pickle.dumps(ours.T)),
        np.copy(ours.T),
    ):
        assert type(other) is np.ndarray
        assert other.strides == values.T.strides
        other[0] = 1
    assert numpy.array_equal(ours.numpy(), values)
    buffer = io.BytesIO()
    np.save(buffer, ours)
    buffer.seek(0)
    assert numpy.array_equal(numpy.load(buffer), values)


def test_numbers_to_come_count_as_numpys(pair) -> None:
    values, ours = pair
    total, count = ours.sum(), (ours > 0).sum()
    assert isinstance(total, float)
    assert isinstance(total, numpy.floating)
    assert not isinstance(total, np.ndarray)
    assert {total: 1}[values.sum()] == 1
    assert f"{total:.3f}" == f"{values.sum():.3f}"
    assert len(range(count)) == int((values > 0).sum())
    assert values[count % 40].shape == (3,)
    assert [0] * count == [0] * int(count)
    assert round(total, 2) == round(values.sum(), 2)
    before = total
    total += 1
    assert float(before) == pytest.approx(values.sum())
    assert type(pickle.loads(pickle.dumps(total))) is numpy.float64


def test_a_flush_is_asked_for_by_name() -> None:
    a = np.ones(3) + 1
    flush()
    assert a.buffer.memory is not None
