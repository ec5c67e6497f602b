"""Times the estimators beside scikit-learn's on the same arrays and prints a table for docs/python.md.

    python python/bench/beside.py DATA [RUNS]      # the folder of public data

Seconds are the processor's, on one thread. Runs alternate, and the shortest of them counts. Rows are scaled to deviation 1
beforehand (digits are divided by 255).
"""
import gzip
import os
import pathlib
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import mercer
import numpy as np
from mercer import MercerClassifier, MercerRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

DATA, RUNS = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3


def letters():
    with gzip.open(DATA / "letter" / "letter-recognition.data.gz", "rt") as f:
        lines = [line.strip().split(",") for line in f if line.strip()]
    return np.array([r[1:] for r in lines], float), np.array([r[0] for r in lines]), 15000


def houses():
    with gzip.open(DATA / "california_housing" / "cal_housing.data.gz", "rt") as f:
        rows = np.loadtxt(f, delimiter=",")
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    return rows[:, :-1], rows[:, -1] / 1e5, 16000


def forest():
    with gzip.open(DATA / "covtype" / "covtype.first20k.data.gz", "rt") as f:
        rows = np.loadtxt(f, delimiter=",")
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    return rows[:, :-1], rows[:, -1].astype(int), 15000


def digits():
    def read(name, skip):
        with gzip.open(DATA / "mnist" / name) as f:
            return np.frombuffer(f.read()[skip:], np.uint8)
    x = np.concatenate([read(n, 16).reshape(-1, 784)[:10000] for n in ("train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz")])
    y = np.concatenate([read(n, 8)[:10000] for n in ("train-labels-idx1-ubyte.gz", "t10k-labels-idx1-ubyte.gz")])
    return x / 255, y, 10000


def classifiers(gamma):
    given = {"gamma": gamma, "scale": "none", "calibrate": "none"}
    yield (f"RBFSampler(2048) + RidgeClassifier, γ = {gamma}", make_pipeline(RBFSampler(gamma=gamma, n_components=2048, random_state=1), RidgeClassifier(1e-2)),
           "`ridge`, 2,048 features of `rff`", MercerClassifier("ridge", map="rff", features=2048, lam=1e-2, **given))
    yield (f"Nystroem(1024) + LinearSVC, γ = {gamma}", make_pipeline(Nystroem(gamma=gamma, n_components=1024, random_state=1), LinearSVC(C=10)),
           "`svm`, 2,048 features, default map", MercerClassifier("svm", features=2048, C=10, **given))
    yield f"SVC, γ = {gamma}, C = 10", SVC(C=10, gamma=gamma), "`kernel-svm`", MercerClassifier("kernel-svm", C=10, **given)
    yield ("LinearSVC, C = 1", LinearSVC(C=1), "`svm`, kernel `linear`, solver `primal`",
           MercerClassifier("svm", kernel="linear", C=1, scale="none", calibrate="none", options={"solver": "primal"}))
    yield ("LogisticRegression, C = 1", LogisticRegression(C=1, max_iter=1000), "`logistic`, kernel `linear`",
           MercerClassifier("logistic", kernel="linear", C=1, scale="none"))


def trees(_):
    yield "HistGradientBoosting", HistGradientBoostingClassifier(random_state=0), "defaults", MercerClassifier()


def regressors(gamma):
    given = {"gamma": gamma, "scale": "none"}
    yield (f"RBFSampler(2048) + Ridge, γ = {gamma}", make_pipeline(RBFSampler(gamma=gamma, n_components=2048, random_state=1), Ridge(1e-2)),
           "`ridge`, 2,048 features of `rff`", MercerRegressor("ridge", map="rff", features=2048, lam=1e-2, **given))
    yield f"SVR, γ = {gamma}, C = 10", SVR(C=10, gamma=gamma), "`kernel-svm`", MercerRegressor("kernel-svm", C=10, **given)
    yield "HistGradientBoosting", HistGradientBoostingRegressor(random_state=0), "defaults", MercerRegressor()


def measured(estimator, x, y, u, v):
    begun = time.process_time()
    estimator.fit(x, y)
    fitted = time.process_time()
    estimator.predict(u)
    done = time.process_time()
    return fitted - begun, done - fitted, estimator.score(u, v)


def seconds(v):
    return f"{v:.3f}" if v < .1 else f"{v:.2f}" if v < 10 else f"{v:.0f}"


def main():
    mercer.set_threads(1)
    print("| data | scikit-learn | Mercer | fit, s | predict, s | score |\n| --- | --- | --- | --- | --- | --- |")
    for name, read, pairs, gamma in (("letter", letters, classifiers, .1), ("California housing", houses, regressors, .3),
                                     ("covtype, 20,000", forest, trees, 0), ("MNIST, 10,000", digits, classifiers, .02)):
        x, y, n = read()
        if name[0] != "M":
            x = StandardScaler().fit(x[:n]).transform(x)
        for theirs, a, ours, b in pairs(gamma):
            best = [np.array([np.inf, np.inf, 0])] * 2
            for _ in range(RUNS):
                for k, e in enumerate((a, b)):
                    took = measured(e, x[:n], y[:n], x[n:], y[n:])
                    best[k] = np.array([*np.minimum(best[k][:2], took[:2]), took[2]])
            fit, predict = (" · ".join(seconds(best[k][i]) for k in (0, 1)) for i in (0, 1))
            print(f"| {name} | {theirs} | {ours} | {fit} | {predict} | {best[0][2]:.3f} · {best[1][2]:.3f} |", flush=True)


main()
