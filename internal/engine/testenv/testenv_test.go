package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// witness is a test that tells how it ended.
type witness struct {
	testing.TB
	end string
}

func (w *witness) Helper() {}

func (w *witness) Skipf(format string, args ...any) {
	w.end = "skipped: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (w *witness) Fatalf(format string, args ...any) {
	w.end = "failed: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// ended says how a test ends that asks for something.
func ended(t *testing.T, ask func(t testing.TB)) string {
	w := &witness{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		ask(w)
		w.end = "went on"
	}()
	<-done
	return w.end
}

func TestWhatLacksSkipsOrFails(t *testing.T) {
	data := t.TempDir()
	t.Setenv("MERCER_DATA", data)
	os.Mkdir(filepath.Join(data, "set"), 0o755)
	os.WriteFile(filepath.Join(data, "set", "a.gz"), nil, 0o644)
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	name := "tool"
	if runtime.GOOS == "windows" {
		name = "tool.exe"
	}
	os.WriteFile(filepath.Join(bin, name), nil, 0o755)

	for _, c := range []struct {
		name           string
		ask            func(t testing.TB)
		plain, inCI    string
		ofWhatItLacked string
	}{
		{"data", func(t testing.TB) { Data(t, "set/a.gz") }, "went on", "went on", ""},
		{"the folder", func(t testing.TB) { Data(t, "") }, "went on", "went on", ""},
		{"a program", func(t testing.TB) { Program(t, "other", "tool") }, "went on", "went on", ""},
		{"no data", func(t testing.TB) { Data(t, "set/b.gz") }, "skipped", "failed", "b.gz"},
		{"no program", func(t testing.TB) { Program(t, "other", "another") }, "skipped", "failed", "other, another is not installed"},
		{"no processor", func(t testing.TB) { Machine(t, "no AVX-512") }, "skipped", "skipped", "no AVX-512"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for ci, want := range map[string]string{"": c.plain, "1": c.inCI} {
				t.Setenv("MERCER_CI", ci)
				got := ended(t, c.ask)
				if !strings.HasPrefix(got, want) || !strings.Contains(got, c.ofWhatItLacked) {
					t.Errorf("MERCER_CI=%q: %s, want %s", ci, got, want)
				}
			}
		})
	}
}

func TestPathsOfData(t *testing.T) {
	t.Setenv("MERCER_DATA", t.TempDir())
	os.WriteFile(filepath.Join(os.Getenv("MERCER_DATA"), "x"), []byte("there"), 0o644)
	if text, err := os.ReadFile(Data(t, "x")); err != nil || string(text) != "there" {
		t.Errorf("%q, %v", text, err)
	}
	t.Setenv("MERCER_DATA", "internal/engine/testenv")
	if _, err := os.Stat(Data(t, "testenv.go")); err != nil {
		t.Errorf("from the root on: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root(t), "internal", "engine", "testenv", "testenv.go")); err != nil {
		t.Error(err)
	}
}

func TestLongTestsRunWhenAsked(t *testing.T) {
	cases := []int{0, 1, 2, 3, 4, 5, 6}
	for asked, want := range map[string]string{"": "skipped", "1": "went on", "0": "skipped"} {
		t.Setenv("MERCER_LONG", asked)
		if end := ended(t, func(t testing.TB) { Long(t, "much") }); !strings.HasPrefix(end, want) {
			t.Errorf("MERCER_LONG=%q: a long test %s", asked, end)
		}
		if size := Size(t, 3, 7, "much"); asked == "1" && size != 7 || asked != "1" && size != 3 {
			t.Errorf("MERCER_LONG=%q: size %d", asked, size)
		}
		few := Few(t, cases, 3, "much")
		if asked == "1" && len(few) != 7 || asked != "1" && !slices.Equal(few, []int{0, 2, 4}) {
			t.Errorf("MERCER_LONG=%q: cases %v", asked, few)
		}
	}
}
