"""Models of the library: training, prediction, files, frames."""
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import mercer
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp


@pytest.fixture(scope="module")
def rows():
    r = np.random.default_rng(0)
    x = r.normal(size=(600, 6))
    return x, (x[:, 0] * x[:, 1] > 0).astype(int)


@pytest.fixture(scope="module")
def frame(rows):
    x, _ = rows
    d = pd.DataFrame({"a": x[:, 0], "sign": np.where(x[:, 1] > 0, "up", "down"), "c": x[:, 2]})
    d.loc[3, "a"] = np.nan
    d.loc[5, "sign"] = None
    return d.astype({"sign": "category"})


def trained(x, y, **more):
    return mercer.fit(x, y, classes=True, learner="ridge", features=256, **more)


def test_any_layout_predicts_the_same(rows):
    x, y = rows
    m = trained(x, y)
    want = m.scores(x)
    for other in (x.astype(np.float32), np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2], x.astype(">f8")):
        np.testing.assert_allclose(m.scores(other), want, atol=2e-5)
    np.testing.assert_array_equal(np.vstack([m.scores(x[i:i + 1]) for i in range(50)]), want[:50])
    np.testing.assert_array_equal(m.scores(sp.csr_matrix(x.astype(np.float32))), m.scores(x.astype(np.float32)))
    assert (m.predict(x).astype(int) == y).mean() > .85
    assert m.scores(x[:0]).shape == (0, 1)


def test_rows_in_parts(rows):
    m = mercer.fit(*rows, learner="ridge", features=16)
    x = np.random.default_rng(0).normal(size=(70_000, 6)).astype(np.float32)
    for a in (x, x.astype(np.float64), np.asfortranarray(x)):
        np.testing.assert_array_equal(m.predict(a)[65_530:65_560], m.predict(x[65_530:65_560]))
        np.testing.assert_array_equal(m.transform(a)[65_530:65_560], m.transform(x[65_530:65_560]))
    x[69_000, 3] = np.nan
    with pytest.raises(mercer.MercerError, match="row 69000, column 3"):
        m.predict(x)


def test_pickle_and_files(rows, tmp_path):
    x, y = rows
    m = trained(x, y, calibrate="platt")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(m)).predict_proba(x), m.predict_proba(x))
    m.save(tmp_path / "m.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "m.mercer").scores(x), m.scores(x))
    assert "ridge" in repr(m) and "<table>" in m._repr_html_()


def test_frames_of_all_kinds(frame, rows):
    m = trained(frame, rows[1])
    assert m.columns == ["a", "sign", "c"]
    want = m.scores(frame)
    assert (m.predict(frame) == rows[1].astype(str)).mean() > .9
    table = pa.Table.from_pandas(frame)
    for other in (pl.from_pandas(frame), table, frame[["c", "sign", "a"]], table.to_pydict(), frame.astype({"sign": object})):
        np.testing.assert_array_equal(m.scores(other), want)
    with pytest.raises(ValueError, match="no column 'sign'"):
        m.scores(frame[["a", "c"]])


def test_files_of_the_command_line(frame, rows, tmp_path):
    program = os.environ.get("MERCER_PROGRAM")
    assert program, "set MERCER_PROGRAM to the program mercer"
    data, model = tmp_path / "d.csv", tmp_path / "m.mercer"
    frame.assign(label=rows[1]).to_csv(data, index=False)
    run = lambda *a: subprocess.run([program, *map(str, a)], check=True, capture_output=True, text=True).stdout
    run("train", "--learner", "ridge", "--features", 128, data, "-o", model)
    theirs = run("predict", model, data).split()
    assert list(mercer.load(model).predict(frame)) == theirs
    trained(frame, rows[1]).save(model)
    ours = trained(frame, rows[1]).predict(frame)
    assert run("predict", model, data).split() == list(ours)


def test_errors_are_exceptions(rows, tmp_path):
    x, y = rows
    with pytest.raises(mercer.MercerError, match="does not exist"):
        mercer.load(tmp_path / "none.mercer")
    with pytest.raises(mercer.MercerError, match="known are"):
        mercer.fit(x, y, classes=True, learner="nothing")
    with pytest.raises(mercer.MercerError, match="unknown field"):
        mercer.fit(x, y, classes=True, nothing=1)
    bad = x.copy()
    bad[7, 2] = np.nan
    with pytest.raises(mercer.MercerError, match="row 7, column 2"):
        trained(x, y).predict(bad)
    with pytest.raises(ValueError, match="5 targets for 600 rows"):
        trained(x, y[:5])
    with pytest.raises(ValueError, match="4 numbers, but the model was trained on 6"):
        trained(x, y).predict(x[:, :4])
    (tmp_path / "bad").write_bytes(b"nonsense" * 100)
    with pytest.raises(mercer.MercerError):
        mercer.load(tmp_path / "bad")


def test_interrupt_comes_at_once():
    x = np.random.default_rng(0).normal(size=(20000, 40)).astype(np.float32)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored
    threading.Timer(.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        mercer.fit(x, x[:, 0], learner="ridge", features=8192)
    assert time.monotonic() - begun < 10  # the training takes minutes


def test_threads_share_a_model(rows):
    x, y = rows
    m = trained(x, y)
    want, wrong = m.scores(x), []

    def work():
        for i in range(300):
            if not np.array_equal(m.scores(x[i:i + 1]), want[i:i + 1]):
                wrong.append(i)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_is_told(rows):
    code = """
import mercer, numpy as np, os, sys
x = np.eye(50); mercer.fit(x, x[:, 0], learner="ridge", features=16)
pid = os.fork()
if pid == 0:
    try: mercer.fit(x, x[:, 0])
    except RuntimeError as err: os._exit(0 if "fork" in str(err) else 1)
    os._exit(2)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_arrays_are_not_copied():
    code = """
import mercer, numpy as np, resource
x = np.ones((1_000_000, 64), np.float32); x[:, 0] = np.arange(len(x)) % 7; y = x[:, 0] * 2
mercer.fit(x[:5000], y[:5000], learner="ridge", features=64)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
m = mercer.fit(x, y, learner="ridge", features=64); m.predict(x)
more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
assert more < x.nbytes / 2, (more, x.nbytes)"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
