package eval

import (
	"math"
	"reflect"
	"testing"

	"mercer/internal/engine/random"
)

// TestSampleOfResidualsIsEven draws 2,000 of 20,000 rows: the mean of their numbers has a
// standard deviation of n/√12·√((1-f)/2000) for a share f of the rows.
func TestSampleOfResidualsIsEven(t *testing.T) {
	const n = 20_000
	draw := func(seed uint64) Residuals {
		r := newResiduals(2, seed)
		for i := range n {
			r.add([]float64{0, float64(i)}, []float64{0, float64(i) + 0.5}, 1)
		}
		return r.of(1, "number")
	}
	a := draw(1)
	if len(a.Truth) != sampleRows || len(a.Predicted) != sampleRows || a.Name != "number" {
		t.Fatalf("%d and %d rows of %q", len(a.Truth), len(a.Predicted), a.Name)
	}
	sum, seen := 0.0, map[float64]bool{}
	for i, v := range a.Truth {
		if a.Predicted[i] != v+0.5 || seen[v] {
			t.Fatalf("row %g has the prediction %g, or comes twice", v, a.Predicted[i])
		}
		seen[v] = true
		sum += v
	}
	sd := n / math.Sqrt(12) * math.Sqrt(0.9/sampleRows)
	if off := math.Abs(sum/sampleRows - (n-1)/2.0); off > 4*sd {
		t.Errorf("the mean row is off by %.0f, standard deviation %.0f", off, sd)
	}
	if !reflect.DeepEqual(a, draw(1)) || reflect.DeepEqual(a.Truth, draw(2).Truth) {
		t.Error("the sample is not that of its seed")
	}
}

// TestHistogramCountsEachNumberInItsBin draws numbers of many sizes.
func TestHistogramCountsEachNumberInItsBin(t *testing.T) {
	s := random.New(1, "residuals")
	for name, draw := range map[string]func(i int) float64{
		"normal":  func(int) float64 { return 5 + s.Normal() },
		"outlier": func(i int) float64 { return s.Normal() * math.Pow(1e6, float64(i%1000/999)) },
		"zeros":   func(int) float64 { return 0 },
		"growing": func(i int) float64 { return math.Exp(float64(i) / 100) },
		"tiny":    func(int) float64 { return 1e-200 * s.Normal() },
		"small and then large": func(i int) float64 {
			if i < 100 {
				return 1e-300
			}
			return -1e30 * s.Uniform()
		},
	} {
		var h histogram
		var all, weights []float64
		total := 0.0
		for i := range 3000 {
			v, w := draw(i), s.Uniform()
			all, weights = append(all, v), append(weights, w)
			h.add(v, w)
			total += w
		}
		r := h.residuals()
		sum := r.Below + r.Above
		for _, c := range r.Counts {
			sum += c
		}
		if math.Abs(sum-total) > 1e-9*total || len(r.Counts) > 80 || r.Below > total/1000 || r.Above > total/1000 {
			t.Errorf("%s: weights of %g in %d bins, %g below and %g above; were %g", name, sum, len(r.Counts), r.Below, r.Above, total)
		}
		own := make([]float64, len(h.counts))
		for i, v := range all {
			own[int(math.Floor(v/h.width))-int(h.first)] += weights[i]
		}
		for i, c := range h.counts {
			if math.Abs(own[i]-c) > 1e-9*total {
				t.Errorf("%s: bin %d has %g, not %g", name, i, c, own[i])
			}
		}
	}
}
