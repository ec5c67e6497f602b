package libsvm

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Values are the results for a row.
type Values struct {
	// Prediction is the label or the number that svm-predict writes; if probabilities were asked for,
	// the label with the largest.
	Prediction float64

	// Decisions are the decision values: one for each pair of labels, in the order (1, 2), (1, 3), …,
	// (2, 3), …, positive for the first, or just one.
	Decisions []float64

	// Probabilities are those of the labels, or for one_class those of 1 and -1; nil if they were
	// not asked for.
	Probabilities []float64
}

// blockRows is the number of rows that are predicted at a time.
const blockRows = 256

// Predict calls each for every row of x, in order; v is valid until it returns. It fails if
// probabilities are asked for but the model has none, or if x is dense and narrower than
// the support vectors. It holds 8·256·n bytes for n support vectors.
func (m *Model) Predict(x matrix.Rows, probabilities bool, each func(v *Values) error) error {
	if probabilities && !m.HasProbabilities() {
		return fmt.Errorf("the model has no probabilities; train it with svm-train -b 1")
	}
	x, gram, err := m.gram(x)
	if err != nil {
		return err
	}
	n, outputs := m.x.Rows, len(m.Rho)
	values := make([]float64, min(blockRows, x.Len())*n)
	decisions := make([]float64, min(blockRows, x.Len())*outputs)
	v := Values{}
	if probabilities {
		v.Probabilities = make([]float64, max(2, len(m.Labels)))
	}
	votes := make([]int, len(m.Labels))
	for lo := 0; lo < x.Len(); lo += blockRows {
		hi := min(lo+blockRows, x.Len())
		switch {
		case gram != nil:
			gram.Rows(lo, hi, values[:(hi-lo)*n])
		case m.from != nil:
			m.named(x, lo, hi, values)
		}
		vec.Parallel(hi-lo, 8, func(a, b int) {
			for i := a; i < b; i++ {
				m.decide(values[i*n:][:n], decisions[i*outputs:][:outputs])
			}
		})
		for i := range hi - lo {
			v.Decisions = decisions[i*outputs:][:outputs]
			m.predict(&v, votes)
			if err := each(&v); err != nil {
				return err
			}
		}
	}
	return nil
}

// gram computes the kernel's values of x and the support vectors, or x·y for kernels that
// are functions of it. It is nil if there are no support vectors.
func (m *Model) gram(x matrix.Rows) (matrix.Rows, *kernel.Gram, error) {
	if m.x.Rows == 0 {
		return x, nil, nil
	}
	if m.from != nil {
		if x.Dim() < m.Dim() {
			return x, nil, fmt.Errorf("the rows have %d kernel values; support vectors are up to the training row %d", x.Dim(), m.Dim())
		}
		return x, nil, nil
	}
	k := kernel.Linear.Usual()
	if m.Kernel == "rbf" && m.Gamma > 0 {
		k = kernel.RBF.Usual()
		k.Gamma = m.Gamma
	}
	y := matrix.Rows{CSR: m.x}
	switch {
	case x.CSR != nil && max(x.Dim(), m.Dim()) > widest:
		rows, vectors := m.narrow(x.CSR)
		x, y = matrix.Rows{CSR: rows}, matrix.Rows{CSR: vectors}
	case x.Dense != nil && x.Dim() < m.Dim():
		return x, nil, fmt.Errorf("the rows have %d columns; the support vectors have up to %d", x.Dim(), m.Dim())
	case x.Dim() <= m.Dim():
		if m.dense != nil {
			y = matrix.Rows{Dense: m.dense}
		}
		if x.CSR != nil { // values missing from a row are 0
			wide := *x.CSR
			wide.Cols = m.Dim()
			x = matrix.Rows{CSR: &wide}
		}
	default:
		wide := *m.x
		wide.Cols = x.Dim()
		y = matrix.Rows{CSR: &wide}
	}
	g, err := kernel.NewGram(k, x, y)
	return x, g, err
}

// named writes the kernel values that the support vectors of a precomputed kernel refer to, for rows lo to hi.
func (m *Model) named(x matrix.Rows, lo, hi int, values []float64) {
	n := len(m.from)
	for i := lo; i < hi; i++ {
		to := values[(i-lo)*n:][:n]
		if x.CSR == nil {
			row := x.Dense.Row(i)
			for k, j := range m.from {
				to[k] = float64(row[j])
			}
			continue
		}
		idx, val := x.CSR.Row(i)
		for k, j := range m.from {
			if to[k] = 0; j <= math.MaxInt32 {
				if at, ok := slices.BinarySearch(idx, int32(j)); ok {
					to[k] = float64(val[at])
				}
			}
		}
	}
}

// decide writes a row's decision values, from the values of gram, which it changes.
func (m *Model) decide(values, decisions []float64) {
	switch {
	case m.Kernel == "rbf" && m.Gamma == 0:
		for i := range values {
			values[i] = 1
		}
	case m.Kernel == "polynomial" || m.Kernel == "sigmoid":
		for i, s := range values {
			values[i] = m.of(s)
		}
	}
	width := m.width()
	if m.Labels == nil {
		sum := 0.0
		for i, k := range values {
			sum += float64(m.coef[i] * k)
		}
		decisions[0] = sum - m.Rho[0]
		return
	}
	// A vector of class a has, for every other class b, the coefficient of (a, b) in column b,
	// or b-1 if b > a.
	at, startA := 0, 0
	for a, countA := range m.Vectors {
		startB := startA + countA
		for b := a + 1; b < len(m.Vectors); b++ {
			sum := 0.0
			for i := startA; i < startA+countA; i++ {
				sum += float64(m.coef[i*width+b-1] * values[i])
			}
			for i := startB; i < startB+m.Vectors[b]; i++ {
				sum += float64(m.coef[i*width+a] * values[i])
			}
			decisions[at] = sum - m.Rho[at]
			startB += m.Vectors[b]
			at++
		}
		startA += countA
	}
}

// predict derives the rest from a row's decision values.
func (m *Model) predict(v *Values, votes []int) {
	switch {
	case m.Type == "one_class":
		v.Prediction = -1
		if v.Decisions[0] > 0 {
			v.Prediction = 1
		}
		if v.Probabilities != nil {
			p := m.share(v.Decisions[0])
			v.Probabilities[0], v.Probabilities[1] = p, 1-p
		}
	case m.Labels == nil:
		v.Prediction = v.Decisions[0]
	case v.Probabilities != nil:
		v.Probabilities = v.Probabilities[:len(m.Labels)]
		m.probabilities(v.Decisions, v.Probabilities)
		best := 0
		for c, p := range v.Probabilities {
			if p > v.Probabilities[best] {
				best = c
			}
		}
		v.Prediction = float64(m.Labels[best])
	default:
		clear(votes)
		at := 0
		for a := range votes {
			for b := a + 1; b < len(votes); b++ {
				if v.Decisions[at] > 0 {
					votes[a]++
				} else {
					votes[b]++
				}
				at++
			}
		}
		best := 0
		for c, n := range votes {
			if n > votes[best] {
				best = c
			}
		}
		v.Prediction = float64(m.Labels[best])
	}
}

// share is the probability of one_class: the tenth of the training rows into which the marks put a
// decision value, and a thousandth from 0 or 1 below and above all marks.
func (m *Model) share(decision float64) float64 {
	if decision < m.Marks[0] {
		return 0.001
	}
	for i, mark := range m.Marks {
		if decision < mark {
			return float64(i) / float64(len(m.Marks))
		}
	}
	return 0.999
}

// leastProbability bounds the probabilities of two classes away from 0 and 1.
const leastProbability = 1e-7

// probabilities writes the probabilities of the classes.
func (m *Model) probabilities(decisions, p []float64) {
	k := len(p)
	if k == 1 {
		p[0] = 1
		return
	}
	r := make([]float64, k*k) // r_ab is the probability of a given a or b
	at := 0
	for a := range k {
		for b := a + 1; b < k; b++ {
			v := logistic(float64(decisions[at]*m.ProbA[at]) + m.ProbB[at])
			r[a*k+b] = min(max(v, leastProbability), 1-leastProbability)
			r[b*k+a] = 1 - r[a*k+b]
			at++
		}
	}
	if k == 2 {
		p[0], p[1] = r[1], r[2]
		return
	}
	couple(r, p)
}

// logistic is 1/(1 + eˣ), without overflow.
func logistic(x float64) float64 {
	if x >= 0 {
		return math.Exp(-x) / (1 + math.Exp(-x))
	}
	return 1 / (1 + math.Exp(x))
}

// couple finds the probabilities p of k classes from the pairwise r_ab: the minimum of
// ½ pᵀQp with Σp = 1, Q_aa = Σ_b r_ba², Q_ab = -r_ba·r_ab, by algorithm 2 of Wu, Lin and
// Weng (2004), which sets one p after the other so that (Qp)_a = pᵀQp and normalises,
// until these differ by at most 0.005/k, or for max(100, k) rounds.
func couple(r, p []float64) {
	k := len(p)
	q := make([]float64, k*k)
	for a := range k {
		p[a] = 1 / float64(k)
		for b := range k {
			if a != b {
				q[a*k+a] += float64(r[b*k+a] * r[b*k+a])
				q[a*k+b] = -float64(r[b*k+a] * r[a*k+b])
			}
		}
	}
	qp := make([]float64, k)
	for range max(100, k) {
		pqp := 0.0
		for a := range k {
			qp[a] = 0
			for b, v := range p {
				qp[a] += float64(q[a*k+b] * v)
			}
			pqp += float64(p[a] * qp[a])
		}
		worst := 0.0
		for _, v := range qp {
			worst = max(worst, math.Abs(v-pqp))
		}
		if worst < 0.005/float64(k) {
			return
		}
		for a := range k {
			step := (pqp - qp[a]) / q[a*k+a]
			p[a] += step
			pqp = (pqp + step*(step*q[a*k+a]+2*qp[a])) / (1 + step) / (1 + step)
			for b := range k {
				qp[b] = (qp[b] + float64(step*q[a*k+b])) / (1 + step)
				p[b] /= 1 + step
			}
		}
	}
}
