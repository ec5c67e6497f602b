package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mercer/internal/whole"
)

// goesOn makes of an interruption an error that tells how to go on.
func goesOn(ctx context.Context, err error, journal string) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("interrupted; what is done is in %s, and the same command goes on from there", journal)
}

// namedFile is a file of a command, and the flag or argument that names it.
type namedFile struct{ by, path string }

// checkApart refuses outputs that are the same file as another output, or as an input, which
// they would replace. Inputs may be the same; a file without a path is none.
func checkApart(outputs []namedFile, inputs ...namedFile) error {
	for i, out := range outputs {
		if st, err := os.Stat(out.path); out.path == "" || err == nil && !st.Mode().IsRegular() {
			continue // a device takes anything
		}
		for _, other := range append(outputs[:i:i], inputs...) {
			if other.path != "" && sameFile(out.path, other.path) {
				return usagef("%s and %s are both %s; give another name", other.by, out.by, out.path)
			}
		}
	}
	return nil
}

// sameFile says whether two paths are of the same file, also of one that is not there yet.
func sameFile(a, b string) bool {
	x, errX := filepath.Abs(a)
	y, errY := filepath.Abs(b)
	if errX == nil && errY == nil && x == y {
		return true
	}
	s, errS := os.Stat(a)
	t, errT := os.Stat(b)
	return errS == nil && errT == nil && os.SameFile(s, t)
}

// writable says whether files can be written, before hours of work; a file without a path is none.
func writable(paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		f, err := whole.Create(path)
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}
