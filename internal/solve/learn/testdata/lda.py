"""Writes lda.json: scikit-learn's LinearDiscriminantAnalysis (lsqr) on small data of two and three classes with
shrinkages and priors, its probabilities of the first rows, and scikit-learn's OAS shrinkage of the rows around their class means;
and ../../reduce/testdata/lda.json: the discriminants by scipy.linalg.eigh of the matrices between and within classes, of which those
without shrinkage are compared with scikit-learn's (eigen)."""
import json
import os
import numpy as np
from scipy.linalg import eigh
from sklearn.covariance import oas
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis


class Pooled:
    """A covariance estimator that returns the same matrix for each class, so that priors do not weigh the classes' covariances."""
    def __init__(self, sigma=None):
        self.sigma = sigma

    def fit(self, x):
        self.covariance_ = self.sigma
        return self


r = np.random.RandomState(9)
n, d = 90, 5
y = np.arange(n) * 7 % 3 * (r.rand(n) < 0.9).astype(int)
x = (r.randn(n, d) @ r.randn(d, d) + y[:, None] * np.array([1, -1, 0.5, 0, 2]) + (y == 1)[:, None] * r.randn(d) + 20).astype(np.float32)
x64 = x.astype(float)
out = {"x": x.ravel().tolist(), "y": y.tolist(), "fits": []}
reduced = {"x": out["x"], "y": out["y"], "fits": []}
for classes in [2, 3]:
    t = np.minimum(y, classes - 1)
    means = np.stack([x64[t == c].mean(0) for c in range(classes)])
    rest = x64 - means[t]
    within = rest.T @ rest / n
    for shrinkage in [0, 0.1, 1, -1]:
        s = oas(rest, assume_centered=True)[1] if shrinkage < 0 else shrinkage
        sigma = (1 - s) * within + s * np.trace(within) / d * np.eye(d)
        for priors in [None, [0.2, 0.8] if classes == 2 else [0.5, 0.2, 0.3]]:
            if priors is None and shrinkage >= 0:
                m = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=s if s else None)
            else:
                m = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=Pooled(sigma), priors=priors)
            m.fit(x64, t)
            out["fits"].append({"classes": classes, "shrinkage": s, "chosen": shrinkage < 0, "priors": priors,
                                "w": m.coef_.T.ravel().tolist(), "b": m.intercept_.tolist(),
                                "p": m.predict_proba(x64[:10]).ravel().tolist()})
        centred = means - x64.mean(0)
        between = (centred * np.bincount(t)[:, None]).T @ centred / n
        values, vectors = eigh(between, sigma)
        order = np.argsort(values)[::-1][:classes - 1]
        if s == 0:
            m = LinearDiscriminantAnalysis(solver="eigen").fit(x64, t)
            assert np.allclose(np.abs(m.scalings_[:, :classes - 1]), np.abs(vectors[:, order]))
            assert np.allclose(m.explained_variance_ratio_, values[order] / values[order].sum())
        reduced["fits"].append({"classes": classes, "shrinkage": s, "chosen": shrinkage < 0, "ratios": values[order].tolist(),
                                "u": vectors[:, order].T.ravel().tolist()})
here = os.path.dirname(os.path.abspath(__file__))
for path, v in [("lda.json", out), ("../../reduce/testdata/lda.json", reduced)]:
    with open(os.path.join(here, path), "w") as f:
        json.dump(v, f)
        f.write("\n")
