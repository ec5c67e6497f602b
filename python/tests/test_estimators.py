"""The estimators beside scikit-learn's conventions."""
import os
import pickle
import signal
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from mercer import MercerClassifier, MercerCluster, MercerError, MercerNeighbors, MercerRegressor, MercerTransformer, fit, load
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_diabetes, load_digits, make_circles, make_multilabel_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OrdinalEncoder
from sklearn.utils.estimator_checks import estimator_checks_generator

CHOICES = "the number of features, the scaling, γ and λ or C are chosen by the rows, and rows that are repeated choose otherwise than weighted ones"
STARTS = "centres start at rows that are drawn, and repeated rows are drawn otherwise than weighted ones"
ROUNDING = "the iteration ends within the rounding of float32, which is above the check's 1e-7"
KNN = "a row repeated is several neighbours, and a weighted one is one"
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
FIXED = {"gamma": .05, "features": 256, "scale": "none"}
CHECKED = [
    (MercerClassifier(), CHOICES), (MercerRegressor(), CHOICES), (MercerTransformer(), None), (MercerCluster(), STARTS), (MercerNeighbors(), None),
    # With these nothing is left to the rows.
    (MercerClassifier("ridge", lam=1., calibrate="none", **FIXED), None), (MercerRegressor("ridge", lam=.01, **FIXED), None),
    (MercerTransformer(**FIXED), None), (MercerTransformer("nystrom", features=5), None), (MercerClassifier("knn", gamma=.5, calibrate="none"), KNN),
    (MercerClassifier("kernel-svm", C=1., gamma=.5, calibrate="none"), None), (MercerRegressor("kernel-ridge", lam=1., gamma=.5), None),
    (MercerClassifier("logistic", C=1., **FIXED), ROUNDING), (MercerClassifier("svm", C=1., calibrate="none", options={"tolerance": 1e-7}, **FIXED), ROUNDING),
]


def checks():
    for estimator, reason in CHECKED:
        yield from estimator_checks_generator(estimator, mark="xfail", expected_failed_checks=dict.fromkeys(WEIGHTS, reason) if reason else {})


@pytest.mark.parametrize("estimator, check", list(checks()))
def test_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def frame():
    r = np.random.default_rng(0)
    n = 500
    d = pd.DataFrame({"size": r.normal(size=n), "kind": r.choice(["a", "b", "c"], n), "number": r.integers(0, 3, n), "new": r.random(n) < .5})
    y = np.where((d["size"] > 0) ^ (d["kind"] == "a") ^ (d["number"] == 1), "yes", "no")
    d.loc[::17, "size"] = np.nan
    d.loc[::19, "kind"] = None
    return d.astype({"kind": "category", "number": "category"}), y


def test_frames_with_categories_and_missing_values(frame):
    d, y = frame
    c = MercerClassifier("ridge", features=256).fit(d, y)
    assert c.score(d, y) > .85 and list(c.feature_names_in_) == list(d.columns)
    with pytest.raises(ValueError, match="feature names"):
        c.predict(d[["kind", "size", "number", "new"]])
    other = pl.from_pandas(d).with_columns(pl.col("number").cast(pl.String))
    np.testing.assert_array_equal(c.predict(other), c.predict(d))
    np.testing.assert_allclose(MercerClassifier("ridge", features=256).fit(other, y).predict_proba(other), c.predict_proba(d), atol=1e-6)
    table = pa.Table.from_pandas(d)
    np.testing.assert_array_equal(c.predict(table), c.predict(d))
    categories = {col["name"]: col.get("categories") for col in c.model_.info["schema"]["columns"]}
    assert {"0", "1", "2"} <= set(categories["number"]) and {"a", "b", "c"} <= set(categories["kind"])  # integers that are categories
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(c)).predict_proba(d), c.predict_proba(d))


@pytest.mark.parametrize("every", ["D", "h"])
def test_dates(every):
    d = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=300, freq=every), "kind": ["a", "b"] * 150})
    y = np.arange(300.)
    m = MercerRegressor("ridge", features=64).fit(d, y)
    assert m.score(d, y) > .99
    midnight = d[d["when"].dt.hour == 0]
    for other in (pl.from_pandas(midnight), pl.from_pandas(midnight).with_columns(pl.col("when").cast(pl.Date)), pa.Table.from_pandas(midnight)):
        np.testing.assert_array_equal(m.predict(other), m.predict(d)[midnight.index])


def test_names_are_different():
    with pytest.raises(ValueError, match="several columns have the name 'x'"):
        fit(pd.DataFrame([[1, "a"], [2, "b"]] * 20, columns=["x", "x"]), np.arange(40.))


def test_weights_of_frames_are_repeated_rows(frame):
    d, y = frame
    weights = np.random.default_rng(0).integers(0, 3, len(d))
    given = {"features": 64, "gamma": .1, "scale": "none", "lam": 1., "calibrate": "none"}
    d = d.dropna()  # the means of columns are of rows, not of weights
    weights, y = weights[d.index], y[d.index]
    weighted = MercerClassifier("ridge", **given).fit(d, y, weights).decision_function(d)
    repeated = MercerClassifier("ridge", **given).fit(d.loc[d.index.repeat(weights)], y.repeat(weights)).decision_function(d)
    np.testing.assert_allclose(weighted, repeated, atol=1e-5)


def test_missing_numbers(frame):
    x, y = load_diabetes(return_X_y=True)
    x = np.where(np.random.default_rng(1).random(x.shape) < .1, np.nan, x)
    m = MercerRegressor("ridge", features=256)
    assert cross_val_score(m, x, y).mean() > .2
    m.fit(x, y)
    np.testing.assert_array_equal(m.predict(x.astype(np.float32)[:5]), m.predict(x)[:5])
    np.testing.assert_array_equal(m.predict(x[:1]), m.predict(x)[:1])
    with pytest.raises(ValueError, match="NaN"):
        MercerRegressor("ridge", missing="error").fit(x, y)


def test_frames_of_numbers_are_arrays():
    x, y = load_diabetes(return_X_y=True, as_frame=True)
    m = MercerRegressor("ridge", features=128)
    want = m.fit(x.to_numpy(), y).predict(x.to_numpy())
    np.testing.assert_array_equal(m.fit(x, y).predict(x), want)
    np.testing.assert_array_equal(m.fit(pl.from_pandas(x), y).predict(pl.from_pandas(x)), want)
    x.columns = range(x.shape[1])
    np.testing.assert_array_equal(m.fit(x, y).predict(x), want)


def test_pipelines_and_searches(frame):
    x, y = load_digits(return_X_y=True)
    p = make_pipeline(MinMaxScaler(), MercerTransformer(features=512), LogisticRegression(max_iter=1000))
    assert cross_val_score(p, x, y, cv=3).mean() > .92
    s = GridSearchCV(MercerClassifier("ridge", calibrate="none", features=256), {"gamma": ["median", 1e-3], "lam": [1e-3, 1.]}, cv=3, n_jobs=2).fit(x, y)
    assert s.best_score_ > .93
    np.testing.assert_array_equal(clone(s.best_estimator_).fit(x, y).predict(x), s.predict(x))
    d, labels = frame
    t = make_column_transformer((OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), make_column_selector(dtype_exclude=float)),
                                remainder="passthrough")
    assert make_pipeline(t, MercerClassifier("ridge", features=256)).fit(d, labels).score(d, labels) > .8


def test_features_approximate_the_kernel():
    x = np.random.default_rng(0).normal(size=(50, 4))
    t = MercerTransformer(gamma=.2, features=8192, scale="none").set_output(transform="pandas").fit(x)
    z = t.transform(x)
    assert list(z.columns[:2]) == ["mercertransformer0", "mercertransformer1"] and z.shape == (50, 8192)
    k = np.exp(-.2 * ((x[:, None] - x[None]) ** 2).sum(2))
    np.testing.assert_allclose(z.to_numpy() @ z.to_numpy().T, k, atol=.06)
    u = pickle.loads(pickle.dumps(t))
    np.testing.assert_array_equal(u.transform(x), z)
    assert MercerTransformer("nystrom", features=20).set_output(transform="polars").fit(x).transform(x).shape == (50, 20)


def test_every_map():
    x = np.abs(np.random.default_rng(0).normal(size=(200, 20)))
    for name, more in {"rff": {}, "orf": {}, "sorf": {}, "qmc": {}, "fastfood": {}, "nystrom": {}, "countsketch": {"kernel": "linear"},
                       "tensorsketch": {"kernel": "poly"}, "tensorsrht": {"kernel": "poly"}, "maclaurin": {"kernel": "exp"},
                       "explicit-poly": {"kernel": "poly", "degree": 2}, "homogeneous": {"kernel": "chi2"}, "rp": {"kernel": "linear"}}.items():
        t = MercerTransformer(name, features=None if name in ("explicit-poly", "homogeneous") else 64, **more).fit(x)
        z = t.transform(x)
        assert np.isfinite(z).all() and z.dtype == np.float32, name
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(t)).transform(x), z, err_msg=name)


def test_a_metric_is_learned_from_labels():
    r = np.random.default_rng(0)
    x = r.normal(size=(800, 8))
    y = np.sin(2 * x[:, 0])
    t = MercerTransformer(metric="diagonal", features=512)
    with pytest.raises(ValueError, match="labels"):
        t.fit(x)
    learned = make_pipeline(t, Ridge()).fit(x[:600], y[:600]).score(x[600:], y[600:])
    plain = make_pipeline(MercerTransformer(features=512), Ridge()).fit(x[:600], y[:600]).score(x[600:], y[600:])
    assert learned > plain + .1


def test_clusters_that_are_not_convex():
    x, y = make_circles(600, factor=.3, noise=.04, random_state=0)
    c = MercerCluster(2, gamma=2., n_init=5, scale="none").fit(x)
    assert adjusted_rand_score(y, c.labels_) > .95
    assert c.transform(x).shape == (600, 2) and (c.predict(x) == c.labels_).mean() > .99
    assert pickle.loads(pickle.dumps(c)).predict(x).tolist() == c.predict(x).tolist()
    assert list(c.get_feature_names_out()) == ["mercercluster0", "mercercluster1"]


def test_neighbours_are_those_of_scikit_learn(frame):
    x, _ = load_digits(return_X_y=True)
    x = x + np.random.default_rng(0).random(x.shape)  # no ties
    m, want = MercerNeighbors(7, kernel="linear", scale="none").fit(x[:1500]), NearestNeighbors(n_neighbors=7).fit(x[:1500])
    for rows in (x[1500:], None):
        got, expected = m.kneighbors(rows), want.kneighbors(rows)
        np.testing.assert_allclose(got[0], expected[0], atol=1e-3)
        np.testing.assert_array_equal(got[1], expected[1])
        np.testing.assert_allclose(m.kneighbors_graph(rows, mode="distance").sum(1), want.kneighbors_graph(rows, mode="distance").sum(1), rtol=1e-5)
    k = np.exp(-.001 * ((x[:60, None] - x[None, :1500]) ** 2).sum(2))
    near = MercerNeighbors(gamma=.001, scale="none", features=8192).fit(x[:1500]).kneighbors(x[:60], 1)
    np.testing.assert_allclose(near[0], 0, atol=1e-3)
    assert (near[1][:, 0] == k.argmax(1)).all()
    d, _ = frame
    assert (MercerNeighbors(1, features=256).fit(d).kneighbors(d.iloc[:50])[0] < 1e-3).all()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(m)).kneighbors(x[1500:])[1], m.kneighbors(x[1500:])[1])
    with pytest.raises(ValueError, match="n_neighbors <= n_samples_fit"):
        m.kneighbors(n_neighbors=1500)


def test_labels_of_any_number():
    x, y = make_multilabel_classification(600, n_features=10, n_classes=4, random_state=0)
    c = MercerClassifier("ridge", features=256).fit(x, y)
    assert c.predict(x).shape == y.shape and (c.predict(x) == y).mean() > .8
    assert c.predict_proba(x).shape == c.decision_function(x).shape == y.shape


def test_classes_of_any_type():
    x, y = load_digits(return_X_y=True)
    x, y = x[y < 3], y[y < 3]
    for classes in (np.array(["10", "9", "b"]), np.array([10, 9, 100]), np.array([3., -1., 2.]), np.array([True, False, True])):
        c = MercerClassifier("ridge", features=128).fit(x, classes[y])
        assert c.predict(x).dtype == classes.dtype and c.score(x, classes[y]) > .95
        p = c.predict_proba(x)
        np.testing.assert_array_equal(c.classes_[p.argmax(1)], c.predict(x))
        s = c.decision_function(x)
        np.testing.assert_array_equal(c.classes_[s.argmax(1) if s.ndim == 2 else (s > 0).astype(int)], c.predict(x))


def test_class_weights():
    r = np.random.default_rng(0)
    x, y = r.normal(size=(600, 3)), (r.random(600) < .1).astype(int)
    few = MercerClassifier("ridge", features=32, calibrate="none").fit(x, y).predict(x).mean()
    for weight in ("balanced", {0: 1., 1: 9.}):
        assert MercerClassifier("ridge", features=32, calibrate="none", class_weight=weight).fit(x, y).predict(x).mean() > few + .1


def test_several_targets_and_digits():
    r = np.random.default_rng(0)
    x = r.normal(size=(400, 3))
    y = np.stack([x[:, 0] + 1e7, x[:, 1] * x[:, 2]], 1)
    p = MercerRegressor("ridge", features=256).fit(x, y).predict(x)
    assert p.shape == y.shape and np.abs(p[:, 0] - y[:, 0]).max() < .3  # float32 has steps of 1 there
    np.testing.assert_array_equal(p[:1], MercerRegressor("ridge", features=256).fit(x, y).predict(x[:1]))


def test_models_of_estimators_are_files(tmp_path, frame):
    d, y = frame
    c = MercerClassifier("ridge", features=64).fit(d, y)
    c.save(tmp_path / "m.mercer")
    np.testing.assert_array_equal(load(tmp_path / "m.mercer").predict(d), c.predict(d))
    assert "ridge" in c.model_._repr_html_() and "MercerClassifier" in c._repr_html_()


def test_parameters_reach_the_training():
    x, y = load_diabetes(return_X_y=True)
    m = MercerRegressor("ridge", map="orf", features=64, gamma=.5, lam=2., random_state=np.random.RandomState(3), options={"form": "phase"}).fit(x, y)
    config = m.model_.info["config"]
    assert (config["map"], config["gamma"], config["lambda"], config["form"]) == ("orf", "0.5", 2, "phase")
    for bad, match in (({"kernel": "rbff"}, "rbff"), ({"options": {"nothing": 1}}, "nothing"), ({"features": -3}, "-3"),
                       ({"options": {"features": 3}, "features": 4}, "both")):
        with pytest.raises(ValueError, match=match):
            MercerRegressor(**bad).fit(x, y)
    a, b, c = (MercerRegressor("ridge", features=64, random_state=s).fit(x, y).predict(x) for s in (0, 1, None))
    assert not np.array_equal(a, b) and np.array_equal(b, c)


def test_sparse_rows():
    x = sp.random(400, 3000, .01, "csr", np.float64, random_state=0)
    y = np.asarray(x.sum(1)).ravel() > x.sum() / 400
    for form in ("csr", "csc", "coo"):
        c = MercerClassifier("ridge", features=256).fit(x.asformat(form), y)
        assert c.score(x.asformat(form), y) > .8
    unsorted = x.copy()
    unsorted.indices = unsorted.indices.copy()
    a, b = unsorted.indptr[:2]
    unsorted.indices[a:b], unsorted.data[a:b] = unsorted.indices[a:b][::-1].copy(), unsorted.data[a:b][::-1].copy()
    unsorted.has_sorted_indices = unsorted.has_canonical_format = False
    np.testing.assert_array_equal(c.decision_function(unsorted), c.decision_function(x))


def test_clustering_is_interrupted():
    x = np.random.default_rng(0).normal(size=(200_000, 30)).astype(np.float32)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored
    threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        MercerCluster(1000, kernel="linear", n_init=1000, scale="none").fit(x)
    assert time.monotonic() - begun < 60  # all starts take hours


def test_errors_of_the_library_are_value_errors():
    x, y = load_diabetes(return_X_y=True)
    with pytest.raises(MercerError, match="known are"):
        MercerRegressor("nothing").fit(x, y)
    with pytest.raises(AttributeError, match="probabilities|predict_proba"):
        MercerClassifier("ridge", calibrate="none").fit(x, y > 100).predict_proba(x)
