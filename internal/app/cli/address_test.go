package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Data at an address give the model that they give as a file, and what may be secret in the address is told nowhere.
func TestRowsAtAnAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "flowers.csv", flowers(300))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	address := strings.Replace(server.URL, "http://", "http://me:geheim@", 1) + "/flowers.csv?token=geheim"
	a, b, page := filepath.Join(dir, "a.mercer"), filepath.Join(dir, "b.mercer"), filepath.Join(dir, "page.html")
	ok(t, "train", filepath.Join(dir, "flowers.csv"), "-o", a, "--learner", "ridge", "--features", "16", "--progress", "never")
	said := ok(t, "train", address, "-o", b, "--report", page, "--test", address, "--learner", "ridge", "--features", "16")
	said += ok(t, "eval", b, address) + ok(t, "inspect", address) + ok(t, "explain", b, address)
	for _, path := range []string{b, page} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		said += string(text)
	}
	if strings.Contains(said, "geheim") {
		i := strings.Index(said, "geheim")
		t.Errorf("a secret is told: %s", said[max(0, i-200):i+20])
	}
	ok(t, "train", address, "-o", b, "--learner", "ridge", "--features", "16", "--progress", "never") // without the test that a model keeps
	one, _ := os.ReadFile(a)
	two, _ := os.ReadFile(b)
	if len(one) == 0 || !bytes.Equal(one, two) {
		t.Errorf("models of %d and %d bytes differ", len(one), len(two))
	}
	if r := mercer(t, "predict", b, address+"&x=1#no"); r.code != 0 || r.stdout != ok(t, "predict", a, filepath.Join(dir, "flowers.csv")) {
		t.Error(r.stderr)
	}
	if r := mercer(t, "train", strings.Replace(address, "flowers.csv", "none.csv", 1), "-o", b); r.code != 1 || r.stderr != "mercer train: "+server.URL+
		"/none.csv: the server answers 404 Not Found\n" {
		t.Error(r.stderr)
	}
	if r := mercer(t, "predict", b, strings.Replace(address, "http://", "HTTP://", 1)); r.code != 0 || r.stdout != ok(t, "predict", a, filepath.Join(dir, "flowers.csv")) {
		t.Error(r.stderr)
	}
	if r := mercer(t, "train", "gs://bucket/a.csv", "-o", b); r.code != 1 || !strings.Contains(r.stderr, "addresses of this kind are not read") {
		t.Error(r.stderr)
	}
}
