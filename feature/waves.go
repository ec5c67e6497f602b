package feature

import (
	"fmt"
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// The maps with frequencies. All of them draw ω_1, ω_2, … from a distribution given by the
// kernel, such that a function of the projections ω_j·x has the kernel as its mean product:
//
//	pair   z(x) = √(2/D)·[cos ω_j·x, sin ω_j·x], j = 1 … D/2
//	phase  z(x) = √(2/D)·cos(ω_j·x + b_j), j = 1 … D, with b_j uniform on [0, 2π)
//	step   z(x) = √(2/D)·Θ(ω_j·x), j = 1 … D, with Θ(0) = ½: the arccos kernel of order 0
//	ramp   z(x) = √(2/D)·max(0, ω_j·x), j = 1 … D: the arccos kernel of order 1
//
// For a kernel k(x-y) = E cos ω·(x-y) and independent frequencies the variance of z(x)·z(y),
// with Δ = x-y, is
//
//	pair   [1 + k(2Δ) - 2k(Δ)²]/D, and z(x)·z(x) = 1
//	phase  [1 + ½k(2Δ) - k(Δ)²]/D
//	step   k(2-k)/D
//	ramp   [(2/π)‖x‖²‖y‖²·J_2(θ) - k²]/D, J_2 = 3 sin θ cos θ + (π-θ)(1 + 2cos²θ)
//
// The maps differ in the dependence between frequencies, which changes the variance, and
// in the cost of multiplying by them.

// shiftInvariant are the maps with frequencies.
func shiftInvariant() []kind {
	form := []string{"form"}
	words := map[string][]string{"form": waveForms}
	lengths := map[string][]string{"form": waveForms, "radius": radii[:2]}
	allLengths := map[string][]string{"form": waveForms, "radius": radii}
	coupled := map[string]string{"radius": "coupled"}
	return []kind{
		{name: RFF, about: "random Fourier features",
			cost: "dD", source: "Rahimi and Recht 2007",
			options: form, words: words, takes: hasLaw, check: checkForm, make: newRFF},
		{name: ORF, about: "random Fourier features with orthogonal frequencies",
			cost: "dD", source: "Yu et al. 2016",
			options: []string{"form", "radius"}, words: lengths, chosen: coupled, takes: hasRadialLaw, check: checkRadius, make: newORF},
		{name: SORF, about: "orf by fast Hadamard transforms, for rows of more than 16 dimensions",
			cost: "D log d", source: "Yu et al. 2016",
			options: []string{"form", "radius", "order"}, words: allLengths, chosen: coupled, takes: hasRadialLaw, check: checkRadius, make: newSORF},
		{name: QMC, about: "random Fourier features at quasi-random frequencies, for few dimensions",
			cost: "dD", source: "Yang et al. 2014",
			options: form, words: words, takes: hasLaw, check: checkForm, make: newQMC},
		{name: Fastfood, about: "rff by fast Hadamard transforms; sorf is more accurate",
			cost: "D log d", source: "Le, Sarlós and Smola 2013",
			options: form, words: words, takes: hasRadialLaw, check: checkForm, make: newFastfood},
	}
}

// waveForms are the forms of features that are waves.
var waveForms = []string{"pair", "phase"}

// hasLaw reports whether a kernel has frequencies, of the rows themselves.
func hasLaw(k kernel.Kernel) bool {
	l, ok := k.Law()
	return ok && !l.Log
}

// hasRadialLaw reports whether these also have no preferred direction.
func hasRadialLaw(k kernel.Kernel) bool {
	l, ok := k.Law()
	return ok && !l.Log && l.Radial()
}

// checkForm checks the form, and that a pair has two features.
func checkForm(cfg Config) error {
	if l, _ := cfg.Kernel.Law(); l.Wave != kernel.Cosine {
		if cfg.Form != "" {
			return fmt.Errorf("feature: %s: form is %s, but features of the %s kernel are no waves; leave form out",
				cfg.Map, cfg.Form, cfg.Kernel.Name)
		}
		return nil
	}
	switch cfg.Form {
	case "", "pair":
		if n := cfg.Features; n%2 != 0 {
			return fmt.Errorf("feature: %s: features is %d, but a cos and a sin make two: use %d, or form phase", cfg.Map, n, n+1)
		}
	case "phase":
	default:
		return fmt.Errorf("feature: %s: form %q is not known; known are pair, phase", cfg.Map, cfg.Form)
	}
	return nil
}

// waves turns projections ω_j·x into features: the last step of the maps with frequencies.
type waves struct {
	features int    // D
	m        int    // the number of frequencies
	form     string // pair, phase, step, ramp
	phases   []float32
	scale    float32 // √(2/D)
}

func newWaves(cfg Config) waves {
	w := waves{
		features: cfg.Features,
		m:        cfg.Features,
		form:     cfg.Form,
		scale:    float32(math.Sqrt(2 / float64(cfg.Features))),
	}
	switch of := newLaw(cfg.Kernel).wave; {
	case of == kernel.Step:
		w.form = "step"
	case of == kernel.Ramp:
		w.form = "ramp"
	case cfg.Form != "phase":
		w.form = "pair"
		w.m /= 2
	}
	return w
}

// drawPhases draws the b_j of the phase form.
func (w *waves) drawPhases(seed uint64) {
	if w.form != "phase" {
		return
	}
	w.phases = make([]float32, w.m)
	r := random.New(seed, "feature.phase")
	for j := range w.phases {
		w.phases[j] = float32(2 * math.Pi * r.Uniform())
	}
}

// at is the column of dst where the projections go: those of a pair are replaced by its sine.
func (w *waves) at() int { return w.features - w.m }

// finish turns the projections on frequencies [j, j+cols) of rows [i, i+rows) into features.
func (w *waves) finish(dst *matrix.Dense, i, j, rows, cols int) {
	for r := i; r < i+rows; r++ {
		z := dst.Row(r)
		p := z[w.at()+j : w.at()+j+cols]
		switch w.form {
		case "pair":
			vec.SinCos32(p, z[j:j+cols], p, w.scale)
		case "phase":
			vec.Axpy32(1, w.phases[j:j+cols], p)
			vec.Cos32(p, p, w.scale)
		case "step":
			steps(p, w.scale)
		case "ramp":
			ramps(p, w.scale)
		}
	}
}

// mostCached is how many bytes of features are written with ordinary stores. More would not stay
// in the caches until they are read, so the pair form uses non-temporal stores.
const mostCached = 64 << 20

// streams reports whether the features are written past the caches.
func (w *waves) streams(dst *matrix.Dense) bool {
	return w.form == "pair" && 4*int64(dst.Rows)*int64(w.features) > mostCached
}

// stream is finish for projections outside dst, stride apart, whose features are written past
// the caches. vec.Streamed ends it.
func (w *waves) stream(dst *matrix.Dense, i, j, rows, cols int, from []float32, stride int) {
	for r := range rows {
		z := dst.Row(i + r)
		vec.SinCosStream32(z[w.at()+j:][:cols], z[j:][:cols], from[r*stride:][:cols], w.scale)
	}
}

// Signs of projections are random and branches on them are slow, so the next two functions work on the
// bits. Shifted left by one, which drops the sign, they are 0 for 0 and above those of infinity for a NaN.
const twiceInfinity = 0xff000000

// steps replaces x by scale·Θ(x), Θ(0) = ½.
func steps(x []float32, scale float32) {
	one := math.Float32bits(scale)
	for i, v := range x {
		b := math.Float32bits(v)
		x[i] = math.Float32frombits(one &^ uint32(int32(b)>>31))
		if b<<1-1 >= twiceInfinity {
			x[i] = scale/2 + v // 0 or NaN
		}
	}
}

// ramps replaces x by scale·max(0, x).
func ramps(x []float32, scale float32) {
	for i, v := range x {
		b := math.Float32bits(v)
		x[i] = scale * math.Float32frombits(b&^uint32(int32(b)>>31))
		if b<<1 > twiceInfinity {
			x[i] = v
		}
	}
}
