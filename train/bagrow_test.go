package train

import (
	"context"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
)

// A member that the kernel does not take is named by its bag's number in the whole data, whether
// the sample of members shows it or pooling finds it.
func TestBadMember(t *testing.T) {
	const n, size, bad = 40, 3, 27
	x := matrix.NewDense(n*size, 2)
	ends, y := []int{0}, []float64{}
	for i := range n {
		for j := range size {
			copy(x.Row(i*size+j), []float32{float32(i%5) + 0.5, float32(j) + 0.25})
		}
		ends, y = append(ends, (i+1)*size), append(y, float64(i%2))
	}
	x.Row(bad*size + 1)[1] = -3
	all, err := dataset.FromBags(matrix.Rows{Dense: x}, ends, y, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Bag: &pipeline.BagConfig{Kernel: "chi2", Scale: "none"}}
	const want = "bags in memory: bag 27 (from 0): member 1 (from 0), dimension 1 (from 0): -3 is too small"
	for seed := range uint64(6) {
		rest, held := dataset.SplitBags(all, 0.5, seed)
		for _, src := range []dataset.Bags{rest, held} {
			other := rest
			if src == rest {
				other = held
			}
			m, _, err := FitBags(context.Background(), src, cfg, Options{})
			if err == nil {
				err = readAll(m.Bag().Source(other))
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
	}
}

// So is a bag whose row the kernel behind does not take.
func TestBadBagRow(t *testing.T) {
	const n, bad = 40, 27
	x := matrix.NewDense(n, 2)
	ends, y := []int{0}, []float64{}
	for i := range n {
		copy(x.Row(i), []float32{float32(i%5) + 0.5, float32(i%3) + 0.25})
		ends, y = append(ends, i+1), append(y, float64(i%2))
	}
	x.Row(bad)[1] = -3
	all, err := dataset.FromBags(matrix.Rows{Dense: x}, ends, y, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		rest, held := dataset.SplitBags(all, 0.5, seed)
		var found bool
		for _, src := range []dataset.Bags{rest, held} {
			_, _, err := FitBags(context.Background(), src, Config{Bag: &pipeline.BagConfig{Kernel: "linear", Scale: "none",
				Norm: "none"}, Kernel: Kernel{Name: "chi2"}, Scale: "none"}, Options{})
			found = found || err != nil && strings.Contains(err.Error(), "bags in memory: bag 27 (from 0), dimension 1 (from 0): -3 is too small")
		}
		if !found {
			t.Errorf("seed %d: bag 27 is not named", seed)
		}
	}
}

// readAll reads a source to its end or to an error.
func readAll(src dataset.Source) error {
	r, err := src.Open(context.Background())
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		if _, err := r.Next(); err != nil {
			return err
		}
	}
}
