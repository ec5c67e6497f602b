package exact

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/kernel"
	"mercer/matrix"
)

// SVM is the configuration of support vector machines with a kernel. The zero value trains with C = 1.
type SVM struct {
	// C > 0 bounds the weight of a support vector; 0 means 1. Large C fits the training
	// rows closely.
	C float64

	// Nu, if not 0, replaces C in classification and Epsilon in regression: it is in (0,
	// 1], an upper bound on the share of rows within the margin or outside the tube, and a lower
	// bound on that of support vectors (Schölkopf, Smola, Williamson and Bartlett 2000).
	Nu float64

	// Epsilon ≥ 0 is half the width of the tube within which regression ignores errors.
	Epsilon float64

	// Weights has a weight ≥ 0 for every row, by which its C is multiplied; nil means 1 for all.
	// A row of weight 0 is ignored.
	Weights []float64

	// ClassWeights has a weight ≥ 0 for every class; nil means 1 for all.
	ClassWeights []float64

	// Multiclass is ovo, one machine for every two classes, which vote, or ovr, one for every
	// class against the others, the largest score winning; empty means ovo.
	Multiclass string

	// Tolerance is the largest violation of the optimality conditions when training stops, in
	// units of the decision values (of ν-SVC's, before they are scaled to a margin of 1); 0
	// means 1e-3.
	Tolerance float64

	// MaxSteps bounds the number of pairs of one machine; 0 means 100 million. The report says
	// if it stopped training.
	MaxSteps int

	// Memory bounds the bytes that training holds beyond the rows; 0 means 1 GiB. The more
	// of the Gram matrix fits, the fewer rows are recomputed. If not all
	// that are needed fit, the result depends on it, within the tolerance.
	Memory int64

	// Progress, if not nil, is called with the number of the machine being trained, the number of machines,
	// and the violation of its optimality conditions. It is called by one goroutine at a time.
	Progress func(machine, machines int, violation float64)
}

// SVMReport describes a training. For several machines, numbers are sums, and the violation
// is the largest.
type SVMReport struct {
	Kind           string    `json:"kind"`
	Machines       int       `json:"machines"`
	Multiclass     string    `json:"multiclass,omitempty"` // ovo or ovr, of more than two classes
	SupportVectors int       `json:"support_vectors"`      // rows with a weight in any machine
	AtBound        int       `json:"at_bound"`             // weights at their bound
	Objective      []float64 `json:"objective"`            // of every machine, of the dual program
	Violation      float64   `json:"violation"`
	Tolerance      float64   `json:"tolerance"`
	Converged      bool      `json:"converged"`
	Steps          int       `json:"steps"`              // pairs of variables
	KernelRows     int       `json:"kernel_rows"`        // rows of the Gram matrix computed
	Restores       int       `json:"restores,omitempty"` // times that variables were left out and brought back
	Nu             float64   `json:"nu,omitempty"`       // of nu-svc, nu-svr and one-class
	Epsilon        []float64 `json:"epsilon,omitempty"`  // of every output of epsilon-svr, and that nu-svr came to
}

// Lines describe the report.
func (r *SVMReport) Lines() []string {
	machines := ""
	if r.Machines > 1 {
		machines = fmt.Sprintf(" of %d machines", r.Machines)
	}
	stop := fmt.Sprintf("violation %.2g ≤ %g", r.Violation, r.Tolerance)
	if !r.Converged {
		stop = fmt.Sprintf("stopped at a violation of %.2g, above the tolerance %g: give more steps, a smaller C, or a looser tolerance",
			r.Violation, r.Tolerance)
	}
	settings := ""
	if r.Nu > 0 {
		settings = fmt.Sprintf("ν = %g, ", r.Nu)
	}
	if len(r.Epsilon) > 0 {
		low, high := slices.Min(r.Epsilon), slices.Max(r.Epsilon)
		settings += fmt.Sprintf("ε = %.4g", low)
		if high > low {
			settings += fmt.Sprintf(" to %.4g", high)
		}
		settings += ", "
	}
	return []string{
		fmt.Sprintf("%s: %s%d support vectors%s, %d weights at their bound", r.Kind, settings, r.SupportVectors, machines, r.AtBound),
		fmt.Sprintf("%s, %d steps, %d kernel rows computed", stop, r.Steps, r.KernelRows),
	}
}

// filled returns the options with defaults filled in, or an error.
func (o SVM) filled(rows, classes int) (SVM, error) {
	if o.C == 0 {
		o.C = 1
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-3
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = 100_000_000
	}
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	if o.Multiclass == "" {
		o.Multiclass = "ovo"
	}
	switch {
	case !(o.C > 0 && finite(o.C)):
		return o, fmt.Errorf("exact: C is %g; it must be a positive number", o.C)
	case !(o.Nu >= 0 && o.Nu <= 1):
		return o, fmt.Errorf("exact: nu is %g; it must be above 0 and at most 1", o.Nu)
	case !(o.Epsilon >= 0 && finite(o.Epsilon)):
		return o, fmt.Errorf("exact: epsilon is %g; it must be 0 or more", o.Epsilon)
	case !(o.Tolerance > 0 && finite(o.Tolerance)):
		return o, fmt.Errorf("exact: tolerance is %g; it must be a positive number", o.Tolerance)
	case o.MaxSteps < 0 || o.Memory < 0:
		return o, fmt.Errorf("exact: %d steps at most and %d bytes; both must be positive", o.MaxSteps, o.Memory)
	case o.Multiclass != "ovo" && o.Multiclass != "ovr":
		return o, fmt.Errorf("exact: multiclass %q is not known; it is ovo or ovr", o.Multiclass)
	case o.Weights != nil && len(o.Weights) != rows:
		panic(fmt.Sprintf("exact: %d weights for %d rows", len(o.Weights), rows))
	case o.ClassWeights != nil && len(o.ClassWeights) != classes:
		panic(fmt.Sprintf("exact: %d class weights for %d classes", len(o.ClassWeights), classes))
	}
	for i, w := range o.Weights {
		if !(w >= 0 && finite(w)) {
			return o, fmt.Errorf("exact: row %d: the weight is %g; it must be 0 or more", i+1, w)
		}
	}
	for c, w := range o.ClassWeights {
		if !(w >= 0 && finite(w)) {
			return o, fmt.Errorf("exact: class %d: the weight is %g; it must be 0 or more", c+1, w)
		}
	}
	return o, nil
}

// weight is that of row i, of class c if that is not negative.
func (o *SVM) weight(i, c int) float64 {
	w := 1.0
	if o.Weights != nil {
		w = o.Weights[i]
	}
	if c >= 0 && o.ClassWeights != nil {
		w *= o.ClassWeights[c]
	}
	return w
}

// SVMMemory is how many bytes training needs at least beyond n rows of d dimensions, and how many it
// needs so that no row of the Gram matrix is computed twice:
//
//	least = 160·n + 8·256·(d + 4·(d + 256)) + 4·512² + 4·min(n, 512)·n
//	most  = least + 8·n·d + 4·n²:
//
// the variables; the rows of a product, on four threads (each more takes 8·256·(d + 256)); the
// program of a working set; and rows of the Gram matrix in float32, 512 or all; the rows packed
// for products. Anything in between is used for rows of the Gram matrix. Sparse rows take no
// 4·d and no 8·n·d; for histogram kernels every d counts up to three times.
func SVMMemory(n, d int, sparse bool) (least, most int64) {
	expanded, laidOut := 5*int64(d), 8*int64(n)*int64(d)
	if sparse {
		expanded, laidOut = int64(d), 0
	}
	least = 160*int64(n) + 8*lineBatch*(expanded+4*lineBatch) + 4*largestSet*largestSet + 4*int64(min(n, fewestLines))*int64(n)
	return least, least + laidOut + 4*int64(n)*int64(n)
}

// denser returns sparse rows as dense ones if matrix products are faster on them, they take
// at most a quarter of the memory, and the rest is enough for programs of n rows, which are copied
// unless they are all rows. It also returns the remaining memory.
func denser(x matrix.Rows, n int, memory int64) (matrix.Rows, int64) {
	row := 4 * int64(x.Dim())
	bytes := int64(x.Len()) * row
	least, _ := SVMMemory(n, x.Dim(), false)
	if n < x.Len() {
		least += int64(n) * row
	}
	if x.CSR == nil || 32*x.CSR.NNZ() < x.Len()*x.Dim() || bytes > memory/4 || memory-bytes < least {
		return x, memory
	}
	dense := new(matrix.Dense)
	x.CSR.Densify(dense)
	return matrix.Rows{Dense: dense}, memory - bytes
}

// solution is one machine: the weights β of some rows, so that scores are Σ β_i k(x, x_i) + b.
type solution struct {
	rows      []int32
	beta      []float64
	b         float64
	atBound   int
	objective float64
	violation float64
	steps     int
	computed  int
	restores  int
}

// run solves a program and returns its machine; rows are the caller's numbers for the
// cache's rows, nil if they are the same.
func run(ctx context.Context, p *program, cache *rowCache, rows []int32, o *SVM, progress func(violation float64)) (*solution, *smo,
	error) {
	s := newSMO(p, cache, o.Tolerance)
	before := cache.computed
	if err := s.solve(ctx, o.MaxSteps, progress); err != nil {
		return nil, nil, err
	}
	sol := &solution{objective: s.objective(), violation: max(s.violation, 0), steps: s.steps, computed: cache.computed - before,
		restores: s.restores}
	beta := make([]float64, cache.n)
	for t, a := range p.alpha {
		beta[p.row[t]] += float64(p.sign[t] * a)
		if a == p.bound[t] {
			sol.atBound++
		}
	}
	for i, v := range beta {
		if v != 0 {
			if rows != nil {
				i = int(rows[i])
			}
			sol.rows, sol.beta = append(sol.rows, int32(i)), append(sol.beta, v)
		}
	}
	sol.b = s.intercept(0)
	return sol, s, nil
}

// intercept is the v of variables between their bounds: their mean, or, if there are
// none, the middle of the interval allowed by those at a bound. A nonzero sign restricts it
// to the variables of that sign.
func (s *smo) intercept(sign float64) float64 {
	sum, free := 0.0, 0
	top, bottom := math.Inf(-1), math.Inf(1)
	for t := range s.alpha {
		if sign != 0 && s.sign[t] != sign {
			continue
		}
		v := s.v(t)
		up, low := s.may(t)
		switch {
		case up && low:
			sum += v
			free++
		case up:
			top = max(top, v)
		case low:
			bottom = min(bottom, v)
		}
	}
	switch {
	case free > 0:
		return sum / float64(free)
	case math.IsInf(top, 0):
		return bottom
	case math.IsInf(bottom, 0):
		return top
	}
	return (top + bottom) / 2
}

// collect makes the machine of several solutions, keeping the rows that have a weight in any,
// and the report.
func collect(k kernel.Kernel, x matrix.Rows, solutions []*solution, o *SVM, kind string) (*Machine, *SVMReport, error) {
	r := &SVMReport{Kind: kind, Machines: len(solutions), Tolerance: o.Tolerance, Nu: o.Nu}
	place := make([]int32, x.Len()) // among the rows kept, counted from 1
	b := make([]float64, len(solutions))
	for t, s := range solutions {
		b[t] = s.b
		r.AtBound += s.atBound
		r.Objective = append(r.Objective, s.objective)
		r.Violation = max(r.Violation, s.violation)
		r.Steps += s.steps
		r.KernelRows += s.computed
		r.Restores += s.restores
		for _, i := range s.rows {
			place[i] = 1
		}
	}
	r.Converged = r.Violation <= o.Tolerance
	var rows []int32
	for i, p := range place {
		if p != 0 {
			rows = append(rows, int32(i))
			place[i] = int32(len(rows))
		}
	}
	r.SupportVectors = len(rows)
	if len(rows) == 0 {
		rows = []int32{0} // of weight 0: the scores are b everywhere
	}
	alpha := make([]float64, len(rows)*len(solutions))
	for t, s := range solutions {
		for j, i := range s.rows {
			alpha[int(place[i]-1)*len(solutions)+t] = s.beta[j]
		}
	}
	m, err := NewMachine(k, matrix.Pick(x, rows), alpha, b)
	return m, r, err
}
