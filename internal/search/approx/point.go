package approx

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/engine/units"
	"mercer/kernel"
	"mercer/matrix"
)

// run is the result of one draw of a map.
type run struct {
	outputs int
	bytes   int64
	errors  Errors

	frobenius, distortion     *float64
	delta1, delta2, dimension *float64
	perRow, oneRow            float64
}

// point measures the map of a configuration over all seeds.
func (m *meter) point(ctx context.Context, t *target, cfg feature.Config, progress func(seed int)) (*Point, error) {
	p := &Point{}
	sum, square := make([]float64, len(t.exact)), make([]float64, len(t.exact)) // of errors
	for s := range m.opt.Seeds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		progress(s)
		cfg := cfg
		cfg.Seed = random.Hash(m.opt.Seed+uint64(s), "approx", uint64(asked(cfg)))
		r, estimates, err := m.run(ctx, t, cfg)
		if err != nil {
			return nil, err
		}
		p.runs = append(p.runs, *r)
		for i, v := range estimates {
			e := v - t.exact[i]
			sum[i] += e
			square[i] += e * e
		}
		if s == 0 {
			p.Features, p.Outputs, p.Bytes = max(asked(cfg), r.outputs), r.outputs, r.bytes
			p.Pairs = somePairs(t.exact, estimates)
		}
	}
	p.scatter(sum, square, m.opt.Seeds)
	p.summarise()
	return p, nil
}

// asked is the D of a configuration, 0 if the map decides.
func asked(cfg feature.Config) int {
	if cfg.Map == "chain" && len(cfg.Steps) > 0 {
		return asked(cfg.Steps[len(cfg.Steps)-1])
	}
	return cfg.Features
}

// run draws a map and measures it.
func (m *meter) run(ctx context.Context, t *target, cfg feature.Config) (*run, []float64, error) {
	cfg.MaxBytes = m.opt.MaxBytes
	x := m.rows.Judge
	sample := m.rows.Fit
	if !feature.NeedsSample(cfg) {
		sample = x // of which it needs the dimension only
	} else if sample.Dense == nil && sample.CSR == nil {
		return nil, nil, fmt.Errorf("approx: map %s is fitted to rows, and there are none to fit it to", nameOf(cfg))
	}
	if err := m.affordable(cfg); err != nil {
		return nil, nil, err
	}
	z, err := feature.Fit(ctx, cfg, sample)
	if err != nil {
		return nil, nil, err
	}
	r := &run{bytes: z.Bytes()}
	_, r.outputs = z.Dims()
	features := timed(z, x, r)
	ours, err := Gram(kernel.Linear.Usual(), features)
	if err != nil {
		return nil, nil, err
	}
	if d, ok := Distortion(t.n, ours, t.distances2); ok {
		r.distortion = &d
	}
	if t.centred {
		centre(t.n, ours)
	}
	estimates := lower(t.n, ours)
	difference2 := 0.0
	for i, v := range ours {
		difference2 += (v - t.gram[i]) * (v - t.gram[i])
	}
	if math.IsNaN(difference2) || math.IsInf(difference2, 0) {
		return nil, nil, fmt.Errorf("approx: %s: features overflow; scale the data or give a smaller gamma", nameOf(cfg))
	}
	r.errors = Compare(t.exact, estimates)
	if t.norm2 > 0 {
		f := math.Sqrt(difference2 / t.norm2)
		r.frobenius = &f
	}
	if t.spectral != nil {
		d1, d2, dim, err := t.spectral.Compare(ctx, block(t.n, t.block, ours))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", nameOf(cfg), err)
		}
		r.delta1, r.delta2, r.dimension = &d1, &d2, &dim
	}
	return r, estimates, nil
}

// affordable is an error if the features of all rows would take more memory than a map may hold. Features that are sparse are those of maps that
// decide on their number.
func (m *meter) affordable(cfg feature.Config) error {
	most := m.opt.MaxBytes
	if most == 0 {
		most = 16 << 30
	}
	n, d := m.rows.Judge.Len(), asked(cfg)
	if need := 4 * float64(n) * float64(d); need > float64(most) {
		takes, allowed := units.BytesApart(need, float64(most))
		return fmt.Errorf("approx: %s: %s features of %s rows take %s, of %s at most; give fewer of either", nameOf(cfg), units.Count(d), units.Count(n), takes, allowed)
	}
	return nil
}

// Times are medians over so many batches, and over up to so many single rows.
const batches, singles = 3, 50

// timed maps rows and measures the time.
func timed(z feature.Map, x matrix.Rows, r *run) matrix.Rows {
	var features matrix.Rows
	var whole, single []float64
	dense, sparse := &matrix.Dense{}, &matrix.CSR{}
	for range batches {
		start := time.Now()
		features = feature.Apply(z, x, dense, sparse)
		whole = append(whole, time.Since(start).Seconds()/float64(x.Len()))
	}
	one, oneSparse := &matrix.Dense{}, &matrix.CSR{}
	for i := range min(singles, x.Len()) {
		row := x.Slice(i, i+1)
		start := time.Now()
		feature.Apply(z, row, one, oneSparse)
		single = append(single, time.Since(start).Seconds())
	}
	r.perRow, r.oneRow = 1e6*median(whole), 1e6*median(single)
	return features
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// mostPairs is how many pairs are kept for a picture.
const mostPairs = 2000

// somePairs draws pairs, the same ones for every map.
func somePairs(exact, estimates []float64) []Pair {
	n := len(exact)
	pairs := make([]Pair, 0, min(n, mostPairs))
	if n <= mostPairs {
		for i, k := range exact {
			pairs = append(pairs, Pair{k, estimates[i]})
		}
		return pairs
	}
	r := random.New(1, "approx.pairs")
	for range mostPairs {
		i := r.Intn(n)
		pairs = append(pairs, Pair{exact[i], estimates[i]})
	}
	return pairs
}

// scatter splits the square error into bias and spread, from the sums over the seeds of each
// pair's errors and their squares.
func (p *Point) scatter(sum, square []float64, seeds int) {
	n := float64(seeds)
	var all, spread, bias float64
	for i, s := range sum {
		mean := s / n
		all += square[i] / n
		variance := 0.0
		if seeds > 1 {
			variance = max(0, square[i]-n*mean*mean) / (n - 1)
		}
		spread += variance
		bias += mean*mean - variance/n
	}
	pairs := float64(len(sum))
	p.RMS, p.Spread, p.Bias = math.Sqrt(all/pairs), math.Sqrt(spread/pairs), math.Sqrt(max(0, bias/pairs))
}

// summarise fills in the means over the seeds.
func (p *Point) summarise() {
	p.MeanAbs = p.stat(func(r *run) float64 { return r.errors.MeanAbs })
	p.MaxAbs = p.stat(func(r *run) float64 { return r.errors.MaxAbs })
	p.MeanSigned = p.stat(func(r *run) float64 { return r.errors.MeanSigned })
	p.Within = p.stat(func(r *run) float64 { return r.errors.Within })
	p.MeanRel = p.defined(func(r *run) *float64 { return r.errors.MeanRel })
	p.MaxRel = p.defined(func(r *run) *float64 { return r.errors.MaxRel })
	p.RelFrobenius = p.defined(func(r *run) *float64 { return r.frobenius })
	p.Distortion = p.defined(func(r *run) *float64 { return r.distortion })
	p.Delta1 = p.defined(func(r *run) *float64 { return r.delta1 })
	p.Delta2 = p.defined(func(r *run) *float64 { return r.delta2 })
	p.Dimension = p.defined(func(r *run) *float64 { return r.dimension })
	p.PerRow = p.stat(func(r *run) float64 { return r.perRow }).Mean
	p.OneRow = p.stat(func(r *run) float64 { return r.oneRow }).Mean
}

func (p *Point) stat(of func(r *run) float64) Stat {
	return *p.defined(func(r *run) *float64 { v := of(r); return &v })
}

// defined is the statistic of a value that may be undefined: nil unless all seeds have it.
func (p *Point) defined(of func(r *run) *float64) *Stat {
	s := &Stat{}
	n := float64(len(p.runs))
	first := of(&p.runs[0])
	for i := range p.runs {
		v := of(&p.runs[i])
		if v == nil {
			return nil
		}
		s.Mean += (*v - *first) / n // maps that draw nothing then deviate by nothing
	}
	s.Mean += *first
	if n < 2 {
		return s
	}
	for i := range p.runs {
		d := *of(&p.runs[i]) - s.Mean
		s.SD += d * d / (n - 1)
	}
	s.SD = math.Sqrt(s.SD)
	return s
}
