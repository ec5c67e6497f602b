// Command machines checks the types of the program and its tests for other machines, from source and without compiling: what a
// build for each would find but for the linker, in seconds. Its arguments are the folders of the modules that it checks. The file
// of --known has a line for each package that was right; one whose files and imports are as they were is not checked again.
//
//	go run -C .ci/machines . --known FILE ../.. ../../research
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// machines are those that a release is for, and the smallest that a model may run on.
var machines = []string{"linux/arm64", "linux/arm", "windows/amd64", "darwin/arm64"}

// mostKnown are the lines that the file of --known has at most, the newest first; a run has some hundred.
const mostKnown = 20_000

func main() {
	file := flag.String("known", "", "`file` of the packages that were right")
	flag.Parse()
	debug.SetGCPercent(200)
	text, _ := os.ReadFile(*file)
	old := strings.Fields(string(text))
	c := checker{known: map[string]bool{}, files: token.NewFileSet(), outlines: map[string]*ast.File{}}
	for _, key := range old {
		c.known[key] = true
	}
	failed := false
	for _, module := range flag.Args() {
		folder, err := filepath.Abs(module)
		if err != nil {
			fatal(err)
		}
		for _, machine := range machines {
			all, checked, wrong := c.check(folder, machine)
			for _, err := range wrong {
				fmt.Fprintf(os.Stderr, "%s: %v\n", machine, err)
			}
			failed = failed || len(wrong) > 0
			fmt.Printf("%s, %s: %d packages, %d of them checked\n", folder, machine, all, checked)
		}
	}
	if *file != "" {
		c.write(*file, old)
	}
	if failed {
		os.Exit(1)
	}
}

// checker knows which packages were right, by keys of all that they depend on, and the outlines of files that it has read.
type checker struct {
	known    map[string]bool
	right    []string // keys of this run
	files    *token.FileSet
	lock     sync.Mutex
	outlines map[string]*ast.File
}

// check is the number of packages of the module, of those that had to be checked, and what is wrong.
func (c *checker) check(folder, machine string) (all, checked int, wrong []error) {
	system, arch, _ := strings.Cut(machine, "/")
	config := packages.Config{Dir: folder, Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch), Tests: true, Fset: c.files}
	list := func(mode packages.LoadMode, patterns ...string) []*packages.Package {
		config.Mode = mode | packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedForTest
		found, err := packages.Load(&config, patterns...)
		if err != nil {
			fatal(err)
		}
		// The main of a test is what go test writes.
		return slices.DeleteFunc(found, func(p *packages.Package) bool { return strings.HasSuffix(p.ID, ".test") })
	}
	own := list(packages.NeedModule, "./...")
	keys, changed := c.keys(own, folder, machine), map[string]bool{}
	for _, p := range own {
		if len(p.Errors) > 0 || !c.known[keys[p.ID]] {
			changed[underTest(p)] = true
		}
	}
	whole := map[string]bool{}
	for _, p := range own {
		if changed[underTest(p)] {
			checked++
			for _, name := range p.GoFiles {
				whole[name] = true
			}
		} else {
			c.right = append(c.right, keys[p.ID])
		}
	}
	if checked == 0 {
		return len(own), 0, nil
	}
	config.ParseFile = func(set *token.FileSet, name string, text []byte) (*ast.File, error) {
		if whole[name] {
			return parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		}
		return c.outline(name, text)
	}
	for _, p := range list(packages.NeedTypes|packages.NeedSyntax|packages.NeedTypesSizes, slices.Sorted(maps.Keys(changed))...) {
		if len(p.Errors) == 0 {
			c.right = append(c.right, keys[p.ID])
		}
		for _, e := range p.Errors {
			wrong = append(wrong, e)
		}
	}
	return len(own), checked, wrong
}

// underTest is the path of the package that a package of tests is for, or of the package itself.
func underTest(p *packages.Package) string {
	if p.ForTest != "" {
		return p.ForTest
	}
	return p.PkgPath
}

// keys has for each package, by its ID, a sum of its files, of the keys of what it imports, of go.mod and of this program. Of a
// package of Go's or of a released module it is about its version.
func (c *checker) keys(own []*packages.Package, folder, machine string) map[string]string {
	self, err := os.Executable() // which says the version of Go, too
	if err != nil {
		fatal(err)
	}
	same, keys := machine+" "+sum(self)+sum(filepath.Join(folder, "go.mod")), map[string]string{}
	packages.Visit(own, nil, func(p *packages.Package) {
		text := same + " " + p.ID
		if m := p.Module; m != nil && m.Version != "" && m.Replace == nil {
			text += " " + m.Version
		} else if m != nil {
			for _, name := range p.GoFiles {
				text += " " + filepath.Base(name) + sum(name)
			}
			for _, path := range slices.Sorted(maps.Keys(p.Imports)) {
				text += " " + keys[p.Imports[path].ID]
			}
		}
		keys[p.ID] = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	})
	return keys
}

func sum(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// write writes the file of --known.
func (c *checker) write(file string, old []string) {
	lines := append(slices.Clone(c.right), old...)
	seen := map[string]bool{}
	lines = slices.DeleteFunc(lines, func(key string) bool {
		had := seen[key]
		seen[key] = true
		return had
	})
	part := fmt.Sprintf("%s.%d", file, os.Getpid())
	if err := os.WriteFile(part, []byte(strings.Join(lines[:min(len(lines), mostKnown)], "\n")+"\n"), 0o644); err != nil {
		fatal(err)
	}
	if err := os.Rename(part, file); err != nil {
		fatal(err)
	}
}

// outline is a file without the bodies of its functions, which are not to be checked and take most of the time.
func (c *checker) outline(name string, text []byte) (*ast.File, error) {
	c.lock.Lock()
	file := c.outlines[name]
	c.lock.Unlock()
	if file != nil {
		return file, nil
	}
	file, err := parser.ParseFile(c.files, name, text, parser.SkipObjectResolution)
	if file != nil {
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				f.Body = nil
			}
		}
	}
	if err == nil {
		c.lock.Lock()
		c.outlines[name] = file
		c.lock.Unlock()
	}
	return file, err
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "machines:", err)
	os.Exit(1)
}
