package feature

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// ICholesky maps by the incomplete Cholesky factor with pivoting (Fine and Scheinberg,
// "Efficient SVM training using low-rank kernel representations", 2001; Bach and Jordan,
// "Kernel independent component analysis", 2002): landmarks are the rows of the sample that
// are farthest, one after the other, from the span of the previous ones, and with K_hh = LLᵀ
//
//	z(x) = L⁻¹ k_h(x)
//
// which for rows of the sample is their row of the factor. Feature r is what landmark r
// adds to the previous ones, so the first r features are the map of the first r landmarks.
// Inner products are those of nystrom for the same landmarks.
//
// It ends at D landmarks, or when every residual of k(x, x) is below 10⁻¹⁰ of the largest k(x,
// x); D is then smaller. Fitting takes O(nm(d + m)) operations and 8mn bytes for n rows and m landmarks;
// a row costs as much as with nystrom.
const ICholesky = "icholesky"

// icholesky is the map [ICholesky].
type icholesky struct {
	*weighted
	left float64 // of the sample's trace, as a share
}

// greedyRows is how many rows pivots are chosen from: 8 for each, as each pivot processes
// all of F.
func greedyRows(cfg Config) int {
	m := cfg.Features
	if m == 0 {
		m = usualLandmarks
	}
	return max(2000, 8*min(m, 1<<20))
}

func fitICholesky(ctx context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	m := min(cfg.Features, sample.Len())
	n, d := float64(sample.Len()), float64(sample.Dim())
	if err := affordable(cfg, sample.Dim(), 8*float64(m)*(d+3*float64(m)+n)+8*n*columnBlock); err != nil {
		return nil, err
	}
	f, err := newICholesky(ctx, cfg, sample, m)
	if err != nil {
		return nil, fmt.Errorf("feature: icholesky: %w", err)
	}
	return f, nil
}

func newICholesky(ctx context.Context, cfg Config, sample matrix.Rows, m int) (*icholesky, error) {
	f, err := newPartial(ctx, cfg.Kernel, sample, m)
	if err != nil {
		return nil, err
	}
	if err := f.greedy(m); err != nil {
		return nil, err
	}
	r := len(f.pivots)
	if r == 0 {
		return nil, fmt.Errorf("the kernel of every row of the sample with itself is 0; it takes others")
	}
	// W = L⁻ᵀ: column c of it is line c of L⁻¹, by forward substitution.
	w := make([]float64, r*r)
	for i, p := range f.pivots {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line := f.row(p)[:i+1]
		vec.Parallel(i+1, 64, func(lo, hi int) {
			for c := lo; c < hi; c++ {
				sum := 0.0
				if c == i {
					sum = 1
				} else {
					sum = -vec.Dot64(line[c:i], w[c*r+c:c*r+i])
				}
				w[c*r+i] = sum / line[i]
			}
		})
	}
	h := gather(sample, f.pivots)
	z, err := newWeighted(cfg.Kernel, h, w, r, light(cfg.Kernel, h, w))
	if err != nil {
		return nil, err
	}
	return &icholesky{z, f.trace() / f.whole}, nil
}

// columnBlock is how many columns of K are evaluated at a time.
const columnBlock = 32

// greedy adds pivots until there are m, or until all residuals are rounding errors.
// The columns of K of the rows with the largest residuals are evaluated together, in advance.
func (f *partial) greedy(m int) error {
	n := len(f.left)
	tolerance := 0.0
	for _, v := range f.left {
		tolerance = max(tolerance, smallest*v)
	}
	var ahead []int // rows whose columns are columns of block
	block := make([]float64, n*min(columnBlock, n))
	for len(f.pivots) < m {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		p := argmax(f.left)
		if f.left[p] <= tolerance {
			return nil
		}
		at := slices.Index(ahead, p)
		if at < 0 {
			ahead = f.mostLeft(min(columnBlock, n))
			at = slices.Index(ahead, p)
			g, err := kernel.NewGram(f.kernel, f.x, matrix.Rows{Dense: gather(f.x, ahead)})
			if err != nil {
				return err
			}
			g.Rows(0, n, block)
		}
		r, pivot, root := len(f.pivots), f.row(p), math.Sqrt(f.left[p])
		vec.Parallel(n, 256, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row := f.row(i)
				v := (block[i*len(ahead)+at] - vec.Dot64(row[:r], pivot[:r])) / root
				if i == p {
					v = root
				}
				row[r] = v
				f.left[i] = max(0, f.left[i]-float64(v*v))
			}
		})
		f.left[p] = 0
		f.pivots = append(f.pivots, p)
	}
	return nil
}

// mostLeft returns the count rows with the largest residuals, the first among equals.
func (f *partial) mostLeft(count int) []int {
	order := make([]int, len(f.left))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f.left[b], f.left[a]) })
	return order[:count]
}

// State has the residual in addition to the landmarks and weights.
func (f *icholesky) State() map[string]*matrix.Dense {
	state := f.weighted.State()
	state["left"] = matrix.NewDense(1, 1)
	state["left"].Data[0] = float32(f.left)
	return state
}

func restoreICholesky(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	f, err := restoreWeighted(cfg, dim, state)
	if err != nil {
		return nil, err
	}
	left := state["left"]
	if left == nil || left.Rows != 1 || left.Cols != 1 || !(left.Data[0] >= 0 && left.Data[0] <= 1) {
		return nil, fmt.Errorf("feature: icholesky: the state does not tell which share of the trace is left")
	}
	return &icholesky{f, float64(left.Data[0])}, nil
}

// Chosen is the number of pivots and the residual.
func (f *icholesky) Chosen() string {
	return fmt.Sprintf("%d pivots, which leave %.2g %% of the trace of the sample's kernel matrix", f.at.Rows, 100*f.left)
}
