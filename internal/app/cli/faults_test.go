//go:build linux && amd64

package cli

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mercer/internal/engine/testenv"
)

var (
	faults    = flag.Int("faults", 40, "calls of commands at which something happens, drawn at random; 0: all")
	faultSeed = flag.Uint64("fault-seed", 1, "the seed of the draw")
)

// happening is what happens at a call: an error, once or with all that write from there on, fewer bytes than asked for, or a signal to the process.
type happening struct {
	name   string
	errno  syscall.Errno
	calls  string // those that it may happen to; "": all
	signal syscall.Signal
	stays  bool
	short  bool
}

const makes = "write pwrite open mkdir rename fsync ftruncate fallocate"

var happenings = []happening{
	{name: "EIO", errno: syscall.EIO},
	{name: "ENOSPC", errno: syscall.ENOSPC, calls: makes},
	{name: "a full disk", errno: syscall.ENOSPC, calls: makes, stays: true},
	{name: "EINTR", errno: syscall.EINTR, calls: "read pread write pwrite open fsync ftruncate flock"},
	{name: "one byte", calls: "read pread write pwrite", short: true},
	{name: "EACCES", errno: syscall.EACCES, calls: "open stat rename unlink mkdir fchmod"},
	{name: "ENOENT", errno: syscall.ENOENT, calls: "open stat rename unlink"},
	{name: "EMFILE", errno: syscall.EMFILE, calls: "open"},
	{name: "ENOLCK", errno: syscall.ENOLCK, calls: "flock"},
	{name: "ENOMEM", errno: syscall.ENOMEM, calls: "mmap getdents"},
	{name: "SIGKILL", signal: syscall.SIGKILL},
	{name: "SIGINT", signal: syscall.SIGINT},
}

// class is that of docs/reliability.md.
func (h *happening) class() string {
	switch {
	case h.signal == syscall.SIGKILL:
		return "kills, and the command again"
	case h.signal != 0:
		return "interruptions at a call, and the command again"
	case h.short:
		return "reads and writes of one byte"
	case h.stays:
		return "disks that stay full"
	}
	return "system calls that fail"
}

func (h *happening) suits(call string) bool {
	return h.calls == "" || slices.Contains(strings.Fields(h.calls), call)
}

// At each call about files that a command makes something happens: an error, a full disk, fewer bytes than asked for, a kill, an interruption. It
// ends by 0 with all that it is to write and print, or by 1 and says why; files are the old ones or the new ones, and no other is left. After a kill
// or an interruption the same command makes what it would have made, and takes away what was left. Calls are taken as the same
// if they come from the same place in the code; of these the first, the second and the last are tried.
func TestWhateverHappensAtACall(t *testing.T) {
	seen := map[string]bool{}
	tried, broke := map[string]int{}, map[string]int{}
	some := func(all []*job) []*job {
		return testenv.Few(t, all, 5, "something happens at the calls of every command")
	}
	eachJob(t, some, func(t *testing.T, j *job, jobs int, random *rand.Rand) {
		type trial struct {
			at *sysCall
			h  *happening
		}
		var trials []trial
		for _, c := range j.points {
			if key := fmt.Sprint(j.args[0], c.key(), min(c.n, 2)); !seen[key] && (c.n < 2 || c.n == j.last[c.key()]) {
				seen[key] = true
				for i := range happenings {
					if happenings[i].suits(c.name) {
						trials = append(trials, trial{c, &happenings[i]})
					}
				}
			}
		}
		for _, x := range drawn(random, trials, max(1, *faults/jobs)) {
			if happened, held := j.try(t, x.at, x.h); happened {
				tried[x.h.class()]++
				if !held {
					broke[x.h.class()]++
				}
			}
		}
	})
	for class, n := range tried {
		testenv.Tried(t, class, n, broke[class])
	}
}

// eachJob calls do with each job whose calls are known, or with some of them, how many jobs there are, and a source of draws.
func eachJob(t *testing.T, some func(all []*job) []*job, do func(t *testing.T, j *job, jobs int, random *rand.Rand)) {
	t.Helper()
	if testing.Short() {
		t.Skip("seconds")
	}
	t.Parallel()
	all := jobs(t)
	if *faults > 0 {
		all = some(all)
	}
	random := rand.New(rand.NewPCG(*faultSeed, 41))
	for _, j := range all {
		t.Run(j.name, func(t *testing.T) {
			if j.learn(t) {
				do(t, j, len(all), random)
			}
		})
	}
}

// drawn are as many of a list, drawn at random, or all in their order if all calls are asked for.
func drawn[T any](random *rand.Rand, list []T, most int) []T {
	if *faults == 0 {
		return list
	}
	random.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list[:min(len(list), most)]
}

// try runs the job, and something happens at a call.
func (j *job) try(t *testing.T, at *sysCall, h *happening) (happened, held bool) {
	t.Helper()
	j.fresh(t)
	temporary := t.TempDir()
	end := traced(t, temporary, j.stdin, j.args, func(c *sysCall) (do tampering) {
		switch {
		case c.key() == at.key() && c.n == at.n:
			happened = true
		case !happened || !h.stays || !h.suits(c.name) || c.fd == 1 || c.fd == 2:
			return do
		}
		if h.signal != 0 {
			_ = syscall.Kill(c.pid, h.signal)
		} else if h.short {
			do.bytes = 1
		}
		do.errno = h.errno
		return do
	})
	if !happened {
		return false, true // which of some goroutines comes first is not always the same
	}
	held = true
	wrong := func(format string, args ...any) {
		held = false
		t.Errorf("mercer %s: %s at call %d of %s: exit code %d, signal %d, %s\n\t%s", strings.Join(j.args, " "), h.name, at.n, at.key(), end.code, end.signal,
			strings.TrimSpace(end.stderr[:min(len(end.stderr), 600)]), fmt.Sprintf(format, args...))
	}
	killed, interrupted := end.signal == syscall.SIGKILL && h.signal == syscall.SIGKILL, h.signal == syscall.SIGINT && end.code == exitInterrupted
	switch {
	case strings.Contains(end.stderr, "goroutine ") || strings.Contains(end.stderr, "panic: "):
		wrong("a panic")
	case killed, interrupted && strings.Count(end.stderr, "\n") == 1:
	case end.signal != 0 || end.code > 1 || end.code == 1 && (h.short || h.signal != 0):
		wrong("the wrong end")
	case end.code == 1 && end.stderr == "" && at.fd != 2:
		wrong("nothing was said")
	case end.code == 0 && j.stdout != "" && at.fd != 1 && !strings.HasPrefix(at.path, "/proc") && !strings.HasPrefix(at.path, "/sys") &&
		!strings.HasPrefix(at.from, "mercer/internal/app/cli.sizeOf:") && // without which a size is not printed
		timesInText.ReplaceAllString(end.stdout, "0") != j.stdout:
		wrong("printed %s, not %s", end.stdout, j.stdout)
	}
	j.look(t, temporary, killed, end.code == 0 && !killed, wrong)
	if (killed || interrupted) && !(j.own && j.done(j.args[1], diskFiles(t, j.dir)[j.args[1]])) {
		again := exec.Command(program(t), j.args...)
		again.Env = append(os.Environ(), "TMPDIR="+temporary)
		if j.stdin != "" {
			again.Stdin, _ = os.Open(j.stdin)
		}
		if said, err := again.CombinedOutput(); err != nil {
			wrong("again: %v, %s", err, said)
		}
		j.look(t, temporary, false, true, func(format string, args ...any) { wrong("after the command has run again: "+format, args...) })
	}
	return true, held
}

// look looks at what a run left: may it be temporary files, has all to be done?
func (j *job) look(t *testing.T, temporary string, killed, whole bool, wrong func(format string, args ...any)) {
	t.Helper()
	files := diskFiles(t, j.dir)
	for path, text := range files {
		old, was := j.before[path]
		_, is := j.after[path]
		switch {
		case strings.HasSuffix(path, ".tune") && !whole, killed && strings.HasSuffix(path, ".tmp"):
		case !was && !is:
			wrong("left %s", path)
		case !j.done(path, text) && (whole || !was || !bytes.Equal(text, old)):
			wrong("%s is not the new file, with %d bytes", path, len(text))
		}
	}
	for path := range j.after {
		if _, there := files[path]; !there && whole {
			wrong("%s lacks", path)
		}
	}
	for path := range diskFiles(t, temporary) {
		wrong("left %s", path)
	}
}
