package cli

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary is a path that ends in mercer. What runs there is this test binary, which TestMain makes the program.
var binary = sync.OnceValues(func() (path string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if binaryDir, err = os.MkdirTemp("", "mercer-test-"); err != nil {
		return "", err
	}
	path = filepath.Join(binaryDir, "mercer")
	return path, os.Symlink(self, path)
})

// binaryDir is the folder of binary, once it was asked for.
var binaryDir string

// program is the path of the program, to be run as a process of its own.
func program(t *testing.T) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// killJournal is the variable of the environment that makes this test binary a tuning, killed when the journal
// that it names has grown.
const killJournal = "MERCER_TEST_KILL_JOURNAL"

// patient is the variable of the environment that gives a command an hour to end by itself after a signal.
const patient = "MERCER_TEST_PATIENT"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "mercer" {
		if os.Getenv(patient) != "" {
			grace = time.Hour
		}
		os.Exit(Main())
	}
	if journal := os.Getenv(killJournal); journal != "" {
		os.Exit(killedTuning(journal))
	}
	if os.Getenv(measurePeak) != "" {
		os.Exit(measuredProgram())
	}
	longWork = math.Inf(1) // what takes long depends on the machine; tests of announcements ask for them
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == p.DefValue {
		p.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))) // as many again wait for processes
	}
	code := m.Run()
	os.RemoveAll(binaryDir)
	os.Exit(code)
}

// A training that is stopped leaves nothing at the output path, and stopped politely nothing
// anywhere.
func TestInterruptedTrainingLeavesNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	bin := program(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		dir := t.TempDir()
		// A stream of rows without an end: training cannot finish before the signal.
		read, feed, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		data := write(t, dir, "data.csv", strings.Repeat(curve(2000), 50))
		var stderr bytes.Buffer
		cmd := exec.Command(bin, "train", data, "-o", filepath.Join(dir, "m.mercer"), "--features", "1024", "--progress", "always")
		cmd.Stderr = feed
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		feed.Close()
		// The first progress of the second pass says that it is training.
		buf := make([]byte, 1<<12)
		for !strings.Contains(stderr.String(), "train ") {
			n, err := read.Read(buf)
			if err != nil {
				t.Fatalf("%v: it ended before it was stopped: %s", sig, stderr.String())
			}
			stderr.Write(buf[:n])
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		rest := make(chan struct{})
		go func() {
			defer close(rest)
			for {
				n, err := read.Read(buf)
				stderr.Write(buf[:n])
				if err != nil {
					return
				}
			}
		}()
		err = cmd.Wait()
		select {
		case <-rest:
		case <-time.After(5 * time.Minute):
			t.Fatal("standard error stays open")
		}
		read.Close()
		if _, err := os.Stat(filepath.Join(dir, "m.mercer")); err == nil {
			t.Errorf("%v: a file is at the output path", sig)
		}
		if sig == syscall.SIGKILL {
			continue
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 130 {
			t.Errorf("%v: ended with %v", sig, err)
		}
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\r")
		if last := lines[len(lines)-1]; last != "mercer train: interrupted; nothing was written" {
			t.Errorf("%v: the last line is %q", sig, last)
		}
		if list, _ := os.ReadDir(dir); len(list) != 1 {
			t.Errorf("%v: left behind: %v", sig, list)
		}
	}
}

func TestStandardInput(t *testing.T) {
	bin := program(t)
	dir := t.TempDir()
	data := flowers(120)
	path := write(t, dir, "flowers.csv", data)
	fromFile, fromPipe := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	ok(t, "train", path, "-o", fromFile, "--features", "16")
	cmd := exec.Command(bin, "train", "-", "-o", fromPipe, "--features", "16")
	cmd.Stdin = strings.NewReader(data)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	a, _ := os.ReadFile(fromFile)
	b, _ := os.ReadFile(fromPipe)
	if !bytes.Equal(a, b) {
		t.Error("a model trained from standard input differs from one trained from the file")
	}
	cmd = exec.Command(bin, "predict", fromPipe, "-")
	cmd.Stdin = strings.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := ok(t, "predict", fromFile, path); string(out) != want {
		t.Error("another process predicts something else")
	}
}
