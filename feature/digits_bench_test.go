package feature

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"testing"

	"mercer/internal/engine/testenv"
	"mercer/kernel"
	"mercer/matrix"
)

// BenchmarkDigits maps all 60,000 training images of MNIST, of whose pixels four fifths are 0: in
// memory as dense and as sparse rows, 4,096 at a time. PK-RP is that of LS19's table 4.4.
func BenchmarkDigits(b *testing.B) {
	const n, d, batch = 60_000, 784, 4096
	file, err := os.Open(testenv.Data(b, "mnist/train-images-idx3-ubyte.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		b.Fatal(err)
	}
	pixels, err := io.ReadAll(r)
	if err != nil || len(pixels) < 16+n*d {
		b.Fatalf("%d bytes, %v", len(pixels), err)
	}
	dense := matrix.NewDense(n, d)
	sparse := &matrix.CSR{Rows: n, Cols: d, Ptr: []int{0}}
	for i := range n {
		row := dense.Row(i)
		for j, v := range pixels[16+i*d:][:d] {
			if v != 0 {
				row[j] = float32(v) / 255
				sparse.Idx, sparse.Val = append(sparse.Idx, int32(j)), append(sparse.Val, row[j])
			}
		}
		sparse.Ptr = append(sparse.Ptr, len(sparse.Idx))
	}
	for _, c := range []Config{
		{Map: "pk-rp", Kernel: kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2}, Features: 2000, Options: Options{Pool: 488, T: 1}, Seed: 1},
		{Map: "rff", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.0073}, Features: 4096, Seed: 1},
		{Map: "sorf", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.0073}, Features: 4096, Seed: 1},
	} {
		m, err := New(c, d)
		if err != nil {
			b.Fatal(err)
		}
		for kind, slice := range map[string]func(i, end int) matrix.Rows{
			"dense":  func(i, end int) matrix.Rows { return matrix.Rows{Dense: dense.Slice(i, end)} },
			"sparse": func(i, end int) matrix.Rows { return matrix.Rows{CSR: sparse.Slice(i, end)} },
		} {
			b.Run(fmt.Sprintf("%s/%s", c.Map, kind), func(b *testing.B) {
				z := matrix.NewDense(batch, c.Features)
				for b.Loop() {
					for i := 0; i < n; i += batch {
						end := min(i+batch, n)
						m.Transform(z.Slice(0, end-i), slice(i, end))
					}
				}
			})
		}
	}
}
