package learn

import (
	"compress/gzip"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mercer/feature"
	"mercer/internal/engine/testenv"
	"mercer/kernel"
	"mercer/matrix"
)

func TestFeatureFileGivesWhatWasWritten(t *testing.T) {
	z, _ := blobs(111, 300, 7, 2)
	for i := range z.Data {
		if i%3 == 0 || i/7 == 5 {
			z.Data[i] = 0 // and a row of zeros
		}
	}
	for _, sparse := range []bool{false, true} {
		rows := matrix.Rows{Dense: z}
		if sparse {
			rows = matrix.Rows{CSR: toCSR(z)}
		}
		f := asFile(t, rows)
		if f.Len() != 300 || f.Dim() != 7 || f.Resident() {
			t.Fatalf("sparse %t: %d×%d, resident %t", sparse, f.Len(), f.Dim(), f.Resident())
		}
		which := []int{299, 5, 0, 17}
		for len(which) < 3*readGrain { // more than one thread reads
			which = append(which, 7*len(which)%300)
		}
		wanted := func(from string, got matrix.Rows, first int) {
			dense := got.Dense
			if sparse {
				dense = &matrix.Dense{}
				got.CSR.Densify(dense)
			}
			for e := range dense.Rows {
				i := first + e
				if first < 0 {
					i = which[e]
				}
				if !slices.Equal(dense.Row(e), z.Row(i)) {
					t.Errorf("sparse %t, %s: row %d is %v, want %v", sparse, from, i, dense.Row(e), z.Row(i))
				}
			}
		}
		picked, err := f.(picker).Pick(which)
		if err != nil {
			t.Fatal(err)
		}
		wanted("picked", picked, -1)
		block, err := f.Block(31, 300)
		if err != nil || block.Len() != 269 {
			t.Fatal(block.Len(), err)
		}
		wanted("a block", block, 31)
		if sparse {
			continue
		}
		all, err := f.(*inFile).f.Dense()
		if err != nil || all.Rows != 300 {
			t.Fatal(err)
		}
		wanted("mapped", matrix.Rows{Dense: all}, 0)
	}
}

func TestFeatureFileLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	f, err := CreateFeatureFile(dir, 3, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Features(); err != nil {
		t.Errorf("an empty file: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := CreateFeatureFile(filepath.Join(dir, "nowhere"), 3, false); err == nil {
		t.Error("a file in no directory")
	}
}

// BenchmarkSVMOfDigits is ten classes of 10,000 images of MNIST on 4,096 features, with C = 1, to
// a duality gap of 0.1 %.
func BenchmarkSVMOfDigits(b *testing.B) {
	const n = 10_000
	unzip := func(name string, header int) []byte {
		file, err := os.Open(testenv.Data(b, "mnist/"+name))
		if err != nil {
			b.Fatal(err)
		}
		defer file.Close()
		r, err := gzip.NewReader(file)
		if err != nil {
			b.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil || binary.BigEndian.Uint32(data[4:]) < n {
			b.Fatalf("%s: %v", name, err)
		}
		return data[header:]
	}
	x, class := matrix.NewDense(n, 784), make([]int, n)
	for i, v := range unzip("train-images-idx3-ubyte.gz", 16)[:n*784] {
		x.Data[i] = float32(v) / 255
	}
	for i, v := range unzip("train-labels-idx1-ubyte.gz", 8)[:n] {
		class[i] = int(v)
	}
	m, err := feature.New(feature.Config{Map: "sorf", Kernel: kernel.Kernel{Name: "rbf", Gamma: 1 / (2 * 8.27 * 8.27)},
		Features: 4096, Seed: 1}, 784)
	if err != nil {
		b.Fatal(err)
	}
	z := feature.Apply(m, matrix.Rows{Dense: x}, &matrix.Dense{}, &matrix.CSR{})
	for b.Loop() {
		_, r, err := FitSVM(context.Background(), InMemory(z), class, 10, nil, SVM{C: 1, NoIntercept: true})
		if err != nil || !r.Converged {
			b.Fatalf("%+v, %v", r, err)
		}
	}
}
