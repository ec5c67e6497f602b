"""Makes the files beside it: python make.py

    pip install pyarrow==26.0.1
"""
import decimal

import pyarrow as pa

plain = pa.table({
    "i": pa.array([1, None, -3], pa.int16()), "x": pa.array([0.5, -1.0, None], pa.float32()), "t": ["a", None, "ü" * 9],
    "d": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-0.50")], pa.decimal128(9, 2)), "b": [True, False, None],
})
coded = pa.table({
    "t": pa.array(["a", None, "b"] * 3).dictionary_encode(), "v": pa.array(["short", "a text that is long", None] * 3, pa.string_view()),
    "w": pa.array([b"1", b"", b"22"] * 3, pa.large_binary()), "n": pa.nulls(9), "s": pa.array([1, None, 3] * 3, pa.timestamp("ms")),
})


def write(name, new, table, rows, **options):
    with pa.OSFile(name, "wb") as sink, new(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as w:
        w.write_table(table, max_chunksize=rows)


write("plain.arrow", pa.ipc.new_file, plain, 2)
write("plain.arrows", pa.ipc.new_stream, plain, 2)
write("coded.arrow", pa.ipc.new_file, coded, 9, compression="lz4")
write("coded.arrows", pa.ipc.new_stream, coded, 9, compression="zstd")
