"""Predictions and features: the batches of each partition go through the program by pipes."""
from __future__ import annotations

import itertools
import json
import os
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from . import _columns, _program

_BEFORE = "mercer input "  # names of the columns for the program, beside those of the DataFrame


def description(model: str | bytes) -> dict[str, Any]:
    """What mercer inspect tells of a model's file."""
    if isinstance(model, bytes):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.mercer")
            pathlib.Path(path).write_bytes(model)
            return description(path)
    found = json.loads(_program.run(_program.find(), "inspect", model, "--json"))
    if found["kind"] != "model":
        raise _program.MercerError(f"{model}: is no model, but {found['kind']}")
    return dict(found["model"])


def wanted(about: dict[str, Any]) -> list[str]:
    """The columns that a model reads."""
    schema = about["schema"]
    others = {c["name"] for c in schema.get("labels") or []}
    return [c["name"] for c in schema["columns"] if c["name"] not in others and not c.get("id")]


def predict(model: Any, df: DataFrame, *, prediction: str = "prediction", probability: str | None = None, scores: str | None = None,
            **options: Any) -> DataFrame:
    """Adds the predictions of a model, given as the path of its file, its bytes or a MercerModel, to a DataFrame of any columns.

    The column is double for numbers and string for classes, as mercer predict writes them; an array for several targets. probability
    and scores name columns of arrays, in the order of the model's classes. options are the flags of mercer predict (threshold=.3).
    """
    model = getattr(model, "data", model)
    about = description(model)
    words = ["predict", "MODEL", "-", "--output-format=arrows", *_program.flags(options)] + ["--scores"] * (scores is not None)
    classes = about.get("classes") or about.get("labels") or []
    targets = 1 if classes else about["outputs"]
    kind = T.StringType() if classes else T.DoubleType() if targets == 1 else T.ArrayType(T.DoubleType())
    added = [T.StructField(prediction, kind)]
    ends = [("prediction", targets)]
    if probability is not None:
        if not classes:
            raise ValueError("the model predicts numbers, which have no probabilities")
        added.append(T.StructField(probability, T.ArrayType(T.DoubleType())))
        ends.append(("p_", len(classes)))
    if scores is not None:
        added.append(T.StructField(scores, T.ArrayType(T.DoubleType())))
        ends.append(("score", about["outputs"]))

    def take(out: Any) -> list[Any]:
        """The columns that are added, of a table of the program's: those of the input, the prediction, probabilities and scores."""
        names, columns, at = out.schema.names, [], 0
        for begin, n in ends:
            while at < len(names) and not names[at].startswith(begin):
                at += 1
            if at + n > len(names):
                raise _program.MercerError("the model has no probabilities; train it with calibrate, or by the learner logistic")
            columns.append(out.column(at) if n == 1 and begin == "prediction" else _together(out, at, n))
            at += n
        return columns

    return _through(model, about, df, words, added, take)


def transform(model: Any, df: DataFrame, *, output: str = "features") -> DataFrame:
    """Adds the features of a model's map to a DataFrame, as an array of floats."""
    model = getattr(model, "data", model)
    words = ["transform", "MODEL", "-", "--output", "/dev/stdout", "--output-format=arrows"]
    added = [T.StructField(output, T.ArrayType(T.FloatType()))]
    return _through(model, description(model), df, words, added, lambda out: [_together(out, 0, out.num_columns)])


def _together(batch: Any, at: int, n: int) -> Any:
    """Columns of numbers as one of arrays."""
    import numpy as np
    import pyarrow as pa
    values = np.column_stack([batch.column(i).to_numpy(zero_copy_only=False) for i in range(at, at + n)])
    return pa.ListArray.from_arrays(pa.array(np.arange(0, len(values) * n + 1, n, dtype=np.int32)), pa.array(values.ravel()))


def _through(model: str | bytes, about: dict[str, Any], df: DataFrame, words: list[str], added: list[T.StructField], take: Any) -> DataFrame:
    """Sends the columns that a model wants through the program, and adds what take makes of its answers."""
    if there := [f.name for f in added if f.name in df.columns]:
        raise ValueError(f"the data have a column {there[0]!r} already; drop it, or give another name")
    sc, names = df.sparkSession.sparkContext, wanted(about)
    program, name = _program.sent(sc, _program.find(), "mercer"), _program.sent(sc, model, "model")
    words += ["--threads=" + sc.getConf().get("spark.task.cpus", "1")]
    own = len(df.columns)
    both = df.select(*[_columns.quoted(c) for c in df.columns], *[c.alias(_BEFORE + w) for c, w in zip(_columns.inputs(df, names), names)])

    def task(batches: Any) -> Any:
        import pyarrow as pa
        first = next((b for b in batches if b.num_rows), None)
        if first is None:
            return
        of = pa.schema([f.with_name(w) for f, w in zip(list(first.schema)[own:], names)])
        mine = list(range(own))
        with tempfile.TemporaryFile() as rows:  # until their predictions come

            def feed(pipe: Any) -> None:
                with pa.ipc.new_stream(pipe, of) as to, pa.ipc.new_stream(rows, first.select(mine).schema) as keep:
                    for batch in itertools.chain([first], batches):
                        keep.write_batch(batch.select(mine))
                        to.write_batch(pa.RecordBatch.from_arrays(batch.columns[own:], schema=of))

            command = [_program.on_worker(name) if w == "MODEL" else w for w in words]
            with _program.piped(_program.on_worker(program), command, feed) as pipe:
                answers = pa.ipc.open_stream(pipe)  # which come when all rows have gone
                rows.seek(0)
                yield from _side_by_side(pa.ipc.open_stream(rows), answers, take, types.names)
                while pipe.read(1 << 16):  # a summary
                    pass

    types = T.StructType([*df.schema.fields, *added])
    return both.mapInArrow(task, types)


def _side_by_side(rows: Any, answers: Any, take: Any, names: list[str]) -> Iterator[Any]:
    """Batches of the rows with what take makes of the answers, which come in other batches."""
    import pyarrow as pa
    left = None
    for batch in rows:
        at = 0
        while at < batch.num_rows:
            while left is None or left.num_rows == 0:
                left = answers.read_next_batch()
            n = min(batch.num_rows - at, left.num_rows)
            yield pa.RecordBatch.from_arrays(batch.slice(at, n).columns + take(left.slice(0, n)), names=names)
            at, left = at + n, left.slice(n)
    if left is not None and left.num_rows or any(b.num_rows for b in answers):
        raise RuntimeError("there are more predictions than rows")
