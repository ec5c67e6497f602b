package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"mercer/internal/engine/testenv"
	"mercer/train"
)

// working are ways to call those commands that read no table and take time: of LIBSVM text ROWS, a model of it by LIBLINEAR, saved
// STATISTICS, and shards of which nothing is done (PLAN), a round is run (RAN) or all is merged (MERGED).
var working = map[string]string{
	"bench":             "--quick --map orf --features 64 --rows 1000",
	"demo":              "--part stream --rows 1000 --features 16 -o OUT --progress never",
	"export":            "MODEL -o OUT",
	"liblinear-predict": "ROWS LIBLINEAR OUT",
	"liblinear-train":   "-q ROWS OUT",
	"merge":             "STATISTICS STATISTICS -o OUT",
	"shard eval":        "PLAN MODEL --all --merge",
	"shard merge":       "RAN",
	"shard predict":     "PLAN MODEL -o OUT --all",
	"shard run":         "PLAN --all",
	"shard solve":       "MERGED -o OUT",
}

// brief are commands that do nothing to be interrupted, or are interrupted elsewhere.
var brief = map[string]string{
	"maps":         "prints a list",
	"serve":        "TestSecondSignalEndsAtOnce",
	"shard next":   "reads what is merged",
	"shard plan":   "reads no rows",
	"shard remove": "removes files, the plan last",
}

// workOf returns a way for each command that takes time, and for each learner, the default among them; a new one that has none fails the test.
func workOf(t *testing.T) map[string]string {
	t.Helper()
	lines := map[string]string{}
	for name := range allCommands() {
		way := ways[name]
		if way != "" {
			way += " --ignore junk_* --id key"
		} else {
			way = working[name]
		}
		if brief[name] != "" {
			continue
		}
		if way == "" {
			t.Errorf("mercer %s has no way to be interrupted", name)
		}
		lines[name] = name + " " + way
	}
	for _, name := range append(train.Learners(), "auto") {
		flags := "--features 64"
		if name == "auto" || train.LearnerOf(name).Exact() {
			flags = ""
		}
		if name == "group-lasso" {
			flags = "--kernel linear"
		}
		lines["learner "+name] = "train DATA -o OUT --ignore junk_* --id key --learner " + name + " " + flags
	}
	lines["train --auto"] = "train DATA -o OUT --ignore junk_* --id key --auto --budget 1s"
	return lines
}

// told is a context that notes the places that look whether it has ended, by their callers, and ends when one of them looks.
type told struct {
	context.Context
	cancel context.CancelFunc
	at     [4]uintptr // zero: none

	mu     sync.Mutex
	places [][4]uintptr // in the order of their first looks
	seen   map[[4]uintptr]bool
	ended  bool // it was told to
	after  int  // looks after that
}

func toldAt(place [4]uintptr) *told {
	ctx, cancel := context.WithCancel(context.Background())
	return &told{Context: ctx, cancel: cancel, at: place, seen: map[[4]uintptr]bool{}}
}

func (c *told) Err() error {
	var place [4]uintptr
	runtime.Callers(2, place[:])
	c.mu.Lock()
	if !c.seen[place] {
		c.seen[place] = true
		c.places = append(c.places, place)
	}
	if c.ended {
		c.after++
	}
	c.ended = c.ended || place == c.at
	ended := c.ended
	c.mu.Unlock()
	if ended {
		c.cancel()
	}
	return c.Context.Err()
}

// where is a place in words.
func where(place [4]uintptr) (text string) {
	frames := runtime.CallersFrames(place[:])
	for frame, more := frames.Next(); ; frame, more = frames.Next() {
		text += fmt.Sprintf(" < %s:%d", frame.Function, frame.Line)
		if !more {
			return strings.TrimPrefix(text, " < ")
		}
	}
}

// shards makes the plans of working in dir.
func shards(t *testing.T, data, dir string) {
	t.Helper()
	for _, name := range []string{"PLAN", "RAN", "MERGED"} {
		plan := filepath.Join(dir, name)
		ok(t, "shard", "plan", data, "-o", plan, "--shards", "1", "--features", "16", "--learner", "ridge")
		for round := "look"; name == "RAN" && round == "look" || name == "MERGED" && round != ""; {
			ok(t, "shard", "run", plan, "--all")
			if name == "RAN" {
				break
			}
			ok(t, "shard", "merge", plan)
			round = strings.TrimSpace(ok(t, "shard", "next", plan))
		}
	}
}

// workInputs makes the files that working names in dir.
func workInputs(t *testing.T, dir string) {
	t.Helper()
	clean := write(t, dir, "clean.csv", strings.Repeat("1,2,3\n2,3,5\n4,1,7\n3,3,1\n", 30))
	write(t, dir, "ROWS", strings.Repeat("1 1:2 3:4\n-1 1:1 2:0.5\n-1 2:3\n", 30))
	ok(t, "liblinear-train", "-q", filepath.Join(dir, "ROWS"), filepath.Join(dir, "LIBLINEAR"))
	ok(t, "train", clean, "-o", filepath.Join(dir, "model"), "--learner", "ridge", "--features", "16", "--save-stats", filepath.Join(dir, "STATISTICS"))
	shards(t, clean, dir)
}

// workArgs are the arguments of a command with the files of workInputs in dir for their names; of a folder, which the command
// changes, a copy in another one.
func workArgs(t *testing.T, args []string, dir, copies string) []string {
	t.Helper()
	for i, arg := range args {
		from := filepath.Join(dir, arg)
		if info, err := os.Stat(from); err != nil {
			continue
		} else if args[i] = from; info.IsDir() {
			args[i] = filepath.Join(copies, "plan")
			if err := os.CopyFS(args[i], os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return args
}

// Every command that takes time, and every learner, ends with exit code 130 wherever it looks whether it is to end: with one line, hardly a
// look more, and nothing written.
func TestEveryCommandEndsWhereverItLooks(t *testing.T) {
	t.Parallel()
	line, dir := waysOf(t), t.TempDir()
	workInputs(t, dir)
	for name, way := range workOf(t) {
		t.Run(name, func(t *testing.T) {
			table := "messy.csv"
			run := func(place [4]uintptr) (r result, ctx *told, written []string) {
				args, out := line(way, table)
				args = workArgs(t, args, dir, t.TempDir())
				defer func() {
					for _, arg := range args {
						if left, _ := fs.Glob(os.DirFS(arg), "*/*.tmp*"); left != nil {
							t.Errorf("left %v", left)
						}
					}
				}()
				ctx = toldAt(place)
				defer ctx.cancel()
				var stdout, stderr strings.Builder
				code := Run(ctx, args, strings.NewReader(""), &stdout, &stderr)
				list, _ := os.ReadDir(out)
				for _, f := range list {
					written = append(written, f.Name())
				}
				return result{code, stdout.String(), stderr.String()}, ctx, written
			}
			whole, ctx, _ := run([4]uintptr{})
			if strings.Contains(whole.stderr, "cannot do") {
				table = "classes.csv"
				whole, ctx, _ = run([4]uintptr{})
			}
			if whole.code != 0 || len(ctx.places) == 0 {
				t.Fatalf("exit code %d, %d places look whether it is to end; %s", whole.code, len(ctx.places), whole.stderr)
			}
			t.Logf("%d places", len(ctx.places))
			few := testenv.Few(t, ctx.places, 2, "every place that looks")
			testenv.Tried(t, "interruptions while computing", len(few), 0)
			for _, place := range few {
				r, ctx, written := run(place)
				if !ctx.ended {
					continue // which goroutine looks from where is up to the threads
				}
				if r.code != exitInterrupted || !strings.Contains(r.stderr, ": interrupted; ") || strings.Count(r.stderr, "\n") != 1 {
					t.Errorf("told to end at %s: exit code %d, %s", where(place), r.code, r.stderr)
				}
				if inPlan := strings.HasPrefix(name, "shard ") && name != "shard solve"; inPlan && strings.Contains(r.stderr, "nothing was written") {
					t.Errorf("told to end at %s: %s", where(place), r.stderr)
				}
				if ctx.after > 300 {
					t.Errorf("it looked %d times more", ctx.after)
				}
				for _, f := range written {
					if f != "out.tune" && name != "shard predict" { // whose whole files of shards are kept
						t.Errorf("wrote %s", f)
					}
				}
			}
		})
	}
}
