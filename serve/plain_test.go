package serve

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/read/arrow"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

// unsure is a regression with deviations, and intervals of their width.
var unsure = sync.OnceValue(func() *model.Model {
	var b strings.Builder
	b.WriteString("a,town,y\n")
	for i := range 400 {
		fmt.Fprintf(&b, "%g,%s,%g\n", float64(i%37)/7, []string{"Bonn", "Kiel"}[i%2], 1e3+math.Sin(float64(i%37))+float64(i%2)+float64(i%11)/20)
	}
	src, err := dataset.OpenBytes(context.Background(), "y.csv", []byte(b.String()), dataset.Options{})
	if err != nil {
		panic(err)
	}
	defer src.Close()
	m, _, err := train.Fit(context.Background(), src, train.Config{Learner: train.Ridge{Variance: true, Conformal: 0.8},
		Map: train.Map{Features: 32}, Seed: 1}, train.Options{})
	if err != nil {
		panic(err)
	}
	return m
})

// arrowOf are records as an Arrow stream or file: a number, a text that may be missing, and a whole number.
func arrowOf(t testing.TB, file bool) string {
	t.Helper()
	var b bytes.Buffer
	w, err := arrow.NewWriter(&b, file, []arrow.Field{{Name: "age", Kind: arrow.Int}, {Name: "none", Kind: arrow.Bytes}, {Name: "town", Kind: arrow.Bytes}, {Name: "size", Kind: arrow.Float}})
	for _, r := range records {
		if age, there := r["age"].(float64); there && err == nil {
			err = w.Int(int64(age))
		} else if err == nil {
			err = w.Missing()
		}
		for _, text := range []string{"x", r["town"].(string)} {
			if err == nil {
				err = w.Text(text)
			}
		}
		if err == nil {
			err = w.Float(float32(r["size"].(float64)))
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Rows that come as an Arrow stream or file get the answer of the same rows in CSV, column by column.
func TestArrow(t *testing.T) {
	table := "size,town,age\n1.25,Kiel,33\n5,\"a \"\"b\"\",c\",\n4,elsewhere,61\n0.5,Bonn,25\n"
	for kind := range peopleOnce() {
		s := handler(t, kind, Options{})
		for _, path := range []string{"/predict", "/predict?scores=1&explain=1"} {
			code, text, _ := ask(t, s, "POST", path, "text/csv", table)
			lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			if err != nil || code != 200 || len(lines) != 5 {
				t.Fatalf("%s: %d %s, %v", kind, code, text, err)
			}
			for _, file := range []bool{false, true} {
				media := arrowStream
				if file {
					media = arrowFile
				}
				code, body, header := ask(t, s, "POST", path, media, arrowOf(t, file))
				if code != 200 || header.Get("Content-Type") != media {
					t.Fatalf("%s: %d %s", kind, code, body)
				}
				at := 1
				err := dataset.ArrowRecords([]byte(body), 1<<20, func(names []string, values []any) error {
					if strings.Join(names, ",") != strings.Join(lines[0], ",") {
						t.Fatalf("columns %q, want %q", names, lines[0])
					}
					for k, v := range values {
						var want any = lines[at][k]
						if number, ok := v.(float64); ok {
							v, want = float32(number), float32(atof(t, lines[at][k]))
						}
						if v != want {
							t.Errorf("%s: row %d, %s: %v, want %v", kind, at, names[k], v, want)
						}
					}
					at++
					return nil
				})
				if err != nil || at != 5 {
					t.Errorf("%s: %d rows, %v", kind, at-1, err)
				}
			}
		}
	}
}

func atof(t testing.TB, text string) (v float64) {
	t.Helper()
	if _, err := fmt.Sscan(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Damaged Arrow data are a fault of the request, and what they unpack to is bounded.
func TestArrowOfStrangers(t *testing.T) {
	s := handler(t, "two", Options{})
	whole := arrowOf(t, false)
	for want, body := range map[string]string{
		"damaged after row 0": whole[:len(whole)/2], "cannot be read: they are cut short": "", "names no column": strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(whole, "size", "sizf"), "age", "agf"), "town", "towo"),
	} {
		if code, text, _ := ask(t, s, "POST", "/predict", arrowStream, body); code != 400 || !strings.Contains(text, want) {
			t.Errorf("%d %s, want %s", code, text, want)
		}
	}
	rows := 0
	err := dataset.ArrowRecords([]byte(whole), 8, func([]string, []any) error { rows++; return nil })
	if err == nil || rows != 0 {
		t.Errorf("%d rows of more bytes than are allowed: %v", rows, err)
	}
}

// Contributions are those of package eval, with rows of the file as background, or a few made-up ones; with the base they
// are the score.
func TestContributions(t *testing.T) {
	var table strings.Builder
	table.WriteString("town,age,size\n")
	for i := range 150 {
		fmt.Fprintf(&table, "%s,%d,%g\n", []string{"Bonn", "Kiel"}[i%2], 20+i%50, float64(i%17)/3)
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(table.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for kind, m := range peopleOnce() {
		for _, file := range []string{"", path} {
			s := handler(t, kind, Options{Backgrounds: map[string]string{"": file}})
			back, err := drawBackground(t.Context(), m, file)
			if err != nil {
				t.Fatal(err)
			}
			e := dataset.NewEncoder(&m.Info().Schema)
			x := matrix.NewDense(len(records), m.Dim())
			for i, r := range records {
				if err := e.Map(x.Row(i), r); err != nil {
					t.Fatal(err)
				}
			}
			list, _ := json.Marshal(records)
			code, body, _ := ask(t, s, "POST", "/predict?explain=1&scores=1", "", string(list))
			var got []struct {
				Prediction    any
				Scores        []float64
				Contributions struct {
					Of          any
					Base, Score float64
					Values      map[string]float64
				}
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 || len(got) != len(records) {
				t.Fatalf("%d %s, %v", code, body, err)
			}
			i := 0
			for c, err := range eval.Contributions(t.Context(), m, matrix.Rows{Dense: x}, back, eval.ContributionOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				g, of := got[i].Contributions, 0
				if kind == "three" {
					of = outputNamed(m, got[i].Prediction.(string))
				}
				sum := g.Base
				for k, col := range eval.Columns(m) {
					if sum += g.Values[col.Name]; g.Values[col.Name] != c.Values[of][k] {
						t.Errorf("%s: row %d, %s: %g, want %g", kind, i, col.Name, g.Values[col.Name], c.Values[of][k])
					}
				}
				if math.Abs(sum-g.Score) > 1e-5*(1+math.Abs(sum)) || g.Base != c.Base[of] || g.Score != got[i].Scores[of] {
					t.Errorf("%s: row %d: the sum is %g, the score %g of %v", kind, i, sum, g.Score, got[i].Scores)
				}
				i++
			}
		}
	}
	s := handler(t, "three", Options{})
	if code, body, _ := ask(t, s, "POST", "/predict?explain=1&class=perhaps", "", `{"size":1}`); code != 200 || !strings.Contains(body, `"of":"perhaps"`) {
		t.Errorf("%d %s", code, body)
	}
	if code, body, _ := ask(t, s, "POST", "/predict?explain=1&class=never", "", `{"size":1}`); code != 400 || !strings.Contains(body, "no, perhaps, yes") {
		t.Errorf("%d %s", code, body)
	}
	many := "[" + strings.Repeat(`{"size":1},`, mostExplained) + `{"size":1}]`
	if code, body, _ := ask(t, s, "POST", "/predict?explain=1", "", many); code != 413 {
		t.Errorf("%d %s", code, body)
	}
	s = handler(t, "two", Options{Backgrounds: map[string]string{"people": filepath.Join(t.TempDir(), "none.csv")}})
	if code, body, _ := ask(t, s, "POST", "/predict?explain=1", "", `{"size":1}`); code != 500 || !strings.Contains(body, "none.csv") {
		t.Errorf("%d %s", code, body)
	}
}

// Predictions of a model that says how sure it is come with deviations and intervals, those of the model.
func TestSpreads(t *testing.T) {
	m := unsure()
	models, err := In("people", m)
	if err != nil {
		t.Fatal(err)
	}
	s := Handler(models, Options{})
	x := matrix.NewDense(2, m.Dim())
	e := dataset.NewEncoder(&m.Info().Schema)
	for i, a := range []float64{1, 4.5} {
		if err := e.Values(x.Row(i), a, "Kiel"); err != nil {
			t.Fatal(err)
		}
	}
	lower, upper, scores, deviations := matrix.NewDense(2, 1), matrix.NewDense(2, 1), matrix.NewDense(2, 1), matrix.NewDense(2, 1)
	if err := m.Intervals(0, lower, upper, scores, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	if err := m.Deviations(deviations, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	want := make([]string, 2)
	for i := range want {
		number := func(v float64, bits int) string { return string(appendNumber(nil, v, bits)) }
		want[i] = number(m.Value(0, scores.Row(i)[0]), m.ValueBits()) + "," + number(float64(deviations.Row(i)[0]), 32) + "," +
			number(m.Value(0, lower.Row(i)[0]), m.ValueBits()) + "," + number(m.Value(0, upper.Row(i)[0]), m.ValueBits())
	}
	_, body, _ := ask(t, s, "POST", "/predict", "text/csv", "a,town\n1,Kiel\n4.5,Kiel\n")
	if body != "prediction,deviation,lower,upper\n"+want[0]+"\n"+want[1]+"\n" {
		t.Errorf("%s, want %q", body, want)
	}
	_, body, _ = ask(t, s, "POST", "/predict", "", `[[1,"Kiel"],{"a":4.5,"town":"Kiel"}]`)
	var objects []string
	for _, w := range want {
		v := strings.Split(w, ",")
		objects = append(objects, fmt.Sprintf(`{"prediction":%s,"deviation":%s,"lower":%s,"upper":%s}`, v[0], v[1], v[2], v[3]))
	}
	if body != "["+strings.Join(objects, ",")+"]\n" {
		t.Errorf("%s, want %s", body, objects)
	}
	for _, binary := range []string{"false", "true"} {
		code, body, header := ask(t, s, "POST", "/v2/models/people/infer", "", `{"inputs":[{"name":"a","shape":[2],"datatype":"FP64","data":[1,4.5]},
			{"name":"town","shape":[2],"datatype":"BYTES","data":["Kiel","Kiel"]}],"outputs":[{"name":"prediction"},{"name":"deviation"},{"name":"lower"},{"name":"upper"}],
			"parameters":{"binary_data_output":`+binary+`}}`)
		if code != 200 {
			t.Fatal(body)
		}
		_, tensors := v2(t, body, header)
		for k, name := range []string{"prediction", "deviation", "lower", "upper"} {
			for i, w := range want {
				if got := tensors[name].([]any)[i].(float64); float32(got) != float32(atof(t, strings.Split(w, ",")[k])) {
					t.Errorf("%s of row %d: %g, want %s", name, i, got, w)
				}
			}
		}
	}
	if _, body, _ := ask(t, s, "POST", "/v2/models/people/infer", "", `{"inputs":[{"name":"x","shape":[1,2],"datatype":"BYTES","data":["1","Kiel"]}],"outputs":[{"name":"x"}]}`); !strings.Contains(body, "prediction, scores, deviation, lower, upper") {
		t.Error(body)
	}
}
