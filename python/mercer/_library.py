"""The shared library: calls, arrays, and jobs that Python waits for."""
from __future__ import annotations

import ctypes as c
import json
import os
import pathlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np


class MercerError(ValueError):
    """What the library says is wrong with data, options or a file."""


class Rows(c.Structure):
    """An array as the library sees it."""

    _fields_ = [("data", c.c_void_p), ("rows", c.c_int64), ("cols", c.c_int64), ("stride", c.c_int64), ("step", c.c_int64),
                ("kind", c.c_int64), ("ptr", c.c_void_p), ("idx", c.c_void_p), ("first", c.c_int64)]


_lock = threading.Lock()
_lib: Any = None
_forked = False
_handle = c.c_size_t
_FUNCTIONS: dict[str, list[Any]] = {
    "fit": [c.c_char_p, c.c_void_p, c.c_void_p, c.c_void_p, c.c_void_p, c.POINTER(_handle)],
    "fit_table": [c.c_char_p, c.c_void_p, c.POINTER(_handle)],
    "cluster": [c.c_char_p] + 5 * [c.c_void_p] + [c.POINTER(_handle)],
    "progress": [_handle],
    "result": [_handle, c.POINTER(_handle)],
    "load": [c.c_char_p, c.POINTER(_handle)],
    "save": [_handle, c.c_char_p],
    "export": [_handle, c.c_char_p, c.c_char_p],
    "bytes": [_handle, c.POINTER(c.c_void_p), c.POINTER(c.c_int64)],
    "read": [c.c_char_p, c.c_int64, c.POINTER(_handle)],
    "info": [_handle, c.POINTER(c.c_void_p)],
    "encode": [_handle, c.c_char_p, c.c_void_p, c.c_void_p],
    "predict": [_handle, c.c_void_p, c.c_void_p, c.c_void_p, c.c_void_p, c.c_int64],
    "transform": [_handle, c.c_void_p, c.c_void_p],
}


def _after_fork() -> None:
    global _forked
    _forked = _lib is not None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def library() -> Any:
    """The library, loaded at the first use so that processes that never use it may fork."""
    global _lib
    if _forked:
        raise RuntimeError("mercer was used before this process was forked, and a Go library does not survive a fork; "
                           "start processes by 'spawn' or 'forkserver' (joblib's default does), or fork before using mercer")
    if _lib is None:
        with _lock:
            if _lib is None:
                _lib = _load()
    return _lib


def _load() -> Any:
    name = {"win32": "mercer.dll", "darwin": "libmercer.dylib"}.get(sys.platform, "libmercer.so")
    path = os.environ.get("MERCER_LIBRARY") or str(pathlib.Path(__file__).with_name(name))
    try:
        lib = c.CDLL(path)
    except OSError as err:
        raise ImportError(f"cannot load {path}: {err}; install the package with pip, which builds the library") from err
    for name, types in _FUNCTIONS.items():
        f = getattr(lib, "mercer_" + name)
        f.argtypes, f.restype = types, c.c_void_p
    lib.mercer_wait.argtypes, lib.mercer_wait.restype = [_handle, c.c_int], c.c_int
    lib.mercer_threads.argtypes, lib.mercer_threads.restype = [c.c_int], c.c_int
    lib.mercer_cancel.argtypes = lib.mercer_release.argtypes = [_handle]
    lib.mercer_free.argtypes = [c.c_void_p]
    lib.mercer_cancel.restype = lib.mercer_release.restype = lib.mercer_free.restype = None
    return lib


def text(lib: Any, at: int) -> str:
    """A text of the library, which is freed."""
    try:
        return c.string_at(at).decode("utf-8", "replace")
    finally:
        lib.mercer_free(at)


def check(lib: Any, err: int | None) -> None:
    """Raises what a call returned."""
    if err:
        raise MercerError(text(lib, err))


class Handle:
    """A model or map of the library."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __del__(self) -> None:
        if _lib is not None and not _forked and self.value:
            _lib.mercer_release(self.value)


def rows_of(x: Any) -> tuple[Rows, list[Any]]:
    """An array or sparse matrix as the library sees it, without a copy where it is float32, or a dense one of float64."""
    if hasattr(x, "tocsr"):
        m = x.tocsr()
        if not m.has_canonical_format:
            m = m.copy()
            m.sum_duplicates()
        data = np.ascontiguousarray(m.data, np.float32)
        ptr, idx = np.ascontiguousarray(m.indptr, np.int64), np.ascontiguousarray(m.indices, np.int32)
        return Rows(data.ctypes.data, m.shape[0], m.shape[1], 0, 1, 2, ptr.ctypes.data, idx.ctypes.data), [data, ptr, idx]
    a = np.asarray(x)
    if a.ndim != 2:
        raise ValueError(f"expected a 2D array of rows, got {a.ndim}D; reshape(1, -1) makes one row of numbers a row")
    if a.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if a.dtype != np.float32 and a.dtype != np.float64 or not a.dtype.isnative:
        a = a.astype(np.float64 if a.dtype.kind == "f" and a.itemsize > 4 else np.float32)
    size = a.itemsize
    if any(step % size or step < 0 for step in a.strides):
        a = np.ascontiguousarray(a)
    return Rows(a.ctypes.data, a.shape[0], a.shape[1], a.strides[0] // size, a.strides[1] // size, int(a.dtype == np.float64), None, None), [a]


def parts_of(rows: Rows) -> Iterator[tuple[Rows, int, int]]:
    """Rows in parts between which Python sees its signals: those of an array, from i up to j."""
    if rows.kind == 2 or rows.rows <= PART:
        yield rows, 0, rows.rows
        return
    for i in range(0, rows.rows, PART):
        j = min(i + PART, rows.rows)
        at = rows.data + i * rows.stride * (8 if rows.kind else 4)
        yield Rows(at, j - i, rows.cols, rows.stride, rows.step, rows.kind, None, None, i), i, j


PART = 1 << 16
_abandoned: list[tuple[int, Any]] = []


def _sweep(lib: Any) -> None:
    """Lets go of jobs that were abandoned and have ended, and of the arrays that they read."""
    for job in _abandoned[:]:
        if lib.mercer_wait(job[0], 0):
            _abandoned.remove(job)
            lib.mercer_release(job[0])


def run(start: str, about: dict[str, Any], arrays: list[Any], keep: Any, told: Any = None) -> Handle:
    """Runs a training. Python's signals are seen within 50 ms; then the job is left behind, with its arrays until it ends."""
    lib = library()
    _sweep(lib)
    job, got = _handle(), _handle()
    check(lib, getattr(lib, "mercer_" + start)(json.dumps(about).encode(), *arrays, c.byref(job)))
    try:
        pause = 5
        while not lib.mercer_wait(job.value, pause):
            pause = 50
            if told is not None:
                told(json.loads(text(lib, lib.mercer_progress(job.value))))
        check(lib, lib.mercer_result(job.value, c.byref(got)))
    finally:
        if lib.mercer_wait(job.value, 0):
            lib.mercer_release(job.value)
        else:
            lib.mercer_cancel(job.value)
            _abandoned.append((job.value, keep))
    return Handle(got.value)


def set_threads(n: int) -> int:
    """Sets the number of threads of all computations, 0 to leave it, and returns what it was."""
    return int(library().mercer_threads(n))
