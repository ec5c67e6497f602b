package cli

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

var (
	kills    = flag.Int("kills", 30, "runs that are killed at random moments, by commands that write")
	killSeed = flag.Uint64("kill-seed", 7, "the seed of the moments")
)

// A command that is killed at any moment leaves the old file or the new one, never another. What it leaves beside it goes with the
// next run, and one that is interrupted leaves nothing.
func TestKillsAtRandomMoments(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	bin, dir := program(t), t.TempDir()
	data, m := write(t, dir, "data.csv", flowers(3000)), filepath.Join(dir, "model")
	ok(t, "train", data, "-o", m, "--features", "64", "--ignore", "length")
	type command struct {
		name     string
		args     []string
		old, new string
		took     time.Duration
	}
	commands := []*command{
		{name: "train", args: []string{"train", data, "--features", "256", "-o"}},
		{name: "predict", args: []string{"predict", m, data, "-o"}},
		{name: "transform.npy", args: []string{"transform", m, data, "-o"}},
		{name: "convert.parquet", args: []string{"convert", data}},
		{name: "convert.csv", args: []string{"convert", data}},
	}
	run := func(c *command, out string, stop func(*os.Process)) error {
		cmd := exec.Command(bin, append(c.args[:len(c.args):len(c.args)], out)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stop(cmd.Process)
		return cmd.Wait()
	}
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range commands {
		start := time.Now()
		path := filepath.Join(dir, "whole-"+c.name)
		if err := run(c, path, func(*os.Process) {}); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		c.new, c.old, c.took = read(path), "what was there before", time.Since(start)
	}
	random := rand.New(rand.NewPCG(*killSeed, 21))
	for i := range *kills {
		c := commands[i%len(commands)]
		sig := []os.Signal{syscall.SIGKILL, syscall.SIGINT}[i/len(commands)%2]
		folder := filepath.Join(dir, fmt.Sprint("run", i))
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		out := write(t, folder, c.name, c.old)
		err := run(c, out, func(p *os.Process) {
			time.Sleep(time.Duration(random.Float64() * 1.2 * float64(c.took)))
			_ = p.Signal(sig) // which may have ended
		})
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.Exited() && exit.ExitCode() != exitInterrupted {
			t.Errorf("%s: ended with %v", c.name, err)
		}
		got := read(out)
		if got != c.old && got != c.new {
			t.Errorf("%s, %v: %d bytes that are neither the old file nor the new one", c.name, sig, len(got))
		}
		if err == nil && got != c.new {
			t.Errorf("%s, %v: exit code 0, and the file is not written", c.name, sig)
		}
		if sig == syscall.SIGKILL {
			if err := run(c, out, func(*os.Process) {}); err != nil || read(out) != c.new {
				t.Errorf("%s after a kill: %v, or another file", c.name, err)
			}
		}
		if left, _ := os.ReadDir(folder); len(left) != 1 {
			t.Errorf("%s, %v: left behind: %v", c.name, sig, left)
		}
		os.RemoveAll(folder)
	}
}
