"""Seconds, accuracy and memory of mercer_spark beside Spark's own learners and mercer train, on a cluster of two workers of one core on loopback:

    PYTHONPATH=spark MERCER_PROGRAM=./mercer python spark/tests/measure.py covtype.data.gz
    PYTHONPATH=spark MERCER_PROGRAM=./mercer python spark/tests/measure.py 10000000 512

covtype, class 2 against the rest, of which every tenth row, by chance, is for the test; or so many generated rows of eight columns, and 100,000 for
the test. The second number is that of features (1,024). Each learner gets the same Parquet files. Of each the largest process of the program but
that which merges, and the largest executor of Spark are told. --alone leaves Spark's learners out.
"""
import contextlib
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from conftest import Cluster
from pyspark.ml.classification import GBTClassifier, LogisticRegression
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import StandardScaler, VectorAssembler
from pyspark.sql import functions as F

import mercer_spark
from mercer_spark import _program

PROGRAM = _program.find()
COLUMNS = 8


def processes(sessions):
    """The command and the largest memory so far, in MiB, of every process of some sessions."""
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            if os.getsid(int(path.name)) not in sessions:
                continue
            status = dict(line.split(":", 1) for line in (path / "status").read_text().splitlines())
            if "VmHWM" in status:
                yield (path / "cmdline").read_bytes().split(b"\0"), int(status["VmHWM"].split()[0]) >> 10


class Watch:
    """Looks at processes while something runs."""

    def __init__(self, cluster):
        self.sessions = {os.getsid(0), *(w.pid for w in cluster.workers)}

    def __enter__(self):
        self.mercer, self.java, self.over = 0, 0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()
        return self

    def look(self):
        while not self.over.wait(.1):
            for words, size in processes(self.sessions):
                if os.path.basename(words[0]).startswith(b"mercer") and b"merge" not in words and b"solve" not in words:
                    self.mercer = max(self.mercer, size)
                elif any(w.endswith(b"CoarseGrainedExecutorBackend") for w in words):
                    self.java = max(self.java, size)

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def measured(cluster, name, fit, judge):
    with Watch(cluster) as watch:
        start = time.perf_counter()
        model = fit()
        seconds = time.perf_counter() - start
    print(f"{name:30} {seconds:7.1f} s   {100 * judge(model):.2f} %   {watch.mercer:5} MiB   executor {watch.java} MiB", flush=True)


def covtype(path, folder):
    table = np.loadtxt(gzip.open(path), delimiter=",", dtype=np.float32)
    test = np.random.default_rng(1).random(len(table)) < .1
    table[:, -1] = table[:, -1] == 2
    for name, rows in ("test", table[test]), ("train", table[~test]):
        write(folder, name, np.array_split(rows, 8))


def generated(n, folder):
    """Rows of two classes that meet in a curve, one in 20 of which is of the other class."""
    def rows(seed, n):
        r = np.random.default_rng(seed)
        x = r.standard_normal((n, COLUMNS), np.float32)
        side = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + .5 * x[:, 3] > .2 * x[:, 4] ** 2
        return np.column_stack([x, (side ^ (r.random(n) < .05)).astype(np.float32)])
    parts = 32
    write(folder, "train", (rows(seed, n // parts) for seed in range(parts)))
    write(folder, "test", [rows(parts, 100_000)])


def write(folder, name, parts):
    os.mkdir(f"{folder}/{name}")
    for i, part in enumerate(parts):
        names = [f"x{i}" for i in range(part.shape[1] - 1)] + ["label"]
        pq.write_table(pa.table(list(part.T), names), f"{folder}/{name}/{i:02}.parquet")


def main(what, folder, features, peers):
    if what.isdigit():
        generated(int(what), folder)
    else:
        covtype(what, folder)
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1")
    cluster = Cluster(pathlib.Path(folder))
    try:
        cluster.add(1, "3g")
        cluster.add(1, "3g")
        spark = cluster.session(**{"spark.executor.memory": "3g", "spark.driver.memory": "2g"})
        train, held = (spark.read.parquet(f"{folder}/{name}") for name in ("train", "test"))
        names = train.columns
        print(train.count(), held.count(), "rows", flush=True)

        def accuracy(model):
            return mercer_spark.evaluate(model, f"{folder}/test", "label")["accuracy"]

        def alone():
            subprocess.run([PROGRAM, "train", f"{folder}/train", "-o", f"{folder}/m.mercer", "--label", "label", "--task", "classify", "--learner", "ridge",
                            "--features", features, "--calibrate", "none"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return f"{folder}/m.mercer"

        options = {"features": features, "task": "classify", "learner": "ridge"}
        measured(cluster, "mercer train", alone, accuracy)
        measured(cluster, "mercer_spark, files", lambda: mercer_spark.train(f"{folder}/train", "label", **options), accuracy)
        measured(cluster, "mercer_spark, DataFrame", lambda: mercer_spark.train(train, "label", **options), accuracy)
        if not peers:
            return
        ready = VectorAssembler(inputCols=names[:-1], outputCol="raw")
        scaler = StandardScaler(inputCol="raw", outputCol="features").fit(ready.transform(train))
        judge = MulticlassClassificationEvaluator(metricName="accuracy")
        rows = scaler.transform(ready.transform(train)).select("features", "label")
        for name, learner in ("LogisticRegression", LogisticRegression()), ("GBTClassifier", GBTClassifier(seed=1)):
            measured(cluster, name, lambda: learner.fit(rows), lambda m: judge.evaluate(m.transform(scaler.transform(ready.transform(held)))))
    finally:
        cluster.stop()


if __name__ == "__main__":
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    with tempfile.TemporaryDirectory() as work:
        main(words[0], work, words[1] if len(words) > 1 else "1024", "--alone" not in sys.argv)
