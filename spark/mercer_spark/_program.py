"""The binary: where it is, how it comes to the workers, and how it is run."""
from __future__ import annotations

import atexit
import contextlib
import ctypes
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from typing import Any


class MercerError(ValueError):
    """What the program says is wrong with data, options or a file."""


def find() -> str:
    """The program on this machine: $MERCER_PROGRAM, that of the wheel, or one on the PATH."""
    beside = pathlib.Path(__file__).with_name("mercer")
    path = os.environ.get("MERCER_PROGRAM") or (str(beside) if beside.exists() else shutil.which("mercer"))
    if not path:
        raise FileNotFoundError("there is no mercer on the PATH, beside the package or in $MERCER_PROGRAM; install the wheel, or build it: "
                                "go build -o mercer ./cmd/mercer")
    return path


def run(program: str, *words: str) -> str:
    """Runs a command to its end, and returns what it prints. What it finds wrong is a MercerError; if it is killed or breaks, a RuntimeError."""
    p = subprocess.run([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=end_with_parent)
    check(p.returncode, p.stderr, words)
    return p.stdout.decode()


def check(code: int, said: bytes, words: Sequence[str]) -> None:
    """Raises what a command that failed says."""
    if code:
        text = said.decode("utf-8", "replace").strip()
        if code == 1 or code == 2 and text.startswith("mercer"):
            raise MercerError(text)
        raise RuntimeError(f"mercer {' '.join(words)} ended with {code}: {text[-2000:]}")


def end_with_parent() -> None:
    """In a child on Linux: it ends when the Python worker does, which Spark kills with a task."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


@contextlib.contextmanager
def piped(program: str, words: Sequence[str], feed: Any) -> Iterator[Any]:
    """Runs a command that reads what feed writes to a file that it is given, and yields the file of what the command writes."""
    with tempfile.TemporaryFile() as said:
        p = subprocess.Popen([program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, preexec_fn=end_with_parent)
        wrong: list[BaseException] = []

        def write() -> None:
            try:
                with p.stdin:  # type: ignore[union-attr]
                    feed(p.stdin)
            except BrokenPipeError:
                pass  # the command says why
            except BaseException as err:
                wrong.append(err)
                p.kill()

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        try:
            yield p.stdout
        except Exception:
            if wrong:
                raise wrong[0] from None
            if p.poll() is None:
                p.kill()
            elif p.returncode > 0:  # it says why there is nothing to read
                said.seek(0)
                check(p.returncode, said.read(), words)
            raise
        finally:
            p.stdout.close()  # type: ignore[union-attr]
            code = p.wait()
            writer.join()
        if wrong:
            raise wrong[0]
        said.seek(0)
        check(code, said.read(), words)


def sent(sc: Any, what: str | bytes, name: str) -> str:
    """Sends a file, or bytes, to all workers of a context, once, and returns its name there, for pyspark.SparkFiles."""
    with open(what, "rb") if isinstance(what, str) else contextlib.nullcontext() as f:
        sha = (hashlib.file_digest(f, "sha256") if f else hashlib.sha256(what)).hexdigest()  # type: ignore[arg-type]
    name = f"{name}-{sha[:16]}"
    with sc._lock:  # one of this module could not be pickled
        known = sc.__dict__.setdefault("_mercer_sent", set())
        if name in known:
            return name
        folder = tempfile.mkdtemp(prefix="mercer-spark-")  # Spark serves the file from here until it ends
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        path = os.path.join(folder, name)
        if isinstance(what, str):
            shutil.copy(what, path)
        else:
            pathlib.Path(path).write_bytes(what)
        sc.addFile(path)
        known.add(name)
    return name


def on_worker(name: str) -> str:
    """The path of what was sent, on a worker."""
    from pyspark import SparkFiles
    return SparkFiles.get(name)


def flags(options: dict[str, Any]) -> list[str]:
    """Options as flags: lambda_=1 is --lambda=1, True a flag alone, and lists are joined by commas."""
    out = []
    for name, v in options.items():
        if v is None:
            continue
        if isinstance(v, (list, tuple)):
            v = ",".join(map(str, v))
        flag = "--" + name.rstrip("_").replace("_", "-")
        out.append(f"{flag}={str(v).lower() if isinstance(v, bool) else v}")
    return out
