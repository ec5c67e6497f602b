//go:build linux && amd64

package cli

import (
	"bytes"
	"compress/gzip"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/reach/export"
)

// job is a command line whose files are the same whenever it runs.
type job struct {
	name, dir, stdin string
	args             []string
	before, after    map[string][]byte // the files in dir; nil: folders
	varies           map[string]bool   // files with times in them
	stdout           string            // without times; "" if it differs from run to run
	own              bool              // it changes a file, and does not do so twice
	points           []*sysCall        // its calls, with the last of those that are the same in last
	last             map[string]int
}

func (c *sysCall) key() string { return c.name + " " + c.path + " " + c.from }

// jobs are the commands of workOf, and other ways of those that write files or read formats, by their names.
func jobs(t *testing.T) []*job {
	t.Helper()
	line, inputs, rows := waysOf(t), t.TempDir(), t.TempDir()
	workInputs(t, inputs)
	lines := workOf(t)
	lines["shard plan"] = "shard plan " + ways["shard plan"]
	lines["shard next"] = "shard next RAN"
	lines["shard merge"] = "shard merge RAN --round look" // else a second one merges the next round
	lines["maps"] = "maps"
	lines["demo files"] = "demo --write OUT"
	lines["search"] = "search INDEX DATA --ignore junk_* --id key"
	lines["inspect model"] = "inspect MODEL --report OUT.html"
	lines["inspect schema"] = "inspect DATA --schema OUT --ignore junk_* --id key"
	lines["index add"] = "index CLEAN --add OWN"
	lines["index delete"] = "index OWN --delete 3,7-9"
	lines["index codes"] = lines["index"] + " --codes signs --cells 4"
	lines["train statistics"] = lines["learner ridge"] + " --save-stats OUT.stats --report OUT.html"
	lines["train from a pipe"] = "train - -o OUT --ignore junk_* --id key --learner ridge --features 16"
	lines["train continue"] = "train CLEAN -o OUT --continue ONLINE"
	lines["train append"] = "train CLEAN -o OUT --append STATISTICS"
	lines["train passes"] = "train DATA -o OUT --ignore junk_* --id key --learner svr --features 64 --memory 40MB"
	lines["tune"] += " --results OUT.csv"
	lines["train --auto"] = "train DATA -o OUT --ignore junk_* --id key --auto --learner ridge" // without a budget, which is of time
	for _, of := range []string{"eval", "explain", "compare", "curve", "cluster"} {
		lines[of+" report"] = lines[of] + " --report OUT.html"
	}
	lines["approx numbers"] = lines["approx"] + " --csv OUT.csv --plots OUT"
	for _, target := range export.Targets {
		lines["export "+target] = "export MODEL -o OUT --target " + target
	}
	for _, to := range dataset.ConvertFormats() {
		lines["convert to "+to] = "convert DATA OUT --ignore junk_*,key --to " + to
		lines["eval "+to] = "eval MODEL " + filepath.Join(rows, "rows."+to)
		if to == "npy" {
			delete(lines, "eval npy") // which has no labels
		} else if to == "npz" {
			lines["eval npz"] = "inspect " + filepath.Join(rows, "rows.npz")
		}
		in, _ := line("DATA", "messy.csv")
		ok(t, "convert", in[0], filepath.Join(rows, "rows."+to), "--ignore", "junk_*,key", "--label", "y")
	}
	text, _ := os.ReadFile(filepath.Join(rows, "rows.csv"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(text)
	z.Close()
	lines["eval packed"] = "eval MODEL " + write(t, rows, "rows.csv.gz", packed.String())
	for _, to := range []string{"csv", "jsonl", "parquet", "arrow", "arrows"} {
		lines["predict to "+to] = "predict MODEL DATA -o OUT --with-input --output-format " + to
	}
	for _, to := range []string{"npz", "csv", "libsvm", "parquet", "arrow"} {
		lines["transform to "+to] = "transform DATA -o OUT --features 16 --ignore junk_* --id key --output-format " + to
	}
	clean := filepath.Join(inputs, "clean.csv")
	ok(t, "train", clean, "-o", filepath.Join(inputs, "ONLINE"), "--learner", "online", "--features", "16")
	var all []*job
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		args, dir := line(lines[name], "messy.csv")
		j := &job{name: name, dir: dir, args: args, last: map[string]int{}, varies: map[string]bool{}}
		for i, arg := range args {
			switch arg {
			case "-":
				in, _ := line("DATA", "messy.csv")
				j.stdin = in[0]
			case "CLEAN":
				args[i] = clean
			case "OWN":
				in, _ := line("INDEX", "messy.csv")
				args[i], j.own = filepath.Join(dir, "own.index"), true
				index, _ := os.ReadFile(in[0])
				write(t, dir, "own.index", string(index))
			}
		}
		j.args = workArgs(t, args, inputs, dir)
		makes := slices.Contains([]string{"shard plan", "shard predict", "demo files", "approx numbers"}, name) // folders
		for _, arg := range j.args {
			if _, err := os.Stat(arg); err != nil && strings.HasPrefix(arg, dir) && (!makes || strings.Contains(filepath.Base(arg), ".")) {
				write(t, dir, filepath.Base(arg), "what was there before")
			}
		}
		j.before = diskFiles(t, j.dir)
		all = append(all, j)
	}
	return all
}

// fresh makes the folder what it was before.
func (j *job) fresh(t *testing.T) {
	t.Helper()
	os.RemoveAll(j.dir)
	if err := os.Mkdir(j.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(j.before)) {
		var err error
		if text := j.before[path]; text == nil {
			err = os.Mkdir(path, 0o755)
		} else {
			err = os.WriteFile(path, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// learn runs the job twice to see what it does.
func (j *job) learn(t *testing.T) bool {
	t.Helper()
	for round := range 2 {
		j.fresh(t)
		temporary := t.TempDir()
		end := traced(t, temporary, j.stdin, j.args, func(c *sysCall) tampering {
			if round == 1 && c.from != "" {
				j.points = append(j.points, c)
				j.last[c.key()] = c.n
			}
			return tampering{}
		})
		if round == 0 && strings.Contains(end.stderr, "cannot do") { // needs classes
			for i := range j.args {
				j.args[i] = strings.Replace(j.args[i], "messy.csv", "classes.csv", 1)
			}
			return j.learn(t)
		}
		if end.code != 0 || end.signal != 0 {
			t.Errorf("mercer %s: exit code %d, %v, %s", strings.Join(j.args, " "), end.code, end.signal, end.stderr)
			return false
		}
		if left := diskFiles(t, temporary); len(left) > 0 {
			t.Errorf("mercer %s: left %v", strings.Join(j.args, " "), slices.Collect(maps.Keys(left)))
		}
		after, stdout := diskFiles(t, j.dir), timesInText.ReplaceAllString(end.stdout, "0")
		if round == 1 {
			for path, text := range after {
				j.varies[path] = slices.Contains([]string{".html", ".svg", ".png"}, filepath.Ext(path)) || !bytes.Equal(j.after[path], text)
			}
			if stdout != j.stdout || slices.Contains([]string{"approx", "bench", "compare", "curve", "demo"}, j.args[0]) { // which print times in columns
				stdout = ""
			}
		}
		j.after, j.stdout = after, stdout
	}
	return true
}

var timesInText = regexp.MustCompile(`[\d.]+ ?(s|ms|µs|ns|min|h|MiB|GiB|KiB|rows/s|rows a second)\b`)

// done says whether the text of a file is that of a whole run: one with times in it at least ends as that does.
func (j *job) done(path string, text []byte) bool {
	whole, is := j.after[path]
	if j.varies[path] {
		return len(text) > 16 && bytes.HasSuffix(text, whole[len(whole)-8:])
	}
	return is && bytes.Equal(text, whole)
}
