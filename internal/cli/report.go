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

	"mercer/internal/present"
	"mercer/internal/report"
	"mercer/internal/units"
	"mercer/internal/vec"
	"mercer/internal/whole"
)

// pages are the flags that write what a command found out as a page and as pictures.
type pages struct {
	report string // HTML file or ""
	plots  string // folder or ""
}

// pageFlags adds the flags. A command checks them before its work and writes after it:
//
//	if err := v.check(files of the command); err != nil { return err }
//	…
//	return v.write(cmd, page, asJSON)
func pageFlags(cmd *cobra.Command, v *pages) {
	f := cmd.Flags()
	f.StringVar(&v.report, "report", "", "HTML file to write a report to: one page with tables and pictures, which needs no network")
	f.StringVar(&v.plots, "plots", "", "folder to write the pictures of the report to, as SVG and PNG files")
}

// wanted says that there is something to write.
func (v *pages) wanted() bool { return v.report != "" || v.plots != "" }

// check finds out whether the files can be written, before hours of work. Others are files of
// the same command, which the page must not replace.
func (v *pages) check(others ...string) error {
	if v.report != "" {
		for _, path := range others {
			if path != "" && sameFile(path, v.report) {
				return usagef("--report %s is a file of this command already; give another name", v.report)
			}
		}
		f, err := whole.Create(v.report)
		if err != nil {
			return err
		}
		f.Close()
	}
	if v.plots == "" {
		return nil
	}
	switch st, err := os.Stat(v.plots); {
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

// write ends the page with how it was made, and writes what was asked for, if anything; where it
// is not silent it says what that is.
func (v *pages) write(cmd *cobra.Command, page *report.Page, silent bool) error {
	if !v.wanted() {
		return nil
	}
	present.MadeBy(page, cmd.Root().Annotations[commandLine], version(),
		fmt.Sprintf("%s %s/%s, vector instructions: %s, %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, vec.Level(), units.Plural(runtime.GOMAXPROCS(0), "thread")))
	out := cmd.OutOrStdout()
	if silent {
		out = io.Discard
	}
	if v.report != "" {
		if err := page.Save(v.report); err != nil {
			return err
		}
		present.File(out, "report", v.report, sizeOf(v.report))
	}
	if v.plots != "" {
		paths, err := page.SavePlots(v.plots)
		if err != nil {
			return err
		}
		present.Line(out, "plots", "%s (%s, each as SVG and PNG)", v.plots, units.Plural(len(paths)/2, "picture"))
	}
	return nil
}

// sizeOf is the size of a file that was just written, 0 if it is not there.
func sizeOf(path string) int64 {
	if st, err := os.Stat(path); err == nil {
		return st.Size()
	}
	return 0
}

// commandLine is the annotation of the root command that holds what was typed.
const commandLine = "command line"

// typed is a command line as a shell takes it.
func typed(args []string) string {
	words := []string{"mercer"}
	for _, a := range args {
		words = append(words, quoted(a))
	}
	return strings.Join(words, " ")
}
