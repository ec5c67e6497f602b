// Package eval evaluates models: metrics of their predictions, the data for pictures of them, and
// comparisons of models.
//
// It also explains them, by their predictions alone, whatever kernel, map or learner they have: which columns a model
// needs (Importance), how its prediction changes with a column (Dependence), and what each column contributes to the
// prediction of a row (Contributions). Of a learned metric it tells which columns act together (Pairs). A column is one
// of the data: the dimensions of a categorical column change together, and a value that was missing is one like any
// other. Results are functions of model, rows and seed, for any number of threads.
package eval

// Metrics are what eval reports. A metric that does not apply, or is undefined on these
// rows (an area under the curve with a single class), is nil and absent from the JSON; none
// is ever NaN. Names and definitions are scikit-learn's, if it has them, with sample_weight
// if rows have weights.
//
// Rows of labels unknown to the model always count as wrong: in accuracy, in the
// precision of the predicted class, and in MCC and Kappa as one more class that is never
// predicted. Means over classes cover those that the model knows; ranking and probabilities
// leave such rows out.
type Metrics struct {
	// N is the number of rows.
	N int `json:"n"`

	// Weight is the sum of the rows' weights, nil if they have none. All metrics are
	// then weighted; only N and Unknown count rows.
	Weight *float64 `json:"weight,omitempty"`

	// Unknown is the number of rows with a label (or, of several, with any label) that
	// the model does not know.
	Unknown int `json:"unknown,omitempty"`

	// Accuracy is the share of rows whose class is predicted, Error the share of the others,
	// and BalancedAccuracy the mean recall over the
	// classes in the labels.
	Accuracy         *float64 `json:"accuracy,omitempty"`
	Error            *float64 `json:"error,omitempty"`
	BalancedAccuracy *float64 `json:"balanced_accuracy,omitempty"`

	// MacroF1 is the mean over the classes of F1 = 2·precision·recall/(precision+recall); a
	// class that is neither in the labels nor predicted is left out.
	MacroF1 *float64 `json:"macro_f1,omitempty"`

	// F1 and AUC are for two classes, of which the second is the positive one. AUC is the
	// area under the ROC curve: the share of pairs (positive, negative) that the score puts
	// in the right order, ties counting half. It is nil if one of the two is missing.
	F1  *float64 `json:"f1,omitempty"`
	AUC *float64 `json:"auc,omitempty"`

	// Precision is the share of the rows predicted as positive that are positive, Recall the share of
	// the positive rows that are predicted as such. AveragePrecision is the area under the curve of
	// precision against recall, Σ (R_i - R_{i-1})·P_i over the distinct scores, nil without a
	// positive row.
	Precision        *float64 `json:"precision,omitempty"`
	Recall           *float64 `json:"recall,omitempty"`
	AveragePrecision *float64 `json:"average_precision,omitempty"`

	// Means over the classes (or labels): Macro with equal weights, Weighted with the number
	// of rows of each. The areas are those of one class against the rest, by its probability
	// or, in a model without probabilities, its score; classes without such an area are left out.
	MacroPrecision           *float64 `json:"macro_precision,omitempty"`
	MacroRecall              *float64 `json:"macro_recall,omitempty"`
	MacroAUC                 *float64 `json:"macro_auc,omitempty"`
	MacroAveragePrecision    *float64 `json:"macro_average_precision,omitempty"`
	WeightedPrecision        *float64 `json:"weighted_precision,omitempty"`
	WeightedRecall           *float64 `json:"weighted_recall,omitempty"`
	WeightedF1               *float64 `json:"weighted_f1,omitempty"`
	WeightedAUC              *float64 `json:"weighted_auc,omitempty"`
	WeightedAveragePrecision *float64 `json:"weighted_average_precision,omitempty"`

	// AUCWithin and AveragePrecisionWithin are set if there were too many
	// rows to keep all scores: they bound the errors of all AUCs and of all
	// average precisions.
	AUCWithin              *float64 `json:"auc_within,omitempty"`
	AveragePrecisionWithin *float64 `json:"average_precision_within,omitempty"`

	// MCC is Matthews' correlation of truth and prediction (of several classes: Gorodkin's
	// R_K, 2004), 0 if one of them is constant. Kappa is Cohen's agreement beyond
	// chance, nil if the chance agreement is 1.
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
	// former averaged over the outputs. MedianWithin is set if there were too many
	// rows to keep all errors: it bounds the error of MedianAE.
	MedianAE     *float64 `json:"median_ae,omitempty"`
	MedianWithin *float64 `json:"median_ae_within,omitempty"`
	MaxError     *float64 `json:"max_error,omitempty"`

	// RelativeRMSE is RMSE divided by the targets' standard deviation, so that predicting their
	// mean gives 1; nil if they are constant. MAPE is the mean of |error/target| over the
	// targets that are not 0; ZeroTargets is how many are 0.
	RelativeRMSE *float64 `json:"relative_rmse,omitempty"`
	MAPE         *float64 `json:"mape,omitempty"`
	ZeroTargets  int      `json:"zero_targets,omitempty"`

	// ExplainedVariance is R2 without the error's mean, and Bias that mean, of prediction
	// minus target.
	ExplainedVariance *float64 `json:"explained_variance,omitempty"`
	Bias              *float64 `json:"bias,omitempty"`

	// Pinball is the mean of max(q·e, (q-1)·e), e = target - prediction, for q = Quantile:
	// that which the model predicts, otherwise 0.5.
	Pinball  *float64 `json:"pinball,omitempty"`
	Quantile *float64 `json:"quantile,omitempty"`

	// Outputs are the metrics of each output, if there are several.
	Outputs []OutputMetrics `json:"outputs,omitempty"`

	// For several labels per row: SubsetAccuracy is the share of rows with
	// exactly the predicted labels, HammingLoss that of wrong decisions about one label of one
	// row, and MicroPrecision, MicroRecall and MicroF1 are those of all decisions together;
	// MacroF1 is the mean over the labels. (Micro are also those of classes, where all three
	// are the accuracy.) SamplesPrecision, SamplesRecall and SamplesF1 are the means over
	// the rows, with 0 for a row where they are undefined, and RankingPrecision is the
	// label ranking average precision.
	SubsetAccuracy   *float64 `json:"subset_accuracy,omitempty"`
	HammingLoss      *float64 `json:"hamming_loss,omitempty"`
	MicroPrecision   *float64 `json:"micro_precision,omitempty"`
	MicroRecall      *float64 `json:"micro_recall,omitempty"`
	MicroF1          *float64 `json:"micro_f1,omitempty"`
	SamplesPrecision *float64 `json:"samples_precision,omitempty"`
	SamplesRecall    *float64 `json:"samples_recall,omitempty"`
	SamplesF1        *float64 `json:"samples_f1,omitempty"`
	RankingPrecision *float64 `json:"label_ranking_average_precision,omitempty"`

	// For models with probabilities: LogLoss is the mean of -log p of the true class (p
	// at least 2⁻⁵²), Brier the mean of Σ(p - y)² over the classes, for two classes that
	// of the second alone, and ECE the expected calibration error: the mean distance of accuracy and
	// probability of the likeliest class, in 15 equal bins of that probability (Guo et
	// al. 2017). MCE is the largest of these distances. For labels each is over rows
	// and labels. Rows of unknown classes are left out.
	LogLoss *float64 `json:"log_loss,omitempty"`
	Brier   *float64 `json:"brier,omitempty"`
	ECE     *float64 `json:"ece,omitempty"`
	MCE     *float64 `json:"mce,omitempty"`

	// Classes are the metrics of each class, Labels those of each label of a multi-label model.
	Classes []LabelMetrics `json:"classes,omitempty"`
	Labels  []LabelMetrics `json:"labels,omitempty"`

	// Intervals are BCa bootstrap intervals of level 95 % of some metrics by their names, if Options.Intervals asks for them; nil for more than
	// 20,000 rows, of which they would be narrow, and where a label is not known.
	Intervals map[string]Interval `json:"intervals,omitempty"`

	// Confusion counts the rows of classes by truth and prediction.
	Confusion *Confusion `json:"confusion,omitempty"`

	// Curves are the data for pictures; nil unless requested by Options.
	Curves *Curves `json:"curves,omitempty"`
}

// LabelMetrics are those of one class, or of one label, against the rest.
type LabelMetrics struct {
	Label string `json:"label"`

	// Rows is how many rows have it, Predicted how many are predicted to have it; sums of
	// weights if rows have weights.
	Rows      float64 `json:"rows"`
	Predicted float64 `json:"predicted"`

	// Precision is the share of the predictions that are right, Recall that of the rows
	// that are found, and F1 = 2·precision·recall/(precision+recall); 0 if there are none.
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
