"""Prints test errors of models on the default map beside those on the default of old, which drew the lengths of its frequencies independently and never took qmc; research/docs/maps.md has the table.

    python3 accuracy.py MERCER DATA > table.md

MERCER is the program, DATA the folder of public data sets. Needs numpy. Each seed draws 4,000 rows to train on, at most 5,000 others
to test on, and the maps. Ridge for numbers (error: 1 - R², λ by rows held out), svm for classes (share of wrong ones); all else is the default.
"""
import gzip
import json
import math
import re
import subprocess
import sys
import tempfile

import numpy as np

MERCER, DATA = sys.argv[1:3]
TRAIN, TEST, SEEDS = 4000, 5000, (1, 2, 3)
SETS = {  # file, columns of inputs, column of the label, learner
    "skin": ("skin_nonskin/Skin_NonSkin.txt.gz", 3, -1, "svm"),
    "california": ("california_housing/cal_housing.data.gz", 8, -1, "ridge"),
    "cpusmall": ("cpusmall/cpu.small.arff.gz", 12, -1, "ridge"),
    "letter": ("letter/letter-recognition.data.gz", 16, 0, "svm"),
    "elevators": ("elevators/elevators.arff.gz", 18, -1, "ridge"),
    "covtype": ("covtype/covtype.first20k.data.gz", 54, -1, "svm"),
    "spambase": ("spambase/spambase.data.gz", 57, -1, "svm"),
}


def rows(name):
    path, dim, label, _ = SETS[name]
    table = []
    for line in gzip.open(f"{DATA}/{path}", "rt"):
        if line[0] in "%@":  # what ARFF says before its rows
            continue
        cells = re.split(r"[,\s]+", line.strip())
        if len(cells) == dim + 1:
            table.append(",".join(cells))
    return np.array(table)


def error(train, test, label, learner, features, seed, flags):
    run = [MERCER, "train", train, "-o", train + ".mercer", "--test", test, "--label", str(label), "--learner", learner,
           "--features", str(features), "--seed", str(seed), "--json", "--threads", "1", *flags]
    run += ["--lambda-by", "held-out"] if learner == "ridge" else []
    out = json.loads(subprocess.run(run, check=True, stdout=subprocess.PIPE).stdout)["trained"]
    found = {m["name"]: m["value"] for m in out["tested"]["metrics"]}
    return out["feature"]["map"], 1 - (found["r2"] if learner == "ridge" else found["accuracy"])


def cell(table, name, features):
    _, dim, label, learner = SETS[name]
    old, new = [], []
    for seed in SEEDS:
        order = np.random.RandomState(seed).permutation(len(table))
        with tempfile.TemporaryDirectory() as folder:
            train, test = folder + "/train.csv", folder + "/test.csv"
            np.savetxt(train, table[order[:TRAIN]], "%s")
            np.savetxt(test, table[order[TRAIN : TRAIN + TEST]], "%s")
            was = ["--map", "sorf" if dim > 16 else "orf", "--radius", "chi"]
            old.append(error(train, test, label, learner, features, seed, was)[1])
            chosen, e = error(train, test, label, learner, features, seed, [])
            new.append(e)
    difference = np.subtract(new, old)
    deviation = difference.std(ddof=1) / math.sqrt(len(SEEDS))
    print(name, features, chosen, old, new, file=sys.stderr, flush=True)
    mark = " `qmc`" if chosen == "qmc" else ""
    return f"{np.mean(old):.4f} → {np.mean(new):.4f} ({difference.mean():+.4f} ± {deviation:.4f}){mark}"


WIDTHS = (128, 512, 2048)
tables = {name: rows(name) for name in SETS}
cells = {name: [] for name in SETS}
for width in WIDTHS:
    for name in SETS:
        cells[name].append(cell(tables[name], name, width))
print("| data, dimensions | " + " | ".join(f"D = {w:,}" for w in WIDTHS) + " |\n| --- | --- | --- | --- |")
for name in SETS:
    print(f"| {name}, {SETS[name][1]} | " + " | ".join(cells[name]) + " |")
