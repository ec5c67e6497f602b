"""Writes metrics.json: scikit-learn's metrics on small made-up predictions."""
import json
import numpy as np
from sklearn import metrics as m

r = np.random.RandomState(1)
out = {}
truth, predicted = r.randint(0, 4, 60), r.randint(0, 4, 60)
predicted[:35] = truth[:35]
out["classes"] = {"truth": truth.tolist(), "predicted": predicted.tolist(),
                  "accuracy": m.accuracy_score(truth, predicted), "macro_f1": m.f1_score(truth, predicted, average="macro")}
truth = r.randint(0, 2, 50)
score = np.round(r.randn(50) + truth, 1)  # rounded, so that there are ties
predicted = (score > 0).astype(int)
out["binary"] = {"truth": truth.tolist(), "predicted": predicted.tolist(), "score": score.tolist(),
                 "accuracy": m.accuracy_score(truth, predicted), "macro_f1": m.f1_score(truth, predicted, average="macro"),
                 "f1": m.f1_score(truth, predicted), "auc": m.roc_auc_score(truth, score)}
truth = np.round(r.randn(40, 2) * [1, 100] + [5, -300], 3)
predicted = np.round(truth + r.randn(40, 2) * [0.5, 20], 3)
out["numbers"] = {"truth": truth.ravel().tolist(), "predicted": predicted.ravel().tolist(),
                  "rmse": float(np.sqrt(m.mean_squared_error(truth, predicted, multioutput="raw_values")).mean()),
                  "mae": m.mean_absolute_error(truth, predicted), "r2": m.r2_score(truth, predicted)}
json.dump(out, open("metrics.json", "w"), indent=1)
