// Package lab judges models: metrics of their predictions, and the data that pictures of them
// are drawn from.
package lab

// Metrics are what eval reports. What does not apply, or has no value on these rows (an area
// under the curve of one class alone), is nil and absent from the JSON; no NaN is ever among
// them. Names and definitions are scikit-learn's, where it has them, with sample_weight where
// rows have weights.
//
// Rows of labels that the model does not know are wrong whatever is predicted: for accuracy,
// for the precision of what is predicted, and as one more class that is never predicted for MCC
// and Kappa. Means over classes are over those that the model knows; ranking and probabilities
// leave such rows out.
type Metrics struct {
	// N is the number of rows.
	N int `json:"n"`

	// Weight is the sum of the rows' weights, nil where they have none. All metrics are
	// weighted then; only rows are still counted.
	Weight *float64 `json:"weight,omitempty"`

	// Unknown is the number of rows with a label (of several: with one more label) that the
	// model does not know.
	Unknown int `json:"unknown,omitempty"`

	// Accuracy is the share of rows whose class is predicted, Error the share of the others,
	// and BalancedAccuracy the mean over the classes that are in the labels of the share of
	// their rows that is predicted so.
	Accuracy         *float64 `json:"accuracy,omitempty"`
	Error            *float64 `json:"error,omitempty"`
	BalancedAccuracy *float64 `json:"balanced_accuracy,omitempty"`

	// MacroF1 is the mean over the classes of F1 = 2·precision·recall/(precision+recall); a
	// class that is neither in the labels nor predicted does not count.
	MacroF1 *float64 `json:"macro_f1,omitempty"`

	// F1 and AUC are for two classes, of which the second is the positive one. AUC is the
	// area under the ROC curve: the share of pairs (positive, negative) that the score puts
	// in the right order, ties counting half. It is nil where one of the two is missing.
	F1  *float64 `json:"f1,omitempty"`
	AUC *float64 `json:"auc,omitempty"`

	// Precision is the share of the rows predicted as positive that are, Recall that of the
	// positive rows that are predicted so. AveragePrecision is the area under the curve of
	// precision against recall, Σ (R_i - R_{i-1})·P_i over the distinct scores, nil without a
	// positive row.
	Precision        *float64 `json:"precision,omitempty"`
	Recall           *float64 `json:"recall,omitempty"`
	AveragePrecision *float64 `json:"average_precision,omitempty"`

	// Means over the classes (or labels): Macro with equal weights, Weighted with the number
	// of rows of each. The areas are those of one class against the rest, by its probability
	// or, in a model without probabilities, its score; classes without such an area do not count.
	MacroPrecision           *float64 `json:"macro_precision,omitempty"`
	MacroRecall              *float64 `json:"macro_recall,omitempty"`
	MacroAUC                 *float64 `json:"macro_auc,omitempty"`
	MacroAveragePrecision    *float64 `json:"macro_average_precision,omitempty"`
	WeightedPrecision        *float64 `json:"weighted_precision,omitempty"`
	WeightedRecall           *float64 `json:"weighted_recall,omitempty"`
	WeightedF1               *float64 `json:"weighted_f1,omitempty"`
	WeightedAUC              *float64 `json:"weighted_auc,omitempty"`
	WeightedAveragePrecision *float64 `json:"weighted_average_precision,omitempty"`

	// AUCWithin and AveragePrecisionWithin are set where there were too many rows to keep all
	// scores: none of the AUCs, and none of the average precisions, is farther than this from
	// its exact value.
	AUCWithin              *float64 `json:"auc_within,omitempty"`
	AveragePrecisionWithin *float64 `json:"average_precision_within,omitempty"`

	// MCC is Matthews' correlation of truth and prediction (of several classes: Gorodkin's
	// R_K, 2004), 0 where one of them is constant. Kappa is Cohen's agreement beyond chance,
	// nil where chance alone agrees always.
	MCC   *float64 `json:"mcc,omitempty"`
	Kappa *float64 `json:"kappa,omitempty"`

	// Top5 is the share of rows whose class is among the five with the largest scores, for
	// more than five classes.
	Top5 *float64 `json:"top_5_accuracy,omitempty"`

	// RMSE is √(mean squared error), MAE the mean absolute error and R2 the share of the
	// targets' variance that is explained, each averaged over the outputs. R2 needs two rows.
	RMSE *float64 `json:"rmse,omitempty"`
	MAE  *float64 `json:"mae,omitempty"`
	R2   *float64 `json:"r2,omitempty"`

	// MedianAE and MaxError are the median and the largest of the absolute errors, the
	// former averaged over the outputs. MedianWithin is set where there were too many rows to
	// keep all errors: MedianAE is no farther than this from its exact value.
	MedianAE     *float64 `json:"median_ae,omitempty"`
	MedianWithin *float64 `json:"median_ae_within,omitempty"`
	MaxError     *float64 `json:"max_error,omitempty"`

	// RelativeRMSE is RMSE over the targets' standard deviation, so that 1 is what their mean
	// predicts; nil where they do not vary. MAPE is the mean of |error/target| over the
	// targets that are not 0; ZeroTargets is how many are.
	RelativeRMSE *float64 `json:"relative_rmse,omitempty"`
	MAPE         *float64 `json:"mape,omitempty"`
	ZeroTargets  int      `json:"zero_targets,omitempty"`

	// ExplainedVariance is R2 without the error's mean, and Bias that mean, of prediction
	// minus target.
	ExplainedVariance *float64 `json:"explained_variance,omitempty"`
	Bias              *float64 `json:"bias,omitempty"`

	// Pinball is the mean of max(q·e, (q-1)·e), e = target - prediction, for q = Quantile:
	// that which the model predicts, else 0.5.
	Pinball  *float64 `json:"pinball,omitempty"`
	Quantile *float64 `json:"quantile,omitempty"`

	// Outputs are the metrics of each output, where there are several.
	Outputs []OutputMetrics `json:"outputs,omitempty"`

	// Of labels of which a row may have any number: SubsetAccuracy is the share of rows with
	// exactly the predicted labels, HammingLoss that of wrong decisions about one label of one
	// row, and MicroPrecision, MicroRecall and MicroF1 are those of all decisions together;
	// MacroF1 is the mean over the labels. (Micro are also those of classes, where all three
	// are the accuracy.) SamplesPrecision, SamplesRecall and SamplesF1 are the means of the
	// rows' own, 0 for a row without what they are shares of, and RankingPrecision the label
	// ranking average precision.
	SubsetAccuracy   *float64 `json:"subset_accuracy,omitempty"`
	HammingLoss      *float64 `json:"hamming_loss,omitempty"`
	MicroPrecision   *float64 `json:"micro_precision,omitempty"`
	MicroRecall      *float64 `json:"micro_recall,omitempty"`
	MicroF1          *float64 `json:"micro_f1,omitempty"`
	SamplesPrecision *float64 `json:"samples_precision,omitempty"`
	SamplesRecall    *float64 `json:"samples_recall,omitempty"`
	SamplesF1        *float64 `json:"samples_f1,omitempty"`
	RankingPrecision *float64 `json:"label_ranking_average_precision,omitempty"`

	// Of models with probabilities: LogLoss is the mean of -log p of the true class (p from
	// 2⁻⁵² on), Brier the mean of Σ(p - y)² over the classes, of two classes that of
	// the second alone, and ECE the expected calibration error: the mean distance of accuracy and
	// probability of the likeliest class, in 15 equal bins of that probability (Guo et
	// al. 2017). MCE is the largest of these distances. Of labels each is taken over rows and
	// labels. Rows of classes that the model does not know do not count.
	LogLoss *float64 `json:"log_loss,omitempty"`
	Brier   *float64 `json:"brier,omitempty"`
	ECE     *float64 `json:"ece,omitempty"`
	MCE     *float64 `json:"mce,omitempty"`

	// Classes are the metrics of each class, Labels those of each label of a multi-label model.
	Classes []LabelMetrics `json:"classes,omitempty"`
	Labels  []LabelMetrics `json:"labels,omitempty"`

	// Confusion counts the rows of classes by truth and prediction.
	Confusion *Confusion `json:"confusion,omitempty"`

	// Curves are what pictures are drawn from; nil unless Options asked for them.
	Curves *Curves `json:"curves,omitempty"`
}

// LabelMetrics are those of one class, or of one label, against all else.
type LabelMetrics struct {
	Label string `json:"label"`

	// Rows is how many rows have it, Predicted how many are predicted to; sums of weights
	// where rows have weights.
	Rows      float64 `json:"rows"`
	Predicted float64 `json:"predicted"`

	// Precision is the share of the predictions that are right, Recall that of the rows which
	// are found, and F1 = 2·precision·recall/(precision+recall); 0 where there are none.
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`

	// AUC and AveragePrecision are as in Metrics.
	AUC              *float64 `json:"auc,omitempty"`
	AveragePrecision *float64 `json:"average_precision,omitempty"`
}

// OutputMetrics are those of one output of a regression.
type OutputMetrics struct {
	// Name is that of the output's column, or its number from 0.
	Name string `json:"name"`

	RMSE     float64  `json:"rmse"`
	MAE      float64  `json:"mae"`
	R2       *float64 `json:"r2,omitempty"`
	MedianAE float64  `json:"median_ae"`
	MaxError float64  `json:"max_error"`
}
