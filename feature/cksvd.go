package feature

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// CKSVD is [Nystrom] with landmarks h that need not be rows (Bo and Sminchisescu, "Efficient match
// kernel between sets of features for visual recognition", 2009, section 4.2: constrained kernel
// singular value decomposition; Kumar, "Large-scale machine learning: kernel methods", 2010). They
// minimise the loss of the sample under projection onto their span,
//
//	Σ_i ‖φ(x_i) - H v_i‖² = Σ_i [k(x_i, x_i) - k_h(x_i)ᵀ K_hh⁻¹ k_h(x_i)]
//
// by stochastic gradient descent from landmarks that are chosen as for nystrom, by default cluster
// centres. With a_i = K_hh⁻¹ k_h(x_i), the gradient of the second term with respect to h_j is
//
//	2 Σ_i a_ij ∂k(x_i, h_j)/∂h_j - 2 Σ_l (Σ_i a_ij a_il) ∂k(h_l, h_j)/∂h_j
//
// A step moves the landmarks by a share of their distance from one another, in root
// mean square. The loss is measured on fixed rows every few steps: if it has risen, the
// landmarks are reset to the best so far, and the step length is halved.
//
// A step takes O((m + b)·m·(d + m)) operations for b rows: fitting some 100 times what nystrom
// takes. A row then takes what it takes with nystrom, and the map holds as many bytes.
const CKSVD = "cksvd"

// Parameters of the descent: steps, rows per step, steps between measurements and rows to measure on,
// and the first step length relative to the distance of landmarks.
const descentSteps, descentRows, descentEach, descentMeasure, descentRate = 120, 256, 8, 2000, 0.2

func fitCKSVD(ctx context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	h, err := chooseLandmarks(ctx, cfg, sample, "kmeans")
	if err != nil {
		return nil, err
	}
	n, m, d := float64(min(sample.Len(), descentMeasure)), float64(h.Rows), float64(h.Cols)
	if err := affordable(cfg, h.Cols, 8*((n+m)*(d+2*m)+6*m*m)); err != nil {
		return nil, err
	}
	c := newDescent(ctx, cfg.Kernel, sample, h, cfg.Seed)
	if _, err := c.run(); err != nil {
		return nil, fmt.Errorf("feature: cksvd: %w", err)
	}
	return newNystrom(ctx, cfg, c.best)
}

// descent is the state of learning landmarks.
type descent struct {
	ctx     context.Context
	kernel  kernel.Kernel
	sample  matrix.Rows
	measure matrix.Rows // the rows on which the loss is measured
	whole   float64     // Σ k(x, x) on them
	h, best *matrix.Dense
	stream  *random.Stream
}

func newDescent(ctx context.Context, k kernel.Kernel, sample matrix.Rows, h *matrix.Dense, seed uint64) *descent {
	stream := random.New(seed, "feature.cksvd")
	rows := stream.Perm(sample.Len())[:min(sample.Len(), descentMeasure)]
	c := &descent{ctx: ctx, kernel: k, sample: sample, measure: matrix.Rows{Dense: gather(sample, rows)}, h: h, stream: stream}
	c.whole = total(k.Diagonal(c.measure))
	return c
}

// run learns the landmarks, and returns the initial loss and every lower one,
// relative to Σ k(x, x).
func (c *descent) run() (lost []float64, err error) {
	c.best = c.clone(c.h)
	now, err := c.lost()
	if err != nil {
		return nil, err
	}
	lost, rate := append(lost, now), descentRate
	distance := c.spacing()
	for t := 1; t <= descentSteps; t++ {
		batch := make([]int, min(descentRows, c.sample.Len()))
		for i := range batch {
			batch[i] = c.stream.Intn(c.sample.Len())
		}
		gradient, err := c.gradient(matrix.Rows{Dense: gather(c.sample, batch)})
		if err != nil {
			return nil, err
		}
		length := math.Sqrt(vec.Dot64(gradient, gradient) / float64(c.h.Rows))
		if length == 0 || length-length != 0 {
			break
		}
		c.step(gradient, rate*distance*(1-float64(t-1)/descentSteps)/length)
		if t%descentEach != 0 && t != descentSteps {
			continue
		}
		if now, err = c.lost(); err != nil {
			return nil, err
		}
		if now < lost[len(lost)-1] {
			lost, c.best = append(lost, now), c.clone(c.h)
		} else {
			rate /= 2
			c.h = c.clone(c.best)
		}
	}
	return lost, nil
}

func (c *descent) clone(h *matrix.Dense) *matrix.Dense {
	return &matrix.Dense{Rows: h.Rows, Cols: h.Cols, Stride: h.Stride, Data: slices.Clone(h.Data)}
}

// spacing is the root mean square of the distance from a landmark to the nearest different
// one; for a single landmark, to the rows.
func (c *descent) spacing() float64 {
	others := c.h
	if others.Rows == 1 {
		others = c.measure.Dense
	}
	sum, n := 0.0, 0
	for i := range c.h.Rows {
		least := math.Inf(1)
		for j := range others.Rows {
			d := 0.0
			y := others.Row(j)
			for t, v := range c.h.Row(i) {
				d += float64((float64(v) - float64(y[t])) * (float64(v) - float64(y[t])))
			}
			if d > 0 {
				least = min(least, d)
			}
		}
		if !math.IsInf(least, 1) {
			sum += least
			n++
		}
	}
	return math.Sqrt(sum / float64(max(n, 1)))
}

// step moves the landmarks along the gradient, within the kernel's domain.
func (c *descent) step(gradient []float64, times float64) {
	lowest := c.kernel.Lowest()
	for i := range c.h.Rows {
		for j, v := range c.h.Row(i) {
			c.h.Row(i)[j] = max(lowest, float32(float64(v)+times*gradient[i*c.h.Cols+j]))
		}
	}
}

// jitter keeps K_hh away from singular ones, as a share of its largest diagonal element.
const jitter = 1e-8

// inverse returns (K_hh + εI)⁻¹.
func (c *descent) inverse() ([]float64, error) {
	h := matrix.Rows{Dense: c.h}
	gram, err := gramRows(c.ctx, c.kernel, h, h)
	if err != nil {
		return nil, err
	}
	m, largest := c.h.Rows, 0.0
	for i := range m {
		largest = max(largest, gram[i*m+i])
	}
	for e := jitter; e < 1; e *= 100 {
		a, inverse := slices.Clone(gram), make([]float64, m*m)
		for i := range m {
			a[i*m+i] += e * largest
			inverse[i*m+i] = 1
		}
		if vec.CholeskySolve(c.ctx, m, a, m, m, inverse, m) {
			return inverse, nil
		}
	}
	return nil, cmp.Or(c.ctx.Err(), errNotFinite)
}

// lost is which share of Σ k(x, x) the projection on the landmarks loses.
func (c *descent) lost() (float64, error) {
	inverse, err := c.inverse()
	if err != nil {
		return 0, err
	}
	k, err := gramRows(c.ctx, c.kernel, c.measure, matrix.Rows{Dense: c.h})
	if err != nil {
		return 0, err
	}
	n, m := c.measure.Len(), c.h.Rows
	a := make([]float64, n*m)
	vec.GemmNT(n, m, m, k, m, inverse, m, a, m)
	kept := vec.Dot64(k, a)
	if share := 1 - kept/c.whole; share-share == 0 {
		return share, nil
	}
	return 0, errNotFinite
}

// gradient returns the gradient of Σ k_h(x)ᵀ K_hh⁻¹ k_h(x) over the rows of x, m×d.
func (c *descent) gradient(x matrix.Rows) ([]float64, error) {
	inverse, err := c.inverse()
	if err != nil {
		return nil, err
	}
	b, m := x.Len(), c.h.Rows
	k, err := gramRows(c.ctx, c.kernel, x, matrix.Rows{Dense: c.h})
	if err != nil {
		return nil, err
	}
	// Weights of ∂k(u, h_j)/∂h_j for u the rows of x, and then the landmarks.
	weight := make([]float64, (b+m)*m)
	a, p := weight[:b*m], weight[b*m:]
	vec.GemmNT(b, m, m, k, m, inverse, m, a, m)
	vec.GemmAddTN(m, m, b, a, m, a, m, p, m)
	for i := range a {
		a[i] *= 2
	}
	for i := range p {
		p[i] *= -2
	}
	u := matrix.NewDense(b+m, c.h.Cols)
	for i := range b {
		copy(u.Row(i), x.Dense.Row(i))
	}
	for i := range m {
		copy(u.Row(b+i), c.h.Row(i))
	}
	if c.kernel.Smooth() {
		return c.smooth(u, weight)
	}
	gradient := make([]float64, m*c.h.Cols)
	vec.Parallel(m, 1, func(lo, hi int) {
		w := make([]float64, u.Rows)
		for j := lo; j < hi; j++ {
			for i := range w {
				w[i] = weight[i*m+j]
			}
			c.kernel.AddGradient(gradient[j*c.h.Cols:][:c.h.Cols], w, u, c.h.Row(j))
		}
	})
	return gradient, nil
}

// smooth adds up weight_ij ∂k(u_i, h_j)/∂h_j = weight_ij·(p_ij u_i + q_ij h_j) in a matrix
// product. It overwrites the weights.
func (c *descent) smooth(u *matrix.Dense, weight []float64) ([]float64, error) {
	n, m, d := u.Rows, c.h.Rows, c.h.Cols
	moved, h := make([]float64, n*d), make([]float64, m*d)
	mean := make([]float64, d)
	if law, ok := c.kernel.Law(); ok && law.ShiftInvariant() { // its gradient is that of u - h
		mean = meanOf(c.h)
	}
	for _, part := range []struct {
		from *matrix.Dense
		to   []float64
	}{{u, moved}, {c.h, h}} {
		for i := range part.from.Rows {
			for j, v := range part.from.Row(i) {
				part.to[i*d+j] = float64(v) - mean[j]
			}
		}
	}
	products := make([]float64, n*m)
	vec.GemmNT(n, m, d, moved, d, h, d, products, m)
	yy := make([]float64, m)
	for j := range m {
		yy[j] = vec.Dot64(h[j*d:][:d], h[j*d:][:d])
	}
	own := products // of the gradient along h_j, instead of the products
	vec.Parallel(n, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			xx := vec.Dot64(moved[i*d:][:d], moved[i*d:][:d])
			for j, xy := range products[i*m:][:m] {
				p, q := c.kernel.Slopes(xy, xx, yy[j])
				own[i*m+j] = q * weight[i*m+j]
				weight[i*m+j] *= p
			}
		}
	})
	gradient, along := make([]float64, m*d), make([]float64, m)
	vec.GemmAddTN(m, d, n, weight, m, moved, d, gradient, d)
	for i := range n {
		vec.Axpy64(1, own[i*m:][:m], along)
	}
	for j, q := range along {
		vec.Axpy64(q, h[j*d:][:d], gradient[j*d:][:d])
	}
	return gradient, nil
}
