package feature

import "mercer/matrix"

// Frequencies are the matrices of a map whose features are functions of projections ω_j·x: cos and then sin for the form
// "pair", cos(ω_j·x + b_j) for "phase", Θ(ω_j·x) with Θ(0) = ½ for "step" and max(0, ω_j·x) for "ramp", all times Scale.
type Frequencies struct {
	W      *matrix.Dense // d×m: column j is ω_j
	Form   string
	Phases []float32 // b_j of "phase", otherwise nil
	Scale  float32
}

// FrequenciesOf returns the frequencies of the maps rff, orf, sorf, qmc and fastfood, nil for all others. Structured
// maps are written out as a matrix of 4dm bytes.
func FrequenciesOf(m Map) *Frequencies {
	var w waves
	var projections func(w waves) Map
	switch m := m.(type) {
	case *fourier:
		w, projections = m.waves, func(w waves) Map { return &fourier{w, m.w} }
	case *structured:
		w, projections = m.waves, func(w waves) Map { return &structured{waves: w, dim: m.dim, n: m.n, stacks: m.stacks} }
	default:
		return nil
	}
	// Ramps of the unit vectors and of their negatives are the positive and negative parts of the frequencies.
	const rows = 128
	ramp := projections(waves{features: w.m, m: w.m, form: "ramp", scale: 1})
	d, _ := ramp.Dims()
	f := &Frequencies{W: matrix.NewDense(d, w.m), Form: w.form, Phases: w.phases, Scale: w.scale}
	minus := matrix.NewDense(min(d, rows), w.m)
	for i := 0; i < d; i += rows {
		j := min(i+rows, d)
		plus, minus := f.W.Slice(i, j), minus.Slice(0, j-i)
		units := matrix.NewDense(j-i, d)
		for r := range units.Rows {
			units.Row(r)[i+r] = 1
		}
		ramp.Transform(plus, matrix.Rows{Dense: units})
		for r := range units.Rows {
			units.Row(r)[i+r] = -1
		}
		ramp.Transform(minus, matrix.Rows{Dense: units})
		for r := range units.Rows {
			to := plus.Row(r)
			for c, v := range minus.Row(r) {
				to[c] -= v
			}
		}
	}
	return f
}
