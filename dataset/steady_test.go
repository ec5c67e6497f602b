package dataset

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mercer/internal/read/outside"
	"mercer/matrix"
)

// In one piece of work a file is opened several times: it is the same each time, or an error says what changed.
func TestOneStateOfAFile(t *testing.T) {
	const text = "a,b,y\n1,2,3\n4,5,6\n7,8,9\n"
	rewrite := func(text string) func(path string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	for name, c := range map[string]struct {
		change func(path string) error
		want   string
	}{
		"replaced": {func(path string) error {
			if err := rewrite(text)(path + ".new"); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		}, "another file has taken its place"},
		"grown":   {rewrite(text + "1,1,1\n"), "it had 24 bytes and has 30"},
		"cut":     {rewrite(text[:12]), "it had 24 bytes and has 12"},
		"touched": {func(path string) error { return os.Chtimes(path, time.Now(), time.Unix(5e8, 0)) }, "its time was"},
		"written in the same moment": {func(path string) error {
			st, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := rewrite(strings.ReplaceAll(text, "5", "7"))(path); err != nil {
				return err
			}
			return os.Chtimes(path, st.ModTime(), st.ModTime())
		}, "its size and time are as they were, and what is in it is not"},
	} {
		for _, whole := range []string{"rows.csv", ""} { // "": the folder that it is in
			dir := t.TempDir()
			path := filepath.Join(dir, "rows.csv")
			if err := rewrite(text)(path); err != nil {
				t.Fatal(err)
			}
			ctx, done := Steady(context.Background())
			if err := openedAndRead(ctx, filepath.Join(dir, whole), Options{}); err != nil {
				t.Fatal(err)
			}
			if err := openedAndRead(ctx, filepath.Join(dir, whole), Options{}); err != nil {
				t.Errorf("%s: not changed: %v", name, err)
			}
			if err := c.change(path); err != nil {
				t.Fatal(err)
			}
			err := openedAndRead(ctx, filepath.Join(dir, whole), Options{})
			if err == nil || !strings.HasPrefix(err.Error(), path+": the file has changed") || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), path) != 1 {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			done()
			if err := openedAndRead(context.Background(), path, Options{}); err != nil {
				t.Errorf("%s: another piece of work: %v", name, err)
			}
		}
	}
}

// A file that is written to while it is open is an error of the next pass, whatever its format.
func TestEveryFormatIsOneState(t *testing.T) {
	ctx := context.Background()
	for _, format := range RowFormats() {
		path := filepath.Join(t.TempDir(), "rows")
		w, err := CreateRows(path, format, 2)
		if err != nil {
			t.Fatal(err)
		}
		x := matrix.NewDense(50, 2)
		for i := range x.Data {
			x.Data[i] = float32(i%7 + 1)
		}
		if err := w.Write(&matrix.Batch{X: matrix.Rows{Dense: x}, Outputs: 1, Y: make([]float64, 50)}); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		src, err := Open(ctx, path, Options{})
		if err != nil {
			t.Fatal(format, err)
		}
		if err := passed(ctx, src); err != nil {
			t.Fatal(format, err)
		}
		if err := os.Chtimes(path, time.Now(), time.Unix(5e8, 0)); err != nil {
			t.Fatal(err)
		}
		if err := passed(ctx, src); err == nil || !strings.Contains(err.Error(), "the file has changed while it is read") || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: %v", format, err)
		}
		src.Close()
	}
}

// What comes once, or is asked for, is the same when it is opened again.
func TestWhatComesOnceIsKept(t *testing.T) {
	defer func(before func(context.Context, string) (io.ReadCloser, int64, error)) { outside.Fetch = before }(outside.Fetch)
	asked := 0
	outside.Fetch = func(context.Context, string) (io.ReadCloser, int64, error) {
		asked++
		return io.NopCloser(strings.NewReader(strings.Repeat("1,2\n", 3*asked))), -1, nil
	}
	ctx, done := Steady(context.Background())
	for range 3 {
		if rows := rowsAt(t, ctx, "https://example.com/rows.csv"); rows != 3 {
			t.Errorf("%d rows, want 3", rows)
		}
	}
	done()
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	if rows := rowsAt(t, context.Background(), "https://example.com/rows.csv"); rows != 6 {
		t.Errorf("another piece of work: %d rows, want 6", rows)
	}
}

func rowsAt(t *testing.T, ctx context.Context, path string) (rows int) {
	t.Helper()
	src, err := Open(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for b, err := range Each(ctx, src) {
		if err != nil {
			t.Fatal(err)
		}
		rows += b.X.Len()
	}
	return rows
}

// A folder whose files are others is an error that names them.
func TestOneStateOfAFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a,y\n1,2\n3,4\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1.csv")
	write("2.csv")
	ctx, done := Steady(context.Background())
	defer done()
	if err := openedAndRead(ctx, dir, Options{}); err != nil {
		t.Fatal(err)
	}
	write("3.csv")
	if err := openedAndRead(ctx, dir, Options{}); err == nil || !strings.Contains(err.Error(), "3.csv is new") {
		t.Errorf("a new file: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "3.csv")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "1.csv")); err != nil {
		t.Fatal(err)
	}
	if err := openedAndRead(ctx, dir, Options{}); err == nil || !strings.Contains(err.Error(), "1.csv is gone") {
		t.Errorf("a file less: %v", err)
	}
}

// openedAndRead reads all rows of a file that is opened for it.
func openedAndRead(ctx context.Context, path string, opt Options) error {
	src, err := Open(ctx, path, opt)
	if err != nil {
		return err
	}
	defer src.Close()
	return passed(ctx, src)
}

func passed(ctx context.Context, src Source) error {
	for _, err := range Each(ctx, src) {
		if err != nil {
			return err
		}
	}
	return nil
}
