package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// full is a device without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// Text that could not be printed is an error of every command.
func TestFullDiskIsAnError(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "data.csv", curve(60))
	m := filepath.Join(dir, "m")
	ok(t, "train", data, "-o", m, "--features", "16")
	for _, args := range [][]string{
		{"train", data, "-o", m, "--features", "16"}, {"predict", m, data}, {"eval", m, data}, {"eval", m, data, "--json"},
		{"inspect", m}, {"inspect", m, "--json"}, {"maps"}, {"--help"}, {"train", "--help"},
	} {
		var stderr bytes.Buffer
		code := Run(context.Background(), args, strings.NewReader(""), full{}, &stderr)
		if code != 1 || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
}
