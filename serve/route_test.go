package serve

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// folderOf saves models as versions of one name, and opens them.
func folderOf(t testing.TB, kinds ...string) (string, *Models) {
	t.Helper()
	folder := t.TempDir()
	mustMake(t, filepath.Join(folder, "people"))
	for i, kind := range kinds {
		if err := peopleOnce()[kind].Save(filepath.Join(folder, "people", fmt.Sprint(i+1)+".mercer")); err != nil {
			t.Fatal(err)
		}
	}
	models, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return folder, models
}

func targets(t testing.TB, text string) []Target {
	t.Helper()
	all, err := ParseTargets(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Shares of the requests go where a route says, within one request in any run; a key always goes to the same; names of versions
// and a target that is gone are heeded.
func TestRoutes(t *testing.T) {
	folder, models := folderOf(t, "two", "three", "regress")
	s := Handler(models, Options{Control: true, Routes: map[string][]Target{
		"people": targets(t, "people/2:3,people/3:1"), "alias": targets(t, "people/1"), "lost": targets(t, "none,people/1:0.5")}})
	where := func(path string, headers ...string) string {
		t.Helper()
		code, body, header := ask(t, s, "POST", path, "", `{"size":1}`, headers...)
		if code != 200 {
			t.Fatalf("%s: %d %s", path, code, body)
		}
		return header.Get("X-Model")
	}
	counts := map[string]int{}
	for i := range 400 {
		counts[where("/predict")]++
		if third := counts["people/3"]; i > 20 && (third < (i+1)/4-3 || third > (i+1)/4+3) {
			t.Fatalf("of %d requests %d went to a quarter", i+1, third)
		}
	}
	if counts["people/2"]+counts["people/3"] != 400 {
		t.Errorf("%v", counts)
	}
	keyed := map[string]int{}
	for i := range 400 {
		key := fmt.Sprint("user", i)
		first := where("/models/people/predict", "X-Route-Key", key)
		if again := where("/models/people/predict", "X-Route-Key", key); again != first {
			t.Fatalf("%s goes to %s and %s", key, first, again)
		}
		keyed[first]++
	}
	if n := keyed["people/3"]; n < 60 || n > 140 {
		t.Errorf("of 400 keys %d went to a quarter", n)
	}
	for path, want := range map[string]string{"/models/people/versions/1/predict": "people/1", "/models/alias/predict": "people/1",
		"/models/alias/versions/3/predict": "people/3", "/models/lost/predict": "people/1"} {
		if got := where(path); got != want {
			t.Errorf("%s goes to %s, want %s", path, got, want)
		}
	}
	if code, body, _ := ask(t, s, "GET", "/v2/models/alias/ready", "", ""); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	mustRemove(t, filepath.Join(folder, "people", "2.mercer"))
	if err := models.Reload(context.Background()); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if got := where("/predict"); got != "people/3" {
			t.Errorf("without its other target the route leads to %s", got)
		}
	}
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), `the requests for "lost": no model "none"`) {
		t.Error(err)
	}
	if err := Handler(models, Options{Shadows: map[string]Target{"none": {Model: "people"}}}).Check(); err == nil || !strings.Contains(err.Error(), `shadow of "none"`) {
		t.Error(err)
	}
}

// A shadow computes what was asked in any protocol, its metrics tell how it differs, and nobody waits for it.
func TestShadows(t *testing.T) {
	_, models := folderOf(t, "two", "regress", "three", "two")
	s := Handler(models, Options{Shadows: map[string]Target{"people": {Model: "people", Version: "3"}, "number": {Model: "people", Version: "2"}},
		Routes: map[string][]Target{"number": targets(t, "people/2")}})
	body := `[{"size":1,"town":"Bonn"},{"size":5,"town":"Kiel"}]`
	for _, c := range [][2]string{{"/models/people/predict", body}, {"/v1/models/people:predict", `{"instances":` + body + `}`},
		{"/v2/models/people/infer", `{"inputs":[{"name":"size","shape":[1],"datatype":"FP32","data":[1]}]}`}, {"/models/people/versions/1/predict", body}, {"/models/number/predict", body}} {
		if code, answer, _ := ask(t, s, "POST", c[0], "", c[1]); code != 200 {
			t.Fatal(answer)
		}
		for range cap(s.shadowing) { // its shadow is done: on one processor there is room for two
			s.shadowing <- struct{}{}
		}
		for range cap(s.shadowing) {
			<-s.shadowing
		}
	}
	for range cap(s.shadowing) {
		s.shadowing <- struct{}{}
	}
	_, text, _ := ask(t, s, "GET", "/metrics", "", "")
	for _, line := range []string{`mercer_shadow_rows_total{model="people",version="3"} 5`, `mercer_rows_total{model="people",version="4"} 5`,
		`mercer_rows_total{model="people",version="1"} 2`, `mercer_shadow_failures_total{model="people",version="3"} 0`} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
	if strings.Contains(text, `mercer_shadow_rows_total{model="people",version="2"}`) {
		t.Error("a model is its own shadow")
	}
	if code, _, _ := ask(t, s, "POST", "/models/people/predict", "", body); code != 200 { // no place is free
		t.Error(code)
	}
	if _, text, _ = ask(t, s, "GET", "/metrics", "", ""); !strings.Contains(text, `mercer_shadow_dropped_rows_total{model="people",version="3"} 2`) {
		t.Error(text)
	}
}

// A file that cannot be loaded is read again when it has changed, and when somebody asks for it.
func TestFailingFilesAreReadOnce(t *testing.T) {
	folder, models := folderOf(t, "two")
	path := filepath.Join(folder, "people", "2.mercer")
	good, err := os.ReadFile(filepath.Join(folder, "people", "1.mercer"))
	if err != nil {
		t.Fatal(err)
	}
	bad := []byte(string(good))
	bad[len(bad)-1] ^= 1
	mustWrite(t, path, string(bad))
	load := func(all bool) (failed bool) {
		models.mu.Lock()
		defer models.mu.Unlock()
		return models.load(context.Background(), all) != nil
	}
	if !load(false) || models.failures.Load() != 1 {
		t.Fatal("the file is not missed")
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	mend := func() { // the file has the look of what failed
		if err := os.WriteFile(path, good, 0); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, st.ModTime(), st.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	mend()
	if load(false); models.loads.Load() != 1 || models.now.Load().faults[path].text == "" {
		t.Error("a file that has not changed is read again")
	}
	if load(true) || models.loads.Load() != 2 || len(models.now.Load().faults) != 0 {
		t.Error("the file is not read again though somebody asked for it")
	}
	mustWrite(t, path, string(bad))
	if !load(false) {
		t.Error("the file that is damaged again is not missed")
	}
	mustWrite(t, path, string(good))
	if load(false) || models.loads.Load() != 3 {
		t.Error("the file that has changed is not loaded")
	}
}

// Without anybody who asks for readiness an idle server ends at once, whatever the time to drain; otherwise it is not ready first,
// and listens until the time is over.
func TestDrain(t *testing.T) {
	for _, probed := range []bool{false, true} {
		s := handler(t, "two", Options{})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		drain := time.Hour
		if probed {
			drain = 500 * time.Millisecond
		}
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx, Listening{Listener: l, Drain: drain}) }()
		status := func(path string) int {
			answer, err := http.Get("http://" + l.Addr().String() + path)
			if err != nil {
				return 0
			}
			answer.Body.Close()
			return answer.StatusCode
		}
		if got := status("/v2/health/live"); got != 200 {
			t.Fatal(got)
		}
		if probed && status("/v2/health/ready") != 200 {
			t.Fatal("not ready")
		}
		cancel()
		for probed && status("/v2/health/ready") == 200 {
			time.Sleep(time.Millisecond) // until Serve has heard of it
		}
		if probed && status("/v2/health/ready") != 503 {
			t.Error("nothing is listened to before the time is over")
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
