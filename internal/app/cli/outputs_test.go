package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No command replaces a file that it reads, by whatever name.
func TestInputsAreNotReplaced(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	data := write(t, dir, "data.csv", curve(60))
	other := write(t, dir, "other.csv", curve(60))
	labels := write(t, dir, "labels.txt", strings.Repeat("1\n", 60))
	text := write(t, dir, "text.svm", "1 1:1 2:2\n-1 1:2 2:1\n1 1:1 2:3\n-1 1:3 2:1\n")
	sub := at("folder")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	inFolder := write(t, sub, "a.csv", curve(60))
	for link, to := range map[string]string{"link.csv": "data.csv", "round": "."} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(data, at("hard.csv")); err != nil {
		t.Fatal(err)
	}
	m, stats, liblinear := at("m"), at("s.stats"), at("l.model")
	ok(t, "train", data, "-o", m, "--learner", "ridge", "--features", "16", "--save-stats", stats)
	ok(t, "liblinear-train", "-q", text, liblinear)

	for _, args := range [][]string{
		{"predict", m, data, "-o", data},
		{"predict", m, data, "-o", m},
		{"predict", m, data, "-o", at("link.csv")},
		{"predict", m, data, "-o", at("hard.csv")},
		{"predict", m, at("link.csv"), "-o", data},
		{"predict", m, data, "-o", at("round/data.csv")},
		{"predict", m, data, "--labels", labels, "-o", labels},
		{"predict", m, sub, "-o", inFolder},
		{"transform", data, "-o", data, "--features", "16"},
		{"transform", m, data, "-o", m, "--output-format", "npy"},
		{"transform", m, data, "-o", data},
		{"transform", data, "--fit", other, "-o", other},
		{"kernel", data, "-o", at("round/data.csv")},
		{"kernel", data, other, "-o", other},
		{"merge", stats, "-o", stats},
		{"train", data, "-o", data},
		{"train", data, "--test", other, "-o", other},
		{"train", data, "--continue", m, "-o", data},
		{"train", data, "--append", stats, "-o", stats},
		{"eval", m, data, "--report", m},
		{"eval", m, data, "--labels", labels, "--report", labels},
		{"liblinear-train", text, text},
		{"liblinear-predict", text, liblinear, text},
		{"liblinear-predict", text, liblinear, liblinear},
	} {
		before := contents(t, dir)
		r := mercer(t, args...)
		if r.code == 0 {
			t.Errorf("%v: exit code 0", args)
		}
		for path, was := range before {
			if now, err := os.ReadFile(path); err != nil || string(now) != was {
				t.Errorf("%v: %s was replaced", args, path)
				os.WriteFile(path, []byte(was), 0o644)
			}
		}
		if args[0] != "kernel" && (r.code != 2 || !strings.Contains(r.stderr, "give another name")) {
			t.Errorf("%v: exit code %d, %s", args, r.code, r.stderr)
		}
	}
	// Devices take anything, and another name is another file.
	ok(t, "predict", m, data, "-o", "/dev/null")
	ok(t, "predict", m, data, "-o", at("predictions.txt"))
	ok(t, "predict", m, data, "-o", at("predictions.txt"))
}

// contents are the files below a folder.
func contents(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
