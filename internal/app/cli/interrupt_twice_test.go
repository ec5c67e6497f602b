package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mercer/internal/engine/testenv"
)

// A server that waits for an hour, as a first signal and its own option tell it to, is ended by a second one.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "m.mercer")
	if r := mercer(t, "train", write(t, dir, "data.csv", curve(200)), "-o", path, "--kernel", "linear"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	cmd := exec.Command(program(t), "serve", path, "--addr", "127.0.0.1:0", "--drain", "1h", "--log", "none")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	said := &strings.Builder{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }() // which has ended, if all is well
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(line, "http://")
	ready := func() int {
		r, err := http.Get("http://" + strings.Fields(address)[0] + "/v2/health/ready")
		if err != nil {
			t.Fatalf("it listens no more: %v; %s", err, said)
		}
		defer r.Body.Close()
		_, _ = io.Copy(io.Discard, r.Body)
		return r.StatusCode
	}
	if code := ready(); code != 200 {
		t.Fatalf("ready: %d", code)
	}
	signal := func() {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
	}
	signal()
	for ready() == 200 { // until it has heard
	}
	if code := ready(); code != 503 {
		t.Fatalf("after one signal: %d", code)
	}
	signal()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("after two signals: %v; %s", err, said)
	}
	if got := strings.TrimSpace(said.String()); !strings.HasSuffix(got, "mercer serve: interrupted; nothing was written") {
		t.Errorf("it says %q", got)
	}
}

// So is any other command that does not end by itself: one that waits for its rows, with an hour to end.
func TestSecondSignalEndsEveryCommandAtOnce(t *testing.T) {
	t.Parallel()
	mkfifo := testenv.Program(t, "mkfifo")
	line := waysOf(t)
	for name, way := range ways {
		if !strings.Contains(way, "DATA") || name == "shard plan" { // which reads no rows
			continue
		}
		args, out := line(name+" "+way, "rows")
		rows := filepath.Join(t.TempDir(), "rows")
		if said, err := exec.Command(mkfifo, rows).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		for i, arg := range args {
			if filepath.Base(arg) == "rows" {
				args[i] = rows
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, program(t), args...)
		cmd.Env = append(os.Environ(), patient+"=1")
		said := &strings.Builder{}
		cmd.Stderr = said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pipe, err := os.OpenFile(rows, os.O_WRONLY, 0) // which waits until the command has opened it
		if err != nil {
			t.Fatal(err)
		}
		for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} { // two of the same may come as one
			if err := cmd.Process.Signal(sig); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted || strings.Count(said.String(), ": interrupted; ") != 1 {
			t.Errorf("%s, after two signals: %v; %s", name, err, said)
		}
		if left, _ := os.ReadDir(out); len(left) > 0 {
			t.Errorf("%s left %v", name, left)
		}
		pipe.Close()
	}
}
