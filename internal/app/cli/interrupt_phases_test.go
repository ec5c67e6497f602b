package cli

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mercer/internal/engine/testenv"
)

// A signal in any phase of a command, as its progress names them, ends it with exit code 130 and one line, and leaves no
// file but a journal. A command that was done in the meantime has written its file and says so by 0.
func TestSignalsInEveryPhase(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	bin := program(t)
	line := waysWith(t, 3000)
	lines := map[string]string{
		"probabilities": "train DATA -o OUT --ignore junk_* --id key --learner svm --features 512 --calibrate=platt",
		"a metric":      "train DATA -o OUT --ignore junk_* --id key --learner ridge --features 512 --metric full",
	}
	larger := strings.NewReplacer("--features 16", "--features 1024", "--features 64", "--features 512", "--progress never", "", "--rows 1000 ",
		"--rows 100000 ")
	commands := allCommands()
	for name, way := range workOf(t) {
		// The others tell no phases; TestEveryCommandEndsWhereverItLooks has them.
		if cmd := commands[name]; cmd == nil || cmd.Flags().Lookup("progress") != nil {
			lines[name] = larger.Replace(way)
		}
	}
	ended, signalled := 0, 0
	for _, name := range testenv.Few(t, slices.Sorted(maps.Keys(lines)), 2, "a signal in every phase of every learner and command") {
		table := "messy.csv"
		run := func(stage string) (stages []string, said string, hit bool, left []string, err error) {
			args, out := line(lines[name], table)
			cmd := exec.Command(bin, append(args, "--progress", "always")...)
			pipe, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var all bytes.Buffer
			buf := make([]byte, 1<<12)
			for {
				n, err := pipe.Read(buf)
				all.Write(buf[:n])
				if !hit && stage != "" && strings.Contains(all.String(), "\r"+stage+" ") {
					hit = true
					_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended
				}
				if err != nil {
					break
				}
			}
			err = cmd.Wait()
			seen := map[string]bool{}
			for _, line := range strings.Split(all.String(), "\r") {
				if word, _, more := strings.Cut(line, " "); more && word != "" && !seen[word] && !strings.ContainsAny(word, ":\x1b") {
					seen[word] = true
					stages = append(stages, word)
				}
			}
			list, _ := os.ReadDir(out)
			for _, f := range list {
				left = append(left, f.Name())
			}
			return stages, all.String(), hit, left, err
		}
		stages, said, _, _, err := run("")
		if strings.Contains(said, "cannot do") {
			table = "classes.csv"
			stages, said, _, _, err = run("")
		}
		if err != nil || len(stages) == 0 {
			t.Errorf("%s: %v, phases %q: %s", name, err, stages, said)
			continue
		}
		for _, stage := range stages {
			_, said, hit, left, err := run(stage)
			if !hit {
				continue // too short to be shown this time
			}
			signalled++
			if err == nil {
				continue
			}
			ended++
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Errorf("%s: a signal in %q: %v: %s", name, stage, err, said)
			}
			if n := strings.Count(said, "interrupted"); n != 1 {
				t.Errorf("%s: a signal in %q: told %d times: %s", name, stage, n, said)
			}
			for _, name := range left {
				if name != "out.tune" {
					t.Errorf("%s: a signal in %q: left %s", name, stage, name)
				}
			}
		}
	}
	if ended == 0 { // how many are done before they hear of it is up to the machine
		t.Errorf("of %d signals %d ended a command", signalled, ended)
	}
	t.Logf("%d signals, %d ended a command", signalled, ended)
}
