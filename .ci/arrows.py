"""Arrow files and streams of pyarrow against mercer convert, both ways: python arrows.py MERCER FOLDER.

    pip install pandas pyarrow
"""
import datetime
import decimal
import subprocess
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather

from tables import convert, folder, hole, lines, same_lines

n = 3000
rng = np.random.default_rng(1)
day = datetime.datetime(1969, 12, 31, 23, 59, 59)
words = ["Bonn", 'a "b", c', "two\nlines", "ünï", "", "a text of more than twelve bytes"]
columns = {
    "empty": pa.nulls(n),
    "flag": pa.array(hole([i % 3 == 0 for i in range(n)], 17)),
    "u64": pa.array([2**63 + i for i in range(n)], pa.uint64()),
    "f16": pa.array(rng.normal(size=n).astype(np.float16)),
    "f32": pa.array(hole(rng.normal(size=n).astype(np.float32).tolist(), 5), pa.float32()),
    "f64": pa.array(hole(rng.normal(size=n).tolist(), 13), pa.float64()),
    "d128": pa.array([decimal.Decimal(i * 7 - 9000).scaleb(-2) for i in range(n)], pa.decimal128(12, 2)),
    "d256": pa.array(hole([decimal.Decimal(i * 7 - 9000).scaleb(-3) for i in range(n)], 9), pa.decimal256(50, 3)),
    "d32": pa.array([decimal.Decimal(i - 1500).scaleb(-1) for i in range(n)], pa.decimal32(7, 1)),
    "date32": pa.array(hole([(day + datetime.timedelta(i * 9)).date() for i in range(n)], 6), pa.date32()),
    "date64": pa.array([(day + datetime.timedelta(i * 9)).date() for i in range(n)], pa.date64()),
    "time32": pa.array([(day + datetime.timedelta(seconds=i * 61)).time() for i in range(n)], pa.time32("s")),
    "time64": pa.array([(day + datetime.timedelta(microseconds=i * 1000123)).time() for i in range(n)], pa.time64("us")),
    "s": pa.array([day + datetime.timedelta(seconds=i) for i in range(n)], pa.timestamp("s")),
    "ms": pa.array([day + datetime.timedelta(milliseconds=i * 1234567) for i in range(n)], pa.timestamp("ms", tz="Europe/Berlin")),
    "us": pa.array(hole([day + datetime.timedelta(microseconds=i) for i in range(n)], 4), pa.timestamp("us")),
    "uuid": pa.array([uuid.UUID(int=i << 100 | i).bytes for i in range(n)], pa.uuid()),
    "utf8": pa.array(hole([words[i % 6] for i in range(n)], 8)),
    "large": pa.array([words[i % 6] for i in range(n)], pa.large_string()),
    "view": pa.array(hole([words[i % 6] * (i % 4) for i in range(n)], 8), pa.string_view()),
    "binary": pa.array([b"abc"[:i % 4] for i in range(n)], pa.binary()),
    "coded": pa.array(hole(["x%d" % (i % 3) for i in range(n)], 8)).dictionary_encode(),
    "coded8": pa.array(["x%d" % (i % 100) for i in range(n)]).cast(pa.dictionary(pa.uint8(), pa.large_string())),
    "codedint": pa.DictionaryArray.from_arrays(pa.array([i % 4 for i in range(n)], pa.int64()), pa.array([5, None, 7, -8])),
}
for bits in 8, 16, 32, 64:
    columns["i%d" % bits] = pa.array(hole([(i % 2 * 2 - 1) * (2 ** (bits - 1) - 1 - i % 90) for i in range(n)], 7), pa.from_numpy_dtype("int%d" % bits))
    if bits < 64:
        columns["u%d" % bits] = pa.array([2 ** bits - 1 - i % 200 for i in range(n)], pa.from_numpy_dtype("uint%d" % bits))
table = pa.table(columns)

files = 0
out = f"{folder}/a.jsonl"
for compression in [None, "lz4", "zstd"]:
    for rows in [n, 700]:
        for new, name in [(pa.ipc.new_file, "a.arrow"), (pa.ipc.new_stream, "a.arrows")]:
            path = f"{folder}/{name}"
            with pa.OSFile(path, "wb") as sink, new(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression, unify_dictionaries=True)) as w:
                w.write_table(table, max_chunksize=rows)
            convert(path, out)
            same_lines(table, out)
            with open(path, "rb") as f:
                convert("-", f"{folder}/b.jsonl", stdin=subprocess.Popen(["cat"], stdin=f, stdout=subprocess.PIPE).stdout)
            assert open(out).read() == open(f"{folder}/b.jsonl").read()
            subprocess.run(["gzip", "-kf", path], check=True)
            convert(path + ".gz", f"{folder}/b.jsonl")
            assert open(out).read() == open(f"{folder}/b.jsonl").read()
            files += 3
feather.write_feather(table.drop(["view"]), f"{folder}/a.feather")  # compressed by LZ4
convert(f"{folder}/a.feather", out)
same_lines(table.drop(["view"]), out)

# Dictionaries that grow and that are replaced between the batches of a stream.
for deltas in True, False:
    with pa.OSFile(f"{folder}/d.arrows", "wb") as sink:
        parts = [pa.array(["a", "b", None]), pa.array(["c", "a", "b"]), pa.array(["d"])]
        values, batches = [], []
        for p in parts:
            values += [v for v in p.to_pylist() if v and v not in values]
            known = values if deltas else p.unique().drop_null().to_pylist()[::-1]
            indices = pa.array([known.index(v) if v else None for v in p.to_pylist()], pa.int8())
            batches.append(pa.record_batch({"x": pa.DictionaryArray.from_arrays(indices, known)}))
        with pa.ipc.new_stream(sink, batches[0].schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)) as w:
            for b in batches:
                w.write_batch(b)
    convert(f"{folder}/d.arrows", f"{folder}/d.jsonl")
    assert lines(f"{folder}/d.jsonl")["x"] == ["a", "b", None, "c", "a", "b", "d"]

# What is written is read by pyarrow, in several batches, and has the types that it says.
many = pa.table({"i": hole(list(range(200_000)), 5), "x": hole(np.arange(200_000).astype(float) / 8, 7), "t": hole(["ü%d" % (i % 9) for i in range(200_000)], 9)})
with pa.OSFile(f"{folder}/m.arrow", "wb") as sink, pa.ipc.new_file(sink, many.schema) as w:
    w.write_table(many)
for name, read in [("n.arrow", pa.ipc.open_file), ("n.arrows", pa.ipc.open_stream)]:
    convert(f"{folder}/m.arrow", f"{folder}/{name}")
    back = read(pa.OSFile(f"{folder}/{name}")).read_all()
    back.validate(full=True)
    assert back.equals(many), name
pd.testing.assert_frame_equal(pd.read_feather(f"{folder}/n.arrow"), many.to_pandas(), check_dtype=False)

for nested, what in [(pa.array([[1, 2]]), "nested (a list)"), (pa.array([{"b": 1}]), "nested (a struct)"), (pa.array([1, 1]).cast(pa.int32()), None),
                     (pa.RunEndEncodedArray.from_arrays([1], [2]), "run-end encoded")]:
    t = pa.table({"a": nested})
    with pa.OSFile(f"{folder}/n.arrow", "wb") as sink, pa.ipc.new_file(sink, t.schema) as w:
        w.write_table(t)
    said = convert(f"{folder}/n.arrow", f"{folder}/n.csv", code=1 if what else 0)
    assert not what or 'column "a" is ' + what in said, said
print(f"arrows: {files} Arrow files and streams of pyarrow are read as they are, and what is written is read by pyarrow and pandas")
