"""Writes reference.json: scipy's studentized range far out, Wilcoxon's test with Pratt's zeros, and bootstrap intervals.

/usr/bin/python3 reference.py"""
import json
import numpy as np
from scipy import stats

r = np.random.RandomState(1)
out = {"tail": [[q, k, float(stats.studentized_range.sf(q, k, np.inf))] for k in (2, 5, 20, 100) for q in (0.3, 2.0, 4.0, 5.5)]}
out["pratt"] = []
for d in ([0, 1, 2, 2, -1, 3, -2, 5, 0, 4, 0, 7], [0, 0.5, -1.5, 2.5, 3.5, -4.5, 5.5, 6.5]):
    w = stats.wilcoxon(d, zero_method="pratt", correction=True, mode="approx")
    out["pratt"].append({"d": d, "statistic": float(w.statistic), "p": float(w.pvalue)})
losses = np.round(r.exponential(size=60), 6)
out["losses"] = losses.tolist()
for method in ("percentile", "BCa"):
    ci = stats.bootstrap((losses,), np.mean, n_resamples=200000, batch=5000, method=method, random_state=1).confidence_interval
    out[method] = [float(ci.low), float(ci.high)]
json.dump(out, open("reference.json", "w"), indent=1)
