"""Times a linear solver of scikit-learn on features in a file.

    python3 solvers.py svm z.npy labels.idx --c 1 --threads 2

svm is LIBLINEAR's dual solver without intercept, squared-hinge its primal one, logistic its primal one for each class against the
rest, multinomial L-BFGS for all classes together. Labels are IDX. Prints {"seconds": ...} of fit alone.
"""
import argparse
import json
import os
import time

ap = argparse.ArgumentParser()
ap.add_argument("solver", choices=["svm", "squared-hinge", "logistic", "multinomial"])
ap.add_argument("features")
ap.add_argument("labels")
ap.add_argument("--c", type=float, default=1)
ap.add_argument("--threads", type=int, default=2)
a = ap.parse_args()
os.environ["OPENBLAS_NUM_THREADS"] = str(a.threads)

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

Z = np.load(a.features)
with open(a.labels, "rb") as f:
    y = np.frombuffer(f.read(), np.uint8, offset=8)
model = {
    "svm": lambda: LinearSVC(C=a.c, dual=True, tol=0.1, fit_intercept=False, random_state=0),
    "squared-hinge": lambda: LinearSVC(C=a.c, dual=False, tol=0.01),
    "logistic": lambda: OneVsRestClassifier(LogisticRegression(C=a.c, solver="liblinear", tol=0.01)),
    "multinomial": lambda: LogisticRegression(C=a.c, max_iter=1000),
}[a.solver]()
start = time.perf_counter()
model.fit(Z, y)
print(json.dumps({"seconds": round(time.perf_counter() - start, 3)}))
