package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// linked is the target of a link or a picture in Markdown.
var linked = regexp.MustCompile(`\]\(([^)\s#]+)[^)]*\)`)

// brokenLinks are the links of a page in a folder to files that are not there.
func brokenLinks(folder, text string) (broken []string) {
	for _, m := range linked.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(m[1]))); err != nil {
			broken = append(broken, m[1])
		}
	}
	return broken
}

// Every link of a page to a file of the project has one.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	t.Chdir(root)
	pages := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".md") {
			return nil
		}
		pages++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, target := range brokenLinks(filepath.Dir(path), string(text)) {
			t.Errorf("%s: there is no %s", path, target)
		}
		return nil
	})
	if err != nil || pages < 20 {
		t.Errorf("looked at %d pages: %v", pages, err)
	}
	if got := brokenLinks("docs", "[a](design.md#names), ![b](pictures/nothing.svg), [c](https://go.dev), [d](#here)"); len(got) != 1 {
		t.Errorf("found %q", got)
	}
}
