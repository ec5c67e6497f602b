// Package libsvm reads the text models of LIBSVM and predicts with them as its svm-predict does,
// so that models trained there can be used here (Chang and Lin, LIBSVM: a library for support
// vector machines, 2011; the file is described in its README and section 2 there).
package libsvm

import (
	"fmt"
	"math"
	"strings"

	"mercer/matrix"
)

// Model is a trained LIBSVM model. It never changes and is safe for concurrent use.
type Model struct {
	// Type is c_svc, nu_svc, one_class, epsilon_svr or nu_svr.
	Type string `json:"svm_type"`

	// Kernel is linear, polynomial, rbf or sigmoid: x·y, (γ x·y + c)^p, exp(-γ‖x-y‖²) and
	// tanh(γ x·y + c); or precomputed: the columns of a row are the kernel's values with the rows that
	// the model was trained on, in their order, and the support vectors name some of these rows.
	Kernel string  `json:"kernel_type"`
	Degree int     `json:"degree,omitempty"`
	Gamma  float64 `json:"gamma,omitempty"`
	Coef0  float64 `json:"coef0,omitempty"`

	// Labels are those of the classes, in the order of the file; nil if there are none.
	Labels []int `json:"labels,omitempty"`

	// Vectors is the number of support vectors of each class, or of the model.
	Vectors []int `json:"support_vectors"`

	// Rho are the numbers subtracted from the sums, one for each pair of classes, or just one.
	Rho []float64 `json:"rho"`

	// ProbA and ProbB, if present, are A and B of the probability 1/(1 + exp(A·f + B)) of
	// the first class of each pair for a decision value f; for regression ProbA is the scale of
	// a Laplace distribution of its errors.
	ProbA []float64 `json:"prob_a,omitempty"`
	ProbB []float64 `json:"prob_b,omitempty"`

	// Marks, for one_class, are decision values that separate tenths of the training rows.
	Marks []float64 `json:"density_marks,omitempty"`

	coef  []float64     // one row per support vector, of max(1, classes-1) numbers
	x     *matrix.CSR   // the support vectors, class by class
	dense *matrix.Dense // the same, if products are faster on it, or nil

	packed  *matrix.CSR // x with the columns that it has, which are columns; x itself if that is not wide
	columns []int32     // nil if it is x itself

	from []int // for a precomputed kernel: the column of each support vector, whose x is empty
}

// Dim is the largest column index that a support vector has or names.
func (m *Model) Dim() int { return m.x.Cols }

// Classifies says whether the model predicts labels (one_class: 1 and -1) rather than numbers.
func (m *Model) Classifies() bool { return m.Type != "epsilon_svr" && m.Type != "nu_svr" }

// HasProbabilities says whether the model has what it needs for probabilities, of classes or, for
// one_class, from its marks.
func (m *Model) HasProbabilities() bool {
	switch m.Type {
	case "c_svc", "nu_svc":
		return m.ProbA != nil && m.ProbB != nil
	case "one_class":
		return m.Marks != nil
	}
	return false
}

// Classes are the labels of the classes in the order of their probabilities: those of the file, or 1 and -1 for rows
// inside and outside of one_class; nil for a regression.
func (m *Model) Classes() []int {
	if m.Type == "one_class" {
		return []int{1, -1}
	}
	return m.Labels
}

// width is the number of coefficients of a support vector.
func (m *Model) width() int { return max(1, len(m.Labels)-1) }

// Lines describes the model, for display.
func (m *Model) Lines() []string {
	kernel := m.Kernel
	switch m.Kernel {
	case "polynomial":
		kernel += fmt.Sprintf(", γ = %.4g, degree %d, coef0 = %g", m.Gamma, m.Degree, m.Coef0)
	case "rbf":
		kernel += fmt.Sprintf(", γ = %.4g", m.Gamma)
	case "sigmoid":
		kernel += fmt.Sprintf(", γ = %.4g, coef0 = %g", m.Gamma, m.Coef0)
	}
	lines := []string{
		"LIBSVM " + m.Type + ", kernel " + kernel,
		fmt.Sprintf("%d support vectors, columns up to %d", m.x.Rows, m.Dim()),
	}
	if m.Labels != nil {
		var parts []string
		for c, l := range m.Labels {
			parts = append(parts, fmt.Sprintf("%d (%d vectors)", l, m.Vectors[c]))
		}
		lines = append(lines, "labels "+strings.Join(parts, ", "))
	}
	if m.HasProbabilities() {
		lines = append(lines, "with probabilities")
	} else if m.ProbA != nil {
		lines = append(lines, fmt.Sprintf("errors like a Laplace distribution of scale %.4g", m.ProbA[0]))
	}
	return lines
}

// of is the kernel's value for x·y, if it is a function of that.
func (m *Model) of(s float64) float64 {
	switch m.Kernel {
	case "polynomial":
		return power(float64(m.Gamma*s)+m.Coef0, m.Degree)
	case "sigmoid":
		return math.Tanh(float64(m.Gamma*s) + m.Coef0)
	}
	return s
}

// power is xⁿ, 1 for n = 0.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}

// Numbered says that the kernel is precomputed: as LIBSVM text, rows have their number at the index 0.
func (m *Model) Numbered() bool { return m.Kernel == "precomputed" }
