package papers

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Digits of 14×14 pixels, and how the classifier of LS19's figure 2.5 is trained.
const (
	templateSide   = 14
	templatePixels = templateSide * templateSide
	templateRows   = 10_000
	templateEpochs = 5
	templateRate   = 0.5
)

// lopezTemplates is LS19's figure 2.5, a linear classifier h(x) = tanh(w·φ(x) + b) of the digit 3 against the others, by gradient descent on the
// squared error in the feature space φ(x) = x⊗x of (x·y)².
func lopezTemplates() *Table {
	t := &Table{
		Name:   "LS19-F2.5",
		Title:  "A linear classifier in the feature space of (x·y)², MNIST",
		Source: "López-Sánchez 2019 (thesis), figure 2.5, a picture without numbers",
		Protocol: fmt.Sprintf("Digits of 14 × 14 pixels, means of 2 × 2, of length 1; %d drawn by the seed to train on, all 10,000 to test. "+
			"h(x) = tanh(w·φ(x) + b) learns 1 of a 3 and -1 of the other digits by stochastic gradient descent on (h - y)², %d epochs, once on φ(x) = x⊗x "+
			"and once on the pixels alone. Templates are the weights w_ij by i: how much those of a pixel i, seen as a picture of j, differ from "+
			"one another, 1 - the mean cosine of two of them; of one picture for all pixels it would be 0.", templateRows, templateEpochs),
		Data: "mnist", Corner: "in percent", Columns: []string{"test error", "missed 3s", "false 3s", "templates differ"}, Cost: 15,
		Rows: []Row{{Name: "pixels"}, {Name: "φ(x) = x⊗x"}},
	}
	t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
		s, err := digits(ctx, dir)
		if err != nil {
			return nil, err
		}
		rows := templateRows
		if quick {
			rows = 500
		}
		test := shrunk(s.test.x)
		return func(seed uint64) (experiment, error) {
			chosen := random.New(seed, "papers.templates").Perm(s.train.x.Len())[:rows]
			x, class := shrunk(matrix.Pick(s.train.x, chosen)), picked(s.train.class, chosen)
			return func(i int) ([]float64, error) {
				c := learnTemplates(x, class, i == 1, seed)
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				missed, wrong, threes := 0.0, 0.0, 0.0
				phi := make([]float32, len(c.w))
				for r := range test.Rows {
					three := c.score(test.Row(r), phi) > 0
					switch is := s.test.class[r] == 3; {
					case is && !three:
						missed++
					case three && !is:
						wrong++
					}
					if s.test.class[r] == 3 {
						threes++
					}
				}
				n := float64(test.Rows)
				return []float64{100 * (missed + wrong) / n, 100 * missed / threes, 100 * wrong / (n - threes), 100 * c.differ()}, nil
			}, nil
		}, nil
	}
	return t
}

// templates are the weights of a linear classifier of φ(x), or of x.
type templates struct {
	w        []float32
	b        float64
	products bool
}

// score is w·φ(x) + b; it leaves φ(x) in phi.
func (c *templates) score(x, phi []float32) float64 {
	if !c.products {
		copy(phi, x)
	} else {
		for i, v := range x {
			row := phi[i*len(x) : (i+1)*len(x)]
			clear(row)
			vec.Axpy32(v, x, row)
		}
	}
	return float64(vec.Dot32(c.w, phi)) + c.b
}

// learnTemplates trains by stochastic gradients, of a rate that falls to 0.
func learnTemplates(x *matrix.Dense, class []int, products bool, seed uint64) *templates {
	c := &templates{w: make([]float32, x.Cols), products: products}
	if products {
		c.w = make([]float32, x.Cols*x.Cols)
	}
	phi := make([]float32, len(c.w))
	order := random.New(seed, "papers.templates.order")
	step, steps := 0, templateEpochs*x.Rows
	for range templateEpochs {
		for _, r := range order.Perm(x.Rows) {
			y := -1.0
			if class[r] == 3 {
				y = 1
			}
			h := math.Tanh(c.score(x.Row(r), phi))
			g := templateRate * (1 - float64(step)/float64(steps)) * (y - h) * (1 - h*h)
			vec.Axpy32(float32(g), phi, c.w)
			c.b += g
			step++
		}
	}
	return c
}

// differ is 1 - the mean cosine of the templates of two pixels; 0 for a classifier of pixels, which has one.
func (c *templates) differ() float64 {
	if !c.products {
		return 0
	}
	const d = templatePixels
	sum, used := make([]float64, d), 0.0
	for i := range d {
		row := c.w[i*d : (i+1)*d]
		size := math.Sqrt(float64(vec.Dot32(row, row)))
		if size == 0 {
			continue // a pixel that is never dark
		}
		used++
		for j, v := range row {
			sum[j] += float64(v) / size
		}
	}
	all := 0.0
	for _, v := range sum {
		all += v * v
	}
	return 1 - (all-used)/(used*(used-1))
}

// shrunk are digits of 28×28 pixels as 14×14 of length 1.
func shrunk(x matrix.Rows) *matrix.Dense {
	small := matrix.NewDense(x.Len(), templatePixels)
	one := matrix.NewDense(1, 4*templatePixels)
	for r := range x.Len() {
		part := x.Slice(r, r+1)
		if part.CSR != nil {
			part.CSR.Densify(one)
			part = matrix.Rows{Dense: one}
		}
		to := small.Row(r)
		for i, v := range part.Dense.Row(0) {
			to[i/(2*templateSide)/2*templateSide+i%(2*templateSide)/2] += v
		}
		size := float32(math.Sqrt(float64(vec.Dot32(to, to))))
		for i := range to {
			to[i] /= max(size, math.SmallestNonzeroFloat32)
		}
	}
	return small
}
