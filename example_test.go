package mercer_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"

	"mercer"
	"mercer/dataset"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
	"mercer/train"
)

// rings are rows x, y, ring: two rings around 0, which no straight line tells apart.
func rings(n int) string {
	var b strings.Builder
	b.WriteString("x,y,ring\n")
	for i := range n {
		angle, radius, name := float64(i), 1.0, "inner"
		if i%2 == 0 {
			radius, name = 2, "outer"
		}
		fmt.Fprintf(&b, "%.3f,%.3f,%s\n", radius*math.Cos(angle), radius*math.Sin(angle), name)
	}
	return b.String()
}

// written is a file with a text.
func written(name, text string) (path string, remove func()) {
	dir, err := os.MkdirTemp("", "mercer")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

// Train on a CSV file, with everything chosen by the data, test on rows that are held out, and predict.
func ExampleTrain() {
	path, remove := written("rings.csv", rings(400))
	defer remove()

	r, err := mercer.Train(context.Background(), mercer.File(path, mercer.Options{}), mercer.Config{Holdout: 0.2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Model.Info().Task, r.Model.Classes(), *r.Test.Accuracy)
	p, err := mercer.NewPredictor(r.Model)
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range [][]float64{{0, 1.1}, {-1.4, 1.4}} {
		prediction, err := p.Row(row)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(prediction.Label)
	}
	// Output:
	// classify [inner outer] 1
	// inner
	// outer
}

// Train a regression on rows in memory.
func ExampleRows() {
	var x [][]float64
	var y []float64
	for i := range 200 {
		v := 6 * float64(i) / 200
		x, y = append(x, []float64{v}), append(y, math.Sin(v))
	}
	r, err := mercer.Train(context.Background(), mercer.Rows(x, y), mercer.Config{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := r.Model.Predict([]float32{1}, []float32{4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f %.2f\n", p[0].Values[0], p[1].Values[0])
	// Output: 0.84 -0.76
}

// flower is a record of a service.
type flower struct {
	Petal  float64 `json:"petal"`
	Colour string  `json:"colour"`
	Kind   string  `json:"kind"`
}

// flowers are made-up records: the kind follows from the petal's length and the colour together.
func flowers(n int) []flower {
	all := make([]flower, n)
	for i := range all {
		f := flower{Petal: float64(i%40) / 10, Colour: []string{"red", "white"}[i/40%2], Kind: "rose"}
		if (f.Petal > 2) == (f.Colour == "red") {
			f.Kind = "tulip"
		}
		all[i] = f
	}
	return all
}

// Train on a Parquet file; one in CSV, Arrow or JSON lines, an SQLite database, a folder of files, or, with an import, an address on
// the web or PostgreSQL, is read in the same way, and the same rows give the same model.
func ExampleFile() {
	csv, remove := written("rings.csv", rings(400))
	defer remove()
	parquet := strings.TrimSuffix(csv, "csv") + "parquet"
	if _, err := dataset.Convert(context.Background(), csv, parquet, "parquet", dataset.Options{}); err != nil {
		log.Fatal(err)
	}

	r, err := mercer.Train(context.Background(), mercer.File(parquet, mercer.Options{Label: "ring"}), mercer.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Model.Info().Task, r.Model.Classes())
	// Output: classify [inner outer]
}

// Train on records that come from an iterator, which may fail, and predict records: a map, a struct, or
// values in the order of the columns.
func ExampleRecords() {
	records := func(yield func(flower, error) bool) {
		for _, f := range flowers(400) {
			if !yield(f, nil) {
				return
			}
		}
	}
	r, err := mercer.Train(context.Background(), mercer.Records(records, mercer.Options{Label: "kind"}), mercer.Config{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := mercer.NewPredictor(r.Model)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Columns())

	byMap, err := p.Record(map[string]any{"petal": 3.1, "colour": "red"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(byMap.Label)
	byStruct, err := p.Struct(&flower{Petal: 3.1, Colour: "white"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(byStruct.Label)
	byValues, err := p.Values(0.5, "white")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(byValues.Label)
	// Output:
	// [petal colour]
	// tulip
	// rose
	// tulip
}

// Errors tell which field of a record is wrong.
func ExamplePredictor_Record_errors() {
	r, err := mercer.Train(context.Background(), mercer.Slice(flowers(400), mercer.Options{Label: "kind"}),
		mercer.Config{Config: train.Config{Map: train.Map{Features: 64}}})
	if err != nil {
		log.Fatal(err)
	}
	p, err := mercer.NewPredictor(r.Model)
	if err != nil {
		log.Fatal(err)
	}
	_, err = p.Record(map[string]any{"petal": "long", "colour": "red"})
	var field *mercer.FieldError
	if errors.As(err, &field) {
		fmt.Println(field.Field, field.Value)
	}
	fmt.Println(err)
	// Output:
	// petal long
	// field "petal": "long" is not a number
}

// Train on records from a channel, which is read until it is closed.
func ExampleChannel() {
	queue := make(chan flower)
	go func() {
		defer close(queue)
		for _, f := range flowers(400) {
			queue <- f
		}
	}()
	r, err := mercer.Train(context.Background(), mercer.Channel(queue, mercer.Options{Label: "kind"}), mercer.Config{Holdout: 0.25})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Model.Info().Training.Rows+r.Test.N, r.Model.Classes())
	// Output: 400 [rose tulip]
}

// Let candidates race, and train the best within a budget.
func ExampleTrain_auto() {
	r, err := mercer.Train(context.Background(), mercer.Slice(flowers(400), mercer.Options{Label: "kind"}),
		mercer.Config{Auto: true, Holdout: 0.25})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(r.Auto.Heats) > 0, len(r.Auto.Why) > 0, *r.Test.Accuracy > 0.9)
	// Output: true true true
}

// Save a model, and load it in the program that serves it.
func ExampleLoad() {
	data, remove := written("rings.csv", rings(400))
	defer remove()
	r, err := mercer.Train(context.Background(), mercer.File(data, mercer.Options{}),
		mercer.Config{Config: train.Config{Map: train.Map{Features: 128}, Learner: train.Ridge{}}})
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(data), "rings.mercer")
	if err := r.Save(path); err != nil {
		log.Fatal(err)
	}

	served, err := mercer.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(served.Info().Task, served.Classes())
	p, err := served.Predict([]float32{0.9, 0})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p[0].Label)
	// Output:
	// classify [inner outer]
	// inner
}

// Evaluate compares a model with other labelled data.
func ExampleEvaluate() {
	ctx := context.Background()
	r, err := mercer.Train(ctx, mercer.Slice(flowers(400), mercer.Options{Label: "kind"}), mercer.Config{})
	if err != nil {
		log.Fatal(err)
	}
	others := flowers(900)[700:]
	metrics, err := mercer.Evaluate(ctx, r.Model, mercer.Slice(others, mercer.Options{Label: "kind"}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows, accuracy %.2f\n", metrics.N, *metrics.Accuracy)
	// Output: 200 rows, accuracy 1.00
}

// Predict every row of a file; labels in it are not looked at.
func ExamplePredict() {
	data, remove := written("rings.csv", rings(400))
	defer remove()
	rows, removeRows := written("rows.csv", "x,y\n0.1,-1\n2,0.3\n")
	defer removeRows()
	ctx := context.Background()
	r, err := mercer.Train(ctx, mercer.File(data, mercer.Options{}), mercer.Config{})
	if err != nil {
		log.Fatal(err)
	}

	predictions, err := mercer.Predict(ctx, r.Model, mercer.File(rows, mercer.Options{}))
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range predictions {
		fmt.Println(p.Label)
	}
	// Output:
	// inner
	// outer
}

// Train on any source of rows.
func ExampleSource() {
	x := matrix.NewDense(100, 1)
	y := make([]float64, 100)
	for i := range y {
		x.Row(i)[0], y[i] = float32(i), float64(2*i)
	}
	src, err := dataset.FromRows(matrix.Rows{Dense: x}, y, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	r, err := mercer.Train(context.Background(), mercer.Source(src),
		mercer.Config{Config: train.Config{Kernel: train.Kernel{Name: "linear"}}})
	if err != nil {
		log.Fatal(err)
	}
	p, err := r.Model.Predict([]float32{50})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f\n", p[0].Values[0])
	// Output: 100
}

// Train on bags: the readings of a device have one label together. In a sound device two sensors
// agree, in a broken one they contradict each other, which no single number shows.
func ExampleTrain_bags() {
	var b strings.Builder
	b.WriteString("device,left,right,state\n")
	for device := range 60 {
		sign, state := 1.0, "sound"
		if device%3 == 0 {
			sign, state = -1, "broken"
		}
		for reading := range 10 {
			v := math.Sin(float64(7*device + reading))
			fmt.Fprintf(&b, "d%d,%.3f,%.3f,%s\n", device, v, sign*v, state)
		}
	}
	path, remove := written("readings.csv", b.String())
	defer remove()

	r, err := mercer.Train(context.Background(), mercer.File(path, mercer.Options{Group: "device"}), mercer.Config{
		Config: train.Config{Bag: &pipeline.BagConfig{Pooling: "mean", Features: 256}},
	})
	if err != nil {
		log.Fatal(err)
	}
	predictions, err := r.Model.PredictBags(
		[][]float32{{0.5, 0.5}, {-0.9, -0.8}, {0.1, 0.2}},
		[][]float32{{0.5, -0.6}, {-0.9, 0.9}},
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range predictions {
		fmt.Println(p.Label)
	}
	// Output:
	// sound
	// broken
}
