package dataset

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Labels that are whole numbers are written as they were, with all digits and zeros, whatever float64 holds of them.
func TestLabelsKeepTheirSpelling(t *testing.T) {
	for _, c := range []struct{ labels, classes string }{
		{"1234567890123456789 1234567890123456790 42", "42 1234567890123456789 1234567890123456790"},
		{"1000000 20240101 25000000", "1000000 20240101 25000000"},
		{"007 7 070", "7 007 070"},
		{"00 01 10", "10 00 01"},
		{"+1 -1 1.0", "-1 1"},
		{"-0 1", "1 -0"},
		{"9007199254740992 9007199254740993", "9007199254740992 9007199254740993"},
		{"1e6 1000000 2.5", "2.5 1000000"},
		{"-1234567890123456789 -1234567890123456788", "-1234567890123456788 -1234567890123456789"},
		{"123456789012345678901234567890 5", "5 123456789012345678901234567890"},
	} {
		labels := strings.Fields(c.labels)
		csv, svm := "x,y\n", ""
		for i := range 40 {
			csv += string(rune('0'+i%10)) + "," + labels[i%len(labels)] + "\n"
			svm += labels[i%len(labels)] + " 1:" + string(rune('0'+i%10)) + "\n"
		}
		for name, text := range map[string]string{"a.csv": csv, "a.svm": svm} {
			src, err := OpenBytes(context.Background(), name, []byte(text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			sum, err := Survey(context.Background(), src, SurveyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if task, why, err := sum.Task("regress"); task != "regress" {
				t.Errorf("%s %s: the task is %s (%s), %v", name, c.labels, task, why, err)
			}
			classes, err := sum.Classes()
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(classes.Labels(), " "); got != c.classes {
				t.Errorf("%s %s: the classes are %s, want %s", name, c.labels, got, c.classes)
			}
			all, err := Collect(context.Background(), src, 0)
			if err != nil {
				t.Fatal(err)
			}
			again := NewClasses(classes.Labels()) // as a model's
			for i := range 40 {
				if k := again.Of(all, i); k < 0 || k != again.Named(labels[i%len(labels)]) {
					t.Errorf("%s: row %d, %s, is of class %d", name, i, labels[i%len(labels)], k)
				}
			}
			in, out := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), "b.svm")
			if err := os.WriteFile(in, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Convert(context.Background(), in, out, "libsvm", Options{}); err != nil {
				t.Fatal(err)
			}
			back, err := Open(context.Background(), out, Options{})
			if err != nil {
				t.Fatal(err)
			}
			sum, err = Survey(context.Background(), back, SurveyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if kept, err := sum.Classes(); err != nil || !slices.Equal(kept.Labels(), classes.Labels()) {
				t.Errorf("%s: converted it has the classes %v, %v", name, kept, err)
			}
			back.Close()
		}
	}
	// Zeros in front may lack or be more in other rows; other digits are another number.
	for name, want := range map[string]int{"7": 0, "007": 0, "07": 0, "9007199254740993": 1, "9007199254740992": -1, "x": -1} {
		if got := NewClasses([]string{"007", "9007199254740993"}).Named(name); got != want {
			t.Errorf("%s is class %d, want %d", name, got, want)
		}
	}
}

// Classes may be called none or NA, which stand for missing values in other columns, unless somebody says that they mean that.
func TestClassesNamedLikeMissingValues(t *testing.T) {
	table := func(labels string, rows int) string {
		text, all := "x,y\n", strings.Split(labels, " ")
		for i := range rows {
			text += string(rune('0'+i%10)) + "," + all[i%len(all)] + "\n"
		}
		return text
	}
	for _, c := range []struct {
		text    string
		opt     Options
		classes string // "": the label is missing
		told    string
	}{
		{table("none mild NA mild", 40), Options{}, "NA mild none", "NA (10 of 40 rows) and none (10 of 40 rows)"},
		{table("Null mild", 40), Options{}, "Null mild", "Null (20 of 40 rows)"},
		{table("nan mild", 40), Options{}, "mild nan", "nan (20 of 40 rows)"},
		{table("NA none", 40), Options{}, "NA none", "NA (20 of 40 rows) and none (20 of 40 rows)"}, // no other class
		{table("mild grave", 4000) + "1,NA\n", Options{}, "NA grave mild", "NA (1 of 4,001 rows)"},
		{table("0 1 unknown", 42), Options{}, "0 1 unknown", "unknown (14 of 42 rows)"},
		{table("NA", 4000) + strings.TrimPrefix(table("0 1", 40), "x,y\n"), Options{}, "", ""}, // the first rows do not tell
		{table("mild grave unknown", 42), Options{}, "grave mild unknown", ""},
		{arffFile("{none,NA,mild}", "1,none", "2,NA", "3,mild"), Options{}, "NA mild none", ""},
		{table("none mild NA mild", 40), Options{Columns: ColumnOptions{NA: "NA"}}, "", "none (10 of 40 rows)"},
		{table("0 1 NA", 40), Options{}, "", ""},
		{table("0 1 -999", 40), Options{Columns: ColumnOptions{NA: "-999"}}, "", ""},
		{table("mild ?", 40), Options{}, "", ""},
		{table("mild grave", 40) + "1,\n", Options{}, "", ""},
	} {
		name := "a.csv"
		if strings.HasPrefix(c.text, "@") {
			name = "a.arff"
		}
		c.opt.Label = "y"
		src, err := OpenBytes(context.Background(), name, []byte(c.text), c.opt)
		if err != nil {
			t.Fatal(err)
		}
		told := ""
		for _, n := range src.Notices() {
			if _, rest, found := strings.Cut(n.Text, "has the class"); found {
				told, _, _ = strings.Cut(strings.TrimLeft(rest, "es "), ", which")
			}
		}
		if told != c.told {
			t.Errorf("%.60q: %q is told of, want %q", c.text, told, c.told)
		}
		sum, err := Survey(context.Background(), src, SurveyOptions{})
		if c.classes == "" {
			if err == nil || !strings.Contains(err.Error(), "the label is missing") {
				t.Errorf("%.60q: %v", c.text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%.60q: %v", c.text, err)
			continue
		}
		classes, err := sum.Classes()
		if err != nil || strings.Join(classes.Labels(), " ") != c.classes {
			t.Errorf("%.60q: the classes are %v, %v", c.text, classes, err)
		}
	}
}

func arffFile(classes string, rows ...string) string {
	return "@relation r\n@attribute x numeric\n@attribute y " + classes + "\n@data\n" + strings.Join(rows, "\n") + "\n"
}
