package mercer_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"

	"mercer"
	"mercer/dataset"
	"mercer/matrix"
	"mercer/pipeline"
	"mercer/train"
)

// rings are rows x, y, label: two rings around 0, which no straight line tells apart.
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

// Train on a CSV file, with everything chosen by the data, and predict single rows.
func ExampleTrain() {
	dir, err := os.MkdirTemp("", "mercer")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rings.csv")
	if err := os.WriteFile(path, []byte(rings(400)), 0o644); err != nil {
		log.Fatal(err)
	}

	m, err := mercer.Train(context.Background(), path, mercer.Config{})
	if err != nil {
		log.Fatal(err)
	}
	predictions, err := m.Predict([]float32{0, 1.1}, []float32{-1.4, 1.4})
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

// Save a model, and load it in the program that serves it.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "mercer")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	data, path := filepath.Join(dir, "rings.csv"), filepath.Join(dir, "rings.mercer")
	if err := os.WriteFile(data, []byte(rings(400)), 0o644); err != nil {
		log.Fatal(err)
	}
	m, err := mercer.Train(context.Background(), data, mercer.Config{Config: train.Config{Features: 128, Learner: "ridge"}})
	if err != nil {
		log.Fatal(err)
	}
	if err := m.Save(path); err != nil {
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

// Predict every row of a file; labels in it are not looked at.
func ExamplePredict() {
	dir, err := os.MkdirTemp("", "mercer")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	train, rows := filepath.Join(dir, "rings.csv"), filepath.Join(dir, "rows.csv")
	for path, text := range map[string]string{train: rings(400), rows: "x,y\n0.1,-1\n2,0.3\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	ctx := context.Background()
	m, err := mercer.Train(ctx, train, mercer.Config{})
	if err != nil {
		log.Fatal(err)
	}

	predictions, err := mercer.Predict(ctx, m, rows, dataset.Options{})
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

// Train a regression on rows in memory.
func ExampleTrainSource() {
	const n = 200
	x := matrix.NewDense(n, 1)
	y := make([]float64, n)
	for i := range n {
		v := 6 * float64(i) / n
		x.Row(i)[0] = float32(v)
		y[i] = math.Sin(v)
	}
	src, err := dataset.FromRows(matrix.Rows{Dense: x}, y, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	m, err := mercer.TrainSource(context.Background(), src, train.Config{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.Predict([]float32{1}, []float32{4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f %.2f\n", p[0].Values[0], p[1].Values[0])
	// Output: 0.84 -0.76
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
	dir, err := os.MkdirTemp("", "mercer")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "readings.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		log.Fatal(err)
	}

	m, err := mercer.Train(context.Background(), path, mercer.Config{
		Config: train.Config{Bag: &pipeline.BagConfig{Pooling: "mean", Features: 256}},
		Data:   dataset.Options{Group: "device"},
	})
	if err != nil {
		log.Fatal(err)
	}
	predictions, err := m.PredictBags(
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
