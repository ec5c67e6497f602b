package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
)

// fake is a section whose commands append their names to a file and print a number and a word.
func fake(t *testing.T) (*runner, *section) {
	testenv.Program(t, "sh")
	dir := t.TempDir()
	script := "echo $1 >> \"$2/log\"; echo '{\"x\":'$(wc -l < \"$2/log\")',\"say\":\"'$SAY'\"}'; test $1 != bad\n"
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &section{name: "fake", files: []file{{"made", `cat "$DATA/script" > "$WORK/made"`}}}
	s.turns(
		command{"a", "SAY=hello sh $WORK/made a $WORK", readJSON},
		command{"b", "sh $WORK/made b $WORK", readJSON},
		command{"c", "python3 " + peers + "maps.py", readJSON})
	s.groups = append(s.groups, group{once: true, commands: []command{{"d", "sh $WORK/made d $WORK", readNothing}}})
	s.tables = []table{{rows: [][]cell{{val("a", "x"), word{metric{"a", "say"}}, val("b", "x"), val("c", "us_per_row"), val("d", "wall")}}}}
	return &runner{root: dir, data: dir, work: t.TempDir(), env: os.Environ(), rounds: 3, log: new(bytes.Buffer)}, s
}

func TestCommandsOfAGroupTakeTurns(t *testing.T) {
	r, s := fake(t)
	m, err := r.measure(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m["a"].Numbers["x"], []float64{1, 3, 5}) || !slices.Equal(m["b"].Numbers["x"], []float64{2, 4, 6}) {
		t.Errorf("a %v, b %v", m["a"].Numbers, m["b"].Numbers)
	}
	if m["a"].Words["say"] != "hello" || len(m["b"].Words) != 0 {
		t.Errorf("words %v, %v", m["a"].Words, m["b"].Words)
	}
	if wall := m["d"].Numbers["wall"]; len(wall) != 1 || wall[0] <= 0 {
		t.Errorf("what is measured once: %v", wall)
	}
	if m["c"].Missing != "`python3`" || m["c"].Numbers != nil {
		t.Errorf("a script without Python: %+v", m["c"])
	}
	if m["a"].Line != "SAY=hello sh $WORK/made a $WORK" {
		t.Errorf("the line %q", m["a"].Line)
	}
	if err := s.complete(m); err != nil {
		t.Errorf("measured, and not complete: %v", err)
	}
}

func TestMeasuringSaysWhatFails(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *runner, s *section)
		want   string
	}{
		"a command": {func(r *runner, s *section) { s.groups[0].commands[1].line = "sh $WORK/made bad $WORK" },
			"sh $WORK/made bad $WORK: exit status 1"},
		"a key":   {func(r *runner, s *section) { s.tables[0].rows[0][0] = val("a", "y") }, `it does not say "y"`},
		"output":  {func(r *runner, s *section) { s.groups[0].commands[0].line = "echo nothing" }, "no JSON object"},
		"a file":  {func(r *runner, s *section) { s.files[0].line = `cat "$DATA/nothing" > "$WORK/made"` }, "nothing"},
		"no file": {func(r *runner, s *section) { s.files[0].line = "true" }, "made no made"},
	} {
		r, s := fake(t)
		c.change(r, s)
		if _, err := r.measure(t.Context(), s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	r, s := fake(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.measure(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestMissingPeersAreNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	all := map[string]string{"python": "3", "numpy": "2", "scipy": "1", "sklearn": "1", "threadpoolctl": "3"}
	for _, c := range []struct {
		line     string
		versions map[string]string
		want     string
	}{
		{"mercer bench", nil, ""},
		{"go test -bench x ./internal/solve/pool", nil, ""},
		{"python3 " + peers + "maps.py RBFSampler", nil, "`python3`"},
		{"python3 " + peers + "maps.py RBFSampler", map[string]string{"python": "3", "numpy": "2"}, "`pip install scipy scikit-learn`"},
		{"python3 " + peers + "maps.py RBFSampler", all, ""},
		{"python3 " + peers + "fft.py", all, "`pip install pyfftw`"},
		{"svm-train a b", all, "`apt-get install libsvm-tools`"},
		{"liblinear-train a b", all, "`apt-get install liblinear-tools`"},
	} {
		if got := (command{line: c.line}).missing(c.versions); got != c.want {
			t.Errorf("%s with %v: %s, want %s", c.line, c.versions, got, c.want)
		}
	}
}

func TestOpenBLASIsToldWhereItIsFastest(t *testing.T) {
	for _, c := range []struct {
		rates map[string]float64
		want  string
	}{
		{map[string]float64{"": 100, "Haswell": 90, "SkylakeX": 105}, ""}, // as good as
		{map[string]float64{"": 100, "Haswell": 90, "SkylakeX": 205, "Sapphirerapids": 210}, "SkylakeX"},
		{map[string]float64{"Zen": 50}, "Zen"},
	} {
		got, err := fastestCore(func(core string) (float64, error) {
			if rate := c.rates[core]; rate > 0 {
				return rate, nil
			}
			return 0, errors.New("illegal instruction")
		})
		if err != nil || got != c.want {
			t.Errorf("%v: %q, %v", c.rates, got, err)
		}
	}
	_, err := fastestCore(func(string) (float64, error) { return 0, errors.New("no NumPy") })
	if err == nil || !strings.Contains(err.Error(), "no NumPy") {
		t.Errorf("%v", err)
	}
}

func TestProcessor(t *testing.T) {
	text := "processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nprocessor\t: 1\n"
	if got := processor([]byte(text)); got != "AMD EPYC (family 26, model 2)" {
		t.Error(got)
	}
	if h := thisHost(); h.CPU == "" || h.Cores < 1 || h.Level == "" || h.Go == "" || !strings.Contains(h.String(), h.CPU) {
		t.Errorf("%+v", h)
	}
}
