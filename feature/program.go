package feature

import (
	"fmt"
	"math"

	"mercer/kernel"
	"mercer/matrix"
)

// Program is a map written out as operations that other languages have: [ProgramOf]. Each makes a value, a row of numbers, of
// earlier values. Value 0 is the row that is mapped, value i the result of step i-1, and that of the last step the features.
type Program struct {
	Dim   int
	Steps []Step
}

// Step is an operation of a [Program].
type Step struct {
	// Op is one of the Op constants.
	Op string

	// From are the numbers of the values that it takes.
	From []int

	// Width is the number of columns of its value.
	Width int

	W       *matrix.Dense // the matrix of OpProduct, the rows of OpKernel
	V       []float32     // of OpScale, OpShift and OpThermometer
	At      []int32       // of OpPick
	N       int           // of OpHadamard, OpInverse and OpThermometer
	Round   bool          // of OpThermometer
	Kernel  kernel.Kernel // of OpKernel
	Weights []float64     // of OpKernel: a matrix with as many rows as W and Width columns; nil: the kernel's values are the result
}

// The operations.
const (
	OpProduct  = "product"  // x·W
	OpScale    = "scale"    // x_j·V_j; one V is for all columns; of more V than columns x is repeated side by side
	OpShift    = "shift"    // x_j + V_j, or V_0 for all columns
	OpPick     = "pick"     // x_j for each j of At
	OpPad      = "pad"      // x and then zeros
	OpJoin     = "join"     // values side by side
	OpHadamard = "hadamard" // each N columns times the Hadamard matrix with the elements (-1)^(ones of i&j)

	// OpInverse is the inverse Fourier transform of real numbers: of the first N/2+1 terms of their spectrum, real parts and
	// imaginary parts as two values, N numbers.
	OpInverse = "inverse"

	OpAdd      = "add"      // of two values
	OpSubtract = "subtract" // of two values
	OpMultiply = "multiply" // of two values, element by element
	OpDivide   = "divide"   // of two values, element by element

	OpCos     = "cos"
	OpSin     = "sin"
	OpExp     = "exponential"
	OpLog     = "log" // log max(x, 2⁻¹²⁶)
	OpRoot    = "root"
	OpStep    = "step" // 1, ½ or 0 for x above, at or below 0
	OpRamp    = "ramp" // max(0, x)
	OpSigmoid = "sigmoid"

	// OpThermometer is N columns for each x_j: with t = min(N, V_j·x_j·N), rounded to a whole number if Round is set, column i
	// is t - i within [0, 1]. It takes float64.
	OpThermometer = "thermometer"

	// OpKernel is k(x, W_i) for each row W_i, or these times Weights. It takes float64.
	OpKernel = "kernel"
)

// mostWritten bounds the elements of a matrix of a Program: 1 GiB.
const mostWritten = 1 << 28

// ProgramOf writes out a map. It fails for one whose matrices would have more than 2²⁸ elements.
func ProgramOf(m Map) (*Program, error) {
	in, _ := m.Dims()
	p := &Program{Dim: in}
	last, err := p.add(m, 0)
	if err != nil {
		return nil, err
	}
	if last != len(p.Steps) || last == 0 {
		p.step(Step{Op: OpScale, V: []float32{1}}, last)
	}
	return p, nil
}

// width is the number of columns of a value.
func (p *Program) width(value int) int {
	if value == 0 {
		return p.Dim
	}
	return p.Steps[value-1].Width
}

// step appends a step, as wide as its first input unless it says otherwise, and returns the number of its value.
func (p *Program) step(s Step, from ...int) int {
	s.From = from
	if s.Width == 0 {
		s.Width = p.width(from[0])
	}
	p.Steps = append(p.Steps, s)
	return len(p.Steps)
}

func (p *Program) scale(v float32, of int) int {
	if v == 1 {
		return of
	}
	return p.step(Step{Op: OpScale, V: []float32{v}}, of)
}

func (p *Program) product(w *matrix.Dense, of int) int {
	return p.step(Step{Op: OpProduct, W: w, Width: w.Cols}, of)
}

func (p *Program) pick(at []int32, of int) int {
	return p.step(Step{Op: OpPick, At: at, Width: len(at)}, of)
}

func (p *Program) join(values ...int) int {
	if len(values) == 1 {
		return values[0]
	}
	width := 0
	for _, v := range values {
		width += p.width(v)
	}
	return p.step(Step{Op: OpJoin, Width: width}, values...)
}

// add appends the steps of a map of a value, and returns the number of its features.
func (p *Program) add(m Map, x int) (int, error) {
	switch m := m.(type) {
	case *fourier:
		return p.wave(&m.waves, p.product(FrequenciesOf(m).W, x)), nil
	case *structured:
		return p.wave(&m.waves, p.structured(m, x)), nil
	case *skewed:
		x = p.step(Step{Op: OpLog}, p.step(Step{Op: OpShift, V: []float32{float32(m.c)}}, x))
		return p.add(m.fourier, p.step(Step{Op: OpShift, V: []float32{float32(-m.logC)}}, x))
	case *countSketch:
		w, err := newWritten(len(m.table), m.features)
		if err == nil {
			m.table.write(w, 1)
		}
		return p.product(w, x), err
	case *rp:
		return p.projection(m.projection, x)
	case *tensorSketch:
		return p.tensorSketch(m, x)
	case *taylorSketch:
		return p.taylorSketch(m, x)
	case *tensorSRHT:
		return p.tensorSRHT(m, x), nil
	case *maclaurin:
		return p.maclaurin(m, x)
	case *explicit:
		x = p.lifted(x, 1, float32(m.constant), m.width)
		return p.monomials(m.width, m.degree, m.features(), m.top, x), nil
	case *explicitRP:
		return p.explicitRP(m, x)
	case *reduced:
		return p.reduced(m, x), nil
	case *d2pk:
		return p.d2pk(m, x)
	case *pkrp:
		return p.pkrp(m, x)
	case *series:
		return p.series(m, x)
	case *unary:
		return p.unary(m, x), nil
	case *sigmoid:
		return p.sigmoid(m, x), nil
	case *compared:
		return p.step(Step{Op: OpKernel, W: m.at, Kernel: m.kernel, Width: m.at.Rows}, x), nil
	case *words:
		return p.words(m, x)
	case *wavelets:
		return p.wavelets(m, x)
	case *network:
		powers := make([]float32, len(m.powers))
		for j, v := range m.powers {
			powers[j] = float32(v)
		}
		k := p.step(Step{Op: OpKernel, W: m.at, Kernel: m.base, Width: m.at.Rows}, x)
		return p.step(Step{Op: OpExp}, p.step(Step{Op: OpScale, V: powers}, p.step(Step{Op: OpLog}, k))), nil
	case *precomputed:
		return p.product(m.w, x), nil
	case *nystrom:
		return p.weighted(m.weighted, x), nil
	case *icholesky:
		return p.weighted(m.weighted, x), nil
	case *kernelRP:
		return p.weighted(m.weighted, x), nil
	case *chain:
		var err error
		for i := 0; i < len(m.steps) && err == nil; i++ {
			x, err = p.add(m.steps[i], x)
		}
		return x, err
	case *picked:
		return p.picked(m, x)
	case *sum:
		var parts []int
		for i, s := range m.steps {
			z, err := p.add(s, x)
			if err != nil {
				return 0, err
			}
			parts = append(parts, p.scale(m.factors[i], z))
		}
		return p.join(parts...), nil
	}
	return 0, fmt.Errorf("feature: the map %T has no program", m)
}

// newWritten is a matrix of a program.
func newWritten(rows, cols int) (*matrix.Dense, error) {
	if n := float64(rows) * float64(cols); n > mostWritten {
		return &matrix.Dense{}, fmt.Errorf("written out as a matrix of %d×%d the map takes %.3g bytes, of %d at most", rows, cols, 4*n, 4*mostWritten)
	}
	return matrix.NewDense(rows, cols), nil
}

// wave appends the last steps of a map with frequencies, for projections.
func (p *Program) wave(w *waves, x int) int {
	switch w.form {
	case "pair":
		x = p.join(p.step(Step{Op: OpCos}, x), p.step(Step{Op: OpSin}, x))
	case "phase":
		x = p.step(Step{Op: OpCos}, p.step(Step{Op: OpShift, V: w.phases}, x))
	case "step":
		x = p.step(Step{Op: OpStep}, x)
	case "ramp":
		x = p.step(Step{Op: OpRamp}, x)
	}
	return p.scale(w.scale, x)
}

// structured appends the products with stacks of blocks.
func (p *Program) structured(f *structured, x int) int {
	if f.n > f.dim {
		x = p.step(Step{Op: OpPad, Width: f.n}, x)
	}
	by := func(v []float32, x int) int { return p.step(Step{Op: OpScale, V: v, Width: len(v)}, x) }
	hadamard := func(x int) int { return p.step(Step{Op: OpHadamard, N: f.n}, x) }
	var parts []int
	for _, s := range f.stacks {
		z := x
		switch b := s.blocks.(type) {
		case *chains:
			for i := 0; i < len(b.d); i += b.size {
				z = hadamard(by(b.d[i:i+b.size], z))
			}
			z = by(b.s, z)
		case *shuffles:
			z = hadamard(by(b.b, z))
			at := make([]int32, b.size)
			for i, from := range b.p {
				at[i] = int32(i/f.n*f.n) + from%int32(f.n)
			}
			z = by(b.s, hadamard(by(b.g, p.pick(at, z))))
		}
		if s.hi-s.lo < s.size {
			z = p.pick(counting(s.hi-s.lo), z)
		}
		parts = append(parts, z)
	}
	return p.join(parts...)
}

// counting is 0, 1, … n-1.
func counting(n int) []int32 {
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(i)
	}
	return at
}

// write adds the sketch to a matrix: coordinate i is a number of its row.
func (t hashTable) write(w *matrix.Dense, scale float32) {
	for i := range w.Rows {
		t.add(w.Row(i), i, scale)
	}
}

// lifted appends (root·x, constant), of a width that says whether there is a constant.
func (p *Program) lifted(x int, root, constant float32, width int) int {
	x = p.scale(root, x)
	d := p.width(x)
	if width == d {
		return x
	}
	shift := make([]float32, width)
	shift[d] = constant
	return p.step(Step{Op: OpShift, V: shift}, p.step(Step{Op: OpPad, Width: width}, x))
}

// projection appends a product with random entries.
func (p *Program) projection(r *projection, x int) (int, error) {
	w, err := newWritten(r.d, r.m)
	if err != nil {
		return 0, err
	}
	for j := range r.m {
		if r.packed != nil {
			for i := range r.d {
				w.Row(i)[j] = r.packed.At(i, j)
			}
			continue
		}
		plus, minus := r.columns.line(j)
		for _, i := range plus {
			w.Row(int(i))[j] += r.scale
		}
		for _, i := range minus {
			w.Row(int(i))[j] -= r.scale
		}
	}
	x = p.product(w, x)
	if r.shift != nil {
		x = p.step(Step{Op: OpShift, V: r.shift}, x)
	}
	return x, nil
}

// weighted appends weighted sums of kernel values.
func (p *Program) weighted(f *weighted, x int) int {
	w := make([]float64, 0, f.w.Rows*f.w.Cols)
	for i := range f.w.Rows {
		for c, v := range f.w.Row(i) {
			if f.low != nil {
				w = append(w, float64(v)+float64(f.low.Row(i)[c]))
			} else {
				w = append(w, float64(v))
			}
		}
	}
	return p.step(Step{Op: OpKernel, W: f.at, Kernel: f.kernel, Weights: w, Width: f.w.Cols}, x)
}

// sigmoid appends the map of smooth steps.
func (p *Program) sigmoid(f *sigmoid, x int) int {
	d, m := f.Dims()
	w, shift := matrix.NewDense(d, m), make([]float32, m)
	for j := range m {
		for c, v := range f.directions.Row(j) {
			w.Row(c)[j] = float32(float64(v) / f.width)
		}
		shift[j] = float32(-f.shift[j])
	}
	return p.step(Step{Op: OpSigmoid}, p.step(Step{Op: OpShift, V: shift}, p.product(w, x)))
}

// unary appends thermometer code.
func (p *Program) unary(m *unary, x int) int {
	z := p.step(Step{Op: OpThermometer, N: m.cells, V: m.stretch, Round: m.step, Width: m.dim * m.cells}, x)
	at, scale := make([]int32, m.dim*m.cells), make([]float32, m.dim*m.cells)
	for i := range at {
		at[i], scale[i] = int32(i/m.cells), m.scale[i/m.cells]
	}
	z = p.step(Step{Op: OpScale, V: scale}, z)
	if m.h == 1 {
		return z
	}
	power := p.step(Step{Op: OpExp}, p.scale(float32((m.h-1)/2), p.step(Step{Op: OpLog}, x)))
	return p.step(Step{Op: OpMultiply}, z, p.pick(at, power))
}

// series appends a map of an additive kernel.
func (p *Program) series(m *series, x int) (int, error) {
	log, root := p.step(Step{Op: OpLog}, x), p.step(Step{Op: OpRoot}, x)
	power := root
	if m.h != 1 { // 0 stays 0, whatever its logarithm is taken for
		power = p.step(Step{Op: OpExp}, p.scale(float32(m.h/2), log))
		power = p.step(Step{Op: OpMultiply}, power, p.positive(x))
	}
	times := func(a, b int) int { return p.step(Step{Op: OpMultiply}, a, b) }
	var parts []int
	switch m.form {
	case "root":
		parts = append(parts, power)
	case "waves":
		parts = append(parts, p.scale(m.scale[0], power))
		for i, w := range m.scale[1:] {
			angle := p.scale(float32(float64(i+1)*float64(m.period)), log)
			for _, op := range []string{OpCos, OpSin} {
				parts = append(parts, p.scale(w, times(power, p.step(Step{Op: op}, angle))))
			}
		}
	case "chebyshev", "elementary":
		r := p.step(Step{Op: OpScale, V: m.stretch.root}, root)
		square := times(r, r)
		below := p.step(Step{Op: OpShift, V: []float32{1}}, square)
		first := times(power, p.step(Step{Op: OpDivide}, p.scale(2, r), below))
		parts = append(parts, first)
		if m.form == "elementary" {
			tanh := p.step(Step{Op: OpDivide}, p.step(Step{Op: OpShift, V: []float32{-1}}, square), below)
			for i := 1; i < m.terms; i++ {
				parts = append(parts, times(tanh, parts[i-1]))
			}
			break
		}
		twice := p.scale(2/math.Pi, p.step(Step{Op: OpShift, V: m.stretch.log}, log))
		for k := 1; k < m.terms; k++ {
			by := -math.Sqrt2 / 2
			if k > 1 {
				by = 1 / float64(k)
				if k%2 == 1 {
					by = -by
				}
			}
			next := p.scale(float32(by), times(twice, parts[k-1]))
			if k > 2 {
				next = p.step(Step{Op: OpAdd}, next, p.scale(float32(float64(k-2)/float64(k)), parts[k-2]))
			}
			parts = append(parts, next)
		}
	default:
		return 0, fmt.Errorf("feature: a map of additive kernels without a form")
	}
	return p.join(parts...), nil
}

// positive appends 1 where x is above 0, and 0 where it is 0.
func (p *Program) positive(x int) int {
	return p.step(Step{Op: OpShift, V: []float32{-1}}, p.scale(2, p.step(Step{Op: OpStep}, x)))
}
