package papers

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

// find returns the path of the first existing file of a data set, plain or
// with .gz appended.
func find(dir, folder string, names ...string) (string, error) {
	for _, name := range names {
		for _, end := range []string{"", ".gz"} {
			path := filepath.Join(dir, folder, name+end)
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
	}
	return "", &fs.PathError{Op: "find", Path: filepath.Join(dir, folder, names[0]), Err: fs.ErrNotExist}
}

// read reads the inputs of a data file.
func read(ctx context.Context, path string, opt dataset.Options) (matrix.Rows, error) {
	src, err := dataset.Open(ctx, path, opt)
	if err != nil {
		return matrix.Rows{}, err
	}
	defer src.Close()
	all, err := dataset.Collect(ctx, src, opt.Dim)
	if err != nil {
		return matrix.Rows{}, err
	}
	return all.X, nil
}

// spread maps pixels from 0 … 255 to -1 … 1.
func spread(x matrix.Rows) {
	for i := range x.Len() {
		row := x.Dense.Row(i)
		for j, v := range row {
			row[j] = v/127.5 - 1
		}
	}
}

// mnist reads the training and the test images of MNIST, pixels in [-1, 1].
func mnist(ctx context.Context, dir string) (train, test matrix.Rows, err error) {
	for _, part := range []struct {
		to   *matrix.Rows
		name string
	}{{&train, "train-images-idx3-ubyte"}, {&test, "t10k-images-idx3-ubyte"}} {
		path, err := find(dir, "mnist", part.name)
		if err != nil {
			return train, test, err
		}
		if *part.to, err = read(ctx, path, dataset.Options{Format: "idx"}); err != nil {
			return train, test, err
		}
		spread(*part.to)
	}
	return train, test, nil
}

// isolet reads ISOLET's speakers 1 to 4 (the training part) and all five groups of them.
func isolet(ctx context.Context, dir string) (train, all matrix.Rows, err error) {
	var x matrix.Dense
	for _, name := range []string{"isolet1+2+3+4", "isolet5"} {
		path, err := find(dir, "isolet", name+".data", name+".csv")
		if err != nil {
			return train, all, err
		}
		part, err := read(ctx, path, dataset.Options{Format: "csv", Label: "-1", Header: "no"})
		if err != nil {
			return train, all, err
		}
		x = matrix.Dense{Rows: x.Rows + part.Len(), Cols: part.Dim(), Stride: part.Dim(), Data: append(x.Data, part.Dense.Data...)}
		if train.Dense == nil {
			train = part
		}
	}
	return train, matrix.Rows{Dense: &x}, nil
}

// w8a reads the training part of w8a, 300 zeros and ones per row.
func w8a(ctx context.Context, dir string) (matrix.Rows, error) {
	path, err := find(dir, "w8a", "w8a")
	if err != nil {
		return matrix.Rows{}, err
	}
	return read(ctx, path, dataset.Options{Format: "libsvm", Dim: 300})
}

// cifar10 reads images of CIFAR-10's first training batch, at most as many as there are,
// pixels in [-1, 1]. A record of the file is a label and 3·32·32 bytes.
func cifar10(dir string) (matrix.Rows, error) {
	const pixels = 3 * 32 * 32
	path, err := find(dir, "cifar10", "data_batch_1.bin", "data_batch_1_first4000.bin")
	if err != nil {
		return matrix.Rows{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return matrix.Rows{}, err
	}
	defer f.Close()
	r, err := unzipped(bufio.NewReader(f))
	if err != nil {
		return matrix.Rows{}, fmt.Errorf("%s: %w", path, err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return matrix.Rows{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(data) == 0 || len(data)%(1+pixels) != 0 {
		return matrix.Rows{}, fmt.Errorf("%s: %d bytes are no images of CIFAR-10, which have %d each", path, len(data), 1+pixels)
	}
	x := matrix.Rows{Dense: matrix.NewDense(len(data)/(1+pixels), pixels)}
	for i := range x.Len() {
		row := x.Dense.Row(i)
		for j := range row {
			row[j] = float32(data[i*(1+pixels)+1+j])
		}
	}
	spread(x)
	return x, nil
}

// unzipped reads a file that may be gzipped.
func unzipped(in *bufio.Reader) (io.Reader, error) {
	if head, _ := in.Peek(2); string(head) == "\x1f\x8b" {
		return gzip.NewReader(in)
	}
	return in, nil
}

// draw picks n rows at random, all if there are fewer.
func draw(x matrix.Rows, n int, seed uint64, what string) matrix.Rows {
	perm := random.New(seed, "papers."+what).Perm(x.Len())
	return matrix.Pick(x, perm[:min(n, len(perm))])
}

// part splits rows at random into n and the rest.
func part(x matrix.Rows, n int, seed uint64) (some, rest matrix.Rows) {
	perm := random.New(seed, "papers.part").Perm(x.Len())
	n = min(n, len(perm)/2)
	return matrix.Pick(x, perm[:n]), matrix.Pick(x, perm[n:])
}
