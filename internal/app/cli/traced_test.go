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
	"unsafe"

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
	attr := &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
		Env: append(os.Environ(), "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1", tracedEnv+"=1", patient+"=1", "TMPDIR="+temporary)}
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
	tr := &tracer{pid: pid, before: before, counts: map[string]int{}, threads: map[int]bool{}}
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
	threads map[int]bool
}

const (
	ownChildren = 0x20000000 // __WNOTHREAD: those of this thread
	exitKill    = 0x100000   // PTRACE_O_EXITKILL
)

// tracedEnv is the variable of the environment that makes this process stop at calls about files, for whoever traces it.
const tracedEnv = "MERCER_TEST_TRACED"

func init() {
	if os.Getenv(tracedEnv) == "" {
		return
	}
	// Instructions for the kernel: load the number of the call; stop if it is one of the list; go on.
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}}
	for number := range fileCalls {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(number)},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_TRACE})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); err != 0 {
		panic(err)
	}
}

func (tr *tracer) run() (status syscall.WaitStatus, err error) {
	options := syscall.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACESECCOMP | exitKill
	for {
		// Those of its group: this thread may also have started a process of another test, which waits for that itself.
		id, err := syscall.Wait4(-tr.pid, &status, syscall.WALL|ownChildren, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("waiting: %w", err)
		}
		if status.Exited() || status.Signaled() {
			if id == tr.pid {
				return status, nil
			}
			continue
		}
		sig := int(status.StopSignal())
		switch {
		case !tr.threads[id]: // stopped as it begins, the first by its exec
			if id == tr.pid {
				if err := syscall.PtraceSetOptions(id, options); err != nil {
					return 0, err
				}
			}
			tr.threads[id], sig = true, 0
		case sig == int(syscall.SIGTRAP):
			if sig = 0; status.TrapCause() == unix.PTRACE_EVENT_SECCOMP {
				tr.call(id)
			}
		}
		_ = syscall.PtraceCont(id, sig) // which may have been killed
	}
}

// call is the beginning of a call.
func (tr *tracer) call(id int) {
	var r syscall.PtraceRegs
	if syscall.PtraceGetRegs(id, &r) != nil {
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
		r.Orig_rax, r.Rax = ^uint64(0), -uint64(do.errno)
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
