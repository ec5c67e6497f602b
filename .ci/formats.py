"""Parquet and SQLite files of pandas, pyarrow and DuckDB against mercer convert, both ways: python formats.py MERCER FOLDER.

    pip install pandas pyarrow duckdb
"""
import datetime
import decimal
import json
import sqlite3
import subprocess
import uuid

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tables import convert, folder, hole, lines, mercer, same, same_lines

n = 2500
rng = np.random.default_rng(1)
table = pa.table({
    "i8": pa.array(hole([i % 100 - 50 for i in range(n)], 7), pa.int8()),
    "u16": pa.array([i % 60000 for i in range(n)], pa.uint16()),
    "u64": pa.array([2**63 + i for i in range(n)], pa.uint64()),
    "i64": pa.array(hole([i * 10**14 - 10**17 for i in range(n)], 11), pa.int64()),
    "f16": pa.array(rng.normal(size=n).astype(np.float16)),
    "f32": pa.array(hole(rng.normal(size=n).astype(np.float32).tolist(), 5), pa.float32()),
    "f64": pa.array(hole(rng.normal(size=n).tolist(), 13), pa.float64()),
    "money": pa.array([decimal.Decimal(i * 7 - 9000).scaleb(-2) for i in range(n)], pa.decimal128(12, 2)),
    "flag": pa.array(hole([i % 3 == 0 for i in range(n)], 17), pa.bool_()),
    "day": pa.array(hole([datetime.date(1960, 1, 1) + datetime.timedelta(i * 9) for i in range(n)], 6), pa.date32()),
    "ms": pa.array([datetime.datetime(1999, 12, 31, 23, 59, 59) + datetime.timedelta(milliseconds=i * 1234567) for i in range(n)], pa.timestamp("ms")),
    "us": pa.array([datetime.datetime(1969, 12, 31, 23, 59, 59, 5) + datetime.timedelta(seconds=i) for i in range(n)], pa.timestamp("us", tz="UTC")),
    "town": pa.array(hole([["Bonn", 'a "b", c', "two\nlines", "ünï"][i % 4] for i in range(n)], 8)),
    "coded": pa.array([["x", "y", "z"][i % 3] for i in range(n)]).dictionary_encode(),
    "zip": pa.array([f"{i:05d}" for i in range(n)]),
    "i16": pa.array(hole([i % 60000 - 30000 for i in range(n)], 4), pa.int16()),
    "i32": pa.array([(i * 1234567891) % 2**32 - 2**31 for i in range(n)], pa.int32()),
    "u8": pa.array([i % 256 for i in range(n)], pa.uint8()),
    "u32": pa.array(hole([2**32 - 1 - i for i in range(n)], 9), pa.uint32()),
    "cents": pa.array([decimal.Decimal(i * 7 - 9000).scaleb(-2) for i in range(n)], pa.decimal128(30, 2)),
    "large": pa.array(hole([decimal.Decimal(i * 7 - 9000).scaleb(-3) for i in range(n)], 3), pa.decimal256(60, 3)),
    "at": pa.array(hole([(datetime.datetime(2000, 1, 1) + datetime.timedelta(microseconds=i * 17000001)).time() for i in range(n)], 5), pa.time64("us")),
    "hour": pa.array([(datetime.datetime(2000, 1, 1) + datetime.timedelta(seconds=i * 17)).time() for i in range(n)], pa.time32("ms")),
    "ns": pa.array([np.datetime64("1999-12-31T23:59:59.000000001") + np.timedelta64(i * 1234567, "us") for i in range(n)], pa.timestamp("ns")),
    "bytes": pa.array(hole([b"abc"[:i % 4] for i in range(n)], 10), pa.binary()),
    "fixed": pa.array([b"%04d" % i for i in range(n)], pa.binary(4)),
    "uuid": pa.array([uuid.UUID(int=i << 100 | i).bytes for i in range(n)], pa.uuid()),
    "none": pa.nulls(n),
    "long": pa.array(["word %d " % (i % 7) * (i % 40) for i in range(n)]),
    "sorted": pa.array([f"/a/long/path/that/repeats/{i:06d}" for i in range(n)]),
})

files = 0
plain = {"use_dictionary": False}
deltas = {"i8": "DELTA_BINARY_PACKED", "i16": "DELTA_BINARY_PACKED", "i32": "DELTA_BINARY_PACKED", "u32": "DELTA_BINARY_PACKED", "u64": "DELTA_BINARY_PACKED",
          "i64": "DELTA_BINARY_PACKED", "day": "DELTA_BINARY_PACKED", "ms": "DELTA_BINARY_PACKED", "us": "DELTA_BINARY_PACKED", "at": "DELTA_BINARY_PACKED",
          "town": "DELTA_BYTE_ARRAY", "zip": "DELTA_LENGTH_BYTE_ARRAY", "long": "DELTA_LENGTH_BYTE_ARRAY", "sorted": "DELTA_BYTE_ARRAY", "fixed": "DELTA_BYTE_ARRAY",
          "flag": "RLE", "f64": "BYTE_STREAM_SPLIT", "f32": "BYTE_STREAM_SPLIT"}
split = {name: "BYTE_STREAM_SPLIT" for name in ("i32", "i64", "u16", "ms", "fixed", "uuid", "f16", "f64", "f32", "money", "cents")}
for compression in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]:
    for options in [{}, plain, {**plain, "data_page_version": "2.0"}, {"row_group_size": 700, "data_page_size": 2000, "write_page_checksum": True},
                    {**plain, "column_encoding": deltas}, {**plain, "column_encoding": split}, {"data_page_version": "2.0", "data_page_size": 500, "write_page_index": True},
                    {**plain, "column_encoding": deltas, "data_page_version": "2.0", "data_page_size": 900}, {"version": "1.0"}]:
        path, out = f"{folder}/a.parquet", f"{folder}/a.jsonl"
        rows = table.drop(["ns"]) if "version" in options else table
        pq.write_table(rows, path, compression=compression, **options)
        convert(path, out)
        same_lines(rows, out)
        files += 1
pq.write_table(table.select(["ns", "i8"]), f"{folder}/a.parquet", use_deprecated_int96_timestamps=True)
convert(f"{folder}/a.parquet", f"{folder}/a.jsonl")
same_lines(table.select(["ns", "i8"]), f"{folder}/a.jsonl")

# Files of DuckDB, which also reads what is written.
db = duckdb.connect()
kept = "i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, money, cents, flag, day, us, town, coded, zip, at, long, sorted, uuid"
db.register("rows", table.select(kept.split(", ")))
for compression in ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw"]:
    for options in ["", ", row_group_size 2048", ", parquet_version v2", ", parquet_version v2, row_group_size 2048"]:
        db.sql(f"copy rows to '{folder}/d.parquet' (format parquet, compression {compression}{options})")
        convert(f"{folder}/d.parquet", f"{folder}/d.jsonl")
        same_lines(table.select(kept.split(", ")), f"{folder}/d.jsonl")
        files += 1

pq.write_table(table, f"{folder}/a.parquet", compression="lz4")
convert(f"{folder}/a.parquet", f"{folder}/a.jsonl")
subprocess.run([mercer, "convert", f"{folder}/a.parquet", f"{folder}/b.parquet"], check=True, stdout=subprocess.DEVNULL)
back = pq.read_table(f"{folder}/b.parquet")
assert back.column_names == table.column_names
by_duckdb = db.sql(f"select * from '{folder}/b.parquet'").to_arrow_table()
assert by_duckdb.cast(back.schema).equals(back.replace_schema_metadata(None)), by_duckdb.schema
same(table.drop(["u64", "none"]), {name: back[name].to_pylist() for name in table.column_names})  # beyond INT64 it is text
assert back["u64"].to_pylist() == [str(v) for v in table["u64"].to_pylist()]
assert str(back.schema.field("i64").type) == "int64" and str(back.schema.field("f64").type) == "double" and str(back.schema.field("zip").type) == "string"
pd.testing.assert_frame_equal(pd.read_json(f"{folder}/a.jsonl", lines=True, dtype={"zip": str})[["zip", "u16"]], table.select(["zip", "u16"]).to_pandas(), check_dtype=False)
for nested in (pa.table({"a": [[1, 2]]}), pa.table({"a": [{"b": 1}]}), pa.table({"a": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))})):
    pq.write_table(nested, f"{folder}/n.parquet")
    r = subprocess.run([mercer, "convert", f"{folder}/n.parquet", f"{folder}/n.csv"], capture_output=True, text=True)
    assert r.returncode == 1 and 'column "a" is nested' in r.stderr, r.stderr

# SQLite: tables of pandas are read as they are; by a query too.
frame = table.select(["i8", "i64", "f64", "flag", "town", "zip"]).to_pandas()
with sqlite3.connect(f"{folder}/s.db") as s:
    frame.to_sql("rows", s, index=False)
    s.execute("create table other(a)")
s.close()
for options in [["--table", "rows"], ["--query", "select i8, i64, f64, flag, town, zip from rows order by rowid"]]:
    convert(f"{folder}/s.db", f"{folder}/s.jsonl", *options)
    got = lines(f"{folder}/s.jsonl")
    got["zip"] = [f"{int(v):05d}" for v in got["zip"]] if not isinstance(got["zip"][0], str) else got["zip"]
    got["flag"] = [None if v is None else str(bool(v)).lower() for v in got["flag"]]
    same(table.select(list(frame)), got)
    files += 1

# The same rows give the same model, whatever they come from.
rng = np.random.default_rng(3)
people = pa.table({"age": rng.integers(18, 90, 3000), "size": np.round(rng.normal(1.7, 0.1, 3000), 3), "speed": rng.normal(size=3000).astype(np.float32),
                   "gap": pa.array(hole(np.round(rng.normal(size=3000), 6).tolist(), 6)), "town": [["Bonn", "Ulm", 'a "b", c'][i] for i in rng.integers(0, 3, 3000)],
                   "y": [["no", "yes"][i] for i in rng.integers(0, 2, 3000)]})
csv = [people.column_names] + [["" if v is None else np.format_float_positional(np.float32(v), unique=True, trim="-") if name == "speed" else
                                '"' + v.replace('"', '""') + '"' if isinstance(v, str) else repr(v) for name, v in row.items()] for row in people.to_pylist()]
with open(f"{folder}/p.csv", "w") as f:
    f.writelines(",".join(row) + "\n" for row in csv)
pq.write_table(people, f"{folder}/p.parquet", row_group_size=1000)
db.register("people", people)
db.sql(f"copy people to '{folder}/q.parquet' (format parquet, compression zstd)")
with pa.OSFile(f"{folder}/p.arrow", "wb") as sink, pa.ipc.new_file(sink, people.schema) as w:
    w.write_table(people, max_chunksize=500)
with pa.OSFile(f"{folder}/p.arrows", "wb") as sink, pa.ipc.new_stream(sink, people.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as w:
    w.write_table(people)
with sqlite3.connect(f"{folder}/p.db") as s:
    people.to_pandas().assign(speed=[float(row[2]) for row in csv[1:]]).to_sql("people", s, index=False)
s.close()
with open(f"{folder}/p.jsonl", "w") as f:
    f.writelines(json.dumps({**row, "speed": float(np.format_float_positional(np.float32(row["speed"]), unique=True))}) + "\n" for row in people.to_pylist())
models = {}
for name in ["p.csv", "p.parquet", "q.parquet", "p.arrow", "p.arrows", "p.jsonl", "p.db"]:
    subprocess.run([mercer, "train", f"{folder}/{name}", "--label", "y", "--quick", "--features", "128", "-o", f"{folder}/m.mercer", "--progress", "never"], check=True, capture_output=True)
    models[name] = open(f"{folder}/m.mercer", "rb").read()
    assert models[name] == models["p.csv"], name
print(f"formats: {files} Parquet and SQLite files of pyarrow, DuckDB and pandas are read as they are, what is written is read by them, and {len(models)} files of the same rows give one model")
