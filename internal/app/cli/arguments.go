package cli

import (
	"os"

	"github.com/spf13/cobra"

	"mercer/dataset"
)

// modelThenData says which is which where the arguments MODEL and DATA stand in the wrong order.
func modelThenData(cmd *cobra.Command, modelPath, path string) error {
	if anyModel(modelPath) || !anyModel(path) || !there(modelPath) {
		return nil
	}
	return usagef("%s is a model and %s is not; the model comes first: %s", path, modelPath, cmd.UseLine())
}

// dataThenModels is modelThenData for a command whose first argument is DATA.
func dataThenModels(cmd *cobra.Command, path string, models []string) error {
	if !anyModel(path) {
		return nil
	}
	for _, other := range models {
		if there(other) && !anyModel(other) {
			return usagef("%s is a model and %s is not; the data come first: %s", path, other, cmd.UseLine())
		}
	}
	return usagef("%s is a model; the data come first: %s", path, cmd.UseLine())
}

// anyModel says whether a file looks like a model of Mercer's, or of LIBSVM or LIBLINEAR.
func anyModel(path string) bool { return there(path) && (isModel(path) || foreignKind(path) != "") }

// there says whether a path is of a file, or standard input.
func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil || path == "-" || !dataset.Local(path)
}
