package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Data, and what is written, may be pipes, for every command that has such: the result is that of files.
func TestPipesAsInputAndOutput(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	data := write(t, dir, "data.csv", curve(200))
	ok(t, "train", data, "-o", at("m.mercer"), "--features", "16", "--learner", "ridge", "--save-stats", at("m.stats"))
	if err := os.Mkdir(at("pipes"), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	model, err := os.ReadFile(at("m.mercer"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"train IN -o OUT --features 16 --learner ridge",
		"train FILE --test IN -o OUT --features 16 --learner ridge",
		"train IN --plan --features 16",
		"predict MODEL IN -o OUT",
		"predict PIPED FILE -o OUT",
		"eval MODEL IN",
		"transform IN -o OUT --features 16",
		"inspect IN",
		"explain MODEL IN",
		"index IN -o OUT --features 16",
		"cluster IN -o OUT --clusters 2",
		"tune IN -o OUT --lambda 1,2 --learner ridge --features 16",
		"curve IN --features 16",
		"approx IN --features 16",
		"merge STATS -o OUT",
	} {
		run := func(pipes bool) (code int, said string, written []byte) {
			in, out, piped := data, at("file"), at("m.mercer")
			if pipes {
				in, out, piped = at("pipes/data.csv"), at("pipes/file"), at("pipes/m.mercer") // a model tells the name of its test
				for _, path := range []string{in, out, piped} {
					_ = os.Remove(path)
					if b, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, b)
					}
				}
			}
			read := make(chan []byte, 1)
			words := strings.Fields(line)
			feed := func(path string, b []byte) { // whoever does not read it to its end has read enough
				if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
					_, _ = f.Write(b)
					f.Close()
				}
			}
			for i, w := range words {
				switch {
				case w == "IN" && pipes:
					go feed(in, text)
				case w == "PIPED" && pipes:
					go feed(piped, model)
				case w == "OUT" && pipes:
					go func() { b, _ := os.ReadFile(out); read <- b }()
				}
				words[i] = strings.NewReplacer("IN", in, "OUT", out, "FILE", data, "MODEL", at("m.mercer"), "STATS", at("m.stats"), "PIPED", piped).Replace(w)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // of a pipe that nobody writes to
			defer cancel()
			cmd := exec.CommandContext(ctx, program(t), words...)
			var all bytes.Buffer
			cmd.Stdout, cmd.Stderr = &all, &all
			_ = cmd.Run()
			if strings.Contains(line, "OUT") && cmd.ProcessState.ExitCode() == 0 {
				if pipes {
					written = <-read
				} else if written, err = os.ReadFile(out); err != nil {
					t.Fatal(err)
				}
			}
			return cmd.ProcessState.ExitCode(), all.String(), written
		}
		code, said, want := run(false)
		if code != 0 {
			t.Errorf("mercer %s: code %d: %s", line, code, said)
			continue
		}
		if code, said, got := run(true); code != 0 || !bytes.Equal(got, want) {
			t.Errorf("mercer %s through pipes: code %d, %d bytes written, %d to a file: %s", line, code, len(got), len(want), said)
		}
	}
}
