package vec

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// elementary32 and elementary64 are the functions, each with one result or two.
var elementary32 = map[string]func(dst, dst2, x []float32){
	"cos":        func(dst, _, x []float32) { Cos32(dst, x, 0.125) },
	"sin":        func(dst, _, x []float32) { Sin32(dst, x, 0.125) },
	"sincos":     func(dst, dst2, x []float32) { SinCos32(dst, dst2, x, 0.125) },
	"exp":        func(dst, _, x []float32) { Exp32(dst, x) },
	"log":        func(dst, _, x []float32) { Log32(dst, x) },
	"signedRoot": func(dst, _, x []float32) { SignedRoot32(dst, x) },
}

var elementary64 = map[string]func(dst, dst2, x []float64){
	"cos":        func(dst, _, x []float64) { Cos64(dst, x, 0.125) },
	"sin":        func(dst, _, x []float64) { Sin64(dst, x, 0.125) },
	"sincos":     func(dst, dst2, x []float64) { SinCos64(dst, dst2, x, 0.125) },
	"exp":        func(dst, _, x []float64) { Exp64(dst, x) },
	"log":        func(dst, _, x []float64) { Log64(dst, x) },
	"signedRoot": func(dst, _, x []float64) { SignedRoot64(dst, x) },
	"decay0":     func(dst, _, x []float64) { Decay64(dst, x, 0) },
	"decay1":     func(dst, _, x []float64) { Decay64(dst, x, 1) },
	"decay2":     func(dst, _, x []float64) { Decay64(dst, x, 2) },
}

// arguments64 are float64 numbers of every size below 2¹⁰⁰.
func arguments64() []float64 {
	var x []float64
	r := rand.New(rand.NewPCG(1, 64))
	for e := -1074; e < 100; e++ {
		for range 10 {
			x = append(x, math.Ldexp(1+r.Float64(), e)*float64(1-2*r.IntN(2)))
		}
	}
	for k := -400.0; k < 400; k++ {
		y := k * (math.Pi / 4)
		x = append(x, y, math.Nextafter(y, 1e9), math.Nextafter(y, -1e9))
	}
	for range 20_000 {
		x = append(x, (r.Float64()-0.5)*200)
	}
	return x
}

func TestSinAndCosAreAccurateEverywhere(t *testing.T) {
	pi := bigPi()
	const scale = 0.125
	everyLevel(t, func(t *testing.T) {
		x := arguments()
		sin, cos, other := make([]float32, len(x)), make([]float32, len(x)), make([]float32, len(x))
		SinCos32(sin, cos, x, scale)
		for i, v := range x {
			wantSin, wantCos := exactly(v, pi)
			if e := max(math.Abs(float64(sin[i])/scale-wantSin), math.Abs(float64(cos[i])/scale-wantCos)); !(e < 2.5e-7) {
				t.Errorf("sin and cos %g = %g, %g, want %g, %g", v, sin[i]/scale, cos[i]/scale, wantSin, wantCos)
			}
			if math.Abs(float64(v)) < 1e-3 {
				if e := math.Abs(float64(sin[i]) - scale*wantSin); e > 2.5e-7*scale*math.Abs(wantSin)+1e-45 {
					t.Errorf("sin %g = %g: relative error %g", v, sin[i]/scale, e/math.Abs(scale*wantSin))
				}
			}
		}
		sameAsBoth(t, "Cos32", func() { Cos32(other, x, scale) }, other, cos)
		sameAsBoth(t, "Sin32", func() { Sin32(other, x, scale) }, other, sin)
	})
	everyLevel(t, func(t *testing.T) {
		x := arguments64()
		sin, cos, other := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
		SinCos64(sin, cos, x, scale)
		for i, v := range x {
			wantSin, wantCos := exactly(v, pi)
			if e := max(math.Abs(sin[i]/scale-wantSin), math.Abs(cos[i]/scale-wantCos)); !(e < 8e-16) {
				t.Errorf("sin and cos %g = %g, %g, want %g, %g", v, sin[i]/scale, cos[i]/scale, wantSin, wantCos)
			}
		}
		sameAsBoth(t, "Cos64", func() { Cos64(other, x, scale) }, other, cos)
		sameAsBoth(t, "Sin64", func() { Sin64(other, x, scale) }, other, sin)
	})
}

func sameAsBoth[T float32 | float64](t *testing.T, name string, run func(), got, want []T) {
	t.Helper()
	run()
	for i, v := range got {
		if v != want[i] {
			t.Errorf("%s: element %d is %g, of both together %g", name, i, v, want[i])
			return
		}
	}
}

// bigExp is exp x: the series of x/2³⁰, squared 30 times.
func bigExp(x float64) *big.Float {
	y := new(big.Float).SetPrec(450).SetFloat64(x)
	y.SetMantExp(y, -30)
	sum, term := newBig(1), newBig(1)
	for k := int64(1); k < 20; k++ {
		term.Mul(term, y)
		term.Quo(term, newBig(k))
		sum.Add(sum, term)
	}
	for range 30 {
		sum.Mul(sum, sum)
	}
	return sum
}

// last is a unit in the last place of a number near x.
func last(x float64, float int) float64 {
	if float == 4 {
		return math.Ldexp(1, max(math.Ilogb(x)-23, -149))
	}
	return math.Ldexp(1, max(math.Ilogb(x)-52, -1074))
}

func TestExpAndLogAreAccurateEverywhere(t *testing.T) {
	stride, step, draws := uint64(9973), float32(0.003), 4000
	if testing.Short() {
		stride, step, draws = 99991, 0.03, 800
	}
	everyLevel(t, func(t *testing.T) {
		var x []float32
		for bits := uint64(0); bits < 1<<32; bits += stride {
			x = append(x, math.Float32frombits(uint32(bits)))
		}
		for v := float32(-104); v < 89; v += step {
			x = append(x, v)
		}
		exp, log := make([]float32, len(x)), make([]float32, len(x))
		Exp32(exp, x)
		Log32(log, x)
		for i, v := range x {
			check(t, "exp", 4, float64(v), float64(exp[i]), math.Exp(float64(v)), math.MaxFloat32)
			check(t, "log", 4, float64(v), float64(log[i]), math.Log(float64(v)), math.MaxFloat32)
		}
	})
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 64))
		var x, y []float64
		for range draws {
			x = append(x, -745+r.Float64()*1454)
			y = append(y, math.Ldexp(1+r.Float64(), r.IntN(2040)-1021))
		}
		for range draws {
			x = append(x, r.NormFloat64())
			y = append(y, math.Exp(r.NormFloat64()/4))
		}
		exp, log := make([]float64, len(x)), make([]float64, len(x))
		Exp64(exp, x)
		Log64(log, y)
		for i, v := range x {
			want := bigExp(v)
			near, _ := want.Float64()
			diff, _ := want.Sub(want, new(big.Float).SetFloat64(exp[i])).Float64()
			if math.Abs(diff) > 2*last(near, 8) {
				t.Errorf("exp %g = %g, want %g", v, exp[i], near)
			}
			// y/exp(log y) - 1 is the error of log y.
			ratio := new(big.Float).Quo(new(big.Float).SetPrec(450).SetFloat64(y[i]), bigExp(log[i]))
			diff, _ = ratio.Sub(ratio, newBig(1)).Float64()
			if math.Abs(diff) > 2*last(log[i], 8) {
				t.Errorf("log %g = %g, wrong by %g", y[i], log[i], diff)
			}
		}
	})
}

func TestDecayIsAccurate(t *testing.T) {
	draws := 2000
	if testing.Short() {
		draws = 400
	}
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 64))
		x := []float64{0, 5e-324, 1e-310, 745 * 745, 746 * 746, 1e6, 1e300, math.Inf(1), math.NaN()}
		for range draws {
			z := r.Float64() * 750
			x = append(x, z*z, math.Exp(8*r.NormFloat64()))
		}
		got := make([]float64, len(x))
		for degree := range 3 {
			Decay64(got, x, degree)
			for i, x := range x {
				z := math.Sqrt(x)
				if !(z <= 1000) {
					if want := math.Exp(-z); !identical(got[i], want) {
						t.Errorf("degree %d, x = %g: %g, want %g", degree, x, got[i], want)
					}
					continue
				}
				root := new(big.Float).SetPrec(450).SetFloat64(x)
				root.Sqrt(root)
				missed := new(big.Float).Sub(root, big.NewFloat(z)) // exp(-z) is too large by this share
				p := newBig(1)
				if degree > 0 {
					p.Add(p, root)
				}
				if degree > 1 {
					third := new(big.Float).Mul(root, root)
					p.Add(p, third.Quo(third, newBig(3)))
				}
				exact := new(big.Float).Mul(bigExp(-z), missed.Sub(newBig(1), missed))
				exact.Mul(exact, p)
				want, _ := exact.Float64()
				off, _ := exact.Sub(exact, big.NewFloat(got[i])).Float64()
				if math.Abs(off) > (6+z)*1.2e-16*want+5e-324 {
					t.Errorf("degree %d, x = %g: %g, want %g", degree, x, got[i], want)
				}
			}
		}
	})
}

// check compares a result with the exact one, near which numbers beyond most are infinite.
func check(t *testing.T, name string, float int, x, got, want, most float64) {
	t.Helper()
	switch {
	case want != want:
		if got == got {
			t.Errorf("%s %g = %g, want NaN", name, x, got)
		}
	case math.IsInf(want, 0) || math.Abs(want) > most:
		if !math.IsInf(got, int(math.Copysign(1, want))) && math.Abs(want) > most*(1+1e-6) {
			t.Errorf("%s %g = %g, want %g", name, x, got, want)
		}
	case want == 0 || math.Abs(got-want) > 2*last(want, float):
		if got != want {
			t.Errorf("%s %g = %g, want %g", name, x, got, want)
		}
	}
}

func TestElementaryFunctionsOfSpecialNumbers(t *testing.T) {
	nan, inf, zero := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	x := []float64{0, zero, nan, inf, -inf, 5e-324, -5e-324, 1, -1}
	want := map[string][]float64{
		"cos":        {0.125, 0.125, nan, nan, nan, 0.125, 0.125, 0.125 * math.Cos(1), 0.125 * math.Cos(1)},
		"sin":        {0, zero, nan, nan, nan, 0, zero, 0.125 * math.Sin(1), -0.125 * math.Sin(1)},
		"exp":        {1, 1, nan, inf, 0, 1, 1, math.E, 1 / math.E},
		"log":        {-inf, -inf, nan, inf, nan, math.Log(5e-324), nan, 0, nan},
		"signedRoot": {0, zero, nan, inf, -inf, math.Sqrt(5e-324), -math.Sqrt(5e-324), 1, -1},
	}
	everyLevel(t, func(t *testing.T) {
		for name, y := range want {
			got := make([]float64, len(x))
			elementary64[name](got, nil, x)
			for i, v := range y {
				if !(math.Abs(got[i]-v) <= 1e-15*math.Abs(v)) && !(v != v && got[i] != got[i]) && got[i] != v || v == 0 &&
					math.Signbit(v) != math.Signbit(got[i]) {
					t.Errorf("%s %g = %g, want %g", name, x[i], got[i], v)
				}
			}
			x32, got32 := make([]float32, len(x)), make([]float32, len(x))
			for i, v := range x {
				x32[i] = float32(v)
			}
			x32[5], x32[6] = 1e-45, -1e-45
			elementary32[name](got32, nil, x32)
			for i, v := range y {
				switch {
				case i == 5 || i == 6:
					v = map[string]float64{"cos": 0.125, "exp": 1, "log": math.Log(0x1p-149), "signedRoot": math.Sqrt(0x1p-149)}[name]
					if i == 6 {
						v = map[string]float64{"cos": 0.125, "exp": 1, "sin": zero, "log": nan, "signedRoot": -math.Sqrt(0x1p-149)}[name]
					}
				}
				if g := float64(got32[i]); !(math.Abs(g-v) <= 2e-7*math.Abs(v)) && !(v != v && g != g) && g != v ||
					v == 0 && math.Signbit(v) != math.Signbit(g) {
					t.Errorf("float32: %s %g = %g, want %g", name, x32[i], g, v)
				}
			}
		}
	})
}

// What an element gives depends neither on its place nor on its neighbours, be they huge, and
// nothing outside the slices is touched.
func TestElementsAreIndependent(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		independentElements(t, elementary32)
		independentElements(t, elementary64)
	})
}

func independentElements[T float32 | float64](t *testing.T, functions map[string]func(dst, dst2, x []T)) {
	const most, canary = 200, 77
	r := rand.New(rand.NewPCG(9, 9))
	for name, f := range functions {
		for _, huge := range []bool{false, true} {
			x := make([]T, most+8)
			for i := range x {
				x[i] = T(math.Abs(r.NormFloat64()) * 5)
				if huge && r.IntN(50) == 0 {
					x[i] = []T{T(math.NaN()), T(math.Inf(-1)), 3e30, -7e12, 0, 190_000, 250_000}[r.IntN(7)]
				}
			}
			alone, alone2 := make([]T, len(x)), make([]T, len(x))
			for i := range x {
				f(alone[i:i+1], alone2[i:i+1], x[i:i+1])
			}
			for n := range most {
				off, offDst := r.IntN(8), r.IntN(8)
				dst, dst2 := make([]T, n+16), make([]T, n+16)
				for i := range dst {
					dst[i], dst2[i] = canary, canary
				}
				f(dst[offDst:offDst+n], dst2[offDst:offDst+n], x[off:off+n])
				for i := range dst {
					want, want2 := T(canary), T(canary)
					if i >= offDst && i < offDst+n {
						want = alone[off+i-offDst]
						if name == "sincos" {
							want2 = alone2[off+i-offDst]
						}
					}
					if !identical(dst[i], want) || !identical(dst2[i], want2) {
						t.Fatalf("%s of %d elements: place %d holds %g, %g, want %g, %g", name, n, i-offDst, dst[i], dst2[i], want, want2)
					}
				}
			}
		}
	}
}

func identical[T float32 | float64](x, y T) bool { return x == y || x != x && y != y }

func TestElementaryFunctionsInPlace(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		inPlace(t, elementary32, arguments())
		inPlace(t, elementary64, arguments64())
	})
}

func inPlace[T float32 | float64](t *testing.T, functions map[string]func(dst, dst2, x []T), x []T) {
	for name, f := range functions {
		want, want2 := make([]T, len(x)), make([]T, len(x))
		f(want, want2, x)
		over, other := append([]T(nil), x...), make([]T, len(x))
		f(over, other, over)
		check := func() {
			t.Helper()
			for i := range x {
				if !identical(over[i], want[i]) || !identical(other[i], want2[i]) {
					t.Fatalf("%s over x differs at %g: %g, %g, want %g, %g", name, x[i], over[i], other[i], want[i], want2[i])
				}
			}
		}
		check()
		if name == "sincos" {
			copy(other, x)
			f(over, other, other)
			check()
		}
	}
}

func TestElementaryFunctionsAllocateNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		x, y, z := make([]float32, 100), make([]float32, 100), make([]float32, 100)
		x[3] = 1e20
		for name, f := range elementary32 {
			if n := testing.AllocsPerRun(10, func() { f(y, z, x) }); n > 0 {
				t.Errorf("%s takes %g allocations", name, n)
			}
		}
	})
}

func FuzzElementary(f *testing.F) {
	f.Add(float32(1), 1.0)
	f.Add(float32(1e30), 1e300)
	f.Add(float32(-1e-40), -1e-310)
	f.Fuzz(func(t *testing.T, x32 float32, x64 float64) {
		if level == generic {
			return
		}
		x := []float32{x32}
		y := []float64{x64}
		for name, fn := range elementary32 {
			got, got2 := make([]float32, 1), make([]float32, 1)
			fn(got, got2, x)
			want, want2 := single32(byName(name), x32, 0.125)
			if far(float64(got[0]), float64(want), 4*last(float64(want), 4), 3e-7/8, name) || name == "sincos" &&
				far(float64(got2[0]), float64(want2), 0, 3e-7/8, name) {
				t.Errorf("%s %g: %g, %g, portable %g, %g", name, x32, got, got2, want, want2)
			}
		}
		for name, fn := range elementary64 {
			got, got2 := make([]float64, 1), make([]float64, 1)
			fn(got, got2, y)
			want, want2 := single64(byName(name), x64, 0.125)
			if far(got[0], want, 6*last(want, 8), 1e-15/8, name) || name == "sincos" && far(got2[0], want2, 0, 1e-15/8, name) {
				t.Errorf("%s %g: %g, %g, portable %g, %g", name, x64, got, got2, want, want2)
			}
		}
	})
}

// far says whether two results differ by more than is allowed: absolutely for sines and
// cosines, by units in the last place for the others.
func far(got, want, units, absolute float64, name string) bool {
	if identical(got, want) {
		return false
	}
	if name == "cos" || name == "sin" || name == "sincos" {
		return !(math.Abs(got-want) <= absolute)
	}
	return !(math.Abs(got-want) <= units)
}

func byName(name string) function {
	return map[string]function{"cos": cosine, "sin": sine, "sincos": sineCosine, "exp": exponential, "log": logarithm,
		"signedRoot": signedRoot, "decay0": decay0, "decay1": decay1, "decay2": decay2}[name]
}

func BenchmarkElementary(b *testing.B) {
	for name, f := range elementary32 {
		b.Run(name+"32", func(b *testing.B) { benchmarkElementary(b, f) })
	}
	for name, f := range elementary64 {
		b.Run(name+"64", func(b *testing.B) { benchmarkElementary(b, f) })
	}
}

func benchmarkElementary[T float32 | float64](b *testing.B, f func(dst, dst2, x []T)) {
	x, y, z := make([]T, 2048), make([]T, 2048), make([]T, 2048)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range x {
		x[i] = T(r.Float64() * 20)
	}
	for b.Loop() {
		f(y, z, x)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/element")
}

func ExampleLevel() {
	fmt.Println(Level() == "generic" || Level() == "avx2" || Level() == "avx512")
	// Output: true
}
