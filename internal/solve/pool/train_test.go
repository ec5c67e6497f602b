package pool

import (
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// network is two layers with a pooling between them: filters on patches and a rectifier, then, on
// the pooled row, a linear layer for a softmax.
type network struct {
	filters *matrix.Dense // channels×size
	pooling *Pooling
	weights *matrix.Dense // classes×features
}

// gradient returns the mean loss of a batch of images of the same number of patches, how many of them
// are classified well, and the gradients by both layers.
func (n *network) gradient(patches *matrix.Dense, labels []int) (loss float64, right int, filters, weights *matrix.Dense) {
	images := len(labels)
	locations := patches.Rows / images
	bags := make([]int, images+1)
	for i := range bags {
		bags[i] = i * locations
	}
	x := matrix.NewDense(patches.Rows, n.filters.Rows)
	for l := range x.Rows {
		for c := range x.Cols {
			x.Row(l)[c] = max(0, float32(product(patches.Row(l), n.filters.Row(c))))
		}
	}
	y := matrix.NewDense(images, n.weights.Cols)
	n.pooling.Pool(y, matrix.Rows{Dense: x}, bags)

	dy := matrix.NewDense(images, y.Cols)
	weights = matrix.NewDense(n.weights.Rows, y.Cols)
	for i, label := range labels {
		p := make([]float64, n.weights.Rows)
		sum, best := 0.0, 0
		for k := range p {
			score := product(n.weights.Row(k), y.Row(i))
			p[k] = math.Exp(score)
			sum += p[k]
			if p[k] > p[best] {
				best = k
			}
		}
		if best == label {
			right++
		}
		loss -= math.Log(p[label]/sum) / float64(images)
		for k := range p {
			slope := p[k] / sum
			if k == label {
				slope--
			}
			slope /= float64(images)
			for j, v := range y.Row(i) {
				weights.Row(k)[j] += float32(slope) * v
				dy.Row(i)[j] += float32(slope) * n.weights.Row(k)[j]
			}
		}
	}
	dx := matrix.NewDense(x.Rows, x.Cols)
	n.pooling.Backward(dx, x, bags, dy)
	filters = matrix.NewDense(n.filters.Rows, n.filters.Cols)
	for l := range x.Rows {
		for c, v := range x.Row(l) {
			if v > 0 {
				for j, u := range patches.Row(l) {
					filters.Row(c)[j] += dx.Row(l)[c] * u
				}
			}
		}
	}
	return loss, right, filters, weights
}

// textures draws images of patches of mean 0. Classes differ in which two of three hidden directions have the same
// sign in all patches of it, and so in covariances only.
func textures(r *random.Stream, images, locations int, directions *matrix.Dense) (patches *matrix.Dense, labels []int) {
	patches = matrix.NewDense(images*locations, directions.Cols)
	for i := range images {
		label := i % 3
		labels = append(labels, label)
		for l := range locations {
			row := patches.Row(i*locations + l)
			for j := range row {
				row[j] = float32(0.8 * r.Normal())
			}
			var along [3]float64
			for k := range along {
				along[k] = r.Normal()
			}
			along[(label+1)%3] = along[label]
			for k, a := range along {
				for j, v := range directions.Row(k) {
					row[j] += float32(a) * v
				}
			}
		}
	}
	return patches, labels
}

// Stochastic gradient descent learns filters through the pooling: with all methods, a task whose
// classes differ in second moments only, much better than it does with the random filters it starts from.
func TestFiltersAreLearnedThroughPooling(t *testing.T) {
	const size, channels, locations, batch = 24, 6, 24, 30
	steps := 200
	if testing.Short() {
		t.Skip("trains 14 networks")
	}
	r := random.New(21, "test")
	directions := normals(r, 3, size)
	for k := range 3 {
		scale(directions.Row(k), float32(1/math.Sqrt(product(directions.Row(k), directions.Row(k)))))
	}
	test, answers := textures(r, 300, locations, directions)
	for _, cfg := range []Config{
		{},
		{Method: "full"},
		{Method: "tensorsketch", Features: 40},
		{Method: "maclaurin", Features: 60},
		{Method: "cbp-krp", Features: 60},
		{Method: "full", Norm: "l2"},
		{Method: "tensorsketch", Features: 40, Streams: 2},
	} {
		learn := func(rate float32) float64 {
			n := &network{filters: normals(random.New(22, "test"), channels, size), pooling: build1(t, cfg, channels)}
			scale(n.filters.Data, 0.25)
			n.weights = matrix.NewDense(3, n.pooling.features)
			r := random.New(23, "test")
			var speed [2][]float32
			speed[0], speed[1] = make([]float32, len(n.filters.Data)), make([]float32, len(n.weights.Data))
			for range steps {
				patches, labels := textures(r, batch, locations, directions)
				_, _, filters, weights := n.gradient(patches, labels)
				for i, g := range filters.Data {
					speed[0][i] = 0.9*speed[0][i] - rate*g
					n.filters.Data[i] += speed[0][i]
				}
				for i, g := range weights.Data {
					speed[1][i] = 0.9*speed[1][i] - 2*g
					n.weights.Data[i] += speed[1][i]
				}
			}
			_, right, _, _ := n.gradient(test, answers)
			return float64(right) / float64(len(answers))
		}
		frozen, learned := learn(0), learn(0.05)
		t.Logf("%+v: %.3f with random filters, %.3f with learned ones", cfg, frozen, learned)
		if learned < 0.85 || learned < frozen+0.25 {
			t.Errorf("%+v: %.3f with learned filters, %.3f with random ones", cfg, learned, frozen)
		}
	}
}
