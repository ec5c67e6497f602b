package pool

import (
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// stream is what closed forms need of a pair of vectors u, v of one stream.
type stream struct {
	k, uu, vv      float64 // u·v, ‖u‖², ‖v‖²
	b, c, together float64 // Σ_{i≠j} u_i²v_j², Σ_{i≠j} u_iv_iu_jv_j, Σ u_i²v_i²
}

func streamOf(u, v []float32) (s stream) {
	for i, x := range u {
		a, b := float64(x), float64(v[i])
		s.k += a * b
		s.uu += a * a
		s.vv += b * b
		s.together += a * a * b * b
	}
	s.b = s.uu*s.vv - s.together
	s.c = s.k*s.k - s.together
	return s
}

// q is E[(r·u)²(r·v)²] for entries of fourth moment kappa.
func (s stream) q(kappa float64) float64 { return s.uu*s.vv + 2*s.k*s.k + (kappa-3)*s.together }

// The closed forms of docs/algorithms.md, for vectors x = u⊗u' and y = v⊗v' where the streams are two, and
// for both the same stream where it is one.

func sketchVariance(d float64, s, t stream) float64 {
	g := 1.
	if math.Mod(d, 2) == 0 {
		g = 2
	}
	a, a2 := s.k*s.k, t.k*t.k
	return (g*(a+s.b+s.c)*(a2+t.b+t.c)+(d-g)*((a+s.b)*(a2+t.b)+(a+s.c)*(a2+t.c))+(d*d-2*d+g)*a*a2)/(d*d) - a*a2
}

func maclaurinVariance(d float64, s, t stream) float64 {
	a, a2 := s.k*s.k, t.k*t.k
	return ((a+s.b+s.c)*(a2+t.b+t.c) - a*a2) / d
}

// krpVariance is that without reuse.
func krpVariance(d, terms, sparsity float64, s, t stream) float64 {
	k := s.k * t.k
	return (s.q(sparsity)*t.q(sparsity)/terms + (1-1/terms)*(s.uu*t.uu*s.vv*t.vv+2*k*k) - k*k) / d
}

// reuseVariance is that of one stream, one term an output and pairs drawn from a pool of m.
func reuseVariance(d, m, sparsity float64, s stream) float64 {
	q, k := s.q(sparsity), s.k*s.k
	one, both := k*(q-k), q*q-k*k
	pairs := m * (m - 1) / 2
	return both/d + (1-1/d)*(2*(m-2)/pairs*one+both/pairs)
}

// Without a norm the product of the rows of two bags of one vector each is, over seeds, (x·y)²
// in the mean, or the product of those of two streams, and scatters by the closed forms.
func TestRowsEstimateSquaresOfProducts(t *testing.T) {
	seeds := 1500
	if testing.Short() {
		seeds = 200
	}
	const channels, features = 12, 16
	r := random.New(11, "test")
	for _, c := range []struct {
		cfg      Config
		variance func(s, t stream) float64
	}{
		{Config{Method: "tensorsketch", Features: features}, func(s, t stream) float64 { return sketchVariance(features, s, t) }},
		{Config{Method: "tensorsketch", Features: 15}, func(s, t stream) float64 { return sketchVariance(15, s, t) }},
		{Config{Method: "maclaurin", Features: features}, func(s, t stream) float64 { return maclaurinVariance(features, s, t) }},
		{Config{Method: "cbp-krp", Features: features, Sparsity: 1}, func(s, t stream) float64 { return krpVariance(features, 2, 1, s, t) }},
		{Config{Method: "cbp-krp", Features: features, T: 3, Sparsity: 2.4},
			func(s, t stream) float64 { return krpVariance(features, 3, 2.4, s, t) }},
		{Config{Method: "cbp-krp", Features: features, T: 1, Sparsity: 3, Pool: 9, Reuse: "random"},
			func(s, _ stream) float64 { return reuseVariance(features, 9, 3, s) }},
		{Config{Method: "cbp-krp", Features: features, Pool: 7, Sparsity: 8}, nil},
		{Config{Method: "cbp-krp", Features: features, Pool: 2, Sparsity: 1}, nil}, // of two streams each has both
	} {
		for _, streams := range []int{1, 2} {
			c.cfg.Streams, c.cfg.Norm = streams, "none"
			if streams == 1 && c.cfg.Pool == 2 {
				continue
			}
			first := channels
			if streams == 2 {
				first = channels / 3
				if c.cfg.Reuse != "" {
					continue
				}
				if c.cfg.Method == "cbp-krp" && c.cfg.Pool == 0 {
					// One stream has a pool of 2tD by default; of two, each has tD.
					c.cfg.Pool = max(c.cfg.T, 2) * features
				}
			}
			const pairs = 5
			x := normals(r, 2*pairs, channels)
			for j := range channels { // a near pair and an equal one
				x.Row(1)[j] = x.Row(0)[j] + x.Row(1)[j]/4
				x.Row(3)[j] = x.Row(2)[j]
			}
			bags := make([]int, 2*pairs+1)
			for i := range bags {
				bags[i] = i
			}
			estimates := make([][]float64, pairs)
			for seed := range seeds {
				c.cfg.Seed = uint64(seed)
				p := build1(t, c.cfg, channels)
				y := matrix.NewDense(2*pairs, p.features)
				p.Pool(y, matrix.Rows{Dense: x}, bags)
				for i := range pairs {
					estimates[i] = append(estimates[i], product(y.Row(2*i), y.Row(2*i+1)))
				}
			}
			for i, sample := range estimates {
				u, v := x.Row(2*i), x.Row(2*i+1)
				s := streamOf(u[:first], v[:first])
				other := s
				if streams == 2 {
					other = streamOf(u[first:], v[first:])
				}
				want := s.k * other.k
				mean, m2, m4 := moments4(sample, want)
				n := float64(seeds)
				if se := math.Sqrt(m2 / n); math.Abs(mean-want) > 4*se {
					t.Errorf("%+v, pair %d: mean %.5g, want %.5g ± %.2g", c.cfg, i, mean, want, se)
				}
				if c.variance == nil || testing.Short() {
					continue // few seeds do not tell a variance whose estimate is skewed
				}
				v2 := c.variance(s, other)
				if se := math.Sqrt((m4 - m2*m2) / n); math.Abs(m2-v2) > 4*se {
					t.Errorf("%+v, pair %d: variance %.5g, want %.5g ± %.2g", c.cfg, i, m2, v2, se)
				}
			}
		}
	}
}

// The product of the rows of two bags is in the mean the sum of the squares over all pairs of
// locations, or of the products of both streams, also with the default options.
func TestRowsOfBagsEstimateSumsOverPairs(t *testing.T) {
	const channels, seeds = 40, 300
	r := random.New(12, "test")
	x := normals(r, 12, channels)
	for j := range channels { // so that there is more to see than noise
		for l := range x.Rows {
			x.Row(l)[j] += float32(math.Cos(float64(j)))
		}
	}
	for _, cfg := range []Config{
		{Method: "tensorsketch", Features: 100}, {Method: "maclaurin", Features: 100}, {Method: "cbp-krp", Features: 100},
		{Method: "tensorsketch", Features: 100, Streams: 2},
		{Method: "maclaurin", Features: 100, Streams: 2}, {Method: "cbp-krp", Features: 100, Streams: 2},
	} {
		cfg.Norm = "none"
		cfg = shaped(cfg, channels)
		split := channels
		if cfg.Streams == 2 {
			split = cfg.First
		}
		want := 0.0
		for i := range 5 {
			for j := 5; j < 12; j++ {
				first := product(x.Row(i)[:split], x.Row(j)[:split])
				if cfg.Streams == 2 {
					want += first * product(x.Row(i)[split:], x.Row(j)[split:])
				} else {
					want += first * first
				}
			}
		}
		var sample []float64
		y := matrix.NewDense(2, 100)
		for seed := range seeds {
			cfg.Seed = uint64(seed)
			build1(t, cfg, channels).Pool(y, matrix.Rows{Dense: x}, []int{0, 5, 12})
			sample = append(sample, product(y.Row(0), y.Row(1)))
		}
		mean, m2, _ := moments4(sample, want)
		se := math.Sqrt(m2 / seeds)
		if math.Abs(mean-want) > 4*se {
			t.Errorf("%+v: mean %.5g, want %.5g ± %.2g", cfg, mean, want, se)
		}
		if se > want/10 {
			t.Errorf("%+v: standard error %.3g of %.3g: this test sees nothing", cfg, se, want)
		}
	}
}

func product(x, y []float32) (sum float64) {
	for i, v := range x {
		sum += float64(v) * float64(y[i])
	}
	return sum
}

// moments4 returns the mean, and the second and fourth moments about want.
func moments4(sample []float64, want float64) (mean, m2, m4 float64) {
	for _, v := range sample {
		d := v - want
		mean += v
		m2 += d * d
		m4 += d * d * d * d
	}
	n := float64(len(sample))
	return mean / n, m2 / n, m4 / n
}
