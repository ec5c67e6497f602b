package exact

import (
	"fmt"
	"math"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Machine is a kernel expansion with K outputs,
//
//	scores(x) = Σᵢ k(x, xᵢ)·αᵢ + b,
//
// over n rows xᵢ: training rows, support vectors or centres. It never changes and is safe for
// concurrent use.
type Machine struct {
	kernel kernel.Kernel
	x      matrix.Rows
	alpha  []float64 // n×K
	b      []float64 // K

	against *kernel.Against      // nil if the rows are too sparse for a dense form
	packed  *vec.Packed[float64] // α
	spare   freelist.Slices[float64]
}

// NewMachine makes the machine of a kernel, n rows x, their weights alpha, n×K row by row, and
// the intercepts b, K of them, all of which it keeps. It fails if the kernel is invalid,
// the rows have numbers that it does not take, the sizes do not match or a number is not finite:
// the arguments may come from a file.
//
// It holds 8n(d + K) bytes beyond the rows, up to three times 8nd for histogram kernels. For
// sparse rows with less than one element in sixteen it holds no dense form, and is slower.
func NewMachine(k kernel.Kernel, x matrix.Rows, alpha, b []float64) (*Machine, error) {
	n, outputs := x.Len(), len(b)
	if n == 0 || outputs == 0 {
		return nil, fmt.Errorf("exact: a machine of %d rows and %d outputs; it takes 1 or more of both", n, outputs)
	}
	if len(alpha) != n*outputs {
		return nil, fmt.Errorf("exact: %d weights for %d rows of %d outputs; it takes %d", len(alpha), n, outputs, n*outputs)
	}
	for i, v := range alpha {
		if !finite(v) {
			return nil, fmt.Errorf("exact: row %d, output %d: the weight is %g, not a finite number", i/outputs+1, i%outputs+1, v)
		}
	}
	for t, v := range b {
		if !finite(v) {
			return nil, fmt.Errorf("exact: output %d: the intercept is %g, not a finite number", t+1, v)
		}
	}
	if err := checkRows(k, x); err != nil {
		return nil, err
	}
	m := &Machine{kernel: k, x: x, alpha: alpha, b: b, packed: vec.Pack64(n, outputs, alpha, outputs)}
	if x.CSR == nil || 16*x.CSR.NNZ() >= n*x.Dim() {
		var err error
		if m.against, err = kernel.NewAgainst(k, x); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func finite(v float64) bool { return v-v == 0 }

// checkRows checks that the kernel is valid and takes the rows, all of whose
// numbers must be finite.
func checkRows(k kernel.Kernel, x matrix.Rows) error {
	if err := k.Validate(); err != nil {
		return err
	}
	for i := range x.Len() {
		var idx []int32
		var row []float32
		if x.CSR != nil {
			idx, row = x.CSR.Row(i)
		} else {
			row = x.Dense.Row(i)
		}
		for j, v := range row {
			if v-v != 0 {
				if idx != nil {
					j = int(idx[j])
				}
				return fmt.Errorf("exact: row %d, column %d: %g is not a finite number", i+1, j+1, v)
			}
		}
	}
	return k.CheckRows(x)
}

// Kernel is the machine's kernel.
func (m *Machine) Kernel() kernel.Kernel { return m.kernel }

// Rows are the n rows of the expansion; they must not be changed.
func (m *Machine) Rows() matrix.Rows { return m.x }

// Alpha are the weights of the rows, n×K row by row; they must not be changed.
func (m *Machine) Alpha() []float64 { return m.alpha }

// Intercepts are the K intercepts b; they must not be changed.
func (m *Machine) Intercepts() []float64 { return m.b }

// scoreRows is how many rows are scored at a time: enough that reading the rows of the
// expansion, once for all of them, costs less than the arithmetic.
const scoreRows = 128

// Scores writes the scores of the rows x into dst, which must be Len×K. A row's scores do not
// depend on the rows beside it, to the bit. It holds 8·128·n bytes per thread, which it keeps for
// the next call. It fails if x has numbers that the kernel does not take.
func (m *Machine) Scores(dst *matrix.Dense, x matrix.Rows) error {
	if dst.Rows != x.Len() || dst.Cols != len(m.b) {
		panic(fmt.Sprintf("exact: Scores wants a %d×%d dst, got %d×%d", x.Len(), len(m.b), dst.Rows, dst.Cols))
	}
	if x.Dim() != m.x.Dim() {
		return fmt.Errorf("exact: rows of %d dimensions for a machine of %d", x.Dim(), m.x.Dim())
	}
	if m.against == nil {
		return m.scoreSparse(dst, x)
	}
	if err := m.kernel.CheckRows(x); err != nil {
		return err
	}
	if x.Len() < 2 {
		m.score(dst, x, 0, x.Len())
		return nil
	}
	// One block per thread, so that all compute kernel values.
	vec.Parallel(x.Len(), min(scoreRows, (x.Len()+vec.Threads()-1)/vec.Threads()), func(lo, hi int) {
		for ; lo < hi; lo += scoreRows {
			m.score(dst, x, lo, min(lo+scoreRows, hi))
		}
	})
	return nil
}

// score scores the rows [i, j) of x, at most scoreRows.
func (m *Machine) score(dst *matrix.Dense, x matrix.Rows, i, j int) {
	rows, n := j-i, m.x.Len()
	work := m.spare.Get(rows * (n + m.against.Work() + len(m.b)))
	defer m.spare.Put(work)
	values, rest := work[:rows*n], work[rows*n:]
	m.against.Rows(x, i, j, values, rest)
	m.finish(dst, i, j, values, rest)
}

// finish turns the kernel's values of the rows [i, j) into scores. work has (j-i)·K numbers.
func (m *Machine) finish(dst *matrix.Dense, i, j int, values, work []float64) {
	k := len(m.b)
	m.packed.Multiply(j-i, values, m.x.Len(), work, k, nil)
	for r := i; r < j; r++ {
		row := dst.Row(r)
		for t, s := range work[(r-i)*k:][:k] {
			row[t] = float32(s + m.b[t])
		}
	}
}

// scoreSparse is Scores without a dense form of the rows.
func (m *Machine) scoreSparse(dst *matrix.Dense, x matrix.Rows) error {
	n := m.x.Len()
	// A Gram matrix of rows with themselves has an exact diagonal, others have not:
	// a separate view keeps the bits of a row's scores the same in any batch.
	gram, err := kernel.NewGram(m.kernel, x, m.x.Slice(0, n))
	if err != nil {
		return err
	}
	work := m.spare.Get(min(x.Len(), scoreRows) * (n + len(m.b)))
	defer m.spare.Put(work)
	for i := 0; i < x.Len(); i += scoreRows {
		j := min(i+scoreRows, x.Len())
		values := work[:(j-i)*n]
		gram.Rows(i, j, values)
		m.finish(dst, i, j, values, work[(j-i)*n:])
	}
	return nil
}

// mean is the mean of the outputs' columns of y, each row with its weight (nil: 1), and the sum
// of the weights.
func mean(y, weights []float64, outputs int) (b []float64, total float64) {
	b = make([]float64, outputs)
	for i := range len(y) / outputs {
		w := weight(weights, i)
		total += w
		for t, v := range y[i*outputs:][:outputs] {
			b[t] += float64(w * v)
		}
	}
	for t := range b {
		b[t] /= math.Max(total, math.SmallestNonzeroFloat64)
	}
	return b, total
}

func weight(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}
