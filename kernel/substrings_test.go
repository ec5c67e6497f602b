package kernel_test

import (
	"fmt"
	"math"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// products are the inner products of all pairs of rows.
func products(x *matrix.CSR) (all []float64) {
	for i := range x.Rows {
		row := make([]float64, x.Cols)
		idx, val := x.Row(i)
		for e, j := range idx {
			row[j] = float64(val[e])
		}
		for k := range x.Rows {
			sum := 0.0
			idx, val := x.Row(k)
			for e, j := range idx {
				sum += row[j] * float64(val[e])
			}
			all = append(all, sum)
		}
	}
	return all
}

// Explicit features have the kernel as their products, for any number of mismatches and any alphabet: the closed form of what two substrings share
// is that of counting.
func TestSubstringsAreTheirFeatures(t *testing.T) {
	some := append(words(10), "", "ab", "abxbcaa")
	for _, s := range []kernel.Substrings{
		{Length: 3, Alphabet: "abc"}, {Length: 3, Mismatches: 1, Alphabet: "abc"}, {Length: 4, Mismatches: 2, Alphabet: "abcx"},
		{Length: 4, Mismatches: 3, Alphabet: "cab"}, {Length: 2, Mismatches: 1}, {Length: 3, Mismatches: 2, Alphabet: "ab"},
	} {
		x, err := s.Features(some)
		if err != nil {
			t.Fatal(err)
		}
		k := s.Kernel()
		for i, got := range products(x) {
			a, b := some[i/len(some)], some[i%len(some)]
			if want := k(a, b); math.Abs(got-want) > 1e-6 {
				t.Fatalf("%+v: k(%q, %q) = %g, of features %g", s, a, b, want, got)
			}
		}
	}
}

// Products of hashed features scatter about the kernel as hashes do: with lengths apart, those of counts are unbiased, with a variance of at most
// (‖f‖²‖g‖² + (f·g)²)/columns.
func TestHashedSubstrings(t *testing.T) {
	const seeds, columns = 400, 64
	s := kernel.Substrings{Length: 2, Mismatches: 1, Alphabet: "abc"}
	some := words(6)
	exact, err := s.Features(some)
	if err != nil {
		t.Fatal(err)
	}
	want := products(exact)
	mean := make([]float64, len(want))
	square := make([]float64, len(want))
	for seed := range uint64(seeds) {
		s.Hashed, s.Seed = columns, seed+1
		x, err := s.Features(some)
		if err != nil {
			t.Fatal(err)
		}
		if x.Cols != columns {
			t.Fatalf("%d columns", x.Cols)
		}
		for i, v := range products(x) {
			mean[i] += v / seeds
			square[i] += (v - want[i]) * (v - want[i]) / seeds
		}
	}
	for i := range want {
		// Lengths of 1 make the cosine of counts; its bias is of the order of 1/columns.
		if off := math.Abs(mean[i] - want[i]); off > 5*math.Sqrt(2./columns/seeds)+2./columns {
			t.Errorf("pair %d: the mean of %d seeds is %g, k is %g", i, seeds, mean[i], want[i])
		}
		if limit := 2. / columns * 1.5; square[i] > limit {
			t.Errorf("pair %d: the mean square of the errors is %g, above %g", i, square[i], limit)
		}
	}
}

func TestSubstringsRefuse(t *testing.T) {
	for _, s := range []kernel.Substrings{{}, {Length: 2, Mismatches: 2}, {Length: 4}, {Length: 2, Alphabet: "aba"}, {Length: 3, Hashed: -1},
		{Length: 8, Mismatches: 5, Hashed: 100}} {
		if _, err := s.Features([]string{"abc"}); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
}

// Classes of sequences by a linear model of the substrings that they share.
func ExampleSubstrings() {
	dna := kernel.Substrings{Length: 4, Mismatches: 1, Alphabet: "ACGT"}
	k := dna.Kernel()
	fmt.Printf("%.3f %.3f\n", k("GATTACA", "GATTTCA"), k("GATTACA", "CCGGCCG"))
	rows, err := dna.Features([]string{"GATTACA", "GATTTCA"}) // for train.Run, of 4⁴ columns
	if err != nil {
		panic(err)
	}
	fmt.Println(rows.Rows, rows.Cols)
	// Output:
	// 0.572 0.000
	// 2 256
}
