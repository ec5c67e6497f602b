"""Measuring a model on labelled rows: tasks keep the scores of shards, the driver compares them."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from . import _columns, _program, _train
from ._predict import description, wanted

_MEASURES = {"threshold", "quantile", "curves"}


def evaluate(model: Any, df: DataFrame | str, label: str | None = None, *, folder: str | None = None, shards: int | None = None,
             piece_rows: int | None = None, progress: Callable[[_train.Progress], Any] | bool | None = None, spark: SparkSession | None = None,
             **options: Any) -> dict[str, Any]:
    """Measures a model, given as for predict, on the labelled rows of a DataFrame, or of files that all workers see.

    Returns what mercer eval --json prints: the same numbers to the last digit on the same rows in the same order, which is that of files, and for a
    DataFrame follows from its rows alone. label is that of the model unless another is given. options are threshold, quantile and curves as of mercer
    eval, and flags of mercer shard plan that say how rows are read (weight="n"); folder, shards, piece_rows and progress are as for train.
    """
    model = getattr(model, "data", model)
    about = description(model)
    measures = _program.flags({k: options.pop(k) for k in _MEASURES & set(options)})
    label = label or ",".join(c["name"] for c in about["schema"].get("labels") or [])
    if not label:
        raise ValueError("the model does not say which column has the labels; give label=")
    if isinstance(df, DataFrame):
        df, spark = _needed(df, about, [*label.split(","), options.get("weight")]), df.sparkSession
    spark = spark or SparkSession.active()
    work, program = _train._work(spark, folder), _program.find()
    plan = os.path.join(work, "plan")
    try:
        shards = _train._prepare(spark, df, work, shards, piece_rows, {"label": label, **options})
        sent = _program.sent(spark.sparkContext, model, "model")
        _train._tasks(spark, "eval", shards, _train._teller(progress), "eval", plan, "MODEL", model=sent)
        with tempfile.TemporaryDirectory() as here:
            path = model
            if isinstance(model, bytes):
                path = os.path.join(here, "model.mercer")
                pathlib.Path(path).write_bytes(model)
            found: dict[str, Any] = json.loads(_program.run(program, "shard", "eval", plan, path, "--merge", "--json", *measures))
            return found
    finally:
        _train._remove(work)


def _needed(df: DataFrame, about: dict[str, Any], others: list[str | None]) -> DataFrame:
    """The columns that a model wants, and others."""
    if lacking := [n for n in others if n and n not in df.columns]:
        raise ValueError(f"the data have no column {lacking[0]!r}; their columns are {df.columns}")
    names = wanted(about)
    columns = [c.alias(n) for c, n in zip(_columns.inputs(df, names), names)]
    return df.select(*columns, *[_columns.quoted(n) for n in others if n and n not in names])
