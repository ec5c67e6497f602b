"""Compares two ways from Python to Mercer: the shared library, and the program with Arrow streams over pipes.

    python python/bench/transport.py MERCER      # the program; the package and pyarrow are installed

Prints the time of a training on 1,000 rows, of a prediction of one row, and the memory that a training on 2 GB takes.
"""
import os
import subprocess
import sys
import tempfile
import threading
import time

import mercer
import numpy as np
import pyarrow as pa

PROGRAM = sys.argv[1]
OPTIONS = {"learner": "ridge", "features": 256}
FLAGS = ["--learner", "ridge", "--features", "256", "--label", "y", "--progress", "never"]


def batches(x, y=None, rows=65536):
    """Arrow batches of rows, a column for each dimension."""
    for i in range(0, len(x), rows):
        part = np.ascontiguousarray(x[i:i + rows].T)
        columns = {f"x{j}": part[j] for j in range(x.shape[1])}
        if y is not None:
            columns["y"] = y[i:i + rows]
        yield pa.RecordBatch.from_pydict({k: pa.array(v) for k, v in columns.items()})


def piped(command, x, y=None):
    """Runs the program with rows as an Arrow stream on its standard input, and returns its output."""
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lines = []
    reading = threading.Thread(target=lambda: lines.append(child.stdout.read()))
    reading.start()
    writer = None
    for batch in batches(x, y):
        writer = writer or pa.ipc.new_stream(child.stdin, batch.schema)
        writer.write_batch(batch)
    writer.close()
    child.stdin.close()
    most = 0
    while reading.is_alive():
        most = max(most, peak(child.pid))
        reading.join(1e-3 if len(x) == 1 else .05)
    assert child.wait() == 0
    return lines[0], most


def best(body, times):
    """The shortest and the median of some runs, in seconds."""
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        body()
        took.append(time.perf_counter() - begun)
    return min(took), float(np.median(took))


def show(what, took):
    scale, unit = (1e6, "µs") if took[1] < 1e-3 else (1e3, "ms")
    print(f"{what:58} {took[0] * scale:9.1f} {unit}, median {took[1] * scale:.1f}")


def peak(pid="self"):
    """The largest memory of a process so far, 0 if it has ended."""
    with open(f"/proc/{pid}/status") as f:
        return next((int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM")), 0)


def large(how, work):
    """The training on 2 GB, in a process of its own: by how much its largest memory exceeds the array, and the child's memory."""
    x = np.random.default_rng(0).random((8_388_608, 64), np.float32)
    y = np.asarray(x[:, 0] * 2, np.float64)
    mercer.fit(x[:5000], y[:5000], progress=False, **OPTIONS)
    open("/proc/self/clear_refs", "w").write("5")
    before, child = peak(), 0
    begun = time.perf_counter()
    if how == "library":
        mercer.fit(x, y, progress=False, **OPTIONS)
    else:
        child = piped([PROGRAM, "train", *FLAGS, "-", "-o", work + "/m.mercer"], x, y)[1]
    took = time.perf_counter() - begun
    print(f"{how}: 2 GiB of float32, {took:.0f} s, {(peak() - before) / 2**20:.0f} MiB more in Python, "
          f"{child / 2**20:.0f} MiB in the program, {2.1 if child else 0:.1f} GB in a temporary file")


def small(work):
    r = np.random.default_rng(0)
    x = r.normal(size=(1000, 20)).astype(np.float32)
    y = x[:, 0].astype(np.float64)
    fit = [PROGRAM, "train", *FLAGS, "-", "-o", work + "/m.mercer"]
    for _ in range(2):  # in turns
        show("library: fit on 1,000 rows", best(lambda: mercer.fit(x, y, progress=False, **OPTIONS), 20))
        show("pipe:    fit on 1,000 rows, a process each", best(lambda: piped(fit, x, y), 20))
    model = mercer.load(work + "/m.mercer")
    one = x[:1]
    took = best(lambda: [model.predict(one) for _ in range(1000)], 10)
    show("library: one row", (took[0] / 1000, took[1] / 1000))
    show("pipe:    one row, a process each", best(lambda: piped([PROGRAM, "predict", work + "/m.mercer", "-"], one), 20))
    echo = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    batch = next(batches(one))

    def round_trip():
        echo.stdin.write(batch.serialize())
        got = b""
        while len(got) < size:
            got += echo.stdout.read(size - len(got))
        return pa.ipc.read_record_batch(pa.py_buffer(got), batch.schema)

    size = batch.serialize().size
    show("pipe:    one row there and back, no prediction", best(round_trip, 2000))
    echo.stdin.close()
    echo.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        if len(sys.argv) > 2:
            large(sys.argv[2], work)
        else:
            small(work)
            for how in ("library", "pipe"):
                subprocess.run([sys.executable, __file__, PROGRAM, how], check=True)
