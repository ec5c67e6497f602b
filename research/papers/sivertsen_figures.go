package papers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/search/approx"
	"mercer/kernel"
	"mercer/matrix"
)

// sivertsenSource is the source of a figure.
func sivertsenSource(figure string) string { return "Sivertsen 2014, figure " + figure }

// radial is S14's Fastfood with frequencies of the Gaussian kernel of width σ, each of which gives two
// features.
func radial(frequencies int, sigma float64, seed uint64) feature.Config {
	return feature.Config{Map: "fastfood", Kernel: kernel.Kernel{Name: "rbf", Gamma: 1 / (2 * sigma * sigma)},
		Features: 2 * frequencies, Seed: seed}
}

// sketched is S14's TensorSketch of (x·y)².
func sketched(features int, seed uint64) feature.Config {
	return feature.Config{Map: "tensorsketch", Kernel: kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2}, Features: features, Seed: seed}
}

// Cloud is pairs of rows: a kernel's values, and their estimates by a map.
type Cloud struct {
	Name            string
	Exact, Estimate []float64
}

// errors are S14's 4.2 and 4.3: the mean absolute error, the mean relative error in percent over the
// pairs where it is at most 100 %, and the share of these in percent.
func (c Cloud) errors() (abs, rel, share float64) {
	e := approx.Compare(c.Exact, c.Estimate)
	if e.MeanRel != nil {
		rel = 100 * *e.MeanRel
	}
	return e.MeanAbs, rel, 100 * e.Within
}

// everyPair is the cloud of all pairs of different rows.
func everyPair(cfg feature.Config, x *matrix.Dense) (c Cloud, err error) {
	m, err := feature.New(cfg, x.Cols)
	if err != nil {
		return c, err
	}
	_, dim := m.Dims()
	z := matrix.NewDense(x.Rows, dim)
	m.Transform(z, matrix.Rows{Dense: x})
	for i := range x.Rows {
		for j := range i {
			c.Exact = append(c.Exact, cfg.Kernel.Eval(x.Row(i), x.Row(j)))
			c.Estimate = append(c.Estimate, inner(z.Row(i), z.Row(j)))
		}
	}
	return c, nil
}

// inner is the inner product of two rows.
func inner(a, b []float32) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return sum
}

// tenths divides a cloud into ten parts of equally many pairs, by the kernel's value.
func (c Cloud) tenths() []Cloud {
	order := ascending(c.Exact)
	parts := make([]Cloud, 10)
	for i, pair := range order {
		p := &parts[i*10/len(order)]
		p.Exact, p.Estimate = append(p.Exact, c.Exact[pair]), append(p.Estimate, c.Estimate[pair])
	}
	return parts
}

// drawn makes an experiment that computes every row separately.
func drawn(row func(ctx context.Context, i int, seed uint64, quick bool) ([]float64, error)) func(context.Context, string,
	bool) (run, error) {
	return func(ctx context.Context, _ string, quick bool) (run, error) {
		return func(seed uint64) (experiment, error) {
			return func(i int) ([]float64, error) { return row(ctx, i, seed, quick) }, nil
		}, nil
	}
}

// sivertsenFigures are the figures of S14 that show errors.
func sivertsenFigures() []*Table {
	return []*Table{
		sivertsenScatter(), sivertsenRange(), sivertsenForms(), sivertsenSigma(), sivertsenParts(), sivertsenSparsity(), sivertsenConverted(),
	}
}

const scatterRows = 100

// partNames are those of a cloud and its tenths.
func partNames() []string {
	names := []string{"all pairs"}
	for i := range 10 {
		names = append(names, fmt.Sprintf("tenth %d by k", i+1))
	}
	return names
}

// byParts makes the rows of a table of a cloud and its tenths by the kernel's value.
func byParts(t *Table, cloud func(seed uint64, quick bool) (Cloud, error)) {
	t.Columns = []string{"mean k", "mean estimate", "abs. error", "rel. error %", "pairs below 100 %"}
	for _, name := range partNames() {
		t.Rows = append(t.Rows, Row{Name: name})
	}
	t.open = func(_ context.Context, _ string, quick bool) (run, error) {
		return func(seed uint64) (experiment, error) {
			c, err := cloud(seed, quick)
			if err != nil {
				return nil, err
			}
			parts := append([]Cloud{c}, c.tenths()...)
			return func(i int) ([]float64, error) {
				abs, rel, share := parts[i].errors()
				return []float64{mean(parts[i].Exact), mean(parts[i].Estimate), abs, rel, share}, nil
			}, nil
		}, nil
	}
	t.Clouds = func() ([]Cloud, error) {
		c, err := cloud(1, false)
		c.Name = t.Title
		return []Cloud{c}, err
	}
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func sivertsenScatter() *Table {
	t := &Table{
		Name:   "S14-F4.1",
		Title:  "Estimates by Fastfood against the Gaussian kernel",
		Source: sivertsenSource("4.1: a scatter plot of one map"),
		Protocol: "The 4,950 pairs of 100 rows uniform in [0, 1]^16; σ = 1.5, 512 frequencies. In place of the " +
			"scatter plot, its ten parts of as many pairs, by the kernel's value.",
		Corner: "estimates", Cost: 0.05,
	}
	byParts(t, func(seed uint64, _ bool) (Cloud, error) {
		return everyPair(radial(512, 1.5, seed), uniform(scatterRows, 16, seed, "papers.scatter"))
	})
	t.Rows[0].Theirs = figures("- - - 3.5 -")
	return t
}

func sivertsenParts() *Table {
	t := &Table{
		Name:   "S14-F4.6",
		Title:  "Error of Fastfood over the kernel's range",
		Source: sivertsenSource("4.6: a plot by sections of the kernel's range"),
		Protocol: "10,000 pairs of rows uniform in [0, 1]^8; σ = 0.6, 128 frequencies. Ten parts of as many pairs by " +
			"the kernel's value; the paper has sections of equal width, and says that the relative error drops where " +
			"the kernel is large.",
		Corner: "errors", Cost: 0.1,
	}
	byParts(t, func(seed uint64, quick bool) (Cloud, error) {
		pairs := 10_000
		if quick {
			pairs = 500
		}
		return pairsOf(radial(128, 0.6, seed), uniform(pairs, 8, seed, "papers.x"), uniform(pairs, 8, seed, "papers.y"))
	})
	t.Rows[0].Theirs = figures("- - 0.059 - -")
	return t
}

// pairsOf is the cloud of the rows of x and y with the same number.
func pairsOf(cfg feature.Config, x, y *matrix.Dense) (c Cloud, err error) {
	m, err := feature.New(cfg, x.Cols)
	if err == nil {
		c.Exact, c.Estimate = approx.Values(cfg.Kernel, m, x, y)
	}
	return c, err
}

func sivertsenRange() *Table {
	t := &Table{
		Name:   "S14-F4.2",
		Title:  "TensorSketch on rows around 0 and on positive rows",
		Source: sivertsenSource("4.2: two scatter plots of one map each"),
		Protocol: "The 4,950 pairs of 100 rows; (x·y)², d = 16, D = 128. The paper says that on [-1, 1] accuracy is " +
			"much lower and values concentrate on 0.",
		Corner:  "rows uniform in",
		Columns: []string{"mean k", "largest k", "abs. error", "rel. error %", "pairs below 100 %"},
		Rows:    []Row{{Name: "[-1, 1]"}, {Name: "[0, 1]"}},
		Cost:    0.05,
	}
	cloud := func(i int, seed uint64) (Cloud, error) {
		x := uniform(scatterRows, 16, seed, "papers.scatter")
		if i == 0 {
			for j, v := range x.Data {
				x.Data[j] = 2*v - 1
			}
		}
		return everyPair(sketched(128, seed), x)
	}
	t.open = drawn(func(_ context.Context, i int, seed uint64, _ bool) ([]float64, error) {
		c, err := cloud(i, seed)
		abs, rel, share := c.errors()
		most := 0.0
		for _, k := range c.Exact {
			most = max(most, k)
		}
		return []float64{mean(c.Exact), most, abs, rel, share}, err
	})
	t.Clouds = func() (all []Cloud, err error) {
		for i, row := range t.Rows {
			c, err := cloud(i, 1)
			if err != nil {
				return nil, err
			}
			c.Name = "rows in " + row.Name
			all = append(all, c)
		}
		return all, nil
	}
	return t
}

func sivertsenForms() *Table {
	t := &Table{
		Name:   "S14-F4.4",
		Title:  "Error of Fastfood by D, with sines and cosines and with phases",
		Source: sivertsenSource("4.4 and, with phases, C.4: averages over 16 runs"),
		Protocol: "10,000 pairs of rows uniform in [0, 1]^16, σ = 3; z = [cos ω·x, sin ω·x]/√D of D frequencies, and " +
			"z'' = √(2/D)·cos(ω·x + b). " +
			"The paper finds a lower bound of the error of z''; the formula has none, and ours falls as 1/√D.",
		Corner:  "mean error, by D",
		Columns: []string{"z abs.", "z rel. %", "z'' abs.", "z'' rel. %"},
		Cost:    5,
	}
	for d := 16; d <= 8192; d *= 2 {
		t.Rows = append(t.Rows, Row{Name: strconv.Itoa(d)})
	}
	t.open = drawn(func(_ context.Context, i int, seed uint64, quick bool) ([]float64, error) {
		pairs := 10_000
		if quick {
			pairs = 500
		}
		x, y := uniform(pairs, 16, seed, "papers.x"), uniform(pairs, 16, seed, "papers.y")
		z := radial(16<<i, 3, seed)
		phases := z
		phases.Form, phases.Features = "phase", 16<<i
		var all []float64
		for _, cfg := range []feature.Config{z, phases} {
			c, err := pairsOf(cfg, x, y)
			if err != nil {
				return nil, err
			}
			abs, rel, _ := c.errors()
			all = append(all, abs, rel)
		}
		return all, nil
	})
	return t
}

func sivertsenSigma() *Table {
	sigmas := []float64{1.5, 2}
	t := &Table{
		Name:     "S14-F4.5",
		Title:    "Error of Fastfood by the width of the Gaussian kernel",
		Source:   sivertsenSource("4.5: two scatter plots of one map each"),
		Protocol: "The 4,950 pairs of 100 rows uniform in [0, 1]^16; 128 frequencies. The paper's figures are of one map each.",
		Corner:   "σ",
		Columns:  []string{"least k", "mean k", "abs. error", "rel. error %", "pairs below 100 %"},
		Rows:     []Row{{"1.5", figures("- - - 8.3 -")}, {"2", figures("- - - 3.6 -")}},
		Cost:     0.05,
	}
	cloud := func(i int, seed uint64) (Cloud, error) {
		return everyPair(radial(128, sigmas[i], seed), uniform(scatterRows, 16, seed, "papers.scatter"))
	}
	t.open = drawn(func(_ context.Context, i int, seed uint64, _ bool) ([]float64, error) {
		c, err := cloud(i, seed)
		abs, rel, share := c.errors()
		least := math.Inf(1)
		for _, k := range c.Exact {
			least = min(least, k)
		}
		return []float64{least, mean(c.Exact), abs, rel, share}, err
	})
	t.Clouds = func() (all []Cloud, err error) {
		for i, row := range t.Rows {
			c, err := cloud(i, 1)
			if err != nil {
				return nil, err
			}
			c.Name = "σ = " + row.Name
			all = append(all, c)
		}
		return all, nil
	}
	return t
}

func sivertsenSparsity() *Table {
	const d, maps = 40, 100
	zeros := []int{0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 39}
	t := &Table{
		Name:   "S14-F4.7",
		Title:  "Error of TensorSketch by the number of zeros",
		Source: sivertsenSource("4.7: averages over 12 runs"),
		Protocol: "(x·x)² of a row of 40 with so many zeros, the others being 1/√(number of these), so that the " +
			"kernel is 1; D = 128. The mean of 100 maps: all rows that the paper's construction makes are equal. " +
			"The paper says that the error rises at first and then drops.",
		Corner:  "relative error, by zeros of 40",
		Columns: []string{"rel. error %", "collision-free hash, rel. error %"},
		Cost:    0.2,
	}
	for _, s := range zeros {
		t.Rows = append(t.Rows, Row{Name: strconv.Itoa(s)})
	}
	t.open = drawn(func(_ context.Context, i int, seed uint64, _ bool) ([]float64, error) {
		x := matrix.NewDense(1, d)
		ones := d - zeros[i]
		for j := range ones {
			x.Data[j] = float32(1 / math.Sqrt(float64(ones)))
		}
		var all []float64
		for _, hash := range []string{"pairwise", "balanced"} {
			sum := 0.0
			for m := range maps {
				cfg := sketched(128, random.Hash(seed, "papers.sparsity", uint64(m)))
				cfg.Hash = hash
				made, err := feature.New(cfg, d)
				if err != nil {
					return nil, err
				}
				z := matrix.NewDense(1, 128)
				made.Transform(z, matrix.Rows{Dense: x})
				sum += math.Abs(inner(z.Row(0), z.Row(0)) - 1)
			}
			all = append(all, 100*sum/maps)
		}
		return all, nil
	})
	return t
}

func sivertsenConverted() *Table {
	const sigma = 2
	t := &Table{
		Name:   "S14-F4.8",
		Title:  "Estimates of one kernel made from those of the other",
		Source: sivertsenSource("4.8 and, with the lengths of the inputs, D.1: scatter plots of one map each"),
		Protocol: "The 4,950 pairs of 100 rows uniform in [0, 1]^16; σ = 2, (x·y)²; D, which the paper does not give, " +
			"is 512 (of frequencies and of outputs). ‖x-y‖² = ‖x‖² + ‖y‖² - 2x·y turns one into the other, " +
			"lengths being those of the features: ‖x‖⁴ = z·z of TensorSketch, but 1 of Fastfood. An estimate that is " +
			"not positive has no root and no logarithm: it is taken for 0, and for 10⁻⁶. " +
			"The paper says that converted estimates are very precise by TensorSketch, very inaccurate by Fastfood, " +
			"and accurate by Fastfood with the lengths of the inputs.",
		Corner:  "errors",
		Columns: []string{"abs. error", "rel. error %", "pairs below 100 %"},
		Cost:    0.1,
	}
	for _, name := range []string{"Gaussian by Fastfood", "Gaussian by TensorSketch, converted", "(x·y)² by TensorSketch",
		"(x·y)² by Fastfood, converted", "(x·y)² by Fastfood and lengths, converted"} {
		t.Rows = append(t.Rows, Row{Name: name})
	}
	clouds := func(seed uint64) ([]Cloud, error) {
		x := uniform(scatterRows, 16, seed, "papers.scatter")
		gauss, err := everyPair(radial(512, sigma, seed), x)
		if err != nil {
			return nil, err
		}
		poly, err := everyPair(sketched(512, seed), x)
		if err != nil {
			return nil, err
		}
		squared, err := sketchedLengths(sketched(512, seed), x)
		if err != nil {
			return nil, err
		}
		all := []Cloud{gauss, {Exact: gauss.Exact}, poly, {Exact: poly.Exact}, {Exact: poly.Exact}}
		toPoly, err := approx.NewConversion(radial(512, sigma, seed).Kernel, sketched(512, seed).Kernel)
		if err != nil {
			return nil, err
		}
		toGauss, err := approx.NewConversion(sketched(512, seed).Kernel, radial(512, sigma, seed).Kernel)
		if err != nil {
			return nil, err
		}
		pair := 0
		for i := range x.Rows {
			for j := range i {
				converted := func(c approx.Conversion, of Cloud, xx, yy float64) float64 {
					value, _ := c.Value(of.Estimate[pair], xx, yy)
					return value
				}
				all[1].Estimate = append(all[1].Estimate, converted(toGauss, poly, squared[i], squared[j]))
				all[3].Estimate = append(all[3].Estimate, converted(toPoly, gauss, toPoly.Length2(1), toPoly.Length2(1)))
				all[4].Estimate = append(all[4].Estimate, converted(toPoly, gauss, inner(x.Row(i), x.Row(i)), inner(x.Row(j), x.Row(j))))
				pair++
			}
		}
		for i := range all {
			all[i].Name = t.Rows[i].Name
		}
		return all, nil
	}
	t.open = func(context.Context, string, bool) (run, error) {
		return func(seed uint64) (experiment, error) {
			all, err := clouds(seed)
			return func(i int) ([]float64, error) {
				abs, rel, share := all[i].errors()
				return []float64{abs, rel, share}, nil
			}, err
		}, nil
	}
	t.Clouds = func() ([]Cloud, error) { return clouds(1) }
	return t
}

// sketchedLengths are the ‖x‖² estimated by the features of (x·y)².
func sketchedLengths(cfg feature.Config, x *matrix.Dense) ([]float64, error) {
	m, err := feature.New(cfg, x.Cols)
	if err != nil {
		return nil, err
	}
	z := matrix.NewDense(x.Rows, cfg.Features)
	m.Transform(z, matrix.Rows{Dense: x})
	squared := make([]float64, x.Rows)
	for i := range squared {
		squared[i] = math.Sqrt(inner(z.Row(i), z.Row(i)))
	}
	return squared, nil
}

// ascending are the indices of values in ascending order.
func ascending(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return order
}
