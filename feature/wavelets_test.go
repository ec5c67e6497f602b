package feature

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

var gaussian = kernel.Kernel{Name: "rbf", Gamma: 1} // any kernel

// waveletsAt fits the map to one dimension from 0 to 1, and maps the numbers (i + ½)/n.
func waveletsAt(t *testing.T, form string, terms, n int) *matrix.Dense {
	t.Helper()
	m, err := Fit(t.Context(), Config{Map: Wavelets, Kernel: gaussian, Options: Options{Form: form, Terms: terms}}, matrix.Rows{Dense: &matrix.Dense{Rows: 2, Cols: 1, Stride: 1, Data: []float32{0, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	x := matrix.NewDense(n, 1)
	for i := range x.Data {
		x.Data[i] = float32((float64(i) + 0.5) / float64(n))
	}
	_, out := m.Dims()
	z := matrix.NewDense(n, out)
	m.Transform(z, matrix.Rows{Dense: x})
	return z
}

// The features of a dimension are those of the formula, φ and ψ computed from the two-scale equations by recursion.
func TestWaveletsAreThoseOfTheTwoScaleEquations(t *testing.T) {
	root := math.Sqrt(3)
	filters := map[string][]float64{"haar": {1, 1}, "db2": {(1 + root) / 4, (3 + root) / 4, (3 - root) / 4, (1 - root) / 4}}
	const bits = 6
	for form, h := range filters {
		length := len(h) - 1
		var phi func(t float64) float64
		phi = func(t float64) float64 {
			switch {
			case t < 0 || t >= float64(length):
				return 0
			case form == "haar":
				return 1
			case t == 0 || t == 1 || t == 2:
				return []float64{0, (1 + root) / 2, (1 - root) / 2}[int(t)]
			}
			sum := 0.0
			for k, v := range h {
				sum += v * phi(2*t-float64(k))
			}
			return sum
		}
		psi := func(t float64) float64 {
			sum := 0.0
			for k := range h {
				sum += math.Pow(-1, float64(k)) * h[length-k] * phi(2*t-float64(k))
			}
			return sum
		}
		const levels = 3
		terms := length + 1<<levels - 1 + levels*(length-1)
		m, err := Fit(t.Context(), Config{Map: Wavelets, Kernel: gaussian, Options: Options{Form: form, Terms: terms + 1}}, matrix.Rows{Dense: &matrix.Dense{Rows: 2, Cols: 1, Stride: 1, Data: []float32{-3, 5}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, out := m.Dims(); out != terms {
			t.Fatalf("%s: %d features, want %d", form, out, terms)
		}
		z := matrix.NewDense(1, terms)
		for i := range 1 << bits {
			u := float64(i) / (1 << bits)
			m.Transform(z, matrix.Rows{Dense: &matrix.Dense{Rows: 1, Cols: 1, Stride: 1, Data: []float32{float32(8*u - 3)}}})
			var want []float64
			for k := 1 - length; k <= 0; k++ {
				want = append(want, phi(u-float64(k)))
			}
			for j := range levels {
				for k := 1 - length; k < 1<<j; k++ {
					want = append(want, psi(math.Pow(2, float64(j))*u-float64(k)))
				}
			}
			for j, v := range want {
				if got := float64(z.Data[j]); math.Abs(got-v) > 1e-6 {
					t.Fatalf("%s, u = %g: feature %d is %g, want %g", form, u, j, got, v)
				}
			}
		}
	}
}

// The functions that lie within [0, 1] are orthogonal there, and 2^(j/2)·ψ(2^j·u - k) has norm 1: Haar's all, of db2 those that do not reach beyond.
// The bound of db2 is that of straight lines between multiples of 1/32 for the finest.
func TestWaveletsAreOrthonormal(t *testing.T) {
	const n = 1 << 14
	for _, c := range []struct {
		form          string
		terms, length int
		levels        int
		bound         float64
	}{{"haar", 32, 1, 5, 1e-6}, {"db2", 80, 3, 6, 0.02}} {
		z := waveletsAt(t, c.form, c.terms, n)
		var columns []int
		var factors []float64
		if c.length == 1 {
			columns, factors = []int{0}, []float64{1}
		}
		at := c.length
		for j := range c.levels {
			for k := 1 - c.length; k < 1<<j; k++ {
				if k >= 0 && k+c.length <= 1<<j {
					columns, factors = append(columns, at), append(factors, math.Pow(2, float64(j)/2))
				}
				at++
			}
		}
		if at != z.Cols {
			t.Fatalf("%s: %d features, want %d", c.form, z.Cols, at)
		}
		for a, i := range columns {
			for b, j := range columns[:a+1] {
				sum := 0.0
				for r := range n {
					sum += factors[a] * float64(z.Row(r)[i]) * factors[b] * float64(z.Row(r)[j]) / n
				}
				want := 0.0
				if a == b {
					want = 1
				}
				if math.Abs(sum-want) > c.bound {
					t.Fatalf("%s: <%d, %d> is %g", c.form, i, j, sum)
				}
			}
		}
	}
}

// A sum of the features is any function that is constant on 2^J cells for haar, and any straight line for db2, of φ(u - k) alone.
func TestWaveletsReconstruct(t *testing.T) {
	stream := random.New(3, "feature.wavelets.test")
	const n, cells = 256, 16
	z := waveletsAt(t, "haar", cells, n)
	y := make([]float64, n)
	for i := range cells {
		v := stream.Normal()
		for r := range n / cells {
			y[i*n/cells+r] = v
		}
	}
	if r := residual(t, z, y); r > 1e-6 {
		t.Errorf("haar: a function of %d steps is %g off", cells, r)
	}
	z = waveletsAt(t, "db2", 3, n)
	for i := range y {
		y[i] = 0.7 - 3*(float64(i)+0.5)/n
	}
	if r := residual(t, z, y); r > 1e-6 {
		t.Errorf("db2: a line is %g off", r)
	}
}

// residual is the largest error of the least squares fit of y on the columns of z.
func residual(t *testing.T, z *matrix.Dense, y []float64) float64 {
	t.Helper()
	d := z.Cols
	h, v := make([]float64, d*d), make([]float64, d)
	for r := range z.Rows {
		for i, a := range z.Row(r) {
			v[i] += float64(a) * y[r]
			for j, b := range z.Row(r) {
				h[i*d+j] += float64(a) * float64(b)
			}
		}
	}
	if !vec.CholeskySolve(t.Context(), d, h, d, 1, v, 1) {
		t.Fatal("the features are dependent")
	}
	most := 0.0
	for r := range z.Rows {
		sum := 0.0
		for i, a := range z.Row(r) {
			sum += float64(a) * v[i]
		}
		most = max(most, math.Abs(sum-y[r]))
	}
	return most
}

// φ and ψ of db2 are those of PyWavelets (testdata/wavelets.py), whose cascade ends 2⁻¹⁴ short of them in t: a bound by their Hölder exponent 0.55.
func TestWaveletsArePyWavelets(t *testing.T) {
	text, err := os.ReadFile("testdata/wavelets.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct{ T, Phi, Psi []float64 }
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	const n = 1 << 4
	phi, psi := db2(n)
	for i, value := range want.T {
		at := int(value * n)
		for name, c := range map[string][2]float64{"φ": {phi[at], want.Phi[i]}, "ψ": {psi[at], want.Psi[i]}} {
			if math.Abs(c[0]-c[1]) > 0.01 {
				t.Errorf("%s(%g) is %g, PyWavelets has %g", name, value, c[0], c[1])
			}
		}
	}
}

// Numbers beyond the sample's count as its ends, a constant dimension gives the same features for all, and sparse rows those of dense ones.
func TestWaveletsHoldNumbersWithinTheSample(t *testing.T) {
	sample := &matrix.Dense{Rows: 2, Cols: 2, Stride: 2, Data: []float32{-1, 4, 3, 4}}
	m, err := Fit(t.Context(), Config{Map: Wavelets, Kernel: gaussian}, matrix.Rows{Dense: sample})
	if err != nil {
		t.Fatal(err)
	}
	_, out := m.Dims()
	x := &matrix.Dense{Rows: 5, Cols: 2, Stride: 2, Data: []float32{-1, 4, -7, 4, 3, 4, 1e30, 4, 0, 4}}
	z := matrix.NewDense(5, out)
	m.Transform(z, matrix.Rows{Dense: x})
	same := func(a, b int) bool {
		for j, v := range z.Row(a) {
			if v != z.Row(b)[j] {
				return false
			}
		}
		return true
	}
	if !same(0, 1) || !same(2, 3) || same(0, 2) || same(0, 4) {
		t.Error("numbers beyond the sample are not its ends")
	}
	one := matrix.NewDense(1, out)
	m.Transform(one, matrix.Rows{CSR: &matrix.CSR{Rows: 1, Cols: 2, Ptr: []int{0, 1}, Idx: []int32{1}, Val: []float32{4}}})
	for j, v := range z.Row(4) {
		if one.Data[j] != v {
			t.Fatalf("feature %d of a sparse row is %g, of a dense one %g", j, one.Data[j], v)
		}
	}
}
