"""Times OpenBLAS through NumPy and SciPy on the loops of mercer bench.

    python3 blas.py sgemm --shapes 4096x784x4096,1024x22x1024 --threads 1,2

Prints GFLOP/s, medians of three runs, as {"sgemm 4096x784x4096 @1": ...}. Copies of matrices that are overwritten are not timed.
"""
import argparse
import json
import statistics
import time

import numpy as np
import scipy.linalg.blas
import scipy.linalg.lapack
from threadpoolctl import threadpool_limits

ap = argparse.ArgumentParser()
ap.add_argument("name", choices=["sgemm", "dgemm", "ssyrk", "dsyrk", "dpotrf", "dsyev"])
ap.add_argument("--shapes", required=True)
ap.add_argument("--threads", required=True)
a = ap.parse_args()
rng = np.random.default_rng(1)
dtype = np.float32 if a.name[0] == "s" else np.float64


def normal(*shape):
    return rng.standard_normal(shape, dtype=dtype)


def loop(shape):
    """What prepares a run, the run, and its floating-point operations."""
    if a.name[1:] == "gemm":
        m, k, n = shape
        A, B, C = normal(m, k), normal(k, n), np.zeros((m, n), dtype)
        return None, lambda _: np.matmul(A, B, out=C), 2 * m * k * n
    n = shape[0]
    if a.name[1:] == "syrk":
        syrk = getattr(scipy.linalg.blas, a.name)
        # Of the transposed, which is in Fortran's order, so that the rows are those of Z.
        Z, C = normal(n, n), np.zeros((n, n), dtype, order="F")
        return None, lambda _: syrk(1.0, Z.T, beta=0.0, c=C, trans=0, overwrite_c=1), n * n * (n + 1)
    if a.name == "dpotrf":
        M = np.asfortranarray(normal(n, n))
        M = (M + M.T) / 2
        M[np.diag_indices(n)] = 4 * n**0.5
        return M.copy, lambda w: scipy.linalg.lapack.dpotrf(w, overwrite_a=1, clean=0), n**3 / 3
    M = normal(n, n)
    M = np.asfortranarray((M + M.T) / 2)
    return M.copy, lambda w: scipy.linalg.lapack.dsyevd(w, compute_v=1, overwrite_a=1), 14 / 3 * n**3


found = {}
for text in a.shapes.split(","):
    prepare, run, flops = loop([int(n) for n in text.split("x")])
    for threads in a.threads.split(","):
        with threadpool_limits(int(threads)):
            rates = []
            for _ in range(4):  # the first is not counted
                took, calls = 0.0, 0
                while took < 0.03:
                    work = prepare(order="F") if prepare else None
                    start = time.perf_counter()
                    run(work)
                    took += time.perf_counter() - start
                    calls += 1
                rates.append(calls * flops / took / 1e9)
            found[f"{a.name} {text} @{threads}"] = round(statistics.median(rates[1:]), 2)
print(json.dumps(found))
