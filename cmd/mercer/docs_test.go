package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/cli.md instead of comparing")

// reference is docs/cli.md: the help of every command.
func reference(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString("# The command line\n\nWhat `mercer COMMAND --help` prints. Exit codes: 0 done, 1 the work failed, 2 the command line was wrong.\n" +
		"An error is one line on standard error. This page is written by `go test ./cmd/mercer -run TestReference -update`.\n")
	for _, cmd := range append([]string{""}, names()...) {
		args := strings.Fields(cmd + " --help")
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
		}
	}
	return list
}

func TestReferenceIsCurrent(t *testing.T) {
	const path = "../../docs/cli.md"
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
		t.Error("docs/cli.md is not what the commands say; run go test ./cmd/mercer -run TestReference -update")
	}
}

// Every command of the README runs, in its order, in an empty directory. The first two, which
// CI runs by themselves, are left out: the demonstration and the tests.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("trains several models")
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	bin := program(t)
	dir := t.TempDir()
	blocks := strings.Split(string(text), "```sh\n")[1:]
	ran := 0
	for _, block := range blocks {
		script, _, _ := strings.Cut(block, "```")
		if strings.HasPrefix(script, "go run ./cmd/mercer demo") || strings.HasPrefix(script, "go test") {
			continue
		}
		// What the README builds is built already.
		script = strings.ReplaceAll(script, "go build -o mercer ./cmd/mercer", "cp '"+bin+"' mercer")
		cmd := exec.Command("sh", "-e", "-c", script)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s%v\n%s", script, err, out)
		}
		ran++
	}
	if ran < 5 {
		t.Errorf("only %d blocks of the README were run", ran)
	}
	for _, name := range []string{"digits.mercer", "ridge.mercer", "predictions.txt", "z.npy", "ztest.npy", "k.npy"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("the README's commands wrote no %s", name)
		}
	}
}
