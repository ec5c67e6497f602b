"""Times a pipeline of scikit-learn on images, from files to the test: random features and a linear model.

    python3 pipeline.py ridge --images I --labels L --test-images TI --test-labels TL --sigma 8.27 --features 4096 --threads 2

Files are IDX, gzipped or not. Prints {"seconds": {"read", "map", "fit", "test", "total"}, "error": ...}. The libraries are loaded
before the time begins.
"""
import argparse
import gzip
import json
import os
import time

ap = argparse.ArgumentParser()
# RBFSampler and RidgeClassifier; RBFSampler and LinearSVC; Nystroem and RidgeClassifier
ap.add_argument("pipeline", choices=["ridge", "svm", "nystroem"])
ap.add_argument("--images", required=True)
ap.add_argument("--labels", required=True)
ap.add_argument("--test-images", required=True)
ap.add_argument("--test-labels", required=True)
ap.add_argument("--sigma", type=float, required=True, help="of pixels divided by 255")
ap.add_argument("--features", type=int, required=True)
ap.add_argument("--threads", type=int, default=2)
a = ap.parse_args()
os.environ["OPENBLAS_NUM_THREADS"] = str(a.threads)

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import LinearSVC


def idx(path, offset):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        return np.frombuffer(f.read(), np.uint8, offset=offset)


marks = [time.perf_counter()]
X = (idx(a.images, 16).reshape(-1, 784) / 255).astype(np.float32)
y = idx(a.labels, 8)
Xt = (idx(a.test_images, 16).reshape(-1, 784) / 255).astype(np.float32)
yt = idx(a.test_labels, 8)
marks.append(time.perf_counter())
gamma = 1 / (2 * a.sigma**2)
if a.pipeline == "nystroem":
    mapper = Nystroem(gamma=gamma, n_components=a.features, random_state=0)
else:
    mapper = RBFSampler(gamma=gamma, n_components=a.features, random_state=0)
Z = mapper.fit_transform(X)
marks.append(time.perf_counter())
if a.pipeline == "svm":
    model = LinearSVC(C=1.0, dual=True, max_iter=200, random_state=0)
else:
    model = RidgeClassifier(alpha=0.01, solver="cholesky")
model.fit(Z, y)
marks.append(time.perf_counter())
error = float((model.predict(mapper.transform(Xt)) != yt).mean())
marks.append(time.perf_counter())
seconds = {name: round(marks[i + 1] - marks[i], 3) for i, name in enumerate(("read", "map", "fit", "test"))}
seconds["total"] = round(marks[-1] - marks[0], 3)
print(json.dumps({"seconds": seconds, "error": error}))
