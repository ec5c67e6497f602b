"""Times compact bilinear pooling as the thesis did it, in NumPy and SciPy on one thread: TensorSketch by the
Fourier transform of every location's sketches, CBP-KRP by a sparse product and gathered products
(in place of Numba's loops). Prints the best of the rounds in milliseconds of the processor an image.

    OMP_NUM_THREADS=1 OPENBLAS_CORETYPE=SAPPHIRERAPIDS python3 compare.py
"""

import time

import numpy as np
import scipy.fft
import scipy.fftpack
import scipy.sparse

L, d, D, m, t, s = 169, 512, 5000, 5000, 2, 100
rng = np.random.default_rng(1)
X = np.maximum(rng.standard_normal((L, d)), 0).astype(np.float32)


def best(f, rounds=30):
    low = 1e9
    for _ in range(rounds):
        start = time.process_time()
        f()
        low = min(low, time.process_time() - start)
    return 1e3 * low


def sketch_matrix(width):
    h, signs = rng.integers(0, width, d), rng.choice([-1.0, 1.0], d)
    return scipy.sparse.csr_matrix((signs, (h, np.arange(d))), (width, d)).astype(np.float32)


def tensorsketch(width, forward, inverse):
    first, second = sketch_matrix(width), sketch_matrix(width)

    def pool():
        a, b = (first @ X.T).T, (second @ X.T).T
        return inverse((forward(a) * forward(b)).sum(axis=0))

    return pool


for width in (D, 4096):
    print("tensorsketch, D = %d, numpy.fft.rfft: %.2f" % (width, best(tensorsketch(width, np.fft.rfft, lambda z: np.fft.irfft(z, width)))))
    print("tensorsketch, D = %d, scipy.fftpack.fft: %.2f" % (width, best(tensorsketch(width, scipy.fftpack.fft, scipy.fftpack.ifft))))
    print("tensorsketch, D = %d, scipy.fft.rfft: %.2f" % (width, best(tensorsketch(width, scipy.fft.rfft, lambda z: scipy.fft.irfft(z, width)))))

S = scipy.sparse.random(m, d, 1 / s, "csr", np.float32, 1, lambda n: rng.choice([-1.0, 1.0], n)).astype(np.float32)
index = np.concatenate([rng.permutation(m) for _ in range(2 * t * D // m)]).reshape(2 * t, D)


def krp():
    K = S @ X.T
    y = np.zeros(D, np.float32)
    for i in range(t):
        y += np.einsum("cl,cl->c", K[index[2 * i]], K[index[2 * i + 1]])
    return y * (s / np.sqrt(t * D))


print("cbp-krp: %.2f" % best(krp))

A, B = rng.choice([-1.0, 1.0], (d, D)).astype(np.float32), rng.choice([-1.0, 1.0], (d, D)).astype(np.float32)
print("maclaurin: %.2f" % best(lambda: ((X @ A) * (X @ B)).sum(axis=0)))


def full():
    y = (X.T @ X).ravel()
    y = np.sign(y) * np.sqrt(np.abs(y))
    return y / np.linalg.norm(y)


print("full, with root and norm: %.2f" % best(full))
