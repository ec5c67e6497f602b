package feature

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// run executes a program for a row, naively and in float64.
func (p *Program) run(t *testing.T, row []float32) []float64 {
	t.Helper()
	values := [][]float64{make([]float64, len(row))}
	for j, v := range row {
		values[0][j] = float64(v)
	}
	for _, s := range p.Steps {
		x := values[s.From[0]]
		var other []float64
		if len(s.From) > 1 {
			other = values[s.From[1]]
		}
		z := make([]float64, s.Width)
		for j := range z {
			var v, u float64
			if j < len(x) {
				v = x[j]
			}
			if j < len(other) {
				u = other[j]
			}
			switch s.Op {
			case OpProduct:
				for i, v := range x {
					z[j] += v * float64(s.W.Row(i)[j])
				}
			case OpScale:
				z[j] = x[j%len(x)] * float64(s.V[j%len(s.V)])
			case OpShift:
				z[j] = v + float64(s.V[j%len(s.V)])
			case OpPick:
				z[j] = x[s.At[j]]
			case OpPad:
				z[j] = v
			case OpHadamard:
				for i := range s.N {
					z[j] += x[j/s.N*s.N+i] * float64(1-2*(bits.OnesCount(uint(i&(j%s.N)))&1))
				}
			case OpInverse:
				for f := range x {
					c := 2.0
					if f == 0 || 2*f == s.N {
						c = 1
					}
					sin, cos := math.Sincos(2 * math.Pi * float64(f*j%s.N) / float64(s.N))
					z[j] += c * (x[f]*cos - other[f]*sin) / float64(s.N)
				}
			case OpAdd:
				z[j] = v + u
			case OpSubtract:
				z[j] = v - u
			case OpMultiply:
				z[j] = v * u
			case OpDivide:
				z[j] = v / u
			case OpCos:
				z[j] = math.Cos(v)
			case OpSin:
				z[j] = math.Sin(v)
			case OpExp:
				z[j] = math.Exp(v)
			case OpLog:
				z[j] = math.Log(max(v, 0x1p-126))
			case OpRoot:
				z[j] = math.Sqrt(v)
			case OpStep:
				z[j] = map[bool]float64{true: 1}[v > 0]
				if v == 0 {
					z[j] = 0.5
				}
			case OpRamp:
				z[j] = max(0, v)
			case OpSigmoid:
				z[j] = 1 / (1 + math.Exp(-v))
			case OpThermometer:
				n := min(float64(s.N), x[j/s.N]*float64(s.V[j/s.N])*float64(s.N))
				if s.Round {
					n = math.Floor(n + 0.5)
				}
				z[j] = min(1, max(0, n-float64(j%s.N)))
			case OpJoin, OpKernel:
			default:
				t.Fatalf("no operation %q", s.Op)
			}
		}
		switch s.Op {
		case OpJoin:
			z = z[:0]
			for _, from := range s.From {
				z = append(z, values[from]...)
			}
		case OpKernel:
			u := make([]float32, len(x))
			for j, v := range x {
				u[j] = float32(v)
			}
			for i := range s.W.Rows {
				k := s.Kernel.Eval(u, s.W.Row(i))
				if s.Weights == nil {
					z[i] = k
					continue
				}
				for j := range z {
					z[j] += k * s.Weights[i*s.Width+j]
				}
			}
		}
		if len(z) != s.Width {
			t.Fatalf("%s has %d columns, not %d", s.Op, len(z), s.Width)
		}
		values = append(values, z)
	}
	return values[len(values)-1]
}

// Programs compute the features of their maps: of every map, and of the options that change how one computes.
func TestProgramsComputeTheFeatures(t *testing.T) {
	rbf, square, cube := kernel.RBF.Usual(), kernel.Poly.Usual(), kernel.Poly.Usual()
	rbf.Gamma, square.Gamma, cube.Gamma, square.Degree = 0.3, 0.4, 0.3, 2
	bare := cube
	bare.Coef0 = 0
	exp := kernel.Exp.Usual()
	exp.Gamma = 0.2
	arccos, ramp := kernel.Kernel{Name: "arccos"}.WithDefaults(), kernel.Kernel{Name: "arccos", Degree: 1}.WithDefaults()
	chi2, intersection := kernel.Chi2.Usual(), kernel.Kernel{Name: "intersection"}.WithDefaults()
	expChi2 := kernel.Kernel{Name: "exp-chi2", Gamma: 0.5}.WithDefaults()
	with := func(c Config, o Options) Config { c.Options = o; return c }
	diagonal := matrix.NewDense(6, 6)
	for i := range 6 {
		diagonal.Row(i)[i] = float32(1 + i)
	}
	configs := []Config{
		{Map: Precomputed, Kernel: kernel.Linear.Usual(), Given: diagonal, Options: Options{Landmarks: "given"}},
		with(Config{Map: RFF, Kernel: rbf, Features: 31}, Options{Form: "phase"}),
		{Map: SORF, Kernel: rbf, Features: 90}, {Map: SORF, Kernel: ramp, Features: 16}, {Map: Fastfood, Kernel: rbf, Features: 50},
		{Map: RFF, Kernel: arccos, Features: 20}, {Map: ORF, Kernel: ramp, Features: 20}, {Map: QMC, Kernel: rbf, Features: 20},
		{Map: CountSketch, Kernel: kernel.Linear.Usual(), Features: 7}, {Map: RP, Kernel: kernel.Linear.Usual(), Features: 9},
		with(Config{Map: RP, Kernel: kernel.Linear.Usual(), Features: 9}, Options{Entries: "orthonormal"}),
		{Map: TensorSketch, Kernel: cube, Features: 32}, {Map: TensorSketch, Kernel: bare, Features: 33},
		{Map: TaylorSketch, Kernel: exp, Features: 40}, with(Config{Map: TaylorSketch, Kernel: rbf, Features: 61}, Options{Hash: "pairwise"}),
		{Map: TensorSRHT, Kernel: cube, Features: 100}, with(Config{Map: TensorSRHT, Kernel: bare, Features: 40}, Options{Complex: true}),
		{Map: Maclaurin, Kernel: exp, Features: 40}, with(Config{Map: Maclaurin, Kernel: exp, Features: 40}, Options{Complex: true}),
		{Map: Maclaurin, Kernel: square, Features: 40}, with(Config{Map: Maclaurin, Kernel: cube, Features: 20}, Options{Series: []float64{2}}),
		{Map: ExplicitPoly, Kernel: cube}, {Map: ExplicitPoly, Kernel: bare}, {Map: ReducedPoly, Kernel: square},
		{Map: ExplicitRP, Kernel: cube, Features: 12}, {Map: D2PKRP, Kernel: square, Features: 30},
		with(Config{Map: D2PKRP, Kernel: square, Features: 30}, Options{T: 4, Sparsity: 5}),
		{Map: PKRP, Kernel: cube, Features: 30}, with(Config{Map: PKRP, Kernel: square, Features: 30}, Options{T: 3, Entries: "sparse"}),
		{Map: Homogeneous, Kernel: chi2}, with(Config{Map: Homogeneous, Kernel: chi2}, Options{Terms: 5, Window: "uniform", Period: 0.6}),
		{Map: Homogeneous, Kernel: kernel.Hellinger.Usual()}, {Map: Chebyshev, Kernel: chi2}, {Map: Elementary, Kernel: chi2},
		{Map: Unary, Kernel: intersection}, with(Config{Map: Unary, Kernel: intersection}, Options{Form: "step", Stretch: 1}),
		{Map: Skewed, Kernel: kernel.Kernel{Name: "skewed-chi2"}.WithDefaults(), Features: 20},
		{Map: SORF, Kernel: expChi2, Features: 40},
		{Map: Nystrom, Kernel: rbf, Features: 15}, {Map: Nystrom, Kernel: chi2, Features: 15}, {Map: ICholesky, Kernel: cube, Features: 12},
		{Map: CKSVD, Kernel: rbf, Features: 10}, {Map: RBFNetwork, Kernel: rbf, Features: 10},
		{Map: RBFNetwork, Kernel: rbf, Features: 10, Options: Options{Widths: "own"}}, {Map: Sigmoid, Kernel: rbf, Features: 10}, {Map: Words, Kernel: rbf, Features: 10},
		{Map: Wavelets, Kernel: rbf}, {Map: Wavelets, Kernel: rbf, Options: Options{Form: "haar", Terms: 8}},
		{Map: Empirical, Kernel: cube, Features: 10}, {Map: KGRP, Kernel: rbf, Features: 10}, {Map: KORP, Kernel: rbf, Features: 10},
		{Map: KPCARP, Kernel: rbf, Features: 10},
		{Map: Chain, Steps: []Config{{Map: CountSketch, Kernel: kernel.Linear.Usual(), Features: 5}, {Map: RFF, Kernel: rbf, Features: 8}}},
		{Map: Sum, Weights: []float64{2, 1}, Steps: []Config{{Map: RFF, Kernel: rbf, Features: 8}, {Map: Nystrom, Kernel: rbf, Features: 8}}},
	}
	sample := matrix.NewDense(60, 6)
	for i := range sample.Data {
		sample.Data[i] = float32(math.Abs(math.Sin(float64(3*i+i*i%7)))) * float32(i%9) / 5
	}
	tested := map[string]bool{}
	for i, cfg := range configs {
		cfg.Seed = uint64(i) + 3
		tested[cfg.Map] = true
		t.Run(fmt.Sprintf("%d %s %s", i, cfg.Map, cfg.Kernel.Name), func(t *testing.T) {
			m, err := Fit(t.Context(), cfg, matrix.Rows{Dense: sample})
			if err != nil {
				t.Fatal(err)
			}
			p, err := ProgramOf(m)
			if err != nil {
				t.Fatal(err)
			}
			_, out := m.Dims()
			z := matrix.NewDense(8, out)
			m.Transform(z, matrix.Rows{Dense: sample.Slice(0, 8)})
			largest := 0.0
			for _, v := range z.Data {
				largest = max(largest, math.Abs(float64(v)))
			}
			for r := range 8 {
				got := p.run(t, sample.Row(r))
				if len(got) != out {
					t.Fatalf("%d features, want %d", len(got), out)
				}
				for j, v := range got {
					if want := float64(z.Row(r)[j]); !(math.Abs(v-want) < 2e-5*largest) {
						t.Fatalf("row %d, feature %d: %g, want %g", r, j, v, want)
					}
				}
			}
		})
	}
	names, _ := Names()
	for _, name := range names {
		if !tested[name] {
			t.Errorf("the map %s is not tested", name)
		}
	}
}
