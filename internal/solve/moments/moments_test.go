package moments

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// sample draws n rows of d features around mean with K targets that depend on them.
func sample(seed uint64, n, d, k int, mean float64) (*matrix.Dense, []float64) {
	s := random.New(seed, "moments-test")
	z := matrix.NewDense(n, d)
	y := make([]float64, n*k)
	for i := range n {
		row := z.Row(i)
		for j := range row {
			row[j] = float32(mean + s.Normal())
		}
		for t := range k {
			y[i*k+t] = float64(row[t%d]) - 0.5*float64(row[(t+1)%d]) + 3 + 0.1*s.Normal()
		}
	}
	return z, y
}

// naive are the weighted centred moments by two passes in float64.
func naive(z *matrix.Dense, y, w []float64, k int) (mz, my, h, v, yy []float64) {
	n, d := z.Rows, z.Cols
	total := 0.0
	mz, my = make([]float64, d), make([]float64, k)
	for i := range n {
		total += w[i]
		for j, x := range z.Row(i) {
			mz[j] += w[i] * float64(x)
		}
		for t := range k {
			my[t] += w[i] * y[i*k+t]
		}
	}
	for j := range mz {
		mz[j] /= total
	}
	for t := range my {
		my[t] /= total
	}
	h, v, yy = make([]float64, d*d), make([]float64, d*k), make([]float64, k)
	for i := range n {
		row := z.Row(i)
		for a := range d {
			za := float64(row[a]) - mz[a]
			for b := range d {
				h[a*d+b] += w[i] * za * (float64(row[b]) - mz[b])
			}
			for t := range k {
				v[a*k+t] += w[i] * za * (y[i*k+t] - my[t])
			}
		}
		for t := range k {
			e := y[i*k+t] - my[t]
			yy[t] += w[i] * e * e
		}
	}
	return mz, my, h, v, yy
}

// agree compares statistics with naive ones, relative to the size of what was summed.
func agree(t *testing.T, s *Stats, z *matrix.Dense, y, w []float64, tol float64) {
	t.Helper()
	mz, my, h, v, yy := naive(z, y, w, s.k)
	s.center()
	scale := 0.0
	for i := range s.d {
		scale = math.Max(scale, h[i*s.d+i])
	}
	near := func(what string, got, want, size float64) {
		if d := math.Abs(got - want); !(d <= tol*size) {
			t.Errorf("%s: got %.17g, want %.17g", what, got, want)
		}
	}
	for i := range s.d {
		near("mean of z", s.shiftZ[i], mz[i], 1+math.Abs(mz[i]))
		for j := i; j < s.d; j++ {
			near("H", s.h[i*s.d+j], h[i*s.d+j], scale)
		}
		for c := range s.k {
			near("V", s.v[i*s.k+c], v[i*s.k+c], math.Sqrt(scale*yy[c])+scale)
		}
	}
	for c := range s.k {
		near("mean of y", s.shiftY[c], my[c], 1+math.Abs(my[c]))
		near("YY", s.yy[c], yy[c], yy[c])
	}
}

func ones(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

func TestStatsMatchTwoPasses(t *testing.T) {
	z, y := sample(1, 700, 9, 2, 0)
	s := New(9, 2)
	s.Add(z, y, nil)
	agree(t, s, z, y, ones(700), 1e-13)
}

func TestStatsDoNotCancelFarFromZero(t *testing.T) {
	// Means 10⁴ deviations away: sums around 0 would lose 8 of the 16 digits.
	z, y := sample(2, 1000, 5, 1, 1e4)
	s := New(5, 1)
	s.Add(z, y, nil)
	agree(t, s, z, y, ones(1000), 1e-11)
}

func TestStatsWeightsAreRepetitions(t *testing.T) {
	z, y := sample(3, 300, 4, 2, 1)
	w := make([]float64, 300)
	for i := range w {
		w[i] = float64(i % 4)
	}
	s := New(4, 2)
	s.Add(z, y, w)
	agree(t, s, z, y, w, 1e-12)

	repeated := New(4, 2)
	for i := range 300 {
		for range i % 4 {
			repeated.Add(z.Slice(i, i+1), y[i*2:i*2+2], nil)
		}
	}
	repeated.center()
	for i, h := range s.h {
		if i/4 <= i%4 && math.Abs(h-repeated.h[i]) > 1e-10*s.h[0] {
			t.Fatalf("H[%d]: %g weighted, %g repeated", i, h, repeated.h[i])
		}
	}
}

// From narrowFrom features on, products are summed in float32 within a block.
func TestNarrowBlocksCostNoAccuracy(t *testing.T) {
	const d, n = narrowFrom + 3, 2500
	z, y := sample(5, n, d, 1, 40)
	s := New(d, 1)
	s.Add(z, y, nil)
	s.center()
	mean := make([]float64, d)
	for i := range n {
		for j, v := range z.Row(i) {
			mean[j] += float64(v) / n
		}
	}
	for i := 0; i < d; i += 7 {
		for j := i; j < d; j += 5 {
			want, size := 0.0, 0.0
			for r := range n {
				v := (float64(z.Row(r)[i]) - mean[i]) * (float64(z.Row(r)[j]) - mean[j])
				want, size = want+v, size+math.Abs(v)
			}
			// Each of 512 sums s·l/512 is rounded by 2⁻²³ of it over √12 at most, at random:
			// √(512/36)·2⁻²³ of such a sum, less of a total of several. Four times that is allowed.
			if math.Abs(s.h[i*d+j]-want) > 1.8e-6*size {
				t.Fatalf("H[%d, %d] = %g, want %g ± %g", i, j, s.h[i*d+j], want, 1.8e-6*size)
			}
		}
	}
}

// weightsOf are weights of n rows.
func weightsOf(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 0.5 + float64(i%7)/3
	}
	return w
}

func TestStatsHaveTheSameBitsInAnyBatches(t *testing.T) {
	for _, d := range []int{70, narrowFrom + 5} {
		z, y := sample(4, 2100, d, 3, 0.3)
		w := weightsOf(2100)
		whole := New(d, 3)
		whole.Add(z, y, w)
		whole.center()
		for _, size := range []int{1, 7, 511, 999, 1024, 1500} {
			s := New(d, 3)
			for i := 0; i < z.Rows; i += size {
				j := min(i+size, z.Rows)
				s.Add(z.Slice(i, j), y[i*3:j*3], w[i:j])
			}
			s.center()
			same(t, s, whole)
		}
	}
}

func TestStatsHaveTheSameBitsOnAnyThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, d := range []int{300, narrowFrom + 5} {
		z, y := sample(5, 1300, d, 2, 0.3)
		w := weightsOf(1300)
		runtime.GOMAXPROCS(1)
		one := New(d, 2)
		one.Add(z, y, w)
		one.center()
		for _, threads := range []int{2, 3} {
			runtime.GOMAXPROCS(threads)
			s := New(d, 2)
			s.Add(z, y, w)
			s.center()
			same(t, s, one)
		}
	}
}

func same(t *testing.T, a, b *Stats) {
	t.Helper()
	for i := range a.d {
		for j := i; j < a.d; j++ {
			if a.h[i*a.d+j] != b.h[i*a.d+j] {
				t.Fatalf("H[%d, %d] differs: %g, %g", i, j, a.h[i*a.d+j], b.h[i*a.d+j])
			}
		}
	}
	for i := range a.v {
		if a.v[i] != b.v[i] {
			t.Fatalf("V[%d] differs", i)
		}
	}
	for i := range a.shiftZ {
		if a.shiftZ[i] != b.shiftZ[i] {
			t.Fatalf("the mean of feature %d differs", i)
		}
	}
}

func TestMergeIsTheWhole(t *testing.T) {
	z, y := sample(6, 900, 6, 2, 5)
	for _, cut := range []int{0, 1, 300, 899, 900} {
		a, b := New(6, 2), New(6, 2)
		a.Add(z.Slice(0, cut), y[:cut*2], nil)
		b.Add(z.Slice(cut, 900), y[cut*2:], nil)
		a.Merge(b)
		if a.Rows() != 900 {
			t.Errorf("cut at %d: %d rows", cut, a.Rows())
		}
		agree(t, a, z, y, ones(900), 1e-12)
	}
}

// Rows may follow when the moments were asked for, which moves the shift to the mean of those
// before, far from their own.
func TestRowsMayFollowTheMoments(t *testing.T) {
	for _, d := range []int{6, narrowFrom + 1} {
		z, y := sample(11, 900, d, 2, 300)
		for i := 300; i < 900; i++ {
			for j := range z.Row(i) {
				z.Row(i)[j] += 3
			}
		}
		one, s := New(d, 2), New(d, 2)
		one.Add(z, y, nil)
		for i := 0; i < 900; i += 150 {
			s.Add(z.Slice(i, i+150), y[i*2:(i+150)*2], nil)
			s.Moments()
		}
		a, m := one.Moments(), s.Moments()
		rounding := 1e-12
		if d >= narrowFrom {
			rounding = 3e-6
		}
		for j := range d {
			if math.Abs(m.MeanZ[j]-a.MeanZ[j]) > rounding {
				t.Fatalf("D = %d: mean %d is %g, in one go %g", d, j, m.MeanZ[j], a.MeanZ[j])
			}
			for l := j; l < d; l++ {
				if math.Abs(m.H[j*d+l]-a.H[j*d+l]) > rounding*math.Sqrt(a.H[j*d+j]*a.H[l*d+l]) {
					t.Fatalf("D = %d: H[%d, %d] is %g, in one go %g", d, j, l, m.H[j*d+l], a.H[j*d+l])
				}
			}
			for c := range 2 {
				if math.Abs(m.V[j*2+c]-a.V[j*2+c]) > 2*rounding*math.Sqrt(a.H[j*d+j]*a.YY[c]) {
					t.Fatalf("D = %d: V[%d, %d] is %g, in one go %g", d, j, c, m.V[j*2+c], a.V[j*2+c])
				}
			}
		}
	}
}

// Beside the bare product of the features that Stats cannot do without.
func BenchmarkStats(b *testing.B) {
	for _, d := range []int{256, 1024, 4096} {
		z, y := sample(1, 2*statsBlock, d, 10, 0)
		rate := func(b *testing.B) {
			b.ReportMetric(float64(z.Rows)*float64(d)*float64(d+1)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		}
		b.Run(fmt.Sprintf("D=%d/all", d), func(b *testing.B) {
			s := New(d, 10)
			for b.Loop() {
				s.Add(z, y, nil)
			}
			rate(b)
		})
		b.Run(fmt.Sprintf("D=%d/product", d), func(b *testing.B) {
			h, wide := make([]float64, d*d), make([]float64, statsBlock*d)
			for b.Loop() {
				for i := 0; i < z.Rows; i += statsBlock {
					if d < narrowFrom {
						vec.SyrkAdd(d, statsBlock, wide, d, h, d)
					} else {
						vec.SyrkAddWide(d, statsBlock, z.Data[i*d:], d, h, d)
					}
				}
			}
			rate(b)
		})
	}
}

// Rows without targets count for the features alone, wherever they stand.
func TestRowsWithoutTargetsAddToTheFeaturesAlone(t *testing.T) {
	for _, d := range []int{6, narrowFrom + 1} {
		z, y := sample(9, 1100, d, 2, 4)
		w := make([]float64, 1100)
		for i := range w {
			w[i] = 0.5 + float64(i%3)
		}
		for name, blank := range map[string]func(i int) bool{
			"the first block":        func(i int) bool { return i < 600 },
			"the end":                func(i int) bool { return i >= 700 },
			"every third":            func(i int) bool { return i%3 == 0 },
			"in two that are merged": func(i int) bool { return i > 400 && i < 900 },
		} {
			all, labelled, s, other := New(d, 2), New(d, 2), New(d, 2), New(d, 2)
			for i := range 1100 {
				row := y[i*2 : i*2+2]
				all.AddRow(z.Row(i), row, w[i])
				if blank(i) {
					row = nil
				} else {
					labelled.AddRow(z.Row(i), row, w[i])
				}
				if name == "in two that are merged" && i > 500 {
					other.AddRow(z.Row(i), row, w[i])
				} else {
					s.AddRow(z.Row(i), row, w[i])
				}
			}
			s.Merge(other)
			a, l, m := all.Moments(), labelled.Moments(), s.Moments()
			if m.Rows != 1100 || m.Used != l.Used || m.Labelled != l.Labelled || m.Weight != a.Weight {
				t.Fatalf("%s: %d rows, %d used, weights %g and %g", name, m.Rows, m.Used, m.Weight, m.Labelled)
			}
			near := func(what string, got, want []float64, size float64) {
				t.Helper()
				for j := range got {
					if math.Abs(got[j]-want[j]) > size {
						t.Fatalf("D = %d, %s without targets: %s[%d] is %g, want %g", d, name, what, j, got[j], want[j])
					}
				}
			}
			rounding, differences := 1e-12, 1e-12
			if d >= narrowFrom {
				// Two differences z-shift, around 1 on average, are each rounded to float32.
				rounding, differences = 3e-6, 2*0x1p-24
			}
			near("mean", m.MeanZ, a.MeanZ, differences)
			near("mean with targets", m.MeanL, l.MeanZ, differences)
			near("mean of y", m.MeanY, l.MeanY, 1e-12)
			near("V", m.V, l.V, 10*differences*l.Labelled)
			near("YY", m.YY, l.YY, 1e-11*l.Labelled)
			for j := range d {
				near("H", m.H[j*d+j:(j+1)*d], a.H[j*d+j:(j+1)*d], rounding*a.Weight)
			}
		}
	}
}

func TestMergingIsAssociative(t *testing.T) {
	z, y := sample(10, 900, 6, 2, 5)
	part := func(lo, hi int) *Stats {
		s := New(6, 2)
		for i := lo; i < hi; i++ {
			row := y[i*2 : i*2+2]
			if i%5 == 0 {
				row = nil
			}
			s.AddRow(z.Row(i), row, 1+float64(i%2))
		}
		return s
	}
	left := part(0, 300)
	left.Merge(part(300, 310))
	left.Merge(part(310, 900))
	right, tail := part(0, 300), part(300, 310)
	tail.Merge(part(310, 900))
	right.Merge(tail)
	a, b := left.Moments(), right.Moments()
	for name, pair := range map[string][2][]float64{"H": {a.H, b.H}, "V": {a.V, b.V}, "YY": {a.YY, b.YY},
		"z̄": {a.MeanZ, b.MeanZ}, "z̄ with targets": {a.MeanL, b.MeanL}, "ȳ": {a.MeanY, b.MeanY}} {
		for i, v := range pair[0] {
			if math.Abs(v-pair[1][i]) > 1e-12*(1+a.Weight) {
				t.Errorf("%s[%d]: %.17g and %.17g", name, i, v, pair[1][i])
			}
		}
	}
}
