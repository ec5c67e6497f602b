package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/random"
)

// relevant is a table in which the columns town and size tell the price, and eight others nothing.
func relevant(rows int, seed uint64) string {
	r := random.New(seed, "relevant")
	var b strings.Builder
	b.WriteString("town,size,a,b,c,d,e,f,g,h,price\n")
	for range rows {
		town, size := r.Intn(3), r.Normal()
		fmt.Fprintf(&b, "%s,%.4f", []string{"Ulm", "Bonn", "Kiel"}[town], size)
		for range 8 {
			fmt.Fprintf(&b, ",%.4f", r.Normal())
		}
		fmt.Fprintf(&b, ",%.4f\n", math.Sin(2*size)*float64(1+town))
	}
	return b.String()
}

// train --metric says what was learned, inspect tells it of the file, and predictions, features and more rows go
// by it.
func TestTrainMetric(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	data := write(t, dir, "houses.csv", relevant(1500, 1))
	more := write(t, dir, "more.csv", relevant(500, 2))
	file, stats := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "s.stats")
	var errors []float64
	for _, metric := range []string{"none", "diagonal"} {
		var out struct {
			R2        float64 `json:"r2"`
			Relevance []struct {
				Column string
				Share  float64
			}
		}
		text := ok(t, "train", data, "--scale", "quantile", "--metric", metric, "--metric-landmarks", "200", "--metric-rounds", "2",
			"--learner", "ridge", "--features", "256", "--test", more, "--save-stats", stats, "-o", file, "--json")
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatal(err)
		}
		errors = append(errors, 1-out.R2)
		if metric == "none" {
			continue
		}
		first := []string{out.Relevance[0].Column, out.Relevance[1].Column}
		if len(out.Relevance) != 10 || first[0] == first[1] || !strings.Contains("town size", first[0]) ||
			!strings.Contains("town size", first[1]) {
			t.Errorf("relevance %+v, want town and size first", out.Relevance)
		}
		if share := out.Relevance[0].Share + out.Relevance[1].Share; share < 0.8 {
			t.Errorf("town and size have a share of %g", share)
		}
	}
	if errors[1] > 0.7*errors[0] {
		t.Errorf("1 - R² is %g with a metric and %g without", errors[1], errors[0])
	}
	text := ok(t, "inspect", file)
	for _, want := range []string{"metric", "diagonal, learned in", "relevance", "size"} {
		if !strings.Contains(text, want) {
			t.Errorf("inspect does not tell %q:\n%s", want, text)
		}
	}
	ok(t, "predict", file, more, "-o", filepath.Join(dir, "p.txt"))
	ok(t, "train", more, "--append", stats, "-o", file)
	if text := ok(t, "inspect", file); !strings.Contains(text, "2,000 rows") || !strings.Contains(text, "relevance") {
		t.Errorf("after --append:\n%s", text)
	}
	z := filepath.Join(dir, "z.npy")
	ok(t, "transform", file, more, "-o", z)
	if r := mercer(t, "train", data, "--metric", "diagonal", "--kernel", "poly", "-o", file); r.code != 1 ||
		!strings.Contains(r.stderr, "distances") {
		t.Errorf("of poly: exit code %d, %s", r.code, r.stderr)
	}
	if r := mercer(t, "train", data, "--metric", "round", "-o", file); r.code != 2 || !strings.Contains(r.stderr, "low-rank") {
		t.Errorf("round: exit code %d, %s", r.code, r.stderr)
	}
}
