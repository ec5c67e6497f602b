#!/usr/bin/env python3
"""What `mercer train --auto` is compared with: scikit-learn on the same splits.

    autopeers.py DATA OUT [--split-only] [NAME ...]

DATA holds the published data sets, a folder each. For every set OUT gets NAME.train and
NAME.test (CSV with the label last, or LIBSVM text) and a line in peers.jsonl:

  svm      SVC or SVR, rbf, standardised inputs, on 5,000 training rows drawn by seed 0, C in
           {1, 10, 100} times gamma in {1/4, 1, 4} / (d * variance) by 5 folds; SVR with
           standardised targets and epsilon 0.1;
  sampler  RBFSampler of 1,000 features, of the gamma that the grid chose (and a quarter of it),
           and on all training rows a linear model: RidgeClassifier or Ridge with alpha in
           {0.01, 1, 100}, or LinearSVC with C in {0.1, 1, 10} where rows times classes
           stay below 300,000; chosen by a held-out fifth.

Scores are the accuracy or the RMSE on the test rows. Splits: the published test rows where there
are any, else a quarter of the rows drawn by seed 0 (covtype: 100,000 rows to train and 50,000 to
test on). The grids are small because exact machines are slow; n_jobs is 1.
"""
import bz2, gzip, json, os, struct, sys, time
import numpy as np
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC


def table(path, sep=",", label=-1, skip=0, words=False):
    """Rows of numbers, and labels as text."""
    x, y = [], []
    with gzip.open(path, "rt") as f:
        for i, line in enumerate(f):
            line = line.strip()
            if i < skip or not line:
                continue
            cells = [c.strip() for c in (line.split(sep) if sep else line.split())]
            y.append(cells.pop(label))
            if words:
                cells[:1] = [str(float(cells[0] == w)) for w in "MFI"]
            x.append([float(c) for c in cells])
    return np.array(x), np.array(y)


def arff(path):
    with gzip.open(path, "rt") as f:
        lines = f.read().splitlines()
    return table(path, skip=[l.strip().lower() for l in lines].index("@data") + 1)


def idx(path):
    with gzip.open(path) as f:
        b = f.read()
    dims = struct.unpack(">%dI" % b[3], b[4:4 + 4 * b[3]])
    return np.frombuffer(b, np.uint8, offset=4 + 4 * b[3]).reshape(dims[0], -1)


def svm(path, dim):
    opener = bz2.open if path.endswith("bz2") else gzip.open
    with opener(path) as f:
        x, y = load_svmlight_file(f, n_features=dim)
    return x, y.astype(int).astype(str)


def images(d):
    get = lambda part: (idx(f"{d}/{part}-images-idx3-ubyte.gz").astype(float), idx(f"{d}/{part}-labels-idx1-ubyte.gz").ravel().astype(str))
    return get("train") + get("t10k")


def covtype(d):
    x, y = table(d + "/covtype.sample403k.data.gz")
    p = np.random.RandomState(0).permutation(len(y))
    return x[p[:100000]], y[p[:100000]], x[p[100000:150000]], y[p[100000:150000]]


# name: (numbers to predict?, loader of (x, y) or (x, y, test x, test y))
SETS = {
    "a9a": (False, lambda d: svm(d + "/a9a.gz", 123) + svm(d + "/a9a.t.gz", 123)),
    "covtype": (False, covtype),
    "fashion_mnist": (False, images),
    "ijcnn1": (False, lambda d: svm(d + "/ijcnn1.trn.bz2", 22) + svm(d + "/ijcnn1.tst.bz2", 22)),
    "letter": (False, lambda d: table(d + "/letter-recognition.data.gz", label=0)),
    "mnist": (False, images),
    "pendigits": (False, lambda d: table(d + "/pendigits.tra.gz") + table(d + "/pendigits.tes.gz")),
    "shuttle": (False, lambda d: table(d + "/shuttle.trn.gz", None) + table(d + "/shuttle.tst.gz", None)),
    "skin_nonskin": (False, lambda d: table(d + "/Skin_NonSkin.txt.gz", None)),
    "spambase": (False, lambda d: table(d + "/spambase.data.gz")),
    "w8a": (False, lambda d: svm(d + "/w8a.gz", 300)),
    "abalone": (True, lambda d: table(d + "/abalone.data.gz", words=True)),
    "bike": (True, lambda d: table(d + "/data.csv.gz")),
    "california_housing": (True, lambda d: table(d + "/cal_housing.data.gz")),
    "cpu_act": (True, lambda d: arff(d + "/cpu.act.arff.gz")),
    "elevators": (True, lambda d: arff(d + "/elevators.arff.gz")),
    "house_16H": (True, lambda d: table(d + "/574_house_16H.tsv.gz", "\t", skip=1)),
    "protein_casp": (True, lambda d: table(d + "/data.txt.gz", None)),
}


def write(path, x, y):
    """Writes rows; the file appears whole, for who may be waiting for it."""
    if hasattr(x, "tocsr"):
        dump_svmlight_file(x, y.astype(float), path + ".part", zero_based=False)
    else:
        with open(path + ".part", "w") as f:
            for row, label in zip(x, y):
                f.write(",".join("%.9g" % v for v in row) + "," + str(label) + "\n")
    os.replace(path + ".part", path)


def score(model, x, y, regress):
    p = model.predict(x)
    return float(np.sqrt(np.mean((p - y) ** 2))) if regress else float(np.mean(p == y))


def exact(x, y, tx, ty, regress):
    rows = np.random.RandomState(0).permutation(x.shape[0])[:5000]
    x, y = x[rows], y[rows]
    gamma = 1 / x.shape[1] / (np.var(x) if not hasattr(x, "tocsr") else x.power(2).mean() - x.mean() ** 2)
    m = SVR(epsilon=0.1, cache_size=500) if regress else SVC(cache_size=500)
    grid = GridSearchCV(m, {"C": [1, 10, 100], "gamma": [gamma / 4, gamma, 4 * gamma]}, cv=5, n_jobs=1)
    grid.fit(x, y)
    return score(grid, tx, ty, regress), grid.best_params_


def sampler(x, y, tx, ty, regress, gamma):
    best = None
    z = RBFSampler(gamma=gamma, n_components=1000, random_state=0)
    z.fit(x[:1])
    fx, ftx = z.transform(x).astype(np.float32), z.transform(tx).astype(np.float32)
    a, b, ya, yb = train_test_split(fx, y, test_size=0.2, random_state=0)
    models = [Ridge(alpha=v) for v in (0.01, 1, 100)] if regress else [RidgeClassifier(alpha=v) for v in (0.01, 1, 100)]
    if not regress and len(y) * max(1, len(set(y)) if len(set(y)) > 2 else 1) < 300000:
        models += [LinearSVC(C=v, dual=True, max_iter=300) for v in (0.1, 1, 10)]
    for m in models:
        s = score(m.fit(a, ya), b, yb, regress) * (-1 if regress else 1)
        if best is None or s > best[0]:
            best = (s, m)
    del a, b
    return best[0], score(best[1].fit(fx, y), ftx, ty, regress), str(best[1])


def main():
    import warnings
    warnings.filterwarnings("ignore")
    args = [a for a in sys.argv[1:] if a != "--split-only"]
    data, out, names = args[0], args[1], args[2:] or list(SETS)
    os.makedirs(out, exist_ok=True)
    for name in names:
        regress, load = SETS[name]
        parts = load(os.path.join(data, name))
        if len(parts) == 2:
            x, y = parts
            p = np.random.RandomState(0).permutation(x.shape[0])
            k = x.shape[0] // 4
            parts = x[p[k:]], y[p[k:]], x[p[:k]], y[p[:k]]
        x, y, tx, ty = parts
        write(f"{out}/{name}.train", x, y)
        write(f"{out}/{name}.test", tx, ty)
        if "--split-only" in sys.argv:
            continue
        if regress:
            y, ty = y.astype(float), ty.astype(float)
            mean, sd = y.mean(), y.std()
            y, ty = (y - mean) / sd, (ty - mean) / sd
        else:
            sd = 1
        s = StandardScaler(with_mean=not hasattr(x, "tocsr")).fit(x)
        x, tx = s.transform(x).astype(np.float32), s.transform(tx).astype(np.float32)
        t0 = time.time()
        svm_score, params = exact(x, y, tx, ty, regress)
        t1 = time.time()
        picks = [sampler(x, y, tx, ty, regress, params["gamma"] / f) for f in (1, 4)]
        t2 = time.time()
        _, s_score, linear = max(picks)
        with open(f"{out}/peers.jsonl", "a") as f:
            f.write(json.dumps({"name": name, "metric": "rmse" if regress else "accuracy", "rows": x.shape[0], "test": tx.shape[0], "dims": x.shape[1],
                                "svm": svm_score * sd, "svm_params": {k: float(v) for k, v in params.items()}, "svm_seconds": round(t1 - t0, 1),
                                "sampler": s_score * sd, "sampler_linear": linear, "sampler_seconds": round(t2 - t1, 1)}) + "\n")


if __name__ == "__main__":
    main()
