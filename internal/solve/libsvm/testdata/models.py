#!/usr/bin/env python3
"""Writes models.json: models that svm-train makes of small generated rows, for every type and kernel, and
what svm-predict gives for others, with and without probabilities. Run it where LIBSVM is installed."""
import json, os, random, subprocess, tempfile

tmp = tempfile.mkdtemp()
random.seed(11)


def rows(n):
    out = []
    for i in range(n):
        c = i % 3
        row = [(j, round(random.gauss((c == j) * 1.5, 1), 3)) for j in range(6) if random.random() < 0.7]
        out.append((c, row))
    return out


def write(name, data, label):
    path = os.path.join(tmp, name)
    with open(path, "w") as f:
        for c, row in data:
            f.write(" ".join([str(label(c, row))] + ["%d:%g" % (j + 1, v) for j, v in row]) + "\n")
    return path


train, test = rows(60), rows(60)
labels = {
    "two": lambda c, row: 1 if c == 1 else -1,
    "three": lambda c, row: [7, -2, 30][c],
    "numbers": lambda c, row: round(sum(v for j, v in row) + c, 3),
}
models = []
for kernel in ["-t 0", "-t 1 -g 0.5 -r -0.3 -d 3", "-t 2 -g 0.2", "-t 3 -g 0.1 -r -0.5"]:
    for label, options in [("two", "-s 0 -c 3 -b 1"), ("three", "-s 0 -c 3 -b 1"), ("three", "-s 0"), ("three", "-s 1 -n 0.2 -b 1"), ("two", "-s 2 -n 0.3"), ("numbers", "-s 3 -p 0.2 -b 1"), ("numbers", "-s 4 -n 0.4")]:
        model = os.path.join(tmp, "model")
        subprocess.run(["svm-train"] + (kernel + " " + options).split() + [write("train", train, labels[label]), model], check=True, capture_output=True)
        r = {"options": kernel + " " + options, "model": open(model).read()}
        path, out = write("test", test, labels[label]), os.path.join(tmp, "out")
        for b in ["0", "1"]:
            if b == "1" and not ("-b 1" in options and label != "numbers"):
                continue
            subprocess.run(["svm-predict", "-b", b, path, model, out], check=True, capture_output=True)
            r["predicted" + b] = [[float(w) for w in l.split()] for l in open(out) if not l.startswith("labels")]
            if b == "1":
                r["labels"] = [int(w) for w in open(out).readline().split()[1:]]
        models.append(r)
json.dump({"rows": [dict((j + 1, v) for j, v in row) for c, row in test], "models": models}, open("models.json", "w"))
