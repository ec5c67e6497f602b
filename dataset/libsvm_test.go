package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestLIBSVMErrorsSayWhereAndWhatToDo(t *testing.T) {
	for _, c := range []struct {
		opt  Options
		text string
		want string
	}{
		{Options{}, "1 1:1\n1 0:3 1:2\n", "f:2: index 0, but indices start at 1; if they start at 0 in this file, use base=0"},
		{Options{}, "1 1:1 4:2 4:3\n", "f:1: index 4 comes twice"},
		{Options{}, "1 1:1\n# c\n\n1 4:2 2:3\n", "f:4: index 2 comes after 4; indices must increase within a row"},
		{Options{Base: "0"}, "1 0:1 0:2\n", "f:1: index 0 comes twice"},
		{Options{}, "1 -3:1\n", "f:1: index -3 is negative; indices start at 1"},
		{Options{}, "1 1099511627776:1\n", "f:1: index 1099511627776 is larger than any this program handles (2147483647)"},
		{Options{}, "1 2147483648:1\n", "f:1: index 2147483648 is larger than any this program handles (2147483647)"},
		{Options{}, "1 99999999999999999999999:1\n", "f:1: index 99999999999999999999999 is larger than any this program handles (2147483647)"},
		{Options{Base: "0"}, "1 2147483647:1\n", "f:1: index 2147483647 is larger than any this program handles (2147483646)"},
		{Options{Dim: 123}, "1 1:1\n1 2:2\n1 3:1 130:2\n", "f:3: index 130, but dim says 123 dimensions"},
		{Options{Schema: &Schema{Format: "libsvm", Dim: 123, Base: 1}}, "1 1:1\n1 2:2\n1 3:1 130:2\n",
			"f:3: index 130, but the model has 123 dimensions; train it with dim=130 or more, the largest number that any file has"},
		{Options{Schema: &Schema{Format: "libsvm", Dim: 2}}, "1 1:1 2:2\n",
			"f:1: index 2, but the model has 2 dimensions (from 0); train it with dim=3 or more, the largest number that any file has"},
		{Options{Schema: &Schema{Format: "csv", Dim: 2, Base: 1}}, "1 1:1 3:2\n", "f:1: index 3, but the model has 2 dimensions"},
		{Options{Memory: 1e8}, "1 1:1\n1 520834:1\n",
			"f:2: index 520834: training on 520834 columns takes 95.368 MiB, 192 bytes of each, but there are 95.367 MiB of memory; " +
				"correct the number if it is wrong, otherwise renumber the columns, for example by hashing them to fewer, or give more memory"},
		{Options{Memory: 1e9, Base: "0"}, "1 2000000000:1\n",
			"f:1: index 2000000000: training on so many columns takes 358 GiB, out of proportion to the size of the file; correct the number if it " +
				"is wrong, or say that there are so many: dim=2000000001"},
		{Options{}, "1 1:1 2\n", `f:1: "2" is not index:value`},
		{Options{}, "1 1:1 a:2\n", `f:1: "a:2" is not index:value`},
		{Options{}, "1 1:1 :2\n", `f:1: ":2" is not index:value`},
		{Options{}, "1 1:1 1.5:2\n", `f:1: "1.5:2" is not index:value`},
		{Options{}, "1 1:abc\n", `f:1: index 1: "abc" is not a number`},
		{Options{}, "1 1:1x\n", `f:1: index 1: "1x" is not a number`},
		{Options{}, "1 1:\n", "f:1: index 1 has no value after the colon"},
		{Options{}, "1 1: 2\n", "f:1: index 1 has no value after the colon"},
		{Options{}, "1 1:nan\n", "f:1: index 1: nan is not allowed; leave the value out or replace it"},
		{Options{}, "1 1:-Inf\n", "f:1: index 1: -Inf is not allowed; leave the value out or replace it"},
		{Options{}, "1 1:1e39\n", "f:1: index 1: 1e39 is out of float32's range (3.4e38)"},
		{Options{}, "1 1:-1e999\n", "f:1: index 1: -1e999 is out of float32's range (3.4e38)"},
		{Options{}, "1 1:1 qid:4 2:1\n", `f:1: "qid:4" may only follow the label`},
		{Options{}, "1 1:1\n 1:1\n", `f:2: "1:1" where the label should be; either all rows have one or none has`},
		{Options{}, " 1:1\n1 1:1\n", `f:2: "1" looks like a label, but the first row has none`},
		{Options{Schema: &Schema{Format: "libsvm", Dim: 2, Base: 1}}, "1,3 1:1\n",
			`f:1: "1,3" are several labels; a row must have one, unless lists are asked for with label_separator=,`},
		{Options{}, "nan 1:1\n", "f:1: the label nan is not allowed; remove the row or give it a label"},
		{Options{}, "1e999 1:1\n", "f:1: the label 1e999 is out of float64's range"},
		{Options{}, "1 1:" + strings.Repeat("long", 20) + "\n", `f:1: index 1: "longlonglonglonglonglonglonglonglongl..." is not a number`},
	} {
		if _, err := readRows(t, libsvmSource(t, c.text, c.opt), 4096); err == nil || err.Error() != c.want {
			t.Errorf("%q:\nerror %v\nwant  %s", c.text, err, c.want)
		}
	}
}

// As many columns as a survey has memory for are read, and those that a model knows.
func TestManyColumnsAreReadWhereMemoryAllows(t *testing.T) {
	for _, opt := range []Options{
		{Memory: 1e9},
		{Memory: 1, Schema: &Schema{Format: "libsvm", Dim: 1398101, Base: 1}},
	} {
		if rows, err := readRows(t, libsvmSource(t, "1 1:1\n1 1398101:1\n", opt), 4096); err != nil || len(rows) != 2 {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	if _, err := readBytes([]byte("1 1:1\n"), Options{Memory: 1e9, Dim: 1 << 30}); err == nil ||
		!strings.Contains(err.Error(), "f: dim 1073741824: training on 1073741824 columns takes 192 GiB") {
		t.Errorf("a width that is given: %v", err)
	}
}

// What the columns of a text may take grows with the text.
func TestColumnsInProportionToTheFile(t *testing.T) {
	rows := strings.Repeat("1 1:1\n", 20)
	for _, c := range []struct {
		text string
		max  int
	}{{"", 1398200}, {strings.Repeat(rows, 1000), 1558300}} {
		for _, over := range []int{-200, 200} {
			_, err := readRows(t, libsvmSource(t, c.text+fmt.Sprintf("1 %d:1\n", c.max+over), Options{Memory: 1 << 40}), 4096)
			if (err == nil) != (over < 0) {
				t.Errorf("%d bytes, index %d: %v", len(c.text), c.max+over, err)
			}
		}
	}
}

func TestLIBSVMRows(t *testing.T) {
	for _, c := range []struct {
		opt  Options
		text string
		want []row
	}{
		{Options{}, "+1 1:0.5 3:-2e1\n-1 qid:7 2:.25 # good\n1.0\t\n", []row{
			{x: map[int]float32{0: .5, 2: -20}, y: []float64{1}},
			{x: map[int]float32{1: .25}, y: []float64{-1}},
			{x: map[int]float32{}, y: []float64{1}},
		}},
		{Options{Base: "0"}, "3 0:1 2:2\n", []row{{x: map[int]float32{0: 1, 2: 2}, y: []float64{3}}}},
		{Options{Schema: &Schema{Format: "libsvm", Dim: 4}}, "3 0:1 3:2\n", []row{{x: map[int]float32{0: 1, 3: 2}, y: []float64{3}}}},
		{Options{Schema: &Schema{Format: "npy", Dim: 4}}, "3 1:1 4:2\n", []row{{x: map[int]float32{0: 1, 3: 2}, y: []float64{3}}}},
		// A value of 0 is not stored.
		{Options{}, "1 1:0 2:1 3:-0 4:0e5\n", []row{{x: map[int]float32{1: 1}, y: []float64{1}}}},
		{Options{}, "1 1:1\ncat 1:2\nC# 2:1\n2 1:1\n", []row{
			{x: map[int]float32{0: 1}, y: []float64{1}},
			{x: map[int]float32{0: 2}, y: []float64{0}, name: "cat"},
			{x: map[int]float32{1: 1}, y: []float64{0}, name: "C#"},
			{x: map[int]float32{0: 1}, y: []float64{2}},
		}},
		{Options{}, " 1:0.5 2:3\n2:1\n", []row{{x: map[int]float32{0: .5, 1: 3}}, {x: map[int]float32{1: 1}}}},
	} {
		for i := range c.want {
			c.want[i].first, c.want[i].weight = i, 1
		}
		got, err := readRows(t, libsvmSource(t, c.text, c.opt), 4096)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q:\n%v\nwant %v\nerror %v", c.text, got, c.want, err)
		}
	}
}

func TestLIBSVMWidth(t *testing.T) {
	for _, c := range []struct {
		opt          Options
		schema, cols int
	}{
		{Options{}, 0, 7},
		{Options{Dim: 10}, 10, 10},
		{Options{Schema: &Schema{Format: "libsvm", Dim: 12, Base: 1}}, 12, 12},
	} {
		src := libsvmSource(t, "1 1:1 5:1\n1 2:1 7:0\n", c.opt)
		if src.Schema().Dim != c.schema {
			t.Errorf("%+v: the schema says %d dimensions, want %d", c.opt, src.Schema().Dim, c.schema)
		}
		r, err := src.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Next()
		if err != nil || b.X.Dim() != c.cols {
			t.Errorf("%+v: %d dimensions, want %d; error %v", c.opt, b.X.Dim(), c.cols, err)
		}
		r.Close()
	}
}

func TestLooksLikeLIBSVM(t *testing.T) {
	long := "1" + strings.Repeat(" 12:0.25", headSize/8-1)
	long += strings.Repeat(" ", headSize-3-len(long))
	for text, want := range map[string]bool{
		"1 1:2 3:4\n":                true,
		"\xef\xbb\xbf1:2\n":          true,
		"# comment\n\ncat 3:4 # x\n": true,
		"1 qid:3 1:2\n":              true,
		"1:2 3:4\n":                  true,
		"1\n-1\n1 4:2\n":             true,
		"1 2 3\n":                    false,
		"1,2,3\n":                    false,
		"1\n2\n3\n":                  false,
		"12:30,4\n":                  false,
		"time 12:30:15\n":            true, // and an error when it is read
		"a b c\n1:2\n":               false,
		"":                           false,
		"@relation x\n":              false,
		long:                         true,
		long + " 12":                 true, // the head ends within a pair
		long + "\n12":                true,
		long[1:] + " 12":             false,
		long[1:]:                     true,
		"12:30\n":                    true,
		"12:30 x\n":                  false,
		"12:30:15,4 1:2\n":           false,
	} {
		if got := looksLikeLIBSVM([]byte(text)); got != want {
			t.Errorf("%.40q: %v", text, got)
		}
	}
}

func TestRepeatedPassesAllocateNothingARow(t *testing.T) {
	text := strings.Repeat("cat 1:0.123456789012345678 5:2 9:3\ndog 1:1\n", 10_000)
	src := libsvmSource(t, text, Options{}).(*libsvm)
	p := src.newParser()
	var rows rowBuffer
	allocations := testing.AllocsPerRun(5, func() {
		if err := p.parse([]byte(text), 1, &rows); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 1 {
		t.Errorf("parsing 20,000 rows allocates %v times", allocations)
	}

	csv := strings.Repeat("1,0.25,red,\"blue\",0.123456789012345678,cat\n4,5,green,\"red\",7,dog\n", 10_000)
	table := csvSource(t, csv, Options{}).(*table)
	p = table.newParser(nil)
	allocations = testing.AllocsPerRun(5, func() {
		if err := p.parse([]byte(csv), 1, &rows); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 1 {
		t.Errorf("parsing 20,000 rows of a table allocates %v times", allocations)
	}
}

func TestCanceledBeforeOpenIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := libsvmSource(t, "1 1:1\n", Options{}).Open(ctx)
	if err == nil {
		defer r.Close()
		_, err = r.Next()
	}
	if err == nil || errors.Is(err, io.EOF) {
		t.Errorf("error %v", err)
	}
}

// The base of a model's LIBSVM text is that of later text, unless an option says the opposite.
func TestBaseIsThatOfTheModel(t *testing.T) {
	for _, c := range []struct {
		model  *Schema
		base   string
		first  int // index in the text
		failed string
	}{
		{nil, "", 1, ""}, {nil, "auto", 1, ""}, {nil, "0", 0, ""},
		{&Schema{Format: "libsvm", Dim: 4}, "", 0, ""}, {&Schema{Format: "libsvm", Dim: 4}, "auto", 0, ""}, {&Schema{Format: "libsvm", Dim: 4}, "0", 0, ""},
		{&Schema{Format: "libsvm", Dim: 4, Base: 1}, "auto", 1, ""}, {&Schema{Format: "npy", Dim: 4}, "auto", 1, ""}, {&Schema{Format: "npy", Dim: 4}, "0", 0, ""},
		{&Schema{Format: "libsvm", Dim: 4}, "1", 1,
			"f: base=1, but the model was trained on LIBSVM text whose indices start at 0; leave it out"},
		{&Schema{Format: "libsvm", Dim: 4, Base: 1}, "0", 0,
			"f: base=0, but the model was trained on LIBSVM text whose indices start at 1; leave it out"},
	} {
		src, err := openMemory(fmt.Appendf(nil, "3 %d:7\n", c.first+2), Options{Base: c.base, Schema: c.model, Format: "libsvm"})
		if c.failed != "" || err != nil {
			if err == nil || err.Error() != c.failed {
				t.Errorf("%+v: error %v, want %q", c, err, c.failed)
			}
			continue
		}
		rows, err := readRows(t, src, 10)
		if err != nil || len(rows) != 1 || rows[0].x[2] != 7 {
			t.Errorf("%+v: %v, %v", c, rows, err)
		}
	}
}
