// Package rfm trains recursive feature machines (Radhakrishnan, Beaglehole, Pandit and Belkin, Science 2024) on
// tables: kernel machines on landmarks with distances that are learned, several of which are averaged, and boosted trees beside them where
// these see what smooth functions do not.
// Many rows are divided into leaves, each with machines and distances of its own (after
// xRFM, Beaglehole, Holzmüller, Radhakrishnan and Belkin 2025), so that time grows like n and
// accuracy goes on growing with n.
package rfm

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/freelist"
	"mercer/internal/solve/exact"
	"mercer/internal/solve/metric"
	"mercer/internal/solve/trees"
	"mercer/matrix"
)

// Machine is what Fit returns. It does not change and is safe for concurrent use.
type Machine struct {
	dim, outputs int
	tree         Tree
	leaves       []Leaf
	whole        Whole
	steps        Steps
	spread       *Spread // nil: unknown

	works freelist.List[work]
}

// Leaf is the mean of machines, by weights that add up to 1.
type Leaf []Member

// Member is a kernel machine on rows that a metric was applied to, nil meaning none.
type Member struct {
	Weight  float64
	Metric  *metric.Metric
	Machine *exact.Machine
}

// Whole are machines for all rows beside those of the leaves. They have the share Share of the scores, between 0 and 1,
// and the leaves the rest; none if Share is 0.
type Whole struct {
	Leaf  Leaf
	Share float64
}

// Steps are boosted trees beside all machines. They have the share Share of the scores, between 0 and 1, and the machines the rest; none
// if Share is 0.
type Steps struct {
	Trees *trees.Trees
	Share float64
}

// NewMachine makes a machine for rows of dim numbers from a tree and its leaves, machines for all rows, and boosted trees, all of which may
// come from a file. It fails if they do not fit together.
func NewMachine(dim int, tree Tree, leaves []Leaf, whole Whole, steps Steps) (*Machine, error) {
	if err := tree.check(dim, len(leaves)); err != nil {
		return nil, err
	}
	if !(whole.Share >= 0 && whole.Share < 1) || (whole.Share > 0) != (len(whole.Leaf) > 0) {
		return nil, fmt.Errorf("%d machines for all rows have the share %g of the scores; expected a number between 0 and 1",
			len(whole.Leaf), whole.Share)
	}
	m := &Machine{dim: dim, tree: tree, leaves: leaves, whole: whole, steps: steps}
	for l, leaf := range m.all() {
		if len(leaf) == 0 {
			return nil, fmt.Errorf("leaf %d has no machines", l+1)
		}
		for _, one := range leaf {
			width := dim
			if one.Metric != nil {
				in, out := one.Metric.Dims()
				if in != dim {
					return nil, fmt.Errorf("leaf %d has a metric of %d dimensions, the rows have %d", l+1, in, dim)
				}
				if err := one.Metric.Check(dim); err != nil {
					return nil, fmt.Errorf("leaf %d: %w", l+1, err)
				}
				width = out
			}
			k := len(one.Machine.Intercepts())
			if m.outputs == 0 {
				m.outputs = k
			}
			switch {
			case one.Machine.Rows().Dim() != width:
				return nil, fmt.Errorf("leaf %d has a machine of %d dimensions; expected %d", l+1, one.Machine.Rows().Dim(), width)
			case k != m.outputs:
				return nil, fmt.Errorf("leaf %d has %d outputs, the first has %d", l+1, k, m.outputs)
			case !(one.Weight > 0) || math.IsInf(one.Weight, 0):
				return nil, fmt.Errorf("leaf %d has a machine of weight %g; expected a positive number", l+1, one.Weight)
			}
		}
	}
	return m, m.checkSteps()
}

// checkSteps says whether the boosted trees fit the machines.
func (m *Machine) checkSteps() error {
	s := m.steps
	switch {
	case !(s.Share >= 0 && s.Share < 1) || (s.Share > 0) != (s.Trees != nil):
		return fmt.Errorf("boosted trees have the share %g of the scores; expected a number between 0 and 1, and 0 without any", s.Share)
	case s.Trees == nil:
		return nil
	case s.Trees.Dim != m.dim || s.Trees.Outputs != m.outputs:
		return fmt.Errorf("boosted trees have %d dimensions and %d outputs; expected %d and %d", s.Trees.Dim, s.Trees.Outputs, m.dim, m.outputs)
	}
	return s.Trees.Check()
}

// Dims is the number of dimensions of rows and of outputs.
func (m *Machine) Dims() (in, outputs int) { return m.dim, m.outputs }

// Tree says which rows belong to which leaf; it must not be changed.
func (m *Machine) Tree() Tree { return m.tree }

// Leaves are the leaves; they must not be changed.
func (m *Machine) Leaves() []Leaf { return m.leaves }

// Whole are the machines for all rows; they must not be changed.
func (m *Machine) Whole() Whole { return m.whole }

// Steps are the boosted trees; they must not be changed.
func (m *Machine) Steps() Steps { return m.steps }

// all are the leaves, and after them the machines for all rows if there are any.
func (m *Machine) all() []Leaf {
	if m.whole.Share == 0 {
		return m.leaves
	}
	return append(slices.Clone(m.leaves), m.whole.Leaf)
}

// Centres is the number of landmarks of all machines together.
func (m *Machine) Centres() (n int) {
	for _, l := range m.all() {
		for _, one := range l {
			n += one.Machine.Rows().Len()
		}
	}
	return n
}

// Relevance is how much distances along each dimension count, adding up to 1: the mean of the diagonals of all metrics,
// each divided by its sum, by the weights of members, all leaves counting alike, and machines for all rows by their share; boosted trees, which
// know no distances, have no part in it. Plain distances count all dimensions alike.
func (m *Machine) Relevance() []float64 {
	all := make([]float64, m.dim)
	for l, leaf := range m.all() {
		of := (1 - m.whole.Share) / float64(len(m.leaves))
		if l == len(m.leaves) {
			of = m.whole.Share
		}
		total := 0.0
		for _, one := range leaf {
			total += one.Weight
		}
		for _, one := range leaf {
			diagonal, sum := slices.Repeat([]float64{1}, m.dim), float64(m.dim)
			if one.Metric != nil {
				if of := one.Metric.Relevance(); sumOf(of) > 0 {
					diagonal, sum = of, sumOf(of)
				}
			}
			share := one.Weight / total * of
			for j, v := range diagonal {
				all[j] += float64(share * v / sum)
			}
		}
	}
	return all
}

func sumOf(numbers []float64) (sum float64) {
	for _, v := range numbers {
		sum += v
	}
	return sum
}

// work is the memory of a call of Scores.
type work struct {
	shares  []share
	by      []int        // the position of each share when sorted by leaf
	ends    []int        // of the shares of each leaf
	wide    matrix.Dense // sparse rows
	rows    matrix.Dense // of a leaf
	scores  matrix.Dense
	metric  metric.Work
	numbers []float64
}

// scoreRows bounds the rows that are scored at a time.
const scoreRows = 4096

// Scores writes the scores of the rows x into dst, which must be Len×outputs. A row is scored by its leaf, or by
// several whose shares of it add up to 1, and by machines for all rows and boosted trees if there are any. Its scores do not depend on the rows beside it. It fails if x
// is not of the machine's dimensions.
func (m *Machine) Scores(dst *matrix.Dense, x matrix.Rows) error {
	if dst.Rows != x.Len() || dst.Cols != m.outputs {
		panic(fmt.Sprintf("rfm: Scores wants a %d×%d dst, got %d×%d", x.Len(), m.outputs, dst.Rows, dst.Cols))
	}
	if x.Dim() != m.dim {
		return fmt.Errorf("rfm: rows of %d dimensions for a machine of %d", x.Dim(), m.dim)
	}
	w := m.works.Get()
	defer m.works.Put(w)
	if x.Len() <= scoreRows { // without slices, which would be allocated
		return m.score(dst, w.dense(x), w)
	}
	for i := 0; i < x.Len(); i += scoreRows {
		j := min(i+scoreRows, x.Len())
		if err := m.score(dst.Slice(i, j), w.dense(x.Slice(i, j)), w); err != nil {
			return err
		}
	}
	return nil
}

// dense returns dense rows, in w if x is sparse.
func (w *work) dense(x matrix.Rows) *matrix.Dense {
	if x.CSR == nil {
		return x.Dense
	}
	x.CSR.Densify(&w.wide)
	return &w.wide
}

func (m *Machine) score(dst, x *matrix.Dense, w *work) error {
	w.shares = w.shares[:0]
	for i := range x.Rows {
		w.shares = m.tree.route(w.shares, x.Row(i), int32(i))
	}
	w.sort(len(m.leaves))
	k, rest := m.outputs, 1-m.steps.Share
	w.numbers = append(w.numbers[:0], make([]float64, x.Rows*k)...)
	for l, leaf := range m.leaves {
		some := w.by[w.ends[l]:w.ends[l+1]]
		if len(some) == 0 {
			continue
		}
		rows := x
		if len(some) < x.Rows {
			w.rows.Reshape(len(some), m.dim)
			for r, s := range some {
				copy(w.rows.Row(r), x.Row(int(w.shares[s].row)))
			}
			rows = &w.rows
		}
		for _, one := range leaf {
			if err := one.scores(rows, k, w); err != nil {
				return err
			}
			for r, s := range some {
				factor := float64(w.shares[s].of) * one.Weight * (1 - m.whole.Share) * rest
				w.add(int(w.shares[s].row), factor, w.scores.Row(r))
			}
		}
	}
	for _, one := range m.whole.Leaf {
		if err := one.scores(x, k, w); err != nil {
			return err
		}
		for i := range x.Rows {
			w.add(i, one.Weight*m.whole.Share*rest, w.scores.Row(i))
		}
	}
	if m.steps.Trees != nil {
		m.steps.Trees.Add(w.numbers, x, m.steps.Share)
	}
	for i := range x.Rows {
		row := dst.Row(i)
		for t := range row {
			row[t] = float32(w.numbers[i*k+t])
		}
	}
	return nil
}

// scores computes a member's k scores of rows in w.scores.
func (one *Member) scores(rows *matrix.Dense, k int, w *work) error {
	u := matrix.Rows{Dense: rows}
	if one.Metric != nil {
		u = one.Metric.Apply(u, &w.metric)
	}
	w.scores.Reshape(rows.Rows, k)
	return one.Machine.Scores(&w.scores, u)
}

// add adds a multiple of scores to those of a row.
func (w *work) add(row int, factor float64, scores []float32) {
	to := w.numbers[row*len(scores):][:len(scores)]
	for t, v := range scores {
		to[t] += float64(factor * float64(v))
	}
}

// sort counts the shares of each leaf, and orders them by leaf and row.
func (w *work) sort(leaves int) {
	w.ends = append(w.ends[:0], make([]int, leaves+1)...)
	for _, s := range w.shares {
		w.ends[s.leaf+1]++
	}
	for l := range leaves {
		w.ends[l+1] += w.ends[l]
	}
	w.by = append(w.by[:0], make([]int, len(w.shares))...)
	for i, s := range w.shares {
		w.by[w.ends[s.leaf]] = i
		w.ends[s.leaf]++
	}
	copy(w.ends[1:], w.ends) // each has moved to the beginning of the next
	w.ends[0] = 0
}
