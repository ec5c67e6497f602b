package render

import (
	"bytes"
	"testing"
)

func TestMaps(t *testing.T) {
	all := MapsJSON{Maps: []MapJSON{{Map: "orf", About: "orthogonal frequencies", Kernels: []string{"rbf", "matern"},
		Options: []string{"form"}}, {Map: "nystrom", About: "landmarks", Fitted: true}, {Map: "chain", About: "maps one after the other"}},
		Poolings: []PoolingJSON{{Pooling: "mean", About: "means", Options: []string{"map", "features", "norm"}}}}
	goldenText(t, "maps", func(w *bytes.Buffer) { MapsText(w, all) })
	goldenJSON(t, "maps", all)
}

func TestDemo(t *testing.T) {
	s := &StreamJSON{Rows: 1_000_000, Dims: 20, Features: 512, LinearR2: 0.5, R2: 0.95, Seconds: 8.25, RowsPerSec: 121_212.1,
		PeakRSS: 100 << 20, ModelBytes: 12_345, Identical: true}
	goldenText(t, "demo", func(w *bytes.Buffer) {
		DigitsHead(w, 1337, 460)
		seven := make([]float32, 64)
		for x := range 8 {
			seven[x], seven[8*x+7-x/2] = 16, 9
		}
		DigitsPicture(w, []Digit{{seven, "7"}, {make([]float32, 64), "1"}})
		DigitsTitle(w, 0.001)
		methods := []DigitsJSON{{"linear model", 0.05, 0.02, 0.001, 15, 1 << 15}, {"exact kernel machine (n² memory)", 0.009, 0.2, 0.03, 1e8, 8e12}}
		for _, m := range methods {
			DigitsLine(w, m)
		}
		DigitsBars(w, methods)
		StreamHead(w, s.Rows, s.Dims)
		StreamTrained(w, s, 1, 2, 3)
		StreamScores(w, s)
		StreamSaved(w, s, 50_000)
		StreamTrained(w, &StreamJSON{}, 0, 0, 0)
	})
	goldenJSON(t, "demo", DemoJSON{Stream: s})
}
