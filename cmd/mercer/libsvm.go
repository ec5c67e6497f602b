package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/libsvm"
)

// isLIBSVM says whether a file looks like a model of LIBSVM.
func isLIBSVM(path string) bool {
	if path == "-" {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 16)
	n, _ := io.ReadFull(f, head)
	return libsvm.Sniff(head[:n])
}

// runLIBSVM predicts the rows of a file with a model of LIBSVM.
func (p *predict) runLIBSVM(cmd *cobra.Command, modelPath, path string, bars *progress) error {
	m, err := libsvm.Load(modelPath)
	if err != nil {
		return err
	}
	switch {
	case p.proba && !m.HasProbabilities():
		return fmt.Errorf("%s: has no probabilities; train it with svm-train -b 1", modelPath)
	case p.variance || p.interval:
		return fmt.Errorf("%s: a model of LIBSVM has no variances and no intervals", modelPath)
	case p.data.Group != "":
		return fmt.Errorf("--group is for models of bags; %s was trained on rows", modelPath)
	}
	src, err := dataset.Open(cmd.Context(), path, p.data)
	if err != nil {
		return err
	}
	defer src.Close()
	return p.output(cmd, bars, func(w *bufio.Writer) error {
		r, err := src.Open(cmd.Context())
		if err != nil {
			return err
		}
		defer r.Close()
		rows := 0
		for {
			b, err := r.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := m.Predict(b.X, p.proba, func(v *libsvm.Values) error { return p.writeValues(w, v) }); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			rows += b.X.Len()
			bars.report("predict", rows, r.Progress())
		}
	})
}

// writeValues writes a line.
func (p *predict) writeValues(w *bufio.Writer, v *libsvm.Values) error {
	var line []byte
	if p.json {
		text, err := json.Marshal(struct {
			Prediction    float64   `json:"prediction"`
			Scores        []float64 `json:"scores"`
			Probabilities []float64 `json:"probabilities,omitempty"`
		}{v.Prediction, v.Decisions, v.Probabilities})
		if err != nil {
			return err
		}
		line = text
	} else {
		line = strconv.AppendFloat(line, v.Prediction, 'g', -1, 64)
		more := v.Probabilities
		if p.scores {
			more = append(append([]float64(nil), v.Decisions...), more...)
		}
		for _, x := range more {
			line = strconv.AppendFloat(append(line, '\t'), x, 'g', -1, 64)
		}
	}
	_, err := w.Write(append(line, '\n'))
	return err
}

// inspectLIBSVM tells what a model of LIBSVM is.
func inspectLIBSVM(cmd *cobra.Command, path string, asJSON bool) error {
	m, err := libsvm.Load(path)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), map[string]any{"kind": "libsvm-model", "model": m, "d": m.Dim()})
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "  %-10s%s (%s)\n", "model", path, bytesText(st.Size()))
	for _, line := range m.Lines() {
		fmt.Fprintf(w, "  %-10s%s\n", "", line)
	}
	return nil
}
