// Package liblinear is compatible with LIBLINEAR (R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R.
// Wang, C.-J. Lin, LIBLINEAR: A library for large linear classification, 2008): it reads and
// writes its text models, predicts with them what LIBLINEAR predicts, and trains them with its
// options, using the solvers of package learn.
package liblinear

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"mercer/matrix"
)

// Solver is a formulation by LIBLINEAR's number, its option -s.
type Solver int

// The formulations, by LIBLINEAR's names.
const (
	L2RLR            Solver = 0
	L2RL2LossSVCDual Solver = 1
	L2RL2LossSVC     Solver = 2
	L2RL1LossSVCDual Solver = 3
	MCSVMCS          Solver = 4
	L1RL2LossSVC     Solver = 5
	L1RLR            Solver = 6
	L2RLRDual        Solver = 7
	L2RL2LossSVR     Solver = 11
	L2RL2LossSVRDual Solver = 12
	L2RL1LossSVRDual Solver = 13
	OneClassSVM      Solver = 21
)

// solvers has LIBLINEAR's name for each in its files, and its description in its help.
var solvers = []struct {
	solver      Solver
	name, about string
}{
	{L2RLR, "L2R_LR", "L2-regularized logistic regression (primal)"},
	{L2RL2LossSVCDual, "L2R_L2LOSS_SVC_DUAL", "L2-regularized L2-loss support vector classification (dual)"},
	{L2RL2LossSVC, "L2R_L2LOSS_SVC", "L2-regularized L2-loss support vector classification (primal)"},
	{L2RL1LossSVCDual, "L2R_L1LOSS_SVC_DUAL", "L2-regularized L1-loss support vector classification (dual)"},
	{MCSVMCS, "MCSVM_CS", "support vector classification by Crammer and Singer"},
	{L1RL2LossSVC, "L1R_L2LOSS_SVC", "L1-regularized L2-loss support vector classification"},
	{L1RLR, "L1R_LR", "L1-regularized logistic regression"},
	{L2RLRDual, "L2R_LR_DUAL", "L2-regularized logistic regression (dual)"},
	{L2RL2LossSVR, "L2R_L2LOSS_SVR", "L2-regularized L2-loss support vector regression (primal)"},
	{L2RL2LossSVRDual, "L2R_L2LOSS_SVR_DUAL", "L2-regularized L2-loss support vector regression (dual)"},
	{L2RL1LossSVRDual, "L2R_L1LOSS_SVR_DUAL", "L2-regularized L1-loss support vector regression (dual)"},
	{OneClassSVM, "ONECLASS_SVM", "one-class support vector machine (dual)"},
}

// Known says whether LIBLINEAR has the formulation.
func (s Solver) Known() bool { return s.String() != "" }

// String is LIBLINEAR's name of the formulation, "" if it has none.
func (s Solver) String() string {
	for _, k := range solvers {
		if k.solver == s {
			return k.name
		}
	}
	return ""
}

// MarshalText is String, so that JSON has the name.
func (s Solver) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Solvers lists all formulations with LIBLINEAR's description of each.
func Solvers() (all []Solver, about []string) {
	for _, k := range solvers {
		all, about = append(all, k.solver), append(about, k.about)
	}
	return all, about
}

// Regression says whether the formulation predicts numbers.
func (s Solver) Regression() bool { return s >= L2RL2LossSVR && s <= L2RL1LossSVRDual }

// Logistic says whether the formulation gives probabilities.
func (s Solver) Logistic() bool { return s == L2RLR || s == L1RLR || s == L2RLRDual }

// Model is a linear model as stored in LIBLINEAR's files.
type Model struct {
	Solver Solver `json:"solver_type"`

	// Labels are those of the classes in the order of their weights; nil for a regression and
	// a one-class machine.
	Labels []int `json:"labels,omitempty"`

	// Features is the number of features, without the bias.
	Features int `json:"features"`

	// Bias is the value of an additional feature, which every row has; negative means that there is
	// none.
	Bias float64 `json:"bias"`

	// Rho is subtracted from the value of a one-class machine.
	Rho float64 `json:"rho,omitempty"`

	// Outputs is the number of weights of a feature: one per class, but only one for two
	// classes (positive: the first label), regressions and one class.
	Outputs int `json:"outputs"`

	// W has a row of Outputs weights for each feature, and a last one for the bias.
	W []float64 `json:"-"`
}

// outputs is the number of weights of a feature.
func outputs(s Solver, classes int) int {
	if classes == 2 && s != MCSVMCS || s.Regression() || s == OneClassSVM {
		return 1
	}
	return classes
}

// rows is the number of rows of W.
func (m *Model) rows() int {
	if m.Bias >= 0 {
		return m.Features + 1
	}
	return m.Features
}

// maxWeights bounds the number of weights in a file; it is 8 GiB of them.
const maxWeights = 1 << 30

// Is says whether a file that begins with head looks like a model of LIBLINEAR.
func Is(head []byte) bool { return strings.HasPrefix(string(head), "solver_type ") }

// Read reads a model. An error names the line.
func Read(r io.Reader) (*Model, error) {
	in := &lines{r: bufio.NewReaderSize(r, 1<<20)}
	m := &Model{Bias: -1, Features: -1}
	classes := 0
	seen := map[string]bool{}
	for {
		text, err := in.next()
		if err != nil {
			return nil, in.errorf("the file ends before its weights; %w", errCut)
		}
		key, value, _ := strings.Cut(text, " ")
		value = strings.TrimSpace(value)
		if key == "" {
			continue
		}
		if seen[key] {
			return nil, in.errorf("%q for the second time", key)
		}
		seen[key] = true
		switch key {
		case "solver_type":
			at := slices.IndexFunc(solvers, func(k struct {
				solver      Solver
				name, about string
			}) bool {
				return k.name == value
			})
			if at < 0 {
				return nil, in.errorf("solver_type %q is not known", value)
			}
			m.Solver = solvers[at].solver
		case "nr_class":
			if classes, err = whole(value, 1, 1<<20); err != nil {
				return nil, in.errorf("nr_class %w", err)
			}
		case "nr_feature":
			if m.Features, err = whole(value, 0, math.MaxInt32); err != nil {
				return nil, in.errorf("nr_feature %w", err)
			}
		case "bias":
			if m.Bias, err = number(value); err != nil {
				return nil, in.errorf("bias %w", err)
			}
		case "rho":
			if m.Rho, err = number(value); err != nil {
				return nil, in.errorf("rho %w", err)
			}
		case "label":
			for field := range strings.FieldsSeq(value) {
				v, err := whole(field, math.MinInt32, math.MaxInt32)
				if err != nil {
					return nil, in.errorf("label %w", err)
				}
				m.Labels = append(m.Labels, v)
			}
		case "w":
			for _, name := range []string{"solver_type", "nr_class", "nr_feature", "bias"} {
				if !seen[name] {
					return nil, in.errorf("the weights begin before %q is given", name)
				}
			}
			if err := m.checkLabels(classes); err != nil {
				return nil, in.errorf("%w", err)
			}
			m.Outputs = outputs(m.Solver, classes)
			return m, m.readWeights(in)
		default:
			return nil, in.errorf("%q is not known; this is no model of LIBLINEAR, or one of a newer version", key)
		}
	}
}

func (m *Model) checkLabels(classes int) error {
	switch {
	case m.Solver.Regression() || m.Solver == OneClassSVM:
		if m.Labels != nil {
			return fmt.Errorf("%s has labels", m.Solver)
		}
	case len(m.Labels) != classes:
		return fmt.Errorf("%d labels of %d classes", len(m.Labels), classes)
	}
	return nil
}

// readWeights reads the rows of W, up to the end of the file.
func (m *Model) readWeights(in *lines) error {
	if m.rows() > maxWeights/m.Outputs {
		return in.errorf("%d × %d weights are more than %d", m.rows(), m.Outputs, maxWeights)
	}
	for i := range m.rows() {
		text, err := in.next()
		if err != nil {
			return in.errorf("the file ends after %d of %d rows of weights; %w", i, m.rows(), errCut)
		}
		n := 0
		for field := range strings.FieldsSeq(text) {
			v, err := number(field)
			if err != nil {
				return in.errorf("weight %w", err)
			}
			m.W = append(m.W, v)
			n++
		}
		if n != m.Outputs {
			return in.errorf("%d weights; expected %d", n, m.Outputs)
		}
	}
	for {
		text, err := in.next()
		if err != nil {
			return nil
		}
		if strings.TrimSpace(text) != "" {
			return in.errorf("text after the last of %d rows of weights", m.rows())
		}
	}
}

var errCut = errors.New("it was cut short or damaged")

// lines reads lines and keeps track of their numbers.
type lines struct {
	r *bufio.Reader
	n int
}

func (l *lines) next() (string, error) {
	text, err := l.r.ReadString('\n')
	if err != nil && text == "" {
		return "", err
	}
	l.n++
	return strings.TrimRight(text, "\r\n"), nil
}

func (l *lines) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", l.n, fmt.Errorf(format, args...))
}

func whole(text string, low, high int) (int, error) {
	v, err := strconv.Atoi(text)
	if err != nil || v < low || v > high {
		return 0, fmt.Errorf("%q is not a whole number from %d to %d", text, low, high)
	}
	return v, nil
}

func number(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a finite number", text)
	}
	return v, nil
}

// Write writes the model as LIBLINEAR does; every number is read back as it was.
func (m *Model) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	classes := len(m.Labels)
	if m.Labels == nil {
		classes = 2 // as LIBLINEAR writes for regressions
	}
	fmt.Fprintf(out, "solver_type %s\nnr_class %d\n", m.Solver, classes)
	if m.Labels != nil {
		fmt.Fprint(out, "label")
		for _, l := range m.Labels {
			fmt.Fprintf(out, " %d", l)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "nr_feature %d\nbias %s\n", m.Features, text(m.Bias))
	if m.Solver == OneClassSVM {
		fmt.Fprintf(out, "rho %s\n", text(m.Rho))
	}
	fmt.Fprintln(out, "w")
	var line []byte
	for i := range m.rows() {
		line = line[:0]
		for _, v := range m.W[i*m.Outputs : (i+1)*m.Outputs] {
			line = append(strconv.AppendFloat(line, v, 'g', 17, 64), ' ')
		}
		out.Write(append(line, '\n'))
	}
	return out.Flush()
}

// text formats a number like C's %.17g, which is read back exactly.
func text(v float64) string { return strconv.FormatFloat(v, 'g', 17, 64) }

// Values writes the value w·x + bias of each output for row i of x into dst, in float64.
// Features that the model does not know are ignored.
func (m *Model) Values(dst []float64, x matrix.Rows, i int) {
	clear(dst)
	add := func(j int, v float64) {
		for t, w := range m.W[j*m.Outputs : (j+1)*m.Outputs] {
			dst[t] += v * w
		}
	}
	if x.CSR != nil {
		idx, val := x.CSR.Row(i)
		for e, j := range idx {
			if int(j) < m.Features {
				add(int(j), float64(val[e]))
			}
		}
	} else {
		for j, v := range x.Dense.Row(i)[:min(m.Features, x.Dim())] {
			add(j, float64(v))
		}
	}
	if m.Bias >= 0 {
		add(m.Features, m.Bias)
	}
	if m.Solver == OneClassSVM {
		dst[0] -= m.Rho
	}
}

// Predict returns what values predict: a label, a number, or for one class 1 inside and -1 outside.
func (m *Model) Predict(values []float64) float64 {
	switch {
	case m.Solver.Regression():
		return values[0]
	case m.Solver == OneClassSVM:
		if values[0] > 0 {
			return 1
		}
		return -1
	case m.Outputs == 1:
		if values[0] > 0 {
			return float64(m.Labels[0])
		}
		return float64(m.Labels[len(m.Labels)-1])
	}
	best := 0
	for k, v := range values {
		if v > values[best] {
			best = k
		}
	}
	return float64(m.Labels[best])
}

// Probabilities writes the probability of each class into dst, by the logistic function of the
// values, normalised to sum to 1 if there are more than two classes. Only logistic
// formulations have probabilities.
func (m *Model) Probabilities(dst, values []float64) {
	if !m.Solver.Logistic() {
		panic(fmt.Sprintf("liblinear: %s has no probabilities", m.Solver))
	}
	for k, v := range values {
		dst[k] = 1 / (1 + math.Exp(-v))
	}
	if m.Outputs == 1 {
		dst[1] = 1 - dst[0]
		return
	}
	sum := 0.0
	for _, p := range dst {
		sum += p
	}
	for k := range dst {
		dst[k] /= sum
	}
}
