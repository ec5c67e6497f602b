package cli

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"mercer/dataset"
)

// sayLabel tells of data whose columns have no names that the last one was taken as the label, in a command that needs none: on
// standard output, but beside JSON on standard error.
func sayLabel(cmd *cobra.Command, name string, s *dataset.Schema, asked *dataset.Options, asJSON bool) {
	if asked.Label != "" || asked.LabelsFile != "" || s.Header || len(s.Labels) != 1 {
		return
	}
	var w io.Writer = cmd.OutOrStdout()
	if asJSON {
		w = cmd.ErrOrStderr()
	}
	fmt.Fprintf(w, "%s: the last column (%s, from 0) was left out as the label; --label none makes it an input\n",
		filepath.Base(dataset.ShownPath(name)), s.Labels[0].Name)
}
