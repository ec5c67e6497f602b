"""Writes pca.json: principal components by numpy's full decomposition of the covariance, with
weights of rows, for TestComponentsAgreeWithNumpy.

    /usr/bin/python3 pca.py > pca.json
"""

import json

import numpy as np

rng = np.random.default_rng(11)
n, d, k = 40, 7, 4
x = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + np.arange(d)
x = x.astype(np.float32).astype(float)
w = rng.integers(1, 4, n).astype(float)
mean = w @ x / w.sum()
cov = (x - mean).T * w @ (x - mean) / w.sum()
values, vectors = np.linalg.eigh(cov)
values, u = values[::-1][:k], vectors[:, ::-1][:, :k].T
u = u * np.sign(u[np.arange(k), np.abs(u).argmax(1)])[:, None]
print(json.dumps({
    "made_by": "numpy " + np.__version__, "d": d, "k": k, "x": x.ravel().tolist(), "weights": w.tolist(),
    "variances": values.tolist(), "share": float(values.sum() / cov.trace()), "components": u.ravel().tolist(),
    "projected": ((x - mean) @ u.T).ravel().tolist(),
}))
