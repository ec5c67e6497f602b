"""Models exported and read by NumPy alone."""
import pathlib

import mercer
import mercer_numpy
import numpy as np
import pandas as pd
import pytest

rows = np.random.default_rng(0)
n = 400
frame = pd.DataFrame({"size": rows.normal(size=n), "kind": rows.choice(["a", "b", " c"], n), "other": rows.exponential(size=n), "new": rows.random(n) < .5})
frame.loc[::13, "other"] = np.nan
frame.loc[::11, "kind"] = None
number = np.where(frame["size"] > 0, 1., -1.) * (frame["kind"] == "a") + frame["size"] ** 2 + frame["new"]
classes = np.digitize(number, [.2, .9]).astype(str)


@pytest.mark.parametrize("how", [
    {"learner": "rfm", "leaf": 100}, {"learner": "rfm", "leaf": 100, "calibrate": "isotonic", "scale": "quantile"}, {"learner": "ridge", "map": "sorf", "features": 200},
    {"learner": "logistic", "map": "rff", "features": 100, "scale": "robust"}, {"learner": "kernel-svm", "calibrate": "platt", "scale": "l2"},
    {"learner": "kernel-ridge", "kernel": "laplacian", "calibrate": "temperature"}], ids=str)
def test_numpy_predicts_the_same(how, tmp_path):
    for y, task in ((classes, True), (number, False)):
        if not task and (how["learner"] == "logistic"):
            continue
        m = mercer.fit(frame, y, classes=task, progress=False, **{k: v for k, v in how.items() if task or k != "calibrate"})
        m.export(tmp_path / "m", "npz" if task else "safetensors")
        e = mercer_numpy.load(tmp_path / "m")
        want = m.scores(frame)
        assert np.abs(e.scores(frame) - want).max() <= 1e-5 * np.abs(want).max()
        if task:
            assert (e.predict(frame) == m.predict(frame)).mean() > .998  # ties
            if m.has_probabilities:
                np.testing.assert_allclose(e.proba(frame), m.predict_proba(frame), atol=1e-5)


def test_the_reader_is_small():
    assert len([line for line in pathlib.Path(mercer_numpy.__file__).read_text().splitlines() if line.strip()]) < 150


def test_what_cannot_be_exported_is_refused(tmp_path):
    m = mercer.fit(frame[["size"]].to_numpy(), number, learner="ridge", kernel="poly", map="tensorsketch", features=64)
    with pytest.raises(mercer.MercerError, match="tensorsketch"):
        m.export(tmp_path / "m.npz")
    assert list(tmp_path.iterdir()) == []
