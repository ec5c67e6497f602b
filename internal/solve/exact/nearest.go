package exact

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Nearest predicts the weighted mean of the targets of the nearest of n rows xᵢ (Fix and Hodges 1951; Cover and Hart 1967), by the distance in
// the kernel's feature space, which for linear, rbf and matern is that of the rows themselves ([kernel.Distances]). Of rows at one distance
// the first counts. It never changes and is safe for concurrent use.
type Nearest struct {
	NearestOptions

	rows     *Machine  // whose weights are the targets
	weights  []float64 // of rows; nil: 1
	counted  int       // rows whose weight is not 0
	distance *kernel.Distances
	spare    freelist.Slices[float64]
	best     freelist.List[nearRows]
}

// NearestOptions are the choices of Nearest.
type NearestOptions struct {
	// Neighbours is how many rows are averaged; 0 means that leave-one-out chooses.
	Neighbours int `json:"neighbours"`

	// Weighting says how much each counts: "uniform", alike, or "distance", 1 over its distance, those at distance 0 alone if there are any; ""
	// means that leave-one-out chooses.
	Weighting string `json:"weighting"`
}

// Weightings are the ways to weigh neighbours.
var Weightings = []string{"uniform", "distance"}

// NearestReport describes the choices of FitNearest.
type NearestReport struct {
	NearestOptions

	// LeaveOneOut is the mean squared error, summed over the outputs, of rows predicted from all others; 0 if nothing was chosen. Tried
	// choices were compared on so many rows.
	LeaveOneOut float64 `json:"leave_one_out,omitempty"`
	Tried       int     `json:"tried,omitempty"`
	Rows        int     `json:"rows,omitempty"`
}

// Lines describe the choice.
func (r *NearestReport) Lines() []string {
	line := fmt.Sprintf("%d nearest rows, weights %s", r.Neighbours, r.Weighting)
	if r.Tried > 0 {
		line += fmt.Sprintf(" (the best of %d by leaving each of %d rows out, mean squared error %.4g)", r.Tried, r.Rows, r.LeaveOneOut)
	}
	return []string{line}
}

// neighboursTried are the numbers of neighbours that are compared, and mostLeftOut bounds the rows that are left out in turn.
var neighboursTried = []int{1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100}

const mostLeftOut = 4096

// FitNearest keeps rows x with targets y, n×outputs row by row, and weights, 0 or more, of which nil means that all are 1. What opt leaves open
// is chosen by the squared error of at most 4,096 rows, drawn at random, each predicted from all the others, in O(4096·n·d).
func FitNearest(ctx context.Context, k kernel.Kernel, x matrix.Rows, y []float64, outputs int, weights []float64, opt NearestOptions,
	seed uint64) (*Nearest, *NearestReport, error) {
	m, err := NewMachine(k, x, y, make([]float64, outputs))
	if err != nil {
		return nil, nil, err
	}
	first := NearestOptions{cmp.Or(opt.Neighbours, 1), cmp.Or(opt.Weighting, Weightings[0])}
	p, err := NewNearest(m, weights, first)
	if err != nil {
		return nil, nil, err
	}
	report := &NearestReport{NearestOptions: first}
	if first != opt {
		if err := p.choose(ctx, opt, report, seed); err != nil {
			return nil, nil, err
		}
		p.NearestOptions = report.NearestOptions
	}
	return p, report, nil
}

// choose fills in what opt leaves open.
func (p *Nearest) choose(ctx context.Context, opt NearestOptions, report *NearestReport, seed uint64) error {
	n, k := p.rows.x.Len(), len(p.rows.b)
	if p.counted < 2 {
		return nil
	}
	numbers := []int{opt.Neighbours}
	if opt.Neighbours == 0 {
		numbers = slices.DeleteFunc(slices.Clone(neighboursTried), func(m int) bool { return m >= p.counted })
	}
	ways := Weightings
	if opt.Weighting != "" {
		ways = []string{opt.Weighting}
	}
	left := random.New(seed, "exact.nearest").Perm(n)[:min(n, mostLeftOut)]
	slices.Sort(left)
	choices := len(numbers) * len(ways)
	losses := make([]float64, len(left)*choices)
	for at := 0; at < len(left); at += blockRows {
		some := left[at:min(at+blockRows, len(left))]
		x := matrix.Pick(p.rows.x, some)
		share(len(some), func(lo, hi int) {
			p.find(ctx, x, lo, hi, some, slices.Max(numbers), func(i int, near *nearRows) {
				for c := range choices {
					means := near.mean(p, ways[c%len(ways)], min(numbers[c/len(ways)], len(near.row)))
					for t, y := range p.rows.alpha[some[i]*k:][:k] {
						losses[(at+i)*choices+c] += float64((means[t] - y) * (means[t] - y))
					}
				}
			})
		})
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	mean, _ := mean(losses, picked(p.weights, left), choices)
	best := 0
	for c, loss := range mean {
		if loss < mean[best] {
			best = c
		}
	}
	report.NearestOptions = NearestOptions{numbers[best/len(ways)], ways[best%len(ways)]}
	report.LeaveOneOut, report.Tried, report.Rows = mean[best], choices, len(left)
	return nil
}

// picked are the weights of some rows.
func picked(weights []float64, rows []int) (some []float64) {
	for _, i := range rows {
		some = append(some, weight(weights, i))
	}
	return some
}

// NewNearest makes a predictor of a machine, whose weights are the targets of its rows, and weights of the rows, nil or n of them. Its
// arguments may come from a file.
func NewNearest(m *Machine, weights []float64, opt NearestOptions) (*Nearest, error) {
	n, counted := m.x.Len(), m.x.Len()
	for i, w := range weights {
		if !finite(w) || w < 0 {
			return nil, fmt.Errorf("exact: row %d: the weight is %g, not a finite number of 0 or more", i+1, w)
		}
		if w == 0 {
			counted--
		}
	}
	switch {
	case opt.Neighbours < 1 || opt.Neighbours > counted:
		return nil, fmt.Errorf("exact: %d neighbours of %d rows that have a weight; it takes 1 to as many", opt.Neighbours, counted)
	case !slices.Contains(Weightings, opt.Weighting):
		return nil, fmt.Errorf("exact: weights %q of neighbours are not known; known are %s", opt.Weighting, strings.Join(Weightings, ", "))
	case weights != nil && len(weights) != n:
		return nil, fmt.Errorf("exact: %d weights for %d rows", len(weights), n)
	}
	d, err := kernel.NewDistances(m.kernel, m.x)
	return &Nearest{NearestOptions: opt, rows: m, weights: weights, counted: counted, distance: d}, err
}

// Machine has the kernel, the rows and, as its weights, their targets.
func (p *Nearest) Machine() *Machine { return p.rows }

// Weights are those of the rows, nil if all are 1.
func (p *Nearest) Weights() []float64 { return p.weights }

// Scores writes the means of the targets of the neighbours of rows x into dst, which must be Len×K. A row's scores do not depend on the rows
// beside it. It fails if x has numbers that the kernel does not take.
func (p *Nearest) Scores(dst *matrix.Dense, x matrix.Rows) error {
	if x.Dim() != p.rows.x.Dim() {
		return fmt.Errorf("exact: rows of %d dimensions for neighbours of %d", x.Dim(), p.rows.x.Dim())
	}
	if err := p.rows.kernel.CheckRows(x); err != nil {
		return err
	}
	if x.Len() == 1 {
		p.score(dst, x, 0, 1)
		return nil
	}
	share(x.Len(), func(lo, hi int) { p.score(dst, x, lo, hi) })
	return nil
}

// score scores the rows [lo, hi) of x.
func (p *Nearest) score(dst *matrix.Dense, x matrix.Rows, lo, hi int) {
	p.find(context.Background(), x, lo, hi, nil, p.Neighbours, func(i int, near *nearRows) {
		row := dst.Row(i)
		for t, s := range near.mean(p, p.Weighting, len(near.row)) {
			row[t] = float32(s)
		}
	})
}

// share gives all threads their share of n rows.
func share(n int, do func(lo, hi int)) {
	vec.Parallel(n, min(scoreRows, (n+vec.Threads()-1)/vec.Threads()), do)
}

// nearestBytes bounds the distances that a thread holds, unless those of one row take more.
const nearestBytes = 16 << 20

// find finds the most nearest to each of the rows [lo, hi) of x, and gives them to do. Rows of p itself, whose places own has (nil: they are others),
// are no neighbours of themselves, and nor are rows of weight 0. It gives up when ctx ends.
func (p *Nearest) find(ctx context.Context, x matrix.Rows, lo, hi int, own []int, most int, do func(i int, near *nearRows)) {
	n := p.rows.x.Len()
	block := max(1, min(scoreRows, nearestBytes/(8*n)))
	near := p.best.Get()
	defer p.best.Put(near)
	work := p.spare.Get(block * (n + p.distance.Work()))
	defer p.spare.Put(work)
	for ; lo < hi && ctx.Err() == nil; lo += block {
		end := min(lo+block, hi)
		p.distance.Rows(x, lo, end, work, work[block*n:])
		for i := lo; i < end; i++ {
			row := work[(i-lo)*n:][:n]
			if own != nil {
				row[own[i]] = math.NaN() // never less
			}
			for j, w := range p.weights {
				if w == 0 {
					row[j] = math.NaN()
				}
			}
			near.find(row, most)
			do(i, near)
		}
	}
}

// nearRows are the rows nearest to one, nearest first.
type nearRows struct {
	row      []int
	distance []float64
	sums     []float64
}

// find finds the most nearest of rows by their distances, fewer if some are not numbers.
func (r *nearRows) find(distances []float64, most int) {
	r.row, r.distance = r.row[:0], r.distance[:0]
	farthest := math.Inf(1)
	for i, d := range distances {
		n := len(r.row)
		if n == most && !(d < farthest) || d != d {
			continue
		}
		if n < most {
			r.row, r.distance = append(r.row, i), append(r.distance, d)
			n++
		}
		at := n - 1
		for ; at > 0 && d < r.distance[at-1]; at-- {
			r.row[at], r.distance[at] = r.row[at-1], r.distance[at-1]
		}
		r.row[at], r.distance[at] = i, d
		farthest = r.distance[n-1]
	}
}

// mean is the weighted mean of the targets of the n nearest, until the next call.
func (r *nearRows) mean(p *Nearest, weighting string, n int) []float64 {
	k := len(p.rows.b)
	if len(r.sums) != k {
		r.sums = make([]float64, k)
	}
	clear(r.sums)
	total, nearest := 0.0, min(r.distance[0], math.MaxFloat64)
	for c, i := range r.row[:n] {
		w := weight(p.weights, i)
		if weighting == "distance" {
			d := min(r.distance[c], math.MaxFloat64)
			if nearest == 0 && d > 0 {
				break
			}
			if d > 0 {
				w *= math.Sqrt(nearest / d)
			}
		}
		total += w
		for t, y := range p.rows.alpha[i*k:][:k] {
			r.sums[t] += float64(w * y)
		}
	}
	for t := range r.sums {
		r.sums[t] /= total
	}
	return r.sums
}
