package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/checkpoint"
	"mercer/internal/engine/testenv"
	"mercer/train"
)

// resultText is a result without what tells how it was come by, and when.
func resultText(t *testing.T, r *TuneResult) string {
	t.Helper()
	resumed := r.Resumed
	r.Resumed = 0
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	r.Resumed = resumed
	return timed.ReplaceAllString(string(text), "")
}

// timed are seconds in a result or a journal, which are others every time.
var timed = regexp.MustCompile(`,"(t|seconds)":[0-9.e-]+`)

// mixed is a search with jobs of every kind, and a race before them.
func mixed(t *testing.T) Space {
	return Space{Axes: []Axis{
		axis(t, "learner", "ridge,svm,kernel-svm"), axis(t, "gamma", "0.2,0.8,3"), axis(t, "features", "32"),
		axis(t, "lambda", "0.1,trace*0.01"), axis(t, "c", "0.1,1"),
	}}
}

// resealed are lines with the checksums of what they are now.
func resealed(text []byte) (out []byte) {
	for line := range bytes.Lines(text) {
		at := bytes.LastIndexByte(line, ' ')
		out = append(out, checkpoint.Seal(line[:at:at])...)
	}
	return out
}

func TestCutJournalGivesTheSameResult(t *testing.T) {
	src := rings(t, 90, 3, 2)
	path := filepath.Join(t.TempDir(), "j")
	opt := TuneOptions{Journal: path, Folds: Folds{K: 2}, Search: "halving", Seed: 1}
	first := searched(t, src, mixed(t), opt)
	want := resultText(t, first)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	if len(lines) < 6 {
		t.Fatalf("the journal has only %d lines", len(lines))
	}
	// After each line, and one byte before its end.
	at, last := 0, -1
	for _, line := range lines[:len(lines)-1] {
		for _, cut := range []int{at, at + len(line) - 1} {
			if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
				t.Fatal(err)
			}
			r := searched(t, src, mixed(t), opt)
			if resultText(t, r) != want {
				t.Fatalf("cut after %d bytes: another result; work %+v, was %+v", cut, r.Work, first.Work)
			}
			if again, _ := os.ReadFile(path); !bytes.Equal(resealed(timed.ReplaceAll(again, nil)), resealed(timed.ReplaceAll(whole, nil))) {
				t.Fatalf("cut after %d bytes: another journal", cut)
			}
			if cut == at {
				if r.Resumed < last {
					t.Errorf("cut after %d bytes: %d scores were there, fewer than with a shorter journal", cut, r.Resumed)
				}
				last = r.Resumed
			}
		}
		at += len(line)
	}
	if r := searched(t, src, mixed(t), opt); r.Resumed == 0 || resultText(t, r) != want {
		t.Errorf("a whole journal: %d scores were there", r.Resumed)
	}
}

func TestJournalsKeepSeconds(t *testing.T) {
	src := rings(t, 90, 3, 2)
	path := filepath.Join(t.TempDir(), "j")
	opt := TuneOptions{Journal: path, Folds: Folds{K: 2}, Seed: 1}
	first := searched(t, src, mixed(t), opt)
	again := byIndex(searched(t, src, mixed(t), opt))
	for i, c := range byIndex(first) {
		if !(c.Seconds > 0) || again[i].Seconds != c.Seconds {
			t.Errorf("%v: %g s, and %g s by the journal", c.Values, c.Seconds, again[i].Seconds)
		}
	}
	// Seconds and sizes may be missing.
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := regexp.MustCompile(`,"[td]":[0-9.e-]+`).ReplaceAll(text, nil)
	old = resealed(old)
	if bytes.Equal(old, text) || os.WriteFile(path, old, 0o644) != nil {
		t.Fatal("the journal has no seconds")
	}
	r := searched(t, src, mixed(t), opt)
	if r.Resumed != len(r.Candidates)*r.Splits || resultText(t, r) != resultText(t, first) || r.Picked.Seconds != 0 {
		t.Errorf("a journal without seconds: %d scores were there, %g s", r.Resumed, r.Picked.Seconds)
	}
}

func TestSecondsOfAJobAreDivided(t *testing.T) {
	rec := &record{Scores: []score{{Seconds: 3}, {Seconds: 1}, {}, {}}}
	rec.divide(10, 0.5)
	for i, want := range []float64{5, 3, 2, 2} { // 6 of 10 are shared, and 0.5 for each
		if got := rec.Scores[i].Seconds; got != want {
			t.Errorf("score %d has %g s, want %g", i, got, want)
		}
	}
}

func TestJournalOfAnotherSearchIsAnError(t *testing.T) {
	src := rings(t, 60, 2, 2)
	path := filepath.Join(t.TempDir(), "j")
	space := func(gamma string) Space {
		return Space{Base: train.Config{Map: train.Map{Features: 16}}, Axes: []Axis{axis(t, "gamma", gamma), axis(t, "learner", "ridge")}}
	}
	opt := TuneOptions{Journal: path, Folds: Folds{K: 2}}
	searched(t, src, space("1"), opt)
	journal, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := opt
	other.Folds.Seed = 9
	strict := opt
	strict.Strict = true
	for _, c := range []struct {
		name string
		text string
		run  func() error
		want string
	}{
		{"other rows", string(journal), func() error {
			_, err := Tune(context.Background(), rings(t, 61, 2, 2), space("1"), opt)
			return err
		}, "on other data"},
		{"the same number of other rows", string(journal), func() error {
			_, err := Tune(context.Background(), rings(t, 60, 3, 2), space("1"), opt)
			return err
		}, "on other data"},
		{"other values", string(journal), func() error {
			_, err := Tune(context.Background(), src, space("1,2"), opt)
			return err
		}, "another space"},
		{"other folds", string(journal), func() error {
			_, err := Tune(context.Background(), src, space("1"), other)
			return err
		}, "another space"},
		{"strict", string(journal), func() error {
			_, err := Tune(context.Background(), src, space("1"), strict)
			return err
		}, "another space"},
		{"no journal", "a,b,c\n1,2,3\n", func() error {
			_, err := Tune(context.Background(), src, space("1"), opt)
			return err
		}, "not a tuning's journal"},
		{"a wrong line", strings.Replace(string(journal), `{"job"`, `{"jo`, 1), func() error {
			_, err := Tune(context.Background(), src, space("1"), opt)
			return err
		}, "line 2"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := c.run(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", c.name, err)
		}
		if after, _ := os.ReadFile(path); string(after) != c.text {
			t.Errorf("%s: the file was changed", c.name)
		}
	}
}

// A journal in which bytes have changed, or lines come twice, are missing or in another order, gives the result of a whole one or an
// error that names the file; so does one whose records were altered and have the checksums of what they are now.
func TestMutatedJournalsGiveTheSameResultOrAnError(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	src := rings(t, 90, 3, 2)
	path := filepath.Join(t.TempDir(), "j")
	opt := TuneOptions{Journal: path, Folds: Folds{K: 2}, Search: "halving", Seed: 1}
	first := searched(t, src, mixed(t), opt)
	work, scores := first.Work, searched(t, src, mixed(t), opt).Resumed
	want := resultText(t, first)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	same, refused := 0, 0
	try := func(what string, text []byte, mayDiffer bool) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Tune(context.Background(), src, mixed(t), opt)
		if err == nil {
			r.Work = work // more where a line is missing
		}
		switch {
		case err != nil && strings.HasPrefix(err.Error(), path+": "):
			refused++
		case err != nil:
			t.Errorf("%s: %v", what, err)
		case resultText(t, r) == want && r.Resumed <= scores:
			same++
		case !mayDiffer:
			t.Errorf("%s: another result, of %d scores that were there", what, r.Resumed)
		}
	}
	for at := 0; at < len(whole); at += 1 + at%29 {
		for _, bit := range []byte{1, 32} {
			text := bytes.Clone(whole)
			text[at] ^= bit
			try(fmt.Sprintf("bit %d of byte %d", bit, at), text, false)
		}
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(bytes.Clone(lines[len(lines)-1]), '\n')
	for i, line := range lines {
		for name, with := range map[string][][]byte{"twice": {line, line}, "missing": {}, "empty": {[]byte("\n")}} {
			try(fmt.Sprintf("line %d %s", i+1, name), bytes.Join(slices.Replace(slices.Clone(lines), i, i+1, with...), nil), false)
		}
		try(fmt.Sprintf("line %d at the end", i+1), bytes.Join(append(slices.Delete(slices.Clone(lines), i, i+1), line), nil), false)
		try(fmt.Sprintf("line %d again at the end", i+1), bytes.Join(append(slices.Clone(lines), line), nil), false)
	}
	if same < 10 || refused < 50 {
		t.Errorf("%d had the same result, %d were refused", same, refused)
	}
	number := regexp.MustCompile(`"[cs]":\d+|"left":\["[^"]*",|\},\{`)
	altered := 0
	for _, at := range number.FindAllIndex(whole, -1) {
		for _, with := range []string{`"c":99`, `"s":-1`, `"left":[`, "},null,{"} {
			if with[:2] != string(whole[at[0]:at[0]+2]) {
				continue
			}
			altered++
			before := refused
			if try(with, resealed(slices.Concat(whole[:at[0]], []byte(with), whole[at[1]:])), true); refused == before {
				t.Errorf("%s instead of %s is not refused", with, whole[at[0]:at[1]])
			}
		}
	}
	testenv.Tried(t, "journals flipped, cut and altered", same+refused, 0)
	if altered < 20 {
		t.Errorf("%d altered records", altered)
	}
}

// unreadable is a source that cannot be opened once.
type unreadable struct {
	dataset.Source
	passes, fails int
}

func (u *unreadable) Open(ctx context.Context) (dataset.Reader, error) {
	if u.passes++; u.passes == u.fails {
		return nil, fmt.Errorf("rows: %w", syscall.EIO)
	}
	return u.Source.Open(ctx)
}

// Rows that cannot be read once end a search: no candidate loses by it.
func TestUnreadableRowsEndASearch(t *testing.T) {
	passes := 1
	for fails := 1; fails <= passes; fails++ {
		src := &unreadable{Source: rings(t, 60, 3, 2), fails: fails}
		_, err := Tune(context.Background(), src, mixed(t), TuneOptions{Folds: Folds{K: 2}, Seed: 1})
		if passes = max(passes, src.passes+1); err == nil && src.passes < fails {
			return // there are no more
		}
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("pass %d cannot be read: %v", fails, err)
		}
	}
	t.Error("no search was whole")
}
