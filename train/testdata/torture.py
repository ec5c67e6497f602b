"""Records what scikit-learn scores on rows of the tortures of torture_test.go: torture.json.

    python3 torture.py > torture.json

R² or the share of right classes of 200 other rows, after StandardScaler, by what is nearest to Mercer's learners. Where scikit-learn fails,
or is worse than the mean or the most frequent class, its score is that of those.
"""
import json
import warnings

import numpy as np
import sklearn
from sklearn.kernel_approximation import RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LassoCV, LogisticRegression, RidgeCV, SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

warnings.simplefilter("ignore")


def rows(start):
    i = np.arange(start, start + 200)
    return 2 * np.stack([(i * np.sqrt(p)) % 1 for p in (2.0, 3.0, 5.0, 7.0)], axis=1) - 1


def answer(x):
    return np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2]


tortures = {
    "plain": lambda x: x,
    "constant": lambda x: np.c_[x, np.full(len(x), 1e9)],
    "duplicate": lambda x: np.c_[x, x[:, 0]],
    "collinear": lambda x: np.c_[x, x[:, 0] + x[:, 1] - x[:, 2]],
    "1e30": lambda x: x * 1e30,
    "1e-30": lambda x: x * 1e-30,
    "1e300": lambda x: x * 1e300,
    "denormal in 32 bits": lambda x: x * 1e-40,
    "denormal in 64 bits": lambda x: x * 1e-310,
    "mixed": lambda x: x * [1e30, 1, 1e-30, 1e-3],
    "offset 1e6": lambda x: x + 1e6,
    "offset 1e12": lambda x: x + 1e12,
    "d = 1": lambda x: x[:, :1],
    "an outlier": lambda x: np.r_[x[:1] * 1e30, x[1:]] if x is train else x,
}


def features():
    return RBFSampler(n_components=64, gamma="scale", random_state=1)


numbers = dict(
    features=lambda: make_pipeline(features(), RidgeCV(np.logspace(-4, 3, 15))),
    linear=lambda: RidgeCV(np.logspace(-4, 3, 15)),
    kernel=lambda: GridSearchCV(KernelRidge(kernel="rbf"), dict(alpha=[1e-3, 1e-2, 0.1, 1])),
    lasso=lambda: make_pipeline(features(), LassoCV()),
    machine=lambda: SVR(),
    neighbours=lambda: KNeighborsRegressor(),
    online=lambda: make_pipeline(features(), SGDRegressor(max_iter=1, tol=None, random_state=1)),
)
classes = dict(
    features=lambda: make_pipeline(features(), LogisticRegression(max_iter=1000)),
    linear=lambda: LogisticRegression(max_iter=1000),
    kernel=lambda: SVC(),
    lasso=lambda: make_pipeline(features(), LogisticRegression(penalty="l1", solver="liblinear")),
    machine=lambda: SVC(),
    neighbours=lambda: KNeighborsClassifier(),
    online=lambda: make_pipeline(features(), SGDClassifier(max_iter=1, tol=None, random_state=1)),
)
train, test = rows(1), rows(1001)
scores = {}
for name, torture in tortures.items():
    x, z = torture(train), torture(test)
    y, w = answer(train), answer(test)
    for task, learners, a, b in ("regress", numbers, y, w), ("classify", classes, y > 0, w > 0):
        for learner, make in learners.items():
            least = 0 if task == "regress" else max(np.mean(b), 1 - np.mean(b))
            try:
                score = make_pipeline(StandardScaler(), make()).fit(x, a).score(z, b)
            except ValueError:
                score = least
            scores.setdefault(name, {}).setdefault(task, {})[learner] = round(max(least, float(score)), 3)
print(json.dumps(dict(sklearn=sklearn.__version__, numpy=np.__version__, scores=scores), separators=(",", ":")).replace('},"', '},\n"'))
