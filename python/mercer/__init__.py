"""Mercer: kernel machines at linear cost. docs/python.md has the tour."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._library import MercerError, set_threads
from .model import Model, fit, frombytes, load

__version__ = "0.1.0"
__all__ = ["MercerError", "Model", "fit", "frombytes", "load", "set_threads",
           "MercerClassifier", "MercerRegressor", "MercerTransformer", "MercerCluster", "MercerNeighbors"]

if TYPE_CHECKING:
    from .estimators import MercerClassifier, MercerCluster, MercerNeighbors, MercerRegressor, MercerTransformer


def __getattr__(name: str) -> Any:
    if name in __all__:  # the estimators, which need scikit-learn
        try:
            from . import estimators
        except ImportError as err:
            raise ImportError(f"mercer.{name} needs scikit-learn (pip install scikit-learn): {err}") from err
        return getattr(estimators, name)
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")
