package learn

import (
	"context"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// sums computes what the machines request, in one pass over the rows: with the vectors x
// of all machines as the columns of X, for a few rows Z at a time the scores S = ZX, from
// those the derivatives R, and the sums ZᵀR.
//
// Rows are divided into blocks of BlockRows, and each block evenly into parts; a part sums
// over its share of all blocks, and the parts are added in order. Threads divide the parts.
type sums struct {
	fit     *primalFit
	columns []*passColumn
	parts   []*passPart
	chunk   int // rows that are read from memory once and stay in the cache

	packed *vec.Packed[float32] // X for dense features and many columns
	x      []float32            // X, D×A; for few dense columns A×D
	few    bool                 // at most fewScores columns
}

// passColumn is a vector that is multiplied with the rows.
type passColumn struct {
	machine *newton
	at      int       // of the machine's outputs
	output  int       // of all
	x, out  []float64 // views of the machine's

	curvature float64 // Σ cᵢℓ″, if the machine evaluates
}

// passPart sums over a part of the rows.
type passPart struct {
	total     []float64 // ZᵀR: A×D for dense features, D×A for sparse ones
	intercept []float64 // A: 1ᵀR
	loss      []float64 // A
	curvature []float64 // A

	sum    []float32 // A×D, of at most summed rows
	scores []float32 // chunk×A
	work   [5][]float64
}

const (
	mostParts = 16

	// summed is the largest number of rows summed in float32 before the sums are added up
	// in float64.
	summed = 256

	// cached is how many bytes of rows stay in the cache between the two products: half of a
	// core's second-level cache of 2 MB.
	cached = 1 << 20

	// fewScores and fewSums are how many columns have their scores, and their sums, computed
	// one by one, because a tile of the matrix product is wider.
	fewScores = 8
	fewSums   = 2
)

func (s *sums) prepare(f *primalFit) {
	s.fit = f
	d := max(1, f.z.Dim())
	// The parts' sums take at most 64 MB, unless that is less than four parts.
	parts := min(mostParts, max(4, (8<<20)/(d*f.k)))
	for range parts {
		s.parts = append(s.parts, &passPart{})
	}
	s.chunk = min(max(cached/(4*d), 16), summed)
}

// pass computes out, and the losses if they evaluate, for all unfinished machines.
func (f *primalFit) pass(ctx context.Context) error {
	s := &f.sums
	s.gather()
	if err := s.walk(ctx); err != nil {
		return err
	}
	s.collect()
	return nil
}

// gather lists the columns and rounds their vectors to float32.
func (s *sums) gather() {
	f := s.fit
	p, each := f.parameters(), f.outputs()
	s.columns = s.columns[:0]
	for i, m := range f.machines {
		if m.end {
			continue
		}
		for t := range each {
			s.columns = append(s.columns, &passColumn{
				machine: m, at: t, output: i*each + t,
				x: m.x[t*p : (t+1)*p], out: m.out[t*p : (t+1)*p],
			})
		}
	}
}

// lay lays out X for dense or sparse rows.
func (s *sums) lay(sparse bool) {
	d, a := s.fit.z.Dim(), len(s.columns)
	if len(s.x) < d*a {
		s.x = make([]float32, d*a)
	}
	s.few = !sparse && a <= fewScores
	for c, col := range s.columns {
		for j, v := range col.x[:d] {
			if s.few {
				s.x[c*d+j] = float32(v)
			} else {
				s.x[j*a+c] = float32(v)
			}
		}
	}
	if !s.few && !sparse {
		s.packed = vec.Pack32(d, a, s.x, a)
	}
	for _, p := range s.parts {
		p.prepare(d, a, s.chunk, sparse)
	}
}

func (p *passPart) prepare(d, a, chunk int, sparse bool) {
	if len(p.total) < d*a {
		p.total = make([]float64, d*a)
		p.intercept, p.loss, p.curvature = make([]float64, a), make([]float64, a), make([]float64, a)
		p.scores = make([]float32, chunk*a)
		if !sparse {
			p.sum = make([]float32, d*a)
		}
		p.work[0] = make([]float64, chunk*a) // of softmax, all scores
		for i := 1; i < len(p.work); i++ {
			p.work[i] = make([]float64, chunk)
		}
	}
	clear(p.total)
	clear(p.intercept)
	clear(p.loss)
	clear(p.curvature)
}

// walk visits the rows.
func (s *sums) walk(ctx context.Context) error {
	z := s.fit.z
	n, parts := z.Len(), len(s.parts)
	// rows adds a part's share of the block [lo, hi) of rows, whose first is number first.
	rows := func(p int, all matrix.Rows, first, lo, hi int) {
		a, b := lo+(hi-lo)*p/parts, lo+(hi-lo)*(p+1)/parts
		for ; a < b && ctx.Err() == nil; a += summed {
			end := min(a+summed, b)
			s.add(s.parts[p], all.Slice(a-first, end-first), a)
		}
	}
	if z.Resident() {
		all, err := z.Block(0, n)
		if err != nil {
			return err
		}
		s.lay(all.CSR != nil)
		vec.Parallel(parts, 1, func(from, to int) {
			for p := from; p < to; p++ {
				for lo := 0; lo < n; lo += BlockRows {
					rows(p, all, 0, lo, min(lo+BlockRows, n))
				}
			}
		})
		return ctx.Err()
	}
	for lo := 0; lo < n; lo += BlockRows {
		hi := min(lo+BlockRows, n)
		block, err := z.Block(lo, hi)
		if err != nil {
			return err
		}
		if lo == 0 {
			s.lay(block.CSR != nil)
		}
		vec.Parallel(parts, 1, func(from, to int) {
			for p := from; p < to; p++ {
				rows(p, block, lo, lo, hi)
			}
		})
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// add adds at most summed rows, of which the first is number first, to a part.
func (s *sums) add(p *passPart, z matrix.Rows, first int) {
	d, a := z.Dim(), len(s.columns)
	n := z.Len()
	for lo := 0; lo < n; lo += s.chunk {
		rows := min(s.chunk, n-lo)
		if z.CSR != nil {
			s.scoreSparse(p, z.CSR, lo, rows)
			s.derive(p, first+lo, rows)
			s.addSparse(p, z.CSR, lo, rows)
			continue
		}
		x := z.Dense.Slice(lo, lo+rows)
		s.score(p, x)
		s.derive(p, first+lo, rows)
		s.addDense(p, x, lo == 0)
	}
	if z.CSR == nil {
		for j, v := range p.sum[:a*d] {
			p.total[j] += float64(v)
		}
	}
}

// score computes S = ZX without the intercepts.
func (s *sums) score(p *passPart, z *matrix.Dense) {
	a, d := len(s.columns), z.Cols
	if !s.few {
		s.packed.Multiply(z.Rows, z.Data, z.Stride, p.scores, a, nil)
		return
	}
	for i := range z.Rows {
		for c := range a {
			p.scores[i*a+c] = vec.Dot32(z.Row(i), s.x[c*d:(c+1)*d])
		}
	}
}

// addDense adds ZᵀR to the sum, or makes it.
func (s *sums) addDense(p *passPart, z *matrix.Dense, begin bool) {
	a, d := len(s.columns), z.Cols
	if a > fewSums {
		product := vec.GemmAddTN32
		if begin {
			product = vec.GemmTN32
		}
		product(a, d, z.Rows, p.scores, a, z.Data, z.Stride, p.sum, d)
		return
	}
	if begin {
		clear(p.sum[:a*d])
	}
	for i := range z.Rows {
		for c := range a {
			if r := p.scores[i*a+c]; r != 0 {
				vec.Axpy32(r, z.Row(i), p.sum[c*d:(c+1)*d])
			}
		}
	}
}

func (s *sums) scoreSparse(p *passPart, z *matrix.CSR, lo, rows int) {
	a := len(s.columns)
	for i := range rows {
		idx, val := z.Row(lo + i)
		if a == 1 {
			p.scores[i] = float32(vec.SparseDot32(idx, val, s.x))
			continue
		}
		scores := p.work[0][:a]
		clear(scores)
		for e, j := range idx {
			v := float64(val[e])
			for c, x := range s.x[int(j)*a : (int(j)+1)*a] {
				scores[c] += float64(v * float64(x))
			}
		}
		for c, v := range scores {
			p.scores[i*a+c] = float32(v)
		}
	}
}

func (s *sums) addSparse(p *passPart, z *matrix.CSR, lo, rows int) {
	a := len(s.columns)
	for i := range rows {
		idx, val := z.Row(lo + i)
		if a == 1 {
			r := float64(p.scores[i])
			if r == 0 {
				continue
			}
			for e, j := range idx {
				p.total[j] += float64(r * float64(val[e]))
			}
			continue
		}
		r := p.scores[i*a : (i+1)*a]
		for e, j := range idx {
			v := float64(val[e])
			total := p.total[int(j)*a : (int(j)+1)*a]
			for c, x := range r {
				total[c] += float64(v * float64(x))
			}
		}
	}
}

// derive turns the scores of some rows into derivatives R, in place: those of the loss, or the
// curvature times the scores, which are then the rows' products with a direction.
func (s *sums) derive(p *passPart, first, rows int) {
	f := s.fit
	a := len(s.columns)
	if f.joint {
		s.deriveJoint(p, first, rows)
		return
	}
	score, y, h, work := p.work[0][:rows], p.work[1][:rows], p.work[2][:rows], p.work[3][:rows]
	for c, col := range s.columns {
		t, b := col.output, s.offset(col)
		if !col.machine.evaluates() {
			for i := range rows {
				v := (float64(p.scores[i*a+c]) + b) * float64(f.curve[(first+i)*f.k+t])
				p.scores[i*a+c] = float32(v)
				p.intercept[c] += v
			}
			continue
		}
		for i := range rows {
			score[i] = float64(p.scores[i*a+c]) + b
			y[i] = f.target(first+i, t)
		}
		cost := f.cost[first : first+rows]
		if f.classWeights != nil {
			cost = append(p.work[4][:0], cost...)
			weighClasses(cost, f.class[first:first+rows], f.classWeights, t)
		}
		p.loss[c] += f.loss(score, y, cost, h, work)
		for i, r := range score {
			p.scores[i*a+c] = float32(r)
			p.intercept[c] += r
			f.curve[(first+i)*f.k+t] = float32(h[i])
			p.curvature[c] += h[i]
		}
	}
}

// deriveJoint is derive for softmax, where every machine has all columns. The Hessian in the
// scores of a row is c(diag(p) - ppᵀ).
func (s *sums) deriveJoint(p *passPart, first, rows int) {
	f := s.fit
	k := f.k
	all := p.work[0][:rows*k]
	for c, col := range s.columns {
		b := s.offset(col)
		for i := range rows {
			all[i*k+c] = float64(p.scores[i*k+c]) + b
		}
	}
	evaluates := s.columns[0].machine.evaluates()
	if evaluates {
		p.loss[0] += softmaxLoss(all, k, f.class[first:first+rows], f.cost[first:first+rows])
	}
	for i := range rows {
		row, prob, cost := all[i*k:(i+1)*k], f.curve[(first+i)*k:(first+i+1)*k], f.cost[first+i]
		if evaluates {
			for c, v := range row {
				prob[c] = float32(v)
				p.curvature[c] += cost * v * (1 - v)
			}
			row[f.class[first+i]]--
		} else {
			mean := 0.0
			for c, v := range row {
				mean += float64(float64(prob[c]) * v)
			}
			for c, v := range row {
				row[c] = float64(prob[c]) * (v - mean)
			}
		}
		for c, v := range row {
			v *= cost
			p.scores[i*k+c] = float32(v)
			p.intercept[c] += v
		}
	}
}

// offset is what a column adds to every score.
func (s *sums) offset(c *passColumn) float64 {
	if s.fit.intercept {
		return c.x[len(c.x)-1]
	}
	return 0
}

// collect adds the parts and gives the machines what they requested.
func (s *sums) collect() {
	f := s.fit
	d, a := f.z.Dim(), len(s.columns)
	for _, col := range s.columns {
		col.machine.loss = 0
	}
	sparse := s.parts[0].sum == nil
	vec.Parallel(a, 1, func(lo, hi int) {
		for c := lo; c < hi; c++ {
			out := s.columns[c].out
			clear(out)
			for _, p := range s.parts {
				if sparse {
					for j := range out[:d] {
						out[j] += p.total[j*a+c]
					}
				} else {
					for j, v := range p.total[c*d : (c+1)*d] {
						out[j] += v
					}
				}
				if f.intercept {
					out[d] += p.intercept[c]
				}
			}
		}
	})
	for c, col := range s.columns {
		for _, p := range s.parts {
			col.machine.loss += p.loss[c]
			col.curvature += p.curvature[c]
		}
	}
}
