package serve

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "mercer/dataset/fetch"
	"mercer/internal/engine/testenv"
)

// modelBytes is the file of a model of people.
func modelBytes(t *testing.T, kind string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m.mercer")
	if err := peopleOnce()[kind].Save(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Models of an object store are served as those of a folder: with versions, loaded again when an object changes, and kept when it is damaged or gone.
func TestModelsOfAnObjectStore(t *testing.T) {
	o := testenv.NewObjects(t)
	two, three := modelBytes(t, "two"), modelBytes(t, "three")
	o.Put("models/people/1.mercer", two)
	o.Put("models/people/10/any.mercer", three)
	o.Put("models/people/10/other.mercer", two)
	o.Put("models/lone.mercer", two)
	for _, name := range []string{"models/notes.txt", "models/.hidden.mercer", "models/people/.old/m.mercer", "models/people/3/a/b.mercer", "models/.mercer"} {
		o.Put(name, two)
	}
	models, err := Open("s3://shop/models")
	if err != nil {
		t.Fatal(err)
	}
	if names := models.Names(); !slices.Equal(names, []string{"lone", "people"}) {
		t.Errorf("models %v", names)
	}
	s := Handler(models, Options{Control: true})
	classes := func(path string) int {
		t.Helper()
		code, body, _ := ask(t, s, "POST", path, "", `{"size":1}`)
		if code != 200 {
			t.Fatalf("%s: %d %s", path, code, body)
		}
		return strings.Count(body, ":") - 2
	}
	if n := classes("/models/people/predict"); n != 3 || classes("/models/people/versions/1/predict") != 2 {
		t.Errorf("the largest version has %d classes", n)
	}
	ctx := context.Background()
	before := models.loads.Load()
	if err := models.Reload(ctx); err != nil || models.loads.Load() != before {
		t.Errorf("what has not changed was loaded: %v", err)
	}
	o.Put("models/lone.mercer", three)
	if err := models.Reload(ctx); err != nil || models.loads.Load() != before+1 || classes("/models/lone/predict") != 3 {
		t.Errorf("another object was not loaded: %v", err)
	}
	damaged := bytes.Clone(two)
	damaged[len(damaged)/2] ^= 1
	o.Put("models/lone.mercer", damaged)
	if err := models.Reload(ctx); err == nil || !strings.Contains(err.Error(), "s3://shop/models/lone.mercer") || classes("/models/lone/predict") != 3 {
		t.Errorf("a damaged object: %v", err)
	}
	if err := models.load(ctx, false); err != nil {
		t.Errorf("a damaged object that has not changed is told twice: %v", err)
	}
	if code, body, _ := ask(t, s, "POST", "/v2/repository/models/people/unload", "", "{}"); code != 200 {
		t.Errorf("unload: %d %s", code, body)
	}
	if code, body, _ := ask(t, s, "POST", "/v2/repository/models/people/load", "", "{}"); code != 200 || classes("/models/people/predict") != 3 {
		t.Errorf("load: %d %s", code, body)
	}

	one, err := Open("s3://shop/models/lone.mercer")
	if err == nil || !strings.Contains(err.Error(), "lone.mercer") {
		t.Errorf("a damaged object by itself: %v, %v", one, err)
	}
	if one, err = Open("s3://shop/models/people/1.mercer"); err != nil || !slices.Equal(one.Names(), []string{"1"}) {
		t.Errorf("an object by itself: %v", err)
	}
	o.Put("empty/notes.txt", two)
	for path, want := range map[string]string{"s3://shop/none": "no object", "s3://shop/empty/": "has no models", "s3://none/models": "no such bucket"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The page lists what names of routes stand for, and its form asks by that name.
func TestPageShowsRoutes(t *testing.T) {
	_, models := folderOf(t, "two", "three")
	s := Handler(models, Options{Routes: map[string][]Target{
		"people": targets(t, "people/2:3,people/1:1"), "prod": targets(t, "people/1"), "lost": targets(t, "none")}})
	for path, want := range map[string][]string{
		"/": {`/?model=people" aria-current="page">people <small>→ people/2 (75 %), people/1 (25 %)</small>`, `/?model=prod">prod <small>→ people/1</small>`,
			`data-at="/models/people/predict`, "<dt>Answered by</dt>"},
		"/?model=prod": {`data-at="/models/prod/predict`, `href="/models/prod/card"`, "<dd>people/1</dd>", `?model=prod" aria-current="page"`},
		"/?model=lost": {`data-at="/models/people/predict`},
	} {
		code, body, _ := ask(t, s, "GET", path, "", "", "Accept", "text/html")
		for _, part := range want {
			if code != 200 || !strings.Contains(body, part) {
				t.Errorf("%s: %d, without %s in\n%.1500s", path, code, part, body)
			}
		}
		if strings.Contains(body, "?model=lost") {
			t.Errorf("%s: lists a name for which no model is served", path)
		}
	}
}
