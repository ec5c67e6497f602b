"""Estimators and a model for pipelines of pyspark.ml."""
from __future__ import annotations

import os
from typing import Any

from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (HasFeaturesCol, HasInputCols, HasLabelCol, HasPredictionCol, HasProbabilityCol, HasRawPredictionCol,
                                     HasSeed, HasWeightCol)
from pyspark.ml.util import (DefaultParamsReadable, DefaultParamsReader, DefaultParamsWritable, DefaultParamsWriter, MLReadable, MLReader,
                             MLWritable, MLWriter)
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ._evaluate import evaluate
from ._predict import description, predict
from ._train import train

_FLAGS = {"learner": "learner", "kernel": "kernel", "numFeatures": "features", "gamma": "gamma", "c": "c", "regParam": "lambda"}


class _Columns(HasFeaturesCol, HasInputCols, HasLabelCol, HasWeightCol, HasPredictionCol, HasProbabilityCol, HasRawPredictionCol):
    def _inputs(self) -> list[str]:
        return list(self.getInputCols()) if self.isSet("inputCols") else [self.getFeaturesCol()]


class _Options(_Columns, HasSeed):
    learner: Param[str] = Param(Params._dummy(), "learner", "learner, such as rfm, ridge or logistic; by default the rows decide", TypeConverters.toString)  # type: ignore[assignment]
    kernel: Param[str] = Param(Params._dummy(), "kernel", "kernel, such as rbf", TypeConverters.toString)  # type: ignore[assignment]
    numFeatures: Param[int] = Param(Params._dummy(), "numFeatures", "number of features of the map", TypeConverters.toInt)  # type: ignore[assignment]
    gamma: Param[Any] = Param(Params._dummy(), "gamma", "γ of the kernel: a number, or a text such as median*4")
    c: Param[float] = Param(Params._dummy(), "c", "C of svm and logistic", TypeConverters.toFloat)  # type: ignore[assignment]
    regParam: Param[Any] = Param(Params._dummy(), "regParam", "λ of ridge and its kin; by default it is chosen")
    options: Param[dict[str, Any]] = Param(Params._dummy(), "options", "other flags of mercer shard plan, and shards, piece_rows and folder")

    def _flags(self) -> dict[str, Any]:
        given = {flag: self.getOrDefault(name) for name, flag in _FLAGS.items() if self.isDefined(name)}
        if self.isSet("seed"):
            given["seed"] = self.getSeed()
        if self.isSet("weightCol"):
            given["weight"] = self.getWeightCol()
        return {**given, **self.getOrDefault("options")}


class _Mercer(Estimator["MercerModel"], _Options, DefaultParamsReadable[Any], DefaultParamsWritable):
    _task: str
    _input_kwargs: dict[str, Any]

    @keyword_only
    def __init__(self, **params: Any) -> None:
        super().__init__()
        self._setDefault(options={})
        self._set(**self._input_kwargs)

    @keyword_only
    def setParams(self, **params: Any) -> Any:
        """Sets parameters by their names."""
        return self._set(**self._input_kwargs)

    def _fit(self, dataset: DataFrame) -> MercerModel:
        label, options = self.getLabelCol(), self._flags()
        names = dict.fromkeys([*self._inputs(), label, *([options["weight"]] if options.get("weight") else [])])
        data = train(dataset.select(*names), label, **{"task": self._task, **options})
        model = MercerModel(data, isinstance(dataset.schema[label].dataType, T.NumericType))
        model._resetUid(self.uid)  # as models of pyspark.ml have the uid of their estimator
        return self._copyValues(model)


class MercerClassifier(_Mercer):
    """Predicts classes: by default with the learner that mercer train takes.

    Inputs are the columns of inputCols, of any type, or else the vectors of featuresCol. Predictions are double where labels are
    numbers, and otherwise string. probability is there if the model has one (of the learners rfm and logistic).
    """

    _task = "classify"


class MercerRegressor(_Mercer):
    """Predicts numbers: by default with the learner that mercer train takes. Inputs are as for MercerClassifier."""

    _task = "regress"


class MercerModel(Model, _Columns, MLReadable["MercerModel"], MLWritable):
    """A trained model: data are the bytes of its file, which mercer and the Python package read, too."""

    def __init__(self, data: bytes = b"", numeric: bool = False) -> None:
        super().__init__()
        self.data, self.numeric = data, numeric
        self._about: dict[str, Any] = {}

    @property
    def about(self) -> dict[str, Any]:
        """What mercer inspect tells."""
        self._about = self._about or description(self.data)
        return self._about

    def tofile(self, path: str) -> None:
        """Writes the model's file."""
        with open(path, "wb") as f:
            f.write(self.data)

    def evaluate(self, dataset: DataFrame, **options: Any) -> dict[str, Any]:
        """Measures the model on rows with labelCol, by weightCol if that is set; what is returned and options are as for mercer_spark.evaluate."""
        if self.isSet("weightCol"):
            options = {"weight": self.getWeightCol(), **options}
        return evaluate(self, dataset, **{"label": self.getLabelCol(), **options})

    def _transform(self, dataset: DataFrame) -> DataFrame:
        names = {"prediction": self.getPredictionCol()}
        classes = self.about.get("classes")
        if classes:
            names["scores"] = self.getRawPredictionCol()
            training = self.about["training"]
            if training["learner"] == "logistic" or "calibration" in training:
                names["probability"] = self.getProbabilityCol()
        out = predict(self, dataset, **names)
        if not classes:
            return out
        order = sorted(range(len(classes)), key=lambda k: float(classes[k])) if self.numeric else list(range(len(classes)))
        raw = F.col(names["scores"])
        if len(classes) == 2 and self.about["outputs"] == 1:  # positive for the second class
            raw = F.array(-raw[0], raw[0])
        out = out.withColumn(names["scores"], array_to_vector(F.array(*[raw[k] for k in order])))
        if "probability" in names:
            p = F.col(names["probability"])
            out = out.withColumn(names["probability"], array_to_vector(F.array(*[p[k] for k in order])))
        return out.withColumn(names["prediction"], F.col(names["prediction"]).cast("double")) if self.numeric else out

    def write(self) -> MLWriter:
        """Saves to a folder of any file system of Spark's."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[MercerModel]:
        """Reads what write has saved."""
        return _Reader()

    def copy(self, extra: Any = None) -> MercerModel:
        """A copy with other parameters."""
        return super().copy(extra or {})


class _Writer(MLWriter):
    def __init__(self, model: MercerModel) -> None:
        super().__init__()
        self._model = model

    def saveImpl(self, path: str) -> None:
        DefaultParamsWriter.saveMetadata(self._model, path, self.sparkSession, extraMetadata={"numeric": self._model.numeric})
        rows = self.sparkSession.createDataFrame([(bytearray(self._model.data),)], "model binary")
        rows.coalesce(1).write.parquet(os.path.join(path, "data"))


class _Reader(MLReader[MercerModel]):
    def load(self, path: str) -> MercerModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        row = self.sparkSession.read.parquet(os.path.join(path, "data")).first()
        assert row is not None
        model = MercerModel(bytes(row[0]), metadata["numeric"])
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model
