#!/usr/bin/env python3
"""Writes libsvm.json: what LIBSVM's svm-train and svm-predict give, on small generated rows and on
the first rows of real data sets (whose numbers alone are kept). Run it where svm-train is
installed, with the folder of the data sets as its argument."""
import bz2, gzip, json, random, subprocess, sys, tempfile, os

data = sys.argv[1]
tmp = tempfile.mkdtemp()


def write(name, x, y):
    path = os.path.join(tmp, name)
    with open(path, "w") as f:
        for row, label in zip(x, y):
            f.write("%.9g" % label)
            for j, v in row:
                f.write(" %d:%.9g" % (j + 1, v))
            f.write("\n")
    return path


def train(path, options):
    model = os.path.join(tmp, "model")
    text = subprocess.run(["svm-train", "-m", "1000"] + options.split() + [path, model], check=True, capture_output=True, text=True).stdout
    r = {"objective": [], "rho": [], "epsilon": 0}
    for line in text.splitlines():
        if line.startswith("obj"):
            a, b = line.split(",")
            r["objective"].append(float(a.split("=")[1]))
            r["rho"].append(float(b.split("=")[1]))
        if line.startswith("epsilon"):
            r["epsilon"] = float(line.split("=")[1])
        if line.startswith("Total nSV"):
            r["vectors"] = int(line.split("=")[1])
    if "vectors" not in r:
        with open(model) as f:
            r["vectors"] = int([l for l in f if l.startswith("total_sv")][0].split()[1])
    out = os.path.join(tmp, "out")
    subprocess.run(["svm-predict", path, model, out], check=True, capture_output=True)
    r["predicted"] = [float(l) for l in open(out)]
    return r


random.seed(7)
x, classes, numbers = [], [], []
for i in range(90):
    c = i % 3
    row = [round(random.gauss((c == j) * 1.2, 1), 3) for j in range(4)]
    x.append(row)
    classes.append(c)
    numbers.append(round(row[0] * row[1] + 0.5 * row[2] + random.gauss(0, 0.1), 3))
pairs = [list(enumerate(r)) for r in x]
two = [(c == 1) + 0 for c in classes]
kernels = {"linear": "-t 0", "poly": "-t 1 -g 0.5 -r 1 -d 3", "rbf": "-t 2 -g 0.3"}
small = []
for name, k in kernels.items():
    for label, y, s in [("two", two, "-s 0 -c 1"), ("two", two, "-s 0 -c 10 -w1 3"), ("three", classes, "-s 0 -c 2"), ("two", two, "-s 1 -n 0.3"),
                        ("three", classes, "-s 1 -n 0.4"), ("none", two, "-s 2 -n 0.2"), ("numbers", numbers, "-s 3 -c 2 -p 0.1"), ("numbers", numbers, "-s 4 -c 2 -n 0.5")]:
        r = train(write("small", pairs, y), k + " -e 0.00001 " + s)
        small.append({"kernel": name, "labels": label, "options": s} | r)

real = []


def libsvm(f, n):
    x, y = [], []
    for line in f:
        w = line.split()
        y.append(float(w[0]))
        x.append([(int(p.split(":")[0]) - 1, float(p.split(":")[1])) for p in w[1:]])
        if len(y) == n:
            return x, y


def letter(n):
    x, y = [], []
    for line in gzip.open(data + "/letter/letter-recognition.data.gz", "rt"):
        w = line.strip().split(",")
        y.append(ord(w[0]) - ord("A"))
        x.append([(j, int(v) / 16) for j, v in enumerate(w[1:])])
        if len(y) == n:
            return x, y


def cpusmall(n):  # every column through its largest number, every target through 100
    rows = [[float(v) for v in l.split(",")] for l in gzip.open(data + "/cpusmall/cpu.small.arff.gz", "rt") if l[0].isdigit()][:n]
    most = [max(r[j] for r in rows) for j in range(12)]
    return [[(j, r[j] / most[j]) for j in range(12)] for r in rows], [r[12] / 100 for r in rows]


for name, (rows, y), options in [
    ("a9a", libsvm(gzip.open(data + "/a9a/a9a.gz", "rt"), 3000), "-g 0.05 -c 10"),
    ("w8a", libsvm(gzip.open(data + "/w8a/w8a.gz", "rt"), 3000), "-g 0.05 -c 10"),
    ("ijcnn1", libsvm(bz2.open(data + "/ijcnn1/ijcnn1.trn.bz2", "rt"), 4000), "-g 2 -c 10"),
    ("letter", letter(3000), "-g 5 -c 10"),
    ("reuters_lasvm", libsvm(bz2.open(data + "/reuters_lasvm/reuters.trn.bz2", "rt"), 2000), "-g 1 -c 10"),
    ("cpusmall", cpusmall(2000), "-s 3 -g 2 -c 1 -p 0.01"),
]:
    r = train(write(name, rows, y), options)
    del r["predicted"]
    real.append({"data": name, "rows": len(y), "options": options} | r)

json.dump({"x": sum(x, []), "two": two, "three": classes, "numbers": numbers, "small": small, "real": real}, open("libsvm.json", "w"))
