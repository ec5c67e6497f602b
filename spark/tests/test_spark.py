"""Trainings, predictions and pipelines on a cluster of one master and two workers."""
import datetime
import decimal
import glob
import gzip
import json
import os
import random
import re
import subprocess
import threading
import time
import urllib.request

import numpy as np
import pyarrow.parquet as pq
import pytest
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import BinaryClassificationEvaluator, MulticlassClassificationEvaluator, RegressionEvaluator
from pyspark.ml.feature import StringIndexer, VectorAssembler
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder
from pyspark.sql import functions as F

import mercer_spark
from mercer_spark import MercerClassifier, MercerError, MercerModel, MercerRegressor, _evaluate, _predict, _program, _train

PROGRAM = _program.find()
OPTIONS = {"features": 64, "piece_rows": 300}


def mercer(*words):
    return subprocess.run([PROGRAM, *map(str, words)], check=True, stdout=subprocess.PIPE).stdout


def rows(n=1500):
    r = random.Random(1)
    for i in range(n):
        size, town, rooms = 30 + 170 * r.random(), r.choice(["Bonn", "Kiel", "Ulm", None]), r.randint(1, 7)
        price = size * (1.5 if town == "Bonn" else 1) + 10 * rooms
        yield (None if i % 17 == 0 else size, town, rooms, i % 3 == 0, decimal.Decimal(i % 50).scaleb(-1), datetime.date(2020, 1, 1 + i % 28),
               datetime.datetime(2020, 7, 1 + i % 28, i % 24, 30, 0, 1000 * (i % 9)), price, "dear" if price > 180 else "cheap")


@pytest.fixture(scope="session")
def houses(spark, cluster):
    """A partitioned folder of Parquet files, as a DataFrame."""
    path = f"{cluster.folder}/houses"
    schema = "size double, town string, rooms int, garden boolean, fee decimal(6,2), day date, sold timestamp, price double, class string"
    spark.createDataFrame(list(rows()), schema).repartition(3).write.partitionBy("rooms").parquet(path)
    return spark.read.parquet(path)


@pytest.fixture(scope="session")
def model(houses):
    return mercer_spark.train(houses.drop("price"), "class", **OPTIONS)


def test_bytes_are_those_of_the_commands(houses, model, cluster):
    told = []
    again = mercer_spark.train(houses.drop("price").orderBy(F.rand(7)).repartition(5), "class", shards=2, progress=told.append, **OPTIONS)
    assert again == model
    assert [p["round"] for p in told if p["done"] == 2] == ["look", "survey", "statistics"] and told[-1]["rows"] == 1500
    files = f"{cluster.folder}/written"
    options = {"label": "class"}
    _train._write(houses.drop("price"), files, 300, options)
    assert len(glob.glob(f"{files}/*.parquet")) == 5
    for shards in 1, 3:
        plan = f"{cluster.folder}/plan-{shards}"
        mercer("shard", "plan", files, "-o", plan, "--shards", shards, "--label", "class", "--features", 64, "--piece", "1TiB")
        mercer("shard", "solve", plan, "-o", f"{plan}.mercer", "--alone")
        assert open(f"{plan}.mercer", "rb").read() == model
    while name := mercer("shard", "next", plan).decode().strip():
        for shard in 2, 0, 1, 1:
            mercer("shard", "run", plan, "--round", name, "--shard", shard)
        mercer("shard", "merge", plan, "--round", name)
    mercer("shard", "solve", plan, "-o", f"{plan}.mercer")
    assert open(f"{plan}.mercer", "rb").read() == model
    assert mercer_spark.train(files, "class", features=64, piece="1TiB", shards=2) == model  # files that are there already


def test_a_training_in_an_object_store(houses, model, store):
    told = []
    assert mercer_spark.train(houses.drop("price"), "class", folder="s3a://shop/work/", progress=told.append, shards=2, **OPTIONS) == model
    assert told[-1]["rows"] == 1500
    with urllib.request.urlopen(f"{store}/shop?list-type=2") as r:
        assert b"<Key>" not in r.read()  # what a training has written is removed
    with pytest.raises(MercerError, match="s3://nobody/"):
        mercer_spark.train(houses, "class", folder="s3://nobody/work", **OPTIONS)


def test_predictions_are_those_of_the_command(houses, model, cluster):
    path = f"{cluster.folder}/model.mercer"
    with open(path, "wb") as f:
        f.write(model)
    out = mercer_spark.predict(path, houses, scores="scores")
    assert out.dtypes[-2:] == [("prediction", "string"), ("scores", "array<double>")] and out.columns[:-2] == houses.columns
    got = out.toArrow()
    pq.write_table(got.drop(["prediction", "scores"]), f"{cluster.folder}/all.parquet")
    said = [line.split("\t") for line in mercer("predict", path, f"{cluster.folder}/all.parquet", "--scores").decode().splitlines()]
    assert [(p, float(s)) for p, s in said] == [(p, s[0]) for p, s in zip(got["prediction"].to_pylist(), got["scores"].to_pylist())]
    assert sum(a == b for a, b in zip(got["prediction"].to_pylist(), got["class"].to_pylist())) > 1300
    mapped = mercer_spark.transform(model, houses.where("size > 190"))
    z = mapped.toArrow()
    pq.write_table(z.drop(["features"]), f"{cluster.folder}/some.parquet")
    mercer("transform", path, f"{cluster.folder}/some.parquet", "-o", f"{cluster.folder}/z.csv", "--label", "none")
    want = [list(map(float, line.split(",")[:64])) for line in open(f"{cluster.folder}/z.csv").read().splitlines()[1:]]
    np.testing.assert_allclose(z["features"].to_pylist(), want, atol=1e-6)
    assert len(want) == mapped.count() > 50


def test_evaluations_are_those_of_the_command(houses, model, cluster, store):
    path, about = f"{cluster.folder}/judged.mercer", _predict.description(model)
    with open(path, "wb") as f:
        f.write(model)
    rows = houses.drop("price")

    def want(files, *words):
        return json.loads(mercer("eval", path, files, "--label", "class", "--json", *words))

    def written(name, *others):
        _train._write(_evaluate._needed(houses, about, [*others]), f"{cluster.folder}/{name}", 300, {"label": "class"})
        return f"{cluster.folder}/{name}"

    told = []
    got = mercer_spark.evaluate(model, rows.orderBy(F.rand(3)).repartition(4), piece_rows=300, shards=2, progress=told.append)
    assert got == want(written("judged", "class")) and got["n"] == 1500 and got["accuracy"] > .9
    assert told[-1] == {"round": "eval", "done": 2, "shards": 2, "rows": 1500}
    files, options = written("weighted", "class", "price"), {"weight": "price", "threshold": "score=0.5", "curves": True}
    weighted = want(files, "--weight", "price", "--threshold", "score=0.5", "--curves")
    assert mercer_spark.evaluate(path, files, "class", shards=3, **options) == weighted and weighted["accuracy"] != got["accuracy"]
    assert mercer_spark.evaluate(path, houses, "class", piece_rows=300, **options) == weighted
    assert mercer_spark.evaluate(model, rows, folder="s3a://shop/judged", piece_rows=300) == got
    with urllib.request.urlopen(f"{store}/shop?list-type=2") as r:
        assert b"<Key>" not in r.read()
    with pytest.raises(ValueError, match="no column 'klass'"):
        mercer_spark.evaluate(model, rows, "klass")
    with pytest.raises(ValueError, match="no column 'town'"):
        mercer_spark.evaluate(model, rows.drop("town"))
    with pytest.raises(MercerError, match=r"shard \d, piece \d \(.*parquet"):
        mercer_spark.evaluate(model, rows.withColumn("fee", F.when(F.col("size") > 199.5, float("inf")).otherwise(F.col("fee").cast("double"))), piece_rows=300)
    assert not glob.glob(f"{cluster.folder}/mercer-*")


def test_faults_are_named(spark, houses, model, cluster, tmp_path):
    files = tmp_path / "cut"
    houses.drop("rooms").repartition(4).write.parquet(str(files))
    victim = sorted(glob.glob(f"{files}/*.parquet"))[2]
    data = bytearray(open(victim, "rb").read())
    data[40:4000] = bytes(3960)
    open(victim, "wb").write(data)
    with pytest.raises(MercerError, match=os.path.basename(victim)):
        mercer_spark.train(str(files), "class", features=64, piece=1, shards=4)
    bad = houses.drop("price").withColumn("class", F.when(F.col("size") > 199.5, None).otherwise(F.col("class")))
    with pytest.raises(MercerError, match=r"shard \d, piece \d \(.*parquet.*row"):
        mercer_spark.train(bad, "class", **OPTIONS)
    with pytest.raises(MercerError, match="--features"):
        mercer_spark.train(houses, "class", features="many")
    with pytest.raises(ValueError, match="no column 'klass'; their columns are"):
        mercer_spark.train(houses, "klass")
    with pytest.raises(ValueError, match=r"'pair' is struct<a:int>"):
        mercer_spark.train(houses.withColumn("pair", F.struct(F.lit(1).alias("a"))), "class")
    with pytest.raises(ValueError, match="no rows"):
        mercer_spark.train(houses.where("size < 0"), "class")
    with pytest.raises(ValueError, match="no column 'town'"):
        mercer_spark.predict(model, houses.drop("town"))
    with pytest.raises(Exception, match="the model has no probabilities"):
        mercer_spark.predict(model, houses, probability="p").collect()
    assert mercer_spark.predict(model, houses.where("size < 0")).count() == 0
    assert not glob.glob(f"{cluster.folder}/mercer-*")  # what a training has written is removed


def test_pipeline(spark, houses, cluster):
    steps = [StringIndexer(inputCol="class", outputCol="label"), StringIndexer(inputCol="town", outputCol="place", handleInvalid="keep"),
             VectorAssembler(inputCols=["rooms", "fee"], outputCol="numbers"),
             MercerClassifier(inputCols=["numbers", "place", "size"], numFeatures=64, options={"piece_rows": 300})]
    fitted = Pipeline(stages=steps).fit(houses)
    out = fitted.transform(houses)
    assert BinaryClassificationEvaluator().evaluate(out) > .95 and MulticlassClassificationEvaluator(metricName="accuracy").evaluate(out) > .9
    before = PipelineModel(fitted.stages[:-1]).transform(houses)
    assert fitted.stages[-1].evaluate(before)["accuracy"] == MulticlassClassificationEvaluator(metricName="accuracy").evaluate(out)
    about = fitted.stages[-1].about["schema"]["columns"]
    assert [c["name"] for c in about] == ["numbers_0", "numbers_1", "place", "size"] and about[2]["categories"] == ["0", "1", "2", "3"]
    fitted.write().save(f"{cluster.folder}/pipeline")
    again = PipelineModel.load(f"{cluster.folder}/pipeline")
    assert again.stages[-1].data == fitted.stages[-1].data
    assert again.transform(houses).select("prediction", "rawPrediction").collect() == out.select("prediction", "rawPrediction").collect()


def test_the_rows_decide_on_the_learner(houses, cluster):
    """Without options the learner is that of mercer train, as in the commands."""
    few = houses.drop("price").limit(300).cache()
    model = MercerClassifier(inputCols=["rooms", "size", "town"], labelCol="class", options={"piece_rows": 200}).fit(few)
    assert model.about["training"]["learner"] == "rfm" and model.about["training"]["why"]["learner"] == "for a table"
    p = model.transform(few).select("probability", "prediction").first()
    assert sum(p[0]) == pytest.approx(1, abs=1e-5) and p[1] == model.about["classes"][int(p[0].argmax())]


def test_cross_validation(spark, houses, cluster, long):
    ready = VectorAssembler(inputCols=["rooms", "fee"], outputCol="features").transform(houses.withColumnRenamed("price", "label"))
    estimator = MercerRegressor(options={"piece_rows": 500})
    grid = ParamGridBuilder().addGrid(estimator.numFeatures, [2, 64]).build()
    cv = CrossValidator(estimator=estimator, estimatorParamMaps=grid, evaluator=RegressionEvaluator(metricName="r2"), numFolds=2, seed=3)
    found = cv.fit(ready)
    assert isinstance(found.bestModel, MercerModel) and len(found.avgMetrics) == 2
    found.write().save(f"{cluster.folder}/cv")
    assert CrossValidatorModel.load(f"{cluster.folder}/cv").bestModel.data == found.bestModel.data


def test_passes_by_falkon(houses, cluster, long):
    options = {"learner": "falkon", "lambda": 1, "features": 200, "label": "price", "ignore": "class"}
    m = mercer_spark.train(houses, piece_rows=300, shards=2, **options)
    files, plan = f"{cluster.folder}/falkon", f"{cluster.folder}/plan-falkon"
    _train._write(houses, files, 300, dict(options))
    mercer("shard", "plan", files, "-o", plan, "--piece", "1TiB", *[f"--{k}={v}" for k, v in options.items()])
    mercer("shard", "solve", plan, "-o", f"{plan}.mercer", "--alone")
    assert open(f"{plan}.mercer", "rb").read() == m
    assert mercer_spark.evaluate(m, houses)["r2"] > .9


def test_passes_by_logistic(houses, cluster, long):
    m = mercer_spark.train(houses.drop("price"), "class", learner="logistic", c=1, **OPTIONS)
    p = mercer_spark.predict(m, houses, probability="p").select("p").first()[0]
    assert len(p) == 2 and sum(p) == pytest.approx(1, abs=1e-5)


def test_leaves_by_rfm(houses, cluster, long):
    options = {"learner": "rfm", "kernel": "laplacian", "leaf": 600, "part": 1000, "label": "class"}
    m = mercer_spark.train(houses.drop("price"), piece_rows=300, shards=2, **options)
    files, plan = f"{cluster.folder}/leaves", f"{cluster.folder}/plan-leaves"
    _train._write(houses.drop("price"), files, 300, dict(options))
    mercer("shard", "plan", files, "-o", plan, "--shards", 3, "--piece", "1TiB", *[f"--{k}={v}" for k, v in options.items()])
    mercer("shard", "solve", plan, "-o", f"{plan}.mercer", "--alone")
    assert open(f"{plan}.mercer", "rb").read() == m
    got = mercer_spark.predict(m, houses, probability="p").select("class", "prediction", "p").toArrow()
    assert sum(a == b for a, b in zip(got["prediction"].to_pylist(), got["class"].to_pylist())) > 1350
    assert all(sum(p) == pytest.approx(1, abs=1e-5) for p in got["p"].to_pylist())


def test_a_table_of_postgresql(spark, houses, model, postgres):
    driver = {"driver": "org.postgresql.Driver"}
    houses.write.jdbc(postgres, "houses", properties=driver)
    table = spark.read.jdbc(postgres, "houses", column="rooms", lowerBound=1, upperBound=8, numPartitions=3, properties=driver)
    assert mercer_spark.train(table.drop("price"), "class", **OPTIONS) == model


@pytest.mark.parametrize("what, want", [("gzip", "the gzip data are cut short"), ("nan", "part-03.csv:61"), ("columns", "part-03.csv")])
def test_a_poisoned_shard_ends_the_job(houses, tmp_path, what, want):
    """The shard is named after its own task: others are cancelled."""
    shards, r = 30, random.Random(1)
    for i in range(shards):
        text = "".join(f"{k % 7},{k * k % 11},{k % 7 + i}\n" for k in range(90))
        if i == 3:
            many = "".join(f"{r.random()},{k % 11},{k % 7}\n" for k in range(100_000))  # beyond what planning looks at
            text = {"nan": "".join(text.splitlines(True)[:59]) + "1,2,nan\n", "columns": "1,2,3,4\n", "gzip": many}[what]
        data = (("a,b,c,price\n" if what == "columns" and i == 3 else "a,b,price\n") + text).encode()
        zipped = gzip.compress(data)
        (tmp_path / f"part-{i:02}.csv.gz" if what == "gzip" else tmp_path / f"part-{i:02}.csv").write_bytes(
            data if what != "gzip" else zipped[:-20] if i == 3 else zipped)
    told = []
    with pytest.raises(MercerError, match=want) as found:
        mercer_spark.train(str(tmp_path), "price", features=16, shards=shards, progress=told.append)
    if what != "columns":  # which planning sees
        assert re.search(r"shard 3, piece 3 \(.*part-03", str(found.value))
        assert told[-1]["done"] < shards - 1


def test_workers_are_killed_and_others_come(houses, model, cluster, request):
    """The last test, of its own workers: one and two of one core, and with --long kills at random moments, and of two cores."""
    def train(**options):
        assert mercer_spark.train(houses.drop("price"), "class", **OPTIONS, **options) == model

    killed = []

    def kill(p):
        if p["round"] == "survey" and not killed:
            killed.append(p)
            cluster.kill(-1)

    train(shards=5, progress=kill)
    assert killed
    begin = time.monotonic()
    train()  # by the one worker that is left
    took = time.monotonic() - begin
    if not request.config.getoption("--long"):
        return
    r = random.Random(5)
    for _ in range(5):
        cluster.add(1)
        timer = threading.Timer(r.uniform(.1, .9) * took, cluster.kill, [-1])
        timer.start()
        train(shards=r.randint(2, 5))
        timer.join()
    cluster.add(2)
    cluster.kill(0)
    train()  # one worker of two cores
    cluster.add(2)
    train(shards=3)  # two
