"""Writes kernels.json: kernel values of scikit-learn on a tiny fixed matrix.

    python3 kernels.py > kernels.json     (recorded with scikit-learn 1.2.1)
"""
import json

import numpy as np
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics import pairwise

# Eighths, so that float32 holds them exactly.
x = np.array([[0, 0, 0, 0], [8, -4, 3, 0], [1, 1, 0, 12], [-7, 0, 0, 5], [2, 9, -6, 4]]) / 8
y = np.array([[8, -4, 3, 0], [0, 5, 1, 0], [-3, 0, 2, 7]]) / 8

cases = []
for other in (x, y):
    for kernel, values in [
        ({"name": "linear"}, pairwise.linear_kernel(x, other)),
        ({"name": "rbf", "gamma": 0.7}, pairwise.rbf_kernel(x, other, gamma=0.7)),
        ({"name": "laplacian", "gamma": 0.3}, pairwise.laplacian_kernel(x, other, gamma=0.3)),
        ({"name": "poly", "gamma": 0.5, "degree": 3, "coef0": 1},
         pairwise.polynomial_kernel(x, other, gamma=0.5, degree=3, coef0=1)),
        ({"name": "poly", "gamma": 2, "degree": 2},
         pairwise.polynomial_kernel(x, other, gamma=2, degree=2, coef0=0)),
    ] + [({"name": "matern", "gamma": 0.5 / scale**2, "nu": nu}, Matern(length_scale=scale, nu=nu)(x, other))
         for nu, scale in [(0.5, 2), (1.5, 0.5), (2.5, 1), (0.8, 1), (4, 2)]]:
        cases.append({"kernel": kernel, "x": x.tolist(), "y": other.tolist(), "k": values.tolist()})
print(json.dumps(cases, indent=1))
