package serve

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"mercer/model"
)

// Requests that are wrong get a status and a sentence that says where; none is a fault of the server.
func TestWrongRequests(t *testing.T) {
	s := handler(t, "two", Options{Body: 200_000, Rows: 3})
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for _, c := range []struct {
		method, path, kind, body string
		code                     int
		want                     string
	}{
		{"POST", "/predict", "", `{"size": }`, 400, "byte 9 of the JSON: expected a number"},
		{"POST", "/predict", "", `{"size": NaN}`, 400, "JSON has no NaN; a missing value is null"},
		{"POST", "/predict", "", `{"size": "tall"}`, 400, `row 1 (from 1): field \"size\": \"tall\" is not a number`},
		{"POST", "/predict", "", `[{"size": 1}, {"size": 1e300}]`, 400, `row 2 (from 1)`},
		{"POST", "/predict", "", `{"size": [1]}`, 400, "expected a number, text, boolean or null"},
		{"POST", "/predict", "", `[[1,"Kiel"]]`, 400, "2 values; the model takes 3 columns, or 5 numbers"},
		{"POST", "/predict", "", `[{},{},{},{}]`, 400, "more than 3 rows"},
		{"POST", "/predict", "", `{"x":` + deep + `}`, 400, "nested more than 32 deep"},
		{"POST", "/predict", "", `{} {}`, 400, "expected the end"},
		{"POST", "/predict", "", strings.Repeat(" ", 200_001), 413, "200001 bytes; at most 200000"},
		{"POST", "/predict", "image/png", `{}`, 415, "application/json, application/x-ndjson, text/csv or application/vnd.apache.arrow.stream"},
		{"POST", "/predict", "text/csv", "a,b\n1,2\n", 400, "names no column of the model; it has size, town, age"},
		{"POST", "/predict", "text/csv", "size" + strings.Repeat(",", 110_000), 400, "the CSV's header has 110001 columns; the model has 3, and at most 100003 are read"},
		{"POST", "/predict", "text/csv", "size,size\n1,2\n", 400, "twice"},
		{"POST", "/predict", "text/csv", "size\nx\n", 400, `line 2 of the CSV: field \"size\"`},
		{"POST", "/predict", "text/csv", "size\n1,2\n", 400, "CSV: record on line 2"},
		{"POST", "/models/other/predict", "", `{}`, 404, `no model \"other\"; there are people`},
		{"POST", "/models/people/versions/7/predict", "", `{}`, 404, `no version \"7\"`},
		{"POST", "/models/..%2f..%2fetc%2fpasswd/predict", "", `{}`, 404, "no model"},
		{"GET", "/predict", "", ``, 405, "/predict takes POST"},
		{"POST", "/v2/health/live", "", `{}`, 405, "takes GET"},
		{"GET", "/wp-admin", "", ``, 404, "there is nothing at /wp-admin"},
		{"POST", "/v1/models/people", "", `{}`, 404, ":predict"},
		{"POST", "/v1/models/people:predict", "", `{}`, 400, `expected \"instances\"`},
		{"POST", "/v1/models/people:predict", "", `{"instances":[],"instances":[]}`, 400, "twice"},
		{"POST", "/invocations", "application/xml", `{}`, 415, "application/json or text/csv"},
		{"POST", "/invocations", "application/json", `{"instances":[],"inputs":[]}`, 400, "exactly one"},
		{"POST", "/invocations", "application/json", `{"rows":[]}`, 400, `\"rows\" is not known`},
		{"POST", "/invocations", "application/json", `{"inputs":{"size":[1,2],"age":[1]}}`, 400, `column \"age\" has 1 values`},
		{"POST", "/invocations", "application/json", `{"dataframe_split":{"columns":["size"],"data":[[1,2]]}}`, 400, "2 values for 1 columns"},
		{"POST", "/v2/models/people/infer", "", `{}`, 400, `expected \"inputs\"`},
		{"POST", "/v2/models/people/infer", "", `{"inputs":[{"name":"size","shape":[2],"datatype":"FP64","data":[1]}]}`, 400, "has 1 elements, its shape [2] says 2"},
		{"POST", "/v2/models/people/infer", "", `{"inputs":[{"name":"size","shape":[1],"datatype":"FP128","data":[1]}]}`, 400, "FP128"},
		{"POST", "/v2/models/people/infer", "", `{"inputs":[{"name":"size","shape":[-1],"datatype":"FP64","data":[1]}]}`, 400, "not negative"},
		{"POST", "/v2/models/people/infer", "", `{"inputs":[{"name":"size","shape":[1],"datatype":"FP64"}]}`, 400, "has no data"},
		{"POST", "/v2/models/people/infer", "", `{"inputs":[{"name":"x","shape":[9999999,9999999,99999],"datatype":"FP64","data":[1]}]}`, 400, "too many elements"},
		{"POST", "/v2/models/people/infer", "", `{"inputs":[{"name":"size","shape":[1],"datatype":"FP64","parameters":{"binary_data_size":8}}]}`, 400, "binary_data_size 8 with 0 bytes"},
		{"POST", "/v2/models/people/infer", "", `{"inputs":[{"name":"size","shape":[1],"datatype":"FP64","data":[1]},{"name":"size","shape":[1],"datatype":"FP64","data":[1]}]}`, 400, "given twice"},
		{"POST", "/v2/models/people/infer", "", `{"inputs":[{"name":"size","shape":[1],"datatype":"FP64","data":[1]},{"name":"old","shape":[1],"datatype":"FP64","data":[1]}]}`, 400, `input \"old\" is no column`},
		{"POST", "/v2/models/people/infer", "", `{"inputs":[{"name":"size","shape":[1],"datatype":"FP64","data":[1]}],"outputs":[{"name":"best"}]}`, 400, `no output \"best\"`},
		{"POST", "/v2/repository/models/people/unload", "", `{}`, 403, "may not load and unload"},
	} {
		code, body, header := ask(t, s, c.method, c.path, c.kind, c.body)
		var e struct{ Error string }
		if err := json.Unmarshal([]byte(body), &e); err != nil || code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s %s %s: %d %s, want %d %s", c.method, c.path, c.body, code, body, c.code, c.want)
		}
		if header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: an error of type %s", c.path, header.Get("Content-Type"))
		}
	}
	for header, values := range map[string][]string{"X-Request-Timeout": {"soon", "-1", "0"}, "Grpc-Timeout": {"5", "x", "123456789S", "1d"}} {
		for _, v := range values {
			if code, body, _ := ask(t, s, "POST", "/predict", "", `{}`, header, v); code != 400 {
				t.Errorf("%s: %s: %d %s", header, v, code, body)
			}
		}
	}
	if code, body, _ := ask(t, s, "POST", "/v2/models/people/infer", "", `{"inputs":[]}`, "Inference-Header-Content-Length", "99"); code != 400 {
		t.Errorf("a header longer than the body: %d %s", code, body)
	}
}

func TestHealth(t *testing.T) {
	s := handler(t, "three", Options{Tokens: []string{"secret"}})
	for path, want := range map[string]string{"/v2/health/live": `"live":true`, "/v2/health/ready": `"ready":true`, "/ping": "{}", "/health": "{}"} {
		if code, body, _ := ask(t, s, "GET", path, "", ""); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	bearer := []string{"Authorization", "Bearer secret"}
	for path, want := range map[string]string{"/v2": `"name":"mercer"`, "/v2/": "binary_tensor_data", "/v2/models/people": `{"name":"town","datatype":"BYTES","shape":[-1]}`,
		"/v2/models/people/versions/1": `"versions":["1"]`, "/v2/models/people/ready": `"ready":true`, "/v2/models/people/versions/1/ready": "true",
		"/v1/models": `{"models":["people"]}`, "/v1/models/people": `"ready":true`, "/version": "\n", "/metrics": "mercer_requests_total", "/": `{"status":"alive"}`,
		"/openapi.json": `"openapi":"3.1.0"`} {
		if code, body, _ := ask(t, s, "GET", path, "", "", bearer...); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %s", path, code, body, want)
		}
		for _, wrong := range [][]string{nil, {"Authorization", "Bearer secre"}, {"Authorization", "secret"}} {
			if code, _, _ := ask(t, s, "GET", path, "", "", wrong...); code != 401 {
				t.Errorf("%s without a token: %d", path, code)
			}
		}
	}
	code, _, header := ask(t, s, "GET", "/", "", "", "Accept", "text/html")
	if code != 401 || !strings.HasPrefix(header.Get("WWW-Authenticate"), "Basic ") {
		t.Errorf("a browser without a token: %d %v", code, header)
	}
	for password, want := range map[string]int{"secret": 200, "other": 401} {
		r := httptest.NewRequest("GET", "/", nil)
		r.SetBasicAuth("anybody", password)
		r.Header.Set("Accept", "text/html")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != want {
			t.Errorf("a browser with the password %s: %d", password, w.Code)
		}
	}
	if code, body, _ := ask(t, s, "POST", "/v2/repository/index", "", "{}", bearer...); code != 200 || !strings.Contains(body, `"state":"READY"`) {
		t.Errorf("index: %d %s", code, body)
	}
	s.Drain()
	for path, want := range map[string]int{"/v2/health/ready": 503, "/ping": 503, "/v2/health/live": 200} {
		if code, _, _ := ask(t, s, "GET", path, "", ""); code != want {
			t.Errorf("%s of a server that is closing: %d", path, code)
		}
	}
	if code, _, _ := ask(t, s, "POST", "/predict", "", "{}", bearer...); code != 200 {
		t.Errorf("a request to a server that is closing: %d", code)
	}
}

func TestOrigins(t *testing.T) {
	s := handler(t, "two", Options{Origins: []string{"https://a.example"}})
	if code, _, h := ask(t, s, "OPTIONS", "/predict", "", "", "Origin", "https://a.example"); code != 204 || h.Get("Access-Control-Allow-Origin") != "https://a.example" {
		t.Errorf("%d %v", code, h)
	}
	if _, _, h := ask(t, s, "POST", "/predict", "", "{}", "Origin", "https://b.example"); h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another origin is allowed: %v", h)
	}
	if _, _, h := ask(t, handler(t, "two", Options{}), "POST", "/predict", "", "{}", "Origin", "https://a.example"); h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("an origin is allowed by default: %v", h)
	}
}

// What the page of another origin lets a browser send is refused, even if the browser would not show it the answer; origins that are allowed,
// the server's own page and clients that are no browsers are not.
func TestPagesOfOthers(t *testing.T) {
	for _, c := range []struct {
		origins []string
		headers []string
		code    int
	}{
		{nil, nil, 200}, {nil, []string{"Sec-Fetch-Site", "same-origin"}, 200}, {nil, []string{"Sec-Fetch-Site", "none"}, 200},
		{nil, []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://a.example"}, 403}, {nil, []string{"Origin", "https://a.example"}, 403},
		{[]string{"https://a.example"}, []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://a.example"}, 200},
		{[]string{"https://a.example"}, []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://b.example"}, 403},
		{[]string{"*"}, []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://b.example"}, 200},
	} {
		s := handler(t, "two", Options{Origins: c.origins, Control: true})
		if code, body, _ := ask(t, s, "POST", "/predict", "application/json", "{}", c.headers...); code != c.code || code == 403 && !strings.Contains(body, "example may not send requests") {
			t.Errorf("%v with %v: %d %s, want %d", c.origins, c.headers, code, body, c.code)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
	if err := handler(t, "two", Options{Origins: []string{"a.example/"}}).Check(); err == nil || !strings.Contains(err.Error(), "https://example.com") {
		t.Errorf("an origin that is none: %v", err)
	}
}

// Files of a folder are models and versions; changed files are loaded, broken ones leave the old model.
func TestReload(t *testing.T) {
	folder := t.TempDir()
	two, three := peopleOnce()["two"], peopleOnce()["three"]
	save := func(m *model.Model, parts ...string) string {
		path := filepath.Join(append([]string{folder}, parts...)...)
		mustMake(t, filepath.Dir(path))
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	save(two, "a.mercer")
	save(two, "b", "9.mercer")
	save(three, "b", "10.mercer")
	save(two, "c", "1", "model.mercer")
	models, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	s := Handler(models, Options{Control: true})
	classes := func(path string) int {
		code, body, _ := ask(t, s, "POST", path, "", `{}`)
		if code != 200 {
			return -code
		}
		return strings.Count(body[strings.Index(body, "probabilities"):], ":") - 1
	}
	expect := func(what string, want map[string]int) {
		t.Helper()
		for path, n := range want {
			if got := classes(path); got != n {
				t.Errorf("%s: %s has %d classes, want %d", what, path, got, n)
			}
		}
	}
	expect("first", map[string]int{"/models/a/predict": 2, "/models/b/predict": 3, "/models/b/versions/9/predict": 2, "/models/c/versions/1/predict": 2, "/predict": -404})
	ctx := context.Background()
	file := save(three, "a.mercer")
	if err := models.Reload(ctx); err != nil {
		t.Fatal(err)
	}
	expect("changed", map[string]int{"/models/a/predict": 3})
	mustWrite(t, file, "broken")
	if err := models.Reload(ctx); err == nil || !strings.Contains(err.Error(), "a.mercer") {
		t.Errorf("a broken file: %v", err)
	}
	expect("broken", map[string]int{"/models/a/predict": 3, "/models/b/predict": 3})
	if err := models.Reload(ctx); err != nil {
		t.Errorf("the same broken file is told again: %v", err)
	}
	save(two, "a.mercer")
	mustRemove(t, filepath.Join(folder, "b", "10.mercer"))
	save(two, "d.mercer")
	if err := models.Reload(ctx); err != nil {
		t.Fatal(err)
	}
	expect("mended", map[string]int{"/models/a/predict": 2, "/models/b/predict": 2, "/models/d/predict": 2})
	for _, c := range []struct {
		path       string
		code, then int
	}{{"a/unload", 200, -404}, {"a/unload", 404, -404}, {"a/load", 200, 2}, {"zz/load", 404, 2}, {"..%2fx/load", 404, 2}} {
		if code, body, _ := ask(t, s, "POST", "/v2/repository/models/"+c.path, "", "{}"); code != c.code {
			t.Errorf("%s: %d %s", c.path, code, body)
		}
		expect(c.path, map[string]int{"/models/a/predict": c.then})
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no models") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := Open(filepath.Join(folder, "none.mercer")); err == nil {
		t.Error("a file that is not there is served")
	}
	if _, err := Open(mustWrite(t, filepath.Join(t.TempDir(), "x.mercer"), "broken")); err == nil {
		t.Error("a broken file is served")
	}
}

// The description names every path that is served, and its answers are what the server says.
func TestOpenAPI(t *testing.T) {
	s := handler(t, "two", Options{})
	_, body, _ := ask(t, s, "GET", "/openapi.json", "", "")
	var d struct {
		Paths      map[string]map[string]struct{ OperationID string }
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			if ids[op.OperationID] || op.OperationID == "" {
				t.Errorf("%s %s has the id %q", method, path, op.OperationID)
			}
			ids[op.OperationID] = true
		}
	}
	for _, r := range s.table() {
		if r.doc != nil && d.Paths[strings.TrimSuffix(r.path, "{$}")][strings.ToLower(r.method)].OperationID == "" {
			t.Errorf("%s %s is not described", r.method, r.path)
		}
	}
	for _, ref := range strings.Split(body, `"$ref":"#/components/schemas/`)[1:] {
		if name, _, _ := strings.Cut(ref, `"`); d.Components.Schemas[name] == nil {
			t.Errorf("the schema %q is not there", name)
		}
	}
}
