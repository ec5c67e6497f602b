package eval_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"strings"

	"mercer/dataset"
	"mercer/eval"
	"mercer/train"
)

// rings is a table of points on three rings around 0, with noise in the radius that mixes
// neighbouring rings at their borders.
func rings(from, to int) []byte {
	var b strings.Builder
	b.WriteString("x,y,ring\n")
	for i := from; i < to; i++ {
		angle := float64(i)
		radius := float64(i%3) + 1 + 0.7*math.Sin(1.7*float64(i))
		fmt.Fprintf(&b, "%.4f,%.4f,%s\n", radius*math.Cos(angle), radius*math.Sin(angle), []string{"inner", "middle", "outer"}[i%3])
	}
	return []byte(b.String())
}

// Train on some rows, and judge the model by others.
func ExampleEvaluate() {
	ctx := context.Background()
	rows, err := dataset.OpenBytes(ctx, "train.csv", rings(0, 3000), dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	m, _, err := train.Fit(ctx, rows, train.Config{Map: train.Map{Features: 256}, Learner: train.Ridge{}}, train.Options{})
	if err != nil {
		log.Fatal(err)
	}

	test, err := dataset.OpenBytes(ctx, "test.csv", rings(3000, 4000), dataset.Options{Schema: &m.Info().Schema})
	if err != nil {
		log.Fatal(err)
	}
	defer test.Close()
	metrics, err := eval.Evaluate(ctx, m, test, eval.Options{Curves: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows, accuracy %.2f, macro F1 %.2f\n", metrics.N, *metrics.Accuracy, *metrics.MacroF1)
	for t, class := range metrics.Classes {
		fmt.Printf("%-7s recall %.2f, AUC %.2f, taken for", class.Label, class.Recall, *class.AUC)
		for p, rows := range metrics.Confusion.Counts[t] {
			fmt.Printf(" %s %.0f%%", metrics.Confusion.Labels[p], 100*rows/class.Rows)
		}
		fmt.Println()
	}

	// What a picture of the first class's ROC curve is drawn from.
	roc := metrics.Curves.ROC[0]
	fmt.Printf("ROC curve of %s from (%.0f, %.0f) to (%.0f, %.0f)\n", roc.Label, roc.X[0], roc.Y[0], roc.X[len(roc.X)-1], roc.Y[len(roc.Y)-1])

	// A metric by its name, as --metric of mercer tune takes it.
	metric, err := eval.MetricOf("balanced_accuracy", m.Info().Task)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %.2f\n", metric.Title, *metric.Value(metrics))
	// Output:
	// 1000 rows, accuracy 0.67, macro F1 0.67
	// inner   recall 0.74, AUC 0.95, taken for inner 74% middle 26% outer 0%
	// middle  recall 0.53, AUC 0.80, taken for inner 24% middle 53% outer 23%
	// outer   recall 0.74, AUC 0.95, taken for inner 0% middle 26% outer 74%
	// ROC curve of inner from (0, 0) to (1, 1)
	// balanced accuracy: 0.67
}
