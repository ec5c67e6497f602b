package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// runOf is a run with sections that have been measured.
func runOf(commit string, sections ...string) *run {
	r := &run{Commit: commit, Date: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Rounds: 3, Threads: 2,
		Host:  host{CPU: "a processor", Cores: 2, Level: "avx2", System: "linux", Go: "go1.26"},
		Peers: map[string]string{"numpy": "2.0", "openblas": "0.3 for Zen"}}
	for _, s := range sections {
		if r.Sections == nil {
			r.Sections = map[string]measurements{}
		}
		r.Sections[s] = measurements{"a": {Line: "mercer", Numbers: map[string][]float64{"x": {1}}}}
	}
	return r
}

func TestResultsAreKeptAndReplacedBySection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	all, err := readResults(path)
	if err != nil || len(all.Runs) != 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	first, second := runOf("one"), runOf("two")
	m := measurements{
		"a": {Line: "mercer bench", Numbers: map[string][]float64{"x": {1, 2}}, Words: map[string]string{"w": "svm"}},
		"b": {Missing: "`pip install x`"},
	}
	all.add(first, "maps", m)
	all.add(first, "parsers", m)
	all.add(second, "maps", m)
	if all.of("maps") != second || all.of("parsers") != first || all.of("engine") != nil || len(all.Runs) != 2 {
		t.Errorf("%+v", all.Runs)
	}
	if err := all.write(path); err != nil {
		t.Fatal(err)
	}
	if again, err := readResults(path); err != nil || !reflect.DeepEqual(again, all) {
		t.Errorf("%+v, %v", again, err)
	}
	all.add(second, "parsers", m)
	if len(all.Runs) != 1 || all.of("parsers") != second {
		t.Errorf("a run without sections is kept: %+v", all.Runs)
	}
	os.WriteFile(path, []byte("{"), 0o644)
	if _, err := readResults(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("half a file: %v", err)
	}
}

func TestResultsOfOtherCommitsAndHostsDoNotMix(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r *run)
		want   string
	}{
		{"nothing", func(r *run) {}, ""},
		{"another day", func(r *run) { r.Date = r.Date.Add(time.Hour); r.Rounds++; r.Seconds++ }, ""},
		{"a commit", func(r *run) { r.Commit = "two" }, "commit one and two"},
		{"a processor", func(r *run) { r.Host.CPU = "another" }, "host a processor"},
		{"a Go", func(r *run) { r.Host.Go = "go1.27" }, "go1.27"},
		{"sizes", func(r *run) { r.Quick = true }, "quick"},
		{"threads", func(r *run) { r.Threads = 1 }, "threads 2 and 1"},
		{"a peer", func(r *run) { r.Peers["numpy"] = "2.1" }, "NumPy 2.0 and 2.1"},
		{"a peer that was not there", func(r *run) { delete(r.Peers, "numpy") }, ""},
		{"what OpenBLAS is told", func(r *run) { r.Peers["openblas"] = "0.3 for Haswell" }, ""},
	} {
		old, last := runOf("one", "maps", "parsers"), runOf("one")
		c.change(last)
		all := &results{Runs: []*run{old}}
		err := all.mixed(last, []string{"maps"})
		said := ""
		if err != nil {
			said = err.Error()
		}
		if (c.want == "") != (err == nil) || err != nil && !(strings.Contains(said, c.want) && strings.Contains(said, "have parsers of")) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err := all.mixed(last, []string{"maps", "parsers"}); err != nil {
			t.Errorf("%s, all measured again: %v", c.name, err)
		}
	}
	// Changes that no commit has may be others each time.
	old, last := runOf("one+", "maps"), runOf("one+")
	if err := (&results{Runs: []*run{old}}).mixed(last, nil); err == nil || !strings.Contains(err.Error(), "changes to commit one") {
		t.Errorf("%v", err)
	}
	if err := (&results{Runs: []*run{old}}).mixed(old, nil); err != nil {
		t.Errorf("a run with itself: %v", err)
	}
}
