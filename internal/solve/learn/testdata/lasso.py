"""Writes lasso.json: lasso, elastic net and multi-task lasso by scikit-learn, for
TestLassoAgreesWithScikitLearn. Rows are float32; the second half of the
columns repeats the first with noise, so that columns are nearly collinear.

    /usr/bin/python3 lasso.py > lasso.json
"""

import json
import warnings

import numpy as np
import sklearn
from sklearn.linear_model import ElasticNet, Lasso, MultiTaskLasso

warnings.filterwarnings("error")
rng = np.random.default_rng(7)
n, d, k = 60, 10, 2
x = rng.normal(size=(n, d)) * np.linspace(0.5, 2, d) + np.linspace(-3, 3, d)
x[:, d // 2 :] = x[:, : d // 2] + 0.1 * x[:, d // 2 :]
x = x.astype(np.float32).astype(float)
y = x[:, :k] * [1.5, -0.7] + x[:, 3:5] + 0.5 * rng.normal(size=(n, k)) + 4
y = y.round(4)
weights = rng.integers(1, 5, n).astype(float)
out = {"made_by": "scikit-learn " + sklearn.__version__, "d": d, "k": k, "x": x.ravel().tolist(), "y": y.ravel().tolist(), "weights": weights.tolist(), "cases": []}


def case(kind, lam, ratio, model, weighted):
    ws, bs = [], []
    if kind == "multi-task":
        model.fit(x, y)
        ws, bs = model.coef_.tolist(), model.intercept_.tolist()
    else:
        for t in range(k):
            model.fit(x, y[:, t], sample_weight=weights if weighted else None)
            ws.append(model.coef_.tolist())
            bs.append(float(model.intercept_))
    out["cases"].append({"kind": kind, "lambda": lam, "l1_ratio": ratio, "weighted": weighted, "w": ws, "b": bs})


fine = {"tol": 1e-14, "max_iter": 10_000_000}
for lam in [1.0, 0.1, 0.01, 0.001]:
    for weighted in [False, True]:
        case("lasso", lam, 1, Lasso(alpha=lam, **fine), weighted)
        for ratio in [0.2, 0.7]:
            case("elastic-net", lam, ratio, ElasticNet(alpha=lam, l1_ratio=ratio, **fine), weighted)
    case("multi-task", lam, 1, MultiTaskLasso(alpha=lam, **fine), False)
print(json.dumps(out))
