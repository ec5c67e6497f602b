package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/engine/visible"
)

// sayLabel tells of data whose columns have no names that the last one was taken as the label, in a command that needs none. JSON
// is for machines, and says how many columns there were.
func sayLabel(cmd *cobra.Command, name string, s *dataset.Schema, asked *dataset.Options, asJSON bool) {
	if asJSON || asked.Label != "" || asked.LabelsFile != "" || s.Header || len(s.Labels) != 1 {
		return
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: the last column (%s, from 0) was left out as the label; --label none makes it an input\n",
		visible.Text(filepath.Base(dataset.ShownPath(name))), visible.Text(s.Labels[0].Name))
}
