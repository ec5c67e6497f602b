package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"mercer/model"
)

// thresholdFlag is --threshold of a model that is trained.
func thresholdFlag(cmd *cobra.Command, threshold *string) {
	cmd.Flags().StringVar(threshold, "threshold", "", "what divides two classes: a probability, score=NUMBER, or none for the larger probability or the sign "+
		"of the score (default: that of the model)")
}

// divided is a model with the threshold of --threshold.
func divided(m *model.Model, path, threshold string) (*model.Model, error) {
	if threshold == "" {
		return m, nil
	}
	other, err := m.WithThreshold(threshold)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return other, nil
}
