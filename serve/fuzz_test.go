package serve

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"mercer/internal/engine/testenv"
)

// read is a value by the parser, as encoding/json gives it.
func (p *parser) read() (any, error) {
	switch p.next() {
	case '{':
		all := map[string]any{}
		err := p.object(func(key []byte) error {
			name := string(key)
			v, err := p.read()
			all[name] = v
			return err
		})
		return all, err
	case '[':
		all := []any{}
		err := p.array(func() error {
			v, err := p.read()
			all = append(all, v)
			return err
		})
		return all, err
	}
	return p.scalar()
}

// The parser takes what encoding/json takes, and reads the same; but for texts that are not UTF-8, deep ones, and numbers
// beyond float64, which it refuses.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a":[1,-2.5e3,0.0,1E-400,"x\u00e9\ud83d\ude00\ud800\n",true,false,null,{}]}`, ` [ ] `, `01`, `-`, `1.`, `.5`, `1e`, `"\x"`, `"a`, `nul`,
		`{"a" 1}`, `[1,]`, `{,}`, `NaN`, `-Infinity`, `"\u12"`, "\"\t\"", `1e999`, `[[[[1]]]]`, "\"\xff\"", `{"a":1,"a":2}`, `tru e`, `"\ude00\ud800\n"`, `"\ud800\u0041\udc00"`, `"` + "\u2028<>&" + `"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer testenv.Bounded(t, len(data))()
		p := parser{data: data}
		got, err := p.read()
		if err == nil {
			err = p.end()
		}
		var want any
		wrong := json.Unmarshal(data, &want)
		if err != nil {
			if wrong == nil && utf8.Valid(data) && !strings.Contains(err.Error(), "nested") {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		if wrong != nil {
			t.Fatalf("%q is taken, and is no JSON: %v", data, wrong)
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if !bytes.Equal(a, b) {
			t.Fatalf("%q is read as %s, want %s", data, a, b)
		}
	})
}

// Whatever comes in, no request is a fault of the server, answers in JSON are JSON, and numbers are finite.
func FuzzRequests(f *testing.F) {
	paths := []string{"/predict", "/v1/models/people:predict", "/invocations", "/v2/models/people/infer", "/v2/repository/index"}
	kinds := []string{"application/json", "application/x-ndjson", "text/csv", "application/octet-stream", arrowStream, arrowFile}
	for i, body := range []string{`{"size":1,"town":"Kiel","age":null}`, `{"instances":[[1,"Kiel",3]]}`, `{"dataframe_split":{"data":[[1]],"columns":["age"]}}`,
		`{"inputs":{"size":[1]}}`, `{"id":"1","inputs":[{"name":"x","shape":[1,5],"datatype":"FP32","data":[1,2,3,4,5]}],"outputs":[{"name":"scores"}]}`,
		`{"inputs":[{"name":"size","shape":[1],"datatype":"FP16","parameters":{"binary_data_size":2}},{"name":"town","shape":[1],"datatype":"BYTES","data":["Kiel"]}],"parameters":{"binary_data_output":true}}ab`} {
		for k := range kinds {
			f.Add([]byte(body), uint8(i), uint8(k), uint16(len(body)-2))
		}
	}
	f.Add([]byte("size,town\n1,Kiel\n,\"a \"\"b\"\",c\"\n"), uint8(0), uint8(2), uint16(0))
	f.Add([]byte(arrowOf(f, false)), uint8(0), uint8(4), uint16(0))
	f.Add([]byte(arrowOf(f, true)), uint8(0), uint8(5), uint16(0))
	s := handler(f, "three", Options{Rows: 50, Body: 1 << 20})
	f.Fuzz(func(t *testing.T, body []byte, path, kind uint8, head uint16) {
		defer testenv.Bounded(t, len(body))()
		r := httptest.NewRequest("POST", paths[int(path)%len(paths)], bytes.NewReader(body))
		r.Header.Set("Content-Type", kinds[int(kind)%len(kinds)])
		if head%3 == 0 {
			r.Header.Set("Inference-Header-Content-Length", string(appendNumber(nil, float64(head/3), 64)))
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Fatalf("%s %q: %d %s", r.URL, body, w.Code, w.Body)
		}
		if w.Header().Get("Content-Type") == "application/json" && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%s %q: %q", r.URL, body, w.Body)
		}
	})
}

// Texts are written so that encoding/json reads them again, and a page does not take them for its own.
func FuzzText(f *testing.F) {
	f.Add("a\"\\\n\t\x00\x7f<script>é\u2028😀")
	f.Fuzz(func(t *testing.T, text string) {
		defer testenv.Bounded(t, len(text))()
		out := appendText(nil, text)
		var back string
		if err := json.Unmarshal(out, &back); err != nil || back != strings.ToValidUTF8(text, "\ufffd") && utf8.ValidString(text) || bytes.Contains(out, []byte("<")) {
			t.Fatalf("%q is written as %q and read as %q: %v", text, out, back, err)
		}
	})
}

// Numbers are read as strconv reads them, to the bit: short ones, for which the parser has a way of its own, and long ones.
func TestNumbersAreThoseOfStrconv(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		whole, fraction := draw.Uint64N(1<<(1+draw.UintN(63))), strings.Repeat("0", draw.IntN(4))+strconv.FormatUint(draw.Uint64N(1<<(1+draw.UintN(60))), 10)
		text := strconv.FormatUint(whole, 10)
		if draw.IntN(3) > 0 {
			text += "." + fraction
		}
		if draw.IntN(2) > 0 {
			text = "-" + text
		}
		want, _ := strconv.ParseFloat(text, 64)
		p := parser{data: []byte(text)}
		if got, err := p.number(); err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s is read as %v, want %v: %v", text, got, want, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{1: "1", -0.1: "-0.1", 1e300: "1e+300", math.Inf(1): "null"} {
		if got := string(appendNumber(nil, v, 64)); got != want {
			t.Errorf("%g is written as %s", v, got)
		}
	}
	for class, want := range map[string]string{"7": "7", "-1.5": "-1.5", "07": `"07"`, "1e5": `"1e5"`, "NaN": `"NaN"`, "yes": `"yes"`, "0x10": `"0x10"`} {
		if got := string(appendClass(nil, class)); got != want {
			t.Errorf("the class %s is written as %s, want %s", class, got, want)
		}
	}
}
