//go:build linux && amd64

package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mercer/internal/engine/testenv"
)

// alterations are what others do to a file while it is read.
var alterations = map[string]func(path string, was, other []byte) error{
	"cut":     func(path string, was, _ []byte) error { return os.Truncate(path, int64(len(was)/2)) },
	"emptied": func(path string, _, _ []byte) error { return os.Truncate(path, 0) },
	"grown": func(path string, was, _ []byte) error {
		return os.WriteFile(path, append(slices.Clone(was), was[len(was)/2:]...), 0o644)
	},
	"overwritten": func(path string, _, other []byte) error { return os.WriteFile(path, other, 0o644) },
	"replaced": func(path string, _, other []byte) error {
		if err := os.WriteFile(path+".new", other, 0o644); err != nil {
			return err
		}
		return os.Rename(path+".new", path)
	},
	"removed": func(path string, _, _ []byte) error { return os.Remove(path) },
}

// otherText is text of the same length with other digits.
func otherText(text []byte) []byte {
	other := slices.Clone(text)
	for i := len(other) - 1; i > len(other)/2; i-- {
		if other[i] >= '1' && other[i] <= '8' {
			other[i]++
		}
	}
	return other
}

// A file that others change at any call of a command, be it data, a model or an index, is read as it was or as it is then, or is an error: the
// command makes what it makes of the one or of the other, and nothing else.
func TestFilesThatChangeAtACall(t *testing.T) {
	tried, broke := 0, 0
	some := func(all []*job) []*job { return testenv.Few(t, all, 3, "files of every command change at its calls") }
	eachJob(t, some, func(t *testing.T, j *job, jobs int, random *rand.Rand) {
		if len(j.varies) > 1 {
			return
		}
		for _, input := range append(slices.Clone(j.args), j.stdin) {
			was, err := os.ReadFile(input)
			if err != nil || strings.HasPrefix(input, j.dir) {
				continue
			}
			at := digitsOfNames.ReplaceAllString(input, "0")
			var calls []*sysCall
			for _, c := range j.points {
				if c.path == at && (c.n < 2 || c.n == j.last[c.key()]) {
					calls = append(calls, c)
				}
			}
			for how := range alterations {
				calls = drawn(random, calls, 1+*faults/60/jobs)
				a, b := j.change(t, input, how, was, calls)
				tried, broke = tried+a, broke+b
			}
		}
	})
	testenv.Tried(t, "inputs that others change", tried, broke)
}

// change runs the job with an input that is another file from the beginning, and becomes it at each of some calls.
func (j *job) change(t *testing.T, input, how string, was []byte, calls []*sysCall) (tried, broke int) {
	t.Helper()
	alter := func() {
		if err := alterations[how](input, was, otherText(was)); err != nil {
			t.Error(err)
		}
	}
	past := time.Now().Add(-time.Hour)
	run := func(at *sysCall) (end ended, files map[string][]byte) {
		os.Remove(input)
		if err := os.WriteFile(input, was, 0o644); err != nil {
			t.Fatal(err)
		}
		os.Chtimes(input, past, past)
		if at == nil {
			alter()
		}
		j.fresh(t)
		end = traced(t, t.TempDir(), j.stdin, j.args, func(c *sysCall) tampering {
			if at != nil && c.key() == at.key() && c.n == at.n {
				alter()
				tried++
			}
			return tampering{}
		})
		return end, diskFiles(t, j.dir)
	}
	defer os.WriteFile(input, was, 0o644)
	same := func(a, b map[string][]byte) bool {
		for path, text := range a {
			if !bytes.Equal(b[path], text) && !j.varies[path] {
				return false
			}
		}
		return len(a) == len(b)
	}
	then, new := run(nil)
	for _, c := range calls {
		end, files := run(c)
		stdout := timesInText.ReplaceAllString(end.stdout, "0")
		wrong := ""
		switch {
		case end.signal != 0 || end.code > 1 || strings.Contains(end.stderr, "goroutine "):
			wrong = "the wrong end"
		case end.code == 1 && (end.stderr == "" || !same(files, j.before)) && !strings.HasPrefix(j.args[0], "shard"):
			wrong = "an error, and files have changed"
		case end.code == 0 && !same(files, j.after) && (then.code != 0 || !same(files, new)):
			wrong = "files that neither the old nor the new one gives"
		case end.code == 0 && j.stdout != "" && stdout != j.stdout && (then.code != 0 || stdout != timesInText.ReplaceAllString(then.stdout, "0")):
			wrong = fmt.Sprintf("prints what neither the old nor the new one gives:\n%s\nbefore\n%s", end.stdout, j.stdout)
		}
		if wrong != "" {
			broke++
			t.Errorf("mercer %s: %s %s at call %d of %s: exit code %d, signal %d, %s\n\t%s", strings.Join(j.args, " "), input, how, c.n, c.key(), end.code,
				end.signal, strings.TrimSpace(end.stderr[:min(len(end.stderr), 600)]), wrong)
		}
	}
	return tried, broke
}
