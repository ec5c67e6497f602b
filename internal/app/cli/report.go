package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/remote"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/internal/engine/vec"
)

// Pages are the flags that write what a command found out as a page and as pictures.
type Pages struct {
	report string // HTML file or ""
	plots  string // folder or ""
	csv    string // file of the numbers or ""; of the commands that have tableFlag
}

// PageFlags adds the flags. A command checks them before its work and writes after it:
//
//	if err := v.Check(files of the command); err != nil { return err }
//	…
//	return v.Write(cmd, page, asJSON)
func PageFlags(cmd *cobra.Command, v *Pages) {
	f := cmd.Flags()
	f.StringVar(&v.report, "report", "", "HTML file to write a report to: one page with tables and pictures, which needs no network")
	f.StringVar(&v.plots, "plots", "", "folder to write the pictures of the report to, as SVG and PNG files")
}

// tableFlag adds the flag that writes the numbers as CSV. A command with it calls writeTable after its work.
func tableFlag(cmd *cobra.Command, v *Pages) {
	cmd.Flags().StringVar(&v.csv, "csv", "", "file to write the numbers to, as CSV")
}

// writeTable writes the numbers if they were asked for, and says so where it is not silent.
func (v *Pages) writeTable(cmd *cobra.Command, silent bool, write func(io.Writer) error) error {
	if v.csv == "" {
		return nil
	}
	f, err := atomicfile.Create(v.csv)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f); err != nil {
		return fmt.Errorf("%s: %w", v.csv, err)
	}
	if err := f.Commit(); err != nil {
		return err
	}
	if !silent {
		render.File(cmd.OutOrStdout(), "csv", v.csv, sizeOf(v.csv))
	}
	return nil
}

// Wanted says that there is something to write.
func (v *Pages) Wanted() bool { return v.report != "" || v.plots != "" }

// Check finds out whether the files can be written, before hours of work. Others are files of
// the same command, which the page must not replace.
func (v *Pages) Check(others ...string) error {
	for _, out := range []namedFile{{"--csv", v.csv}, {"--report", v.report}} {
		if out.path == "" {
			continue
		}
		for _, path := range others {
			if path != "" && sameFile(path, out.path) {
				return usagef("%s %s is a file of this command already; give another name", out.by, out.path)
			}
		}
		f, err := atomicfile.Create(out.path)
		if err != nil {
			return err
		}
		f.Close()
		others = append(others[:len(others):len(others)], out.path)
	}
	if v.plots == "" {
		return nil
	}
	switch st, err := os.Stat(v.plots); {
	case remote.Is(v.plots):
		return fmt.Errorf("--plots %s: pictures go to a folder of this machine; --report may be an object", v.plots)
	case err == nil && !st.IsDir():
		return fmt.Errorf("%s: is a file; --plots takes the name of a folder", v.plots)
	case errors.Is(err, fs.ErrNotExist):
		if st, err := os.Stat(filepath.Dir(filepath.Clean(v.plots))); err != nil || !st.IsDir() {
			return fmt.Errorf("%s: folder %s: %w", v.plots, filepath.Dir(filepath.Clean(v.plots)), fs.ErrNotExist)
		}
	case err != nil:
		return err
	}
	return nil
}

// Write ends the page with how it was made, and writes what was asked for, if anything; where it
// is not silent it says what that is.
func (v *Pages) Write(cmd *cobra.Command, page *report.Page, silent bool) error {
	if !v.Wanted() {
		return nil
	}
	render.MadeBy(page, cmd.Root().Annotations[commandLine], version(),
		fmt.Sprintf("%s %s/%s, vector instructions: %s, %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, vec.Level(),
			units.Plural(runtime.GOMAXPROCS(0), "thread")))
	out := cmd.OutOrStdout()
	if silent {
		out = io.Discard
	}
	if v.report != "" {
		if err := page.Save(v.report); err != nil {
			return err
		}
		render.File(out, "report", v.report, sizeOf(v.report))
	}
	if v.plots != "" {
		paths, err := page.SavePlots(v.plots)
		if err != nil {
			return err
		}
		render.Line(out, "plots", "%s (%s, each as SVG and PNG)", v.plots, units.Plural(len(paths)/2, "picture"))
	}
	return nil
}

// sizeOf is the size of a file that was just written, 0 if it is not there.
func sizeOf(path string) int64 {
	size, _ := bytesOf(path)
	return size
}

// commandLine is the annotation of the root command that holds what was typed.
const commandLine = "command line"

// typed is a command line as a shell takes it, without what might be secret in addresses.
func (p *Program) typed(args []string) string {
	words := []string{p.Name}
	for _, a := range args {
		if flag, value, both := strings.Cut(a, "="); both && strings.HasPrefix(a, "--") {
			a = flag + "=" + dataset.ShownPath(value)
		} else if !strings.Contains(a, " ") {
			a = dataset.ShownPath(a)
		}
		words = append(words, quoted(a))
	}
	return strings.Join(words, " ")
}
