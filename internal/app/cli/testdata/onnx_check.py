"""Runs exported models by onnxruntime and compares them with what mercer predict said.

    onnx_check.py CHECKS, a JSON list of {name, model, data, told, ties}: one line of JSON for each, {name, error, rows, seconds}

ties is the share of rows that may be as near to two centres as float32 tells, and fall to either.
"""
import csv
import json
import sys
import time

import numpy as np
import onnx
import onnxruntime as ort

MISSING = {"", "?", "na", "n/a", "nan", "-nan", "null", "none", "<na>", "\\n", "#na", "#n/a", "#n/a n/a", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"}


def check(model, data, told, ties):
    m = onnx.load(model)
    onnx.checker.check_model(m, full_check=True)
    about = json.loads(next(p.value for p in m.metadata_props if p.key == "mercer"))
    rows = list(csv.DictReader(open(data)))
    want = [json.loads(line) for line in open(told)]
    assert len(rows) == len(want), (len(rows), len(want))
    session = ort.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = {}
    # Written numbers such as 1,234 are for the caller of a graph to read.
    na = set(about.get("na") or ())
    for i in session.get_inputs():
        cells = [r[i.name].strip() for r in rows]
        if i.type == "tensor(string)":
            feed[i.name] = np.array(cells, object).reshape(-1, 1)
        else:
            feed[i.name] = np.array([np.nan if c.lower() in MISSING or c in na else float(c.replace(",", "")) for c in cells], np.float32).reshape(-1, 1)
    outs = [o.name for o in session.get_outputs()]
    start = time.perf_counter()
    outs = [o.removeprefix("output_") for o in outs]
    got = dict(zip(outs, session.run(None, feed)))
    seconds = time.perf_counter() - start
    one = {k: v[:1] for k, v in feed.items()}
    first = dict(zip(outs, session.run(None, one)))
    scores = np.array([w["scores"] if "scores" in w else w["prediction"] for w in want], np.float64).reshape(len(want), -1)
    s = got.get("scores", got.get("prediction"))
    assert s.shape == scores.shape, ("shape", s.shape, scores.shape)
    largest = max(np.abs(scores).max(), 1e-3)  # scores that are all next to 0 are rounding alone
    apart = np.abs(s - scores).max(1) / largest
    tied = apart >= 1e-4
    assert tied.mean() <= ties, ("scores", apart.max(), tied.sum())
    error = apart[~tied].max()
    assert np.abs((first.get("scores") if "scores" in first else first["prediction"]) - s[:1]).max() < 1e-5 * largest, "a row by itself"
    if tied.any():
        s, want, got = s[~tied], [w for w, t in zip(want, tied) if not t], {k: v[~tied] for k, v in got.items()}
    if "label" in got:
        order = np.sort(np.hstack([-s, s]) if s.shape[1] == 1 else s, 1)
        close = order[:, -1] - order[:, -2] < 1e-5 * max(1, largest)
        if about["probabilities"] in ("platt", "isotonic"):  # which decide
            p = np.sort(got["probabilities"], 1)
            close |= p[:, -1] - p[:, -2] < 1e-5
        wrong = [(w["prediction"], g) for w, g, c in zip(want, got["label"], close) if w["prediction"] != g and not c]
        assert not wrong, ("labels", len(wrong), wrong[:3])
    if "labels" in got:
        has = [sorted(np.array(about["labels"], object)[row]) for row in got["labels"]]
        wrong = [(w["prediction"], g) for w, g, r in zip(want, has, s) if sorted(w["prediction"]) != g and np.abs(r).min() > 1e-5 * largest]
        assert not wrong, ("labels", len(wrong), wrong[:3])
    if "probabilities" in got:
        names = about.get("classes") or about["labels"]
        p = np.array([[w["probabilities"][c] for c in names] for w in want])
        apart = np.abs(got["probabilities"] - p).max()
        assert apart < 1e-4, ("probabilities", apart)
    return {"error": float(error), "rows": len(rows), "seconds": seconds, "opset": m.opset_import[0].version}


for c in json.load(open(sys.argv[1])):
    try:
        result = check(c["model"], c["data"], c["told"], c.get("ties", 0))
    except Exception as e:  # each check says how it ended
        result = {"failed": f"{type(e).__name__}: {e}"[:600]}
    print(json.dumps({"name": c["name"], **result}), flush=True)
