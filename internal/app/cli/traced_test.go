//go:build linux && amd64

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mercer/internal/engine/testenv"
)

// sysCall is a call about files that a traced process is about to make.
type sysCall struct {
	name  string
	path  string // of its file, with digits as 0
	from  string // the functions of the program that lead to it
	n     int    // calls before it that are the same in all of this
	bytes int    // to be read or written
	fd    int    // -1 without one
	pid   int
}

// tampering is what becomes of a call: it fails, or is about fewer bytes; the zero value lets it be.
type tampering struct {
	errno syscall.Errno
	bytes int
}

// Calls about files, by where the arguments have a path, or 0 for a descriptor in the first.
var fileCalls = map[uint64]struct {
	name string
	path int
}{
	syscall.SYS_READ: {"read", 0}, syscall.SYS_WRITE: {"write", 0}, syscall.SYS_PREAD64: {"pread", 0}, syscall.SYS_PWRITE64: {"pwrite", 0},
	syscall.SYS_OPENAT: {"open", 2}, syscall.SYS_CLOSE: {"close", 0}, syscall.SYS_FSTAT: {"fstat", 0}, syscall.SYS_NEWFSTATAT: {"stat", 2},
	syscall.SYS_LSEEK: {"lseek", 0}, syscall.SYS_FSYNC: {"fsync", 0}, syscall.SYS_FDATASYNC: {"fsync", 0}, syscall.SYS_FTRUNCATE: {"ftruncate", 0},
	syscall.SYS_RENAMEAT: {"rename", 2}, syscall.SYS_UNLINKAT: {"unlink", 2}, syscall.SYS_MKDIRAT: {"mkdir", 2}, syscall.SYS_GETDENTS64: {"getdents", 0},
	syscall.SYS_FLOCK: {"flock", 0}, syscall.SYS_FCHMOD: {"fchmod", 0}, syscall.SYS_READLINKAT: {"readlink", 2}, syscall.SYS_FALLOCATE: {"fallocate", 0},
	unix.SYS_COPY_FILE_RANGE: {"copy", 0}, syscall.SYS_SENDFILE: {"sendfile", 0}, syscall.SYS_SPLICE: {"splice", 0}, syscall.SYS_LINKAT: {"link", 2},
	syscall.SYS_FCHMODAT: {"chmod", 2}, syscall.SYS_FSTATFS: {"statfs", 0}, syscall.SYS_STATFS: {"statfs", 1}, syscall.SYS_FCNTL: {"fcntl", 0},
	syscall.SYS_MMAP: {"mmap", 5},
}

// ended is how a traced process ended, and what it printed.
type ended struct {
	result
	signal syscall.Signal // 0: by itself
}

// traced runs the program, this test binary, as a process whose calls about files, but those of Go's runtime, are shown to before.
func traced(t *testing.T, temporary, stdin string, args []string, before func(c *sysCall) tampering) ended {
	t.Helper()
	bin := program(t)
	var files [3]*os.File
	if stdin == "" {
		stdin = os.DevNull
	}
	files[0], _ = os.Open(stdin)
	printed := t.TempDir()
	for i, name := range []string{"out", "err"} {
		f, err := os.Create(filepath.Join(printed, name))
		if err != nil {
			t.Fatal(err)
		}
		files[i+1] = f
	}
	attr := &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Ptrace: true},
		Env: append(os.Environ(), "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1", patient+"=1", "TMPDIR="+temporary)}
	for _, f := range files {
		defer f.Close()
		attr.Files = append(attr.Files, f.Fd())
	}
	runtime.LockOSThread() // only the thread that starts a process traces it
	defer runtime.UnlockOSThread()
	pid, err := syscall.ForkExec(bin, append([]string{"mercer"}, args...), attr)
	if err != nil {
		testenv.Machine(t, "no process may be traced here: %v", err)
	}
	stop := time.AfterFunc(5*time.Minute, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	defer stop.Stop()
	tr := &tracer{pid: pid, before: before, counts: map[string]int{}, threads: map[int]*thread{}}
	status, err := tr.run()
	if err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Fatal(err)
	}
	end := ended{result: result{code: status.ExitStatus()}}
	if status.Signaled() {
		end.signal = status.Signal()
	}
	out, _ := os.ReadFile(files[1].Name())
	said, _ := os.ReadFile(files[2].Name())
	end.stdout, end.stderr = string(out), string(said)
	return end
}

type tracer struct {
	pid     int
	before  func(c *sysCall) tampering
	counts  map[string]int
	threads map[int]*thread
}

// thread is one of a traced process: whether it is in a call, and what that is to return, if not what the kernel says.
type thread struct {
	inside bool
	errno  syscall.Errno
}

const (
	ownChildren = 0x20000000 // __WNOTHREAD: those of this thread, not of other tests
	exitKill    = 0x100000   // PTRACE_O_EXITKILL
)

func (tr *tracer) run() (status syscall.WaitStatus, err error) {
	options := syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | exitKill
	for begun := false; ; {
		id, err := syscall.Wait4(-1, &status, syscall.WALL|ownChildren, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("waiting: %w", err)
		}
		if status.Exited() || status.Signaled() {
			if delete(tr.threads, id); id == tr.pid {
				return status, nil
			}
			continue
		}
		if !begun { // stopped by its exec
			begun = true
			if err := syscall.PtraceSetOptions(id, options); err != nil {
				return 0, err
			}
			tr.threads[id] = &thread{}
			_ = syscall.PtraceSyscall(id, 0)
			continue
		}
		th, sig := tr.threads[id], int(status.StopSignal())
		switch {
		case th == nil: // a new one, stopped as it begins
			tr.threads[id], sig = &thread{}, 0
		case sig == int(syscall.SIGTRAP|0x80):
			tr.call(id, th)
			sig = 0
		case sig == int(syscall.SIGTRAP):
			sig = 0
		}
		_ = syscall.PtraceSyscall(id, sig) // which may have been killed
	}
}

// call is the beginning or the end of a call.
func (tr *tracer) call(id int, th *thread) {
	th.inside = !th.inside
	if !th.inside && th.errno == 0 {
		return
	}
	var r syscall.PtraceRegs
	if syscall.PtraceGetRegs(id, &r) != nil {
		return
	}
	if !th.inside {
		r.Rax = -uint64(th.errno)
		th.errno = 0
		_ = syscall.PtraceSetRegs(id, &r)
		return
	}
	call, known := fileCalls[r.Orig_rax]
	if !known {
		return
	}
	args := []uint64{r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9}
	c := &sysCall{name: call.name, fd: -1, bytes: int(r.Rdx), pid: tr.pid}
	if call.path == 0 || call.path == 5 {
		c.fd = int(int32(args[max(call.path-1, 0)]))
		c.path, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tr.pid, c.fd))
	} else {
		c.path = tr.text(args[call.path-1])
	}
	var own bool
	if c.from, own = tr.stack(&r); !own {
		return
	}
	c.path = digitsOfNames.ReplaceAllString(c.path, "0")
	key := c.name + c.path + c.from
	c.n = tr.counts[key]
	tr.counts[key]++
	switch do := tr.before(c); {
	case do.errno != 0:
		th.errno = do.errno
		r.Orig_rax = ^uint64(0)
		_ = syscall.PtraceSetRegs(id, &r)
	case do.bytes != 0:
		r.Rdx = uint64(do.bytes)
		_ = syscall.PtraceSetRegs(id, &r)
	}
}

var digitsOfNames = regexp.MustCompile(`\d+`)

// text is a string that ends by 0.
func (tr *tracer) text(at uint64) string {
	var b [4096]byte
	n := tr.read(at, b[:])
	text, _, _ := strings.Cut(string(b[:n]), "\x00")
	return text
}

func (tr *tracer) read(at uint64, b []byte) int {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", tr.pid))
	if err != nil {
		return 0
	}
	defer memory.Close()
	n, _ := memory.ReadAt(b, int64(at))
	return n
}

// stack are the functions that lead to a call, and whether it is the program's, not one of Go's runtime. Both are the same file, so
// that functions are at the same addresses here.
func (tr *tracer) stack(r *syscall.PtraceRegs) (text string, own bool) {
	var b [16]byte
	word := func(i int) uint64 {
		var w uint64
		for k := range 8 {
			w |= uint64(b[8*i+k]) << (8 * k)
		}
		return w
	}
	if tr.read(r.Rsp, b[:8]) != 8 {
		return "", false
	}
	pcs := []uintptr{uintptr(r.Rip), uintptr(word(0))}
	for bp := r.Rbp; len(pcs) < 40 && tr.read(bp, b[:]) == 16 && word(1) != 0; bp = word(0) {
		pcs = append(pcs, uintptr(word(1)))
	}
	frames, lines := runtime.CallersFrames(pcs), []string{}
	for frame, more := frames.Next(); ; frame, more = frames.Next() {
		switch name := frame.Function; {
		case strings.HasPrefix(name, "syscall."), strings.HasPrefix(name, "golang.org/x/sys/unix."):
			own = true
		case !own && len(lines) == 0 && strings.HasPrefix(name, "runtime."):
			return "", false
		case strings.HasPrefix(name, "mercer/"):
			lines = append(lines, fmt.Sprintf("%s:%d", name, frame.Line))
		}
		if !more || len(lines) == 6 {
			return strings.Join(lines, " < "), own
		}
	}
}
