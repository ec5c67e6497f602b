package approx

import (
	"context"
	"fmt"
	"math"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// Conversion turns estimates of one kernel into estimates of another, by
//
//	‖x-y‖² = ‖x‖² + ‖y‖² - 2x·y
//
// (Sivertsen, "Scalable learning through linearithmic time kernel approximation techniques", 2014, equation 1.7
// and section 4.1.6): the poly kernel tells x·y, and rbf the distance. What it takes beside the estimate are the
// lengths of the two rows.
type Conversion struct {
	from, to kernel.Kernel
}

// NewConversion fails unless both kernels are poly or rbf.
func NewConversion(from, to kernel.Kernel) (Conversion, error) {
	for _, k := range []kernel.Kernel{from, to} {
		if k.Kind() != kernel.Poly && k.Kind() != kernel.RBF {
			return Conversion{}, fmt.Errorf("approx: estimates of the %s kernel cannot be converted; those of poly and rbf can, into one another", k.Name)
		}
		if err := k.Validate(); err != nil {
			return Conversion{}, fmt.Errorf("approx: %w", err)
		}
	}
	return Conversion{from, to}, nil
}

// leastEstimate takes the place of estimates of rbf that are not positive, which have no logarithm.
const leastEstimate = 1e-6

// Length2 is the squared length of a row by z(x)·z(x): the estimate of a polynomial knows it. That of rbf is 1 whatever the row,
// and then so is its length, as in the source.
func (c Conversion) Length2(zz float64) float64 {
	if c.from.Kind() == kernel.RBF {
		return 1
	}
	xx, _ := c.root(zz)
	return math.Max(0, xx)
}

// Value is the other kernel by an estimate of k(x, y) and the squared lengths of x and y. It is not sure of it if no rows have such a value: an
// even power or a value of rbf that is not positive, for which the nearest possible value is taken.
func (c Conversion) Value(estimate, xx, yy float64) (value float64, sure bool) {
	product, distance2 := 0.0, 0.0
	if c.from.Kind() == kernel.RBF {
		sure = estimate > 0
		distance2 = -math.Log(math.Max(estimate, leastEstimate)) / c.from.Gamma
		product = (xx + yy - distance2) / 2
	} else {
		product, sure = c.root(estimate)
		distance2 = xx + yy - 2*product
	}
	if c.to.Kind() == kernel.RBF {
		return math.Exp(-c.to.Gamma * distance2), sure
	}
	return math.Pow(c.to.Gamma*product+c.to.Coef0, float64(c.to.Degree)), sure
}

// root is x·y of (γ x·y + c)^p; of an even p the root that is not negative.
func (c Conversion) root(power float64) (product float64, sure bool) {
	p, sign := float64(c.from.Degree), 1.0
	sure = true
	if power < 0 {
		if power, sign = -power, -1; c.from.Degree%2 == 0 {
			power, sure = 0, false
		}
	}
	return (sign*math.Pow(power, 1/p) - c.from.Coef0) / c.from.Gamma, sure
}

// Converted is how good the estimates of a map are, for its own kernel and for the one that they are converted into. All are
// means over the seeds.
type Converted struct {
	Map      string
	Features int // D, as asked for where the map takes it

	Own    Conversions // of the map's kernel
	ByMap  Conversions // of the other, with lengths of rows by z(x)·z(x)
	ByRows Conversions // of the other, with the lengths of the rows themselves
}

// Conversions are errors of estimates, as in [Errors], and the share of pairs whose estimate no rows have.
type Conversions struct {
	MeanAbs, MaxAbs Stat
	MeanRel         *Stat
	Within          Stat
	Impossible      float64
}

// Convert measures how good estimates of another kernel are that are made from those of the candidates, with the draws
// of the maps that [Measure] has. It holds 8n²·4 and 4nD bytes for n judged rows, beside the map.
func Convert(ctx context.Context, rows Rows, candidates []Candidate, to kernel.Kernel, opt Options) ([]Converted, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	gram, err := Gram(to, rows.Judge)
	if err != nil {
		return nil, err
	}
	n := rows.Judge.Len()
	others := lower(n, gram)
	squares := make([]float64, n)
	product, err := Gram(kernel.Linear.Usual(), rows.Judge)
	if err != nil {
		return nil, err
	}
	for i := range n {
		squares[i] = product[i*n+i]
	}
	var all []Converted
	for _, c := range candidates {
		if c.Config.Steps != nil {
			return nil, fmt.Errorf("approx: estimates of %s cannot be converted; those of single maps can", c.Name())
		}
		conversion, err := NewConversion(c.Config.Kernel, to)
		if err != nil {
			return nil, err
		}
		exact, err := Gram(c.Config.Kernel, rows.Judge)
		if err != nil {
			return nil, err
		}
		m := converter{conversion, rows, opt, lower(n, exact), others, squares}
		dims := c.Features
		if len(dims) == 0 {
			dims = []int{0}
		}
		for _, d := range dims {
			one, err := m.measure(ctx, sized(c.Config, d, rows.Judge.Dim()))
			if err != nil {
				return nil, err
			}
			one.Map, one.Features = c.Name(), d
			all = append(all, one)
		}
	}
	return all, nil
}

// converter measures the conversions of a kernel's estimates.
type converter struct {
	Conversion
	rows          Rows
	opt           Options
	exact, others []float64 // the two kernels of pairs i > j
	squares       []float64 // of the rows' lengths
}

// measure draws a map by all seeds.
func (m *converter) measure(ctx context.Context, cfg feature.Config) (c Converted, err error) {
	runs := make([][3]run, m.opt.Seeds)
	for s := range runs {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		cfg.Seed = random.Hash(m.opt.Seed+uint64(s), "approx", uint64(asked(cfg)))
		if err := m.run(ctx, cfg, &runs[s], [...]*float64{&c.Own.Impossible, &c.ByMap.Impossible, &c.ByRows.Impossible}); err != nil {
			return c, err
		}
	}
	for k, of := range []*Conversions{&c.Own, &c.ByMap, &c.ByRows} {
		p := &Point{}
		for s := range runs {
			p.runs = append(p.runs, runs[s][k])
		}
		p.summarise()
		of.MeanAbs, of.MaxAbs, of.MeanRel, of.Within = p.MeanAbs, p.MaxAbs, p.MeanRel, p.Within
	}
	return c, nil
}

// run draws the map of a configuration, and adds the share of estimates that no rows have to impossible.
func (m *converter) run(ctx context.Context, cfg feature.Config, runs *[3]run, impossible [3]*float64) error {
	cfg.MaxBytes = m.opt.MaxBytes
	x, sample := m.rows.Judge, m.rows.Fit
	if !feature.NeedsSample(cfg) {
		sample = x
	}
	z, err := feature.Fit(ctx, cfg, sample)
	if err != nil {
		return err
	}
	ours, err := Gram(kernel.Linear.Usual(), feature.Apply(z, x, &matrix.Dense{}, &matrix.CSR{}))
	if err != nil {
		return err
	}
	n := x.Len()
	estimates := lower(n, ours)
	byMap, byRows := make([]float64, 0, len(estimates)), make([]float64, 0, len(estimates))
	unsure := 0.0
	for i := range n {
		for j := range i {
			estimate := ours[i*n+j]
			a, sure := m.Value(estimate, m.Length2(ours[i*n+i]), m.Length2(ours[j*n+j]))
			b, _ := m.Value(estimate, m.squares[i], m.squares[j])
			byMap, byRows = append(byMap, a), append(byRows, b)
			if !sure {
				unsure++
			}
		}
	}
	for k, e := range []Errors{Compare(m.exact, estimates), Compare(m.others, byMap), Compare(m.others, byRows)} {
		if math.IsNaN(e.MeanAbs) || math.IsInf(e.MeanAbs, 0) {
			return fmt.Errorf("approx: %s: converted estimates overflow; scale the data or give a smaller gamma", nameOf(cfg))
		}
		runs[k] = run{errors: e}
		*impossible[k] += unsure / float64(max(1, len(estimates))*m.opt.Seeds)
	}
	return nil
}
