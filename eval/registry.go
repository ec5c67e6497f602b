package eval

import (
	"fmt"
	"slices"
	"strings"
)

// Metric is one of the numbers of Metrics by which models can be compared and chosen.
type Metric struct {
	// Name is the name of the number in the JSON of Metrics, Title its name in tables.
	Name, Title string

	// LargerIsBetter means that larger values are better.
	LargerIsBetter bool

	// Percent means that it is a share, shown in percent.
	Percent bool

	// About describes it in a few words.
	About string

	// Tasks are the tasks, as in model.Info, that it is for.
	Tasks []string

	value func(*Metrics) *float64
}

// Value is the metric's value among metrics, nil if it has none there.
func (m *Metric) Value(of *Metrics) *float64 { return m.value(of) }

// Within bounds the error of the value if there were too many rows to compute it
// exactly; nil if it is exact.
func (m *Metric) Within(of *Metrics) *float64 {
	switch m.Name {
	case "auc", "macro_auc", "weighted_auc":
		return of.AUCWithin
	case "average_precision", "macro_average_precision", "weighted_average_precision":
		return of.AveragePrecisionWithin
	case "median_ae":
		return of.MedianWithin
	}
	return nil
}

// Better reports whether a is a better value than b.
func (m *Metric) Better(a, b float64) bool {
	if m.LargerIsBetter {
		return a > b
	}
	return a < b
}

// Suits reports whether the metric is for models of a task ("classify", "regress", "multilabel"
// or "outliers").
func (m *Metric) Suits(task string) bool { return slices.Contains(m.Tasks, task) }

var (
	ofClasses       = []string{"classify", "outliers"}
	ofLabels        = []string{"multilabel"}
	ofNumbers       = []string{"regress"}
	ofDecisions     = []string{"classify", "outliers", "multilabel"}
	ofProbabilities = []string{"classify", "multilabel"}
)

// metrics are all of them, the most important first.
var metrics = []Metric{
	{"accuracy", "accuracy", true, true, "share of rows whose class is predicted", ofClasses, func(m *Metrics) *float64 { return m.Accuracy }},
	{"error", "error", false, true, "share of rows whose class is not predicted", ofClasses, func(m *Metrics) *float64 { return m.Error }},
	{"balanced_accuracy", "balanced accuracy", true, true, "mean over the classes of the share of their rows that is found", ofClasses,
		func(m *Metrics) *float64 { return m.BalancedAccuracy }},
	{"subset_accuracy", "exact", true, true, "share of rows with exactly the predicted labels", ofLabels,
		func(m *Metrics) *float64 { return m.SubsetAccuracy }},
	{"hamming_loss", "Hamming", false, true, "share of wrong decisions about one label of one row", ofLabels,
		func(m *Metrics) *float64 { return m.HammingLoss }},
	{"micro_f1", "micro F1", true, true, "F1 of all decisions together", ofDecisions, func(m *Metrics) *float64 { return m.MicroF1 }},
	{"macro_f1", "macro F1", true, true, "mean of the classes' F1", ofDecisions, func(m *Metrics) *float64 { return m.MacroF1 }},
	{"weighted_f1", "weighted F1", true, true, "mean of the classes' F1, by their rows", ofDecisions,
		func(m *Metrics) *float64 { return m.WeightedF1 }},
	{"samples_f1", "rows' F1", true, true, "mean of the rows' F1", ofLabels, func(m *Metrics) *float64 { return m.SamplesF1 }},
	{"samples_precision", "rows' precision", true, true, "mean of the rows' precision", ofLabels,
		func(m *Metrics) *float64 { return m.SamplesPrecision }},
	{"samples_recall", "rows' recall", true, true, "mean of the rows' recall", ofLabels, func(m *Metrics) *float64 { return m.SamplesRecall }},
	{"f1", "F1", true, true, "2·precision·recall/(precision+recall) of the second of two classes", ofClasses,
		func(m *Metrics) *float64 { return m.F1 }},
	{"precision", "precision", true, true, "share of the rows predicted as the second of two classes that are of it", ofClasses,
		func(m *Metrics) *float64 { return m.Precision }},
	{"recall", "recall", true, true, "share of the rows of the second of two classes that are found", ofClasses,
		func(m *Metrics) *float64 { return m.Recall }},
	{"micro_precision", "micro precision", true, true, "precision of all decisions together", ofDecisions,
		func(m *Metrics) *float64 { return m.MicroPrecision }},
	{"micro_recall", "micro recall", true, true, "recall of all decisions together", ofDecisions,
		func(m *Metrics) *float64 { return m.MicroRecall }},
	{"macro_precision", "macro precision", true, true, "mean of the classes' precision", ofDecisions,
		func(m *Metrics) *float64 { return m.MacroPrecision }},
	{"macro_recall", "macro recall", true, true, "mean of the classes' recall", ofDecisions,
		func(m *Metrics) *float64 { return m.MacroRecall }},
	{"weighted_precision", "weighted precision", true, true, "mean of the classes' precision, by their rows", ofDecisions,
		func(m *Metrics) *float64 { return m.WeightedPrecision }},
	{"weighted_recall", "weighted recall", true, true, "mean of the classes' recall, by their rows", ofDecisions,
		func(m *Metrics) *float64 { return m.WeightedRecall }},
	{"auc", "AUC", true, false, "area under the ROC curve, of two classes", ofClasses, func(m *Metrics) *float64 { return m.AUC }},
	{"macro_auc", "macro AUC", true, false, "mean of the areas under the ROC curves of one class against the rest", ofDecisions,
		func(m *Metrics) *float64 { return m.MacroAUC }},
	{"weighted_auc", "weighted AUC", true, false, "mean of the areas under the ROC curves of one class against the rest, by the classes' rows",
		ofDecisions, func(m *Metrics) *float64 { return m.WeightedAUC }},
	{"average_precision", "PR AUC", true, false, "average precision, the area under precision against recall, of two classes", ofClasses,
		func(m *Metrics) *float64 { return m.AveragePrecision }},
	{"macro_average_precision", "macro PR AUC", true, false, "mean of the average precisions of one class against the rest", ofDecisions,
		func(m *Metrics) *float64 { return m.MacroAveragePrecision }},
	{"weighted_average_precision", "weighted PR AUC", true, false, "mean of the average precisions of one class against the rest, by the " +
		"classes' rows", ofDecisions, func(m *Metrics) *float64 { return m.WeightedAveragePrecision }},
	{"label_ranking_average_precision", "label ranking", true, false, "label ranking average precision: share of the row's labels among " +
		"those ranked no lower", ofLabels, func(m *Metrics) *float64 { return m.RankingPrecision }},
	{"mcc", "Matthews", true, false, "Matthews' correlation of truth and prediction", ofClasses, func(m *Metrics) *float64 { return m.MCC }},
	{"kappa", "kappa", true, false, "Cohen's agreement beyond chance", ofClasses, func(m *Metrics) *float64 { return m.Kappa }},
	{"top_5_accuracy", "top 5", true, true, "share of rows whose class is among the five with the largest scores", ofClasses,
		func(m *Metrics) *float64 { return m.Top5 }},
	{"rmse", "RMSE", false, false, "root mean squared error", ofNumbers, func(m *Metrics) *float64 { return m.RMSE }},
	{"mae", "MAE", false, false, "mean absolute error", ofNumbers, func(m *Metrics) *float64 { return m.MAE }},
	{"r2", "R²", true, false, "share of the targets' variance that is explained", ofNumbers, func(m *Metrics) *float64 { return m.R2 }},
	{"median_ae", "median AE", false, false, "median absolute error", ofNumbers, func(m *Metrics) *float64 { return m.MedianAE }},
	{"max_error", "max error", false, false, "largest absolute error", ofNumbers, func(m *Metrics) *float64 { return m.MaxError }},
	{"relative_rmse", "relative RMSE", false, true, "RMSE over the targets' standard deviation", ofNumbers,
		func(m *Metrics) *float64 { return m.RelativeRMSE }},
	{"mape", "MAPE", false, true, "mean of |error/target| over targets other than 0", ofNumbers, func(m *Metrics) *float64 { return m.MAPE }},
	{"explained_variance", "expl. variance", true, false, "R² without the error's mean", ofNumbers,
		func(m *Metrics) *float64 { return m.ExplainedVariance }},
	{"pinball", "pinball", false, false, "mean quantile loss", ofNumbers, func(m *Metrics) *float64 { return m.Pinball }},
	{"log_loss", "log loss", false, false, "mean of -log p of the truth", ofProbabilities, func(m *Metrics) *float64 { return m.LogLoss }},
	{"brier", "Brier", false, false, "mean squared error of the probabilities", ofProbabilities, func(m *Metrics) *float64 { return m.Brier }},
	{"ece", "ECE", false, false, "expected calibration error", ofProbabilities, func(m *Metrics) *float64 { return m.ECE }},
	{"mce", "MCE", false, false, "largest calibration error", ofProbabilities, func(m *Metrics) *float64 { return m.MCE }},
}

// MetricNames are the names of the metrics for models of a task, or of all for "", the most
// important first.
func MetricNames(task string) []string {
	var names []string
	for i := range metrics {
		if task == "" || metrics[i].Suits(task) {
			names = append(names, metrics[i].Name)
		}
	}
	return names
}

// MetricNamed is the metric with a name, in any case and with hyphens allowed; its error lists all names.
func MetricNamed(name string) (*Metric, error) {
	plain := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for i := range metrics {
		if metrics[i].Name == plain {
			return &metrics[i], nil
		}
	}
	return nil, fmt.Errorf("there is no metric %q; there are %s", name, byTask(MetricNames))
}

// byTask lists names of metrics by task.
func byTask(names func(task string) []string) string {
	var lists []string
	for _, task := range []struct{ name, what string }{{"classify", "for classes"}, {"regress", "for numbers"},
		{"multilabel", "for labels of which a row may have any number"}} {
		lists = append(lists, strings.Join(names(task.name), ", ")+" "+task.what)
	}
	return strings.Join(lists, "; ")
}

// MetricOf is the metric with a name for models of a task, or for "" the task's
// default: accuracy for classes, RMSE for numbers, micro F1 for several labels per row.
func MetricOf(name, task string) (*Metric, error) {
	if name == "" {
		switch task {
		case "regress":
			name = "rmse"
		case "multilabel":
			name = "micro_f1"
		default:
			name = "accuracy"
		}
	}
	m, err := MetricNamed(name)
	if err != nil {
		return nil, err
	}
	if !m.Suits(task) {
		return nil, fmt.Errorf("the metric %s is not for the task %s; there are %s", name, task, strings.Join(MetricNames(task), ", "))
	}
	return m, nil
}
