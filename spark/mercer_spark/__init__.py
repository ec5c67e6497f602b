"""Mercer on Apache Spark: training, predictions, features and evaluation of DataFrames. README.md has the tour."""
from __future__ import annotations

import sys
from typing import Any

from pyspark import cloudpickle

from ._evaluate import evaluate
from ._predict import predict, transform
from ._program import MercerError
from ._train import Progress, resume, train

__version__ = "0.1.0"
__all__ = ["MercerClassifier", "MercerError", "MercerModel", "MercerRegressor", "Progress", "evaluate", "predict", "resume", "train", "transform"]

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers need no copy of this package


def __getattr__(name: str) -> Any:
    if name in __all__:  # the estimators, which need numpy
        from . import _estimators
        return getattr(_estimators, name)
    raise AttributeError(f"module 'mercer_spark' has no attribute {name!r}")
