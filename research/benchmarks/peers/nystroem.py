"""Times scikit-learn's Nystroem on rows like those of BenchmarkNystrom in package feature.

    python3 nystroem.py --rows 10000 --features 1000 --threads 2

Prints {"float32": {"fit", "transform"}, "float64": ...} in seconds, medians of three.
"""
import argparse
import json
import os
import statistics
import time

ap = argparse.ArgumentParser()
ap.add_argument("--rows", type=int, default=10000)
ap.add_argument("--features", type=int, default=1000)
ap.add_argument("--threads", type=int, default=2)
a = ap.parse_args()
os.environ["OPENBLAS_NUM_THREADS"] = str(a.threads)

import numpy as np
from sklearn.kernel_approximation import Nystroem

X = np.random.RandomState(0).rand(a.rows, 784)
found = {}
for dtype in ("float32", "float64"):
    x, fit, transform = X.astype(dtype), [], []
    for _ in range(3):
        m = Nystroem(gamma=0.01, n_components=a.features, random_state=0)
        start = time.perf_counter()
        m.fit(x)
        fit.append(time.perf_counter() - start)
        start = time.perf_counter()
        m.transform(x)
        transform.append(time.perf_counter() - start)
    found[dtype] = {"fit": round(statistics.median(fit), 4), "transform": round(statistics.median(transform), 4)}
print(json.dumps(found))
