package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mercer/internal/app/cli"
)

const root = "../.."

// allSizes are those in which sections are tested: lines depend on them.
var allSizes = []sizes{{false, 2}, {true, 2}, {false, 1}, {true, 4}}

// Cells take what commands of their section say, commands say what is wanted, and rows are as wide
// as the heads of their tables.
func TestSectionsAreWhole(t *testing.T) {
	for _, size := range allSizes {
		seen := map[string]bool{}
		for _, s := range sections(size) {
			if s.title == "" || s.intro == "" || len(s.tables) == 0 || seen[s.name] {
				t.Errorf("%s: no title, no intro, no tables, or the name of another section", s.name)
			}
			seen[s.name] = true
			commands := map[string]command{}
			for _, g := range s.groups {
				for _, c := range g.commands {
					if _, twice := commands[c.id]; twice || c.read == nil {
						t.Errorf("%s: command %s is there twice or has no reader", s.name, c.id)
					}
					commands[c.id] = c
					if len(s.wanted(c.id)) == 0 {
						t.Errorf("%s: no cell takes what %s says", s.name, c.line)
					}
				}
			}
			for _, table := range s.tables {
				for _, row := range table.rows {
					if len(row) != len(table.head) {
						t.Errorf("%s: %d cells under %q", s.name, len(row), table.head)
					}
					for _, c := range row {
						for _, m := range c.metrics() {
							if _, is := commands[m.id]; !is {
								t.Errorf("%s: a cell takes %q of %q, which is no command", s.name, m.key, m.id)
							}
						}
					}
				}
			}
		}
	}
}

// Every command is one that its program takes: mercer's by the command line itself, benchmarks and
// scripts as far as their sources tell.
func TestCommandsAreTaken(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	seen := map[string]bool{}
	check := func(line string) {
		if seen[line] {
			return
		}
		seen[line] = true
		_, args := command{line: line}.words()
		var err error
		switch args[0] {
		case "mercer":
			err = cli.Check(args[1:])
		case "go":
			err = checkGo(args[1:])
		case "python3":
			err = checkScript(args[1:])
		default:
			if programs[args[0]] == "" {
				err = fmt.Errorf("nothing says which package has %s", args[0])
			}
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, size := range allSizes {
		for _, s := range sections(size) {
			for _, g := range s.groups {
				for _, c := range g.commands {
					check(c.line)
				}
			}
			for _, f := range s.files {
				if !strings.HasSuffix(f.line, ` "$WORK/`+f.name+`"`) {
					t.Errorf("%s is not written last by %s", f.name, f.line)
				}
				if strings.HasPrefix(f.line, "mercer ") {
					check(strings.ReplaceAll(f.line, `"`, ""))
				}
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d commands", len(seen))
	}
	for _, wrong := range []string{"mercer train a --no-such-flag", "mercer bench --map",
		"go test -run '^$' -bench NoSuch ./internal/solve/pool", "go test -bench Pool ./nowhere",
		"go run -C research ./nothing", "python3 " + peers + "nothing.py", "python3 " + peers + "maps.py --sparse"} {
		_, args := command{line: wrong}.words()
		if cli.Check(args[1:]) == nil || checkGo(args[1:]) == nil || checkScript(args[1:]) == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}

// checkGo looks for the benchmarks of go test -bench, or the program of go run.
func checkGo(args []string) error {
	if args[0] == "run" {
		if args[1] != "-C" {
			return fmt.Errorf("go run needs -C and the folder of a module")
		}
		_, err := os.Stat(filepath.Join(root, args[2], args[3], "main.go"))
		return err
	}
	at := slices.Index(args, "-bench")
	if args[0] != "test" || at < 0 || at+1 >= len(args) {
		return fmt.Errorf("neither go run nor go test -bench")
	}
	found := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, args[len(args)-1]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && strings.HasPrefix(f.Name.Name, "Benchmark") {
				found[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	grouped := regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(args[at+1], ".*") // alternatives of a part
	for alternative := range strings.SplitSeq(grouped, "|") {
		first, _, _ := strings.Cut(alternative, "/")
		pattern, err := regexp.Compile(first)
		if err != nil {
			return err
		}
		is := false
		for name := range found {
			is = is || pattern.MatchString(name)
		}
		if !is {
			return fmt.Errorf("no benchmark %s", first)
		}
	}
	return nil
}

// checkScript looks for the flags and the first argument in the text of a script, whose modules
// somebody has to know.
func checkScript(args []string) error {
	text, err := os.ReadFile(filepath.Join(root, args[0]))
	if err != nil {
		return err
	}
	if imports[strings.TrimPrefix(args[0], peers)] == nil {
		return fmt.Errorf("nothing says which modules it imports")
	}
	for i, arg := range args[1:] {
		if (i == 0 || strings.HasPrefix(arg, "--")) && !strings.Contains(string(text), `"`+arg+`"`) {
			return fmt.Errorf("it does not know %s", arg)
		}
	}
	return nil
}

// Every script is used, and imports what the table of modules says.
func TestScriptsImportWhatIsSaid(t *testing.T) {
	scripts, err := filepath.Glob("peers/*.py")
	if err != nil || len(scripts) != len(imports)+1 {
		t.Errorf("%d scripts, %d with modules (and versions.py), %v", len(scripts), len(imports), err)
	}
	for name, modules := range imports {
		text, err := os.ReadFile(filepath.Join("peers", name))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, module := range peerNames[1:] {
			is := regexp.MustCompile(`(?m)^(import|from) ` + module + `\b`).Match(text)
			if is != slices.Contains(modules, module) {
				t.Errorf("%s imports %s: %t, said %t", name, module, is, !is)
			}
		}
	}
}

func TestImagesOfMNISTAreIDX(t *testing.T) {
	images, labels := idx(1000, false), idx(1000, true)
	if images.name != "mnist1000" ||
		!strings.HasPrefix(images.line, `(printf '\000\000\010\003\000\000\003\350\000\000\000\034\000\000\000\034'; zcat `) ||
		!strings.Contains(images.line, "tail -c +17 | head -c 784000)") {
		t.Errorf("%+v", images)
	}
	if !strings.HasPrefix(labels.line, `(printf '\000\000\010\001\000\000\003\350'; zcat `) ||
		!strings.Contains(labels.line, "tail -c +9 | head -c 1000)") {
		t.Errorf("%+v", labels)
	}
}

func TestWordsOfALine(t *testing.T) {
	env, args := command{line: "MERCER_CPU=avx2 GOMAXPROCS=1 go test -run '^$' -bench 'A|B' ./x --y=Z"}.words()
	if !slices.Equal(env, []string{"MERCER_CPU=avx2", "GOMAXPROCS=1"}) ||
		!slices.Equal(args, []string{"go", "test", "-run", "^$", "-bench", "A|B", "./x", "--y=Z"}) {
		t.Errorf("%q %q", env, args)
	}
}
