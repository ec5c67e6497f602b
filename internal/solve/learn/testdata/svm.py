"""Writes svm.json: support vector machines with an intercept that is not penalised, solved in
the primal by scipy to high precision (squared hinge), and LIBLINEAR's by scikit-learn (hinge,
intercept nearly free by a large intercept_scaling)."""
import json
import numpy as np
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

r = np.random.RandomState(3)
n, d = 120, 4
x = (r.randn(n, d) + np.arange(d) / 2).astype(np.float32)
y = np.where(x[:, 0] - 0.5 * x[:, 1] + 0.7 * r.randn(n) > 0.4, 1, -1)
out = {"x": x.ravel().tolist(), "y": y.tolist(), "squared_hinge": {}, "hinge": {}}
xd = x.astype(float)
for c in [0.01, 1.0, 100.0]:
    def f(v):
        e = np.maximum(0, 1 - y * (xd @ v[:d] + v[d]))
        g = np.r_[v[:d] - 2 * c * xd.T @ (e * y), -2 * c * (e * y).sum()]
        return 0.5 * v[:d] @ v[:d] + c * (e * e).sum(), g
    best = minimize(f, np.zeros(d + 1), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 100000})
    out["squared_hinge"][str(c)] = best.x.tolist()
for c in [0.1, 1.0]:
    m = LinearSVC(C=c, loss="hinge", intercept_scaling=300, tol=1e-9, max_iter=10000000).fit(xd, y)
    w, b = m.coef_[0], m.intercept_[0]
    out["hinge"][str(c)] = {"w": w.tolist(), "b": b,
                            "objective": 0.5 * w @ w + c * np.maximum(0, 1 - y * (xd @ w + b)).sum()}
json.dump(out, open("svm.json", "w"))
