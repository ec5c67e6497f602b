"""Estimators with the conventions of scikit-learn."""
from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, ClusterMixin, RegressorMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (_check_sample_weight, _num_samples, check_array, check_consistent_length, check_is_fitted, column_or_1d,
                                      validate_data)

from . import _frames
from .model import Fitted, Model, fit, kmeans

_NAMES = {"lam": "lambda", "C": "c"}
_ONE_LABEL = ("rfm", "kernel-svm", "kernel-ridge", "falkon", "knn")
_OTHERS = ("options", "random_state", "verbose", "missing", "n_clusters", "n_init", "max_iter", "n_neighbors")


def _seed(random_state: Any) -> int:
    """The seed of a random_state: itself, 1 for None; 0 has one of its own, as it would mean 1."""
    if random_state is None:
        return 1
    if isinstance(random_state, numbers.Integral):
        return int(random_state) or 1 << 32
    return int(check_random_state(random_state).randint(1, 2**31 - 1))


class _Base(BaseEstimator):
    """What the estimators share: options, and the rows that they take."""

    def _config(self) -> dict[str, Any]:
        config = {_NAMES.get(k, k): v for k, v in self.get_params(deep=False).items() if v is not None and k not in _OTHERS}
        for name in ("gamma",):
            if isinstance(config.get(name), numbers.Real):
                config[name] = repr(float(config[name]))
        for name, v in config.items():
            if isinstance(v, np.generic):
                config[name] = v.item()
        more = {k.rstrip("_"): v for k, v in (self.options or {}).items()}
        if twice := [k for k in more if k in config and config[k] != "auto"]:
            raise ValueError(f"{twice[0]!r} is both a parameter and one of options")
        return {**config, **more, "seed": _seed(self.random_state)}

    def _rows(self, x: Any, reset: bool, least: int = 1) -> Any:
        """The rows: frames as they are, anything else as an array or sparse matrix."""
        if _frames.is_frame(x) and not isinstance(x, dict):
            validate_data(self, x, reset=reset, skip_check_array=True)
            if (n := _num_samples(x)) < least:
                raise ValueError(f"Found array with {n} sample(s) while a minimum of {least} is required")
            return x
        return validate_data(self, x, reset=reset, accept_sparse="csr", dtype=(np.float32, np.float64), order=None, ensure_min_samples=least,
                             ensure_all_finite="allow-nan" if self._allow_nan() else True)

    def _allow_nan(self) -> bool:
        return getattr(self, "missing", None) != "error"

    def _fitted(self) -> Any:
        check_is_fitted(self, "model_")
        return self.model_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allow_nan()
        return tags

    def _progress(self) -> Any:
        return {"auto": "auto", 0: False}.get(self.verbose, self.verbose if callable(self.verbose) else True)

    def _fit(self, x: Any, y: Any, sample_weight: Any, config: dict[str, Any], **more: Any) -> Any:
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
            if not sample_weight.any():
                raise ValueError("Sample weights must contain at least one non-zero number.")
        missing = getattr(self, "missing", None)
        return fit(x, y, weights=sample_weight, missing=None if missing == "auto" else missing, progress=self._progress(), **more, **config)


class _Predictor(_Base):
    """What classifiers and regressors share."""

    model_: Model

    def __init__(self, learner: str = "auto", *, kernel: str | None = None, gamma: float | str | None = None, degree: int | None = None,
                 coef0: float | None = None, nu: float | None = None, map: str | None = None, features: int | None = None,
                 scale: str = "auto", metric: str | None = None, lam: float | None = None, C: float | None = None, loss: str | None = None,
                 missing: str = "auto", options: dict[str, Any] | None = None, random_state: Any = 1, verbose: Any = "auto") -> None:
        self.learner = learner
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.nu = nu
        self.map = map
        self.features = features
        self.scale = scale
        self.metric = metric
        self.lam = lam
        self.C = C
        self.loss = loss
        self.missing = missing
        self.options = options
        self.random_state = random_state
        self.verbose = verbose

    def save(self, path: Any) -> None:
        """Writes the model for `mercer predict`, `mercer serve` and mercer.load."""
        self._fitted().save(path)


class MercerRegressor(RegressorMixin, _Predictor):
    """Predicts numbers, one or several a row.

    The parameters are those of `mercer train`; None, or "auto", leaves a choice to the data. lam is λ, options any other
    setting of a training by its name. random_state is a seed, and None means 1. verbose is "auto" for a bar in notebooks, True
    for a line on terminals too, or False.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MercerRegressor:
        """Trains on rows X with numbers y."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        X = self._rows(X, True, 2)
        y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        y = np.asarray(y, np.float64)
        self._shape = y.shape[1:]
        self.model_ = self._fit(X, y, sample_weight, {"task": "regress", **self._config()})
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predicts numbers."""
        model = self._fitted()
        v = model.values(self._rows(X, False))
        return v.reshape(len(v), *self._shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _probable(self: MercerClassifier) -> bool:
    if hasattr(self, "model_"):
        return self.model_.has_probabilities
    if self.calibrate in (None, "none") and self.learner != "logistic":
        raise AttributeError("probabilities need calibrate='platt', 'isotonic', 'temperature' or 'auto'")
    return True


class MercerClassifier(ClassifierMixin, _Predictor):
    """Predicts classes, or several labels a row where y is a matrix of zeros and ones.

    The parameters are those of MercerRegressor, and class_weight and calibrate. calibrate="auto" gives probabilities wherever they
    are cheap: from the learners rfm and logistic, and otherwise on up to 10,000 rows, because folds of the rows are trained on for
    them; "platt", "isotonic" or "temperature" always does, and "none" never.
    """

    classes_: np.ndarray

    def __init__(self, learner: str = "auto", *, kernel: str | None = None, gamma: float | str | None = None, degree: int | None = None,
                 coef0: float | None = None, nu: float | None = None, map: str | None = None, features: int | None = None,
                 scale: str = "auto", metric: str | None = None, lam: float | None = None, C: float | None = None, loss: str | None = None,
                 class_weight: Any = None, calibrate: str | None = "auto", missing: str = "auto", options: dict[str, Any] | None = None,
                 random_state: Any = 1, verbose: Any = "auto") -> None:
        super().__init__(learner, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, nu=nu, map=map, features=features, scale=scale,
                         metric=metric, lam=lam, C=C, loss=loss, missing=missing, options=options, random_state=random_state, verbose=verbose)
        self.class_weight = class_weight
        self.calibrate = calibrate

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MercerClassifier:
        """Trains on rows X with classes y."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        X = self._rows(X, True)
        config = self._config()
        config["calibrate"] = {"auto": "cheap", None: "none"}.get(self.calibrate, self.calibrate)
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y") if not hasattr(y, "tocsr") else y.toarray()
        check_consistent_length(X, y)
        self._many = type_of_target(y, input_name="y", raise_unknown=True) == "multilabel-indicator"
        if self._many:
            return self._fit_labels(X, np.asarray(y), sample_weight, config)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        counted = y if sample_weight is None else y[_check_sample_weight(sample_weight, X) != 0]
        self.classes_ = np.unique(y)
        if len(np.unique(counted)) == 1:
            raise ValueError(f"the data have 1 class, {counted[0]!r}; a classifier needs two classes or more")
        if isinstance(self.class_weight, dict):
            config.pop("class_weight")
            factors = np.array([self.class_weight.get(v, 1.0) for v in self.classes_.tolist()])
            factors = factors[np.searchsorted(self.classes_, y)]
            sample_weight = factors if sample_weight is None else factors * _check_sample_weight(sample_weight, X)
        self.model_ = self._fit(X, y, sample_weight, {"task": "classify", **config}, classes=True)
        assert self.model_.classes is not None
        texts, names = [str(v) for v in self.classes_], self.model_.classes.tolist()  # which the model sorts in a way of its own
        self._columns = [names.index(t) if t in names else -1 for t in texts]
        self._codes = np.array([texts.index(n) for n in names])
        return self

    def _fit_labels(self, X: Any, y: np.ndarray, sample_weight: Any, config: dict[str, Any]) -> MercerClassifier:
        if self.class_weight is not None:
            raise ValueError("class_weight is for classes, but rows have any number of labels")
        self.classes_ = np.arange(y.shape[1])
        self.model_ = self._fit(X, y, sample_weight, {**config, "task": "multilabel"})
        self._columns = list(self.classes_)
        return self

    def _placed(self, values: np.ndarray, absent: float) -> np.ndarray:
        out = np.full((len(values), len(self._columns)), absent, values.dtype)
        for to, at in enumerate(self._columns):
            if at >= 0:
                out[:, to] = values[:, at]
        return out

    def predict(self, X: Any) -> np.ndarray:
        """Predicts classes, or a matrix of zeros and ones."""
        model = self._fitted()
        X = self._rows(X, False)
        if not self._many:
            return self.classes_[self._codes[model.indices(X)]]
        if model.has_probabilities:
            return (self._placed(model.predict_proba(X), 0) > .5).astype(int)
        return (self._placed(model.scores(X), -1) > 0).astype(int)

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores: one for two classes, positive for the second, otherwise one a class."""
        model = self._fitted()
        X = self._rows(X, False)
        s = model.scores(X)
        if s.shape[1] == 1 and not self._many:
            return s[:, 0] if self._codes[0] < self._codes[1] else -s[:, 0]
        if model.calibration in ("platt", "isotonic", "quota") and not self._many:  # predictions are by probability
            s = np.log(np.maximum(model.predict_proba(X), np.finfo(float).tiny))
        return self._placed(s, -1)

    @available_if(_probable)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes or labels."""
        model = self._fitted()
        return self._placed(model.predict_proba(self._rows(X, False)), 0)

    @available_if(_probable)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of predict_proba."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.learner not in _ONE_LABEL
        return tags


class MercerTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Base):
    """Maps rows to features z(x) with z(x)·z(y) ≈ k(x, y), as float32, for a linear model of scikit-learn.

    map is any of the maps, or None for the one that suits the kernel; options has settings of maps, or "steps" for a chain or sum.
    y is used where a metric is learned.
    """

    model_: Fitted

    def __init__(self, map: str | None = None, *, kernel: str | None = None, gamma: float | str | None = None, degree: int | None = None,
                 coef0: float | None = None, nu: float | None = None, features: int | None = None, scale: str = "auto",
                 metric: str | None = None, missing: str = "auto", options: dict[str, Any] | None = None, random_state: Any = 1,
                 verbose: Any = "auto") -> None:
        self.map = map
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.nu = nu
        self.features = features
        self.scale = scale
        self.metric = metric
        self.missing = missing
        self.options = options
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> MercerTransformer:
        """Fits scaling and map to rows X."""
        X = self._rows(X, True, 1 if isinstance(self.gamma, numbers.Real) else 2)
        if self.metric is None:
            self.model_ = self._fit(X, None, None, self._config(), map_only=True)
        elif y is None:
            raise ValueError("a metric is learned from labels: requires y to be passed, but the target y is None")
        else:  # a model, of which the learner is not used
            classes = not type_of_target(y).startswith("continuous")
            task = "classify" if classes else "regress"
            self.model_ = self._fit(X, y, None, {"task": task, "learner": "ridge", "calibrate": "none", **self._config()}, classes=classes)
        self._n_features_out = self.model_.n_features_out
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The features of rows."""
        model = self._fitted()
        return model.transform(self._rows(X, False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


class MercerCluster(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, _Base):
    """Kernel k-means: clusters of rows by their distances in the space of features, in time linear in the rows.

    n_init times, centres are drawn as in k-means++ and moved to the means of their rows; the best clusters are kept. The
    other parameters are those of MercerTransformer.
    """

    model_: Fitted

    def __init__(self, n_clusters: int = 8, *, map: str | None = None, kernel: str | None = None, gamma: float | str | None = None,
                 degree: int | None = None, coef0: float | None = None, nu: float | None = None, features: int | None = None,
                 scale: str = "auto", n_init: int = 3, max_iter: int = 100, missing: str = "auto", options: dict[str, Any] | None = None,
                 random_state: Any = 1, verbose: Any = "auto") -> None:
        self.n_clusters = n_clusters
        self.map = map
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.nu = nu
        self.features = features
        self.scale = scale
        self.n_init = n_init
        self.max_iter = max_iter
        self.missing = missing
        self.options = options
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MercerCluster:
        """Finds clusters of the rows X."""
        X = self._rows(X, True, 2)
        n = _num_samples(X)
        if n < self.n_clusters:
            raise ValueError(f"n_samples={n} should be >= n_clusters={self.n_clusters}.")
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if not weights.any():
                raise ValueError("Sample weights must contain at least one non-zero number.")
        config = self._config()
        self.model_ = self._fit(X, None, weights, config, map_only=True)
        found = kmeans(self.model_.transform(X), self.n_clusters, weights=weights, n_init=self.n_init, max_iter=self.max_iter, seed=config["seed"],
                       progress=self._progress())
        self.cluster_centers_, self.labels_, self.inertia_, self.n_iter_ = found
        self._n_features_out = self.n_clusters
        return self

    def _distances(self, X: Any) -> np.ndarray:
        """Squared distances to the centres."""
        model = self._fitted()
        X = self._rows(X, False)
        centres = self.cluster_centers_.astype(np.float64)
        half = (centres * centres).sum(1)
        z = model.transform(X)
        d = np.empty((len(z), len(centres)))
        for i in range(0, len(z), 4096):
            part = z[i:i + 4096].astype(np.float64)
            d[i:i + 4096] = (part * part).sum(1)[:, None] + half - 2 * part @ centres.T
        return d

    def predict(self, X: Any) -> np.ndarray:
        """The nearest centre of each row."""
        return self._distances(X).argmin(1).astype(np.int32)

    def transform(self, X: Any) -> np.ndarray:
        """The distances from the centres, in the space of features."""
        return np.sqrt(np.maximum(self._distances(X), 0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


class MercerNeighbors(_Base):
    """The rows nearest to others by their distances in the space of features, compared with all rows.

    n_neighbors is how many are found unless a call says otherwise. The other parameters are those of MercerTransformer. `mercer index`
    makes indexes of more rows than memory holds.
    """

    model_: Fitted

    def __init__(self, n_neighbors: int = 5, *, map: str | None = None, kernel: str | None = None, gamma: float | str | None = None,
                 degree: int | None = None, coef0: float | None = None, nu: float | None = None, features: int | None = None,
                 scale: str = "auto", missing: str = "auto", options: dict[str, Any] | None = None, random_state: Any = 1,
                 verbose: Any = "auto") -> None:
        self.n_neighbors = n_neighbors
        self.map = map
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.nu = nu
        self.features = features
        self.scale = scale
        self.missing = missing
        self.options = options
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> MercerNeighbors:
        """Fits scaling and map to the rows X, and keeps their features."""
        X = self._rows(X, True, 1 if isinstance(self.gamma, numbers.Real) else 2)
        self.model_ = self._fit(X, None, None, self._config(), map_only=True)
        self._z = self.model_.transform(X)
        self._half = np.einsum("ij,ij->i", self._z, self._z, dtype=np.float64) / 2
        self.n_samples_fit_ = len(self._z)
        return self

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The distances and numbers of the nearest of the fitted rows, nearest first: a row of each for every row of X. Without X the fitted
        rows are asked for, and none is its own neighbour."""
        model = self._fitted()
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if isinstance(k, bool) or not isinstance(k, numbers.Integral):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        own = X is None
        if not 0 < k <= self.n_samples_fit_ - own:
            raise ValueError(f"Expected 0 < n_neighbors <= n_samples_fit{' - 1' if own else ''}, but n_neighbors = {k}, "
                             f"n_samples_fit = {self.n_samples_fit_}")
        asked = self._z if own else model.transform(self._rows(X, False))
        distances, places = np.empty((len(asked), k)), np.empty((len(asked), k), np.int64)
        more = min(k + 8, self.n_samples_fit_ - own)  # products of float32 choose these, and float64 decides
        height = max(1, (1 << 24) // self.n_samples_fit_)
        for i in range(0, len(asked), height):
            q = asked[i:i + height]
            far = self._half.astype(np.float32) - q @ self._z.T
            if own:
                far[np.arange(len(q)), i + np.arange(len(q))] = np.inf
            some = np.sort(np.argpartition(far, more - 1, axis=1)[:, :more], axis=1)
            apart = np.linalg.norm(self._z[some].astype(np.float64) - q[:, None], axis=2)
            order = np.argsort(apart, axis=1, kind="stable")[:, :k]
            distances[i:i + height] = np.take_along_axis(apart, order, 1)
            places[i:i + height] = np.take_along_axis(some, order, 1)
        return (distances, places) if return_distance else places

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """A sparse matrix, rows of X × fitted rows: 1 for neighbours, or their distances with mode="distance"."""
        from scipy.sparse import csr_matrix
        if mode not in ("connectivity", "distance"):
            raise ValueError(f"mode is {mode!r}; expected 'connectivity' or 'distance'")
        distances, places = self.kneighbors(X, n_neighbors)
        n, k = places.shape
        values = distances.ravel() if mode == "distance" else np.ones(n * k)
        return csr_matrix((values, places.ravel(), np.arange(0, n * k + 1, k)), shape=(n, self.n_samples_fit_))
