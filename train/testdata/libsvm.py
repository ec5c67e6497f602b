#!/usr/bin/env python3
"""Writes libsvm.json: what svm-train and svm-predict of LIBSVM give for nu-SVC, nu-SVR and SVR without
a tube on generated rows. Run it in this folder where they are installed."""
import json, math, os, random, subprocess, tempfile

tmp = tempfile.mkdtemp()
random.seed(11)


def rows(n):
    x, classes, numbers = [], [], []
    for i in range(n):
        c = i % 3
        r = [round(random.gauss((c == j) * 1.5, 1), 3) for j in range(3)]
        x.append(r)
        classes.append(c)
        numbers.append(round(math.sin(r[0]) + 0.5 * r[1] * r[2] + random.gauss(0, 0.2), 3))
    return x, classes, numbers


def write(name, x, y):
    path = os.path.join(tmp, name)
    with open(path, "w") as f:
        for r, label in zip(x, y):
            f.write("%g" % label + "".join(" %d:%g" % (j + 1, v) for j, v in enumerate(r)) + "\n")
    return path


x, three, numbers = rows(240)
tx, tthree, tnumbers = rows(90)
two, ttwo = [int(c == 1) for c in three], [int(c == 1) for c in tthree]
labels = {"two": (two, ttwo), "three": (three, tthree), "numbers": (numbers, tnumbers)}
cases = []
for name, options in [("two", "-s 1 -n 0.2"), ("two", "-s 1 -n 0.5"), ("three", "-s 1 -n 0.3"), ("numbers", "-s 4 -c 2 -n 0.3"), ("numbers", "-s 4 -c 0.5 -n 0.8"), ("numbers", "-s 3 -c 2 -p 0")]:
    y, ty = labels[name]
    model, out = os.path.join(tmp, "model"), os.path.join(tmp, "out")
    text = subprocess.run(["svm-train", "-g", "0.4", "-e", "0.00001"] + options.split() + [write("train", x, y), model], check=True, capture_output=True, text=True).stdout
    r = {"labels": name, "options": options, "objective": [], "epsilon": 0}
    for line in text.splitlines():
        if line.startswith("obj"):
            r["objective"].append(float(line.split(",")[0].split("=")[1]))
        if line.startswith("epsilon"):
            r["epsilon"] = float(line.split("=")[1])
    with open(model) as f:
        r["vectors"] = int([l for l in f if l.startswith("total_sv")][0].split()[1])
    subprocess.run(["svm-predict", write("test", tx, ty), model, out], check=True, capture_output=True)
    r["predicted"] = [float(l) for l in open(out)]
    cases.append(r)

json.dump({"x": sum(x, []), "test": sum(tx, []), "two": two, "three": three, "numbers": numbers, "cases": cases}, open("libsvm.json", "w"))
