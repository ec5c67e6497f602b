package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A table whose lines end in carriage returns alone is that with newlines, in every encoding and format of text.
func TestCarriageReturnsAloneEndLines(t *testing.T) {
	var table, rows strings.Builder
	table.WriteString("a,b,y\n")
	for i := range 30 {
		fmt.Fprintf(&table, "%d,%d,%c\n", i, i*i%7, 'p'+i%2)
		fmt.Fprintf(&rows, "%d 1:%d 3:0.5\n", i%2, i+1)
	}
	wide := func(text string) string {
		out := []byte{0xff, 0xfe}
		for _, c := range []byte(text) {
			out = append(out, c, 0)
		}
		return string(out)
	}
	same := func(text string) string { return text }
	for name, c := range map[string]struct {
		text   string
		opt    Options
		encode func(string) string
	}{
		"utf-8":    {table.String(), Options{Label: "y"}, same},
		"latin-1":  {table.String(), Options{Label: "y", Encoding: "latin-1"}, same},
		"utf-16":   {table.String(), Options{Label: "y"}, wide},
		"libsvm":   {rows.String(), Options{}, same},
		"one line": {"1,2,3", Options{}, same},
	} {
		describe := func(text string) string {
			src, err := OpenBytes(context.Background(), "data", []byte(c.encode(text)), c.opt)
			if err != nil {
				return err.Error()
			}
			defer src.Close()
			sum, err := Survey(context.Background(), src, SurveyOptions{})
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(sum.Rows, src.Schema().Dim, src.Schema().Columns)
		}
		want, got := describe(c.text), describe(strings.ReplaceAll(c.text, "\n", "\r"))
		if got != want || name != "one line" && !strings.HasPrefix(want, "30 ") {
			t.Errorf("%s: %s, with newlines %s", name, got, want)
		}
	}
}

// A device that has no end is refused, and takes no disk for long.
func TestDevicesWithoutEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	_, err := Open(context.Background(), "/dev/zero", Options{})
	if err == nil || !strings.Contains(err.Error(), "device") || strings.Count(err.Error(), "/dev/zero") != 1 {
		t.Error(err)
	}
}

// A damaged file is named once.
func TestDamagedFilesAreNamedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	for i := range 300_000 {
		fmt.Fprintf(w, "%d,%d\n", i, i*i)
	}
	w.Close()
	for _, cut := range []int{5, 30, z.Len() / 2, z.Len() - 4} {
		path := filepath.Join(t.TempDir(), "rows.csv.gz")
		if err := os.WriteFile(path, z.Bytes()[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := Open(context.Background(), path, Options{})
		if err == nil {
			_, err = Survey(context.Background(), src, SurveyOptions{})
			src.Close()
		}
		if err == nil || strings.Count(err.Error(), path) != 1 {
			t.Errorf("cut after %d bytes: %v", cut, err)
		}
	}
}

// A file that is written to between two passes, or in one, is an error. One that is replaced is read to its end as it was.
func TestFilesThatChangeAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // few blocks are read ahead, so that most of the file is not read when it changes
	text := strings.Repeat("1,2,3\n4,5,6\n", 600_000)
	for name, change := range map[string]func(path string) error{
		"grown": func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("7,8,9\n")
				f.Close()
			}
			return err
		},
		"cut":         func(path string) error { return os.Truncate(path, 600) },
		"overwritten": func(path string) error { return os.WriteFile(path, []byte(strings.ReplaceAll(text, "5", "7")), 0o600) },
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("1,2,3\n"), 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		for _, within := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "rows.csv")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			old := time.Now().Add(-time.Hour) // so that the time of the change is another on any file system
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
			src, err := Open(context.Background(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			changed, rows := within, 0
			if !within {
				if _, err = Survey(context.Background(), src, SurveyOptions{}); err != nil {
					t.Fatal(err)
				}
				if err := change(path); err != nil {
					t.Fatal(err)
				}
			}
			for b, failed := range Each(context.Background(), src) {
				if err = failed; err != nil {
					break
				}
				rows += b.X.Len()
				if changed {
					changed = false
					if err := change(path); err != nil {
						t.Fatal(err)
					}
				}
			}
			src.Close()
			switch {
			case name == "replaced" && (err != nil || rows != 1_200_000):
				t.Errorf("%s, within a pass %v: %d rows, %v", name, within, rows, err)
			case name != "replaced" && (err == nil || !strings.Contains(err.Error(), "has changed") || strings.Count(err.Error(), path) != 1):
				t.Errorf("%s, within a pass %v: %d rows, %v", name, within, rows, err)
			}
		}
	}
}
