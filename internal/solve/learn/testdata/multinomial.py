"""Writes multinomial.json: scikit-learn's LogisticRegression (lbfgs, tol 1e-10) on small data:
multinomial with and without an intercept and with sample weights, and logistic of two classes,
with the probabilities of the first rows."""
import json
import os
import numpy as np
from sklearn.linear_model import LogisticRegression

r = np.random.RandomState(4)
n, d, k = 150, 4, 3
x = (r.randn(n, d) + np.arange(d) / 2).astype(np.float32)
y = np.argmax(x[:, :k] + r.gumbel(size=(n, k)), axis=1)
weights = (r.randint(0, 4, n) / 2).tolist()
out = {"x": x.ravel().tolist(), "y": y.tolist(), "weights": weights, "fits": []}
for c in [0.01, 1.0, 100.0]:
    for intercept in [False, True]:
        for weighted in [False, True]:
            for classes in [2, 3]:
                m = LogisticRegression(C=c, fit_intercept=intercept, tol=1e-10, max_iter=100000)
                t = np.minimum(y, classes - 1)
                m.fit(x.astype(float), t, sample_weight=weights if weighted else None)
                b = m.intercept_ - (m.intercept_.mean() if classes > 2 else 0)
                out["fits"].append({"c": c, "intercept": intercept, "weighted": weighted, "classes": classes,
                                    "w": m.coef_.T.ravel().tolist(), "b": b.tolist(),
                                    "p": m.predict_proba(x[:10].astype(float)).ravel().tolist()})
with open(os.path.join(os.path.dirname(__file__), "multinomial.json"), "w") as f:
    json.dump(out, f)
    f.write("\n")
