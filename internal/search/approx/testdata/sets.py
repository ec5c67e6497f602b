"""Prints errors and times of the maps of the rbf and poly kernels on six data sets, beside scikit-learn's maps of the same rows; research/docs/maps.md has the tables.

    go build -o times ./internal/search/approx/testdata/times
    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python3 sets.py MERCER TIMES DATA [rbf|poly] > tables.md

MERCER and TIMES are programs, DATA the folder of public data sets. Needs numpy, pandas and scikit-learn.
Rows are standardised; 200 are judged, all pairs of them, and 1,000 others are what maps are fitted to. Cells are
the relative Frobenius error of the Gram matrix, mean over the seeds 1 and 2, and in brackets microseconds a row: of processor time, on one
thread, the median of 15 batches of 200 rows.
"""
import json
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

MERCER, TIMES, DATA = sys.argv[1:4]
ROWS, FIT, SEEDS = 200, 1000, 2
SETS = {  # file, separator, first and last column of the inputs
    "skin": ("skin_nonskin/Skin_NonSkin.txt.gz", "\t", 0, 3),
    "california": ("california_housing/cal_housing.data.gz", ",", 0, 8),
    "letter": ("letter/letter-recognition.data.gz", ",", 1, 17),
    "covtype": ("covtype/covtype.first20k.data.gz", ",", 0, 54),
    "optdigits": ("optdigits/optdigits.tra.gz", ",", 0, 64),
    "mnist": ("mnist/", None, 0, 784),
}
WAVES, LANDMARKS = [128, 512, 2048], [128, 512]
RUNS = {  # maps, features, flags
    "rbf": [
        (["rff", "orf", "sorf", "qmc", "fastfood", "taylorsketch"], WAVES, []),
        (["nystrom", "icholesky", "cksvd", "kg-rp", "korp", "kpca-rp"], LANDMARKS, []),
    ],
    "poly": [
        (["tensorsketch", "tensorsrht", "maclaurin", "explicit-rp", "d2pk-rp", "pk-rp"], WAVES, []),
        (["tensorsrht", "maclaurin"], WAVES, ["--complex"]),
        (["tensorsketch"], WAVES, ["--hash", "balanced"]),
        (["nystrom", "icholesky", "cksvd", "kg-rp", "korp", "kpca-rp"], LANDMARKS, []),
    ],
}


def rows(name):
    path, sep, first, last = SETS[name]
    if name == "mnist":
        import glob, gzip
        raw = gzip.open(sorted(glob.glob(DATA + "/mnist/t10k-images*"))[0]).read()
        x = np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 784).astype(float)
    else:
        x = pd.read_csv(DATA + "/" + path, sep=sep, header=None).iloc[:, first:last].values.astype(float)
    x = x[np.random.RandomState(1).permutation(len(x))[: ROWS + FIT]]
    deviation = x.std(0)
    if name == "mnist":
        deviation = x.std()  # of all pixels: those of the margin are nearly constant
    x = (x - x.mean(0)) / np.where(deviation > 0, deviation, 1)
    return x[:ROWS].astype(np.float32), x[ROWS:].astype(np.float32)


def ours(kernel, judge, fit):
    """The lines of approx --json by map and D, and γ."""
    lines, configs, gamma = {}, {}, None
    with tempfile.TemporaryDirectory() as folder:
        np.save(folder + "/judge.npy", judge)
        np.save(folder + "/fit.npy", fit)
        for maps, features, flags in RUNS[kernel]:
            if judge.shape[1] > 100:
                maps = [m for m in maps if m != "explicit-rp"]  # d² products a row for each feature
            command = [MERCER, "approx", folder + "/judge.npy", "--fit", folder + "/fit.npy", "--scale", "none", "--kernel", kernel,
                       "--map", ",".join(maps), "--features", ",".join(map(str, features)), "--rows", str(ROWS), "--seeds", str(SEEDS), "--json"] + (["--degree", "2"] if kernel == "poly" else []) + flags
            r = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            gamma = r["kernel"]["gamma"]
            for line in r["results"]:
                title = " ".join(["`" + line["map"] + "`"] + (["`" + " ".join(flags) + "`"] if flags else []))
                lines[title, line["features"]] = [line["rel_frobenius"], None]
                option = {"": {}, "--complex": {"complex": True}, "--hash balanced": {"hash": "balanced"}}[" ".join(flags)]
                of = {"name": kernel, "gamma": gamma, **({"degree": 2, "coef0": 1} if kernel == "poly" else {})}
                configs[title, line["features"]] = {"map": line["map"], "kernel": of, "features": line["features"], "seed": 1, **option}
    times = subprocess.run([TIMES, str(judge.shape[1])], input=json.dumps(list(configs.values())), check=True, capture_output=True, text=True).stdout
    for key, t in zip(configs, json.loads(times)):
        lines[key][1] = t
    return lines, gamma


def theirs(kernel, judge, fit, gamma):
    """scikit-learn's in the same form."""
    if kernel == "rbf":
        exact = rbf_kernel(judge.astype(float), gamma=gamma)
        maps = {"RBFSampler": (WAVES, lambda D, s: RBFSampler(gamma=gamma, n_components=D, random_state=s)),
                "Nystroem": (LANDMARKS, lambda D, s: Nystroem(gamma=gamma, n_components=D, random_state=s))}
    else:
        exact = polynomial_kernel(judge.astype(float), degree=2, gamma=gamma, coef0=1)
        maps = {"PolynomialCountSketch": (WAVES, lambda D, s: PolynomialCountSketch(degree=2, gamma=gamma, coef0=1, n_components=D, random_state=s)),
                "Nystroem": (LANDMARKS, lambda D, s: Nystroem(kernel="poly", degree=2, gamma=gamma, coef0=1, n_components=D, random_state=s))}
    lines = {}
    for name, (features, make) in maps.items():
        for D in features:
            errors, times = [], []
            for seed in range(1, SEEDS + 1):
                z = make(D, seed).fit(fit)
                for _ in range(15):
                    start = time.process_time()
                    out = z.transform(judge)
                    times.append(1e6 * (time.process_time() - start) / ROWS)
                out = out.astype(float)
                errors.append(np.linalg.norm(out @ out.T - exact) / np.linalg.norm(exact))
            lines["scikit-learn's " + name, D] = (np.mean(errors), np.median(times))
    return lines


for kernel in sys.argv[4:] or RUNS:
    table, dims = {}, {}
    for name in SETS:
        judge, fit = rows(name)
        dims[name] = judge.shape[1]
        lines, gamma = ours(kernel, judge, fit)
        lines.update(theirs(kernel, judge, fit, gamma))
        for key, cell in lines.items():
            table.setdefault(key, {})[name] = cell
        print(kernel, name, "done", file=sys.stderr, flush=True)
    print("| %s | D | " % kernel + " | ".join("%s, %d" % (n, dims[n]) for n in SETS) + " |")
    print("| --- " * (2 + len(SETS)) + "|")
    order = list(dict.fromkeys(title for title, _ in table))
    for title, D in sorted(table, key=lambda k: (order.index(k[0]), k[1])):
        cells = [table[title, D].get(n) for n in SETS]
        print("| %s | %s | " % (title, format(D, ",")) +
              " | ".join("%s (%s)" % (format(c[0], ".2g") if c[0] is not None else "–", format(c[1], ".2g")) if c else "–" for c in cells) + " |")
    print()
