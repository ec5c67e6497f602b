"""Times scikit-learn's Nystroem on the rows of BenchmarkNystrom: seconds of fit and transform, medians of 5.

    OPENBLAS_CORETYPE=SAPPHIRERAPIDS OPENBLAS_NUM_THREADS=2 python3 nystroem_time.py
"""
import time

import numpy as np
from sklearn.kernel_approximation import Nystroem

X = np.random.RandomState(0).rand(10000, 784)
for dtype in ("float64", "float32"):
    x = X.astype(dtype)
    fit, transform = [], []
    for _ in range(5):
        m = Nystroem(gamma=0.01, n_components=1000, random_state=0)
        start = time.perf_counter()
        m.fit(x)
        fit.append(time.perf_counter() - start)
        start = time.perf_counter()
        m.transform(x)
        transform.append(time.perf_counter() - start)
    print(f"{dtype}: fit {sorted(fit)[2]:.3f} s, transform {sorted(transform)[2]:.3f} s")
