package serve

import (
	"os"
	"testing"
	"time"
)

// moment makes every file that a test writes newer than the one before.
var moment = time.Now().Add(-time.Hour)

func mustMake(t testing.TB, folder string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
}

func mustWrite(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	moment = moment.Add(time.Second)
	if err := os.Chtimes(path, moment, moment); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustRemove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
