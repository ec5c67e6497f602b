"""Writes liblinear_objectives.json: the primal objectives of models that LIBLINEAR's command
liblinear-train makes, for its dual solvers, without and with a constant column (-B).

Usage: python3 liblinear_objectives.py DIRECTORY-OF-THE-DATA

The data are those of the tests: a9a, w8a, ijcnn1 and reuters as they are, letter with columns divided by 15,
cpusmall with columns scaled to [-1, 1] and targets to a deviation of 1. Objectives are computed
here from the printed weights, in float64."""
import bz2, gzip, json, os, subprocess, sys, tempfile
import numpy as np

data = sys.argv[1]

def libsvm(path, opener):
    rows, y, width = [], [], 0
    with opener(path, "rt") as f:
        for line in f:
            parts = line.split()
            if not parts:
                continue
            y.append(float(parts[0]))
            row = [(int(i), float(v)) for i, v in (p.split(":") for p in parts[1:])]
            if row:
                width = max(width, row[-1][0])
            rows.append(row)
    x = np.zeros((len(rows), width), dtype=np.float32)
    for i, row in enumerate(rows):
        for j, v in row:
            x[i, j - 1] = v
    return x, np.array(y)

def letter():
    x, y = [], []
    with gzip.open(os.path.join(data, "letter/letter-recognition.data.gz"), "rt") as f:
        for line in f:
            parts = line.strip().split(",")
            if len(parts) == 17:
                y.append(ord(parts[0]) - ord("A"))
                x.append([float(v) for v in parts[1:]])
    return (np.array(x, dtype=np.float32) / np.float32(15)).astype(np.float32), np.array(y, dtype=float)

def cpusmall():
    x, y, started = [], [], False
    with gzip.open(os.path.join(data, "cpusmall/cpu.small.arff.gz"), "rt") as f:
        for line in f:
            line = line.strip()
            if line.lower() == "@data":
                started = True
            elif started and line and not line.startswith("%"):
                v = [float(p) for p in line.split(",")]
                x.append(v[:-1]); y.append(v[-1])
    x, y = np.array(x), np.array(y)
    low, high = x.min(0), x.max(0)
    return (2 * (x - low) / (high - low) - 1).astype(np.float32), (y - y.mean()) / y.std()

sets = {
    "a9a": lambda: libsvm(os.path.join(data, "a9a/a9a.gz"), gzip.open),
    "w8a": lambda: libsvm(os.path.join(data, "w8a/w8a.gz"), gzip.open),
    "ijcnn1": lambda: libsvm(os.path.join(data, "ijcnn1/ijcnn1.trn.bz2"), bz2.open),
    "reuters": lambda: libsvm(os.path.join(data, "reuters_lasvm/reuters.trn.bz2"), bz2.open),
    "letter": letter,
    "cpusmall": cpusmall,
}

def train(x, y, solver, c, bias, p=0.1):
    with tempfile.TemporaryDirectory() as d:
        with open(d + "/t", "w") as f:
            for row, t in zip(x, y):
                nz = np.nonzero(row)[0]
                f.write("%.17g " % t + " ".join("%d:%.9g" % (j + 1, row[j]) for j in nz) + "\n")
        eps = "1e-4" if solver in (12, 13) else "1e-3"
        subprocess.run(["liblinear-train", "-q", "-s", str(solver), "-c", str(c), "-e", eps, "-B", str(bias),
                        "-p", str(p), d + "/t", d + "/m"], check=True)
        labels, w, started = None, [], False
        for line in open(d + "/m"):
            if line.startswith("label"):
                labels = [float(v) for v in line.split()[1:]]
            if started:
                w.append([float(v) for v in line.split()])
            started = started or line.strip() == "w"
    return labels, np.array(w)

def objective(x, y, labels, w, solver, c, bias, p=0.1):
    z = x.astype(float)
    if bias >= 0:
        z = np.hstack([z, np.full((len(z), 1), bias)])
    w = w[: z.shape[1]]  # LIBLINEAR may know of more columns
    u = z @ w
    value = 0.5 * (w * w).sum()
    if solver in (12, 13):
        e = np.maximum(0, np.abs(y - u[:, 0]) - p)
        return value + c * (e * e if solver == 12 else e).sum()
    if solver == 4:
        own = np.array([labels.index(v) for v in y])
        m = u + 1
        m[np.arange(len(y)), own] -= 1
        return value + c * (m.max(1) - u[np.arange(len(y)), own]).sum()
    for t in range(w.shape[1]):
        s = np.where(y == labels[t], 1, -1) * u[:, t]
        if solver == 1:
            value += c * (np.maximum(0, 1 - s) ** 2).sum()
        elif solver == 3:
            value += c * np.maximum(0, 1 - s).sum()
        else:
            value += c * np.logaddexp(0, -s).sum()
    return value

out = []
for name, solvers in [("a9a", (1, 3, 7, 4)), ("w8a", (1, 3, 7)), ("ijcnn1", (1, 3, 7)), ("reuters", (1, 3, 7)), ("letter", (1, 3, 7, 4)), ("cpusmall", (12, 13))]:
    x, y = sets[name]()
    for solver in solvers:
        c = 1.0 if name != "letter" else 0.1
        for bias in (-1, 1) if solver in (1, 13) else (1,):
            labels, w = train(x, y, solver, c, bias)
            value = objective(x, y, labels, w, solver, c, bias)
            out.append({"data": name, "solver": solver, "c": c, "bias": bias, "objective": value})
            print(out[-1], flush=True)

# The one-class machine is LIBSVM's, with a linear kernel: LIBLINEAR's solver 21 came after the
# version that many systems have. Its objective is ½|w|² of 0 ≤ α ≤ 1, Σα = νn.
x, _ = cpusmall()
for nu in (0.1, 0.5):
    with tempfile.TemporaryDirectory() as d:
        with open(d + "/t", "w") as f:
            for row in x:
                f.write("1 " + " ".join("%d:%.9g" % (j + 1, row[j]) for j in np.nonzero(row)[0]) + "\n")
        said = subprocess.run(["svm-train", "-s", "2", "-t", "0", "-n", str(nu), "-e", "1e-3", d + "/t", d + "/m"],
                              check=True, capture_output=True, text=True).stdout
        value = float(said.split("obj = ")[1].split(",")[0])
        out.append({"data": "cpusmall", "solver": 21, "nu": nu, "objective": value})
        print(out[-1], flush=True)
json.dump(out, open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "liblinear_objectives.json"), "w"), indent=1)
