"""Writes liblinear_primal.json: the objectives that LIBLINEAR's liblinear-train reaches without
a bias (-B -1) at -e 1e-5 and C = 1, computed anew from the models that it wrote, one for each
class against the rest. Usage: liblinear_primal.py DIR, with the data sets a9a, w8a, ijcnn1,
reuters_lasvm, letter and cpusmall in folders of DIR."""
import bz2, gzip, json, os, subprocess, sys, tempfile
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

root = sys.argv[1]
liblinear = {"logistic": 0, "squared_hinge": 2, "l1_squared_hinge": 5, "l1_logistic": 6, "squared_epsilon": 11}


def table(path):
    with gzip.open(path, "rt") as f:
        return [line.strip().split(",") for line in f if line[0] not in "%@\n\r"]


def sets():
    for name, path, opened in [("a9a", "a9a/a9a.gz", gzip.open), ("w8a", "w8a/w8a.gz", gzip.open), ("ijcnn1", "ijcnn1/ijcnn1.trn.bz2", bz2.open),
                               ("reuters", "reuters_lasvm/reuters.trn.bz2", bz2.open)]:
        with opened(os.path.join(root, path), "rb") as f:
            x, y = load_svmlight_file(f)
        yield name, x, y
    rows = table(os.path.join(root, "letter/letter-recognition.data.gz"))
    yield "letter", csr_matrix(np.array([r[1:] for r in rows], float) / 15), np.array([ord(r[0]) - ord("A") for r in rows], float)
    rows = np.array(table(os.path.join(root, "cpusmall/cpu.small.arff.gz")), float)
    x = rows[:, :-1]
    yield "cpusmall", csr_matrix(x / np.abs(x).max(axis=0)), rows[:, -1]


def losses(kind, s, y):
    if kind.endswith("logistic"):
        return np.logaddexp(0, -y * s).sum()
    if kind.endswith("squared_hinge"):
        return (np.maximum(0, 1 - y * s) ** 2).sum()
    return (np.maximum(0, np.abs(s - y) - 0.1) ** 2).sum()


out = {}
with tempfile.TemporaryDirectory() as tmp:
    for name, x, y in sets():
        data, model = os.path.join(tmp, "data"), os.path.join(tmp, "model")
        dump_svmlight_file(x, y, data, zero_based=False)
        for kind, s in liblinear.items():
            if (kind == "squared_epsilon") != (name == "cpusmall"):
                continue
            subprocess.run(["liblinear-train", "-s", str(s), "-c", "1", "-p", "0.1", "-e", "1e-5", "-q", data, model], check=True)
            lines = open(model).read().split("\n")
            at = lines.index("w")
            labels = next((l.split()[1:] for l in lines if l.startswith("label")), None)
            w = np.array([l.split() for l in lines[at + 1:] if l], float)
            scores = x[:, :w.shape[0]] @ w
            values = []
            for t in range(w.shape[1]):
                target = y if labels is None else np.where(y == float(labels[t]), 1, -1)
                penalty = np.abs(w[:, t]).sum() if kind.startswith("l1") else 0.5 * w[:, t] @ w[:, t]
                values.append(float(penalty + losses(kind, scores[:, t], target)))
            # Classes in the order of their numbers; of two, the value is the same from both sides.
            if labels is not None and len(values) > 1:
                values = [values[labels.index(str(c))] for c in range(len(values))]
            out.setdefault(name, {})[kind] = values
            print(name, kind, sum(values))
with open(os.path.join(os.path.dirname(__file__), "liblinear_primal.json"), "w") as f:
    json.dump(out, f, indent=1)
    f.write("\n")
