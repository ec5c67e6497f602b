package kernel_test

import (
	"math"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
)

// words are strings of three letters, of up to 12.
func words(n int) (all []string) {
	r := random.New(1, "words")
	for range n {
		w := ""
		for range 3 + r.Intn(10) {
			w += string("abc"[r.Intn(3)])
		}
		all = append(all, w)
	}
	return all
}

// The values of string kernels are inner products of their explicit features, counted one by one: of 1 letter in 256, mismatches
// may have any byte.
func TestStringKernelsAreTheirFeatures(t *testing.T) {
	for _, c := range []struct{ p, m int }{{1, 0}, {3, 0}, {3, 1}, {2, 1}} {
		features := func(s string) map[string]float64 {
			f := map[string]float64{}
			for i := 0; i+c.p <= len(s); i++ {
				f[s[i:i+c.p]]++
				for j := range c.p * c.m {
					for b := range 256 {
						if byte(b) != s[i+j] {
							f[s[i:i+j]+string([]byte{byte(b)})+s[i+j+1:i+c.p]]++
						}
					}
				}
			}
			return f
		}
		dot := func(f, g map[string]float64) (sum float64) {
			for s, v := range f {
				sum += v * g[s]
			}
			return sum
		}
		k := kernel.Substrings{Length: c.p, Mismatches: c.m}.Kernel()
		some := words(12)
		for _, x := range some {
			for _, y := range some {
				fx, fy := features(x), features(y)
				if got, want := k(x, y), dot(fx, fy)/math.Sqrt(dot(fx, fx)*dot(fy, fy)); math.Abs(got-want) > 1e-12 {
					t.Fatalf("p = %d, m = %d: k(%s, %s) = %g, want %g", c.p, c.m, x, y, got, want)
				}
			}
		}
	}
	if k := (kernel.Substrings{Length: 3}).Kernel(); k("ab", "abc") != 0 || k("abc", "abc") != 1 {
		t.Errorf("of short strings %g, of equal ones %g", k("ab", "abc"), k("abc", "abc"))
	}
}

// What pivots do not span is small, and less than of as many others; equal values are picked once.
func TestPivotsSpanTheOthers(t *testing.T) {
	x := words(120)
	x = append(x, x[:40]...)
	k := kernel.Substrings{Length: 2}.Kernel()
	if all := k.Pivots(x, 1000); len(all) > 9 { // there are nine pairs of three letters
		t.Errorf("%d pivots span nine dimensions", len(all))
	}
	at := k.Pivots(x, 5)
	if len(at) != 5 {
		t.Fatalf("%d pivots", len(at))
	}
	rest := func(at []string) (sum float64) { // by Gram and Schmidt on values of k
		var factor [][]float64
		for j := range at {
			column := make([]float64, len(at)+len(x))
			both := append(append([]string{}, at...), x...)
			for i, v := range both {
				column[i] = k(v, at[j])
				for _, f := range factor {
					column[i] -= f[i] * f[j]
				}
			}
			root := math.Sqrt(max(column[j], 1e-12))
			for i := range column {
				column[i] /= root
			}
			factor = append(factor, column)
		}
		for i := range x {
			sum++
			for _, f := range factor {
				sum -= f[len(at)+i] * f[len(at)+i]
			}
		}
		return sum
	}
	if own, other := rest(at), rest(x[:5]); own >= other {
		t.Errorf("pivots leave %g, the first values %g", own, other)
	}
}

func TestMatrixNamesWhatIsNoNumber(t *testing.T) {
	k := kernel.Func[float64](func(x, y float64) float64 { return 1 / (x - y) })
	if _, err := k.Matrix([]float64{3, 4}, []float64{1, 4}); err == nil || !strings.Contains(err.Error(), "row 2 with row 2") {
		t.Errorf("error %v", err)
	}
}
