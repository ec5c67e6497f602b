package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// allCommands are the commands that the program knows, by their names behind "mercer".
func allCommands() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.HasSubCommands() {
			for _, sub := range c.Commands() {
				walk(sub)
			}
			return
		}
		all[strings.TrimPrefix(c.CommandPath(), "mercer ")] = c
	}
	walk(newRoot())
	return all
}

// ways are a way to call each command that reads rows or computes with them: DATA is a table, MODEL a model of its rows, OUT a file to
// write. Those left out read no table: they have a reason.
var ways = map[string]string{
	"approx":     "DATA --map orf --features 16 --progress never",
	"cluster":    "DATA -o OUT --features 16 --clusters 2",
	"compare":    "DATA MODEL OTHER",
	"convert":    "DATA OUT.csv",
	"curve":      "DATA --features 16 --learner ridge --progress never",
	"eval":       "MODEL DATA",
	"explain":    "MODEL DATA --progress never",
	"index":      "DATA -o OUT --features 16",
	"inspect":    "DATA",
	"kernel":     "DATA -o OUT.npy",
	"predict":    "MODEL DATA -o OUT.csv",
	"search":     "INDEX DATA",
	"shard plan": "DATA -o OUT --features 16 --learner ridge --shards 1",
	"train":      "DATA -o OUT --features 16 --learner ridge",
	"transform":  "DATA -o OUT.npy --features 16",
	"tune":       "DATA -o OUT --features 16 --learner ridge --gamma 0.1,1",
}

var withoutTables = map[string]string{
	"bench":             "rows of its own",
	"demo":              "rows of its own",
	"export":            "a model alone",
	"liblinear-predict": "LIBSVM text alone",
	"liblinear-train":   "LIBSVM text alone",
	"maps":              "lists maps",
	"merge":             "statistics",
	"serve":             "rows of requests",
	"shard eval":        "a plan",
	"shard merge":       "a plan",
	"shard predict":     "a plan",
	"shard next":        "a plan",
	"shard remove":      "a plan",
	"shard run":         "a plan",
	"shard solve":       "a plan",
}

// waysOf is waysWith of 120 rows.
func waysOf(t *testing.T) func(way, table string) (args []string, out string) {
	t.Helper()
	return waysWith(t, 120)
}

// waysWith returns a function that makes a command line of a way, with a folder for its output, that reads a table: messy.csv, with
// columns to leave out, classes.csv, which is that with classes, gaps.csv, with a missing number, or latin.csv, which is not UTF-8. Models
// are of the table without any of it.
func waysWith(t *testing.T, rows int) func(way, table string) (args []string, out string) {
	t.Helper()
	dir := t.TempDir()
	var messy, classes, clean, gaps, latin strings.Builder
	messy.WriteString("key,a,b,junk_1,y\n")
	classes.WriteString("key,a,b,junk_1,y\n")
	for _, b := range []*strings.Builder{&clean, &gaps, &latin} {
		b.WriteString("a,b,y\n")
	}
	for i := range rows {
		a, b := 2*float64(i*37%rows)/float64(rows), 2*float64(i*71%rows)/float64(rows)
		fmt.Fprintf(&messy, "K%03d,%g,%g,%s,%g\n", i, a, b, []string{"inf", "-inf"}[i%2], a*b)
		fmt.Fprintf(&classes, "K%03d,%g,%g,%s,%s\n", i, a, b, []string{"inf", "-inf"}[i%2], []string{"p", "q"}[int(a+b)%2])
		fmt.Fprintf(&clean, "%g,%g,%g\n", a, b, a*b)
		fmt.Fprintf(&gaps, "%g,%s,%g\n", a, []string{"", fmt.Sprint(b)}[min(i, 1)], a*b)
		fmt.Fprintf(&latin, "%g,%s,%g\n", a, []string{fmt.Sprint(b), "caf\xe9"}[i%2], a*b)
	}
	of := write(t, dir, "clean.csv", clean.String())
	for name, b := range map[string]*strings.Builder{"messy.csv": &messy, "classes.csv": &classes, "gaps.csv": &gaps, "latin.csv": &latin} {
		write(t, dir, name, b.String())
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	ok(t, "train", of, "--learner", "ridge", "--features", "16", "-o", at("m"))
	ok(t, "train", of, "--learner", "ridge", "--features", "8", "-o", at("other"))
	ok(t, "index", of, "--features", "16", "-o", at("index"))
	return func(way, table string) (args []string, out string) {
		out = t.TempDir()
		names := strings.NewReplacer("DATA", at(table), "MODEL", at("m"), "OTHER", at("other"), "INDEX", at("index"),
			"OUT", filepath.Join(out, "out"))
		for _, word := range strings.Fields(way) {
			args = append(args, names.Replace(word))
		}
		return args, out
	}
}

// Every command that reads tables leaves columns out by --ignore and --id, says when there is no such column, and is in the list
// above.
func TestColumnsAreIgnoredByEveryCommand(t *testing.T) {
	line := waysOf(t)
	for name, cmd := range allCommands() {
		way, reads := ways[name]
		if why := withoutTables[name]; reads == (why != "") {
			t.Errorf("mercer %s must be in one of the lists of ways to read tables and of commands without tables", name)
			continue
		}
		if has := cmd.Flags().Lookup("ignore") != nil && cmd.Flags().Lookup("id") != nil; reads && !has {
			t.Errorf("mercer %s reads tables and has no --ignore or no --id", name)
		}
		if !reads {
			continue
		}
		args, _ := line(name+" "+way, "messy.csv")
		if r := mercer(t, append(args, "--ignore", "junk_*", "--id", "key")...); r.code != 0 {
			t.Errorf("mercer %s: %s", strings.Join(args, " "), r.stderr)
		}
		if strings.Contains(way, "MODEL") || strings.Contains(way, "INDEX") {
			continue // whose columns are known; others may be there or not
		}
		if r := mercer(t, append(args, "--ignore", "nowhere", "--id", "key")...); r.code == 0 || !strings.Contains(r.stderr, "nowhere") {
			t.Errorf("mercer %s --ignore nowhere: exit code %d, %s", strings.Join(args, " "), r.code, r.stderr)
		}
	}
}

// Text that is not UTF-8 is refused by every command that reads tables, with its line and the command that converts it.
func TestEveryCommandRefusesOtherText(t *testing.T) {
	line := waysOf(t)
	for name, way := range ways {
		if name == "shard plan" { // which reads no rows
			continue
		}
		args, out := line(name+" "+way, "latin.csv")
		r := mercer(t, args...)
		for _, want := range []string{"latin.csv:3: ", `"caf\xe9" is not UTF-8`, "--encoding windows-1252", "iconv -f WINDOWS-1252 -t UTF-8 "} {
			if r.code != 1 || !strings.Contains(r.stderr, want) {
				t.Errorf("mercer %s: exit code %d, %s; want %q", strings.Join(args, " "), r.code, r.stderr, want)
			}
		}
		if list, _ := os.ReadDir(out); len(list) > 0 && name != "tune" {
			t.Errorf("mercer %s: wrote %s", strings.Join(args, " "), list[0].Name())
		}
	}
}

// A missing number in new rows takes no flag, in any command that has a model of rows without any.
func TestGapsThatTrainingDidNotHave(t *testing.T) {
	line := waysOf(t)
	lines := []string{"transform MODEL DATA -o OUT.npy", "explain MODEL DATA --rows 1-2"}
	for name, way := range ways {
		if strings.Contains(way, "MODEL") || strings.Contains(way, "INDEX") {
			lines = append(lines, name+" "+way)
		}
	}
	for _, way := range lines {
		args, _ := line(way, "gaps.csv")
		if r := mercer(t, args...); r.code != 0 {
			t.Errorf("mercer %s: exit code %d, %s", strings.Join(args, " "), r.code, r.stderr)
		}
	}
}

// named are flags whose help speaks of a file or folder, though they are not checked against other files of the command: what they name is
// meant to be replaced or gone on with, is a folder, or text.
var named = strings.Fields("append continue add plots data query table target to output-format watch write")

// No command writes over a file that it reads, whichever flags and arguments name it; a flag that speaks of files is known to the check.
func TestNoCommandReplacesAnInput(t *testing.T) {
	t.Chdir(t.TempDir())
	texts := map[string]string{
		"schema":  `{"columns":[]}`,
		"bag":     `{"pooling":"mean"}`,
		"bag-map": `{"map":"chain","steps":[{"map":"countsketch","features":64},{"map":"rff","features":64}]}`,
		"map":     `{"map":"chain","steps":[{"map":"countsketch","features":64},{"map":"rff","features":64}]}`,
	}
	positional := map[string]string{"convert": "OUT", "liblinear-train": "MODEL_FILE", "liblinear-predict": "OUTPUT_FILE"}
	speaks := regexp.MustCompile(`(?i)\bfile`)
	tried := 0
	for name, cmd := range allCommands() {
		var outputs, inputs []string // flags
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			_, own := f.Value.(readsFile)
			switch {
			case slices.Contains(flagsWritten, f.Name), f.Name == "schema" && writesSchema(cmd):
				outputs = append(outputs, f.Name)
			case own, slices.Contains(flagsRead, f.Name), slices.Contains(flagsEither, f.Name):
				inputs = append(inputs, f.Name)
			case speaks.MatchString(f.Usage) && f.Value.Type() != "bool" && !slices.Contains(named, f.Name):
				t.Errorf("mercer %s: --%s names a file, and no check knows it", name, f.Name)
			}
		})
		use, _, _ := strings.Cut(cmd.Use, " -o ")
		var words, args []string // the arguments' names in the usage, and files for them
		for _, w := range strings.Fields(use)[1:] {
			if w = strings.Trim(w, "[]."); w[0] >= 'A' && w[0] <= 'Z' {
				words, args = append(words, w), append(args, fmt.Sprintf("argument%d.csv", len(args)))
				write(t, ".", args[len(args)-1], "1 1:2\n")
			}
		}
		refused := func(line ...string) {
			tried++
			path := line[len(line)-1]
			before := contents(t, ".")
			r := mercer(t, append(strings.Fields(name), line...)...)
			if r.code != 2 || !strings.Contains(r.stderr, "give another name") {
				t.Errorf("mercer %s %s: exit code %d, %s", name, strings.Join(line, " "), r.code, r.stderr)
			}
			for file, was := range before {
				if now, err := os.ReadFile(file); err != nil || string(now) != was {
					t.Errorf("mercer %s %s: %s was replaced, by %s", name, strings.Join(line, " "), file, path)
				}
			}
		}
		for i := range args {
			if out := slices.Index(words, positional[name]); positional[name] != "" && out != i {
				line := slices.Clone(args)
				line[out] = args[i]
				refused(line...)
			}
		}
		for _, out := range outputs {
			for _, path := range args {
				refused(append(slices.Clone(args), "--"+out, path)...)
			}
			for _, in := range inputs {
				text, value := texts[in], "input"
				if text != "" && in != "schema" {
					value = "@input"
				}
				write(t, ".", "input", text)
				refused(append(slices.Clone(args), "--"+in, value, "--"+out, "input")...)
			}
		}
	}
	if tried < 100 {
		t.Errorf("%d command lines were tried", tried)
	}
}
