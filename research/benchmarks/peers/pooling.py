"""Times compact bilinear pooling as the thesis did it, in NumPy and SciPy on one thread: TensorSketch by the Fourier
transform of every location's sketches, CBP-KRP by a sparse product and gathered products (in place of Numba's loops).

    python3 pooling.py --locations 169 --channels 512 --features 5000

Prints the least milliseconds of 20 images, of the processor, as {"tensorsketch fftpack": ..., "full": ...}.
"""
import argparse
import json
import os
import time

ap = argparse.ArgumentParser()
ap.add_argument("--locations", type=int, default=169)
ap.add_argument("--channels", type=int, default=512)
ap.add_argument("--features", type=int, default=5000)
a = ap.parse_args()
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import scipy.fft
import scipy.fftpack
import scipy.sparse

L, d, D, t, s = a.locations, a.channels, a.features, 2, 100
rng = np.random.default_rng(1)
X = np.maximum(rng.standard_normal((L, d)), 0).astype(np.float32)
found = {}


def least(name, f):
    low = 1e9
    for _ in range(20):
        start = time.process_time()
        f()
        low = min(low, time.process_time() - start)
    found[name] = round(1e3 * low, 3)


def sketch():
    h, signs = rng.integers(0, D, d), rng.choice([-1.0, 1.0], d)
    return scipy.sparse.csr_matrix((signs, (h, np.arange(d))), (D, d)).astype(np.float32)


first, second = sketch(), sketch()


def tensorsketch(forward, inverse):
    p, q = (first @ X.T).T, (second @ X.T).T
    return inverse((forward(p) * forward(q)).sum(axis=0))


least("tensorsketch fftpack", lambda: tensorsketch(scipy.fftpack.fft, scipy.fftpack.ifft))
least("tensorsketch rfft", lambda: tensorsketch(scipy.fft.rfft, lambda z: scipy.fft.irfft(z, D)))

S = scipy.sparse.random(D, d, 1 / s, "csr", np.float32, 1, lambda n: rng.choice([-1.0, 1.0], n)).astype(np.float32)
index = np.stack([rng.permutation(D) for _ in range(2 * t)])


def krp():
    K = S @ X.T
    y = np.zeros(D, np.float32)
    for i in range(t):
        y += np.einsum("cl,cl->c", K[index[2 * i]], K[index[2 * i + 1]])
    return y * (s / np.sqrt(t * D))


least("cbp-krp", krp)

A, B = rng.choice([-1.0, 1.0], (d, D)).astype(np.float32), rng.choice([-1.0, 1.0], (d, D)).astype(np.float32)
least("maclaurin", lambda: ((X @ A) * (X @ B)).sum(axis=0))


def full():
    y = (X.T @ X).ravel()
    y = np.sign(y) * np.sqrt(np.abs(y))
    return y / np.linalg.norm(y)


least("full", full)
print(json.dumps(found))
