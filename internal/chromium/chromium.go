// Package chromium shows pages in a browser, for tests of them. Where there is no Chromium the tests are skipped, but not in .ci/run.
package chromium

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mercer/internal/need"
)

// run starts the browser on a page, a file or a URL, with flags that say what to write to the file out, and gives that and what the console says.
func run(t testing.TB, page, out string, flags ...string) (data []byte, console string) {
	t.Helper()
	path := need.Program(t, "chromium", "chromium-browser", "google-chrome")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	flags = append([]string{"--headless", "--no-sandbox", "--disable-gpu",
		"--hide-scrollbars", "--no-first-run", "--disable-background-networking",
		"--user-data-dir=" + filepath.Join(t.TempDir(), "profile"), "--enable-logging=stderr"}, flags...)
	if !strings.Contains(page, "://") {
		page = "file://" + page
	} else {
		flags = append(flags, "--virtual-time-budget=4000") // for what its script asks of the server
	}
	cmd := exec.CommandContext(ctx, path, append(flags, page)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		need.Missing(t, "Chromium does not run here: %v\n%.500s", err, said.String())
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatalf("Chromium wrote nothing: %v\n%.2000s", err, said.String())
	}
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, "CONSOLE") {
			console += line
		}
	}
	return data, console
}

// Screenshot is a picture of a page, as it is where people like pages dark or light, and what the browser's console says of it.
func Screenshot(t testing.TB, page string, dark bool, width, height int) (picture image.Image, console string) {
	t.Helper()
	// 0 is dark, 1 light, in Blink's list of preferred colour schemes.
	scheme := 1
	if dark {
		scheme = 0
	}
	shot := filepath.Join(t.TempDir(), "shot.png")
	data, console := run(t, page, shot, fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme),
		fmt.Sprintf("--window-size=%d,%d", width, height), "--screenshot="+shot)
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return picture, console
}

// Seen counts what a picture shows of a page: every second point that is text, and those that are of blue curves.
func Seen(m image.Image, dark bool) (text, curves int) {
	for x := 0; x < m.Bounds().Dx(); x += 2 {
		for y := 0; y < m.Bounds().Dy(); y++ {
			v := Brightness(m, x, y)
			if dark && v > 0.6 || !dark && v < 0.4 {
				text++
			}
			if r, _, b, _ := m.At(x, y).RGBA(); b > r+r/2+0x4000 {
				curves++
			}
		}
	}
	return text, curves
}

// Brightness is from 0, black, to 1, white.
func Brightness(m image.Image, x, y int) float64 {
	r, g, b, _ := m.At(x, y).RGBA()
	return float64(r+g+b) / 3 / 0xffff
}

// Print is what a page is on paper.
type Print struct {
	// Pages is how many sheets it takes; Texts and Lines count the pieces of text and of lines and curves on them.
	Pages, Texts, Lines int
}

var (
	sheet  = regexp.MustCompile(`/Type\s*/Page\b`)
	stream = regexp.MustCompile(`(?s)stream\r?\n(.*?)endstream`)
	text   = regexp.MustCompile(`\bT[jJ]\b`)
	line   = regexp.MustCompile(`(?m)[0-9] [lc]$`)
)

// Printed prints a page to PDF and looks at what is on it; it also gives what the browser's console says.
func Printed(t testing.TB, page string) (p Print, console string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "page.pdf")
	data, console := run(t, page, out, "--no-pdf-header-footer", "--print-to-pdf="+out)
	if !bytes.HasPrefix(data, []byte("%PDF-")) {
		t.Fatalf("Chromium printed no PDF: %.20q", data)
	}
	p.Pages = len(sheet.FindAll(data, -1))
	for _, s := range stream.FindAllSubmatch(data, -1) {
		z, err := zlib.NewReader(bytes.NewReader(s[1]))
		if err != nil {
			continue // not compressed: no drawing
		}
		content, err := io.ReadAll(z)
		if err != nil || bytes.HasPrefix(content, []byte{0, 1, 0, 0}) {
			continue // a typeface
		}
		p.Texts += len(text.FindAll(content, -1))
		p.Lines += len(line.FindAll(content, -1))
	}
	return p, console
}
