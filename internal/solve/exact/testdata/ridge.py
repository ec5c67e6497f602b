"""Writes ridge.json: scikit-learn's kernel ridge regression, on centred targets."""
import json
import numpy as np
from sklearn.kernel_ridge import KernelRidge

r = np.random.RandomState(2)
x, xt = r.randn(40, 3).astype(np.float32), r.randn(10, 3).astype(np.float32)
y = np.c_[np.sin(x[:, 0]) + x[:, 1], x[:, 2] ** 2 + 7]
out = {"x": x.ravel().tolist(), "xt": xt.ravel().tolist(), "y": y.ravel().tolist(), "scores": {}}
for name, args in {"rbf": dict(kernel="rbf", gamma=0.3), "laplacian": dict(kernel="laplacian", gamma=0.2),
                   "poly": dict(kernel="poly", gamma=0.5, degree=2, coef0=1), "linear": dict(kernel="linear")}.items():
    model = KernelRidge(alpha=0.1, **args).fit(x.astype(float), y - y.mean(0))
    out["scores"][name] = (model.predict(xt.astype(float)) + y.mean(0)).ravel().tolist()
json.dump(out, open("ridge.json", "w"))
