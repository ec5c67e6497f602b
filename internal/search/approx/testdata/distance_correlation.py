"""Distance correlations by the definition (Székely, Rizzo and Bakirov 2007): all distances, centred
by rows and columns. Prints the values that dependence_test.go holds, and writes the numbers.

    OPENBLAS_CORETYPE=SAPPHIRERAPIDS /usr/bin/python3 distance_correlation.py > distance_correlation.txt
"""
import numpy as np


def centred(x):
    a = np.abs(x[:, None] - x[None, :])
    return a - a.mean(0)[None, :] - a.mean(1)[:, None] + a.mean()


def dcor(x, y):
    a, b = centred(x), centred(y)
    cov, vx, vy = (a * b).mean(), (a * a).mean(), (b * b).mean()
    return np.sqrt(cov / np.sqrt(vx * vy)) if vx * vy > 0 else 0.0


rng = np.random.default_rng(1)
x = rng.standard_normal(60)
cases = {
    "independent": rng.standard_normal(60),
    "linear": 3 - 2 * x,
    "square": x**2,
    "noisy": x + rng.standard_normal(60),
    "ties": np.round(x),
    "signs": np.sign(x),
    "far": 1e6 + x**3,
    "constant": np.full(60, 2.0),
}
print("x", " ".join(repr(float(v)) for v in x))
for name, y in cases.items():
    print(name, repr(float(dcor(x, y))), repr(float(dcor(np.round(2 * x), y))), " ".join(repr(float(v)) for v in y))
