package cli

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
)

// disk is a folder as the system calls of a process make it, with what of it survives when the power goes: what of a file was there when
// it was last synced, and of the names in a folder those that it had when it was last synced or any that it had since.
type disk struct {
	root  string
	names map[string][]*inode // the last is that of now; nil: none
	open  map[int]*handle
}

type inode struct {
	now, durable []byte
	folder       bool
}

type handle struct {
	file *inode
	path string
	at   int
}

// diskOf is a folder that is synced.
func diskOf(t *testing.T, root string) *disk {
	t.Helper()
	d := &disk{root: root, names: map[string][]*inode{}, open: map[int]*handle{}}
	for path, text := range diskFiles(t, root) {
		d.names[path] = []*inode{{now: text, durable: text, folder: text == nil}}
	}
	return d
}

// diskFiles are the files and folders below a folder; those have no text.
func diskFiles(t *testing.T, root string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		if all[path] = nil; !e.IsDir() {
			var text []byte
			text, err = os.ReadFile(path)
			all[path] = append([]byte{}, text...)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (d *disk) set(path string, to *inode) {
	if d.names[path] == nil {
		d.names[path] = []*inode{nil}
	}
	d.names[path] = append(d.names[path], to)
}

func (d *disk) at(path string) *inode {
	if all := d.names[path]; all != nil {
		return all[len(all)-1]
	}
	return nil
}

// call is a system call as strace -y -xx writes it.
type call struct {
	name, args string
	result     int
	strings    [][]byte
}

var (
	wholeCall = regexp.MustCompile(`^(\w+)\((.*)\) += (-?\d+)`)
	quotedHex = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
)

// callsOf are the calls in the order in which they ended.
func callsOf(t *testing.T, trace string) (all []call) {
	t.Helper()
	begun := map[string]string{}
	for line := range strings.Lines(trace) {
		thread, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		text = strings.TrimSpace(text)
		if first, unfinished := strings.CutSuffix(text, " <unfinished ...>"); unfinished {
			begun[thread] = first
			continue
		}
		if rest, resumed := strings.CutPrefix(text, "<... "); resumed {
			_, rest, _ = strings.Cut(rest, " resumed>")
			text = begun[thread] + rest
		}
		m := wholeCall.FindStringSubmatch(text)
		if m == nil {
			continue // of a thread that was ended
		}
		c := call{name: m[1], args: m[2]}
		c.result, _ = strconv.Atoi(m[3])
		for _, q := range quotedHex.FindAllStringSubmatch(m[2], -1) {
			text, err := hex.DecodeString(strings.ReplaceAll(q[1], `\x`, ""))
			if err != nil {
				t.Fatal(err)
			}
			c.strings = append(c.strings, text)
		}
		all = append(all, c)
	}
	return all
}

// number is argument i of a call without strings before it.
func (c *call) number(i int) int {
	text := strings.Split(c.args, ", ")[i]
	n, _ := strconv.Atoi(text[:len(text)-len(strings.TrimLeft(text, "-0123456789"))])
	return n
}

// do does what a call did.
func (d *disk) do(t *testing.T, c *call) {
	t.Helper()
	if c.result < 0 {
		return
	}
	path := ""
	if len(c.strings) > 0 {
		path = string(c.strings[0])
	}
	if c.name == "openat" {
		delete(d.open, c.result)
		if !strings.HasPrefix(path, d.root) {
			return
		}
		file := d.at(path)
		if file == nil && strings.Contains(c.args, "O_CREAT") {
			file = &inode{}
			d.set(path, file)
		}
		if file == nil { // the root
			file = &inode{folder: true}
		}
		if strings.Contains(c.args, "O_TRUNC") {
			file.now = nil
		}
		d.open[c.result] = &handle{file: file, path: path}
		return
	}
	if h := d.open[c.number(0)]; h != nil {
		d.doFile(t, c, h)
		return
	}
	if !strings.HasPrefix(path, d.root) {
		return
	}
	switch c.name {
	case "renameat", "renameat2":
		file := d.at(path)
		d.set(path, nil)
		d.set(string(c.strings[1]), file)
	case "unlinkat":
		d.set(path, nil)
	case "mkdirat":
		d.set(path, &inode{folder: true})
	}
}

// doFile does what a call did to an open file.
func (d *disk) doFile(t *testing.T, c *call, h *handle) {
	t.Helper()
	write := func(at int) {
		if h.file.now = slices.Clone(h.file.now); len(h.file.now) < at+c.result {
			h.file.now = append(h.file.now, make([]byte, at+c.result-len(h.file.now))...)
		}
		copy(h.file.now[at:], c.strings[0][:c.result])
	}
	switch c.name {
	case "write":
		write(h.at)
		h.at += c.result
	case "pwrite64":
		last := c.args[strings.LastIndex(c.args, " ")+1:]
		at, err := strconv.Atoi(last)
		if err != nil {
			t.Fatal(err)
		}
		write(at)
	case "lseek":
		h.at = c.result
	case "read":
		h.at += c.result
	case "ftruncate":
		size := c.number(1)
		h.file.now = append(slices.Clone(h.file.now[:min(size, len(h.file.now))]), make([]byte, max(0, size-len(h.file.now)))...)
	case "fsync":
		h.file.durable = h.file.now
		if h.file.folder {
			for path, all := range d.names {
				if filepath.Dir(path) == h.path {
					d.names[path] = all[len(all)-1:]
				}
			}
		}
	case "close":
		delete(d.open, c.number(0))
	case "unlinkat", "renameat", "mkdirat": // in a folder that is open, by a path
		t.Fatalf("%s in an open folder: %s", c.name, c.args)
	default:
		t.Fatalf("%s of a file in the folder: the test does not know it", c.name)
	}
}

// left are the texts that a file may have after the power has gone, none as nil.
func (d *disk) left(path string) (texts [][]byte) {
	for _, file := range d.names[path] {
		if file == nil {
			texts = append(texts, nil)
		} else if !file.folder {
			texts = append(texts, append([]byte{}, file.durable...), append([]byte{}, file.now...))
			if !bytes.Equal(file.durable, file.now) {
				texts = append(texts, file.torn(func(int) bool { return false }), file.torn(func(i int) bool { return i%2 == 1 }),
					file.torn(func(i int) bool { return i < len(file.now)/sector/2 }))
			}
		}
	}
	return texts
}

const sector = 512

// torn is a file of which only some sectors of what was not synced have reached the disk, in whatever order, but its size has.
func (f *inode) torn(reached func(i int) bool) []byte {
	text := make([]byte, len(f.now))
	copy(text, f.durable)
	for i := 0; i*sector < len(text); i++ {
		if reached(i) {
			copy(text[i*sector:], f.now[i*sector:min(len(text), (i+1)*sector)])
		}
	}
	return text
}

// What is not synced is gone when the power fails, or is there, or some sectors of it. Whenever it does, every file that a command writes is the old one or the new one, a
// journal is one that was cut, and once the command has ended by 0 all its files are the new ones.
func TestPowerLossLeavesTheOldFileOrTheNewOne(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	strace, bin := testenv.Program(t, "strace"), program(t)
	line, dir := waysOf(t), t.TempDir()
	workInputs(t, dir)
	lines := workOf(t)
	lines["tune"] += " --journal OUT.tune"
	lines["shard plan"] = "shard plan " + ways["shard plan"]
	lines["demo files"] = "demo --write OUT"
	lines["statistics"] = lines["learner ridge"] + " --save-stats OUT.stats"
	maps.DeleteFunc(lines, func(name, way string) bool {
		return strings.HasPrefix(name, "learner ") || !strings.Contains(way, "OUT") && !strings.HasPrefix(name, "shard")
	})
	for _, name := range testenv.Few(t, slices.Sorted(maps.Keys(lines)), 5, "the power fails in every command that writes") {
		t.Run(name, func(t *testing.T) {
			args, out := line(lines[name], "messy.csv")
			args = workArgs(t, args, dir, out)
			for _, arg := range args {
				if strings.HasPrefix(arg, out) && !strings.HasSuffix(arg, ".tune") && name != "shard plan" && name != "shard predict" &&
					name != "demo files" { // which make folders
					if _, err := os.Stat(arg); err != nil {
						write(t, out, filepath.Base(arg), "what was there before")
					}
				}
			}
			before, d := diskFiles(t, out), diskOf(t, out)
			trace := filepath.Join(t.TempDir(), "trace")
			cmd := exec.Command(strace, append([]string{"-f", "-y", "-xx", "-qq", "-s", "100000000", "-e", "signal=none", "-o", trace, "-e",
				"trace=openat,creat,read,write,writev,pwrite64,pwritev,pwritev2,lseek,ftruncate,fallocate,fsync,fdatasync,sync_file_range,close,mmap," +
					"renameat,renameat2,rename,unlink,unlinkat,linkat,mkdirat,copy_file_range,sendfile,splice", bin}, args...)...)
			if said, err := cmd.CombinedOutput(); err != nil {
				if bytes.Contains(said, []byte("PTRACE")) {
					testenv.Machine(t, "no process may be traced here: %s", said)
				}
				t.Fatalf("%v: %s", err, said)
			}
			text, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			d.replay(t, callsOf(t, string(text)), before, diskFiles(t, out))
		})
	}
}

// replay does all calls, and looks after each one what would be left.
func (d *disk) replay(t *testing.T, calls []call, before, after map[string][]byte) {
	wrong, journals := map[string]bool{}, map[string][]byte{}
	defer func() { testenv.Tried(t, "power failures and torn writes", len(calls), len(wrong)) }()
	report := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !wrong[text] {
			wrong[text] = true
			t.Error(text)
		}
	}
	for i := range calls {
		d.do(t, &calls[i])
		for path := range d.names {
			name := filepath.Base(path)
			if strings.HasSuffix(name, ".tune") {
				if file := d.at(path); file != nil {
					if !bytes.HasPrefix(file.now, journals[path]) {
						report("%s is not only added to", name)
					}
					journals[path] = file.now
					if len(d.names[path]) > 1 && bytes.Count(file.durable, []byte("\n")) > 1 { // its head and a line
						report("%s has synced lines, and its folder does not have it", name)
					}
				}
				continue
			}
			for _, text := range d.left(path) {
				old, was := before[path]
				if isOld := text == nil && !was || was && text != nil && bytes.Equal(text, old); !isOld && !bytes.Equal(text, after[path]) &&
					!strings.HasSuffix(name, ".tmp") {
					report("%s may be left with %d bytes, neither what it was nor what it is to be", name, len(text))
				}
			}
		}
	}
	changed := len(journals)
	for path, text := range after {
		if file := d.at(path); file == nil || !bytes.Equal(file.now, text) {
			t.Errorf("%s is not as its calls were read", path)
		}
		if old, was := before[path]; was && bytes.Equal(old, text) {
			continue
		}
		changed++
		for at := path; at != d.root; at = filepath.Dir(at) {
			if len(d.names[at]) > 1 {
				t.Errorf("the command has ended, and %s may be lost: the folder of %s is not synced", path, at)
			}
		}
	}
	if changed == 0 {
		t.Error("nothing was written")
	}
}

// A file that is written over in place by one call may be left with sectors of both.
func TestTornWrites(t *testing.T) {
	old, now := bytes.Repeat([]byte("o"), 3*sector), bytes.Repeat([]byte("n"), 3*sector+5)
	f := &inode{now: old, durable: old}
	d := &disk{names: map[string][]*inode{"f": {f}}}
	d.doFile(t, &call{name: "pwrite64", args: "3, x, 0", result: len(now), strings: [][]byte{now}}, &handle{file: f, path: "f"})
	for _, text := range d.left("f") {
		if !bytes.Equal(text, old) && !bytes.Equal(text, now) {
			return
		}
	}
	t.Error("only the old text or the new one is left")
}
