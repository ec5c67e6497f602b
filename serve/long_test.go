package serve

import (
	"context"
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

var (
	longReloads  = flag.Int("reloads", 300, "how often TestMemoryAfterReloads reloads")
	longRequests = flag.Int("requests", 20_000, "how many requests TestMemoryAfterRequests sends")
)

// heap is the memory that is in use after everything that can go has gone.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what sync.Pool keeps
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// leastGrowth does n things in rounds, and gives by how much memory grew in the round in which it grew least, and of how many things a
// round was. Working memory that is kept for later calls, a megabyte for a product, grows in the few rounds in which more calls are under
// way at a time than ever before; a leak grows in all.
func leastGrowth(n int, do func(n int)) (least int64, each int) {
	const rounds = 8
	least, each = math.MaxInt64, n/rounds
	before := heap()
	for range rounds {
		do(each)
		after := heap()
		least, before = min(least, after-before), after
	}
	return least, each
}

// After many reloads, with requests meanwhile, memory and goroutines are what they were: -reloads 1000 for a thousand.
func TestMemoryAfterReloads(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "people.mercer")
	var files [2][]byte
	for i, kind := range []string{"two", "three"} {
		if err := peopleOnce()[kind].Save(path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = data
	}
	models, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s := Handler(models, Options{})
	reload := func(n int) {
		for i := range n {
			next := mustWrite(t, filepath.Join(folder, ".next"), string(files[i%2]))
			if err := os.Rename(next, path); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					if code, body, _ := ask(t, s, "POST", "/predict?explain=1", "", `{"size":1,"town":"Kiel","age":30}`); code != 200 {
						t.Error(body)
					}
				})
			}
			if err := models.Reload(context.Background()); err != nil {
				t.Fatal(err)
			}
			all.Wait()
		}
	}
	reload(10)
	goroutines := runtime.NumGoroutine()
	grown, each := leastGrowth(*longReloads, reload)
	t.Logf("%d bytes for %d reloads", grown, each)
	if grown > 7000*int64(each) {
		t.Errorf("%d reloads of a file of %d bytes leave %d bytes more", each, len(files[1]), grown)
	}
	if n := runtime.NumGoroutine(); n > goroutines+2 {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
	if n := models.loads.Load(); n < int64(*longReloads) {
		t.Errorf("%d loads", n)
	}
}

// Memory stays flat under requests of all kinds, failing ones among them: -requests 10000000 for ten million.
func TestMemoryAfterRequests(t *testing.T) {
	s := handler(t, "three", Options{})
	kinds := []struct {
		path, kind, body string
		code             int
	}{
		{"/predict", "", `{"size":1.5,"town":"Kiel","age":30}`, 200},
		{"/v2/models/people/infer", "", `{"inputs":[{"name":"x","shape":[1,5],"datatype":"FP32","data":[1,0,1,0,30]}]}`, 200},
		{"/v1/models/people:predict", "", `{"instances":[[1,"Bonn",30],[2,"Kiel",null]]}`, 200},
		{"/invocations", "text/csv", "size,town\n1,Kiel\n", 200},
		{"/predict", "", `{"size":"many"}`, 400},
		{"/models/none/predict", "", `{}`, 404},
		{"/predict", "", `[[1,2,3,4,5,6,7`, 400},
		{"/nothing/" + "here", "", ``, 404},
	}
	send := func(n int) {
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				for i := worker; i < n; i += 4 {
					k := &kinds[i%len(kinds)]
					r := httptest.NewRequest("POST", k.path, strings.NewReader(k.body))
					if k.kind != "" {
						r.Header.Set("Content-Type", k.kind)
					}
					w := httptest.NewRecorder()
					if s.ServeHTTP(w, r); w.Code != k.code {
						t.Errorf("%s: %d %s", k.path, w.Code, w.Body)
						return
					}
				}
			})
		}
		all.Wait()
	}
	send(5000)
	grown, each := leastGrowth(*longRequests, send)
	t.Logf("%d bytes for %d requests", grown, each)
	if grown > 50*int64(each) {
		t.Errorf("%d requests leave %d bytes more", each, grown)
	}
}

// plainWriter is a response that keeps nothing.
type plainWriter struct {
	header http.Header
	status int
	bytes  int
}

func (w *plainWriter) Header() http.Header { return w.header }
func (w *plainWriter) WriteHeader(n int)   { w.status = n }
func (w *plainWriter) Write(b []byte) (int, error) {
	w.bytes += len(b)
	return len(b), nil
}

// A request with binary tensors allocates the same whether it has few rows or many.
func TestBinaryRowsAllocateNothing(t *testing.T) {
	for kind, m := range peopleOnce() {
		s := handler(t, kind, Options{})
		outputs := `{"name":"prediction"},{"name":"scores"}`
		if m.HasProbabilities() {
			outputs += `,{"name":"probabilities"}`
		}
		allocations := func(rows int) float64 {
			head := fmt.Sprintf(`{"inputs":[{"name":"x","shape":[%d,%d],"datatype":"FP32","parameters":{"binary_data_size":%d}}],"outputs":[%s],"parameters":{"binary_data_output":true}}`,
				rows, m.Dim(), 4*rows*m.Dim(), outputs)
			body := head + strings.Repeat("\x00\x00\x80\x3f", rows*m.Dim())
			r := httptest.NewRequest("POST", "/v2/models/people/infer", nil)
			r.Header.Set("Inference-Header-Content-Length", fmt.Sprint(len(head)))
			w := &plainWriter{header: http.Header{}}
			reader := strings.NewReader(body)
			r.Body, r.ContentLength = nopCloser{reader}, int64(len(body))
			return testing.AllocsPerRun(50, func() {
				reader.Reset(body)
				if s.ServeHTTP(w, r); w.status != 200 {
					t.Fatal(w.status)
				}
			})
		}
		// Products of many rows are shared among goroutines, a number of them that does not grow with the rows; a slow machine computes 2,048
		// rows in eight parts.
		few, many := allocations(64), allocations(2048)
		if many > few+100 {
			t.Errorf("%s: %g allocations with 64 rows, %g with 2048", kind, few, many)
		}
	}
}

type nopCloser struct{ *strings.Reader }

func (nopCloser) Close() error { return nil }
