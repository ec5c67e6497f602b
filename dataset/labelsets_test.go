package dataset

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// setsOf opens data and tells the labels and, row by row, which a row has.
func setsOf(text, asked string, opt Options) (string, error) {
	src, err := OpenBytes(context.Background(), "f", []byte(text), opt)
	if err != nil {
		return "", err
	}
	sum, err := Survey(context.Background(), src, SurveyOptions{})
	if err != nil {
		return "", err
	}
	task, _, err := sum.Task(asked)
	if err != nil {
		return "", err
	}
	if task != "multilabel" {
		return task, nil
	}
	sets, err := sum.LabelSets(src.Schema())
	if err != nil {
		return "", err
	}
	out := strings.Join(sets.Labels(), " ") + ":"
	r, err := src.Open(context.Background())
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := r.Next()
	if err != nil {
		return "", err
	}
	has := make([]bool, len(sets.Labels()))
	y := make([]float64, len(has))
	for i := range b.X.Len() {
		unknown, err := sets.Of(b, i, has)
		if err != nil || unknown != nil {
			return "", fmt.Errorf("unknown %v, %w", unknown, err)
		}
		if err := sets.Targets(b, i, y); err != nil {
			return "", err
		}
		out += " "
		for t, h := range has {
			if h != (y[t] == 1) || !h != (y[t] == -1) {
				return "", fmt.Errorf("targets %v for %v", y, has)
			}
			out += map[bool]string{true: "1", false: "0"}[h]
		}
	}
	return out, nil
}

func TestLabelSetsAreReadInEveryForm(t *testing.T) {
	for _, c := range []struct {
		text, task string
		opt        Options
		want       string
	}{
		{"3,7 1:1\n7 1:2\n 2:1\n10,3,3 1:1\n1:1 # none\n", "auto", Options{}, "3 7 10: 110 010 000 101 000"},
		{" 1:1\n3,a 1:1\n", "auto", Options{}, "3 a: 00 11"},
		{"1:1\n3, 1:1\n,4 qid:3 1:1\n", "multilabel", Options{}, "3 4: 00 10 01"},
		{"3 1:1\n4 1:1\n2:1\n", "auto", Options{LabelSeparator: ","}, "3 4: 10 01 00"},
		{"x,l\n1,a|b\n2,\n3,b\n4,a | 5\n5,5.0\n", "auto", Options{LabelSeparator: "|"}, "5 a b: 011 000 001 110 100"},
		{"x,p,q\n1,0,1\n2,1,1\n3,0,0\n", "multilabel", Options{Label: "p,q"}, "p q: 01 11 00"},
		{"x,p,q\n1,false,1\n2,True,TRUE\n", "multilabel", Options{Label: "q,p"}, "q p: 10 11"},
		// Not unless asked for.
		{"x,p,q\n1,0,1\n2,1,1\n3,0,0\n", "auto", Options{Label: "p,q"}, "regress"},
		{"1 1:1\n2 1:2\n", "auto", Options{}, "classify"},
	} {
		if got, err := setsOf(c.text, c.task, c.opt); got != c.want || err != nil {
			t.Errorf("%q, %s: %q, %v, want %q", c.text, c.task, got, err, c.want)
		}
	}
}

func TestLabelSetErrorsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		text, task string
		opt        Options
		want       string
	}{
		{"x,p,q\n1,0,1\n2,3,1\n", "multilabel", Options{Label: "p,q"}, "the value 3, but each has to be 0 or 1"},
		{"x,p,q\n1,0,1\n2,1,yes\n", "multilabel", Options{Label: "p,q"}, `the label "yes" is not a number`},
		{"1 1:1\n2 1:2\n", "multilabel", Options{}, "label_separator"},
		{"1,2 1:1\n2 1:2\n", "classify", Options{}, "task=multilabel"},
		{"1,nan 1:1\n2 1:2\n", "auto", Options{}, "f:1: the label nan is not a finite number"},
		{"x,l\n1,a|inf\n2,\n", "auto", Options{LabelSeparator: "|"}, `f:2: column "l": the label inf is not a finite number`},
		{"x,l\n1,\n2,\n", "auto", Options{LabelSeparator: "|"}, "no row has a label"},
		{"1|2 1:1\n", "auto", Options{LabelSeparator: "|", Format: "libsvm"}, "separated by commas"},
		{"x,p,q\n1,0,1\n2,1,1\n", "auto", Options{Label: "p,q", LabelSeparator: "|"}, "lists of labels in one column"},
	} {
		if got, err := setsOf(c.text, c.task, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %s: %q, %v, want %q", c.text, c.task, got, err, c.want)
		}
	}
}

func TestSurveyLooksAtTheFirstRowsOnly(t *testing.T) {
	src, err := OpenBytes(context.Background(), "f", []byte("1 1:1\n2 2:2\n3 9:1\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := Survey(context.Background(), src, SurveyOptions{Rows: 2})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := sum.Classes(); sum.Rows != 2 || sum.Dim != 2 || err != nil || len(c.Labels()) != 2 {
		t.Errorf("%+v, %v, %v", sum, c, err)
	}
}
