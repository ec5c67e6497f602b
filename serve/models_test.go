package serve

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

// A file that takes the place of another of the same size and time is loaded, once.
func TestReplacedFilesOfOneSizeAndTime(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.mercer")
	if err := peopleOnce()["two"].Save(path); err != nil {
		t.Fatal(err)
	}
	models, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	other := mustWrite(t, filepath.Join(folder, "next"), string(data))
	if err := os.Chtimes(other, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := models.Reload(context.Background()); err != nil {
			t.Fatal(err)
		}
		if n := models.loads.Load(); n != 2 {
			t.Errorf("%d loads, want 2: the file was replaced once", n)
		}
	}
}

// Names of folders are no patterns, and unfinished files, whose names begin with a dot, no models.
func TestFoldersOfAnyName(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "models [old]*")
	version := filepath.Join(folder, "a", "1")
	mustMake(t, version)
	if err := peopleOnce()["two"].Save(filepath.Join(version, "m.mercer")); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, filepath.Join(version, ".m.mercer"), "half of a mod")
	models, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if names := models.Names(); len(names) != 1 || names[0] != "a" {
		t.Errorf("models %q, want a", names)
	}
}

// The index tells what is not served, and loading tells of a broken file each time, by REST and gRPC, and by the messages of Triton and KServe.
func TestRepository(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := peopleOnce()["two"].Save(filepath.Join(folder, name+".mercer")); err != nil {
			t.Fatal(err)
		}
	}
	models, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	s := Handler(models, Options{Control: true})
	client := dialled(t, s)
	mustWrite(t, filepath.Join(folder, "c.mercer"), "broken")
	index := func(body string) string {
		code, text, _ := ask(t, s, "POST", "/v2/repository/index", "", body)
		var all []struct{ Name, Version, State, Reason string }
		if err := json.Unmarshal([]byte(text), &all); err != nil || code != 200 {
			t.Fatalf("%d %s", code, text)
		}
		var said []string
		for _, m := range all {
			said = append(said, m.Name+"/"+m.Version+" "+m.State)
		}
		return strings.Join(said, ", ")
	}
	for range 2 {
		if code, text, _ := ask(t, s, "POST", "/v2/repository/models/c/load", "", ""); code != 400 || !strings.Contains(text, "c.mercer") {
			t.Errorf("loading a broken file: %d %s", code, text)
		}
	}
	if code, text, _ := ask(t, s, "POST", "/v2/repository/models/b/unload", "", ""); code != 200 {
		t.Errorf("%d %s", code, text)
	}
	if got := index(""); got != "a/1 READY, c/1 UNAVAILABLE, b/1 UNAVAILABLE" {
		t.Error(got)
	}
	if got := index(`{"ready":true}`); got != "a/1 READY" {
		t.Error(got)
	}
	if code, text, _ := ask(t, s, "POST", "/v2/repository/index", "", "[]"); code != 400 {
		t.Errorf("%d %s", code, text)
	}
	for _, c := range []struct {
		method string
		field  protowire.Number
		then   string
	}{{"Load", 2, "a/1 READY, b/1 READY, c/1 UNAVAILABLE"}, {"Unload", 1, "a/1 READY, c/1 UNAVAILABLE, b/1 UNAVAILABLE"}, {"Load", 1, "a/1 READY, b/1 READY, c/1 UNAVAILABLE"}} {
		out, err := invoke(t.Context(), client, "RepositoryModel"+c.method, appendString(nil, c.field, "b"))
		if err != nil || string(out) != string(appendBool(appendString(nil, 1, "b"), 2, true)) {
			t.Errorf("%s: %q, %v", c.method, out, err)
		}
		if got := index(""); got != c.then {
			t.Errorf("after %s: %s", c.method, got)
		}
	}
	out, err := invoke(t.Context(), client, "RepositoryIndex", appendBool(nil, 2, true))
	if want := appendBytes(nil, 1, appendString(appendString(appendString(appendString(nil, 1, "a"), 2, "1"), 3, "READY"), 4, "")); err != nil || !strings.HasPrefix(string(out), string(want)) {
		t.Errorf("%q, %v, want %q first", out, err, want)
	}
	if _, err := invoke(t.Context(), client, "RepositoryModelLoad", appendString(nil, 2, "c")); status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
	if _, err := invoke(t.Context(), dialled(t, handler(t, "two", Options{})), "RepositoryModelUnload", appendString(nil, 2, "people")); status.Code(err) != codes.PermissionDenied {
		t.Errorf("without model control: %v", err)
	}
	if code, text, _ := ask(t, handler(t, "two", Options{Control: true}), "POST", "/v2/repository/models/people/unload", "", ""); code != 400 || !strings.Contains(text, "not of a file") {
		t.Errorf("a model in memory: %d %s", code, text)
	}
}

// Messages over gRPC may be packed, and are bounded unpacked.
func TestPackedMessages(t *testing.T) {
	client := dialled(t, handler(t, "two", Options{Body: 5000}))
	var out message
	q := appendBytes(appendString(nil, 1, "people"), 5, appendTensor(nil, "size", "FP64", []int64{1}))
	for _, c := range []struct {
		in   []byte
		want codes.Code
	}{{appendBytes(q, 7, little([]float64{1})), codes.OK}, {append(q, appendBytes(nil, 7, make([]byte, 1<<20))...), codes.ResourceExhausted}} {
		err := client.Invoke(t.Context(), "/inference.GRPCInferenceService/ModelInfer", &message{c.in}, &out, grpc.UseCompressor("gzip"))
		if status.Code(err) != c.want {
			t.Errorf("%d bytes: %v", len(c.in), err)
		}
	}
}
