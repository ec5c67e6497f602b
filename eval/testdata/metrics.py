"""Writes metrics.json: scikit-learn's metrics of small made-up predictions (scikit-learn 1.2.1).

A value of null is one that scikit-learn refuses or calls NaN. The calibration errors and the
relative RMSE, which it does not have, are numpy by their definitions.
"""
import json
import warnings

import numpy as np
from sklearn import metrics as m

warnings.simplefilter("ignore")
r = np.random.RandomState(1)
out = []


def lists(**kw):
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in kw.items() if v is not None}


def calibration(confidence, hit, w):
    bins = np.minimum((confidence * 15).astype(int), 14)
    ece, mce = 0.0, 0.0
    for b in np.unique(bins):
        i = bins == b
        if w[i].sum() > 0:
            gap = abs(np.average(hit[i], weights=w[i]) - np.average(confidence[i], weights=w[i]))
            ece += gap * w[i].sum() / w.sum()
            mce = max(mce, gap)
    return {"ece": ece, "mce": mce}


def averages(want, truth, predicted, w, labels=None, kinds=("macro", "weighted")):
    for kind in kinds:
        p, c, f, _ = m.precision_recall_fscore_support(truth, predicted, average=kind, sample_weight=w, labels=labels, zero_division=0)
        want.update({kind + "_precision": p, kind + "_recall": c, kind + "_f1": f})


def one_against_rest(want, columns, scores, w):
    """columns: 0/1 of each class; the areas of each, and their means."""
    auc, ap, rows = [], [], []
    for k in range(columns.shape[1]):
        y, s = columns[:, k], scores[:, k]
        rows.append(w[y == 1].sum())
        auc.append(m.roc_auc_score(y, s, sample_weight=w) if 0 < w[y == 1].sum() < w.sum() else None)
        ap.append(m.average_precision_score(y, s, sample_weight=w) if w[y == 1].sum() > 0 else None)
    for name, values in (("auc", auc), ("average_precision", ap)):
        there = [i for i, v in enumerate(values) if v is not None]
        if there:
            want["macro_" + name] = np.mean([values[i] for i in there])
            want["weighted_" + name] = np.average([values[i] for i in there], weights=[rows[i] for i in there])
    return auc, ap


def classes(name, k, truth, predicted, scores=None, proba=None, weights=None):
    """truth of -1: a label that the model does not know."""
    w = np.ones(len(truth)) if weights is None else weights
    known = truth >= 0
    want = {"n": len(truth), "accuracy": m.accuracy_score(truth, predicted, sample_weight=w),
            "error": m.zero_one_loss(truth, predicted, sample_weight=w),
            "balanced_accuracy": m.balanced_accuracy_score(truth[known], predicted[known], sample_weight=w[known]),
            "mcc": m.matthews_corrcoef(truth, predicted, sample_weight=w),
            "micro_f1": m.f1_score(truth, predicted, average="micro", sample_weight=w)}
    kappa = m.cohen_kappa_score(truth, predicted, sample_weight=w)
    want["kappa"] = None if np.isnan(kappa) else kappa
    averages(want, truth, predicted, w, labels=[i for i in range(k) if (truth == i).any() or (predicted == i).any()])
    p, c, f, s = m.precision_recall_fscore_support(truth, predicted, labels=range(k), sample_weight=w, zero_division=0)
    per_class = [{"precision": p[i], "recall": c[i], "f1": f[i], "rows": s[i]} for i in range(k)]
    if k == 2:
        want.update({"precision": p[1], "recall": c[1], "f1": f[1]})
    if scores is not None:
        t, s, v = truth[known], scores[known], w[known]
        if k == 2:
            both = 0 < v[t == 1].sum() < v.sum()
            want["auc"] = m.roc_auc_score(t, s, sample_weight=v) if both else None
            want["average_precision"] = m.average_precision_score(t, s, sample_weight=v) if v[t == 1].sum() > 0 else None
        else:
            columns = (t[:, None] == np.arange(k)).astype(int)
            auc, ap = one_against_rest(want, columns, s, v)
            for i in range(k):
                per_class[i].update({"auc": auc[i], "average_precision": ap[i]})
        if k > 5:
            want["top_5_accuracy"] = m.top_k_accuracy_score(t, s, k=5, labels=range(k), sample_weight=v) * v.sum() / w.sum()
    if proba is not None:
        t, p, v = truth[known], proba[known], w[known]
        want["log_loss"] = m.log_loss(t, p, labels=range(k), sample_weight=v)
        if k == 2:
            want["brier"] = m.brier_score_loss(t, p[:, 1], sample_weight=v, pos_label=1) if len(set(t)) == 2 else np.average((p[:, 1] - t) ** 2, weights=v)
        else:
            want["brier"] = np.average(((p - (t[:, None] == np.arange(k))) ** 2).sum(axis=1), weights=v)
        want.update(calibration(p.max(axis=1), (p.argmax(axis=1) == t).astype(float), v))
    confusion = m.confusion_matrix(truth, predicted, labels=range(k), sample_weight=w)
    out.append(lists(name=name, kind="classes", k=k, truth=truth, predicted=predicted, scores=scores, proba=proba, weights=weights,
                     want=want, classes=per_class, confusion=confusion.astype(float)))


def softmax(s):
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def scored(n, k, noise=1.0, digits=1):
    """Rounded scores, so that there are ties."""
    truth = r.randint(0, k, n)
    s = np.round(noise * r.randn(n, k) + (truth[:, None] == np.arange(k)), digits)
    return truth, s.astype(np.float32).astype(float)


truth, s = scored(60, 4)
classes("four classes", 4, truth, s.argmax(axis=1), s, softmax(2 * s))
classes("four classes, weights", 4, truth, s.argmax(axis=1), s, softmax(2 * s), r.rand(60) * 3)
truth, s = scored(80, 7, 0.8)
classes("seven classes", 7, truth, s.argmax(axis=1), s, softmax(5 * s), r.randint(0, 4, 80).astype(float))
truth, s = scored(50, 5)
truth[truth == 2] = 3
s[:, 4] -= 100
classes("a class absent, another never predicted", 5, truth, s.argmax(axis=1), s, softmax(s))
truth = np.where(truth == 4, 0, truth)
classes("a class neither there nor predicted", 5, truth, np.where(s.argmax(axis=1) == 4, 0, s.argmax(axis=1)), s)
truth[[3, 8, 9]] = -1
classes("labels unknown to the model", 5, truth, s.argmax(axis=1), s, softmax(s), r.rand(50))
classes("one class alone", 3, np.full(9, 1), np.full(9, 1), softmax(r.randn(9, 3)).astype(np.float32).astype(float))

truth = r.randint(0, 2, 70)
s = np.round(r.randn(70) + truth, 1).astype(np.float32).astype(float)
p = 1 / (1 + np.exp(-s))
classes("two classes", 2, truth, (s > 0).astype(int), s, np.column_stack([1 - p, p]))
classes("two classes, weights", 2, truth, (s > 0).astype(int), s, np.column_stack([1 - p, p]), r.rand(70) * 10)
classes("two classes, weights of 0", 2, truth, (s > 0).astype(int), s, None, (r.rand(70) < 0.5).astype(float))
p = np.where(s > 1, 1.0, np.where(s < -1, 0.0, p))
classes("probabilities of 0 and 1", 2, truth, (s > 0).astype(int), s, np.column_stack([1 - p, p]))
classes("all scores tied", 2, truth, np.ones(70, int), np.zeros(70))
classes("positive rows alone", 2, np.ones(6, int), np.array([1, 1, 0, 1, 0, 1]), np.arange(6.0))
classes("negative rows alone", 2, np.zeros(6, int), np.array([1, 1, 0, 1, 0, 1]), np.arange(6.0))
classes("all right, one class", 2, np.zeros(6, int), np.zeros(6, int), np.arange(6.0))
classes("one row", 2, np.array([1]), np.array([0]), np.array([-1.0]), np.array([[0.75, 0.25]]))


def numbers(name, truth, predicted, quantile=0.5, weights=None):
    truth, predicted = truth.reshape(len(truth), -1), predicted.astype(np.float32).astype(float).reshape(len(truth), -1)
    w = np.ones(len(truth)) if weights is None else weights
    error = truth - predicted
    square = np.average(error**2, axis=0, weights=w)
    spread = np.average((truth - np.average(truth, axis=0, weights=w)) ** 2, axis=0, weights=w)
    want = {"n": len(truth), "rmse": np.sqrt(m.mean_squared_error(truth, predicted, multioutput="raw_values", sample_weight=w)).mean(),
            "mae": m.mean_absolute_error(truth, predicted, sample_weight=w),
            "median_ae": m.median_absolute_error(truth, predicted, sample_weight=weights),
            "max_error": max(m.max_error(truth[w > 0, t], predicted[w > 0, t]) for t in range(truth.shape[1])),
            "pinball": m.mean_pinball_loss(truth, predicted, alpha=quantile, sample_weight=w), "quantile": quantile,
            "bias": np.average(-error, axis=0, weights=w).mean(),
            "relative_rmse": np.sqrt(square[spread > 0] / spread[spread > 0]).mean() if (spread > 0).any() else None}
    if len(truth) > 1:
        want["r2"] = m.r2_score(truth, predicted, sample_weight=w)
        want["explained_variance"] = m.explained_variance_score(truth, predicted, sample_weight=w)
    else:
        want["r2"] = want["explained_variance"] = None
    if (truth != 0).all():
        want["mape"] = m.mean_absolute_percentage_error(truth, predicted, sample_weight=w)
    else:
        there = [t for t in range(truth.shape[1]) if (truth[:, t] != 0).any()]
        of = lambda t, i: m.mean_absolute_percentage_error(truth[i, t], predicted[i, t], sample_weight=w[i])
        want["mape"] = np.mean([of(t, truth[:, t] != 0) for t in there]) if there else None
    out.append(lists(name=name, kind="numbers", k=truth.shape[1], truth=truth, predicted=predicted, weights=weights, want=want))


truth = np.round(r.randn(41, 1) * 3 + 10, 3)
numbers("one output", truth, truth + r.randn(41, 1))
numbers("one output, weights", truth, truth + r.randn(41, 1), 0.9, r.rand(41))
numbers("an even number of rows", truth[:40], truth[:40] + r.randn(40, 1), 0.1)
truth = np.round(r.randn(40, 2) * [1, 100] + [5, -300], 3)
numbers("two outputs", truth, truth + r.randn(40, 2) * [0.5, 20])
numbers("two outputs, weights", truth, truth + r.randn(40, 2) * [0.5, 20], 0.25, r.rand(40) * 5)
numbers("far from 0", 1e6 + np.round(r.randn(30), 2), 1e6 + np.round(r.randn(30)))
numbers("constant targets", np.full(5, 3.0), np.array([3, 3, 2.5, 3, 4]))
numbers("constant targets, no error", np.full(5, 3.0), np.full(5, 3.0))
numbers("targets of 0", np.array([0, 1, 2, 0, 4.0]), np.array([0.5, 1, 2.5, 0, 3]))
numbers("no other targets than 0", np.zeros(4), np.array([0.5, 1, 2.5, 0]))
numbers("one row", np.array([2.0]), np.array([2.5]))


def labels(name, truth, scores, weights=None, threshold=0.0):
    predicted = (scores > threshold).astype(int)
    proba = 1 / (1 + np.exp(-scores))
    w = np.ones(len(truth)) if weights is None else weights
    k = truth.shape[1]
    used = [i for i in range(k) if truth[:, i].any() or predicted[:, i].any()]
    want = {"n": len(truth), "subset_accuracy": m.accuracy_score(truth, predicted, sample_weight=w),
            "hamming_loss": m.hamming_loss(truth, predicted, sample_weight=w),
            "label_ranking_average_precision": m.label_ranking_average_precision_score(truth, scores, sample_weight=w),
            "log_loss": np.mean([m.log_loss(truth[:, i], proba[:, i], labels=[0, 1], sample_weight=w) for i in range(k)]),
            "brier": np.mean([np.average((truth[:, i] - proba[:, i]) ** 2, weights=w) for i in range(k)])}
    averages(want, truth, predicted, w, labels=used)
    averages(want, truth, predicted, w, kinds=("micro", "samples"))
    auc, ap = one_against_rest(want, truth, scores, w)
    trust = np.maximum(proba, 1 - proba).ravel()
    want.update(calibration(trust, ((proba > 0.5) == truth).astype(float).ravel(), np.repeat(w, k)))
    p, c, f, s = m.precision_recall_fscore_support(truth, predicted, sample_weight=w, zero_division=0)
    each = [{"precision": p[i], "recall": c[i], "f1": f[i], "rows": s[i], "auc": auc[i], "average_precision": ap[i]} for i in range(k)]
    out.append(lists(name=name, kind="labels", k=k, truth=truth, predicted=predicted, scores=scores, proba=proba, weights=weights, want=want, classes=each))


truth = (r.rand(50, 4) < 0.3).astype(int)
s = np.round(r.randn(50, 4) + 2 * truth - 1, 1).astype(np.float32).astype(float)
truth[0], truth[1], s[2] = 1, 0, -1
labels("labels", truth, s)
labels("labels, weights", truth, s, r.rand(50) * 2)
truth[:, 1] = 0
s[:, 3] = -5
labels("a label absent, another never predicted", truth, s)
s[:, 1] = -3
labels("a label neither there nor predicted", truth, s)

json.dump(out, open("metrics.json", "w"), separators=(",", ":"))
