package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// A model of a table in Windows-1252 keeps its labels apart, predicts the same for the table in UTF-8, and the table without
// --encoding is refused with its line.
func TestEncodingOfTables(t *testing.T) {
	dir := t.TempDir()
	var single, utf strings.Builder
	single.WriteString("n,y,x\n")
	utf.WriteString("n,y,x\n")
	for i := range 120 {
		x := []string{"1,caf\xe9,0.5", "2,caf\xe8,1.5", "7,th\xe9,2.5"}[i%3]
		single.WriteString(x + "\n")
		utf.WriteString(strings.NewReplacer("\xe9", "é", "\xe8", "è").Replace(x) + "\n")
	}
	latin, data := write(t, dir, "latin.csv", single.String()), write(t, dir, "utf.csv", utf.String())
	m := filepath.Join(dir, "m")
	if r := mercer(t, "train", latin, "--label", "y", "-o", m); r.code == 0 || !strings.Contains(r.stderr, "latin.csv:2") ||
		!strings.Contains(r.stderr, "--encoding windows-1252") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	ok(t, "train", latin, "--label", "y", "--encoding", "windows-1252", "-o", m)
	for path, encoding := range map[string]string{latin: "latin-1", data: "auto"} {
		lines := strings.Split(ok(t, "predict", m, path, "--encoding", encoding), "\n")
		if len(lines) < 4 || lines[0] != "café" || lines[1] != "cafè" || lines[2] != "thé" {
			t.Errorf("%s: %.4q", path, lines)
		}
	}
}
