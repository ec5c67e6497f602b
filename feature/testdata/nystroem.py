"""Records what scikit-learn's Nystroem makes of given landmarks: nystroem.json.

    python3 nystroem.py > nystroem.json

Landmarks are the rows that Nystroem chose; z are its features of other rows, of which only
the inner products say something, as features may be turned.
"""
import json

import numpy as np
import sklearn
from sklearn.kernel_approximation import Nystroem

rng = np.random.RandomState(7)
X = rng.randn(60, 4).astype(np.float32).astype(np.float64)
cases = []
for kernel, args in [
    ("rbf", dict(gamma=0.5)),
    ("rbf", dict(gamma=0.05)),
    ("laplacian", dict(gamma=0.3)),
    ("poly", dict(gamma=0.2, degree=3, coef0=1)),
    ("linear", {}),
]:
    for m in (3, 25):
        if kernel == "linear" and m > 4:
            continue  # of rank 4: scikit-learn divides by the root of 1e-12 there
        map = Nystroem(kernel=kernel, n_components=m, random_state=3, **args)
        z = map.fit(X[:40]).transform(X[40:])
        cases.append(dict(kernel=dict(name=kernel, **args), landmarks=map.components_.tolist(),
                          products=(z @ z.T).tolist()))
print(json.dumps(dict(sklearn=sklearn.__version__, rows=X[40:].tolist(), cases=cases)))
