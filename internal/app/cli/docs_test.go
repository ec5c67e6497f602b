package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/cli.md and the tables of docs/export.md instead of comparing")

// reference is docs/cli.md: the help of every command.
func reference(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString("# The command line\n\nWhat `mercer COMMAND --help-all` prints; " +
		"`--help` has the common flags alone. Exit codes: 0 done, 1 the work failed, 2 the command line was wrong, 3 a check found what it looked for (`predict --check=fail`), 130 a signal ended it.\n" +
		"An error is one line on standard error. This page is written by `go test ./internal/app/cli -run TestReference -update`.\n")
	for _, cmd := range append([]string{""}, names()...) {
		args := strings.Fields(cmd + " --help-all")
		if c, _, err := newRoot().Find(strings.Fields(cmd)); err != nil || c.Flags().Lookup(helpAll) == nil {
			args = strings.Fields(cmd + " --help")
		}
		title := strings.TrimSpace("mercer " + cmd)
		b.WriteString("\n## " + title + "\n\n```text\n" + strings.TrimSpace(ok(t, args...)) + "\n```\n")
	}
	return b.Bytes()
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
	want := reference(t)
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
		// Customers of the README are fewer.
		script = strings.NewReplacer("i <= 4000", "i <= 1000", "head -n 3001", "head -n 801").Replace(script)
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
