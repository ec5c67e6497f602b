"""Compares products of features with the Gram matrices of kernels of groups of columns that NumPy makes.

    groups_check.py CHECKS, a JSON list of {name, data, features, table}: one line of JSON for each, {name, error}. The first column of
    data, bag, tells the bag of a row, the last is the label. table is a bag where rows are bags, and quantile where all columns are scaled so.
"""
import json
import statistics
import sys

import numpy as np


def scaled(x, kind):
    if kind == "l1":
        return x / np.abs(x).sum(1, keepdims=True)
    if kind == "standard":
        return (x - x.mean(0)) / x.std(0)
    if kind == "minmax":
        return (x - x.min(0)) / (x.max(0) - x.min(0))
    below, upto = (x[:, None] > x).sum(1), (x[:, None] >= x).sum(1)  # quantile: normal scores of ranks in the middle
    return np.clip(np.vectorize(statistics.NormalDist().inv_cdf)((below + upto) / 2 / len(x)), -3.2, 3.2)


def chi2(a, b):
    return np.divide(2 * a * b, a + b, out=np.zeros(a.shape), where=a + b > 0).sum(2)


GROUPS = [  # columns, scaling, kernel, weight
    ("hue", "l1", lambda a, b: chi2(*np.broadcast_arrays(a, b)), 2),
    ("size", "standard", lambda a, b: np.exp(-0.3 * ((a - b) ** 2).sum(2)), 0.5),
    ("z", "minmax", lambda a, b: np.exp(-0.7 * np.abs(a - b).sum(2)), 1),
]

for c in json.load(open(sys.argv[1])):
    names = open(c["data"]).readline().split(",")
    x = np.loadtxt(c["data"], delimiter=",", skiprows=1, usecols=range(len(names) - 1))
    gram = 0
    for prefix, kind, kernel, weight in GROUPS:
        if c["table"] == "quantile":
            kind = "quantile"
            if prefix == "hue":  # negative numbers have no chi2
                kernel = GROUPS[1][2]
        g = scaled(x[:, [j for j, name in enumerate(names) if name.startswith(prefix)]], kind)
        gram = gram + weight * kernel(g[:, None], g)
    if c["table"] == "bag":
        of = (x[:, 0] == np.unique(x[:, 0])[:, None]).astype(float)
        of /= of.sum(1, keepdims=True)
        gram = of @ gram @ of.T
    z = np.load(c["features"]).astype(float)
    error = np.abs(z @ z.T - gram).max()
    print(json.dumps({"name": c["name"], "failed": "" if error < 1e-3 else f"products are off by {error}", "error": error}))
