"""Writes precise.json: kernel values and squared feature-space distances to 17 digits.

    python3 precise.py > precise.json     (recorded with mpmath 1.2.1)
"""
import json

import numpy as np
from mpmath import acos, besselk, cos, exp, fabs, gamma, mp, mpf, pi, sin, sqrt

mp.dps = 400  # more than any cancellation takes


def dot(x, y):
    return sum((a * b for a, b in zip(x, y)), mpf(0))


def arccos(p, x, y):
    n = sqrt(dot(x, x) * dot(y, y))
    c = dot(x, y) / n if n else mpf(0)
    t = acos(max(mpf(-1), min(mpf(1), c)))
    return (pi - t) / pi if p == 0 else n / pi * (sin(t) + (pi - t) * cos(t))


def matern(nu, g, s):
    if s == 0:
        return mpf(1)
    mp.dps = 80
    z = sqrt(4 * nu * g * s)
    k = 2 ** (1 - nu) / gamma(nu) * z ** nu * besselk(nu, z)
    mp.dps = 400
    return k


def value(k, x, y):
    name, g = k["name"], mpf(k.get("gamma", 1))
    d = [a - b for a, b in zip(x, y)]
    if name == "linear":
        return dot(x, y)
    if name == "poly":
        return (g * dot(x, y) + mpf(k.get("coef0", 0))) ** k["degree"]
    if name == "exp":
        return exp(g * dot(x, y))
    if name == "arccos":
        return arccos(k.get("degree", 0), x, y)
    if name == "rbf":
        return exp(-g * dot(d, d))
    if name == "laplacian":
        return exp(-g * sum(fabs(v) for v in d))
    if name == "cauchy":
        p = mpf(1)
        for v in d:
            p /= 1 + (g * v) ** 2
        return p
    return matern(mpf(k["nu"]), g, dot(d, d))


def f32(x):
    return [float(v) for v in np.float32(x)]


r = np.random.RandomState(1)
a, b = f32(r.normal(size=5)), f32(r.normal(size=5))
step = r.normal(size=5)
pairs = [
    (a, b),
    (a, a),
    (a, [0.0] * 5),
    ([0.0] * 5, [0.0] * 5),
    (a, f32(-np.array(a))),
    (a, f32(np.array(a) * 3)),
    (a, f32(np.array(a) + 1e-2 * step)),
    (a, f32(np.array(a) + 1e-4 * step)),
    (a, f32(-np.array(a) + 1e-4 * step)),
    (a, f32(np.array(a) + 1e-6 * step)),
    (f32(np.array(a) + 1e6), f32(np.array(b) + 1e6)),
    (f32(np.array(a) * 1e-12), f32(np.array(b) * 1e-12)),
    (f32(np.array(a) * 8), f32(np.array(b) * 8)),
]
kernels = [{"name": "linear"}, {"name": "arccos", "degree": 0}, {"name": "arccos", "degree": 1}]
for g in (0.25, 1e-6, 30.0):
    kernels += [
        {"name": "poly", "gamma": g, "degree": 1, "coef0": 1},
        {"name": "poly", "gamma": g, "degree": 2},
        {"name": "poly", "gamma": g, "degree": 3, "coef0": 1},
        {"name": "poly", "gamma": g, "degree": 10, "coef0": 0.5},
        {"name": "rbf", "gamma": g},
        {"name": "laplacian", "gamma": g},
        {"name": "cauchy", "gamma": g},
        {"name": "matern", "gamma": g, "nu": 1.5},
    ]
for g in (0.125, 1e-6):
    kernels.append({"name": "exp", "gamma": g})
for nu in (0.01, 0.2, 0.5, 0.75, 0.999, 1, 1.001, 1.3, 2, 2.5, 3.7, 7.5, 8, 10.25, 31.5, 100):
    kernels.append({"name": "matern", "gamma": 0.25, "nu": nu})

cases = []
for k in kernels:
    values = []
    for x, y in pairs:
        x, y = [mpf(v) for v in x], [mpf(v) for v in y]
        v = value(k, x, y)
        d2 = value(k, x, x) + value(k, y, y) - 2 * v
        if k["name"] == "matern" and d2 != 0:
            d2 = 2 * (1 - v)
        values.append([None if abs(w) > mpf("1e308") else float(w) for w in (v, d2)])
    cases.append({"kernel": k, "values": values})
print(json.dumps({"pairs": pairs, "cases": cases}))
