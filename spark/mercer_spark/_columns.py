"""The columns of a DataFrame as the program reads them."""
from __future__ import annotations

import re
from typing import Any

from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

_NUMBERS = (T.FloatType, T.DoubleType)


def quoted(name: str) -> Column:
    """A column by its name, which may have points."""
    return F.col("`" + name.replace("`", "``") + "`")


def is_long(t: T.DataType) -> bool:
    """Says whether a column has many numbers a row."""
    return isinstance(t, VectorUDT) or isinstance(t, T.ArrayType) and isinstance(t.elementType, T.NumericType)


def _elements(field: T.StructField, n: int) -> list[Column]:
    """The columns NAME_0, NAME_1, … of one of vectors, or of arrays of numbers, which must all have n."""
    values = vector_to_array(quoted(field.name)) if isinstance(field.dataType, VectorUDT) else quoted(field.name)
    wrong = F.raise_error(F.format_string(f"column {field.name.replace('%', '%%')} has %d values in a row, and {n} in another", F.size(values)))
    checked = F.when(values.isNull() | (F.size(values) == n), values).otherwise(wrong.cast(T.ArrayType(T.DoubleType())))
    return [checked.getItem(i).alias(f"{field.name}_{i}") for i in range(n)]


def _length(df: DataFrame, field: T.StructField) -> int:
    """How many values a column of vectors or arrays has: what its metadata say, or its first row."""
    n = field.metadata.get("ml_attr", {}).get("num_attrs")
    if n is None:
        values = vector_to_array(quoted(field.name)) if isinstance(field.dataType, VectorUDT) else quoted(field.name)
        first = df.where(quoted(field.name).isNotNull()).select(F.size(values)).first()
        n = first[0] if first else 0
    if not n:
        raise ValueError(f"column {field.name!r} has no values in any row")
    return int(n)


def _simple(field: T.StructField) -> Column:
    """A column of one value a row. Zeros have one sign, so that equal rows have equal bytes."""
    t, c = field.dataType, quoted(field.name)
    if isinstance(t, (T.ArrayType, T.MapType, T.StructType, T.UserDefinedType, T.BinaryType)):
        raise ValueError(f"column {field.name!r} is {t.simpleString()}, which is no number, text, date or vector; drop it, or select its parts")
    return F.when(c == 0, F.lit(0.0).cast(t)).otherwise(c).alias(field.name) if isinstance(t, _NUMBERS) else c


def flat(df: DataFrame) -> DataFrame:
    """All columns as those of one value a row: vectors and arrays of numbers become NAME_0, NAME_1, …"""
    columns: list[Column] = []
    for field in df.schema:
        columns += _elements(field, _length(df, field)) if is_long(field.dataType) else [_simple(field)]
    out = df.select(*columns)
    if twice := {n for n in out.columns if out.columns.count(n) > 1}:
        raise ValueError(f"several columns have the name {min(twice)!r}")
    return out


def nominal(df: DataFrame) -> list[str]:
    """The columns that their metadata declare categories, as StringIndexer does."""
    return [f.name for f in df.schema if f.metadata.get("ml_attr", {}).get("type") == "nominal"]


def inputs(df: DataFrame, wanted: list[str]) -> list[Column]:
    """The columns that a model wants, by name."""
    fields = {f.name: f for f in df.schema}
    lengths: dict[str, int] = {}
    for name in wanted:
        if name not in fields:
            base, _, i = name.rpartition("_")
            if base not in fields or not is_long(fields[base].dataType) or not re.fullmatch("[0-9]+", i):
                raise ValueError(f"the data have no column {name!r}; the model takes {wanted}")
            lengths[base] = max(lengths.get(base, 0), int(i) + 1)
    elements = {f"{base}_{i}": c for base, n in lengths.items() for i, c in enumerate(_elements(fields[base], n))}
    return [elements[name] if name in elements else _simple(fields[name]) for name in wanted]
