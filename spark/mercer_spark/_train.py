"""Training: Spark writes the rows as files, runs the shards of each round as tasks, and the driver merges."""
from __future__ import annotations

import contextlib
import itertools
import json
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from pyspark import InheritableThread
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from . import _columns, _program
from ._program import MercerError

_PIECE_BYTES = 64 << 20
_WHOLE = "1TiB"  # of --piece: each file of rows is one piece, whatever row groups Spark's writer makes
_OWN = {"output", "estimate", "json", "rows", "workers", "price", "start", "network", "query", "table"}


class Progress(dict[str, Any]):
    """How far a round is: round, done of shards, and rows."""

    def __str__(self) -> str:
        return f"{self['round']}: {self['done']} of {self['shards']} shards, {self['rows']:,} rows"


class _List(AccumulatorParam[list[str]]):
    def zero(self, value: list[str]) -> list[str]:
        return []

    def addInPlace(self, a: list[str], b: list[str]) -> list[str]:
        return a + b


def train(df: DataFrame | str, label: str, *, folder: str | None = None, shards: int | None = None, piece_rows: int | None = None,
          progress: Callable[[Progress], Any] | bool | None = None, spark: SparkSession | None = None, **options: Any) -> bytes:
    """Trains on a DataFrame, or on files that all workers see (a path or a pattern), and returns the bytes of the model's file.

    Without options the survey of the rows decides on the learner. options are the flags of mercer shard plan (features=8192, learner="svm", c=1, lambda_="auto", …). folder is one that the driver
    and all workers see under the same path, or s3://BUCKET/PREFIX; without it, spark.mercer.folder of the configuration is. The model depends on the rows,
    the options and piece_rows, the mean rows of a piece, alone: not on how the rows were distributed or in which order, nor on
    shards, the tasks of a round. progress is called with how far a round is; True writes it to standard error.
    """
    if given := (_OWN | {"piece"} if isinstance(df, DataFrame) else _OWN) & set(options):
        raise TypeError(f"{min(given)} is no option of a training by Spark")
    if isinstance(df, DataFrame):
        spark = df.sparkSession
        if lacking := [n for n in label.split(",") if n not in df.columns]:
            raise ValueError(f"the data have no column {lacking[0]!r}; their columns are {df.columns}")
    else:
        spark = spark or SparkSession.active()
    work = _work(spark, folder)
    tell = _teller(progress)
    with _removed(work):
        _prepare(spark, df, work, shards, piece_rows, {"label": label, **options})
        return _rounds(spark, work, tell)


def resume(folder: str, *, progress: Callable[[Progress], Any] | bool | None = None, spark: SparkSession | None = None) -> bytes:
    """Goes on with a training whose job broke, from its last round. The error of the job has named the folder."""
    with _removed(folder):
        return _rounds(spark or SparkSession.active(), folder, _teller(progress))


def _folder(spark: SparkSession, folder: str | None) -> str:
    sc = spark.sparkContext
    folder = folder or spark.conf.get("spark.mercer.folder", None)
    if folder is None and str(sc.master).startswith("local"):
        return tempfile.gettempdir()
    if folder is None:
        raise ValueError("give folder=, or spark.mercer.folder: one that the driver and all workers see under the same path")
    return folder.rstrip("/").replace("s3a://", "s3://") if folder.startswith(("s3://", "s3a://")) else os.path.abspath(folder)


def _work(spark: SparkSession, folder: str | None) -> str:
    """The folder of one job."""
    return os.path.join(_folder(spark, folder), f"mercer-{uuid.uuid4().hex}")


def _prepare(spark: SparkSession, df: DataFrame | str, work: str, shards: int | None, piece_rows: int | None, options: dict[str, Any]) -> int:
    """Writes the rows of a DataFrame and the plan, and returns the number of shards."""
    plan = os.path.join(work, "plan")
    if not _is_object(work):
        os.makedirs(plan)
    if isinstance(df, str):
        path = df if _is_object(df) else os.path.abspath(df)
    else:
        path = os.path.join(plan, "data")
        _write(df, path, piece_rows, options)
        options["piece"] = _WHOLE
    return _plan(spark, path, plan, shards, options)


def _is_object(path: str) -> bool:
    return path.startswith("s3://")


@contextlib.contextmanager
def _removed(work: str) -> Iterator[None]:
    """Removes the folder, unless the training can go on from what is in it."""
    try:
        yield
    except BaseException as err:
        if not isinstance(err, ValueError) and _planned(work):
            err.add_note(f"mercer_spark.resume({work!r}) goes on from the last round; remove the folder if you do not want that")
            raise
        _remove(work)
        raise
    _remove(work)


def _planned(work: str) -> bool:
    """Says whether there is a plan."""
    try:
        return bool(_program.run(_program.find(), "shard", "next", os.path.join(work, "plan"), "--json"))
    except Exception:
        return False


def _remove(work: str) -> None:
    """Removes a folder under another name, so that tasks that were cancelled and still run put nothing into it."""
    if _is_object(work):
        with contextlib.suppress(Exception):
            _program.run(_program.find(), "shard", "remove", os.path.join(work, "plan"))
        return
    with contextlib.suppress(OSError):
        os.rename(work, gone := work + ".gone")
        shutil.rmtree(gone)


def _teller(progress: Callable[[Progress], Any] | bool | None) -> Callable[[Progress], Any] | None:
    return (lambda p: print(f"mercer: {p}", file=sys.stderr)) if progress is True else progress or None


def _write(df: DataFrame, path: str, piece_rows: int | None, options: dict[str, Any]) -> None:
    """Writes the rows as Parquet files whose rows and their order follow from the rows alone: those with a hash, sorted."""
    categories = _columns.nominal(df)
    flat = _columns.flat(df)
    labels = str(options["label"]).split(",")
    if len(labels) == 1 and labels[0] in categories:
        options.setdefault("task", "classify")
    if inputs := [n for n in categories if n in flat.columns and n not in labels]:
        given = options.get("categorical") or []
        options["categorical"] = [*(given.split(",") if isinstance(given, str) else given), *inputs]
    rows = flat.count()
    if rows == 0:
        raise ValueError("the DataFrame has no rows")
    columns = [_columns.quoted(n) for n in flat.columns]
    pieces = -(-rows // (piece_rows or max(1, _PIECE_BYTES // (8 * len(columns)))))
    key = F.xxhash64(*columns)
    parts = flat.repartition(pieces, key).sortWithinPartitions(key, *columns)
    if not _is_object(path):
        parts.write.parquet("file://" + path)
        return
    program = _program.sent(df.sparkSession.sparkContext, _program.find(), "mercer")

    def task(batches: Any) -> Any:
        import pyarrow as pa
        from pyspark import TaskContext
        first = next((b for b in batches if b.num_rows), None)
        if first is None:
            return
        part = f"{path}/part-{TaskContext.get().partitionId():05d}.parquet"  # type: ignore[union-attr]

        def feed(pipe: Any) -> None:
            with pa.ipc.new_stream(pipe, first.schema) as to:
                for batch in itertools.chain([first], batches):
                    to.write_batch(batch)

        try:
            with _program.piped(_program.on_worker(program), ["convert", "-", part], feed) as said:
                said.read()
        except MercerError as err:  # it would be the same on any machine
            yield pa.RecordBatch.from_pydict({"error": [str(err)]})

    if found := parts.mapInArrow(task, "error string").collect():
        raise MercerError(found[0]["error"])


def _plan(spark: SparkSession, path: str, plan: str, shards: int | None, options: dict[str, Any]) -> int:
    program, words = _program.find(), _program.flags(options)
    if shards is None:
        with tempfile.TemporaryDirectory() as trial:
            pieces = json.loads(_program.run(program, "shard", "plan", path, "-o", trial, "--json", *words))["pieces"]
        shards = min(pieces, 4 * spark.sparkContext.defaultParallelism)
    _program.run(program, "shard", "plan", path, "-o", plan, f"--shards={shards}", *words)
    return shards


def _rounds(spark: SparkSession, work: str, tell: Callable[[Progress], Any] | None) -> bytes:
    program, plan = _program.find(), os.path.join(work, "plan")
    first = json.loads(_program.run(program, "shard", "next", plan, "--json"))
    name, shards = first["next"], first["shards"]
    while name:
        _tasks(spark, name, shards, tell, "run", plan, f"--round={name}")
        name = json.loads(_program.run(program, "shard", "merge", plan, "--round", name, "--json"))["next"]
    with tempfile.TemporaryDirectory() as here:
        _program.run(program, "shard", "solve", plan, "-o", os.path.join(here, "model.mercer"))
        return pathlib.Path(here, "model.mercer").read_bytes()


def _tasks(spark: SparkSession, name: str, shards: int, tell: Callable[[Progress], Any] | None, *words: str, model: str = "") -> None:
    """Runs a command of mercer shard for all shards, a task each. MODEL in its words is what was sent by the name model.

    Spark runs one again whose process was killed; what is wrong with the data ends the job.
    """
    sc = spark.sparkContext
    program = _program.sent(sc, _program.find(), "mercer")
    threads = sc.getConf().get("spark.task.cpus", "1")
    wrong, done, rows = sc.accumulator([], _List()), sc.accumulator(0), sc.accumulator(0)

    def task(batches: Any) -> Any:
        import pyarrow as pa
        for batch in batches:
            for shard in batch.column(0).to_pylist():
                command = [_program.on_worker(model) if w == "MODEL" else w for w in words]
                try:
                    said = _program.run(_program.on_worker(program), "shard", *command, f"--shard={shard}", f"--threads={threads}", "--json")
                except MercerError as err:  # it would be the same on any machine
                    wrong.add([str(err)])
                    yield pa.RecordBatch.from_pydict({"shard": [shard], "error": [str(err)]})
                    continue
                done.add(1)
                rows.add(json.loads(said)["rows"])
                yield pa.RecordBatch.from_pydict({"shard": [shard], "error": pa.array([None], pa.string())})

    tag, over, told = f"mercer-{uuid.uuid4().hex}", threading.Event(), [-1]

    def show() -> None:
        if tell and done.value != told[0]:
            told[0] = done.value
            tell(Progress(round=name, done=told[0], shards=shards, rows=rows.value))

    def watch() -> None:
        while not over.wait(.2):
            if wrong.value:
                sc.cancelJobsWithTag(tag)
            show()

    watcher = InheritableThread(target=watch, daemon=True)
    watcher.start()
    sc.addJobTag(tag)
    try:
        found = spark.range(0, shards, 1, shards).mapInArrow(task, "shard long, error string").collect()
    except Exception:
        if not wrong.value:
            raise
        found = []
    finally:
        sc.removeJobTag(tag)
        over.set()
        watcher.join()
    if errors := [r["error"] for r in sorted(found) if r["error"]] or wrong.value:
        raise MercerError(errors[0])
    show()
