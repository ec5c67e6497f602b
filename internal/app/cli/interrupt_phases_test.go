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
	random := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("a,b,c,y,z\n")
	for range 3000 {
		a, b, c := random.NormFloat64(), random.NormFloat64(), random.NormFloat64()
		fmt.Fprintf(&text, "%.4f,%.4f,%.4f,%c,%.4f\n", a, b, c, "pq"[random.IntN(2)], a*b+c)
	}
	dir := t.TempDir()
	data := write(t, dir, "data.csv", text.String())
	classes, numbers := "--label y --ignore z", "--label z --ignore y"
	ended, signalled := 0, 0
	for _, args := range testenv.Few(t, []string{
		"train DATA -o OUT --learner svm --features 512 --calibrate=platt " + classes,
		"train DATA -o OUT --learner logistic --features 256 " + classes,
		"train DATA -o OUT --learner online --features 256 " + classes,
		"train DATA -o OUT --learner kernel-svm " + classes,
		"train DATA -o OUT --learner rfm " + numbers,
		"train DATA -o OUT --learner falkon " + numbers,
		"train DATA -o OUT --learner kernel-ridge " + numbers,
		"train DATA -o OUT --learner ridge --features 512 --metric full " + numbers,
		"train DATA -o OUT --learner lasso --features 256 " + numbers,
		"train DATA -o OUT --learner svr --features 256 " + numbers,
		"tune DATA -o OUT --gamma 0.1,1 --features 256 --learner ridge " + numbers,
		"index DATA -o OUT --features 1024 " + classes,
		"transform DATA -o OUT.npy --features 1024 " + classes,
	}, 2, "a signal in every phase of every learner, of tune, index and transform") {
		run := func(stage string) (stages []string, said string, hit bool, left []string, err error) {
			out := t.TempDir()
			words := strings.Fields(args)
			for i := range words {
				words[i] = strings.NewReplacer("DATA", data, "OUT", filepath.Join(out, "out")).Replace(words[i])
			}
			cmd := exec.Command(bin, append(words, "--progress", "always")...)
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
		if err != nil || len(stages) == 0 {
			t.Errorf("mercer %s: %v, phases %q: %s", args, err, stages, said)
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
				t.Errorf("mercer %s: a signal in %q: %v: %s", args, stage, err, said)
			}
			if n := strings.Count(said, "interrupted"); n != 1 {
				t.Errorf("mercer %s: a signal in %q: told %d times: %s", args, stage, n, said)
			}
			for _, name := range left {
				if name != "out.tune" {
					t.Errorf("mercer %s: a signal in %q: left %s", args, stage, name)
				}
			}
		}
	}
	if ended == 0 { // how many are done before they hear of it is up to the machine
		t.Errorf("of %d signals %d ended a command", signalled, ended)
	}
	t.Logf("%d signals, %d ended a command", signalled, ended)
}
