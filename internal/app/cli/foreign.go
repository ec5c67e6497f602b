package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/engine/units"
	"mercer/internal/solve/liblinear"
	"mercer/internal/solve/libsvm"
	"mercer/matrix"
)

// foreignModel is a model of LIBSVM or LIBLINEAR.
type foreignModel interface {
	// HasProbabilities says whether Predict can give them, and Classes which.
	HasProbabilities() bool
	Classes() []int

	// Predict hands what it says of each row to body.
	Predict(x matrix.Rows, proba bool, body func(*libsvm.Values) error) error

	// Lines tell a person what it is.
	Lines() []string

	// Dim is the number of input dimensions.
	Dim() int
}

// foreignKind is "LIBSVM" or "LIBLINEAR" where a file looks like a model of theirs, else "".
func foreignKind(path string) string {
	if path == "-" {
		return ""
	}
	switch head, _ := peek(path, 16); {
	case libsvm.Sniff(head):
		return "LIBSVM"
	case liblinear.Is(head):
		return "LIBLINEAR"
	}
	return ""
}

func loadForeign(kind, path string) (foreignModel, error) {
	if kind == "LIBSVM" {
		return libsvm.Load(path)
	}
	m, err := readLiblinear(path)
	return liblinearModel{m}, err
}

// liblinearModel is a model of LIBLINEAR as a foreignModel.
type liblinearModel struct{ *liblinear.Model }

func (m liblinearModel) HasProbabilities() bool { return m.Solver.Logistic() }

func (m liblinearModel) Classes() []int { return m.Labels }

func (m liblinearModel) Dim() int { return m.Features }

func (m liblinearModel) Predict(x matrix.Rows, proba bool, body func(*libsvm.Values) error) error {
	v := &libsvm.Values{Decisions: make([]float64, m.Outputs)}
	if proba {
		v.Probabilities = make([]float64, len(m.Labels))
	}
	for i := range x.Len() {
		m.Values(v.Decisions, x, i)
		v.Prediction = m.Model.Predict(v.Decisions)
		if proba {
			m.Probabilities(v.Probabilities, v.Decisions)
		}
		if err := body(v); err != nil {
			return err
		}
	}
	return nil
}

func (m liblinearModel) Lines() []string {
	lines := []string{fmt.Sprintf("LIBLINEAR, %s, %s", m.Solver, units.Plural(m.Features, "dimension"))}
	if m.Bias >= 0 {
		lines = append(lines, fmt.Sprintf("and a bias, a dimension of value %g", m.Bias))
	}
	if m.Labels != nil {
		lines = append(lines, fmt.Sprintf("%d classes: %s", len(m.Labels), strings.Trim(fmt.Sprint(m.Labels), "[]")))
	}
	return lines
}

// runForeign predicts the rows of a file with a model of LIBSVM or LIBLINEAR.
func (p *predict) runForeign(cmd *cobra.Command, kind, modelPath, path string, bars *Progress) error {
	m, err := loadForeign(kind, modelPath)
	if err != nil {
		return err
	}
	switch {
	case p.proba && !m.HasProbabilities():
		return fmt.Errorf("%s: has no probabilities; those of LIBSVM trained with -b 1 have, and logistic ones of LIBLINEAR (-s 0, 6, 7)",
			modelPath)
	case p.variance || p.interval != "":
		return fmt.Errorf("%s: a model of %s has no variances and no intervals", modelPath, kind)
	case p.data.Group != "":
		return fmt.Errorf("--group is for models of bags; %s was trained on rows", modelPath)
	}
	p.data.Memory = 0 // nothing is surveyed, and columns that the model does not know count for nothing
	svm, ok := m.(*libsvm.Model)
	numbered := ok && svm.Numbered()
	if numbered {
		p.data.Base = "0"
	}
	src, err := dataset.Open(cmd.Context(), path, p.data)
	if err != nil {
		return err
	}
	defer src.Close()
	return p.output(cmd, bars, func(w *bufio.Writer) error {
		rows := 0
		for b, err := range dataset.Each(cmd.Context(), src) {
			if err != nil {
				return err
			}
			if numbered && b.X.CSR != nil && src.Schema().Format == "libsvm" {
				withoutNumbers(b.X.CSR)
			}
			if err := m.Predict(b.X, p.proba, func(v *libsvm.Values) error { return p.writeValues(w, m, v) }); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			rows += b.X.Len()
			bars.Report("predict", rows, b.Pass.Progress())
		}
		return nil
	})
}

// withoutNumbers takes the first column away, which numbers the rows.
func withoutNumbers(x *matrix.CSR) {
	kept, begin := 0, x.Ptr[0]
	for i := range x.Rows {
		end := x.Ptr[i+1]
		x.Ptr[i] = kept
		for e := begin; e < end; e++ {
			if j := x.Idx[e]; j > 0 {
				x.Idx[kept], x.Val[kept] = j-1, x.Val[e]
				kept++
			}
		}
		begin = end
	}
	x.Ptr[x.Rows] = kept
	x.Cols--
}

// writeValues writes a line.
func (p *predict) writeValues(w *bufio.Writer, m foreignModel, v *libsvm.Values) error {
	var line []byte
	if p.json {
		said := struct {
			Prediction    float64        `json:"prediction"`
			Scores        []float64      `json:"scores"`
			Probabilities *probabilities `json:"probabilities,omitempty"`
		}{v.Prediction, v.Decisions, nil}
		if v.Probabilities != nil {
			said.Probabilities = &probabilities{values: v.Probabilities}
			for _, c := range m.Classes() {
				said.Probabilities.names = append(said.Probabilities.names, strconv.Itoa(c))
			}
		}
		text, err := json.Marshal(said)
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

// inspectForeign tells what a model of LIBSVM or LIBLINEAR is.
func inspectForeign(cmd *cobra.Command, kind, path string, asJSON bool) error {
	m, err := loadForeign(kind, path)
	if err != nil {
		return err
	}
	if asJSON {
		return render.JSON(cmd.OutOrStdout(), render.ForeignJSON(kind, m, m.Dim()))
	}
	size, err := bytesOf(path)
	if err != nil {
		return err
	}
	render.ForeignText(cmd.OutOrStdout(), path, size, m.Lines())
	return nil
}
