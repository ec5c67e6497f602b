"""Times FFTW, through pyFFTW, on real transforms of float32 on one thread.

    python3 fft.py --lengths 1024,4096,16384

Prints nanoseconds a transform, as {"rfft32 1024": ..., "irfft32 1024": ...}. Each call makes several transforms, 64 KB of rows
at least, since one call from Python takes about as long as a short transform. Plans are made by FFTW_PATIENT.
"""
import argparse
import json
import statistics
import time

import numpy as np
import pyfftw

ap = argparse.ArgumentParser()
ap.add_argument("--lengths", required=True)
a = ap.parse_args()
found = {}
for n in (int(text) for text in a.lengths.split(",")):
    rows = max(1, 16384 // n)
    x = pyfftw.empty_aligned((rows, n), "float32")
    z = pyfftw.empty_aligned((rows, n // 2 + 1), "complex64")
    flags = ("FFTW_PATIENT", "FFTW_DESTROY_INPUT")
    for name, plan in (("rfft32", pyfftw.FFTW(x, z, flags=flags)), ("irfft32", pyfftw.FFTW(z, x, direction="FFTW_BACKWARD", flags=flags))):
        x[:], z[:] = np.random.default_rng(1).standard_normal(x.shape), 0  # planning has overwritten them
        times = []
        for _ in range(4):  # the first is not counted
            calls, start = 0, time.perf_counter()
            while time.perf_counter() - start < 0.03:
                for _ in range(20):
                    plan.execute()
                calls += 20
            times.append((time.perf_counter() - start) / calls / rows)
        found[f"{name} {n}"] = round(1e9 * statistics.median(times[1:]), 1)
print(json.dumps(found))
