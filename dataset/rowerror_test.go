package dataset

import (
	"context"
	"errors"
	"math"
	"testing"

	"mercer/matrix"
)

// A program finds the place of an error without reading its text, in every format.
func TestErrorsTellTheirPlace(t *testing.T) {
	table := "age,job,y\n1,a,0\n\n2,b,1\nx,a,0\n"
	for _, c := range []struct {
		name, file string
		opt        Options
		want       RowError
		text       string
	}{
		{"cell of a table", table, Options{}, RowError{Source: "f", Row: 2, Line: 5, Column: "age", Dim: 0, Value: "x"},
			`f:5: column "age": "x" is not a number (na=x counts such cells as missing, categorical=age takes the column as text)`},
		{"without a header", "1,2,0\n3,4,1\n5,z,0\n", Options{},
			RowError{Source: "f", Row: 2, Line: 3, Column: "1", Dim: 1, Value: "z"}, `f:3: column 1: "z" is not a number`},
		{"label", "1,2,0\n3,4,1\n5,6,inf\n", Options{},
			RowError{Source: "f", Row: 2, Line: 3, Column: "2", Dim: -1, Value: "inf"},
			`f:3: column 2: the label "inf" is not a finite number; na=inf counts it as missing`},
		{"missing value", "1,2,0\n3,,1\n", Options{Missing: "error"}, RowError{Source: "f", Row: 1, Line: 2, Column: "1", Dim: 1},
			`f:2: column 1: "" is not a number (a missing value? missing=mean or missing=zero fills it in)`},
		{"width", "1,2,0\n3,4,1\n5,0\n3,4,1\n", Options{}, RowError{Source: "f", Row: 2, Line: 3, Dim: -1},
			"f:3: 2 columns where the first row has 3"},
		{"open quote", "1,2,0\n3,4,1\n5,\"6,0\n", Options{}, RowError{Source: "f", Row: 2, Line: 3, Column: "1", Dim: 1},
			"f:3: column 1: a quote opens the cell and nothing closes it"},
		{"weight", "1,2,0\n3,-4,1\n", Options{Weight: "1"},
			RowError{Source: "f", Row: 1, Line: 2, Column: "1", Dim: -1, Value: "-4"},
			`f:2: column 1: "-4" is not a weight; weights are numbers of 0 or more`},
		{"pass that collects", "1,a,0\n3,b,1\nq,b,1\n", Options{Missing: "mean"},
			RowError{Source: "f", Row: 2, Line: 3, Column: "0", Dim: 0, Value: "q"}, `f:3: column 0: "q" is not a number`},
		{"value of LIBSVM text", "1 1:1\n# comment\n1 1:1 7:x\n", Options{},
			RowError{Source: "f", Row: 1, Line: 3, Column: "7", Dim: 6, Value: "x"}, `f:3: index 7: "x" is not a number`},
		{"row of LIBSVM text", "1 1:1\n1 2:1 2:1\n", Options{}, RowError{Source: "f", Row: 1, Line: 2, Dim: -1}, "f:2: index 2 comes twice"},
		{"ARFF", arffHeader + "1,red,2,no\n1,red,x,no\n", Options{},
			RowError{Source: "f", Row: 1, Line: 10, Column: "size", Dim: 4, Value: "x"}, `f:10: column "size": "x" is not a number (na=x counts such cells as missing, categorical=size takes the column as text)`},
		{"header of ARFF", "@relation r\n@attribute a\n@data\n1\n", Options{},
			RowError{Source: "f", Row: -1, Line: 2, Dim: -1},
			`f:2: attribute "a" has type ""; known are numeric, real, integer, string, date and {values}`},
	} {
		src, err := OpenBytes(context.Background(), "f", []byte(c.file), c.opt)
		if err == nil {
			_, err = Survey(context.Background(), src, SurveyOptions{})
		}
		checkRowError(t, c.name, err, c.want, c.text)
	}
}

func checkRowError(t *testing.T, name string, err error, want RowError, text string) {
	t.Helper()
	var e *RowError
	if !errors.As(err, &e) {
		t.Errorf("%s: %v is no RowError", name, err)
		return
	}
	got := *e
	got.Err, got.place = nil, ""
	if got != want {
		t.Errorf("%s: the place is %+v, want %+v", name, got, want)
	}
	if err.Error() != text {
		t.Errorf("%s: %v\nwant %s", name, err, text)
	}
	if e.Err == nil || errors.Unwrap(e) != e.Err {
		t.Errorf("%s: the cause is %v", name, e.Err)
	}
}

// Rows of a file longer than a block, which several parsers read, are counted through.
func TestErrorsCountTheRowsOfAllBlocks(t *testing.T) {
	var text []byte
	const good = 300_000
	for range good {
		text = append(text, "1.25,2.5,0\n"...)
	}
	text = append(text, "1,oops,0\n"...)
	src, err := OpenBytes(context.Background(), "f", text, Options{Header: "no"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Survey(context.Background(), src, SurveyOptions{})
	checkRowError(t, "last row", err, RowError{Source: "f", Row: good, Line: good + 1, Column: "1", Dim: 1,
		Value: "oops"}, `f:300001: column 1: "oops" is not a number`)
}

func TestErrorsOfArraysTellTheirPlace(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		rows [][]float64
		opt  Options
		want RowError
		text string
	}{
		{"input", [][]float64{{1, 2, 0}, {3, inf, 1}}, Options{}, RowError{Source: "f", Row: 1, Column: "1", Dim: 1, Value: "+Inf"},
			"f: row 1, column 1 (from 0): +Inf is not a number that float32 holds; replace or remove it"},
		{"input behind the label", [][]float64{{0, 1, 2}, {1, 3, -inf}}, Options{Label: "0"},
			RowError{Source: "f", Row: 1, Column: "2", Dim: 1, Value: "-Inf"},
			"f: row 1, column 2 (from 0): -Inf is not a number that float32 holds; replace or remove it"},
		{"gap", [][]float64{{1, 2, 0}, {3, nan, 1}}, Options{Missing: "error"}, RowError{Source: "f", Row: 1, Column: "1", Dim: 1, Value: "NaN"},
			"f: row 1, column 1 (from 0): NaN is not a number that float32 holds; replace or remove it"},
		{"gap for a model of rows without any", [][]float64{{1, 2}, {nan, 3}}, Options{Schema: &Schema{Format: "npy", Dim: 2, Width: 3}},
			RowError{Source: "f", Row: 1, Column: "0", Dim: 0, Value: "NaN"},
			"f: row 1, column 0 (from 0): NaN, a missing value, where the model was trained on rows without any; replace it, or train on an array that has some"},
		{"input beside a gap", [][]float64{{1, nan, 0}, {3, inf, 1}}, Options{}, RowError{Source: "f", Row: 1, Column: "1", Dim: 1, Value: "+Inf"},
			`f: row 1 (from 0), column 1: "+Inf" is not a finite number; na=+Inf counts it as missing`},
		{"label beside a gap", [][]float64{{1, nan, 0}, {3, 1, nan}}, Options{}, RowError{Source: "f", Row: 1, Column: "2", Dim: -1},
			`f: row 1 (from 0), column 2: the label is missing (""), as in 1 of 2 rows; give these rows labels, or leave them out with drop_unlabelled`},
		{"label", [][]float64{{1, 2, nan}}, Options{}, RowError{Source: "f", Column: "2", Dim: -1, Value: "NaN"},
			"f: row 0, column 2 (from 0): the label is NaN; remove the row or give it a label"},
		{"weight", [][]float64{{1, 2, 0}, {3, -1, 0}}, Options{Weight: "1"}, RowError{Source: "f", Row: 1, Column: "1", Dim: -1, Value: "-1"},
			"f: row 1, column 1 (from 0): -1 is not a weight; weights are numbers of 0 or more"},
	} {
		src, err := OpenBytes(context.Background(), "f", npyOf32(c.rows), c.opt)
		if err != nil { // the look at a table with gaps says it
			checkRowError(t, c.name, err, c.want, c.text)
			continue
		}
		_, err = Survey(context.Background(), src, SurveyOptions{})
		checkRowError(t, c.name, err, c.want, c.text)
	}
}

func npyOf32(rows [][]float64) []byte {
	var values []float32
	for _, row := range rows {
		for _, v := range row {
			values = append(values, float32(v))
		}
	}
	return npyOf(values, len(rows), len(rows[0]))
}

func TestErrorsOfRowsInMemoryTellTheirPlace(t *testing.T) {
	x := matrix.NewDense(3, 2)
	x.Row(2)[1] = float32(math.Inf(1))
	_, err := FromRows(matrix.Rows{Dense: x}, nil, 0, nil)
	checkRowError(t, "value", err, RowError{Row: 2, Column: "1", Dim: 1, Value: "+Inf"},
		"row 2, column 1 (from 0): +Inf is not a finite number")
	_, err = FromRows(matrix.Rows{Dense: matrix.NewDense(2, 1)}, nil, 0, []string{"a", ""})
	checkRowError(t, "label", err, RowError{Row: 1, Dim: -1}, "row 1: the label is empty")
	_, err = FromRows(matrix.Rows{Dense: matrix.NewDense(2, 1)}, []float64{1, math.NaN()}, 1, nil)
	checkRowError(t, "target", err, RowError{Row: 1, Dim: -1, Value: "NaN"}, "row 1: the target NaN is not a finite number")
}

// Whoever takes rows knows their numbers within a batch; Locate finds their place in the file.
func TestLocate(t *testing.T) {
	csv, err := OpenBytes(context.Background(), "f.csv", []byte("age,job,y\n1,a,0\n2,b,1\n3,a,1\n4,b,0\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	libsvm, err := OpenBytes(context.Background(), "f", []byte("1 1:1 2:1\n0 1:1\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	odd := Keep(csv, func(row int) bool { return row%2 == 1 })
	negative := errors.New("-1 is negative")
	bad := func(row, dim int) error { return &RowError{Row: row, Dim: dim, Value: "-1", Err: negative} }
	for _, c := range []struct {
		name  string
		err   error
		src   Source
		first int
		want  RowError
		text  string
	}{
		{"table", bad(1, 0), csv, 2, RowError{Source: "f.csv", Row: 3, Column: "age", Dim: 0, Value: "-1"},
			`f.csv: row 4, column "age": -1 is negative`},
		{"category", bad(0, 2), csv, 0, RowError{Source: "f.csv", Row: 0, Column: "job", Dim: 2, Value: "-1"},
			`f.csv: row 1, column "job", value "b": -1 is negative`},
		{"part", bad(1, 0), odd, 0, RowError{Source: "f.csv", Row: 3, Column: "age", Dim: 0, Value: "-1"},
			`f.csv: row 4, column "age": -1 is negative`},
		{"LIBSVM text", bad(1, 1), libsvm, 0, RowError{Source: "f", Row: 1, Column: "2", Dim: 1, Value: "-1"},
			"f: row 2, index 2: -1 is negative"},
		{"row as a whole", bad(1, -1), csv, 0, RowError{Source: "f.csv", Row: 1, Dim: -1, Value: "-1"}, "f.csv: row 2: -1 is negative"},
		{"pooled", bad(1, 0), pooled{}, 4, RowError{Source: "bags", Row: 5, Bag: true, Column: "0", Dim: 0, Value: "-1"},
			"bags: bag 5 (from 0), dimension 0 (from 0): -1 is negative"},
	} {
		err := Locate(c.err, c.src, c.first)
		checkRowError(t, c.name, err, c.want, c.text)
		if !errors.Is(err, negative) {
			t.Errorf("%s: the cause is lost", c.name)
		}
	}
	if err := Locate(negative, csv, 0); err.Error() != "f.csv: -1 is negative" || !errors.Is(err, negative) {
		t.Errorf("an error without a row: %v", err)
	}
	if text := bad(1, -1).Error(); text != "row 1 (from 0): -1 is negative" {
		t.Error(text)
	}
	if text := bad(1, 2).Error(); text != "row 1, dimension 2 (from 0): -1 is negative" {
		t.Error(text)
	}
}

type pooled struct{ Source }

func (pooled) Name() string    { return "bags" }
func (pooled) Schema() *Schema { return &Schema{Format: PooledFormat, Dim: 2} }

func TestLocateBag(t *testing.T) {
	src, err := FromBags(matrix.Rows{Dense: matrix.NewDense(4, 1)}, []int{0, 1, 2, 3, 4}, nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	large := errors.New("its values are too large")
	bad := &RowError{Row: 1, Bag: true, Dim: -1, Err: large}
	if bad.Error() != "bag 1 (from 0): its values are too large" {
		t.Error(bad)
	}
	b := &BagBatch{First: 2, Bags: []int{0, 1, 2}}
	checkRowError(t, "by number", LocateBag(bad, src, b), RowError{Source: "bags in memory", Row: 3, Bag: true, Dim: -1},
		"bags in memory: bag 3 (from 0): its values are too large")
	b.Keys = []string{"left", "right"}
	checkRowError(t, "by name", LocateBag(bad, src, b), RowError{Source: "bags in memory", Row: 3, Bag: true, Dim: -1},
		`bags in memory: bag "right": its values are too large`)
	if err := LocateBag(large, src, b); err.Error() != "bags in memory: its values are too large" {
		t.Error(err)
	}
}

func TestErrorsOfRecordsTellTheirPlace(t *testing.T) {
	records := func(yield func(any, error) bool) {
		_ = yield(map[string]any{"age": 1}, nil) && yield(map[string]any{"age": []int{1}}, nil)
	}
	_, err := FromRecords(context.Background(), "people", nil, records, Options{})
	checkRowError(t, "record", err, RowError{Source: "people", Row: 1, Column: "age", Dim: -1},
		`people: record 2: field "age": [1] is neither a number nor a text`)
	var field *FieldError
	if !errors.As(err, &field) || field.Field != "age" {
		t.Errorf("%v is no FieldError", err)
	}
}

func TestErrorsOfBagsTellTheirPlace(t *testing.T) {
	in, err := newPacked("f", bytesFile{[]byte("g,x,y\na,1,0\na,2,1\n")}, 18)
	if err != nil {
		t.Fatal(err)
	}
	bags, err := openBags(context.Background(), in, Options{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = SurveyBags(context.Background(), bags, SurveyOptions{})
	checkRowError(t, "label", err, RowError{Source: "f", Row: 1, Line: 3, Dim: -1},
		`f:3: the label is 1, but bag "a", whose rows begin at f:2, has the label 0; the rows of a bag have one label`)
}
