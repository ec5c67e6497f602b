package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func open(t *testing.T, path string) (*Journal, []string) {
	var lines []string
	j, err := Open(path, "head", func(number int, line []byte) error {
		if lines = append(lines, strings.TrimSpace(string(line))); len(lines) != number {
			t.Errorf("line %d is number %d", len(lines), number)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return j, lines
}

// Wherever a file is cut, or has zeros from there on, the lines before stay, and what is added stands behind them.
func TestCutJournalsGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, lines := open(t, path)
	if len(lines) > 0 {
		t.Fatal(lines)
	}
	for i := range 3 {
		if err := j.Add(i); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
	text, err := os.ReadFile(path)
	want := ""
	for _, line := range []string{`"head"`, "0", "1", "2"} {
		want += string(Seal([]byte(line)))
	}
	if err != nil || string(text) != want {
		t.Fatalf("%q, %v", text, err)
	}
	for cut := range 2 * len(text) {
		left := slices.Clone(text) // every other time with zeros behind the cut, where the size has reached the disk and not what was written
		if clear(left[(cut+1)/2:]); cut%2 == 0 {
			left = left[:cut/2]
		}
		cut = (cut + 1) / 2
		if err := os.WriteFile(path, left, 0o600); err != nil {
			t.Fatal(err)
		}
		j, lines := open(t, path)
		if want := strings.Count(string(text[:cut]), "\n"); len(lines) != want {
			t.Errorf("cut after %d bytes: %q", cut, lines)
		}
		if err := j.Add("more"); err != nil {
			t.Fatal(err)
		}
		j.Close()
		_, again := open(t, path)
		if want := append(lines, `"more"`); !slices.Equal(again, want) &&
			!(len(lines) == 0 && slices.Equal(again, []string{`"head"`, `"more"`})) {
			t.Errorf("cut after %d bytes: %q, then %q", cut, lines, again)
		}
	}
}

func TestManyAddLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, _ := open(t, path)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if err := j.Add("a line"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	j.Close()
	if _, lines := open(t, path); len(lines) != 81 || lines[80] != `"a line"` {
		t.Errorf("%d lines", len(lines))
	}
}

func TestJournalErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, _ := open(t, path)
	if err := j.Add(func() {}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a function was written: %v", err)
	}
	j.Close()
	if err := j.Add(1); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a closed file was written: %v", err)
	}
	bad := errors.New("no")
	if _, err := Open(path, "head", func(int, []byte) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("%v, want what read says", err)
	}
	if _, err := Open(filepath.Dir(path), "head", nil); err == nil {
		t.Error("a folder is a journal")
	}
	none, err := Open("", "head", nil)
	if err != nil || none.Add(1) != nil {
		t.Errorf("no file: %v", err)
	}
	none.Close()
}

// Every flipped bit of a line, the first as well, is found, before anything behind it is used.
func TestFlippedBitsAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, _ := open(t, path)
	for i := range 3 {
		if err := j.Add(map[string]int{"score": 100 + i}); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(text)-1; at++ { // without the last newline a line is one cut short
		for bit := range 8 {
			flipped := append([]byte(nil), text...)
			flipped[at] ^= 1 << bit
			if err := os.WriteFile(path, flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			if j, err := Open(path, "head", func(int, []byte) error { return nil }); err == nil {
				j.Close()
				t.Fatalf("bit %d of byte %d flipped: %q is read", bit, at, flipped)
			}
			if now, _ := os.ReadFile(path); string(now) != string(flipped) {
				t.Fatalf("bit %d of byte %d flipped: the file was changed", bit, at)
			}
		}
	}
}

// A device has no end, and is no journal.
func TestDevicesAreNoJournals(t *testing.T) {
	if _, err := Open(os.DevNull, "head", func(int, []byte) error { return nil }); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Error(err)
	}
}

// A file of other things is kept though it has no whole line; what a power failure leaves of a journal, zeros among it, is one.
func TestWhatIsNoJournalIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	for text, journal := range map[string]bool{
		"": true, `"he`: true, "\x00\x00\x00": true, `"head" "0` + "\x00\x00": true, "notes": false, `{"a":1}`: false, "\x00\x00x": false,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(path, "head", func(int, []byte) error { return nil })
		if (err == nil) != journal {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil {
			j.Close()
		} else if now, _ := os.ReadFile(path); string(now) != text || !strings.Contains(err.Error(), path+": is not a journal") {
			t.Errorf("%q: %v, and %q is left", text, err, now)
		}
	}
}
