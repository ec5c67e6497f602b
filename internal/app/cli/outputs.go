package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/remote"
)

// GoesOn makes of an interruption an error that tells how to go on.
func GoesOn(ctx context.Context, err error, journal string) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("interrupted; what is done is in %s, and the same command goes on from there", journal)
}

// namedFile is a file of a command, and the flag or argument that names it.
type namedFile struct{ by, path string }

// checkApart refuses outputs that are the same file as another output, or as an input, which
// they would replace, or that are in a folder that is an input. Inputs may be the same; a file
// without a path is none.
func checkApart(outputs []namedFile, inputs ...namedFile) error {
	for i, out := range outputs {
		st, err := os.Stat(out.path)
		if out.path == "" || err == nil && !st.Mode().IsRegular() {
			continue // a device takes anything
		}
		for _, other := range append(outputs[:i:i], inputs...) {
			if other.path != "" && sameFile(out.path, other.path) {
				return usagef("%s and %s are both %s; give another name", other.by, out.by, out.path)
			}
		}
		for _, in := range inputs {
			if remote.Is(out.path) && remote.Is(in.path) && belowObject(in.path, out.path) {
				return usagef("%s %s would be one of the objects of %s %s; give another name", out.by, out.path, in.by, in.path)
			}
			if err == nil && within(in.path, out.path) {
				return usagef("%s %s is one of the files of %s %s, which it would replace; give another name",
					out.by, out.path, in.by, in.path)
			}
		}
	}
	return nil
}

// Flags that name files, of all commands; with --schema, see writesSchema, and those whose values tell their files, see
// readsFile. Not among them are --continue, --append and --add, whose files may be replaced by what goes on from them.
var (
	flagsWritten = []string{"output", "save-stats", "results", "journal", "csv", "report"}
	flagsRead    = []string{"labels", "test", "test-labels", "fit", "like", "unlabelled", "space", "token-file", "tls-cert", "tls-key",
		"tls-client-ca"}
	flagsEither = []string{"background", "landmarks", "map", "data"} // a file, or a word or folder
)

// readsFile is a flag whose value may come from a file; it is "" if it does not.
type readsFile interface{ file() string }

// writesSchema says that the command's --schema is an output: others read it.
func writesSchema(cmd *cobra.Command) bool { return cmd.Name() == "inspect" }

// checkArguments is checkApart for the flags and arguments of any command.
func checkArguments(cmd *cobra.Command, args []string) error {
	names := argumentNames(cmd, len(args))
	var outputs, inputs []namedFile
	if err := checkNamed(cmd); err != nil {
		return err
	}
	for i, path := range args {
		if path == "" {
			return usagef("%s has an empty name", names[i])
		}
		inputs = append(inputs, namedFile{names[i], path})
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		written := slices.Contains(flagsWritten, f.Name) || f.Name == "schema" && writesSchema(cmd)
		for _, path := range filesOf(f) {
			if file := (namedFile{"--" + f.Name, path}); written {
				outputs = append(outputs, file)
			} else {
				inputs = append(inputs, file)
			}
		}
	})
	if err := checkApart(outputs, inputs...); err != nil {
		return err
	}
	// Statistics may be replaced by those with more rows, but not by a model.
	var added []namedFile
	if f := cmd.Flags().Lookup("append"); f != nil {
		for _, path := range f.Value.(pflag.SliceValue).GetSlice() {
			added = append(added, namedFile{"--append", path})
		}
	}
	outputs = slices.DeleteFunc(outputs, func(f namedFile) bool { return f.by != "--output" })
	return checkApart(outputs, added...)
}

// checkNamed refuses flags for files that are given without a name, as scripts do whose variable is empty.
func checkNamed(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		isFile := slices.Contains(flagsWritten, f.Name) || slices.Contains(flagsRead, f.Name) || f.Name == "schema" || f.Name == "plots"
		if isFile && f.Value.Type() == "string" && f.Value.String() == "" && err == nil {
			err = usagef("--%s has an empty name; give that of a file, or leave --%[1]s out", f.Name)
		}
	})
	return err
}

// filesOf are the files that a flag names.
func filesOf(f *pflag.Flag) (paths []string) {
	if v, is := f.Value.(readsFile); is {
		return []string{v.file()}
	}
	values := []string{f.Value.String()}
	if v, is := f.Value.(pflag.SliceValue); is {
		values = v.GetSlice()
	}
	switch {
	case slices.Contains(flagsWritten, f.Name), slices.Contains(flagsRead, f.Name), f.Name == "schema":
		return values
	case slices.Contains(flagsEither, f.Name):
		for _, v := range values {
			path := strings.TrimPrefix(v, "@")
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// argumentNames are the names of n arguments as the command's usage gives them.
func argumentNames(cmd *cobra.Command, n int) []string {
	var all, needed []string
	for _, word := range strings.Fields(cmd.Use)[1:] {
		name := strings.Trim(word, "[].")
		if strings.HasPrefix(name, "-") {
			break // what follows is a flag's
		}
		if name == "" || name != strings.ToUpper(name) {
			continue
		}
		all = append(all, name)
		if word[0] != '[' {
			needed = append(needed, name)
		}
	}
	switch n {
	case len(needed):
		return needed
	case len(all):
		return all
	}
	return slices.Repeat([]string{"an argument"}, n)
}

// sameFile says whether two paths are of the same file, also of one that is not there yet.
func sameFile(a, b string) bool {
	if atomicfile.Target(a) == atomicfile.Target(b) {
		return true
	}
	s, errS := os.Stat(a)
	t, errT := os.Stat(b)
	return errS == nil && errT == nil && os.SameFile(s, t)
}

// within says whether a file is in a folder, or in one of its folders.
func within(folder, path string) bool {
	of, err := os.Stat(folder)
	if err != nil || !of.IsDir() {
		return false
	}
	for dir := filepath.Dir(atomicfile.Target(path)); ; dir = filepath.Dir(dir) {
		if st, err := os.Stat(dir); err == nil && os.SameFile(st, of) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// belowObject says whether an object is below what the address of a folder or a pattern in a store stands for.
func belowObject(folder, address string) bool {
	folder = strings.TrimRight(folder, "/")
	parts, depth := strings.Split(address, "/"), strings.Count(folder, "/")+1
	if len(parts) < depth {
		return false
	}
	above := strings.Join(parts[:depth], "/")
	matches, _ := path.Match(folder, above)
	return matches || above == folder
}

// writable says whether files can be written, before hours of work; a file without a path is none.
func writable(paths ...string) error {
	for _, path := range paths {
		if st, err := os.Stat(path); path == "" || err == nil && st.Mode()&fs.ModeNamedPipe != 0 {
			continue // whoever reads a pipe takes the end of a test for that of the file
		}
		f, err := atomicfile.Create(path)
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}
