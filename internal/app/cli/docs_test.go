package cli

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/cli.md and the lists of docs/export.md instead of comparing")

const referenceHead = `# The command line

For those who look up a command or a flag. "mercer COMMAND --help" prints the common flags of a command with examples;
"--help-all" prints all of them and says what is computed, chosen and printed. Flags that several commands share stand here
once, by group; each command then names those that it takes. "Test rows" stands for --test, --test-labels, --holdout,
--holdout-kind, --split-group, --split-time and --split-column, "components" for --reduce, --components, --map-components,
--variance-share and --whiten.

Exit codes: 0 done, 1 the work failed, 2 the command line was wrong, 3 a check found what it looked for (predict --check=fail),
130 a signal ended it. An error is one line on standard error. "go test ./internal/app/cli -run TestReference -update" writes
this page.
`

// reference is docs/cli.md: the flags that commands share, each once, and then every command with its own.
func reference() []byte {
	var cmds []*cobra.Command
	for _, name := range append([]string{""}, names()...) {
		cmd, _, _ := newRoot().Find(strings.Fields(name))
		cmds = append(cmds, cmd)
	}
	shared := sharedFlags(cmds)
	var b bytes.Buffer
	b.WriteString(referenceHead)
	for _, g := range flagGroups {
		var lines []string
		for name := range strings.FieldsSeq(g.common + " " + g.rest) {
			if f := shared[name]; f != nil {
				lines = append(lines, hanging(flagColumn(f), flagUsage(f), helpWidth))
			}
		}
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n```text\n%s\n```\n", g.title, strings.Join(lines, "\n"))
		}
	}
	for _, cmd := range cmds {
		fmt.Fprintf(&b, "\n## %s\n\n```text\n", cmd.CommandPath())
		describe(&b, cmd, shared)
		b.WriteString("```\n")
	}
	return b.Bytes()
}

// sharedFlags are the flags of the groups for which at least two commands have the same words, by name; the words are those of
// most commands.
func sharedFlags(cmds []*cobra.Command) map[string]*pflag.Flag {
	words := func(f *pflag.Flag) string { return f.Name + " " + flagUsage(f) }
	times, shared := map[string]int{}, map[string]*pflag.Flag{}
	for _, cmd := range cmds {
		for _, g := range groupsOf(cmd, true)[1:] {
			for _, f := range g.flags {
				times[words(f)]++
				if most := shared[f.Name]; most == nil || times[words(f)] > times[words(most)] {
					shared[f.Name] = f
				}
			}
		}
	}
	maps.DeleteFunc(shared, func(_ string, f *pflag.Flag) bool { return times[words(f)] < 2 })
	return shared
}

// describe says what a command is for, how it is called, which flags it has to itself, and which it shares.
func describe(b *bytes.Buffer, cmd *cobra.Command, shared map[string]*pflag.Flag) {
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	about = firstSentence(about)
	if cmd.DisableFlagParsing { // whose flags stand in the text of --help
		about += " Options are LIBLINEAR's; --help lists them."
	}
	fmt.Fprintf(b, "%s\n\n  %s\n", filled(about, helpWidth), cmd.UseLine())
	if cmd.HasExample() {
		example, _, _ := strings.Cut(cmd.Example, "\n")
		fmt.Fprintf(b, "\n%s\n", filledCommands(example, helpWidth))
	}
	var own, takes []string
	for _, g := range groupsOf(cmd, true) {
		var has []string
		for _, f := range g.flags {
			if s := shared[f.Name]; s != nil && strings.HasSuffix(flagUsage(f), flagUsage(s)) && groupTitle(f) == g.title {
				has = append(has, f.Name)
			} else {
				own = append(own, hanging(flagColumn(f), flagUsage(f), helpWidth))
			}
		}
		if len(has) > 0 {
			takes = append(takes, filled(g.title+": "+listed(g.title, has, shared), helpWidth))
		}
	}
	for _, part := range [][]string{own, takes} {
		if len(part) > 0 {
			fmt.Fprintf(b, "\n%s\n", strings.Join(part, "\n"))
		}
	}
}

// firstSentence is the text to the first full stop with a space behind it, as one line.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	if first, _, more := strings.Cut(text, ". "); more {
		return first + "."
	}
	return strings.TrimRight(text, ".:") + "."
}

func groupTitle(f *pflag.Flag) string {
	title, _, _ := groupOf(f.Name)
	return title
}

// listed names the flags of a group that a command has, or those that it lacks, whichever are fewer.
func listed(title string, has []string, shared map[string]*pflag.Flag) string {
	var lacks []string
	for name, f := range shared {
		if groupTitle(f) == title && !slices.Contains(has, name) {
			lacks = append(lacks, name)
		}
	}
	slices.Sort(lacks)
	switch {
	case len(lacks) == 0:
		return "all"
	case len(lacks) < len(has):
		return "all but " + strings.Join(together(lacks), ", ")
	}
	return "--" + strings.Join(has, ", --")
}

// together are flags, with one name for those that are often missing together.
func together(flags []string) []string {
	var list []string
	for _, set := range [][]string{
		{"test rows", "holdout", "holdout-kind", "split-column", "split-group", "split-time", "test", "test-labels"},
		{"components", "components", "map-components", "reduce", "variance-share", "whiten"},
	} {
		among := func(name string) bool { return slices.Contains(set[1:], name) }
		rest := slices.DeleteFunc(slices.Clone(flags), among)
		if len(flags)-len(rest) == len(set)-1 {
			flags, list = rest, append(list, set[0])
		}
	}
	for _, name := range flags {
		list = append(list, "--"+name)
	}
	return list
}

func names() []string {
	var list []string
	for _, c := range newRoot().Commands() {
		if c.Name() != "help" && c.Name() != "completion" {
			list = append(list, c.Name())
			for _, sub := range c.Commands() {
				list = append(list, c.Name()+" "+sub.Name())
			}
		}
	}
	return list
}

func TestReferenceIsCurrent(t *testing.T) {
	const path = "../../../docs/cli.md"
	want := reference()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/cli.md is not what the commands say; run go test ./internal/app/cli -run TestReference -update")
	}
}

// The page has every flag of every command: under the command, or in the groups, which the command then names.
func TestReferenceHasEveryFlag(t *testing.T) {
	page := string(reference())
	for _, name := range names() {
		cmd, _, _ := newRoot().Find(strings.Fields(name))
		_, section, found := strings.Cut(page, "\n## mercer "+name+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !found {
			t.Errorf("the page has no mercer %s", name)
		}
		for _, g := range groupsOf(cmd, true) {
			_, takes, _ := strings.Cut(section, "\n"+g.title+": ")
			takes, _, _ = strings.Cut(takes, "\n\n")
			for _, f := range g.flags {
				mark := regexp.MustCompile(`--` + f.Name + `\b[^-]`)
				own := regexp.MustCompile(`(?m)^  (-\w, )?--` + f.Name + `( |$)`)
				all, but := strings.HasPrefix(takes, "all"), strings.HasPrefix(takes, "all but")
				takesIt := mark.MatchString(takes + " ")
				if all {
					takesIt = !but || !takesIt
				}
				if !own.MatchString(section) && !(own.MatchString(page) && takesIt) {
					t.Errorf("mercer %s has --%s, and the page does not say so", name, f.Name)
				}
			}
		}
	}
}

// Every command of the README and of the tour runs, in its order, in an empty directory. The first two of the README, which
// CI runs by themselves, are left out: the demonstration and the tests.
func TestReadmeAndTour(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("trains several models")
	}
	bin := program(t)
	dir := t.TempDir()
	var blocks []string
	for _, page := range []string{"../../../README.md", "../../../docs/tour.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, strings.Split(string(text), "```sh\n")[1:]...)
	}
	ran := 0
	for _, block := range blocks {
		script, _, _ := strings.Cut(block, "```")
		if strings.HasPrefix(script, "go run ./cmd/mercer demo") || strings.HasPrefix(script, "go test") {
			continue
		}
		// What the README builds is built already.
		script = strings.ReplaceAll(script, "go build -o mercer ./cmd/mercer", "cp '"+bin+"' mercer")
		// A slow machine does not get done within seconds, and a fast one needs no minutes for so few choices.
		script = strings.ReplaceAll(script, "--budget 10s", "--budget 10m --features 32 --kernel rbf --learner ridge")
		// Customers of the README and digits of the tour are fewer.
		script = strings.NewReplacer("i <= 4000", "i <= 600", "head -n 3001", "head -n 501", "tail -n 1000", "tail -n 99", "150,300,600", "50,100,200",
			"demo --write digits", "demo --write digits\nhead -n 350 digits/train.csv >fewer.csv\nmv fewer.csv digits/train.csv").Replace(script)
		cmd := exec.Command("sh", "-e", "-c", script)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s%v\n%s", script, err, out)
		}
		ran++
	}
	if ran < 5 {
		t.Errorf("only %d blocks of the README and the tour were run", ran)
	}
	for _, name := range []string{"predictions.csv", "columns.html", "digits.mercer", "ridge.mercer", "predictions.txt", "z.npy", "ztest.npy", "k.npy"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("the commands wrote no %s", name)
		}
	}
}

// Every command that the guide shows is one of this program, with flags that it has and a number of arguments that it
// takes. What it printed is checked by nobody: the data are not here.
func TestGuideShowsCommandsThatExist(t *testing.T) {
	text, err := os.ReadFile("../../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^\$ (mercer .*)$`).FindAllStringSubmatch(string(text), -1)
	if len(lines) < 20 {
		t.Fatalf("the guide shows %d commands; it has at least 20", len(lines))
	}
	for _, line := range lines {
		command, _, _ := strings.Cut(line[1], " |")
		if err := parses(command); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	if parses("mercer train a.csv -o b --no-such-flag") == nil || parses("mercer nothing") == nil || parses("mercer merge") == nil {
		t.Error("what is no command parses")
	}
}

// Every table that a command of the guide reads is made in the guide, and every picture that it shows is there.
func TestGuideHasWhatItsCommandsRead(t *testing.T) {
	text, err := os.ReadFile("../../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(text)
	read := regexp.MustCompile(`(?m)^\$ mercer .*$`).FindAllString(guide, -1)
	tables := 0
	for _, command := range read {
		for _, file := range regexp.MustCompile(`\S+\.csv\b`).FindAllString(command, -1) {
			tables++
			if !strings.Contains(guide, " > "+file+"\n") && !strings.Contains(guide, "This is `"+file+"`:") {
				t.Errorf("the guide does not say how %s is made, which this reads: %s", file, command)
			}
		}
	}
	pictures := regexp.MustCompile(`\]\((pictures/[^)]*)\)`).FindAllStringSubmatch(guide, -1)
	for _, picture := range pictures {
		if _, err := os.Stat(filepath.Join("../../../docs", picture[1])); err != nil {
			t.Error(err)
		}
	}
	if tables < 8 || len(pictures) < 20 {
		t.Errorf("the guide's commands read %d tables, and it shows %d pictures", tables, len(pictures))
	}
}

// parses says what is wrong with a command line, without running it.
func parses(line string) error {
	var words []string
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		words = append(words, strings.Trim(w, "'"))
	}
	cmd, rest, err := newRoot().Find(words[1:])
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if cmd == cmd.Root() {
		return fmt.Errorf("%q is no command", words[1])
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}
