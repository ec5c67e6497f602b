package cli

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A signal in a dense solve ends the program, and leaves nothing.
func TestSignalsEndDenseSolves(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	bin := program(t)
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("a,b,c,y\n")
	for range 3000 {
		a, b, c := random.NormFloat64(), random.NormFloat64(), random.NormFloat64()
		fmt.Fprintf(&text, "%.4f,%.4f,%.4f,%.4f\n", a, b, c, a*b+c+0.1*random.NormFloat64())
	}
	for _, c := range []struct{ flags, stage string }{
		{"--learner kernel-ridge", "solve "},
		{"--learner ridge --kernel rbf --features 2048", "solve "},
		{"--learner ridge --kernel rbf --features 2048 --variance-share 0.9", "reduce "},
	} {
		dir := t.TempDir()
		data := write(t, dir, "data.csv", text.String())
		args := append([]string{"train", data, "-o", filepath.Join(dir, "m"), "--progress", "always"}, strings.Fields(c.flags)...)
		cmd := exec.Command(bin, args...)
		pipe, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		buf, signalled := make([]byte, 1<<12), false
		for {
			n, err := pipe.Read(buf)
			said.Write(buf[:n])
			if !signalled && strings.Contains(said.String(), c.stage) {
				signalled = true
				if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
			}
			if err != nil {
				break
			}
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
			t.Errorf("%s: ended with %v; %s", c.flags, err, said.String())
		}
		lines := strings.Split(strings.TrimSpace(said.String()), "\r")
		if last := lines[len(lines)-1]; last != "mercer train: interrupted; nothing was written" {
			t.Errorf("%s: the last line is %q", c.flags, last)
		}
		if list, _ := os.ReadDir(dir); len(list) != 1 {
			t.Errorf("%s: left behind: %v", c.flags, list)
		}
	}
}
