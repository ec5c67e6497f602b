package papers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// fastest is the least time in milliseconds of three runs: other work on the machine makes
// runs slower, never faster.
func fastest(run func() error) (float64, error) {
	best := 0.0
	for i := range 3 {
		start := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		if ms := 1e3 * time.Since(start).Seconds(); i == 0 || ms < best {
			best = ms
		}
	}
	return best, nil
}

// every are the columns of a table.
func every(t *Table) []int {
	all := make([]int, len(t.Columns))
	for i := range all {
		all[i] = i
	}
	return all
}

// sivertsenSpeed are the figures of S14 that show times: by rows, by features and by dimensions.
func sivertsenSpeed() []*Table {
	const open = "To draw a map and to map the rows; the least of three runs. The paper's figures are plots without " +
		"numbers, so that there are none of theirs. "
	var all []*Table
	for _, f := range []struct {
		name, by, symbol, source, says string
		values                         []int
		n, d, dim                      int // of what does not change
		cost                           float64
	}{
		{"S14-F4.9", "samples", "n", "4.9 and, with phases, C.1",
			"d = 16, D = 16. The paper says that both are linear in n, and with phases faster.",
			[]int{1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000}, 0, 16, 16, 0.5},
		{"S14-F4.10", "features", "D", "4.10 and, with phases, C.2",
			"d = 16, n = 1,000. The paper says that both look linear in D, and TensorSketch is faster.",
			[]int{16, 64, 256, 1024, 4096, 8192, 16_384}, 1000, 16, 0, 1},
		{"S14-F4.11", "dimensions", "d", "4.11 and, with phases, C.3",
			"D = 4,096, n = 1,000. The paper says that Fastfood grows as log d, TensorSketch as d.",
			[]int{16, 32, 64, 128, 256, 512, 1024, 2048, 4096}, 1000, 0, 4096, 2},
	} {
		t := &Table{
			Name:     f.name,
			Title:    "Time of Fastfood and TensorSketch by the number of " + f.by,
			Source:   sivertsenSource(f.source),
			Protocol: open + f.says + " D frequencies are 2D features, with phases D; the kernels are those of table 4.1.",
			Corner:   "milliseconds, by " + f.symbol,
			Columns:  []string{"Fastfood", "Fastfood, phases", "TensorSketch"},
			Cost:     f.cost,
		}
		t.Unmarked, t.Timed = every(t), true
		for _, v := range f.values {
			t.Rows = append(t.Rows, Row{Name: strconv.Itoa(v)})
		}
		t.open = drawn(func(_ context.Context, i int, seed uint64, _ bool) ([]float64, error) {
			v := f.values[i]
			n, d, dim := max(f.n, 1), max(f.d, 1), max(f.dim, 1)
			switch f.symbol {
			case "n":
				n = v
			case "D":
				dim = v
			case "d":
				d = v
			}
			x := matrix.Rows{Dense: uniform(n, d, seed, "papers.speed")}
			phases := radial(dim, 2, seed)
			phases.Form, phases.Features = "phase", dim
			var all []float64
			for _, cfg := range []feature.Config{radial(dim, 2, seed), phases, sketched(dim, seed)} {
				z := matrix.NewDense(n, cfg.Features)
				ms, err := fastest(func() error {
					m, err := feature.New(cfg, d)
					if err == nil {
						m.Transform(z, x)
					}
					return err
				})
				if err != nil {
					return nil, err
				}
				all = append(all, ms)
			}
			return all, nil
		})
		all = append(all, t)
	}
	return append(all, sivertsenHadamard())
}

// sivertsenHadamard is S14's figure of the Walsh-Hadamard transform.
func sivertsenHadamard() *Table {
	t := &Table{
		Name:   "S14-FA.1",
		Title:  "Time of the fast Walsh-Hadamard transform and of the product with the matrix",
		Source: sivertsenSource("A.1"),
		Protocol: "One vector of n numbers; the least of three runs, of many vectors if it is short, in float32 on " +
			"one thread. The paper has Boost's optimised product, and a plot without numbers: the transform takes O(n log n).",
		Corner:  "microseconds, by n",
		Columns: []string{"transform", "matrix-vector product"},
		Cost:    1,
	}
	t.Unmarked, t.Timed = every(t), true
	const most = 4096
	for n := 16; n <= most; n *= 4 {
		t.Rows = append(t.Rows, Row{Name: strconv.Itoa(n)})
	}
	t.open = drawn(func(_ context.Context, i int, seed uint64, _ bool) ([]float64, error) {
		n := 16 << (2 * i)
		x := make([]float32, n)
		random.New(seed, "papers.hadamard").FillNormal(x)
		h := make([]float32, n*n)
		for row := range n {
			e := h[row*n:][:n]
			e[row] = 1
			vec.Hadamard32(e) // row of the symmetric matrix
		}
		y := make([]float32, n)
		product := func() {
			for row := range y {
				y[row] = vec.Dot32(h[row*n:][:n], x)
			}
		}
		product()
		again := slices.Clone(x)
		vec.Hadamard32(again)
		for j, v := range again {
			if d := v - y[j]; d*d > 1e-6*float32(n) {
				return nil, fmt.Errorf("output %d of %d is %g by the transform and %g by the matrix", j, n, v, y[j])
			}
		}
		times := 1 + 1_000_000/(n*n)
		fast, err := fastest(func() error {
			for range times {
				copy(again, x)
				vec.Hadamard32(again)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		slow, err := fastest(func() error {
			for range times {
				product()
			}
			return nil
		})
		return []float64{1e3 * fast / float64(times), 1e3 * slow / float64(times)}, err
	})
	return t
}
