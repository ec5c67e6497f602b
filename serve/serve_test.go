package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

// people makes records with a number that may be missing, a town, and a label.
func people(t testing.TB, kind string) *model.Model {
	t.Helper()
	var b strings.Builder
	b.WriteString("size,town,age,label\n")
	for i := range 300 {
		size, town, age := float64(i%17)/3, []string{"Bonn", "Kiel", `a "b",c`}[i%3], strconv.Itoa(20+i%50)
		if i%29 == 0 {
			age = ""
		}
		label := "no"
		value := size + float64(i%3)
		if value > 3.5 {
			label = "yes"
		}
		if kind == "regress" {
			label = fmt.Sprint(value)
		} else if kind == "three" && i%5 == 0 {
			label = "perhaps"
		}
		town = `"` + strings.ReplaceAll(town, `"`, `""`) + `"`
		fmt.Fprintf(&b, "%g,%s,%s,%s\n", size, town, age, label)
	}
	src, err := dataset.OpenBytes(context.Background(), "people.csv", []byte(b.String()), dataset.Options{Missing: "mean"})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	cfg := train.Config{Learner: train.Logistic{}, Map: train.Map{Features: 64}, Seed: 1}
	if kind == "regress" {
		cfg = train.Config{Learner: train.Ridge{Lambda: 1e-3}, Map: train.Map{Features: 64}, Seed: 1}
	}
	m, _, err := train.Fit(context.Background(), src, cfg, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var peopleOnce = sync.OnceValue(func() map[string]*model.Model {
	all := map[string]*model.Model{}
	for _, kind := range []string{"two", "three", "regress"} {
		all[kind] = people(&testing.T{}, kind)
	}
	return all
})

func handler(t testing.TB, kind string, opt Options) *Server {
	t.Helper()
	models, err := In("people", peopleOnce()[kind])
	if err != nil {
		t.Fatal(err)
	}
	return Handler(models, opt)
}

// ask sends a request and returns the answer.
func ask(t testing.TB, s http.Handler, method, path, kind, body string, headers ...string) (int, string, http.Header) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String(), w.Header()
}

// records are what is asked in all protocols.
var records = []map[string]any{
	{"size": 1.25, "town": "Kiel", "age": 33.0},
	{"size": 5.0, "town": `a "b",c`, "age": nil},
	{"size": 4.0, "town": "elsewhere", "age": 61.0},
	{"size": 0.5, "town": "Bonn", "age": 25.0},
}

// wanted are the predictions of the records by the model itself, one at a time.
func wanted(t testing.TB, m *model.Model) (labels []any, probabilities [][]float64, scores [][]float32) {
	t.Helper()
	e := dataset.NewEncoder(&m.Info().Schema)
	for _, r := range records {
		row := make([]float32, m.Dim())
		if err := e.Map(row, r); err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(row)
		if err != nil {
			t.Fatal(err)
		}
		if p[0].Values != nil {
			labels = append(labels, float64(p[0].Values[0]))
		} else {
			labels = append(labels, p[0].Label)
		}
		probabilities, scores = append(probabilities, p[0].Probabilities), append(scores, p[0].Scores)
	}
	return labels, probabilities, scores
}

// same says whether two predictions are: texts to the byte, numbers as float32.
func same(a, b any) bool {
	x, isX := a.(float64)
	y, isY := b.(float64)
	return isX && isY && float32(x) == float32(y) || a == b
}

// Every protocol and every form of rows gives the predictions of the model.
func TestProtocols(t *testing.T) {
	for kind, m := range peopleOnce() {
		s := handler(t, kind, Options{})
		labels, proba, _ := wanted(t, m)
		list, _ := json.Marshal(records)
		var rows, columns, lines, table, split []string
		names := []string{"size", "town", "age"}
		for _, name := range names {
			var all []any
			for _, r := range records {
				all = append(all, r[name])
			}
			text, _ := json.Marshal(all)
			columns = append(columns, fmt.Sprintf("%q:%s", name, text))
		}
		for _, r := range records {
			row, _ := json.Marshal([]any{r["size"], r["town"], r["age"]})
			rows = append(rows, string(row))
			other, _ := json.Marshal([]any{r["age"], "ignored", r["size"], r["town"]})
			split = append(split, string(other))
			line, _ := json.Marshal(r)
			lines = append(lines, string(line))
			age := ""
			if r["age"] != nil {
				age = fmt.Sprint(r["age"])
			}
			table = append(table, fmt.Sprintf(`%s,"%s",%v,x`, age, strings.ReplaceAll(r["town"].(string), `"`, `""`), r["size"]))
		}
		all := "[" + strings.Join(rows, ",") + "]"
		other := "[" + strings.Join(split, ",") + "]"
		csv := "age,town,size,more\r\n" + strings.Join(table, "\r\n") + "\r\n"
		for _, c := range []struct{ path, kind, body string }{
			{"/v1/models/people:predict", "application/json", `{"instances":` + string(list) + `}`},
			{"/v1/models/people:predict", "", `{"signature_name":"x","instances":` + all + `}`},
			{"/invocations", "application/json", `{"instances":` + all + `,"params":{"a":[1]}}`},
			{"/invocations", "application/json", `{"inputs":` + all + `}`},
			{"/invocations", "application/json; charset=utf-8", `{"inputs":{` + strings.Join(columns, ",") + `}}`},
			{"/invocations", "application/json", `{"dataframe_records":` + string(list) + `}`},
			{"/invocations", "application/json", `{"dataframe_split":{"columns":["age","nothing","size","town"],"data":` + other + `}}`},
			{"/invocations", "application/json", `{"dataframe_split":{"data":` + other + `,"index":[0,1,2,3],"columns":["age","nothing","size","town"]}}`},
			{"/invocations", "text/csv", csv},
		} {
			code, body, _ := ask(t, s, "POST", c.path, c.kind, c.body)
			var got struct{ Predictions []any }
			if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 || !slices.EqualFunc(got.Predictions, labels, same) {
				t.Errorf("%s: %s %s: %d %s, want %v", kind, c.path, c.body, code, body, labels)
			}
		}
		type answer struct {
			Prediction    any
			Probabilities map[string]float64
			Scores        []float32
		}
		check := func(what string, code int, got []answer) {
			t.Helper()
			if len(got) != len(labels) || code != 200 {
				t.Fatalf("%s: %s: %d, %v", kind, what, code, got)
			}
			for i, a := range got {
				if !same(a.Prediction, labels[i]) || len(a.Probabilities) != len(proba[i]) || len(a.Scores) != m.Outputs() {
					t.Errorf("%s: %s: row %d: %v, want %v", kind, what, i, a, labels[i])
				}
				for k, p := range proba[i] {
					if a.Probabilities[m.Classes()[k]] != p {
						t.Errorf("%s: %s: row %d: probabilities %v, want %v", kind, what, i, a.Probabilities, proba[i])
					}
				}
			}
		}
		code, body, _ := ask(t, s, "POST", "/predict?scores=1", "application/json", string(list))
		var got []answer
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(body, err)
		}
		check("array", code, got)
		got = nil
		for _, line := range lines {
			code, body, _ = ask(t, s, "POST", "/models/people/predict?scores", "", line)
			var one answer
			if err := json.Unmarshal([]byte(body), &one); err != nil {
				t.Fatal(body, err)
			}
			got = append(got, one)
		}
		check("single", code, got)
		code, body, _ = ask(t, s, "POST", "/models/people/versions/1/predict?scores=1", "application/x-ndjson", strings.Join(lines, "\n"))
		got = nil
		for line := range strings.Lines(body) {
			var one answer
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatal(body, err)
			}
			got = append(got, one)
		}
		check("lines", code, got)
		code, body, _ = ask(t, s, "POST", "/predict", "text/csv", csv)
		for i, line := range strings.Split(strings.TrimSpace(body), "\n") {
			fields := strings.Split(line, ",")
			if i == 0 && fields[0] != "prediction" || i > 0 && fields[0] != fmt.Sprint(labels[i-1]) && kind != "regress" || code != 200 {
				t.Errorf("%s: CSV: %d %s", kind, code, body)
			}
			if i > 0 && proba[i-1] != nil && fields[1] != strconv.FormatFloat(proba[i-1][0], 'g', -1, 64) {
				t.Errorf("%s: CSV: %s, want %v", kind, line, proba[i-1])
			}
		}
	}
}

// little appends numbers as their bytes.
func little(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

// v2 is an answer of the Open Inference Protocol, with its binary tensors.
func v2(t testing.TB, body string, header http.Header) (id string, tensors map[string]any) {
	t.Helper()
	var a struct {
		ID        string
		ModelName string `json:"model_name"`
		Outputs   []struct {
			Name, Datatype string
			Shape          []int
			Data           []any
			Parameters     map[string]int
		}
	}
	head, tail := body, ""
	if n, err := strconv.Atoi(header.Get("Inference-Header-Content-Length")); err == nil {
		head, tail = body[:n], body[n:]
	}
	if err := json.Unmarshal([]byte(head), &a); err != nil {
		t.Fatal(body, err)
	}
	tensors = map[string]any{}
	for _, o := range a.Outputs {
		n := 1
		for _, s := range o.Shape {
			n *= s
		}
		size, isBinary := o.Parameters["binary_data_size"]
		if !isBinary {
			if len(o.Data) != n {
				t.Fatalf("%s of shape %v has %d elements", o.Name, o.Shape, len(o.Data))
			}
			tensors[o.Name] = o.Data
			continue
		}
		data := []byte(tail[:size])
		tail = tail[size:]
		var all []any
		for len(data) > 0 {
			switch o.Datatype {
			case "BYTES":
				length := binary.LittleEndian.Uint32(data)
				all = append(all, string(data[4:4+length]))
				data = data[4+length:]
			case "FP32":
				all = append(all, float64(math.Float32frombits(binary.LittleEndian.Uint32(data))))
				data = data[4:]
			case "FP64":
				all = append(all, math.Float64frombits(binary.LittleEndian.Uint64(data)))
				data = data[8:]
			default:
				t.Fatalf("datatype %s", o.Datatype)
			}
		}
		if len(all) != n {
			t.Fatalf("%s of shape %v has %d elements", o.Name, o.Shape, len(all))
		}
		tensors[o.Name] = all
	}
	if tail != "" {
		t.Fatalf("%d bytes are left", len(tail))
	}
	return a.ID, tensors
}

// The Open Inference Protocol takes columns and rows, as JSON and in binary, in every type, and answers in both forms.
func TestOpenInference(t *testing.T) {
	for kind, m := range peopleOnce() {
		s := handler(t, kind, Options{})
		labels, proba, scores := wanted(t, m)
		sizes, ages, towns := make([]float64, 4), make([]float64, 4), ""
		var texts []byte
		for i, r := range records {
			sizes[i], ages[i] = r["size"].(float64), math.NaN()
			if r["age"] != nil {
				ages[i] = r["age"].(float64)
			}
			text, _ := json.Marshal(r["town"])
			towns += "," + string(text)
			texts = append(append(texts, little(uint32(len(r["town"].(string))))...), r["town"].(string)...)
		}
		columns := `{"id":"é 1","inputs":[{"name":"size","shape":[4],"datatype":"FP64","data":[1.25,5,4,0.5]},
			{"data":[` + towns[1:] + `],"name":"town","shape":[4,1],"datatype":"BYTES"},
			{"name":"age","shape":[4,1],"datatype":"INT32","data":[[33],[null],[61],[25]]}]`
		head := fmt.Sprintf(`{"id":"é 1","inputs":[{"name":"size","shape":[4],"datatype":"FP32","parameters":{"binary_data_size":16}},
			{"name":"town","shape":[4],"datatype":"BYTES","parameters":{"binary_data_size":%d}},
			{"name":"age","shape":[4,1],"datatype":"FP64","parameters":{"binary_data_size":32}}]`, len(texts))
		small := []float32{1.25, 5, 4, 0.5}
		bytes := string(little(small)) + string(texts) + string(little(ages))
		e := dataset.NewEncoder(&m.Info().Schema)
		var encoded []float32
		for _, r := range records {
			row := make([]float32, m.Dim())
			if err := e.Map(row, r); err != nil {
				t.Fatal(err)
			}
			encoded = append(encoded, row...)
		}
		whole := fmt.Sprintf(`{"id":"é 1","inputs":[{"name":"anything","shape":[4,%d],"datatype":"FP32","parameters":{"binary_data_size":%d}}]`, m.Dim(), 4*len(encoded))
		for _, c := range []struct{ head, tail string }{{columns, ""}, {head, bytes}, {whole, string(little(encoded))}} {
			for _, form := range []string{
				`}`, `,"parameters":{"binary_data_output":true}}`,
				`,"outputs":[{"name":"scores"},{"name":"prediction","parameters":{"binary_data":true}}]}`,
				`,"parameters":{"binary_data_output":true},"outputs":[{"name":"scores"},{"name":"prediction","parameters":{"binary_data":false}}]}`,
			} {
				q := c.head + form
				var headers []string
				if c.tail != "" {
					headers = []string{"Inference-Header-Content-Length", strconv.Itoa(len(q))}
				}
				code, body, header := ask(t, s, "POST", "/v2/models/people/infer", "application/octet-stream", q+c.tail, headers...)
				if code != 200 {
					t.Fatalf("%s: %s: %d %s", kind, q, code, body)
				}
				id, got := v2(t, body, header)
				if id != "é 1" || !slices.EqualFunc(got["prediction"].([]any), labels, same) {
					t.Errorf("%s: %s: %s, want %v", kind, q, body, labels)
				}
				if p, ok := got["probabilities"]; ok != (proba[0] != nil && !strings.Contains(form, "outputs")) {
					t.Errorf("%s: probabilities %v", kind, p)
				} else if ok {
					for i, v := range p.([]any) {
						if k := len(proba[0]); v != proba[i/k][i%k] {
							t.Errorf("%s: probability %d is %v, want %g", kind, i, v, proba[i/k][i%k])
						}
					}
				}
				if all, ok := got["scores"]; ok {
					for i, v := range all.([]any) {
						if k := len(scores[0]); float32(v.(float64)) != scores[i/k][i%k] {
							t.Errorf("%s: score %d is %v, want %g", kind, i, v, scores[i/k][i%k])
						}
					}
				}
			}
		}
		if sizes[0] != 1.25 {
			t.Fatal("the records have changed")
		}
	}
}

// Numbers of every type are read as they are.
func TestTensorsOfEveryType(t *testing.T) {
	for datatype, c := range map[string]struct {
		data []byte
		want []float64
	}{
		"BOOL":   {[]byte{1, 0}, []float64{1, 0}},
		"UINT8":  {[]byte{200, 3}, []float64{200, 3}},
		"INT8":   {[]byte{200, 3}, []float64{-56, 3}},
		"UINT16": {little([]uint16{60000, 3}), []float64{60000, 3}},
		"INT16":  {little([]int16{-300, 3}), []float64{-300, 3}},
		"UINT32": {little([]uint32{4e9, 3}), []float64{4e9, 3}},
		"INT32":  {little([]int32{-2e9, 3}), []float64{-2e9, 3}},
		"UINT64": {little([]uint64{1 << 60, 3}), []float64{1 << 60, 3}},
		"INT64":  {little([]int64{-1 << 60, 3}), []float64{-1 << 60, 3}},
		"FP32":   {little([]float32{1.5, -2}), []float64{1.5, -2}},
		"FP64":   {little([]float64{1e200, -2}), []float64{1e200, -2}},
		"FP16":   {little([]uint16{0x3c00, 0xc100}), []float64{1, -2.5}},
		"BF16":   {little([]uint16{0x3f80, 0xc020}), []float64{1, -2.5}},
	} {
		x := tensor{name: "x", datatype: datatype, shape: []int64{2}}
		if err := x.decode(c.data); err != nil {
			t.Fatal(datatype, err)
		}
		for i, want := range c.want {
			if got := x.number(i); got != want {
				t.Errorf("%s: %g, want %g", datatype, got, want)
			}
		}
		if err := (&tensor{name: "x", datatype: datatype, shape: []int64{3}}).decode(c.data); err == nil {
			t.Errorf("%s: two elements for three", datatype)
		}
	}
	for bits, want := range map[uint16]float64{0: 0, 0x8000: 0, 1: 0x1p-24, 0x03ff: 1023 * 0x1p-24, 0x0400: 0x1p-14, 0x7bff: 65504, 0xfc00: math.Inf(-1)} {
		if got := half(bits); got != want {
			t.Errorf("half %#x is %g, want %g", bits, got, want)
		}
	}
}

// A row has the same bits whatever it was computed with, for every kind of learner.
func TestBatchesDoNotChangeBits(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		for j := range 9 {
			fmt.Fprintf(&b, "%.3f,", math.Sin(float64(i*(j+3))))
		}
		fmt.Fprintf(&b, "%d\n", i%3)
	}
	for _, cfg := range []train.Config{
		{Learner: train.Ridge{Lambda: 1e-3}, Map: train.Map{Features: 512, Name: "sorf"}}, {Learner: train.SVM{},
			Map: train.Map{Features: 200, Name: "rff"}},
		{Learner: train.Logistic{}, Map: train.Map{Features: 128, Name: "nystrom"}}, {Learner: train.KernelRidge{}}, {Learner: train.RFM{Leaf: 150}, Map: train.Map{Features: 60}}, {Learner: train.Falkon{}, Map: train.Map{Features: 100}},
	} {
		src, err := dataset.OpenBytes(context.Background(), "x.csv", []byte(b.String()), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := train.Fit(context.Background(), src, cfg, train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := newGatherer(m.Scores, 1, 1000, nil)
		x := matrix.NewDense(200, 9)
		for i := range x.Data {
			x.Data[i] = float32(math.Cos(float64(3 * i)))
		}
		want := matrix.NewDense(200, m.Outputs())
		for i := range x.Rows {
			if err := m.Scores(want.Slice(i, i+1), matrix.Rows{Dense: x.Slice(i, i+1)}); err != nil {
				t.Fatal(err)
			}
		}
		got := matrix.NewDense(200, m.Outputs())
		var all sync.WaitGroup
		for i := 0; i < x.Rows; {
			at, n := i, min(1+i%4, x.Rows-i)
			all.Go(func() {
				if err := g.run(context.Background(), got.Slice(at, at+n), x.Slice(at, at+n)); err != nil {
					t.Error(err)
				}
			})
			i += n
		}
		all.Wait()
		if !slices.Equal(got.Data, want.Data) {
			t.Errorf("%+v: batches change bits", cfg.LearnerName())
		}
	}
}
