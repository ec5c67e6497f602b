package report

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// chromium takes a picture of a page in a browser; it also gives what the browser's console says.
func chromium(t *testing.T, page string, dark bool, width, height int) (image.Image, string) {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("there is no Chromium here to show pages in")
	}
	dir := t.TempDir()
	shot := filepath.Join(dir, "shot.png")
	// 0 is dark, 1 light, in Blink's list of preferred colour schemes.
	scheme := 1
	if dark {
		scheme = 0
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking", "--user-data-dir="+filepath.Join(dir, "profile"), "--enable-logging=stderr",
		fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme), fmt.Sprintf("--window-size=%d,%d", width, height),
		"--screenshot="+shot, "file://"+page)
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		t.Skipf("Chromium does not run here: %v\n%.500s", err, said.String())
	}
	data, err := os.ReadFile(shot)
	if err != nil {
		t.Fatalf("Chromium took no picture: %v\n%.2000s", err, said.String())
	}
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var console []string
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, "CONSOLE") {
			console = append(console, line)
		}
	}
	return m, strings.Join(console, "")
}

func TestPageInChromium(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser three times")
	}
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	if err := gallery().Save(page); err != nil {
		t.Fatal(err)
	}
	for _, dark := range []bool{false, true} {
		m, console := chromium(t, page, dark, 1100, 1400)
		if console != "" {
			t.Errorf("dark %v: the console says %s", dark, console)
		}
		// The page has its background in the corner, and dark or light text and blue curves.
		corner := brightness(m, 3, 3)
		if dark && corner > 0.2 || !dark && corner < 0.95 {
			t.Errorf("dark %v: the background has the brightness %.2f", dark, corner)
		}
		text, curves := 0, 0
		for x := 0; x < m.Bounds().Dx(); x += 2 {
			for y := 0; y < m.Bounds().Dy(); y++ {
				v := brightness(m, x, y)
				if dark && v > 0.6 || !dark && v < 0.4 {
					text++
				}
				if r, _, b, _ := m.At(x, y).RGBA(); b > r+r/2+0x4000 {
					curves++
				}
			}
		}
		if text < 5000 || curves < 300 {
			t.Errorf("dark %v: %d points of text and %d of curves", dark, text, curves)
		}
	}
	// What the console says would be seen.
	broken := filepath.Join(dir, "broken.html")
	if err := os.WriteFile(broken, []byte(`<!DOCTYPE html><script>nowhere()</script>`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, console := chromium(t, broken, false, 200, 200); !strings.Contains(console, "nowhere") {
		t.Errorf("of a page with an error the console says %q", console)
	}
}

// brightness is from 0, black, to 1, white.
func brightness(m image.Image, x, y int) float64 {
	r, g, b, _ := m.At(x, y).RGBA()
	return float64(r+g+b) / 3 / 0xffff
}
