// Package chromium shows pages in a browser, for tests of them. Where there is no Chromium the tests are skipped, but not in .ci/run.
package chromium

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
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

	"mercer/internal/engine/testenv"
)

// Browser is a Chromium without a window, driven by its DevTools protocol over two pipes.
type Browser struct {
	t    testing.TB
	in   io.Writer
	out  *bufio.Reader
	sent int
}

// Open starts a browser, which ends with the test.
func Open(t testing.TB) *Browser {
	t.Helper()
	path := testenv.Program(t, "chromium", "chromium-browser", "google-chrome")
	commands, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, events, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking", "--disable-renderer-backgrounding", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"), "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{commands, events} // where it reads and writes: 3 and 4
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		testenv.Missing(t, "Chromium does not run here: %v", err)
	}
	commands.Close()
	events.Close()
	t.Cleanup(func() {
		io.WriteString(in, `{"id":0,"method":"Browser.close"}`+"\x00")
		cmd.Wait()
		cancel()
		in.Close()
		out.Close()
		if t.Failed() {
			t.Logf("Chromium said: %.2000s", said.String())
		}
	})
	return &Browser{t: t, in: in, out: bufio.NewReader(out)}
}

// message is what the browser sends: an answer to a command or an event.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Message string }
}

// page is an open page of a browser.
type page struct {
	*Browser
	session string
	done    string // the document that was done last
	when    string // the event that says so
	console strings.Builder
}

type values map[string]any

// call sends a command and waits for its answer, of which it decodes the result.
func (p *page) call(method string, params values, result any) {
	p.t.Helper()
	p.sent++
	command := values{"id": p.sent, "method": method, "params": params}
	if p.session != "" {
		command["sessionId"] = p.session
	}
	text, err := json.Marshal(command)
	if err == nil {
		_, err = p.in.Write(append(text, 0))
	}
	if err != nil {
		p.t.Fatalf("Chromium, %s: %v", method, err)
	}
	for {
		m := p.next()
		if m.ID != p.sent {
			continue
		}
		if m.Error != nil {
			p.t.Fatalf("Chromium, %s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				p.t.Fatalf("Chromium, %s: %v", method, err)
			}
		}
		return
	}
}

// next is the next message, of which it notes what concerns the page.
func (p *page) next() (m message) {
	text, err := p.out.ReadBytes(0)
	if err == nil {
		err = json.Unmarshal(text[:len(text)-1], &m)
	}
	if err != nil {
		p.t.Fatalf("Chromium says no more: %v", err)
	}
	var event struct {
		Name, LoaderID string
		// What a script printed, what it threw, and what the browser says of the page.
		Args             []struct{ Value any }
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
		Entry struct{ Text, URL string }
	}
	json.Unmarshal(m.Params, &event)
	switch m.Method {
	case "Page.lifecycleEvent":
		if event.Name == p.when {
			p.done = event.LoaderID
		}
	case "Runtime.consoleAPICalled":
		for _, a := range event.Args {
			fmt.Fprint(&p.console, a.Value, " ")
		}
		p.console.WriteByte('\n')
	case "Runtime.exceptionThrown":
		fmt.Fprintln(&p.console, event.ExceptionDetails.Text, event.ExceptionDetails.Exception.Description)
	case "Log.entryAdded":
		fmt.Fprintln(&p.console, event.Entry.Text, event.Entry.URL)
	}
	return m
}

// show opens a page, a file or a URL, after some commands, and waits until it is there: a file as soon as it is loaded, another when it has
// what it asks of the network.
func (b *Browser) show(url string, dark bool, width, height int) *page {
	b.t.Helper()
	p := &page{Browser: b, when: "networkIdle"}
	if !strings.Contains(url, "://") {
		url, p.when = "file://"+url, "load"
	}
	var target struct{ TargetID string }
	p.call("Target.createTarget", values{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	p.call("Target.attachToTarget", values{"targetId": target.TargetID, "flatten": true}, &attached)
	p.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		p.call(domain+".enable", nil, nil)
	}
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	p.call("Emulation.setEmulatedMedia", values{"features": []values{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	p.call("Emulation.setDeviceMetricsOverride", values{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	p.call("Page.setLifecycleEventsEnabled", values{"enabled": true}, nil)
	var document struct{ LoaderID string }
	p.call("Page.navigate", values{"url": url}, &document)
	for p.done != document.LoaderID {
		p.next()
	}
	return p
}

// close closes the page and gives what its console said.
func (p *page) close() string {
	p.call("Page.close", nil, nil)
	return p.console.String()
}

// Screenshot is a picture of a page, a file or a URL, as it is where people like pages dark or light, and what the console says of it.
func (b *Browser) Screenshot(url string, dark bool, width, height int) (picture image.Image, console string) {
	b.t.Helper()
	p := b.show(url, dark, width, height)
	var shot struct{ Data []byte }
	p.call("Page.captureScreenshot", nil, &shot)
	picture, err := png.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		b.t.Fatal(err)
	}
	return picture, p.close()
}

// Evaluate decodes what an expression of JavaScript, or its promise, comes to in a page, and gives what the console says.
func (b *Browser) Evaluate(url, expression string, result any) (console string) {
	b.t.Helper()
	p := b.show(url, false, 800, 600)
	var said struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	p.call("Runtime.evaluate", values{"expression": expression, "awaitPromise": true, "returnByValue": true}, &said)
	if e := said.ExceptionDetails; e != nil {
		b.t.Fatalf("Chromium: %s", e.Exception.Description)
	}
	if err := json.Unmarshal(said.Result.Value, result); err != nil {
		b.t.Fatal(err)
	}
	return p.close()
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

// Printed prints a page to PDF and looks at what is on it; it also gives what the console says.
func (b *Browser) Printed(url string) (p Print, console string) {
	b.t.Helper()
	shown := b.show(url, false, 800, 600)
	var printed struct{ Data []byte }
	shown.call("Page.printToPDF", nil, &printed)
	data := printed.Data
	if !bytes.HasPrefix(data, []byte("%PDF-")) {
		b.t.Fatalf("Chromium printed no PDF: %.20q", data)
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
	return p, shown.close()
}
