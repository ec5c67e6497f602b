# Records what scikit-learn fits to scores that any program can draw: run with python3 in this
# folder, it writes calibrate.json.
import json, math
import numpy as np
import sklearn
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression

def draw(n, seed, gap, ties):
    """Scores and labels by a linear congruential generator."""
    x, scores, labels = seed, [], []
    def uniform():
        nonlocal x
        x = (1664525 * x + 1013904223) % 2**32
        return (x + 0.5) / 2**32
    for _ in range(n):
        s = 6 * uniform() - 3
        if ties:
            s = round(2 * s) / 2
        s = float(np.float32(s))
        labels.append(int(uniform() < 1 / (1 + math.exp(-gap * s + 0.4))))
        scores.append(s)
    return scores, labels

cases = []
for n, seed, gap, ties in [(200, 1, 1.0, False), (500, 2, 4.0, False), (300, 3, 0.3, True), (60, 4, 50.0, False)]:
    s, y = draw(n, seed, gap, ties)
    w = np.array([1.0 + i % 3 for i in range(n)]) if seed == 2 else None
    at = [-4, -3, -1.7, -0.5, -0.2, 0, 0.1, 0.5, 1.3, 2.9, 4]
    p = _SigmoidCalibration().fit(np.array(s), np.array(y), w)
    iso = IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1).fit(s, y, w)
    cases.append(dict(scores=s, labels=y, weights=None if w is None else w.tolist(), a=p.a_, b=p.b_, at=at,
                      isotonic=[float(v) for v in iso.predict(np.array(at, dtype=float))]))
json.dump(dict(sklearn=sklearn.__version__, cases=cases), open("calibrate.json", "w"))
