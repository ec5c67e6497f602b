package cli

import (
	"path/filepath"
	"testing"

	"mercer/internal/engine/chromium"
)

// TestPagesInChromium shows and prints the pages that train and eval write of classes and of numbers.
func TestPagesInChromium(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("trains two models and starts a browser")
	}
	browser := chromium.Open(t)
	dir := t.TempDir()
	data := map[string]string{"classes": steps(300, 3, "low", "middle", "high"), "numbers": curve(300)}
	for name, rows := range data {
		file, model := write(t, dir, name+".csv", rows), filepath.Join(dir, name)
		trained, judged := filepath.Join(dir, name+"-train.html"), filepath.Join(dir, name+"-eval.html")
		ok(t, "train", file, "-o", model, "--features", "64", "--holdout", "0.3", "--report", trained)
		ok(t, "eval", model, file, "--report", judged)
		for _, page := range []string{trained, judged} {
			for _, dark := range []bool{false, true} {
				if dark && page == trained {
					continue // a browser takes its time, and the page of eval has the same parts
				}
				m, console := browser.Screenshot(page, dark, 1000, 3000)
				text, curves := chromium.Seen(m, dark)
				if text < 5000 || curves < 300 || console != "" {
					t.Errorf("%s, dark %v: %d points of text and %d of curves; the console says %q", filepath.Base(page), dark, text, curves, console)
				}
				if corner := chromium.Brightness(m, 3, 3); dark && corner > 0.2 || !dark && corner < 0.95 {
					t.Errorf("%s, dark %v: the background has the brightness %.2f", filepath.Base(page), dark, corner)
				}
			}
			p, console := browser.Printed(page)
			if p.Pages < 2 || p.Texts < 200 || p.Lines < 20 || console != "" {
				t.Errorf("%s is printed as %+v; the console says %q", filepath.Base(page), p, console)
			}
			t.Logf("%s: %+v", filepath.Base(page), p)
		}
	}
}
