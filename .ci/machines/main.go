// Command machines checks the types of the program and its tests for other machines, from source and without compiling: what a
// build for each would find but for the linker, in seconds. Its arguments are the folders of the modules that it checks.
//
//	go run -C .ci/machines . ../.. ../../research
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// machines are those that a release is for, and the smallest that a model may run on.
var machines = []string{"linux/arm64", "linux/arm", "windows/amd64", "darwin/arm64"}

func main() {
	failed := false
	for _, module := range os.Args[1:] {
		folder, err := filepath.Abs(module)
		if err != nil {
			fatal(err)
		}
		for _, machine := range machines {
			system, arch, _ := strings.Cut(machine, "/")
			count, wrong := check(folder, system, arch)
			for _, err := range wrong {
				fmt.Fprintf(os.Stderr, "%s: %v\n", machine, err)
			}
			failed = failed || len(wrong) > 0
			fmt.Printf("%s, %s: %d packages\n", folder, machine, count)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check is the number of packages of the module and what is wrong with them.
func check(folder, system, arch string) (int, []error) {
	own, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax |
			packages.NeedTypesInfo | packages.NeedTypesSizes,
		Dir:   folder,
		Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch),
		Tests: true,
		ParseFile: func(set *token.FileSet, name string, text []byte) (*ast.File, error) {
			if !strings.HasPrefix(name, folder+string(filepath.Separator)) {
				return outline(set, name, text)
			}
			return parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		},
	}, "./...")
	if err != nil {
		fatal(err)
	}
	var wrong []error
	for _, p := range own {
		if strings.HasSuffix(p.ID, ".test") {
			continue // the main of a test, which go test writes
		}
		for _, e := range p.Errors {
			wrong = append(wrong, e)
		}
	}
	return len(own), wrong
}

// outline is a file without the bodies of its functions, which are not ours to check and take most of the time.
func outline(set *token.FileSet, name string, text []byte) (*ast.File, error) {
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if file != nil {
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				f.Body = nil
			}
		}
	}
	return file, err
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "machines:", err)
	os.Exit(1)
}
