package feature

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// kernelRP maps by random projection of any kernel's feature space, as far as m rows x_i that
// it keeps of a sample span it (Kulis and Grauman, "Kernelized locality-sensitive hashing",
// 2009; Alavi et al., "Random projections on manifolds of symmetric positive definite matrices
// for image classification", 2014; Zhao et al., "Efficient clustering on Riemannian manifolds:
// a kernelised random projection approach", 2016; López-Sánchez 2019, section 2.4):
//
//	z_c(x) = Σ_i w_ic k(x_i, x)
//
// Let K = VΛVᵀ be the kept rows' centred Gram matrix without its zero eigenvalues, and a(x) =
// Λ^(-1/2) Vᵀ k_m(x) the kernel principal components of x, where k_m(x) are the k(x_i, x).
// Then a(x)·a(y) = k_m(x)ᵀK⁺k_m(y), the Nyström value of the kernel around the mean of the
// kept rows. The three maps are random projections z(x) = Gᵀa(x) of them:
//
//	kg-rp    columns √(m/t)·Vᵀe_c/√D, e_c the indicator of t of the kept rows at random:
//	         nearly normal by the central limit theorem. E[z(x)·z(y)] is (m-t)/(m-1) times
//	         the Nyström value, as 1ᵀV = 0. t is 30 as in the papers, but at most m/32 by
//	         default, for this factor's sake.
//	korp     the same directions orthonormalised, and √(r/D) long, r the rank of K. Where
//	         D > r, every r are orthonormal. E is the Nyström value if r = m-1, else close
//	         to it; where r divides D, it is z(x)·z(y) itself.
//	kpca-rp  independent normal numbers over √D, on the leading components (rank; all by
//	         default). E is the Nyström value on these, and the variance
//	         [‖a(x)‖²‖a(y)‖² + (a(x)·a(y))²]/D.
//
// So inner products and distances lack what lies outside of the span of the kept rows, at any
// D: this error falls with m alone. pk-rp, for poly, has no such floor.
//
// Eigenvalues below 10⁻¹⁰ of the largest are dropped. Fitting takes O(m²d + m³ + m·r·D)
// operations, about half a second for 1000 rows; a row then O(md + mD), in float64. The map
// holds 12md + 16mD bytes.
type kernelRP struct {
	kept     *matrix.Dense // x_i
	features int
	rank     int
	w        *matrix.Dense // m×D, and what float32 loses of it
	low      *matrix.Dense
	weights  *vec.Packed[float64]
	against  *kernel.Against
	rows     int // of a block
	free     spare[float64]
}

// smallest is which eigenvalues are dropped, relative to the largest. Kernel values have some
// 15 digits, and as many are left of features as of the eigenvalue's root.
const smallest = 1e-10

func fitKernelRP(cfg Config, sample matrix.Rows) (Fitted, error) {
	n, dim := sample.Len(), sample.Dim()
	m, t := cfg.Pool, cfg.T
	if t < 0 || m < 0 || cfg.Rank < 0 {
		return nil, fmt.Errorf("feature: %s: pool is %d, t %d and rank %d; they must be 1 or more, or 0 for the map's choice", cfg.Map, m, t, cfg.Rank)
	}
	if m == 0 {
		m = int(math.Ceil(4 * math.Sqrt(float64(n))))
	}
	m = min(m, n)
	if m < 2 {
		return nil, fmt.Errorf("feature: %s keeps %d rows of a sample of %d; it needs 2 or more", cfg.Map, m, n)
	}
	if t == 0 {
		t = max(1, min(30, m/32))
	}
	if t >= m {
		return nil, fmt.Errorf("feature: %s: t is %d; it must be less than the %d rows that are kept", cfg.Map, t, m)
	}
	if err := affordable(cfg, dim, 8*float64(m)*(float64(dim)+2*float64(cfg.Features)+4*float64(m))); err != nil {
		return nil, err
	}
	kept := keep(sample, m, cfg.Seed)
	against, err := kernel.NewAgainst(cfg.Kernel, matrix.Rows{Dense: kept})
	if err != nil {
		return nil, fmt.Errorf("feature: %s: %w", cfg.Map, err)
	}
	values, v, err := centredEigen(against, kept)
	if err != nil {
		return nil, fmt.Errorf("feature: %s: %w", cfg.Map, err)
	}
	r := len(values)
	if cfg.Rank > 0 {
		r = min(r, cfg.Rank)
	}

	var g []float64 // D×r: the directions G, line by line
	switch cfg.Map {
	case "kpca-rp":
		g = make([]float64, cfg.Features*r)
		for c := range cfg.Features {
			stream := random.New(cfg.Seed, "feature.kpca-rp", uint64(c))
			for k := range r {
				g[c*r+k] = stream.Normal() / math.Sqrt(float64(cfg.Features))
			}
		}
	case "kg-rp":
		g = indicators(cfg.Seed, v, m, r, t, cfg.Features)
		f := math.Sqrt(float64(m) / float64(t) / float64(cfg.Features))
		for i := range g {
			g[i] *= f
		}
	default:
		g = indicators(cfg.Seed, v, m, r, t, cfg.Features)
		orthonormalise(g, r, cfg.Seed)
		f := math.Sqrt(float64(r) / float64(cfg.Features))
		for i := range g {
			g[i] *= f
		}
	}

	// W = VΛ^(-1/2)G. K⁺ takes the mean away, but for rounding.
	b := make([]float64, m*r)
	for i := range m {
		for k := range r {
			b[i*r+k] = v[i*len(values)+k] / math.Sqrt(values[k])
		}
	}
	w := make([]float64, m*cfg.Features)
	vec.GemmNT(m, cfg.Features, r, b, r, g, r, w, cfg.Features)
	mean := make([]float64, cfg.Features)
	for i := range m {
		for c, v := range w[i*cfg.Features:][:cfg.Features] {
			mean[c] += v / float64(m)
		}
	}
	f := &kernelRP{kept: kept, features: cfg.Features, rank: r, against: against,
		w: matrix.NewDense(m, cfg.Features), low: matrix.NewDense(m, cfg.Features)}
	for i := range m {
		high, low := f.w.Row(i), f.low.Row(i)
		for c, v := range w[i*cfg.Features:][:cfg.Features] {
			v -= mean[c]
			high[c] = float32(v)
			low[c] = float32(v - float64(high[c]))
			if high[c]-high[c] != 0 {
				return nil, fmt.Errorf("feature: %s: the kernel's values are too small for float32 weights; scale the data", cfg.Map)
			}
		}
	}
	f.prepare()
	return f, nil
}

// keep copies m rows of a sample, chosen at random and in their order.
func keep(sample matrix.Rows, m int, seed uint64) *matrix.Dense {
	chosen := random.New(seed, "feature.kernel-rp.rows").Perm(sample.Len())[:m]
	slices.Sort(chosen)
	kept := matrix.NewDense(m, sample.Dim())
	for i, from := range chosen {
		row := kept.Row(i)
		if sample.CSR != nil {
			idx, val := sample.CSR.Row(from)
			for k, j := range idx {
				row[j] = val[k]
			}
			continue
		}
		copy(row, sample.Dense.Row(from))
	}
	return kept
}

// centredEigen returns the eigenvalues, largest first, of the centred Gram matrix of rows with
// themselves, without those that are 0 but for rounding, and the eigenvectors as columns of a
// matrix with a line for each row.
func centredEigen(a *kernel.Against, rows *matrix.Dense) (values, vectors []float64, err error) {
	m := rows.Rows
	gram := make([]float64, m*m)
	vec.Parallel(m, 14, func(lo, hi int) {
		work := make([]float64, 14*a.Work())
		for ; lo < hi; lo += 14 {
			end := min(lo+14, hi)
			a.Rows(matrix.Rows{Dense: rows}, lo, end, gram[lo*m:end*m], work)
		}
	})
	mean, all, largest := make([]float64, m), 0.0, 0.0
	for i := range m {
		for j := range i {
			gram[j*m+i] = gram[i*m+j] // they may differ in the last digit
		}
	}
	for i := range m {
		for _, v := range gram[i*m:][:m] {
			mean[i] += v / float64(m)
			largest = max(largest, math.Abs(v))
		}
		all += mean[i] / float64(m)
	}
	if largest-largest != 0 {
		return nil, nil, fmt.Errorf("the kernel of the sample's rows is not finite; scale the data")
	}
	for i := range m {
		for j := range gram[i*m:][:m] {
			gram[i*m+j] -= mean[i] + mean[j] - all
		}
	}
	ascending := make([]float64, m)
	if !vec.EigenSym(m, gram, m, ascending, true) {
		return nil, nil, fmt.Errorf("the eigenvalues of the sample's kernel matrix did not converge")
	}
	// Rounding of the kernel's values gives eigenvalues of its own.
	floor := max(smallest*ascending[m-1], 1e-15*float64(m)*largest)
	r := 0
	for r < m && ascending[m-1-r] > floor {
		r++
	}
	if r == 0 {
		return nil, nil, fmt.Errorf("to the kernel all rows of the sample are alike; it takes different ones")
	}
	values, vectors = make([]float64, r), make([]float64, m*r)
	for k := range r {
		values[k] = ascending[m-1-k]
		for i, v := range gram[(m-1-k)*m:][:m] {
			vectors[i*r+k] = v
		}
	}
	return values, vectors, nil
}

// indicators returns Vᵀe_c for each c, line by line, for indicators e_c of t of the m lines of
// V.
func indicators(seed uint64, v []float64, m, r, t, features int) []float64 {
	g := make([]float64, features*r)
	vec.Parallel(features, 16, func(lo, hi int) {
		order := make([]int, m)
		for c := lo; c < hi; c++ {
			stream := random.New(seed, "feature.kg-rp", uint64(c))
			for i := range order {
				order[i] = i
			}
			for i := range t {
				j := i + stream.Intn(m-i)
				order[i], order[j] = order[j], order[i]
				vec.Axpy64(1, v[order[i]*r:][:r], g[c*r:][:r])
			}
		}
	})
	return g
}

// orthonormalise makes every r lines of g orthonormal, one after the other, by the method of
// Gram and Schmidt, twice, which is enough. A line in the span of those before gives way to a
// random one.
func orthonormalise(g []float64, r int, seed uint64) {
	for c := 0; c*r < len(g); c++ {
		line := g[c*r:][:r]
		before := g[c/r*r*r : c*r]
		stream := random.New(seed, "feature.korp", uint64(c))
		for {
			length := math.Sqrt(vec.Dot64(line, line))
			for range 2 {
				for at := 0; at < len(before); at += r {
					q := before[at:][:r]
					vec.Axpy64(-vec.Dot64(q, line), q, line)
				}
			}
			if rest := math.Sqrt(vec.Dot64(line, line)); rest > 1e-8*length {
				for k := range line {
					line[k] /= rest
				}
				break
			}
			for k := range line {
				line[k] = stream.Normal()
			}
		}
	}
}

// prepare packs the weights.
func (f *kernelRP) prepare() {
	m, d := f.kept.Rows, f.kept.Cols
	w := make([]float64, m*f.features)
	for i := range m {
		high, low := f.w.Row(i), f.low.Row(i)
		for c := range high {
			w[i*f.features+c] = float64(high[c]) + float64(low[c])
		}
	}
	f.weights = vec.Pack64(m, f.features, w, f.features)
	f.rows = max(1, min(56, 1<<18/(d+m+f.features)))
	f.free = newSpare[float64]()
}

// State has the kept rows, the weights in two parts, for float64, and the rank.
func (f *kernelRP) State() map[string]*matrix.Dense {
	rank := matrix.NewDense(1, 1)
	rank.Data[0] = float32(f.rank)
	return map[string]*matrix.Dense{"rows": f.kept, "weights": f.w, "weights.low": f.low, "rank": rank}
}

func restoreKernelRP(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	f := &kernelRP{features: cfg.Features, kept: state["rows"], w: state["weights"], low: state["weights.low"]}
	rank := state["rank"]
	if f.kept == nil || f.w == nil || f.low == nil || rank == nil || f.kept.Cols != dim || f.kept.Rows < 2 ||
		f.w.Rows != f.kept.Rows || f.low.Rows != f.kept.Rows || f.w.Cols != f.features || f.low.Cols != f.features || rank.Rows != 1 || rank.Cols != 1 {
		return nil, fmt.Errorf("feature: %s: the state is not that of %d features of %d dimensions", cfg.Map, cfg.Features, dim)
	}
	if r := rank.Row(0)[0]; r >= 1 && r < float32(f.kept.Rows) {
		f.rank = int(r)
	} else {
		return nil, fmt.Errorf("feature: %s: the state has rank %g of %d rows", cfg.Map, r, f.kept.Rows)
	}
	var err error
	if f.against, err = kernel.NewAgainst(cfg.Kernel, matrix.Rows{Dense: f.kept}); err != nil {
		return nil, fmt.Errorf("feature: %s: %w", cfg.Map, err)
	}
	f.prepare()
	return f, nil
}

func (f *kernelRP) Dims() (in, out int) { return f.kept.Cols, f.features }

// Rank is the number of kernel principal components that are projected.
func (f *kernelRP) Rank() int { return f.rank }

// Bytes counts the kept rows and the weights, in float32 and in float64.
func (f *kernelRP) Bytes() int64 {
	m := int64(f.kept.Rows)
	return f.against.Bytes() + m*(4*int64(f.kept.Cols)+16*int64(f.features))
}

func (f *kernelRP) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := f.Dims()
	check(in, out, dst, x)
	if n := x.Len(); n <= few {
		f.blocks(dst, x, 0, n)
		return
	}
	vec.Parallel(x.Len(), few, func(lo, hi int) { f.blocks(dst, x, lo, hi) })
}

// blocks transforms rows [i, end) of x.
func (f *kernelRP) blocks(dst *matrix.Dense, x matrix.Rows, i, end int) {
	m, width := f.kept.Rows, f.features
	rows := min(f.rows, end-i)
	work := f.free.get(rows * (m + width + f.against.Work()))
	defer f.free.put(work)
	k, z, rest := work[:rows*m], work[rows*m:][:rows*width], work[rows*(m+width):]
	for ; i < end; i += rows {
		n := min(rows, end-i)
		f.against.Rows(x, i, i+n, k, rest)
		f.weights.Multiply(n, k, m, z, width, nil)
		for r := range n {
			out := dst.Row(i + r)
			for c, v := range z[r*width:][:width] {
				out[c] = float32(v)
			}
		}
	}
}
