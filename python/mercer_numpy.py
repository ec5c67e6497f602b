"""Predicts with models written by `mercer export`, with NumPy alone. docs/export.md describes the files.

    load("model.npz").predict({"age": [39, None], "work": ["State-gov", "Private"]})      # or model.safetensors
"""
import json

import numpy as np

MISSING = {"", "?", "na", "n/a", "nan", "-nan", "null", "none", "<na>", "\\n", "#na", "#n/a", "#n/a n/a", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"}
ABSENT = {*"- -- – — . .. ... _ * nat nil nd n.a. n.a n/d (null) [null] missing unknown undefined #div/0! #value! #ref! #num! #name? #null!".split(), "not available", "not applicable", "0000-00-00", "0000-00-00 00:00:00"}


def lacks(v, marks, words):
    """Whether a value stands for a missing one."""
    return v is None or v != v or (text := str(v).strip()) in marks or text.lower() in words


def load(path):
    """Reads an exported model from a file of either format."""
    with open(path, "rb") as f:
        if (first := f.read(2)) == b"PK":
            t = dict(np.load(path, allow_pickle=False))
            return Model(json.loads(t.pop("mercer").tobytes()), t)
        head, data = json.loads(f.read(int.from_bytes(first + f.read(6), "little"))), f.read()
    about, kinds = json.loads(head.pop("__metadata__")["mercer"]), {"F32": "<f4", "F64": "<f8"}
    return Model(about, {k: np.frombuffer(data[slice(*e["data_offsets"])], kinds[e["dtype"]]).reshape(e["shape"]) for k, e in head.items()})


class Model:
    """A model: `about` is the description, `t` the tensors by name."""

    def __init__(self, about, tensors):
        if about.get("format") != "mercer-export" or about.get("version") not in (1, 2, 3):
            raise ValueError("not a model that mercer export wrote, or of a later version")
        self.about, self.t = about, tensors

    def encode(self, x):
        """Rows of numbers, n×d: of an array, or of a mapping from the names of columns to their values."""
        rule, na, out = self.about.get("missing"), self.about.get("na", ()), None if hasattr(x, "keys") else np.asarray(x, np.float32)
        if out is None:
            out = np.zeros((len(x[self.about["columns"][0]["name"]]), self.about["dim"]), np.float32)
            for c in self.about["columns"]:
                values = [str(v).lower() if isinstance(v, (bool, np.bool_)) else v for v in x[c["name"]]]
                words, marks = (MISSING, {*na}) if "categories" in c else (MISSING | ABSENT, {*na, *c.get("marks", ())})
                lacking = np.array([lacks(v, marks, words) for v in values], bool)
                if "categories" not in c:
                    values = np.array([0 if no else float(v) for v, no in zip(values, lacking)])
                    lacking |= np.isin(values, [float(m) for m in marks if m.strip("+-.eE0123456789") == "" and any(map(str.isdigit, m))])
                if "indicator" in c:
                    out[:, c["indicator"]] = lacking
                if "categories" in c:
                    codes = {v: c["at"] + i for i, v in enumerate(c["categories"])}
                    texts = ["" if v is None or rule == "auto" and no else str(v) for v, no in zip(values, lacking)]
                    at = np.array([codes.get(v, codes.get(v.strip(), -1)) for v in texts], int)
                    if "means" not in c:
                        out[np.flatnonzero(at >= 0), at[at >= 0]] = 1
                elif rule == "error" and lacking.any():
                    raise ValueError(f"column {c['name']!r}: a missing value; the model was trained without missing=mean or zero")
                else:
                    fill = 0 if rule == "zero" else c.get("mean", 0)
                    numbers = np.array([fill if no else v for v, no in zip(values, lacking)], np.float32)
                    if "means" not in c:
                        out[:, c["at"]] = numbers
                if m := c.get("means"):
                    if "numbers" in m:
                        known = np.array(m["numbers"], np.float32)
                        at = np.where(np.isin(numbers, known), np.searchsorted(known, numbers) + c["at"], -1)
                    out[:, c["at"] : c["at"] + m["outputs"]] = np.array(m["values"], np.float32).reshape(-1, m["outputs"])[np.where(at >= 0, at - c["at"], -1)]
        if out.ndim != 2 or out.shape[1] != self.about["dim"] or not np.isfinite(out).all():
            raise ValueError(f"expected finite numbers, rows of {self.about['dim']}; the array is {out.shape}")
        return out

    def _scale(self, x):
        t, kind, x = self.t, self.about["scale"], x.astype(np.float64)
        if kind in ("l1", "l2"):
            x = x / np.where((norm := np.linalg.norm(x, int(kind[1]), axis=1, keepdims=True)) == 0, 1, norm)
        if kind == "quantile":
            for j, (a, b) in enumerate(zip([0, *(ends := t["scale.ends"].astype(int))[:-1]], ends)):
                x[:, j] = np.interp(x[:, j], t["scale.knots"][a:b], t["scale.scores"][a:b]) if b > a else 0
        else:
            x = (x - t.get("scale.shift", 0)) * t.get("scale.factor", 1)
        x = 3 * np.sin(np.arctan(x / 3)) if kind == "robust" else x
        return self._metric(x.astype(np.float32), self.about["metric"], "")

    def _metric(self, x, form, at):
        return x @ self.t[at + "metric.axes"] if form == "axes" else x * self.t[at + "metric.weights"] if form == "weights" else x

    def _machine(self, i, x):
        kernel, g, p = (m := self.about["members"][i])["kernel"], m["gamma"], f"member.{i}."
        x, y = self._metric(x, m["metric"], p).astype(np.float64), self.t[p + "x"].astype(np.float64)
        if kernel in ("linear", "poly", "exp"):
            k = x @ y.T
            k = k if kernel == "linear" else np.exp(g * k) if kernel == "exp" else (g * k + m.get("coef0", 0)) ** m["degree"]
        elif kernel in ("laplacian", "cauchy"):
            of = np.abs if kernel == "laplacian" else lambda d: np.log1p(d * d)
            k = np.exp(-sum(of(g * (x[:, j, None] - y[:, j])) for j in range(x.shape[1])))
        else:
            r = g * np.maximum((x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T, 0)
            z = np.minimum(np.sqrt(4 * m.get("nu", 0) * r), 1000)
            k = np.exp(-r) if kernel == "rbf" else np.polyval(m["polynomial"][::-1], z) * np.exp(-z)
        return k @ self.t[p + "alpha"] + self.t[p + "b"]

    def _block(self, x):
        x = self._scale(x)
        if form := self.about.get("map"):
            p = x.astype(np.float64) @ self.t["map.w"]
            x = self.about["factor"] * (np.hstack([np.cos(p), np.sin(p)]) if form == "pair" else np.cos(p + self.t["map.phases"])
                                        if form == "phase" else np.heaviside(p, 0.5) if form == "step" else np.maximum(p, 0))
        if self.about["learner"] == "linear":
            return x.astype(np.float64) @ self.t["linear.w"] + self.t["linear.b"]
        at = {0 if "tree.nodes" in self.t else -1: np.ones(len(x))}
        for i, (low, high, below, above) in enumerate(self.t.get("tree.nodes", ())):
            s = x.astype(np.float64) @ self.t["tree.directions"][i]
            up = np.clip((s - low) / (high - low), 0, 1) if high > low else (s > low).astype(float)
            up = np.where(up <= 1e-3, 0, np.where(up >= 1 - 1e-3, 1, up))
            at[int(below)], at[int(above)] = at[i] * (1 - up), at[i] * up
        a, out = self.about.get("share", 0), np.zeros((len(x), self.t["member.0.b"].size))
        for i, m in enumerate(self.about["members"]):
            of = m["weight"] * (a * np.ones(len(x)) if m["leaf"] < 0 else (1 - a) * at[-1 - m["leaf"]])
            if len(rows := np.flatnonzero(of)):
                out[rows] += of[rows, None] * self._machine(i, x[rows])
        if a := self.about.get("tree_share"):
            leaf = (x[:, self.t["trees.columns"].astype(int)] > self.t["trees.thresholds"]) @ 2 ** np.arange(6)
            out = (1 - a) * out + a * (self.t["trees.start"] + self.t["trees.values"][np.arange(len(self.t["trees.values"])), leaf].sum(1, np.float64))
        if self.about.get("votes"):
            k = len(self.about["classes"])
            out = np.where(out > 0, 1, -1) @ np.subtract(*np.eye(k)[np.stack(np.triu_indices(k, 1))])
        return out

    def scores(self, x):
        """Scores, n×outputs. Rows are taken a thousand at a time, so that memory is bounded."""
        x = self.encode(x)
        return np.concatenate([np.zeros((0, self.about["outputs"])), *(self._block(x[i:i + 1000]) for i in range(0, len(x), 1000))])

    def proba(self, x=None, scores=None):
        """Probabilities of the classes or labels."""
        how, t, labels = self.about["probabilities"], self.t, "labels" in self.about
        if how == "none":
            raise ValueError("the model has no probabilities; train it with --calibrate")
        s = self.scores(x) if scores is None else scores
        joint = how == "softmax" or how in ("temperature", "logit") and s.shape[1] > 1 and not labels
        if how == "logit":
            q = np.clip((1 + s) / 2, 0.005, 0.995)
            s = np.log(q) - (0 if joint else np.log1p(-q))
        s = s / self.about.get("temperature", 1)
        if how == "isotonic":
            p = np.stack([np.interp(s[:, k], t[f"calibration.knots.{k}"], t[f"calibration.rise.{k}"]) for k in range(s.shape[1])], 1)
        else:
            s = s - s.max(1, keepdims=True) if joint else -(t["calibration.a"] * s + t["calibration.b"]) if how == "platt" else s
            p = np.exp(s) if joint else np.exp(np.minimum(s, 0) - np.log1p(np.exp(-np.abs(s))))
        return p if labels else np.hstack([1 - p, p]) if p.shape[1] == 1 else (p := p + (p.sum(1, keepdims=True) == 0)) / p.sum(1, keepdims=True)

    def predict(self, x):
        """Classes; or lists of labels; or numbers."""
        s, about = self.scores(x), self.about
        if "labels" in about:
            has = s > 0 if about["probabilities"] == "none" else self.proba(scores=s) > 0.5
            return [[name for name, yes in zip(about["labels"], row) if yes] for row in has]
        by = s[:, 0] if s.shape[1] == 1 and not about.get("classes") else np.hstack([-s, s]) if s.shape[1] == 1 else s
        if not about.get("classes"):
            return by
        if "threshold" in about:
            by = np.hstack([~(above := s.astype(np.float32) >= np.float32(about["threshold"])), above])
        elif about["probabilities"] in ("platt", "isotonic"):
            by = np.where((p := self.proba(scores=s)) == p.max(1, keepdims=True), by, -np.inf)
        return np.array(about["classes"], object)[by.argmax(1)]
