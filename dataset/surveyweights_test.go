package dataset

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/matrix"
)

// Weights that leave no row, or rows of one class, are found by the survey, and by that of parts that went through files.
func TestWeightsThatLeaveNothing(t *testing.T) {
	const nothing, single = "there is nothing to learn from", `only rows of the class "b" have a weight above 0`
	for _, c := range []struct {
		text    string
		byClass []float64
		want    string
	}{
		{"x,y,w\n1,a,1\n2,b,0\n3,c,2\n", nil, ""},
		{"x,y,w\n1,a,0\n2,b,0\n", nil, nothing},
		{"x,y,w\n1,a,0\n2,b,0.5\n3,c,0\n", nil, single},
		{"x,y,w\n1,a,1\n2,b,1\n", []float64{0, 1}, single},
		{"x,y,w\n1,a,1\n2,b,1\n", []float64{0, 0}, nothing},
		{"x,y,w\n1,a,0\n2,b,1\n3,c,1\n", []float64{1, 1, 0}, single},
		{"x,y,w\n1,a,1e11\n2,b,1\n3,c,1\n", nil, "one row has the weight 1e+11, and those of the other 2 rows add up to 2"},
		{"x,y,w\n1,a,1\n2,b,1e5\n3,c,1e5\n", nil, ""},
	} {
		src, err := openMemory([]byte(c.text), Options{Label: "y", Weight: "w"})
		if err != nil {
			t.Fatal(err)
		}
		whole, err := SurveySome(context.Background(), src, SurveyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := whole.Write(&file, nil); err != nil {
			t.Fatal(err)
		}
		again, _, err := ReadSurveyPart(&file, int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []*SurveyPart{whole, again} {
			sum, err := part.Summary("f")
			if err != nil {
				t.Fatal(err)
			}
			classes, err := sum.Classes()
			if err != nil {
				t.Fatal(err)
			}
			if err := sum.CheckWeights(classes, c.byClass); c.want == "" && err != nil ||
				c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%q with %v: %v, want %q", c.text, c.byClass, err, c.want)
			}
		}
	}
}

func TestRowWeightsThatAreNone(t *testing.T) {
	src, err := FromRows(matrix.Rows{Dense: matrix.NewDense(3, 1)}, []float64{1, 2, 3}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []float64{-1, math.NaN(), math.Inf(1), 1e300, 1e-300} {
		b := &matrix.Batch{First: 1, Weights: []float64{0, w}}
		if err := CheckRowWeights(src, b); err == nil || !strings.Contains(err.Error(), "row 3: ") {
			t.Errorf("%g: %v", w, err)
		}
	}
}

// The weights of bags are checked like those of rows.
func TestBagWeightsThatAreNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bags.csv")
	if err := os.WriteFile(path, []byte("g,x,y,w\na,1,p,1\na,2,p,1\nb,3,q,1e300\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := OpenBags(t.Context(), path, Options{Label: "y", Weight: "w", Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := SurveyBags(t.Context(), src, SurveyOptions{}); err == nil || !strings.Contains(err.Error(), `bag "b": the weight 1e+300 is neither 0 nor`) {
		t.Error(err)
	}
}
