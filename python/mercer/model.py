"""Trained models: load, predict, save."""
from __future__ import annotations

import ctypes as c
import json
import os
from typing import Any

import numpy as np

from . import _frames
from ._library import Handle, _handle, check, library, parts_of, rows_of, run, text
from ._progress import showing


def _arrays(about: list[dict[str, Any]], arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Columns as the library reads them: numbers as float64."""
    return [np.ascontiguousarray(a, np.float64 if d["kind"] == "number" else np.int32) for d, a in zip(about, arrays)]


class Fitted:
    """A model or a map in the library. It pickles as its bytes."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._lib = lib = library()
        at = c.c_void_p()
        check(lib, lib.mercer_info(handle.value, c.byref(at)))
        assert at.value is not None
        self._all: dict[str, Any] = json.loads(text(lib, at.value))
        self.n_features_in: int = self._all["dim"]
        self.columns: list[str] = self._all["columns"]
        self._plain: bool = self._all["plain"]
        self._moments: list[str] = self._all["moments"]  # columns of dates with a time of day

    def tobytes(self) -> bytes:
        """The bytes of the model's file."""
        lib, at, size = library(), c.c_void_p(), c.c_int64()
        check(lib, lib.mercer_bytes(self._handle.value, c.byref(at), c.byref(size)))
        try:
            return c.string_at(at.value or 0, size.value)
        finally:
            lib.mercer_free(at)

    def __reduce__(self) -> Any:
        return frombytes, (self.tobytes(),)

    def _rows(self, x: Any) -> Any:
        """Rows of numbers: frames by the names of their columns, arrays by the positions."""
        if _frames.is_frame(x):
            if not self._all["table"]:
                about, arrays, _ = _frames.columns_of(x)
                return _frames.stacked(x, arrays)
            about, arrays, n = _frames.columns_of(x, self.columns)
            if self._plain and _frames.whole_numbers(about, arrays):
                return _frames.stacked(x if _frames.names_of(x) == self.columns else None, arrays)
        elif self._all["table"] and not hasattr(x, "tocsr") and not (self._plain and np.asarray(x).dtype.kind in "iufb"):
            about, arrays, n = _frames.columns_of_array(x, self.columns)
        else:
            return x
        about = [_frames.moments(a) if a.get("days") and a["name"] in self._moments else a for a in about]
        out = np.empty((n, self.n_features_in), np.float32)
        arrays = _arrays(about, arrays)
        places = (c.c_void_p * max(len(arrays), 1))(*[a.ctypes.data for a in arrays])
        lib = library()
        check(lib, lib.mercer_encode(self._handle.value, json.dumps({"table": about, "rows": n}).encode(), places, out.ctypes.data))
        return out

    @property
    def n_features_out(self) -> int:
        """The number of features."""
        return int(self._all["features"])

    def transform(self, x: Any) -> np.ndarray:
        """The features of rows, as float32."""
        rows, keep = rows_of(self._rows(x))
        self._fits(rows.cols)
        out = np.empty((rows.rows, self._all["features"]), np.float32)
        for part, i, _ in parts_of(rows):
            check(self._lib, self._lib.mercer_transform(self._handle.value, c.byref(part), out[i:].ctypes.data))
        del keep
        return out

    def _fits(self, width: int) -> None:
        if width != self.n_features_in:
            raise ValueError(f"the rows have {width} numbers, but the model was trained on {self.n_features_in}")


class Model(Fitted):
    """A trained model, the same as that of the command line and of Go."""

    def __init__(self, handle: Handle) -> None:
        super().__init__(handle)
        self.info: dict[str, Any] = self._all["model"]
        if self._all["bags"]:
            raise ValueError("the model predicts bags of rows; use `mercer predict` for it")
        self.task: str = self.info["task"]
        self.classes: np.ndarray | None = np.array(self.info["classes"], object) if self.info.get("classes") else None
        self.labels: list[str] | None = self.info.get("labels")
        self._outputs: int = self._all["outputs"]
        self.has_probabilities: bool = self._all["probabilities"]
        self.calibration: str | None = self._all["calibration"] or None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file that `mercer predict` and mercer.load read, whole or not at all."""
        lib = library()
        check(lib, lib.mercer_save(self._handle.value, os.fsencode(path)))

    def export(self, path: str | os.PathLike[str], target: str = "npz") -> None:
        """Writes the model as matrices, which mercer_numpy reads, or as a graph: "npz", "safetensors" or "onnx"."""
        lib = library()
        check(lib, lib.mercer_export(self._handle.value, os.fsencode(path), target.encode()))

    def _run(self, x: Any, classes: bool = False, width: int = 0) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        rows, keep = rows_of(self._rows(x))
        if rows.cols != self.n_features_in:
            self._fits(rows.cols)
        scores = np.empty((rows.rows, self._outputs), np.float32)
        which = np.empty(rows.rows, np.int64) if classes else None
        numbers = np.empty((rows.rows, width)) if width else None
        lib = self._lib
        for part, i, _ in parts_of(rows):
            check(lib, lib.mercer_predict(self._handle.value, c.byref(part), scores[i:].ctypes.data, None if which is None else which[i:].ctypes.data,
                                          None if numbers is None else numbers[i:].ctypes.data, width))
        del keep
        return scores, which, numbers

    def scores(self, x: Any) -> np.ndarray:
        """Scores, rows × outputs."""
        return self._run(x)[0]

    def indices(self, x: Any) -> np.ndarray:
        """The numbers of the predicted classes."""
        which = self._run(x, classes=True)[1]
        assert which is not None
        return which

    def predict(self, x: Any) -> Any:
        """Classes as text, lists of labels, or numbers."""
        if self.classes is not None:
            return self.classes[self.indices(x)]
        if self.labels is not None:
            s = self.predict_proba(x) > 0.5 if self.has_probabilities else self.scores(x) > 0
            return [[name for name, yes in zip(self.labels, row) if yes] for row in s]
        if self.task == "regress":
            s = self.values(x)
        else:
            s = self.scores(x)
        return s[:, 0] if s.shape[1] == 1 else s

    def values(self, x: Any) -> np.ndarray:
        """The predicted numbers of a regression, rows × outputs, as float64."""
        if self.task != "regress":
            raise AttributeError(f"the model's task is {self.task!r}, and only regressions have values")
        values = self._run(x, width=self._outputs)[2]
        assert values is not None
        return values

    def predict_proba(self, x: Any) -> np.ndarray:
        """Probabilities of the classes or labels. The model needs calibrate="platt" or another, or the learner logistic."""
        if not self.has_probabilities:
            raise AttributeError("the model has no probabilities; train it with calibrate='platt', 'isotonic' or 'temperature'")
        proba = self._run(x, width=len(self.classes) if self.classes is not None else self._outputs)[2]
        assert proba is not None
        return proba

    def __repr__(self) -> str:
        return f"<mercer.Model: {self.task}, learner {self.info['training'].get('learner', '?')}, {self.n_features_in} numbers a row>"

    def _repr_html_(self) -> str:
        from html import escape
        feature = self.info.get("feature") or {}
        rows = {"task": self.task, "learner": self.info["training"].get("learner"), "rows of the training": self.info["training"].get("rows"),
                "numbers a row": self.n_features_in, "scale": self.info.get("scale"), "map": feature.get("map"),
                "features": feature.get("features"), "classes": None if self.classes is None else ", ".join(map(str, self.classes[:20]))}
        cells = "".join(f"<tr><th style='text-align:left'>{escape(k)}</th><td>{escape(str(v))}</td></tr>" for k, v in rows.items() if v)
        return f"<table><caption>mercer.Model</caption>{cells}</table>"


def load(path: str | os.PathLike[str]) -> Model:
    """Loads a model that `mercer train` or Model.save wrote."""
    lib, got = library(), _handle()
    check(lib, lib.mercer_load(os.fsencode(path), c.byref(got)))
    return Model(Handle(got.value))


def frombytes(data: bytes) -> Fitted:
    """The model, or map, of tobytes."""
    lib, got = library(), _handle()
    check(lib, lib.mercer_read(data, len(data), c.byref(got)))
    f = Fitted(Handle(got.value))
    return Model(f._handle) if "model" in f._all else f


def _targets(y: Any, classes: bool, about: dict[str, Any]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Numbers, or codes of classes, whose texts go into about."""
    if y is None:
        return None, None
    about["outputs"] = 1
    if not classes:
        y64 = np.ascontiguousarray(y, np.float64)
        if not np.isfinite(y64).all():
            raise ValueError("y has NaN or infinity")
        if y64.ndim == 2:
            about["outputs"] = y64.shape[1]
        return y64, None
    found, codes = np.unique(np.asarray(y), return_inverse=True)
    about["classes"] = [str(v) for v in found]
    if len(set(about["classes"])) < len(found) or "" in about["classes"]:
        raise ValueError("two classes have the same text, or one is empty")
    return None, codes.astype(np.int32)


def fit(x: Any, y: Any = None, *, classes: bool = False, weights: Any = None, map_only: bool = False, missing: str | None = None,
        progress: Any = "auto", **config: Any) -> Any:
    """Trains on an array, sparse matrix or frame, and returns a Model, or what has only a map.

    y are numbers, or classes if that is said. config are the options of the training, as train.Config names them
    (`mercer train` has the same with dashes); lambda_ is lambda. progress is "auto" for a bar in a notebook, True for a line
    on a terminal too, False, or a function of {"stage", "rows", "share"}.
    """
    config = {k.rstrip("_"): v for k, v in config.items() if v is not None}
    about: dict[str, Any] = {"config": config, "outputs": 0, "map_only": map_only, "options": {"label": "label"}}
    if missing is not None:
        about["options"]["missing"] = missing
    y64, codes = _targets(y, classes, about)
    w = None if weights is None else np.ascontiguousarray(weights, np.float64)
    table, n = _open(x, about)
    for what, a in (("targets", y64 if codes is None else codes), ("weights", w)):
        if a is not None and len(a) != n:
            raise ValueError(f"{len(a)} {what} for {n} rows")
    if w is not None and (w == 0).any() and (w > 0).any():  # rows that do not count are no rows
        some = w > 0
        w, y64, codes = w[some], None if y64 is None else y64[some], None if codes is None else codes[some]
        table = table[0], [a[some] for a in table[1]] if isinstance(table[1], list) else table[1][some]
        n = len(w)
    with showing(progress) as shown:
        if isinstance(table[1], list):
            handle = _fit_table(about, table[0], table[1], n, y64, codes, w, shown)
        else:
            rows, keep = rows_of(table[1])
            places = [None if a is None else a.ctypes.data for a in (y64, codes, w)]
            handle = run("fit", about, [c.byref(rows), *places], (keep, rows, y64, codes, w), shown)
    return Fitted(handle) if map_only else Model(handle)


def _open(x: Any, about: dict[str, Any]) -> tuple[Any, int]:
    """Data as (None, array) or as (descriptions, columns) of a table, which has texts or missing values; and the number of rows."""
    if _frames.is_frame(x):
        columns, arrays, n = _frames.columns_of(x)
        if not _frames.whole_numbers(columns, arrays):
            return (columns, arrays), n
        about["columns"] = [a["name"] for a in columns]
        return (None, _frames.stacked(x, arrays)), n
    if not hasattr(x, "tocsr"):
        x = np.asarray(x)
        if x.ndim != 2:
            raise ValueError(f"expected a 2D array of rows, got {x.ndim}D; reshape(1, -1) makes one row of numbers a row")
        if x.dtype.kind not in "iufb" or x.dtype.kind == "f" and about["options"].get("missing") != "error" and _frames.has_nan(x):
            columns, arrays, n = _frames.columns_of_array(x)
            return (columns, arrays), n
    elif x.format != "csr":
        x = x.tocsr()
    return (None, x), x.shape[0]


def _fit_table(about: dict[str, Any], columns: list[dict[str, Any]], arrays: list[np.ndarray], n: int, y: np.ndarray | None,
               codes: np.ndarray | None, w: np.ndarray | None, progress: Any) -> Handle:
    """Trains on columns with texts or missing values; labels and weights become columns of their own."""
    taken, options = {a["name"] for a in columns}, about["options"]

    def free(name: str) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    options["label"] = free(options["label"]) if about["outputs"] else "none"
    if codes is not None:
        columns.append({"name": options["label"], "kind": "text", "categories": about["classes"]})
        arrays.append(codes)
    elif y is not None:
        outputs = [options["label"]]
        if y.ndim == 2 and y.shape[1] > 1:
            outputs = [free(f"{options['label']}{k}") for k in range(y.shape[1])]
            options["label"] = ",".join(outputs)
        for k, name in enumerate(outputs):
            columns.append({"name": name, "kind": "number"})
            arrays.append(y.reshape(n, -1)[:, k])
    if w is not None:
        options["weight"] = free("weight")
        columns.append({"name": options["weight"], "kind": "number"})
        arrays.append(w)
    arrays = _arrays(columns, arrays)
    call = {**{k: about[k] for k in ("config", "map_only", "options") }, "classes": about.get("classes"), "table": columns, "rows": n}
    places = (c.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
    return run("fit_table", call, [places], (places, arrays), progress)


def kmeans(z: np.ndarray, k: int, *, weights: np.ndarray | None = None, n_init: int = 1, max_iter: int = 100, seed: int = 1,
           progress: Any = "auto") -> tuple[np.ndarray, np.ndarray, float, int]:
    """Clusters rows of float32, which are changed: centres, labels, inertia, iterations."""
    z = np.ascontiguousarray(z, np.float32)
    w = None if weights is None else np.ascontiguousarray(weights, np.float64)
    centres, labels, told = np.empty((k, z.shape[1]), np.float32), np.empty(len(z), np.int32), np.empty(3)
    call = {"Rows": len(z), "Width": z.shape[1], "Clusters": k, "Starts": n_init, "Iterations": max_iter, "Seed": seed}
    places = [z.ctypes.data, None if w is None else w.ctypes.data, centres.ctypes.data, labels.ctypes.data, told.ctypes.data]
    with showing(progress) as shown:
        run("cluster", call, places, (z, w, centres, labels, told), shown)
    return centres[:int(told[2])], labels, float(told[0]), int(told[1])
