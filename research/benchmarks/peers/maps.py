"""Times one of scikit-learn's maps on generated rows of float32.

    python3 maps.py RBFSampler --d 784 --features 4096 --rows 10000 --threads 2

Prints {"us_per_row": ...}, the median of three calls of transform.
"""
import argparse
import json
import os
import statistics
import time

ap = argparse.ArgumentParser()
kernels = ["RBFSampler", "PolynomialCountSketch", "AdditiveChi2Sampler"]
ap.add_argument("map", choices=kernels + ["GaussianRandomProjection", "SparseRandomProjection"])
ap.add_argument("--d", type=int, default=784)
ap.add_argument("--features", type=int, default=4096, help="of AdditiveChi2Sampler: its steps decide")
ap.add_argument("--rows", type=int, default=10000)
ap.add_argument("--nnz", type=int, default=0, help="elements of a sparse row; 0: dense rows")
ap.add_argument("--degree", type=int, default=2)
ap.add_argument("--steps", type=int, default=3)
ap.add_argument("--density", type=float, default=1 / 28)
ap.add_argument("--threads", type=int, default=2)
a = ap.parse_args()
os.environ["OPENBLAS_NUM_THREADS"] = str(a.threads)

import numpy as np
import scipy.sparse
from sklearn.kernel_approximation import AdditiveChi2Sampler, PolynomialCountSketch, RBFSampler
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

m = {
    "RBFSampler": lambda: RBFSampler(gamma=0.01, n_components=a.features, random_state=0),
    "PolynomialCountSketch": lambda: PolynomialCountSketch(degree=a.degree, n_components=a.features, random_state=0),
    "GaussianRandomProjection": lambda: GaussianRandomProjection(n_components=a.features, random_state=0),
    "SparseRandomProjection": lambda: SparseRandomProjection(n_components=a.features, density=a.density, random_state=0),
    "AdditiveChi2Sampler": lambda: AdditiveChi2Sampler(sample_steps=a.steps),
}[a.map]()
if a.nnz:
    X = scipy.sparse.random(a.rows, a.d, density=a.nnz / a.d, format="csr", random_state=0, dtype=np.float32)
else:
    X = np.random.RandomState(0).rand(a.rows, a.d).astype(np.float32)
m.fit(X)
times = []
for _ in range(3):
    start = time.perf_counter()
    m.transform(X)
    times.append(time.perf_counter() - start)
print(json.dumps({"us_per_row": round(1e6 * statistics.median(times) / a.rows, 3)}))
