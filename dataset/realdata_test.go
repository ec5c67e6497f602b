package dataset

import (
	"context"
	"testing"

	"mercer/internal/engine/testenv"
)

// TestPublishedFilesAreReadAsTheyAre opens data sets as they were published, of every kind of
// text, and compares with what their documentation says of them.
func TestPublishedFilesAreReadAsTheyAre(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, c := range []struct {
		path            string
		opt             Options
		format          string
		rows, dim       int
		header, texts   bool
		classes         int // distinct labels, 0: not counted
		first           float32
		firstLabel      float64
		firstLabelsText string
	}{
		{"letter/letter-recognition.data.gz", Options{Label: "0"}, "csv", 20000, 16, false, true, 26, 2, 0, "T"},
		{"abalone/abalone.data.gz", Options{}, "csv", 4177, 3 + 7, false, false, 28, 0, 15, ""},
		{"house_16H/574_house_16H.tsv.gz", Options{}, "csv", 22784, 16, true, false, 0, 15512, 0, ""},
		{"pendigits/pendigits.tes.gz", Options{}, "csv", 3498, 16, false, false, 10, 88, 8, ""},
		{"shuttle/shuttle.tst.gz", Options{}, "csv", 14500, 9, false, false, 7, 55, 4, ""},
		{"dna/dna.csv.gz", Options{}, "csv", 3186, 180, true, true, 3, 0, 0, "n"},
		{"pol/pol.arff.gz", Options{}, "arff", 15000, 48, true, false, 0, 110, 0, ""},
		{"phishing/phishing_training_dataset.arff.gz", Options{}, "csv", 11055, 30, false, false, 2, -1, -1, ""},
		{"mushrooms/mushrooms.gz", Options{}, "libsvm", 8124, 112, false, false, 2, 0, 1, ""},
		{"a9a/a9a.t.gz", Options{}, "libsvm", 16281, 122, false, false, 2, 1, -1, ""},
	} {
		f, err := Open(context.Background(), testenv.Data(t, c.path), c.opt)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		defer f.Close()
		rows, err := readRows(t, f, 4096)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		s := f.Schema()
		dim := s.Dim
		labels := map[any]bool{}
		for _, r := range rows {
			for j := range r.x {
				dim = max(dim, j+1)
			}
			labels[[2]any{r.y[0], r.name}] = true
		}
		if s.Format != c.format || s.Header != c.header || len(rows) != c.rows || dim != c.dim {
			t.Errorf("%s: %s, header %v, %d rows, %d dimensions; want %s, %v, %d, %d", c.path, s.Format, s.Header,
				len(rows), dim, c.format, c.header, c.rows, c.dim)
		}
		first := rows[0]
		if c.classes != 0 && (len(labels) != c.classes || first.y[0] != c.firstLabel || first.name != c.firstLabelsText) {
			t.Errorf("%s: %d labels, first %v %q; want %d, %v %q", c.path, len(labels), first.y[0], first.name, c.classes,
				c.firstLabel, c.firstLabelsText)
		}
		if first.x[0] != c.first || (first.name != "") != c.texts {
			t.Errorf("%s: first row %v", c.path, first)
		}
	}
}
