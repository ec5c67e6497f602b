package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"mercer/internal/engine/visible"
)

// Nothing that others have named reaches a terminal as a control character, nor passes for a line of its own.
func TestNamesCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	const evil = "\x1b[31m\u009b\u202e\x7f\nsaved     all is well\r"
	dir := filepath.Join(t.TempDir(), "dir"+evil)
	if runtime.GOOS == "windows" {
		return // it has no such names
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\"a%s\",b,\"c%[1]s\",\"y%[1]s\"\n", evil)
	for i := range 80 {
		fmt.Fprintf(&text, "%d,%d,\"red%s\",\"%s%[3]s\"\n", i%2*10+i%3, i%5, evil, []string{"p", "q"}[i%2])
	}
	data, m, index := write(t, dir, "data"+evil+".csv", text.String()), filepath.Join(dir, "m"+evil), filepath.Join(dir, "ix"+evil)
	stats := filepath.Join(dir, "st"+evil)
	for _, c := range []struct {
		code int
		args []string
	}{
		{0, []string{"train", data, "-o", m, "--learner", "ridge", "--features", "16", "--save-stats", stats}},
		{0, []string{"inspect", m}}, {0, []string{"inspect", m, "--json"}}, {0, []string{"inspect", data}}, {0, []string{"inspect", stats}},
		{0, []string{"predict", m, data}}, {0, []string{"predict", m, data, "--json"}}, {0, []string{"predict", m, data, "--check"}},
		{0, []string{"eval", m, data, "--per-class"}}, {0, []string{"explain", m, data}}, {0, []string{"explain", m, data, "--rows", "1"}},
		{0, []string{"index", data, "-o", index}}, {0, []string{"search", index, data}},
		{0, []string{"convert", data, filepath.Join(dir, "out"+evil+".csv")}}, {0, []string{"train", data, "--estimate"}},
		{0, []string{"train", data, "-o", m, "--learner", "ridge", "--features", "16", "--progress", "never"}},
		{0, []string{"curve", data, "--learner", "ridge"}}, {0, []string{"approx", data}},
		{0, []string{"tune", data, "-o", m, "--learner", "ridge", "--folds", "2", "--features", "16"}},
		{1, []string{"train", data, "-o", m, "--ignore", "no" + evil}}, {1, []string{"train", data, "-o", m, "--numeric", "c" + evil}},
		{1, []string{"train", data + "no", "-o", m}}, {1, []string{"predict", data, data}}, {2, []string{"train", data, "-o", data}},
		{2, []string{"train", data, "-o", m, "--learner", "x" + evil}}, {2, []string{"train" + evil}}, {2, []string{"train", data, "--x" + evil}},
		{2, []string{"train", data, "-o", m, "--map", "@" + data}}, {1, []string{"search", m, data}},
		{2, []string{"train", data, "-o", m, "--map", `{"map":"chain","steps":[{"map":"x\u001b[31m"}]}`}},
	} {
		r := mercer(t, c.args...)
		if r.code != c.code {
			t.Errorf("%q: exit code %d, want %d; %q", c.args, r.code, c.code, r.stderr)
		}
		for _, text := range []string{r.stdout, r.stderr} {
			hidden := func(r rune) bool { return r != '\n' && r != '\t' && visible.Hidden(r) || r == unicode.ReplacementChar }
			if at := strings.IndexFunc(text, hidden); at >= 0 {
				t.Errorf("%q writes %q", c.args, text[max(0, at-40):min(len(text), at+40)])
			}
			if strings.Contains(text, "\nsaved     all is well") {
				t.Errorf("%q: a name is a line: %q", c.args, text)
			}
		}
	}
}
