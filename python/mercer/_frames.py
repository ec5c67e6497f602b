"""Data frames of pandas, polars and pyarrow, and mappings, as columns."""
from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np

Column = tuple[dict[str, Any], np.ndarray]


def names_of(x: Any) -> list[str] | None:
    """The names of the columns of a frame, x0, x1, … if they are not texts; None for anything else."""
    if isinstance(x, dict):
        names = list(x)
    elif hasattr(x, "column_names"):
        names = list(x.column_names)
    elif hasattr(x, "columns") and hasattr(x, "__getitem__") and not hasattr(x, "tocsr"):
        names = list(x.columns)
    else:
        return None
    return names if all(isinstance(n, str) for n in names) else [f"x{i}" for i in range(len(names))]


def is_frame(x: Any) -> bool:
    """Says whether x has columns."""
    return names_of(x) is not None


def _columns(x: Any) -> list[Any]:
    if isinstance(x, dict):
        return list(x.values())
    if hasattr(x, "iloc"):
        return [x.iloc[:, i] for i in range(x.shape[1])]
    if hasattr(x, "column_names"):
        return list(x.columns)
    return [x[n] for n in x.columns]


def _missing(v: Any) -> bool:
    if v is None:
        return True
    try:
        return bool(v != v)
    except TypeError:  # pandas.NA
        return True


def _pandas(s: Any) -> Column | None:
    """Numbers and categories of a column of pandas."""
    dtype = s.dtype
    if hasattr(dtype, "categories"):
        return _texts(s.cat.codes.to_numpy(np.int32), dtype.categories.tolist(), True)
    if dtype.kind in "iuf":
        return _numbers(s.to_numpy(np.float64, na_value=np.nan) if hasattr(dtype, "na_value") else s.to_numpy())
    if dtype.kind == "b" or dtype.kind in "OTUS" and all(isinstance(v, str) or _missing(v) for v in s.array[:1000]):
        codes, found = s.factorize()
        if not all(isinstance(v, str) for v in found):
            return None
        return _texts(codes.astype(np.int32), list(found), False)
    return None


def _polars(s: Any) -> Column | None:
    """Numbers and categories of a column of polars."""
    import polars as pl
    if s.dtype.is_numeric() and not s.dtype.is_decimal():
        return _numbers((s if s.null_count() == 0 else s.cast(pl.Float64)).to_numpy())
    if s.dtype in (pl.Categorical, pl.Enum, pl.String):
        fixed = s.dtype != pl.String
        known = (s.cast(pl.Categorical) if not fixed else s).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return _coded(known, s.gather, fixed)
    return None


def _pyarrow(s: Any) -> Column | None:
    """Categories of a column of pyarrow, numbers where none is missing."""
    import pyarrow as pa
    s = s.combine_chunks() if hasattr(s, "combine_chunks") else s
    if pa.types.is_floating(s.type) or pa.types.is_integer(s.type):
        return _numbers(s.cast(pa.float64()).to_numpy(zero_copy_only=False))
    fixed = pa.types.is_dictionary(s.type)
    if fixed or pa.types.is_string(s.type) or pa.types.is_large_string(s.type):
        s = s if fixed else s.dictionary_encode()
        return _texts(s.indices.cast(pa.int64()).fill_null(-1).to_numpy(), s.dictionary.to_pylist(), fixed)
    return None


def _coded(known: np.ndarray, gather: Any, fixed: bool) -> Column:
    """Categories whose numbers are any, those below 0 missing."""
    found, first, codes = np.unique(known, return_index=True, return_inverse=True)
    lead = int(len(found) > 0 and found[0] < 0)
    return _texts(codes - lead, gather(first[lead:].tolist()).to_list(), fixed)


def _numbers(a: Any) -> Column:
    a = np.asarray(a)
    return {"kind": "number"}, a if a.dtype in (np.float32, np.float64) else a.astype(np.float64)


def _texts(codes: Any, values: Sequence[Any], fixed: bool) -> Column:
    return {"kind": "text", "categories": [str(v) for v in values], "fixed": fixed}, np.ascontiguousarray(codes, np.int32)


def _any(column: Any) -> Column:
    """A column of anything: numbers, booleans, or texts."""
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.tolist() if hasattr(column, "tolist") else list(column)
    present = [v for v in values if not _missing(v)]
    if any(isinstance(v, (complex, np.complexfloating)) for v in present):
        raise ValueError("Complex data not supported")
    if present and all(isinstance(v, (bool, np.bool_)) for v in present):
        return {"kind": "bool"}, np.array([-1 if _missing(v) else int(v) for v in values], np.int32)
    if all(isinstance(v, (int, float, np.number)) for v in present):
        return {"kind": "number"}, np.array([np.nan if _missing(v) else float(v) for v in values], np.float64)
    codes: dict[str, int] = {}
    dates = bool(present) and all(isinstance(v, datetime.date) for v in present)
    out = [-1 if _missing(v) else codes.setdefault(_moment(v) if dates else str(v), len(codes)) for v in values]
    about, array = _texts(out, list(codes), False)
    if dates and all(t.endswith(MIDNIGHT) for t in codes):
        return days(about), array
    return about, array


MIDNIGHT = " 00:00:00"


def _moment(v: Any) -> str:
    return v.isoformat(" ") if isinstance(v, datetime.datetime) else v.isoformat() + MIDNIGHT


def days(about: dict[str, Any]) -> dict[str, Any]:
    """A column of moments as one of days."""
    return {**about, "categories": [t.removesuffix(MIDNIGHT) for t in about["categories"]], "days": True}


def moments(about: dict[str, Any]) -> dict[str, Any]:
    """The reverse, for a model that was trained on moments."""
    return {**about, "categories": [t + MIDNIGHT for t in about["categories"]]}


def _column(column: Any) -> Column:
    """A column's description and its array: numbers with NaN, or codes with -1, for what is missing."""
    by = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}.get(type(column).__module__.split(".")[0])
    got = by(column) if by else None
    if got is None and isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        got = _numbers(column)
    return got or _any(column)


def columns_of(x: Any, wanted: list[str] | None = None) -> tuple[list[dict[str, Any]], list[np.ndarray], int]:
    """The columns of a frame, all or those wanted, and the number of rows."""
    names = names_of(x)
    assert names is not None
    all_columns = _columns(x)
    if wanted is not None:
        if lacking := [n for n in wanted if n not in names]:
            raise ValueError(f"the data have no column {lacking[0]!r}; the model takes {wanted}")
        all_columns, names = [all_columns[names.index(n)] for n in wanted], wanted
    if twice := {n for n in names if names.count(n) > 1}:
        raise ValueError(f"several columns have the name {min(twice)!r}")
    pairs = [_column(c) for c in all_columns]
    rows = len(pairs[0][1]) if pairs else 0
    for name, (_, a) in zip(names, pairs):
        if len(a) != rows:
            raise ValueError(f"column {name!r} has {len(a)} values, {names[0]!r} has {rows}")
    return [{**about, "name": n} for n, (about, _) in zip(names, pairs)], [a for _, a in pairs], rows


def columns_of_array(x: Any, names: list[str] | None = None) -> tuple[list[dict[str, Any]], list[np.ndarray], int]:
    """The columns of an array, by position."""
    x = np.asarray(x)
    if x.ndim != 2 or names is not None and x.shape[1] != len(names):
        raise ValueError(f"expected rows of {len(names or [])} columns; the array has shape {x.shape}")
    names = names or [f"x{i}" for i in range(x.shape[1])]
    return columns_of(dict(zip(names, x.T)))


def whole_numbers(about: list[dict[str, Any]], arrays: list[np.ndarray]) -> bool:
    """Says whether all columns are numbers and none is missing."""
    return all(a["kind"] == "number" for a in about) and not any(has_nan(a) for a in arrays)


def has_nan(a: np.ndarray) -> bool:
    """Says whether NaN is in a, without a copy of a large array."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(a, dtype=np.float64)):
            return False
    return any(np.isnan(a[i:i + 4096]).any() for i in range(0, len(a), 4096))


def stacked(x: Any, arrays: list[np.ndarray]) -> np.ndarray:
    """Columns of numbers as one array: that of the frame itself where it has one."""
    if hasattr(x, "iloc") and len(set(a.dtype for a in arrays)) == 1:
        whole = np.asarray(x)
        if whole.dtype == arrays[0].dtype:
            return whole
    return np.column_stack(arrays)
