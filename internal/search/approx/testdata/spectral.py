"""Spectral closeness and effective dimensions by scipy's generalised eigenvalues, and a rate by
linregress: what spectral_test.go and rate_test.go are checked against.

    OPENBLAS_CORETYPE=SAPPHIRERAPIDS /usr/bin/python3 spectral.py > spectral.txt
"""
import numpy as np
from scipy import stats
from scipy.linalg import eigh

rng = np.random.default_rng(2)
n, lam = 8, 0.25
x, z = rng.standard_normal((n, 3)), rng.standard_normal((n, 5))
k = np.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(-1))
kt = z @ z.T / 5
values = eigh(kt + lam * np.eye(n), k + lam * np.eye(n), eigvals_only=True)
dimension = lambda a: np.trace(a @ np.linalg.inv(a + lam * np.eye(n)))
top = np.linalg.norm(k, 2)
line = lambda name, v: print(name, " ".join(repr(float(v)) for v in np.ravel(v)))
line("k", k)
line("approximate", kt)
line("lambda", lam)
line("deltas", [1 - values[0], values[-1] - 1])
line("dimensions", [dimension(k), dimension(kt)])
line("stable_rank", (np.linalg.norm(k) / top) ** 2)
d = np.array([16, 16, 64, 64, 256, 256.0])
e = 0.8 * d**-0.5 * np.exp(0.1 * rng.standard_normal(6))
fit = stats.linregress(np.log(d), np.log(e))
line("features", d)
line("errors", e)
line("rate", [fit.slope, fit.stderr, np.exp(fit.intercept)])
