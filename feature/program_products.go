package feature

import (
	"fmt"
	"math"

	"mercer/matrix"
)

// complexProduct appends the product of complex numbers, each as a real and an imaginary value.
func (p *Program) complexProduct(re, im, u, v int) (int, int) {
	times := func(a, b int) int { return p.step(Step{Op: OpMultiply}, a, b) }
	return p.step(Step{Op: OpSubtract}, times(re, u), times(im, v)), p.step(Step{Op: OpAdd}, times(re, v), times(im, u))
}

// tensorSketch appends products of the spectra of sketches. A spectrum is a product with a matrix, e^(-2πi·h(j)f/D) times the
// signs.
func (p *Program) tensorSketch(t *tensorSketch, x int) (int, error) {
	x = p.lifted(x, t.scale, t.constant, t.width())
	if t.degree == 1 {
		w, err := newWritten(t.width(), t.features)
		if err == nil {
			t.tables[0].write(w, 1)
		}
		return p.product(w, x), err
	}
	terms := t.features/2 + 1
	var re, im int
	for k, table := range t.tables {
		cos, err := newWritten(t.width(), terms)
		if err != nil {
			return 0, err
		}
		sin := matrix.NewDense(t.width(), terms)
		for j, entry := range table {
			sign := 1.0
			if entry>>31 == 1 {
				sign = -1
			}
			bucket := int(entry & (1<<31 - 1))
			for f := range terms {
				s, c := math.Sincos(2 * math.Pi * float64(bucket*f%t.features) / float64(t.features))
				cos.Row(j)[f], sin.Row(j)[f] = float32(sign*c), float32(-sign*s)
			}
		}
		u, v := p.product(cos, x), p.product(sin, x)
		if k == 0 {
			re, im = u, v
		} else {
			re, im = p.complexProduct(re, im, u, v)
		}
	}
	return p.step(Step{Op: OpInverse, N: t.features, Width: t.features}, re, im), nil
}

// taylorSketch appends the sketches of a series side by side. For rbf they are of the rows u = x - μ times exp(-γ‖u‖²/n),
// which all n factors of a feature have.
func (p *Program) taylorSketch(t *taylorSketch, x int) (int, error) {
	power := 0 // of the exponential outside of the series
	if t.centre != nil {
		shift, sum := make([]float32, t.dim), matrix.NewDense(t.dim, 1)
		for j, v := range t.centre {
			shift[j], sum.Data[j] = -v, float32(-t.gamma)
		}
		x = p.step(Step{Op: OpShift, V: shift}, x)
		power = p.product(sum, p.step(Step{Op: OpMultiply}, x, x))
	}
	var parts []int
	for i := range t.levels {
		l := &t.levels[i]
		if l.degree == 0 {
			if t.centre == nil { // a constant: nothing of the row, and 1
				zero := p.product(matrix.NewDense(t.dim, 1), x)
				parts = append(parts, p.step(Step{Op: OpShift, V: []float32{float32(math.Exp(l.coefficient))}}, zero))
				continue
			}
			parts = append(parts, p.scale(float32(math.Exp(l.coefficient)), p.step(Step{Op: OpExp}, power)))
			continue
		}
		row := x
		if t.centre != nil {
			by := p.step(Step{Op: OpExp}, p.scale(float32(1/float64(l.degree)), power))
			row = p.step(Step{Op: OpMultiply}, x, p.pick(make([]int32, t.dim), by))
		}
		scale := float32(t.root * math.Exp(l.coefficient/float64(l.degree)))
		one := &tensorSketch{augmented: augmented{degree: l.degree, scale: scale, dim: t.dim}, features: l.m, tables: l.tables}
		z, err := p.tensorSketch(one, row)
		if err != nil {
			return 0, err
		}
		parts = append(parts, z)
	}
	return p.join(parts...), nil
}

func (p *Program) tensorSRHT(t *tensorSRHT, x int) int {
	x = p.lifted(x, t.augmented.scale, t.constant, t.width())
	if t.n > t.width() {
		x = p.step(Step{Op: OpPad, Width: t.n}, x)
	}
	x = p.step(Step{Op: OpScale, V: t.signs, Width: len(t.signs)}, x)
	x = p.step(Step{Op: OpScale, V: t.scales}, p.step(Step{Op: OpHadamard, N: t.n}, x))
	var re, im int
	for k := range t.degree {
		at := t.places[k*t.m : (k+1)*t.m]
		u := p.pick(at, x)
		if !t.complex {
			if k > 0 {
				u = p.step(Step{Op: OpMultiply}, re, u)
			}
			re = u
			continue
		}
		imaginary := make([]int32, t.m)
		for f, place := range at {
			imaginary[f] = place + int32(t.n)
		}
		v := p.pick(imaginary, x)
		if k > 0 {
			u, v = p.complexProduct(re, im, u, v)
		}
		re, im = u, v
	}
	if t.complex {
		return p.join(re, im)
	}
	return re
}

// maclaurin appends products of projections. Features with fewer factors than others take columns of ones: the matrix has three
// more, for 1, 0 and the feature without factors.
func (p *Program) maclaurin(m *maclaurin, x int) (int, error) {
	d, columns := m.w.Dims()
	w, err := newWritten(d, columns+3)
	if err != nil {
		return 0, err
	}
	for i := range d {
		row := w.Row(i)
		for j := range columns {
			row[j] = m.w.At(i, j)
		}
	}
	shift := make([]float32, columns+3)
	copy(shift, m.shift)
	one, zero, first := int32(columns), int32(columns+1), int32(columns+2)
	shift[one], shift[first] = 1, m.first
	x = p.step(Step{Op: OpShift, V: shift}, p.product(w, x))
	at := int32(0)
	factor := func(n int, rest int32) int {
		list := make([]int32, m.m)
		for f := range list {
			if list[f] = rest; f < n {
				list[f] = at + int32(f)
			}
		}
		at += int32(n)
		return p.pick(list, x)
	}
	wide := m.wide
	if len(wide) == 0 {
		wide = []int{0}
	}
	var re, im int
	for k, n := range wide {
		rest := one
		if k == 0 {
			rest = first
		}
		u := factor(n, rest)
		if m.parts == 1 {
			if k > 0 {
				u = p.step(Step{Op: OpMultiply}, re, u)
			}
			re = u
			continue
		}
		v := factor(n, zero)
		if k > 0 {
			u, v = p.complexProduct(re, im, u, v)
		}
		re, im = u, v
	}
	if m.parts == 2 {
		return p.join(re, im), nil
	}
	return re, nil
}

// monomials appends the products of degree factors of x, each set of factors once, in the order of their sorted numbers, with
// the coefficients scale/√(k_1!⋯k_w!).
func (p *Program) monomials(width, degree, count int, scale float64, x int) int {
	at := make([][]int32, degree)
	coefficients := make([]float32, count)
	list := newMonomialList(width, degree)
	tuple := make([]int, degree)
	for f := range count {
		c, run := scale, 1
		for k, i := range tuple {
			if run++; k == 0 || i != tuple[k-1] {
				run = 1
			}
			c /= math.Sqrt(float64(run))
			at[k] = append(at[k], int32(i))
		}
		coefficients[f] = float32(c)
		list.skip(tuple, 1)
	}
	z := p.step(Step{Op: OpScale, V: coefficients}, p.pick(at[0], x))
	for _, more := range at[1:] {
		z = p.step(Step{Op: OpMultiply}, z, p.pick(more, x))
	}
	return z
}

func (p *Program) explicitRP(m *explicitRP, x int) (int, error) {
	count := m.monomials.count
	if count*float64(m.features) > mostWritten {
		return 0, fmt.Errorf("written out as a matrix of %.0f×%d the map takes %.3g bytes, of %d at most; pk-rp is as good", count, m.features,
			4*count*float64(m.features), 4*mostWritten)
	}
	scale := 1.0
	for i := 1; i <= m.monomials.p; i++ {
		scale *= math.Sqrt(float64(i))
	}
	x = p.lifted(x, m.lift.root, m.lift.one, m.lift.d)
	x = p.monomials(m.lift.d, m.monomials.p, int(count), scale, x)
	var sum int
	for b := range m.starts {
		r := (*projection)(nil)
		if m.held != nil {
			r = m.held[b]
		} else {
			r = m.draw(b)
		}
		part := x
		if len(m.starts) > 1 {
			at := counting(r.d)
			for i := range at {
				at[i] += int32(b * monomialBlock)
			}
			part = p.pick(at, x)
		}
		z, err := p.projection(r, part)
		if err != nil {
			return 0, err
		}
		if b > 0 {
			z = p.step(Step{Op: OpAdd}, sum, z)
		}
		sum = z
	}
	return sum, nil
}

func (p *Program) reduced(m *reduced, x int) int {
	x = p.lifted(x, m.lift.root, m.lift.one, m.lift.d)
	var first, second []int32
	for i := range m.lift.d {
		for j := i + 1; j < m.lift.d; j++ {
			first, second = append(first, int32(i)), append(second, int32(j))
		}
	}
	return p.scale(math.Sqrt2, p.step(Step{Op: OpMultiply}, p.pick(first, x), p.pick(second, x)))
}

func (p *Program) d2pk(m *d2pk, x int) (int, error) {
	var sum int
	for l, r := range m.matrices {
		k, err := p.projection(r, x)
		if err != nil {
			return 0, err
		}
		k = p.step(Step{Op: OpMultiply}, k, k)
		switch {
		case l == 0:
			sum = k
		case l < len(m.matrices)/2:
			sum = p.step(Step{Op: OpAdd}, sum, k)
		default:
			sum = p.step(Step{Op: OpSubtract}, sum, k)
		}
	}
	return sum, nil
}

func (p *Program) pkrp(m *pkrp, x int) (int, error) {
	k, err := p.projection(m.pool, x)
	if err != nil {
		return 0, err
	}
	index := m.index
	if m.short != nil {
		index = make([]int32, len(m.short))
		for i, l := range m.short {
			index[i] = int32(l)
		}
	}
	var sum int
	for i := 0; i < len(index); i += m.degree * m.features {
		product := 0
		for j := range m.degree {
			factor := p.pick(index[i+j*m.features:][:m.features], k)
			if j > 0 {
				factor = p.step(Step{Op: OpMultiply}, product, factor)
			}
			product = factor
		}
		if i > 0 {
			product = p.step(Step{Op: OpAdd}, sum, product)
		}
		sum = product
	}
	return p.scale(m.scale, sum), nil
}
