package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// orders are rows of a shop; those of a part have their numbers from first on.
func orders(first, n int, columns string) string {
	var b strings.Builder
	b.WriteString(columns + ",returned\n")
	for i := first; i < first+n; i++ {
		returned := "no"
		if (i*7%50 > 20) == (i%3 == 1) {
			returned = "yes"
		}
		fmt.Fprintf(&b, "%d,%d.%d,%s,%s\n", 1000+i*3%977, i*7%50, i%10, []string{"Bonn", "Ulm", "\"a, b\""}[i%3], returned)
	}
	return b.String()
}

// The commands of the guide's chapter about sources run, in their order.
func TestSourcesOfTheGuide(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	text, err := os.ReadFile("../../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	script := scriptOf(t, string(text), "My data are in Parquet, in a database, or on the web")
	dir := t.TempDir()
	const columns = "order,price,town"
	write(t, dir, "orders.csv", orders(0, 200, columns))
	for _, part := range []string{"parts", "sales/country=DE", "sales/country=FR"} {
		if err := os.MkdirAll(filepath.Join(dir, part), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, part), "a.csv", orders(0, 100, columns))
		write(t, filepath.Join(dir, part), "b.csv", orders(100, 100, columns))
	}
	if err := os.Symlink(program(t), filepath.Join(dir, "mercer")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-e", "-c", "PATH=.:$PATH\n"+script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	one, err := os.ReadFile(filepath.Join(dir, "orders.mercer"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(filepath.Join(dir, "parts.mercer"))
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("models of %d and %d bytes differ (%v)", len(one), len(two), err)
	}
	if got := ok(t, "inspect", filepath.Join(dir, "sales.mercer")); !strings.Contains(got, "country") {
		t.Error(got)
	}
	if got := ok(t, "inspect", filepath.Join(dir, "predictions.parquet"), "--label", "prediction"); !strings.Contains(got, "order") || !strings.Contains(got, "200 ×") {
		t.Error(got)
	}
}

// scriptOf are the commands of a chapter of the guide that a test runs.
func scriptOf(t *testing.T, guide, chapter string) string {
	t.Helper()
	_, rest, _ := strings.Cut(guide, "## "+chapter+"\n")
	_, script, found := strings.Cut(rest, "```sh\n")
	script, _, _ = strings.Cut(script, "```")
	if !found {
		t.Fatalf("the guide has no such commands: %s", chapter)
	}
	return script
}
