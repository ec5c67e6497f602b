package serve

import (
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

// hills is a regression by the default learner, which has intervals of any level.
var hills = sync.OnceValue(func() *model.Model {
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range 700 {
		x, y := float64(i%37)/7, float64(i%23)/5
		fmt.Fprintf(&b, "%g,%g,%g\n", x, y, 10*math.Sin(x)+y+float64(i%11)*x/20)
	}
	src, err := dataset.OpenBytes(context.Background(), "y.csv", []byte(b.String()), dataset.Options{})
	if err != nil {
		panic(err)
	}
	defer src.Close()
	m, _, err := train.Fit(context.Background(), src, train.Config{Learner: train.RFM{}, Seed: 1}, train.Options{})
	if err != nil {
		panic(err)
	}
	return m
})

// hill asks for the rows (1, 2) and (4.5, 0.5), and ends are what the model says of them: prediction, lower and upper.
const hill = `[[1,2],[4.5,0.5]]`

func ends(t *testing.T, m *model.Model, level float64) [][3]float64 {
	t.Helper()
	x := matrix.NewDense(2, 2)
	copy(x.Data, []float32{1, 2, 4.5, 0.5})
	lower, upper, scores := matrix.NewDense(2, 1), matrix.NewDense(2, 1), matrix.NewDense(2, 1)
	if err := m.Intervals(level, lower, upper, scores, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	all := make([][3]float64, 2)
	for i := range all {
		all[i] = [3]float64{m.Value(0, scores.Row(i)[0]), m.Value(0, lower.Row(i)[0]), m.Value(0, upper.Row(i)[0])}
	}
	return all
}

// object3 are objects with a prediction and an interval.
type object3 struct{ Prediction, Lower, Upper float64 }

func sameEnds(t *testing.T, what string, got []object3, want [][3]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		g := [3]float64{got[i].Prediction, got[i].Lower, got[i].Upper}
		for k := range w {
			if float32(g[k]) != float32(w[k]) {
				t.Errorf("%s: row %d is %v, want %v", what, i, g, w)
				break
			}
		}
	}
}

// The default learner's intervals come at any level by every protocol that asks for them, as the model gives them, and by none that does
// not ask.
func TestIntervalsOnRequest(t *testing.T) {
	m := hills()
	models, err := In("hills", m)
	if err != nil {
		t.Fatal(err)
	}
	s := Handler(models, Options{})
	for query, level := range map[string]float64{"?interval=0.9": 0.9, "?interval=0.5&scores=1": 0.5, "?interval": 0.9, "?interval=1": 0.9} {
		code, body, _ := ask(t, s, "POST", "/predict"+query, "", hill)
		var got []object3
		if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 {
			t.Fatalf("%s: %d %s", query, code, body)
		}
		sameEnds(t, query, got, ends(t, m, level))
		_, body, _ = ask(t, s, "POST", "/predict"+query, "text/csv", "b,a\n2,1\n0.5,4.5\n")
		lines, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if err != nil || len(lines) != 3 {
			t.Fatalf("%s: %s", query, body)
		}
		got = make([]object3, 2)
		for i, line := range lines[1:] {
			n := len(line)
			got[i] = object3{atof(t, line[0]), atof(t, line[n-2]), atof(t, line[n-1])}
		}
		sameEnds(t, query+" as CSV", got, ends(t, m, level))
	}
	for path, body := range map[string]string{
		"/v1/models/hills:predict": `{"instances":` + hill + `,"parameters":{"interval":0.8,"other":{}}}`,
		"/invocations":             `{"params":{"interval":"0.8"},"inputs":` + hill + `}`,
	} {
		code, text, _ := ask(t, s, "POST", path, "application/json", body)
		var got struct{ Predictions []object3 }
		if err := json.Unmarshal([]byte(text), &got); err != nil || code != 200 {
			t.Fatalf("%s: %d %s", path, code, text)
		}
		sameEnds(t, path, got.Predictions, ends(t, m, 0.8))
	}
	tensors := `{"inputs":[{"name":"x","shape":[2,2],"datatype":"FP32","data":[1,2,4.5,0.5]}],`
	for more, level := range map[string]float64{
		`"parameters":{"interval":0.75}}`: 0.75, `"parameters":{"interval":0.75,"binary_data_output":true}}`: 0.75,
		`"outputs":[{"name":"prediction"},{"name":"lower"},{"name":"upper"}]}`: 0.9,
	} {
		code, body, header := ask(t, s, "POST", "/v2/models/hills/infer", "", tensors+more)
		if code != 200 {
			t.Fatal(body)
		}
		_, got := v2(t, body, header)
		var rows []object3
		for i := range 2 {
			at := func(name string) float64 { return got[name].([]any)[i].(float64) }
			rows = append(rows, object3{at("prediction"), at("lower"), at("upper")})
		}
		sameEnds(t, more, rows, ends(t, m, level))
	}
	for path, body := range map[string]string{"/predict": hill, "/v1/models/hills:predict": `{"instances":` + hill + `}`, "/v2/models/hills/infer": tensors + `"id":"1"}`,
		"/predict?interval=0": hill} {
		if code, text, _ := ask(t, s, "POST", path, "", body); code != 200 || strings.Contains(text, "lower") {
			t.Errorf("%s without intervals: %d %s", path, code, text)
		}
	}
	if _, body, _ := ask(t, s, "GET", "/v2/models/hills", "", ""); !strings.Contains(body, `{"name":"lower","datatype":"FP32","shape":[-1,1]},{"name":"upper"`) {
		t.Errorf("the metadata have no intervals: %s", body)
	}
}

// The gRPC parameter may have any type of number, or be a text.
func TestIntervalsOverGRPC(t *testing.T) {
	m := hills()
	models, err := In("hills", m)
	if err != nil {
		t.Fatal(err)
	}
	client := dialled(t, Handler(models, Options{}))
	half := protowire.AppendFixed64(protowire.AppendTag(nil, 4, protowire.Fixed64Type), math.Float64bits(0.5))
	for level, value := range map[float64][]byte{0.5: half, 0.8: appendString(nil, 3, "0.8"), 0.9: protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 1)} {
		q := appendString(nil, 1, "hills")
		q = appendBytes(q, 4, appendBytes(appendString(nil, 1, "interval"), 2, value))
		q = appendBytes(q, 5, appendTensor(nil, "x", "FP32", []int64{2, 2}))
		q = appendBytes(q, 7, little([]float32{1, 2, 4.5, 0.5}))
		out, err := invoke(t.Context(), client, "ModelInfer", q)
		if err != nil {
			t.Fatal(err)
		}
		var raw [][]byte
		_ = fields(out, func(n protowire.Number, _ protowire.Type, _ uint64, data []byte) error {
			if n == 6 {
				raw = append(raw, data)
			}
			return nil
		})
		if len(raw) != 3 {
			t.Fatalf("%d outputs", len(raw))
		}
		var rows []object3
		for i := range 2 {
			at := func(k int) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[k][4*i:]))) }
			rows = append(rows, object3{at(0), at(1), at(2)})
		}
		sameEnds(t, fmt.Sprint(level), rows, ends(t, m, level))
	}
}

// What no model can tell is an error of the request, by every protocol.
func TestIntervalsThatAreNot(t *testing.T) {
	models, err := In("people", hills())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s          *Server
		path, body string
		want       string
	}{
		{Handler(models, Options{}), "/predict?interval=2", hill, `interval: \"2\" is no probability between 0 and 1, such as 0.9`},
		{Handler(models, Options{}), "/predict?interval=wide", hill, `\"wide\" is no probability`},
		{Handler(models, Options{}), "/predict?interval=0.9999", hill, "take at least 9999 rows to calibrate"},
		{Handler(models, Options{}), "/invocations", `{"params":{"interval":[]},"inputs":` + hill + `}`, "expected a number"},
		{handler(t, "two", Options{}), "/predict?interval=0.9", "{}", "intervals are of predicted numbers; this model predicts classes"},
		{handler(t, "regress", Options{}), "/v1/models/people:predict", `{"parameters":{"interval":0.9},"instances":[{}]}`, "the model has no intervals"},
		{handler(t, "two", Options{}), "/v2/models/people/infer", `{"inputs":[{"name":"size","shape":[1],"datatype":"FP64","data":[1]}],"parameters":{"interval":0.9}}`, "this model predicts classes"},
		{handler(t, "two", Options{}), "/v2/models/people/infer", `{"inputs":[{"name":"size","shape":[1],"datatype":"FP64","data":[1]}],"outputs":[{"name":"lower"}]}`, `no output \"lower\"`},
	} {
		if code, body, _ := ask(t, c.s, "POST", c.path, "application/json", c.body); code != 400 || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s, want %s", c.path, c.body, code, body, c.want)
		}
	}
	models, err = In("people", unsure())
	if err != nil {
		t.Fatal(err)
	}
	s := Handler(models, Options{})
	if code, body, _ := ask(t, s, "POST", "/predict?interval=0.9", "", `[[1,"Kiel"]]`); code != 400 || !strings.Contains(body, "the model has intervals of level 0.8, not 0.9") {
		t.Errorf("%d %s", code, body)
	}
	if code, body, _ := ask(t, s, "POST", "/predict?interval=0.8", "", `[[1,"Kiel"]]`); code != 200 || strings.Count(body, "lower") != 1 {
		t.Errorf("%d %s", code, body)
	}
}
