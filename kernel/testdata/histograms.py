"""Writes histograms.json: values and squared feature-space distances of the kernels of
histograms to 17 digits, and what scikit-learn has of them.

    python3 histograms.py > histograms.json     (recorded with mpmath 1.2.1, scikit-learn 1.2.1)

scikit-learn's additive_chi2_kernel is -Σ(x-y)²/(x+y), the negative of chi2's squared distance,
its chi2_kernel exp-chi2.
"""
import json

import numpy as np
from mpmath import exp, fabs, log, mp, mpf, sqrt
from sklearn.metrics import pairwise

mp.dps = 400  # more than any cancellation takes


def signature(name, x, y):
    """k₁(x, y)/√(xy) of degree 1, from the definition."""
    if name == "hellinger":
        return mpf(1)
    if name == "chi2":
        return 2 * x * y / (x + y) / sqrt(x * y)
    if name == "intersection":
        return min(x, y) / sqrt(x * y)
    return (x * log((x + y) / x) + y * log((x + y) / y)) / (2 * log(mpf(2))) / sqrt(x * y)


def value(k, x, y):
    name = k["name"]
    if name == "exp-chi2":
        return exp(-mpf(k["gamma"]) * sum(((a - b) ** 2 / (a + b) for a, b in zip(x, y) if a + b), mpf(0)))
    if name.startswith("skewed"):
        c, p = mpf(k["coef0"]), mpf(1)
        for a, b in zip(x, y):
            u, v = a + c, b + c
            p *= 2 * sqrt(u * v) / (u + v) if name == "skewed-chi2" else sqrt(min(u, v) / max(u, v))
        return p
    h = mpf(k["homogeneity"])
    return sum((sqrt(a * b) ** h * signature(name, a, b) for a, b in zip(x, y) if a and b), mpf(0))


def f32(x):
    return [float(v) for v in np.float32(x)]


r = np.random.RandomState(1)
a, b = f32(r.exponential(size=5)), f32(r.exponential(size=5))
step = r.normal(size=5)
tiny, most = float(np.float32(1.4e-45)), float(np.finfo(np.float32).max)
pairs = [
    (a, b),
    (a, a),
    (a, [0.0] * 5),
    ([0.0] * 5, [0.0] * 5),
    ([0.0, 1.5, 0.0, 2.0, 0.25], [3.0, 0.0, 0.0, 2.0, 0.5]),
    (a, f32(np.array(a) * 3)),
    (a, f32(np.array(a) * (1 + 1e-2 * step))),
    (a, f32(np.array(a) * (1 + 1e-4 * step))),
    (a, f32(np.array(a) * (1 + 1e-6 * step))),
    (f32(np.array(a) + 1e4), f32(np.array(b) + 1e4)),
    (f32(np.array(a) * 1e-12), f32(np.array(b) * 1e-12)),
    (f32(np.array(a) * 1e-40), f32(np.array(b) * 1e-42)),
    (f32(np.array(a) * 1e-12), f32(np.array(b) * 1e12)),
    ([tiny, most, tiny, most, 1.0], [most, most / 2, 2 * tiny, tiny, 1.0]),
]
kernels = []
for h in (1, 0.4, 2, 3.7):
    for name in ("hellinger", "chi2", "intersection", "jensen-shannon"):
        kernels.append({"name": name, "homogeneity": h})
for g in (0.25, 1e-6, 30.0):
    kernels.append({"name": "exp-chi2", "gamma": g})
for c in (1.0, 0.01, 1e6, 1e-6):
    for name in ("skewed-chi2", "skewed-intersection"):
        kernels.append({"name": name, "coef0": c})

cases = []
for k in kernels:
    values = []
    for x, y in pairs:
        x, y = [mpf(v) for v in x], [mpf(v) for v in y]
        v = value(k, x, y)
        values.append([float(v), float(value(k, x, x) + value(k, y, y) - 2 * v)])
    cases.append({"kernel": k, "values": values})

x = np.round(r.exponential(size=(6, 4)) * 8) / 8
y = np.round(r.exponential(size=(5, 4)) * 8) / 8
print(json.dumps({"pairs": pairs, "cases": cases, "sklearn": {
    "x": x.tolist(), "y": y.tolist(),
    "distance": (-pairwise.additive_chi2_kernel(x, y)).tolist(),
    "gamma": 0.7,
    "chi2": pairwise.chi2_kernel(x, y, gamma=0.7).tolist(),
}}))
