"""Seconds and accuracy of mercer_spark beside Spark's own learners and mercer train, on a cluster of two workers of one core on loopback:

    PYTHONPATH=spark MERCER_PROGRAM=./mercer python spark/tests/measure.py covtype.data.gz

covtype, class 2 against the rest; every tenth row, by a hash, is for the test. Each learner gets the same Parquet files.
"""
import gzip
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
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


def measured(name, fit, judge):
    start = time.perf_counter()
    model = fit()
    seconds = time.perf_counter() - start
    print(f"{name:40} {seconds:7.1f} s   {100 * judge(model):.2f} %", flush=True)


def main(path, folder):
    table = np.loadtxt(gzip.open(path), delimiter=",", dtype=np.float32)
    test = np.random.default_rng(1).random(len(table)) < .1
    names = [f"x{i}" for i in range(table.shape[1] - 1)] + ["label"]
    table[:, -1] = table[:, -1] == 2
    for name, rows in ("test", table[test]), ("train", table[~test]):
        os.mkdir(f"{folder}/{name}")
        for i, part in enumerate(np.array_split(rows, 8)):
            pq.write_table(pa.table(list(part.T), names), f"{folder}/{name}/{i}.parquet")
    del table
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1")
    cluster = Cluster(pathlib.Path(folder))
    try:
        cluster.add(1)
        cluster.add(1)
        spark = cluster.session(**{"spark.executor.memory": "1g", "spark.driver.memory": "2g"})
        train, held = (spark.read.parquet(f"{folder}/{name}") for name in ("train", "test"))
        print(train.count(), held.count(), "rows", flush=True)

        def accuracy(model):
            out = mercer_spark.predict(model, held)
            return out.select(F.avg((F.col("prediction").cast("double") == F.col("label")).cast("double"))).first()[0]

        def alone():
            subprocess.run([PROGRAM, "train", f"{folder}/train", "-o", f"{folder}/m.mercer", "--label", "label", "--task", "classify", "--learner", "ridge",
                            "--features", "1024", "--calibrate", "none"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return f"{folder}/m.mercer"

        options = {"features": 1024, "task": "classify"}
        measured("mercer train", alone, accuracy)
        measured("mercer_spark, files", lambda: mercer_spark.train(f"{folder}/train", "label", **options), accuracy)
        measured("mercer_spark, DataFrame", lambda: mercer_spark.train(train, "label", **options), accuracy)
        ready = VectorAssembler(inputCols=names[:-1], outputCol="raw")
        scaler = StandardScaler(inputCol="raw", outputCol="features").fit(ready.transform(train))
        judge = MulticlassClassificationEvaluator(metricName="accuracy")
        rows = scaler.transform(ready.transform(train)).select("features", "label")
        for name, learner in ("LogisticRegression", LogisticRegression()), ("GBTClassifier", GBTClassifier()):
            measured(name, lambda: learner.fit(rows), lambda m: judge.evaluate(m.transform(scaler.transform(ready.transform(held)))))
    finally:
        cluster.stop()
    print("largest process of mercer:", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10, "MiB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        main(sys.argv[1], work)
