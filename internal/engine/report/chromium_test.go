package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/chromium"
)

func TestPageInChromium(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	browser := chromium.Open(t)
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	if err := gallery().Save(page); err != nil {
		t.Fatal(err)
	}
	for _, dark := range []bool{false, true} {
		m, console := browser.Screenshot(page, dark, 1100, 1400)
		if console != "" {
			t.Errorf("dark %v: the console says %s", dark, console)
		}
		// The page has its background in the corner, and dark or light text and blue curves.
		corner := chromium.Brightness(m, 3, 3)
		if dark && corner > 0.2 || !dark && corner < 0.95 {
			t.Errorf("dark %v: the background has the brightness %.2f", dark, corner)
		}
		if text, curves := chromium.Seen(m, dark); text < 5000 || curves < 300 {
			t.Errorf("dark %v: %d points of text and %d of curves", dark, text, curves)
		}
	}
	if p, console := browser.Printed(page); p.Pages < 2 || p.Texts < 300 || p.Lines < 300 || console != "" {
		t.Errorf("printed: %+v; the console says %q", p, console)
	}
	// What the console says would be seen, and that there is nothing on a page.
	broken := filepath.Join(dir, "broken.html")
	if err := os.WriteFile(broken, []byte(`<!DOCTYPE html><script>nowhere()</script>`), 0o644); err != nil {
		t.Fatal(err)
	}
	m, console := browser.Screenshot(broken, false, 200, 200)
	if text, curves := chromium.Seen(m, false); text+curves > 0 || !strings.Contains(console, "nowhere") {
		t.Errorf("a page with an error has %d points of text and %d of curves, the console says %q", text, curves, console)
	}
	if p, console := browser.Printed(broken); p.Texts+p.Lines > 0 || p.Pages != 1 || !strings.Contains(console, "nowhere") {
		t.Errorf("a page with an error is printed as %+v; the console says %q", p, console)
	}
}
