package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A number that stands for missing values is told of where it is far from all others and frequent, and no other is.
func TestNumbersThatStandForMissingValues(t *testing.T) {
	for _, c := range []struct {
		name  string
		cell  func(r *rand.Rand) float64 // of those that are values
		code  float64
		share float64
		told  bool
	}{
		{"days", func(r *rand.Rand) float64 { return float64(r.IntN(30)) }, 999, .1, true},
		{"flag", func(r *rand.Rand) float64 { return float64(r.IntN(2)) }, 99, .05, true},
		{"temperature", func(r *rand.Rand) float64 { return r.NormFloat64()*8 + 12 }, -999, .02, true},
		{"amount", func(r *rand.Rand) float64 { return float64(r.IntN(800)) }, -1, .4, true},
		{"income", func(r *rand.Rand) float64 { return float64(r.IntN(200_000)) }, -9999, .02, true},
		{"level", func(r *rand.Rand) float64 { return r.NormFloat64()*8 + 12 }, -99.9, .02, true},
		{"depth", func(r *rand.Rand) float64 { return r.NormFloat64() * 100 }, 1e30, .02, true},
		{"sensor", func(r *rand.Rand) float64 { return r.NormFloat64() * 100 }, -32768, .02, true},
		{"count", func(r *rand.Rand) float64 { return float64(r.IntN(60_000)) }, -32768, .02, true},
		{"sound", func(r *rand.Rand) float64 { return float64(r.IntN(65_535) - 32_767) }, -32768, .02, false},
		{"balance", func(r *rand.Rand) float64 { return r.NormFloat64() * 1000 }, -999, .02, false},
		{"price", func(r *rand.Rand) float64 { return float64(r.IntN(30)) }, 99.99, .02, false},
		{"age", func(r *rand.Rand) float64 { return float64(r.IntN(95)) }, 99, .1, false},
		{"grade", func(r *rand.Rand) float64 { return float64(r.IntN(6)) }, -1, .2, false},
		{"rare", func(r *rand.Rand) float64 { return float64(r.IntN(30)) }, 999, .002, false},
		{"round", func(r *rand.Rand) float64 { return float64(r.IntN(30)) }, 1000, .1, false},
		{"digit", func(r *rand.Rand) float64 { return float64(r.IntN(3)) }, 9, .1, false},
		{"change", func(r *rand.Rand) float64 { return r.NormFloat64() }, -1, .1, false},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		text, labels := "x,z,y\n", "z,x\n"
		for i := range 1500 {
			v := c.cell(r)
			if r.Float64() < c.share {
				v = c.code
			}
			text += fmt.Sprintf("%g,%d.5,%d\n", v, i%17, i%2)
			labels += fmt.Sprintf("%d.5,%g\n", i%17, v)
		}
		f, err := OpenBytes(context.Background(), "f", []byte(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		g, err := OpenBytes(context.Background(), "f", []byte(labels), Options{})
		if err != nil {
			t.Fatal(err)
		}
		classes := c.name == "flag" || c.name == "grade" || c.name == "digit" // few whole numbers, of which any may be a class
		if got := fmt.Sprint(g.Notices()); strings.Contains(got, "stands for a missing value") != (c.told && !classes) {
			t.Errorf("%s as labels: told %s", c.name, got)
		}
		if got := fmt.Sprint(f.Notices()); strings.Contains(got, fmt.Sprintf("; if it stands for a missing value, na=%g says so", c.code)) != c.told ||
			!c.told && strings.Contains(got, "stands for") {
			t.Errorf("%s: told %s", c.name, got)
		}
	}
}

// Classes that are whole numbers may be -1, 999 or another number that stands for a missing value elsewhere: they are classes, and nothing is told of them.
func TestClassesMayBeStandIns(t *testing.T) {
	for _, classes := range [][]float64{{-1, 1}, {0, 999}, {0, 1, 999}, {-1, 0, 1, 2}, {1, 2, 3, -9}, {1, 2, 99}, {-999, 0, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, -1}, {0, 1, 32767}} {
		text := "x,z,y\n"
		for i := range 300 {
			text += fmt.Sprintf("%d.25,%d,%g\n", i%13, i%7, classes[i%len(classes)])
		}
		f, err := OpenBytes(t.Context(), "f", []byte(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(f.Notices()); strings.Contains(got, "missing") {
			t.Errorf("%v: %s", classes, got)
		}
		sum, err := Survey(t.Context(), f, SurveyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		task, why, err := sum.Task("auto")
		if found, wrong := sum.Classes(); err != nil || wrong != nil || task != "classify" || len(found.Labels()) != len(classes) || sum.Rows != 300 {
			t.Errorf("%v: %s (%s), %v, %d rows, %v", classes, task, why, found, sum.Rows, err)
		}
	}
}
