package feature

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"runtime"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// matrixOf returns R, scaled, d×m, in float64.
func (p *projection) matrixOf() []float64 {
	r := make([]float64, p.d*p.m)
	for j := range p.m {
		if p.packed != nil {
			for i := range p.d {
				r[i*p.m+j] = float64(p.packed.At(i, j))
			}
			continue
		}
		plus, minus := p.columns.line(j)
		for _, i := range plus {
			r[int(i)*p.m+j] = float64(p.scale)
		}
		for _, i := range minus {
			r[int(i)*p.m+j] = -float64(p.scale)
		}
	}
	return r
}

// listedRP is a projection that is kept as lists.
func listedRP(t *testing.T, sparsity float64) *rp {
	m, err := New(Config{Map: "rp", Kernel: linear, Features: 700, Seed: 3, Options: Options{Sparsity: sparsity}}, 601)
	if err != nil {
		t.Fatal(err)
	}
	f := m.(*rp)
	if f.packed != nil {
		t.Fatal("the matrix is not kept as lists")
	}
	return f
}

// A feature is a sum of at most 601/s·2 float32 numbers, some 150 here: rounding leaves
// 150·6·10⁻⁸ of the sum of their sizes.
func TestListedProjectionIsTheProductOfItsMatrix(t *testing.T) {
	f := listedRP(t, 8)
	f.shift = make([]float32, f.m) // as if there were one more coordinate
	random.New(1, "shift").FillNormal(f.shift)
	r := f.matrixOf()
	dense, sparse := someRows(30, 601)
	for _, x := range []matrix.Rows{dense, sparse} {
		z := transform(f, x)
		for i := range z.Rows {
			for j, got := range z.Row(i) {
				want, size := float64(f.shift[j]), math.Abs(float64(f.shift[j]))
				for k, v := range dense.Dense.Row(i) {
					want += float64(v) * r[k*f.m+j]
					size += math.Abs(float64(v) * r[k*f.m+j])
				}
				if math.Abs(float64(got)-want) > 150*6e-8*size {
					t.Fatalf("sparse %t: feature %d of row %d is %g, want %g", x.CSR != nil, j, i, got, want)
				}
			}
		}
	}
}

func TestListedProjectionOfARowDoesNotDependOnItsBatch(t *testing.T) {
	f := listedRP(t, 20)
	dense, sparse := someRows(270, 601) // more than a tile
	for _, x := range []matrix.Rows{dense, sparse} {
		want := transform(f, x)
		threads := runtime.GOMAXPROCS(3)
		for _, step := range []int{1, 8, 9, 15, 269} {
			for i := 0; i < 270; i += step {
				j := min(i+step, 270)
				if !slices.Equal(transform(f, x.Slice(i, j)).Data, want.Data[i*f.m:j*f.m]) {
					t.Fatalf("sparse %t: rows [%d, %d) alone give other features", x.CSR != nil, i, j)
				}
			}
		}
		runtime.GOMAXPROCS(threads)
	}
	z, part := matrix.NewDense(1, f.m), dense.Slice(0, 1)
	if n := testing.AllocsPerRun(3, func() { f.Transform(z, part) }); n > 0 {
		t.Errorf("one row takes %g allocations", n)
	}
}

// The lists of columns and of rows have the same entries, and as many as the sparsity says: of
// n entries, n/s ± 4√(n/s), half of either sign.
func TestListsHaveTheEntriesOfTheLaw(t *testing.T) {
	for _, s := range []float64{8, 24.5} {
		f := listedRP(t, s)
		type entry struct {
			i, j, sign int
		}
		seen := map[entry]bool{}
		count := [2]float64{}
		for j := range f.m {
			plus, minus := f.columns.line(j)
			for sign, list := range [][]int32{plus, minus} {
				for _, i := range list {
					seen[entry{int(i), j, sign}] = true
					count[sign]++
				}
			}
		}
		for i := range f.d {
			plus, minus := f.rows.line(i)
			for sign, list := range [][]int32{plus, minus} {
				for _, j := range list {
					if !seen[entry{i, int(j), sign}] {
						t.Fatalf("s=%g: (%d, %d) is in the row only", s, i, j)
					}
					delete(seen, entry{i, int(j), sign})
				}
			}
		}
		if len(seen) > 0 {
			t.Errorf("s=%g: %d entries are in columns only", s, len(seen))
		}
		for sign, c := range count {
			if want := float64(f.d*f.m) / s / 2; math.Abs(c-want) > 4*math.Sqrt(want) {
				t.Errorf("s=%g: %g entries of sign %d, want %g ± %g", s, c, sign, want, math.Sqrt(want))
			}
		}
	}
}

// Lists and the product with the same entries written out are the same map.
func TestListsAndMatrixAreTheSameDraw(t *testing.T) {
	f := listedRP(t, 16)
	e := entries{sparse: true, s: 16}
	draw := e.drawer()
	r := f.matrixOf()
	for _, j := range []int{0, 1, 699} {
		stream := random.New(3, "feature.rp", uint64(j))
		for i := range f.d {
			if want := float64(f.scale) * draw(stream); r[i*f.m+j] != want {
				t.Fatalf("(%d, %d) is %g, want %g", i, j, r[i*f.m+j], want)
			}
		}
	}
}

// A wider projection begins with the columns of a narrower one.
func TestMoreColumnsBeginWithTheSame(t *testing.T) {
	for _, e := range []entries{{}, {sparse: true, s: 3}} {
		a := newProjection(e, 9, 5, 1, 2, 7, "test")
		b := newProjection(e, 9, 50, 1, 2, 7, "test")
		for j := range 5 {
			if a.shift[j] != b.shift[j] {
				t.Errorf("%v: the last coordinate of column %d differs", e, j)
			}
			for i := range 9 {
				if a.packed.At(i, j) != b.packed.At(i, j) {
					t.Errorf("%v: (%d, %d) differs", e, i, j)
				}
			}
		}
	}
}

func TestProjectionsAreFrozen(t *testing.T) {
	sum := func(parts ...any) uint64 {
		h := fnv.New64a()
		for _, p := range parts {
			if err := binary.Write(h, binary.LittleEndian, p); err != nil {
				t.Fatal(err)
			}
		}
		return h.Sum64()
	}
	numbers := func(p *projection) []any { return []any{p.matrixOf(), p.shift} }
	recorded := map[string]uint64{
		"normal":         0x68c1ef4345c05c86,
		"sparse":         0xfe63f0fb0758b141,
		"lists":          0xa649300dd349ab5,
		"explicit":       0x9bba8dbb8bbf7fbd,
		"d2pk":           0x76e5650cd9f05d83,
		"pk even":        0xc3c2df0c32c23b5a,
		"pk random":      0xdcee13f6e146c2b9,
		"pk even, pairs": 0xbd7b1b9364514b35,
	}
	for name, cfg := range map[string]Config{
		"normal":         {Map: "rp", Kernel: linear, Features: 50},
		"sparse":         {Map: "rp", Kernel: linear, Features: 50, Options: Options{Sparsity: 3}},
		"lists":          {Map: "rp", Kernel: linear, Features: 10000, Options: Options{Sparsity: 100}},
		"explicit":       {Map: "explicit-rp", Kernel: poly(1, 2, 0), Features: 4},
		"d2pk":           {Map: "d2pk-rp", Kernel: poly(1, 2, 1), Features: 20},
		"pk even":        {Map: "pk-rp", Kernel: poly(1, 3, 1), Features: 20},
		"pk random":      {Map: "pk-rp", Kernel: poly(1, 3, 1), Features: 20, Options: Options{Reuse: "random"}},
		"pk even, pairs": {Map: "pk-rp", Kernel: poly(1, 2, 1), Features: 20, Options: Options{Pool: 9}},
	} {
		cfg.Seed = 1
		m, err := New(cfg, 300)
		if err != nil {
			t.Fatal(err)
		}
		var got uint64
		switch f := m.(type) {
		case *rp:
			got = sum(numbers(f.projection)...)
		case *explicitRP:
			got = sum(append(numbers(f.held[0]), numbers(f.held[len(f.held)-1])...)...)
		case *d2pk:
			got = sum(append(numbers(f.matrices[0]), numbers(f.matrices[1])...)...)
		case *pkrp:
			// As numbers of 32 bits, or at degree 2 both factors in one.
			var index, both []uint32
			for i, l := range f.short {
				switch {
				case f.degree != 2:
					index = append(index, uint32(l))
				case i < f.features:
					both = append(both, uint32(l)|uint32(f.short[i+f.features])<<16)
				}
			}
			got = sum(append(numbers(f.pool), index, both)...)
		}
		if got != recorded[name] {
			t.Errorf("%q: %#x,", name, got)
		}
	}
}

func TestProjectionsSayWhatIsWrong(t *testing.T) {
	testErrors(t, 5, map[string]Config{
		"does not approximate the rbf kernel": {Map: "rp", Kernel: rbf, Features: 4},
		"known are normal, sparse":            {Map: "rp", Kernel: linear, Features: 4, Options: Options{Entries: "signs"}},
		"have no sparsity": {Map: "rp", Kernel: linear, Features: 4,
			Options: Options{Entries: "normal", Sparsity: 3}},
		"sparsity is 0.5":    {Map: "rp", Kernel: linear, Features: 4, Options: Options{Sparsity: 0.5}},
		"sparsity is NaN":    {Map: "rp", Kernel: linear, Features: 4, Options: Options{Sparsity: math.NaN()}},
		"sparsity is 1e+300": {Map: "rp", Kernel: linear, Features: 4, Options: Options{Sparsity: 1e300}},
		"explicit-rp does not approximate the rbf kernel": {Map: "explicit-rp", Kernel: rbf, Features: 4},
		"8.459e+12 monomials":                             {Map: "explicit-rp", Kernel: poly(1, 1000, 1), Features: 4},
		"range of float32":                                {Map: "pk-rp", Kernel: poly(1e300, 2, 0), Features: 4},
		"not of poly":                                     {Map: "reduced-poly", Kernel: poly(1, 3, 0)},
		"of degree 2, not poly":                           {Map: "d2pk-rp", Kernel: poly(1, 3, 0), Features: 4},
		"t is 3; it must be even":                         {Map: "d2pk-rp", Kernel: poly(1, 2, 0), Features: 4, Options: Options{T: 3}},
		"t is -2; it must be even":                        {Map: "d2pk-rp", Kernel: poly(1, 2, 0), Features: 4, Options: Options{T: -2}},
		"no option entries": {Map: "d2pk-rp", Kernel: poly(1, 2, 0), Features: 4,
			Options: Options{Entries: "normal"}},
		"pk-rp does not approximate the rbf kernel": {Map: "pk-rp", Kernel: rbf, Features: 4},
		"the pool of 5 is too small":                {Map: "pk-rp", Kernel: poly(1, 2, 0), Features: 4, Options: Options{Pool: 5, T: 3}},
		"pool is -1":                                {Map: "pk-rp", Kernel: poly(1, 2, 0), Features: 4, Options: Options{Pool: -1}},
		"not a reuse":                               {Map: "pk-rp", Kernel: poly(1, 2, 0), Features: 4, Options: Options{Reuse: "odd"}},
		"GiB at most; use fewer":                    {Map: "pk-rp", Kernel: poly(1, 1<<30, 0), Features: 1 << 20},
		"GiB at most; use fewer features": {Map: "d2pk-rp", Kernel: poly(1, 2, 0), Features: 1 << 26,
			Options: Options{T: 1 << 20}},
	})
	testErrors(t, 5000, map[string]Config{
		"12497500 features of 5000 dimensions": {Map: "reduced-poly", Kernel: poly(1, 2, 0)},
		"2.086e+10 monomials of degree 3":      {Map: "explicit-rp", Kernel: poly(1, 3, 1), Features: 4},
	})
	testErrors(t, 1, map[string]Config{"one only": {Map: "reduced-poly", Kernel: poly(1, 2, 0)}})
}
