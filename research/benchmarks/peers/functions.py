"""Times NumPy's elementary functions on one thread.

    python3 functions.py --numbers 16384

Prints nanoseconds a number, as {"cos32": ...}; sincos is both functions, one after the other.
"""
import argparse
import json
import statistics
import time

import numpy as np

ap = argparse.ArgumentParser()
ap.add_argument("--numbers", type=int, default=16384, help="in a call, which so costs next to nothing itself")
a = ap.parse_args()
rng = np.random.default_rng(1)
found = {}
for bits in (32, 64):
    x = (0.5 * rng.standard_normal(a.numbers)).astype(f"float{bits}")
    y, z = np.empty_like(x), np.empty_like(x)
    for name, run in {
        "cos": lambda: np.cos(x, out=y),
        "sincos": lambda: (np.cos(x, out=y), np.sin(x, out=z)),
        "exp": lambda: np.exp(x, out=y),
    }.items():
        times = []
        for _ in range(4):  # the first is not counted
            calls, start = 0, time.perf_counter()
            while time.perf_counter() - start < 0.03:
                for _ in range(20):
                    run()
                calls += 20
            times.append((time.perf_counter() - start) / calls / a.numbers)
        found[f"{name}{bits}"] = round(1e9 * statistics.median(times[1:]), 4)
print(json.dumps(found))
