"""Writes collinear.json: support vector machines on nearly collinear columns, solved in the dual by an
interior point method (numpy) to a relative gap of 1e-9, or with squared losses in the primal by Newton's
method (numpy), where "dual" is the optimum too. Each problem has its optimum and, for comparison, what scikit-learn's LinearSVR and LinearSVC (LIBLINEAR's coordinate descent) come to in as many
passes as Mercer makes before Newton's steps. Versions are noted in the file."""
import json
import warnings

import numpy as np
import scipy
import sklearn
from sklearn.svm import LinearSVC, LinearSVR

n, base, d, noise = 240, 3, 12, 1e-3


def solve(z, p, lo, hi, epsilon):
    """The minimum over v and s, s >= 0 the slacks, as a quadratic program in a = (a+, a-), b = a+ - a-:
    1/2 |Z'b|^2 - p'b + epsilon sum(a), 0 <= a <= bounds, sum(b) = 0. Mehrotra's predictor and corrector."""
    m = len(p)
    sign = np.r_[np.ones(m), -np.ones(m)]
    upper = np.r_[hi, -lo]
    keep = upper > 0
    sign, upper, rows = sign[keep], upper[keep], np.r_[np.arange(m), np.arange(m)][keep]
    zs = z[rows] * sign[:, None]
    q = zs @ zs.T
    c = epsilon - sign * p[rows]
    k = len(c)
    a, t = upper / 2, upper / 2                 # a + t = upper
    scale = max(1.0, np.abs(c).max())
    x, y, b = np.full(k, scale), np.full(k, scale), 0.0  # multipliers of a >= 0, t >= 0; the intercept
    for _ in range(200):
        dual_residual = q @ a + c - x + y + b * sign
        primal_residual = sign @ a
        mu = (a @ x + t @ y) / (2 * k)
        if mu * 2 * k < 1e-9 * abs(0.5 * a @ q @ a + c @ a) and np.abs(dual_residual).max() < 1e-9 * scale:
            break

        def direction(ax, ty):
            """The step for the complementarities a*x = ax and t*y = ty."""
            r1 = -dual_residual + (ax / a - x) - (ty / t - y)
            h = q + np.diag(x / a + y / t)
            s = np.linalg.solve(h, np.c_[r1, sign])
            db = (sign @ s[:, 0] + primal_residual) / (sign @ s[:, 1])
            da = s[:, 0] - db * s[:, 1]
            dt = -da
            return da, dt, db, (ax - x * da) / a - x, (ty - y * dt) / t - y

        def longest(v, dv):
            down = dv < 0
            return min(1.0, (-v[down] / dv[down]).min()) if down.any() else 1.0

        da, dt, db, dx, dy = direction(np.zeros(k), np.zeros(k))
        sp = min(longest(a, da), longest(t, dt))
        sd = min(longest(x, dx), longest(y, dy))
        ahead = ((a + sp * da) @ (x + sd * dx) + (t + sp * dt) @ (y + sd * dy)) / (2 * k)
        centre = mu * (ahead / mu) ** 3
        da, dt, db, dx, dy = direction(centre - da * dx, centre - dt * dy)
        step = 0.995 * min(longest(a, da), longest(t, dt), longest(x, dx), longest(y, dy))
        a, t, x, y, b = a + step * da, t + step * dt, x + step * dx, y + step * dy, b + step * db
    w = zs.T @ a
    return w, b, -(0.5 * w @ w + c @ a)


def solve_squared(z, c, short, slope):
    """The minimum over w and b of 1/2 |w|^2 + c sum(max(0, short(u))^2), u = zw + b, slope being the derivative of
    short: Newton's method with halved steps."""
    zb = np.c_[z, np.ones(len(z))]
    penalty = np.diag(np.r_[np.ones(z.shape[1]), 0.0])

    def value(v):
        e = np.maximum(0, short(zb @ v))
        return 0.5 * v @ penalty @ v + c * e @ e

    v = np.zeros(z.shape[1] + 1)
    for _ in range(500):
        e = np.maximum(0, short(zb @ v))
        g = penalty @ v + 2 * c * zb.T @ (e * slope(zb @ v))
        free = zb[e > 0]
        step = np.linalg.solve(penalty + 2 * c * free.T @ free, -g)
        if -g @ step < 1e-13 * value(v):
            break
        t = 1.0
        while value(v + t * step) > value(v) + 1e-4 * t * (g @ step) and t > 1e-12:
            t /= 2
        v = v + t * step
    return v[:-1], v[-1], value(v)


def epsilon_objective(z, y, w, b, c, epsilon):
    return 0.5 * w @ w + c * np.maximum(0, np.abs(y - z @ w - b) - epsilon).sum()


def hinge_objective(z, y, w, b, c):
    return 0.5 * w @ w + c * np.maximum(0, 1 - y * (z @ w + b)).sum()


warnings.simplefilter("ignore")
r = np.random.RandomState(8)
first = r.randn(n, base)
x = np.c_[first, first @ r.randn(base, d - base) + noise * r.randn(n, d - base)].astype(np.float32)
z = x.astype(float)
target = np.round(z @ r.randn(d) + 30 * (z[:, base:] - first @ np.linalg.lstsq(first, z[:, base:], rcond=None)[0]).sum(1)
                  + 0.3 * r.randn(n) + 2, 6)
label = np.where(target > np.median(target), 1.0, -1.0)
out = {"versions": {"numpy": np.__version__, "scipy": scipy.__version__, "scikit-learn": sklearn.__version__},
       "columns": d, "x": x.ravel().tolist(), "target": target.tolist(), "label": label.astype(int).tolist(),
       "epsilon": [], "hinge": [], "squared_epsilon": [], "squared_hinge": []}
for c in [1.0, 100.0, 10000.0]:
    for eps in [0.0, 0.1]:
        bound = np.full(n, c)
        w, b, dual = solve(z, target, -bound, bound, eps)
        primal = epsilon_objective(z, target, w, b, c, eps)
        m = LinearSVR(C=c, epsilon=eps, loss="epsilon_insensitive", intercept_scaling=30, tol=1e-12, max_iter=1000, random_state=0).fit(z, target)
        liblinear = epsilon_objective(z, target, m.coef_, m.intercept_[0], c, eps)
        out["epsilon"].append({"c": c, "epsilon": eps, "primal": primal, "dual": dual, "liblinear": liblinear, "w": w.tolist(), "b": b})
        print("epsilon", c, eps, primal, (primal - dual) / primal, liblinear / primal - 1)
    bound = np.where(label > 0, c, 0.0)
    w, b, dual = solve(z, label, bound - c, bound, 0.0)
    primal = hinge_objective(z, label, w, b, c)
    m = LinearSVC(C=c, loss="hinge", intercept_scaling=30, tol=1e-12, max_iter=1000, random_state=0).fit(z, label)
    liblinear = hinge_objective(z, label, m.coef_[0], m.intercept_[0], c)
    out["hinge"].append({"c": c, "primal": primal, "dual": dual, "liblinear": liblinear, "w": w.tolist(), "b": b})
    print("hinge", c, primal, (primal - dual) / primal, liblinear / primal - 1)
    w, b, best = solve_squared(z, c, lambda u: np.abs(target - u) - 0.1, lambda u: -np.sign(target - u))
    m = LinearSVR(C=c, epsilon=0.1, loss="squared_epsilon_insensitive", intercept_scaling=30, tol=1e-12, max_iter=1000, random_state=0).fit(z, target)
    liblinear = 0.5 * m.coef_ @ m.coef_ + c * (np.maximum(0, np.abs(target - m.predict(z)) - 0.1) ** 2).sum()
    out["squared_epsilon"].append({"c": c, "epsilon": 0.1, "primal": best, "dual": best, "liblinear": liblinear, "w": w.tolist(), "b": b})
    print("squared epsilon", c, best, liblinear / best - 1)
    w, b, best = solve_squared(z, c, lambda u: 1 - label * u, lambda u: -label)
    m = LinearSVC(C=c, loss="squared_hinge", intercept_scaling=30, tol=1e-12, max_iter=1000, random_state=0).fit(z, label)
    liblinear = 0.5 * m.coef_[0] @ m.coef_[0] + c * (np.maximum(0, 1 - label * m.decision_function(z)) ** 2).sum()
    out["squared_hinge"].append({"c": c, "primal": best, "dual": best, "liblinear": liblinear, "w": w.tolist(), "b": b})
    print("squared hinge", c, best, liblinear / best - 1)
json.dump(out, open("collinear.json", "w"))
