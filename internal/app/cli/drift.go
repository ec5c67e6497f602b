package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mercer/eval"
	"mercer/internal/app/render"
	"mercer/matrix"
	"mercer/model"
)

// beginCheck begins the comparison of --check.
func (p *predict) beginCheck(m *model.Model, path string) error {
	switch p.check {
	case "":
		return nil
	case "warn", "fail":
	default:
		return usagef("--check %q is not known; known are warn, fail", p.check)
	}
	if m.Bag() != nil {
		return fmt.Errorf("%s: --check compares rows of tables, and the model is for bags", path)
	}
	var err error
	if p.drift, err = eval.NewDrift(&m.Info().Schema, m.Info().Training.Rows); err != nil {
		return fmt.Errorf("%s: --check: %w", path, err)
	}
	return nil
}

// compared adds rows to the comparison.
func (p *predict) compared(x matrix.Rows) {
	if p.drift != nil {
		p.drift.Add(x)
	}
}

// endCheck tells what the comparison found.
func (p *predict) endCheck(cmd *cobra.Command, data string) error {
	if p.drift == nil {
		return nil
	}
	r := p.drift.Report()
	for _, line := range render.DriftLines(r) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: check: %s\n", cmd.CommandPath(), line)
	}
	if p.check == "fail" && r.Drifted > 0 {
		return driftError{errors.New("the check of " + data + " has failed; the predictions are written")}
	}
	return nil
}
