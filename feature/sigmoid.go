package feature

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Sigmoid maps by sigmoids across the data:
//
//	z_j(x) = σ((x·w_j - b_j)/s),  σ(t) = 1/(1 + e^-t),  ‖w_j‖ = 1
//
// In one dimension these are the σ((x-μ_j)/s) of Kumar ("Large-scale machine learning: kernel
// methods", 2010). In more, cluster centres μ_j are visited in a random cycle, and sigmoid j
// is centred midway between one and the next, perpendicular to the line between them. So sigmoids
// lie where the data are and follow the directions in which they vary. s is by default the root
// mean square of x·w_j - b_j over the sample.
//
// z(x)·z(y) approximates no kernel, and the kernel of the configuration is ignored. A row
// takes O(dD) operations, in float64; the map holds 12dD bytes.
const Sigmoid = "sigmoid"

// sigmoid is the map [Sigmoid].
type sigmoid struct {
	directions *matrix.Dense // D×d: w_j
	offsets    *matrix.Dense // D×2: b_j, and its rounding error in float32
	width      float64       // s
	packed     *vec.Packed[float64]
	shift      []float64 // b_j/s
	height     int
	free       freelist.Slices[float64]
}

func checkSigmoid(cfg Config) error {
	if !(cfg.Width >= 0 && cfg.Width <= math.MaxFloat32) {
		return fmt.Errorf("feature: sigmoid: width is %g; it must be a positive number, or 0 for one that the data choose", cfg.Width)
	}
	return checkLandmarks(cfg)
}

func fitSigmoid(ctx context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	centres, err := chooseLandmarks(ctx, cfg, sample, "kmeans")
	if err != nil {
		return nil, err
	}
	m, d := centres.Rows, centres.Cols
	stream := random.New(cfg.Seed, "feature.sigmoid")
	circle := stream.Perm(m)
	f := &sigmoid{directions: matrix.NewDense(m, d), offsets: matrix.NewDense(m, 2)}
	w := make([]float64, d)
	for t, j := range circle {
		from, to := centres.Row(j), centres.Row(circle[(t+1)%m])
		length := 0.0
		for c := range w {
			w[c] = float64(to[c]) - float64(from[c])
			length += float64(w[c] * w[c])
		}
		for length == 0 { // one centre, or two that are equal: any direction
			for c := range w {
				w[c] = stream.Normal()
				length += float64(w[c] * w[c])
			}
		}
		row, b := f.directions.Row(j), 0.0
		for c, v := range w {
			row[c] = float32(v / math.Sqrt(length))
			b += float64(float64(row[c]) * (float64(from[c]) + float64(to[c])) / 2)
		}
		high := float32(b)
		f.offsets.Row(j)[0], f.offsets.Row(j)[1] = high, float32(b-float64(high))
	}
	if f.width = float64(float32(cfg.Width)); f.width == 0 {
		f.width = 1
		f.prepare()
		f.width = float64(float32(f.spread(sample)))
	}
	if err := f.valid(); err != nil {
		return nil, err
	}
	f.prepare()
	return f, nil
}

// spread is the root mean square of x·w_j - b_j over rows, 1 if it is 0. It expects a width of 1.
func (f *sigmoid) spread(x matrix.Rows) float64 {
	m, d := f.directions.Rows, f.directions.Cols
	sum, n := 0.0, min(x.Len(), 2000)
	work, t := make([]float64, d), make([]float64, m)
	for i := range n {
		f.steps(x, i, i+1, t, work)
		sum += vec.Dot64(t, t) / float64(m)
	}
	if sum == 0 {
		return 1
	}
	return math.Sqrt(sum / float64(n))
}

// valid fails unless all numbers are finite and the width is positive.
func (f *sigmoid) valid() error {
	for _, part := range []*matrix.Dense{f.directions, f.offsets} {
		if err := finite(part); err != nil {
			return fmt.Errorf("feature: sigmoid: %w; scale the data", err)
		}
	}
	if !(f.width > 0 && f.width <= math.MaxFloat32) {
		return fmt.Errorf("feature: sigmoid: the width is %g; scale the data", f.width)
	}
	return nil
}

// prepare packs the directions, divided by the width.
func (f *sigmoid) prepare() {
	m, d := f.directions.Rows, f.directions.Cols
	columns := make([]float64, d*m)
	f.shift = make([]float64, m)
	for j := range m {
		for c, v := range f.directions.Row(j) {
			columns[c*m+j] = float64(v) / f.width
		}
		b := f.offsets.Row(j)
		f.shift[j] = (float64(b[0]) + float64(b[1])) / f.width
	}
	f.packed = vec.Pack64(d, m, columns, m)
	f.height = max(1, min(56, 1<<18/(d+m)))
}

// State has the directions, the offsets in two parts, and the width.
func (f *sigmoid) State() map[string]*matrix.Dense {
	width := matrix.NewDense(1, 1)
	width.Data[0] = float32(f.width)
	return map[string]*matrix.Dense{"directions": f.directions, "offsets": f.offsets, "width": width}
}

func restoreSigmoid(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	f := &sigmoid{directions: state["directions"], offsets: state["offsets"]}
	width := state["width"]
	if f.directions == nil || f.offsets == nil || width == nil || f.directions.Cols != dim || f.directions.Rows < 1 ||
		f.directions.Rows > cfg.Features ||
		f.offsets.Rows != f.directions.Rows || f.offsets.Cols != 2 || width.Rows != 1 || width.Cols != 1 {
		return nil, fmt.Errorf("feature: sigmoid: the state is not that of %d features of %d dimensions", cfg.Features, dim)
	}
	f.width = float64(width.Data[0])
	if err := f.valid(); err != nil {
		return nil, err
	}
	f.prepare()
	return f, nil
}

func (f *sigmoid) Dims() (in, out int) { return f.directions.Cols, f.directions.Rows }

// Bytes counts the directions, as they are stored and as they are packed.
func (f *sigmoid) Bytes() int64 {
	return int64(f.directions.Rows) * (12*int64(f.directions.Cols) + 16)
}

// Chosen tells the width.
func (f *sigmoid) Chosen() string {
	return fmt.Sprintf("%d steps of width %.3g", f.directions.Rows, f.width)
}

func (f *sigmoid) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := f.Dims()
	check(in, out, dst, x)
	eachRow(f, dst, x)
}

func (f *sigmoid) rows(dst *matrix.Dense, x matrix.Rows, i, end int) {
	d, m := f.Dims()
	height := min(f.height, end-i)
	work := f.free.Get(height * (d + m))
	defer f.free.Put(work)
	t, rest := work[:height*m], work[height*m:]
	for ; i < end; i += height {
		n := min(height, end-i)
		f.steps(x, i, i+n, t, rest)
		for k, v := range t[:n*m] {
			t[k] = -v
		}
		vec.Exp64(t[:n*m], t[:n*m])
		for r := range n {
			out := dst.Row(i + r)
			for j, v := range t[r*m:][:m] {
				out[j] = float32(1 / (1 + v))
			}
		}
	}
}

// steps writes (x·w_j - b_j)/s of rows [i, j) of x into t. work has d numbers per row.
func (f *sigmoid) steps(x matrix.Rows, i, j int, t, work []float64) {
	d, m := f.Dims()
	for r := i; r < j; r++ {
		row := work[(r-i)*d:][:d]
		if x.CSR != nil {
			clear(row)
			idx, val := x.CSR.Row(r)
			for k, c := range idx {
				row[c] = float64(val[k])
			}
			continue
		}
		for c, v := range x.Dense.Row(r) {
			row[c] = float64(v)
		}
	}
	f.packed.Multiply(j-i, work, d, t, m, nil)
	for r := range j - i {
		vec.Axpy64(-1, f.shift, t[r*m:][:m])
	}
}
